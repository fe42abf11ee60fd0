#include "sim/machine/schedule.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "sim/machine/barrier.h"
#include "sim/machine/copies.h"
#include "sim/machine/execute.h"
#include "sim/machine/fault.h"
#include "sim/machine/paths.h"
#include "sim/machine/products.h"
#include "sim/machine/repeat.h"
#include "sim/machine/values.h"
#include "sim/machine/watch.h"

static void fill32(const sim_warp *w, int32_t slot, uint32_t value)
{
    uint32_t *d = sim_lanes32(w, slot);
    for (int l = 0; l < SIM_LANES; l++)
        d[l] = value;
}

enum { RESERVED_ALIGNMENT = 16 };

static uint32_t kernel_shared_bytes(const sim_launch *launch)
{
    return launch->program->static_shared_bytes + launch->dynamic_shared_bytes;
}

/* Returns the size of a block's shared memory in bytes, including the bytes that CUDA reserves. */
static uint32_t block_shared_bytes(const sim_launch *launch)
{
    const uint32_t own = kernel_shared_bytes(launch);
    return sim_program_reserves(launch->program)
               ? (own + RESERVED_ALIGNMENT - 1) / RESERVED_ALIGNMENT * RESERVED_ALIGNMENT +
                     SIM_RESERVED_SMEM_BYTES
               : own;
}

static void fill_special(const sim_block *b, const sim_warp *w, int special, uint32_t value)
{
    const int32_t slot = b->program->special_slots[special];
    if (slot != SIM_NO_SLOT)
        fill32(w, slot, value);
}

/* Fills the special registers that depend on the block only by its rank in the cluster. */
static void fill_fixed(sim_block *b, sim_warp *w, uint32_t number)
{
    const sim_launch *launch = b->launch;
    const int32_t *slots = b->program->special_slots;
    const uint32_t *in = launch->cluster, alone[3] = {1, 1, 1};
    if (in[0] == 0)
        in = alone;
    const uint32_t at[3] = {b->rank % in[0], b->rank / in[0] % in[1], b->rank / in[0] / in[1]};
    for (int k = 0; k < 3; k++) {
        fill_special(b, w, SIM_NTID_X + k, launch->block[k]);
        fill_special(b, w, SIM_NCTAID_X + k, launch->grid[k]);
        fill_special(b, w, SIM_CLUSTER_CTAID_X + k, at[k]);
        fill_special(b, w, SIM_CLUSTER_NCTAID_X + k, in[k]);
        fill_special(b, w, SIM_NCLUSTERID_X + k, launch->grid[k] / in[k]);
    }
    fill_special(b, w, SIM_WARPID, number);
    fill_special(b, w, SIM_NWARPID, (b->thread_count + SIM_LANES - 1) / SIM_LANES);
    fill_special(b, w, SIM_SMID, 0);
    fill_special(b, w, SIM_NSMID, 1);
    fill_special(b, w, SIM_GRIDID, 0);
    fill_special(b, w, SIM_DYNAMIC_SMEM, launch->dynamic_shared_bytes);
    fill_special(b, w, SIM_TOTAL_SMEM, kernel_shared_bytes(launch));
    fill_special(b, w, SIM_RESERVED_SMEM, b->shared_bytes - SIM_RESERVED_SMEM_BYTES);
    fill_special(b, w, SIM_CLUSTER_CTARANK, b->rank);
    fill_special(b, w, SIM_CLUSTER_NCTARANK, in[0] * in[1] * in[2]);
    fill_special(b, w, SIM_ENVREG1, (uint32_t)(launch->workspace >> 32));
    fill_special(b, w, SIM_ENVREG2, (uint32_t)launch->workspace);
    fill_special(b, w, SIM_IS_EXPLICIT_CLUSTER, launch->cluster[0] > 0 ? UINT32_MAX : 0);
    for (int l = 0; l < SIM_LANES; l++) {
        uint32_t position[3], bit = 1u << l;
        sim_thread_position(b, w->first_thread + (uint32_t)l, position);
        const uint32_t by_lane[][2] = {{SIM_TID_X, position[0]},
                                       {SIM_TID_Y, position[1]},
                                       {SIM_TID_Z, position[2]},
                                       {SIM_LANEID, (uint32_t)l},
                                       {SIM_LANEMASK_EQ, bit},
                                       {SIM_LANEMASK_LT, bit - 1},
                                       {SIM_LANEMASK_LE, bit | (bit - 1)},
                                       {SIM_LANEMASK_GT, ~(bit | (bit - 1))},
                                       {SIM_LANEMASK_GE, ~(bit - 1)}};
        for (size_t i = 0; i < sizeof by_lane / sizeof *by_lane; i++)
            if (slots[by_lane[i][0]] != SIM_NO_SLOT)
                sim_lanes32(w, slots[by_lane[i][0]])[l] = by_lane[i][1];
    }
}

