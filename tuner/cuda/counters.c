#include "cuda/counters.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "cuda/cupti.h"
#include "cuda/timer.h"

/* All metrics of a chip at once take a few hundred. */
enum { MOST_PASSES = 1000 };

/* One profile while it is made. */
typedef struct counting {
    device *device;
    const cupti *cupti;
    device_kernel *kernel;
    const launch_plan *plan;
    device_buffer *const *buffers;
    const device_counting *what;
    cupti_host *host;
    cupti_ranges *ranges;
    const char **names; /* owned; of the metrics that the chip has */
    size_t *places;     /* owned; where those are in what->metrics */
    size_t name_count;
    uint8_t *config, *data; /* owned */
    size_t config_bytes, data_bytes;
} counting;

/* Calls a function of the library with its parameter, whose first member is its size. */
#define CALL(c, field, parameter, error)                                                           \
    cupti_check((c)->cupti, (c)->cupti->field(parameter), #field, error)

/* CUPTI hooks itself into the driver: once it is started it stays for as long as the process. */
static at_status start_library(device *d, at_error *error)
{
    if (d->counters)
        return AT_OK;
    cupti *c = calloc(1, sizeof *c);
    if (!c)
        return error_set(error, AT_NO_MEMORY, "no memory for the counters' library");
    at_status status = cupti_open(c, error);
    cupti_initialize start = {CUPTI_SIZE(cupti_initialize, unused), NULL};
    if (!status)
        status = cupti_check(c, c->cuptiProfilerInitialize(&start), "cuptiProfilerInitialize", error);
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

/* The library's half that knows the chip's metrics, with those counted so far. */
static at_status make_host(counting *x, at_error *error)
{
    drop_host(x);
    cupti_chip_name chip = {.size_bytes = CUPTI_SIZE(cupti_chip_name, name),
                            .ordinal = (size_t)x->device->handle};
    at_status status = CALL(x, cuptiDeviceGetChipName, &chip, error);
    cupti_host_new made = {.size_bytes = CUPTI_SIZE(cupti_host_new, host),
                           .profiler = CUPTI_RANGE_PROFILER,
                           .chip = chip.name};
    if (!status)
        status = CALL(x, cuptiProfilerHostInitialize, &made, error);
    if (status)
        return status;
    x->host = made.host;
    cupti_add_metrics added = {CUPTI_SIZE(cupti_add_metrics, count), NULL, x->host, x->names, x->name_count};
    return x->name_count ? CALL(x, cuptiProfilerHostConfigAddMetrics, &added, error) : AT_OK;
}

/* Adds a metric to what is counted, unless the chip has none of that name. */
static at_status add_metric(counting *x, size_t place, at_error *error)
{
    const char *name = x->what->metrics[place];
    cupti_metric_properties asked = {.size_bytes = CUPTI_SIZE(cupti_metric_properties, type),
                                     .host = x->host,
                                     .name = name};
    int code = x->cupti->cuptiProfilerHostGetMetricProperties(&asked);
    if (code == CUPTI_INVALID_METRIC_NAME)
        return AT_OK;
    at_status status = cupti_check(x->cupti, code, "cuptiProfilerHostGetMetricProperties", error);
    cupti_add_metrics added = {.size_bytes = CUPTI_SIZE(cupti_add_metrics, count),
                               .host = x->host,
                               .names = &name,
                               .count = 1};
    if (status)
        return status;
    /* The name of a counter alone, without ".sum" or the like, has properties, and cannot be counted. What
     * was refused one metric takes no other. */
    if (x->cupti->cuptiProfilerHostConfigAddMetrics(&added) != CUPTI_OK)
        return make_host(x, error);
    x->names[x->name_count] = name;
    x->places[x->name_count++] = place;
    return AT_OK;
}

/* What the chip is to count, and in which passes: x->config. */
static at_status make_config(counting *x, at_error *error)
{
    at_status status = AT_OK;
    for (size_t i = 0; !status && i < x->what->count; i++)
        status = add_metric(x, i, error);
    if (status || x->name_count == 0)
        return status;
    cupti_config_size size = {.size_bytes = CUPTI_SIZE(cupti_config_size, image_bytes), .host = x->host};
    status = CALL(x, cuptiProfilerHostGetConfigImageSize, &size, error);
    if (status)
        return status;
    x->config_bytes = size.image_bytes;
    x->config = calloc(1, size.image_bytes + 1);
    if (!x->config)
        return error_set(error, AT_NO_MEMORY, "no memory to set counters up");
    cupti_config_image image = {CUPTI_SIZE(cupti_config_image, image), NULL, x->host, x->config_bytes, x->config};
    return CALL(x, cuptiProfilerHostGetConfigImage, &image, error);
}

/* Where the counts go: x->data. */
static at_status make_data(counting *x, at_error *error)
{
    cupti_data_size size = {.size_bytes = CUPTI_SIZE(cupti_data_size, data_bytes),
                            .ranges = x->ranges,
                            .names = x->names,
                            .count = x->name_count,
                            .most_ranges = x->plan->launch_count,
                            .most_nodes = x->plan->launch_count};
    at_status status = CALL(x, cuptiRangeProfilerGetCounterDataSize, &size, error);
    if (status)
        return status;
    x->data_bytes = size.data_bytes;
    x->data = calloc(1, size.data_bytes + 1);
    if (!x->data)
        return error_set(error, AT_NO_MEMORY, "no memory for counters");
    cupti_data_initialize fresh = {CUPTI_SIZE(cupti_data_initialize, data), NULL, x->ranges, x->data_bytes, x->data};
    return CALL(x, cuptiRangeProfilerCounterDataImageInitialize, &fresh, error);
}

static at_status configure(counting *x, at_error *error)
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
    return CALL(x, cuptiRangeProfilerSetConfig, &config, error);
}

/* One launch in a range of its own, with nothing else on the chip. */
static at_status run_launch(counting *x, uint32_t place, at_error *error)
{
    char name[16];
    /* Ranges come back in the order of their names or of their making: both are this one. */
    snprintf(name, sizeof name, "%04u", place);
    cupti_push push = {CUPTI_SIZE(cupti_push, name), NULL, x->ranges, name};
    cupti_ranges_call pop = {CUPTI_SIZE(cupti_ranges_call, ranges), NULL, x->ranges};
    at_status status = CALL(x, cuptiRangeProfilerPushRange, &push, error);
    if (!status)
        status = cuda_kernel_queue_one(x->device, x->kernel, x->plan, place, x->buffers, error);
    if (!status)
        status = cuda_wait(x->device, "the kernel faulted", error);
    return status ? status : CALL(x, cuptiRangeProfilerPopRange, &pop, error);
}

static at_status run_pass(counting *x, bool *done, at_error *error)
{
    cupti_ranges_call start = {CUPTI_SIZE(cupti_ranges_call, ranges), NULL, x->ranges};
    cupti_stop stop = {.size_bytes = CUPTI_SIZE(cupti_stop, all_passes_done), .ranges = x->ranges};
    at_status status = x->what->renew(x->what->context, error);
    if (!status)
        status = cuda_kernel_prepare(x->device, x->kernel, x->plan, x->buffers, error);
    if (!status && x->what->cache == DEVICE_CACHE_COLD)
        status = cuda_flush_queue(x->device, error);
    if (!status)
        status = cuda_wait(x->device, "the device faulted", error);
    if (!status)
        status = CALL(x, cuptiRangeProfilerStart, &start, error);
    for (uint32_t i = 0; !status && i < x->plan->launch_count; i++)
        status = run_launch(x, i, error);
    if (!status)
        status = CALL(x, cuptiRangeProfilerStop, &stop, error);
    *done = stop.all_passes_done != 0;
    return status;
}

static at_status run_passes(counting *x, at_error *error)
{
    bool done = false;
    at_status status = AT_OK;
    for (int pass = 0; !status && !done && pass < MOST_PASSES; pass++)
        status = run_pass(x, &done, error);
    if (!status && !done)
        return error_set(error, AT_NO_DEVICE, "CUPTI wants more than %d passes", MOST_PASSES);
    cupti_decode decode = {.size_bytes = CUPTI_SIZE(cupti_decode, dropped), .ranges = x->ranges};
    if (!status)
        status = CALL(x, cuptiRangeProfilerDecodeData, &decode, error);
    cupti_data_info info = {.size_bytes = CUPTI_SIZE(cupti_data_info, ranges),
                            .data = x->data,
                            .data_bytes = x->data_bytes};
    if (!status)
        status = CALL(x, cuptiRangeProfilerGetCounterDataInfo, &info, error);
    if (!status && (decode.dropped > 0 || info.ranges != x->plan->launch_count))
        return error_set(error, AT_NO_DEVICE, "CUPTI counted %zu of %u launches", info.ranges,
                         x->plan->launch_count);
    return status;
}

static at_status evaluate(counting *x, double *values, at_error *error)
{
    double *found = calloc(x->name_count, sizeof *found);
    at_status status = AT_OK;
    if (!found)
        return error_set(error, AT_NO_MEMORY, "no memory for counters");
    for (uint32_t i = 0; !status && i < x->plan->launch_count; i++) {
        cupti_evaluate asked = {.size_bytes = CUPTI_SIZE(cupti_evaluate, values),
                                .host = x->host,
                                .data = x->data,
                                .data_bytes = x->data_bytes,
                                .range = i,
                                .names = x->names,
                                .count = x->name_count,
                                .values = found};
        status = CALL(x, cuptiProfilerHostEvaluateToGpuValues, &asked, error);
        for (size_t k = 0; !status && k < x->name_count; k++)
            values[i * x->what->count + x->places[k]] = found[k];
    }
    free(found);
    return status;
}

static at_status count_ranges(counting *x, double *values, at_error *error)
{
    cupti_enable enable = {.size_bytes = CUPTI_SIZE(cupti_enable, ranges), .context = x->device->context};
    at_status status = CALL(x, cuptiRangeProfilerEnable, &enable, error);
    if (status)
        return status;
    x->ranges = enable.ranges;
    status = make_data(x, error);
    if (!status)
        status = configure(x, error);
    if (!status)
        status = run_passes(x, error);
    return status ? status : evaluate(x, values, error);
}

at_status cuda_count(device *d, device_kernel *k, const launch_plan *plan,
                     device_buffer *const *buffers, const device_counting *what, double *values,
                     at_error *error)
{
    for (size_t i = 0; i < what->count * plan->launch_count; i++)
        values[i] = NAN;
    at_status status = start_library(d, error);
    if (status)
        return status;
    counting x = {.device = d, .cupti = d->counters, .kernel = k, .plan = plan, .buffers = buffers, .what = what};
    x.names = calloc(what->count + 1, sizeof *x.names);
    x.places = calloc(what->count + 1, sizeof *x.places);
    if (!x.names || !x.places)
        status = error_set(error, AT_NO_MEMORY, "no memory for counters");
    if (!status)
        status = make_host(&x, error);
    if (!status)
        status = make_config(&x, error);
    if (!status && x.name_count > 0)
        status = count_ranges(&x, values, error);
    cupti_ranges_call disable = {CUPTI_SIZE(cupti_ranges_call, ranges), NULL, x.ranges};
    /* A context that is gone is left as it is. */
    if (x.ranges && status != AT_DEVICE && x.cupti->cuptiRangeProfilerDisable(&disable) != CUPTI_OK && !status)
        status = error_set(error, AT_NO_DEVICE, "CUPTI does not release the GPU's counters");
    drop_host(&x);
    free(x.names);
    free(x.places);
    free(x.config);
    free(x.data);
    return status;
}
