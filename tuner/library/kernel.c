#include <stdlib.h>
#include <string.h>

#include "cuda/driver.h"
#include "base/error.h"
#include "library/library.h"
#include "library/source.h"

/* Every kernel may use this much dynamic shared memory without asking. */
static const uint32_t shared_without_asking_bytes = 48 * 1024;

struct at_kernel {
    library_source source;
    cuda_driver cuda;
    CUmodule module;
    CUfunction function;
};

static at_status load_module(at_kernel *k, at_error *error)
{
    const cuda_driver *cuda = &k->cuda;
    const launch_plan *plan = &k->source.launch;
    at_status status = cuda_check(cuda, cuda->cuModuleLoadData(&k->module, k->source.cubin),
                                  AT_DEVICE, "the driver refused the kernel", error);
    if (!status)
        status = cuda_check(cuda, cuda->cuModuleGetFunction(&k->function, k->module, plan->entry),
                            AT_DEVICE, "the kernel is not in its module", error);
    if (!status && plan->dynamic_shared_bytes > shared_without_asking_bytes)
        status = cuda_check(
            cuda,
            cuda->cuFuncSetAttribute(k->function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                     (int)plan->dynamic_shared_bytes),
            AT_DEVICE, "the GPU has too little shared memory for the kernel", error);
    return status;
}

at_status at_prepare(const at_choice *choice, const at_kernel_options *options, at_kernel **out,
                     at_error *error)
{
    device_properties here;
    if (!out)
        return library_refuse_null("at_prepare", "out", error);
    *out = NULL;
    if (!choice)
        return library_refuse_null("at_prepare", "choice", error);
    error_clear(error);
    at_kernel *k = calloc(1, sizeof *k);
    if (!k)
        return error_set(error, AT_NO_MEMORY, "out of memory");
    at_status status = cuda_driver_open(&k->cuda, error);
    if (!status)
        status = library_current_device(&here, error);
    if (!status)
        status = library_source_init(&k->source, choice, options, &here.limits, here.arch, error);
    if (!status)
        status = load_module(k, error);
    if (status)
        at_kernel_free(k);
    else
        *out = k;
    return status;
}

void at_kernel_free(at_kernel *k)
{
    if (!k)
        return;
    if (k->module)
        k->cuda.cuModuleUnload(k->module);
    cuda_driver_close(&k->cuda);
    library_source_deinit(&k->source);
    free(k);
}

at_rule at_kernel_rule(const at_kernel *k)
{
    return k ? (at_rule)k->source.rule : AT_RULE_DEFAULT;
}

const char *at_kernel_text(const at_kernel *k)
{
    return k ? k->source.text : "";
}

const char *at_kernel_source(const at_kernel *k)
{
    return k ? k->source.variant.source : "";
}

size_t at_kernel_buffer_count(const at_kernel *k)
{
    return k ? k->source.problem.buffer_count : 0;
}

const char *at_kernel_buffer_name(const at_kernel *k, size_t index)
{
    return index < at_kernel_buffer_count(k) ? k->source.problem.buffers[index].name : "";
}

uint64_t at_kernel_buffer_bytes(const at_kernel *k, size_t index)
{
    if (index >= at_kernel_buffer_count(k))
        return 0;
    const buffer_plan *b = &k->source.problem.buffers[index];
    return b->count * dtype_get(b->type)->size_bytes;
}

at_status at_launch(const at_kernel *k, void *stream, const uint64_t *buffers, at_error *error)
{
    if (!k || (!buffers && at_kernel_buffer_count(k) > 0))
        return library_refuse_null("at_launch", !k ? "kernel" : "buffers", error);
    error_clear(error);
    const launch_plan *plan = &k->source.launch;
    uint64_t values[PLAN_MAX_ARGUMENTS];
    void *arguments[PLAN_MAX_ARGUMENTS];
    for (uint32_t i = 0; i < plan->argument_count; i++) {
        const argument_plan *a = &plan->arguments[i];
        values[i] = a->is_buffer ? buffers[a->buffer] : a->bits;
        arguments[i] = &values[i];
    }
    CUresult result = k->cuda.cuLaunchKernel(
        k->function, plan->grid[0], plan->grid[1], plan->grid[2], plan->block[0], plan->block[1],
        plan->block[2], plan->dynamic_shared_bytes, (CUstream)stream, arguments, NULL);
    if (result == CUDA_SUCCESS)
        return AT_OK;
    return cuda_check(&k->cuda, result, AT_DEVICE, "the launch failed", error);
}
