#include "sim/machine/race.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "sim/machine/fault.h"
#include "sim/machine/race_words.h"

enum {
    FIRST_CLASS = 7, /* of sim_more: 128 bytes, four stamps */
    MOST_CLASS = 17,
    MOST_LOOKED_AT = 64 /* of a set, by those who add to it */
};

sim_race_access sim_race_access_of(sim_block *b, sim_warp *w, const sim_instruction *c, int lane)
{
    bool strong =
        c->scope > 0 && (c->kind == SIM_LOAD || c->kind == SIM_STORE || c->kind == SIM_ATOMIC);
    uint8_t flags = c->is_volatile   ? SIM_STAMP_VOLATILE
                    : c->noncoherent ? SIM_STAMP_NONCOHERENT
                                     : 0;
    return (sim_race_access){.block = b,
                             .warp = w,
                             .instruction = c,
                             .lane = lane,
                             .stamp = {.block = b->number,
                                       .epoch = b->epoch,
                                       .order = w->order.epoch,
                                       .lanes = 1u << lane,
                                       .pc = (int32_t)(c - b->program->code),
                                       .unit = (uint16_t)(w->first_thread / SIM_LANES),
                                       .scope = strong ? c->scope : 0,
                                       .flags = flags}};
}

static size_t capacity(const sim_more *more)
{
    return (((size_t)1 << more->class) - sizeof *more) / sizeof *more->stamps;
}

void sim_set_clear(sim_pool *pool, sim_set *set)
{
    if (set->more)
        sim_pool_give(pool, set->more, set->more->class);
    set->more = NULL;
    set->last.block = 0;
}

/* Makes room for one more stamp in a set. False: there is no memory, or the set is as long as it
 * may become. */
static bool make_room(sim_pool *pool, sim_set *set)
{
    sim_more *old = set->more;
    if (old && old->count < capacity(old))
        return true;
    int class = old ? old->class + 1 : FIRST_CLASS;
    sim_more *grown = class <= MOST_CLASS ? sim_pool_take(pool, class) : NULL;
    if (!grown)
        return false;
    grown->count = 0;
    if (old) {
        memcpy(grown, old, sizeof *old + old->count * sizeof *old->stamps);
        sim_pool_give(pool, old, old->class);
    }
    grown->class = class;
    set->more = grown;
    return true;
}

/* Like sim_order_follows(), which is asked only if a glance does not tell. */
static inline bool follows(const sim_race_access *a, const sim_stamp *s)
{
    if (sim_race_is_past(a, s))
        return true;
    /* Without a clock it knows of nothing outside its warp. */
    if (!a->warp->order.clocks && (s->block != a->stamp.block || s->unit != a->stamp.unit))
        return false;
    return sim_order_follows(a->block, a->warp, a->lane, s);
}

/* Does every access that may still come follow `old`? Only the block itself has access to its
 * shared memory, and all its threads have passed the same barriers. */
static bool is_settled(const sim_race_access *a, const sim_stamp *old)
{
    return !a->region && a->block->cluster->size == 1 && old->epoch < a->block->epoch &&
           sim_is_by_thread(old);
}

/* Does whatever conflicts with `old` conflict with `fresh`, too? */
static bool is_stricter(const sim_race_access *a, const sim_stamp *fresh, const sim_stamp *old)
{
    if ((old->flags & SIM_STAMP_NONCOHERENT) && !(fresh->flags & SIM_STAMP_NONCOHERENT))
        return false;
    if (is_settled(a, old))
        return true;
    return fresh->scope == 0 ||
           (old->scope > 0 && fresh->scope <= old->scope &&
            !((old->flags & SIM_STAMP_VOLATILE) && !(fresh->flags & SIM_STAMP_VOLATILE)));
}

static bool is_superfluous(const sim_race_access *a, const sim_stamp *fresh, const sim_stamp *old)
{
    return sim_is_by_thread(fresh) && follows(a, old) && is_stricter(a, fresh, old);
}

