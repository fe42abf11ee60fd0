/* Finds what the values of registers influence. */
#ifndef AUTOTUNE_SIM_DECODE_DECIDING_H
#define AUTOTUNE_SIM_DECODE_DECIDING_H

#include "sim/program/program.h"

/* Finds the registers that decide where a program goes and where it looks.
 *
 * Sets sim_program.deciding: those that a branch, a guard, an address or an instruction that orders
 * threads depends on, at any distance. A loop in which they are what they were, and memory is, goes
 * on as it did; what it merely counts is no matter. */
void deciding_find(sim_program *p);

/* Finds the weak loads of which a predicate, known when they run, tells the lanes that drop what
 * they load, and sets sim_instruction.drops. Compilers hoist loads above the condition that guards
 * them in the source. A lane drops a value if neither the value nor anything computed from it
 * reaches memory, an address, a branch or another lane on any path that the predicate leaves open.
 */
void deciding_find_drops(sim_program *p);

#endif
