/* A fake NVML. It has one GPU, whose readings come from the environment: $FAKE_NVML_CLOCK_MHZ,
 * _THROTTLE, _POWER_MW, _ENERGY_MJ, _TEMPERATURE_C, _PROCESSES. A reading without a variable is
 * "not supported". $FAKE_NVML_ENERGY_STEP_MJ is the growth of the energy between readings, and
 * $FAKE_NVML_ENERGY_MS the time of a reading. $FAKE_NVML_INIT is the result of nvmlInit_v2. The
 * only known UUID is FAKE_NVML_UUID. By index, the GPUs are those of $FAKE_NVML_NAMES ("Fake A,Fake
 * A"). They are partitioned if $FAKE_NVML_MIG is 1. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FAKE_NVML_UUID "GPU-00000000-0000-0000-0000-000000000000"

enum { SUCCESS = 0, INVALID_ARGUMENT = 2, NOT_SUPPORTED = 3, NOT_FOUND = 6, INSUFFICIENT_SIZE = 7 };

typedef struct nvmlDevice *nvml_device;

__attribute__((visibility("default"))) int nvmlInit_v2(void);
__attribute__((visibility("default"))) int nvmlShutdown(void);
__attribute__((visibility("default"))) const char *nvmlErrorString(int code);
__attribute__((visibility("default"))) int nvmlDeviceGetHandleByUUID(const char *uuid,
                                                                     nvml_device *out);
__attribute__((visibility("default"))) int nvmlDeviceGetClockInfo(nvml_device d, int kind,
                                                                  unsigned *out);
__attribute__((visibility("default"))) int
nvmlDeviceGetCurrentClocksThrottleReasons(nvml_device d, unsigned long long *out);
__attribute__((visibility("default"))) int nvmlDeviceGetPowerUsage(nvml_device d, unsigned *out);
__attribute__((visibility("default"))) int
nvmlDeviceGetTotalEnergyConsumption(nvml_device d, unsigned long long *out);

__attribute__((visibility("default"))) int
nvmlDeviceGetComputeRunningProcesses_v3(nvml_device d, unsigned *count, void *processes);

__attribute__((visibility("default"))) int nvmlDeviceGetCount_v2(unsigned *count);
__attribute__((visibility("default"))) int nvmlDeviceGetHandleByIndex_v2(unsigned place,
                                                                         nvml_device *out);
__attribute__((visibility("default"))) int nvmlDeviceGetName(nvml_device d, char *name,
                                                             unsigned size);
__attribute__((visibility("default"))) int nvmlDeviceGetMigMode(nvml_device d, unsigned *now,
                                                                unsigned *pending);

static char the_device, by_place[16];

static int answer(nvml_device d, const char *name, unsigned long long *out)
{
    const char *text = getenv(name);
    if ((void *)d != &the_device)
        return INVALID_ARGUMENT;
    if (!text)
        return NOT_SUPPORTED;
    *out = strtoull(text, NULL, 0);
    return SUCCESS;
}

static int answer_narrow(nvml_device d, const char *name, unsigned *out)
{
    unsigned long long wide = 0;
    int code = answer(d, name, &wide);
    if (code == SUCCESS)
        *out = (unsigned)wide;
    return code;
}

int nvmlInit_v2(void)
{
    const char *text = getenv("FAKE_NVML_INIT");
    return text ? atoi(text) : SUCCESS;
}

int nvmlShutdown(void)
{
    return SUCCESS;
}

const char *nvmlErrorString(int code)
{
    return code == NOT_FOUND ? "Not Found" : "Some Error";
}

int nvmlDeviceGetHandleByUUID(const char *uuid, nvml_device *out)
{
    if (strcmp(uuid, FAKE_NVML_UUID) != 0)
        return NOT_FOUND;
    *out = (void *)&the_device;
    return SUCCESS;
}

/* Returns the start of the name of GPU number `place`, or NULL if there is no such GPU. */
static const char *name_at(unsigned place)
{
    const char *name = getenv("FAKE_NVML_NAMES");
    while (name && place-- > 0)
        name = strchr(name, ',') ? strchr(name, ',') + 1 : NULL;
    return name;
}

int nvmlDeviceGetCount_v2(unsigned *count)
{
    for (*count = 0; name_at(*count);)
        ++*count;
    return *count ? SUCCESS : NOT_SUPPORTED;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned place, nvml_device *out)
{
    *out = (void *)&by_place[place];
    return place < sizeof by_place && name_at(place) ? SUCCESS : INVALID_ARGUMENT;
}

int nvmlDeviceGetName(nvml_device d, char *name, unsigned size)
{
    const char *own = name_at((unsigned)((char *)(void *)d - by_place));
    snprintf(name, size, "%.*s", (int)strcspn(own, ","), own);
    return SUCCESS;
}

int nvmlDeviceGetMigMode(nvml_device d, unsigned *now, unsigned *pending)
{
    const char *text = getenv("FAKE_NVML_MIG");
    (void)d;
    *now = *pending = text ? (unsigned)atoi(text) : 0;
    return SUCCESS;
}

int nvmlDeviceGetClockInfo(nvml_device d, int kind, unsigned *out)
{
    return kind == 1 ? answer_narrow(d, "FAKE_NVML_CLOCK_MHZ", out) : INVALID_ARGUMENT;
}

int nvmlDeviceGetCurrentClocksThrottleReasons(nvml_device d, unsigned long long *out)
{
    return answer(d, "FAKE_NVML_THROTTLE", out);
}

/* Returns only the number of processes. Refuses space for a list, which the tuner never passes. */
int nvmlDeviceGetComputeRunningProcesses_v3(nvml_device d, unsigned *count, void *processes)
{
    int code =
        processes || *count ? INVALID_ARGUMENT : answer_narrow(d, "FAKE_NVML_PROCESSES", count);
    return code == SUCCESS && *count ? INSUFFICIENT_SIZE : code;
}

int nvmlDeviceGetPowerUsage(nvml_device d, unsigned *out)
{
    return answer_narrow(d, "FAKE_NVML_POWER_MW", out);
}

int nvmlDeviceGetTotalEnergyConsumption(nvml_device d, unsigned long long *out)
{
    static unsigned long long grown;
    unsigned long long step = 0;
    const char *slow = getenv("FAKE_NVML_ENERGY_MS");
    if (slow)
        usleep((useconds_t)(1000 * atoi(slow)));
    if (answer(d, "FAKE_NVML_ENERGY_STEP_MJ", &step) != SUCCESS)
        return answer(d, "FAKE_NVML_ENERGY_MJ", out);
    grown += step;
    *out = grown;
    return SUCCESS;
}
