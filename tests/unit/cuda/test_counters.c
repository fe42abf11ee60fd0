/* Tests counters with a fake driver and a fake CUPTI. If CUPTI is installed, our declarations
 * and metrics are compared with its own. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "cuda/cuda.h"
#include "cuda/cupti.h"

static const char image_bytes[] = "FAKE image";
static const device_image image = {.bytes = image_bytes, .size_bytes = sizeof image_bytes};
static const char *const metrics[] = {"first.sum", "no__such.sum", "without_an_ending",
                                      "second.avg"};

enum { METRICS = sizeof metrics / sizeof *metrics, COUNT = 256 };

typedef struct fixture {
    const device_api *api;
    device *device;
    device_kernel *kernel;
    device_buffer *buffers[2];
    launch_plan plan;
    int renewed;
    at_error error;
} fixture;

static at_status renew(void *context, at_error *error)
{
    (void)error;
    ((fixture *)context)->renewed++;
    return AT_OK;
}

static launch_plan two_launches(void)
{
    launch_plan p = {.launch_count = 2, .argument_count = 3};
    p.arguments[0] = (argument_plan){.size_bytes = 8, .is_buffer = true, .buffer = 0};
    p.arguments[1] = (argument_plan){.size_bytes = 8, .is_buffer = true, .buffer = 1};
    p.arguments[2] = (argument_plan){.size_bytes = 8, .bits = COUNT};
    for (int i = 0; i < 2; i++) {
        kernel_launch *l = &p.launches[i];
        *l = (kernel_launch){
            .grid = {1, 1, 1}, .block = {32, 1, 1}, .cluster = {1, 1, 1}, .argument_count = 3};
        assert_true(plan_set_entry(&p, (uint32_t)i, "good"));
    }
    return p;
}

static int set_up(void **state)
{
    static fixture f;
    f = (fixture){.api = &device_cuda_api, .plan = two_launches()};
    setenv("AUTOTUNE_LIBCUDA", FAKE_CUDA, 1);
    setenv("AUTOTUNE_LIBCUPTI", FAKE_CUPTI, 1);
    unsetenv("FAKE_CUPTI_FAIL");
    *state = &f;
    if (f.api->open("cuda:0", &f.device, &f.error) || f.api->hardware->start(f.device, &f.error) ||
        f.api->hardware->set_support(f.device, (const device_image[DEVICE_SUPPORT_PARTS]){image},
                                     &f.error) ||
        f.api->buffer_new(f.device, "src", COUNT * 4, &f.buffers[0], &f.error) ||
        f.api->buffer_new(f.device, "dst", COUNT * 4, &f.buffers[1], &f.error))
        return -1;
    return f.api->kernel_new(f.device, &image, &f.plan, &f.kernel, &f.error) ? -1 : 0;
}

static int tear_down(void **state)
{
    fixture *f = *state;
    f->api->kernel_free(f->device, f->kernel);
    for (int i = 0; i < 2; i++)
        f->api->buffer_free(f->device, f->buffers[i]);
    f->api->close(f->device);
    return 0;
}

static at_status count(fixture *f, double *values)
{
    device_counting what = {metrics, METRICS, DEVICE_CACHE_COLD, renew, f};
    return f->api->counters->count(f->device, f->kernel, &f->plan, f->buffers, &what, values,
                                   &f->error);
}

TEST_IN(each_launch_has_counts_and_missing_counters_are_nan, set_up, tear_down)
{
    fixture *f = *state;
    double v[2 * METRICS];
    assert_ok(count(f, v), f->error);
    assert_true(v[0] == 900 && v[3] == 1000);
    assert_true(v[METRICS] == 901 && v[METRICS + 3] == 1001);
    for (int i = 0; i < 2; i++)
        assert_true(isnan(v[i * METRICS + 1]) && isnan(v[i * METRICS + 2]));
}

TEST_IN(buffers_are_renewed_before_every_pass, set_up, tear_down)
{
    fixture *f = *state;
    double v[2 * METRICS];
    setenv("FAKE_CUPTI_PASSES", "5", 1);
    assert_ok(count(f, v), f->error);
    unsetenv("FAKE_CUPTI_PASSES");
    assert_int_equal(f->renewed, 5);
}

/* Each function of CUPTI fails in turn. The message names the function, and later counts work. */
TEST_IN(a_call_that_fails_is_named_and_only_the_counts_are_lost, set_up, tear_down)
{
    fixture *f = *state;
    double v[2 * METRICS];
#define NAME(name, parameter) #name,
    static const char *const calls[] = {CUPTI_FUNCTIONS(NAME)};
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        char failing[96];
        /* If adding a metric fails, the metric is left out. A failure to free is ignored. */
        if (strcmp(calls[i], "cuptiProfilerHostConfigAddMetrics") == 0 ||
            strcmp(calls[i], "cuptiProfilerHostDeinitialize") == 0)
            continue;
        snprintf(failing, sizeof failing, "%s=999", calls[i]);
        setenv("FAKE_CUPTI_FAIL", failing, 1);
        f->error = (at_error){0};
        assert_int_equal(count(f, v), AT_NO_DEVICE);
        assert_true(strstr(f->error.message, calls[i]) ||
                    strstr(f->error.message, "does not release"));
        unsetenv("FAKE_CUPTI_FAIL");
        assert_ok(count(f, v), f->error);
        assert_true(v[0] == 900);
    }
}

