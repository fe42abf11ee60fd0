#include "sim_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compile/nvrtc.h"

char *sim_test_ptx(const char *source, const char *arch)
{
    static nvrtc_library library;
    at_error error = {0};
    if (!library.handle)
        assert_ok(nvrtc_library_open(&library, &error), error);
    char architecture[64], include[1100];
    snprintf(architecture, sizeof architecture, "--gpu-architecture=compute_%s",
             strncmp(arch, "sm_", 3) == 0 ? arch + 3 : arch);
    snprintf(include, sizeof include, "-I%s", library.include_dir);
    const char *options[] = {architecture, include, "-default-device", "-lineinfo", "-std=c++17"};
    nvrtc_output out;
    nvrtc_library_compile(&library, source, "test.cu", "", NULL, 0, options,
                          sizeof options / sizeof *options, 1, &out);
    if (!out.ptx)
        fail_msg("NVRTC: %s", out.log ? out.log : "no log");
    char *ptx = out.ptx;
    out.ptx = NULL;
    nvrtc_output_deinit(&out);
    return ptx;
}

void sim_test_init_ptx(sim_test *t, const char *ptx, const char *entry)
{
    *t = (sim_test){0};
    at_error error = {0};
    assert_ok(sim_kernel_init(&t->kernel, ptx, strlen(ptx), "test.ptx", &entry, 1, &error), error);
    assert_ok(sim_kernel_add_variables(&t->kernel, &t->memory, &error), error);
    t->counters = calloc(t->kernel.programs[0]->code_count, sizeof *t->counters);
    assert_non_null(t->counters);
}

void sim_test_init(sim_test *t, const char *source, const char *arch, const char *entry)
{
    char *ptx = sim_test_ptx(source, arch);
    sim_test_init_ptx(t, ptx, entry);
    t->ptx = ptx;
}

void sim_test_deinit(sim_test *t)
{
    for (int i = 0; i < t->buffer_count; i++)
        free(t->valid[i]);
    free(t->counters);
    sim_memory_deinit(&t->memory);
    sim_kernel_deinit(&t->kernel);
    free(t->ptx);
}

uint64_t sim_test_buffer(sim_test *t, const char *name, void *bytes, uint64_t size, bool written)
{
    at_error error = {0};
    int i = t->buffer_count++;
    assert_true(i < SIM_TEST_BUFFERS);
    if (!written) {
        t->valid[i] = calloc(1, size);
        assert_non_null(t->valid[i]);
    }
    sim_region r = {.base = 0x1000000000ull * (uint64_t)(i + 1),
                    .size_bytes = size,
                    .bytes = bytes,
                    .valid = t->valid[i]};
    snprintf(r.name, sizeof r.name, "%s", name);
    assert_ok(sim_memory_add(&t->memory, &r, &error), error);
    return r.base;
}

static void put(sim_test *t, const void *bytes, uint32_t size)
{
    t->parameter_at = (t->parameter_at + size - 1) / size * size;
    assert_true(t->parameter_at + size <= sizeof t->parameters);
    memcpy(t->parameters + t->parameter_at, bytes, size);
    t->parameter_at += size;
}

void sim_test_u32(sim_test *t, uint32_t v)
{
    put(t, &v, sizeof v);
}

void sim_test_u64(sim_test *t, uint64_t v)
{
    put(t, &v, sizeof v);
}

void sim_test_f32(sim_test *t, float v)
{
    put(t, &v, sizeof v);
}

sim_fault_kind sim_test_run(sim_test *t, uint32_t grid_x, uint32_t grid_y, uint32_t block_x,
                            uint32_t block_y, uint32_t dynamic_shared_bytes)
{
    at_error error = {0};
    uint64_t work = 0;
    size_t size = t->kernel.programs[0]->code_count * sizeof *t->counters;
    memset(t->counters, 0, size);
    sim_launch launch = {.program = t->kernel.programs[0],
                         .memory = &t->memory,
                         .parameters = t->parameters,
                         .grid = {grid_x, grid_y, 1},
                         .block = {block_x, block_y, 1},
                         .dynamic_shared_bytes = dynamic_shared_bytes,
                         .check = true,
                         .instruction_limit = 1 << 20,
                         .threads = t->threads ? t->threads : 2,
                         .work = &work,
                         .work_limit = t->work_limit,
                         .schedule = t->schedule,
                         .prints = t->prints,
                         .workspace = t->workspace,
                         .textures = t->textures,
                         .texture_count = t->texture_count,
                         .counters = t->counters};
    memcpy(launch.cluster, t->cluster, sizeof launch.cluster);
    assert_ok(sim_run(&launch, &t->fault, &error), error);
    sim_totals_compute(t->kernel.programs[0], t->counters, &t->totals);
    return t->fault.kind;
}

void sim_test_run_well(sim_test *t, uint32_t grid_x, uint32_t grid_y, uint32_t block_x,
                       uint32_t block_y, uint32_t dynamic_shared_bytes)
{
    if (sim_test_run(t, grid_x, grid_y, block_x, block_y, dynamic_shared_bytes) != SIM_FAULT_NONE)
        fail_msg("%s", t->fault.message);
}
