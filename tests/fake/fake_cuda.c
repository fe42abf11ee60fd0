#include "fake_state.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

fake_driver fake;

long fake_setting(const char *name, long fallback)
{
    const char *text = getenv(name);
    return text && *text ? strtol(text, NULL, 10) : fallback;
}

void fake_wait_us(long us)
{
    if (us > 0)
        usleep((useconds_t)us);
}

void fake_note(const char *setting, const char *text)
{
    const char *path = getenv(setting);
    int fd = path ? open(path, O_WRONLY | O_CREAT | O_APPEND, 0600) : -1;
    if (fd < 0)
        return;
    ssize_t n = write(fd, text, strlen(text));
    (void)n;
    close(fd);
}

/* Appends a byte to the file $FAKE_CUDA_TIMES. */
void fake_count_time(void)
{
    fake_note("FAKE_CUDA_TIMES", "t");
}

CUresult fake_enter(void)
{
    if (!fake.initialised)
        return CUDA_ERROR_NOT_INITIALIZED;
    if (!fake.context)
        return CUDA_ERROR_INVALID_CONTEXT;
    return fake.sticky;
}

int64_t autotune_host_clock_ns(void)
{
    fake_wait_us(fake_setting("FAKE_CUDA_TIME_US", 0));
    fake_count_time();
    return (int64_t)fake.now_ns;
}

bool fake_is_capturing(void)
{
    return fake.capturing != NULL;
}

void fake_changed(void)
{
    fake.copied_bytes = 0;
}

uint64_t fake_time_ns(void)
{
    return fake.now_ns;
}

void fake_spend(uint64_t time_ns)
{
    fake.now_ns += time_ns * fake.percent / 100;
}

size_t fake_allocations(const unsigned char ***starts, const size_t **sizes)
{
    *starts = fake.starts;
    *sizes = fake.sizes;
    return fake.allocations;
}

void fake_gate(const volatile uint32_t *flag, uint32_t ticket)
{
    fake.gate = flag;
    fake.ticket = ticket;
}

/* Returns the ordinal of the lost device, -1 if all are lost, or -2 if no device is lost. */
static int lost_ordinal(void)
{
    const char *path = getenv("FAKE_CUDA_GONE");
    FILE *file = path ? fopen(path, "r") : NULL;
    int ordinal = -1;
    if (!file)
        return -2;
    if (fscanf(file, "%d", &ordinal) != 1)
        ordinal = -1;
    fclose(file);
    return ordinal;
}

/* Returns item number `device` of a comma-separated list, or NULL if the list is too short. */
static const char *piece(const char *list, int device)
{
    for (; list && device > 0; device--)
        list = (list = strchr(list, ',')) ? list + 1 : NULL;
    return list;
}

CUresult cuInit(unsigned int flags)
{
    (void)flags;
    long result = fake_setting("FAKE_CUDA_INIT", 0);
    char line[64];
    const char *visible = getenv("CUDA_VISIBLE_DEVICES");
    snprintf(line, sizeof line, "%s\n", visible ? visible : "all");
    fake_note("FAKE_CUDA_INITS", line);
    if (lost_ordinal() == -1)
        return CUDA_ERROR_NO_DEVICE;
    fake.initialised = result == 0;
    if (fake.initialised)
        fake_inject();
    return (CUresult)result;
}

CUresult cuDriverGetVersion(int *version)
{
    *version = 13000;
    return CUDA_SUCCESS;
}

typedef struct error_text {
    CUresult result;
    const char *name, *sentence;
} error_text;

