#include "cuda/cuda.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/batch.h"
#include "cuda/buffer.h"
#include "cuda/queue.h"
#include "cuda/timer.h"

/* Resident blocks of support kernels an SM: enough warps to saturate memory on every chip. */
enum { SUPPORT_BLOCKS_PER_SM = 8 };

static const char *const support_names[SUPPORT_COUNT] = {
    [SUPPORT_FILL] = "at_fill",
    [SUPPORT_GUARDS_SET] = "at_guards_set",
    [SUPPORT_GUARDS_CHECK] = "at_guards_check",
    [SUPPORT_COMPARE_EXACT] = "at_compare_exact",
    [SUPPORT_MAGNITUDE] = "at_magnitude",
    [SUPPORT_COMPARE_CLOSE] = "at_compare_close",
    [SUPPORT_CHECKSUM] = "at_checksum",
    [SUPPORT_FLUSH_WRITE] = "at_flush_write",
    [SUPPORT_FLUSH_READ] = "at_flush_read",
    [SUPPORT_GATE] = "at_gate",
    [SUPPORT_EMPTY] = "at_empty",
    [SUPPORT_CLOCK] = "at_clock",
};

/* Errors of a load or launch that leave the context usable; every other means that it is gone. */
static const CUresult refusals[] = {
    CUDA_ERROR_INVALID_VALUE,         CUDA_ERROR_OUT_OF_MEMORY,
    CUDA_ERROR_INVALID_IMAGE,         CUDA_ERROR_NO_BINARY_FOR_GPU,
    CUDA_ERROR_INVALID_PTX,           CUDA_ERROR_UNSUPPORTED_PTX_VERSION,
    CUDA_ERROR_INVALID_SOURCE,        CUDA_ERROR_SHARED_OBJECT_INIT_FAILED,
    CUDA_ERROR_NOT_FOUND,             CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES,
    CUDA_ERROR_NOT_SUPPORTED,         CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE,
    CUDA_ERROR_INVALID_CLUSTER_SIZE,
};

static at_status refusal_status(CUresult result)
{
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++)
        if (result == refusals[i])
            return AT_COMPILE;
    return AT_DEVICE;
}

/* Properties. */

/* Where an integer attribute of the device goes. */
typedef struct attribute_field {
    CUdevice_attribute attribute;
    size_t offset; /* in arch_limits */
    bool is_size;  /* the field is a size_t, else an int */
} attribute_field;

#define INT_FIELD(name, field) {CU_DEVICE_ATTRIBUTE_##name, offsetof(arch_limits, field), false}
#define SIZE_FIELD(name, field) {CU_DEVICE_ATTRIBUTE_##name, offsetof(arch_limits, field), true}

static const attribute_field attributes[] = {
    INT_FIELD(COMPUTE_CAPABILITY_MAJOR, major),
    INT_FIELD(COMPUTE_CAPABILITY_MINOR, minor),
    INT_FIELD(MULTIPROCESSOR_COUNT, sm_count),
    INT_FIELD(WARP_SIZE, warp_size),
    INT_FIELD(MAX_THREADS_PER_BLOCK, max_threads_per_block),
    INT_FIELD(MAX_THREADS_PER_MULTIPROCESSOR, max_threads_per_sm),
    INT_FIELD(MAX_BLOCKS_PER_MULTIPROCESSOR, max_blocks_per_sm),
    INT_FIELD(MAX_REGISTERS_PER_MULTIPROCESSOR, registers_per_sm),
    SIZE_FIELD(MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, shared_per_sm_bytes),
    SIZE_FIELD(MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, max_shared_per_block_bytes),
    SIZE_FIELD(RESERVED_SHARED_MEMORY_PER_BLOCK, shared_reserved_bytes),
    SIZE_FIELD(L2_CACHE_SIZE, l2_bytes),
    INT_FIELD(CLOCK_RATE, clock_khz),
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
        if (attributes[i].is_size)
            memcpy(field, &size, sizeof size);
        else
            memcpy(field, &v, sizeof v);
    }
    /* The driver does not tell these three; they are the same on every architecture since 7.0. */
    limits->max_registers_per_thread = 255;
    limits->register_unit = 256;
    limits->shared_unit_bytes = limits->major >= 8 ? 128 : 256;
    size_t memory = 0;
    cuda->cuDeviceTotalMem(&memory, handle);
    limits->global_bytes = memory;
    int memory_khz = 0, bus_bits = 0;
    cuda->cuDeviceGetAttribute(&memory_khz, CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE, handle);
    cuda->cuDeviceGetAttribute(&bus_bits, CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH, handle);
    /* Two transfers a clock. */
    limits->bandwidth_bytes_per_s = 2.0 * memory_khz * 1000.0 * bus_bits / 8.0;
    return AT_OK;
}

