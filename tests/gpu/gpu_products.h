/* Helpers of the GPU tests of matrix products. */
#ifndef AUTOTUNE_GPU_PRODUCTS_H
#define AUTOTUNE_GPU_PRODUCTS_H

#include <stdbool.h>
#include <stddef.h>

#include "cuda/driver.h"

enum { GPU_PRODUCTS_SKIPPED = 77 };

/* A larger difference means a wrong product. On GPUs of capability 9.0, sums of 8-bit floats keep
 * about 14 bits (DeepSeek-V3 Technical Report, 3.3.2). Sums of other types keep more bits. */
static const double gpu_products_most_apart = 0x1p-9;

/* Makes the context of the first GPU current. If there is no GPU, or its compute capability is not
 * 9.0, prints a message and returns false. */
bool gpu_products_open(cuda_driver *cuda);

typedef struct gpu_copy { /* host memory that a kernel uses */
    void *bytes;
    size_t size;
    CUdeviceptr at; /* address on the GPU; set by gpu_products_run() */
} gpu_copy;

/* Runs one block of the kernel "k" of the PTX. Copies the memory of `copies` to the GPU before and
 * back after the run. `arguments` are as for cuLaunchKernel(). Returns false on a driver error. */
bool gpu_products_run(const cuda_driver *cuda, const char *ptx, unsigned threads,
                      unsigned shared_bytes, gpu_copy *copies, size_t count, void **arguments);

#endif
