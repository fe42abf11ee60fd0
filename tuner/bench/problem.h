/* A problem on a device: its buffers, the results of the reference, and the checks against them.
 *
 * Works through device_api alone, so that every kind of device checks in the same way. A slot owns
 * its buffers and the reference kernel; free it before the device. */
#ifndef AUTOTUNE_BENCH_PROBLEM_H
#define AUTOTUNE_BENCH_PROBLEM_H

#include "bench/client.h"
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
    device_kernel *reference;
    device_kernel *filler; /* fills inputs after the fills; NULL: none */
    launch_plan filler_launch;
    launch_plan reference_launch;
    bool sampled;                         /* it has no buffers of its own, but an excerpt; */
    device_excerpt *excerpt;              /* NULL: there is no room for one, */
    device_coverage coverage;             /* which says why, else what the last check ran */
    uint64_t differing[PLAN_MAX_BUFFERS]; /* elements in the last check: the most of a launch */
    uint64_t seed;                        /* of the contents at present */
    int64_t reference_wall_ns; /* of the reference's second launch, on the host's clock, */
    uint64_t reference_work;   /* and in the device's unit; 0: it does not count */
} device_slot;

/* Allocates the buffers; loads the reference and the filler. *s is zeroed first and may be freed
 * whatever the result. AT_DEVICE (memory), AT_COMPILE (the reference), AT_FORMAT (a plan that
 * contradicts itself).
 */
at_status device_slot_init(device_slot *s, const device_api *api, device *d,
                           const device_problem *problem, at_error *error);
void device_slot_deinit(device_slot *s);

/* Fills inputs from `seed`, then with the filler; runs the reference and keeps its results.
 * AT_DEVICE also if the reference writes outside its buffers or leaves part of an output
 * unwritten. */
at_status device_slot_seed(device_slot *s, uint64_t seed, at_error *error);

/* Checks that the launch names only buffers that the slot has. AT_FORMAT if not. */
at_status device_slot_accepts(const device_slot *s, const launch_plan *launch, at_error *error);

/* How a slot is checked, and what came of it. */
typedef struct device_check {
    int launches;       /* two or more */
    uint64_t most_work; /* of each (device_api.give_up_after); 0: any */
    outcome result;
    char *text; /* the caller's: why the result is not OUTCOME_OK */
    size_t text_bytes;
    char *printed; /* owned, also after a failure: by the first launch, or by the one that is wrong;
                      NULL: nothing */
} device_check;

/* Runs the kernel on poisoned outputs, and checks outputs, guard bands and inputs. The bytes in and
 * around its buffers differ from launch to launch. AT_OK: it ran, and how->result says how.
 * AT_COMPILE: the launch was refused. AT_DEVICE: it faulted. The slot is usable afterwards, except
 * after AT_DEVICE. */
at_status device_slot_check(device_slot *s, device_kernel *k, const launch_plan *launch,
                            device_check *how, at_error *error);

/* Restores the contents of in-out buffers; queued before a sample. */
at_status device_slot_restore(device_slot *s, at_error *error);

/* Are the inputs and the expected outputs unchanged? A variant that writes far outside its buffers
 * can hit those of another slot. */
at_status device_slot_sound(device_slot *s, bool *sound, at_error *error);

#endif
