#include "cuda/cuda.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "cuda/driver.h"
#include "cuda/nvml.h"
#include "cuda/queue.h"

/* An attribute of the device, and its member of arch_limits (int or size_t). */
typedef struct attribute_field {
    CUdevice_attribute attribute;
    size_t offset, size_bytes;
} attribute_field;

#define FIELD(name, field)                                                                         \
    {                                                                                              \
        CU_DEVICE_ATTRIBUTE_##name, offsetof(arch_limits, field),                                  \
            sizeof(((arch_limits *)0)->field)                                                      \
    }

static const attribute_field attributes[] = {
    FIELD(COMPUTE_CAPABILITY_MAJOR, major),
    FIELD(COMPUTE_CAPABILITY_MINOR, minor),
    FIELD(MULTIPROCESSOR_COUNT, sm_count),
    FIELD(WARP_SIZE, warp_size),
    FIELD(MAX_THREADS_PER_BLOCK, max_threads_per_block),
    FIELD(MAX_THREADS_PER_MULTIPROCESSOR, max_threads_per_sm),
    FIELD(MAX_BLOCKS_PER_MULTIPROCESSOR, max_blocks_per_sm),
    FIELD(MAX_REGISTERS_PER_MULTIPROCESSOR, registers_per_sm),
    FIELD(MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, shared_per_sm_bytes),
    FIELD(MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, max_shared_per_block_bytes),
    FIELD(RESERVED_SHARED_MEMORY_PER_BLOCK, shared_reserved_bytes),
    FIELD(L2_CACHE_SIZE, l2_bytes),
    FIELD(CLOCK_RATE, clock_khz),
};

static at_status read_limits(const cuda_driver *cuda, CUdevice handle, arch_limits *limits,
                             at_error *error)
{
    for (size_t i = 0; i < sizeof attributes / sizeof *attributes; i++) {
        int v = 0;
        at_status status =
            cuda_check(cuda, cuda->cuDeviceGetAttribute(&v, attributes[i].attribute, handle),
                       AT_NO_DEVICE, "cannot read the device's attributes", error);
        if (status)
            return status;
        char *field = (char *)limits + attributes[i].offset;
        size_t size = v > 0 ? (size_t)v : 0;
        memcpy(field, attributes[i].size_bytes == sizeof size ? (void *)&size : &v,
               attributes[i].size_bytes);
    }
    /* The driver has no attributes for these three limits, which hold from 7.0 on. */
    limits->max_registers_per_thread = 255;
    limits->register_unit = 256;
    limits->shared_unit_bytes = limits->major >= 8 ? 128 : 256;
    size_t memory = 0;
    cuda->cuDeviceTotalMem(&memory, handle);
    limits->global_bytes = memory;
    int memory_khz = 0, bus_bits = 0;
    cuda->cuDeviceGetAttribute(&memory_khz, CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE, handle);
    cuda->cuDeviceGetAttribute(&bus_bits, CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH, handle);
    /* Memory transfers data twice per clock. */
    limits->bandwidth_bytes_per_s = 2.0 * memory_khz * 1000.0 * bus_bits / 8.0;
    return AT_OK;
}

static void format_uuid(const CUuuid *uuid, char *out, size_t size_bytes)
{
    snprintf(out, size_bytes, "GPU-");
    for (int i = 0; i < 16; i++)
        text_add(out, size_bytes, "%s%02x", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "",
                 (unsigned)(unsigned char)uuid->bytes[i]);
}

/* Reads the properties of the GPU that the driver calls `shown` and autotune cuda:`ordinal`. */
static at_status read_properties(const cuda_driver *cuda, int shown, int ordinal, CUdevice *handle,
                                 device_properties *out, at_error *error)
{
    *out = (device_properties){.kind = "cuda", .cuda_version = cuda->cuda_version};
    at_status status = cuda_check(cuda, cuda->cuDeviceGet(handle, shown), AT_NO_DEVICE,
                                  "cannot find the device", error);
    if (status)
        return status;
    status = read_limits(cuda, *handle, &out->limits, error);
    if (status)
        return status;
    snprintf(out->spec, sizeof out->spec, "cuda:%d", ordinal);
    snprintf(out->driver, sizeof out->driver, "%s", cuda->version);
    snprintf(out->arch, sizeof out->arch, "sm_%d%d", out->limits.major, out->limits.minor);
    cuda->cuDeviceGetName(out->limits.name, (int)sizeof out->limits.name, *handle);
    out->limits.name[sizeof out->limits.name - 1] = '\0';
    CUuuid uuid;
    if (cuda->cuDeviceGetUuid(&uuid, *handle) == CUDA_SUCCESS)
        format_uuid(&uuid, out->uuid, sizeof out->uuid);
    return AT_OK;
}

static at_status count_devices(const cuda_driver *cuda, int *count, at_error *error)
{
    at_status status = cuda_check(cuda, cuda->cuDeviceGetCount(count), AT_NO_DEVICE,
                                  "cannot count the GPUs", error);
    if (!status && *count <= 0)
        status = error_set(error, AT_NO_DEVICE,
                           "the CUDA driver sees no GPU (is CUDA_VISIBLE_DEVICES empty?)");
    return status;
}

