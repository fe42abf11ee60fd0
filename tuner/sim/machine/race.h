/* Race detection: the accesses to each piece of shared or global memory that are remembered.
 *
 * Two accesses to a piece conflict if one of them writes, even if the write keeps the value. A
 * conflict is a race unless one access happened before the other (order.h), both are morally strong
 * (strong, each in the other's scope: PTX ISA, "memory consistency model"), or both write the same
 * value. A copy under way happened before nothing. But two cp.async of the same value to the same
 * bytes are no race: cg::memcpy_async() has the lanes past the end of a tile copy its last element.
 *
 * An access is forgotten once a later access follows it that conflicts with at least as much
 * (FastTrack's rule). Sets replace FastTrack's last write, because unordered atomics, and unordered
 * writes of one value, do not race with each other. */
#ifndef AUTOTUNE_SIM_MACHINE_RACE_H
#define AUTOTUNE_SIM_MACHINE_RACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/machine/clock.h"
#include "sim/machine/memory.h"
#include "sim/program/program.h"

typedef struct sim_block sim_block;
typedef struct sim_warp sim_warp;

enum { SIM_POOL_CLASSES = 32 };

/* The memory of all sets of a launch, freed at once: pieces of 1 << class bytes. Several host
 * threads may use a pool. All zeros is an empty pool. */
typedef struct sim_pool {
    void *free[SIM_POOL_CLASSES]; /* lists of free pieces, by class */
    void *chunks;                 /* list of all memory; owned */
    char *at;                     /* the unused part of the newest chunk */
    size_t left_bytes;            /* unused bytes at `at` */
    bool lock;
} sim_pool;
void sim_pool_deinit(sim_pool *pool);

/* Flags of a stamp. */
enum {
    SIM_STAMP_UNDER_WAY = 1,   /* a copy that no thread has waited for: `order` is its number */
    SIM_STAMP_BULK = 2,        /* made by the copy engine */
    SIM_STAMP_VOLATILE = 4,    /* strong because it is volatile, and not an atomic */
    SIM_STAMP_NONCOHERENT = 8, /* a read by ld.global.nc */
};

typedef struct sim_stamp {
    uint32_t block; /* linear index + 1; 0: no access */
    uint32_t epoch; /* barriers of the block before it. Landed bulk copies: the thread */
    uint32_t order; /* sim_warp_order.epoch at the access. Landed bulk copies: the phase of the
                       mbarrier. Copies that an mbarrier tracks: their number */
    uint32_t lanes; /* lanes of the warp that made the same access at the same time */
    int32_t pc;     /* of the instruction; -1: of several */
    uint32_t seen;  /* sim_cell.strong at the access, itself included */
    uint16_t unit;  /* sim_known.unit: a warp, its copies, or an mbarrier */
    uint8_t scope;  /* sim_scope; 0: weak */
    uint8_t flags;
} sim_stamp;

/* Returns whether a thread made the access, and not a copy. */
static inline bool sim_is_by_thread(const sim_stamp *s)
{
    return s->unit < SIM_UNIT_BLOCK;
}

typedef struct sim_more { /* older accesses of a set; from the pool */
    uint32_t count;
    int32_t class; /* size in the pool */
    sim_stamp stamps[];
} sim_more;

typedef struct sim_set { /* the newest access, and the older ones that are remembered */
    sim_stamp last;      /* last.block is 0 if the set is empty */
    sim_more *more;
} sim_set;

/* Returns the number of older accesses of a set. */
static inline uint32_t sim_set_older(const sim_set *set)
{
    return set->more ? set->more->count : 0;
}

/* Returns the access with index `i`: older accesses, then the newest at sim_set_older(). */
static inline sim_stamp *sim_set_at(sim_set *set, uint32_t i)
{
    return i < sim_set_older(set) ? &set->more->stamps[i] : &set->last;
}
static inline const sim_stamp *sim_set_get(const sim_set *set, uint32_t i)
{
    return i < sim_set_older(set) ? &set->more->stamps[i] : &set->last;
}

/* The accesses to a piece of memory: the smallest unit that the program accesses. */
typedef struct sim_cell {
    sim_set writes, reads;
    uint32_t run;          /* shared memory: sim_block.run of the block that used the cell last */
    uint32_t strong;       /* strong writes so far; several in a row may count once */
    uint32_t observed;     /* `strong` at the last strong read */
    uint8_t weakest_write; /* at most the smallest scope of the writes */
    bool noncoherent;      /* ld.global.nc has read it */
    bool stale;            /* it was read before it was written: a cache may hold the old value */
    bool touched;
    bool kept; /* its location may have a history (history.h) */
} sim_cell;

enum { SIM_LINE_CELLS = 32 };

typedef enum sim_line_state {
    SIM_LINE_UNTOUCHED,
    SIM_LINE_TOGETHER, /* only whole warps have accessed the line, lane after lane */
    SIM_LINE_APART     /* each cell has its own accesses */
} sim_line_state;

/* 32 cells side by side. If all accesses are by warps whose lanes access neighbouring cells in the
 * same way, one cell stands for all: a 32nd of the time and memory, with the same faults. */
typedef struct sim_line {
    uint32_t run;  /* as sim_cell.run */
    uint8_t state; /* sim_line_state */
    uint8_t first; /* lane of the first cell */
    uint8_t shift; /* each lane has 1 << shift cells */
    sim_cell cell; /* SIM_LINE_TOGETHER: stands for all cells, with the lane of the first */
} sim_line;

