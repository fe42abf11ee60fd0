#include "sim/excerpt.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/memory.h"
#include "base/rng.h"

enum { MOST_LAUNCHES = 16 }; /* only the first launches of a plan run */

/* An excerpt has three steps: the last block, the other blocks, and the reference. The budget of a
 * step is 1 / WHOLE_SHARE of the work (device.work) of the small problem, from least_spent to
 * EXCERPT_MOST_SPENT. The reference may also spend as much as the blocks did. A block that exceeds
 * most_block stops and counts as unfinished. Work is counted, not timed, so that verdicts are equal
 * on all machines. */
enum { WHOLE_SHARE = 8 };
static const uint64_t least_spent = 1 << 16, most_block = 1 << 25;

/* Limit of the instructions of a sweep for SWEEP_DIVERGENCE. */
static const uint64_t most_divergence_sweep = 1 << 19;

enum { MOST_CLUSTERS = 32 }; /* limit of the clusters that run in one launch */

typedef struct choice {
    uint64_t extent[3], total; /* number of clusters along each axis; number of all clusters */
    uint64_t blocks;           /* number of blocks of a cluster */
    const uint32_t *cluster;   /* extents of a cluster in blocks */
    uint64_t chosen[MOST_CLUSTERS];
    size_t count, most;
} choice;

/* Adds a cluster, unless it is chosen already or there is no room. */
static void choose(choice *c, const uint64_t at[3])
{
    uint64_t number = at[0] + c->extent[0] * (at[1] + c->extent[1] * at[2]);
    for (size_t i = 0; i < c->count; i++)
        if (c->chosen[i] == number)
            return;
    if (c->count < c->most && number < c->total)
        c->chosen[c->count++] = number;
}

/* Chooses the clusters in the middle of exactly `middles` axes and at an end of the other axes. */
static void choose_edges(choice *c, int middles)
{
    for (int place = 0; place < 27; place++) {
        uint64_t at[3];
        int in_middle = 0;
        for (int axis = 0, rest = place; axis < 3; axis++, rest /= 3) {
            const uint64_t last = c->extent[axis] - 1, places[] = {last, 0, last / 2};
            at[axis] = places[rest % 3];
            in_middle += rest % 3 == 2;
        }
        if (in_middle == middles)
            choose(c, at);
    }
}

/* Chooses a cluster for each path that the sweep found through the kernel. */
static void choose_paths(choice *c, const sim_sweep *swept)
{
    for (size_t i = 0; i < swept->block_count + swept->is_outside; i++) {
        uint64_t block = i < swept->block_count ? swept->blocks[i] : swept->outside, at[3];
        for (int axis = 0; axis < 3; axis++) {
            const uint64_t extent = c->extent[axis] * c->cluster[axis];
            at[axis] = block % extent / c->cluster[axis];
            block /= extent;
        }
        choose(c, at);
    }
}

/* Chooses `most` clusters besides the last one: one for each path through the kernel (from the
 * sweeps), then edges of the grid, then random neighbours. */
static void choose_clusters(choice *c, size_t most, const sim_sweep *swept, const sim_sweep *parts,
                            uint64_t seed)
{
    rng r = rng_seeded(seed);
    c->chosen[0] = c->total - 1;
    c->count = 1;
    c->most = most + 1;
    for (uint64_t n = 0; c->total <= most + 1 && n < c->total; n++)
        choose(c, (const uint64_t[3]){n, 0, 0});
    choose_paths(c, swept);
    choose_paths(c, parts);
    choose_edges(c, 0);
    choose(c, (const uint64_t[3]){c->extent[0] > 1, 0, 0});
    choose_edges(c, 1);
    for (int tries = 0; tries < 4 * MOST_CLUSTERS && c->count < c->most; tries++) {
        uint64_t at[3];
        for (int axis = 0; axis < 3; axis++)
            at[axis] = rng_below(&r, c->extent[axis]);
        choose(c, at);
        at[0] += at[0] + 1 < c->extent[0];
        choose(c, at);
    }
    c->count--;
    memmove(c->chosen, c->chosen + 1, c->count * sizeof *c->chosen);
}

