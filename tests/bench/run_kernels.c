/* Launches kernels once each, one warp:
 *
 *     run_kernels compile:sm_90 SOURCE CUBIN ENTRY   compiles the kernels to a cubin
 *     run_kernels cuda:0 CUBIN ENTRY ...             launches the kernels in this order
 *     run_kernels sim:sm_90 SOURCE ENTRY ...         prints counters of shared memory
 *
 * A profiler watches the second command. Compiling is a command of its own, because a profiler
 * would slow it down. A kernel takes one pointer, to 4 KiB. Exit code 77: no GPU.
 * tests/bench/shared_shapes.py makes the source. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "compile/compile.h"
#include "device/device.h"
#include "sim/estimate.h"

enum { NO_GPU = 77, OUTPUT_WORDS = 1024, MOST_BYTES = 16 << 20, LIMIT_S = 300 };

static at_status compile(const char *path, const char *entry, const char *arch, bool want_ptx,
                         compile_result *out, at_error *error)
{
    char *source = NULL;
    size_t size;
    compile_pool *pool = NULL;
    at_status status = file_read(path, MOST_BYTES, &source, &size, error);
    if (!status)
        status =
            compile_pool_new(&(compile_options){.jobs = 1, .timeout_s = LIMIT_S}, &pool, error);
    if (!status)
        status = compile_submit(
            pool,
            &(compile_request){
                .source = source, .name = path, .entry = entry, .arch = arch, .want_ptx = want_ptx},
            error);
    if (!status)
        status = compile_take(pool, -1, out, error);
    if (!status && out->outcome != COMPILE_OK)
        status = error_set(error, AT_COMPILE, "%s: %s", path, out->log ? out->log : "no log");
    compile_pool_free(pool);
    free(source);
    return status;
}

static launch_plan plan_of(const char *entry)
{
    launch_plan l = {.launch_count = 1,
                     .launches = {{.grid = {1, 1, 1}, .block = {32, 1, 1}, .argument_count = 1}},
                     .argument_count = 1,
                     .arguments = {{.is_buffer = true, .size_bytes = 8}}};
    plan_set_entry(&l, 0, entry);
    return l;
}

static at_status launch_all(const char *path, char **entries, at_error *error)
{
    const device_api *api = device_api_find("cuda:0");
    device *d = NULL;
    device_buffer *buffer = NULL;
    char *cubin = NULL;
    size_t cubin_bytes = 0;
    at_status status = file_read(path, MOST_BYTES, &cubin, &cubin_bytes, error);
    if (!status)
        status = api->open("cuda:0", &d, error);
    if (!status)
        status = api->hardware->start(d, error);
    if (!status)
        status = api->buffer_new(d, "out", OUTPUT_WORDS * 4, &buffer, error);
    for (; *entries && !status; entries++) {
        const device_image image = {.bytes = cubin, .size_bytes = cubin_bytes};
        const launch_plan l = plan_of(*entries);
        device_kernel *k = NULL;
        status = api->kernel_new(d, &image, &l, &k, error);
        if (!status)
            status = api->launch(d, k, &l, &buffer, error);
        api->kernel_free(d, k);
    }
    if (buffer)
        api->buffer_free(d, buffer);
    free(cubin);
    if (d)
        api->close(d);
    return status;
}

static at_status write_cubin(const char *arch, const char *path, char **names, at_error *error)
{
    compile_result compiled = {0};
    at_status status = compile(path, names[1], arch, false, &compiled, error);
    if (!status)
        status = file_replace(names[0], compiled.cubin, compiled.cubin_bytes, error);
    compile_result_deinit(&compiled);
    return status;
}

static void print_shared(const sim_counter *c)
{
    printf(" %" PRIu64 " %" PRIu64 " %" PRIu64, c->shared_requests, c->wavefronts, c->conflicts);
}

/* Prints a line for each kernel: its name, then requests, wavefronts and conflicts of loads, of
 * stores and of atomics. */
static at_status count_all(const char *arch, const char *path, char **entries, at_error *error)
{
    problem_plan problem = {
        .buffer_count = 1,
        .buffers = {
            {.name = "out", .role = BUFFER_OUTPUT, .type = DTYPE_UINT32, .count = OUTPUT_WORDS}}};
    compile_result compiled = {0};
    sim_estimate *estimate = NULL;
    sim_chip chip;
    at_status status = compile(path, *entries, arch, true, &compiled, error);
    if (!status)
        status = sim_chip_find(arch, &chip, error);
    if (!status)
        status = sim_estimate_new(&chip, &problem, NULL, NULL, &estimate, error);
    for (; *entries && !status; entries++) {
        const device_image image = {.bytes = compiled.ptx, .size_bytes = compiled.ptx_bytes};
        const launch_plan l = plan_of(*entries);
        sim_estimated found = {0};
        status = sim_estimate_kernel(estimate, &image, &l, 0, 1, &found, error);
        if (!status && found.fault.kind != SIM_FAULT_NONE)
            status = error_set(error, AT_DEVICE, "%s: %s", *entries, found.fault.message);
        if (!status) {
            printf("%s", *entries);
            print_shared(&found.profile.totals.shared_load);
            print_shared(&found.profile.totals.shared_store);
            print_shared(&found.profile.totals.shared_atomic);
            putchar('\n');
        }
        sim_estimated_deinit(&found);
    }
    sim_estimate_free(estimate);
    compile_result_deinit(&compiled);
    return status;
}

int main(int argc, char **argv)
{
    bool compiles = argc > 1 && strncmp(argv[1], "compile:", 8) == 0;
    if (argc < (compiles ? 5 : 4)) {
        fprintf(stderr,
                "usage: run_kernels DEVICE FILE ENTRY ..., or compile:sm_XX SOURCE CUBIN ENTRY\n");
        return 2;
    }
    at_error error = {0};
    at_status status = compiles ? write_cubin(argv[1] + 8, argv[2], argv + 3, &error)
                       : strncmp(argv[1], "sim:", 4) == 0
                           ? count_all(argv[1] + 4, argv[2], argv + 3, &error)
                           : launch_all(argv[2], argv + 3, &error);
    if (status)
        fprintf(stderr, "run_kernels: %s\n", error.message);
    return status == AT_OK ? 0 : status == AT_NO_DEVICE ? NO_GPU : 1;
}
