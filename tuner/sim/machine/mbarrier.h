/* Barriers in shared memory, for which threads arrive and copies bring bytes. Copies land as late
 * as the rules allow: when a thread asks the barrier that they report to, so that a kernel that
 * does not wait reads what is not there. PTX ISA, "mbarrier". */
#ifndef AUTOTUNE_SIM_MACHINE_MBARRIER_H
#define AUTOTUNE_SIM_MACHINE_MBARRIER_H

#include "sim/machine/engine.h"

/* Executes a SIM_MBARRIER. */
bool sim_mbarrier(sim_block *b, sim_warp *w, const sim_instruction *c, uint32_t mask);

/* Finds the barrier, of the block `owner` whose memory it fills, that a lane's copy reports to: *at
 * is its offset in shared memory. False, with a fault. */
bool sim_mbarrier_find_report(sim_block *b, sim_warp *w, const sim_instruction *c, int lane,
                              uint64_t barrier, sim_block *owner, uint32_t *at);

/* Records the fault of a block whose warps all poll barriers that nothing will complete. */
void sim_mbarrier_report_stall(sim_block *b);

#endif
