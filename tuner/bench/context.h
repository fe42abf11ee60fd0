/* A problem as a program has it: kernels that run before each sample, and the buffers that they
 * share with the kernel that is sampled.
 *
 * Buffers of one name are one buffer, of that kernel and of those before it. Samples are taken on
 * buffers of the context's own, which begin as copies of the slot's: what is written into them
 * before a sample is nothing that variants are checked on. A zeroed context has no kernels. */
#ifndef AUTOTUNE_BENCH_CONTEXT_H
#define AUTOTUNE_BENCH_CONTEXT_H

#include "bench/problem.h"

enum { CONTEXT_BUFFERS = (DEVICE_MAX_BEFORE + 1) * PLAN_MAX_BUFFERS };

/* A buffer, with the contents that it gets before each sample. */
typedef struct context_buffer {
    char name[PLAN_NAME_BYTES];
    uint64_t size_bytes;
    device_buffer *buffer, *pristine; /* owned; `pristine` only for a buffer that a kernel reads and writes */
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
 * buffers. Returns AT_SCRIPT if buffers with the same name differ in size or a kernel does not run,
 * AT_DEVICE. */
at_status device_context_init(device_context *c, const device_slot *slot,
                              const device_problem *problem, const device_contents *contents,
                              at_error *error);
void device_context_deinit(device_context *c);

/* Restores the buffers that a kernel reads and writes. */
at_status device_context_restore(device_context *c, at_error *error);

#endif
