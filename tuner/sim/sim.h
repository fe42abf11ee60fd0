/* The simulated devices sim:sm_XX, which run PTX images on the host and predict times. A launch
 * runs each block with all checks. After a kernel's fault the device stays usable, and `complaint`
 * describes the fault. The time of a launch is predicted from a sample of its blocks. */
#ifndef AUTOTUNE_SIM_SIM_H
#define AUTOTUNE_SIM_SIM_H

#include "device/device.h"

extern const device_api device_sim_api;

#endif
