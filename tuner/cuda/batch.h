/* Batches of the cuda device: many launches in one graph, for kernels too short for two events.
 * Functions are those of device_api (device/device.h). */
#ifndef AUTOTUNE_CUDA_BATCH_H
#define AUTOTUNE_CUDA_BATCH_H

#include "cuda/queue.h"

at_status cuda_batch_new(device *d, device_kernel *k, const launch_plan *plan,
                         device_buffer *const *const *sets, size_t set_count, uint32_t launches,
                         device_batch **out, at_error *error);
at_status cuda_batch_copy_new(device *d, device_buffer *const *to, device_buffer *const *from,
                              size_t set_count, uint64_t size_bytes, uint32_t launches,
                              device_batch **out, at_error *error);
void cuda_batch_free(device *d, device_batch *b);
at_status cuda_batch_sample(device *d, device_batch *b, device_cache cache, int64_t *time_ns,
                            at_error *error);

#endif
