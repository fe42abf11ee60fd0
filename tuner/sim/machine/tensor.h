/* Copies of boxes of a tensor, which a tensor map describes. PTX ISA, "tensors" and
 * "cp.async.bulk.tensor", tiled mode; "swizzling modes".
 *
 * A box is copied row by row as bulk copies are: what lies outside the tensor is read as zeros, or
 * NaN, and is not written. */
#ifndef AUTOTUNE_SIM_MACHINE_TENSOR_H
#define AUTOTUNE_SIM_MACHINE_TENSOR_H

#include "sim/machine/machine.h"

/* A bulk copy whose `target_count` coordinates are in lists. */
bool sim_tensor_copy(sim_block *b, sim_warp *w, const sim_instruction *c, uint32_t mask);

#endif