void sim_excerpt_free(device *d, device_excerpt *x)
{
    (void)d;
    if (!x)
        return;
    sim_data_free(x->data);
    free(x);
}

device_buffer *const *sim_excerpt_buffers(const device_excerpt *x)
{
    return sim_data_buffers(x->data);
}

void sim_excerpt_reset(device_excerpt *x)
{
    sim_data_reset(x->data);
}

static at_status start_reference(device_excerpt *x, const device_excerpt_plan *plan,
                                 at_error *error)
{
    at_status status = AT_OK;
    for (uint32_t i = 0; !status && i < x->plan.buffer_count; i++) {
        x->view[i] = sim_data_buffers(x->data)[i];
        if (x->plan.buffers[i].role != BUFFER_INPUT)
            status = sim_data_add_expected(x->data, i, &x->view[i], error);
    }
    x->reference = plan->reference;
    x->reference_launch = *plan->reference_launch;
    return status ? status
                  : sim_device_set_constants(x->reference, &x->reference_launch, x->view, error);
}

static at_status make_excerpt(device *d, const device_excerpt_plan *plan,
                              const problem_plan *problem, device_excerpt **out, at_error *error)
{
    device_excerpt *x = memory_new(1, sizeof *x);
    *out = x;
    x->device = d;
    x->plan = *problem;
    x->whole = plan->whole;
    for (uint32_t i = 0; plan->answers && i < x->plan.buffer_count; i++)
        x->answers[i] = plan->answers[i];
    const sim_filler filler = {*plan->filler, *plan->filler_launch};
    at_status status = sim_data_new(d, &x->plan, &filler, plan->contents, &x->data, error);
    return status ? status : start_reference(x, plan, error);
}

/* Runs the chosen clusters on one host thread, so that each run reports the same fault. */
static at_status run_chosen(excerpt_check *c, uint32_t i, const choice *some, uint32_t schedule,
                            sim_excerpt *seen, uint64_t *work, at_error *error)
{
    const sim_launch how = {.clusters = some->chosen,
                            .cluster_count = some->count,
                            .check = true,
                            .excerpt = seen,
                            .work = work,
                            .schedule = schedule,
                            .threads = 1,
                            .unwatched = c->coverage->unwatched,
                            .block_limit = most_block / some->blocks};
    at_status status = some->count == 0 ? AT_OK
                                        : sim_device_run(c->excerpt->device, c->kernel, c->plan, i,
                                                         sim_data_buffers(c->excerpt->data), &how,
                                                         NULL, &c->fault, error);
    c->coverage->run += seen->begun * some->blocks;
    c->coverage->cut += seen->waiting;
    c->coverage->blind += seen->blind;
    return status;
}

static at_status sweep(const excerpt_check *c, uint32_t i, uint64_t most, sweep_aim aim,
                       sim_sweep *out, at_error *error)
{
    return sim_device_sweep(c->excerpt->device, c->kernel, c->plan, i,
                            sim_data_buffers(c->excerpt->data), &c->excerpt->plan, c->ends, most,
                            aim, out, error);
}

