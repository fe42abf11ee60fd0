#include "sim/machine/barrier.h"

#include "sim/machine/execute.h"
#include "sim/machine/fault.h"
#include "sim/machine/paths.h"
#include "sim/machine/products.h"

/* Orders the warps that wait at a barrier (order.h): if possible, by a barrier of the whole
 * block. */
static void order(sim_block *b, uint32_t id)
{
    sim_barrier_state *state = &b->barriers[id];
    uint32_t waiting = 0;
    for (uint32_t i = 0; i < b->warp_count; i++)
        waiting += sim_waits(&b->warps[i], id);
    if (!state->passed && waiting == sim_warps_left(b)) {
        sim_order_block(b, id);
        return;
    }
    for (uint32_t i = 0; i < b->warp_count; i++)
        if (sim_waits(&b->warps[i], id))
            sim_order_arrive(b, &b->warps[i], &state->brought);
    for (uint32_t i = 0; i < b->warp_count; i++)
        if (sim_waits(&b->warps[i], id)) {
            sim_order_leave(b, &b->warps[i], &state->brought);
            sim_order_warp(b, &b->warps[i], b->warps[i].whole);
        }
    sim_clocks_deinit(&state->brought);
}

static void release(sim_block *b, uint32_t id)
{
    sim_barrier_state *state = &b->barriers[id], opened = {.all = true, .epoch = b->epoch};
    order(b, id);
    for (uint32_t i = 0; i < b->warp_count; i++) {
        sim_warp *w = &b->warps[i];
        if (!sim_waits(w, id))
            continue;
        const sim_instruction *c = &b->program->code[w->wait.pc];
        uint32_t lanes[SIM_LANES];
        for (int l = 0; l < SIM_LANES; l++)
            lanes[l] = state->count;
        if (c->op == SIM_BARRIER_POPC)
            sim_put32(w, c->d, lanes, w->wait.mask);
        else if (c->op == SIM_BARRIER_AND || c->op == SIM_BARRIER_OR)
            sim_put_predicate(w, c->d,
                              (c->op == SIM_BARRIER_AND ? state->all : state->any) ? UINT32_MAX : 0,
                              w->wait.mask);
        w->wait.state = SIM_READY;
        w->flow.split_far = 0;
        opened.waited |= state->needed || state->passed ? 1u << i : 0;
        opened.after[i] = w->order.epoch;
    }
    *state = opened;
}

/* Checks a warp that arrives at a barrier which opened last for only some warps (s->waited). The
 * warp must be one of these or follow one of these: otherwise a GPU may count it with them. */
static bool comes_after(sim_block *b, sim_warp *w, const sim_instruction *c, int lane,
                        const sim_barrier_state *s)
{
    const uint32_t own = (uint32_t)(w - b->warps);
    bool follows = s->waited == 0 || s->waited >> own & 1 || !b->launch->check;
    for (uint32_t left = s->waited; left && !follows; left &= left - 1) {
        const uint32_t i = (uint32_t)__builtin_ctz(left);
        const sim_stamp opened = {.block = b->number,
                                  .unit = (uint16_t)(b->warps[i].first_thread / SIM_LANES),
                                  .epoch = s->epoch,
                                  .order = s->after[i],
                                  .lanes = b->warps[i].whole};
        follows = sim_order_follows(b, w, lane, &opened);
    }
    return follows ||
           sim_fail(b, w, c, lane, SIM_FAULT_BARRIER,
                    "the barrier may be used again too early: nothing orders this warp after the "
                    "warps that waited there before, so it may be counted with them");
}

uint32_t sim_warps_left(const sim_block *b)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < b->warp_count; i++)
        n += b->warps[i].wait.state != SIM_DONE;
    return n;
}

/* Returns whether each warp has arrived or ended. */
static bool all_arrived(const sim_block *b, const sim_barrier_state *s)
{
    for (uint32_t i = 0; i < b->warp_count; i++)
        if (b->warps[i].wait.state != SIM_DONE && !(s->warps >> i & 1))
            return false;
    return true;
}

