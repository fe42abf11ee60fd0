/* autotune compare: lists problems that became faster or slower between records, runs, journals. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "base/json_text.h"
#include "base/memory.h"
#include "cmd/line/known.h"
#include "cmd/line/options.h"
#include "cmd/line/page.h"
#include "cmd/results/judge.h"
#include "cmd/variant/explained.h"
#include "history/recorded.h"
#include "record/record.h"
#include "run/race/side_by_side.h"
#include "run/setup/session.h"
#include "run/setup/setup.h"
#include "script/render.h"

enum { EXIT_SLOWER = 6, TEXT_BYTES = 512 };

/* Kernels count as equal if their relative difference in a race is smaller. */
static const double race_margin = 0.0025;

/* Runs a step of lua/commands/compare.lua. Takes over `given`, and adds the name of the step. */
static at_status compute(const char *step, const char *path, json_t *given, json_t **out,
                         at_error *error)
{
    json_put(&given, "step", json_string(step));
    at_status status = script_compute("commands.compare", path, given, out, error);
    json_decref(given);
    return status;
}

/* Reads each problem's best, as {gpu, subjects}, from a record, run, journal or another tool. */
static at_status read_side(const char *path, json_t **out, at_error *error)
{
    record_set set = {.records = memory_new(1, sizeof *set.records), .count = 1};
    json_t *source;
    at_status status = record_read(path, set.records, error);
    if (!status) {
        json_t *records = known_pack(NULL, &set);
        json_t *one = json_incref(json_array_get(records, 0));
        json_decref(records);
        status = compute("read", path, json_pack("{so}", "record", one), out, error);
        record_set_deinit(&set);
        return status;
    }
    free(set.records);
    if (status != AT_FORMAT)
        return status;
    const at_error as_record = *error;
    error_clear(error);
    status = recorded_open(path, &source, error);
    if (!status)
        status = compute("read", path, json_pack("{so}", "source", source), out, error);
    /* For a damaged record, the error of reading it as a record says what is wrong. */
    if (!status && json_is_true(json_object_get(*out, "is_record"))) {
        *error = as_record;
        status = as_record.status;
    }
    return status;
}

static const char *text_of(const json_t *object, const char *name)
{
    return json_string_value(json_object_get(object, name));
}

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
        status = script_launch_plan(s->script, PROBLEM_TUNED, indices, &out->launch, error);
    }
    if (!status)
        status = emit_variant(s->script, PROBLEM_TUNED, indices, true, &source, error);
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

/* workers of all races, so that the GPU is opened and its clocks are raised only once */
typedef struct race_workers {
    workers workers;
    bool warm;
} race_workers;

static void put_ratio(json_t *c, ratio found)
{
    json_object_set_new(c, "verdict", json_string(judge_name(found.verdict)));
    json_object_set_new(c, "low", json_real(found.low));
    json_object_set_new(c, "high", json_real(found.high));
}

static at_status race(const options *o, race_workers *on, size_t place, json_t *c, double margin,
                      at_error *error)
{
    settings wanted = o->run;
    session s = {0};
    compile_result results[2] = {0};
    side *sides = memory_new(2, sizeof *sides);
    device_ready ready;
    char problem[TEXT_BYTES];
    const json_t *a = json_object_get(c, "a"), *b = json_object_get(c, "b");
    snprintf(problem, sizeof problem, "%s", text_of(a, "problem"));
    wanted.race.warm_cache = wanted.race.warm_cache || strstr(problem, " (warm)");
    problem[strcspn(problem, " ")] = '\0';
    wanted.pattern.script = text_of(a, "pattern");
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
        status = compile_side(&s, text_of(a, "configuration"), &results[0], &sides[0], error);
    if (!status)
        status = compile_side(&s, text_of(b, "configuration"), &results[1], &sides[1], error);
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
        put_ratio(c, judge_samples(sides[0].samples_ns, sides[1].samples_ns, blocks, ready.tick_ns,
                                   margin));
    }
    for (int i = 0; i < 2; i++) {
        side_deinit(&sides[i]);
        compile_result_deinit(&results[i]);
    }
    free(sides);
    session_deinit(&s);
    return status;
}

