#include "run/session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "compile/log.h"
#include "script/emit.h"
#include "base/file.h"
#include "base/hash_text.h"
#include "base/paths.h"
#include "run/setup.h"

enum { STEP_MS = 100 };

static at_status await_event(device_worker *w, device_event *out, at_error *error)
{
    for (;;) {
        at_status status = device_worker_take(w, STEP_MS, out, error);
        if (status != AT_NOT_FOUND)
            return status;
        error_clear(error);
    }
}

static at_status open_device(session *s, const char *spec, device_cache cache, at_error *error)
{
    device_event event;
    at_status status = device_worker_start(
        &(device_worker_options){.spec = spec, .cache = cache}, &s->device, error);
    if (!status)
        status = await_event(s->device, &event, error);
    if (status)
        return status;
    if (event.kind == DEVICE_OPENED)
        s->properties = event.properties;
    else
        status = error_set(error, event.status ? event.status : AT_DEVICE, "%s", event.message);
    device_event_deinit(&event);
    return status;
}

/* The default device: the first GPU, else a simulated one where this build has it. */
static at_status open_default_device(session *s, device_cache cache, at_error *error)
{
    at_status status = open_device(s, "cuda:0", cache, error);
    if (status == AT_NO_DEVICE && device_api_find("sim:sm_90")) {
        snprintf(s->driver_less, sizeof s->driver_less, "%s", error->message);
        device_worker_free(s->device);
        s->device = NULL;
        error_clear(error);
        return open_device(s, "sim:sm_90", cache, error);
    }
    if (status == AT_NO_DEVICE) {
        char why[512];
        snprintf(why, sizeof why, "%s", error->message);
        error_set(error, AT_NO_DEVICE,
                  "%s\nWithout a GPU: 'autotune SCRIPT --arch sm_90' compiles the whole space and "
                  "shows resources and occupancy; 'emit', 'inspect', 'space' and 'export' work too.",
                  why);
    }
    return status;
}

static at_status open_target(const settings *o, session *s, at_error *error)
{
    device_cache cache = o->warm_cache ? DEVICE_CACHE_WARM : DEVICE_CACHE_COLD;
    if (o->arch && !o->device) {
        at_status status = arch_find(o->arch, &s->properties.limits, error);
        snprintf(s->properties.arch, sizeof s->properties.arch, "%s", s->properties.limits.name);
        return status;
    }
    if (o->arch)
        return error_set(error, AT_USAGE, "--arch compiles without a device: leave out one of "
                                          "--arch and --device");
    return o->device ? open_device(s, o->device, cache, error)
                     : open_default_device(s, cache, error);
}

/* Of a budget in seconds, what may pass until there is something to try. */
static const double ENUMERATE_SHARE = 0.2, SAMPLE_SHARE = 0.1;

static double smaller(double a, double b)
{
    return a < b ? a : b;
}

static at_status load_space(const settings *o, progress *shown, session *s, at_error *error)
{
    int64_t start_ns = clock_now_ns();
    at_status status = target_load_script(o, &s->properties.limits, &s->script, error);
    if (status)
        return status;
    const pattern *p = script_pattern(s->script);
    s->problem = s->properties.predicted && p->has_problem[PROBLEM_SIMULATED] ? PROBLEM_SIMULATED
                                                                              : PROBLEM_TUNED;
    if (o->must_record && (!s->device || s->properties.predicted))
        return error_set(error, AT_USAGE,
                         "--record is refused: %s, and a record holds measurements of a real GPU only",
                         s->device ? "the times of a simulated device are predictions"
                                   : "--arch measures nothing");
    if (o->energy && (!s->device || s->properties.predicted))
        return error_set(error, AT_USAGE, "--objective energy is refused: %s",
                         s->device ? "a simulated device knows no energy, only a real GPU's board tells it"
                                   : "--arch measures nothing");
    if (s->device && !p->measurable)
        return error_set_at(error, AT_SCRIPT, p->path, 0,
                            "the pattern has no buffers or no reference, so nothing can be measured; "
                            "'autotune inspect' and 'autotune emit' work on it, and --arch sm_XX "
                            "compiles its space");
    script_space_limits limits = script_space_defaults();
    if (o->budget_s > 0) {
        limits.enumerate_s = smaller(limits.enumerate_s, ENUMERATE_SHARE * o->budget_s);
        limits.sample_s = smaller(limits.sample_s, SAMPLE_SHARE * o->budget_s);
    }
    limits.show = setup_show_space;
    limits.show_context = shown;
    status = script_space_within(s->script, s->problem, &limits, &s->space, error);
    s->enumerate_ns = clock_now_ns() - start_ns;
    return status;
}

problem_kind session_problem(const session *s, size_t slot)
{
    return slot > 0 ? (problem_kind)(PROBLEM_RAGGED + slot - 1) : s->problem;
}

/* Of the set-up: the support code, and a reference for each slot. */
enum { PART_SUPPORT, PART_REFERENCE, PART_COUNT = PART_REFERENCE + DEVICE_SLOTS };

