#include "sim/owners.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/memory.h"

enum {
    MOST_INTERVALS =
        1 << 20,     /* intervals that a block may write: rows of a tile, or scattered elements */
    MOST_DIGITS = 9, /* digits of all axes together */
    TRIES = 4,       /* candidate blocks that are run to find a byte */
    MOST_TURNS = 6   /* blocks that are run one after another if blocks are permuted */
};

typedef struct interval { /* the bytes of a buffer from `from` on, before `to` */
    uint64_t from, to;
} interval;

/* The axes of the grid, after an axis along the warps of a block. It is longer than 1 if warps run
 * in place of blocks: then "cluster" means a warp below. */
enum { ALONG_WARPS, ALONG_X, AXES = ALONG_X + 3 };

/* A digit of a block's index along an axis: index / unit % radix. The offset at which the block
 * writes grows by `step` with each digit. The index has several digits if the kernel divides it. */
typedef struct digit {
    int axis;
    uint64_t unit, radix;
    int64_t step;
} digit;

/* The intervals of a buffer that the origin's block writes, and the digits that move them. */
typedef struct footprint {
    interval *rows;
    size_t count;
    digit digits[MOST_DIGITS];
    int digit_count;
    bool is_refined; /* the axes have been split into digits */
} footprint;

typedef struct ran_cluster {
    uint64_t number;
    uint64_t *from;  /* first byte that it wrote in each buffer, or UINT64_MAX; owned */
    uint64_t *bytes; /* number of bytes that it wrote in each buffer, stored after `from` */
} ran_cluster;

typedef struct stores {
    interval *of[PLAN_MAX_BUFFERS];
    size_t counts[PLAN_MAX_BUFFERS];
} stores;

/* The clusters from which distances are measured. There are two origins, because blocks at the end
 * of the grid may be distributed differently. */
enum { FROM_FIRST, FROM_LAST, ORIGINS };

/* For each origin, prints[i] is the footprint of its cluster in buffer i. The footprint is learnt
 * once, from the origin's neighbours along the axes. `ran` lists the clusters that ran, ascending;
 * no cluster runs twice. No cluster starts once `work` reaches `most`. */
struct sim_owners {
    const device *device;
    const device_kernel *kernel;
    const launch_plan *plan;
    device_buffer *const *buffers;
    uint32_t buffer_count;
    uint64_t most, work; /* work so far, as in sim_launch */
    uint64_t extent[AXES];
    bool cut;
    struct {
        bool is_learnt;
        footprint prints[PLAN_MAX_BUFFERS];
    } origins[ORIGINS];
    int origin;
    stores ends[ORIGINS]; /* writes of the two origins; moved to `prints` */
    ran_cluster *ran;
    size_t ran_count;
    sim_excerpt excerpt;
    sim_fault fault;
};

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
    o->extent[ALONG_WARPS] = 1;
    for (int i = 0; i < 3; i++)
        o->extent[ALONG_X + i] = plan->launches[0].grid[i] / sim_device_cluster(k, plan, 0)[i];
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
    for (int origin = 0; o && origin < ORIGINS; origin++) {
        for (uint32_t i = 0; i < o->buffer_count; i++)
            free(o->origins[origin].prints[i].rows);
        forget(&o->ends[origin]);
    }
    for (size_t k = 0; o && k < o->ran_count; k++)
        free(o->ran[k].from);
    if (o)
        free(o->ran);
    free(o);
}

void sim_owners_run_single_warps(sim_owners *o)
{
    const uint32_t *block = o->plan->launches[0].block;
    const uint64_t threads = (uint64_t)block[0] * block[1] * block[2];
    if (sim_owners_cluster_blocks(o) == 1)
        o->extent[ALONG_WARPS] = (threads + SIM_LANES - 1) / SIM_LANES;
}

bool sim_owners_is_exhausted(const sim_owners *o)
{
    return o->cut || o->work >= o->most;
}

const sim_fault *sim_owners_fault(const sim_owners *o)
{
    return &o->fault;
}

