/* autotune compare: what became faster or slower between two records, runs or journals. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "base/json_text.h"
#include "base/memory.h"
#include "cmd/line/commands.h"
#include "cmd/line/page.h"
#include "cmd/results/entry.h"
#include "cmd/results/judge.h"
#include "cmd/variant/explained.h"
#include "history/recorded.h"
#include "record/record.h"
#include "run/race/side_by_side.h"
#include "run/setup/session.h"
#include "run/setup/setup.h"
#include "script/render.h"

enum { EXIT_SLOWER = 6, TEXT_BYTES = 512 };

/* A race's difference below this does not matter. */
static const double race_margin = 0.0025;
/* The best of one problem. */
typedef struct subject {
    char problem[TEXT_BYTES], pattern[128], configuration[CONFIGURATION_BYTES];
    json_t *asked, *values; /* owned; what it answers ("problem" ...), and the configuration */
    char arch[32];          /* that it is counted for */
    double low_ns, time_ns, high_ns; /* median and its 95 % interval */
    bool predicted, has_resources;
    uint32_t registers, spill_bytes, shared_bytes;
    bool is_counted; /* what follows is known, of a simulated device */
    double sectors, conflicts;
} subject;

typedef struct side_file {
    subject *subjects;
    size_t count;
    char gpu[128]; /* "": not known */
} side_file;

typedef struct comparison {
    subject *a, *b;
    ratio found; /* low, high 0: no times */
} comparison;

/* ---- reading ---- */

static void read_records(const record *r, side_file *out)
{
    snprintf(out->gpu, sizeof out->gpu, "%s", r->gpu);
    out->subjects = memory_new(r->entry_count + 1, sizeof *out->subjects);
    for (size_t i = 0; i < r->entry_count; i++) {
        const record_entry *e = &r->entries[i];
        subject *s = &out->subjects[out->count++];
        results_problem(e, s->problem, sizeof s->problem, 0);
        record_format_values(&e->configuration, s->configuration, sizeof s->configuration);
        s->asked = json_object();
        results_put_question(&s->asked, e);
        s->values = record_pack_values(&e->configuration);
        snprintf(s->pattern, sizeof s->pattern, "%s", r->pattern);
        snprintf(s->arch, sizeof s->arch, "sm_%d%d", r->major, r->minor);
        s->low_ns = (double)e->time_low_ns;
        s->time_ns = (double)e->time_ns;
        s->high_ns = (double)e->time_high_ns;
    }
}

static void take_text(const json_t *from, const char *name, char *out, size_t size_bytes)
{
    snprintf(out, size_bytes, "%s", json_string_value(json_object_get(from, name)));
}

/* Reads the fastest result of a run, a journal or another tool's file; if a record is damaged, says
 * what is wrong with it. */
static at_status read_best(const char *path, side_file *out, const at_error *as_record,
                           at_error *error)
{
    json_t *source, *best;
    at_status status = recorded_open(path, &source, error);
    if (status)
        return status;
    status = script_compute("commands.best", path, source, &best, error);
    json_decref(source);
    if (status)
        return status;
    if (json_is_true(json_object_get(best, "is_record"))) {
        json_decref(best);
        *error = *as_record;
        return error->status;
    }
    out->subjects = memory_new(1, sizeof *out->subjects);
    out->count = 1;
    subject *s = out->subjects;
    const json_t *resources = json_object_get(best, "resources");
    take_text(best, "gpu", out->gpu, sizeof out->gpu);
    take_text(best, "problem_text", s->problem, sizeof s->problem);
    take_text(best, "kernel", s->pattern, sizeof s->pattern);
    take_text(best, "configuration", s->configuration, sizeof s->configuration);
    snprintf(s->arch, sizeof s->arch, "sm_90");
    s->asked = json_pack("{sO}", "problem", json_object_get(best, "problem"));
    s->values = json_incref(json_object_get(best, "values"));
    s->time_ns = json_number_value(json_object_get(best, "time_ns"));
    s->low_ns = json_number_value(json_object_get(best, "low_ns"));
    s->high_ns = json_number_value(json_object_get(best, "high_ns"));
    s->predicted = json_is_true(json_object_get(best, "is_predicted"));
    s->has_resources = json_is_array(resources);
    s->registers = (uint32_t)json_integer_value(json_array_get(resources, 0));
    s->spill_bytes = (uint32_t)json_integer_value(json_array_get(resources, 1));
    s->shared_bytes = (uint32_t)json_integer_value(json_array_get(resources, 2));
    json_decref(best);
    return AT_OK;
}

