/* Finds what a whole grid leaves out, of which an excerpt runs some blocks. */
#ifndef AUTOTUNE_SIM_EXCERPT_HOLES_H
#define AUTOTUNE_SIM_EXCERPT_HOLES_H

#include "sim/excerpt_state.h"

/* Finds results that no block writes, and those that are wrong where arithmetic ends. Each kernel
 * begins with the data as they were. */
at_status excerpt_find_holes(excerpt_check *c, device_excerpt_result *out, at_error *error);

#endif
