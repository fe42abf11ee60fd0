/* Fuzzes PTX. Any bytes are parsed, decoded, run on a few threads, and written as inline assembly.
 * No step may crash, leak or hang. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "export/kernels.h"
#include "ptx/parse.h"
#include "sim/kernel.h"
#include "sim/machine/run.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { BUFFER_BYTES = 4096, LIMIT = 2000 };

static void run(const sim_kernel *k)
{
    static uint8_t bytes[BUFFER_BYTES], valid[BUFFER_BYTES];
    uint8_t parameters[32768];
    sim_memory memory = {0};
    sim_region buffer = {.name = "buffer",
                         .base = 0x10000,
                         .size_bytes = BUFFER_BYTES,
                         .bytes = bytes,
                         .valid = valid};
    sim_fault fault;
    at_error error = {0};
    /* A kernel may use each parameter as a number or as an address in the buffer. */
    for (size_t i = 0; i < sizeof parameters; i += 8) {
        uint64_t v = 0x10000 + i % 64;
        memcpy(parameters + i, &v, sizeof v);
    }
    if (sim_memory_add(&memory, &buffer, &error) == AT_OK &&
        sim_kernel_add_variables(k, &memory, &error) == AT_OK) {
        sim_counter *counters = calloc(k->programs[0]->code_count, sizeof *counters);
        sim_launch launch = {.program = k->programs[0],
                             .memory = &memory,
                             .parameters = parameters,
                             .grid = {2, 1, 1},
                             .block = {40, 1, 1},
                             .dynamic_shared_bytes = 256,
                             .check = true,
                             .instruction_limit = LIMIT,
                             .threads = 1,
                             .counters = counters};
        if (counters)
            sim_run(&launch, &fault, &error);
        free(counters);
    }
    sim_memory_deinit(&memory);
}

static void write_first(const char *text, size_t size)
{
    char name[256] = "";
    const export_entry entry = {.name = name};
    char *out = NULL;
    ptx_module *m;
    at_error error = {0};
    if (ptx_parse(text, size, "fuzz.ptx", &m, &error) != AT_OK)
        return;
    int first = ptx_module_entry(m, NULL);
    if (first != PTX_NONE)
        snprintf(name, sizeof name, "%.*s", (int)m->functions[first].name.length,
                 m->functions[first].name.at);
    ptx_module_free(m);
    export_inline_ptx(text, size, name, &entry, 1, &out, &error);
    free(out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    sim_kernel k;
    at_error error = {0};
    write_first((const char *)data, size);
    if (sim_kernel_init(&k, (const char *)data, size, "fuzz.ptx", (const char *[]){NULL}, 1,
                        &error) != AT_OK)
        return 0;
    /* A kernel that needs megabytes for each thread is legal but slow, so it is not run. */
    if (k.programs[0]->local_bytes < 4096 && k.programs[0]->register_bytes < 1u << 20)
        run(&k);
    sim_kernel_deinit(&k);
    return 0;
}
