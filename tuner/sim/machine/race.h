/* Race detection: remembers accesses to each cell, a piece of shared or global memory.
 *
 * Two accesses to a cell conflict if one of them writes, even if the write keeps the value. A
 * conflict is a race unless one access happened before the other (order.h), both are morally strong
 * (strong, each in the other's scope: PTX ISA, "memory consistency model"), or both write the same
 * value. No access happens after a copy that is still under way. But two cp.async of the same value
 * to the same bytes are no race: in cg::memcpy_async(), the lanes past the end of a tile copy its
 * last element.
 *
 * An access is forgotten once a second access follows it, if everything that conflicts with the
 * first also conflicts with the second (FastTrack's rule). FastTrack keeps only the last write. A
 * cell keeps a set of writes, because unordered atomics, and unordered writes of one value, do not
 * race with each other. */
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

/* The memory of all sets of a launch, in pieces of 1 << class bytes, freed all at once. Several
 * host threads may use a pool. All zeros is an empty pool. */
typedef struct sim_pool {
    void *free[SIM_POOL_CLASSES]; /* lists of free pieces, by class */
    void *chunks;                 /* list of all memory; owned */
    char *at;                     /* the unused part of the newest chunk */
    size_t left_bytes;            /* unused bytes at `at` */
    bool lock;
} sim_pool;
void sim_pool_deinit(sim_pool *pool);

enum {
    SIM_STAMP_UNDER_WAY = 1,   /* a copy that no thread has waited for: `order` is its number */
    SIM_STAMP_BULK = 2,        /* an access by the copy engine */
    SIM_STAMP_VOLATILE = 4,    /* a volatile load or store, which is strong for no other reason */
    SIM_STAMP_NONCOHERENT = 8, /* a read by ld.global.nc */
};

typedef struct sim_stamp {
    uint32_t block; /* linear index of the block + 1; 0 if there is no access */
    uint32_t epoch; /* barriers of the block before the access. Landed bulk copies: the thread */
    uint32_t order; /* sim_warp_order.epoch at the access. Landed bulk copies: phase of the
                       mbarrier. Copies that an mbarrier tracks: number of the copy */
    uint32_t lanes; /* lanes of the warp that made the same access at the same time */
    int32_t pc;     /* index of the instruction; -1 if several instructions share the stamp */
    uint32_t seen;  /* sim_cell.strong at the access, which includes the access itself */
    uint16_t unit;  /* sim_known.unit: a warp, its copies, or an mbarrier */
    uint8_t scope;  /* sim_scope; 0 for a weak access */
    uint8_t flags;
} sim_stamp;

/* Returns whether a thread made the access: false for a copy. */
static inline bool sim_is_by_thread(const sim_stamp *s)
{
    return s->unit < SIM_UNIT_BLOCK;
}

typedef struct sim_more { /* the older accesses of a set, in a piece of the pool */
    uint32_t count;
    int32_t class; /* size of the piece: 1 << class bytes */
    sim_stamp stamps[];
} sim_more;

typedef struct sim_set { /* the accesses that a cell remembers */
    sim_stamp last;      /* the newest access; last.block is 0 if the set is empty */
    sim_more *more;
} sim_set;

static inline uint32_t sim_set_older(const sim_set *set)
{
    return set->more ? set->more->count : 0;
}

/* Return the access with index `i`. The newest access has the highest index, sim_set_older(). */
static inline sim_stamp *sim_set_at(sim_set *set, uint32_t i)
{
    return i < sim_set_older(set) ? &set->more->stamps[i] : &set->last;
}
static inline const sim_stamp *sim_set_get(const sim_set *set, uint32_t i)
{
    return i < sim_set_older(set) ? &set->more->stamps[i] : &set->last;
}

/* The accesses to one piece of memory, which is as large as the smallest access of the program. */
typedef struct sim_cell {
    sim_set writes, reads;
    uint32_t run;    /* shared memory: sim_block.run of the block that used the cell last */
    uint32_t strong; /* number of strong writes; several strong writes with no read between them may
                        count once */
    uint32_t observed;     /* `strong` at the last strong read */
    uint8_t weakest_write; /* smallest scope of the writes, or a scope below it */
    bool noncoherent;      /* ld.global.nc has read the cell */
    bool stale;            /* read before it was written: a cache may hold the old value */
    bool touched;
    bool kept; /* the cell's location may have a history (history.h) */
} sim_cell;

enum { SIM_LINE_CELLS = 32 };

typedef enum sim_line_state {
    SIM_LINE_UNTOUCHED,
    SIM_LINE_TOGETHER, /* only whole warps have accessed the line, and each lane its own cells */
    SIM_LINE_APART     /* each cell has its own accesses */
} sim_line_state;

/* 32 neighbouring cells. While only whole warps access a line, and each lane always accesses the
 * same cells, one cell stands for all cells. This saves most of the time and memory. */
typedef struct sim_line {
    uint32_t run;  /* as sim_cell.run */
    uint8_t state; /* sim_line_state */
    uint8_t first; /* lane that accesses the first cell */
    uint8_t shift; /* each lane accesses 1 << shift cells */
    sim_cell cell; /* SIM_LINE_TOGETHER: stands for all cells, with the lane of the first cell */
} sim_line;

