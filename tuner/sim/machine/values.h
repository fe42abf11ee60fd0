/* Which bits of registers have a value.
 *
 * In: each instruction of a warp before it runs. Out: a fault where a register that nothing wrote,
 * or what was loaded from memory that nothing wrote, becomes an address, a condition, an operand of
 * a warp operation or a barrier, or is stored; what is only moved, computed with and then dropped
 * is none. A mask of bits lies beside each register (Seward & Nethercote, "Using Valgrind to detect
 * undefined value errors with bit-precision", USENIX 2005).
 *
 * Nothing is kept, and nothing is paid, for a block until it loads what nothing wrote, unless its
 * program may read a register before it writes it (sim_program.reads_unwritten). */
#ifndef AUTOTUNE_SIM_MACHINE_VALUES_H
#define AUTOTUNE_SIM_MACHINE_VALUES_H

#include "sim/machine/machine.h"

enum { SIM_ORIGIN_BYTES = SIM_PLACE_BYTES + 64 }; /* of where a value is missing, in words */

/* Makes room for a block's values. False: no memory. */
bool sim_values_reserve(sim_block *b);
/* A block begins; one whose program may read unwritten registers has room. */
void sim_values_start(sim_block *b);
void sim_values_free(sim_block *b);

/* The lanes of `mask` of the top path are about to execute the instruction; its result has no value
 * where its operands have none. False, with a fault: it needs one that has none. Asked only where
 * values are kept: w->lacks. */
bool sim_values_step(sim_block *b, sim_warp *w, const sim_instruction *c, uint32_t mask);

/* The same of lanes that exchange values, each by its own instruction, when they have met. */
bool sim_values_exchange(sim_block *b, sim_warp *w, const sim_instruction *const of[],
                         uint32_t mask);

/* The same of a product of matrices. */
bool sim_values_multiply(sim_block *b, sim_warp *w, const sim_instruction *c);

/* Does the same of one by a warpgroup, whose pieces are there in shared memory. False, with a
 * fault: no memory. */
bool sim_values_warpgroup(sim_block *b, sim_warp *w, const sim_instruction *c,
                          const uint32_t *a_pieces, const uint32_t *b_pieces, bool keeps);

/* May it read what nothing wrote? What is loaded and not used is no fault: a structure is copied
 * with the gaps in it, an exchange may be meant as a store. */
static inline bool sim_values_may_lack(const sim_instruction *c)
{
    return c->kind == SIM_LOAD || c->kind == SIM_WARPGROUP_PRODUCT ||
           (c->kind == SIM_ATOMIC && c->op == SIM_ATOMIC_EXCH);
}

/* The lane has loaded bits into that register that nothing wrote, or got what is unpredictable,
 * from the place that `where` tells; `local`, unless NULL, is where its local memory says that it
 * was not written. False, with a fault: no memory. */
bool sim_values_lose(sim_block *b, sim_warp *w, const sim_instruction *c, int lane, int32_t slot,
                     uint64_t bits, const char *where, const uint8_t *local);
/* The lane has stored what is missing in the register to its local memory, at that place among
 * those of all lanes. */
void sim_values_keep(sim_block *b, const sim_warp *w, int32_t slot, const uint8_t *valid,
                     uint32_t bytes);
/* Bits of a lane of a store's element without a value. */
uint64_t sim_values_missing(const sim_warp *w, const sim_instruction *c, int lane, int32_t slot);
/* Says at which address the register's value is missing: in a space, of shared memory in the
 * owner's. What was said first of a load stays. */
void sim_values_place(sim_block *b, const sim_warp *w, int32_t slot, const sim_block *owner,
                      ptx_space space, uint64_t address);

/* Records the fault of a lane that needs the register for `what`; returns false. */
bool sim_values_fail(sim_block *b, const sim_warp *w, const sim_instruction *c, int lane,
                     int32_t slot, const char *what);

#endif