void sim_set_add(const sim_race_access *a, sim_set *set, const sim_stamp *stamp)
{
    sim_pool *pool = &a->block->watch->pool;
    sim_stamp fresh = *stamp;
    if (set->last.block != 0 && sim_race_is_alike(&set->last, &fresh)) {
        sim_race_unite(&set->last, &fresh);
        return;
    }
    /* Others' accesses are older than this block's own, and without a clock this thread knows
     * nothing of them. */
    bool learned = a->warp->order.clocks != NULL;
    sim_more *more = set->more;
    uint32_t looked = 0;
    for (uint32_t i = more ? more->count : 0; i > 0 && looked < MOST_LOOKED_AT; i--, looked++) {
        sim_stamp *old = &more->stamps[i - 1];
        bool alike = sim_race_is_alike(old, &fresh);
        if (!alike && old->block != a->block->number && !learned)
            break;
        if (!alike && !is_superfluous(a, &fresh, old))
            continue;
        if (alike)
            sim_race_unite(&fresh, old);
        *old = more->stamps[--more->count];
    }
    if (set->last.block != 0 && !is_superfluous(a, &fresh, &set->last)) {
        /* If there is no room the oldest stamp is given up: a race with that access alone is not
         * found. */
        if (make_room(pool, set))
            set->more->stamps[set->more->count++] = set->last;
        else if (set->more)
            set->more->stamps[0] = set->last;
    }
    set->last = fresh;
}

/* Notes volatile accesses of lanes of one warp. They are no race, and order nothing either; kernels
 * have them that rely on lanes that go in step. Adverse schedules part lanes there. */
static void note_lanes_in_step(const sim_race_access *a, const sim_stamp *s)
{
    uint8_t *ran = a->block->adverse ? NULL : a->block->launch->ran;
    if (!ran || !(a->stamp.flags & s->flags & SIM_STAMP_VOLATILE) || s->block != a->stamp.block ||
        s->unit != a->stamp.unit)
        return;
    __atomic_fetch_or(&ran[a->stamp.pc], SIM_RAN_IN_STEP, __ATOMIC_RELAXED);
    if (s->pc >= 0)
        __atomic_fetch_or(&ran[s->pc], SIM_RAN_IN_STEP, __ATOMIC_RELAXED);
}

/* Are both strong, and does the scope of each have the thread of the other? */
static bool is_morally_strong(const sim_race_access *a, const sim_stamp *s)
{
    const sim_stamp *own = &a->stamp;
    if (!own->scope || !s->scope)
        return false;
    note_lanes_in_step(a, s);
    int reach = (int)sim_order_reach(a->block, s);
    return own->scope > reach && s->scope > reach;
}

static bool conflicts(const sim_race_access *a, const sim_cell *cell, const sim_stamp *s,
                      bool reads)
{
    if (follows(a, s) || is_morally_strong(a, s))
        return false;
    bool fresh = !reads || a->stamp.scope > 0 || !cell->stale;
    return !fresh || !sim_order_follows_loosely(a->warp, a->lane, s);
}

/* Did a strong read that the access follows, or an atomic, find what that strong write had left?
 * PTX ISA: what was observed happened before what follows the observer. */
static bool was_observed(const sim_race_access *a, const sim_cell *cell, const sim_stamp *write)
{
    if (write->scope == 0)
        return false;
    const sim_more *more = cell->reads.more;
    for (uint32_t i = 0, n = more ? more->count : 0; i <= n; i++) {
        const sim_stamp *s = i == n ? &cell->reads.last : &more->stamps[i];
        if (s->block != 0 && s->scope > 0 && s->seen >= write->seen && follows(a, s))
            return true;
    }
    return false;
}

/* Do both write one value? `same`: `a` writes what is there now, which no copy under way has left
 * yet. */
