/* Vector clocks of a launch, kept sparse: the operations of threads that happened before something.
 *
 * A clock is an immutable list of entries, sorted by block and unit, with a count of its
 * references. NULL is the clock that knows nothing. Threads with the same history share entries:
 * one entry for a whole block up to a barrier, one for the lanes of a warp that are known equally
 * far. So the length of a clock is the number of warps that something was learned of, whatever the
 * number of threads. (The idea of clocks by block and warp: Eizenberg et al., BARRACUDA, PLDI 2017;
 * of epochs: Flanagan and Freund, FastTrack, PLDI 2009.)
 *
 * Counts of references are atomic: blocks on several host threads may share a clock. */
#ifndef AUTOTUNE_SIM_MACHINE_CLOCK_H
#define AUTOTUNE_SIM_MACHINE_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

/* The unit of an entry: the number of a warp in its block, or one of these. */
enum {
    SIM_UNIT_BLOCK = 0x4000,  /* all threads of the block, before its barrier number `until` */
    SIM_UNIT_COPIES = 0x5000, /* plus a warp: its copies that an mbarrier tracks, up to a number */
    SIM_UNIT_PRODUCTS = 0x6000, /* plus a warpgroup: reads of shared memory by its products, up to a
                                   number */
    SIM_UNIT_ENGINE = 0x8000,   /* plus offset / 8 of an mbarrier: copies that its phases up to
                                   `until`   completed */
};

typedef struct sim_known {
    uint32_t block; /* linear index + 1 */
    uint32_t unit;
    uint32_t lanes; /* of a warp or its copies; 1 for other units */
    uint32_t until; /* the last known operation: for a warp, sim_warp_order.epoch */
} sim_known;

typedef struct sim_clock sim_clock;

sim_clock *sim_clock_keep(sim_clock *clock); /* adds a reference; NULL is fine */
void sim_clock_drop(sim_clock *clock);       /* removes a reference; NULL is fine */

/* Adds entries, sorted like a clock's, or the entries of another clock, to *into, whose reference
 * is the caller's. */
void sim_clock_add(sim_clock **into, const sim_known *known, uint32_t count);
void sim_clock_join(sim_clock **into, sim_clock *other);

/* Does the same without the entries of one unit. */
void sim_clock_join_others(sim_clock **into, sim_clock *other, uint32_t block, uint32_t unit);

/* Returns the lanes among `lanes` of a unit whose operations are known up to `order`. */
uint32_t sim_clock_lanes(const sim_clock *clock, uint32_t block, uint32_t unit, uint32_t lanes,
                         uint32_t order);

/* Returns the last barrier of the whole block up to which it is known, or 0. */
uint32_t sim_clock_epoch(const sim_clock *clock, uint32_t block);

#endif
