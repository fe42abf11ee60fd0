#include <string.h>

#include "sim/excerpt.h"

/* The budget of a variant's launch, in instructions of threads (most_lanes) and in work
 * (most_work). Warps with few active lanes and memory accesses cost more work. The reference may
 * cost REFERENCE_TIMES as much, because it runs once for all variants. */
enum { REFERENCE_TIMES = 2 };
static const uint64_t most_lanes = 300000000, most_work = 1 << 28;

/* Limit of the bytes of all buffers, because the search for races takes several times as much. */
static const uint64_t most_bytes = 1 << 29;

enum { POISON = 0xa5 };

typedef struct whole_run {
    const device_kernel *kernel;
    const launch_plan *plan;
    device_buffer *const *buffers;
    uint64_t times; /* number of budgets that the run may cost; 0 for any cost */
} whole_run;

/* Runs a few clusters to estimate whether a launch is affordable. A short launch is always
 * affordable. */
static at_status estimate(const device_excerpt *x, const whole_run *r, uint32_t i, bool *affordable,
                          at_error *error)
{
    enum { SAMPLES = 3, FEW = 2 * SAMPLES };
    const kernel_launch *launch = &r->plan->launches[i];
    const uint32_t *cluster = sim_device_cluster(r->kernel, r->plan, i);
    const uint64_t total =
        plan_grid_blocks(launch) / ((uint64_t)cluster[0] * cluster[1] * cluster[2]);
    const uint64_t chosen[SAMPLES] = {0, total / 2, total - 1};
    const uint64_t rounds = plan_rounds(r->plan, i), share = SAMPLES * r->times;
    uint64_t lanes = 0, work = 0;
    sim_excerpt seen = {.later = true, .mark = SIM_BYTE_WRITTEN, .least = SAMPLES};
    sim_fault fault;
    if (total <= FEW)
        return AT_OK;
    const sim_launch how = {.clusters = chosen,
                            .cluster_count = SAMPLES,
                            .excerpt = &seen,
                            .lanes = &lanes,
                            .work = &work,
                            .lane_limit = 1 + share * most_lanes / total / rounds,
                            .work_limit = 1 + share * most_work / total / rounds,
                            .threads = 1};
    at_status status =
        sim_device_run(x->device, r->kernel, r->plan, i, r->buffers, &how, NULL, &fault, error);
    *affordable = lanes <= how.lane_limit && work <= how.work_limit;
    return status;
}

static at_status is_affordable(const device_excerpt *x, const whole_run *r, bool *affordable,
                               at_error *error)
{
    at_status status = AT_OK;
    *affordable = r->times == 0 || plan_problem_bytes(&x->plan) <= most_bytes;
    for (uint32_t i = 0; !status && r->times && *affordable && i < r->plan->launch_count; i++)
        status = estimate(x, r, i, affordable, error);
    return status;
}

/* Runs all launches of the plan. `unwatched` is as in sim_launch. Sets *ended if they ended or
 * faulted within the budget. */
static at_status run_all(const device_excerpt *x, const whole_run *r, char *unwatched,
                         sim_fault *fault, bool *ended, at_error *error)
{
    const bool is_long = r->times != 1 && r->times != REFERENCE_TIMES;
    uint64_t lanes = 0, work = 0;
    const sim_launch how = {.check = unwatched != NULL,
                            .unwatched = unwatched,
                            .progress = is_long ? x->device->progress : NULL,
                            .progress_context = x->device->progress_context,
                            .lanes = &lanes,
                            .work = &work,
                            .lane_limit = r->times * most_lanes,
                            .work_limit = r->times * most_work,
                            .instruction_limit = UINT64_MAX};
    sim_kernel_reset(&r->kernel->kernel);
    at_status status = sim_device_set_constants(r->kernel, r->plan, r->buffers, error);
    launch_walk walk = {0};
    *fault = (sim_fault){0};
    while (!status && fault->kind == SIM_FAULT_NONE && plan_walk(r->plan, &walk))
        status = sim_device_run(x->device, r->kernel, r->plan, walk.place, r->buffers, &how, NULL,
                                fault, error);
    *ended = r->times == 0 || (lanes <= how.lane_limit && work <= how.work_limit);
    return status;
}

/* Makes all results of the reference, once. Sets *made if the budget sufficed. */
static at_status make_expected(device_excerpt *x, uint64_t times, bool *made, at_error *error)
{
    const whole_run r = {x->reference, &x->reference_launch, x->view, times * REFERENCE_TIMES};
    sim_fault fault = {0};
    *made = x->is_expected || x->plan.oracle == ORACLE_NONE;
    if (*made || (times > 0 && times <= x->unaffordable))
        return AT_OK;
    sim_data_reset_expected(x->data);
    at_status status = is_affordable(x, &r, made, error);
    if (!status && *made) {
        sim_data_reset_expected(x->data);
        status = run_all(x, &r, NULL, &fault, made, error);
    }
    if (!status && *made && fault.kind != SIM_FAULT_NONE)
        return error_set(error, AT_SCRIPT, "%s: %s", oracle_kernel(x->plan.oracle), fault.message);
    x->is_expected = *made;
    x->unaffordable = *made ? 0 : times;
    return status;
}

