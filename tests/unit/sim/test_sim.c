/* Tests the simulated device through the interface of devices. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/sim.h"
#include "sim_fixture.h"

static const char copy_source[] =
    "extern \"C\" __global__ void copy(const float *src, float *dst, unsigned n)\n"
    "{ unsigned i = blockIdx.x * 64 + threadIdx.x; if (i < n) dst[i] = src[i]; }\n"
    "extern \"C\" __global__ void read_first(const float *src, float *dst, unsigned n)\n"
    "{ unsigned i = blockIdx.x * 64 + threadIdx.x; if (i < n) dst[i] += src[i]; }\n";

enum { COUNT = 1000 };

static const buffer_plan floats = {.name = "data",
                                   .role = BUFFER_INPUT,
                                   .fill = FILL_UNIFORM,
                                   .type = DTYPE_FLOAT,
                                   .count = COUNT};

typedef struct bench {
    device *device;
    device_buffer *buffers[4]; /* three buffers, followed by NULL */
    launch_plan launch;
    char *ptx;
} bench;

static void open_bench(bench *b)
{
    at_error error = {0};
    *b = (bench){
        .launch = {.launch_count = 1,
                   .entries = "copy",
                   .launches = {{.grid = {16, 1, 1}, .block = {64, 1, 1}, .argument_count = 3}},
                   .argument_count = 3,
                   .arguments = {{.is_buffer = true, .size_bytes = 8, .buffer = 0},
                                 {.is_buffer = true, .size_bytes = 8, .buffer = 1},
                                 {.size_bytes = 4, .bits = COUNT}}}};
    assert_ok(device_sim_api.open("sim:sm_90", &b->device, &error), error);
    for (int i = 0; i < 3; i++)
        assert_ok(device_sim_api.buffer_new(b->device, i ? "dst" : "src", COUNT * 4, &b->buffers[i],
                                            &error),
                  error);
    assert_ok(device_sim_api.fill(b->device, b->buffers[0], &floats, 5, &error), error);
    b->ptx = sim_test_ptx(copy_source, "sm_90");
}

static void close_bench(bench *b)
{
    device_sim_api.close(b->device);
    free(b->ptx);
}

static device_kernel *load(bench *b, const char *entry)
{
    at_error error = {0};
    device_kernel *k;
    const device_image image = {.bytes = b->ptx, .size_bytes = strlen(b->ptx), .registers = 16};
    launch_plan plan = b->launch;
    assert_true(plan_set_entry(&plan, 0, entry));
    assert_ok(device_sim_api.kernel_new(b->device, &image, &plan, &k, &error), error);
    return k;
}

TEST(each_chip_of_the_table_opens_and_predicts)
{
    at_error error = {0};
    device_properties found[32];
    size_t count;
    assert_ok(device_sim_api.list(found, 32, &count, &error), error);
    assert_true(count >= 6);
    for (size_t i = 0; i < count; i++) {
        device *d;
        assert_ok(device_sim_api.open(found[i].spec, &d, &error), error);
        assert_true(device_sim_api.properties(d)->predicted);
        assert_string_equal(device_sim_api.properties(d)->arch, found[i].arch);
        device_sim_api.close(d);
    }
    device *none;
    assert_int_equal(device_sim_api.open("sim:sm_12", &none, &error), AT_USAGE);
    assert_non_null(strstr(error.message, "sm_90"));
}

TEST(a_copy_is_exact_and_an_inserted_difference_is_found)
{
    bench b;
    at_error error = {0};
    device_comparison c;
    outcome result;
    open_bench(&b);
    device_kernel *k = load(&b, "copy");
    assert_ok(device_sim_api.poison(b.device, b.buffers[1], 0, &error), error);
    assert_ok(device_sim_api.launch(b.device, k, &b.launch, b.buffers, &error), error);
    assert_null(device_sim_api.complaint(b.device, &result));
    assert_ok(device_sim_api.compare(b.device, b.buffers[1], b.buffers[0], &floats, &c, &error),
              error);
    assert_int_equal(c.wrong, 0);
    buffer_plan other = floats;
    assert_ok(device_sim_api.fill(b.device, b.buffers[2], &other, 6, &error), error);
    assert_ok(device_sim_api.compare(b.device, b.buffers[2], b.buffers[0], &floats, &c, &error),
              error);
    assert_true(c.wrong > COUNT / 2);
    device_sim_api.kernel_free(b.device, k);
    close_bench(&b);
}

