#include "sim/machine/race.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "sim/machine/fault.h"
#include "sim/machine/machine.h"
#include "sim/machine/order.h"

enum { CHUNK_BYTES = 1 << 16, HEAD_BYTES = 16 };

static void lock(sim_pool *pool)
{
    while (__atomic_test_and_set(&pool->lock, __ATOMIC_ACQUIRE))
        sched_yield();
}

static void unlock(sim_pool *pool)
{
    __atomic_clear(&pool->lock, __ATOMIC_RELEASE);
}

/* A free piece and a chunk start with a pointer to the next piece or chunk. */
static void *pop(void **list)
{
    void *first = *list;
    if (first)
        memcpy(list, first, sizeof *list);
    return first;
}

static void push(void **list, void *piece)
{
    memcpy(piece, list, sizeof *list);
    *list = piece;
}

static void *cut(sim_pool *pool, size_t bytes)
{
    if (bytes > pool->left_bytes) {
        size_t whole = bytes > CHUNK_BYTES ? bytes : CHUNK_BYTES;
        char *chunk = memory_require(malloc(HEAD_BYTES + whole));
        push(&pool->chunks, chunk);
        pool->at = chunk + HEAD_BYTES;
        pool->left_bytes = whole;
    }
    void *piece = pool->at;
    pool->at += bytes;
    pool->left_bytes -= bytes;
    return piece;
}

static void *take_piece(sim_pool *pool, int class)
{
    lock(pool);
    void *piece = pop(&pool->free[class]);
    if (!piece)
        piece = cut(pool, (size_t)1 << class);
    unlock(pool);
    return piece;
}

static void give_piece(sim_pool *pool, void *piece, int class)
{
    lock(pool);
    push(&pool->free[class], piece);
    unlock(pool);
}

void sim_pool_deinit(sim_pool *pool)
{
    void *chunk;
    while ((chunk = pop(&pool->chunks)))
        free(chunk);
    *pool = (sim_pool){0};
}

enum {
    FIRST_CLASS = 7, /* class of the smallest sim_more: 128 bytes, for four stamps */
    MOST_CLASS = 17,
    MOST_LOOKED_AT = 64 /* most stamps of a set that are compared with a new stamp */
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
        give_piece(pool, set->more, set->more->class);
    set->more = NULL;
    set->last.block = 0;
}

/* Makes room for one more stamp in a set. Returns false if the set has its largest size. */
static bool make_room(sim_pool *pool, sim_set *set)
{
    sim_more *old = set->more;
    if (old && old->count < capacity(old))
        return true;
    if (old && old->class == MOST_CLASS)
        return false;
    const int class = old ? old->class + 1 : FIRST_CLASS;
    set->more = take_piece(pool, class);
    set->more->count = 0;
    if (old) {
        memcpy(set->more, old, sizeof *old + old->count * sizeof *old->stamps);
        give_piece(pool, old, old->class);
    }
    set->more->class = class;
    return true;
}

/* Returns the result of sim_order_follows(), in the usual cases without a call. */
static inline bool follows(const sim_race_access *a, const sim_stamp *s)
{
    if (sim_race_is_past(a, s))
        return true;
    /* A warp without clocks knows no operations of other warps. */
    if (!a->warp->order.clocks && (s->block != a->stamp.block || s->unit != a->stamp.unit))
        return false;
    return sim_order_follows(a->block, a->warp, a->lane, s);
}

/* Returns whether all future accesses follow `old`. This is so in shared memory of a block without
 * a cluster, once all threads of the block have passed a barrier after `old`. */
static bool is_settled(const sim_race_access *a, const sim_stamp *old)
{
    return !a->region && a->block->cluster->size == 1 && old->epoch < a->block->epoch &&
           sim_is_by_thread(old);
}

