/* Measures variants: samples of time, the ceiling, and energy.
 *
 * A sample is one launch or, if kernels are too short for the clock, a batch of launches that
 * rotates over copies of the buffers. It is always one launch if other kernels run before it
 * (device_context). The ceiling is measured in the same way without these kernels; transfers
 * between host and device have no batches.
 *
 * A meter belongs to slot 0 of a stage, works through device_api, and owns the copies of the
 * buffers. The slot, its context and the device must outlive it. */
#ifndef AUTOTUNE_BENCH_METER_H
#define AUTOTUNE_BENCH_METER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bench/problem.h"

/* ---- kernels before a sample ----
 *
 * A context contains the kernels that a program runs before the tuned kernel, and the buffers that
 * all of them share: buffers with the same name are one buffer. Samples use buffers of the context,
 * copied from the slot's buffers, so that samples do not change the data of checks. A zeroed
 * context has no kernels. */

enum { CONTEXT_BUFFERS = (DEVICE_MAX_BEFORE + 1) * PLAN_MAX_BUFFERS };

/* A buffer, with the contents that it gets before each sample. */
typedef struct context_buffer {
    char name[PLAN_NAME_BYTES];
    uint64_t size_bytes;
    /* Owned; `pristine` only for a buffer that a kernel reads and writes. */
    device_buffer *buffer, *pristine;
} context_buffer;

typedef struct device_context {
    const device_api *api; /* NULL if there are no kernels */
    device *device;
    size_t count;
    device_kernel *kernels[DEVICE_MAX_BEFORE]; /* owned */
    launch_plan launches[DEVICE_MAX_BEFORE];
    device_buffer *views[DEVICE_MAX_BEFORE][PLAN_MAX_BUFFERS]; /* buffers of each kernel */
    device_before before[DEVICE_MAX_BEFORE];                   /* argument of device_api.sample */
    device_buffer *own[PLAN_MAX_BUFFERS];                      /* buffers of the sampled kernel */
    context_buffer buffers[CONTEXT_BUFFERS];
    size_t buffer_count;
} device_context;

/* Loads the kernels and makes the buffers for a seeded slot. Zeroes *c first, so that the caller
 * may call device_context_deinit() after any result. `contents` has the files for the kernels'
 * buffers. AT_SCRIPT if buffers with the same name differ in size or a kernel does not run,
 * AT_DEVICE. */
at_status device_context_init(device_context *c, const device_slot *slot,
                              const device_problem *problem, const device_contents *contents,
                              at_error *error);
void device_context_deinit(device_context *c);

/* ---- samples ---- */

typedef struct device_meter {
    const device_api *api;
    device *device;
    device_cache cache;
    device_slot *slot;
    device_context *context; /* kernels that run before each sample; NULL if there are none */
    uint32_t batch;          /* most launches in a batch */
    int64_t batch_ns; /* a batch of a slow kernel has only the launches that take this time */
    size_t set_count; /* sets of buffers over which a batch rotates; 1 if only sets[0] */
    device_buffer *(*sets)[PLAN_MAX_BUFFERS]; /* [0] is the slot's own */
    device_buffer *const **views;             /* the sets in the form of device_api */
    uint64_t ceiling_bytes; /* bytes that a launch of the ceiling copies, reads or writes */
    /* Destination and source of the ceiling, one per set; NULL if it only reads or only writes. */
    device_buffer **copy_to, **copy_from;
    device_buffer **owned; /* buffers of the ceiling that belong to no set */
    size_t owned_count;
    device_batch *ceiling; /* NULL if `batch` is 1 */
    launch_plan transfer;  /* the ceiling of a problem with transfers */
} device_meter;

/* Measures floor and tick, chooses the batch and prepares the ceiling; sets these fields of *ready.
 * Zeroes *m first, so that the caller may call device_meter_deinit() after any result. Returns
 * AT_DEVICE, AT_NO_MEMORY. */
at_status device_meter_init(device_meter *m, device_slot *slot, device_context *context,
                            device_cache cache, device_ready *ready, at_error *error);
/* Makes a meter that measures another problem like `first`, with as many launches per sample and
 * without a ceiling. Zeroes *m first. Returns AT_DEVICE, AT_NO_MEMORY. */
at_status device_meter_follow(device_meter *m, const device_meter *first, device_slot *slot,
                              device_context *context, at_error *error);
void device_meter_deinit(device_meter *m);

/* Prepares a kernel that was launched before: *out is its batch, or NULL if a sample is one launch.
 * `launch_ns` is the time of a launch, or 0 to measure it if needed. A slow kernel gets a smaller
 * batch, which limits the time of a sample. The caller calls device_meter_release(). Returns
 * AT_COMPILE, AT_DEVICE, AT_NO_MEMORY. */
at_status device_meter_prepare(device_meter *m, device_kernel *k, const launch_plan *launch,
                               int64_t launch_ns, device_batch **out, at_error *error);
void device_meter_release(device_meter *m, device_batch *batch); /* `batch` may be NULL */

/* Takes a sample of a kernel, with the batch that was prepared for it. Allocates nothing. */
at_status device_meter_sample(device_meter *m, device_kernel *k, const launch_plan *launch,
                              device_batch *batch, int64_t *time_ns, at_error *error);
/* Takes a sample of the ceiling: the time in which the device copies as many bytes as the traffic
 * of the problem, or only reads or writes them if the problem does only that. For transfers: the
 * time of one pinned copy in each direction, all at once. *time_ns is 0 if the problem has no
 * traffic, or if tuning runs do not measure its kind of ceiling. */
at_status device_meter_ceiling(device_meter *m, int64_t *time_ns, at_error *error);

/* ---- energy ----
 *
 * A board's energy counter advances in steps of tens of milliseconds, much longer than a launch. So
 * the counter is read between chunks of many launches, which give both the energy and its
 * precision. The counter covers the whole board with its idle power. That is the energy of the
 * launch as long as nothing else runs. */

enum { ENERGY_READINGS = ENERGY_CHUNKS + 1 };

typedef struct energy_reading {
    int64_t now_ns;     /* time of the reading; nothing runs on the GPU then */
    uint64_t launches;  /* launches finished since the first reading */
    uint64_t energy_mj; /* counter of the board; 0 if it has none */
    double power_w;     /* power of the board; used if there is no counter */
} energy_reading;

/* Returns the number of launches of `time_ns` in a chunk, at least 1. */
uint64_t energy_chunk_launches(int64_t time_ns);

/* Estimates the energy of a launch from readings in the order of time, each with more launches than
 * the reading before. Returns false below ENERGY_LEAST_CHUNKS chunks, or without energy and
 * power. */
bool energy_estimate_launch(const energy_reading *readings, size_t count, energy_estimate *out);

#endif