/* Counts sectors, conflicts, registers and spills of a winner on a simulated device. Returns false
 * if the winner cannot be counted, for example if its pattern is missing. */
static bool count_subject(const options *o, json_t *s)
{
    explained x = {0};
    at_error ignored = {0};
    settings wanted = o->run;
    char problem[TEXT_BYTES];
    double sectors = 0, conflicts = 0;
    snprintf(problem, sizeof problem, "%s", text_of(s, "problem"));
    problem[strcspn(problem, " ")] = '\0';
    wanted.pattern.script = text_of(s, "pattern");
    wanted.machine.arch = text_of(s, "arch");
    at_status status =
        *wanted.pattern.script && *problem ? set_problem(&wanted, problem, &ignored) : AT_NOT_FOUND;
    if (!status)
        status = explained_count(&wanted, text_of(s, "configuration"), true, &x, &ignored);
    const bool is_counted = !status && !explained_faulted(&x);
    for (uint32_t i = 0; is_counted && i < x.launch.launch_count; i++) {
        const sim_totals *t = &x.launches[i].found.profile.totals;
        double scale = x.launches[i].explanation.scale * plan_rounds(&x.launch, i);
        sectors += scale * (double)(t->global_load.sectors + t->async_copy.sectors +
                                    t->global_store.sectors);
        conflicts += scale * (double)(t->shared_load.conflicts + t->shared_store.conflicts);
    }
    if (is_counted) {
        const json_t *known = json_object_get(s, "resources");
        const json_int_t shared_bytes = json_integer_value(json_array_get(known, 2));
        const kernel_resources *r = &x.compiled.resources;
        json_object_set_new(s, "counts",
                            json_pack("{so so}", "sectors", json_exact(sectors), "conflicts",
                                      json_exact(conflicts)));
        json_object_set_new(s, "resources",
                            json_pack("[I, I, I]", (json_int_t)r->registers,
                                      (json_int_t)r->spill_store_bytes + r->spill_load_bytes,
                                      shared_bytes));
    }
    explained_deinit(&x);
    return is_counted;
}

/* Counts both sides unless their configurations, and so their counts, are equal. */
static void count_sides(const options *o, const json_t *c)
{
    json_t *a = json_object_get(c, "a"), *b = json_object_get(c, "b");
    if (strcmp(text_of(a, "configuration"), text_of(b, "configuration")) != 0 &&
        count_subject(o, a))
        count_subject(o, b);
}

static at_status answer(const options *o, int *exit_code, at_error *error)
{
    json_t *a = NULL, *b = NULL, *all = NULL;
    race_workers on = {.warm = o->run.race.warm_cache};
    const double margin = o->run.race.tie_margin;
    at_status status = read_side(o->operands[0], &a, error);
    if (!status)
        status = read_side(o->operands[1], &b, error);
    if (!status)
        status = compute("pair", NULL,
                         json_pack("{sO sO so}", "a", a, "b", b, "margin",
                                   margin >= 0 ? json_real(margin) : json_null()),
                         &all, error);
    if (!status && json_array_size(all) == 0)
        status = error_set(error, AT_USAGE,
                           "nothing can be compared: %s and %s have no problem in common",
                           o->operands[0], o->operands[1]);
    for (size_t i = 0; i < json_array_size(all) && !status; i++) {
        json_t *one = json_array_get(all, i);
        if (o->race)
            status = race(o, &on, i, one, margin >= 0 ? margin : race_margin, error);
        else
            count_sides(o, one);
        if (o->fail_on && strcmp(text_of(one, "verdict"), "SLOWER") == 0)
            *exit_code = EXIT_SLOWER;
    }
    if (!status)
        status = page_answer(o, "compare", 1, NULL,
                             json_pack("{ss sO sb s[s, s]}", "step", "print", "comparisons", all,
                                       "is_raced", (int)o->race, "gpus", text_of(a, "gpu"),
                                       text_of(b, "gpu")),
                             error);
    workers_close(&on.workers);
    json_decref(all);
    json_decref(a);
    json_decref(b);
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
