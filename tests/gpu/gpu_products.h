/* Shared by the GPU tests of matrix products. */
#ifndef AUTOTUNE_GPU_PRODUCTS_H
#define AUTOTUNE_GPU_PRODUCTS_H

#include <stdbool.h>
#include <stddef.h>

#include "cuda/driver.h"

enum { GPU_PRODUCTS_SKIPPED = 77 };

/* A larger difference means another product. On such a GPU, sums of 8-bit floats keep about 14 bits
 * (DeepSeek-V3 Technical Report, 3.3.2); sums of other types keep more. */
static const double gpu_products_most_apart = 0x1p-9;

/* Makes the context of the first GPU current. Prints a message and returns false if there is none
 * of compute capability 9.0. */
bool gpu_products_open(cuda_driver *cuda);

typedef struct gpu_copy { /* host memory that a kernel uses */
    void *bytes;
    size_t size;
    CUdeviceptr at; /* its address on the GPU, set by the run */
} gpu_copy;

/* Runs one block of the kernel "k" of the PTX. The GPU has copies of the memory, which are copied
 * back afterwards; `arguments` are those of cuLaunchKernel. Returns false on an error of the
 * driver. */
bool gpu_products_run(const cuda_driver *cuda, const char *ptx, unsigned threads,
                      unsigned shared_bytes, gpu_copy *copies, size_t count, void **arguments);

#endif
