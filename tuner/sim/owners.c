#include "sim/owners.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/memory.h"

enum {
    MOST_INTERVALS = 1 << 20, /* of what a block writes: rows of a tile, or scattered elements */
    TRIES = 4                 /* blocks that may not be the one looked for */
};

typedef struct interval { /* bytes of a buffer */
    uint64_t from, to;
} interval;

/* The places that the first block writes in a buffer, ascending, and how much further the next one
 * along each axis begins; 0: it is not known. */
typedef struct footprint {
    interval *rows;
    size_t count;
    int64_t steps[3];
} footprint;

typedef struct ran_cluster {
    uint64_t number;
    uint64_t *from; /* owned; of each buffer the first byte that it wrote; UINT64_MAX: none */
} ran_cluster;

typedef struct stores {
    interval *of[PLAN_MAX_BUFFERS];
    size_t counts[PLAN_MAX_BUFFERS];
} stores;

/* prints[i] is what the first cluster writes in buffer i and how far that moves along each axis, as
 * learnt once from the first clusters of the axes. Each cluster runs at most once: `ran` has those
 * that did, ascending. `work` counts the instructions of all of them, and none begins once it
 * reaches `most`. */
struct sim_owners {
    const device *device;
    const device_kernel *kernel;
    const launch_plan *plan;
    device_buffer *const *buffers;
    uint32_t buffer_count;
    uint64_t most, work; /* as sim_launch's */
    uint64_t extent[3];  /* clusters along each axis */
    bool first_warps, cut, is_learnt;
    footprint prints[PLAN_MAX_BUFFERS];
    stores first;     /* of the first cluster; owned by prints once these are learnt */
    ran_cluster *ran; /* by their numbers */
    size_t ran_count;
    sim_excerpt excerpt;
    sim_fault fault;
};

/* The stores that the observer of a run adds to. */
typedef struct watching {
    const sim_owners *owners;
    stores *seen;
} watching;

sim_owners *sim_owners_new(const device *d, const device_kernel *k, const launch_plan *plan,
                           device_buffer *const *buffers, uint64_t most)
{
    sim_owners *o = memory_new(1, sizeof *o);
    *o = (sim_owners){.device = d,
                      .kernel = k,
                      .plan = plan,
                      .buffers = buffers,
                      .most = most,
                      .excerpt = {.mark = SIM_BYTE_WRITTEN, .least = UINT64_MAX}};
    while (o->buffer_count < PLAN_MAX_BUFFERS && buffers[o->buffer_count])
        o->buffer_count++;
    for (int axis = 0; axis < 3; axis++)
        o->extent[axis] = plan->launches[0].grid[axis] / sim_device_cluster(k, plan, 0)[axis];
    return o;
}

static void forget(stores *seen)
{
    for (uint32_t i = 0; i < PLAN_MAX_BUFFERS; i++)
        free(seen->of[i]);
    *seen = (stores){0};
}

void sim_owners_free(sim_owners *o)
{
    for (uint32_t i = 0; o && i < o->buffer_count; i++)
        free(o->prints[i].rows);
    for (size_t k = 0; o && k < o->ran_count; k++)
        free(o->ran[k].from);
    if (o) {
        forget(&o->first);
        free(o->ran);
    }
    free(o);
}

void sim_owners_run_first_warps(sim_owners *o)
{
    o->first_warps = true;
}

bool sim_owners_spent(const sim_owners *o)
{
    return o->cut || o->work >= o->most;
}

const sim_fault *sim_owners_fault(const sim_owners *o)
{
    return &o->fault;
}

static bool is_written(const device_buffer *b, uint64_t offset)
{
    return b->valid && __atomic_load_n(&b->valid[offset], __ATOMIC_RELAXED) == SIM_BYTE_LAST;
}

bool sim_owners_has_written(const sim_owners *o, uint32_t i, uint64_t offset)
{
    return is_written(o->buffers[i], offset);
}

bool sim_owners_knows(const sim_owners *o, uint32_t i)
{
    return o->prints[i].count > 0;
}

