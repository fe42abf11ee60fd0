#include "sim/machine/order.h"

#include <stdlib.h>

#include "sim/machine/machine.h"

static bool join_lore(sim_lore *into, const sim_lore *other)
{
    bool fine = true;
    for (int i = 0; i < SIM_LORE_CLOCKS; i++)
        fine = sim_clock_join(&into->clocks[i], other->clocks[i]) && fine;
    return fine;
}

void sim_lore_deinit(sim_lore *lore)
{
    for (int i = 0; i < SIM_LORE_CLOCKS; i++)
        sim_clock_drop(lore->clocks[i]);
    sim_clock_drop(lore->polled);
    *lore = (sim_lore){0};
}

static void put(sim_clock **at, sim_clock *clock)
{
    sim_clock_keep(clock);
    sim_clock_drop(*at);
    *at = clock;
}

/* An order lost for lack of memory would end as a race that there is not. */
static void expect_memory(sim_block *b, bool fine)
{
    b->starved = b->starved || !fine;
}

/* The lore of the warp's lanes: what they know of others; NULL: no memory. */
static sim_lore *lore_of(sim_block *b, sim_warp *w)
{
    if (!w->lore)
        w->lore = calloc(SIM_LANES, sizeof *w->lore);
    expect_memory(b, w->lore != NULL);
    b->learned = true;
    return w->lore;
}

void sim_order_reset(sim_block *b)
{
    for (uint32_t i = 0; i < b->warp_count; i++) {
        sim_warp *w = &b->warps[i];
        for (int l = 0; w->lore && l < SIM_LANES; l++)
            sim_lore_deinit(&w->lore[l]);
        w->epoch = w->met = 0;
    }
    for (uint32_t i = 0; i < SIM_BARRIERS; i++)
        sim_lore_deinit(&b->barriers[i].brought);
    sim_clock_drop(b->fenced);
    b->fenced = NULL;
    b->epoch = 0;
    b->learned = false;
    sim_releases_clear(&b->releases);
}

void sim_order_deinit(sim_block *b)
{
    if (!b->warps)
        return;
    sim_order_reset(b);
    for (uint32_t i = 0; i < b->warp_count; i++)
        free(b->warps[i].lore);
    sim_releases_deinit(&b->releases);
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
            if (lanes == 0 || s->order < w->met)
                return true;
        }
    }
    return w->lore && is_known(w->lore[lane].clocks[SIM_LORE_KNOWN], s, lanes);
}

static bool is_in(const sim_warp *w, int lane, int which, const sim_stamp *s)
{
    return w->lore && !(s->flags & SIM_STAMP_UNDER_WAY) &&
           is_known(w->lore[lane].clocks[which], s, s->lanes);
}

bool sim_order_follows_read(const sim_warp *w, int lane, const sim_stamp *s)
{
    return is_in(w, lane, SIM_LORE_READ, s);
}

bool sim_order_follows_loosely(const sim_warp *w, int lane, const sim_stamp *s)
{
    return is_in(w, lane, SIM_LORE_LOOSE, s);
}

bool sim_order_is_fenced(const sim_warp *w, int lane, const sim_stamp *s)
{
    return is_in(w, lane, SIM_LORE_SEQUENTIAL, s);
}

