/* A problem on a device: its buffers, the kernels that fill them, the expected results, and the
 * check of a variant against these.
 *
 * Works only through device_api, so that every kind of device checks in the same way. problem.c
 * makes the buffers, check.c checks a kernel, and oracle.c makes the expected results.
 *
 * A reference kernel must write all of its outputs and be deterministic. A baseline as the oracle
 * is checked like a variant: it must agree with itself under the schedules of a check. Elements
 * that it does not write keep their contents; outputs then have the same contents before each
 * launch, of the baseline and of the variants.
 *
 * A slot owns its buffers and kernels; free it before the device. */
#ifndef AUTOTUNE_BENCH_PROBLEM_H
#define AUTOTUNE_BENCH_PROBLEM_H

#include "bench/client.h"
#include "bench/wire.h"
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
    /* owned; for in-outs that hold results before a launch: contents to use instead; may be NULL */
    unsigned char *replacement[PLAN_MAX_BUFFERS];
    bool has_replacement;           /* `replacement` is made for the current contents */
    bool changes[PLAN_MAX_BUFFERS]; /* the oracle changes a compared element of the buffer */
    device_kernel *reference;
    device_kernel *filler; /* changes inputs after the fills; may be NULL */
    launch_plan filler_launch;
    launch_plan reference_launch;
    const void *contents[PLAN_MAX_BUFFERS]; /* files that fill buffers; NULL for other buffers */
    const void *answers[PLAN_MAX_BUFFERS]; /* files with expected results; NULL for other buffers */
    bool absent; /* see device_problem: the slot has no buffers, and variants are not checked on it
                  */
    bool proves; /* `oracle_error` does not fail the set-up */
    bool brief;  /* see device_problem */
    bool is_judged;          /* the baseline has been compared with itself, or has failed */
    bool keeps_unwritten;    /* the oracle leaves elements of an output unwritten: outputs are not
                             poisoned with different patterns */
    char oracle_error[1024]; /* reason why there are no expected results; may be "" */
    device_whole whole;      /* see device_problem */
    bool sampled; /* the problem is too large: only some blocks run, on buffers of `excerpt` */
    bool timed;   /* the buffers are those of the excerpt, and variants are only timed */
    device_excerpt *excerpt;  /* the blocks that run if `sampled`; NULL if they have no room */
    device_coverage coverage; /* reason why `excerpt` is NULL, or coverage of the last check */
    uint64_t differing[PLAN_MAX_BUFFERS]; /* differing elements in the last check, maximum of its
                                             launches */
    uint64_t seed;                        /* seed of the current contents */
    int64_t reference_wall_ns;            /* wall time of the last launch of the reference, in ns */
    /* work of that launch, in units of the device; 0 if the device does not count work */
    uint64_t reference_work;
} device_slot;

/* Allocates the buffers, loads the reference and the filler, and finds the files, which must
 * outlive the slot. Zeroes *s first, so that the caller may call device_slot_deinit() after any
 * result. AT_DEVICE (memory), AT_COMPILE (the reference), AT_FORMAT (an inconsistent plan). */
at_status device_slot_init(device_slot *s, const device_api *api, device *d,
                           const device_problem *problem, const device_contents *contents,
                           at_error *error);
void device_slot_deinit(device_slot *s);

/* Name of the filler in messages. */
#define DEVICE_FILLER_NAME "the kernel that prepares inputs"

/* Blames the script, not the device, for an error of the kernel called `kernel`: returns AT_SCRIPT
 * for AT_COMPILE and AT_DEVICE. AT_NO_DEVICE stays: the simulated device does not support the code.
 */
at_status device_slot_blame(const char *kernel, at_status status, at_error *error);

/* Checks that the launch uses only buffers of the slot. Returns AT_FORMAT if not. */
at_status device_slot_accepts(const device_slot *s, const launch_plan *launch, at_error *error);

