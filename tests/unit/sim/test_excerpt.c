/* Tests checks of problems too large to run completely, through the interface of devices. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/sim.h"
#include "sim_fixture.h"

/* The buffers src and dst take 64 GiB each. */
#define COUNT (UINT64_C(1) << 34)

static const char source[] =
    "extern \"C\" __global__ void reference(const float *src, float *dst, unsigned long long n)\n"
    "{ unsigned long long i = blockIdx.x * 1024ull + threadIdx.x; if (i < n) dst[i] = src[i] * 2; "
    "}\n"
    "extern \"C\" __global__ void right(const float *src, float *dst, unsigned long long n)\n"
    "{ unsigned long long i = blockIdx.x * 1024ull + threadIdx.x; if (i < n) dst[i] = src[i] + "
    "src[i]; }\n"
    "extern \"C\" __global__ void last_beyond(const float *src, float *dst, unsigned long long n)\n"
    "{ unsigned long long i = blockIdx.x * 1024ull + threadIdx.x; if (i < n) dst[i] = src[i] * 2;\n"
    "  if (i == n - 1) dst[n] = 1; }\n"
    "extern \"C\" __global__ void other_value(const float *src, float *dst, unsigned long long n)\n"
    "{ unsigned long long i = blockIdx.x * 1024ull + threadIdx.x; if (i < n) dst[i] = i > n / 2 ? "
    "3 : src[i] * 2; }\n"
    "extern \"C\" __global__ void endless(const float *src, float *dst, unsigned long long n)\n"
    "{ unsigned long long i = blockIdx.x * 1024ull + threadIdx.x; dst[i] = 7; float sum = 0;\n"
    "  for (unsigned k = 0; k < 1u << 30; k++) sum = sum * 0.5f + src[k & 1023];\n"
    "  dst[i] = sum; }\n"
    "extern \"C\" __global__ void branches(const float *src, float *dst, unsigned long long n)\n"
    "{ unsigned long long i = blockIdx.x * 1024ull + threadIdx.x; if (i >= n) return;\n"
    "  if (n == 5)\n"
    "    dst[i] = 5;\n"
    "  float sum = 0;\n"
    "#pragma unroll 1\n"
    "  for (int k = 0; k < int(n >> 34); k++)\n"
    "    sum += src[i + k] + src[i];\n"
    "  dst[i] = sum; }\n";

typedef struct fixture {
    device *device;
    char *ptx;
    problem_plan plan;
    device_kernel *reference, *kernel;
    launch_plan launch, reference_launch;
    device_excerpt *excerpt;
    device_coverage coverage;
    device_excerpt_result found;
} fixture;

static launch_plan launch_of(const char *entry)
{
    launch_plan p = {
        .launch_count = 1,
        .launches = {{.grid = {COUNT / 1024, 1, 1}, .block = {1024, 1, 1}, .argument_count = 3}},
        .argument_count = 3,
        .arguments = {{.is_buffer = true, .size_bytes = 8, .buffer = 0},
                      {.is_buffer = true, .size_bytes = 8, .buffer = 1},
                      {.size_bytes = 8, .bits = COUNT}}};
    assert_true(plan_set_entry(&p, 0, entry));
    return p;
}

static device_kernel *load(fixture *f, const launch_plan *plan)
{
    at_error error = {0};
    device_kernel *k;
    const device_image image = {.bytes = f->ptx, .size_bytes = strlen(f->ptx), .registers = 16};
    assert_ok(device_sim_api.kernel_new(f->device, &image, plan, &k, &error), error);
    return k;
}

static int set_up(void **state)
{
    fixture *f = calloc(1, sizeof *f);
    at_error error = {0};
    *state = f;
    f->ptx = sim_test_ptx(source, "sm_90");
    f->plan = (problem_plan){.buffer_count = 2,
                             .buffers = {{.name = "src",
                                          .role = BUFFER_INPUT,
                                          .fill = FILL_UNIFORM,
                                          .type = DTYPE_FLOAT,
                                          .count = COUNT},
                                         {.name = "dst",
                                          .role = BUFFER_OUTPUT,
                                          .type = DTYPE_FLOAT,
                                          .count = COUNT,
                                          .repeats = true}},
                             .seed = 1};
    assert_ok(device_sim_api.open("sim:sm_90", &f->device, &error), error);
    f->reference_launch = launch_of("reference");
    f->reference = load(f, &f->reference_launch);
    const device_image none = {0};
    const launch_plan nothing = {0};
    const device_excerpt_plan plan = {&f->plan, f->reference, &f->reference_launch, &none, &nothing,
                                      NULL,     NULL,         DEVICE_WHOLE_CHEAP};
    assert_ok(device_sim_api.excerpts->make(f->device, &plan, &f->excerpt, &error), error);
    return 0;
}

