/* Shared by the GPU tests of matrix products. */
#ifndef AUTOTUNE_GPU_PRODUCTS_H
#define AUTOTUNE_GPU_PRODUCTS_H

#include <stdbool.h>
#include <stddef.h>

#include "cuda/driver.h"

enum { GPU_PRODUCTS_SKIPPED = 77 };

/* A larger difference would be another product. Sums of 8-bit floats keep around 14 bits on such a
 * GPU (DeepSeek-V3 Technical Report, 3.3.2), sums of other types more. */
static const double gpu_products_most_apart = 0x1p-9;

/* Makes the context of the first GPU current. Prints a message and returns false if there is none
 * of compute capability 9.0. */
bool gpu_products_open(cuda_driver *cuda);

typedef struct gpu_copy { /* host memory, and its address on the GPU */
    void *bytes;
    size_t size;
    CUdeviceptr at; /* set by the run */
} gpu_copy;

/* Runs one block of the kernel "k" of a module with copies of that memory, which are copied back
 * afterwards; `arguments` are those of cuLaunchKernel. Returns false on an error of the driver. */
bool gpu_products_run(const cuda_driver *cuda, const char *ptx, unsigned threads,
                      unsigned shared_bytes, gpu_copy *copies, size_t count, void **arguments);

#endif