/* Launches a kernel with a limit of work (device_analysis.limit_work; 0 for no limit); a proof is
 * always limited to a few seconds of a core. Returns the errors of the launch. */
at_status device_slot_launch(device_slot *s, device_kernel *k, const launch_plan *launch,
                             device_buffer *const *buffers, uint64_t most_work, at_error *error);

/* Returns the pattern that poisons outputs before launch number `pattern` of a check. */
int device_slot_poison(const device_slot *s, int pattern);

/* Returns the plan of buffer `i`, with the number of elements that are results of the launch. */
buffer_plan device_slot_compared(const device_slot *s, const launch_plan *launch, uint32_t i);

/* Sums the elements of `b`, which stands for buffer `i`, that are results of the launch. */
at_status device_slot_sum(const device_slot *s, const launch_plan *launch, uint32_t i,
                          const device_buffer *b, uint64_t *sum, at_error *error);

/* Restores the contents of in-out buffers. The copies are queued, so the next launch sees them. */
at_status device_slot_restore(device_slot *s, at_error *error);

/* Copies the results of the oracle, buffer after buffer, to *out, which the caller frees. Returns
 * the number of bytes. Returns 0 and sets *out to NULL if they are unknown or unreadable. */
size_t device_slot_results(const device_slot *s, void **out);

/* Compares the results of the oracle with another device's results for the same seed, plan.seed.
 * *result is OUTCOME_OK, or OUTCOME_WRONG_RESULT with the difference in `text`. Returns AT_FORMAT
 * for results of other buffers. */
at_status device_slot_compare(device_slot *s, const void *results, size_t results_bytes,
                              outcome *result, char *text, size_t text_bytes, at_error *error);

/* ---- the check of a kernel ---- */

typedef struct device_check {
    int launches;       /* at least two */
    uint64_t most_work; /* limit per launch (device_analysis.limit_work); 0 means no limit */
    int64_t most_ns; /* limit of the first launch (device_hardware.launch_ns); 0 means no limit */
    outcome result;
    int64_t slow_ns; /* time of a first launch above most_ns, which ends the check; or 0 */
    char *text;      /* buffer of the caller; reason if the result is not OUTCOME_OK */
    size_t text_bytes;
    device_fault fault; /* the fault in `text`, as fields */
    char *printed; /* owned, also after a failure; printed text of the first launch, or of the wrong
                    * one; may be NULL */
} device_check;

/* Runs the kernel on poisoned outputs, and checks outputs, guard bands and inputs. The bytes in and
 * around its buffers differ from launch to launch. If s->oracle_error is set, outputs are only
 * compared with each other. Returns AT_OK if the kernel ran; how->result is then the result of the
 * check, and *differs is true if the contents of an output are wrong. Returns AT_COMPILE if the
 * launch is refused, AT_DEVICE if it faults. */
at_status device_check_once(device_slot *s, device_kernel *k, const launch_plan *launch,
                            device_check *how, bool *differs, at_error *error);

/* Fills the inputs from `seed`, runs the filler and the reference, and keeps the expected results.
 * Returns AT_SCRIPT if the reference writes out of bounds or does not agree with itself, or if a
 * reference kernel leaves a part of an output unwritten. */
at_status device_slot_seed(device_slot *s, uint64_t seed, at_error *error);

/* Checks a kernel by device_check_once(), and again if an earlier variant may have damaged the
 * expected results. If s->oracle_error is set, the result is OUTCOME_NOT_SIMULATED unless another
 * error is found; with s->brief, the kernel is not even run. The slot is usable afterwards, except
 * after AT_DEVICE. */
at_status device_slot_check(device_slot *s, device_kernel *k, const launch_plan *launch,
                            device_check *how, at_error *error);

/* Sets *sound to true if the inputs and expected results are unchanged. A variant that writes far
 * out of bounds can hit them in any slot. */
at_status device_slot_sound(device_slot *s, bool *sound, at_error *error);

#endif
