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

static at_status start_device(const session *s, const char *spec, device_cache cache,
                              device_worker **out, at_error *error)
{
    return device_worker_start(
        &(device_worker_options){.spec = spec, .cache = cache, .trace = s->trace}, out, error);
}

static at_status await_opened(device_worker *w, device_properties *out, at_error *error)
{
    device_event event;
    at_status status = await_event(w, &event, error);
    if (status)
        return status;
    if (event.kind == DEVICE_OPENED)
        *out = event.properties;
    else
        status = error_set(error, event.status ? event.status : AT_DEVICE, "%s", event.message);
    device_event_deinit(&event);
    return status;
}

static at_status open_device(session *s, const char *spec, device_cache cache, at_error *error)
{
    at_status status = start_device(s, spec, cache, &s->device, error);
    return status ? status : await_opened(s->device, &s->properties, error);
}

/* "cuda:0,2": all are started before the first is waited for. */
static at_status open_devices(session *s, const char *spec, bool fixed, device_cache cache,
                              at_error *error)
{
    char first[32], next[32];
    const char *kind = strchr(spec, ':'), *comma = strchr(spec, ',');
    if (!kind || !comma || strncmp(spec, "cuda:", 5) != 0)
        return open_device(s, spec, cache, error);
    snprintf(first, sizeof first, "%.*s", (int)(comma - spec), spec);
    /* Without a race the first samples decide, and those of several GPUs do not compare. */
    if (fixed)
        return open_device(s, first, cache, error);
    at_status status = start_device(s, first, cache, &s->device, error);
    for (; !status && comma; comma = strchr(comma + 1, ',')) {
        int length = (int)strcspn(comma + 1, ",");
        snprintf(next, sizeof next, "%.*s:%.*s", (int)(kind - spec), spec, length, comma + 1);
        if (s->other_count == SESSION_MOST_OTHERS)
            return error_set(error, AT_USAGE, "more than %d GPUs", SESSION_MOST_OTHERS + 1);
        status = start_device(s, next, cache, &s->others[s->other_count], error);
        s->other_count += !status;
    }
    if (!status)
        status = await_opened(s->device, &s->properties, error);
    for (size_t i = 0; !status && i < s->other_count; i++) {
        device_properties *p = &s->other_properties[i];
        status = await_opened(s->others[i], p, error);
        if (!status && strcmp(p->limits.name, s->properties.limits.name) != 0)
            status = error_set(error, AT_USAGE, "%s is a %s and %s a %s: they are not tuned as one",
                               s->properties.spec, s->properties.limits.name, p->spec, p->limits.name);
    }
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
    return o->device ? open_devices(s, o->device, o->fixed_samples > 0, cache, error)
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
    if ((o->energy || o->read_energy) && (!s->device || s->properties.predicted))
        return error_set(error, AT_USAGE, "--%s is refused: %s",
                         o->energy ? "objective energy" : "energy",
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

uint64_t session_traffic_bytes(const session *s)
{
    return s->problems.plans ? s->problems.plans[0].traffic_bytes : 0;
}

problem_kind session_problem(const session *s, size_t slot)
{
    return slot > 0 ? (problem_kind)(PROBLEM_RAGGED + slot - 1) : s->problem;
}

/* Of the set-up: the support code, then what the problems need. */
enum { PART_SUPPORT, PART_PROBLEMS };

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

static at_status take_parts(session *s, compile_result *support, at_error *error)
{
    bool support_waiting = !s->properties.predicted;
    while (s->problems.waiting > 0 || support_waiting) {
        compile_result r;
        at_status status = compile_take(s->pool, STEP_MS, &r, error);
        if (status == AT_NOT_FOUND) {
            error_clear(error);
            continue;
        }
        if (status)
            return status;
        if (r.id != PART_SUPPORT) {
            status = problem_set_take(&s->problems, r.id - PART_PROBLEMS, &r, error);
        } else {
            support_waiting = false;
            *support = r;
            if (r.outcome != COMPILE_OK)
                status = error_set(error, AT_SCRIPT,
                                   "the device's helper kernels cannot be compiled (%s):\n%s",
                                   compile_outcome_name(r.outcome), r.log ? r.log : "");
        }
        if (status)
            return status;
    }
    return AT_OK;
}

/* Compiles the references and sends the set-up; its answer (DEVICE_READY) is the pipeline's. */
static at_status send_setup(session *s, at_error *error)
{
    compile_result support = {0};
    problem_kind kinds[DEVICE_SLOTS];
    size_t slots = 1 + script_pattern(s->script)->ragged_count;
    bool ptx = s->properties.predicted;
    for (size_t i = 0; i < slots; i++)
        kinds[i] = session_problem(s, i);
    at_status status = problem_set_init(&s->problems, s->script, s->space, kinds, slots, error);
    if (!status && !ptx)
        status = submit_support(s, error);
    if (!status)
        status = problem_set_submit(&s->problems, s->pool, s->properties.arch, ptx, PART_PROBLEMS,
                                    s->reference_hash, s->reference_place,
                                    sizeof s->reference_place, error);
    if (!status)
        status = take_parts(s, &support, error);
    if (!status) {
        s->slots = slots;
        device_image image = result_image(&support, false);
        status = problem_set_send(&s->problems, s->device, &image, ptx, error);
        for (size_t i = 0; !status && i < s->other_count; i++)
            status = problem_set_send(&s->problems, s->others[i], &image, ptx, error);
        problem_set_sent(&s->problems);
    }
    compile_result_deinit(&support);
    return status;
}

at_status session_init(const settings *o, progress *shown, session *out, at_error *error)
{
    int64_t start_ns = clock_now_ns();
    *out = (session){.trace = o->trace};
    at_status status = target_check_script(o, error);
    if (!status)
        status = compile_pool_new(
            &(compile_options){.jobs = o->jobs, .use_cache = o->use_cache, .trace = o->trace},
            &out->pool, error);
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
    problem_set_deinit(&s->problems);
    space_free(s->space);
    script_free(s->script);
    device_worker_free(s->device);
    for (size_t i = 0; i < s->other_count; i++)
        device_worker_free(s->others[i]);
    compile_pool_free(s->pool);
    *s = (session){0};
}
