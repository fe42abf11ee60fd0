#include "sim/machine/order.h"

#include <stdlib.h>

#include "base/memory.h"
#include "sim/machine/machine.h"

void sim_clocks_deinit(sim_clocks *clocks)
{
    for (int i = 0; i < SIM_CLOCK_COUNT; i++)
        sim_clock_drop(clocks->of[i]);
    sim_clock_drop(clocks->polled);
    *clocks = (sim_clocks){0};
}

static void put(sim_clock **at, sim_clock *clock)
{
    sim_clock_keep(clock);
    sim_clock_drop(*at);
    *at = clock;
}

static void join_all(sim_clocks *into, const sim_clocks *other)
{
    for (int i = 0; i < SIM_CLOCK_COUNT; i++)
        sim_clock_join(&into->of[i], other->of[i]);
}

/* Returns the clocks of the warp's lanes. Makes them at the first call. */
static sim_clocks *clocks_of(sim_block *b, sim_warp *w)
{
    if (!w->order.clocks)
        w->order.clocks = memory_new(SIM_LANES, sizeof *w->order.clocks);
    b->learned = true;
    return w->order.clocks;
}

void sim_order_reset(sim_block *b)
{
    for (uint32_t i = 0; i < b->warp_count; i++) {
        sim_warp *w = &b->warps[i];
        for (int l = 0; w->order.clocks && l < SIM_LANES; l++)
            sim_clocks_deinit(&w->order.clocks[l]);
        w->order = (sim_warp_order){.clocks = w->order.clocks};
    }
    for (uint32_t i = 0; i < SIM_BARRIERS; i++)
        sim_clocks_deinit(&b->barriers[i].brought);
    sim_clock_drop(b->fenced);
    b->fenced = NULL;
    b->epoch = 0;
    b->learned = false;
    sim_history_clear(&b->history);
}

void sim_order_deinit(sim_block *b)
{
    if (!b->warps)
        return;
    sim_order_reset(b);
    for (uint32_t i = 0; i < b->warp_count; i++)
        free(b->warps[i].order.clocks);
    sim_history_deinit(&b->history);
}

static bool is_known(const sim_clock *clock, const sim_stamp *s, uint32_t lanes)
{
    if (!clock)
        return false;
    return (sim_is_by_thread(s) && sim_clock_epoch(clock, s->block) > s->epoch) ||
           sim_clock_lanes(clock, s->block, s->unit, lanes, s->order) == lanes;
}

bool sim_order_follows(const sim_block *b, const sim_warp *w, int lane, const sim_stamp *s)
{
    uint32_t lanes = s->lanes;
    if (s->flags & SIM_STAMP_UNDER_WAY)
        return false;
    if (s->block == b->number && sim_is_by_thread(s)) {
        if (s->epoch < b->epoch)
            return true;
        if (s->unit == w->first_thread / SIM_LANES) {
            lanes &= ~(1u << lane);
            if (lanes == 0 || s->order < w->order.barrier_epoch)
                return true;
        }
    }
    return w->order.clocks && is_known(w->order.clocks[lane].of[SIM_CLOCK_KNOWN], s, lanes);
}

bool sim_order_knows(const sim_warp *w, int lane, int clock, const sim_stamp *s)
{
    return w->order.clocks && !(s->flags & SIM_STAMP_UNDER_WAY) &&
           is_known(w->order.clocks[lane].of[clock], s, s->lanes);
}

bool sim_order_has_reached(const sim_block *b, const sim_warp *w, int lane, const sim_stamp *s)
{
    return sim_order_follows(b, w, lane, s) || sim_order_knows(w, lane, SIM_CLOCK_LOOSE, s) ||
           sim_order_knows(w, lane, SIM_CLOCK_SEQUENTIAL, s);
}

sim_reach sim_order_reach(const sim_block *b, const sim_stamp *s)
{
    if (s->block == b->number)
        return SIM_REACH_BLOCK;
    for (uint32_t r = 0; r < b->cluster->size; r++)
        if (b->cluster->blocks[r].number == s->block)
            return SIM_REACH_CLUSTER;
    return SIM_REACH_GPU;
}

