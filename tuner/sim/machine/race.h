/* Race detection: what is remembered of the accesses to a piece of memory, shared or global.
 *
 * Two accesses to a piece conflict when one of them writes. A conflict is a race unless one
 * happened before the other (sim/machine/order.h), or both are strong and the scope of each reaches
 * the other's thread (PTX ISA, "memory consistency model": morally strong), or both write the same
 * value there. A read and a write conflict even if the write leaves the value as it was. A copy
 * that is under way happened before nothing, but cp.async of one value to one place are no race
 * among themselves: cg::memcpy_async() of a tile has the lanes past the end copy its last element.
 *
 * The reads and the writes of each piece are remembered that no later one makes superfluous: an
 * access is forgotten where a later one follows it that conflicts with at least as much
 * (FastTrack's rule, with sets in place of its last write, as unordered atomics, and unordered
 * writes of one value, are no race among themselves). */
#ifndef AUTOTUNE_SIM_MACHINE_RACE_H
#define AUTOTUNE_SIM_MACHINE_RACE_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/machine/clock.h"
#include "sim/machine/memory.h"
#include "sim/machine/pool.h"
#include "sim/program/program.h"

typedef struct sim_block sim_block;
typedef struct sim_warp sim_warp;

enum {                          /* sim_stamp.flags */
       SIM_STAMP_UNDER_WAY = 1, /* by a copy that has not been waited for: `order` is its number */
       SIM_STAMP_BULK = 2,      /* by the copy engine */
       SIM_STAMP_VOLATILE = 4,  /* strong for being volatile, and no atomic */
       SIM_STAMP_NONCOHERENT = 8, /* a read by ld.global.nc */
};

typedef struct sim_stamp { /* an access: who made it, and when */
    uint32_t block;        /* linear index + 1; 0: there was none */
    uint32_t
        epoch; /* barriers of the block before it; of a bulk copy that has landed: the thread */
    uint32_t order; /* sim_warp_order.epoch then; of a bulk copy that has landed: the mbarrier's
                       phase; of a thread's that an mbarrier tracks: its number */
    uint32_t lanes; /* of the warp, all at the same order */
    int32_t pc;     /* of the instruction; -1: several */
    uint32_t seen;  /* sim_cell.strong then, itself included */
    uint16_t unit;  /* sim_known.unit: a warp, its copies, or an mbarrier */
    uint8_t scope;  /* sim_scope; 0: it was weak */
    uint8_t flags;
} sim_stamp;

/* Was it made by a thread itself, in the order of its program? */
static inline bool sim_is_by_thread(const sim_stamp *s)
{
    return s->unit < SIM_UNIT_BLOCK;
}

typedef struct sim_more { /* older accesses of a set; from the pool */
    uint32_t count;
    int32_t class;
    sim_stamp stamps[];
} sim_more;

typedef struct sim_set { /* the newest access, and the others that are remembered */
    sim_stamp last;
    sim_more *more;
} sim_set;

typedef struct sim_cell {
    sim_set writes, reads;
    uint32_t run;          /* of shared memory: sim_block.run that the cell is of */
    uint32_t strong;       /* strong writes, of which some in a row may count as one */
    uint32_t observed;     /* `strong` when a strong read looked last */
    uint8_t weakest_write; /* the smallest scope among the writes; too small at worst */
    bool noncoherent;      /* it was read by ld.global.nc */
    bool stale;            /* it was read before it was written: a cache may have what was there */
    bool touched;
    bool kept; /* its location may have a history (sim/machine/history.h) */
} sim_cell;

/* An access in progress. */
typedef struct sim_race_access {
    sim_block *block;
    sim_warp *warp;
    const sim_instruction *instruction;
    int lane;
    sim_block *owner;         /* of shared memory */
    const sim_region *region; /* of global memory, else NULL */
    uint64_t offset;          /* in either */
    bool as_under_way;        /* it begins a cp.async; all others to there bring the same, */
    bool as_there;            /* and the same is there now */
    sim_stamp stamp;
} sim_race_access;

