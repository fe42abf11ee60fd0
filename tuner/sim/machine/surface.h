/* Finds where the places of a surface lie. Loads, stores and atomics follow there, as of global
 * memory. PTX ISA, "suld", "sust", "sured". */
#ifndef AUTOTUNE_SIM_MACHINE_SURFACE_H
#define AUTOTUNE_SIM_MACHINE_SURFACE_H

#include "sim/machine/machine.h"

/* Finds the address for each lane. A fault: the place is outside and the instruction traps, or it
 * is not aligned. */
bool sim_surface_find(sim_block *b, sim_warp *w, const sim_instruction *c, uint32_t mask);

#endif