TEST(a_faulty_launch_leaves_the_device_usable)
{
    bench b;
    at_error error = {0};
    outcome result;
    open_bench(&b);
    device_kernel *k = load(&b, "read_first");
    assert_ok(device_sim_api.poison(b.device, b.buffers[1], 0, &error), error);
    assert_ok(device_sim_api.launch(b.device, k, &b.launch, b.buffers, &error), error);
    assert_non_null(device_sim_api.complaint(b.device, &result));
    assert_int_equal(result, OUTCOME_WRONG_RESULT);
    launch_plan beyond = b.launch;
    beyond.arguments[2].bits = COUNT + 1;
    device_kernel *copy = load(&b, "copy");
    assert_ok(device_sim_api.launch(b.device, copy, &beyond, b.buffers, &error), error);
    assert_non_null(strstr(device_sim_api.complaint(b.device, &result), "end of"));
    assert_int_equal(result, OUTCOME_CRASHED);
    assert_ok(device_sim_api.launch(b.device, copy, &b.launch, b.buffers, &error), error);
    assert_null(device_sim_api.complaint(b.device, &result));
    device_sim_api.kernel_free(b.device, copy);
    device_sim_api.kernel_free(b.device, k);
    close_bench(&b);
}

TEST(predictions_repeat_and_grow_with_the_grid)
{
    bench b;
    at_error error = {0};
    int64_t first, again, copy_ns;
    open_bench(&b);
    device_kernel *k = load(&b, "copy");
    assert_ok(device_sim_api.sample(b.device, k, &b.launch, b.buffers, DEVICE_CACHE_COLD, NULL, 0,
                                    &first, &error),
              error);
    assert_ok(device_sim_api.sample(b.device, k, &b.launch, b.buffers, DEVICE_CACHE_COLD, NULL, 0,
                                    &again, &error),
              error);
    assert_true(first > 0 && first == again);
    launch_plan larger = b.launch;
    larger.launches[0].grid[0] = 1 << 22;
    assert_ok(device_sim_api.sample(b.device, k, &larger, b.buffers, DEVICE_CACHE_COLD, NULL, 0,
                                    &again, &error),
              error);
    assert_true(again > 10 * first);
    assert_ok(device_sim_api.sample_copy(b.device, b.buffers[1], b.buffers[0], COUNT * 4,
                                         DEVICE_CACHE_COLD, &copy_ns, &error),
              error);
    assert_true(copy_ns > 0);
    device_sim_api.kernel_free(b.device, k);
    close_bench(&b);
}

TEST(launches_that_a_gpu_refuses_are_refused)
{
    bench b;
    at_error error = {0};
    open_bench(&b);
    device_kernel *k = load(&b, "copy");
    launch_plan plan = b.launch;
    plan.launches[0].block[0] = 2048;
    outcome result;
    assert_ok(device_sim_api.launch(b.device, k, &plan, b.buffers, &error), error);
    assert_non_null(strstr(device_sim_api.complaint(b.device, &result), "1024 are possible"));
    assert_int_equal(result, OUTCOME_LAUNCH_ERROR);
    plan = b.launch;
    plan.launches[0].dynamic_shared_bytes = 1 << 20;
    assert_ok(device_sim_api.launch(b.device, k, &plan, b.buffers, &error), error);
    assert_non_null(strstr(device_sim_api.complaint(b.device, &result), "bytes of shared memory"));
    assert_int_equal(result, OUTCOME_LAUNCH_ERROR);
    plan = b.launch;
    plan.launches[0].argument_count = 2;
    assert_int_equal(device_sim_api.launch(b.device, k, &plan, b.buffers, &error), AT_COMPILE);
    device_sim_api.kernel_free(b.device, k);
    static const char wrong[] = "this is not PTX";
    const device_image image = {.bytes = wrong, .size_bytes = sizeof wrong - 1};
    assert_int_equal(device_sim_api.kernel_new(b.device, &image, &b.launch, &k, &error),
                     AT_NO_DEVICE);
    close_bench(&b);
}