static void fill_constants(const sim_program *p, const sim_warp *w)
{
    for (size_t i = 0; i < p->constant_count; i++) {
        const sim_constant *c = &p->constants[i];
        if (c->width == 4)
            fill32(w, c->slot, (uint32_t)c->bits);
        for (int l = 0; c->width != 4 && l < SIM_LANES; l++)
            sim_lanes64(w, c->slot)[l] = c->bits;
    }
}

at_status sim_block_init(sim_block *b, const sim_launch *launch, sim_cluster *cluster,
                         uint32_t rank, sim_watch *watch, at_error *error)
{
    const sim_program *p = launch->program;
    *b = (sim_block){
        .launch = launch, .program = p, .cluster = cluster, .rank = rank, .watch = watch};
    b->limit = launch->instruction_limit ? launch->instruction_limit : SIM_INSTRUCTION_LIMIT;
    b->thread_count = launch->block[0] * launch->block[1] * launch->block[2];
    b->warp_count = launch->one_warp_only ? 1 : (b->thread_count + SIM_LANES - 1) / SIM_LANES;
    b->shared_bytes = block_shared_bytes(launch);
    size_t registers = p->register_bytes ? p->register_bytes : 64;
    size_t local = (size_t)p->local_bytes * SIM_LANES;
    size_t cells = (b->shared_bytes + p->shared_cell_bytes - 1) / p->shared_cell_bytes;
    b->warps = calloc(b->warp_count, sizeof *b->warps);
    b->memory = aligned_alloc(64, (b->warp_count * registers + 63) / 64 * 64);
    b->local = calloc(b->warp_count, local + 1);
    b->shared = calloc(1, b->shared_bytes + 16u);
    if (launch->check) {
        b->shared_valid = calloc(1, b->shared_bytes + 16u);
        /* Each line has SIM_LINE_CELLS cells, so the last line may have cells that are not used. */
        b->lines = calloc(sim_line_count(cells) + 1, sizeof *b->lines);
        b->cells = calloc((sim_line_count(cells) + 1) * SIM_LINE_CELLS, sizeof *b->cells);
        b->local_valid = calloc(1, b->warp_count * local + 1);
    }
    if (launch->counters)
        b->counters = memory_new(p->code_count, sizeof *b->counters);
    if (!b->warps || !b->memory || !b->local || !b->shared ||
        (launch->check && (!b->shared_valid || !b->cells || !b->lines || !b->local_valid)))
        return error_set(error, AT_NO_MEMORY, "no memory to simulate a block of %u threads",
                         b->thread_count);
    if (launch->check && p->reads_unwritten)
        sim_values_reserve(b);
    /* Results that depend on uninitialised registers must differ between schedules. */
    memset(b->memory, launch->schedule ? 0x5a : 0xff, b->warp_count * registers);
    for (uint32_t i = 0; i < b->warp_count; i++) {
        sim_warp *w = &b->warps[i];
        w->registers = b->memory + i * registers;
        w->local = b->local + i * local;
        w->local_valid = b->local_valid ? b->local_valid + i * local : NULL;
        const uint32_t number = launch->one_warp_only ? launch->warp : i;
        w->first_thread = number * SIM_LANES;
        fill_constants(p, w);
        fill_fixed(b, w, number);
    }
    return AT_OK;
}