static at_status run_launch(excerpt_check *c, uint32_t i, at_error *error)
{
    const kernel_launch *launch = &c->plan->launches[i];
    const uint32_t *cluster = sim_device_cluster(c->kernel, c->plan, i);
    const uint64_t share = c->budget / (c->launches < MOST_LAUNCHES ? c->launches : MOST_LAUNCHES);
    const bool is_last = ++c->launched == c->launches;
    const uint8_t mark = is_last ? SIM_BYTE_LAST : SIM_BYTE_WRITTEN;
    choice all = {
        .blocks = (uint64_t)cluster[0] * cluster[1] * cluster[2], .cluster = cluster, .count = 1};
    for (int axis = 0; axis < 3; axis++)
        all.extent[axis] = launch->grid[axis] / cluster[axis];
    all.total = plan_grid_blocks(launch) / all.blocks;
    all.chosen[0] = all.total - 1;
    uint64_t work = 0;
    sim_excerpt last = {.later = !c->complete, .mark = mark, .least = 1};
    c->coverage->blocks += plan_grid_blocks(launch);
    at_status status = run_chosen(c, i, &all, 0, &last, &work, error);
    if (status || c->fault.kind != SIM_FAULT_NONE)
        return status;
    const uint64_t affordable = share / (work ? work : 1);
    const size_t most = affordable < 1                   ? 1
                        : affordable > MOST_CLUSTERS - 1 ? MOST_CLUSTERS - 1
                                                         : (size_t)affordable;
    sim_sweep parts = {.ended = false};
    status = sweep(c, i, EXCERPT_MOST_SWEPT, SWEEP_WRITES, &c->swept, error);
    /* No sweep is needed if all clusters run. */
    if (!status && all.total > most + 1)
        status = sweep(c, i, most_divergence_sweep, SWEEP_DIVERGENCE, &parts, error);
    if (status)
        return status;
    choose_clusters(&all, most, &c->swept, &parts, c->excerpt->plan.seed + c->launched);
    /* A block mostly waits for blocks with lower numbers, so these run first. */
    if (c->kernel->kernel.programs[i]->communicates)
        qsort(all.chosen, all.count, sizeof *all.chosen, ascending_u64);
    sim_excerpt others = {.later = last.later,
                          .mark = (uint8_t)(mark + is_last),
                          .apart = is_last,
                          .least = 1,
                          .enough = work + share};
    status = run_chosen(c, i, &all, 1, &others, &work, error);
    c->spent += work;
    c->unfinished = last.unfinished | others.unfinished << 1;
    c->complete = c->complete && 1 + others.begun == all.total &&
                  last.waiting + last.blind + others.waiting + others.blind == 0;
    return status;
}

static void begin_check(excerpt_check *c)
{
    const device_excerpt *x = c->excerpt;
    const uint64_t share = x->device->work / WHOLE_SHARE;
    c->complete = true;
    c->launches = plan_total_launches(c->plan);
    c->budget = share < least_spent          ? least_spent
                : share > EXCERPT_MOST_SPENT ? EXCERPT_MOST_SPENT
                                             : share;
    for (uint32_t i = 0; i < x->plan.buffer_count; i++)
        c->ends[i] = plan_result_count(&x->plan, c->plan, i);
}

static at_status run_some_blocks(excerpt_check *c, at_error *error)
{
    device_excerpt *x = c->excerpt;
    sim_data_reset(x->data);
    sim_data_reset_expected(x->data);
    sim_kernel_reset(&c->kernel->kernel);
    x->is_expected = false;
    at_status status =
        sim_device_set_constants(c->kernel, c->plan, sim_data_buffers(x->data), error);
    launch_walk walk = {0};
    while (!status && c->fault.kind == SIM_FAULT_NONE && c->launched < MOST_LAUNCHES &&
           c->unfinished == 0 && plan_walk(c->plan, &walk))
        status = run_launch(c, walk.place, error);
    return status;
}

static at_status run_sample(excerpt_check *c, device_excerpt_result *out, at_error *error)
{
    device_excerpt *x = c->excerpt;
    at_status status = run_some_blocks(c, error);
    if (status || sim_data_trouble(x->data) || c->fault.kind != SIM_FAULT_NONE ||
        x->plan.oracle == ORACLE_NONE)
        return status;
    status = excerpt_compare(c, out, error);
    if (!status && out->result == OUTCOME_OK && c->launches == 1 &&
        (c->coverage->compared > 0 || (c->swept.ended && !c->coverage->owes)))
        status = excerpt_find_holes(c, out, error);
    return status;
}

