/* A CUPTI for tests, opened through $AUTOTUNE_LIBCUPTI. It invents its counts. Calls fail if they
 * are out of order, have the wrong structure size, or lack required fields.
 *
 * Environment: FAKE_CUPTI_FAIL ("cuptiRangeProfilerEnable=35": this function returns this code),
 * FAKE_CUPTI_PASSES (number of passes, 3), FAKE_CUPTI_COUNTS ("NAME=NUMBER,...": values of these
 * metrics), FAKE_CUPTI_LOG (a file that gets a line for each pass and each range). Any other metric
 * has the value 100 for each letter of its name, plus 1 for each earlier range. Metrics that begin
 * with "no__" do not exist, and metrics without a '.' cannot be counted. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/cupti.h"

#define EXPORT __attribute__((visibility("default")))

enum {
    BAD_PARAMETER = 1,
    BAD_OPERATION = 7,
    UNKNOWN = 999,
    IMAGE_BYTES = 64,
    DATA_BYTES = 128,
    MOST_METRICS = 256
};

struct cupti_host {
    size_t metrics;
    bool spoilt; /* a metric was refused, so all later metrics are refused */
};

struct cupti_ranges {
    bool configured, started, pushed, decoded;
    size_t passes, ranges, ranges_wanted;
    uint8_t *data;
};

static struct cupti_host the_host;
static struct cupti_ranges the_ranges;
static bool is_initialised;

#define DECLARE(name, parameter) EXPORT int name(parameter *p);
CUPTI_FUNCTIONS(DECLARE)
EXPORT int cuptiGetResultString(int code, const char **text);

static int failure_of(const char *function)
{
    const char *wanted = getenv("FAKE_CUPTI_FAIL");
    size_t length = strlen(function);
    return wanted && strncmp(wanted, function, length) == 0 && wanted[length] == '='
               ? atoi(wanted + length + 1)
               : CUPTI_OK;
}

/* Makes the checks with which every function begins. */
#define ENTER(size, in_turn)                                                                       \
    do {                                                                                           \
        if (failure_of(__func__) != CUPTI_OK)                                                      \
            return failure_of(__func__);                                                           \
        if (p->size_bytes != (size) || p->unused)                                                  \
            return BAD_PARAMETER;                                                                  \
        if (!(in_turn))                                                                            \
            return BAD_OPERATION;                                                                  \
    } while (0)

static void note(const char *what, const char *name)
{
    const char *path = getenv("FAKE_CUPTI_LOG");
    FILE *f = path ? fopen(path, "a") : NULL;
    if (!f)
        return;
    fprintf(f, "%s%s%s\n", what, *name ? " " : "", name);
    fclose(f);
}

static size_t passes_wanted(void)
{
    const char *text = getenv("FAKE_CUPTI_PASSES");
    return text ? strtoul(text, NULL, 10) : 3;
}

int cuptiGetResultString(int code, const char **text)
{
    static char said[32];
    snprintf(said, sizeof said, "FAKE_ERROR_%d", code);
    *text = said;
    return CUPTI_OK;
}

int cuptiProfilerInitialize(cupti_initialize *p)
{
    ENTER(16, true);
    is_initialised = true;
    return CUPTI_OK;
}

int cuptiDeviceGetChipName(cupti_chip_name *p)
{
    ENTER(32, is_initialised);
    p->name = "GH100";
    return CUPTI_OK;
}

int cuptiProfilerHostInitialize(cupti_host_new *p)
{
    ENTER(48, is_initialised);
    if (!p->chip || strcmp(p->chip, "GH100") != 0 || p->profiler != CUPTI_RANGE_PROFILER)
        return CUPTI_CHIP_UNKNOWN;
    the_host = (struct cupti_host){0};
    p->host = &the_host;
    return CUPTI_OK;
}

int cuptiProfilerHostDeinitialize(cupti_host_free *p)
{
    ENTER(24, p->host == &the_host);
    return CUPTI_OK;
}

int cuptiProfilerHostGetMetricProperties(cupti_metric_properties *p)
{
    ENTER(60, p->host == &the_host);
    return strncmp(p->name, "no__", 4) == 0 ? CUPTI_INVALID_METRIC_NAME : CUPTI_OK;
}

int cuptiProfilerHostConfigAddMetrics(cupti_add_metrics *p)
{
    ENTER(40, p->host == &the_host);
    if (the_host.spoilt)
        return UNKNOWN;
    for (size_t i = 0; i < p->count; i++)
        if (!strchr(p->names[i], '.') || the_host.metrics++ == MOST_METRICS) {
            the_host.spoilt = true;
            return BAD_PARAMETER;
        }
    return CUPTI_OK;
}

int cuptiProfilerHostGetConfigImageSize(cupti_config_size *p)
{
    ENTER(32, p->host == &the_host && the_host.metrics > 0);
    p->image_bytes = IMAGE_BYTES;
    return CUPTI_OK;
}

