/* Buffers of the cuda device: contents between two guard bands, and everything that fills or checks
 * them on the GPU. Functions are those of device_api (device/device.h) and keep its promises. */
#ifndef AUTOTUNE_CUDA_BUFFER_H
#define AUTOTUNE_CUDA_BUFFER_H

#include "cuda/queue.h"

/* The block in which support kernels leave results. AT_DEVICE. */
at_status cuda_results_new(device *d, at_error *error);
void cuda_results_free(device *d);

at_status cuda_buffer_new(device *d, const char *name, uint64_t size_bytes, device_buffer **out,
                          at_error *error);
void cuda_buffer_free(device *d, device_buffer *b);
at_status cuda_buffer_fill(device *d, device_buffer *b, const buffer_plan *plan, uint64_t seed,
                           at_error *error);
at_status cuda_buffer_read(device *d, const device_buffer *b, void *to, uint64_t size_bytes,
                           at_error *error);
at_status cuda_buffer_write(device *d, device_buffer *b, const buffer_plan *plan,
                            const void *contents, at_error *error);
at_status cuda_buffer_guard(device *d, device_buffer *b, const buffer_plan *plan, int pattern,
                            at_error *error);
at_status cuda_buffer_poison(device *d, device_buffer *b, int pattern, at_error *error);
at_status cuda_buffer_copy(device *d, device_buffer *to, const device_buffer *from,
                           at_error *error);
at_status cuda_buffer_checksum(device *d, const device_buffer *b, uint64_t size_bytes,
                               uint64_t *sum, at_error *error);
at_status cuda_buffer_guards(device *d, const device_buffer *b, device_guard_report *out,
                             at_error *error);
at_status cuda_buffer_compare(device *d, const device_buffer *found, const device_buffer *expected,
                              const buffer_plan *plan, device_comparison *out, at_error *error);

#endif
