/* The paths of a warp that diverged: which of them goes on. */
#ifndef AUTOTUNE_SIM_MACHINE_PATHS_H
#define AUTOTUNE_SIM_MACHINE_PATHS_H

#include "sim/machine/machine.h"

/* Another path of a diverged warp goes on in place of the top one, where there is one. `polls`: the
 * top one may be waiting for it. */
void sim_paths_turn(sim_block *b, sim_warp *w, bool polls);

/* The same where the top path waits for other lanes at the instruction that it has just fetched,
 * which it will fetch again; paths at the same instruction become one. False: no other path can
 * help. */
bool sim_paths_give_way(sim_block *b, sim_warp *w);

#endif