#if defined(__has_include)
#if __has_include(<cupti_range_profiler.h>) && __has_include(<cupti_target.h>)
#include <cupti_range_profiler.h>
#include <cupti_target.h>
#define HAS_CUPTI_HEADERS
#endif
#endif

#ifdef HAS_CUPTI_HEADERS
#define SAME(ours, our_last, theirs)                                                               \
    assert_int_equal(CUPTI_SIZE(ours, our_last), theirs##_STRUCT_SIZE)
#define SAME_PLACE(ours, our_field, theirs, their_field)                                           \
    assert_int_equal(offsetof(ours, our_field), offsetof(theirs, their_field))
#endif

TEST(our_declarations_of_cupti_are_those_of_its_headers)
{
#ifdef HAS_CUPTI_HEADERS
    SAME(cupti_initialize, unused, CUpti_Profiler_Initialize_Params);
    SAME(cupti_chip_name, name, CUpti_Device_GetChipName_Params);
    SAME(cupti_enable, ranges, CUpti_RangeProfiler_Enable_Params);
    SAME(cupti_ranges_call, ranges, CUpti_RangeProfiler_Disable_Params);
    SAME(cupti_ranges_call, ranges, CUpti_RangeProfiler_Start_Params);
    SAME(cupti_ranges_call, ranges, CUpti_RangeProfiler_PopRange_Params);
    SAME(cupti_data_size, data_bytes, CUpti_RangeProfiler_GetCounterDataSize_Params);
    SAME(cupti_data_initialize, data, CUpti_RangeProfiler_CounterDataImage_Initialize_Params);
    SAME(cupti_set_config, target_nesting_level, CUpti_RangeProfiler_SetConfig_Params);
    SAME(cupti_push, name, CUpti_RangeProfiler_PushRange_Params);
    SAME(cupti_stop, all_passes_done, CUpti_RangeProfiler_Stop_Params);
    SAME(cupti_decode, dropped, CUpti_RangeProfiler_DecodeData_Params);
    SAME(cupti_data_info, ranges, CUpti_RangeProfiler_GetCounterDataInfo_Params);
    SAME_PLACE(cupti_set_config, data, CUpti_RangeProfiler_SetConfig_Params, pCounterDataImage);
    SAME_PLACE(cupti_set_config, range_mode, CUpti_RangeProfiler_SetConfig_Params, range);
    SAME_PLACE(cupti_set_config, nesting_levels, CUpti_RangeProfiler_SetConfig_Params,
               numNestingLevels);
    SAME_PLACE(cupti_set_config, pass, CUpti_RangeProfiler_SetConfig_Params, passIndex);
    SAME_PLACE(cupti_data_size, most_nodes, CUpti_RangeProfiler_GetCounterDataSize_Params,
               maxNumRangeTreeNodes);
    assert_int_equal(CUPTI_RANGES_OF_USER, CUPTI_UserRange);
    assert_int_equal(CUPTI_REPLAYED_BY_USER, CUPTI_UserReplay);
    assert_int_equal(CUPTI_INVALID_METRIC_NAME, CUPTI_ERROR_INVALID_METRIC_NAME);
    assert_int_equal(CUPTI_HARDWARE_BUSY, CUPTI_ERROR_HARDWARE_BUSY);
    assert_int_equal(CUPTI_NOT_SUPPORTED, CUPTI_ERROR_NOT_SUPPORTED);
    assert_int_equal(CUPTI_VIRTUAL_DEVICE, CUPTI_ERROR_VIRTUALIZED_DEVICE_NOT_SUPPORTED);
    assert_int_equal(CUPTI_NO_PRIVILEGE, CUPTI_ERROR_INSUFFICIENT_PRIVILEGES);
    assert_int_equal(CUPTI_SEVERAL_SUBSCRIBERS, CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
    assert_int_equal(CUPTI_VIRTUAL_NO_PRIVILEGE,
                     CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES);
    assert_int_equal(CUPTI_CONFIDENTIAL, CUPTI_ERROR_CONFIDENTIAL_COMPUTING_NOT_SUPPORTED);
    assert_int_equal(CUPTI_CHIP_UNKNOWN, CUPTI_ERROR_INVALID_CHIP_NAME);
#else
    skip();
#endif
}

/* CUPTI's host functions know the metrics of a chip without a GPU. */
TEST(the_real_cupti_accepts_our_host_calls)
{
    cupti c;
#ifdef __SANITIZE_ADDRESS__
    skip(); /* the sanitizer does not support the way in which CUPTI loads a library */
#endif
    unsetenv("AUTOTUNE_LIBCUPTI");
    if (cupti_open(&c, NULL))
        skip();
    const char *name = "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
               *wrong = "l1tex__no_such.sum";
    cupti_host_new made = {.size_bytes = CUPTI_SIZE(cupti_host_new, host), .chip = "GH100"};
    at_error error = {0};
    assert_ok(cupti_check(&c, c.cuptiProfilerHostInitialize(&made), "initialise", &error), error);
    cupti_metric_properties asked = {
        .size_bytes = CUPTI_SIZE(cupti_metric_properties, type), .host = made.host, .name = wrong};
    assert_int_equal(c.cuptiProfilerHostGetMetricProperties(&asked), CUPTI_INVALID_METRIC_NAME);
    asked.name = name;
    assert_int_equal(c.cuptiProfilerHostGetMetricProperties(&asked), CUPTI_OK);
    cupti_add_metrics good = {CUPTI_SIZE(cupti_add_metrics, count), NULL, made.host, &name, 1};
    assert_int_equal(c.cuptiProfilerHostConfigAddMetrics(&good), CUPTI_OK);
    cupti_config_size size = {.size_bytes = CUPTI_SIZE(cupti_config_size, image_bytes),
                              .host = made.host};
    assert_int_equal(c.cuptiProfilerHostGetConfigImageSize(&size), CUPTI_OK);
    assert_true(size.image_bytes > 0);
    uint8_t *bytes = calloc(1, size.image_bytes);
    cupti_config_image config = {CUPTI_SIZE(cupti_config_image, image), NULL, made.host,
                                 size.image_bytes, bytes};
    assert_int_equal(c.cuptiProfilerHostGetConfigImage(&config), CUPTI_OK);
    free(bytes);
    cupti_host_free gone = {CUPTI_SIZE(cupti_host_free, host), NULL, made.host};
    assert_int_equal(c.cuptiProfilerHostDeinitialize(&gone), CUPTI_OK);
}
