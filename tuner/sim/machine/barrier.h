/* Opens the barriers of a block and of a cluster. execute.h declares the barrier instructions. */
#ifndef AUTOTUNE_SIM_MACHINE_BARRIER_H
#define AUTOTUNE_SIM_MACHINE_BARRIER_H

#include "sim/machine/machine.h"

/* Opens the cluster's barrier if all live warps have arrived. Returns whether it has opened. */
bool sim_cluster_barrier_open(sim_cluster *cl);

/* Opens the barriers that enough warps of the block have reached. Returns whether any opened. */
bool sim_barriers_open(sim_block *b);

/* Records the fault of a block whose warps all wait at barriers that cannot complete. */
void sim_report_deadlock(sim_block *b);

/* Returns the number of warps that have not ended. */
uint32_t sim_warps_left(const sim_block *b);

#endif
