/* The paths of a warp whose lanes have diverged: the path that runs, and the calls of paths. */
#ifndef AUTOTUNE_SIM_MACHINE_PATHS_H
#define AUTOTUNE_SIM_MACHINE_PATHS_H

#include "sim/machine/machine.h"

/* Lets another path of a diverged warp run instead of the top one, if there is one. `polls`: the
 * top path may be waiting for it. */
void sim_paths_switch(sim_block *b, sim_warp *w, bool polls);

/* Does the same if the top path waits for other lanes at the instruction that it has just fetched:
 * it will fetch the instruction again. Paths at the same instruction become one. Returns false if
 * no other path can help. */
bool sim_paths_yield(sim_block *b, sim_warp *w);

/* Does the same if no path as a whole can help: splits a path of which some lanes have met their
 * partners at a warp operation. These lanes go on and leave the others. Returns false if there are
 * no such lanes. */
bool sim_paths_let_go(sim_warp *w);

/* Splits the top path at a strong access, or where it asks which lanes are active: threads of a
 * warp need not run in step. Some lanes run ahead of the others, either to the end of the straight
 * code, if it accesses memory that threads share, or until all have to meet. Returns whether it did
 * so. */
bool sim_paths_split(sim_block *b, sim_warp *w);

/* Tells whether all lanes of the warp execute the instruction. If not, *out is the value to return
 * from the instruction: true if another path runs now, or false, with a fault. */
bool sim_has_all_lanes(sim_block *b, sim_warp *w, const sim_instruction *c, uint32_t mask,
                       bool *out);

/* Drops the frames of a warp that has ended or was stopped. */
void sim_frames_drop(const sim_block *b, sim_warp *w);

#endif
