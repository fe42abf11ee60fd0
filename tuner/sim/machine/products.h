/* Products of matrices by warpgroups of four warps (wgmma): the products under way, and the
 * registers and shared memory that only these products may access meanwhile. execute.h has the
 * instructions. PTX ISA, "wgmma.mma_async", "wgmma.fence", "wgmma.wait_group" and "async proxy".
 *
 * A warp computes its part of a product when it issues the instruction. Flags beside each register
 * record that a GPU may write the result later. A product reads shared memory until the first of
 * the four warps has waited for the product. A warp's wait ends once all four warps have issued the
 * product. Threads that waited know that the reads are over. If the compiler moves an accumulator
 * to another register, the moved value stays unusable while a product fills the accumulator. */
#ifndef AUTOTUNE_SIM_MACHINE_PRODUCTS_H
#define AUTOTUNE_SIM_MACHINE_PRODUCTS_H

#include "sim/machine/machine.h"

/* Checks an instruction before it runs, in a warp that has issued products (sim_warp.products).
 * Returns false, with a fault, if the instruction uses registers of a product under way. */
bool sim_warpgroup_step(sim_block *b, sim_warp *w, const sim_instruction *c);

/* Ends the waits of warps for products that the whole warpgroup has issued. Returns whether any
 * wait ended. */
bool sim_warpgroups_open(sim_block *b);

/* Records the fault of a warp whose wait for products cannot end. */
void sim_warpgroup_report(sim_block *b, sim_warp *w);

/* Returns whether the block may end. Returns false, with a fault, if a product still reads its
 * shared memory, or if warps of one warpgroup issued different products. */
bool sim_warpgroups_allow_end(sim_block *b);

void sim_warpgroups_reset(sim_block *b);
void sim_warpgroups_free(sim_block *b);

#endif
