/* Atomics: what they make of a value, and those of a warp's lanes. */
#ifndef AUTOTUNE_SIM_MACHINE_ATOMIC_H
#define AUTOTUNE_SIM_MACHINE_ATOMIC_H

#include "sim/machine/places.h"

/* Applies an atomic at host address `at` of one lane; returns the old value. `flush`: sums of
 * floats of 32 bits take and give zeros for subnormal numbers. */
uint64_t sim_atomic_apply(uint8_t *at, sim_atomic_op op, ptx_type type, bool flush,
                          uint64_t operand, uint64_t other);

/* Does those of the lanes of `mask` at these places, of elements of `bytes`. */
bool sim_atomic(sim_block *b, sim_warp *w, const sim_instruction *c, uint32_t mask, ptx_space space,
                const sim_places *p, uint32_t bytes);

#endif
