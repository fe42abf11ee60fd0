/* Finds endless loops, whose state occurs again.
 *
 * A warp that only computes reads nothing that other warps may change, and changes only its
 * registers. Its registers and paths decide what it does next. If both occur again at a backward
 * branch, the loop is endless. The state to compare with is replaced after 1, 2, 4 ... comparisons
 * (R. P. Brent, "An improved Monte Carlo factorization algorithm", 1980).
 *
 * A loop that changes memory is endless, too, if no branch of the kernel depends on memory or other
 * threads (sim_program.steering) and the values that decide branches occur again.
 *
 * A lane that comes to the same poll again, with the same registers and the same memory, repeats
 * this until memory changes. If all lanes that do not wait at a barrier repeat themselves, memory
 * never changes. A lane that learns a value from another lane starts anew. */
#ifndef AUTOTUNE_SIM_MACHINE_REPEAT_H
#define AUTOTUNE_SIM_MACHINE_REPEAT_H

#include "sim/machine/machine.h"

/* Notes that lanes take a backward branch. Returns false, with a fault, if the loop is endless. */
bool sim_repeat_branch(sim_block *b, sim_warp *w, const sim_instruction *c, uint32_t mask);

/* Notes that the warp executes an instruction that does more than compute. */
static inline void sim_repeat_end(sim_warp *w)
{
    w->loop.branch = NULL;
}

/* Notes that lanes poll at `pc`, or wait there for other lanes of their warp. */
void sim_repeat_poll(const sim_block *b, sim_warp *w, int32_t pc, uint32_t mask);

/* Notes that lanes learned values in other ways than from memory, or changed their own memory. */
void sim_repeat_forget(sim_warp *w);

/* Returns whether all warps of the cluster that still run wait for ever for a change of memory. */
bool sim_repeat_is_stuck(const sim_cluster *cl);

/* Notes that a warp has read memory that other warps may change, and has changed nothing. `found`
 * is a hash of the instruction, the addresses and the values. A warp that finds the same hash again
 * is polling. `is_global` says whether other blocks may change this memory. */
void sim_note_poll(const sim_block *b, sim_warp *w, const sim_instruction *c, uint32_t mask,
                   uint64_t found, bool is_global);

#endif