/* Returns whether each access that conflicts with `old` also conflicts with `fresh`. */
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
    sim_stamp fresh = *stamp;
    if (set->last.block != 0 && sim_race_is_alike(&set->last, &fresh)) {
        sim_race_unite(&set->last, &fresh);
        return;
    }
    /* Without clocks, this thread knows no accesses of other blocks, which stay in the set. */
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
        /* If the set is full, the oldest stamp is lost. A race with that access is not found. */
        if (make_room(&a->block->watch->pool, set))
            set->more->stamps[set->more->count++] = set->last;
        else
            set->more->stamps[0] = set->last;
    }
    set->last = fresh;
}

/* Notes unordered volatile accesses, as in kernels that rely on lanes in step. Such accesses are no
 * race, and order nothing. Adverse schedules split the lanes of a warp there. */
static void note_volatile(const sim_race_access *a, const sim_stamp *s)
{
    uint8_t *ran = a->block->adverse ? NULL : a->block->launch->ran;
    if (!ran || !(a->stamp.flags & s->flags & SIM_STAMP_VOLATILE))
        return;
    const uint8_t bit = s->block != a->stamp.block ? SIM_RAN_BLOCKS
                        : s->unit != a->stamp.unit ? SIM_RAN_WARPS
                                                   : SIM_RAN_IN_STEP;
    __atomic_fetch_or(&ran[a->stamp.pc], bit, __ATOMIC_RELAXED);
    if (s->pc >= 0)
        __atomic_fetch_or(&ran[s->pc], bit, __ATOMIC_RELAXED);
}

/* Returns whether both accesses are strong and the scope of each includes the other's thread. */
static bool is_morally_strong(const sim_race_access *a, const sim_stamp *s)
{
    const sim_stamp *own = &a->stamp;
    if (!own->scope || !s->scope)
        return false;
    note_volatile(a, s);
    int reach = (int)sim_order_reach(a->block, s);
    return own->scope > reach && s->scope > reach;
}

static bool conflicts(const sim_race_access *a, const sim_cell *cell, const sim_stamp *s,
                      bool reads)
{
    if (follows(a, s) || is_morally_strong(a, s))
        return false;
    bool fresh = !reads || a->stamp.scope > 0 || !cell->stale;
    return !fresh || !sim_order_knows(a->warp, a->lane, SIM_CLOCK_LOOSE, s);
}

/* Returns whether `a` follows a strong read that read the strong write `write`. Then the write
 * happened before `a` (PTX ISA, "observation"). */
static bool was_observed(const sim_race_access *a, const sim_cell *cell, const sim_stamp *write)
{
    if (write->scope == 0)
        return false;
    for (uint32_t i = 0; i <= sim_set_older(&cell->reads); i++) {
        const sim_stamp *s = sim_set_get(&cell->reads, i);
        if (s->block != 0 && s->scope > 0 && s->seen >= write->seen && follows(a, s))
            return true;
    }
    return false;
}

/* Returns whether both accesses write the same value. `same` says that `a` writes the value which
 * memory holds now. A copy under way has not changed memory yet. */
static bool writes_alike(const sim_race_access *a, const sim_stamp *s, bool same)
{
    if (s->flags & SIM_STAMP_UNDER_WAY)
        return a->same_as_under_way && !(s->flags & SIM_STAMP_BULK);
    const bool landed = s->pc >= 0 && a->block->program->code[s->pc].kind == SIM_COPY_ASYNC;
    return (same || (landed && a->same_as_memory)) && s->scope == 0;
}

/* Returns the newest access of `set` that races with `a`, or NULL. `reads` is true if `a` reads. */
static const sim_stamp *find_conflict(const sim_race_access *a, const sim_cell *cell,
                                      const sim_set *set, bool same, bool reads)
{
    if (set->last.block == 0)
        return NULL;
    for (uint32_t i = sim_set_older(set) + 1; i > 0; i--) {
        const sim_stamp *s = sim_set_get(set, i - 1);
        if (!conflicts(a, cell, s, reads) || (set == &cell->writes && writes_alike(a, s, same)))
            continue;
        /* A write does not race with a read that is known to be over. A write does not race with a
         * bulk copy to the same bytes if reads of the copied data are known to be over. */
        const bool is_over = set == &cell->reads || (!reads && s->unit >= SIM_UNIT_ENGINE);
        if ((set == &cell->writes && was_observed(a, cell, s)) ||
            (is_over && sim_order_knows(a->warp, a->lane, SIM_CLOCK_READ, s)))
            continue;
        return s;
    }
    return NULL;
}

