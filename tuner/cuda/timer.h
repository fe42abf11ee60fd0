/* The clock of the cuda device: batches, cold and warm samples, the copy ceiling, warm-up, floor,
 * tick and SM clock. Functions are those of device/device.h.
 *
 * A sample is two events around one launch on a stream that is still busy when they are queued: the
 * gate kernel before them ends only when the host has queued everything, so that no launch latency
 * is measured. The sampling functions allocate nothing. */
#ifndef AUTOTUNE_CUDA_TIMER_H
#define AUTOTUNE_CUDA_TIMER_H

#include "cuda/queue.h"

/* Events, gate, flush buffers (twice the L2 each) and counters. AT_DEVICE. */
at_status cuda_clock_new(device *d, at_error *error);
void cuda_clock_free(device *d);

/* Queues the kernels that flush the L2. */
at_status cuda_flush_queue(device *d, at_error *error);

/* Runs the plan once and waits. No gate: what a first launch does may wait for the device. */
at_status cuda_launch(device *d, device_kernel *k, const launch_plan *plan,
                      device_buffer *const *buffers, int64_t *time_ns, at_error *error);
at_status cuda_sample(device *d, device_kernel *k, const launch_plan *plan,
                      device_buffer *const *buffers, device_cache cache,
                      const device_before *before, size_t before_count, int64_t *time_ns,
                      at_error *error);
at_status cuda_sample_copy(device *d, device_buffer *to, const device_buffer *from,
                           uint64_t size_bytes, device_cache cache, int64_t *time_ns,
                           at_error *error);
at_status cuda_warm_up(device *d, at_error *error);
at_status cuda_floor(device *d, int64_t *floor_ns, int64_t *tick_ns, at_error *error);
at_status cuda_sm_clock(device *d, double *khz, at_error *error);

/* Many launches in one graph, for kernels too short for two events. */
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
