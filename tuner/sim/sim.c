#include "sim/sim.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "device/plan.h"
#include "sim/device.h"

static void describe(const sim_chip *chip, device_properties *out)
{
    *out = (device_properties){.kind = "sim", .limits = chip->limits, .predicted = true};
    snprintf(out->spec, sizeof out->spec, "sim:%s", chip->name);
    snprintf(out->arch, sizeof out->arch, "%s", chip->arch);
    snprintf(out->limits.name, sizeof out->limits.name, "simulated %s", chip->name);
}

static at_status list(device_properties *out, size_t capacity, size_t *count, at_error *error)
{
    *count = 0;
    for (size_t i = 0; sim_chip_name(i) && *count < capacity; i++) {
        sim_chip chip;
        at_status status = sim_chip_find(sim_chip_name(i), &chip, error);
        if (status)
            return status;
        describe(&chip, &out[(*count)++]);
    }
    return AT_OK;
}

static void close_device(device *d)
{
    if (!d)
        return;
    while (d->buffers)
        sim_buffer_free(d, d->buffers);
    free(d->printed);
    free(d);
}

static at_status open_device(const char *spec, device **out, at_error *error)
{
    *out = NULL;
    device *d = memory_new(1, sizeof *d);
    at_status status = sim_chip_of_device(spec, &d->chip, error);
    if (status) {
        free(d);
        return status;
    }
    describe(&d->chip, &d->properties);
    *out = d;
    return AT_OK;
}

static const device_properties *properties(const device *d)
{
    return &d->properties;
}

static void arrange(device *d, uint32_t schedule, bool alone)
{
    d->schedule = schedule;
    d->alone = alone;
}

static const char *carry_on(device *d, const device_kernel *k, const launch_plan *plan)
{
    const ptx_variable *v = plan ? sim_kernel_find_changed(&k->kernel, plan) : NULL;
    d->carries_on = v != NULL;
    if (!v)
        return NULL;
    snprintf(d->changed, sizeof d->changed, "%.*s", (int)v->name.length, v->name.at);
    return d->changed;
}

static void describe_buffer(device_buffer *b, const buffer_plan *plan)
{
    b->region.plan = plan;
}

static void watch(device *d, void (*progress)(void *context, uint64_t done, uint64_t total),
                  void *context)
{
    d->progress = progress;
    d->progress_context = context;
}

static const char *complaint(const device *d, outcome *result)
{
    *result = sim_fault_outcome(d->fault.kind);
    return *result == OUTCOME_OK ? NULL : d->fault.message;
}

static const device_fault *fault(const device *d)
{
    return &d->fault.at;
}

static bool varies(const device *d)
{
    return d->fault.ran_on_several_threads;
}

static bool depends_on_order(const device_kernel *k, bool exactly)
{
    bool any = false;
    for (size_t i = 0; i < k->kernel.program_count; i++) {
        const sim_program *p = k->kernel.programs[i];
        any = any || p->shares || (exactly && p->rounds);
    }
    return any;
}

static void interval(const device *d, int64_t *low_ns, int64_t *high_ns)
{
    *low_ns = d->low_ns;
    *high_ns = d->high_ns;
}

static uint64_t last_work(const device *d)
{
    return d->last_work;
}

static void limit_work(device *d, uint64_t most)
{
    static const uint64_t least = UINT64_C(1) << 25;
    d->most_work = most > 0 && most < least ? least : most;
}

static char *take_printed(device *d)
{
    char *taken = d->printed;
    d->printed = NULL;
    return taken;
}

