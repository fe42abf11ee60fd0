#include "sim/owners.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

enum {
    MOST_INTERVALS = 1 << 14, /* of what a block writes: rows of a tile, or scattered elements */
    TRIES = 4                 /* blocks that may not be the one looked for */
};

typedef struct interval { /* bytes of a buffer */
    uint64_t from, to;
} interval;

/* What the first block writes in a buffer, ascending, and how much further the next one along each axis begins. */
typedef struct footprint {
    interval *rows;
    size_t count;
    int64_t step[3];
} footprint;

struct sim_owners {
    const device *device;
    const device_kernel *kernel;
    const launch_plan *plan;
    device_buffer *const *buffers;
    uint32_t buffer_count;
    uint64_t instruction_limit;
    uint64_t extent[3];   /* clusters along each axis */
    bool is_learnt;
    footprint prints[PLAN_MAX_BUFFERS];
    uint64_t *ran;        /* clusters, ascending */
    size_t ran_count;
    sim_excerpt excerpt;
    sim_fault fault;
};

/* The stores of one block. */
typedef struct stores {
    const sim_owners *owners;
    interval *of[PLAN_MAX_BUFFERS];
    size_t counts[PLAN_MAX_BUFFERS];
} stores;

at_status sim_owners_new(const device *d, const device_kernel *k, const launch_plan *plan,
                         device_buffer *const *buffers, uint64_t instruction_limit, sim_owners **out,
                         at_error *error)
{
    sim_owners *o = calloc(1, sizeof *o);
    *out = o;
    if (!o)
        return error_set(error, AT_NO_MEMORY, "no memory for an excerpt of a problem");
    *o = (sim_owners){.device = d, .kernel = k, .plan = plan, .buffers = buffers,
                      .instruction_limit = instruction_limit, .excerpt = {.mark = SIM_BYTE_LAST}};
    while (o->buffer_count < PLAN_MAX_BUFFERS && buffers[o->buffer_count])
        o->buffer_count++;
    for (int axis = 0; axis < 3; axis++)
        o->extent[axis] = plan->launches[0].grid[axis] / sim_device_cluster(k, plan, 0)[axis];
    return AT_OK;
}

void sim_owners_free(sim_owners *o)
{
    for (uint32_t i = 0; o && i < PLAN_MAX_BUFFERS; i++)
        free(o->prints[i].rows);
    if (o)
        free(o->ran);
    free(o);
}

const sim_fault *sim_owners_fault(const sim_owners *o)
{
    return &o->fault;
}

bool sim_owners_knows(const sim_owners *o, uint32_t i)
{
    return o->prints[i].count > 0;
}

static void note_store(void *context, const sim_instruction *c, bool is_store, const sim_sectors *s)
{
    stores *seen = context;
    for (int k = 0; c && is_store && k < s->count; k++) {
        uint64_t at = s->sector[k] * 32;
        uint32_t low = (uint32_t)__builtin_ctz(s->used[k]), high = 32 - (uint32_t)__builtin_clz(s->used[k]);
        for (uint32_t i = 0; i < seen->owners->buffer_count; i++) {
            const device_buffer *b = seen->owners->buffers[i];
            const interval one = {at + low - b->base, at + high - b->base};
            /* What finds no memory is not seen, and then not found. */
            if (at + low >= b->base && one.to <= b->size_bytes && seen->counts[i] < MOST_INTERVALS)
                array_add(&seen->of[i], &seen->counts[i], &one, sizeof one);
        }
    }
}

static int compare_intervals(const void *a, const void *b)
{
    const interval *x = a, *y = b;
    return (x->from > y->from) - (x->from < y->from);
}

/* Joins what touches; returns how many are left. */
static size_t join(interval *rows, size_t count)
{
    size_t kept = 0;
    if (count > 0)
        qsort(rows, count, sizeof *rows, compare_intervals);
    for (size_t i = 0; i < count; i++) {
        if (kept > 0 && rows[i].from <= rows[kept - 1].to)
            rows[kept - 1].to = rows[i].to > rows[kept - 1].to ? rows[i].to : rows[kept - 1].to;
        else
            rows[kept++] = rows[i];
    }
    return kept;
}

static uint64_t number_of(const sim_owners *o, const uint64_t at[3])
{
    return at[0] + o->extent[0] * (at[1] + o->extent[1] * at[2]);
}

static size_t place_of(const sim_owners *o, uint64_t cluster)
{
    size_t i = o->ran_count;
    while (i > 0 && o->ran[i - 1] >= cluster)
        i--;
    return i;
}

