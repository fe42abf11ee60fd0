/* Facts about a decoded program that need no run. Each function sets fields of the program. */
#ifndef AUTOTUNE_SIM_DECODE_FACTS_H
#define AUTOTUNE_SIM_DECODE_FACTS_H

#include "sim/program/program.h"

/* Sets sim_instruction.reconverge of all branches. */
void facts_find_meeting_points(sim_program *p);

/* Finds whether blocks and threads can observe one another: sets `communicates`, `shares`,
 * `reorders`, `writes_strongly` and `rounds`. An atomic whose result is never read becomes a
 * reduction. A plain load whose value a compare-and-swap confirms becomes a relaxed load. */
void facts_find_communication(sim_program *p);

/* Sets `reads_unwritten`: a thread may read a register that was not written. A write under a guard
 * does not count as a write. */
void facts_find_unwritten(sim_program *p);

/* Sets `deciding`: the registers on which a branch, a guard, an address or an instruction that
 * orders threads depends, even indirectly. A loop whose iteration changes neither these registers
 * nor memory repeats for ever, even if other registers count the iterations. Sets `steering`: the
 * registers on which branches and exits depend, if the kernel computes these only from its
 * parameters and the thread's position. A loop in which these registers repeat their values has
 * no end, whatever it does to memory. */
void facts_find_deciding(sim_program *p);

/* Sets sim_instruction.drops of weak loads: a predicate that is known when the load executes and
 * tells which lanes drop the loaded value. Compilers hoist loads above the condition that guards
 * them in the source. A lane drops a value if, on every path that agrees with the predicate,
 * neither the value nor anything computed from it reaches memory, an address, a branch or another
 * lane. Needs `reads_unwritten`. */
void facts_find_drops(sim_program *p);

/* Returns whether the instruction only computes registers from registers. */
bool facts_is_arithmetic(const sim_instruction *c);

#endif