static at_status list(device_properties *out, size_t capacity, size_t *count, at_error *error)
{
    *count = 0;
    cuda_driver cuda;
    at_status status = cuda_driver_open(&cuda, error);
    if (status)
        return status;
    int present;
    status = count_devices(&cuda, &present, error);
    for (int i = 0; !status && i < present && *count < capacity; i++) {
        CUdevice handle;
        status = read_properties(&cuda, i, i, &handle, &out[*count], error);
        if (!status)
            ++*count;
    }
    cuda_driver_close(&cuda);
    return status;
}

/* Lists names only if they do not depend on the order of the GPUs. NVML numbers all GPUs by bus
 * address. The driver numbers the visible GPUs, in the order of $CUDA_DEVICE_ORDER. */
static at_status list_names(device_properties *out, size_t capacity, size_t *count, at_error *error)
{
    char name[sizeof out->limits.name];
    size_t present = 0;
    *count = 0;
    if (getenv("CUDA_VISIBLE_DEVICES"))
        return error_set(error, AT_NO_DEVICE,
                         "CUDA_VISIBLE_DEVICES is set, so only the driver knows the visible GPUs");
    at_status status = nvml_find_model(name, sizeof name, &present, error);
    for (; !status && *count < present && *count < capacity; ++*count) {
        device_properties *p = &out[*count];
        *p = (device_properties){.kind = "cuda"};
        snprintf(p->spec, sizeof p->spec, "cuda:%zu", *count);
        memcpy(p->limits.name, name, sizeof name);
    }
    return status;
}

static at_status parse_ordinal(const char *spec, int *ordinal, at_error *error)
{
    const char *digits = strncmp(spec, "cuda:", 5) == 0 ? spec + 5 : "0";
    char *end;
    long v = strtol(digits, &end, 10);
    if (*end || end == digits || v < 0 || v > INT_MAX)
        return error_set(error, AT_USAGE,
                         "'%s' is not the name of a device; write cuda:0, cuda:1, ...", spec);
    *ordinal = (int)v;
    return AT_OK;
}

static void close_device(device *d)
{
    if (!d)
        return;
    if (d->context) {
        cuda_transfers_free(d);
        cuda_clock_free(d);
        cuda_results_free(d);
        cuda_modules_drop(d, 0);
        cuda_textures_drop(&d->textures, &d->cuda, 0, UINT64_MAX);
        for (size_t i = 0; i < DEVICE_SUPPORT_PARTS; i++)
            if (d->support[i])
                d->cuda.cuModuleUnload(d->support[i]);
        if (d->stream)
            d->cuda.cuStreamDestroy(d->stream);
        d->cuda.cuDevicePrimaryCtxRelease(d->handle);
    }
    nvml_close(d->board);
    cuda_counters_free(d);
    cuda_driver_close(&d->cuda);
    free(d);
}

static at_status open_device(const char *spec, device **out, at_error *error)
{
    *out = NULL;
    device *d = calloc(1, sizeof *d);
    if (!d)
        return error_no_memory(error);
    int present = 0, ordinal = 0, shown = 0;
    at_status status = parse_ordinal(spec, &ordinal, error);
    if (!status) {
        /* Lazy loading would put the loading of the kernel into the first sample. Only workers open
         * a device, so changing the environment is safe. */
        setenv("CUDA_MODULE_LOADING", "EAGER", 1);
        shown = visible_show_only(visible_count(), ordinal);
        status = cuda_driver_open(&d->cuda, error);
    }
    if (!status)
        status = count_devices(&d->cuda, &present, error);
    if (!status && shown >= present)
        status = error_set(error, AT_NO_DEVICE, "there is no %s: the CUDA driver sees %d GPU%s",
                           spec, present, present == 1 ? "" : "s");
    if (!status)
        status = read_properties(&d->cuda, shown, ordinal, &d->handle, &d->properties, error);
    if (status) {
        close_device(d);
        return status;
    }
    *out = d;
    return AT_OK;
}

static at_status start_device(device *d, at_error *error)
{
    const cuda_driver *cuda = &d->cuda;
    static const char what[] = "cannot make a context on the device";
    /* Spinning saves tens of microseconds at each wait. The call fails if the context is already
     * active, so its result is ignored. */
    cuda->cuDevicePrimaryCtxSetFlags(d->handle, CU_CTX_SCHED_SPIN);
    at_status status = cuda_check(cuda, cuda->cuDevicePrimaryCtxRetain(&d->context, d->handle),
                                  AT_NO_DEVICE, what, error);
    if (!status)
        status = cuda_check(cuda, cuda->cuCtxSetCurrent(d->context), AT_NO_DEVICE, what, error);
    if (!status)
        status = cuda_check(cuda, cuda->cuStreamCreate(&d->stream, CU_STREAM_NON_BLOCKING),
                            AT_DEVICE, "cannot make a stream", error);
    if (!status)
        status = cuda_results_new(d, error);
    return status ? status : cuda_clock_new(d, error);
}