/* Runs some blocks, to find races in buffers that are too large to watch when all blocks run. */
static at_status watch_some(excerpt_check *c, at_error *error)
{
    device_coverage covered = {0};
    excerpt_check some = {
        .excerpt = c->excerpt, .kernel = c->kernel, .plan = c->plan, .coverage = &covered};
    begin_check(&some);
    at_status status = run_some_blocks(&some, error);
    if (!sim_data_trouble(c->excerpt->data))
        c->fault = some.fault;
    return status;
}

/* Returns whether the baseline overwrites in-out buffer `i` without reading the buffer: whether it
 * runs without a fault when the buffer counts as unwritten. Returns false if this is unknown. */
static bool is_overwritten(device *d, const device_excerpt_plan *plan, uint32_t i)
{
    problem_plan problem = *plan->problem;
    device_excerpt *x;
    device_coverage covered = {0};
    problem.buffers[i].role = BUFFER_OUTPUT;
    at_status status = make_excerpt(d, plan, &problem, &x, NULL);
    excerpt_check c = {.excerpt = x,
                       .kernel = plan->reference,
                       .plan = plan->reference_launch,
                       .coverage = &covered};
    begin_check(&c);
    if (!status)
        status = run_some_blocks(&c, NULL);
    const bool found = !status && c.fault.kind == SIM_FAULT_NONE && !sim_data_trouble(x->data);
    sim_excerpt_free(d, x);
    return found;
}

at_status sim_excerpt_new(device *d, const device_excerpt_plan *plan, device_excerpt **out,
                          at_error *error)
{
    at_status status = make_excerpt(d, plan, plan->problem, out, error);
    for (uint32_t i = 0; !status && i < plan->problem->buffer_count; i++)
        (*out)->overwritten[i] = oracle_is_own(plan->problem->oracle) &&
                                 plan->problem->buffers[i].role == BUFFER_INOUT &&
                                 is_overwritten(d, plan, i);
    return status;
}

at_status sim_excerpt_check(device *d, device_excerpt *x, device_kernel *k, const launch_plan *plan,
                            device_excerpt_result *out, device_coverage *coverage, at_error *error)
{
    excerpt_check c = {.excerpt = x, .kernel = k, .plan = plan, .coverage = coverage};
    bool done = false;
    *out = (device_excerpt_result){.result = OUTCOME_OK};
    begin_check(&c);
    at_status status = AT_OK;
    /* An impossible launch is the variant's own fault, even if the baseline has the same launch. */
    done = sim_device_refuses(d, k, plan, &c.fault);
    if (!done)
        status = excerpt_run_whole(&c, x->whole == DEVICE_WHOLE_ALWAYS ? 0 : 1, out, &done, error);
    if (!status && !done)
        status = run_sample(&c, out, error);
    if (!status && !done && x->whole == DEVICE_WHOLE_NEEDED && c.fault.kind == SIM_FAULT_NONE &&
        coverage->compared == 0 && x->plan.oracle != ORACLE_NONE)
        status = excerpt_run_whole(&c, EXCERPT_NEEDED_TIMES, out, &done, error);
    if (!status && coverage->whole && coverage->unwatched[0] && out->result == OUTCOME_OK &&
        c.fault.kind == SIM_FAULT_NONE)
        status = watch_some(&c, error);
    /* Wrong input data allows no verdict. */
    if (!status && sim_data_trouble(x->data)) {
        *coverage = (device_coverage){0};
        *out = (device_excerpt_result){.result = OUTCOME_OK};
        coverage_set_unproven(coverage, "nothing was run", sim_data_trouble(x->data));
        return AT_OK;
    }
    d->fault = c.fault;
    if (c.fault.message[0] && out->result != OUTCOME_OK)
        out->complaint = d->fault.message;
    if (c.fault.kind != SIM_FAULT_NONE) {
        out->result = sim_fault_outcome(c.fault.kind);
        out->complaint = d->fault.message;
    }
    return status;
}
