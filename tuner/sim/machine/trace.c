#include "sim/machine/trace.h"

#include <stdlib.h>
#include <string.h>

#include "sim/machine/machine.h"
#include "sim/program/warpgroup.h"

enum { LOADS = 64, GROUPS = 8, MBARRIERS = 64 };

/* Asynchronous operations of one kind. A warp commits them in groups and waits for groups. */
typedef struct flights {
    uint64_t open;           /* end of the last operation that is in no committed group */
    uint64_t groups[GROUPS]; /* ends of the committed groups, in a ring */
    uint32_t group_count;
} flights;

typedef struct traced_warp {
    uint64_t front;      /* earliest start of the next instruction */
    uint64_t begun;      /* start of the last instruction */
    uint64_t stored;     /* start of the last store or other instruction without a result */
    uint64_t written[2]; /* start of the last store to global and to shared memory */
    flights copies, products;
    uint64_t multiplied;   /* time at which the tensor core is free again */
    uint64_t loads[LOADS]; /* ends of the last loads, one entry for each word, in a ring */
    uint32_t load_count;
    uint32_t passed[SIM_BARRIERS]; /* number of arrivals at each barrier */
    int32_t waits;                 /* 2 * barrier + arrivals % 2; -1 if the warp does not wait */
} traced_warp;

struct sim_trace {
    sim_latencies latencies;
    uint8_t *unrolled; /* number of iterations that ptxas unrolls, by pc of the loop's backward
                          branch; owned */
    uint32_t *turns;   /* iterations of each loop so far, by [warp][pc]; owned */
    size_t code_count;
    uint32_t window; /* most words of loads that a thread has under way */
    uint32_t slots;
    traced_warp *warps; /* warps of the cluster's blocks; owned */
    uint64_t *ready;    /* [warp][slot]: end of the instruction that wrote the register; owned */
    /* [rank][barrier][arrivals % 2]: time of the last arrival; owned. No warp is two arrivals ahead
     * of another warp. */
    uint64_t (*barriers)[SIM_BARRIERS][2];
    size_t ranks; /* blocks of a cluster */
    uint64_t mbarriers[MBARRIERS];
    sim_level reached; /* level that the current access reaches, set by the observer and taken by
                          the next step */
    uint64_t end;      /* latest end in the cluster so far */
};

void sim_trace_free(sim_trace *t)
{
    if (!t)
        return;
    free(t->warps);
    free(t->barriers);
    free(t->ready);
    free(t->unrolled);
    free(t->turns);
    free(t);
}

static bool is_constant(const sim_program *p, int32_t slot)
{
    for (size_t i = 0; i < p->constant_count; i++)
        if (p->constants[i].slot == slot)
            return true;
    return false;
}

/* Returns whether a loop changes the register only by one addition of a constant. */
static bool steps_evenly(const sim_program *p, int32_t first, int32_t last, int32_t slot)
{
    int writes = 0;
    bool even = false;
    for (int32_t i = first; i <= last && slot >= 0; i++) {
        const sim_instruction *c = &p->code[i];
        if (c->d != slot || c->kind == SIM_STORE)
            continue;
        writes++;
        even = c->kind == SIM_COMPUTE && c->count_class == SIM_CLASS_INTEGER &&
               (is_constant(p, c->a) || is_constant(p, c->b));
    }
    return writes == 1 && even;
}

/* Returns the number of iterations that ptxas unrolls into one: four (CUDA 13, sm_90), if the body
 * is short, nothing forbids it, and a constant is added to the loop counter. */
