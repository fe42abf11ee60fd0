/* Products of matrices by warpgroups, four warps each (wgmma): those under way, and the registers
 * and the shared memory that nothing else may touch meanwhile. PTX ISA, "wgmma.mma_async",
 * "wgmma.fence", "wgmma.wait_group" and "async proxy".
 *
 * A warp computes its part of a product when it issues it; that the result may come later is kept
 * beside each register. What it reads of shared memory is being read until the first of the four
 * warps has waited for it, which it can when all four have issued it: from then on it is known to
 * be over to those who waited. Moves of registers are none of the kernel's: a value that is moved
 * while a product fills it stays one that may not be used. */
#ifndef AUTOTUNE_SIM_MACHINE_WARPGROUP_H
#define AUTOTUNE_SIM_MACHINE_WARPGROUP_H

#include "sim/machine/machine.h"

/* Executes any of the SIM_WARPGROUP_ kinds. */
bool sim_warpgroup_execute(sim_block *b, sim_warp *w, const sim_instruction *c, uint32_t mask);

/* A warp that has products (sim_warp.products) is about to execute another instruction: false, with
 * a fault, where it touches registers of one that is under way. */
bool sim_warpgroup_step(sim_block *b, sim_warp *w, const sim_instruction *c);

/* Lets warps go on that waited for others of their warpgroup; false: there were none. And records
 * the fault of one that waits in vain. */
bool sim_warpgroups_open(sim_block *b);
void sim_warpgroup_report(sim_block *b, sim_warp *w);

/* The block ends: false, with a fault, when a product still reads its shared memory, or warps of
 * one warpgroup did not execute the same products. */
bool sim_warpgroups_allow_end(sim_block *b);

void sim_warpgroups_reset(sim_block *b);
void sim_warpgroups_free(sim_block *b);

#endif