bool sim_barriers_open(sim_block *b)
{
    bool opened = false;
    for (uint32_t id = 0; id < SIM_BARRIERS; id++) {
        sim_barrier_state *s = &b->barriers[id];
        bool counted = s->needed && !b->launch->one_warp_only;
        if (s->arrived > 0 && (counted ? s->arrived >= s->needed : all_arrived(b, s))) {
            release(b, id);
            opened = true;
        }
    }
    return opened;
}

/* Finds the number of warps that a barrier waits for, or 0 for all warps that have not ended. Ended
 * threads do not arrive, even if the count is the block's size (PTX ISA, "barrier", "exit"). */
static bool find_needed(sim_block *b, sim_warp *w, const sim_instruction *c, int lane,
                        uint32_t *needed)
{
    if (c->b == SIM_NO_SLOT)
        return true;
    uint32_t threads = sim_lanes32(w, c->b)[lane];
    uint32_t most = (b->thread_count + SIM_LANES - 1) / SIM_LANES * SIM_LANES;
    if (threads == 0 || threads % SIM_LANES != 0 || threads > most)
        return sim_fail(b, w, c, lane, SIM_FAULT_BARRIER,
                        "it waits for %u threads: the number must be a multiple of 32 and not "
                        "larger than the block's %u threads",
                        threads, b->thread_count);
    *needed = threads / SIM_LANES;
    return true;
}

static bool is_reduction(const sim_instruction *c)
{
    return c->op == SIM_BARRIER_POPC || c->op == SIM_BARRIER_AND || c->op == SIM_BARRIER_OR;
}

static bool agrees(sim_block *b, sim_warp *w, const sim_instruction *c, int lane,
                   const sim_barrier_state *s, uint32_t needed)
{
    if (s->arrived == 0)
        return true;
    const sim_instruction *other = &b->program->code[s->pc];
    const uint32_t own = needed ? needed : b->warp_count,
                   others = s->needed ? s->needed : b->warp_count;
    if (own != others && !b->launch->one_warp_only)
        return sim_fail(
            b, w, c, lane, SIM_FAULT_BARRIER,
            "it waits for %u warps, but other warps at the same barrier (PTX line %d) wait for %u",
            own, other->line, others);
    if (is_reduction(c) != is_reduction(other) || (is_reduction(c) && c->op != other->op))
        return sim_fail(b, w, c, lane, SIM_FAULT_BARRIER,
                        "another kind of barrier (PTX line %d) uses the same barrier number",
                        other->line);
    return true;
}

static bool is_whole(sim_block *b, sim_warp *w, const sim_instruction *c, uint32_t mask)
{
    return mask == w->live ||
           sim_fail(
               b, w, c, __builtin_ctz(w->live & ~mask), SIM_FAULT_BARRIER,
               "this thread does not reach the barrier at which %d other threads of its warp wait",
               __builtin_popcount(mask));
}

bool sim_barrier_arrive(sim_block *b, sim_warp *w, const sim_instruction *c, uint32_t mask)
{
    int lane = __builtin_ctz(mask);
    uint32_t id = sim_lanes32(w, c->a)[lane];
    if (id >= SIM_BARRIERS)
        return sim_fail(b, w, c, lane, SIM_FAULT_BARRIER, "there is no barrier %u", id);
    if (mask != w->live && sim_paths_yield(b, w))
        return true;
    if (!is_whole(b, w, c, mask))
        return false;
    w->polls.last = w->executed;
    sim_barrier_state *s = &b->barriers[id];
    uint32_t needed = 0;
    if (!find_needed(b, w, c, lane, &needed) || !agrees(b, w, c, lane, s, needed) ||
        !comes_after(b, w, c, lane, s))
        return false;
    s->needed = needed ? needed : s->needed;
    s->pc = (int32_t)(c - b->program->code);
    s->arrived++;
    s->warps |= 1u << (w - b->warps);
    if (c->c != SIM_NO_SLOT) {
        uint32_t p = sim_predicate(w, c->c, c->negate_c) & mask;
        s->count += (uint32_t)__builtin_popcount(p);
        s->all = s->all && p == mask;
        s->any = s->any || p != 0;
    }
    if (c->op == SIM_BARRIER_ARRIVE) {
        s->passed = true;
        sim_order_arrive(b, w, &s->brought);
    } else {
        sim_wait(w, id, s->pc, mask);
    }
    /* The barrier opens at once, because a later arrival belongs to its next use. */
    if (s->needed && s->arrived == s->needed && !b->launch->one_warp_only)
        release(b, id);
    return true;
}

