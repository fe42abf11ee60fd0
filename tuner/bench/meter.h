/* How a problem's samples are taken: one launch at a time, or, if kernels are too short for the
 * clock, batches of launches that rotate over copies of the buffers. Where other kernels run before
 * each launch (bench/context.h) it is always one. The ceiling is measured in the same way, without
 * them. Transfers between host and device take no batches.
 *
 * A meter belongs to slot 0 of a device worker, works through device_api, and owns the copies of
 * the buffers. The slot, its context and the device outlive it. */
#ifndef AUTOTUNE_BENCH_METER_H
#define AUTOTUNE_BENCH_METER_H

#include "bench/context.h"

typedef struct device_meter {
    const device_api *api;
    device *device;
    device_cache cache;
    device_slot *slot;
    device_context *context; /* whose kernels run before each sample; NULL: none do */
    uint32_t batch;          /* launches a sample averages over, at most */
    int64_t batch_ns; /* as long as a batch lasts where that many launches are worth their time */
    size_t set_count; /* sets of buffers that a batch rotates over; 1: the slot's own alone */
    device_buffer *(*sets)[PLAN_MAX_BUFFERS]; /* [0] is the slot's */
    device_buffer *const **views;             /* the same, as device_api wants them */
    uint64_t ceiling_bytes; /* that one launch of the ceiling copies, reads or writes */
    device_buffer **copy_to, **copy_from; /* one a set; NULL: the ceiling is one-sided */
    device_buffer **owned;                /* buffers of the ceiling that are no set's */
    size_t owned_count;
    device_batch *ceiling; /* NULL: batch is 1 */
    launch_plan transfer;  /* of a problem that moves data between host and device: the ceiling */
} device_meter;

/* Measures floor and tick, decides about batches and prepares the ceiling; sets those fields of
 * *ready. *m is zeroed first and may be deinitialised whatever the result. AT_DEVICE,
 * AT_NO_MEMORY. */
at_status device_meter_init(device_meter *m, device_slot *slot, device_context *context,
                            device_cache cache, device_ready *ready, at_error *error);
/* Makes a meter that measures another problem as `first` (initialised) measures its own: with as
 * many launches a sample, and without a ceiling. *m is zeroed first. AT_DEVICE, AT_NO_MEMORY. */
at_status device_meter_follow(device_meter *m, const device_meter *first, device_slot *slot,
                              device_context *context, at_error *error);
void device_meter_deinit(device_meter *m);

/* Prepares a kernel that was launched before: *out is its batch, NULL where samples are of one
 * launch. `launch_ns`: what it takes; 0: not known, and measured where it matters. A kernel that is
 * slow beside those that batches are for gets a shorter batch: the time of a sample is bounded, and
 * what a launch itself takes stays below a quarter of a percent of it. The caller gives it back
 * with device_meter_release. AT_COMPILE, AT_DEVICE, AT_NO_MEMORY. */
at_status device_meter_prepare(device_meter *m, device_kernel *k, const launch_plan *launch,
                               int64_t launch_ns, device_batch **out, at_error *error);
void device_meter_release(device_meter *m, device_batch *batch); /* NULL is fine */

/* One sample of a kernel with the batch that was prepared for it; nothing is allocated. */
at_status device_meter_sample(device_meter *m, device_kernel *k, const launch_plan *launch,
                              device_batch *batch, int64_t *time_ns, at_error *error);
/* One sample of the ceiling: the time in which the device copies, or only reads or writes where the
 * problem is one-sided, as many bytes as the problem's traffic; where variants move data between
 * host and device, the time of one pinned copy each way, all at once. 0 where a problem has no
 * traffic, or a ceiling that no run measures. */
at_status device_meter_ceiling(device_meter *m, int64_t *time_ns, at_error *error);

#endif
