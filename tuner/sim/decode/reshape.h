/* Predicts the machine instructions into which ptxas turns the loads and stores of a kernel.
 *
 * ptxas leaves out the elements of a vector load that are never read, and joins neighbouring
 * accesses of the same base register into one wide access if their alignment is known. This module
 * does the same to the accesses of shared and global memory. The rules were derived from the
 * machine code that ptxas makes of short sequences for sm_90
 * (tests/unit/sim/decode/test_reshape.c):
 *
 *   - A basic block loads words of 4 bytes (or elements of 8) from an aligned unit of 16 bytes.
 *     Three or four needed words of the unit are one load. An aligned pair is one load. Each other
 *     word is a load of its own. Stores are the same, but a store never covers a word that the
 *     block does not write.
 *   - Loads are not joined across a barrier, a fence or a store to the same space; read-only loads
 *     (.nc) may be joined across stores. Stores are not joined across any other access to their
 *     space.
 *   - The computation of an address gives its alignment: a shared array plus a multiple of 16 is
 *     aligned. The alignment of a pointer argument is unknown, unless the block has a wider access
 *     with the same base register.
 *   - Accesses with a guard, volatile accesses and accesses with a memory order are never joined.
 *
 * Some accesses that ptxas may join stay as written: elements of 1 and 2 bytes, generic addresses,
 * local memory, accesses with different base registers or in different blocks, and accesses whose
 * base register is set in several places with different alignment. A register counts as read if any
 * statement other than the load names it. Execution and its checks use the accesses as written. */
#ifndef AUTOTUNE_SIM_DECODE_RESHAPE_H
#define AUTOTUNE_SIM_DECODE_RESHAPE_H

#include "sim/program/program.h"

/* Returns the shape of each statement of a function: zeros if the statement is not reshaped.
 * `addresses` has the address of each of the module's variables. The caller frees the result. */
sim_shape *reshape_accesses(const ptx_module *module, const ptx_function *function,
                            const uint64_t *addresses);

#endif
