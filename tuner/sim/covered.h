/* Which lines of a variant's kernels were executed, and which loops went round (device/outcome.h).
 *
 * A loop is a branch to an earlier instruction, unless it waits for what other threads do; one that
 * the compiler copied, as for the rest of an unrolled one, has gone round if one of its copies
 * has. */
#ifndef AUTOTUNE_SIM_COVERED_H
#define AUTOTUNE_SIM_COVERED_H

#include "sim/device.h"

/* The same as device_api's (device/device.h). */
at_status sim_covered(const device *d, const device_kernel *const *kernels, size_t count,
                      device_coverage *coverage, at_error *error);

/* The same as device_api's: where lanes of a warp were found to go in step. */
void sim_suspect(const device_kernel *k, char *text, size_t bytes);

#endif
