/* Reshapes a kernel's loads and stores of shared and global memory as ptxas does.
 *
 * One access of PTX is not always one of the GPU. Ptxas leaves out the elements of a vector load
 * that nothing reads, and neighbouring accesses of one base register become one wide access where
 * the alignment is known. The rule was read off the machine code that ptxas makes of short
 * sequences for sm_90 (tests/unit/sim/decode), and says:
 *
 *   - Words of 4 bytes (or all of 8) that one basic block loads from one aligned piece of 16 bytes
 * are one load when three or four of them are wanted, or two halves; else each is a load of its
 * own. Stores are the same but never cover a word that is not written.
 *   - Loads are not joined across a barrier, a fence, or a store to the same space (which read-only
 * loads, .nc, do not mind); stores not across any other access of their space.
 *   - The alignment is what the address computation shows (a multiple of 16 added to an array of
 * shared memory); that of a pointer argument is not known, but a wider access of the same base
 * register in the block implies it.
 *   - Accesses under a guard, volatile ones and those that name an order are never joined.
 *
 * Left as they are written, though ptxas may join them: elements of 1 and 2 bytes, generic
 * addresses, local memory, accesses of different base registers or blocks, and those whose base
 * register is set in several places of which one shows less alignment. A register counts as read
 * where anything but the load names it. Execution and its checks are not concerned: they go by what
 * is written. */
#ifndef AUTOTUNE_SIM_DECODE_RESHAPE_H
#define AUTOTUNE_SIM_DECODE_RESHAPE_H

#include "sim/program/program.h"

/* Returns the shapes of all statements of a function: one for each statement, of which those of
 * other statements are SIM_SHAPE_AS_WRITTEN. `addresses` are those of the module's variables in
 * their space. The caller frees them. */
sim_shape *reshape_accesses(const ptx_module *module, const ptx_function *function,
                            const uint64_t *addresses);

#endif
