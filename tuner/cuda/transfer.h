/* Transfers between the host's memory and the device's: copies in chunks on several streams, by way of
 * a staging buffer or not, with kernels between them; or kernels that work on mapped memory.
 *
 * Each buffer of a problem that is on the host has a block of host memory like it: contents between two
 * guard bands. A checked run gives the block what the buffer has, bands and all, and spoils the
 * buffer's own contents; afterwards the buffer gets back what the block has then, so that its bands,
 * outputs and inputs are checked as any other's.
 *
 * A sample goes by the host's clock, from an idle device until every stream is done. Events would
 * not do: those of one stream know nothing of the others, and none knows of what the host does before
 * the first copy and between copies (packing, the driver's own copy of pageable memory), or of what it
 * takes to hear that the last one is done. */
#ifndef AUTOTUNE_CUDA_TRANSFER_H
#define AUTOTUNE_CUDA_TRANSFER_H

#include "cuda/queue.h"

/* As device_api's functions of the like names, for plans that transfer. The kernel is NULL where the
 * plan launches none. AT_NO_MEMORY: the host's memory is not to be had, the device is fine. */
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