static uint8_t unrolls(const sim_program *p, int32_t pc)
{
    enum { LONGEST = 64, ITERATIONS = 4 };
    const sim_instruction *branch = &p->code[pc];
    const int32_t first = branch->target;
    const int statement = p->code[first].statement;
    if (pc - first > LONGEST || branch->guard == SIM_NO_SLOT || statement == PTX_NONE ||
        p->module->statements[statement].rolled)
        return 1;
    for (int32_t i = pc - 1; i >= first; i--) {
        const sim_instruction *c = &p->code[i];
        if (c->kind == SIM_BARRIER)
            return 1;
        if (c->kind == SIM_COMPARE && c->d == branch->guard)
            return steps_evenly(p, first, pc, c->a) || steps_evenly(p, first, pc, c->b) ? ITERATIONS
                                                                                        : 1;
    }
    return 1;
}

/* Returns whether the machine code of the instruction is a chain of dependent instructions, with a
 * branch around a function for rare operands. Later instructions stay after that branch. */
static bool is_chain(const sim_instruction *c)
{
    return c->kind == SIM_COMPUTE && c->cost->specials > 0;
}

at_status sim_trace_new(const sim_launch *launch, const sim_latencies *latencies, uint32_t window,
                        sim_trace **out, at_error *error)
{
    const uint64_t threads = (uint64_t)launch->block[0] * launch->block[1] * launch->block[2];
    const size_t slots = launch->program->register_bytes / SIM_SLOT_STEP + 1;
    const size_t ranks = (size_t)sim_launch_cluster_blocks(launch);
    sim_trace *t = calloc(1, sizeof *t);
    *out = t;
    if (t) {
        *t = (sim_trace){.latencies = *latencies, .slots = (uint32_t)slots, .ranks = ranks};
        t->window = window < 1 ? 1 : window > LOADS ? LOADS : window;
        t->warps = calloc(ranks * SIM_MAX_WARPS, sizeof *t->warps);
        t->barriers = calloc(ranks, sizeof *t->barriers);
        t->ready = calloc(ranks * (size_t)((threads + SIM_LANES - 1) / SIM_LANES) * slots,
                          sizeof *t->ready);
        t->code_count = launch->program->code_count;
        t->unrolled = calloc(t->code_count + 1, sizeof *t->unrolled);
        t->turns = calloc(ranks * SIM_MAX_WARPS * (t->code_count + 1), sizeof *t->turns);
    }
    if (t && t->warps && t->barriers && t->ready && t->unrolled && t->turns) {
        for (size_t i = 0; i < t->code_count; i++)
            if (launch->program->code[i].kind == SIM_BRANCH &&
                launch->program->code[i].target <= (int32_t)i)
                t->unrolled[i] = unrolls(launch->program, (int32_t)i);
        return AT_OK;
    }
    sim_trace_free(t);
    *out = NULL;
    return error_set(error, AT_NO_MEMORY, "no memory to trace a kernel");
}

void sim_trace_begin(sim_trace *t)
{
    const size_t warps = t->ranks * SIM_MAX_WARPS;
    memset(t->warps, 0, warps * sizeof *t->warps);
    memset(t->barriers, 0, t->ranks * sizeof *t->barriers);
    memset(t->turns, 0, warps * t->code_count * sizeof *t->turns);
    memset(t->mbarriers, 0, sizeof t->mbarriers);
    for (size_t i = 0; i < warps; i++)
        t->warps[i].waits = -1;
    t->end = 0;
}

void sim_trace_reach(sim_trace *t, sim_level level)
{
    if (level > t->reached)
        t->reached = level;
}

uint64_t sim_trace_end(const sim_trace *t)
{
    return t->end;
}

static uint64_t later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* The registers of one warp. */
typedef struct view {
    const sim_block *block;
    uint64_t *ready;
    uint32_t slots;
} view;

static uint64_t ready_at(const view *v, int32_t slot)
{
    const uint32_t i = (uint32_t)slot / SIM_SLOT_STEP;
    return slot >= 0 && i < v->slots ? v->ready[i] : 0;
}

static void put(const view *v, int32_t slot, uint64_t at)
{
    const uint32_t i = (uint32_t)slot / SIM_SLOT_STEP;
    if (slot >= 0 && i < v->slots)
        v->ready[i] = at;
}

