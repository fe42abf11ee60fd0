/* The simulated devices sim:sm_XX: kernels run on the host, times are predictions.
 *
 * An image is PTX. A launch runs every block with all checks. Whatever the kernel does wrong, the
 * device stays usable and `complaint` says what it was. A sample runs a few blocks and predicts. */
#ifndef AUTOTUNE_SIM_SIM_H
#define AUTOTUNE_SIM_SIM_H

#include "device/device.h"

extern const device_api device_sim_api;

#endif
