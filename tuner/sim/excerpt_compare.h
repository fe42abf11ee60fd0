/* Compares what the blocks of an excerpt wrote with what those of the reference write there. */
#ifndef AUTOTUNE_SIM_EXCERPT_COMPARE_H
#define AUTOTUNE_SIM_EXCERPT_COMPARE_H

#include "sim/excerpt_state.h"
#include "sim/holes.h"

/* Compares the plain writes of the last launch, and says in c->coverage how many, or why none.
 * AT_SCRIPT: the reference is at fault. */
at_status excerpt_compare(excerpt_check *c, device_excerpt_result *out, at_error *error);

/* Compares what both have written of a buffer at the places of `hole` that were looked at. */
void excerpt_compare_places(excerpt_check *c, uint32_t buffer, const sim_hole *hole,
                            device_excerpt_result *out);

#endif
