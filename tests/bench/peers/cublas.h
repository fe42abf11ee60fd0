/* A cuBLAS handle on a stream, and errors as exceptions. */
#ifndef PEER_CUBLAS_H
#define PEER_CUBLAS_H

#include <cublas_v2.h>

#include <memory>

#include "peer.h"

inline void check_cublas(cublasStatus_t status, const char *what)
{
    if (status != CUBLAS_STATUS_SUCCESS)
        throw std::runtime_error(std::string(what) + " failed: " + cublasGetStatusString(status));
}

inline std::shared_ptr<cublasContext> new_cublas(Bench &bench)
{
    cublasHandle_t handle = nullptr;
    check_cublas(cublasCreate(&handle), "cublasCreate");
    std::shared_ptr<cublasContext> owner(handle, [](cublasHandle_t h) { cublasDestroy(h); });
    check_cublas(cublasSetStream(handle, bench.stream), "cublasSetStream");
    return owner;
}

#endif
