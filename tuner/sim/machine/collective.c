/* Warp operations, in which lanes exchange values. Each lane that a mask names must execute the
 * operation, unless the lane has exited. Each lane that executes it must be in its own mask. */
#include "sim/machine/execute.h"

#include <stdio.h>

#include "sim/machine/fault.h"
#include "sim/machine/paths.h"
#include "sim/machine/repeat.h"
#include "sim/machine/values.h"
#include "sim/program/operations.h"

static bool check_members(sim_block *b, sim_warp *w, const sim_instruction *c, uint32_t mask,
                          int32_t members_slot)
{
    const uint32_t *members = sim_lanes32(w, members_slot);
    SIM_EACH_OF(l, mask)
    {
        uint32_t missing = members[l] & w->live & ~mask;
        if (!(members[l] >> l & 1))
            return sim_fail(b, w, c, l, SIM_FAULT_SHUFFLE,
                            "its mask 0x%08x leaves out lane %d, which executes it", members[l], l);
        if (missing)
            return sim_fail(b, w, c, l, SIM_FAULT_SHUFFLE,
                            "its mask 0x%08x names lane %d, which does not execute it", members[l],
                            __builtin_ctz(missing));
    }
    return true;
}

static bool has_missing_members(const sim_warp *w, int32_t members_slot, uint32_t mask)
{
    uint32_t named = 0;
    SIM_EACH_OF(l, mask) named |= sim_lanes32(w, members_slot)[l];
    return (named & w->live & ~mask) != 0;
}

/* A warp operation of lanes that have met, perhaps at different instructions. */
typedef struct exchange {
    const sim_instruction *of[SIM_LANES];
    uint32_t lanes;
    uint64_t a[SIM_LANES]; /* operand of each lane; 0 or 1 for a vote */
    uint32_t members[SIM_LANES];
    int8_t from[SIM_LANES];          /* the lane from which a shuffle reads */
    uint32_t result[SIM_LANES], yes; /* results that are predicates */
} exchange;

static int32_t members_slot(const sim_instruction *c)
{
    return c->kind == SIM_WARP_BARRIER ? c->a : c->e;
}

/* Finds the lane that a lane reads in a shuffle, and whether it is in bounds. `control` has a clamp
 * (bits 0-4) and a segment mask (bits 8-12): PTX ISA, "shfl.sync". */
static void find_source(exchange *x, uint32_t operand, uint32_t control, int lane)
{
    const uint32_t op = x->of[lane]->op;
    int n = (int)(operand & 31), clamp = (int)(control & 31), segment = (int)(control >> 8 & 31);
    int first = lane & segment, last = first | (clamp & ~segment), from;
    switch (op) {
    case SIM_SHUFFLE_UP:
        from = lane - n;
        break;
    case SIM_SHUFFLE_DOWN:
        from = lane + n;
        break;
    case SIM_SHUFFLE_XOR:
        from = lane ^ n;
        break;
    default:
        from = first | (n & ~segment);
        break;
    }
    const bool inside = op == SIM_SHUFFLE_UP ? from >= last : from <= last;
    x->from[lane] = (int8_t)((inside ? from : lane) & 31);
    x->yes |= (uint32_t)inside << lane;
}

static void collect_values(exchange *x, const sim_warp *w, const sim_instruction *c, uint32_t mask)
{
    const bool shuffles = c->kind == SIM_SHUFFLE, votes = c->kind == SIM_VOTE;
    const uint32_t *a32 = sim_lanes32(w, c->a), *members = sim_lanes32(w, members_slot(c));
    const uint32_t p = votes ? sim_predicate(w, c->a, c->negate_a) : 0;
    x->lanes |= mask;
    SIM_EACH_OF(l, mask)
    {
        x->of[l] = c;
        x->members[l] = members[l];
        x->a[l] = votes                                          ? p >> l & 1
                  : c->kind == SIM_MATCH && c->source_width == 8 ? sim_lanes64(w, c->a)[l]
                                                                 : a32[l];
        if (shuffles)
            find_source(x, sim_lanes32(w, c->b)[l], sim_lanes32(w, c->c)[l], l);
    }
}

static void put_results(const exchange *x, sim_warp *w, const sim_instruction *c, uint32_t mask)
{
    if (c->kind == SIM_VOTE && c->op != SIM_VOTE_BALLOT)
        sim_put_predicate(w, c->d, x->yes, mask);
    else
        sim_put32(w, c->d, x->result, mask);
    if (c->kind != SIM_VOTE && c->d2 != SIM_NO_SLOT)
        sim_put_predicate(w, c->d2, x->yes, mask);
}

