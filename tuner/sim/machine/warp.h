/* The interpreter: the instructions of a warp. */
#ifndef AUTOTUNE_SIM_MACHINE_WARP_H
#define AUTOTUNE_SIM_MACHINE_WARP_H

#include "sim/machine/machine.h"

/* Interprets a warp until it waits or ends; false when it faults. */
bool sim_warp_run(sim_block *b, sim_warp *w);

#endif