static uint64_t list_ready(const view *v, const sim_instruction *c, int count, uint64_t at)
{
    for (int i = 0; i < count; i++)
        at = later(at, ready_at(v, v->block->program->lists[c->list + i]));
    return at;
}

static void list_put(const view *v, const sim_instruction *c, int count, uint64_t at)
{
    for (int i = 0; i < count; i++)
        put(v, v->block->program->lists[c->list + i], at);
}

/* Returns the earliest time, from `at` on, at which `words` more words fit into the `window`. */
static uint64_t reserve(const traced_warp *w, uint32_t window, uint32_t words, uint64_t at)
{
    for (uint32_t i = 0; i < words && w->load_count + i >= window; i++)
        at = later(at, w->loads[(w->load_count + i - window) % LOADS]);
    return at;
}

/* Returns the most words of loads under way in a thread. Notes of the machine code may limit it. */
static uint32_t window_of(const sim_trace *t, const sim_program *p, const sim_instruction *c)
{
    const uint32_t ahead =
        c->statement == PTX_NONE ? 0 : p->module->statements[c->statement].note.loads_ahead;
    return ahead == 0 ? t->window : ahead < LOADS ? ahead : LOADS;
}

/* Adds a load. Returns its start. */
static uint64_t load(const sim_trace *t, traced_warp *w, const view *v, const sim_instruction *c,
                     sim_level reached, uint64_t at)
{
    const bool is_global = sim_reaches_global(c);
    const uint32_t latency = is_global                      ? t->latencies.levels[reached]
                             : c->space == PTX_SPACE_LOCAL  ? t->latencies.levels[SIM_LEVEL_L1]
                             : c->space == PTX_SPACE_SHARED ? t->latencies.shared
                                                            : t->latencies.constant;
    const uint32_t words = (c->width == 8 ? 2u : 1u) * c->vector;
    /* A load is not moved over a store that may write the same bytes. */
    if (!c->noncoherent && (is_global || c->space == PTX_SPACE_SHARED))
        at = later(at, w->written[!is_global]);
    if (is_global) {
        const uint32_t window = window_of(t, v->block->program, c);
        at = reserve(w, window, words < window ? words : window, at);
        for (uint32_t i = 0; i < words; i++)
            w->loads[w->load_count++ % LOADS] = at + latency;
    }
    list_put(v, c, c->vector, at + latency);
    return at;
}

static uint32_t latency_of(const sim_trace *t, const sim_instruction *c)
{
    const bool is_wide = c->cost->pipe == SIM_PIPE_DOUBLE;
    if (is_chain(c))
        return c->cost->specials * t->latencies.special +
               c->cost->others * (is_wide ? t->latencies.wide : t->latencies.compute);
    switch (c->count_class) {
    case SIM_CLASS_DOUBLE:
        return t->latencies.wide;
    case SIM_CLASS_SPECIAL:
        return t->latencies.special;
    case SIM_CLASS_WARP:
        return t->latencies.shuffle;
    case SIM_CLASS_MOVE:
        return 0;
    default:
        return c->extra ? 0 : t->latencies.compute;
    }
}

static uint64_t *mbarrier_at(sim_trace *t, const sim_warp *w, int32_t slot, uint8_t width,
                             uint32_t mask, int64_t offset)
{
    const int lane = __builtin_ctz(mask);
    const uint64_t address = slot < 0 ? 0 : sim_lane(w, slot, width, lane);
    return &t->mbarriers[((address + (uint64_t)offset) / 8) % MBARRIERS];
}

/* Returns the latest end of the committed groups, without the newest `left` groups. */
static uint64_t group_end(const flights *f, uint32_t left)
{
    uint64_t at = 0;
    for (uint32_t i = 0; i < f->group_count && i < GROUPS; i++)
        if (i >= left)
            at = later(at, f->groups[(f->group_count - 1 - i) % GROUPS]);
    return at;
}