static at_status read_side(const char *path, side_file *out, at_error *error)
{
    record r;
    at_status status = record_read(path, &r, error);
    if (!status) {
        read_records(&r, out);
        record_deinit(&r);
        return AT_OK;
    }
    if (status != AT_FORMAT)
        return status;
    const at_error as_record = *error;
    error_clear(error);
    return read_best(path, out, &as_record, error);
}

static void side_file_deinit(side_file *s)
{
    for (size_t i = 0; i < s->count; i++) {
        json_decref(s->subjects[i].asked);
        json_decref(s->subjects[i].values);
    }
    free(s->subjects);
}

/* ---- judging ---- */

static ratio judge_files(const subject *a, const subject *b, double margin)
{
    if (a->predicted != b->predicted)
        return (ratio){.verdict = NOT_SURE};
    /* Predictions have no noise, and are no measurements. */
    if (a->predicted) {
        const double times = b->time_ns / a->time_ns;
        return (ratio){times, times, judge_interval(times, times, margin)};
    }
    return judge_medians((median_time){a->low_ns, a->time_ns, a->high_ns},
                         (median_time){b->low_ns, b->time_ns, b->high_ns}, margin);
}

/* Pairs the results that both files have for one problem. Where each file has a single problem
 * these are paired, whatever the problems are called. */
static size_t pair_up(const side_file *a, const side_file *b, comparison *out)
{
    size_t count = 0;
    bool single =
        a->count == 1 && b->count == 1 && (!a->subjects->problem[0] || !b->subjects->problem[0]);
    for (size_t i = 0; i < a->count; i++)
        for (size_t j = 0; j < b->count; j++)
            if (single || strcmp(a->subjects[i].problem, b->subjects[j].problem) == 0) {
                out[count++] =
                    (comparison){&a->subjects[i], &b->subjects[j], {.verdict = NOT_SURE}};
                break;
            }
    return count;
}

/* ---- racing ---- */

/* The problem as settings; `text` is cut apart. */
static at_status set_problem(settings *s, char *text, at_error *error)
{
    char *rest = NULL;
    s->pattern.variable_count = 0;
    for (char *word = strtok_r(text, ",", &rest); word; word = strtok_r(NULL, ",", &rest)) {
        char *equals = strchr(word, '=');
        if (!equals || s->pattern.variable_count == SETTINGS_MAX_VARIABLES)
            return error_set(error, AT_USAGE, "a race needs a problem, such as rows=8192, not '%s'",
                             word);
        *equals = '\0';
        s->pattern.variables[s->pattern.variable_count++] =
            (script_setting){.name = word, .text = equals + 1};
    }
    return AT_OK;
}

static at_status compile_side(session *s, const char *configuration, compile_result *r, side *out,
                              at_error *error)
{
    const pattern *p = script_pattern(s->script);
    emitted source = {0};
    uint16_t indices[PATTERN_MAX_PARAMETERS];
    at_status status = script_parse_configuration(s->script, configuration, indices, error);
    if (!status) {
        out->layout = (uint32_t)problem_set_layout(&s->problems, indices);
        status = script_launch_plan(s->script, s->problem, indices, &out->launch, error);
    }
    if (!status)
        status = emit_variant(s->script, s->problem, indices, true, &source, error);
    bool compiles = !status && out->launch.launch_count > 0;
    if (compiles)
        status =
            submit_source(s->workers->pool, 0, &source, p->template_path, &out->launch,
                          s->workers->properties.arch, s->workers->properties.predicted, error);
    if (!status && compiles)
        status = compile_take(s->workers->pool, -1, r, error);
    if (!status && r->outcome != COMPILE_OK)
        status = error_set(error, AT_COMPILE, "%s does not compile:\n%s", configuration,
                           r->log ? r->log : "");
    out->image = result_image(r, s->workers->properties.predicted);
    emitted_deinit(&source);
    return status;
}

/* One device worker for all, so that the GPU is opened and its clocks are brought up once. */
typedef struct course {
    workers workers;
    bool warm;
} course;