static void add_store(const watching *to, uint64_t address, uint32_t bytes)
{
    for (uint32_t i = 0; i < to->owners->buffer_count; i++) {
        const device_buffer *b = to->owners->buffers[i];
        const interval one = {address - b->base, address - b->base + bytes};
        const size_t count = to->seen->counts[i];
        if (address < b->base || one.to > b->size_bytes)
            continue;
        if (count > 0 && to->seen->of[i][count - 1].to == one.from)
            to->seen->of[i][count - 1].to = one.to;
        else if (count < MOST_INTERVALS)
            memory_add(&to->seen->of[i], &to->seen->counts[i], &one, sizeof one);
    }
}

static void note_store(void *context, const sim_instruction *c, bool is_store, const sim_sectors *s)
{
    const watching *to = context;
    for (int k = 0; c && is_store && k < s->count; k++) {
        const uint64_t at = s->sector[k] * 32;
        for (uint32_t left = s->used[k]; left;) {
            const uint32_t low = (uint32_t)__builtin_ctz(left), rest = ~(left >> low);
            const uint32_t bytes = rest ? (uint32_t)__builtin_ctz(rest) : 32 - low;
            add_store(to, at + low, bytes < 32 - low ? bytes : 32 - low);
            left = low + bytes < 32 ? left >> (low + bytes) << (low + bytes) : 0;
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

/* The number of the cluster at that place along the axes. */
static uint64_t number_of(const sim_owners *o, const uint64_t at[3])
{
    return at[0] + o->extent[0] * (at[1] + o->extent[1] * at[2]);
}

/* The place of a cluster among those that ran, or that it is to have. */
static size_t place_of(const sim_owners *o, uint64_t cluster)
{
    size_t i = o->ran_count;
    while (i > 0 && o->ran[i - 1].number >= cluster)
        i--;
    return i;
}

/* The work that is left for each block of a cluster. */
static uint64_t block_limit(const sim_owners *o)
{
    const uint64_t left = o->work < o->most ? o->most - o->work : 0;
    const uint32_t *cluster = sim_device_cluster(o->kernel, o->plan, 0);
    return left / ((uint64_t)cluster[0] * cluster[1] * cluster[2]) + 1;
}

/* Marks the writes of a block that came to its end; takes back those of one that did not: they are
 * not what it would have left. */
static void own(const sim_owners *o, stores *seen, bool ended)
{
    for (uint32_t i = 0; i < o->buffer_count; i++) {
        for (size_t k = 0; k < seen->counts[i]; k++)
            for (uint64_t at = seen->of[i][k].from; at < seen->of[i][k].to; at++)
                if (o->buffers[i]->valid[at] == SIM_BYTE_WRITTEN)
                    o->buffers[i]->valid[at] = ended ? SIM_BYTE_LAST : 0;
        seen->counts[i] = ended ? seen->counts[i] : 0;
    }
}

/* Runs the cluster, unless it has run; *out is valid until the next one. */
static at_status run(sim_owners *o, uint64_t cluster, const ran_cluster **out, at_error *error)
{
    const size_t place = place_of(o, cluster);
    if (place == o->ran_count || o->ran[place].number != cluster) {
        stores mine = {0}, *seen = cluster == 0 ? &o->first : &mine;
        watching watched = {o, seen};
        ran_cluster *grown = memory_have(array_grow(o->ran, o->ran_count, sizeof *grown));
        o->ran = grown;
        memmove(&grown[place + 1], &grown[place], (o->ran_count - place) * sizeof *grown);
        o->ran_count++;
        sim_fault fault = {0};
        const sim_part part = {.clusters = &cluster,
                               .count = 1,
                               .block_limit = block_limit(o),
                               .excerpt = &o->excerpt,
                               .work = &o->work,
                               .observer = note_store,
                               .observer_context = &watched,
                               .first_warp_only = o->first_warps,
                               .threads = 1};
        at_status status =
            sim_device_run(o->device, o->kernel, o->plan, 0, o->buffers, &part, &fault, error);
        for (uint32_t i = 0; i < o->buffer_count; i++)
            seen->counts[i] = join(seen->of[i], seen->counts[i]);
        own(o, seen, !o->excerpt.unfinished && fault.kind != SIM_FAULT_BUDGET);
        o->cut = o->cut || fault.kind == SIM_FAULT_BUDGET;
        if (o->fault.kind == SIM_FAULT_NONE && fault.kind != SIM_FAULT_BUDGET)
            o->fault = fault;
        o->excerpt.unfinished = 0;
        grown[place].number = cluster;
        grown[place].from = memory_new(o->buffer_count, sizeof *grown->from);
        for (uint32_t i = 0; i < o->buffer_count; i++)
            grown[place].from[i] = seen->counts[i] > 0 ? seen->of[i][0].from : UINT64_MAX;
        forget(&mine);
        if (status)
            return status;
    }
    *out = &o->ran[place];
    return AT_OK;
}

static at_status learn(sim_owners *o, at_error *error)
{
    const ran_cluster *found;
    o->is_learnt = true;
    at_status status = run(o, 0, &found, error);
    for (uint32_t i = 0; i < o->buffer_count; i++)
        o->prints[i] = (footprint){.rows = o->first.of[i], .count = o->first.counts[i]};
    o->first = (stores){0};
    for (int axis = 0; !status && axis < 3; axis++) {
        uint64_t at[3] = {0};
        at[axis] = 1;
        if (o->extent[axis] < 2)
            continue;
        status = run(o, number_of(o, at), &found, error);
        for (uint32_t i = 0; !status && i < o->buffer_count; i++)
            if (o->prints[i].count > 0 && found->from[i] != UINT64_MAX)
                o->prints[i].steps[axis] = (int64_t)(found->from[i] - o->prints[i].rows[0].from);
    }
    return status;
}

static uint64_t magnitude(int64_t v)
{
    return v < 0 ? -(uint64_t)v : (uint64_t)v;
}

/* The block whose bytes `row` of the shape have `offset` among them; false: there is none. */
static bool solve(const sim_owners *o, const footprint *f, const interval *row, uint64_t offset,
                  uint64_t at[3])
{
    int order[3] = {0, 1, 2};
    int64_t left = (int64_t)(offset - row->from);
    for (int i = 1; i < 3; i++)
        for (int k = i; k > 0 && magnitude(f->steps[order[k]]) > magnitude(f->steps[order[k - 1]]);
             k--) {
            const int further = order[k];
            order[k] = order[k - 1];
            order[k - 1] = further;
        }
    for (int i = 0; i < 3; i++) {
        const int64_t step = f->steps[order[i]], most = (int64_t)o->extent[order[i]] - 1;
        int64_t count = 0;
        if (step > 0)
            count = left < 0 ? 0 : left / step;
        else if (step < 0)
            count = left > 0 ? 0 : (-left + -step - 1) / -step;
        count = count > most ? most : count;
        at[order[i]] = (uint64_t)count;
        left -= count * step;
    }
    return left >= 0 && (uint64_t)left < row->to - row->from;
}

/* Has the block run of which `row` would have the byte. */
static at_status try_row(sim_owners *o, uint32_t i, const interval *row, uint64_t offset,
                         int *tries, at_error *error)
{
    const ran_cluster *found;
    uint64_t at[3];
    if (!solve(o, &o->prints[i], row, offset, at))
        return AT_OK;
    ++*tries;
    return run(o, number_of(o, at), &found, error);
}

at_status sim_owners_write(sim_owners *o, uint32_t i, uint64_t offset, bool *found, at_error *error)
{
    const footprint *f = &o->prints[i];
    at_status status = AT_OK;
    int tries = 0;
    if (!is_written(o->buffers[i], offset) && !o->is_learnt)
        status = learn(o, error);
    for (size_t row = 0; !status && row < f->count && tries < TRIES && o->work < o->most &&
                         !is_written(o->buffers[i], offset);
         row++)
        status = try_row(o, i, &f->rows[row], offset, &tries, error);
    /* Another block may leave no gaps where the first one does. */
    if (!status && f->count > 1 && tries == 0 && o->work < o->most)
        status = try_row(o, i, &(interval){f->rows[0].from, f->rows[f->count - 1].to}, offset,
                         &tries, error);
    *found = is_written(o->buffers[i], offset);
    return status;
}

at_status sim_owners_write_all(sim_owners *o, at_error *error)
{
    sim_fault fault;
    const sim_part part = {.excerpt = &o->excerpt, .threads = 1};
    o->excerpt.mark = SIM_BYTE_LAST;
    at_status status =
        sim_device_run(o->device, o->kernel, o->plan, 0, o->buffers, &part, &fault, error);
    if (!status && o->fault.kind == SIM_FAULT_NONE)
        o->fault = fault;
    return status;
}