/* An access in progress. */
typedef struct sim_race_access {
    sim_block *block;
    sim_warp *warp;
    const sim_instruction *instruction;
    int lane;
    sim_block *owner;         /* of shared memory */
    const sim_region *region; /* of global memory, otherwise NULL */
    uint64_t offset;          /* in shared memory or the region */
    bool as_under_way;        /* it begins a cp.async: all others under way bring the same value, */
    bool as_there;            /* and memory holds the same value */
    sim_stamp stamp;
} sim_race_access;

/* Makes the access of a lane by an instruction. The caller fills in owner, region and offset. */
sim_race_access sim_race_access_of(sim_block *b, sim_warp *w, const sim_instruction *c, int lane);

/* Changes the access to another lane's by the same instruction. */
static inline void sim_race_access_by(sim_race_access *a, int lane)
{
    a->lane = lane;
    a->stamp.lanes = 1u << lane;
}

/* Returns whether the whole block has passed a barrier since its own access `s`. */
static inline bool sim_race_is_past(const sim_race_access *a, const sim_stamp *s)
{
    return s->block == a->stamp.block && s->epoch < a->stamp.epoch && sim_is_by_thread(s) &&
           !(s->flags & SIM_STAMP_UNDER_WAY);
}

/* Returns whether the set has no accesses, or only one before the block's last barrier. */
static inline bool sim_race_is_over(const sim_race_access *a, const sim_set *set)
{
    return (set->last.block == 0 || sim_race_is_past(a, &set->last)) && sim_set_older(set) == 0;
}

/* Returns whether both accesses fit one stamp: the same warp, the same time, the same kind. */
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

/* Do the work of sim_race_read() and sim_race_write() in the usual case: a weak access to shared
 * memory of a block without a cluster, after a barrier or by the warp that read last. Otherwise
 * return false, and do nothing. */
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

/* Check a read or a write against the accesses of the cell, and add it. `same`: a weak write of the
 * present value. Return false, with a fault, if there is a race. */
bool sim_race_read(const sim_race_access *a, sim_cell *cell);
bool sim_race_write(const sim_race_access *a, sim_cell *cell, bool same);

/* SIM_TOUCH_ATOMIC: an atomic of the GPU's scope, or a copy that adds to memory by such atomics. */
typedef enum sim_touch { SIM_TOUCH_READ, SIM_TOUCH_WRITE, SIM_TOUCH_ATOMIC } sim_touch;

/* Begins the access of copy `number`. Returns false, with a fault, if there is a race. */
bool sim_race_begin(const sim_race_access *a, sim_cell *cell, sim_touch touch, uint32_t number,
                    bool bulk);
/* Ends the access of copy `number`, which becomes the access `landed`. */
void sim_race_land(const sim_race_access *a, sim_cell *cell, bool writes, uint32_t number,
                   const sim_stamp *landed);

/* Adds an access to a set, and removes the accesses that it makes superfluous. */
void sim_set_add(const sim_race_access *a, sim_set *set, const sim_stamp *stamp);
void sim_set_clear(sim_pool *pool, sim_set *set);

/* Returns the number of lines for that many cells. */
static inline size_t sim_line_count(size_t cells)
{
    return (cells + SIM_LINE_CELLS - 1) / SIM_LINE_CELLS;
}

/* Returns the lanes whose cells are in line `j` of a row of 1 << shift cells a lane. *first is the
 * lowest lane. */
static inline uint32_t sim_line_lanes(uint32_t j, uint32_t shift, uint32_t *first)
{
    const uint32_t lanes = SIM_LANES >> shift;
    *first = j * lanes;
    return (lanes < SIM_LANES ? (1u << lanes) - 1 : UINT32_MAX) << *first;
}

/* Returns whether an access can be recorded for a whole line: it is weak, and its warp knows other
 * warps only by barriers of the block. (Clocks may differ from lane to lane.) */
bool sim_line_suits(const sim_race_access *a, sim_touch touch);

/* Prepares an access to the line by a whole warp, from lane `first` on, 1 << shift cells a lane.
 * `run` is 0 in global memory. Returns whether line->cell, with lane `first`, is for the whole
 * line. */
static inline bool sim_line_join(sim_pool *pool, sim_line *line, uint32_t run, uint32_t first,
                                 uint32_t shift)
{
    if (line->state == SIM_LINE_UNTOUCHED || line->run != run) {
        line->state = SIM_LINE_TOGETHER;
        line->run = run;
        line->first = (uint8_t)first;
        line->shift = (uint8_t)shift;
        sim_set_clear(pool, &line->cell.writes);
        sim_set_clear(pool, &line->cell.reads);
        line->cell = (sim_cell){.run = run};
    }
    return line->state == SIM_LINE_TOGETHER && line->first == first && line->shift == shift;
}

/* Prepares an access to a single cell of the line, whose cells are `cells`. */
void sim_line_split_now(sim_pool *pool, sim_line *line, sim_cell *cells, uint32_t run);
static inline void sim_line_split(sim_pool *pool, sim_line *line, sim_cell *cells, uint32_t run)
{
    if (line->state != SIM_LINE_APART || line->run != run)
        sim_line_split_now(pool, line, cells, run);
}

/* Report races as faults (race_words.c) between the present access `a` and `s`. All return false.
 * `what` continues with the other thread: "written by this thread after a read by". */
bool sim_race_report(const sim_race_access *a, const sim_stamp *s, const char *what);
/* The other access is a copy under way, to the piece or (if `to` is false) from it. */
bool sim_race_report_under_way(const sim_race_access *a, const sim_stamp *s, bool reads, bool to);
/* One of the accesses goes through the read-only path, or through a surface. */
bool sim_race_report_noncoherent(const sim_race_access *a, const sim_stamp *s, bool reads);
/* No proxy fence orders a thread's write before the engine's access. */
bool sim_race_report_proxy(const sim_race_access *a, const sim_stamp *s);

#endif
