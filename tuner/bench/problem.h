/* A problem on a device: its buffers, and the kernels that fill them and say what is right.
 *
 * Works through device_api alone, so that every kind of device checks in the same way. A slot owns
 * its buffers and kernels; free it before the device. What its buffers hold is bench/oracle.h's
 * job. */
#ifndef AUTOTUNE_BENCH_PROBLEM_H
#define AUTOTUNE_BENCH_PROBLEM_H

#include "bench/client.h"
#include "bench/contents.h"
#include "device/device.h"
#include "device/outcome.h"

typedef struct device_slot {
    const device_api *api;
    device *device;
    char label[DEVICE_LABEL_BYTES];
    problem_plan plan;
    device_buffer *buffers[PLAN_MAX_BUFFERS];  /* what variants are given */
    device_buffer *expected[PLAN_MAX_BUFFERS]; /* outputs and in-outs: what the reference made */
    device_buffer *pristine[PLAN_MAX_BUFFERS]; /* in-outs: as filled */
    uint64_t sums[PLAN_MAX_BUFFERS];           /* of inputs as filled, and of `expected` */
    unsigned char *instead[PLAN_MAX_BUFFERS];  /* owned; in-outs: contents in place of the filled
                                                  ones, where these are the result; NULL: none */
    bool replaced;                             /* `instead` is made for the present contents */
    bool changes[PLAN_MAX_BUFFERS]; /* the oracle changes a compared element of the buffer */
    device_kernel *reference;
    device_kernel *filler; /* fills inputs after the fills; NULL: none */
    launch_plan filler_launch;
    launch_plan reference_launch;
    const void *contents[PLAN_MAX_BUFFERS]; /* of files that fill buffers; NULL: none does */
    const void *answers[PLAN_MAX_BUFFERS];  /* the results that files hold; likewise */
    bool absent;                            /* nothing of it is made: no variant is checked on it */
    bool proves;                            /* `trouble` is no failure of the set-up */
    bool brief;                             /* device_problem */
    bool is_judged;    /* the baseline has been held against itself, or is in trouble */
    bool keeps_before; /* the oracle leaves elements of an output alone: outputs are not poisoned by
                          turns */
    char trouble[1024];                   /* why the oracle says nothing; empty: it does */
    device_whole whole;                   /* device_problem */
    bool sampled;                         /* it has no buffers of its own, but an excerpt; */
    device_excerpt *excerpt;              /* NULL: there is no room for one, */
    device_coverage coverage;             /* which says why, else what the last check ran */
    uint64_t differing[PLAN_MAX_BUFFERS]; /* elements in the last check: the most of a launch */
    uint64_t seed;                        /* of the contents at present */
    int64_t reference_wall_ns; /* of the reference's second launch, on the host's clock, */
    uint64_t reference_work;   /* and in the device's unit; 0: it does not count */
} device_slot;

/* Allocates the buffers; loads the reference and the filler; finds what files hold, which outlives
 * the slot. *s is zeroed first and may be freed
 * whatever the result. AT_DEVICE (memory), AT_COMPILE (the reference), AT_FORMAT (a plan that
 * contradicts itself).
 */
at_status device_slot_init(device_slot *s, const device_api *api, device *d,
                           const device_problem *problem, const device_contents *contents,
                           at_error *error);
void device_slot_deinit(device_slot *s);

/* The name that messages have for the kernel that fills inputs after the fills. */
#define DEVICE_FILLER_NAME "the kernel that prepares inputs"

/* Blames the script, not the device, for an error of the kernel called so; code that is not
 * simulated is nobody's fault. Returns the status to go on with. */
at_status device_slot_blame(const char *kernel, at_status status, at_error *error);

/* Checks that the launch names only buffers that the slot has. AT_FORMAT if not. */
at_status device_slot_accepts(const device_slot *s, const launch_plan *launch, at_error *error);

/* What is said beside the device's complaint of a launch at which a proof ended. */
#define DEVICE_PROOF_ENDED                                                                         \
    ": the proof's work ends there. If the kernel does end, give the script a smaller problem: "   \
    "simulated = { ... }"

/* Launches a kernel, which may take so much work (device_analysis.give_up_after; 0: any); a proof
 * ends it after a few seconds of a core in any case. Errors of the launch. */
at_status device_slot_launch(device_slot *s, device_kernel *k, const launch_plan *launch,
                             device_buffer *const *buffers, uint64_t most_work, at_error *error);

/* The pattern that outputs are poisoned with before launch `pattern` of a check. */
int device_slot_poison(const device_slot *s, int pattern);

/* Restores the contents of in-out buffers; queued before a sample. */
at_status device_slot_restore(device_slot *s, at_error *error);

#endif
