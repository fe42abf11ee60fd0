/* Checks a variant on a problem that is too large to be run whole, by an excerpt of its blocks.
 *
 * excerpt_whole.c runs all blocks if the budget of work allows it. Otherwise excerpt.c runs the
 * last block to measure its work, then other blocks until the budget is used up: corners of the
 * grid, middles of its edges, random neighbours. An error within one of these blocks, or between
 * two of them, is a fault as in any launch. An error is no fault if it only shows that other blocks
 * did not run (sim_excerpt). excerpt_compare.c compares the plain writes of the last launch with
 * the writes of the reference to the same bytes (sim/owners.h), unless a result depends on when
 * other blocks run. excerpt_holes.c looks for results that no block writes. */
#ifndef AUTOTUNE_SIM_EXCERPT_H
#define AUTOTUNE_SIM_EXCERPT_H

#include "sim/data.h"
#include "sim/owners.h"
#include "sim/sweep.h"

enum {
    EXCERPT_MOST_SPENT = 1 << 21, /* highest budget of work in each step (excerpt.c) */
    EXCERPT_NEEDED_TIMES = 16,    /* budgets for a whole run if an excerpt compares nothing */
    EXCERPT_MOST_SWEPT = 1 << 24  /* limit of the instructions of a sweep */
};

struct device_excerpt {
    device *device;
    problem_plan plan;
    sim_data *data;
    launch_plan reference_launch;
    device_buffer *view[PLAN_MAX_BUFFERS + 1]; /* buffers of the reference */
    const device_kernel *reference;
    const void *answers[PLAN_MAX_BUFFERS]; /* results from files; NULL for other buffers */
    device_whole whole;
    bool is_expected;                   /* `view` has all results of the reference */
    uint64_t unaffordable;              /* highest number of budgets that the reference exceeded */
    bool overwritten[PLAN_MAX_BUFFERS]; /* in-out buffers that the baseline overwrites without
                                           reading them, in the blocks that ran */
};

typedef struct excerpt_check {
    device_excerpt *excerpt;
    const device_kernel *kernel;
    const launch_plan *plan;
    device_coverage *coverage;
    bool complete;   /* whether all blocks of all launches so far ran */
    uint64_t budget; /* budget of work in each step */
    uint64_t spent;  /* work of the variant's blocks so far */
    uint64_t launches, launched;
    uint64_t unfinished; /* clusters of the last launch that did not end, one bit each, in the order
                            in which they ran */
    sim_sweep swept;     /* sweep of the last launch */
    uint64_t ends[PLAN_MAX_BUFFERS]; /* for each buffer, the number of elements that are results */
    sim_fault fault;
} excerpt_check;

/* Runs all blocks and compares all results, if that costs at most `times` budgets (0 for any cost).
 * If so, sets *done, c->coverage, c->fault and *out. Returns AT_SCRIPT if the reference faults. */
at_status excerpt_run_whole(excerpt_check *c, uint64_t times, device_excerpt_result *out,
                            bool *done, at_error *error);

/* Compares the plain writes of the last launch. Sets the number of compared elements in
 * c->coverage, or the reason why there are none. Returns AT_SCRIPT if the reference faults. */
at_status excerpt_compare(excerpt_check *c, device_excerpt_result *out, at_error *error);

/* Compares those elements of a buffer that both kernels have written. */
void excerpt_compare_elements(const excerpt_check *c, uint32_t buffer, const uint64_t *elements,
                              size_t count, device_excerpt_result *out);

/* Looks for results that no block writes, and for wrong results where index arithmetic overflows.
 * Both kernels start with the initial data. */
at_status excerpt_find_holes(excerpt_check *c, device_excerpt_result *out, at_error *error);

#endif
