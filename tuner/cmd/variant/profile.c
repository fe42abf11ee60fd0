/* autotune profile: prints hardware counters of a variant beside counts of the simulated device. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "base/json_text.h"
#include "base/memory.h"
#include "base/stats.h"
#include "cmd/line/options.h"
#include "cmd/line/page.h"
#include "cmd/variant/explained.h"
#include "run/race/side_by_side.h"
#include "run/setup/session.h"
#include "run/setup/setup.h"

enum { SAMPLES = 9, THE_VARIANT = 1, DIGITS = 9 };

/* The most useful counters, with a description. */
static const struct {
    const char *name, *words;
} usual[] = {
    {"l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", "global load requests"},
    {"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", "global load sectors"},
    {"l1tex__t_requests_pipe_lsu_mem_global_op_st.sum", "global store requests"},
    {"l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum", "global store sectors"},
    {"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum", "shared load wavefronts"},
    {"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum", "shared store wavefronts"},
    {"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum", "shared load conflicts"},
    {"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum", "shared store conflicts"},
    {"l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum", "local load sectors"},
    {"l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum", "local store sectors"},
    {"lts__t_sectors_op_read.sum", "L2 sectors read"},
    {"lts__t_sectors_op_write.sum", "L2 sectors written"},
    {"lts__t_sector_hit_rate.pct", "L2 hit rate, %"},
    {"dram__bytes_read.sum", "DRAM bytes read"},
    {"dram__bytes_write.sum", "DRAM bytes written"},
    {"smsp__inst_executed.sum", "warp instructions"},
    {"sm__warps_active.avg.pct_of_peak_sustained_active", "warps active, %"},
    {"gpu__time_duration.sum", "time while counted, ns"},
};

typedef struct profiled {
    session session;
    uint16_t indices[PATTERN_MAX_PARAMETERS];
    char configuration[CONFIGURATION_BYTES];
    launch_plan launch;
    compile_result compiled;
    char *names_text; /* owned; `names` point into it */
    const char *names[DEVICE_MAX_METRICS];
    size_t name_count;
    outcome outcome;
    char message[DEVICE_LABEL_BYTES * 4]; /* the reason if the outcome is not ok */
    int64_t time_ns;
    double *counters; /* owned; the counters of launch 0, then of launch 1 and so on */
    explained simulated;
    bool is_simulated;
    at_error why_not; /* the reason why the variant is not simulated */
} profiled;

static const char *words_of(const char *name)
{
    for (size_t i = 0; i < sizeof usual / sizeof *usual; i++)
        if (strcmp(usual[i].name, name) == 0)
            return usual[i].words;
    return "";
}

static at_status read_metrics(profiled *x, const char *text, at_error *error)
{
    for (size_t i = 0; !text && i < sizeof usual / sizeof *usual; i++)
        x->names[x->name_count++] = usual[i].name;
    if (!text)
        return AT_OK;
    char *rest = NULL;
    x->names_text = memory_text(text);
    for (char *name = strtok_r(x->names_text, ", ", &rest); name;
         name = strtok_r(NULL, ", ", &rest)) {
        if (x->name_count == DEVICE_MAX_METRICS)
            return error_set(error, AT_USAGE, "--metrics takes %d names at most",
                             DEVICE_MAX_METRICS);
        x->names[x->name_count++] = name;
    }
    return x->name_count ? AT_OK : error_set(error, AT_USAGE, "--metrics needs a name");
}

static at_status open_gpu(const options *o, profiled *x, at_error *error)
{
    at_status status = session_init(&o->run, NULL, &x->session, error);
    const char *why = x->session.workers->driver_less;
    if (!status && x->session.workers->properties.predicted)
        status = error_set(error, AT_NO_DEVICE,
                           "there is no GPU whose counters can be read%s%s; 'autotune explain' has "
                           "the counts of a simulated GPU",
                           *why ? ": " : "", why);
    if (!status && !script_pattern(x->session.script)->measurable)
        status = error_set(error, AT_USAGE,
                           "%s has no buffers or launches, so it can be compiled but not run",
                           script_pattern(x->session.script)->path);
    return status;
}

