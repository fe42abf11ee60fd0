/* Schedules the clusters of a launch, the blocks of a cluster, and the warps of a block.
 *
 * run.c uses either sim_resident_blocks_run() or one sim_cluster per host thread. A cluster gives
 * each of its blocks a turn until all have ended. A block gives each of its warps a turn: the warp
 * runs until it waits, ends, or has used up its slice. */
#ifndef AUTOTUNE_SIM_MACHINE_SCHEDULE_H
#define AUTOTUNE_SIM_MACHINE_SCHEDULE_H

#include "sim/machine/machine.h"

/* Runs all `total` clusters of a launch whose blocks communicate, on this host thread
 * (resident_blocks.c). Sets *fault. Adds to launch->counters. Fails with AT_NO_MEMORY. */
at_status sim_resident_blocks_run(const sim_launch *launch, sim_watch *watch, uint64_t total,
                                  sim_fault *fault, at_error *error);

/* Allocates a cluster's blocks. Fails with AT_NO_MEMORY; call sim_cluster_deinit() even then. */
at_status sim_cluster_init(sim_cluster *cl, const sim_launch *launch, sim_watch *watch,
                           at_error *error);
void sim_cluster_deinit(sim_cluster *cl);

/* Returns the host memory, in bytes, that a cluster of the launch needs. */
uint64_t sim_cluster_bytes(const sim_launch *launch);

/* Makes `cl` the cluster at `position` among the clusters to run. Its blocks have not begun. */
void sim_cluster_start(sim_cluster *cl, uint64_t position);

/* Gives each block a turn. Returns false once the cluster has ended, or has a fault (cl->fault). */
bool sim_cluster_turn(sim_cluster *cl);

/* Runs the cluster at `position` to its end, or to the fault in cl->fault. */
void sim_cluster_run(sim_cluster *cl, uint64_t position);

/* Records a fault with the text `what` at a poll of a cluster whose warps all poll or wait. */
void sim_cluster_report_waiting(sim_cluster *cl, sim_fault_kind kind, const char *what);

#define SIM_NOBODY_CHANGES "it polls memory that no running thread changes any more"

/* Returns whether the excerpt (sim_excerpt) of a launch needs another cluster. */
bool sim_excerpt_goes_on(const sim_launch *launch);

/* Returns whether the cluster ended because it needs absent blocks (sim_excerpt). If so, counts it
 * in the excerpt. */
bool sim_cluster_ended_for_others(const sim_cluster *cl);

/* Adds the counters of the cluster's blocks to launch->counters. */
void sim_cluster_sum_counters(const sim_cluster *cl);

/* Allocates the block of `rank` in a cluster, and sets the registers that are the same in all
 * blocks of this rank. Fails with AT_NO_MEMORY; call sim_block_deinit() even then. */
at_status sim_block_init(sim_block *b, const sim_launch *launch, sim_cluster *cluster,
                         uint32_t rank, sim_watch *watch, at_error *error);
void sim_block_deinit(sim_block *b);

/* Returns the host memory, in bytes, that a block of the launch needs when it starts. */
uint64_t sim_block_bytes(const sim_launch *launch);

/* Makes `b` the block at `position` in the grid. Its warps are at their first instruction. */
void sim_block_start(sim_block *b, const uint32_t position[3]);

typedef enum sim_turn {
    SIM_TURN_FAULT,   /* b->fault has the fault */
    SIM_TURN_ON,      /* a warp made progress, or the block ended */
    SIM_TURN_POLLING, /* all warps that could run only polled */
    SIM_TURN_STUCK    /* no warp could run */
} sim_turn;

/* Runs each warp that can run until it waits or ends. Opens the barriers that were reached. */
sim_turn sim_block_turn(sim_block *b);

/* Interprets a warp until it waits, ends, or has used up its slice. Returns false if it faults. */
bool sim_warp_run(sim_block *b, sim_warp *w);

#endif
