/* Fills buffers as their plan says (buffer_fill in device/plan.h), on the host, with the same
 * values as the support kernels of a GPU (templates/device_support.cu). Element i depends on plan,
 * seed and i alone. */
#ifndef AUTOTUNE_SIM_FILL_H
#define AUTOTUNE_SIM_FILL_H

#include "device/plan.h"

void sim_fill(uint8_t *bytes, const buffer_plan *plan, uint64_t seed);

/* Fills elements `first` to `end` - 1 of a buffer that begins at `bytes`. */
void sim_fill_part(uint8_t *bytes, const buffer_plan *plan, uint64_t seed, uint64_t first,
                   uint64_t end);

#endif