/* Marks a value from an absent lane, which is unpredictable (PTX ISA, "shfl.sync"), as missing. */
static void mark_absent(sim_block *b, sim_warp *w, const exchange *x, int lane, int from)
{
    const sim_instruction *c = x->of[lane];
    char where[SIM_ORIGIN_BYTES];
    snprintf(where, sizeof where, "lane %d of a shuffle, which %s", from,
             x->lanes >> from & 1 ? "its mask leaves out" : "does not execute it");
    sim_values_mark_missing(b, w, c, lane, c->d, UINT64_MAX, where, NULL);
}

static void shuffle(sim_block *b, sim_warp *w, exchange *x)
{
    uint32_t given = 0;
    SIM_EACH_OF(l, x->lanes)
    {
        const int from = x->from[l];
        const bool present = x->lanes & x->members[l] & 1u << from;
        if (!present && b->launch->check)
            mark_absent(b, w, x, l, from);
        given |= (uint32_t)present << l;
        x->result[l] = (uint32_t)x->a[from];
    }
    sim_order_exchange(b, w, given, x->from);
}

static void vote(exchange *x, uint32_t op)
{
    uint32_t all = 0;
    SIM_EACH_OF(l, x->lanes) all |= (uint32_t)x->a[l] << l;
    SIM_EACH_OF(l, x->lanes)
    {
        uint32_t here = x->members[l] & x->lanes, yes = all & here;
        bool v = op == SIM_VOTE_ALL   ? yes == here
                 : op == SIM_VOTE_ANY ? yes != 0
                                      : yes == here || yes == 0;
        x->result[l] = yes;
        x->yes |= (uint32_t)v << l;
    }
}

static void match(exchange *x, uint32_t op)
{
    SIM_EACH_OF(l, x->lanes)
    {
        uint32_t members = x->members[l] & x->lanes, same = 0;
        for (uint32_t k = members; k; k &= k - 1)
            same |= (uint32_t)(x->a[__builtin_ctz(k)] == x->a[l]) << __builtin_ctz(k);
        bool all = same == members;
        x->result[l] = op == SIM_MATCH_ANY ? same : all ? members : 0;
        x->yes |= (uint32_t)all << l;
    }
}

static uint32_t reduce_two(uint32_t op, bool is_signed, uint32_t a, uint32_t b)
{
    bool less = is_signed ? (int32_t)a < (int32_t)b : a < b;
    switch (op) {
    case SIM_REDUCE_ADD:
        return a + b;
    case SIM_REDUCE_MIN:
        return less ? a : b;
    case SIM_REDUCE_MAX:
        return less ? b : a;
    case SIM_REDUCE_AND:
        return a & b;
    case SIM_REDUCE_OR:
        return a | b;
    default:
        return a ^ b;
    }
}

static void reduce(exchange *x, const sim_instruction *c)
{
    SIM_EACH_OF(l, x->lanes)
    {
        uint32_t here = x->members[l] & x->lanes;
        int first = here ? __builtin_ctz(here) : l;
        uint32_t r = (uint32_t)x->a[first];
        for (uint32_t k = here & (here - 1); k && c->op != SIM_ELECT; k &= k - 1)
            r = reduce_two(c->op, c->type == PTX_S32, r, (uint32_t)x->a[__builtin_ctz(k)]);
        x->result[l] = c->op == SIM_ELECT ? (uint32_t)first : r;
        x->yes |= (uint32_t)(first == l) << l;
    }
}

/* Computes the results of all lanes, whose instructions have equal qualifiers. */
static bool exchange_values(sim_block *b, sim_warp *w, exchange *x)
{
    const sim_instruction *c = x->of[__builtin_ctz(x->lanes)];
    sim_repeat_forget(w);
    if (w->missing && !sim_values_exchange(b, w, x->of, x->from, x->lanes))
        return false;
    switch (c->kind) {
    case SIM_SHUFFLE:
        shuffle(b, w, x);
        break;
    case SIM_VOTE:
        vote(x, c->op);
        break;
    case SIM_MATCH:
        match(x, c->op);
        break;
    default:
        reduce(x, c);
    }
    return true;
}

