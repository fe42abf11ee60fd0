/* Atomics of a warp's lanes. */
#ifndef AUTOTUNE_SIM_MACHINE_ATOMIC_H
#define AUTOTUNE_SIM_MACHINE_ATOMIC_H

#include "sim/machine/places.h"

/* Does those of the lanes of `mask` at these places, of elements of `bytes`. */
bool sim_atomic(sim_block *b, sim_warp *w, const sim_instruction *c, uint32_t mask, ptx_space space,
                const sim_places *p, uint32_t bytes);

#endif
