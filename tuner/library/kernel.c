#include <pthread.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/error.h"
#include "cuda/launcher.h"
#include "library/library.h"
#include "library/source.h"

struct at_kernel {
    library_source source;
    cuda_driver cuda;
    CUmodule module;
    cuda_launcher launcher;
    pthread_mutex_t *lock;  /* guards `textures`; NULL if the kernel reads no texture */
    cuda_textures textures; /* one for each address on which the kernel was launched */
};

static at_status prepare_textures(at_kernel *k, at_error *error)
{
    const launch_plan *plan = &k->source.launch;
    bool reads = false;
    for (uint32_t i = 0; i < plan->view_count; i++) {
        if (plan->views[i].in_array)
            return error_set(error, AT_COMPILE,
                             "the kernel takes a %s of a CUDA array, but at_launch takes buffers "
                             "only: make the array and launch the kernel yourself",
                             view_kind_name(plan->views[i].kind));
        reads = reads || plan->views[i].kind == VIEW_TEXTURE;
    }
    if (!reads)
        return AT_OK;
    k->lock = malloc(sizeof *k->lock);
    if (!k->lock)
        return error_no_memory(error);
    pthread_mutex_init(k->lock, NULL);
    k->launcher.textures = &k->textures;
    return AT_OK;
}

static at_status load_module(at_kernel *k, at_error *error)
{
    const launch_plan *plan = &k->source.launch;
    at_status status = cuda_check(&k->cuda, k->cuda.cuModuleLoadData(&k->module, k->source.cubin),
                                  AT_DEVICE, "the driver refused the kernel", error);
    if (!status)
        status =
            cuda_launcher_init(&k->launcher, &k->cuda, k->module, plan, k->source.symbols, error);
    if (!status)
        status = prepare_textures(k, error);
    return status ? status : cuda_launcher_prepare(&k->launcher, &k->cuda, plan, error);
}

static at_status prepare(at_kernel *k, const at_choice *choice, const at_kernel_options *options,
                         at_error *error)
{
    device_properties here;
    at_status status = cuda_driver_open(&k->cuda, error);
    if (!status)
        status = library_current_device(&here, error);
    if (!status)
        status = library_source_init(&k->source, choice, options, &here.limits, here.arch, error);
    return status ? status : load_module(k, error);
}

at_status at_prepare(const at_choice *choice, const at_kernel_options *options, at_kernel **out,
                     at_error *error)
{
    if (!out)
        return argument_refuse_null("at_prepare", "out", error);
    *out = NULL;
    if (!choice)
        return argument_refuse_null("at_prepare", "choice", error);
    error_clear(error);
    at_kernel *k = calloc(1, sizeof *k);
    if (!k)
        return error_no_memory(error);
    thread_state callers;
    at_status status = thread_state_reset(&callers, error);
    if (!status) {
        status = prepare(k, choice, options, error);
        thread_state_restore(&callers);
    }
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
    if (k->lock) {
        cuda_textures_drop(&k->textures, &k->cuda, 0, UINT64_MAX);
        pthread_mutex_destroy(k->lock);
        free(k->lock);
    }
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
        return argument_refuse_null("at_launch", !k ? "kernel" : "buffers", error);
    error_clear(error);
    const launch_plan *plan = &k->source.launch;
    const problem_plan *problem = &k->source.problem;
    cuda_range ranges[PLAN_MAX_BUFFERS] = {{0}};
    for (uint32_t i = 0; i < problem->buffer_count; i++)
        ranges[i] = (cuda_range){buffers[i], plan_buffer_bytes(&problem->buffers[i])};
    if (k->lock)
        pthread_mutex_lock(k->lock);
    at_status status =
        cuda_launcher_copy_constants(&k->launcher, &k->cuda, plan, ranges, false, stream, error);
    if (!status)
        status = cuda_launcher_queue(&k->launcher, &k->cuda, plan, ranges, (CUstream)stream, error);
    if (!status)
        status =
            cuda_launcher_copy_constants(&k->launcher, &k->cuda, plan, ranges, true, stream, error);
    if (k->lock)
        pthread_mutex_unlock(k->lock);
    /* The caller does not know variants, so the launcher's AT_COMPILE becomes AT_DEVICE, too. */
    if (status && error)
        error->status = AT_DEVICE;
    return status ? AT_DEVICE : AT_OK;
}