/* Adds the operations that the lanes of `mask` know, and their own operations, to *to. */
static void add_own(sim_block *b, const sim_warp *w, uint32_t mask, sim_clock **to)
{
    uint32_t unit = w->first_thread / SIM_LANES, n = 0;
    const sim_clock *before = NULL; /* the clock joined last: lanes mostly have the same clock */
    sim_known own[3];
    own[n++] =
        (sim_known){.block = b->number, .unit = unit, .lanes = mask, .until = w->order.epoch};
    if (w->order.barrier_epoch > 0)
        own[n++] = (sim_known){
            .block = b->number, .unit = unit, .lanes = ~mask, .until = w->order.barrier_epoch - 1};
    if (b->epoch > 0)
        own[n++] =
            (sim_known){.block = b->number, .unit = SIM_UNIT_BLOCK, .lanes = 1, .until = b->epoch};
    for (uint32_t m = w->order.clocks ? mask : 0; m; m &= m - 1) {
        sim_clock *known = w->order.clocks[__builtin_ctz(m)].of[SIM_CLOCK_KNOWN];
        if (known != before)
            sim_clock_join(to, known);
        before = known;
    }
    sim_clock_add(to, own, n);
}

static void share_clocks(sim_block *b, sim_warp *w, uint32_t mask, const sim_clocks *all)
{
    bool any = false;
    for (int i = 0; i < SIM_CLOCK_COUNT; i++)
        any = any || all->of[i];
    sim_clocks *clocks = any ? clocks_of(b, w) : NULL;
    SIM_EACH_OF(l, any ? mask : 0) join_all(&clocks[l], all);
}

static void collect_clocks(const sim_warp *w, uint32_t mask, sim_clocks *all)
{
    if (!w->order.clocks)
        return;
    SIM_EACH_OF(l, mask)
    join_all(all, &w->order.clocks[l]);
}

void sim_order_warp(sim_block *b, sim_warp *w, uint32_t mask)
{
    if (!b->launch->check || (mask & (mask - 1)) == 0)
        return;
    bool whole = (mask & w->whole) == w->whole;
    sim_clocks all = {0};
    collect_clocks(w, mask, &all);
    if (!whole) {
        const sim_known met = {.block = b->number,
                               .unit = w->first_thread / SIM_LANES,
                               .lanes = mask,
                               .until = w->order.epoch};
        sim_clock_add(&all.of[SIM_CLOCK_KNOWN], &met, 1);
    }
    share_clocks(b, w, mask, &all);
    sim_clocks_deinit(&all);
    w->order.epoch++;
    if (whole)
        w->order.barrier_epoch = w->order.epoch;
}

void sim_order_exchange(sim_block *b, sim_warp *w, uint32_t mask, const int8_t from[SIM_LANES])
{
    sim_clock *known[SIM_LANES];
    bool any = false;
    if (!b->launch->check || !w->order.clocks)
        return;
    for (int l = 0; l < SIM_LANES; l++)
        known[l] = w->order.clocks[l].of[SIM_CLOCK_KNOWN];
    SIM_EACH_OF(l, mask) any = any || known[from[l]] != known[l];
    if (!any)
        return;
    /* A lane must not pass on operations that it learns in the same exchange. */
    for (int l = 0; l < SIM_LANES; l++)
        sim_clock_keep(known[l]);
    SIM_EACH_OF(l, mask)
    sim_clock_join_others(&w->order.clocks[l].of[SIM_CLOCK_KNOWN], known[from[l]], b->number,
                          w->first_thread / SIM_LANES);
    for (int l = 0; l < SIM_LANES; l++)
        sim_clock_drop(known[l]);
}

void sim_order_block(sim_block *b, uint32_t barrier)
{
    sim_clocks all = {0};
    b->epoch++;
    for (uint32_t i = 0; i < b->warp_count; i++) {
        sim_warp *w = &b->warps[i];
        if (!sim_waits(w, barrier))
            continue;
        w->order.barrier_epoch = ++w->order.epoch;
        if (b->learned)
            collect_clocks(w, UINT32_MAX, &all);
    }
    for (uint32_t i = 0; b->learned && i < b->warp_count; i++)
        if (sim_waits(&b->warps[i], barrier))
            share_clocks(b, &b->warps[i], UINT32_MAX, &all);
    sim_clocks_deinit(&all);
}