/* Executes bar.warp.sync. Lanes with different masks are at different barriers. */
static bool warp_barrier(sim_block *b, sim_warp *w, const sim_instruction *c, uint32_t mask)
{
    const uint32_t *members = sim_lanes32(w, c->a);
    while (mask) {
        uint32_t together = 0, named = members[__builtin_ctz(mask)];
        for (uint32_t m = mask; m; m &= m - 1)
            if (members[__builtin_ctz(m)] == named)
                together |= m & -m;
        sim_order_warp(b, w, together);
        mask &= ~together;
    }
    return true;
}

/* Returns whether the qualifiers agree, so that lanes may meet (PTX ISA, "shfl.sync"). */
static bool are_alike(const sim_instruction *c, const sim_instruction *other)
{
    return c->kind == other->kind &&
           (c->kind == SIM_WARP_BARRIER || (c->op == other->op && c->type == other->type &&
                                            c->source_width == other->source_width));
}

/* Returns the lanes of `named` that wait for each other at an instruction like `c`. */
static uint32_t find_waiting(const sim_block *b, const sim_warp *w, const sim_instruction *c,
                             uint32_t named)
{
    uint32_t waiting = 0;
    SIM_EACH_OF(l, named & w->meeting.awaiting)
    {
        const sim_instruction *other = &b->program->code[w->meeting.pc[l]];
        if (are_alike(c, other) && sim_lanes32(w, members_slot(other))[l] == named)
            waiting |= 1u << l;
    }
    return waiting;
}

/* Executes the operation of lanes that have all arrived, and lets these lanes go on. */
static bool let_go(sim_block *b, sim_warp *w, const sim_instruction *c, uint32_t lanes)
{
    exchange x = {.lanes = 0};
    sim_repeat_forget(w);
    w->meeting.awaiting &= ~lanes;
    w->meeting.released |= lanes;
    if (c->kind == SIM_WARP_BARRIER) {
        sim_order_warp(b, w, lanes);
        return true;
    }
    SIM_EACH_OF(l, lanes) collect_values(&x, w, &b->program->code[w->meeting.pc[l]], 1u << l);
    if (!exchange_values(b, w, &x))
        return false;
    SIM_EACH_OF(l, lanes) put_results(&x, w, x.of[l], 1u << l);
    return true;
}

/* Lets lanes wait for missing lanes, which may reach another instruction. Sets *done if the lanes
 * of `mask` have results, or another path runs. Returns false if there is a fault. */
static bool wait_for_lanes(sim_block *b, sim_warp *w, const sim_instruction *c, uint32_t mask,
                           bool *done)
{
    const uint32_t *members = sim_lanes32(w, members_slot(c));
    for (uint32_t left = mask & ~w->meeting.released; left;) {
        const uint32_t named = members[__builtin_ctz(left)];
        uint32_t together = 0;
        SIM_EACH_OF(l, left) together |= (uint32_t)(members[l] == named) << l;
        left &= ~together;
        SIM_EACH_OF(l, together) w->meeting.pc[l] = (int32_t)(c - b->program->code);
        w->meeting.awaiting |= together;
        if (!(together & ~named) && find_waiting(b, w, c, named) == (named & w->live) &&
            !let_go(b, w, c, named & w->live))
            return false;
    }
    *done = !(mask & ~w->meeting.released);
    if (*done)
        w->meeting.released &= ~mask;
    else
        *done = sim_paths_yield(b, w) || sim_paths_let_go(w);
    return true;
}

bool sim_collective(sim_block *b, sim_warp *w, const sim_instruction *c, uint32_t mask)
{
    uint32_t active[SIM_LANES];
    if (c->kind == SIM_ACTIVE_MASK) {
        SIM_EACH_LANE(l) active[l] = mask;
        sim_put32(w, c->d, active, mask);
        return true;
    }
    bool done = false;
    if (((w->meeting.released & mask) || has_missing_members(w, members_slot(c), mask)) &&
        (!wait_for_lanes(b, w, c, mask, &done) || done))
        return done;
    mask &= ~w->meeting.released;
    w->meeting.released &= ~sim_top(w)->mask;
    w->meeting.awaiting &= ~mask;
    if (!check_members(b, w, c, mask, members_slot(c)))
        return false;
    if (c->kind == SIM_WARP_BARRIER)
        return warp_barrier(b, w, c, mask);
    exchange x = {.lanes = 0};
    collect_values(&x, w, c, mask);
    if (!exchange_values(b, w, &x))
        return false;
    put_results(&x, w, c, mask);
    return true;
}
