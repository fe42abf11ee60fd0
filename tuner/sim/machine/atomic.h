/* Computes what an atomic makes of a value. */
#ifndef AUTOTUNE_SIM_MACHINE_ATOMIC_H
#define AUTOTUNE_SIM_MACHINE_ATOMIC_H

#include "sim/machine/machine.h"

/* Applies an atomic at host address `at` of one lane; returns the old value. `flush`: sums of
 * floats of 32 bits take and give zeros for subnormal numbers. */
uint64_t sim_atomic_apply(uint8_t *at, sim_atomic_op op, ptx_type type, bool flush,
                          uint64_t operand, uint64_t other);

/* The same of 128 bits, exchanged or compared with `operand` and then exchanged with `other`: lower
 * half first. Tells whether the operand was found or its like does not matter. No other host thread
 * may apply one there meanwhile: what such programs do does not commute, and one thread runs them.
 */
bool sim_atomic_exchange(uint8_t *at, sim_atomic_op op, const uint64_t operand[2],
                         const uint64_t other[2], uint64_t old[2]);

#endif
