/* Can blocks see what others do while they run? */
#ifndef AUTOTUNE_SIM_DECODE_COMMUNICATION_H
#define AUTOTUNE_SIM_DECODE_COMMUNICATION_H

#include "sim/program/program.h"

/* Sets p->communicates of a decoded program. Atomics whose result nothing reads return none; plain
 * reads that a compare-and-swap confirms become relaxed ones. */
void communication_find(sim_program *p);

#endif