static at_status race(const options *o, course *on, size_t place, comparison *c, double margin,
                      at_error *error)
{
    settings wanted = o->run;
    session s = {0};
    compile_result results[2] = {0};
    side *sides = memory_new(2, sizeof *sides);
    device_ready ready;
    char problem[TEXT_BYTES];
    snprintf(problem, sizeof problem, "%s", c->a->problem);
    wanted.race.warm_cache = wanted.race.warm_cache || strstr(problem, " (warm)");
    problem[strcspn(problem, " ")] = '\0';
    wanted.pattern.script = c->a->pattern;
    wanted.machine.workers = &on->workers;
    if (wanted.race.warm_cache != on->warm)
        workers_close(&on->workers);
    on->warm = wanted.race.warm_cache;
    at_status status = set_problem(&wanted, problem, error);
    if (!status && !*wanted.pattern.script)
        status =
            error_set(error, AT_USAGE, "--race needs records or runs, which name their pattern");
    if (!status)
        status = session_init(&wanted, NULL, &s, error);
    if (!status)
        status = compile_side(&s, c->a->configuration, &results[0], &sides[0], error);
    if (!status)
        status = compile_side(&s, c->b->configuration, &results[1], &sides[1], error);
    if (!status)
        status = side_by_side_ready(s.workers->device, NULL, &ready, error);
    const side_rules rules = {
        .blocks = JUDGE_BLOCKS, .seed = o->run.search.seed + place, .checked = true};
    if (!status)
        status = side_by_side_run(s.workers->device, sides, 2, &rules, error);
    for (int i = 0; i < 2 && !status; i++)
        if (sides[i].outcome != OUTCOME_OK)
            status = error_set(error, AT_DEVICE, "%s ended as %s: %s", i ? "B" : "A",
                               outcome_name(sides[i].outcome), sides[i].message);
    if (!status) {
        size_t blocks = sides[0].sample_count < sides[1].sample_count ? sides[0].sample_count
                                                                      : sides[1].sample_count;
        c->found =
            judge_samples(sides[0].samples_ns, sides[1].samples_ns, blocks, ready.tick_ns, margin);
    }
    for (int i = 0; i < 2; i++) {
        side_deinit(&sides[i]);
        compile_result_deinit(&results[i]);
    }
    free(sides);
    session_deinit(&s);
    return status;
}

/* ---- counting ---- */

/* Sectors, conflicts, registers and spills of the winner on a simulated device: exact, and no
 * times. Counts that cannot be had (no such pattern here, an instruction that it lacks) are left
 * out. */
static void count_subject(const options *o, subject *s)
{
    explained x = {0};
    at_error ignored = {0};
    settings wanted = o->run;
    char problem[TEXT_BYTES];
    snprintf(problem, sizeof problem, "%s", s->problem);
    problem[strcspn(problem, " ")] = '\0';
    wanted.pattern.script = s->pattern;
    wanted.machine.arch = s->arch;
    at_status status =
        *s->pattern && *problem ? set_problem(&wanted, problem, &ignored) : AT_NOT_FOUND;
    if (!status)
        status = explained_count(&wanted, s->configuration, true, &x, &ignored);
    s->is_counted = !status && !explained_faulted(&x);
    for (uint32_t i = 0; s->is_counted && i < x.launch.launch_count; i++) {
        const sim_totals *t = &x.launches[i].found.profile.totals;
        double scale = x.launches[i].explanation.scale * plan_rounds(&x.launch, i);
        s->sectors += scale * (double)(t->global_load.sectors + t->async_copy.sectors +
                                       t->global_store.sectors);
        s->conflicts += scale * (double)(t->shared_load.conflicts + t->shared_store.conflicts);
    }
    if (s->is_counted) {
        s->has_resources = true;
        s->registers = x.compiled.resources.registers;
        s->spill_bytes =
            x.compiled.resources.spill_store_bytes + x.compiled.resources.spill_load_bytes;
    }
    explained_deinit(&x);
}

/* Counts both sides if different configurations won; the same configuration would have the same
 * counts. */
static void count_sides(const options *o, comparison *c)
{
    if (strcmp(c->a->configuration, c->b->configuration) == 0)
        return;
    count_subject(o, c->a);
    if (c->a->is_counted)
        count_subject(o, c->b);
}

/* ---- printing ---- */