static bool check_writes(const sim_race_access *a, const sim_cell *cell, bool same, bool reads)
{
    /* All accesses in the set are atomics of GPU scope, and so is `a`. */
    if (a->stamp.scope > SIM_REACH_GPU && cell->weakest_write > SIM_REACH_GPU &&
        !a->instruction->is_volatile)
        return true;
    const sim_set *set = &cell->writes;
    const bool alone = sim_set_older(set) == 0;
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
    for (uint32_t i = 0; i < sim_set_older(reads); i++)
        if (reads->more->stamps[i].flags & SIM_STAMP_NONCOHERENT)
            return &reads->more->stamps[i];
    return &reads->last;
}

/* Returns whether the last read was by the same instruction of the same warp, and no write came
 * since the last barrier of the whole block. Most reads are of this kind. */
static inline bool is_repeated(const sim_race_access *a, const sim_cell *cell)
{
    const sim_stamp *last = &cell->reads.last, *own = &a->stamp;
    const sim_set *writes = &cell->writes;
    return last->block == own->block && last->pc == own->pc && last->unit == own->unit &&
           last->order == own->order && last->epoch == own->epoch && own->scope == 0 &&
           last->flags == own->flags && last->seen == cell->strong &&
           (writes->last.block == 0 ||
            (sim_set_older(writes) == 0 && !own->flags && sim_race_is_past(a, &writes->last)));
}

static bool observes(const sim_race_access *a)
{
    return a->instruction->kind == SIM_ATOMIC && a->instruction->d2 != 0;
}