/* Sums the times of the launches. Data that one launch leaves in caches for the next is ignored. */
static at_status predict(device *d, device_kernel *k, const launch_plan *plan,
                         device_buffer *const *buffers, device_cache cache, at_error *error)
{
    double time_ns = 0, low_ns = 0, high_ns = 0;
    for (uint32_t i = 0; i < plan->launch_count; i++) {
        sim_profile profile;
        sim_prediction prediction;
        at_status status = sim_device_profile(d, k, plan, i, buffers, 0, cache == DEVICE_CACHE_WARM,
                                              NULL, &profile, &prediction, error);
        if (!status && d->fault.kind != SIM_FAULT_NONE)
            status = error_set(error, d->fault.kind == SIM_FAULT_UNKNOWN ? AT_NO_DEVICE : AT_DEVICE,
                               "%s", d->fault.message);
        if (status)
            return status;
        const double rounds = plan_rounds(plan, i);
        time_ns += rounds * prediction.time_ns;
        low_ns += rounds * prediction.low_ns;
        high_ns += rounds * prediction.high_ns;
    }
    k->predicted_ns = (int64_t)time_ns;
    k->low_ns = (int64_t)low_ns;
    k->high_ns = (int64_t)high_ns;
    return AT_OK;
}

static at_status sample(device *d, device_kernel *k, const launch_plan *plan,
                        device_buffer *const *buffers, device_cache cache,
                        const device_before *before, size_t before_count, int64_t *time_ns,
                        at_error *error)
{
    (void)before;
    (void)before_count;
    pack asked = {0};
    plan_put_launch(&asked, plan);
    const bool known = k->predicted_ns > 0 && k->predicted_cache == cache && !asked.failed &&
                       k->predicted.size_bytes == asked.size_bytes &&
                       memcmp(k->predicted.bytes, asked.bytes, asked.size_bytes) == 0;
    at_status status = known ? AT_OK : predict(d, k, plan, buffers, cache, error);
    if (status || known) {
        pack_deinit(&asked);
    } else {
        pack_deinit(&k->predicted);
        k->predicted = asked;
        k->predicted_cache = cache;
    }
    *time_ns = k->predicted_ns;
    d->low_ns = k->low_ns;
    d->high_ns = k->high_ns;
    return status;
}

static at_status sample_copy(device *d, device_buffer *to, const device_buffer *from,
                             uint64_t size_bytes, device_cache cache, int64_t *time_ns,
                             at_error *error)
{
    if (size_bytes > to->region.size_bytes || size_bytes > from->region.size_bytes)
        return error_set(error, AT_INTERNAL, "the copy is larger than its buffers");
    *time_ns = (int64_t)sim_model_copy_ns(&d->chip, (double)size_bytes, cache == DEVICE_CACHE_WARM);
    return AT_OK;
}

static at_status floor_time(device *d, int64_t *floor_ns, int64_t *tick_ns, at_error *error)
{
    (void)error;
    *floor_ns = (int64_t)d->chip.launch_ns;
    *tick_ns = 1;
    return AT_OK;
}

static const device_analysis analysis = {
    .describe = describe_buffer,
    .arrange = arrange,
    .carry_on = carry_on,
    .limit_work = limit_work,
    .interval = interval,
    .work = last_work,
    .fault = fault,
    .varies = varies,
    .depends_on_order = depends_on_order,
    .suspect = sim_suggest_cause,
    .take_printed = take_printed,
    .covered = sim_find_coverage,
    .watch = watch,
};

static const device_excerpts excerpts = {
    .make = sim_excerpt_new,
    .free = sim_excerpt_free,
    .buffers = sim_excerpt_buffers,
    .reset = sim_excerpt_reset,
    .check = sim_excerpt_check,
};

const device_api device_sim_api = {
    .kind = "sim",
    .analysis = &analysis,
    .excerpts = &excerpts,
    .list = list,
    .open = open_device,
    .close = close_device,
    .properties = properties,
    .buffer_new = sim_buffer_new,
    .buffer_free = sim_buffer_free,
    .fill = sim_buffer_fill,
    .write = sim_buffer_write,
    .read = sim_buffer_read,
    .poison = sim_buffer_poison,
    .copy = sim_buffer_copy,
    .checksum = sim_buffer_checksum,
    .guards = sim_buffer_guards,
    .compare = sim_buffer_compare,
    .kernel_new = sim_kernel_load,
    .kernel_free = sim_kernel_unload,
    .launch = sim_device_launch,
    .complaint = complaint,
    .sample = sample,
    .sample_copy = sample_copy,
    .floor = floor_time,
};