/* Makes the access of the thread in that lane by its instruction. The place is still to be filled
 * in. */
sim_race_access sim_race_access_of(sim_block *b, sim_warp *w, const sim_instruction *c, int lane);
/* Makes it that of another lane by the same instruction. */
static inline void sim_race_access_by(sim_race_access *a, int lane)
{
    a->lane = lane;
    a->stamp.lanes = 1u << lane;
}

/* Did the whole block pass a barrier since? */
static inline bool sim_race_is_past(const sim_race_access *a, const sim_stamp *s)
{
    return s->block == a->stamp.block && s->epoch < a->stamp.epoch && sim_is_by_thread(s) &&
           !(s->flags & SIM_STAMP_UNDER_WAY);
}

/* Is the set empty, or one access that the block has passed a barrier since? */
static inline bool sim_race_is_over(const sim_race_access *a, const sim_set *set)
{
    return (set->last.block == 0 || sim_race_is_past(a, &set->last)) &&
           (!set->more || set->more->count == 0);
}

/* May both be one entry: the same warp at the same time, in the same way? */
static inline bool sim_race_is_alike(const sim_stamp *s, const sim_stamp *t)
{
    return s->unit == t->unit && s->order == t->order && s->block == t->block &&
           s->epoch == t->epoch && s->seen == t->seen && s->scope == t->scope &&
           s->flags == t->flags && !(s->flags & SIM_STAMP_UNDER_WAY) && sim_is_by_thread(s);
}

static inline void sim_race_unite(sim_stamp *s, const sim_stamp *t)
{
    s->lanes |= t->lanes;
    if (s->pc != t->pc)
        s->pc = -1;
}

/* The usual access to a piece of shared memory that one block alone has: weak, after a barrier, or
 * by the warp that read it last. Does what sim_race_read() and sim_race_write() do; false: they are
 * to be asked. */
static inline bool sim_race_read_quickly(const sim_race_access *a, sim_cell *cell)
{
    sim_stamp stamp = a->stamp;
    stamp.seen = cell->strong;
    if (!sim_race_is_over(a, &cell->writes))
        return false;
    if (sim_race_is_alike(&cell->reads.last, &stamp))
        sim_race_unite(&cell->reads.last, &stamp);
    else if (sim_race_is_over(a, &cell->reads))
        cell->reads.last = stamp;
    else
        return false;
    return true;
}

static inline bool sim_race_write_quickly(const sim_race_access *a, sim_cell *cell, bool same)
{
    const bool was_read = cell->reads.last.block != 0;
    if ((same && was_read) || cell->noncoherent || !sim_race_is_over(a, &cell->writes) ||
        !sim_race_is_over(a, &cell->reads))
        return false;
    cell->stale = cell->stale || was_read;
    cell->reads.last.block = 0;
    cell->writes.last = a->stamp;
    cell->weakest_write = a->stamp.scope;
    return true;
}

/* Checks a read or write against what the cell has, and adds it: false, with a fault, for a race.
 * `same`: a weak write of the value that is there. */
bool sim_race_read(const sim_race_access *a, sim_cell *cell);
bool sim_race_write(const sim_race_access *a, sim_cell *cell, bool same);

/* A copy begins to read or write there, or to add to what is there by atomics of the GPU's scope;
 * and it is no longer under way: what it did becomes the access `landed`. */
typedef enum sim_touch { SIM_TOUCH_READ, SIM_TOUCH_WRITE, SIM_TOUCH_ATOMIC } sim_touch;
bool sim_race_begin(const sim_race_access *a, sim_cell *cell, sim_touch touch, uint32_t number,
                    bool bulk);
void sim_race_land(const sim_race_access *a, sim_cell *cell, bool writes, uint32_t number,
                   const sim_stamp *landed);

/* Adds an access to a set: those that it makes superfluous go. */
void sim_set_add(const sim_race_access *a, sim_set *set, const sim_stamp *stamp);
void sim_set_clear(sim_pool *pool, sim_set *set);

#endif