void sim_order_arrive(sim_block *b, sim_warp *w, sim_clocks *to)
{
    if (!b->launch->check)
        return;
    uint32_t unit = w->first_thread / SIM_LANES;
    const sim_known own[] = {
        {.block = b->number, .unit = unit, .lanes = UINT32_MAX, .until = w->order.epoch},
        {.block = b->number, .unit = SIM_UNIT_BLOCK, .lanes = 1, .until = b->epoch}};
    collect_clocks(w, UINT32_MAX, to);
    sim_clock_add(&to->of[SIM_CLOCK_KNOWN], own, b->epoch > 0 ? 2 : 1);
    w->order.epoch++;
}

void sim_order_arrive_relaxed(const sim_warp *w, sim_clocks *to)
{
    for (int l = 0; w->order.clocks && l < SIM_LANES; l++)
        sim_clock_join(&to->of[SIM_CLOCK_KNOWN],
                       w->order.clocks[l].of[SIM_CLOCK_FENCED + SIM_REACH_CLUSTER]);
}

void sim_order_leave(sim_block *b, sim_warp *w, const sim_clocks *from)
{
    if (b->launch->check)
        share_clocks(b, w, UINT32_MAX, from);
}

void sim_order_release(sim_block *b, sim_warp *w, int lane, sim_clock **to)
{
    if (b->launch->check)
        add_own(b, w, 1u << lane, to);
}

void sim_order_acquire(sim_block *b, sim_warp *w, int lane, int clock, sim_clock *from)
{
    if (b->launch->check && from)
        sim_clock_join(&clocks_of(b, w)[lane].of[clock], from);
}

void sim_order_copies(sim_block *b, const sim_warp *w, int lane, uint32_t before, sim_clock **to)
{
    const sim_known copies = {.block = b->number,
                              .unit = SIM_UNIT_COPIES + w->first_thread / SIM_LANES,
                              .lanes = 1u << lane,
                              .until = before - 1};
    if (b->launch->check && before > 0)
        sim_clock_add(to, &copies, 1);
}

void sim_order_learn(sim_block *b, sim_warp *w, uint32_t unit, uint32_t until)
{
    const sim_known known = {.block = b->number, .unit = unit, .lanes = 1, .until = until};
    sim_clock *before = NULL;
    if (!b->launch->check)
        return;
    sim_clocks *clocks = clocks_of(b, w);
    for (int l = 0; l < SIM_LANES; l++) {
        sim_clock **at = &clocks[l].of[SIM_CLOCK_KNOWN];
        const bool again = l > 0 && *at == before; /* lanes mostly have the same clock */
        if (!again)
            put(&before, *at);
        if (again)
            put(at, clocks[l - 1].of[SIM_CLOCK_KNOWN]);
        else
            sim_clock_add(at, &known, 1);
    }
    sim_clock_drop(before);
}

/* Records a sequentially consistent fence. Fences have one order if the scope of each includes the
 * other's thread (PTX ISA, "Fence-SC"). So a fence knows what earlier fences of its block, cluster
 * or GPU knew. This matters only in adverse schedules, where reads choose among writes. */
static void pass_sequential_fence(sim_block *b, sim_warp *w, int scope, uint32_t mask)
{
    sim_clock *now = NULL;
    sim_clock **fenced[] = {&b->fenced, b->cluster->size > 1 ? &b->cluster->fenced : NULL,
                            b->watch->concurrent ? NULL : &b->watch->fenced};
    for (int reach = 0; reach < scope && reach < SIM_REACHES; reach++) {
        if (!fenced[reach])
            continue;
        sim_clock_join(&now, *fenced[reach]);
        add_own(b, w, mask, fenced[reach]);
        SIM_EACH_OF(l, mask)
        sim_clock_join(fenced[reach], w->order.clocks[l].of[SIM_CLOCK_SEQUENTIAL]);
    }
    SIM_EACH_OF(l, mask)
    sim_clock_join(&w->order.clocks[l].of[SIM_CLOCK_SEQUENTIAL], now);
    sim_clock_drop(now);
}

static void acquire_seen(sim_clocks *clocks, int known, int seen)
{
    sim_clock_join(&clocks->of[known], clocks->of[seen]);
    put(&clocks->of[seen], NULL);
}