static const char limited_source[] =
    "#define BODY (float *dst, unsigned n) { if (threadIdx.x == 0) dst[0] = 1; }\n"
    "extern \"C\" __global__ void __launch_bounds__(128, 2) bounded BODY\n"
    "extern \"C\" __global__ void __cluster_dims__(2, 1, 1) pairs BODY\n"
    "extern \"C\" __global__ void __cluster_dims__(16, 1, 1) many BODY\n";

static const char required_ptx[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n"
    ".visible .entry exact(.param .u64 a, .param .u32 n)\n.reqntid 32, 4\n{ ret; }\n"
    ".visible .entry ranks(.param .u64 a, .param .u32 n)\n.maxclusterrank 4\n{ ret; }\n"
    ".visible .entry sixteen(.param .u64 a, .param .u32 n)\n.reqnctapercluster 16\n{ ret; }\n"
    ".visible .entry clustered(.param .u64 a, .param .u32 n)\n.explicitcluster\n{ ret; }\n"
    ".visible .entry grids(.param .u64 a, .param .u32 n)\n.blocksareclusters\n"
    ".reqntid 32\n.reqnctapercluster 2\n{ ret; }\n";

static launch_plan plan_of(const char *entry, uint32_t argument_count)
{
    launch_plan plan = {.launch_count = 1,
                        .launches = {{.argument_count = argument_count}},
                        .argument_count = argument_count};
    assert_true(plan_set_entry(&plan, 0, entry));
    return plan;
}

/* Launches `entry` with this grid and block. `clusters` is the number of blocks of a cluster; 0 for
 * no clusters. `refusal` is a part of the expected message, or NULL for a launch that must work. */
static void expect_clusters(bench *b, const char *entry, const uint32_t grid[3],
                            const uint32_t block[3], uint32_t clusters, const char *refusal)
{
    at_error error = {0};
    device_kernel *k = load(b, entry);
    launch_plan plan = plan_of(entry, 2);
    memcpy(plan.launches[0].grid, grid, sizeof plan.launches[0].grid);
    memcpy(plan.launches[0].block, block, sizeof plan.launches[0].block);
    for (int axis = 0; clusters > 0 && axis < 3; axis++)
        plan.launches[0].cluster[axis] = axis == 0 ? clusters : 1;
    plan.arguments[0] = (argument_plan){.is_buffer = true, .size_bytes = 8};
    plan.arguments[1] = (argument_plan){.size_bytes = 4};
    at_status status = device_sim_api.launch(b->device, k, &plan, b->buffers, &error);
    if (!refusal) {
        assert_ok(status, error);
    } else {
        outcome result;
        const char *said = status ? error.message : device_sim_api.complaint(b->device, &result);
        assert_true(status == AT_COMPILE || (status == AT_OK && result == OUTCOME_LAUNCH_ERROR));
        if (!strstr(said, refusal))
            fail_msg("no \"%s\" in: %s", refusal, said);
    }
    device_sim_api.kernel_free(b->device, k);
}

static void expect_launch(bench *b, const char *entry, const uint32_t grid[3],
                          const uint32_t block[3], const char *refusal)
{
    expect_clusters(b, entry, grid, block, 0, refusal);
}

#define EXTENTS(x, y, z) ((const uint32_t[3]){x, y, z})

TEST(a_launch_beyond_the_kernels_own_limits_is_refused)
{
    bench b;
    at_error error = {0};
    device_kernel *k;
    const launch_plan grids_plan = plan_of("grids", 1);
    open_bench(&b);
    free(b.ptx);
    b.ptx = sim_test_ptx(limited_source, "sm_90");
    expect_launch(&b, "bounded", EXTENTS(2, 1, 1), EXTENTS(128, 1, 1), NULL);
    expect_launch(&b, "bounded", EXTENTS(2, 1, 1), EXTENTS(16, 8, 1), NULL);
    expect_launch(&b, "bounded", EXTENTS(2, 1, 1), EXTENTS(129, 1, 1), "allow 128");
    expect_launch(&b, "bounded", EXTENTS(2, 1, 1), EXTENTS(32, 8, 1), "256 threads");
    expect_launch(&b, "pairs", EXTENTS(4, 3, 1), EXTENTS(32, 1, 1), NULL);
    expect_launch(&b, "pairs", EXTENTS(3, 2, 1), EXTENTS(32, 1, 1), "do not divide its");
    /* A cluster of one block counts as no cluster, as in the driver. */
    expect_clusters(&b, "pairs", EXTENTS(4, 3, 1), EXTENTS(32, 1, 1), 1, NULL);
    expect_clusters(&b, "pairs", EXTENTS(4, 3, 1), EXTENTS(32, 1, 1), 4,
                    "(.reqnctapercluster) 2 x 1 x 1");
    expect_launch(&b, "many", EXTENTS(16, 1, 1), EXTENTS(32, 1, 1), "8 blocks are possible");
    free(b.ptx);
    b.ptx = strdup(required_ptx);
    expect_launch(&b, "exact", EXTENTS(1, 1, 1), EXTENTS(32, 4, 1), NULL);
    expect_launch(&b, "exact", EXTENTS(1, 1, 1), EXTENTS(128, 1, 1),
                  "requires (.reqntid) 32 x 4 x 1");
    expect_launch(&b, "clustered", EXTENTS(2, 1, 1), EXTENTS(32, 1, 1), "with clusters");
    expect_clusters(&b, "clustered", EXTENTS(2, 1, 1), EXTENTS(32, 1, 1), 2, NULL);
    expect_clusters(&b, "clustered", EXTENTS(2, 1, 1), EXTENTS(32, 1, 1), 1, "with clusters");
    expect_clusters(&b, "exact", EXTENTS(3, 1, 1), EXTENTS(32, 4, 1), 3, NULL);
    expect_clusters(&b, "exact", EXTENTS(4, 3, 1), EXTENTS(32, 4, 1), 3, "do not divide its");
    expect_clusters(&b, "exact", EXTENTS(16, 1, 1), EXTENTS(32, 4, 1), 16, NULL);
    expect_clusters(&b, "exact", EXTENTS(17, 1, 1), EXTENTS(32, 4, 1), 17,
                    "16 blocks are possible");
    expect_clusters(&b, "sixteen", EXTENTS(16, 1, 1), EXTENTS(32, 1, 1), 16, NULL);
    expect_clusters(&b, "sixteen", EXTENTS(16, 1, 1), EXTENTS(32, 1, 1), 1,
                    "8 blocks are possible");
    expect_clusters(&b, "ranks", EXTENTS(8, 1, 1), EXTENTS(32, 1, 1), 4, NULL);
    expect_clusters(&b, "ranks", EXTENTS(8, 1, 1), EXTENTS(32, 1, 1), 8,
                    "(.maxclusterrank) allow 4");
    const device_image grids = {.bytes = b.ptx, .size_bytes = strlen(b.ptx), .registers = 16};
    assert_int_equal(device_sim_api.kernel_new(b.device, &grids, &grids_plan, &k, &error),
                     AT_NO_DEVICE);
    assert_non_null(strstr(error.message, ".blocksareclusters"));
    close_bench(&b);
}
