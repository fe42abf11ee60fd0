/* Launches of a plan: the kernels of a loaded module, their limits, constants and arguments.
 *
 * In: a module and a plan. Out: work queued on a stream. Used by the cuda device, which measures,
 * and by the library, which launches in its caller's context. Owns nothing: module, stream and
 * memory are the caller's. Launching allocates nothing and waits for nothing. */
#ifndef AUTOTUNE_CUDA_LAUNCHER_H
#define AUTOTUNE_CUDA_LAUNCHER_H

#include <stdbool.h>
#include <stdint.h>

#include "cuda/driver.h"
#include "cuda/view.h"
#include "device/device.h"
#include "device/plan.h"

typedef struct cuda_launcher {
    CUmodule module;
    cuda_textures *textures; /* borrowed; NULL: plans with textures or surfaces are refused */
    CUfunction functions[PLAN_MAX_LAUNCHES]; /* of each launch */
    /* The limit of dynamic shared memory a block, raised before the first launch that needs
     * more. */
    uint32_t dynamic_limit_bytes[PLAN_MAX_LAUNCHES];
} cuda_launcher;

typedef struct cuda_range { /* a buffer */
    CUdeviceptr address;
    uint64_t size_bytes;
} cuda_range;

/* Finds the plan's kernels in the module, in which they are called `symbols` (plan_symbol()).
 * AT_COMPILE when one is missing. */
at_status cuda_launcher_init(cuda_launcher *l, const cuda_driver *cuda, CUmodule module,
                             const launch_plan *plan, const char *symbols, at_error *error);

/* Raises the limits of dynamic shared memory and clusters to what the plan needs. AT_COMPILE when
 * they cannot be. */
at_status cuda_launcher_prepare(cuda_launcher *l, const cuda_driver *cuda, const launch_plan *plan,
                                at_error *error);

/* Creates the textures and surfaces that launches on these buffers need, so that launching creates
 * none. AT_COMPILE. */
at_status cuda_launcher_make_textures(const cuda_launcher *l, const cuda_driver *cuda,
                                      const launch_plan *plan, const cuda_range *buffers,
                                      at_error *error);

/* Queues the copies of buffers into the CUDA arrays of the plan's views; or back, of those that
 * surfaces may have written. */
at_status cuda_launcher_copy_arrays(const cuda_launcher *l, const cuda_driver *cuda,
                                    const launch_plan *plan, const cuda_range *buffers, bool back,
                                    CUstream stream, at_error *error);

/* Queues copies of buffers into the module's constants; or back, of those that hold results.
 * `buffers` holds those that the plan names, each at its own place. AT_COMPILE when the module has
 * no such variable or it is too small. */
at_status cuda_launcher_copy_constants(const cuda_launcher *l, const cuda_driver *cuda,
                                       const launch_plan *plan, const cuda_range *buffers,
                                       bool back, CUstream stream, at_error *error);

enum { CUDA_CHUNK_ARGUMENTS = 2 };

/* Queues the launch at `place`. `chunk` is the first byte and the size of a transfer's chunk, which
 * its kernels have as two more arguments; NULL: no transfer. AT_COMPILE: refused, the device is
 * fine; AT_DEVICE: it is not. */
at_status cuda_launcher_queue_one(const cuda_launcher *l, const cuda_driver *cuda,
                                  const launch_plan *plan, uint32_t place,
                                  const cuda_range *buffers, uint64_t *chunk, CUstream stream,
                                  at_error *error);

/* Queues the next `most` launches of a walk over the plan. */
at_status cuda_launcher_queue_some(const cuda_launcher *l, const cuda_driver *cuda,
                                   const launch_plan *plan, const cuda_range *buffers,
                                   launch_walk *walk, uint32_t most, CUstream stream,
                                   at_error *error);

/* Queues all launches of the plan, in their order. */
at_status cuda_launcher_queue(const cuda_launcher *l, const cuda_driver *cuda,
                              const launch_plan *plan, const cuda_range *buffers, CUstream stream,
                              at_error *error);

/* ---- modules ----
 *
 * Modules of the cuda device.
 *
 * An image of several kernels, compiled together, is loaded once for all of them and stays loaded
 * for a while after the last is freed, because they usually come one after the other.
 *
 * A module keeps a copy of its variables as the image defines them, on the device. */

/* Modules kept without a kernel: enough for two problems of the next variants. */
enum { CUDA_MODULES_KEPT = 4 };

typedef struct cuda_variable {
    CUdeviceptr address;
    size_t size_bytes;
} cuda_variable;

typedef struct cuda_module {
    struct cuda_module *next; /* used last comes first */
    uint64_t hash[2];         /* XXH3-128 of the image */
    size_t size_bytes;        /* of it */
    bool shared;              /* it has several kernels */
    CUmodule module;
    size_t users;             /* kernels that it is loaded for */
    cuda_variable *variables; /* owned */
    size_t variable_count;
    CUdeviceptr initial; /* owned; contents of the variables, one after the other */
} cuda_module;

/* Loads an image that may start at any byte. */
CUresult cuda_module_load(const cuda_driver *cuda, const device_image *image, CUmodule *out);

/* Loads an image, or finds it loaded. The caller gives *out back with cuda_module_release().
 * Returns the driver's code when it refuses the image. `stream` is that of all its launches. */
CUresult cuda_module_acquire(const cuda_driver *cuda, cuda_module **loaded,
                             const device_image *image, CUstream stream, cuda_module **out);

/* Queues copies that give the module's variables the contents that the image defines. */
CUresult cuda_module_reset(const cuda_driver *cuda, const cuda_module *m, CUstream stream);

/* Gives a module back. It stays loaded, if it is one of several kernels. */
void cuda_module_release(const cuda_driver *cuda, cuda_module **loaded, cuda_module *m);

/* Unloads modules without users, except the `kept` most recently used. */
void cuda_modules_drop(const cuda_driver *cuda, cuda_module **loaded, size_t kept);

#endif
