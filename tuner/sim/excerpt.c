#include "sim/excerpt.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/rng.h"
#include "sim/data.h"
#include "sim/holes.h"
#include "sim/owners.h"

enum {
    MOST_LAUNCHES = 16, /* of a plan, the first */
    MOST_CLUSTERS = 32, /* of a launch */
    MOST_CHUNKS = 64    /* compared, of a buffer */
};

/* This share of the work (sim_launch) of whole problems is spent on the excerpt, within bounds: on
 * the last block, on the others, and on the reference, or on it as much as the blocks took. A block
 * that has begun goes on to its end, or to a limit at which nothing is said but that it has none.
 * All of that is counted, so that a verdict is the same on every machine. */
enum { WHOLE_SHARE = 8 };
static const uint64_t least_spent = 1 << 16, most_spent = 1 << 21, most_block = 1 << 25;

/* A reference whose blocks take longer than all that gets more, for a few chunks: without one
 * result there is no proof. */
enum { FEW_CHUNKS = 4 };
static const uint64_t most_dear = 1 << 25;

/* At least so much is spent on places, of which each may need a block of its own. */
static const uint64_t most_at_places = 1 << 20;

/* Instructions that a sweep follows, and all that look for an element. */
static const uint64_t most_swept = 1 << 24, most_sought = 1 << 24, most_parted = 1 << 19;

struct device_excerpt {
    device *device;
    problem_plan plan;
    sim_data *data;
    launch_plan reference_launch;
    device_buffer *view[PLAN_MAX_BUFFERS + 1]; /* the reference's */
    const device_kernel *reference;
};

void sim_excerpt_free(device *d, device_excerpt *x)
{
    (void)d;
    if (!x)
        return;
    sim_data_free(x->data);
    free(x);
}

static at_status start_reference(device_excerpt *x, const device_excerpt_plan *plan,
                                 at_error *error)
{
    at_status status = AT_OK;
    for (uint32_t i = 0; !status && i < x->plan.buffer_count; i++) {
        x->view[i] = sim_data_buffers(x->data)[i];
        if (x->plan.buffers[i].role != BUFFER_INPUT)
            status = sim_data_add_twin(x->data, i, &x->view[i], error);
    }
    x->reference = plan->reference;
    x->reference_launch = *plan->reference_launch;
    return status ? status
                  : sim_device_set_constants(x->reference, &x->reference_launch, x->view, error);
}

at_status sim_excerpt_new(device *d, const device_excerpt_plan *plan, device_excerpt **out,
                          at_error *error)
{
    device_excerpt *x = memory_new(1, sizeof *x);
    *out = x;
    x->device = d;
    x->plan = *plan->problem;
    const sim_filler filler = {*plan->filler, *plan->filler_launch};
    at_status status = sim_data_new(d, &x->plan, &filler, plan->contents, &x->data, error);
    return status ? status : start_reference(x, plan, error);
}

/* The choice of blocks. */

typedef struct choice {
    uint64_t extent[3], total; /* clusters, */
    uint64_t blocks;           /* and blocks of each, */
    const uint32_t *cluster;   /* along each axis */
    uint64_t chosen[MOST_CLUSTERS];
    size_t count, most;
} choice;

static void choose(choice *c, const uint64_t at[3])
{
    uint64_t number = at[0] + c->extent[0] * (at[1] + c->extent[1] * at[2]);
    for (size_t i = 0; i < c->count; i++)
        if (c->chosen[i] == number)
            return;
    if (c->count < c->most && number < c->total)
        c->chosen[c->count++] = number;
}

/* All whose place along each axis is the first, the middle or the last; `middles` of them are in a
 * middle. */
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