/* Runs the cluster, unless it has run. */
static at_status run(sim_owners *o, uint64_t cluster, stores *seen, at_error *error)
{
    size_t place = place_of(o, cluster);
    if (place < o->ran_count && o->ran[place] == cluster)
        return AT_OK;
    uint64_t *grown = array_grow(o->ran, o->ran_count, sizeof *grown);
    if (!grown)
        return error_set(error, AT_NO_MEMORY, "no memory for an excerpt of a problem");
    o->ran = grown;
    memmove(&grown[place + 1], &grown[place], (o->ran_count - place) * sizeof *grown);
    grown[place] = cluster;
    o->ran_count++;
    sim_fault fault;
    const sim_part part = {.clusters = &cluster, .count = 1, .instruction_limit = o->instruction_limit,
                           .excerpt = &o->excerpt, .observer = seen ? note_store : NULL,
                           .observer_context = seen, .threads = 1};
    at_status status = sim_device_run(o->device, o->kernel, o->plan, 0, o->buffers, &part, &fault, error);
    if (!status && o->fault.kind == SIM_FAULT_NONE)
        o->fault = fault;
    return status;
}

/* Runs the block at `at` and moves what it wrote to `rows`. */
static at_status look_at(sim_owners *o, const uint64_t at[3], stores *seen, at_error *error)
{
    *seen = (stores){.owners = o};
    at_status status = run(o, number_of(o, at), seen, error);
    for (uint32_t i = 0; i < o->buffer_count; i++)
        seen->counts[i] = join(seen->of[i], seen->counts[i]);
    return status;
}

static void forget(stores *seen)
{
    for (uint32_t i = 0; i < PLAN_MAX_BUFFERS; i++)
        free(seen->of[i]);
}

static at_status learn(sim_owners *o, at_error *error)
{
    stores first, next;
    o->is_learnt = true;
    at_status status = look_at(o, (const uint64_t[3]){0}, &first, error);
    for (uint32_t i = 0; i < o->buffer_count; i++)
        o->prints[i] = (footprint){.rows = first.of[i], .count = first.counts[i]};
    for (int axis = 0; !status && axis < 3; axis++) {
        uint64_t at[3] = {0};
        at[axis] = 1;
        if (o->extent[axis] < 2)
            continue;
        status = look_at(o, at, &next, error);
        for (uint32_t i = 0; i < o->buffer_count; i++)
            if (o->prints[i].count > 0 && next.counts[i] > 0)
                o->prints[i].step[axis] = (int64_t)(next.of[i][0].from - o->prints[i].rows[0].from);
        forget(&next);
    }
    return status;
}

static uint64_t magnitude(int64_t v)
{
    return v < 0 ? -(uint64_t)v : (uint64_t)v;
}

/* The block whose bytes [from, to) of the shape have `offset` among them; false: there is none. */
static bool solve(const sim_owners *o, const footprint *f, const interval *row, uint64_t offset, uint64_t at[3])
{
    int order[3] = {0, 1, 2};
    int64_t left = (int64_t)(offset - row->from);
    for (int i = 1; i < 3; i++)
        for (int k = i; k > 0 && magnitude(f->step[order[k]]) > magnitude(f->step[order[k - 1]]); k--) {
            int t = order[k];
            order[k] = order[k - 1];
            order[k - 1] = t;
        }
    for (int i = 0; i < 3; i++) {
        int axis = order[i];
        int64_t step = f->step[axis], count = 0, most = (int64_t)o->extent[axis] - 1;
        if (step > 0)
            count = left < 0 ? 0 : left / step;
        else if (step < 0)
            count = left > 0 ? 0 : (-left + -step - 1) / -step;
        at[axis] = (uint64_t)(count > most ? most : count);
        left -= (int64_t)at[axis] * step;
    }
    return left >= 0 && (uint64_t)left < row->to - row->from;
}

static bool is_written(const device_buffer *b, uint64_t offset)
{
    return b->valid && __atomic_load_n(&b->valid[offset], __ATOMIC_RELAXED) == SIM_BYTE_LAST;
}

at_status sim_owners_write(sim_owners *o, uint32_t i, uint64_t offset, bool *found, at_error *error)
{
    const device_buffer *b = o->buffers[i];
    at_status status = AT_OK;
    if (!o->is_learnt)
        status = learn(o, error);
    int tries = 0;
    for (size_t row = 0; !status && row < o->prints[i].count && tries < TRIES && !is_written(b, offset); row++) {
        uint64_t at[3];
        if (!solve(o, &o->prints[i], &o->prints[i].rows[row], offset, at))
            continue;
        status = run(o, number_of(o, at), NULL, error);
        tries++;
    }
    *found = is_written(b, offset);
    return status;
}

at_status sim_owners_write_all(sim_owners *o, at_error *error)
{
    sim_fault fault;
    const sim_part part = {.excerpt = &o->excerpt, .threads = 1};
    at_status status = sim_device_run(o->device, o->kernel, o->plan, 0, o->buffers, &part, &fault, error);
    if (!status && o->fault.kind == SIM_FAULT_NONE)
        o->fault = fault;
    return status;
}