uint64_t sim_block_bytes(const sim_launch *launch)
{
    const sim_program *p = launch->program;
    uint64_t threads = (uint64_t)launch->block[0] * launch->block[1] * launch->block[2];
    uint64_t warps = (threads + SIM_LANES - 1) / SIM_LANES;
    uint64_t shared = block_shared_bytes(launch);
    uint64_t cell = sizeof(sim_cell) + sizeof(sim_line) / SIM_LINE_CELLS;
    return sizeof(sim_block) +
           warps * (sizeof(sim_warp) + p->register_bytes + 2ull * SIM_LANES * p->local_bytes) +
           shared * (2 + cell / p->shared_cell_bytes) +
           (launch->counters ? p->code_count * sizeof(sim_counter) : 0);
}

void sim_block_deinit(sim_block *b)
{
    sim_print_end(b);
    for (uint32_t i = 0; b->warps && i < b->warp_count; i++) {
        free(b->warps[i].copies.list);
        free(b->warps[i].loop.kept);
        sim_frames_drop(b, &b->warps[i]);
        free(b->warps[i].flow.frames);
    }
    sim_order_deinit(b);
    if (b->warps)
        sim_warpgroups_free(b);
    free(b->warps);
    free(b->memory);
    free(b->local);
    free(b->shared);
    free(b->shared_valid);
    free(b->cells);
    free(b->lines);
    free(b->local_valid);
    free(b->counters);
    sim_engine_free(b->engine);
    sim_values_free(b);
    *b = (sim_block){0};
}

static void start_warps(sim_block *b)
{
    const sim_program *p = b->program;
    const size_t frames_end = p->frames_at + (size_t)p->most_levels * p->frame_bytes;
    for (uint32_t i = 0; i < b->warp_count; i++) {
        sim_warp *w = &b->warps[i];
        uint32_t left = b->thread_count - w->first_thread;
        w->whole = w->live = left >= SIM_LANES ? UINT32_MAX : (1u << left) - 1;
        w->executed = w->accesses = w->lanes = 0;
        w->flow.paths[0] = (sim_path){0, SIM_EXIT_PC, w->live, 0};
        w->flow.depth = 1;
        w->flow.stalled = w->flow.turned = w->flow.split_far = 0;
        w->wait = (sim_warp_wait){.state = SIM_READY};
        w->meeting = (sim_warp_meeting){0};
        w->copies = (sim_warp_copies){.list = w->copies.list};
        w->polls = (sim_warp_polls){0};
        w->loop = (sim_warp_loop){.kept = w->loop.kept};
        w->stuck = (sim_warp_stuck){0};
        sim_frames_drop(b, w);
        for (size_t l = 0; w->local_valid && l < SIM_LANES; l++) {
            uint8_t *valid = w->local_valid + l * p->local_bytes;
            memset(valid, SIM_NEVER_WRITTEN, p->frames_at);
            memset(valid + frames_end, SIM_NEVER_WRITTEN, p->local_bytes - frames_end);
        }
        for (int k = 0; k < 3; k++) {
            const uint32_t per_cluster = b->launch->cluster[k] ? b->launch->cluster[k] : 1;
            fill_special(b, w, SIM_CTAID_X + k, b->block[k]);
            fill_special(b, w, SIM_CLUSTERID_X + k, b->block[k] / per_cluster);
        }
    }
}

void sim_block_start(sim_block *b, const uint32_t position[3])
{
    const uint32_t *grid = b->launch->grid;
    sim_print_end(b);
    memcpy(b->block, position, sizeof b->block);
    b->index = position[0] + (uint64_t)grid[0] * (position[1] + (uint64_t)grid[1] * position[2]);
    b->fault.kind = SIM_FAULT_NONE;
    b->number = (uint32_t)b->index + 1;
    b->moment = 0;
    b->work = b->lanes = 0;
    b->ended = false;
    b->adverse = b->launch->schedule != 0;
    rng of_launch = rng_seeded(b->launch->schedule);
    b->order = rng_seeded(rng_next(&of_launch) + b->index);
    b->holds = b->adverse && b->warp_count > 1 && rng_below(&b->order, 2);
    b->held = 0;
    b->let_go_at = 0;
    sim_order_reset(b);
    for (uint32_t i = 0; i < SIM_BARRIERS; i++)
        b->barriers[i] = (sim_barrier_state){.all = true};
    if (b->watch)
        sim_set_clear(&b->watch->pool, &b->visits);
    sim_shared_reset(b);
    sim_engine_reset(b);
    sim_warpgroups_reset(b);
    start_warps(b);
    b->met_unwritten = false;
    sim_values_start(b);
}