static int compare_numbers(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* Chooses one for each way in which threads go through the kernel. */
static void choose_ways(choice *c, const sim_sweep *swept)
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

/* `most` of the clusters, without the last, those first that differ most. */
static void choose_clusters(choice *c, size_t most, const sim_sweep *swept, const sim_sweep *parts,
                            uint64_t seed)
{
    rng r = rng_seeded(seed);
    c->chosen[0] = c->total - 1;
    c->count = 1;
    c->most = most + 1;
    for (uint64_t n = 0; c->total <= most + 1 && n < c->total; n++)
        choose(c, (const uint64_t[3]){n, 0, 0});
    choose_ways(c, swept);
    choose_ways(c, parts);
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

/* Running them. */

typedef struct checking {
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
} checking;

static void skip(device_coverage *coverage, const char *what, const char *why)
{
    if (!coverage->skipped[0])
        snprintf(coverage->skipped, sizeof coverage->skipped, "%s: %s", what, why);
}

/* Says the same of what the proof needs. */
static void owe(device_coverage *coverage, const char *what, const char *why)
{
    coverage->skipped[0] = '\0';
    coverage->owes = true;
    skip(coverage, what, why);
}

/* Runs on one host thread, so that the same of several faults is told every time. */
static at_status run_some(checking *c, uint32_t i, const choice *some, uint32_t schedule,
                          sim_excerpt *seen, uint64_t *work, at_error *error)
{
    const sim_part part = {.clusters = some->chosen,
                           .count = some->count,
                           .check = true,
                           .excerpt = seen,
                           .work = work,
                           .schedule = schedule,
                           .threads = 1,
                           .block_limit = most_block / some->blocks};
    at_status status = some->count == 0 ? AT_OK
                                        : sim_device_run(c->excerpt->device, c->kernel, c->plan, i,
                                                         sim_data_buffers(c->excerpt->data), &part,
                                                         &c->fault, error);
    c->coverage->run += seen->begun * some->blocks;
    c->coverage->cut += seen->waiting;
    c->coverage->blind += seen->blind;
    if (seen->unwatched)
        skip(c->coverage, "races were not looked for everywhere", "there is no room for it");
    return status;
}

static at_status sweep(const checking *c, uint32_t i, uint64_t most, bool parts, sim_sweep *out,
                       at_error *error)
{
    return sim_device_sweep(c->excerpt->device, c->kernel, c->plan, i,
                            sim_data_buffers(c->excerpt->data), &c->excerpt->plan, c->ends, most,
                            parts, out, error);
}

static at_status run_launch(checking *c, uint32_t i, at_error *error)
{
    const kernel_launch *launch = &c->plan->launches[i];
    const uint32_t *cluster = sim_device_cluster(c->kernel, c->plan, i);
    const uint64_t share = c->spend / (c->launches < MOST_LAUNCHES ? c->launches : MOST_LAUNCHES);
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
    at_status status = run_some(c, i, &all, 0, &last, &work, error);
    if (status || c->fault.kind != SIM_FAULT_NONE)
        return status;
    const uint64_t affordable = share / (work ? work : 1);
    const size_t most = affordable < 1                   ? 1
                        : affordable > MOST_CLUSTERS - 1 ? MOST_CLUSTERS - 1
                                                         : (size_t)affordable;
    sim_sweep parts = {.ended = false};
    status = sweep(c, i, most_swept, false, &c->swept, error);
    /* Where all clusters run, none is to be found. */
    if (!status && all.total > most + 1)
        status = sweep(c, i, most_parted, true, &parts, error);
    if (status)
        return status;
    choose_clusters(&all, most, &c->swept, &parts, c->excerpt->plan.seed + c->launched);
    /* Blocks that wait for others wait for those of lower numbers, most often. */
    if (c->kernel->kernel.programs[i]->communicates)
        qsort(all.chosen, all.count, sizeof *all.chosen, compare_numbers);
    sim_excerpt others = {.later = last.later,
                          .mark = (uint8_t)(mark + is_last),
                          .apart = is_last,
                          .least = 1,
                          .enough = work + share};
    status = run_some(c, i, &all, 1, &others, &work, error);
    c->spent += work;
    c->unfinished = last.unfinished | others.unfinished << 1;
    c->complete = c->complete && 1 + others.begun == all.total &&
                  last.waiting + last.blind + others.waiting + others.blind == 0;
    return status;
}

/* Does what a block computes depend on when others run? Such a value need not be the reference's
 * while these have not run. */
static bool is_independent(const device_kernel *k, const launch_plan *plan)
{
    for (uint32_t i = 0; i < plan->launch_count; i++) {
        const sim_program *p = k->kernel.programs[i];
        for (size_t n = 0; n < p->code_count; n++) {
            const sim_instruction *c = &p->code[n];
            if (sim_reaches_global(c) &&
                ((c->kind == SIM_ATOMIC && c->d2 != 0) || (c->kind == SIM_LOAD && c->scope)))
                return false;
        }
    }
    return true;
}

/* Comparing. */

typedef struct comparing {
    device_excerpt *excerpt;
    uint32_t buffer;
    uint64_t end;        /* elements of the buffer that are results */
    size_t chunks;       /* compared, at most */
    sim_owners *owners;  /* of the reference */
    uint64_t unfinished; /* as checking's */
    double magnitude;    /* of what is expected, as far as it is known */
    device_excerpt_result *out;
} comparing;

/* Written to the end by the last launch, in which the clusters of `unfinished` came to none. */
static bool is_final(const device_buffer *b, uint64_t offset, uint64_t bytes, uint64_t unfinished)
{
    for (uint64_t i = 0; i < bytes; i++)
        if (b->valid[offset + i] < SIM_BYTE_LAST ||
            unfinished >> (b->valid[offset + i] - SIM_BYTE_LAST) & 1)
            return false;
    return true;
}

/* The elements [*first, *end) of a chunk. */
static void elements_of(const comparing *c, uint64_t chunk, uint64_t *first, uint64_t *end)
{
    const uint64_t size = dtype_get(c->excerpt->plan.buffers[c->buffer].type)->size_bytes;
    *first = chunk * SIM_CHUNK_BYTES / size;
    *end = (chunk + 1) * SIM_CHUNK_BYTES / size;
    if (*end > c->end)
        *end = c->end;
}

/* Has the reference write what the variant wrote of the chunk. */
static at_status expect(comparing *c, uint64_t chunk, at_error *error)
{
    device_excerpt *x = c->excerpt;
    const buffer_plan *plan = &x->plan.buffers[c->buffer];
    const device_buffer *found = sim_data_buffers(x->data)[c->buffer],
                        *expected = x->view[c->buffer];
    const uint64_t size = dtype_get(plan->type)->size_bytes;
    at_status status = AT_OK;
    bool owned = true;
    uint64_t first, end;
    elements_of(c, chunk, &first, &end);
    for (uint64_t i = first; !status && owned && i < end; i++)
        if (is_final(found, i * size, size, c->unfinished) &&
            !is_final(expected, i * size, size, 0))
            status = sim_owners_write(c->owners, c->buffer, i * size, &owned, error);
    for (uint64_t i = first; !status && i < end; i++) {
        if (!is_final(expected, i * size, size, 0))
            continue;
        double magnitude = element_magnitude(plan->type, expected->bytes + i * size, 1);
        c->magnitude = fmax(c->magnitude, magnitude);
    }
    return status;
}

static void compare_chunk(comparing *c, uint64_t chunk)
{
    /* The largest that is expected is not known where only some are, and what is sought is no
     * matter of rounding. */
    static const double slack = 16;
    device_excerpt *x = c->excerpt;
    const buffer_plan *plan = &x->plan.buffers[c->buffer];
    const device_buffer *found = sim_data_buffers(x->data)[c->buffer],
                        *expected = x->view[c->buffer];
    const uint64_t size = dtype_get(plan->type)->size_bytes;
    device_comparison *d = &c->out->found;
    uint64_t first, end;
    elements_of(c, chunk, &first, &end);
    for (uint64_t i = first; i < end; i++) {
        const uint8_t *a = found->bytes + i * size, *b = expected->bytes + i * size;
        if (!is_final(found, i * size, size, c->unfinished) ||
            !is_final(expected, i * size, size, 0))
            continue;
        c->out->compared++;
        if (tolerance_accepts(plan->tolerance, slack * c->magnitude, plan->type, a, b))
            continue;
        if (d->wrong++ == 0 || i < d->first) {
            d->first = i;
            d->expected = d->found = 0;
            memcpy(&d->expected, b, size);
            memcpy(&d->found, a, size);
        }
    }
}

/* The number of compared elements that may be wrong. */
static uint64_t allowed(const tolerance *t, uint64_t compared)
{
    enum { SAMPLE_SLACK = 4 }; /* they may lie together */
    if (t->mismatches >= 1)
        return tolerance_mismatches(*t, compared);
    return t->mismatches > 0 ? SAMPLE_SLACK * (tolerance_mismatches(*t, compared) + 1) : 0;
}

/* Wrong, if more elements are than may be: true, with the result. */
static bool judge(const comparing *c)
{
    device_excerpt_result *out = c->out;
    const tolerance *t = &c->excerpt->plan.buffers[c->buffer].tolerance;
    if (out->found.wrong <= allowed(t, out->compared))
        return false;
    out->buffer = c->buffer;
    out->result = OUTCOME_WRONG_RESULT;
    return true;
}

/* The first and the last chunk that were written, and some between. */
static at_status compare_buffer(comparing *c, at_error *error)
{
    size_t count;
    const uint64_t *touched = sim_data_touched(c->excerpt->data, c->buffer, &count);
    uint64_t *chunks = memory_copy(touched, count, sizeof *chunks);
    qsort(chunks, count, sizeof *chunks, compare_numbers);
    rng r = rng_seeded(c->excerpt->plan.seed);
    if (count > 2)
        rng_shuffle(&r, chunks + 1, count - 2);
    if (count > 1) {
        uint64_t last = chunks[count - 1];
        memmove(chunks + 2, chunks + 1, (count - 2) * sizeof *chunks);
        chunks[1] = last;
    }
    if (count > c->chunks)
        count = c->chunks;
    at_status status = AT_OK;
    c->out->compared = 0;
    c->out->found = (device_comparison){0};
    for (size_t i = 0; !status && i < count; i++)
        status = expect(c, chunks[i], error);
    for (size_t i = 0; !status && i < count; i++)
        compare_chunk(c, chunks[i]);
    free(chunks);
    return status;
}

static at_status compare_buffers(checking *c, sim_owners *owners, size_t chunks,
                                 device_excerpt_result *out, at_error *error)
{
    device_excerpt *x = c->excerpt;
    at_status status = AT_OK;
    for (uint32_t i = 0; !status && i < x->plan.buffer_count; i++) {
        const buffer_plan *plan = &x->plan.buffers[i];
        if (!plan_is_compared(plan))
            continue;
        comparing one = {.excerpt = x,
                         .buffer = i,
                         .chunks = chunks,
                         .owners = owners,
                         .out = out,
                         .unfinished = c->unfinished,
                         .end = c->ends[i]};
        status = compare_buffer(&one, error);
        c->coverage->compared += out->compared;
        if (!status && judge(&one))
            return AT_OK;
    }
    return status;
}

/* Did blocks write results that are no matter of what the others do? A sum of all blocks is none.
 */
static bool has_results(const checking *c)
{
    const device_excerpt *x = c->excerpt;
    for (uint32_t i = 0; i < x->plan.buffer_count; i++) {
        const uint64_t size = dtype_get(x->plan.buffers[i].type)->size_bytes;
        const comparing one = {.excerpt = c->excerpt, .buffer = i, .end = c->ends[i]};
        size_t count = 0;
        const uint64_t *touched =
            plan_is_compared(&x->plan.buffers[i]) ? sim_data_touched(x->data, i, &count) : NULL;
        for (size_t k = 0; k < count; k++) {
            uint64_t first, end;
            elements_of(&one, touched[k], &first, &end);
            for (; first < end; first++)
                if (is_final(sim_data_buffers(x->data)[i], first * size, size, c->unfinished))
                    return true;
        }
    }
    return false;
}

/* Can a warp of the kernel's block compute what it does without the others? */
static bool has_warps_apart(const device_kernel *k, const launch_plan *plan)
{
    const sim_program *p = k->kernel.programs[0];
    for (size_t n = 0; n < p->code_count; n++)
        if (p->code[n].kind == SIM_BARRIER || p->code[n].kind == SIM_MBARRIER)
            return false;
    return p->static_shared_bytes + plan->launches[0].dynamic_shared_bytes == 0;
}

/* Compares a few results with those of a reference whose blocks take long: with those of their
 * first warps, if these suffice. */
static at_status compare_few(checking *c, sim_owners **owners, device_excerpt_result *out,
                             at_error *error)
{
    device_excerpt *x = c->excerpt;
    sim_owners_free(*owners);
    *owners = sim_owners_new(x->device, x->reference, &x->reference_launch, x->view, most_dear);
    if (has_warps_apart(x->reference, &x->reference_launch))
        sim_owners_run_first_warps(*owners);
    return compare_buffers(c, *owners, FEW_CHUNKS, out, error);
}

static const char *why_none(const checking *c, bool ended, const sim_owners *owners)
{
    const bool is_reference = c->excerpt->plan.oracle == ORACLE_REFERENCE;
    if (!ended)
        return "no block came to its end";
    if (sim_owners_spent(owners) && has_results(c))
        return is_reference
                   ? "a block of the reference takes too long there: give it smaller blocks, or "
                     "less to do for an element"
                   : "a block of the baseline takes too long there: give the script a reference";
    return is_reference ? "no blocks of the reference were found that write where these do"
                        : "no blocks of the baseline were found that write where these do";
}

static at_status compare(checking *c, device_excerpt_result *out, at_error *error)
{
    device_excerpt *x = c->excerpt;
    sim_owners *owners;
    const bool is_single = plan_launches_run(&x->reference_launch) == 1;
    const bool apart =
        is_independent(c->kernel, c->plan) && is_independent(x->reference, &x->reference_launch);
    const char *why = !is_single                  ? "the reference has several launches"
                      : c->launched < c->launches ? "later launches were not run"
                      : !apart                    ? "they depend on what blocks tell each other"
                                                  : NULL;
    if (why) {
        (!is_single && has_results(c) ? owe : skip)(c->coverage, "results were not compared", why);
        return AT_OK;
    }
    uint64_t as_much = c->spent < most_spent / 2 ? c->spent : most_spent / 2;
    /* One of its blocks is likely to take as much of the whole as one of the variant's does. */
    const uint64_t reference_blocks = plan_grid_blocks(&x->reference_launch.launches[0]);
    if (c->coverage->run == 0 ||
        c->spent / c->coverage->run * c->coverage->blocks / reference_blocks > as_much)
        as_much = 0;
    const bool ended = c->coverage->cut + c->coverage->blind < c->coverage->run;
    owners = sim_owners_new(x->device, x->reference, &x->reference_launch, x->view,
                            c->spend > as_much ? c->spend : as_much);
    at_status status = compare_buffers(c, owners, MOST_CHUNKS, out, error);
    if (!status && c->coverage->compared == 0 && ended &&
        sim_owners_fault(owners)->kind == SIM_FAULT_NONE && has_results(c))
        status = compare_few(c, &owners, out, error);
    const sim_fault *fault = sim_owners_fault(owners);
    if (!status && out->result == OUTCOME_OK && fault->kind != SIM_FAULT_NONE)
        status =
            error_set(error, AT_SCRIPT, "%s: %s", oracle_kernel(x->plan.oracle), fault->message);
    if (!status && c->coverage->compared == 0)
        (has_results(c) ? owe : skip)(c->coverage, "results were not compared",
                                      why_none(c, ended, owners));
    sim_owners_free(owners);
    return status;
}

/* Compares what both write at the places that were looked at. */
static void compare_places(checking *c, uint32_t buffer, const sim_hole *hole,
                           device_excerpt_result *out)
{
    device_excerpt *x = c->excerpt;
    const buffer_plan *plan = &x->plan.buffers[buffer];
    const uint64_t size = dtype_get(plan->type)->size_bytes;
    comparing one = {.excerpt = x, .buffer = buffer, .out = out, .end = c->ends[buffer]};
    out->compared = 0;
    out->found = (device_comparison){0};
    for (size_t i = 0; i < hole->written_count; i++) {
        const uint8_t *expected = x->view[buffer]->bytes + hole->written[i] * size;
        one.magnitude = fmax(one.magnitude, element_magnitude(plan->type, expected, 1));
    }
    for (size_t i = 0; i < hole->written_count; i++) {
        const uint64_t chunk = hole->written[i] * size / SIM_CHUNK_BYTES;
        bool is_new = true;
        for (size_t k = 0; k < i; k++)
            is_new = is_new && hole->written[k] * size / SIM_CHUNK_BYTES != chunk;
        if (is_new)
            compare_chunk(&one, chunk);
    }
    judge(&one);
}

/* Does the reference write all results? One that cannot be followed is believed: one that leaves
 * some alone is refused on smaller problems. A baseline may leave some. */
static at_status writes_all(const checking *c, uint32_t i, bool *all, at_error *error)
{
    const device_excerpt *x = c->excerpt;
    sim_sweep swept;
    at_status status = sim_device_sweep(x->device, x->reference, &x->reference_launch, 0, x->view,
                                        &x->plan, c->ends, most_swept, false, &swept, error);
    *all = !status && (swept.ended && swept.written[i].is_known
                           ? sim_written_all(&swept.written[i], c->ends[i])
                           : x->plan.oracle == ORACLE_REFERENCE);
    return status;
}

/* Finds how many elements before `end` are written beyond those that are there, in *beyond; *known
 * tells whether that could be found. */
static at_status count_before(const checking *c, uint32_t i, uint64_t end, int64_t *beyond,
                              uint64_t *work, bool *known, at_error *error)
{
    const device_excerpt *x = c->excerpt;
    uint64_t ends[PLAN_MAX_BUFFERS] = {0};
    sim_sweep swept;
    ends[i] = end;
    at_status status = sim_device_sweep(x->device, c->kernel, c->plan, 0, sim_data_buffers(x->data),
                                        &x->plan, ends, most_swept, false, &swept, error);
    *work += swept.work;
    *known = !status && swept.ended && swept.written[i].is_known && *work < most_sought;
    *beyond = (int64_t)(swept.written[i].count - end);
    return status;
}

/* Seeks an element that is not written: between two places where fewer are written than there are.
 * *found says if there are such places among those that were looked at, *element which it is; the
 * buffer's end: that would take too long. */
static at_status seek(const checking *c, uint32_t i, bool *found, uint64_t *element,
                      at_error *error)
{
    enum { PARTS = 16 };
    const uint64_t end = c->ends[i];
    uint64_t from = 0, to = 0, work = c->swept.work;
    int64_t before = 0, after = 0;
    bool known = true;
    at_status status = AT_OK;
    *element = end;
    *found = c->swept.written[i].count < end;
    if (*found) {
        to = end;
        after = (int64_t)(c->swept.written[i].count - end);
    }
    for (uint64_t n = 1; !status && known && !*found && n <= PARTS; n++) {
        from = to;
        before = after;
        to = end / PARTS * n + (n == PARTS ? end % PARTS : 0);
        status = count_before(c, i, to, &after, &work, &known, error);
        *found = known && after < before;
    }
    while (!status && *found && known && from + 1 < to) {
        const uint64_t middle = from + (to - from) / 2;
        int64_t here;
        status = count_before(c, i, middle, &here, &work, &known, error);
        if (here < before) {
            to = middle;
        } else {
            from = middle;
            before = here;
        }
    }
    if (known && *found)
        *element = from;
    return status;
}

/* Does the whole grid leave results alone? */
static at_status find_unwritten(const checking *c, uint32_t i, sim_hole *hole, at_error *error)
{
    const buffer_plan *plan = &c->excerpt->plan.buffers[i];
    const sim_written *w = &c->swept.written[i];
    const uint64_t end = c->ends[i];
    uint64_t element = end;
    bool due = false, found = false;
    if (!c->swept.ended || !w->is_known || plan->role != BUFFER_OUTPUT)
        return AT_OK;
    if (sim_written_all(w, end)) {
        hole->kind = SIM_HOLE_NONE;
        return AT_OK;
    }
    at_status status = writes_all(c, i, &due, error);
    if (!status && due)
        status = seek(c, i, &found, &element, error);
    /* As many as there are, but others. */
    if (status || !due || (!found && w->count > end))
        return status;
    hole->kind = SIM_HOLE_CERTAIN;
    if (element < end)
        snprintf(hole->why, sizeof hole->why,
                 "no block writes element %" PRIu64 " of %s: the whole grid writes %" PRIu64
                 " elements, and %" PRIu64 " are due",
                 element, plan->name, w->count, end);
    else
        snprintf(hole->why, sizeof hole->why,
                 "no block writes some elements of %s: the whole grid writes %" PRIu64
                 " elements%s, and %" PRIu64 " are due",
                 plan->name, w->count, w->count < end ? "" : ", some of them twice", end);
    return AT_OK;
}

/* Finds results that no block writes, and those that are wrong where arithmetic ends. Each kernel
 * begins with the data as they were. */
static at_status find_holes(checking *c, device_excerpt_result *out, at_error *error)
{
    device_excerpt *x = c->excerpt;
    const uint64_t most = c->spend > most_at_places ? c->spend : most_at_places;
    sim_data_reset(x->data);
    at_status status = AT_OK;
    sim_owners *variant =
        sim_owners_new(x->device, c->kernel, c->plan, sim_data_buffers(x->data), most);
    sim_owners *reference =
        sim_owners_new(x->device, x->reference, &x->reference_launch, x->view, most);
    for (uint32_t i = 0; !status && i < x->plan.buffer_count && out->result == OUTCOME_OK; i++) {
        sim_hole hole;
        if (!plan_is_compared(&x->plan.buffers[i]))
            continue;
        status = sim_holes_find(variant, reference, &x->plan.buffers[i], i, c->ends[i], c->plan,
                                x->plan.seed, &hole, error);
        if (status)
            break;
        compare_places(c, i, &hole, out);
        if (out->result != OUTCOME_OK)
            continue;
        if (hole.kind != SIM_HOLE_CERTAIN)
            status = find_unwritten(c, i, &hole, error);
        if (status || hole.kind == SIM_HOLE_NONE)
            continue;
        if (hole.kind == SIM_HOLE_LIKELY)
            owe(c->coverage, "a result may be missing", hole.why);
        else
            out->result = OUTCOME_WRONG_RESULT;
        snprintf(c->fault.message, sizeof c->fault.message, "%s", hole.why);
    }
    const sim_fault *fault = sim_owners_fault(variant);
    if (!status && out->result == OUTCOME_OK && fault->kind != SIM_FAULT_NONE)
        c->fault = *fault;
    sim_owners_free(variant);
    sim_owners_free(reference);
    return status;
}

at_status sim_excerpt_check(device *d, device_excerpt *x, device_kernel *k, const launch_plan *plan,
                            device_excerpt_result *out, device_coverage *coverage, at_error *error)
{
    const uint64_t share = d->work / WHOLE_SHARE;
    checking c = {.excerpt = x,
                  .kernel = k,
                  .plan = plan,
                  .coverage = coverage,
                  .complete = true,
                  .launches = plan_launches_run(plan),
                  .spend = share < least_spent  ? least_spent
                           : share > most_spent ? most_spent
                                                : share};
    *out = (device_excerpt_result){.result = OUTCOME_OK};
    for (uint32_t i = 0; i < x->plan.buffer_count; i++)
        c.ends[i] = plan_compared(&x->plan, plan, i);
    sim_data_reset(x->data);
    at_status status = sim_device_set_constants(k, plan, sim_data_buffers(x->data), error);
    launch_walk walk = {0};
    while (!status && c.fault.kind == SIM_FAULT_NONE && c.launched < MOST_LAUNCHES &&
           c.unfinished == 0 && plan_walk(plan, &walk))
        status = run_launch(&c, walk.place, error);
    /* Nothing follows from other data than the script's. */
    if (!status && sim_data_trouble(x->data)) {
        *coverage = (device_coverage){0};
        owe(coverage, "nothing was run", sim_data_trouble(x->data));
        return AT_OK;
    }
    if (!status && c.fault.kind == SIM_FAULT_NONE)
        status = compare(&c, out, error);
    if (!status && c.fault.kind == SIM_FAULT_NONE && out->result == OUTCOME_OK && c.launches == 1 &&
        coverage->compared > 0)
        status = find_holes(&c, out, error);
    d->fault = c.fault;
    if (c.fault.message[0] && out->result != OUTCOME_OK)
        out->complaint = d->fault.message;
    if (c.fault.kind != SIM_FAULT_NONE) {
        out->result = sim_fault_outcome(c.fault.kind);
        out->complaint = d->fault.message;
    }
    return status;
}