static bool arrive(sim_block *b, sim_warp *w, const sim_instruction *c, int lane)
{
    if (w->wait.arrived > w->wait.waited)
        return sim_fail(
            b, w, c, lane, SIM_FAULT_BARRIER,
            "it arrives twice at the barrier of its cluster, without barrier.cluster.wait between");
    if (c->op == SIM_CLUSTER_ARRIVE_RELAXED)
        sim_order_arrive_relaxed(w, &b->cluster->brought);
    else
        sim_order_arrive(b, w, &b->cluster->brought);
    w->wait.arrived++;
    return true;
}

/* Notes that a warp has passed the barrier of its cluster. */
static void pass(sim_block *b, sim_warp *w)
{
    w->wait.waited++;
    sim_order_leave(b, w, &b->cluster->passed);
}

bool sim_cluster_barrier(sim_block *b, sim_warp *w, const sim_instruction *c, uint32_t mask)
{
    int lane = __builtin_ctz(mask);
    if (mask != w->live && sim_paths_yield(b, w))
        return true;
    if (!is_whole(b, w, c, mask))
        return false;
    w->polls.last = w->executed;
    if (c->op != SIM_CLUSTER_WAIT)
        return arrive(b, w, c, lane);
    if (w->wait.arrived == w->wait.waited)
        return sim_fail(b, w, c, lane, SIM_FAULT_BARRIER,
                        "it waits at the barrier of its cluster, but did not arrive there before");
    if (b->cluster->completed > w->wait.waited) {
        pass(b, w);
        return true;
    }
    sim_wait(w, SIM_BARRIER_OF_CLUSTER, (int32_t)(c - b->program->code), mask);
    return true;
}

bool sim_cluster_barrier_open(sim_cluster *cl)
{
    bool any = false;
    for (uint32_t r = 0; r < cl->size; r++) {
        for (uint32_t i = 0; i < cl->blocks[r].warp_count; i++) {
            const sim_warp *w = &cl->blocks[r].warps[i];
            if (w->wait.state == SIM_DONE)
                continue;
            if (w->wait.arrived <= cl->completed)
                return false;
            any = true;
        }
    }
    if (!any)
        return false;
    cl->completed++;
    sim_clocks_deinit(&cl->passed);
    cl->passed = cl->brought;
    cl->brought = (sim_clocks){0};
    for (uint32_t r = 0; r < cl->size; r++) {
        for (uint32_t i = 0; i < cl->blocks[r].warp_count; i++) {
            sim_warp *w = &cl->blocks[r].warps[i];
            if (!sim_waits(w, SIM_BARRIER_OF_CLUSTER))
                continue;
            w->wait.state = SIM_READY;
            pass(&cl->blocks[r], w);
        }
    }
    return true;
}

void sim_report_deadlock(sim_block *b)
{
    for (uint32_t i = 0; i < b->warp_count; i++) {
        sim_warp *w = &b->warps[i];
        if (w->wait.state != SIM_WAITING)
            continue;
        if (w->wait.barrier == SIM_BARRIER_OF_CLUSTER) {
            sim_fail(b, w, &b->program->code[w->wait.pc], __builtin_ctz(w->wait.mask),
                     SIM_FAULT_BARRIER,
                     "not all warps reach the barrier of its cluster: the others wait elsewhere");
            return;
        }
        if (w->wait.barrier == SIM_BARRIER_OF_WARPGROUP) {
            sim_warpgroup_report(b, w);
            return;
        }
        const sim_barrier_state *s = &b->barriers[w->wait.barrier];
        const bool too_few_left = s->needed > sim_warps_left(b);
        sim_fail(b, w, &b->program->code[w->wait.pc], __builtin_ctz(w->wait.mask),
                 SIM_FAULT_BARRIER, "barrier %u is reached by %u of %u warps: %s", w->wait.barrier,
                 s->arrived, s->needed ? s->needed : sim_warps_left(b),
                 too_few_left ? "others have ended, and this barrier counts them"
                              : "the others wait elsewhere");
        return;
    }
}
