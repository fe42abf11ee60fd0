/* Measures variants: samples of time, the ceiling, and energy.
 *
 * A sample is one launch or, if kernels are too short for the clock, a batch of launches that
 * rotates over copies of the buffers. If other kernels run before each launch (device_context), a
 * sample is always one launch. The ceiling is measured in the same way, without these kernels.
 * Transfers between host and device have no batches.
 *
 * A meter belongs to slot 0 of a stage, works through device_api, and owns the copies of the
 * buffers. The slot, its context and the device must outlive it. */
#ifndef AUTOTUNE_BENCH_METER_H
#define AUTOTUNE_BENCH_METER_H

#include "bench/context.h"

typedef struct device_meter {
    const device_api *api;
    device *device;
    device_cache cache;
    device_slot *slot;
    device_context *context; /* kernels that run before each sample; NULL if there are none */
    uint32_t batch;          /* most launches per sample */
    int64_t batch_ns; /* duration of a batch of slower kernels */
    size_t set_count; /* sets of buffers over which a batch rotates; 1: only the slot's own */
    device_buffer *(*sets)[PLAN_MAX_BUFFERS]; /* [0] is the slot's own */
    device_buffer *const **views;             /* the same in the form of device_api */
    uint64_t ceiling_bytes; /* bytes that a launch of the ceiling copies, reads or writes */
    device_buffer **copy_to, **copy_from; /* one per set; NULL if the ceiling only reads or only writes */
    device_buffer **owned;                /* buffers of the ceiling that belong to no set */
    size_t owned_count;
    device_batch *ceiling; /* NULL if `batch` is 1 */
    launch_plan transfer;  /* the ceiling of a problem with transfers */
} device_meter;

/* Measures floor and tick, chooses the batch and prepares the ceiling; sets these fields of *ready.
 * Zeroes *m first, so that the caller may call device_meter_deinit() after any result. Returns
 * AT_DEVICE, AT_NO_MEMORY. */
at_status device_meter_init(device_meter *m, device_slot *slot, device_context *context,
                            device_cache cache, device_ready *ready, at_error *error);
/* Makes a meter that measures another problem in the same way as `first`, with the same number of
 * launches per sample and without a ceiling. Zeroes *m first. Returns AT_DEVICE, AT_NO_MEMORY. */
at_status device_meter_follow(device_meter *m, const device_meter *first, device_slot *slot,
                              device_context *context, at_error *error);
void device_meter_deinit(device_meter *m);

/* Prepares a kernel that was launched before: *out is its batch, or NULL if a sample is one launch.
 * `launch_ns` is the time of a launch, or 0 if unknown; it is then measured if needed. A slow
 * kernel gets a smaller batch: this limits the time of a sample, and the launch overhead stays
 * below a quarter of a percent. The caller calls device_meter_release(). Returns AT_COMPILE,
 * AT_DEVICE, AT_NO_MEMORY. */
at_status device_meter_prepare(device_meter *m, device_kernel *k, const launch_plan *launch,
                               int64_t launch_ns, device_batch **out, at_error *error);
void device_meter_release(device_meter *m, device_batch *batch); /* NULL is allowed */

/* Takes a sample of a kernel, with the batch that was prepared for it. Allocates nothing. */
at_status device_meter_sample(device_meter *m, device_kernel *k, const launch_plan *launch,
                              device_batch *batch, int64_t *time_ns, at_error *error);
/* Takes a sample of the ceiling: the time in which the device copies as many bytes as the traffic
 * of the problem, or only reads or writes them if the problem does only that. For transfers: the
 * time of one pinned copy in each direction, all at once. *time_ns is 0 if the problem has no
 * traffic, or its ceiling is not measured in runs. */
at_status device_meter_ceiling(device_meter *m, int64_t *time_ns, at_error *error);

#endif