static at_status find_support(device *d, support_kernel kernel, at_error *error)
{
    CUresult result = CUDA_ERROR_NOT_FOUND;
    for (size_t i = 0; i < DEVICE_SUPPORT_PARTS && result == CUDA_ERROR_NOT_FOUND; i++)
        if (d->support[i])
            result = d->cuda.cuModuleGetFunction(&d->support_kernels[kernel], d->support[i],
                                                 cuda_support_name(kernel));
    return cuda_check(&d->cuda, result, AT_DEVICE, "the support kernels are incomplete", error);
}

static at_status set_support(device *d, const device_image support[DEVICE_SUPPORT_PARTS],
                             at_error *error)
{
    const cuda_driver *cuda = &d->cuda;
    if (support[0].size_bytes == 0)
        return error_set(error, AT_INTERNAL,
                         "the CUDA device was opened without its support kernels");
    if (d->support[0]) /* already loaded; the kernels never change */
        return AT_OK;
    at_status status = AT_OK;
    for (size_t i = 0; !status && i < DEVICE_SUPPORT_PARTS; i++)
        if (support[i].size_bytes > 0)
            status = cuda_check(cuda, cuda_module_load(cuda, &support[i], &d->support[i]),
                                AT_DEVICE, "cannot load the support kernels", error);
    for (int i = 0; !status && i < SUPPORT_COUNT; i++)
        status = find_support(d, (support_kernel)i, error);
    return status;
}

static const device_properties *properties(const device *d)
{
    return &d->properties;
}

static at_status launch(device *d, device_kernel *k, const launch_plan *plan,
                        device_buffer *const *buffers, at_error *error)
{
    d->complaint[0] = '\0';
    d->launch_ns = 0;
    return plan_transfers(plan) ? cuda_transfer_launch(d, k, plan, buffers, error)
                                : cuda_launch(d, k, plan, buffers, &d->launch_ns, error);
}

static int64_t launch_ns(const device *d)
{
    return d->launch_ns;
}

static const char *complaint(const device *d, outcome *result)
{
    if (d->complaint[0])
        *result = OUTCOME_WRONG_RESULT;
    return d->complaint[0] ? d->complaint : NULL;
}

static at_status sample(device *d, device_kernel *k, const launch_plan *plan,
                        device_buffer *const *buffers, device_cache cache,
                        const device_before *before, size_t before_count, int64_t *time_ns,
                        at_error *error)
{
    if (plan_transfers(plan))
        return cuda_transfer_sample(d, k, plan, buffers, cache, time_ns, error);
    return cuda_sample(d, k, plan, buffers, cache, before, before_count, time_ns, error);
}

static at_status repeat(device *d, device_kernel *k, const launch_plan *plan,
                        device_buffer *const *buffers, uint64_t count, at_error *error)
{
    if (plan_transfers(plan))
        return cuda_transfer_repeat(d, k, plan, buffers, count, error);
    at_status status = cuda_kernel_prepare(d, k, plan, buffers, error);
    for (uint64_t i = 0; !status && i < count; i++)
        status = cuda_kernel_queue(d, k, plan, buffers, error);
    return status ? status : cuda_wait(d, "the kernel faulted", error);
}

static at_status board(device *d, board_reading *out, at_error *error)
{
    at_status status = AT_OK;
    if (!d->board)
        status = nvml_open(d->properties.uuid, &d->board, error);
    nvml_read(d->board, out);
    return status;
}

static uint32_t others(device *d)
{
    return nvml_count_others(d->board);
}

static const device_hardware hardware = {
    .list_names = list_names,
    .start = start_device,
    .set_support = set_support,
    .guard = cuda_buffer_guard,
    .scrub = cuda_scrub,
    .launch_ns = launch_ns,
    .warm_up = cuda_warm_up,
    .sm_clock = cuda_sm_clock,
};

static const device_energy energy = {.repeat = repeat, .board = board, .others = others};

const device_api device_cuda_api = {
    .kind = "cuda",
    .transfers = true,
    .hardware = &hardware,
    .batches = &cuda_batches,
    .energy = &energy,
    .counters = &cuda_counters,
    .list = list,
    .open = open_device,
    .close = close_device,
    .properties = properties,
    .buffer_new = cuda_buffer_new,
    .buffer_free = cuda_buffer_free,
    .fill = cuda_buffer_fill,
    .write = cuda_buffer_write,
    .read = cuda_buffer_read,
    .poison = cuda_buffer_poison,
    .copy = cuda_buffer_copy,
    .checksum = cuda_buffer_checksum,
    .guards = cuda_buffer_guards,
    .compare = cuda_buffer_compare,
    .kernel_new = cuda_kernel_new,
    .kernel_free = cuda_kernel_free,
    .launch = launch,
    .complaint = complaint,
    .sample = sample,
    .sample_copy = cuda_sample_copy,
    .floor = cuda_floor,
};