static const error_text error_texts[] = {
    {CUDA_ERROR_INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {CUDA_ERROR_OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {CUDA_ERROR_NO_DEVICE, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"},
    {CUDA_ERROR_INVALID_IMAGE, "CUDA_ERROR_INVALID_IMAGE", "device kernel image is invalid"},
    {CUDA_ERROR_NOT_FOUND, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
    {CUDA_ERROR_ILLEGAL_ADDRESS, "CUDA_ERROR_ILLEGAL_ADDRESS",
     "an illegal memory access was encountered"},
    {CUDA_ERROR_MISALIGNED_ADDRESS, "CUDA_ERROR_MISALIGNED_ADDRESS", "misaligned address"},
    {CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES",
     "too many resources requested for launch"},
};

static const error_text *find_error(CUresult result)
{
    for (size_t i = 0; i < sizeof error_texts / sizeof *error_texts; i++)
        if (error_texts[i].result == result)
            return &error_texts[i];
    return NULL;
}

CUresult cuGetErrorName(CUresult result, const char **text)
{
    const error_text *e = find_error(result);
    *text = e ? e->name : NULL;
    return e ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGetErrorString(CUresult result, const char **text)
{
    const error_text *e = find_error(result);
    *text = e ? e->sentence : NULL;
    return e ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/* ---- devices ---- */

/* Returns the number of the GPU that $CUDA_VISIBLE_DEVICES shows as `ordinal`, or -1 if there is no
 * such GPU. If the variable is absent or "", all GPUs are visible with their own numbers. */
static int visible_gpu(int ordinal)
{
    const char *visible = getenv("CUDA_VISIBLE_DEVICES");
    int there = (int)fake_setting("FAKE_CUDA_DEVICES", 1);
    if (visible && *visible) {
        const char *entry = piece(visible, ordinal);
        ordinal = entry ? atoi(entry) : -1;
    }
    return ordinal < there ? ordinal : -1;
}

CUresult cuDeviceGetCount(int *count)
{
    for (*count = 0; visible_gpu(*count) >= 0;)
        ++*count;
    return fake.initialised ? CUDA_SUCCESS : CUDA_ERROR_NOT_INITIALIZED;
}

CUresult cuDeviceGet(CUdevice *device, int ordinal)
{
    *device = visible_gpu(ordinal);
    const char *pause_ms = piece(getenv("FAKE_CUDA_OPEN_MS"), *device);
    fake_wait_us(pause_ms ? 1000 * strtol(pause_ms, NULL, 10) : 0);
    return *device < 0 || *device == lost_ordinal() ? CUDA_ERROR_INVALID_DEVICE : CUDA_SUCCESS;
}

CUresult cuDeviceGetName(char *name, int length, CUdevice device)
{
    const char *given = piece(getenv("FAKE_CUDA_NAMES"), device);
    if (given && *given)
        snprintf(name, (size_t)length, "%.*s", (int)strcspn(given, ","), given);
    else
        snprintf(name, (size_t)length, "Fake GPU %d", device);
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetUuid(CUuuid *uuid, CUdevice device)
{
    memset(uuid, 0, sizeof *uuid);
    uuid->bytes[14] = (char)fake_setting("FAKE_CUDA_SERIAL", 0);
    uuid->bytes[15] = (char)device;
    return CUDA_SUCCESS;
}

CUresult cuDeviceTotalMem(size_t *bytes, CUdevice device)
{
    (void)device;
    *bytes = (size_t)fake_setting("FAKE_CUDA_MEMORY", 1L << 30);
    return CUDA_SUCCESS;
}

typedef struct attribute_value {
    CUdevice_attribute attribute;
    int value;
} attribute_value;

static const attribute_value attribute_values[] = {
    {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 9},
    {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, 0},
    {CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 4},
    {CU_DEVICE_ATTRIBUTE_WARP_SIZE, 32},
    {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 1024},
    {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, 2048},
    {CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR, 32},
    {CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR, 65536},
    {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, 233472},
    {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, SHARED_MOST},
    {CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK, 1024},
    {CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, 65536},
    {CU_DEVICE_ATTRIBUTE_CLOCK_RATE, 1500000},
    {CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE, 1000000},
    {CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH, 256},
};

CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice device)
{
    (void)device;
    for (size_t i = 0; i < sizeof attribute_values / sizeof *attribute_values; i++)
        if (attribute_values[i].attribute == attribute) {
            *value = attribute_values[i].value;
            return CUDA_SUCCESS;
        }
    return CUDA_ERROR_INVALID_VALUE;
}

CUresult cuDevicePrimaryCtxSetFlags(CUdevice device, unsigned int flags)
{
    (void)device, (void)flags;
    return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device)
{
    const char *loading = getenv("CUDA_MODULE_LOADING");
    if (fake_setting("FAKE_CUDA_EAGER", 0) && strcmp(loading ? loading : "", "EAGER") != 0)
        return CUDA_ERROR_INVALID_VALUE;
    const char *speed = piece(getenv("FAKE_CUDA_SPEEDS"), device);
    fake.percent = speed && *speed ? (uint64_t)strtol(speed, NULL, 10) : 100;
    *context = (CUcontext)&fake;
    return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxRelease(CUdevice device)
{
    (void)device;
    return fake.sticky;
}

CUresult cuCtxSetCurrent(CUcontext context)
{
    fake.context = context != NULL;
    return CUDA_SUCCESS;
}

CUresult cuCtxGetCurrent(CUcontext *context)
{
    *context = fake.context ? (CUcontext)(uintptr_t)&fake : NULL;
    return CUDA_SUCCESS;
}

CUresult cuCtxGetDevice(CUdevice *device)
{
    if (!fake.context)
        return CUDA_ERROR_INVALID_CONTEXT;
    *device = 0;
    return CUDA_SUCCESS;
}
