/* Tensor maps and textures: the driver's objects of what device/view.h describes. */
#ifndef AUTOTUNE_CUDA_VIEW_H
#define AUTOTUNE_CUDA_VIEW_H

#include "cuda/driver.h"
#include "device/view.h"

/* Textures that were made: launches use them again, and nothing is made while a stream is captured. All zero:
 * none. */
typedef struct cuda_textures {
    size_t count;
    struct cuda_texture *entries; /* owned */
} cuda_textures;

/* Encodes a map of the memory at `address`: no call that waits, and nothing to free. AT_COMPILE when the
 * driver refuses it. */
at_status cuda_view_encode(const cuda_driver *cuda, const view_plan *view, CUdeviceptr address, CUtensorMap *out,
                           at_error *error);

/* The texture of that memory, made when there is none yet. AT_COMPILE when the driver refuses it. */
at_status cuda_textures_get(cuda_textures *t, const cuda_driver *cuda, const view_plan *view, CUdeviceptr address,
                            CUtexObject *out, at_error *error);

/* Destroys those of memory that is freed, from `first` on; or all (size_bytes UINT64_MAX, first 0). None may be
 * in use. */
void cuda_textures_drop(cuda_textures *t, const cuda_driver *cuda, CUdeviceptr first, uint64_t size_bytes);

#endif
