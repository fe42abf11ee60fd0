/* The blocks of a cluster, most often one alone: each has a turn until all have ended. */
#ifndef AUTOTUNE_SIM_MACHINE_CLUSTER_H
#define AUTOTUNE_SIM_MACHINE_CLUSTER_H

#include "sim/machine/machine.h"

/* Allocates the blocks of a cluster of the launch. AT_NO_MEMORY; sim_cluster_deinit() also then. */
at_status sim_cluster_init(sim_cluster *cl, const sim_launch *launch, sim_watch *watch,
                           at_error *error);
void sim_cluster_deinit(sim_cluster *cl);

/* Makes it the cluster at that position of those to run; none of its blocks has begun. */
void sim_cluster_start(sim_cluster *cl, uint64_t position);

/* Gives each of its blocks a turn: false when it has ended or faulted, as cl->fault says. */
bool sim_cluster_turn(sim_cluster *cl);

/* Records that fault at a poll of a cluster of which all that run poll. */
void sim_cluster_report_waiting(sim_cluster *cl, sim_fault_kind kind, const char *what);

#define SIM_NOBODY_CHANGES "it looks again and again at what no thread that runs changes any more"

/* Runs it to its end; cl->fault says how it went. */
void sim_cluster_run(sim_cluster *cl, uint64_t position);

/* Bytes of a cluster of the launch, of the host's memory. */
uint64_t sim_cluster_bytes(const sim_launch *launch);

/* Does another cluster begin, of an excerpt of which so many have? */
bool sim_excerpt_goes_on(const sim_launch *launch);

/* True where the launch is an excerpt, to which it adds that the cluster ended for the absence of
 * other blocks. */
bool sim_cluster_ended_for_others(const sim_cluster *cl);

/* Adds what the cluster's blocks have counted to launch->counters. */
void sim_cluster_sum_counters(const sim_cluster *cl);

#endif
