/* Tests that predicted times (sim/estimate.h) depend on the data that the script defines. */
#include <stdlib.h>
#include <string.h>

#include "sim/estimate.h"
#include "sim_fixture.h"

enum { COUNT = 1 << 24 };

static const char gather[] =
    "extern \"C\" __global__ void gather(const unsigned *index, const float *src, float *dst, "
    "unsigned n)\n"
    "{ unsigned i = blockIdx.x * 128 + threadIdx.x; if (i < n) dst[i] = src[index[i]]; }\n";

static const char in_order[] =
    "extern \"C\" __global__ void prepare(unsigned *index, unsigned n)\n"
    "{ unsigned i = blockIdx.x * 128 + threadIdx.x; if (i < n) index[i] = i; }\n";

static const char all_over[] =
    "extern \"C\" __global__ void prepare(unsigned *index, unsigned n)\n"
    "{ unsigned i = blockIdx.x * 128 + threadIdx.x; if (i < n) index[i] = i * 1000003ull % n; }\n";

static device_image image_of(const char *ptx)
{
    return (device_image){.bytes = ptx, .size_bytes = strlen(ptx), .registers = 16};
}

/* Returns the predicted time of a gather. `filler` prepares its index, or `fill` if it is NULL. */
static double time_with(const char *filler, buffer_fill fill)
{
    at_error error = {0};
    sim_estimate *e;
    sim_estimated found;
    const problem_plan plan = {
        .buffer_count = 3,
        .buffers = {{.name = "index",
                     .role = BUFFER_INPUT,
                     .type = DTYPE_UINT32,
                     .count = COUNT,
                     .fill = fill,
                     .fill_limit = COUNT},
                    {.name = "src", .role = BUFFER_INPUT, .type = DTYPE_FLOAT, .count = COUNT},
                    {.name = "dst", .role = BUFFER_OUTPUT, .type = DTYPE_FLOAT, .count = COUNT}},
        .seed = 3};
    char *own = sim_test_ptx(gather, "sm_90"),
         *other = filler ? sim_test_ptx(filler, "sm_90") : NULL;
    sim_filler prepares = {
        .launch = {
            .launch_count = 1,
            .entries = "prepare",
            .launches = {{.grid = {COUNT / 128, 1, 1}, .block = {128, 1, 1}, .argument_count = 2}},
            .argument_count = 2,
            .arguments = {{.is_buffer = true, .size_bytes = 8}, {.size_bytes = 4, .bits = COUNT}}}};
    if (other)
        prepares.image = image_of(other);
    const launch_plan launch = {
        .launch_count = 1,
        .entries = "gather",
        .launches = {{.grid = {COUNT / 128, 1, 1}, .block = {128, 1, 1}, .argument_count = 4}},
        .argument_count = 4,
        .arguments = {{.is_buffer = true, .size_bytes = 8},
                      {.is_buffer = true, .size_bytes = 8, .buffer = 1},
                      {.is_buffer = true, .size_bytes = 8, .buffer = 2},
                      {.size_bytes = 4, .bits = COUNT}}};
    const device_image image = image_of(own);
    sim_chip chip;
    assert_ok(sim_chip_find("sm_90", &chip, &error), error);
    assert_ok(sim_estimate_new(&chip, &plan, &prepares, NULL, &e, &error), error);
    assert_ok(sim_estimate_kernel(e, &image, &launch, 0, 0, &found, &error), error);
    const double time_ns = found.prediction.time_ns;
    assert_null(sim_estimate_trouble(e));
    sim_estimated_deinit(&found);
    sim_estimate_free(e);
    free(own);
    free(other);
    return time_ns;
}

TEST(a_prepared_index_decides_the_time_of_a_gather)
{
    double near_ns = time_with(in_order, FILL_MODULO), far_ns = time_with(all_over, FILL_INDEX);
    assert_true(far_ns > 2 * near_ns);
}

TEST(a_filled_index_decides_the_time_of_a_gather)
{
    double near_ns = time_with(NULL, FILL_INDEX), far_ns = time_with(NULL, FILL_PERMUTATION);
    assert_true(far_ns > 2 * near_ns);
    assert_true(time_with(NULL, FILL_MODULO) > 2 * near_ns);
}