/* Instructions of a slice. A slice ends, because a warp may spin until another warp writes. */
enum {
    SLICE_INSTRUCTIONS = 1 << 16,
    SHORTEST_SLICE_BITS = 3,
    LONGEST_SLICE_BITS = 9,
    SLICE_OF_TRACE = 32
};

/* An access to memory costs the host as much time as this number of other instructions. */
enum { ACCESS_WORK = 16 };

static uint64_t work_of(const sim_warp *w)
{
    return w->executed + (ACCESS_WORK - 1) * w->accesses;
}

/* Returns the instructions of a warp's next slice. Schedule 0 divides block_limit equally. */
static uint64_t slice_of(sim_block *b)
{
    const uint64_t most = b->launch->block_limit;
    /* A GPU's warps run side by side, so a warp finds in a cache what another warp has loaded. */
    if (b->launch->trace)
        return SLICE_OF_TRACE;
    if (b->adverse)
        return UINT64_C(1) << (SHORTEST_SLICE_BITS +
                               rng_below(&b->order, LONGEST_SLICE_BITS - SHORTEST_SLICE_BITS + 1));
    if (most == 0)
        return SLICE_INSTRUCTIONS;
    const uint64_t share = b->work < most ? (most - b->work) / b->warp_count + 1 : 1;
    return share < SLICE_INSTRUCTIONS ? share : SLICE_INSTRUCTIONS;
}

/* Sorts the warps by number. An adverse schedule sorts them roughly in reverse order. */
static void order_warps(sim_block *b, uint8_t order[SIM_MAX_WARPS])
{
    enum { REACH = 3 };
    for (uint32_t i = 0; i < b->warp_count; i++)
        order[i] = (uint8_t)(b->adverse ? b->warp_count - 1 - i : i);
    /* The first turn has exactly the reverse order, so that all pairs of warps are reversed. */
    if (!b->adverse || b->warps[0].executed == 0)
        return;
    for (uint32_t i = 0; i + 1 < b->warp_count; i++) {
        uint32_t left = b->warp_count - i;
        uint32_t with = i + (uint32_t)rng_below(&b->order, left < REACH ? left : REACH);
        uint8_t t = order[i];
        order[i] = order[with];
        order[with] = t;
    }
}

enum {
    HOLDS_ONE_IN = 4, /* one turn in this many starts to hold warps back */
    HELD_TURNS = 256, /* turns after which a held warp goes on, even if other warps make progress */
    HELD_POLLS = 8    /* idle polls of other warps after which a held warp goes on; fewer than
                         POLLS_BEFORE_ASIDE in resident_blocks.c */
};

/* Begins to hold back one of the warps that can run, or a random set of these warps. */
static void hold_some(sim_block *b)
{
    uint32_t ready = 0;
    if (!b->holds || b->held || b->let_go_at == b->cluster->changes + 1 ||
        rng_below(&b->order, HOLDS_ONE_IN))
        return;
    for (uint32_t i = 0; i < b->warp_count; i++)
        ready |= b->warps[i].wait.state == SIM_READY || b->warps[i].wait.state == SIM_POLLING
                     ? 1u << i
                     : 0;
    b->held = ready & (rng_below(&b->order, 2) ? (uint32_t)rng_next(&b->order)
                                               : 1u << rng_below(&b->order, b->warp_count));
    if (b->held == ready)
        b->held = 0;
    b->held_turns = 0;
}

/* Lets one held warp go on if the other warps only poll or wait, or after HELD_TURNS turns. Returns
 * whether a warp goes on. */