static bool writes_alike(const sim_race_access *a, const sim_stamp *s, bool same)
{
    if (s->flags & SIM_STAMP_UNDER_WAY)
        return a->as_under_way && !(s->flags & SIM_STAMP_BULK);
    const bool landed = s->pc >= 0 && a->block->program->code[s->pc].kind == SIM_COPY_ASYNC;
    return (same || (landed && a->as_there)) && s->scope == 0;
}

/* The newest access of a set that `a` conflicts with; NULL: none. `same`: weak ones do not
 * count. */
static const sim_stamp *find_conflict(const sim_race_access *a, const sim_cell *cell,
                                      const sim_set *set, bool same, bool reads)
{
    const sim_more *more = set->more;
    if (set->last.block == 0)
        return NULL;
    for (uint32_t i = more ? more->count + 1 : 1; i > 0; i--) {
        const sim_stamp *s = more && i <= more->count ? &more->stamps[i - 1] : &set->last;
        if (!conflicts(a, cell, s, reads) || (set == &cell->writes && writes_alike(a, s, same)))
            continue;
        /* The reads of what a copy brought are over, so that the copy has arrived: its destination
         * may be written again. */
        const bool is_over = set == &cell->reads || (!reads && s->unit >= SIM_UNIT_ENGINE);
        if ((set == &cell->writes && was_observed(a, cell, s)) ||
            (is_over && sim_order_follows_read(a->warp, a->lane, s)))
            continue;
        return s;
    }
    return NULL;
}

static bool check_writes(const sim_race_access *a, const sim_cell *cell, bool same, bool reads)
{
    /* All accesses in the set are atomics of the GPU's scope, and so is this one. */
    if (a->stamp.scope > SIM_REACH_GPU && cell->weakest_write > SIM_REACH_GPU &&
        !a->instruction->is_volatile)
        return true;
    const sim_set *set = &cell->writes;
    bool alone = !set->more || set->more->count == 0;
    const sim_stamp *s =
        alone && sim_race_is_past(a, &set->last) ? NULL : find_conflict(a, cell, set, same, reads);
    if (!s)
        return true;
    if (s->flags & SIM_STAMP_UNDER_WAY)
        return sim_race_report_under_way(a, s, reads, true);
    char what[64];
    const char *by = sim_is_by_thread(s)          ? "a write"
                     : s->unit >= SIM_UNIT_ENGINE ? "a bulk copy"
                                                  : "a copy";
    if (reads)
        snprintf(what, sizeof what, "read by this thread after %s by", by);
    else
        snprintf(what, sizeof what, "written by this thread and by%s%s",
                 sim_is_by_thread(s) ? "" : " ", sim_is_by_thread(s) ? "" : by);
    if (!reads && !sim_is_by_thread(s))
        text_add(what, sizeof what, " of");
    return sim_race_report(a, s, what);
}

static bool check_reads(const sim_race_access *a, const sim_cell *cell)
{
    const sim_stamp *s = find_conflict(a, cell, &cell->reads, false, false);
    if (!s)
        return true;
    if (s->flags & SIM_STAMP_UNDER_WAY)
        return sim_race_report_under_way(a, s, false, false);
    return sim_race_report(a, s, "written by this thread after a read by");
}

static const sim_stamp *noncoherent_read(const sim_set *reads)
{
    for (uint32_t i = 0; reads->more && i < reads->more->count; i++)
        if (reads->more->stamps[i].flags & SIM_STAMP_NONCOHERENT)
            return &reads->more->stamps[i];
    return &reads->last;
}

/* Does the instruction that read last read again, by another lane or once more, where nothing was
 * written but before a barrier that the whole block has passed? Most reads are such. */