static at_status submit_support(session *s, at_error *error)
{
    paths p;
    char path[PATHS_BYTES + 64];
    char *source = NULL;
    size_t size_bytes;
    at_status status = paths_find(&p, error);
    if (status)
        return status;
    snprintf(path, sizeof path, "%s/device_support.cu", p.template_dir);
    status = file_read(path, 1 << 20, &source, &size_bytes, error);
    if (!status)
        status = compile_submit(s->pool,
                                &(compile_request){.id = PART_SUPPORT,
                                                   .source = source,
                                                   .name = "device_support.cu",
                                                   .entry = "at_empty",
                                                   .arch = s->properties.arch},
                                error);
    free(source);
    return status;
}

/* hash := hash of (hash, more) */
static void extend_hash(char hash[33], const char more[33])
{
    char both[65];
    snprintf(both, sizeof both, "%s%s", hash, more);
    hash_text(XXH3_128bits(both, strlen(both)), hash);
}

static at_status submit_reference(session *s, problem_kind problem, uint64_t id, at_error *error)
{
    emitted source = {0};
    const pattern *p = script_pattern(s->script);
    launch_plan launch;
    at_status status = script_reference_plan(s->script, problem, NULL, &launch, error);
    if (!status)
        status = emit_reference(s->script, problem, NULL, true, &source, error);
    if (!status)
        status = submit_source(s->pool, id, &source, p->reference_path, &launch,
                               s->properties.arch, s->properties.predicted, error);
    if (!status) {
        char kernel[PLAN_NAME_BYTES + 1];
        extend_hash(s->reference_hash, source.hash);
        snprintf(kernel, sizeof kernel, "%s(", launch.launches[0].entry);
        if (!compile_source_place(source.source, kernel, s->reference_place,
                                  sizeof s->reference_place))
            snprintf(s->reference_place, sizeof s->reference_place, "%s", p->reference_path);
    }
    emitted_deinit(&source);
    return status;
}

static at_status take_parts(session *s, size_t waiting, compile_result *parts, at_error *error)
{
    while (waiting > 0) {
        compile_result r;
        at_status status = compile_take(s->pool, STEP_MS, &r, error);
        if (status == AT_NOT_FOUND) {
            error_clear(error);
            continue;
        }
        if (status)
            return status;
        waiting--;
        if (r.outcome != COMPILE_OK)
            status = error_set(error, AT_SCRIPT, "%s cannot be compiled (%s):\n%s",
                               r.id == PART_SUPPORT     ? "the device's helper kernels"
                               : r.id == PART_REFERENCE ? "the reference kernel"
                                                        : "the reference kernel for a ragged problem",
                               compile_outcome_name(r.outcome), r.log ? r.log : "");
        parts[r.id] = r;
        if (status)
            return status;
    }
    return AT_OK;
}

/* Compiles the references and sends the set-up; its answer (DEVICE_READY) is the pipeline's. */
static at_status send_setup(session *s, at_error *error)
{
    compile_result parts[PART_COUNT] = {0};
    device_problem *problems = calloc(DEVICE_SLOTS, sizeof *problems);
    size_t slots = 1 + script_pattern(s->script)->ragged_count;
    bool ptx = s->properties.predicted;
    at_status status = AT_OK;
    if (!problems)
        return error_set(error, AT_NO_MEMORY, "out of memory");
    if (!ptx)
        status = submit_support(s, error);
    for (size_t i = 0; !status && i < slots; i++)
        status = submit_reference(s, session_problem(s, i), PART_REFERENCE + i, error);
    if (!status)
        status = take_parts(s, slots + !ptx, parts, error);
    for (size_t i = 0; !status && i < slots; i++) {
        problem_kind kind = session_problem(s, i);
        if (i > 0)
            problem_label(script_pattern(s->script), kind, problems[i].label,
                          sizeof problems[i].label);
        status = script_problem_plan(s->script, kind, NULL, 1, &problems[i].plan, error);
        if (!status)
            status = script_reference_plan(s->script, kind, NULL,
                                           &problems[i].reference_launch, error);
        problems[i].reference = result_image(&parts[PART_REFERENCE + i], ptx);
    }
    if (!status) {
        for (size_t i = 0; i < slots; i++)
            s->plans[i] = problems[i].plan;
        s->slots = slots;
        device_image support = result_image(&parts[PART_SUPPORT], false);
        status = device_worker_setup(s->device, &support, problems, slots, error);
    }
    for (size_t i = 0; i < PART_COUNT; i++)
        compile_result_deinit(&parts[i]);
    free(problems);
    return status;
}

at_status session_init(const settings *o, progress *shown, session *out, at_error *error)
{
    int64_t start_ns = clock_now_ns();
    *out = (session){0};
    at_status status = target_check_script(o, error);
    if (!status)
        status = compile_pool_new(
            &(compile_options){.jobs = o->jobs, .use_cache = o->use_cache}, &out->pool, error);
    if (!status)
        status = open_target(o, out, error);
    out->open_ns = clock_now_ns() - start_ns;
    if (!status)
        status = load_space(o, shown, out, error);
    if (!status && out->device)
        status = send_setup(out, error);
    return status;
}

void session_deinit(session *s)
{
    space_free(s->space);
    script_free(s->script);
    device_worker_free(s->device);
    compile_pool_free(s->pool);
    *s = (session){0};
}
