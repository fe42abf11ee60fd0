#include "simulate.h"

#include <stdio.h>
#include <string.h>

#include "sim/kernel.h"
#include "sim/machine/run.h"

at_status simulate(const char *ptx, const uint64_t *in, size_t in_words, uint64_t *out,
                   size_t out_words, uint32_t n, at_error *error)
{
    const char *entry = "k";
    sim_kernel kernel;
    sim_memory memory = {0};
    at_status status = sim_kernel_init(&kernel, ptx, strlen(ptx), "test.ptx", &entry, 1, error);
    if (status)
        return status;
    memset(out, 0, out_words * sizeof *out);
    sim_region from = {.name = "in",
                       .base = 1ull << 36,
                       .size_bytes = in_words * 8,
                       .bytes = (uint8_t *)(uintptr_t)in};
    sim_region to = {
        .name = "out", .base = 2ull << 36, .size_bytes = out_words * 8, .bytes = (uint8_t *)out};
    struct {
        uint64_t in, out;
        uint32_t n, pad;
    } parameters = {from.base, to.base, n, 0};
    sim_fault fault;
    const sim_launch launch = {.program = kernel.programs[0],
                               .memory = &memory,
                               .parameters = (const uint8_t *)&parameters,
                               .grid = {(n + SIMULATE_THREADS - 1) / SIMULATE_THREADS, 1, 1},
                               .block = {SIMULATE_THREADS, 1, 1},
                               .threads = 1};
    status = sim_memory_add(&memory, &from, error);
    if (!status)
        status = sim_memory_add(&memory, &to, error);
    if (!status)
        status = sim_kernel_add_variables(&kernel, &memory, error);
    if (!status)
        status = sim_run(&launch, &fault, error);
    if (!status && fault.kind != SIM_FAULT_NONE)
        status = error_set(error, AT_DEVICE, "%s", fault.message);
    sim_memory_deinit(&memory);
    sim_kernel_deinit(&kernel);
    return status;
}