static inline bool is_again(const sim_race_access *a, const sim_cell *cell)
{
    const sim_stamp *last = &cell->reads.last, *own = &a->stamp;
    const sim_set *writes = &cell->writes;
    return last->block == own->block && last->pc == own->pc && last->unit == own->unit &&
           last->order == own->order && last->epoch == own->epoch && own->scope == 0 &&
           last->flags == own->flags && last->seen == cell->strong &&
           (writes->last.block == 0 || ((!writes->more || writes->more->count == 0) &&
                                        !own->flags && sim_race_is_past(a, &writes->last)));
}

static bool observes(const sim_race_access *a)
{
    return a->instruction->kind == SIM_ATOMIC && a->instruction->d2 != 0;
}

bool sim_race_read(const sim_race_access *a, sim_cell *cell)
{
    if (is_again(a, cell)) {
        cell->reads.last.lanes |= a->stamp.lanes;
        return true;
    }
    if ((a->stamp.flags & SIM_STAMP_NONCOHERENT) && a->region) {
        if (cell->writes.last.block != 0)
            return sim_race_report_noncoherent(a, &cell->writes.last, true);
        cell->noncoherent = !a->instruction->is_surface || cell->noncoherent;
    }
    if (cell->writes.last.block != 0 && !check_writes(a, cell, false, true))
        return false;
    sim_stamp stamp = a->stamp;
    stamp.seen = cell->strong;
    if (stamp.scope)
        cell->observed = cell->strong;
    sim_set_add(a, &cell->reads, &stamp);
    return true;
}

static bool check_write(const sim_race_access *a, sim_cell *cell, bool same)
{
    if (cell->noncoherent)
        return sim_race_report_noncoherent(a, noncoherent_read(&cell->reads), false);
    if (cell->writes.last.block != 0 && !check_writes(a, cell, same, false))
        return false;
    return cell->reads.last.block == 0 || check_reads(a, cell);
}

/* Removes the accesses of a set for which `goes` is true. */
static void remove_those(const sim_race_access *a, sim_set *set,
                         bool (*goes)(const sim_race_access *, const sim_stamp *))
{
    sim_more *more = set->more;
    for (uint32_t i = more ? more->count : 0; i > 0; i--)
        if (goes(a, &more->stamps[i - 1]))
            more->stamps[i - 1] = more->stamps[--more->count];
    if (set->last.block != 0 && goes(a, &set->last)) {
        set->last.block = 0;
        if (more && more->count > 0)
            set->last = more->stamps[--more->count];
    }
}

/* Forgets what a weak write of another value replaces. The write follows all earlier writes, so
 * that an access that conflicts with one of them conflicts with the write, too. Reads are kept
 * until all accesses to come follow them: a later write of the same value is no race with the
 * write, but may be one with a read before the write. */
static void forget_replaced(const sim_race_access *a, sim_cell *cell)
{
    cell->stale = cell->stale || cell->reads.last.block != 0;
    sim_set_clear(&a->block->watch->pool, &cell->writes);
    remove_those(a, &cell->reads, is_settled);
}

static void note_write(const sim_race_access *a, sim_cell *cell, const sim_stamp *stamp)
{
    if (cell->reads.last.block != 0)
        cell->stale = true;
    if (cell->writes.last.block == 0 || stamp->scope < cell->weakest_write)
        cell->weakest_write = stamp->scope;
    sim_set_add(a, &cell->writes, stamp);
    if (!cell->writes.more || cell->writes.more->count == 0)
        cell->weakest_write = cell->writes.last.scope;
}

bool sim_race_write(const sim_race_access *a, sim_cell *cell, bool same)
{
    if (!check_write(a, cell, same))
        return false;
    sim_stamp stamp = a->stamp;
    if (stamp.scope) {
        cell->kept = true;
        /* Writes between which nobody looked may count as one. */
        if (stamp.scope && (cell->strong == cell->observed || observes(a)))
            cell->strong++;
        stamp.seen = cell->strong;
        if (observes(a)) {
            cell->observed = cell->strong;
            /* The writes that it observed are ordered before whatever follows it; and whatever
             * does not follow it conflicts with it, too. */
            remove_those(a, &cell->writes, is_morally_strong);
        }
    } else if (!same) {
        forget_replaced(a, cell);
    }
    note_write(a, cell, &stamp);
    return true;
}

