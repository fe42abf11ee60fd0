#include "sim/machine/race.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "sim/machine/fault.h"

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
                                       .order = w->epoch,
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
    if (!a->warp->lore && (s->block != a->stamp.block || s->unit != a->stamp.unit))
        return false;
    return sim_order_follows(a->block, a->warp, a->lane, s);
}

/* Does whatever conflicts with `old` conflict with `fresh`, too? */
static bool is_stricter(const sim_race_access *a, const sim_stamp *fresh, const sim_stamp *old)
{
    if ((old->flags & SIM_STAMP_NONCOHERENT) && !(fresh->flags & SIM_STAMP_NONCOHERENT))
        return false;
    /* Only the block itself has access to its shared memory: all threads that may still come have
     * passed the same barriers. */
    if (!a->region && a->block->cluster->size == 1 && old->epoch < a->block->epoch &&
        sim_is_by_thread(old))
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
    bool learned = a->warp->lore != NULL;
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

/* A place in words: "dst[1] (byte 4 of dst)". */
static void describe_place(const sim_race_access *a, char *text, size_t bytes)
{
    const sim_block *owner = a->owner;
    if (a->region)
        sim_region_name(a->region, a->offset, text, bytes);
    else
        sim_shared_name(owner, (uint32_t)a->offset, text, bytes);
    if (!a->region && owner != a->block)
        text_add(text, bytes, " of block (%u,%u,%u)", owner->block[0], owner->block[1],
                 owner->block[2]);
}

/* The thread that made an access. Where several lanes made it, this is one that is not the present
 * thread and, if `ordered` matters, that the present thread does not follow. */
static uint32_t thread_of(const sim_race_access *a, const sim_stamp *s)
{
    if (s->unit >= SIM_UNIT_PRODUCTS)
        return s->epoch;
    uint32_t lanes = s->lanes;
    if (!sim_is_by_thread(s))
        return (s->unit - SIM_UNIT_COPIES) * SIM_LANES + (uint32_t)__builtin_ctz(lanes);
    bool same_warp = s->block == a->block->number && s->unit == a->stamp.unit;
    for (uint32_t m = same_warp ? lanes & ~(1u << a->lane) : lanes; m; m &= m - 1) {
        sim_stamp one = *s;
        one.lanes = m & -m;
        if (!sim_order_follows(a->block, a->warp, a->lane, &one))
            return s->unit * SIM_LANES + (uint32_t)__builtin_ctz(m);
    }
    return s->unit * SIM_LANES + (uint32_t)__builtin_ctz(lanes);
}

static bool is_this_thread(const sim_race_access *a, const sim_stamp *s)
{
    return s->block == a->block->number &&
           thread_of(a, s) == a->warp->first_thread + (uint32_t)a->lane;
}

/* Writes "thread (1,0,0) of block (2,0,0)". The block is left out where only one block has the
 * memory. */
static void describe_party(const sim_race_access *a, const sim_stamp *s, char *text, size_t bytes)
{
    const uint32_t *grid = a->block->launch->grid;
    uint32_t at[3], block = s->block - 1;
    sim_thread_position(a->block, thread_of(a, s), at);
    int n = snprintf(text, bytes, "thread (%u,%u,%u)", at[0], at[1], at[2]);
    if ((a->region || s->block != a->block->number) && n > 0 && (size_t)n < bytes)
        snprintf(text + n, bytes - (size_t)n, " of block (%u,%u,%u)", block % grid[0],
                 block / grid[0] % grid[1], block / grid[0] / grid[1]);
}

/* Writes "; that is at FILE:LINE", if the line is known and is not the one of the present access.
 */
static void describe_line(const sim_race_access *a, const sim_stamp *s, char *text, size_t bytes)
{
    const sim_program *p = a->block->program;
    char place[PTX_PLACE_BYTES];
    text[0] = '\0';
    if (s->pc < 0 || &p->code[s->pc] == a->instruction || p->code[s->pc].location == PTX_NONE)
        return;
    ptx_place(p->module, p->code[s->pc].location, place, sizeof place);
    snprintf(text, bytes, "; the other access is at %s", place);
}

/* Reports that one of the two accesses is a copy under way while the other takes place. */
static bool report_under_way(const sim_race_access *a, const sim_stamp *s, bool reads, bool to)
{
    char place[SIM_PLACE_BYTES], party[96], line[PTX_PLACE_BYTES + 32];
    const char *copy = s->flags & SIM_STAMP_BULK ? "a bulk copy" : "a copy";
    if (a->block->program->code[s->pc].kind == SIM_WARPGROUP_PRODUCT)
        copy = "a product (wgmma)";
    describe_place(a, place, sizeof place);
    describe_party(a, s, party, sizeof party);
    describe_line(a, s, line, sizeof line);
    bool own = is_this_thread(a, s);
    return sim_fail(a->block, a->warp, a->instruction, a->lane,
                    reads && !a->region ? SIM_FAULT_UNINITIALISED : SIM_FAULT_RACE,
                    "%s is %s while %s %s it by %s is on its way%s", place,
                    reads ? "read" : "written", copy, to ? "to" : "from",
                    own ? "this thread" : party, line);
}

/* Are these volatile accesses by lanes of one warp? Such accesses do not synchronise. Kernels have
 * them that rely on lanes that go in step. */
static bool is_of_lanes_in_step(const sim_race_access *a, const sim_stamp *s)
{
    return (a->stamp.flags & s->flags & SIM_STAMP_VOLATILE) && s->block == a->stamp.block &&
           s->unit == a->stamp.unit;
}

static const char *what_is_missing(const sim_race_access *a, const sim_stamp *s)
{
    sim_reach reach = sim_order_reach(a->block, s);
    if (is_of_lanes_in_step(a, s))
        return "__syncwarp() between: lanes need not go in step (or make these relaxed atomics)";
    if (a->stamp.scope && s->scope && (a->stamp.scope <= (int)reach || s->scope <= (int)reach))
        return "a scope that has both";
    return reach == SIM_REACH_BLOCK              ? "a barrier between"
           : a->region && reach == SIM_REACH_GPU ? "a fence and an atomic between"
                                                 : "a barrier of the cluster between";
}

/* A thread's column and row, if each row has its row of blocks, or a block where there is one row
 * of them; the columns are counted on by `step`. */
typedef struct spot {
    uint64_t column, row, step;
} spot;

static spot find_spot(const sim_block *b, uint32_t block, uint32_t thread)
{
    const uint32_t *grid = b->launch->grid, *size = b->launch->block;
    uint32_t at[3];
    sim_thread_position(b, thread, at);
    if (grid[1] == 1 && size[1] == 1)
        return (spot){at[0], block, size[0]};
    return (spot){(uint64_t)(block % grid[0]) * size[0] + at[0],
                  (uint64_t)(block / grid[0] % grid[1]) * size[1] + at[1],
                  (uint64_t)grid[0] * size[0]};
}

/* "; perhaps ...", where the element would be that of one of the threads in its row, and that of
 * the other beyond the end of its own, an earlier one. */
static void describe_overrun(const sim_race_access *a, const sim_stamp *s, char *text, size_t bytes)
{
    const sim_instruction *c = a->instruction;
    const uint64_t unit = (uint64_t)ptx_type_bytes((ptx_type)c->type) * (c->vector ? c->vector : 1),
                   index = unit ? a->offset / unit : 0;
    text[0] = '\0';
    if (!a->region || !sim_is_by_thread(s) || index == 0 || a->offset % unit)
        return;
    spot within =
             find_spot(a->block, a->block->number - 1, a->warp->first_thread + (uint32_t)a->lane),
         beyond = find_spot(a->block, s->block - 1, thread_of(a, s));
    if (beyond.row > within.row) {
        const spot other = beyond;
        beyond = within;
        within = other;
    }
    if (beyond.row == within.row || index < within.column ||
        (index - within.column) % within.row != 0)
        return;
    const uint64_t width = (index - within.column) / within.row,
                   column = index - beyond.row * width;
    if (width > within.column && column >= beyond.column &&
        (column - beyond.column) % beyond.step == 0)
        snprintf(text, bytes,
                 "; perhaps an index runs past its row: column %" PRIu64 " of row %" PRIu64
                 " is column %" PRIu64 " of row %" PRIu64 " where a row has %" PRIu64,
                 column, beyond.row, within.column, within.row, width);
}

static bool report(const sim_race_access *a, const sim_stamp *s, const char *what)
{
    char place[SIM_PLACE_BYTES], party[96], line[PTX_PLACE_BYTES + 32], overrun[200];
    describe_place(a, place, sizeof place);
    describe_party(a, s, party, sizeof party);
    describe_line(a, s, line, sizeof line);
    describe_overrun(a, s, overrun, sizeof overrun);
    return sim_fail(a->block, a->warp, a->instruction, a->lane, SIM_FAULT_RACE,
                    "%s: %s %s without %s%s%s", place, what, party, what_is_missing(a, s), line,
                    overrun);
}

/* Are both strong, and does the scope of each have the thread of the other? */
static bool is_morally_strong(const sim_race_access *a, const sim_stamp *s)
{
    const sim_stamp *own = &a->stamp;
    if (!own->scope || !s->scope)
        return false;
    if (is_of_lanes_in_step(a, s))
        return false;
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
        if (!conflicts(a, cell, s, reads) ||
            (same && s->scope == 0 && !(s->flags & SIM_STAMP_UNDER_WAY)))
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
        return report_under_way(a, s, reads, true);
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
    return report(a, s, what);
}

static bool check_reads(const sim_race_access *a, const sim_cell *cell, bool same)
{
    const sim_stamp *s = find_conflict(a, cell, &cell->reads, false, false);
    if (!s)
        return true;
    if (s->flags & SIM_STAMP_UNDER_WAY)
        return report_under_way(a, s, false, false);
    return same || report(a, s, "written by this thread after a read by");
}

static bool report_noncoherent(const sim_race_access *a, const sim_stamp *s, bool reads)
{
    const bool surface = a->instruction->is_surface;
    const char *const path = surface ? "as a surface" : "through the read-only path";
    char place[SIM_PLACE_BYTES], party[96], line[PTX_PLACE_BYTES + 32];
    describe_place(a, place, sizeof place);
    describe_party(a, s, party, sizeof party);
    describe_line(a, s, line, sizeof line);
    return sim_fail(
        a->block, a->warp, a->instruction, a->lane, SIM_FAULT_RACE,
        "%s: %s by this thread%s%s and %s by %s%s%s, which is for memory that the "
        "launch %s%s",
        place, reads ? "read" : "written", reads ? " " : "", reads ? path : "",
        reads ? "written" : "read", is_this_thread(a, s) ? "itself" : party, reads ? "" : " ",
        reads ? "" : path,
        surface ? "has not written before" : "does not write (__ldg(), const __restrict__)", line);
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

static uint64_t reader_bit(const sim_race_access *a)
{
    return UINT64_C(1) << (a->stamp.block * 7 + a->stamp.unit) % 64;
}

bool sim_race_is_late(const sim_race_access *a, const sim_cell *cell)
{
    const sim_stamp *s = &cell->writes.last;
    return cell->has_before && s->block != 0 && s->block != a->stamp.block && sim_is_by_thread(s) &&
           !(s->flags & SIM_STAMP_UNDER_WAY) && !(cell->readers & reader_bit(a)) &&
           !follows(a, s) && !sim_order_has_seen(a->warp, a->lane, s) && !was_observed(a, cell, s);
}

bool sim_race_read(const sim_race_access *a, sim_cell *cell)
{
    if (is_again(a, cell)) {
        cell->reads.last.lanes |= a->stamp.lanes;
        return true;
    }
    if ((a->stamp.flags & SIM_STAMP_NONCOHERENT) && a->region) {
        if (cell->writes.last.block != 0)
            return report_noncoherent(a, &cell->writes.last, true);
        cell->noncoherent = !a->instruction->is_surface || cell->noncoherent;
    }
    if (cell->writes.last.block != 0 && !check_writes(a, cell, false, true))
        return false;
    sim_stamp stamp = a->stamp;
    stamp.seen = cell->strong;
    if (stamp.scope) {
        cell->observed = cell->strong;
        cell->readers |= reader_bit(a);
    }
    sim_set_add(a, &cell->reads, &stamp);
    return true;
}

static bool check_write(const sim_race_access *a, sim_cell *cell, bool same)
{
    if (cell->noncoherent)
        return report_noncoherent(a, noncoherent_read(&cell->reads), false);
    if (cell->writes.last.block != 0 && !check_writes(a, cell, same, false))
        return false;
    return cell->reads.last.block == 0 || check_reads(a, cell, same);
}

static bool observes(const sim_race_access *a)
{
    return a->instruction->kind == SIM_ATOMIC && a->instruction->d2 != 0;
}

/* Forgets the writes that an atomic whose result is used has observed. They are ordered before
 * whatever follows it; and whatever does not follow it conflicts with it, too. */
static void forget_observed(const sim_race_access *a, sim_set *writes)
{
    sim_more *more = writes->more;
    for (uint32_t i = more ? more->count : 0; i > 0; i--)
        if (is_morally_strong(a, &more->stamps[i - 1]))
            more->stamps[i - 1] = more->stamps[--more->count];
    if (writes->last.block != 0 && is_morally_strong(a, &writes->last)) {
        writes->last.block = 0;
        if (more && more->count > 0)
            writes->last = more->stamps[--more->count];
    }
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
    cell->has_before =
        stamp.scope && a->instruction->kind == SIM_STORE && cell->writes.last.block == 0;
    cell->readers = 0;
    if (stamp.scope) {
        /* Writes between which nobody looked may count as one. */
        if (stamp.scope && (cell->strong == cell->observed || observes(a)))
            cell->strong++;
        stamp.seen = cell->strong;
        if (observes(a)) {
            cell->observed = cell->strong;
            forget_observed(a, &cell->writes);
        }
    } else if (!same) {
        /* All accesses that were there are ordered before this write: whatever conflicts with one
         * of them conflicts with the write, too. */
        cell->stale = cell->stale || cell->reads.last.block != 0;
        sim_set_clear(&a->block->watch->pool, &cell->writes);
        sim_set_clear(&a->block->watch->pool, &cell->reads);
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
        char place[160], party[96], line[160];
        if (s->block == 0 || s->unit >= SIM_UNIT_ENGINE ||
            sim_order_reach(a->block, s) == SIM_REACH_GPU || sim_order_proxied(a->warp, a->lane, s))
            continue;
        describe_place(a, place, sizeof place);
        describe_party(a, s, party, sizeof party);
        describe_line(a, s, line, sizeof line);
        return sim_fail(a->block, a->warp, a->instruction, a->lane, SIM_FAULT_RACE,
                        "%s: %s after a write by %s without a fence.proxy.async between%s", place,
                        a->instruction->kind == SIM_WARPGROUP_PRODUCT ? "read by wgmma"
                                                                      : "copied by the engine",
                        is_this_thread(a, s) ? "this thread" : party, line);
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
    if (touch == SIM_TOUCH_WRITE) {
        cell->stale = cell->stale || cell->reads.last.block != 0;
        sim_set_clear(&a->block->watch->pool, &cell->writes);
        sim_set_clear(&a->block->watch->pool, &cell->reads);
    }
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
