/* Endless loops, found because a state occurs again.
 *
 * A warp that only computes: while it reads nothing that others may change, and changes only its
 * registers, its registers and paths decide what it does next. If both occur again at a branch
 * back, the loop is endless. The state to compare with is replaced after 1, 2, 4 ... comparisons
 * (R. P. Brent, "An improved Monte Carlo factorization algorithm", 1980).
 *
 * Warps that poll: lanes that come to the same poll with the same registers and the same memory
 * come again until memory changes. If that holds for all lanes that do not wait at a barrier,
 * memory never changes. Lanes that learn something in other ways than from memory start anew. */
#ifndef AUTOTUNE_SIM_MACHINE_REPEAT_H
#define AUTOTUNE_SIM_MACHINE_REPEAT_H

#include "sim/machine/machine.h"

/* Notes a branch back of the lanes of `mask`. Returns false, with a fault, if the loop is
 * endless. */
bool sim_repeat_branch(sim_block *b, sim_warp *w, const sim_instruction *c, uint32_t mask);

/* Notes that the warp does more than compute. */
static inline void sim_repeat_end(sim_warp *w)
{
    w->loop.branch = NULL;
}

/* Notes that lanes poll at `pc`, or wait there for other lanes of their warp. */
void sim_repeat_poll(const sim_block *b, sim_warp *w, int32_t pc, uint32_t mask);

/* Notes that lanes learned in other ways than from memory, or changed memory of their own. */
void sim_repeat_forget(sim_warp *w);

/* Returns whether all running warps wait for ever for changes that none of them will make. */
bool sim_repeat_is_stuck(const sim_cluster *cl);

/* Notes that a warp has read memory that others may change, and has changed nothing. `found` is a
 * hash of the instruction, the addresses and the values: a warp that finds the same again is
 * polling. `is_global`: other blocks may change the memory. */
void sim_note_poll(const sim_block *b, sim_warp *w, const sim_instruction *c, uint32_t mask,
                   uint64_t found, bool is_global);

#endif
