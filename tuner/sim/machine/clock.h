/* Vector clocks of a launch, kept sparse: which operations of which threads happened before
 * something.
 *
 * A clock is an immutable list of what is known, sorted by block and unit, and shared by counting
 * its references; NULL is the clock that knows nothing. Threads that went the same way share
 * entries: one for a whole block up to a barrier of it, one for the lanes of a warp that are known
 * equally far. Whatever the number of threads of a launch, a clock is as long as the number of
 * warps that something was learned of. (The idea of clocks by block and warp: Eizenberg et al.,
 * BARRACUDA, PLDI 2017; of epochs: Flanagan and Freund, FastTrack, PLDI 2009.)
 *
 * Counts of references are atomic: blocks on several host threads may share a clock. Nothing here
 * fails loudly: functions return false when there is no memory, and leave `into` as it was. */
#ifndef AUTOTUNE_SIM_MACHINE_CLOCK_H
#define AUTOTUNE_SIM_MACHINE_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

/* The unit whose operations an entry is about. A warp is its number in the block. */
enum {
    SIM_UNIT_BLOCK = 0x4000, /* all threads of the block: those before its barrier number `until` */
    SIM_UNIT_COPIES =
        0x5000, /* plus a warp: copies by its threads that an mbarrier tracks, up to the number */
    SIM_UNIT_PRODUCTS =
        0x6000, /* plus a warpgroup: reads of shared memory by its products, up to the number */
    SIM_UNIT_ENGINE =
        0x8000, /* plus an mbarrier's offset / 8: copies that its phases up to `until` completed */
};

typedef struct sim_known {
    uint32_t block; /* linear index + 1 */
    uint32_t unit;
    uint32_t lanes; /* of a warp, or its copies; otherwise 1 */
    uint32_t until; /* of a warp: operations of these lanes up to this order, included */
} sim_known;

typedef struct sim_clock sim_clock;

sim_clock *sim_clock_keep(sim_clock *clock); /* one more reference */
void sim_clock_drop(sim_clock *clock);       /* one less */

/* Adds entries, sorted as a clock's, or another clock, to *into, whose reference is the
 * caller's. */
bool sim_clock_add(sim_clock **into, const sim_known *known, uint32_t count);
bool sim_clock_join(sim_clock **into, sim_clock *other);

/* Does likewise, without what `other` knows of that unit. */
bool sim_clock_join_others(sim_clock **into, sim_clock *other, uint32_t block, uint32_t unit);

/* Which of `lanes` of a warp are known as far as `order`? Of an mbarrier: lanes is 1. */
uint32_t sim_clock_lanes(const sim_clock *clock, uint32_t block, uint32_t unit, uint32_t lanes,
                         uint32_t order);
/* The last barrier of itself up to which the whole block is known; 0: nothing is. */
uint32_t sim_clock_epoch(const sim_clock *clock, uint32_t block);

#endif