static void format_uuid(const CUuuid *uuid, char *out, size_t size_bytes)
{
    int used = snprintf(out, size_bytes, "GPU-");
    for (int i = 0; i < 16; i++)
        used += snprintf(out + used, size_bytes - (size_t)used, "%s%02x",
                         i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "",
                         (unsigned)(unsigned char)uuid->bytes[i]);
}

static at_status read_properties(const cuda_driver *cuda, int ordinal, CUdevice *handle,
                                 device_properties *out, at_error *error)
{
    *out = (device_properties){.kind = "cuda", .cuda_version = cuda->cuda_version};
    at_status status = cuda_check(cuda, cuda->cuDeviceGet(handle, ordinal), AT_NO_DEVICE,
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
        status = read_properties(&cuda, i, &handle, &out[*count], error);
        if (!status)
            ++*count;
    }
    cuda_driver_close(&cuda);
    return status;
}

/* Opening and closing. */

static at_status parse_ordinal(const char *spec, int present, int *ordinal, at_error *error)
{
    const char *digits = strncmp(spec, "cuda:", 5) == 0 ? spec + 5 : "0";
    char *end;
    long v = strtol(digits, &end, 10);
    if (*end || end == digits || v < 0)
        return error_set(error, AT_USAGE, "%s is not a device; write cuda:0, cuda:1, ...", spec);
    if (v >= present)
        return error_set(error, AT_NO_DEVICE, "there is no %s: the CUDA driver sees %d GPU%s", spec,
                         present, present == 1 ? "" : "s");
    *ordinal = (int)v;
    return AT_OK;
}

static void close_device(device *d)
{
    if (!d)
        return;
    if (d->context) {
        cuda_clock_free(d);
        cuda_results_free(d);
        if (d->support)
            d->cuda.cuModuleUnload(d->support);
        if (d->stream)
            d->cuda.cuStreamDestroy(d->stream);
        d->cuda.cuDevicePrimaryCtxRelease(d->handle);
    }
    nvml_close(d->board);
    cuda_driver_close(&d->cuda);
    free(d);
}

