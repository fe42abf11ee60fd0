// The types of cuBLAS, cuSPARSE and cuSOLVER. Device code needs nothing else from their headers.
#ifndef AUTOTUNE_KERNEL_FILE_LIBRARIES_H
#define AUTOTUNE_KERNEL_FILE_LIBRARIES_H

#include <cuComplex.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <library_types.h>

#endif