void sim_order_fence(sim_block *b, sim_warp *w, const sim_instruction *c, uint32_t mask)
{
    if (!b->launch->check)
        return;
    sim_clocks *clocks = clocks_of(b, w);
    SIM_EACH_OF(l, mask)
    for (int i = 0; i < c->scope; i++) {
        acquire_seen(&clocks[l], SIM_CLOCK_KNOWN, SIM_CLOCK_SEEN + i);
        acquire_seen(&clocks[l], SIM_CLOCK_SEQUENTIAL, SIM_CLOCK_SEEN_SEQUENTIAL + i);
    }
    if (c->op && b->adverse)
        pass_sequential_fence(b, w, c->scope, mask);
    SIM_EACH_OF(l, mask)
    {
        sim_clock *now = NULL;
        add_own(b, w, 1u << l, &now);
        /* `now` includes all operations known at earlier fences, so it replaces their clock. */
        for (int i = 0; i < c->scope; i++)
            put(&clocks[l].of[SIM_CLOCK_FENCED + i], now);
        sim_clock_drop(now);
    }
    w->order.epoch++;
}

void sim_order_proxy_fence(sim_block *b, sim_warp *w, uint32_t mask)
{
    if (!b->launch->check)
        return;
    sim_clocks *clocks = clocks_of(b, w);
    SIM_EACH_OF(l, mask) add_own(b, w, 1u << l, &clocks[l].of[SIM_CLOCK_PROXIED]);
    w->order.epoch++;
}

void sim_order_read(sim_block *b, sim_warp *w, const sim_instruction *c, int lane,
                    const sim_write *from)
{
    sim_reach reach = from->by.block == b->number           ? SIM_REACH_BLOCK
                      : from->cluster == b->cluster->number ? SIM_REACH_CLUSTER
                                                            : SIM_REACH_GPU;
    if (c->scope <= (int)reach || !from->clocks[reach])
        return;
    bool loosely = c->acquires == SIM_ACQUIRES_LOOSELY && c->d2 != 0;
    bool acquires = c->acquires == SIM_ACQUIRES || (loosely && reach == SIM_REACH_BLOCK);
    sim_clocks *own = &clocks_of(b, w)[lane];
    if (own->polled == from->clocks[reach] && (own->acquired || !acquires))
        return;
    put(&own->polled, from->clocks[reach]);
    own->acquired = acquires;
    const int known = acquires ? SIM_CLOCK_KNOWN : SIM_CLOCK_SEEN + (int)reach,
              sequential = acquires ? SIM_CLOCK_SEQUENTIAL : SIM_CLOCK_SEEN_SEQUENTIAL + (int)reach;
    sim_clock_join(&own->of[known], from->clocks[reach]);
    sim_clock_join(&own->of[sequential], from->sequential);
    if (loosely && !acquires)
        sim_clock_join(&own->of[SIM_CLOCK_LOOSE], from->clocks[reach]);
}

bool sim_order_propagate(const sim_write *from, sim_write *to)
{
    const sim_clock *before[2] = {NULL, NULL};
    bool any = false;
    for (int i = 0; i < to->by.scope; i++) {
        /* A reader in reach i of `to` may be farther from the writer of `from`. */
        int reach = i;
        if (from && from->by.block != to->by.block && i < SIM_REACH_CLUSTER)
            reach = SIM_REACH_CLUSTER;
        if (from && from->cluster != to->cluster)
            reach = SIM_REACH_GPU;
        sim_clock *const old = to->clocks[i], *const more = from ? from->clocks[reach] : NULL;
        if (i > 0 && old == before[0] && more == before[1])
            put(&to->clocks[i], to->clocks[i - 1]);
        else
            sim_clock_join(&to->clocks[i], more);
        before[0] = old;
        before[1] = more;
        any = any || to->clocks[i];
    }
    if (from)
        sim_clock_join(&to->sequential, from->sequential);
    return any;
}

bool sim_order_write(sim_block *b, sim_warp *w, const sim_instruction *c, int lane,
                     const sim_write *before, sim_write *to)
{
    sim_clock *const *fenced = w->order.clocks ? &w->order.clocks[lane].of[SIM_CLOCK_FENCED] : NULL;
    sim_clock *now = NULL;
    if (c->releases)
        add_own(b, w, 1u << lane, &now);
    for (int i = 0; i < c->scope; i++) {
        const bool again = i > 0 && (!fenced || fenced[i] == fenced[i - 1]);
        put(&to->clocks[i], again ? to->clocks[i - 1] : fenced ? fenced[i] : NULL);
        if (!again)
            sim_clock_join(&to->clocks[i], now);
    }
    sim_clock_drop(now);
    if (w->order.clocks)
        put(&to->sequential, w->order.clocks[lane].of[SIM_CLOCK_SEQUENTIAL]);
    return sim_order_propagate(before, to);
}
