#include "cuda/queue.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

const char *cuda_support_name(support_kernel kernel)
{
    return support_names[kernel];
}

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

void cuda_kernel_free(device *d, device_kernel *k)
{
    if (!k)
        return;
    if (k->module)
        cuda_module_release(&d->cuda, &d->modules, k->module);
    free(k);
}

at_status cuda_kernel_new(device *d, const device_image *image, const char *entry,
                            device_kernel **out, at_error *error)
{
    *out = NULL;
    device_kernel *k = calloc(1, sizeof *k);
    if (!k)
        return error_set(error, AT_NO_MEMORY, "no memory for kernel %s", entry);
    char symbol[PLAN_NAME_BYTES + sizeof image->suffix];
    snprintf(symbol, sizeof symbol, "%s%s", entry, image->suffix);
    CUresult result = cuda_module_acquire(&d->cuda, &d->modules, image, &k->module);
    at_status status =
        cuda_check(&d->cuda, result, refusal_status(result), "cannot load the kernel", error);
    if (status)
        goto cleanup;
    result = d->cuda.cuModuleGetFunction(&k->function, k->module->module, symbol);
    status = cuda_check(&d->cuda, result, refusal_status(result), entry, error);
    if (status)
        goto cleanup;
    int limit = 0;
    d->cuda.cuFuncGetAttribute(&limit, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                               k->function);
    k->dynamic_limit_bytes = limit > 0 ? (uint32_t)limit : 0;
cleanup:
    if (status)
        cuda_kernel_free(d, k);
    else
        *out = k;
    return status;
}