static bool is_written(const device_buffer *b, uint64_t offset)
{
    return b->region.valid &&
           __atomic_load_n(&b->region.valid[offset], __ATOMIC_RELAXED) == SIM_BYTE_LAST;
}

bool sim_owners_has_written(const sim_owners *o, uint32_t i, uint64_t offset)
{
    return is_written(o->buffers[i], offset);
}

uint64_t sim_owners_cluster_blocks(const sim_owners *o)
{
    const uint32_t *cluster = sim_device_cluster(o->kernel, o->plan, 0);
    return (uint64_t)cluster[0] * cluster[1] * cluster[2];
}

bool sim_owners_has_footprint(const sim_owners *o, uint32_t i)
{
    return o->origins[FROM_FIRST].prints[i].count > 0;
}

static void add_store(const watching *to, uint64_t address, uint32_t bytes)
{
    for (uint32_t i = 0; i < to->owners->buffer_count; i++) {
        const device_buffer *b = to->owners->buffers[i];
        const interval one = {address - b->region.base, address - b->region.base + bytes};
        const size_t count = to->seen->counts[i];
        if (address < b->region.base || one.to > b->region.size_bytes)
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

/* Sorts intervals and joins intervals that touch. Returns the number of joined intervals. */
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

static uint64_t last_cluster(const sim_owners *o)
{
    uint64_t count = 1;
    for (int axis = 0; axis < AXES; axis++)
        count *= o->extent[axis];
    return count - 1;
}

/* Returns the number of the cluster at the distance `at` along the axes from the current origin. */
static uint64_t number_of(const sim_owners *o, const uint64_t at[AXES])
{
    uint64_t distance = 0;
    for (int axis = AXES; axis-- > 0;)
        distance = distance * o->extent[axis] + at[axis];
    return o->origin == FROM_LAST ? last_cluster(o) - distance : distance;
}

/* Returns the index of a cluster in `ran`, or the index at which to insert it. */
static size_t index_of(const sim_owners *o, uint64_t cluster)
{
    size_t i = o->ran_count;
    while (i > 0 && o->ran[i - 1].number >= cluster)
        i--;
    return i;
}

static uint64_t block_limit(const sim_owners *o)
{
    const uint64_t left = o->work < o->most ? o->most - o->work : 0;
    return left / sim_owners_cluster_blocks(o) + 1;
}

/* Marks the writes of a cluster as final if the cluster ended. Otherwise marks the bytes as
 * unwritten, because the cluster might have overwritten them later. */
static void settle_writes(const sim_owners *o, stores *seen, bool ended)
{
    for (uint32_t i = 0; i < o->buffer_count; i++) {
        for (size_t k = 0; k < seen->counts[i]; k++)
            for (uint64_t at = seen->of[i][k].from; at < seen->of[i][k].to; at++)
                if (o->buffers[i]->region.valid[at] == SIM_BYTE_WRITTEN)
                    o->buffers[i]->region.valid[at] = ended ? SIM_BYTE_LAST : 0;
        seen->counts[i] = ended ? seen->counts[i] : 0;
    }
}

static uint64_t bytes_of(const interval *rows, size_t count)
{
    uint64_t bytes = 0;
    for (size_t k = 0; k < count; k++)
        bytes += rows[k].to - rows[k].from;
    return bytes;
}

/* Runs a cluster, unless it has run. *out is valid until the next call. */
static at_status run(sim_owners *o, uint64_t cluster, const ran_cluster **out, at_error *error)
{
    const size_t place = index_of(o, cluster);
    if (place == o->ran_count || o->ran[place].number != cluster) {
        stores mine = {0}, *seen = cluster == 0                 ? &o->ends[FROM_FIRST]
                                   : cluster == last_cluster(o) ? &o->ends[FROM_LAST]
                                                                : &mine;
        watching watched = {o, seen};
        ran_cluster *grown = memory_require(array_grow(o->ran, o->ran_count, sizeof *grown));
        o->ran = grown;
        memmove(&grown[place + 1], &grown[place], (o->ran_count - place) * sizeof *grown);
        o->ran_count++;
        sim_fault fault = {0};
        const uint64_t warps = o->extent[ALONG_WARPS], number = cluster / warps;
        const sim_launch how = {.clusters = &number,
                                .cluster_count = 1,
                                .block_limit = block_limit(o),
                                .excerpt = &o->excerpt,
                                .work = &o->work,
                                .observer = note_store,
                                .observer_context = &watched,
                                .one_warp_only = warps > 1,
                                .warp = (uint32_t)(cluster % warps),
                                .threads = 1};
        at_status status =
            sim_device_run(o->device, o->kernel, o->plan, 0, o->buffers, &how, NULL, &fault, error);
        for (uint32_t i = 0; i < o->buffer_count; i++)
            seen->counts[i] = join(seen->of[i], seen->counts[i]);
        settle_writes(o, seen, !o->excerpt.unfinished && fault.kind != SIM_FAULT_BUDGET);
        o->cut = o->cut || fault.kind == SIM_FAULT_BUDGET;
        if (o->fault.kind == SIM_FAULT_NONE && fault.kind != SIM_FAULT_BUDGET)
            o->fault = fault;
        o->excerpt.unfinished = 0;
        grown[place].number = cluster;
        grown[place].from = memory_new(2 * (size_t)o->buffer_count, sizeof *grown->from);
        grown[place].bytes = grown[place].from + o->buffer_count;
        for (uint32_t i = 0; i < o->buffer_count; i++) {
            grown[place].from[i] = seen->counts[i] > 0 ? seen->of[i][0].from : UINT64_MAX;
            grown[place].bytes[i] = bytes_of(seen->of[i], seen->counts[i]);
        }
        forget(&mine);
        if (status)
            return status;
    }
    *out = &o->ran[place];
    return AT_OK;
}

/* Runs the block at distance `place` along an axis. *step is the distance from the origin's first
 * interval in buffer `i` to the block's first byte. *writes tells whether the block writes. */
static at_status measure_step(sim_owners *o, uint32_t i, int axis, uint64_t place, int64_t *step,
                              bool *writes, at_error *error)
{
    const ran_cluster *found;
    uint64_t at[AXES] = {0};
    at[axis] = place;
    at_status status = run(o, number_of(o, at), &found, error);
    *writes = !status && found->from[i] != UINT64_MAX;
    *step = *writes ? (int64_t)(found->from[i] - o->origins[o->origin].prints[i].rows[0].from) : 0;
    return status;
}

/* Gives the last block the shape of the first block if the last block writes less, because the last
 * block may be cut off at the end of the data. */
static void take_shape_of_first(const footprint *first, footprint *last)
{
    if (last->count == 0 ||
        bytes_of(first->rows, first->count) <= bytes_of(last->rows, last->count))
        return;
    interval *rows = memory_new(first->count, sizeof *rows);
    for (size_t k = 0; k < first->count; k++) {
        const uint64_t moved = last->rows[0].from - first->rows[0].from;
        rows[k] = (interval){first->rows[k].from + moved, first->rows[k].to + moved};
    }
    free(last->rows);
    last->rows = rows;
    last->count = first->count;
}

static at_status learn(sim_owners *o, at_error *error)
{
    stores *end = &o->ends[o->origin];
    const ran_cluster *found;
    o->origins[o->origin].is_learnt = true;
    at_status status = run(o, number_of(o, (const uint64_t[AXES]){0}), &found, error);
    for (uint32_t i = 0; i < o->buffer_count; i++)
        o->origins[o->origin].prints[i] = (footprint){.rows = end->of[i], .count = end->counts[i]};
    *end = (stores){0};
    for (uint32_t i = 0; o->origin == FROM_LAST && i < o->buffer_count; i++)
        take_shape_of_first(&o->origins[FROM_FIRST].prints[i], &o->origins[FROM_LAST].prints[i]);
    for (uint32_t i = 0; !status && i < o->buffer_count; i++) {
        footprint *f = &o->origins[o->origin].prints[i];
        for (int axis = 0; !status && f->count > 0 && axis < AXES; axis++) {
            digit d = {.axis = axis, .unit = 1, .radix = o->extent[axis]};
            bool writes;
            if (d.radix < 2)
                continue;
            status = measure_step(o, i, axis, 1, &d.step, &writes, error);
            if (!status && writes)
                f->digits[f->digit_count++] = d;
        }
    }
    return status;
}

/* Finds the radix of a digit: the number of units after which the offsets stop growing evenly. The
 * radix stays if the offsets never stop. */
static at_status find_radix(sim_owners *o, uint32_t i, digit *d, at_error *error)
{
    uint64_t even = 1, odd = d->radix;
    at_status status = AT_OK;
    for (uint64_t next = d->radix - 1; !status && even + 1 < odd && o->work < o->most;
         next = even + (odd - even) / 2) {
        int64_t step;
        bool writes;
        status = measure_step(o, i, d->axis, next * d->unit, &step, &writes, error);
        if (writes && step == (int64_t)next * d->step)
            even = next;
        else
            odd = next;
        if (even == d->radix - 1)
            return status;
    }
    d->radix = odd;
    return status;
}

static at_status split_into_digits(sim_owners *o, uint32_t i, at_error *error)
{
    footprint *f = &o->origins[o->origin].prints[i];
    at_status status = AT_OK;
    f->is_refined = true;
    for (int k = 0; !status && k < f->digit_count; k++) {
        digit *d = &f->digits[k], higher = {.axis = d->axis};
        const uint64_t all = d->radix;
        bool writes = false;
        status = find_radix(o, i, d, error);
        if (status || d->radix >= all || f->digit_count == MOST_DIGITS)
            continue;
        higher.unit = d->unit * d->radix;
        higher.radix = (o->extent[d->axis] + higher.unit - 1) / higher.unit;
        if (higher.radix > 1)
            status = measure_step(o, i, d->axis, higher.unit, &higher.step, &writes, error);
        if (!status && writes)
            f->digits[f->digit_count++] = higher;
    }
    return status;
}

static uint64_t magnitude(int64_t v)
{
    return v < 0 ? -(uint64_t)v : (uint64_t)v;
}

/* Finds the distance of the block that writes `offset` as part of `row`, or returns false. */
static bool solve(const sim_owners *o, const footprint *f, const interval *row, uint64_t offset,
                  uint64_t at[AXES])
{
    const digit *order[MOST_DIGITS];
    int64_t left = (int64_t)(offset - row->from);
    for (int i = 0; i < f->digit_count; i++) {
        int k = i;
        for (; k > 0 && magnitude(f->digits[i].step) > magnitude(order[k - 1]->step); k--)
            order[k] = order[k - 1];
        order[k] = &f->digits[i];
    }
    memset(at, 0, AXES * sizeof *at);
    for (int i = 0; i < f->digit_count; i++) {
        const digit *d = order[i];
        int64_t step = d->step, count = 0, most = (int64_t)d->radix - 1;
        if (step > 0)
            count = left < 0 ? 0 : left / step;
        else if (step < 0)
            count = left > 0 ? 0 : (-left + -step - 1) / -step;
        count = count > most ? most : count;
        at[d->axis] += (uint64_t)count * d->unit;
        left -= count * step;
    }
    bool is_inside = left >= 0 && (uint64_t)left < row->to - row->from;
    for (int axis = 0; axis < AXES; axis++)
        is_inside = is_inside && at[axis] < o->extent[axis];
    return is_inside;
}

/* Follows permuted blocks. If the expected block wrote where another block was expected, runs the
 * other block next, and so on along the cycle. */
static at_status follow_cycle(sim_owners *o, uint32_t i, uint64_t offset, const ran_cluster *first,
                              at_error *error)
{
    const footprint *f = &o->origins[o->origin].prints[i];
    const ran_cluster *at_turn = first;
    const uint64_t begun = first->number;
    at_status status = AT_OK;
    for (int turns = 0; !status && turns < MOST_TURNS && o->work < o->most &&
                        at_turn->from[i] != UINT64_MAX && !is_written(o->buffers[i], offset);
         turns++) {
        uint64_t at[AXES];
        if (!solve(o, f, &f->rows[0], at_turn->from[i], at) || number_of(o, at) == begun ||
            number_of(o, at) == at_turn->number)
            break;
        status = run(o, number_of(o, at), &at_turn, error);
    }
    return status;
}

/* Runs the block that writes the byte if interval `row` contains it. */
static at_status try_row(sim_owners *o, uint32_t i, const interval *row, uint64_t offset,
                         int *tries, at_error *error)
{
    const footprint *f = &o->origins[o->origin].prints[i];
    const ran_cluster *found;
    uint64_t at[AXES];
    if (!solve(o, f, row, offset, at))
        return AT_OK;
    at_status status = run(o, number_of(o, at), &found, error);
    return status || (*tries)++ > 0 ? status : follow_cycle(o, i, offset, found, error);
}

static at_status try_owners(sim_owners *o, uint32_t i, uint64_t offset, at_error *error)
{
    const footprint *f = &o->origins[o->origin].prints[i];
    at_status status = AT_OK;
    int tries = 0;
    for (size_t row = 0; !status && row < f->count && tries < TRIES && o->work < o->most &&
                         !is_written(o->buffers[i], offset);
         row++)
        status = try_row(o, i, &f->rows[row], offset, &tries, error);
    /* If that fails, other blocks may write between the rows, so all rows count as one interval. */
    if (!status && f->count > 1 && tries == 0 && o->work < o->most)
        status = try_row(o, i, &(interval){f->rows[0].from, f->rows[f->count - 1].to}, offset,
                         &tries, error);
    return status;
}

/* Runs the block that writes the byte at `offset` of buffer `i`, if the footprint of the current
 * origin leads to it. */
static at_status try_origin(sim_owners *o, uint32_t i, uint64_t offset, at_error *error)
{
    const footprint *f = &o->origins[o->origin].prints[i];
    at_status status = o->origins[o->origin].is_learnt ? AT_OK : learn(o, error);
    if (!status)
        status = try_owners(o, i, offset, error);
    if (!status && !is_written(o->buffers[i], offset) && f->count > 0 && !f->is_refined) {
        status = split_into_digits(o, i, error);
        if (!status)
            status = try_owners(o, i, offset, error);
    }
    return status;
}

at_status sim_owners_write(sim_owners *o, uint32_t i, uint64_t offset, bool *found, at_error *error)
{
    at_status status = AT_OK;
    const int origins = last_cluster(o) > 0 ? ORIGINS : 1;
    for (o->origin = 0; !status && o->origin < origins && !is_written(o->buffers[i], offset) &&
                        (o->origin == 0 || o->work < o->most);
         o->origin++)
        status = try_origin(o, i, offset, error);
    *found = is_written(o->buffers[i], offset);
    return status;
}

bool sim_owners_find_overlap(const sim_owners *o, uint32_t i, uint64_t clusters[2], uint64_t *from)
{
    for (size_t k = 0; k < o->ran_count; k++)
        for (size_t n = 0; n < k && o->ran[k].from[i] != UINT64_MAX; n++)
            if (o->ran[n].from[i] == o->ran[k].from[i]) {
                clusters[0] = o->ran[n].number;
                clusters[1] = o->ran[k].number;
                *from = o->ran[k].from[i];
                return true;
            }
    return false;
}

uint64_t sim_owners_most_bytes(const sim_owners *o, uint32_t i)
{
    uint64_t most = 0;
    size_t as_many = 0;
    for (size_t k = 0; k < o->ran_count; k++) {
        if (o->ran[k].bytes[i] > most)
            as_many = 0;
        most = o->ran[k].bytes[i] > most ? o->ran[k].bytes[i] : most;
        as_many += o->ran[k].bytes[i] == most;
    }
    return 2 * as_many >= o->ran_count ? most : UINT64_MAX;
}

at_status sim_owners_write_all(sim_owners *o, at_error *error)
{
    sim_fault fault;
    const sim_launch how = {.excerpt = &o->excerpt, .threads = 1};
    o->excerpt.mark = SIM_BYTE_LAST;
    at_status status =
        sim_device_run(o->device, o->kernel, o->plan, 0, o->buffers, &how, NULL, &fault, error);
    if (!status && o->fault.kind == SIM_FAULT_NONE)
        o->fault = fault;
    return status;
}
