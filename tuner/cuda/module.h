/* Modules of the cuda device.
 *
 * Kernels that were compiled together come in one image, and one after the other: it is loaded once for all
 * of them, and kept for a while after the last has gone. An image of one kernel is loaded anew each time,
 * so that what it keeps in variables of its own begins anew. */
#ifndef AUTOTUNE_CUDA_MODULE_H
#define AUTOTUNE_CUDA_MODULE_H

#include <stdbool.h>
#include <stdint.h>

#include "cuda/driver.h"
#include "device/device.h"

/* Modules kept without a kernel: two problems of the next variants. */
enum { CUDA_MODULES_KEPT = 4 };

typedef struct cuda_module {
    struct cuda_module *next; /* used last comes first */
    uint64_t hash[2];         /* XXH3-128 of the image */
    size_t size_bytes;        /* of it */
    bool shared;              /* it has several kernels */
    CUmodule module;
    size_t users;             /* kernels that it is loaded for */
} cuda_module;

/* Loads an image that may start at any byte. */
CUresult cuda_module_load(const cuda_driver *cuda, const device_image *image, CUmodule *out);

/* Loads an image, or finds it loaded. *out is given back by cuda_module_release(). The driver's own code
 * when it refuses the image. */
CUresult cuda_module_acquire(const cuda_driver *cuda, cuda_module **loaded, const device_image *image,
                             cuda_module **out);

void cuda_module_release(const cuda_driver *cuda, cuda_module **loaded, cuda_module *m);

/* Unloads what has no user, but for the `kept` used last. */
void cuda_modules_drop(const cuda_driver *cuda, cuda_module **loaded, size_t kept);

#endif
