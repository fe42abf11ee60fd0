#include "fake_calls.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

static fake_watcher watching;

void fake_watch(fake_watcher watcher)
{
    watching = watcher;
}

void fake_call(int site, const char *function, const void *parameters, const CUresult *result,
               const char *symbol, uint64_t *own)
{
    if (watching)
        watching(site, function, parameters, result, symbol, own);
}

void fake_inject(void)
{
    static bool is_done;
    const char *path = getenv("CUDA_INJECTION64_PATH");
    void *library = path && !is_done ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
    void *address = library ? dlsym(library, "InitializeInjection") : NULL;
    int (*initialize)(void);
    is_done = true;
    memcpy(&initialize, &address, sizeof initialize);
    if (address && !initialize())
        abort();
}

CUresult cuFuncGetModule(CUmodule *module, CUfunction function)
{
    if (fake_is_library_kernel(function))
        return CUDA_ERROR_INVALID_HANDLE;
    *module = fake_function_module(function);
    return CUDA_SUCCESS;
}

CUresult cuKernelGetLibrary(CUlibrary *library, CUkernel kernel)
{
    if (!fake_is_library_kernel((CUfunction)kernel))
        return CUDA_ERROR_INVALID_HANDLE;
    *library = (CUlibrary)fake_function_module((CUfunction)kernel);
    return CUDA_SUCCESS;
}

static CUresult parameter(CUfunction function, size_t place, size_t *offset, size_t *size_bytes)
{
    const fake_kernel *k = fake_function_kernel(function);
    if (place >= k->arguments)
        return CUDA_ERROR_INVALID_VALUE;
    *offset = 0;
    for (size_t i = 0;; i++) {
        *size_bytes = k->sizes ? k->sizes[i] : 8;
        const size_t aligned = *size_bytes < 8 ? *size_bytes : 8;
        *offset = (*offset + aligned - 1) / aligned * aligned;
        if (i == place)
            return CUDA_SUCCESS;
        *offset += *size_bytes;
    }
}

CUresult cuFuncGetParamInfo(CUfunction function, size_t place, size_t *offset, size_t *size_bytes)
{
    return fake_is_library_kernel(function) ? CUDA_ERROR_INVALID_HANDLE
                                            : parameter(function, place, offset, size_bytes);
}

CUresult cuKernelGetParamInfo(CUkernel kernel, size_t place, size_t *offset, size_t *size_bytes)
{
    return fake_is_library_kernel((CUfunction)kernel)
               ? parameter((CUfunction)kernel, place, offset, size_bytes)
               : CUDA_ERROR_INVALID_HANDLE;
}

CUresult cuPointerGetAttribute(void *data, CUpointer_attribute attribute, CUdeviceptr address)
{
    CUdeviceptr start;
    size_t size_bytes;
    if (!fake_find_allocation(address, &start, &size_bytes))
        return CUDA_ERROR_INVALID_VALUE;
    if (attribute == CU_POINTER_ATTRIBUTE_MEMORY_TYPE)
        *(CUmemorytype *)data = CU_MEMORYTYPE_DEVICE;
    else if (attribute == CU_POINTER_ATTRIBUTE_RANGE_START_ADDR)
        *(CUdeviceptr *)data = start;
    else if (attribute == CU_POINTER_ATTRIBUTE_RANGE_SIZE)
        *(size_t *)data = size_bytes;
    else
        return CUDA_ERROR_INVALID_VALUE;
    return CUDA_SUCCESS;
}

CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode *mode)
{
    static CUstreamCaptureMode now = CU_STREAM_CAPTURE_MODE_GLOBAL;
    const CUstreamCaptureMode before = now;
    now = *mode;
    *mode = before;
    return CUDA_SUCCESS;
}
