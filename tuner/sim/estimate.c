#include "sim/estimate.h"

#include <stdio.h>
#include <stdlib.h>

#include "sim/sim.h"
#include "sim/device.h"

struct sim_estimate {
    device *device;
    problem_plan plan;
    device_buffer *buffers[PLAN_MAX_BUFFERS];
};

void sim_estimate_free(sim_estimate *e)
{
    if (!e)
        return;
    device_sim_api.close(e->device); /* and its buffers */
    free(e);
}

static bool steers_addresses(const buffer_plan *p)
{
    return (p->role == BUFFER_INPUT || p->role == BUFFER_INOUT) && !dtype_get(p->type)->is_float &&
           p->fill != FILL_UNIFORM && p->fill != FILL_BITS;
}

at_status sim_estimate_new(const char *arch, const problem_plan *plan, sim_estimate **out,
                           at_error *error)
{
    *out = NULL;
    sim_estimate *e = calloc(1, sizeof *e);
    if (!e)
        return error_set(error, AT_NO_MEMORY, "no memory for an estimate");
    e->plan = *plan;
    char spec[32];
    snprintf(spec, sizeof spec, "sim:%s", arch);
    at_status status = device_sim_api.open(spec, &e->device, error);
    for (uint32_t i = 0; i < plan->buffer_count && !status; i++) {
        const buffer_plan *b = &plan->buffers[i];
        status = device_sim_api.buffer_new(e->device, b->name,
                                           b->count * dtype_get(b->type)->size_bytes,
                                           &e->buffers[i], error);
        if (!status && steers_addresses(b))
            status = device_sim_api.fill(e->device, e->buffers[i], b, plan->seed, error);
    }
    if (status)
        sim_estimate_free(e);
    else
        *out = e;
    return status;
}

void sim_estimate_watch(sim_estimate *e,
                        void (*progress)(void *context, uint64_t done, uint64_t total), void *context)
{
    e->device->progress = progress;
    e->device->progress_context = context;
}

void sim_estimated_deinit(sim_estimated *s)
{
    sim_kernel_deinit(&s->kernel);
    free(s->counters);
    *s = (sim_estimated){0};
}

at_status sim_estimate_kernel(sim_estimate *e, const device_image *image, const launch_plan *plan,
                              uint32_t i, uint64_t sample, sim_estimated *out, at_error *error)
{
    *out = (sim_estimated){.launch = i};
    device_kernel *k;
    at_status status = plan_fits(plan, e->plan.buffer_count, error);
    if (!status)
        status = device_sim_api.kernel_new(e->device, image, plan, &k, error);
    if (status)
        return status;
    out->counters = calloc(k->kernel.programs[i]->code_count, sizeof *out->counters);
    if (!out->counters)
        status = error_set(error, AT_NO_MEMORY, "no memory for counters");
    else
        status = sim_device_profile(e->device, k, plan, i, e->buffers, sample, false, out->counters,
                                    &out->profile, &out->prediction, error);
    out->fault = e->device->fault;
    out->kernel = k->kernel;
    k->kernel = (sim_kernel){0};
    device_sim_api.kernel_free(e->device, k);
    if (status)
        sim_estimated_deinit(out);
    return status;
}

at_status sim_estimate_time(sim_estimate *e, const device_image *image, const launch_plan *plan,
                            double *time_ns, at_error *error)
{
    at_status status = AT_OK;
    *time_ns = 0;
    for (uint32_t i = 0; !status && i < plan->launch_count; i++) {
        sim_estimated s;
        status = sim_estimate_kernel(e, image, plan, i, 0, &s, error);
        if (status)
            return status;
        *time_ns += s.prediction.time_ns;
        if (s.fault.kind != SIM_FAULT_NONE)
            status = error_set(error, AT_DEVICE, "%s", s.fault.message);
        sim_estimated_deinit(&s);
    }
    return status;
}