static at_status compile_variant(const options *o, profiled *x, at_error *error)
{
    session *s = &x->session;
    const pattern *p = script_pattern(s->script);
    emitted source = {0};
    if (p->transfers)
        return error_set_at(error, AT_USAGE, p->path, 0,
                            "only kernels have hardware counters, but the driver copies this "
                            "pattern's data between host and device");
    at_status status =
        setup_choose_valid(s->script, PROBLEM_TUNED, o->configuration, x->indices, error);
    if (!status) {
        script_format_configuration(s->script, x->indices, x->configuration,
                                    sizeof x->configuration);
        status = script_launch_plan(s->script, PROBLEM_TUNED, x->indices, &x->launch, error);
    }
    if (!status)
        status = emit_variant(s->script, PROBLEM_TUNED, x->indices, true, &source, error);
    if (!status)
        status = compile_source(s->workers->pool, &source, p->template_path, &x->launch,
                                s->workers->properties.arch, false, &x->compiled, error);
    emitted_deinit(&source);
    return status;
}

/* Waits for the answer to the latest request, and keeps its outcome. */
static at_status await(profiled *x, device_event *e, at_error *error)
{
    device_worker *w = x->session.workers->device;
    at_status status = device_worker_await(w, device_worker_claim(w), -1, e, error);
    if (status)
        return status;
    x->outcome = e->outcome;
    snprintf(x->message, sizeof x->message, "%s", e->message ? e->message : "");
    return AT_OK;
}

/* Checks and times the variant, and keeps it loaded on the device. */
static at_status hold(profiled *x, const device_variant *v, at_error *error)
{
    device_event e;
    stats_summary time;
    at_status status =
        device_worker_try(x->session.workers->device, THE_VARIANT, v, SAMPLES, error);
    if (!status)
        status = await(x, &e, error);
    if (status)
        return status;
    if (x->outcome == OUTCOME_OK && stats_summarise_copy(e.samples_ns, e.sample_count, &time))
        x->time_ns = time.median_ns;
    device_event_deinit(&e);
    if (x->outcome != OUTCOME_OK)
        return AT_OK;
    status = device_worker_hold(x->session.workers->device, THE_VARIANT, v, error);
    if (!status)
        status = await(x, &e, error);
    if (!status)
        device_event_deinit(&e);
    return status;
}

static at_status count(profiled *x, at_error *error)
{
    device_ready ready;
    device_event e = {0};
    device_variant *v = memory_new(1, sizeof *v);
    v->present[0] = true;
    v->images[0] = result_image(&x->compiled, false);
    v->launches[0] = x->launch;
    at_status status = side_by_side_ready(x->session.workers->device, NULL, &ready, error);
    if (!status)
        status = hold(x, v, error);
    free(v);
    if (status || x->outcome != OUTCOME_OK)
        return status;
    status = device_worker_count(x->session.workers->device, THE_VARIANT, x->names, x->name_count,
                                 error);
    if (!status)
        status = await(x, &e, error);
    if (!status && x->outcome == OUTCOME_OK && !e.counters)
        status = error_set(error, AT_NO_DEVICE, "the counters cannot be read: %s", e.message);
    if (!status) {
        x->counters = e.counters;
        e.counters = NULL;
    }
    device_event_deinit(&e);
    return status;
}

/* Rejects counters of --metrics that the GPU lacks. Drops such counters of the usual selection. */
static at_status check_names(const options *o, const profiled *x, at_error *error)
{
    for (size_t i = 0; o->metrics && x->counters && i < x->name_count; i++)
        if (isnan(x->counters[i]))
            return error_set(error, AT_USAGE,
                             "%s has no counter '%s'; 'ncu --query-metrics' lists all, and a "
                             "counter's name needs an ending (.sum, .avg, .max, .pct ...)",
                             x->session.workers->properties.limits.name, x->names[i]);
    return AT_OK;
}

/* Counts the variant on the simulated device. If that fails, only the GPU's counts are printed. */
static void simulate(const options *o, profiled *x)
{
    settings wanted = o->run;
    wanted.machine.arch = x->session.workers->properties.arch;
    x->is_simulated =
        !explained_count(&wanted, x->configuration, false, &x->simulated, &x->why_not) &&
        !explained_faulted(&x->simulated) &&
        x->simulated.launch.launch_count == x->launch.launch_count;
}

/* Returns NaN if the simulated device does not count the metric. */
static double simulated_count(const profiled *x, uint32_t launch, const char *name)
{
    const char *found;
    double times;
    for (size_t i = 0;
         x->is_simulated && (found = explained_metric(&x->simulated, launch, i, &times)); i++)
        if (strcmp(found, name) == 0)
            return times;
    return NAN;
}

