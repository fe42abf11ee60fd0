/* The device "cuda:N": a GPU through the driver API. See device/device.h for what its functions
 * promise. */
#ifndef AUTOTUNE_CUDA_CUDA_H
#define AUTOTUNE_CUDA_CUDA_H

#include "device/device.h"

extern const device_api device_cuda_api;

#endif
