/* Calls of the fake driver that a profiler can watch, and calls that only programs need, not the
 * tuner: kernels of libraries, arguments of kernels, allocations of pointers.
 *
 * The first cuInit() loads the library that $CUDA_INJECTION64_PATH names, as the driver does. */
#ifndef FAKE_CALLS_H
#define FAKE_CALLS_H

#include "fake_cuda.h"

/* Called before a call (site 0) and after it (site 1). Gets the call's name, its parameters as a
 * structure, its result (only after it), the kernel's name (for a launch), and eight bytes that
 * keep their value from site 0 to site 1. */
typedef void (*fake_watcher)(int site, const char *function, const void *parameters,
                             const CUresult *result, const char *symbol, uint64_t *own);

/* Sets the watcher, for the fake CUPTI. */
void fake_watch(fake_watcher watcher);

/* Calls the watcher if there is one. */
void fake_call(int site, const char *function, const void *parameters, const CUresult *result,
               const char *symbol, uint64_t *own);

/* Loads the library that $CUDA_INJECTION64_PATH names, once. */
void fake_inject(void);

/* Finds the allocation that contains the address. Returns false if there is none. */
bool fake_find_allocation(CUdeviceptr address, CUdeviceptr *start, size_t *size_bytes);

/* Return the function's kernel; its module; whether it belongs to a library. */
const fake_kernel *fake_function_kernel(CUfunction function);
CUmodule fake_function_module(CUfunction function);
bool fake_is_library_kernel(CUfunction function);

#endif
