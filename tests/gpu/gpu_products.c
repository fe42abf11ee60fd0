#include "gpu_products.h"

#include <stdio.h>

bool gpu_products_open(cuda_driver *cuda)
{
    at_error error = {0};
    CUdevice device;
    CUcontext context;
    int major = 0;
    if (!cuda_driver_open(cuda, &error) && cuda->cuDeviceGet(&device, 0) == CUDA_SUCCESS &&
        cuda->cuDevicePrimaryCtxRetain(&context, device) == CUDA_SUCCESS &&
        cuda->cuCtxSetCurrent(context) == CUDA_SUCCESS)
        cuda->cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device);
    if (major != 9)
        printf("skipped: there is no GPU of compute capability 9.0\n");
    return major == 9;
}

bool gpu_products_run(const cuda_driver *cuda, const char *ptx, unsigned threads,
                      unsigned shared_bytes, gpu_copy *copies, size_t count, void **arguments)
{
    CUmodule module = NULL;
    CUfunction function;
    bool ok = cuda->cuModuleLoadData(&module, ptx) == CUDA_SUCCESS &&
              cuda->cuModuleGetFunction(&function, module, "k") == CUDA_SUCCESS &&
              cuda->cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                       (int)shared_bytes) == CUDA_SUCCESS;
    for (size_t i = 0; i < count; i++)
        ok = ok && cuda->cuMemAlloc(&copies[i].at, copies[i].size) == CUDA_SUCCESS &&
             cuda->cuMemcpyHtoDAsync(copies[i].at, copies[i].bytes, copies[i].size, NULL) ==
                 CUDA_SUCCESS;
    ok = ok && cuda->cuLaunchKernel(function, 1, 1, 1, threads, 1, 1, shared_bytes, NULL, arguments,
                                    NULL) == CUDA_SUCCESS;
    for (size_t i = 0; i < count; i++)
        ok = ok && cuda->cuMemcpyDtoHAsync(copies[i].bytes, copies[i].at, copies[i].size, NULL) ==
                       CUDA_SUCCESS;
    ok = cuda->cuStreamSynchronize(NULL) == CUDA_SUCCESS && ok;
    for (size_t i = 0; i < count; i++)
        if (copies[i].at)
            cuda->cuMemFree(copies[i].at);
    if (module)
        cuda->cuModuleUnload(module);
    return ok;
}
