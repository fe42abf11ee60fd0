/* Blocks of a variant on a problem that is too large to be run whole.
 *
 * The last block runs first, to see what a block takes; then the corners of the grid, the middles
 * of its edges, and neighbours at places drawn from the problem's seed, as many as a number of
 * instructions allows. An error of one block by itself, or of two of these to each other, is a
 * fault as in any launch. An error of a block for want of the others is none (sim_excerpt). The
 * plain writes of the last launch are compared with those of the reference's blocks there, if these
 * are found (sim/owners.h) and nothing that a block computes depends on when the others run.
 *
 * Functions of device_api (device/device.h). */
#ifndef AUTOTUNE_SIM_EXCERPT_H
#define AUTOTUNE_SIM_EXCERPT_H

#include "sim/device.h"

at_status sim_excerpt_new(device *d, const device_excerpt_plan *plan, device_excerpt **out,
                          at_error *error);
void sim_excerpt_free(device *d, device_excerpt *x);
at_status sim_excerpt_check(device *d, device_excerpt *x, device_kernel *k, const launch_plan *plan,
                            device_excerpt_result *out, device_coverage *coverage, at_error *error);

#endif
