/* Transfers between the host's memory and the device's: copies in chunks on several streams, by way
 * of a staging buffer or not, with kernels between them; or kernels that work on mapped memory.
 *
 * Each buffer of a problem that is on the host has a block of host memory laid out like it:
 * contents between two guard bands. A checked run copies the buffer with its bands into the block
 * and poisons the buffer's contents; afterwards it copies the block back into the buffer, whose
 * bands, outputs and inputs are then checked like any other's.
 *
 * A sample is timed by the host's clock, from an idle device until every stream is done. Events
 * would not do: those of one stream do not see the others, and none sees what the host does before
 * the first copy and between copies (packing, the driver's own copy of pageable memory), or how
 * long it takes to learn that the last one is done. */
#ifndef AUTOTUNE_CUDA_TRANSFER_H
#define AUTOTUNE_CUDA_TRANSFER_H

#include "cuda/queue.h"

/* Like device_api's launch, sample and repeat, for plans that transfer. The kernel is NULL when the
 * plan launches none. AT_NO_MEMORY: the host has not enough memory, the device is fine. */
at_status cuda_transfer_launch(device *d, device_kernel *k, const launch_plan *plan,
                               device_buffer *const *buffers, at_error *error);
at_status cuda_transfer_sample(device *d, device_kernel *k, const launch_plan *plan,
                               device_buffer *const *buffers, device_cache cache, int64_t *time_ns,
                               at_error *error);
at_status cuda_transfer_repeat(device *d, device_kernel *k, const launch_plan *plan,
                               device_buffer *const *buffers, uint64_t count, at_error *error);

/* Frees the host's memory and the streams. */
void cuda_transfers_free(device *d);

#endif
