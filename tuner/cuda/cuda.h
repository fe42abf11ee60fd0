/* The device "cuda:N": a GPU, used through the driver API. device/device.h has the contracts. */
#ifndef AUTOTUNE_CUDA_CUDA_H
#define AUTOTUNE_CUDA_CUDA_H

#include "device/device.h"

extern const device_api device_cuda_api;

#endif
