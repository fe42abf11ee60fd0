/* The simulated devices sim:sm_XX, which run PTX images on the host and predict times. A launch
 * runs every block with all checks. After a fault of a kernel the device stays usable, and
 * `complaint` describes the fault. A sample of blocks predicts the time of a launch. */
#ifndef AUTOTUNE_SIM_SIM_H
#define AUTOTUNE_SIM_SIM_H

#include "device/device.h"

extern const device_api device_sim_api;

#endif