static void commit(flights *f)
{
    f->groups[f->group_count++ % GROUPS] = f->open;
    f->open = 0;
}

/* Adds a product of a warpgroup, whose four warps have a tensor core each. It takes n / 2 clocks:
 * 64 * n * 16 products of halves, at 4 * 512 a clock (sm_90; H100 white paper: 989 teraflops at
 * 1.83 GHz on 132 SMs). m64n256k16 took 128 clocks in Luo et al., "Benchmarking and Dissecting the
 * Nvidia Hopper GPU Architecture via Microbenchmarking". This project has not measured it. */
static void multiply(traced_warp *w, const sim_program *p, const sim_instruction *c, uint64_t at)
{
    const int32_t clocks = sim_warpgroup_product_of(p, c)->part.n / 2;
    w->multiplied = later(w->multiplied, at) + (uint64_t)clocks;
    w->products.open = w->multiplied;
}

static void synchronise(sim_trace *t, traced_warp *w, uint32_t rank, uint32_t id)
{
    uint64_t *last = &t->barriers[rank][id][w->passed[id] & 1];
    const uint64_t at = later(w->front, w->stored);
    /* *last may still have the time of two arrivals ago, which is earlier. */
    *last = later(*last, at);
    w->waits = (int32_t)(id * 2 + (w->passed[id]++ & 1));
}

static void resume(sim_trace *t, traced_warp *w, uint32_t rank)
{
    w->front =
        later(w->front, t->barriers[rank][w->waits / 2][w->waits & 1]) + t->latencies.barrier;
    w->waits = -1;
}

/* Returns whether a forward branch is also a branch in machine code. There, the operands of stores
 * before the branch must be ready. Instead of a branch over up to eight instructions of arithmetic,
 * ptxas uses predicates (CUDA 13, sm_90: seen with 1 to 20 multiply-adds). */
static bool is_jump(const sim_program *p, const sim_instruction *c)
{
    enum { MOST_PREDICATED = 8 };
    const ptrdiff_t skipped = c->target - (c - p->code) - 1;
    if (p->module->has_notes && c->statement != PTX_NONE)
        return skipped > 0 && p->module->statements[c->statement].note.others > 0;
    return skipped > MOST_PREDICATED;
}

/* Adds a backward branch. Later instructions wait for all earlier instructions, unless ptxas
 * unrolls the loop. */
static void add_backward_branch(const sim_trace *t, traced_warp *w, const view *v,
                                const sim_warp *warp, const sim_instruction *c, uint32_t mask)
{
    const size_t pc = (size_t)(c - v->block->program->code);
    const size_t number = (size_t)(warp - v->block->warps) + (size_t)v->block->rank * SIM_MAX_WARPS;
    if (t->unrolled[pc] == 0 || mask == 0)
        return;
    uint32_t *turns = &t->turns[number * t->code_count + pc];
    if (++*turns % t->unrolled[pc] == 0)
        w->front = later(w->front, w->begun);
}

