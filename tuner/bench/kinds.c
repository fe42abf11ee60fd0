#include "device/device.h"

#include <string.h>

#include "cuda/cuda.h"
#include "sim/sim.h"

static const device_api *const apis[] = {
    &device_cuda_api,
    &device_sim_api,
};

const device_api *const *device_apis(size_t *count)
{
    *count = sizeof apis / sizeof *apis;
    return apis;
}

const device_api *device_api_find(const char *spec)
{
    size_t length = strcspn(spec, ":");
    for (size_t i = 0; i < sizeof apis / sizeof *apis; i++)
        if (strlen(apis[i]->kind) == length && strncmp(apis[i]->kind, spec, length) == 0)
            return apis[i];
    return NULL;
}