static at_status open_device(const char *spec, device **out, at_error *error)
{
    *out = NULL;
    device *d = calloc(1, sizeof *d);
    if (!d)
        return error_set(error, AT_NO_MEMORY, "no memory for device %s", spec);
    int present, ordinal = 0;
    at_status status = cuda_driver_open(&d->cuda, error);
    if (!status)
        status = count_devices(&d->cuda, &present, error);
    if (!status)
        status = parse_ordinal(spec, present, &ordinal, error);
    if (!status)
        status = read_properties(&d->cuda, ordinal, &d->handle, &d->properties, error);
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
    /* Spinning costs a core and saves tens of microseconds at each of a variant's many waits. It
     * fails when the context is active already; then the flags stay as they are. */
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

/* An image is an ELF file; one that comes in a message may start at any byte, which no driver
 * promises to read. */
static CUresult load_module(device *d, const device_image *image, CUmodule *out)
{
    *out = NULL;
    if ((uintptr_t)image->bytes % 16 == 0)
        return d->cuda.cuModuleLoadData(out, image->bytes);
    void *aligned = malloc(image->size_bytes > 0 ? image->size_bytes : 1);
    if (!aligned)
        return CUDA_ERROR_OUT_OF_MEMORY;
    memcpy(aligned, image->bytes, image->size_bytes);
    CUresult result = d->cuda.cuModuleLoadData(out, aligned);
    free(aligned);
    return result;
}

static at_status set_support(device *d, const device_image *support, at_error *error)
{
    const cuda_driver *cuda = &d->cuda;
    if (support->size_bytes == 0)
        return error_set(error, AT_INTERNAL, "the cuda device needs its support kernels");
    at_status status = cuda_check(cuda, load_module(d, support, &d->support), AT_DEVICE,
                                  "cannot load the support kernels", error);
    for (int i = 0; !status && i < SUPPORT_COUNT; i++)
        status = cuda_check(cuda,
                            cuda->cuModuleGetFunction(&d->support_kernels[i], d->support,
                                                      support_names[i]),
                            AT_DEVICE, "the support kernels are incomplete", error);
    return status;
}

static const device_properties *properties(const device *d)
{
    return &d->properties;
}

/* What the other files of the device use. */

at_status cuda_allocate(device *d, uint64_t size_bytes, const char *what, CUdeviceptr *out,
                        at_error *error)
{
    CUresult result = d->cuda.cuMemAlloc(out, size_bytes > 0 ? (size_t)size_bytes : 1);
    if (result == CUDA_SUCCESS)
        return AT_OK;
    *out = 0;
    if (result != CUDA_ERROR_OUT_OF_MEMORY)
        return cuda_check(&d->cuda, result, AT_DEVICE, what, error);
    size_t free_bytes = 0, total_bytes = 0;
    d->cuda.cuMemGetInfo(&free_bytes, &total_bytes);
    return error_set(error, AT_DEVICE,
                     "%s needs %.1f MiB of device memory, %.1f of %.1f MiB are free: choose a "
                     "smaller problem",
                     what, (double)size_bytes / 1048576.0, (double)free_bytes / 1048576.0,
                     (double)total_bytes / 1048576.0);
}

at_status cuda_wait(device *d, const char *what, at_error *error)
{
    return cuda_check(&d->cuda, d->cuda.cuStreamSynchronize(d->stream), AT_DEVICE, what, error);
}

at_status cuda_support_queue(device *d, support_kernel kernel, uint64_t items, void **arguments,
                             at_error *error)
{
    uint64_t most = (uint64_t)d->properties.limits.sm_count * SUPPORT_BLOCKS_PER_SM;
    uint64_t blocks = items / CUDA_BLOCK_THREADS + (items % CUDA_BLOCK_THREADS != 0);
    unsigned grid = (unsigned)(blocks < 1 ? 1 : blocks > most ? most : blocks);
    unsigned threads = items == 1 ? 1 : CUDA_BLOCK_THREADS;
    return cuda_check(&d->cuda,
                      d->cuda.cuLaunchKernel(d->support_kernels[kernel], grid, 1, 1, threads, 1, 1,
                                             0, d->stream, arguments, NULL),
                      AT_DEVICE, support_names[kernel], error);
}

/* Kernels. */

static void kernel_free(device *d, device_kernel *k)
{
    if (!k)
        return;
    if (k->module)
        d->cuda.cuModuleUnload(k->module);
    free(k);
}

static at_status kernel_new(device *d, const device_image *image, const char *entry,
                            device_kernel **out, at_error *error)
{
    *out = NULL;
    device_kernel *k = calloc(1, sizeof *k);
    if (!k)
        return error_set(error, AT_NO_MEMORY, "no memory for kernel %s", entry);
    CUresult result = load_module(d, image, &k->module);
    at_status status =
        cuda_check(&d->cuda, result, refusal_status(result), "cannot load the kernel", error);
    if (status)
        goto cleanup;
    result = d->cuda.cuModuleGetFunction(&k->function, k->module, entry);
    status = cuda_check(&d->cuda, result, refusal_status(result), entry, error);
    if (status)
        goto cleanup;
    int limit = 0;
    d->cuda.cuFuncGetAttribute(&limit, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                               k->function);
    k->dynamic_limit_bytes = limit > 0 ? (uint32_t)limit : 0;
cleanup:
    if (status)
        kernel_free(d, k);
    else
        *out = k;
    return status;
}

at_status cuda_kernel_prepare(device *d, device_kernel *k, const launch_plan *plan,
                              at_error *error)
{
    uint32_t wanted = plan->dynamic_shared_bytes;
    if (wanted <= k->dynamic_limit_bytes)
        return AT_OK;
    CUresult result = d->cuda.cuFuncSetAttribute(
        k->function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, (int)wanted);
    if (result != CUDA_SUCCESS && refusal_status(result) == AT_COMPILE)
        return error_set(error, AT_COMPILE,
                         "%s asks for %u bytes of dynamic shared memory, more than the device "
                         "gives a block (%zu with its static part)",
                         plan->entry, wanted, d->properties.limits.max_shared_per_block_bytes);
    at_status status = cuda_check(&d->cuda, result, AT_DEVICE, "cannot raise the limit of dynamic "
                                                               "shared memory", error);
    if (!status)
        k->dynamic_limit_bytes = wanted;
    return status;
}

at_status cuda_kernel_queue(device *d, device_kernel *k, const launch_plan *plan,
                            device_buffer *const *buffers, at_error *error)
{
    CUdeviceptr pointers[PLAN_MAX_ARGUMENTS];
    uint64_t scalars[PLAN_MAX_ARGUMENTS]; /* little-endian, as every host of a CUDA GPU is */
    void *arguments[PLAN_MAX_ARGUMENTS];
    for (uint32_t i = 0; i < plan->argument_count; i++) {
        const argument_plan *a = &plan->arguments[i];
        pointers[i] = a->is_buffer ? buffers[a->buffer]->data : 0;
        scalars[i] = a->bits;
        arguments[i] = a->is_buffer ? (void *)&pointers[i] : (void *)&scalars[i];
    }
    CUresult result = d->cuda.cuLaunchKernel(
        k->function, plan->grid[0], plan->grid[1], plan->grid[2], plan->block[0], plan->block[1],
        plan->block[2], plan->dynamic_shared_bytes, d->stream, arguments, NULL);
    return cuda_check(&d->cuda, result, refusal_status(result), "the launch was refused", error);
}

static at_status launch(device *d, device_kernel *k, const launch_plan *plan,
                        device_buffer *const *buffers, at_error *error)
{
    at_status status = cuda_kernel_prepare(d, k, plan, error);
    if (!status)
        status = cuda_kernel_queue(d, k, plan, buffers, error);
    return status ? status : cuda_wait(d, "the kernel faulted", error);
}

static at_status repeat(device *d, device_kernel *k, const launch_plan *plan,
                        device_buffer *const *buffers, uint64_t count, at_error *error)
{
    at_status status = cuda_kernel_prepare(d, k, plan, error);
    for (uint64_t i = 0; !status && i < count; i++)
        status = cuda_kernel_queue(d, k, plan, buffers, error);
    return status ? status : cuda_wait(d, "the kernel faulted", error);
}

/* Opened when first asked for: starting the library takes longer than a small run. */
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

const device_api device_cuda_api = {
    .kind = "cuda",
    .list = list,
    .open = open_device,
    .start = start_device,
    .set_support = set_support,
    .close = close_device,
    .properties = properties,
    .buffer_new = cuda_buffer_new,
    .buffer_free = cuda_buffer_free,
    .fill = cuda_buffer_fill,
    .poison = cuda_buffer_poison,
    .copy = cuda_buffer_copy,
    .checksum = cuda_buffer_checksum,
    .guards = cuda_buffer_guards,
    .compare = cuda_buffer_compare,
    .kernel_new = kernel_new,
    .kernel_free = kernel_free,
    .launch = launch,
    .sample = cuda_sample,
    .sample_copy = cuda_sample_copy,
    .batch_new = cuda_batch_new,
    .batch_copy_new = cuda_batch_copy_new,
    .batch_free = cuda_batch_free,
    .batch_sample = cuda_batch_sample,
    .repeat = repeat,
    .board = board,
    .others = others,
    .warm_up = cuda_warm_up,
    .floor = cuda_floor,
    .sm_clock = cuda_sm_clock,
};
