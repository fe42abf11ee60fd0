/* May a thread read a register that nothing wrote? */
#ifndef AUTOTUNE_SIM_DECODE_UNWRITTEN_H
#define AUTOTUNE_SIM_DECODE_UNWRITTEN_H

#include "sim/program/program.h"

/* Sets p->reads_unwritten of a decoded program. A write under a guard may not happen. */
void unwritten_find(sim_program *p);

#endif
