/* Finds the registers that decide where a program goes and where it looks.
 *
 * Sets sim_program.deciding: those that a branch, a guard, an address or an instruction that orders
 * threads depends on, at any distance. A loop in which they are what they were, and memory is, goes
 * on as it did; what it merely counts is no matter. */
#ifndef AUTOTUNE_SIM_DECODE_DECIDING_H
#define AUTOTUNE_SIM_DECODE_DECIDING_H

#include "sim/program/program.h"

void deciding_find(sim_program *p);

#endif