/* An access in progress. */
typedef struct sim_race_access {
    sim_block *block;
    sim_warp *warp;
    const sim_instruction *instruction;
    int lane;
    sim_block *owner;         /* block that owns the shared memory */
    const sim_region *region; /* region of global memory; NULL for shared memory */
    uint64_t offset;          /* offset in shared memory or in the region */
    bool same_as_under_way;   /* start of a cp.async: it writes the same value as all cp.async under
                                 way to these bytes */
    bool same_as_memory;      /* start of a cp.async: it writes the value that memory holds */
    sim_stamp stamp;
} sim_race_access;

/* Returns the access of a lane by an instruction. The caller fills in owner, region and offset. */
sim_race_access sim_race_access_of(sim_block *b, sim_warp *w, const sim_instruction *c, int lane);

/* Changes the access to the same access by another lane. */
static inline void sim_race_access_by(sim_race_access *a, int lane)
{
    a->lane = lane;
    a->stamp.lanes = 1u << lane;
}

/* Returns whether `s` is an access of the same block before the last barrier of the whole block. */
static inline bool sim_race_is_past(const sim_race_access *a, const sim_stamp *s)
{
    return s->block == a->stamp.block && s->epoch < a->stamp.epoch && sim_is_by_thread(s) &&
           !(s->flags & SIM_STAMP_UNDER_WAY);
}

/* Returns whether the set is empty, or has a single access for which sim_race_is_past() is true. */
static inline bool sim_race_is_over(const sim_race_access *a, const sim_set *set)
{
    return (set->last.block == 0 || sim_race_is_past(a, &set->last)) && sim_set_older(set) == 0;
}

/* Returns whether one stamp can record both accesses: same warp, same time, same kind. */
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
 * memory of a block without a cluster, after a barrier or by the warp that read last. In other
 * cases return false, and change nothing. */
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

/* Check a read or a write against the accesses of the cell, and add it. `same` is true for a weak
 * write that keeps the value. Return false, with a fault, if there is a race. */
bool sim_race_read(const sim_race_access *a, sim_cell *cell);
bool sim_race_write(const sim_race_access *a, sim_cell *cell, bool same);

/* Kinds of accesses. SIM_TOUCH_ATOMIC: an atomic of GPU scope, or a copy that adds to memory. */
typedef enum sim_touch { SIM_TOUCH_READ, SIM_TOUCH_WRITE, SIM_TOUCH_ATOMIC } sim_touch;

/* Begins the access of copy `number`. Returns false, with a fault, if there is a race. */
bool sim_race_begin(const sim_race_access *a, sim_cell *cell, sim_touch touch, uint32_t number,
                    bool bulk);
/* Ends the access of copy `number`, which becomes the access `landed`. */
void sim_race_land(const sim_race_access *a, sim_cell *cell, bool writes, uint32_t number,
                   const sim_stamp *landed);

/* Adds an access to a set. Removes the older accesses that need no longer be remembered. */
void sim_set_add(const sim_race_access *a, sim_set *set, const sim_stamp *stamp);
void sim_set_clear(sim_pool *pool, sim_set *set);

static inline size_t sim_line_count(size_t cells)
{
    return (cells + SIM_LINE_CELLS - 1) / SIM_LINE_CELLS;
}

/* Returns the lanes that access line `j` of a row of cells, if each lane accesses 1 << shift cells.
 * Sets *first to the lowest of these lanes. */
static inline uint32_t sim_line_lanes(uint32_t j, uint32_t shift, uint32_t *first)
{
    const uint32_t lanes = SIM_LANES >> shift;
    *first = j * lanes;
    return (lanes < SIM_LANES ? (1u << lanes) - 1 : UINT32_MAX) << *first;
}

/* Returns whether one cell may record the access for a whole line. The access must be weak. Its
 * warp must have no clocks, because clocks may differ from lane to lane. */
bool sim_line_can_record(const sim_race_access *a, sim_touch touch);

/* Prepares an access to a line by a whole warp, whose lanes from `first` on access 1 << shift cells
 * each. `run` is 0 in global memory. Returns whether the line's cell may record the access. */
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

/* Prepares an access to one cell of a line: each of the line's `cells` gets its own accesses. */
void sim_line_split_now(sim_pool *pool, sim_line *line, sim_cell *cells, uint32_t run);
static inline void sim_line_split(sim_pool *pool, sim_line *line, sim_cell *cells, uint32_t run)
{
    if (line->state != SIM_LINE_APART || line->run != run)
        sim_line_split_now(pool, line, cells, run);
}

/* Report a race between the present access `a` and the earlier access `s` (race_words.c). Return
 * false. `what` is the text before the other thread: "written by this thread after a read by". */
bool sim_race_report(const sim_race_access *a, const sim_stamp *s, const char *what);
/* Reports a race with a copy under way. `reads` says whether the present access reads, `to` whether
 * the copy writes these bytes. */
bool sim_race_report_under_way(const sim_race_access *a, const sim_stamp *s, bool reads, bool to);
/* Reports a race of a write with a read through the read-only path or through a surface. `reads`
 * says whether the present access is the read. */
bool sim_race_report_noncoherent(const sim_race_access *a, const sim_stamp *s, bool reads);
/* Reports a thread's write that no proxy fence orders before the copy engine's access. */
bool sim_race_report_proxy(const sim_race_access *a, const sim_stamp *s);

#endif
