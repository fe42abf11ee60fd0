/* A problem on a device: its buffers, the kernels that fill them, the expected results, and the
 * check of a variant against these.
 *
 * Works only through device_api, so that every kind of device checks in the same way. problem.c
 * makes buffers and runs the oracle's kernel, check.c checks a kernel, oracle.c makes and judges
 * the expected results.
 *
 * A reference kernel must write all of its outputs and be deterministic. A baseline as the oracle
 * must agree with itself as every variant must agree with it: it is checked like a variant, under
 * the schedules of a check. Elements that the baseline does not write keep their contents; outputs
 * then have the same contents before each launch, of the baseline and of the variants.
 *
 * A slot owns its buffers and kernels; free it before the device. */
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
    device_buffer *buffers[PLAN_MAX_BUFFERS];  /* buffers of the variants */
    device_buffer *expected[PLAN_MAX_BUFFERS]; /* outputs and in-outs: results of the oracle */
    device_buffer *pristine[PLAN_MAX_BUFFERS]; /* in-outs: contents before a launch */
    uint64_t sums[PLAN_MAX_BUFFERS];           /* sums of the inputs and of `expected` */
    /* owned; in-outs: replacement for filled contents that are the result already; may be NULL */
    unsigned char *instead[PLAN_MAX_BUFFERS];
    bool replaced;                             /* `instead` is made for the current contents */
    bool changes[PLAN_MAX_BUFFERS]; /* the oracle changes a compared element of the buffer */
    device_kernel *reference;
    device_kernel *filler; /* changes inputs after the fills; may be NULL */
    launch_plan filler_launch;
    launch_plan reference_launch;
    const void *contents[PLAN_MAX_BUFFERS]; /* files that fill buffers; NULL for other buffers */
    const void *answers[PLAN_MAX_BUFFERS];  /* files with expected results; NULL for other buffers */
    bool absent;                            /* has no buffers: no variant is checked on it */
    bool proves;                            /* `trouble` does not fail the set-up */
    bool brief;                             /* see device_problem */
    bool is_judged;    /* the baseline has been compared with itself, or has failed */
    bool keeps_before; /* the oracle leaves elements of an output unwritten: outputs are not poisoned with different patterns */
    char trouble[1024];                   /* reason why there are no expected results; "" if there are */
    device_whole whole;                   /* see device_problem */
    bool sampled;                         /* has no buffers, but an excerpt */
    device_excerpt *excerpt;              /* NULL if there is no room for it */
    device_coverage coverage;             /* reason if `excerpt` is NULL; else coverage of the last check */
    uint64_t differing[PLAN_MAX_BUFFERS]; /* differing elements in the last check, maximum of its launches */
    uint64_t seed;                        /* seed of the current contents */
    int64_t reference_wall_ns; /* wall time of the last launch of the reference, in ns */
    uint64_t reference_work;   /* its work in units of the device; 0 if the device does not count work */
} device_slot;

/* Allocates the buffers, loads the reference and the filler, and finds the files, which must
 * outlive the slot. Zeroes *s first, so that the caller may call device_slot_deinit() after any
 * result. Returns AT_DEVICE (memory), AT_COMPILE (the reference), AT_FORMAT (an inconsistent
 * plan). */
at_status device_slot_init(device_slot *s, const device_api *api, device *d,
                           const device_problem *problem, const device_contents *contents,
                           at_error *error);
void device_slot_deinit(device_slot *s);

/* Name of the filler in messages. */
#define DEVICE_FILLER_NAME "the kernel that prepares inputs"

/* Blames the script instead of the device for an error of the kernel called `kernel`. Code that is
 * not simulated is nobody's fault. Returns the new status. */
at_status device_slot_blame(const char *kernel, at_status status, at_error *error);

/* Checks that the launch uses only buffers of the slot. Returns AT_FORMAT if not. */
at_status device_slot_accepts(const device_slot *s, const launch_plan *launch, at_error *error);

/* Text after the complaint of a device about a launch at which a proof ended. */
#define DEVICE_PROOF_ENDED                                                                         \
    ": the proof's work ends there. If the kernel does end, give the script a smaller problem: "   \
    "simulated = { ... }"

/* Launches a kernel with a limit of work (device_analysis.give_up_after; 0: no limit). A proof has
 * a limit of a few seconds of a core in any case. Returns the errors of the launch. */
at_status device_slot_launch(device_slot *s, device_kernel *k, const launch_plan *launch,
                             device_buffer *const *buffers, uint64_t most_work, at_error *error);

/* Returns the pattern that poisons outputs before launch number `pattern` of a check. */
int device_slot_poison(const device_slot *s, int pattern);

/* Restores the contents of in-out buffers. It is queued before a sample. */
at_status device_slot_restore(device_slot *s, at_error *error);

#endif
