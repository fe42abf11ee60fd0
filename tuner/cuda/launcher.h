/* Launches of a plan: its kernels, their limits, constants, arguments, tensor maps and textures.
 *
 * The cuda device measures with these functions, and the library launches in its caller's context.
 * Module, stream and memory belong to the caller. Launching allocates nothing and does not wait.
 * Functions return AT_COMPILE if the driver refuses the request and the device is still usable,
 * otherwise AT_DEVICE. */
#ifndef AUTOTUNE_CUDA_LAUNCHER_H
#define AUTOTUNE_CUDA_LAUNCHER_H

#include <stdbool.h>
#include <stdint.h>

#include "cuda/driver.h"
#include "device/plan.h"
#include "device/view.h"

/* ---- tensor maps, textures and surfaces (view.c) ---- */

/* Textures and surfaces with their CUDA arrays, created before a stream is captured and reused by
 * later launches. A zeroed struct is empty. */
typedef struct cuda_textures {
    size_t count;
    struct cuda_texture *entries; /* owned */
} cuda_textures;

/* Encodes a tensor map of the memory at `address`. The tensor map need not be freed. */
at_status cuda_view_encode(const cuda_driver *cuda, const view_plan *view, CUdeviceptr address,
                           CUtensorMap *out, at_error *error);

/* Finds or creates the texture or surface of the memory at `address`. */
at_status cuda_textures_get(cuda_textures *t, const cuda_driver *cuda, const view_plan *view,
                            CUdeviceptr address, CUtexObject *out, at_error *error);

/* Queues a copy of the memory at `address` into its CUDA array; with `back`, from the array. */
at_status cuda_textures_copy(const cuda_textures *t, const cuda_driver *cuda, const view_plan *view,
                             CUdeviceptr address, bool back, CUstream stream, at_error *error);

/* Destroys the textures, surfaces and arrays of a range of memory before the memory is freed, or of
 * all memory (`first` 0, `size_bytes` UINT64_MAX). No launch may be using them. */
void cuda_textures_drop(cuda_textures *t, const cuda_driver *cuda, CUdeviceptr first,
                        uint64_t size_bytes);

/* ---- launches (launcher.c) ---- */

typedef struct cuda_launcher {
    CUmodule module;
    cuda_textures *textures; /* borrowed; if NULL, plans with textures or surfaces are refused */
    CUfunction functions[PLAN_MAX_LAUNCHES];         /* one for each launch */
    uint32_t dynamic_limit_bytes[PLAN_MAX_LAUNCHES]; /* limit of dynamic shared memory per block */
} cuda_launcher;

typedef struct cuda_range {
    CUdeviceptr address;
    uint64_t size_bytes;
} cuda_range;

/* Finds the plan's kernels in the module. `symbols`: see plan_symbol(). */
at_status cuda_launcher_init(cuda_launcher *l, const cuda_driver *cuda, CUmodule module,
                             const launch_plan *plan, const char *symbols, at_error *error);

/* Raises the limits of dynamic shared memory and clusters to the needs of the plan. */
at_status cuda_launcher_prepare(cuda_launcher *l, const cuda_driver *cuda, const launch_plan *plan,
                                at_error *error);

/* Creates the textures and surfaces that launches on these buffers need. */
at_status cuda_launcher_make_textures(const cuda_launcher *l, const cuda_driver *cuda,
                                      const launch_plan *plan, const cuda_range *buffers,
                                      at_error *error);

/* Queues copies of buffers into the CUDA arrays of views; with `back`, from surfaces to buffers. */
at_status cuda_launcher_copy_arrays(const cuda_launcher *l, const cuda_driver *cuda,
                                    const launch_plan *plan, const cuda_range *buffers, bool back,
                                    CUstream stream, at_error *error);

/* Queues the copies of buffers into the module's constants; with `back`, of constants that hold
 * results into their buffers. `buffers` has an element for each buffer of the plan. AT_COMPILE also
 * if the module's variable is missing or too small. */
at_status cuda_launcher_copy_constants(const cuda_launcher *l, const cuda_driver *cuda,
                                       const launch_plan *plan, const cuda_range *buffers,
                                       bool back, CUstream stream, at_error *error);

enum { CUDA_CHUNK_ARGUMENTS = 2 };

/* Queues launch `index` of the plan. `chunk` has the offset and size of a transfer's chunk, two
 * further arguments of its kernels; it is NULL without a transfer. */
at_status cuda_launcher_queue_one(const cuda_launcher *l, const cuda_driver *cuda,
                                  const launch_plan *plan, uint32_t index,
                                  const cuda_range *buffers, uint64_t *chunk, CUstream stream,
                                  at_error *error);

/* Queues the next `most` launches of a walk over the plan. */
at_status cuda_launcher_queue_some(const cuda_launcher *l, const cuda_driver *cuda,
                                   const launch_plan *plan, const cuda_range *buffers,
                                   launch_walk *walk, uint32_t most, CUstream stream,
                                   at_error *error);

/* Queues all launches of the plan in their order. */
at_status cuda_launcher_queue(const cuda_launcher *l, const cuda_driver *cuda,
                              const launch_plan *plan, const cuda_range *buffers, CUstream stream,
                              at_error *error);

#endif
