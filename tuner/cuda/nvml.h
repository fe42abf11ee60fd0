/* NVIDIA's management library: clock, throttling, power and energy of a GPU, and the number of
 * other processes that compute on it. Nothing is ever set.
 *
 * libnvidia-ml.so.1, or $AUTOTUNE_LIBNVML, is opened at run time, in the device worker and in the
 * process that lists devices. A figure is 0 if the library, the GPU or its partitioning does not
 * provide it. */
#ifndef AUTOTUNE_CUDA_NVML_H
#define AUTOTUNE_CUDA_NVML_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "device/outcome.h"

typedef struct nvml nvml;

/* Opens the library and finds a GPU by its UUID ("GPU-..."). AT_NO_DEVICE; callers go on without
 * it. */
at_status nvml_open(const char *uuid, nvml **out, at_error *error);

/* Closes the library. `n` may be NULL. */
void nvml_close(nvml *n);

/* Finds the common model of all GPUs of the machine and their number, without initialising them as
 * the driver does. AT_NO_DEVICE if they differ or are partitioned, or the library cannot tell. */
at_status nvml_find_model(char *name, size_t name_bytes, size_t *count, at_error *error);

/* Reads the GPU's state, in some tens of microseconds. If `n` is NULL, everything is 0. */
void nvml_read(nvml *n, board_reading *out);

/* Returns the number of other processes on the GPU, 0 if it is unknown or `n` is NULL. */
uint32_t nvml_count_others(nvml *n);

#endif
