/* Sparse vector clocks of a launch. A clock holds the operations that happened before a given
 * operation.
 *
 * A clock is an immutable list of entries, sorted by block and unit. NULL is the empty clock.
 * Blocks on several host threads share clocks, so the count of references is atomic. One entry
 * stands for a whole block up to a barrier, or for all lanes of a warp with the same last known
 * operation. So the length of a clock grows with the number of warps, not of threads. (Clocks by
 * block and warp: Eizenberg et al., BARRACUDA, PLDI 2017; epochs: Flanagan and Freund, FastTrack,
 * PLDI 2009.) */
#ifndef AUTOTUNE_SIM_MACHINE_CLOCK_H
#define AUTOTUNE_SIM_MACHINE_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

/* The unit of an entry: the number of a warp in its block, or a number from one of these ranges. */
enum {
    SIM_UNIT_BLOCK = 0x4000,    /* all threads of the block, before its barrier number `until` */
    SIM_UNIT_COPIES = 0x5000,   /* plus the number of a warp: copies of this warp that an mbarrier
                                   tracks */
    SIM_UNIT_PRODUCTS = 0x6000, /* plus the number of a warpgroup: its products that read shared
                                   memory */
    SIM_UNIT_ENGINE = 0x8000,   /* plus offset / 8 of an mbarrier: bulk copies that completed its
                                   phases */
};

typedef struct sim_known {
    uint32_t block; /* linear index of the block + 1 */
    uint32_t unit;
    uint32_t lanes; /* lanes of a warp or of its copies; 1 for other units */
    uint32_t until; /* the last known operation: for a warp, sim_warp_order.epoch */
} sim_known;

typedef struct sim_clock sim_clock;

sim_clock *sim_clock_keep(sim_clock *clock); /* adds a reference; `clock` may be NULL */
void sim_clock_drop(sim_clock *clock);       /* removes a reference; `clock` may be NULL */

/* Add sorted entries, or another clock's entries, to *into. The caller owns the reference *into. */
void sim_clock_add(sim_clock **into, const sim_known *known, uint32_t count);
void sim_clock_join(sim_clock **into, sim_clock *other);

/* Adds the entries of another clock, except the entries of one unit. */
void sim_clock_join_others(sim_clock **into, sim_clock *other, uint32_t block, uint32_t unit);

/* Returns the lanes among `lanes` whose operations up to `order` in the unit are in the clock. */
uint32_t sim_clock_lanes(const sim_clock *clock, uint32_t block, uint32_t unit, uint32_t lanes,
                         uint32_t order);

/* Returns the last barrier before which the clock has all operations of the block, or 0. */
uint32_t sim_clock_epoch(const sim_clock *clock, uint32_t block);

#endif
