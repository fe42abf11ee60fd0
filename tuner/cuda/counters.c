/* Hardware counters of a variant's launches, by CUPTI's range profiler (cuda/cupti.h).
 *
 * Each launch of a plan is a range. A chip has few counters, so the plan runs in as many passes as
 * the metrics need. All passes begin with the same buffers. Clocks are not locked. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "cuda/cupti.h"
#include "cuda/queue.h"

/* All metrics of a chip together need a few hundred passes. */
enum { MOST_PASSES = 1000 };

/* A profile in progress. After a failure, kept in `status`, CUPTI is not called any more. */
typedef struct counting {
    device *device;
    const cupti *cupti;
    device_kernel *kernel;
    const launch_plan *plan;
    device_buffer *const *buffers;
    const device_counting *what;
    cupti_host *host;
    cupti_ranges *ranges;
    const char **names; /* names of the metrics that the chip has; owned */
    size_t *places;     /* index of each name in what->metrics; owned */
    size_t name_count;
    uint8_t *config, *data; /* owned */
    size_t config_bytes, data_bytes;
    at_status status;
    at_error *error;
} counting;

/* Calls a function of CUPTI unless something has failed, and sets the status. */
#define CALL(x, function, parameter)                                                               \
    ((x)->status = (x)->status ? (x)->status                                                       \
                               : cupti_check((x)->cupti, (x)->cupti->function(parameter),          \
                                             #function, (x)->error))

/* Opens CUPTI once per process: it hooks itself into the driver and cannot be unloaded. */
static at_status start_library(device *d, at_error *error)
{
    if (d->counters)
        return AT_OK;
    cupti *c = calloc(1, sizeof *c);
    if (!c)
        return error_no_memory(error);
    at_status status = cupti_open(c, error);
    cupti_initialize start = {CUPTI_SIZE(cupti_initialize, unused), NULL};
    if (!status)
        status =
            cupti_check(c, c->cuptiProfilerInitialize(&start), "cuptiProfilerInitialize", error);
    if (status)
        free(c);
    else
        d->counters = c;
    return status;
}

void cuda_counters_free(device *d)
{
    free(d->counters);
    d->counters = NULL;
}

static void drop_host(counting *x)
{
    cupti_host_free gone = {CUPTI_SIZE(cupti_host_free, host), NULL, x->host};
    if (x->host)
        x->cupti->cuptiProfilerHostDeinitialize(&gone);
    x->host = NULL;
}

static void make_host(counting *x)
{
    drop_host(x);
    cupti_chip_name chip = {.size_bytes = CUPTI_SIZE(cupti_chip_name, name),
                            .ordinal = (size_t)x->device->handle};
    CALL(x, cuptiDeviceGetChipName, &chip);
    cupti_host_new made = {.size_bytes = CUPTI_SIZE(cupti_host_new, host),
                           .profiler = CUPTI_RANGE_PROFILER,
                           .chip = chip.name};
    CALL(x, cuptiProfilerHostInitialize, &made);
    x->host = made.host;
    cupti_add_metrics added = {CUPTI_SIZE(cupti_add_metrics, count), NULL, x->host, x->names,
                               x->name_count};
    if (x->name_count)
        CALL(x, cuptiProfilerHostConfigAddMetrics, &added);
}

static void add_metric(counting *x, size_t place)
{
    const char *name = x->what->metrics[place];
    cupti_metric_properties asked = {
        .size_bytes = CUPTI_SIZE(cupti_metric_properties, type), .host = x->host, .name = name};
    int code = x->cupti->cuptiProfilerHostGetMetricProperties(&asked);
    if (code == CUPTI_INVALID_METRIC_NAME)
        return;
    x->status = cupti_check(x->cupti, code, "cuptiProfilerHostGetMetricProperties", x->error);
    cupti_add_metrics added = {.size_bytes = CUPTI_SIZE(cupti_add_metrics, count),
                               .host = x->host,
                               .names = &name,
                               .count = 1};
    if (x->status)
        return;
    /* A counter without a suffix such as ".sum" is not a metric, although it has properties. After
     * CUPTI has refused a metric, x->host accepts no more metrics and must be made again. */
    if (x->cupti->cuptiProfilerHostConfigAddMetrics(&added) != CUPTI_OK) {
        make_host(x);
        return;
    }
    x->names[x->name_count] = name;
    x->places[x->name_count++] = place;
}

static void *allocate(counting *x, size_t size_bytes)
{
    void *bytes = x->status ? NULL : calloc(1, size_bytes + 1);
    if (!bytes && !x->status)
        x->status = error_no_memory(x->error);
    return bytes;
}

static void make_config(counting *x)
{
    for (size_t i = 0; !x->status && i < x->what->count; i++)
        add_metric(x, i);
    if (x->name_count == 0)
        return;
    cupti_config_size size = {.size_bytes = CUPTI_SIZE(cupti_config_size, image_bytes),
                              .host = x->host};
    CALL(x, cuptiProfilerHostGetConfigImageSize, &size);
    x->config_bytes = size.image_bytes;
    x->config = allocate(x, size.image_bytes);
    cupti_config_image image = {CUPTI_SIZE(cupti_config_image, image), NULL, x->host,
                                x->config_bytes, x->config};
    CALL(x, cuptiProfilerHostGetConfigImage, &image);
}

static void make_data(counting *x)
{
    cupti_data_size size = {.size_bytes = CUPTI_SIZE(cupti_data_size, data_bytes),
                            .ranges = x->ranges,
                            .names = x->names,
                            .count = x->name_count,
                            .most_ranges = x->plan->launch_count,
                            .most_nodes = x->plan->launch_count};
    CALL(x, cuptiRangeProfilerGetCounterDataSize, &size);
    x->data_bytes = size.data_bytes;
    x->data = allocate(x, size.data_bytes);
    cupti_data_initialize fresh = {CUPTI_SIZE(cupti_data_initialize, data), NULL, x->ranges,
                                   x->data_bytes, x->data};
    CALL(x, cuptiRangeProfilerCounterDataImageInitialize, &fresh);
}

static void configure(counting *x)
{
    cupti_set_config config = {.size_bytes = CUPTI_SIZE(cupti_set_config, target_nesting_level),
                               .ranges = x->ranges,
                               .image_bytes = x->config_bytes,
                               .image = x->config,
                               .data_bytes = x->data_bytes,
                               .data = x->data,
                               .range_mode = CUPTI_RANGES_OF_USER,
                               .replay_mode = CUPTI_REPLAYED_BY_USER,
                               .ranges_a_pass = x->plan->launch_count,
                               .nesting_levels = 1,
                               .least_nesting_level = 1,
                               .target_nesting_level = 1};
    CALL(x, cuptiRangeProfilerSetConfig, &config);
}

static void run_launch(counting *x, uint32_t place)
{
    char name[16];
    /* CUPTI returns ranges in the order of their names or creation, which are the same here. */
    snprintf(name, sizeof name, "%04u", place);
    cupti_push push = {CUPTI_SIZE(cupti_push, name), NULL, x->ranges, name};
    cupti_ranges_call pop = {CUPTI_SIZE(cupti_ranges_call, ranges), NULL, x->ranges};
    CALL(x, cuptiRangeProfilerPushRange, &push);
    if (!x->status)
        x->status =
            cuda_kernel_queue_one(x->device, x->kernel, x->plan, place, x->buffers, x->error);
    if (!x->status)
        x->status = cuda_wait(x->device, "the kernel faulted", x->error);
    CALL(x, cuptiRangeProfilerPopRange, &pop);
}

static bool run_pass(counting *x)
{
    cupti_ranges_call start = {CUPTI_SIZE(cupti_ranges_call, ranges), NULL, x->ranges};
    cupti_stop stop = {.size_bytes = CUPTI_SIZE(cupti_stop, all_passes_done), .ranges = x->ranges};
    x->status = x->what->renew(x->what->context, x->error);
    if (!x->status)
        x->status = cuda_kernel_prepare(x->device, x->kernel, x->plan, x->buffers, x->error);
    if (!x->status && x->what->cache == DEVICE_CACHE_COLD)
        x->status = cuda_flush_queue(x->device, x->error);
    if (!x->status)
        x->status = cuda_wait(x->device, "the device faulted", x->error);
    CALL(x, cuptiRangeProfilerStart, &start);
    for (uint32_t i = 0; !x->status && i < x->plan->launch_count; i++)
        run_launch(x, i);
    CALL(x, cuptiRangeProfilerStop, &stop);
    return stop.all_passes_done != 0;
}

static void run_passes(counting *x)
{
    bool done = false;
    for (int pass = 0; !x->status && !done && pass < MOST_PASSES; pass++)
        done = run_pass(x);
    if (!x->status && !done)
        x->status =
            error_set(x->error, AT_NO_DEVICE,
                      "CUPTI needs more than %d passes for these counters: ask for fewer at a time",
                      MOST_PASSES);
    cupti_decode decode = {.size_bytes = CUPTI_SIZE(cupti_decode, dropped), .ranges = x->ranges};
    CALL(x, cuptiRangeProfilerDecodeData, &decode);
    cupti_data_info info = {.size_bytes = CUPTI_SIZE(cupti_data_info, ranges),
                            .data = x->data,
                            .data_bytes = x->data_bytes};
    CALL(x, cuptiRangeProfilerGetCounterDataInfo, &info);
    if (!x->status && (decode.dropped > 0 || info.ranges != x->plan->launch_count))
        x->status = error_set(x->error, AT_NO_DEVICE, "CUPTI counted only %zu of %u launches",
                              info.ranges, x->plan->launch_count);
}

static void evaluate(counting *x, double *values)
{
    double *found = allocate(x, x->name_count * sizeof *found);
    for (uint32_t i = 0; !x->status && i < x->plan->launch_count; i++) {
        cupti_evaluate asked = {.size_bytes = CUPTI_SIZE(cupti_evaluate, values),
                                .host = x->host,
                                .data = x->data,
                                .data_bytes = x->data_bytes,
                                .range = i,
                                .names = x->names,
                                .count = x->name_count,
                                .values = found};
        CALL(x, cuptiProfilerHostEvaluateToGpuValues, &asked);
        for (size_t k = 0; !x->status && k < x->name_count; k++)
            values[i * x->what->count + x->places[k]] = found[k];
    }
    free(found);
}

static void count_ranges(counting *x, double *values)
{
    cupti_enable enable = {.size_bytes = CUPTI_SIZE(cupti_enable, ranges),
                           .context = x->device->context};
    CALL(x, cuptiRangeProfilerEnable, &enable);
    x->ranges = enable.ranges;
    make_data(x);
    configure(x);
    run_passes(x);
    evaluate(x, values);
}

static at_status count(device *d, device_kernel *k, const launch_plan *plan,
                       device_buffer *const *buffers, const device_counting *what, double *values,
                       at_error *error)
{
    for (size_t i = 0; i < what->count * plan->launch_count; i++)
        values[i] = NAN;
    at_status status = start_library(d, error);
    if (status)
        return status;
    counting x = {.device = d,
                  .cupti = d->counters,
                  .kernel = k,
                  .plan = plan,
                  .buffers = buffers,
                  .what = what,
                  .error = error};
    x.names = allocate(&x, what->count * sizeof *x.names);
    x.places = allocate(&x, what->count * sizeof *x.places);
    make_host(&x);
    make_config(&x);
    if (x.name_count > 0)
        count_ranges(&x, values);
    cupti_ranges_call disable = {CUPTI_SIZE(cupti_ranges_call, ranges), NULL, x.ranges};
    /* CUPTI is not called for a lost context. */
    if (x.ranges && x.status != AT_DEVICE &&
        x.cupti->cuptiRangeProfilerDisable(&disable) != CUPTI_OK && !x.status)
        x.status = error_set(error, AT_NO_DEVICE, "CUPTI does not release the GPU's counters");
    drop_host(&x);
    free(x.names);
    free(x.places);
    free(x.config);
    free(x.data);
    return x.status;
}

const device_counters cuda_counters = {.count = count};
