#include "sim/estimate.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "sim/device.h"
#include "sim/sim.h"

struct sim_estimate {
    device *device;
    problem_plan plan;
    sim_data *data;
};

void sim_estimate_free(sim_estimate *e)
{
    if (!e)
        return;
    sim_data_free(e->data);
    device_sim_api.close(e->device);
    free(e);
}

at_status sim_estimate_new(const sim_chip *chip, const problem_plan *plan, const sim_filler *filler,
                           const void *const *contents, sim_estimate **out, at_error *error)
{
    *out = NULL;
    sim_estimate *e = memory_new(1, sizeof *e);
    e->plan = *plan;
    char spec[32];
    snprintf(spec, sizeof spec, "sim:%s", chip->name);
    at_status status = device_sim_api.open(spec, &e->device, error);
    if (!status)
        e->device->chip = *chip;
    if (!status)
        status = sim_data_new(e->device, plan, filler, contents, &e->data, error);
    if (status)
        sim_estimate_free(e);
    else
        *out = e;
    return status;
}

void sim_estimate_watch(sim_estimate *e,
                        void (*progress)(void *context, uint64_t done, uint64_t total),
                        void *context)
{
    e->device->progress = progress;
    e->device->progress_context = context;
}

const char *sim_estimate_trouble(const sim_estimate *e)
{
    return sim_data_trouble(e->data);
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
    at_status status = plan_check_buffers(plan, e->plan.buffer_count, error);
    if (!status)
        status = device_sim_api.kernel_new(e->device, image, plan, &k, error);
    if (status)
        return status;
    out->counters = calloc(k->kernel.programs[i]->code_count, sizeof *out->counters);
    if (!out->counters)
        status = error_set(error, AT_NO_MEMORY, "no memory for counters");
    else
        status = sim_device_profile(e->device, k, plan, i, sim_data_buffers(e->data), sample, false,
                                    out->counters, &out->profile, &out->prediction, error);
    out->fault = e->device->fault;
    out->kernel = k->kernel;
    k->kernel = (sim_kernel){0};
    device_sim_api.kernel_free(e->device, k);
    if (status)
        sim_estimated_deinit(out);
    return status;
}
