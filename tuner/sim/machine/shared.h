/* Shared memory, watched for races and for reads of what nothing wrote. */
#ifndef AUTOTUNE_SIM_MACHINE_SHARED_H
#define AUTOTUNE_SIM_MACHINE_SHARED_H

#include "sim/machine/machine.h"

/* A lane reads or writes `bytes` of the shared memory of `a->owner`, its block or another of its
 * cluster: false, with a fault, for a race or a read of what was not written. `fresh` are the bytes
 * written: several lanes may write the same value. */
bool sim_shared_touch(sim_race_access *a, uint32_t offset, uint32_t bytes, sim_touch touch,
                      const uint8_t *fresh);
void sim_shared_reset(sim_block *b);

/* A whole warp reads or writes `bytes` a lane, side by side from `offset` on. Touches together what
 * can be (sim/machine/line.h), and returns the lanes that were; *fine becomes false with a fault.
 */
uint32_t sim_shared_touch_row(sim_race_access *a, uint32_t offset, uint32_t bytes, sim_touch touch,
                              const uint8_t *fresh, bool *fine);
/* The lanes of `mask` read the same word. False: nothing was found out, and each lane is to be
 * looked at. */
bool sim_shared_read_word(sim_race_access *a, uint32_t mask, uint32_t offset, uint32_t bytes);

/* A copy that reads or writes shared memory of `owner` begins: false, with a fault, for a race.
 * Until it has landed it is under way. `landed` is the access that landed there: the thread's own,
 * or the engine's. */
bool sim_shared_begin(sim_block *b, sim_block *owner, sim_warp *w, const sim_instruction *c,
                      int lane, uint32_t offset, uint32_t bytes, sim_touch touch, uint32_t number,
                      bool bulk);
/* Does likewise for a cp.async, of which it is known what it brings. */
bool sim_shared_begin_async(sim_block *b, sim_warp *w, const sim_copy *copy);
void sim_shared_land(sim_block *b, sim_block *owner, sim_warp *w, const sim_instruction *c,
                     int lane, uint32_t offset, uint32_t bytes, bool writes, uint32_t number,
                     const sim_stamp *landed);

/* The lane accesses the shared memory of another block. */
void sim_shared_visit(sim_block *b, sim_block *owner, sim_warp *w, const sim_instruction *c,
                      int lane);

#endif
