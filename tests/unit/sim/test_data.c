/* Tests that data made at the first touch (sim/data.h) equals a completely filled problem. */
#include <stdlib.h>
#include <string.h>

#include "sim/data.h"
#include "sim/sim.h"
#include "sim_fixture.h"

enum { COUNT = 100003 };

typedef struct made {
    device *device;
    problem_plan plan;
    sim_data *data;
    char *ptx;
} made;

static void make(made *m, problem_plan plan, const char *filler, uint32_t filler_blocks)
{
    at_error error = {0};
    *m = (made){.plan = plan};
    m->plan.seed = 7;
    assert_ok(device_sim_api.open("sim:sm_90", &m->device, &error), error);
    sim_filler f = {
        .launch = {
            .launch_count = 1,
            .entries = "prepare",
            .launches = {{.grid = {filler_blocks, 1, 1}, .block = {64, 1, 1}, .argument_count = 2}},
            .argument_count = 2,
            .arguments = {{.is_buffer = true, .size_bytes = 8},
                          {.size_bytes = 8, .bits = plan.buffers[0].count}}}};
    if (filler) {
        m->ptx = sim_test_ptx(filler, "sm_90");
        f.image = (device_image){.bytes = m->ptx, .size_bytes = strlen(m->ptx), .registers = 16};
    }
    assert_ok(sim_data_new(m->device, &m->plan, &f, NULL, &m->data, &error), error);
}

static void end(made *m)
{
    sim_data_free(m->data);
    device_sim_api.close(m->device);
    free(m->ptx);
}

/* Returns bytes of the first buffer as a kernel would read them. */
static const void *touch(const made *m, uint64_t offset, uint64_t bytes)
{
    const device_buffer *b = sim_data_buffers(m->data)[0];
    sim_region_make(&b->region, offset, bytes);
    return b->region.bytes + offset;
}

static problem_plan plan_of(dtype type, buffer_role role, buffer_fill fill, uint64_t count)
{
    return (problem_plan){.buffer_count = 1,
                          .buffers = {{.name = "x",
                                       .role = role,
                                       .fill = fill,
                                       .type = type,
                                       .count = count,
                                       .fill_limit = 1000,
                                       .fill_block = 32,
                                       .value_count = 3,
                                       .values = {1, 2.5, -3}}}};
}

TEST(a_chunk_has_the_contents_of_a_whole_fill)
{
    for (int fill = 0; fill < FILL_COUNT; fill++)
        for (int type = 0; type < DTYPE_COUNT; type++) {
            made m;
            at_error error = {0};
            device_buffer *whole;
            make(&m, plan_of((dtype)type, BUFFER_INPUT, (buffer_fill)fill, COUNT), NULL, 0);
            uint64_t size = plan_buffer_bytes(&m.plan.buffers[0]);
            assert_ok(device_sim_api.buffer_new(m.device, "whole", size, &whole, &error), error);
            assert_ok(device_sim_api.fill(m.device, whole, &m.plan.buffers[0],
                                          plan_buffer_seed(7, 0), &error),
                      error);
            assert_memory_equal(touch(&m, 0, 8), whole->region.bytes, 8);
            assert_memory_equal(touch(&m, size - 8, 8), whole->region.bytes + size - 8, 8);
            assert_memory_equal(touch(&m, size / 2, 2000), whole->region.bytes + size / 2, 2000);
            end(&m);
        }
}

TEST(a_huge_buffer_is_filled_only_where_it_is_touched)
{
    made m;
    make(&m, plan_of(DTYPE_INT32, BUFFER_INPUT, FILL_INDEX, UINT64_C(1) << 36), NULL, 0);
    const uint64_t far = (UINT64_C(1) << 36) - 5;
    assert_int_equal(*(const uint32_t *)touch(&m, far * 4, 4), (uint32_t)far);
    end(&m);
}

TEST(a_reset_restores_written_buffers_and_keeps_inputs)
{
    made m;
    size_t count;
    make(&m, plan_of(DTYPE_INT32, BUFFER_INOUT, FILL_INDEX, COUNT), NULL, 0);
    *(uint32_t *)(uintptr_t)touch(&m, 4000, 4) = 99;
    assert_int_equal(sim_data_touched(m.data, 0, &count)[0], 4000 / SIM_CHUNK_BYTES);
    assert_int_equal(count, 1);
    sim_data_reset(m.data);
    sim_data_touched(m.data, 0, &count);
    assert_int_equal(count, 0);
    assert_int_equal(*(const uint32_t *)touch(&m, 4000, 4), 1000);
    end(&m);
}

static const char ordered[] =
    "extern \"C\" __global__ void prepare(unsigned *x, unsigned long long n)\n"
    "{ unsigned long long i = blockIdx.x * 64ull + threadIdx.x; if (i < n) x[n - 1 - i] = i * 7; "
    "}\n";

TEST(only_the_filler_blocks_that_write_touched_bytes_run)
{
    made m;
    make(&m, plan_of(DTYPE_UINT32, BUFFER_INPUT, FILL_BITS, UINT64_C(1) << 30), ordered, 1u << 24);
    const uint64_t last = (UINT64_C(1) << 30) - 1, places[] = {0, 1, 12345678, last - 64, last};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        assert_int_equal(*(const uint32_t *)touch(&m, places[i] * 4, 4),
                         (uint32_t)((last - places[i]) * 7));
    assert_null(sim_data_trouble(m.data));
    end(&m);
}

static const char scattered[] =
    "extern \"C\" __global__ void prepare(unsigned *x, unsigned long long n)\n"
    "{ for (unsigned long long i = blockIdx.x * 64ull + threadIdx.x; i < n; i += 64 * gridDim.x)\n"
    "    x[i * 5 % n] = i; }\n";

TEST(a_filler_with_irregular_indices_runs_whole)
{
    made m;
    make(&m, plan_of(DTYPE_UINT32, BUFFER_INPUT, FILL_BITS, COUNT), scattered, 1500);
    for (uint32_t i = 0; i < COUNT; i += 977)
        assert_int_equal(*(const uint32_t *)touch(&m, (uint64_t)i * 5 % COUNT * 4, 4), i);
    assert_null(sim_data_trouble(m.data));
    end(&m);
}

TEST(a_filler_that_cannot_run_is_reported)
{
    made m;
    make(&m, plan_of(DTYPE_UINT32, BUFFER_INPUT, FILL_BITS, UINT64_C(1) << 30), scattered,
         1u << 24);
    touch(&m, UINT64_C(1) << 31, 4);
    assert_non_null(sim_data_trouble(m.data));
    end(&m);
}