/* The engine sees what threads wrote only after a fence between proxies. Whether the fence of
 * another block of the grid came with what that block released is not followed. */
static bool check_proxies(const sim_race_access *a, const sim_cell *cell)
{
    const sim_set *set = &cell->writes;
    for (uint32_t i = 0; i <= (set->more ? set->more->count : 0); i++) {
        const sim_stamp *s = set->more && i < set->more->count ? &set->more->stamps[i] : &set->last;
        if (s->block == 0 || s->unit >= SIM_UNIT_ENGINE ||
            sim_order_reach(a->block, s) == SIM_REACH_GPU || sim_order_proxied(a->warp, a->lane, s))
            continue;
        return sim_race_report_proxy(a, s);
    }
    return true;
}

bool sim_race_begin(const sim_race_access *a, sim_cell *cell, sim_touch touch, uint32_t number,
                    bool bulk)
{
    sim_race_access copy = *a;
    const bool writes = touch != SIM_TOUCH_READ;
    copy.stamp.scope = touch == SIM_TOUCH_ATOMIC ? SIM_SCOPE_GPU : SIM_SCOPE_NONE;
    if (!(writes ? check_write(&copy, cell, false)
                 : cell->writes.last.block == 0 || check_writes(a, cell, false, true)))
        return false;
    if (bulk && !writes && !check_proxies(a, cell))
        return false;
    copy.stamp.order = number;
    copy.stamp.flags = (uint8_t)(SIM_STAMP_UNDER_WAY | (bulk ? SIM_STAMP_BULK : 0));
    if (touch == SIM_TOUCH_WRITE && !a->as_there && !a->as_under_way)
        forget_replaced(a, cell);
    if (writes)
        note_write(&copy, cell, &copy.stamp);
    else
        sim_set_add(&copy, &cell->reads, &copy.stamp);
    return true;
}

static void remove_under_way(const sim_race_access *a, sim_set *set, uint32_t number)
{
    sim_more *more = set->more;
    for (uint32_t i = 0; i <= (more ? more->count : 0); i++) {
        sim_stamp *s = more && i < more->count ? &more->stamps[i] : &set->last;
        if (!(s->flags & SIM_STAMP_UNDER_WAY) || s->block != a->stamp.block ||
            s->unit != a->stamp.unit || s->lanes != a->stamp.lanes || s->order != number)
            continue;
        if (s != &set->last)
            *s = more->stamps[--more->count];
        else if (more && more->count > 0)
            set->last = more->stamps[--more->count];
        else
            set->last.block = 0;
        return;
    }
}

/* A thread that knows of a product knows of the earlier ones of its warpgroup: one stamp stands for
 * all. False: there was none. */
static bool follow_product(sim_set *reads, const sim_stamp *landed)
{
    sim_more *more = reads->more;
    for (uint32_t i = 0; i <= (more ? more->count : 0); i++) {
        sim_stamp *s = more && i < more->count ? &more->stamps[i] : &reads->last;
        if (s->block != landed->block || s->unit != landed->unit)
            continue;
        if (s->order < landed->order)
            *s = *landed;
        return true;
    }
    return false;
}

void sim_race_land(const sim_race_access *a, sim_cell *cell, bool writes, uint32_t number,
                   const sim_stamp *landed)
{
    remove_under_way(a, writes ? &cell->writes : &cell->reads, number);
    if (landed->unit >= SIM_UNIT_PRODUCTS && landed->unit < SIM_UNIT_ENGINE &&
        follow_product(&cell->reads, landed))
        return;
    if (writes)
        note_write(a, cell, landed);
    else
        sim_set_add(a, &cell->reads, landed);
}
