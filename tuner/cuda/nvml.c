#include "cuda/nvml.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/driver.h"

enum {
    NVML_SUCCESS = 0,
    NVML_ERROR_INSUFFICIENT_SIZE = 7,
    NVML_CLOCK_SM = 1,
    NVML_NAME_BYTES = 96
};

typedef struct nvmlDevice *nvml_device;

struct nvml {
    void *library;
    nvml_device device;
    int (*init)(void);
    int (*shutdown)(void);
    const char *(*error_string)(int);
    int (*find)(const char *, nvml_device *);
    int (*count)(unsigned *);
    int (*at)(unsigned, nvml_device *);
    int (*name)(nvml_device, char *, unsigned);
    int (*mig)(nvml_device, unsigned *, unsigned *);
    int (*clock)(nvml_device, int, unsigned *);
    int (*throttle)(nvml_device, unsigned long long *);
    int (*power)(nvml_device, unsigned *);
    int (*energy)(nvml_device, unsigned long long *);
    int (*processes)(nvml_device, unsigned *, void *);
};

static const library_symbol symbols[] = {
    {"nvmlInit_v2", offsetof(nvml, init)},
    {"nvmlShutdown", offsetof(nvml, shutdown)},
    {"nvmlErrorString", offsetof(nvml, error_string)},
    {"nvmlDeviceGetHandleByUUID", offsetof(nvml, find)},
    {"nvmlDeviceGetCount_v2", offsetof(nvml, count)},
    {"nvmlDeviceGetHandleByIndex_v2", offsetof(nvml, at)},
    {"nvmlDeviceGetName", offsetof(nvml, name)},
    {"nvmlDeviceGetMigMode", offsetof(nvml, mig)},
    {"nvmlDeviceGetClockInfo", offsetof(nvml, clock)},
    {"nvmlDeviceGetCurrentClocksThrottleReasons", offsetof(nvml, throttle)},
    {"nvmlDeviceGetPowerUsage", offsetof(nvml, power)},
    {"nvmlDeviceGetTotalEnergyConsumption", offsetof(nvml, energy)},
    {"nvmlDeviceGetComputeRunningProcesses_v3", offsetof(nvml, processes)},
};

static const char *text_of(const nvml *n, int code)
{
    return n->error_string ? n->error_string(code) : "unknown error";
}

static at_status start(nvml *n, at_error *error)
{
    if (!n->init || !n->shutdown || !n->find)
        return error_set(error, AT_NO_DEVICE,
                         "NVML, the driver's management library, lacks basic functions");
    int code = n->init();
    return code == NVML_SUCCESS
               ? AT_OK
               : error_set(error, AT_NO_DEVICE,
                           "NVML, the driver's management library, does not start: %s",
                           text_of(n, code));
}

static at_status open_library(nvml **out, at_error *error)
{
    *out = NULL;
    const char *name = getenv("AUTOTUNE_LIBNVML");
    nvml *n = calloc(1, sizeof *n);
    if (!n)
        return error_no_memory(error);
    at_status status;
    n->library = dlopen(name && *name ? name : "libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!n->library) {
        status =
            error_set(error, AT_NO_DEVICE,
                      "NVML, the driver's management library, cannot be opened: %s", dlerror());
        goto cleanup;
    }
    library_find_symbols(n->library, symbols, sizeof symbols / sizeof *symbols, n);
    status = start(n, error);
    if (status)
        goto cleanup;
    *out = n;
    return AT_OK;

cleanup:
    if (n->library)
        dlclose(n->library);
    free(n);
    return status;
}

at_status nvml_open(const char *uuid, nvml **out, at_error *error)
{
    at_status status = open_library(out, error);
    if (status)
        return status;
    int code = (*out)->find(uuid, &(*out)->device);
    if (code == NVML_SUCCESS)
        return AT_OK;
    status = error_set(error, AT_NO_DEVICE,
                       "NVML, the driver's management library, does not know GPU %s: %s", uuid,
                       text_of(*out, code));
    nvml_close(*out);
    *out = NULL;
    return status;
}

/* Reads the name of GPU `place`. Returns false if it is partitioned (MIG) or cannot be read. */
static bool find_whole(const nvml *n, unsigned place, char *name, unsigned size_bytes)
{
    nvml_device d;
    unsigned partitioned = 0, pending;
    return n->at(place, &d) == NVML_SUCCESS && n->name(d, name, size_bytes) == NVML_SUCCESS &&
           !(n->mig && n->mig(d, &partitioned, &pending) == NVML_SUCCESS && partitioned);
}

at_status nvml_find_model(char *name, size_t name_bytes, size_t *count, at_error *error)
{
    nvml *n;
    unsigned found = 0;
    char other[NVML_NAME_BYTES];
    at_status status = open_library(&n, error);
    if (status)
        return status;
    bool alike = n->count && n->at && n->name && n->count(&found) == NVML_SUCCESS && found > 0 &&
                 find_whole(n, 0, name, (unsigned)name_bytes);
    for (unsigned i = 1; alike && i < found; i++)
        alike = find_whole(n, i, other, sizeof other) && strcmp(other, name) == 0;
    nvml_close(n);
    *count = found;
    return alike ? AT_OK
                 : error_set(error, AT_NO_DEVICE,
                             "the GPUs of this machine are of different models, or NVML (the "
                             "driver's management library) does not know them");
}

void nvml_close(nvml *n)
{
    if (!n)
        return;
    n->shutdown();
    dlclose(n->library);
    free(n);
}

void nvml_read(nvml *n, board_reading *out)
{
    *out = (board_reading){0};
    if (!n)
        return;
    unsigned value;
    unsigned long long wide;
    if (n->clock && n->clock(n->device, NVML_CLOCK_SM, &value) == NVML_SUCCESS)
        out->sm_clock_khz = value * 1e3;
    if (n->throttle && n->throttle(n->device, &wide) == NVML_SUCCESS)
        out->throttle = wide;
    if (n->power && n->power(n->device, &value) == NVML_SUCCESS)
        out->power_w = value / 1e3;
    if (n->energy && n->energy(n->device, &wide) == NVML_SUCCESS)
        out->energy_mj = wide;
}

uint32_t nvml_count_others(nvml *n)
{
    unsigned count = 0; /* With room for no process, NVML writes the number of processes. */
    if (!n || !n->processes ||
        n->processes(n->device, &count, NULL) != NVML_ERROR_INSUFFICIENT_SIZE || count == 0)
        return 0;
    return count - 1;
}
