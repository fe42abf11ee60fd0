/* Global memory, watched for races. */
#ifndef AUTOTUNE_SIM_MACHINE_GLOBAL_H
#define AUTOTUNE_SIM_MACHINE_GLOBAL_H

#include "sim/machine/machine.h"

at_status sim_watch_new(const sim_launch *launch, bool concurrent, sim_watch **out,
                        at_error *error);
void sim_watch_free(sim_watch *watch); /* NULL is fine */

/* A lane reads or writes `bytes` at `offset` of `a->region`: false, with a fault, for a race. */
bool sim_global_touch(sim_race_access *a, uint64_t offset, uint32_t bytes, sim_touch touch,
                      const uint8_t *fresh);

/* A whole warp reads or writes `bytes` a lane, side by side from `offset` on. Touches together what
 * can be (sim/machine/line.h), and returns the lanes that were; *fine becomes false with a fault.
 */
uint32_t sim_global_touch_row(sim_race_access *a, uint64_t offset, uint32_t bytes, sim_touch touch,
                              const uint8_t *fresh, bool *fine);

/* A copy from or to global memory begins and lands, as in shared memory. */
bool sim_global_begin(sim_block *b, sim_warp *w, const sim_instruction *c, int lane,
                      const sim_region *region, uint64_t offset, uint32_t bytes, sim_touch touch,
                      uint32_t number, bool bulk);
void sim_global_land(sim_block *b, sim_warp *w, const sim_instruction *c, int lane,
                     const sim_region *region, uint64_t offset, uint32_t bytes, bool writes,
                     uint32_t number, const sim_stamp *landed);

#endif
