/* The clock of the cuda device: cold and warm samples, the copy ceiling, warm-up, floor, tick and
 * SM clock. Functions are those of device_api (device/device.h).
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

/* cuda_sample_begin() queues what precedes the timed work: the flush (cold), `before`, the gate,
 * the first event. The caller queues the work; then cuda_sample_end() opens the gate, waits, and
 * reads the time. It is called also when queueing failed: `queued` is that status, which it
 * returns, so that no gate stays shut. */
at_status cuda_sample_begin(device *d, device_cache cache, const device_before *before,
                            size_t before_count, at_error *error);
at_status cuda_sample_end(device *d, at_status queued, int64_t *time_ns, at_error *error);

/* Queues the moving of `size_bytes`: a copy, or a read or a write alone where the other end is NULL
 * (then whole units of 16 bytes). */
at_status cuda_traffic_queue(device *d, device_buffer *to, const device_buffer *from,
                             uint64_t size_bytes, at_error *error);

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

#endif
