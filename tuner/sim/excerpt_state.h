/* An excerpt, and the check of a variant's by it; no other files than sim/excerpt*.c include this.
 */
#ifndef AUTOTUNE_SIM_EXCERPT_STATE_H
#define AUTOTUNE_SIM_EXCERPT_STATE_H

#include "sim/data.h"
#include "sim/excerpt.h"
#include "sim/sweep.h"

enum {
    EXCERPT_MOST_SPENT = 1 << 21, /* work, each time (excerpt.c) */
    EXCERPT_NEEDED_TIMES = 16,    /* of what is affordable, where nothing could be compared else */
    EXCERPT_MOST_SWEPT = 1 << 24  /* instructions that a sweep follows */
};

struct device_excerpt {
    device *device;
    problem_plan plan;
    sim_data *data;
    launch_plan reference_launch;
    device_buffer *view[PLAN_MAX_BUFFERS + 1]; /* the reference's */
    const device_kernel *reference;
    const void *answers[PLAN_MAX_BUFFERS]; /* results that files hold; NULL: none does */
    device_whole whole;
    bool is_expected;  /* `view` has what the reference makes of all of it */
    uint64_t too_dear; /* times of what is affordable at which it could not make that */
    bool overwritten[PLAN_MAX_BUFFERS]; /* in-outs that the baseline does not read before it writes,
                                           as far as its blocks were run */
};

typedef struct excerpt_check {
    device_excerpt *excerpt;
    const device_kernel *kernel;
    const launch_plan *plan;
    device_coverage *coverage;
    bool complete;  /* all that was launched so far ran whole */
    uint64_t spend; /* work, each time */
    uint64_t spent; /* on the variant's blocks */
    uint64_t launches, launched;
    uint64_t unfinished; /* bits of clusters of the last launch, in the order in which they ran */
    sim_sweep swept;     /* of the last launch */
    uint64_t ends[PLAN_MAX_BUFFERS]; /* of buffers: elements that are results */
    sim_fault fault;
} excerpt_check;

/* Runs all blocks and compares all results, where that costs at most `times` of what is affordable;
 * `times` is 0 if any cost is. Sets *done if it ran them: c->coverage, c->fault and *out then have
 * the result. Returns AT_SCRIPT if the reference faults. */
at_status excerpt_run_whole(excerpt_check *c, uint64_t times, device_excerpt_result *out,
                            bool *done, at_error *error);

#endif
