/* The paths of a diverged warp: which path runs, and which calls a path is in. */
#ifndef AUTOTUNE_SIM_MACHINE_PATHS_H
#define AUTOTUNE_SIM_MACHINE_PATHS_H

#include "sim/machine/machine.h"

/* Lets another path of a diverged warp, if any, run instead of the top path. `polls` is true if the
 * top path may be waiting for another path. */
void sim_paths_switch(sim_block *b, sim_warp *w, bool polls);

/* Lets another path run, because the top path waits for other lanes at the instruction just
 * fetched. The top path fetches the instruction again later. Merges paths at the same instruction.
 * Returns false if no path helps. */
bool sim_paths_yield(sim_block *b, sim_warp *w);

/* Lets lanes go on whose warp operation is done, although other lanes of their path wait. Call this
 * when sim_paths_yield() returned false. Returns whether any lanes go on. */
bool sim_paths_let_go(sim_warp *w);

/* Splits the top path at a strong access or at activemask, because lanes need not run in step. Some
 * lanes run ahead to the end of the straight code with strong accesses, or until all lanes have to
 * meet. Returns whether it split the path. */
bool sim_paths_split(sim_block *b, sim_warp *w);

/* Returns whether all lanes of the warp execute the instruction. If not, the caller must return
 * *out: true if another path runs now, or false, with a fault. */
bool sim_has_all_lanes(sim_block *b, sim_warp *w, const sim_instruction *c, uint32_t mask,
                       bool *out);

/* Drops the frames of a warp that has ended or was stopped. */
void sim_frames_drop(const sim_block *b, sim_warp *w);

#endif