static double counter(const profiled *x, uint32_t launch, size_t metric)
{
    return x->counters[launch * x->name_count + metric];
}

/* Packs a sum as a whole number; averages and shares have fractions. */
static json_t *figure_json(const char *name, double v)
{
    const char *last = strrchr(name, '.');
    return last && strcmp(last, ".sum") == 0 ? json_count_rounded(v) : json_rounded(v, DIGITS);
}

static json_t *launch_json(const profiled *x, uint32_t launch)
{
    json_t *gpu = json_object(), *simulated = json_object();
    for (size_t i = 0; i < x->name_count; i++) {
        json_put(&gpu, x->names[i], figure_json(x->names[i], counter(x, launch, i)));
        double v = simulated_count(x, launch, x->names[i]);
        if (!isnan(v))
            json_put(&simulated, x->names[i], figure_json(x->names[i], v));
    }
    return json_pack("{ss sI so so}", "entry", plan_entry(&x->launch, launch), "times",
                     (json_int_t)plan_rounds(&x->launch, launch), "counters", gpu, "simulated",
                     simulated);
}

/* Packs data that only the text needs: the words and exact figures of each counter, or null. */
static json_t *pack_words(const profiled *x)
{
    json_t *launches = json_array();
    for (uint32_t i = 0; i < x->launch.launch_count; i++) {
        json_t *rows = json_array();
        for (size_t k = 0; k < x->name_count; k++)
            json_append(&rows,
                        json_pack("{ss ss so so}", "name", x->names[k], "words",
                                  words_of(x->names[k]), "gpu", json_exact(counter(x, i, k)),
                                  "simulated", json_exact(simulated_count(x, i, x->names[k]))));
        json_append(&launches, rows);
    }
    return json_pack("{ss so sb so sb}", "configuration", x->configuration, "counted", launches,
                     "is_simulated", (int)x->is_simulated, "why_not",
                     json_foreign_text(x->why_not.status ? x->why_not.message : "it faults there"),
                     "sampled", x->is_simulated && x->simulated.launches[0].explanation.scale > 1);
}

static at_status print(const options *o, const profiled *x, at_error *error)
{
    const pattern *p = script_pattern(x->session.script);
    const device_properties *d = &x->session.workers->properties;
    json_t *launches = json_array();
    for (uint32_t i = 0; i < x->launch.launch_count; i++)
        json_append(&launches, launch_json(x, i));
    json_t *root = json_pack(
        "{ss ss ss ss so so sI si so}", "pattern", p->name, "device", d->limits.name, "driver",
        d->driver, "arch", d->arch, "config", pattern_json_configuration(p, x->indices), "problem",
        pattern_json_problem(p, PROBLEM_TUNED), "time_ns", (json_int_t)x->time_ns, "registers",
        (int)x->compiled.resources.registers, "launches", launches);
    return page_show(o, "profile", 1, root, pack_words(x), error);
}

static void profiled_deinit(profiled *x)
{
    explained_deinit(&x->simulated);
    compile_result_deinit(&x->compiled);
    session_deinit(&x->session);
    free(x->names_text);
    free(x->counters);
    free(x);
}

static at_status answer(const options *o, int *exit_code, at_error *error)
{
    profiled *x = memory_new(1, sizeof *x);
    at_status status = read_metrics(x, o->metrics, error);
    if (!status)
        status = open_gpu(o, x, error);
    if (!status)
        status = compile_variant(o, x, error);
    if (!status)
        status = count(x, error);
    if (!status)
        status = check_names(o, x, error);
    if (!status && x->outcome != OUTCOME_OK) {
        *exit_code = 1;
        fprintf(stderr, "autotune: the variant is %s, and not counted: %s\n",
                outcome_name(x->outcome), x->message);
    } else if (!status) {
        simulate(o, x);
        status = print(o, x, error);
    }
    profiled_deinit(x);
    return status;
}

const command cmd_profile = {
    .name = "profile",
    .operand = "SCRIPT",
    .summary = "Read a GPU's counters of one variant, beside what the simulated device counts",
    .options = "describe config captured metrics only set include device cache jobs no-cache json",
    .answer = answer,
};
