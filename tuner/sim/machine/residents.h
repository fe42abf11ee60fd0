/* The clusters of a launch that are under way at once, since they may wait for one another. */
#ifndef AUTOTUNE_SIM_MACHINE_RESIDENTS_H
#define AUTOTUNE_SIM_MACHINE_RESIDENTS_H

#include "sim/machine/machine.h"

/* Runs all clusters of a launch on this host thread, several at a time where they wait for one
 * another; *fault says how it went. AT_NO_MEMORY. Adds to launch->counters. */
at_status sim_residents_run(const sim_launch *launch, sim_watch *watch, uint64_t total,
                            sim_fault *fault, at_error *error);

#endif
