/* The state of a GPU by NVIDIA's management library: clock, throttling, power, energy,
 * and other processes that compute on it.
 *
 * Reads only; nothing is ever set. libnvidia-ml.so.1 (or what $AUTOTUNE_LIBNVML names) is opened at
 * run time, in the device worker and in the process that lists devices, so that the tuner runs
 * without it. A figure that the library, the GPU or its partitioning does not give is 0. */
#ifndef AUTOTUNE_CUDA_NVML_H
#define AUTOTUNE_CUDA_NVML_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "device/measurement.h"

typedef struct nvml nvml;

/* Opens the library and finds the GPU by its UUID ("GPU-..."). AT_NO_DEVICE says why there is none;
 * the caller goes on without. */
at_status nvml_open(const char *uuid, nvml **out, at_error *error);
void nvml_close(nvml *n); /* NULL is fine */

/* The one model that all GPUs of the machine are of, and how many there are, without waking them up
 * as the driver does. AT_NO_DEVICE: they differ, one is partitioned, or the library does not
 * say. */
at_status nvml_find_model(char *name, size_t name_bytes, size_t *count, at_error *error);

/* Reads what there is; takes some tens of microseconds. `n` may be NULL: everything is 0. */
void nvml_read(nvml *n, board_reading *out);

/* How many processes beside this one compute on the GPU; 0 when that is not known, or `n` is
 * NULL. */
uint32_t nvml_count_others(nvml *n);

#endif