static bool resume_one(sim_block *b, bool others_ran)
{
    if (!b->held ||
        (others_ran && b->cluster->idle_polls < HELD_POLLS && ++b->held_turns < HELD_TURNS))
        return false;
    uint32_t one = 1u << rng_below(&b->order, b->warp_count);
    while (!(b->held & one))
        one = one << 1 | one >> 31;
    b->held &= ~one;
    b->let_go_at = b->cluster->changes + 1;
    b->cluster->idle_polls = 0;
    return true;
}

/* Records that a limit was reached, as a fault of the warp that executed most. Returns false if all
 * warps have ended. */
static bool fail_at_limit(sim_block *b, sim_fault_kind kind, const char *of)
{
    const sim_warp *w = NULL;
    for (uint32_t i = 0; i < b->warp_count; i++)
        if (b->warps[i].wait.state != SIM_DONE && (!w || b->warps[i].executed > w->executed))
            w = &b->warps[i];
    const sim_path *top = w && w->flow.depth > 0 ? &w->flow.paths[w->flow.depth - 1] : NULL;
    return top && top->mask && (size_t)top->pc < b->program->code_count &&
           !sim_fail(b, w, sim_loop_around(b->program, top->pc), __builtin_ctz(top->mask), kind,
                     "the limit of executed instructions is reached, so the rest of %s is not run",
                     of);
}

/* Returns whether the block or the launch has reached a limit. If so, records a fault. */
static bool is_at_limit(sim_block *b)
{
    const sim_launch *l = b->launch;
    return (((l->work_limit && __atomic_load_n(l->work, __ATOMIC_RELAXED) > l->work_limit) ||
             (l->lane_limit && __atomic_load_n(l->lanes, __ATOMIC_RELAXED) > l->lane_limit)) &&
            fail_at_limit(b, SIM_FAULT_LATE, "the launch")) ||
           (l->block_limit && b->work >= l->block_limit &&
            fail_at_limit(b, SIM_FAULT_BUDGET, "the block"));
}

static sim_turn run_warps(sim_block *b)
{
    bool ran = false, polled = false;
    uint32_t moment = b->moment;
    uint8_t order[SIM_MAX_WARPS];
    order_warps(b, order);
    hold_some(b);
    for (uint32_t i = 0; i < b->warp_count; i++) {
        sim_warp *w = &b->warps[order[i]];
        if ((w->wait.state != SIM_READY && w->wait.state != SIM_POLLING) || b->held >> order[i] & 1)
            continue;
        w->wait.state = SIM_READY;
        w->polls.slice_end = w->executed + slice_of(b);
        w->polls.count = 0;
        const uint64_t before = work_of(w), lanes_before = w->lanes;
        const bool fine = sim_warp_run(b, w);
        b->work += work_of(w) - before;
        b->lanes += w->lanes - lanes_before;
        if (!fine)
            return SIM_TURN_FAULT;
        if (w->wait.state == SIM_READY && w->executed - w->polls.last > SIM_BETWEEN_POLLS)
            b->cluster->idle_polls = 0;
        ran = ran || w->wait.state != SIM_POLLING;
        polled = polled || w->wait.state == SIM_POLLING;
    }
    bool opened = sim_barriers_open(b);
    opened = sim_warpgroups_open(b) || opened;
    if (!b->ended && sim_warps_left(b) == 0) {
        b->ended = true;
        if (!sim_engine_allows_end(b) || !sim_warpgroups_allow_end(b) || !sim_cluster_allows_end(b))
            return SIM_TURN_FAULT;
    }
    const bool goes_on = ran || opened || b->moment != moment;
    return resume_one(b, goes_on) || goes_on ? SIM_TURN_ON
           : polled                          ? SIM_TURN_POLLING
                                             : SIM_TURN_STUCK;
}

sim_turn sim_block_turn(sim_block *b)
{
    if (is_at_limit(b))
        return SIM_TURN_FAULT;
    const uint64_t before = b->work, lanes_before = b->lanes;
    const sim_turn turn = run_warps(b);
    if (b->launch->lanes)
        __atomic_fetch_add(b->launch->lanes, b->lanes - lanes_before, __ATOMIC_RELAXED);
    if (b->launch->work)
        __atomic_fetch_add(b->launch->work, b->work - before, __ATOMIC_RELAXED);
    return turn;
}
