/* Calls of the fake driver that a profiler can watch, and functions that programs use but the tuner
 * does not: kernels of libraries, arguments of kernels, allocations of pointers. The first cuInit()
 * loads the library that $CUDA_INJECTION64_PATH names, as the real driver does. */
#ifndef FAKE_CALLS_H
#define FAKE_CALLS_H

#include "fake_cuda.h"

/* The driver calls a watcher before (site 0) and after (site 1) each call of a program.
 * `parameters` is CUPTI's structure. `result` is NULL at site 0. `symbol` is the name of a launched
 * kernel. `own` points to eight bytes that keep their value from site 0 to site 1. */
typedef void (*fake_watcher)(int site, const char *function, const void *parameters,
                             const CUresult *result, const char *symbol, uint64_t *own);

/* Sets the watcher of the fake CUPTI. */
void fake_watch(fake_watcher watcher);

/* Calls the watcher, if one is set. */
void fake_call(int site, const char *function, const void *parameters, const CUresult *result,
               const char *symbol, uint64_t *own);

/* On the first call, loads the library that $CUDA_INJECTION64_PATH names. */
void fake_inject(void);

/* Finds the allocation that contains the address. Returns false if no allocation contains it. */
bool fake_find_allocation(CUdeviceptr address, CUdeviceptr *start, size_t *size_bytes);

/* Return a function's kernel, its module, and whether the function belongs to a library. */
const fake_kernel *fake_function_kernel(CUfunction function);
CUmodule fake_function_module(CUfunction function);
bool fake_is_library_kernel(CUfunction function);

#endif