int cuptiProfilerHostGetConfigImage(cupti_config_image *p)
{
    ENTER(40, p->host == &the_host && p->image_bytes == IMAGE_BYTES);
    memset(p->image, 'c', IMAGE_BYTES);
    return CUPTI_OK;
}

int cuptiRangeProfilerEnable(cupti_enable *p)
{
    ENTER(32, is_initialised);
    if (!p->context)
        return BAD_PARAMETER;
    the_ranges = (struct cupti_ranges){0};
    p->ranges = &the_ranges;
    return CUPTI_OK;
}

int cuptiRangeProfilerDisable(cupti_ranges_call *p)
{
    ENTER(24, p->ranges == &the_ranges);
    note("disable", "");
    return CUPTI_OK;
}

int cuptiRangeProfilerGetCounterDataSize(cupti_data_size *p)
{
    ENTER(64, p->ranges == &the_ranges);
    if (p->count != the_host.metrics || p->most_ranges == 0 || p->most_nodes < p->most_ranges)
        return BAD_PARAMETER;
    the_ranges.ranges_wanted = p->most_ranges;
    p->data_bytes = DATA_BYTES;
    return CUPTI_OK;
}

int cuptiRangeProfilerCounterDataImageInitialize(cupti_data_initialize *p)
{
    ENTER(40, p->ranges == &the_ranges && p->data_bytes == DATA_BYTES);
    memset(p->data, 'd', DATA_BYTES);
    return CUPTI_OK;
}

int cuptiRangeProfilerSetConfig(cupti_set_config *p)
{
    ENTER(90, p->ranges == &the_ranges);
    if (p->image_bytes != IMAGE_BYTES || p->image[IMAGE_BYTES - 1] != 'c' ||
        p->data_bytes != DATA_BYTES || p->data[DATA_BYTES - 1] != 'd' ||
        p->range_mode != CUPTI_RANGES_OF_USER || p->replay_mode != CUPTI_REPLAYED_BY_USER ||
        p->ranges_a_pass != the_ranges.ranges_wanted || p->nesting_levels != 1 ||
        p->least_nesting_level != 1 || p->pass != 0)
        return BAD_PARAMETER;
    the_ranges.configured = true;
    the_ranges.data = p->data;
    return CUPTI_OK;
}

int cuptiRangeProfilerStart(cupti_ranges_call *p)
{
    ENTER(24, p->ranges == &the_ranges && the_ranges.configured && !the_ranges.started &&
                  the_ranges.passes < passes_wanted());
    the_ranges.started = true;
    the_ranges.ranges = 0;
    note("pass", "");
    return CUPTI_OK;
}

int cuptiRangeProfilerPushRange(cupti_push *p)
{
    ENTER(32, p->ranges == &the_ranges && the_ranges.started && !the_ranges.pushed);
    the_ranges.pushed = true;
    the_ranges.ranges++;
    note("range", p->name);
    return CUPTI_OK;
}

int cuptiRangeProfilerPopRange(cupti_ranges_call *p)
{
    ENTER(24, p->ranges == &the_ranges && the_ranges.pushed);
    the_ranges.pushed = false;
    return CUPTI_OK;
}

int cuptiRangeProfilerStop(cupti_stop *p)
{
    ENTER(41, p->ranges == &the_ranges && the_ranges.started && !the_ranges.pushed);
    the_ranges.started = false;
    the_ranges.passes++;
    p->all_passes_done = the_ranges.passes == passes_wanted();
    return CUPTI_OK;
}

int cuptiRangeProfilerDecodeData(cupti_decode *p)
{
    ENTER(32, p->ranges == &the_ranges && the_ranges.passes == passes_wanted());
    the_ranges.decoded = true;
    return CUPTI_OK;
}

int cuptiRangeProfilerGetCounterDataInfo(cupti_data_info *p)
{
    ENTER(40, p->data == the_ranges.data && p->data_bytes == DATA_BYTES && the_ranges.decoded);
    p->ranges = the_ranges.ranges;
    return CUPTI_OK;
}

static double count_of(const char *name, size_t range)
{
    const char *told = getenv("FAKE_CUPTI_COUNTS");
    size_t length = strlen(name);
    for (const char *at = told; at && *at; at += strcspn(at, ",") + 1) {
        if (strncmp(at, name, length) == 0 && at[length] == '=')
            return strtod(at + length + 1, NULL);
        if (!at[strcspn(at, ",")])
            break;
    }
    return 100.0 * (double)length + (double)range;
}

int cuptiProfilerHostEvaluateToGpuValues(cupti_evaluate *p)
{
    ENTER(72, p->host == &the_host && p->data == the_ranges.data && the_ranges.decoded);
    if (p->range >= the_ranges.ranges || p->count != the_host.metrics)
        return BAD_PARAMETER;
    for (size_t i = 0; i < p->count; i++)
        p->values[i] = count_of(p->names[i], p->range);
    return CUPTI_OK;
}
