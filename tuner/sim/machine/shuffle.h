/* The lane whose value a lane of a shuffle reads. */
#ifndef AUTOTUNE_SIM_MACHINE_SHUFFLE_H
#define AUTOTUNE_SIM_MACHINE_SHUFFLE_H

#include "sim/machine/machine.h"

/* The lane that a lane of a shuffle reads, by its operands b and c, and whether that is inside of
 * what it may read. */
int sim_shuffle_source(const sim_instruction *c, uint32_t b, uint32_t control, int lane,
                       bool *inside);

#endif