static int tear_down(void **state)
{
    fixture *f = *state;
    device_sim_api.excerpts->free(f->device, f->excerpt);
    device_sim_api.kernel_free(f->device, f->reference);
    if (f->kernel)
        device_sim_api.kernel_free(f->device, f->kernel);
    device_sim_api.close(f->device);
    free(f->ptx);
    free(f);
    return 0;
}

static void check(fixture *f, const char *entry)
{
    at_error error = {0};
    if (f->kernel)
        device_sim_api.kernel_free(f->device, f->kernel);
    f->launch = launch_of(entry);
    f->kernel = load(f, &f->launch);
    f->coverage = (device_coverage){0};
    assert_ok(device_sim_api.excerpts->check(f->device, f->excerpt, f->kernel, &f->launch,
                                             &f->found, &f->coverage, &error),
              error);
}

TEST_IN(a_right_kernel_is_compared_on_buffers_larger_than_the_memory, set_up, tear_down)
{
    fixture *f = *state;
    check(f, "right");
    assert_int_equal(f->found.result, OUTCOME_OK);
    assert_int_equal(f->coverage.blocks, COUNT / 1024);
    assert_in_range(f->coverage.run, 5, 64);
    assert_int_equal(f->coverage.cut, 0);
    assert_true(f->coverage.compared >= 1024);
    assert_string_equal(f->coverage.skipped, "");
}

TEST_IN(the_last_block_is_among_those_that_run, set_up, tear_down)
{
    fixture *f = *state;
    check(f, "last_beyond");
    assert_int_equal(f->found.result, OUTCOME_CRASHED);
    assert_non_null(strstr(f->found.complaint, "thread (1023,0,0) of block (16777215,0,0)"));
    assert_non_null(strstr(f->found.complaint, "0 bytes after the end of dst"));
}

TEST_IN(values_that_differ_from_the_reference_are_wrong, set_up, tear_down)
{
    fixture *f = *state;
    check(f, "other_value");
    assert_int_equal(f->found.result, OUTCOME_WRONG_RESULT);
    assert_null(f->found.complaint);
    assert_int_equal(f->found.buffer, 1);
    assert_true(f->found.found.first > COUNT / 2);
    float three = 3;
    assert_memory_equal(&f->found.found.found, &three, sizeof three);
}

TEST_IN(a_block_that_never_ends_is_reported_with_its_loop, set_up, tear_down)
{
    fixture *f = *state;
    check(f, "endless");
    assert_int_equal(f->found.result, OUTCOME_TIMEOUT);
    if (!strstr(f->found.complaint, "not ended in endless at test.cu:12 "))
        fail_msg("%s", f->found.complaint);
}

TEST_IN(coverage_does_not_depend_on_earlier_checks, set_up, tear_down)
{
    fixture *f = *state;
    check(f, "right");
    const device_coverage before = f->coverage;
    check(f, "other_value");
    check(f, "last_beyond");
    check(f, "right");
    assert_memory_equal(&f->coverage, &before, sizeof before);
}

TEST_IN(lines_that_never_ran_and_loops_with_one_iteration_are_reported, set_up, tear_down)
{
    fixture *f = *state;
    at_error error = {0};
    check(f, "branches");
    const device_kernel *const kernels[] = {f->kernel};
    assert_ok(device_sim_api.analysis->covered(f->device, kernels, 1, &f->coverage, &error), error);
    const char *never = strstr(f->coverage.never, ":17"), *once = strstr(f->coverage.once, ":20");
    if (!never || !once)
        fail_msg("never: %s; once: %s", f->coverage.never, f->coverage.once);
}
