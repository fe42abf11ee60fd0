/* The device "cuda:N": a GPU through the driver API. See device.h for what its functions promise. */
#ifndef AUTOTUNE_DEVICE_CUDA_H
#define AUTOTUNE_DEVICE_CUDA_H

#include "device.h"

extern const device_api device_cuda_api;

#endif
