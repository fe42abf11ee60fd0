#include "sim/machine/values.h"
#include "sim/program/operations.h"

/* The lanes that a warp operation's mask names must all be here, unless they have exited, and the
 * lane that executes it is one of them. */
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

static bool lacks_members(const sim_warp *w, int32_t members_slot, uint32_t mask)
{
    uint32_t named = 0;
    SIM_EACH_OF(l, mask) named |= sim_lanes32(w, members_slot)[l];
    return (named & w->live & ~mask) != 0;
}

static bool shuffle(sim_block *b, sim_warp *w, const sim_instruction *c, uint32_t mask)
{
    const uint32_t *a = sim_lanes32(w, c->a);
    uint32_t r[SIM_LANES], inside = 0;
    for (int l = 0; l < SIM_LANES; l++) {
        bool ok;
        int from = sim_shuffle_source(w, c, l, &ok);
        if ((mask >> l & 1) && !(mask & sim_lanes32(w, c->e)[l] & 1u << from))
            return sim_fail(b, w, c, l, SIM_FAULT_SHUFFLE, "it reads lane %d, which %s", from,
                            mask >> from & 1 ? "its mask leaves out" : "does not execute it");
        r[l] = a[from];
        inside |= (uint32_t)ok << l;
    }
    sim_put32(w, c->d, r, mask);
    if (c->d2 != SIM_NO_SLOT)
        sim_put_predicate(w, c->d2, inside, mask);
    return true;
}

static bool vote(sim_warp *w, const sim_instruction *c, uint32_t mask)
{
    uint32_t p = sim_predicate(w, c->a, c->negate_a) & mask;
    const uint32_t *members = sim_lanes32(w, c->e);
    uint32_t r[SIM_LANES] = {0}, result = 0;
    SIM_EACH_OF(l, mask)
    {
        uint32_t here = members[l] & mask, yes = p & here;
        bool v = c->op == SIM_VOTE_ALL   ? yes == here
                 : c->op == SIM_VOTE_ANY ? yes != 0
                                         : yes == here || yes == 0;
        r[l] = yes;
        result |= (uint32_t)v << l;
    }
    if (c->op == SIM_VOTE_BALLOT)
        sim_put32(w, c->d, r, mask);
    else
        sim_put_predicate(w, c->d, result, mask);
    return true;
}

static bool match(sim_warp *w, const sim_instruction *c, uint32_t mask)
{
    uint64_t v[SIM_LANES];
    uint32_t r[SIM_LANES] = {0}, agree = 0;
    SIM_EACH_LANE(l)
    v[l] = c->source_width == 8 ? sim_lanes64(w, c->a)[l] : sim_lanes32(w, c->a)[l];
    SIM_EACH_OF(l, mask)
    {
        uint32_t members = sim_lanes32(w, c->e)[l] & mask, same = 0;
        for (uint32_t k = members; k; k &= k - 1)
            same |= (uint32_t)(v[__builtin_ctz(k)] == v[l]) << __builtin_ctz(k);
        bool all = same == members;
        r[l] = c->op == SIM_MATCH_ANY ? same : all ? members : 0;
        agree |= (uint32_t)all << l;
    }
    sim_put32(w, c->d, r, mask);
    if (c->d2 != SIM_NO_SLOT)
        sim_put_predicate(w, c->d2, agree, mask);
    return true;
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

static bool reduce(sim_warp *w, const sim_instruction *c, uint32_t mask)
{
    const uint32_t *a = sim_lanes32(w, c->a), *members = sim_lanes32(w, c->e);
    uint32_t r[SIM_LANES] = {0}, elected = 0;
    SIM_EACH_OF(l, mask)
    {
        uint32_t here = members[l] & mask;
        int first = here ? __builtin_ctz(here) : l;
        r[l] = a[first];
        for (uint32_t k = here & (here - 1); k && c->op != SIM_ELECT; k &= k - 1)
            r[l] = reduce_two(c->op, c->type == PTX_S32, r[l], a[__builtin_ctz(k)]);
        if (c->op == SIM_ELECT) {
            r[l] = (uint32_t)first;
            elected |= (uint32_t)(first == l) << l;
        }
    }
    sim_put32(w, c->d, r, mask);
    if (c->op == SIM_ELECT)
        sim_put_predicate(w, c->d2, elected, mask);
    return true;
}

/* Lanes with different masks are different barriers. */
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

/* Lanes may arrive at a barrier of their warp by different instructions: those of this path wait,
 * and the last to come lets all go on. True: this path is done with it, or has given way to others.
 * PTX ISA, "bar.warp.sync". */
static bool meet_elsewhere(sim_block *b, sim_warp *w, const sim_instruction *c, uint32_t mask)
{
    const uint32_t *members = sim_lanes32(w, c->a);
    const uint32_t named = members[__builtin_ctz(mask)];
    if ((w->released & mask) == mask) {
        w->released &= ~mask;
        return true;
    }
    SIM_EACH_OF(l, mask)
    {
        if (members[l] != named || !(named >> l & 1))
            return false;
    }
    w->awaiting |= mask;
    if (named & w->live & ~w->awaiting)
        return sim_paths_give_way(b, w);
    sim_order_warp(b, w, named & w->live);
    w->released |= w->awaiting & named & ~mask;
    w->awaiting &= ~named;
    return true;
}

bool sim_collective(sim_block *b, sim_warp *w, const sim_instruction *c, uint32_t mask)
{
    uint32_t active[SIM_LANES];
    int32_t members = c->kind == SIM_WARP_BARRIER  ? c->a
                      : c->kind == SIM_ACTIVE_MASK ? SIM_NO_SLOT
                                                   : c->e;
    bool meets = c->kind == SIM_WARP_BARRIER;
    if (members != SIM_NO_SLOT &&
        ((meets && w->released & mask) || lacks_members(w, members, mask)) &&
        (meets ? meet_elsewhere(b, w, c, mask) : sim_paths_give_way(b, w)))
        return true;
    if (w->lacks && members != SIM_NO_SLOT && !meets && !sim_values_step(b, w, c, mask))
        return false;
    switch (c->kind) {
    case SIM_SHUFFLE:
        return check_members(b, w, c, mask, c->e) && shuffle(b, w, c, mask);
    case SIM_VOTE:
        return check_members(b, w, c, mask, c->e) && vote(w, c, mask);
    case SIM_MATCH:
        return check_members(b, w, c, mask, c->e) && match(w, c, mask);
    case SIM_REDUCE:
        return check_members(b, w, c, mask, c->e) && reduce(w, c, mask);
    case SIM_ACTIVE_MASK:
        SIM_EACH_LANE(l) active[l] = mask;
        sim_put32(w, c->d, active, mask);
        return true;
    case SIM_WARP_BARRIER:
        return check_members(b, w, c, mask, c->a) && warp_barrier(b, w, c, mask);
    default:
        return sim_fail(b, w, c, __builtin_ctz(mask), SIM_FAULT_INTERNAL,
                        "an instruction of kind %d", c->kind);
    }
}
