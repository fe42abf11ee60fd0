/* Copies from global to shared memory that a warp's threads have begun and that are under way: in
 * groups, which a thread waits for, or tracked by an mbarrier. */
#ifndef AUTOTUNE_SIM_MACHINE_COPIES_H
#define AUTOTUNE_SIM_MACHINE_COPIES_H

#include "sim/machine/machine.h"

/* Begins those of the lanes of `mask`: reads now; what it writes to shared memory appears when the
 * thread waits for the group, so that a kernel that forgets to wait reads what was there before. */
bool sim_copy_async(sim_block *b, sim_warp *w, const sim_instruction *c, uint32_t mask);

/* What each lane of the mask began since its last group becomes its next group. */
void sim_copy_commit(sim_warp *w, uint32_t mask);

/* The lane's copies up to now are tracked by an mbarrier: they have numbers below the result. */
uint32_t sim_copy_track(sim_warp *w, int lane);

/* Lands the copies with numbers below `before` that have not landed yet. */
void sim_copy_land(sim_block *b, sim_warp *w, int lane, uint32_t before);

/* Lands what lanes of the mask wait for: all but the groups that may stay under way. */
bool sim_copy_wait(sim_block *b, sim_warp *w, const sim_instruction *c, uint32_t mask);

#endif
