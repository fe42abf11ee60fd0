#include "cuda/queue.h"

#include <stdlib.h>

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
    [SUPPORT_SCRUB] = "at_scrub",
};

const char *cuda_support_name(support_kernel kernel)
{
    return support_names[kernel];
}

at_status cuda_done(device *d, CUresult result, const char *what, at_error *error)
{
    return cuda_check(&d->cuda, result, AT_DEVICE, what, error);
}

at_status cuda_allocate(device *d, uint64_t size_bytes, const char *what, CUdeviceptr *out,
                        at_error *error)
{
    CUresult result = d->cuda.cuMemAlloc(out, size_bytes > 0 ? (size_t)size_bytes : 1);
    if (result == CUDA_SUCCESS)
        return AT_OK;
    *out = 0;
    if (result != CUDA_ERROR_OUT_OF_MEMORY)
        return cuda_done(d, result, what, error);
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
    return cuda_done(d, d->cuda.cuStreamSynchronize(d->stream), what, error);
}

at_status cuda_support_queue(device *d, support_kernel kernel, uint64_t items, void **arguments,
                             at_error *error)
{
    uint64_t most = (uint64_t)d->properties.limits.sm_count * SUPPORT_BLOCKS_PER_SM;
    uint64_t blocks = items / CUDA_BLOCK_THREADS + (items % CUDA_BLOCK_THREADS != 0);
    unsigned grid = (unsigned)(blocks < 1 ? 1 : blocks > most ? most : blocks);
    unsigned threads = items == 1 ? 1 : CUDA_BLOCK_THREADS;
    return cuda_done(d,
                     d->cuda.cuLaunchKernel(d->support_kernels[kernel], grid, 1, 1, threads, 1, 1,
                                            0, d->stream, arguments, NULL),
                     support_names[kernel], error);
}

at_status cuda_scrub(device *d, int pattern, at_error *error)
{
    static const char what[] = "cannot fill shared memory";
    static const uint32_t values[] = {0x7fc00000, 0xfe000000, 0x3f000000, 0x7e000000};
    uint32_t bytes = (uint32_t)d->properties.limits.max_shared_per_block_bytes / 4 * 4;
    uint32_t word = values[pattern & 3];
    void *arguments[] = {&bytes, &word};
    CUfunction kernel = d->support_kernels[SUPPORT_SCRUB];
    at_status status = AT_OK;
    if (!d->scrubs)
        status = cuda_done(d,
                           d->cuda.cuFuncSetAttribute(
                               kernel, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, (int)bytes),
                           what, error);
    d->scrubs = !status;
    /* A block has an SM to itself; twice as many as there are SMs reach all. */
    if (!status)
        status = cuda_done(
            d,
            d->cuda.cuLaunchKernel(kernel, 2 * (unsigned)d->properties.limits.sm_count, 1, 1,
                                   CUDA_BLOCK_THREADS, 1, 1, bytes, d->stream, arguments, NULL),
            what, error);
    return status;
}

static void list_address(uint32_t place, device_buffer *const *buffers,
                         cuda_range out[PLAN_MAX_BUFFERS])
{
    out[place] = (cuda_range){buffers[place]->data, buffers[place]->size_bytes};
}

/* The addresses of the buffers that a plan can name. */
static void list_addresses(const launch_plan *plan, device_buffer *const *buffers,
                           cuda_range out[PLAN_MAX_BUFFERS])
{
    for (uint32_t i = 0; i < plan->argument_count; i++)
        if (plan->arguments[i].is_buffer)
            list_address(plan->arguments[i].buffer, buffers, out);
    for (uint32_t i = 0; i < plan->address_count; i++)
        list_address(plan->addresses[i].buffer, buffers, out);
    for (uint32_t i = 0; i < plan->view_count; i++)
        list_address(plan->views[i].buffer, buffers, out);
    for (uint32_t i = 0; i < plan->constant_count; i++)
        list_address(plan->constants[i].buffer, buffers, out);
}