static void poison_unwritten(const device_buffer *b, buffer_role role)
{
    if (role == BUFFER_INOUT)
        sim_buffer_make_all(b);
    for (uint64_t i = 0; role == BUFFER_OUTPUT && b->region.valid && i < b->region.size_bytes; i++)
        if (!b->region.valid[i])
            b->region.bytes[i] = POISON;
}

static uint64_t count_written(const device_buffer *expected, uint64_t count, uint64_t size)
{
    uint64_t written = 0;
    for (uint64_t i = 0; expected->region.valid && i < count; i++)
        written += expected->region.valid[i * size] != 0;
    return expected->region.valid ? written : count;
}

/* Changes bytes that the reference overwrote and the variant did not write. They may hold the
 * expected result from before, and must compare as wrong. */
static void invalidate_unwritten(const device_buffer *found, const device_buffer *expected)
{
    for (uint64_t i = 0;
         found->region.valid && expected->region.valid && i < found->region.size_bytes; i++)
        if (expected->region.valid[i] && !found->region.valid[i])
            found->region.bytes[i] = (uint8_t)~expected->region.bytes[i];
}

static at_status compare_all(excerpt_check *c, device_excerpt_result *out, at_error *error)
{
    device_excerpt *x = c->excerpt;
    at_status status = AT_OK;
    for (uint32_t i = 0; !status && out->result == OUTCOME_OK && i < x->plan.buffer_count; i++) {
        buffer_plan plan = x->plan.buffers[i];
        device_buffer *found = sim_data_buffers(x->data)[i];
        if (!plan_is_compared(&plan))
            continue;
        poison_unwritten(found, plan.role);
        poison_unwritten(x->view[i], plan.role);
        if (x->overwritten[i])
            invalidate_unwritten(found, x->view[i]);
        if (x->answers[i])
            memcpy(x->view[i]->region.bytes, x->answers[i], plan_buffer_bytes(&plan));
        plan.count = c->ends[i];
        status = sim_buffer_compare(x->device, found, x->view[i], &plan, &out->found, error);
        /* The contents of in-out buffers count as written from the start. */
        out->found.unwritten =
            out->found.unwritten && (plan.role == BUFFER_OUTPUT || x->overwritten[i]);
        c->coverage->compared +=
            x->answers[i] ? plan.count
                          : count_written(x->view[i], plan.count, dtype_get(plan.type)->size_bytes);
        out->buffer = i;
        out->compared = plan.count;
        if (status || out->found.wrong <= tolerance_mismatches(plan.tolerance, plan.count))
            continue;
        device_comparison far;
        plan.tolerance = tolerance_of_rounding(plan.type);
        status = sim_buffer_compare(x->device, found, x->view[i], &plan, &far, error);
        out->beyond = far.wrong;
        out->result = OUTCOME_WRONG_RESULT;
    }
    return status;
}

at_status excerpt_run_whole(excerpt_check *c, uint64_t times, device_excerpt_result *out,
                            bool *done, at_error *error)
{
    device_excerpt *x = c->excerpt;
    const whole_run r = {c->kernel, c->plan, sim_data_buffers(x->data), times};
    char unwatched[SIM_UNWATCHED_BYTES] = "";
    sim_data_reset(x->data);
    at_status status = is_affordable(x, &r, done, error);
    if (!status && *done)
        status = make_expected(x, times, done, error);
    if (!status && *done)
        status = sim_data_fill_all(x->data, done, error);
    if (status || !*done)
        return status;
    sim_data_reset(x->data);
    status = run_all(x, &r, unwatched, &c->fault, done, error);
    if (!status && *done && c->fault.kind != SIM_FAULT_NONE && c->fault.ran_on_several_threads) {
        sim_data_reset(x->data);
        x->device->alone = true;
        status = run_all(x, &r, unwatched, &c->fault, done, error);
        x->device->alone = false;
    }
    if (status || !*done) {
        c->fault = (sim_fault){0};
        return status;
    }
    *c->coverage = (device_coverage){.whole = true};
    memcpy(c->coverage->unwatched, unwatched, sizeof unwatched);
    launch_walk walk = {0};
    while (plan_walk(c->plan, &walk))
        c->coverage->blocks += plan_grid_blocks(&c->plan->launches[walk.place]);
    c->coverage->run = c->coverage->blocks;
    return c->fault.kind == SIM_FAULT_NONE && x->plan.oracle != ORACLE_NONE
               ? compare_all(c, out, error)
               : AT_OK;
}
