/* The simulated devices sim:sm_XX, which run kernels on the host and predict times.
 *
 * An image is PTX. A launch runs every block with all checks. Whatever a kernel does wrong, the
 * device stays usable, and `complaint` describes the fault. A sample runs a few blocks and predicts
 * the time of the launch. */
#ifndef AUTOTUNE_SIM_SIM_H
#define AUTOTUNE_SIM_SIM_H

#include "device/device.h"

extern const device_api device_sim_api;

#endif