bool sim_order_has_seen(const sim_warp *w, int lane, const sim_stamp *s)
{
    bool seen = is_in(w, lane, SIM_LORE_LOOSE, s) || sim_order_is_fenced(w, lane, s);
    for (int reach = 0; reach < SIM_REACHES && !seen; reach++)
        seen = is_in(w, lane, SIM_LORE_SEEN + reach, s);
    return seen;
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

/* Adds what the threads know, with what they did themselves. */
static void add_own(sim_block *b, const sim_warp *w, uint32_t mask, sim_clock **to)
{
    uint32_t unit = w->first_thread / SIM_LANES, n = 0;
    const sim_clock *before = NULL; /* lanes mostly know the same */
    sim_known own[3];
    own[n++] = (sim_known){.block = b->number, .unit = unit, .lanes = mask, .until = w->epoch};
    if (w->met > 0)
        own[n++] =
            (sim_known){.block = b->number, .unit = unit, .lanes = ~mask, .until = w->met - 1};
    if (b->epoch > 0)
        own[n++] =
            (sim_known){.block = b->number, .unit = SIM_UNIT_BLOCK, .lanes = 1, .until = b->epoch};
    for (uint32_t m = w->lore ? mask : 0; m; m &= m - 1) {
        sim_clock *known = w->lore[__builtin_ctz(m)].clocks[SIM_LORE_KNOWN];
        if (known != before)
            expect_memory(b, sim_clock_join(to, known));
        before = known;
    }
    expect_memory(b, sim_clock_add(to, own, n));
}

static void share_lore(sim_block *b, sim_warp *w, uint32_t mask, const sim_lore *all)
{
    bool any = false;
    for (int i = 0; i < SIM_LORE_CLOCKS; i++)
        any = any || all->clocks[i];
    if (!any || !lore_of(b, w))
        return;
    SIM_EACH_OF(l, mask)
    expect_memory(b, join_lore(&w->lore[l], all));
}

static void collect_lore(sim_block *b, const sim_warp *w, uint32_t mask, sim_lore *all)
{
    if (!w->lore)
        return;
    SIM_EACH_OF(l, mask)
    expect_memory(b, join_lore(all, &w->lore[l]));
}

void sim_order_warp(sim_block *b, sim_warp *w, uint32_t mask)
{
    if (!b->launch->check || (mask & (mask - 1)) == 0)
        return;
    bool whole = (mask & w->whole) == w->whole;
    sim_lore all = {0};
    collect_lore(b, w, mask, &all);
    if (!whole) {
        const sim_known met = {.block = b->number,
                               .unit = w->first_thread / SIM_LANES,
                               .lanes = mask,
                               .until = w->epoch};
        expect_memory(b, sim_clock_add(&all.clocks[SIM_LORE_KNOWN], &met, 1));
    }
    share_lore(b, w, mask, &all);
    sim_lore_deinit(&all);
    w->epoch++;
    if (whole)
        w->met = w->epoch;
}

void sim_order_exchange(sim_block *b, sim_warp *w, uint32_t mask, const int8_t from[SIM_LANES])
{
    sim_clock *known[SIM_LANES];
    bool any = false;
    if (!b->launch->check || !w->lore)
        return;
    for (int l = 0; l < SIM_LANES; l++)
        known[l] = w->lore[l].clocks[SIM_LORE_KNOWN];
    SIM_EACH_OF(l, mask) any = any || known[from[l]] != known[l];
    if (!any)
        return;
    /* What a lane learns here it hands on later. */
    for (int l = 0; l < SIM_LANES; l++)
        sim_clock_keep(known[l]);
    SIM_EACH_OF(l, mask)
    expect_memory(b, sim_clock_join_others(&w->lore[l].clocks[SIM_LORE_KNOWN], known[from[l]],
                                           b->number, w->first_thread / SIM_LANES));
    for (int l = 0; l < SIM_LANES; l++)
        sim_clock_drop(known[l]);
}

static bool waits(const sim_warp *w, uint32_t barrier)
{
    return w->state == SIM_WAITING && w->barrier == barrier;
}

void sim_order_block(sim_block *b, uint32_t barrier)
{
    sim_lore all = {0};
    b->epoch++;
    for (uint32_t i = 0; i < b->warp_count; i++) {
        sim_warp *w = &b->warps[i];
        if (!waits(w, barrier))
            continue;
        w->met = ++w->epoch;
        if (b->learned)
            collect_lore(b, w, UINT32_MAX, &all);
    }
    for (uint32_t i = 0; b->learned && i < b->warp_count; i++)
        if (waits(&b->warps[i], barrier))
            share_lore(b, &b->warps[i], UINT32_MAX, &all);
    sim_lore_deinit(&all);
}

void sim_order_bring(sim_block *b, sim_warp *w, sim_lore *to)
{
    if (!b->launch->check)
        return;
    uint32_t unit = w->first_thread / SIM_LANES;
    const sim_known own[] = {
        {.block = b->number, .unit = unit, .lanes = UINT32_MAX, .until = w->epoch},
        {.block = b->number, .unit = SIM_UNIT_BLOCK, .lanes = 1, .until = b->epoch}};
    collect_lore(b, w, UINT32_MAX, to);
    expect_memory(b, sim_clock_add(&to->clocks[SIM_LORE_KNOWN], own, b->epoch > 0 ? 2 : 1));
    w->epoch++;
}

void sim_order_bring_fenced(sim_block *b, sim_warp *w, sim_lore *to)
{
    for (int l = 0; w->lore && l < SIM_LANES; l++)
        expect_memory(b, sim_clock_join(&to->clocks[SIM_LORE_KNOWN],
                                        w->lore[l].clocks[SIM_LORE_FENCED + SIM_REACH_CLUSTER]));
}

void sim_order_take(sim_block *b, sim_warp *w, const sim_lore *from)
{
    if (b->launch->check)
        share_lore(b, w, UINT32_MAX, from);
}

void sim_order_give(sim_block *b, sim_warp *w, int lane, sim_clock **to)
{
    if (b->launch->check)
        add_own(b, w, 1u << lane, to);
}

static void get(sim_block *b, sim_warp *w, int lane, int which, sim_clock *from)
{
    if (b->launch->check && from && lore_of(b, w))
        expect_memory(b, sim_clock_join(&w->lore[lane].clocks[which], from));
}

void sim_order_get(sim_block *b, sim_warp *w, int lane, sim_clock *from)
{
    get(b, w, lane, SIM_LORE_KNOWN, from);
}

void sim_order_get_reads(sim_block *b, sim_warp *w, int lane, sim_clock *from)
{
    get(b, w, lane, SIM_LORE_READ, from);
}

void sim_order_copies(sim_block *b, const sim_warp *w, int lane, uint32_t before, sim_clock **to)
{
    const sim_known copies = {.block = b->number,
                              .unit = SIM_UNIT_COPIES + w->first_thread / SIM_LANES,
                              .lanes = 1u << lane,
                              .until = before - 1};
    if (b->launch->check && before > 0)
        expect_memory(b, sim_clock_add(to, &copies, 1));
}

void sim_order_learn(sim_block *b, sim_warp *w, uint32_t unit, uint32_t until)
{
    const sim_known known = {.block = b->number, .unit = unit, .lanes = 1, .until = until};
    sim_clock *before = NULL;
    if (!b->launch->check || !lore_of(b, w))
        return;
    for (int l = 0; l < SIM_LANES; l++) {
        sim_clock **at = &w->lore[l].clocks[SIM_LORE_KNOWN];
        const bool again = l > 0 && *at == before; /* lanes mostly know the same */
        if (!again)
            put(&before, *at);
        if (again)
            put(at, w->lore[l - 1].clocks[SIM_LORE_KNOWN]);
        else
            expect_memory(b, sim_clock_add(at, &known, 1));
    }
    sim_clock_drop(before);
}

/* Sequentially consistent fences whose scopes reach each other's threads have one order (PTX ISA,
 * "Fence-SC"). So those of a block that are of its scope or a wider one know what the earlier ones
 * knew, and likewise those of a cluster and of the GPU. Stores are seen late in adverse schedules
 * alone. */
static void pass_sequential_fence(sim_block *b, sim_warp *w, int scope, uint32_t mask)
{
    sim_clock *now = NULL;
    sim_clock **fenced[] = {&b->fenced, b->cluster->size > 1 ? &b->cluster->fenced : NULL,
                            b->watch->concurrent ? NULL : &b->watch->fenced};
    for (int reach = 0; reach < scope && reach < SIM_REACHES; reach++) {
        if (!fenced[reach])
            continue;
        add_own(b, w, mask, fenced[reach]);
        expect_memory(b, sim_clock_join(&now, *fenced[reach]));
    }
    SIM_EACH_OF(l, mask)
    expect_memory(b, sim_clock_join(&w->lore[l].clocks[SIM_LORE_SEQUENTIAL], now));
    sim_clock_drop(now);
}

void sim_order_fence(sim_block *b, sim_warp *w, const sim_instruction *c, uint32_t mask)
{
    if (!b->launch->check || !lore_of(b, w))
        return;
    if (c->op && b->adverse)
        pass_sequential_fence(b, w, c->scope, mask);
    SIM_EACH_OF(l, mask)
    {
        sim_clock **clocks = w->lore[l].clocks, *now = NULL;
        for (int i = 0; i < c->scope; i++) {
            expect_memory(b, sim_clock_join(&clocks[SIM_LORE_KNOWN], clocks[SIM_LORE_SEEN + i]));
            put(&clocks[SIM_LORE_SEEN + i], NULL);
        }
        add_own(b, w, 1u << l, &now);
        /* Its knowledge now includes that of earlier fences. */
        for (int i = 0; i < c->scope; i++)
            put(&clocks[SIM_LORE_FENCED + i], now);
        sim_clock_drop(now);
    }
    w->epoch++;
}

void sim_order_proxy_fence(sim_block *b, sim_warp *w, uint32_t mask)
{
    if (!b->launch->check || !lore_of(b, w))
        return;
    SIM_EACH_OF(l, mask)
    add_own(b, w, 1u << l, &w->lore[l].clocks[SIM_LORE_PROXIED]);
    w->epoch++;
}

bool sim_order_proxied(const sim_warp *w, int lane, const sim_stamp *s)
{
    return w->lore && is_known(w->lore[lane].clocks[SIM_LORE_PROXIED], s, s->lanes);
}

void sim_order_read(sim_block *b, sim_warp *w, const sim_instruction *c, int lane,
                    const sim_releases *releases, uint64_t at)
{
    const sim_release *from = sim_releases_find(releases, at);
    if (!from)
        return;
    sim_reach reach = from->block == b->number              ? SIM_REACH_BLOCK
                      : from->cluster == b->cluster->number ? SIM_REACH_CLUSTER
                                                            : SIM_REACH_GPU;
    if (c->scope <= (int)reach || !from->clocks[reach] || !lore_of(b, w))
        return;
    bool loosely = c->acquires == SIM_ACQUIRES_LOOSELY && c->d2 != 0;
    bool acquires = c->acquires == SIM_ACQUIRES || (loosely && reach == SIM_REACH_BLOCK);
    sim_lore *lore = &w->lore[lane];
    if (lore->polled == from->clocks[reach] && (lore->acquired || !acquires))
        return;
    put(&lore->polled, from->clocks[reach]);
    lore->acquired = acquires;
    expect_memory(
        b, sim_clock_join(&lore->clocks[acquires ? SIM_LORE_KNOWN : SIM_LORE_SEEN + (int)reach],
                          from->clocks[reach]));
    if (loosely && !acquires)
        expect_memory(b, sim_clock_join(&lore->clocks[SIM_LORE_LOOSE], from->clocks[reach]));
}

void sim_order_write(sim_block *b, sim_warp *w, const sim_instruction *c, int lane,
                     sim_releases *releases, uint64_t at)
{
    bool keeps = c->kind == SIM_ATOMIC, any = false;
    const sim_clock *before[3] = {NULL, NULL, NULL};
    sim_release *place = sim_releases_find(releases, at);
    if (!place && !w->lore && !c->releases)
        return;
    sim_release fresh = {.at = at, .block = b->number, .cluster = b->cluster->number};
    sim_clock *now = NULL;
    if (c->releases)
        add_own(b, w, 1u << lane, &now);
    for (int i = 0; i < c->scope; i++) {
        /* A read-modify-write hands on what others released there, as far as it reached. */
        int from = i;
        if (place && place->block != fresh.block && i < SIM_REACH_CLUSTER)
            from = SIM_REACH_CLUSTER;
        if (place && place->cluster != fresh.cluster)
            from = SIM_REACH_GPU;
        sim_clock *parts[] = {w->lore ? w->lore[lane].clocks[SIM_LORE_FENCED + i] : NULL, now,
                              place && keeps ? place->clocks[from] : NULL};
        if (i > 0 && parts[0] == before[0] && parts[2] == before[2])
            fresh.clocks[i] = sim_clock_keep(fresh.clocks[i - 1]);
        for (int k = 0; k < 3; k++) {
            expect_memory(b, sim_clock_join(&fresh.clocks[i], parts[k]));
            before[k] = parts[k];
        }
        any = any || fresh.clocks[i];
    }
    sim_clock_drop(now);
    if (!any) {
        sim_releases_remove(releases, at);
        return;
    }
    place = sim_releases_put(releases, at);
    expect_memory(b, place != NULL);
    for (int i = 0; i < SIM_REACHES; i++) {
        sim_clock *old = place ? place->clocks[i] : fresh.clocks[i];
        if (place)
            place->clocks[i] = fresh.clocks[i];
        sim_clock_drop(old);
    }
    if (place) {
        place->block = fresh.block;
        place->cluster = fresh.cluster;
    }
}