at_status cuda_kernel_prepare_buffers(device *d, device_kernel *k, const launch_plan *plan,
                                      device_buffer *const *buffers, at_error *error)
{
    cuda_range ranges[PLAN_MAX_BUFFERS] = {{0}};
    list_addresses(plan, buffers, ranges);
    at_status status = cuda_launcher_make_textures(&k->launcher, &d->cuda, plan, ranges, error);
    return status ? status
                  : cuda_launcher_copy_arrays(&k->launcher, &d->cuda, plan, ranges, false,
                                              d->stream, error);
}

at_status cuda_kernel_take_back(device *d, device_kernel *k, const launch_plan *plan,
                                device_buffer *const *buffers, at_error *error)
{
    cuda_range ranges[PLAN_MAX_BUFFERS] = {{0}};
    list_addresses(plan, buffers, ranges);
    at_status status =
        cuda_launcher_copy_arrays(&k->launcher, &d->cuda, plan, ranges, true, d->stream, error);
    return status ? status
                  : cuda_launcher_copy_constants(&k->launcher, &d->cuda, plan, ranges, true,
                                                 d->stream, error);
}

at_status cuda_kernel_prepare(device *d, device_kernel *k, const launch_plan *plan,
                              device_buffer *const *buffers, at_error *error)
{
    cuda_range ranges[PLAN_MAX_BUFFERS] = {{0}};
    at_status status = cuda_launcher_prepare(&k->launcher, &d->cuda, plan, error);
    if (!status)
        status = cuda_done(d, cuda_module_reset(&d->cuda, k->module, d->stream),
                           "cannot reset the module's variables", error);
    if (!status)
        status = cuda_kernel_prepare_buffers(d, k, plan, buffers, error);
    if (status || plan->constant_count == 0)
        return status;
    list_addresses(plan, buffers, ranges);
    return cuda_launcher_copy_constants(&k->launcher, &d->cuda, plan, ranges, false, d->stream,
                                        error);
}

at_status cuda_kernel_queue_some(device *d, device_kernel *k, const launch_plan *plan,
                                 device_buffer *const *buffers, launch_walk *walk, uint32_t most,
                                 at_error *error)
{
    cuda_range ranges[PLAN_MAX_BUFFERS] = {{0}};
    list_addresses(plan, buffers, ranges);
    return cuda_launcher_queue_some(&k->launcher, &d->cuda, plan, ranges, walk, most, d->stream,
                                    error);
}

at_status cuda_kernel_queue(device *d, device_kernel *k, const launch_plan *plan,
                            device_buffer *const *buffers, at_error *error)
{
    launch_walk walk = {0};
    return cuda_kernel_queue_some(d, k, plan, buffers, &walk, UINT32_MAX, error);
}

at_status cuda_kernel_queue_one(device *d, device_kernel *k, const launch_plan *plan,
                                uint32_t place, device_buffer *const *buffers, at_error *error)
{
    cuda_range ranges[PLAN_MAX_BUFFERS] = {{0}};
    list_addresses(plan, buffers, ranges);
    return cuda_launcher_queue_one(&k->launcher, &d->cuda, plan, place, ranges, NULL, d->stream,
                                   error);
}

void cuda_kernel_free(device *d, device_kernel *k)
{
    if (!k)
        return;
    if (k->module)
        cuda_module_release(&d->cuda, &d->modules, k->module);
    free(k);
}

at_status cuda_kernel_new(device *d, const device_image *image, const launch_plan *plan,
                          device_kernel **out, at_error *error)
{
    *out = NULL;
    device_kernel *k = calloc(1, sizeof *k);
    if (!k)
        return error_no_memory(error);
    CUresult result = cuda_module_acquire(&d->cuda, &d->modules, image, d->stream, &k->module);
    at_status status =
        cuda_check(&d->cuda, result, cuda_refusal_status(result), "cannot load the kernel", error);
    if (!status)
        status = cuda_launcher_init(&k->launcher, &d->cuda, k->module->module, plan, image->symbols,
                                    error);
    k->launcher.textures = &d->textures;
    if (status)
        cuda_kernel_free(d, k);
    else
        *out = k;
    return status;
}