static void put_counts(json_t **object, const char *name, const subject *s)
{
    if (s->is_counted)
        json_put(object, name,
                 json_pack("{so so si si}", "sectors", json_count_rounded(s->sectors), "conflicts",
                           json_count_rounded(s->conflicts), "registers", (int)s->registers,
                           "spill_bytes", (int)s->spill_bytes));
}

static json_t *pack_comparison(const comparison *c)
{
    json_t *one = json_deep_copy(c->a->asked);
    json_put(&one, "verdict", json_string(judge_name(c->found.verdict)));
    json_put(&one, "ratio_low", c->found.low > 0 ? json_real(c->found.low) : json_null());
    json_put(&one, "ratio_high", c->found.high > 0 ? json_real(c->found.high) : json_null());
    json_put(&one, "a_ns", json_count_rounded(c->a->time_ns));
    json_put(&one, "b_ns", json_count_rounded(c->b->time_ns));
    json_put(&one, "a_config", json_incref(c->a->values));
    json_put(&one, "b_config", json_incref(c->b->values));
    put_counts(&one, "a_counts", c->a);
    put_counts(&one, "b_counts", c->b);
    return one;
}

/* Packs what only the text says of a side. */
static json_t *pack_side(const subject *s)
{
    json_t *out = json_pack("{ss ss so sb sb ss}", "problem", s->problem, "configuration",
                            s->configuration, "time_ns", json_exact(s->time_ns), "predicted",
                            (int)s->predicted, "counted", (int)s->is_counted, "arch", s->arch);
    if (s->is_counted) {
        json_put(&out, "sectors", json_exact(s->sectors));
        json_put(&out, "conflicts", json_exact(s->conflicts));
    }
    if (s->has_resources)
        json_put(&out, "resources",
                 json_pack("[I, I, I]", (json_int_t)s->registers, (json_int_t)s->spill_bytes,
                           (json_int_t)s->shared_bytes));
    return out;
}

static at_status print(const options *o, const comparison *all, size_t count, const char *a_gpu,
                       const char *b_gpu, at_error *error)
{
    json_t *list = json_array(), *sides = json_array();
    for (size_t i = 0; i < count; i++) {
        json_append(&list, pack_comparison(&all[i]));
        json_append(&sides, json_pack("[o, o]", pack_side(all[i].a), pack_side(all[i].b)));
    }
    return page_show(
        o, "compare", 1, json_pack("{so}", "comparisons", list),
        json_pack("{so sb s[s, s]}", "sides", sides, "raced", (int)o->race, "gpus", a_gpu, b_gpu),
        error);
}

static at_status answer(const options *o, int *exit_code, at_error *error)
{
    side_file a = {0}, b = {0};
    comparison *all = NULL;
    course on = {.warm = o->run.race.warm_cache};
    size_t count = 0;
    at_status status = read_side(o->operands[0], &a, error);
    if (!status)
        status = read_side(o->operands[1], &b, error);
    if (!status) {
        all = memory_new(a.count + 1, sizeof *all);
        count = pair_up(&a, &b, all);
    }
    if (!status && count == 0)
        status = error_set(error, AT_USAGE, "%s and %s have no problem in common", o->operands[0],
                           o->operands[1]);
    double margin = o->run.race.tie_margin >= 0 ? o->run.race.tie_margin
                    : o->race                   ? race_margin
                                                : JUDGE_FILES_MARGIN;
    for (size_t i = 0; i < count && !status; i++) {
        if (o->race)
            status = race(o, &on, i, &all[i], margin, error);
        else
            all[i].found = judge_files(all[i].a, all[i].b, margin);
        if (!o->race && !status)
            count_sides(o, &all[i]);
        if (all[i].found.verdict == SLOWER && o->fail_on)
            *exit_code = EXIT_SLOWER;
    }
    if (!status)
        status = print(o, all, count, a.gpu, b.gpu, error);
    workers_close(&on.workers);
    free(all);
    side_file_deinit(&a);
    side_file_deinit(&b);
    return status;
}

const command cmd_compare = {
    .name = "compare",
    .operand = "A B",
    .operands_least = 2,
    .operands_most = 2,
    .summary = "Say what became faster or slower between two results",
    .options = "fail-on race device tie seed cache json",
    .chooses = "fail-on",
    .words = "slower",
    .answer = answer,
};
