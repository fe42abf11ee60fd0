/* Executes what the lanes of a warp exchange or compute together. */
#ifndef AUTOTUNE_SIM_MACHINE_COLLECTIVE_H
#define AUTOTUNE_SIM_MACHINE_COLLECTIVE_H

#include "sim/machine/machine.h"

bool sim_collective(sim_block *b, sim_warp *w, const sim_instruction *c, uint32_t mask);

/* A product of matrices, by all lanes of the warp. */
bool sim_multiply(sim_block *b, sim_warp *w, const sim_instruction *c, uint32_t mask);

/* Are all lanes of the warp here? Else *out is what the instruction's handler returns: true, for
 * others are given way to, or false, with a fault. */
bool sim_has_all_lanes(sim_block *b, sim_warp *w, const sim_instruction *c, uint32_t mask,
                       bool *out);

/* Does the metadata of a sparse product of matrices say where all elements are? False, with a
 * fault: that of some lane does not. */
bool sim_check_metadata(sim_block *b, const sim_warp *w, const sim_instruction *c);

#endif
