/* Contents of buffers as a fill says (device/plan.h), on the host: the same as the support kernels of a
 * GPU make (templates/device_support.cu). Element i is a function of plan, seed and i alone. */
#ifndef AUTOTUNE_SIM_FILL_H
#define AUTOTUNE_SIM_FILL_H

#include "device/plan.h"

/* Fills plan->count elements. */
void sim_fill(uint8_t *bytes, const buffer_plan *plan, uint64_t seed);

#endif
