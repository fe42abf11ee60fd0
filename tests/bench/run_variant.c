/* Launches variants once each on a GPU, in order, for a profiler:
 *
 *   run_variant SCRIPT CONFIG [NAME=VALUE ...] [-- SCRIPT CONFIG [NAME=VALUE ...]] ...
 *
 * NAME=VALUE changes the problem, as --set does. Prints the names of the kernels. Ends at the first
 * failure. Exit code 77: no GPU. tests/bench/counters_vs_ncu.py runs it under Nsight Compute. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/paths.h"
#include "compile/compile.h"
#include "device/device.h"
#include "script/emit.h"

enum { MOST_SETTINGS = 16, NO_GPU = 77 };

typedef struct subject {
    const device_api *api;
    device *device;
    compile_pool *pool;
    script *script;
    uint16_t indices[64];
    problem_plan plan;
    launch_plan launch;
    compile_result support, variant;
    device_buffer *buffers[PLAN_MAX_BUFFERS];
} subject;

static at_status load(subject *s, const char *path, const char *configuration,
                      const script_setting *settings, size_t count, at_error *error)
{
    paths p;
    char found[PATHS_BYTES];
    at_status status = paths_find(&p, error);
    if (!status)
        status = paths_find_script(&p, path, found, sizeof found, error);
    if (!status)
        status = script_load(found,
                             &(script_options){.lua_dir = p.lua_dir,
                                               .template_dir = p.template_dir,
                                               .settings = settings,
                                               .setting_count = count,
                                               .device = s->api->properties(s->device)->limits},
                             &s->script, error);
    if (!status)
        status = script_parse_configuration(s->script, configuration, s->indices, error);
    if (!status)
        status = script_problem_plan(s->script, PROBLEM_TUNED, NULL, 1, &s->plan, error);
    if (!status)
        status = script_launch_plan(s->script, PROBLEM_TUNED, s->indices, &s->launch, error);
    return status;
}

static at_status compile_one(compile_pool *pool, const compile_request *request,
                             compile_result *out, at_error *error)
{
    at_status status = compile_submit(pool, request, error);
    if (!status)
        status = compile_take(pool, -1, out, error);
    if (!status && out->outcome != COMPILE_OK)
        status = error_set(error, AT_COMPILE, "%s: %s", request->name, out->log);
    return status;
}

static at_status start(subject *s, at_error *error)
{
    paths p;
    char path[PATHS_BYTES + 64], *helpers = NULL;
    size_t size;
    s->api = device_api_find("cuda:0");
    at_status status = s->api->open("cuda:0", &s->device, error);
    if (!status)
        status = s->api->hardware->start(s->device, error);
    if (!status)
        status = paths_find(&p, error);
    if (!status) {
        snprintf(path, sizeof path, "%s/device_support.cu", p.template_dir);
        status = file_read(path, 1 << 20, &helpers, &size, error);
    }
    if (!status)
        status =
            compile_pool_new(&(compile_options){.jobs = 1, .use_cache = true}, &s->pool, error);
    if (!status)
        status = compile_one(s->pool,
                             &(compile_request){.source = helpers,
                                                .name = "device_support.cu",
                                                .entry = "at_empty",
                                                .arch = s->api->properties(s->device)->arch},
                             &s->support, error);
    device_image image = {.bytes = s->support.cubin, .size_bytes = s->support.cubin_bytes};
    if (!status)
        status = s->api->hardware->set_support(
            s->device, (const device_image[DEVICE_SUPPORT_PARTS]){image}, error);
    free(helpers);
    return status;
}

static at_status compile_variant(subject *s, at_error *error)
{
    emitted source = {0};
    at_status status = emit_variant(s->script, PROBLEM_TUNED, s->indices, false, &source, error);
    if (!status)
        status = compile_one(s->pool,
                             &(compile_request){.source = source.source,
                                                .name = "variant.cu",
                                                .entry = plan_entry(&s->launch, 0),
                                                .arch = s->api->properties(s->device)->arch,
                                                .options = source.options,
                                                .option_count = source.option_count,
                                                .headers = source.includes.headers,
                                                .header_count = source.includes.count},
                             &s->variant, error);
    emitted_deinit(&source);
    return status;
}

static at_status launch(subject *s, at_error *error)
{
    device_kernel *kernel = NULL;
    device_image image = {.bytes = s->variant.cubin, .size_bytes = s->variant.cubin_bytes};
    at_status status = AT_OK;
    for (uint32_t i = 0; i < s->plan.buffer_count && !status; i++) {
        const buffer_plan *b = &s->plan.buffers[i];
        status = s->api->buffer_new(s->device, b->name, b->count * dtype_get(b->type)->size_bytes,
                                    &s->buffers[i], error);
        if (!status)
            status =
                s->api->fill(s->device, s->buffers[i], b, plan_buffer_seed(s->plan.seed, i), error);
    }
    if (!status)
        status = s->api->kernel_new(s->device, &image, &s->launch, &kernel, error);
    if (!status)
        status = s->api->launch(s->device, kernel, &s->launch, s->buffers, error);
    if (!status)
        puts(plan_entry(&s->launch, 0));
    s->api->kernel_free(s->device, kernel);
    for (uint32_t i = 0; i < s->plan.buffer_count; i++) {
        if (s->buffers[i])
            s->api->buffer_free(s->device, s->buffers[i]);
        s->buffers[i] = NULL;
    }
    return status;
}

static at_status run(subject *s, const char *path, const char *configuration,
                     const script_setting *settings, size_t count, at_error *error)
{
    at_status status = load(s, path, configuration, settings, count, error);
    if (!status)
        status = compile_variant(s, error);
    if (!status)
        status = launch(s, error);
    compile_result_deinit(&s->variant);
    s->variant = (compile_result){0};
    script_free(s->script);
    s->script = NULL;
    return status;
}

int main(int argc, char **argv)
{
    if (argc < 3) {
        fprintf(stderr, "usage: run_variant SCRIPT CONFIG [NAME=VALUE ...] [-- ...]\n");
        return 2;
    }
    at_error error = {0};
    subject s = {0};
    at_status status = start(&s, &error);
    for (int i = 1; i + 1 < argc && !status; i++) {
        const char *path = argv[i++], *configuration = argv[i++];
        script_setting settings[MOST_SETTINGS];
        size_t count = 0;
        for (; i < argc && strcmp(argv[i], "--") != 0; i++) {
            char *equals = strchr(argv[i], '=');
            if (!equals || count == MOST_SETTINGS)
                continue;
            *equals = '\0';
            settings[count++] = (script_setting){argv[i], equals + 1};
        }
        status = run(&s, path, configuration, settings, count, &error);
    }
    if (status)
        fprintf(stderr, "run_variant: %s\n", error.message);
    compile_result_deinit(&s.support);
    compile_pool_free(s.pool);
    if (s.device)
        s.api->close(s.device);
    return status == AT_OK ? 0 : status == AT_NO_DEVICE ? NO_GPU : 1;
}