bool sim_race_read(const sim_race_access *a, sim_cell *cell)
{
    if (is_repeated(a, cell)) {
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

/* Removes the access with index `i` from a set. Another access gets this index. */
static void remove_at(sim_set *set, uint32_t i)
{
    sim_stamp *removed = sim_set_at(set, i);
    if (sim_set_older(set) > 0)
        *removed = set->more->stamps[--set->more->count];
    else
        removed->block = 0;
}

static void remove_if(const sim_race_access *a, sim_set *set,
                      bool (*goes)(const sim_race_access *, const sim_stamp *))
{
    for (uint32_t i = sim_set_older(set); i > 0; i--)
        if (goes(a, &set->more->stamps[i - 1]))
            remove_at(set, i - 1);
    if (set->last.block != 0 && goes(a, &set->last))
        remove_at(set, sim_set_older(set));
}

/* Forgets accesses before a weak write `a` of a new value. Earlier writes are forgotten: `a`
 * follows all of them, and conflicts with each access that one of them conflicts with. Reads stay
 * until all later accesses follow: a later write of the same value may race with the read. */
static void forget_replaced(const sim_race_access *a, sim_cell *cell)
{
    cell->stale = cell->stale || cell->reads.last.block != 0;
    sim_set_clear(&a->block->watch->pool, &cell->writes);
    remove_if(a, &cell->reads, is_settled);
}

static void note_write(const sim_race_access *a, sim_cell *cell, const sim_stamp *stamp)
{
    if (cell->reads.last.block != 0)
        cell->stale = true;
    if (cell->writes.last.block == 0 || stamp->scope < cell->weakest_write)
        cell->weakest_write = stamp->scope;
    sim_set_add(a, &cell->writes, stamp);
    if (sim_set_older(&cell->writes) == 0)
        cell->weakest_write = cell->writes.last.scope;
}

bool sim_race_write(const sim_race_access *a, sim_cell *cell, bool same)
{
    if (!check_write(a, cell, same))
        return false;
    sim_stamp stamp = a->stamp;
    if (stamp.scope) {
        cell->kept = true;
        /* Several writes may count as one if no thread reads between them. */
        if (stamp.scope && (cell->strong == cell->observed || observes(a)))
            cell->strong++;
        stamp.seen = cell->strong;
        if (observes(a)) {
            cell->observed = cell->strong;
            /* The writes that this atomic observed are not needed: a later access follows them, or
             * also conflicts with this atomic. */
            remove_if(a, &cell->writes, is_morally_strong);
        }
    } else if (!same) {
        forget_replaced(a, cell);
    }
    note_write(a, cell, &stamp);
    return true;
}

/* Checks that a proxy fence orders the writes of threads before a read by the copy engine. Writes
 * of blocks outside the cluster are not checked, because their fences are not recorded. */
static bool check_proxies(const sim_race_access *a, const sim_cell *cell)
{
    const sim_set *set = &cell->writes;
    for (uint32_t i = 0; i <= sim_set_older(set); i++) {
        const sim_stamp *s = sim_set_get(set, i);
        if (s->block == 0 || s->unit >= SIM_UNIT_ENGINE ||
            sim_order_reach(a->block, s) == SIM_REACH_GPU ||
            sim_order_knows(a->warp, a->lane, SIM_CLOCK_PROXIED, s))
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
    if (touch == SIM_TOUCH_WRITE && !a->same_as_memory && !a->same_as_under_way)
        forget_replaced(a, cell);
    if (writes)
        note_write(&copy, cell, &copy.stamp);
    else
        sim_set_add(&copy, &cell->reads, &copy.stamp);
    return true;
}

static void remove_under_way(const sim_race_access *a, sim_set *set, uint32_t number)
{
    for (uint32_t i = 0; i <= sim_set_older(set); i++) {
        const sim_stamp *s = sim_set_get(set, i);
        if (!(s->flags & SIM_STAMP_UNDER_WAY) || s->block != a->stamp.block ||
            s->unit != a->stamp.unit || s->lanes != a->stamp.lanes || s->order != number)
            continue;
        remove_at(set, i);
        return;
    }
}

/* Records a read by a product in the stamp of earlier products of its warpgroup. A thread that
 * knows a product knows the earlier products. Returns false if there is no such stamp. */
static bool follow_product(sim_set *reads, const sim_stamp *landed)
{
    for (uint32_t i = 0; i <= sim_set_older(reads); i++) {
        sim_stamp *s = sim_set_at(reads, i);
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

bool sim_line_can_record(const sim_race_access *a, sim_touch touch)
{
    return touch != SIM_TOUCH_ATOMIC && a->stamp.scope == 0 && !a->warp->order.clocks;
}

/* Copies a set of a whole line for a single cell of the line, which `lanes` accessed. */
static sim_set copy_of(sim_pool *pool, const sim_set *set, uint32_t lanes)
{
    sim_set copy = {.last = set->last};
    copy.last.lanes = lanes;
    if (!set->more || set->more->count == 0)
        return copy;
    copy.more = take_piece(pool, set->more->class);
    memcpy(copy.more, set->more, sizeof *set->more + set->more->count * sizeof *set->more->stamps);
    for (uint32_t i = 0; i < copy.more->count; i++)
        copy.more->stamps[i].lanes = lanes;
    return copy;
}

void sim_line_split_now(sim_pool *pool, sim_line *line, sim_cell *cells, uint32_t run)
{
    const bool together = line->state == SIM_LINE_TOGETHER && line->run == run;
    for (uint32_t i = 0; together && i < SIM_LINE_CELLS; i++) {
        const uint32_t lanes = 1u << (line->first + (i >> line->shift));
        sim_set_clear(pool, &cells[i].writes);
        sim_set_clear(pool, &cells[i].reads);
        cells[i] = line->cell;
        cells[i].writes = copy_of(pool, &line->cell.writes, lanes);
        cells[i].reads = copy_of(pool, &line->cell.reads, lanes);
    }
    line->state = SIM_LINE_APART;
    line->run = run;
}