static void other(sim_trace *t, traced_warp *w, const view *v, const sim_warp *warp,
                  const sim_instruction *c, uint32_t mask, uint32_t rank, uint64_t at)
{
    switch (c->kind) {
    case SIM_BRANCH:
        w->front = is_jump(v->block->program, c) ? later(at, w->stored) : at;
        add_backward_branch(t, w, v, warp, c, mask);
        break;
    case SIM_BRANCH_INDEXED:
        w->front = at;
        break;
    case SIM_BARRIER:
        synchronise(t, w, rank, (uint32_t)warp->wait.barrier % SIM_BARRIERS);
        break;
    case SIM_CLUSTER_BARRIER:
        w->front = later(at, w->stored) + t->latencies.levels[SIM_LEVEL_L2];
        break;
    case SIM_FENCE:
        w->front = later(at + t->latencies.levels[SIM_LEVEL_L2],
                         w->stored > 0 ? w->stored + t->latencies.fence : 0);
        break;
    case SIM_COPY_COMMIT:
        commit(&w->copies);
        break;
    case SIM_COPY_WAIT:
        w->front = later(at, c->offset < 0 ? later(w->copies.open, group_end(&w->copies, 0))
                                           : group_end(&w->copies, (uint32_t)c->offset));
        break;
    case SIM_WARPGROUP_PRODUCT:
        multiply(w, v->block->program, c, at);
        break;
    case SIM_WARPGROUP_COMMIT:
        commit(&w->products);
        break;
    case SIM_WARPGROUP_WAIT:
        w->front = later(at, group_end(&w->products, (uint32_t)c->offset));
        break;
    case SIM_MBARRIER:
        if (mask && (c->op == SIM_MBARRIER_TEST || c->op == SIM_MBARRIER_TEST_PARITY))
            w->front = later(at, *mbarrier_at(t, warp, c->a, c->source_width, mask, c->offset)) +
                       t->latencies.shared;
        put(v, c->d, w->front);
        break;
    default:
        put(v, c->d, at + latency_of(t, c));
        if (c->d2 > 0)
            put(v, c->d2, at + latency_of(t, c));
        break;
    }
}

void sim_trace_step(sim_trace *t, const sim_block *b, const sim_warp *warp,
                    const sim_instruction *c, uint32_t mask)
{
    const uint32_t number = (uint32_t)(warp - b->warps);
    traced_warp *w = &t->warps[b->rank * SIM_MAX_WARPS + number];
    const view v = {b, t->ready + ((size_t)b->rank * b->warp_count + number) * t->slots, t->slots};
    const sim_level reached = t->reached;
    t->reached = SIM_LEVEL_L1;
    if (w->waits >= 0)
        resume(t, w, b->rank);
    uint64_t at = later(w->front, ready_at(&v, c->guard));
    const int32_t sources[] = {c->a, c->b, c->c, c->e};
    const bool reads_all = c->kind == SIM_COMPUTE;
    for (int i = 0; i < 4; i++)
        if (!reads_all || c->widths[i] > 0)
            at = later(at, ready_at(&v, sources[i]));
    switch (c->kind) {
    case SIM_LOAD:
        at = load(t, w, &v, c, reached, at);
        break;
    case SIM_STORE:
        at = list_ready(&v, c, c->vector, at);
        w->stored = later(w->stored, at);
        if (c->space != PTX_SPACE_LOCAL)
            w->written[c->space == PTX_SPACE_SHARED] = w->stored;
        break;
    case SIM_ATOMIC:
        w->stored = later(w->stored, at);
        for (int32_t i = 0; c->d2 != 0 && i < c->vector; i++)
            put(&v, c->d + i * SIM_HIGH_HALF,
                at +
                    (c->space == PTX_SPACE_SHARED ? 2 * t->latencies.shared : t->latencies.atomic));
        break;
    case SIM_COPY_ASYNC:
        w->copies.open = later(w->copies.open, at + t->latencies.levels[reached]);
        break;
    case SIM_BULK_LOAD: {
        uint64_t *landed = mbarrier_at(t, warp, c->e, 4, mask, c->e_offset);
        *landed = later(*landed, at + t->latencies.levels[SIM_LEVEL_DRAM]);
        break;
    }
    default:
        other(t, w, &v, warp, c, mask, b->rank, at);
        break;
    }
    /* The branch is the instruction before the last one of the chain. */
    if (is_chain(c))
        w->front = later(w->front, at + latency_of(t, c) - t->latencies.compute);
    if (!c->extra && c->count_class != SIM_CLASS_MOVE)
        w->front++;
    w->begun = later(w->begun, later(w->stored, at));
    t->end = later(t->end, later(w->front, w->begun));
}
