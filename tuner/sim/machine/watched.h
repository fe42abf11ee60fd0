/* Shows the accesses of lanes to what watches their space of memory for races (global.h,
 * shared.h). */
#ifndef AUTOTUNE_SIM_MACHINE_WATCHED_H
#define AUTOTUNE_SIM_MACHINE_WATCHED_H

#include "sim/machine/places.h"
#include "sim/machine/race.h"

/* A lane touches `bytes`: false, with a fault, for a race. `fresh` are the bytes written, or NULL.
 */
bool sim_touch_lane(sim_race_access *a, int lane, ptx_space space, const sim_places *p,
                    uint32_t bytes, sim_touch kind, const uint8_t *fresh);

/* Touches at once what the lanes of `mask` touch as one, and returns those that are left; *fine
 * becomes false with a fault. */
uint32_t sim_touch_together(sim_race_access *a, uint32_t mask, ptx_space space, const sim_places *p,
                            uint32_t bytes, sim_touch kind, const uint8_t *fresh, bool *fine);

#endif
