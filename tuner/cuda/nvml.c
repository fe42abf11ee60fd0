#include "cuda/nvml.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* NVIDIA's nvml.h has these numbers, which are part of the library's binary interface. */
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

/* Puts the symbol into the function pointer at `to`; ISO C has no cast between the two kinds. */
static void find_symbol(void *library, const char *name, void *to)
{
    void *symbol = dlsym(library, name);
    memcpy(to, &symbol, sizeof symbol);
}

static void find_symbols(nvml *n)
{
    const struct {
        const char *name;
        void *to;
    } symbols[] = {
        {"nvmlInit_v2", &n->init},
        {"nvmlShutdown", &n->shutdown},
        {"nvmlErrorString", &n->error_string},
        {"nvmlDeviceGetHandleByUUID", &n->find},
        {"nvmlDeviceGetCount_v2", &n->count},
        {"nvmlDeviceGetHandleByIndex_v2", &n->at},
        {"nvmlDeviceGetName", &n->name},
        {"nvmlDeviceGetMigMode", &n->mig},
        {"nvmlDeviceGetClockInfo", &n->clock},
        {"nvmlDeviceGetCurrentClocksThrottleReasons", &n->throttle},
        {"nvmlDeviceGetPowerUsage", &n->power},
        {"nvmlDeviceGetTotalEnergyConsumption", &n->energy},
        {"nvmlDeviceGetComputeRunningProcesses_v3", &n->processes},
    };
    for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++)
        find_symbol(n->library, symbols[i].name, symbols[i].to);
}

static const char *text_of(const nvml *n, int code)
{
    return n->error_string ? n->error_string(code) : "unknown error";
}

static at_status start(nvml *n, at_error *error)
{
    if (!n->init || !n->shutdown || !n->find)
        return error_set(error, AT_NO_DEVICE, "the management library lacks basic functions");
    int code = n->init();
    return code == NVML_SUCCESS
               ? AT_OK
               : error_set(error, AT_NO_DEVICE, "the management library does not start: %s",
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
        status = error_set(error, AT_NO_DEVICE, "no management library: %s", dlerror());
        goto cleanup;
    }
    find_symbols(n);
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
    status = error_set(error, AT_NO_DEVICE, "the management library does not know GPU %s: %s", uuid,
                       text_of(*out, code));
    nvml_close(*out);
    *out = NULL;
    return status;
}

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
                             "the management library knows no model that all GPUs are of");
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
    unsigned count = 0; /* room for none: asks how many there are */
    if (!n || !n->processes ||
        n->processes(n->device, &count, NULL) != NVML_ERROR_INSUFFICIENT_SIZE || count == 0)
        return 0;
    return count - 1;
}
