/* NVML, NVIDIA's management library: clock, throttling, power and energy of a GPU, and the number
 * of other processes that compute on it. These functions change no setting of the GPU.
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

/* Opens the library and finds a GPU by its UUID ("GPU-..."). AT_NO_DEVICE sets `*out` to
 * NULL, which the other functions accept. */
at_status nvml_open(const char *uuid, nvml **out, at_error *error);

/* Closes the library. `n` may be NULL. */
void nvml_close(nvml *n);

/* Finds the number of the machine's GPUs and the model of all, without initialising them.
 * AT_NO_DEVICE if the models differ, a GPU is partitioned, or the library cannot tell. */
at_status nvml_find_model(char *name, size_t name_bytes, size_t *count, at_error *error);

/* Reads the GPU's state, in some tens of microseconds. If `n` is NULL, everything is 0. */
void nvml_read(nvml *n, board_reading *out);

/* Returns the number of other processes on the GPU, 0 if it is unknown or `n` is NULL. */
uint32_t nvml_count_others(nvml *n);

#endif
