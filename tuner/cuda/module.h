/* Modules of the cuda device.
 *
 * An image of several kernels, compiled together, is loaded once for all of them and stays loaded
 * for a while after the last is freed, because they usually come one after the other. An image of
 * one kernel is loaded each time, so that its variables have their initial values. */
#ifndef AUTOTUNE_CUDA_MODULE_H
#define AUTOTUNE_CUDA_MODULE_H

#include <stdbool.h>
#include <stdint.h>

#include "cuda/driver.h"
#include "device/device.h"

/* Modules kept without a kernel: enough for two problems of the next variants. */
enum { CUDA_MODULES_KEPT = 4 };

typedef struct cuda_module {
    struct cuda_module *next; /* used last comes first */
    uint64_t hash[2];         /* XXH3-128 of the image */
    size_t size_bytes;        /* of it */
    bool shared;              /* it has several kernels */
    CUmodule module;
    size_t users; /* kernels that it is loaded for */
} cuda_module;

/* Loads an image that may start at any byte. */
CUresult cuda_module_load(const cuda_driver *cuda, const device_image *image, CUmodule *out);

/* Loads an image, or finds it loaded. The caller gives *out back with cuda_module_release().
 * Returns the driver's code when it refuses the image. */
CUresult cuda_module_acquire(const cuda_driver *cuda, cuda_module **loaded,
                             const device_image *image, cuda_module **out);

/* Gives a module back. It stays loaded, if it is one of several kernels. */
void cuda_module_release(const cuda_driver *cuda, cuda_module **loaded, cuda_module *m);

/* Unloads modules without users, except the `kept` most recently used. */
void cuda_modules_drop(const cuda_driver *cuda, cuda_module **loaded, size_t kept);

#endif
