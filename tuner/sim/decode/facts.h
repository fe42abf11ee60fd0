/* Facts about a decoded program that need no run. Each function sets fields of the program. */
#ifndef AUTOTUNE_SIM_DECODE_FACTS_H
#define AUTOTUNE_SIM_DECODE_FACTS_H

#include "sim/program/program.h"

/* Sets sim_instruction.reconverge of all branches. */
void facts_find_meeting_points(sim_program *p);

/* Finds whether blocks and threads can observe one another: sets `communicates`, `shares`,
 * `reorders`, `writes_strongly` and `rounds`. Atomics whose result is never read become reductions.
 * Plain loads that a compare-and-swap confirms become relaxed loads. */
void facts_find_communication(sim_program *p);

/* Sets `reads_unwritten`: a thread may read an unwritten register. Guarded writes do not count. */
void facts_find_unwritten(sim_program *p);

/* Sets `deciding`: the registers on which a branch, a guard, an address or an instruction that
 * orders threads depends, even indirectly. A loop iteration that changes neither them nor memory
 * repeats for ever, even if it counts iterations in other registers. */
void facts_find_deciding(sim_program *p);

/* Sets sim_instruction.drops of weak loads: a predicate, known when the load executes, of the lanes
 * that drop the value. Compilers hoist loads above the condition that guards them in the source. A
 * lane drops a value if, on every path that the predicate leaves open, neither the value nor
 * anything computed from it reaches memory, an address, a branch or another lane. Needs
 * `reads_unwritten`. */
void facts_find_drops(sim_program *p);

/* Returns whether the instruction only computes a register from registers. */
bool facts_is_arithmetic(const sim_instruction *c);

#endif
