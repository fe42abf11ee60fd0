/* Hardware counters of a variant's launches, by CUPTI's range profiler (cuda/cupti.h).
 *
 * Each launch of a plan is a range of its own. A chip has few counters, so the plan runs in as many
 * passes as the metrics need; the buffers are restored before each, so that all passes do the same.
 * Clocks are not locked. */
#ifndef AUTOTUNE_CUDA_COUNTERS_H
#define AUTOTUNE_CUDA_COUNTERS_H

#include "cuda/queue.h"

/* Function of device_api (device/device.h). */
at_status cuda_count(device *d, device_kernel *k, const launch_plan *plan,
                     device_buffer *const *buffers, const device_counting *what, double *values,
                     at_error *error);

void cuda_counters_free(device *d);

#endif
