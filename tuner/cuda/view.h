/* Tensor maps, textures and surfaces: the driver's objects for the views of device/view.h. */
#ifndef AUTOTUNE_CUDA_VIEW_H
#define AUTOTUNE_CUDA_VIEW_H

#include "cuda/driver.h"
#include "device/view.h"

/* Textures and surfaces, and the CUDA arrays of those that are in one, created before a stream is
 * captured and reused by later launches. All zero: none. */
typedef struct cuda_textures {
    size_t count;
    struct cuda_texture *entries; /* owned */
} cuda_textures;

/* Encodes a tensor map of the memory at `address`; does not wait, and there is nothing to free.
 * AT_COMPILE when the driver refuses it. */
at_status cuda_view_encode(const cuda_driver *cuda, const view_plan *view, CUdeviceptr address,
                           CUtensorMap *out, at_error *error);

/* The texture or surface of that memory, created unless there is one. AT_COMPILE when the driver
 * refuses it. */
at_status cuda_textures_get(cuda_textures *t, const cuda_driver *cuda, const view_plan *view,
                            CUdeviceptr address, CUtexObject *out, at_error *error);

/* Queues the copy of the memory into the array of a view that is in one, which exists; or back. */
at_status cuda_textures_copy(const cuda_textures *t, const cuda_driver *cuda, const view_plan *view,
                             CUdeviceptr address, bool back, CUstream stream, at_error *error);

/* Destroys the textures, surfaces and arrays of the memory at `first`, before it is freed; or all
 * (first 0, size_bytes UINT64_MAX). None may be in use. */
void cuda_textures_drop(cuda_textures *t, const cuda_driver *cuda, CUdeviceptr first,
                        uint64_t size_bytes);

#endif
