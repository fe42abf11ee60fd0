/* Loads, stores and atomics of a warp's lanes. */
#ifndef AUTOTUNE_SIM_MACHINE_ACCESS_H
#define AUTOTUNE_SIM_MACHINE_ACCESS_H

#include "sim/machine/machine.h"

/* Executes a SIM_LOAD, SIM_STORE or SIM_ATOMIC of the lanes of `mask`. False, with a fault. */
bool sim_access(sim_block *b, sim_warp *w, const sim_instruction *c, uint32_t mask);

/* Executes a SIM_DISCARD: to others a write, of what nobody knows. False, with a fault. */
bool sim_discard(sim_block *b, sim_warp *w, const sim_instruction *c, uint32_t mask);

#endif
