/* The paths of a warp that diverged: which of them goes on, and the calls that they are in. */
#ifndef AUTOTUNE_SIM_MACHINE_PATHS_H
#define AUTOTUNE_SIM_MACHINE_PATHS_H

#include "sim/machine/machine.h"

/* Another path of a diverged warp goes on in place of the top one, where there is one. `polls`: the
 * top one may be waiting for it. */
void sim_paths_turn(sim_block *b, sim_warp *w, bool polls);

/* Does the same where the top path waits for other lanes at the instruction that it has just
 * fetched; it will fetch that again. Paths at the same instruction become one. False: no other path
 * can help. */
bool sim_paths_give_way(sim_block *b, sim_warp *w);

/* Does the same where no path as it is can help: lanes that have met whom they waited for at an
 * operation of the warp go on, and leave those of their path there whose partners have not come.
 * False: there are none. */
bool sim_paths_let_go(sim_warp *w);

/* The top path is at a strong access, or asks which lanes are with it. Threads of a warp need not
 * go in step: some of its lanes may go ahead of the others here. They do so up to where the code
 * goes straight no more, if they meet another place that threads share before that, or until all
 * have to meet. True: they do. */
bool sim_paths_part(sim_block *b, sim_warp *w);

/* Execute SIM_CALL and SIM_RETURN for the lanes of the top path. The first returns false, with a
 * fault, when the calls nest too deep. */
bool sim_frames_call(sim_block *b, sim_warp *w, const sim_instruction *c, uint32_t mask);
void sim_frames_return(sim_block *b, sim_warp *w, const sim_instruction *c, uint32_t mask);

/* Drops the frames of a warp that has ended, or was stopped. */
void sim_frames_drop(const sim_block *b, sim_warp *w);

#endif
