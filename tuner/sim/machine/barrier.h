/* Barriers of a block and of a cluster. */
#ifndef AUTOTUNE_SIM_MACHINE_BARRIER_H
#define AUTOTUNE_SIM_MACHINE_BARRIER_H

#include "sim/machine/machine.h"

/* barrier.cluster: a warp arrives or waits. */
bool sim_cluster_barrier(sim_block *b, sim_warp *w, const sim_instruction *c, uint32_t mask);

/* Opens the barrier of the cluster when all warps that have not ended have arrived; false when
 * not. */
bool sim_cluster_barrier_open(sim_cluster *cl);

/* A warp arrives at the barrier of its instruction, at which it has stopped. */
bool sim_barrier_arrive(sim_block *b, sim_warp *w, const sim_instruction *c, uint32_t mask);

/* Opens the barriers that enough warps have reached; false when there is none. */
bool sim_barriers_open(sim_block *b);

/* Records the fault of a block whose warps all wait at barriers that cannot complete. */
void sim_report_deadlock(sim_block *b);
uint32_t sim_warps_left(const sim_block *b); /* that have not ended */

#endif
