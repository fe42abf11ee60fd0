/* Calls of the fake driver that a profiler can watch, and what a program's own use of the driver
 * needs beside what the tuner asks for: kernels of libraries, arguments, allocations of pointers.
 *
 * A library that $CUDA_INJECTION64_PATH names is loaded by the first cuInit(), as the driver does
 * it. */
#ifndef FAKE_CALLS_H
#define FAKE_CALLS_H

#include "fake_cuda.h"

/* Before a call (0) and after it (1): its name, its parameters as a structure, its result (after
 * it), the kernel's name (a launch), and eight bytes that are kept in between. */
typedef void (*fake_watcher)(int site, const char *function, const void *parameters,
                             const CUresult *result, const char *symbol, uint64_t *own);

/* Who watches; of the fake CUPTI. */
void fake_watch(fake_watcher watcher);

/* Tells whoever watches. */
void fake_call(int site, const char *function, const void *parameters, const CUresult *result,
               const char *symbol, uint64_t *own);

/* Loads $CUDA_INJECTION64_PATH, once. */
void fake_inject(void);

/* What an allocation is: false where the address is in none. */
bool fake_find_allocation(CUdeviceptr address, CUdeviceptr *start, size_t *size_bytes);

/* The kernel of a function, and its module. */
const fake_kernel *fake_function_kernel(CUfunction function);
CUmodule fake_function_module(CUfunction function);
bool fake_is_library_kernel(CUfunction function);

#endif
