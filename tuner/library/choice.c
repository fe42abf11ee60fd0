/* Picks the configuration of a pattern for a problem and a GPU; tunes problems without a record. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/text.h"
#include "library/library.h"
#include "library/tuning.h"

/* Copies named values with their texts into one block, which free(out->pairs) frees. */
static at_status copy_values(const record_pair *from, size_t count, record_values *out,
                             at_error *error)
{
    size_t text_bytes = 1;
    for (size_t i = 0; i < count; i++)
        text_bytes += strlen(from[i].name) + 1 +
                      (from[i].value.kind == VALUE_STRING ? strlen(from[i].value.string) + 1 : 0);
    out->pairs = malloc(count * sizeof *out->pairs + text_bytes);
    if (!out->pairs)
        return error_no_memory(error);
    char *text = (char *)&out->pairs[count];
    for (; out->count < count; out->count++) {
        record_pair *pair = &out->pairs[out->count];
        *pair = from[out->count];
        pair->name = text;
        text = stpcpy(text, from[out->count].name) + 1;
        if (pair->value.kind != VALUE_STRING)
            continue;
        pair->value.string = text;
        text = stpcpy(text, from[out->count].value.string) + 1;
    }
    return AT_OK;
}

static at_variable from_pair(const record_pair *p)
{
    switch (p->value.kind) {
    case VALUE_INTEGER:
        return at_integer(p->name, p->value.integer);
    case VALUE_NUMBER:
        return at_number(p->name, p->value.number);
    case VALUE_BOOLEAN:
        return at_boolean(p->name, p->value.boolean);
    case VALUE_STRING:
        break;
    }
    return at_text(p->name, p->value.string);
}

static at_status refuse_unknown(const at_choice *c, const at_results *results, at_error *error)
{
    const char *problem = at_results_problem(results, 0);
    return error_set(error, AT_NOT_FOUND, "there are no results for '%s'%s%.1000s", c->pattern,
                     problem ? "; a file could not be read: " : "", problem ? problem : "");
}

static const char *kind_words(value_kind kind)
{
    return kind == VALUE_INTEGER   ? "an integer"
           : kind == VALUE_NUMBER  ? "a number"
           : kind == VALUE_BOOLEAN ? "a boolean"
                                   : "a text";
}

static at_status refuse_name(const at_choice *c, const char *name, const char *const *names,
                             size_t count, at_error *error)
{
    char all[512] = "";
    const char *nearest = nearest_name(name, names, count);
    for (size_t i = 0; i < count; i++)
        text_add(all, sizeof all, "%s%.80s", i ? ", " : "", names[i]);
    return error_set(
        error, AT_USAGE, "the problem of '%s' has no variable '%.80s'%s%s%s; it has %s", c->pattern,
        name, nearest ? " (did you mean '" : "", nearest ? nearest : "", nearest ? "'?)" : "", all);
}

static at_status refuse_value(const at_choice *c, const record_pair *given, value is,
                              at_error *error)
{
    char text[LIBRARY_VALUE_BYTES], example[LIBRARY_VALUE_BYTES];
    value_format(given->value, text, sizeof text);
    value_format(is, example, sizeof example);
    return error_set(error, AT_USAGE,
                     "'%.80s' of the problem of '%s' is %s %.80s; it must be %s that the script "
                     "allows, such as %.80s",
                     given->name, c->pattern, kind_words(given->value.kind), text,
                     kind_words(is.kind), example);
}

/* Returns whether two values have the same kind. Integers and numbers may stand for each other. */
static bool is_of_kind(value v, value is)
{
    return v.kind == is.kind || (value_is_number(v) && value_is_number(is));
}

/* Lists the variables of the recorded problems, for a pattern without a script. */
static size_t recorded_variables(const pick_table *t, record_pair out[RECORD_MAX_VALUES])
{
    size_t count = 0;
    for (size_t r = 0; r < t->record_count; r++)
        for (size_t e = 0; e < t->records[r].from->entry_count; e++) {
            const record_values *problem = &t->records[r].from->entries[e].problem;
            for (size_t i = 0; i < problem->count; i++) {
                size_t k = 0;
                while (k < count && strcmp(out[k].name, problem->pairs[i].name) != 0)
                    k++;
                if (k == count && count < RECORD_MAX_VALUES)
                    out[count++] = problem->pairs[i];
            }
        }
    return count;
}

/* Checks the choice's problem against the variables of the script, or of the records without a
 * script. Sets the script's problem to the converted values; `to` holds its variables, which borrow
 * from `texts`. AT_USAGE if a name or a value is refused. */
static at_status set_problem(const at_choice *c, const pattern_view *view,
                             char texts[][LIBRARY_VALUE_BYTES], pattern_variable *to,
                             at_error *error)
{
    record_pair known[RECORD_MAX_VALUES];
    const char *names[RECORD_MAX_VALUES];
    const pattern *p = view->script ? script_pattern(view->script) : NULL;
    const size_t count = p ? p->problem_count : recorded_variables(&c->records->table, known);
    for (size_t i = 0; i < count; i++) {
        if (p) {
            to[i] = view->problem[i];
            known[i] = (record_pair){to[i].name, to[i].value};
        }
        names[i] = known[i].name;
    }
    for (size_t i = 0; (p || count) && i < c->problem.count; i++) {
        const record_pair *given = &c->problem.pairs[i];
        size_t k = 0;
        while (k < count && strcmp(names[k], given->name) != 0)
            k++;
        if (k == count)
            return refuse_name(c, given->name, names, count, error);
        value_format(given->value, texts[i], LIBRARY_VALUE_BYTES);
        if (!is_of_kind(given->value, known[k].value) ||
            (p && !library_parse_setting(p, k, texts[i], &to[k].value)))
            return refuse_value(c, given, known[k].value, error);
    }
    return p ? script_set_problem(view->script, PROBLEM_TUNED, to, count, error) : AT_OK;
}

static at_status choose(at_choice *c, const pattern_view *view, at_error *error)
{
    char texts[RECORD_MAX_VALUES][LIBRARY_VALUE_BYTES];
    pattern_variable problem[PATTERN_MAX_VARIABLES];
    record_pair defaults[RECORD_MAX_VALUES];
    library_check check = {.script = view->script};
    pick_target target = {
        .gpu = c->gpu.name, .major = c->gpu.major, .minor = c->gpu.minor, .problem = &c->problem};
    pick_candidate found = {.rule = PICK_NONE};
    at_status status = set_problem(c, view, texts, problem, error);
    c->checked = view->script != NULL;
    if (!status && c->checked) {
        const record_values fallback = library_default(script_pattern(view->script), defaults);
        status = copy_values(fallback.pairs, fallback.count, &c->fallback, error);
        target.fits = library_fits;
        target.ask = library_feature;
        target.context = &check;
        target.fallback = &c->fallback;
    }
    if (status)
        return status;
    c->rule = pick_from(&c->records->table, &target, &found);
    if (found.lacks_memory)
        return error_no_memory(error);
    if (c->checked && c->rule == PICK_NONE)
        return library_refuse_default(c, view->script, error);
    c->time_ns = found.entry ? found.entry->time_ns : 0;
    c->from = found.from;
    c->values = found.configuration;
    if (!c->values)
        return error_set(error, AT_NOT_FOUND,
                         "no result of '%s' is for a GPU like %s, and its default is not recorded: "
                         "tune it on this GPU",
                         c->pattern, c->gpu.name);
    record_format_values(c->values, c->text, sizeof c->text);
    return AT_OK;
}

static at_status choose_for(at_choice *c, at_results *results, const char *pattern_name,
                            const at_gpu *gpu, const at_variable *problem, size_t problem_count,
                            at_error *error)
{
    pattern_view view;
    arch_limits named;
    const arch_limits *limits = NULL;
    const device_properties *current;
    record_pair given[RECORD_MAX_VALUES];
    c->pattern = strdup(pattern_name);
    if (!c->pattern)
        return error_no_memory(error);
    at_status status = AT_OK;
    if (gpu) {
        c->gpu = *gpu;
        c->gpu.name[sizeof c->gpu.name - 1] = '\0'; /* The name from the caller may lack a NUL. */
        if (!arch_of_gpu(c->gpu.name, c->gpu.major, c->gpu.minor, &named, NULL))
            limits = &named;
    } else {
        status = library_device_of(results, &current, error);
        if (!status) {
            limits = &current->limits;
            c->gpu = library_gpu_of(limits);
        }
    }
    for (size_t i = 0; i < problem_count; i++)
        given[i] = (record_pair){problem[i].name, argument_value(&problem[i])};
    if (!status)
        status = copy_values(given, problem_count, &c->problem, error);
    if (!status)
        status = patterns_enter(&results->known, pattern_name, limits, &view, error);
    if (status)
        return status;
    c->records = pattern_records_keep(view.records);
    status = c->records->table.record_count == 0 ? refuse_unknown(c, results, error)
                                                 : choose(c, &view, error);
    patterns_leave(&view);
    return status;
}

at_status at_pick(const at_results *results, const char *pattern_name, const at_gpu *gpu,
                  const at_variable *problem, size_t problem_count, at_choice **out,
                  at_error *error)
{
    if (!out)
        return argument_refuse_null("at_pick", "out", error);
    *out = NULL;
    at_status status =
        argument_check_problem("at_pick", results, pattern_name, problem, problem_count, error);
    if (status)
        return status;
    at_choice *c = calloc(1, sizeof *c);
    if (!c)
        return error_no_memory(error);
    thread_state callers;
    status = thread_state_reset(&callers, error);
    if (!status) {
        tunings_update(results);
        status = choose_for(c, (at_results *)(uintptr_t)results, pattern_name, gpu, problem,
                            problem_count, error);
        thread_state_restore(&callers);
    }
    if (status)
        at_choice_free(c);
    else
        *out = c;
    return status;
}

void at_choice_free(at_choice *c)
{
    if (!c)
        return;
    free(c->problem.pairs);
    free(c->fallback.pairs);
    pattern_records_release(c->records);
    free(c->pattern);
    free(c);
}

at_rule at_choice_rule(const at_choice *c)
{
    return c ? (at_rule)c->rule : AT_RULE_DEFAULT;
}

int at_choice_checked(const at_choice *c)
{
    return c ? c->checked : 0;
}

const char *at_choice_gpu(const at_choice *c)
{
    return c && c->from ? c->from->gpu : "";
}

int64_t at_choice_time_ns(const at_choice *c)
{
    return c ? c->time_ns : 0;
}

const char *at_choice_text(const at_choice *c)
{
    return c ? c->text : "";
}

size_t at_choice_count(const at_choice *c)
{
    return c ? c->values->count : 0;
}

at_variable at_choice_at(const at_choice *c, size_t index)
{
    return index < at_choice_count(c) ? from_pair(&c->values->pairs[index]) : at_integer("", 0);
}

at_status at_choice_get(const at_choice *c, const char *name, at_variable *out, at_error *error)
{
    const char *names[RECORD_MAX_VALUES];
    if (!c || !name || !out)
        return argument_refuse_null("at_choice_get", !c ? "choice" : !name ? "name" : "out", error);
    error_clear(error);
    for (size_t i = 0; i < c->values->count; i++) {
        names[i] = c->values->pairs[i].name;
        if (strcmp(names[i], name) == 0) {
            *out = from_pair(&c->values->pairs[i]);
            return AT_OK;
        }
    }
    const char *nearest = nearest_name(name, names, c->values->count);
    return error_set(error, AT_NOT_FOUND, "'%s' has no parameter '%.80s'%s%s%s", c->pattern, name,
                     nearest ? "; did you mean '" : "", nearest ? nearest : "",
                     nearest ? "'?" : "");
}

/* The time between two polls of at_tune_wait(). */
enum { WAIT_NS = 20 * 1000000 };

/* Makes the tuning for a call, on the current GPU. The caller frees `*out` in any case. */
static at_status make(const at_results *results, const char *pattern_name,
                      const at_variable *problem, size_t count, tuning **out, at_error *error)
{
    const device_properties *current;
    *out = NULL;
    at_status status = library_device_of((at_results *)(uintptr_t)results, &current, error);
    return status ? status : tuning_new(pattern_name, problem, count, current, out, error);
}

static at_status ask_pick(const at_results *results, const char *pattern_name,
                          const at_variable *problem, size_t count, bool *known, at_error *error)
{
    at_choice *choice = NULL;
    at_status status = at_pick(results, pattern_name, NULL, problem, count, &choice, error);
    *known = !status && at_choice_rule(choice) == AT_RULE_EXACT;
    at_choice_free(choice);
    return error_ignore(status, AT_NOT_FOUND, error);
}

at_status at_tune(const at_results *results, const char *pattern_name, const at_variable *problem,
                  size_t problem_count, const at_tune_options *options, at_error *error)
{
    thread_state callers;
    tuning *t = NULL;
    at_error own = {0};
    bool known = false;
    error = error ? error : &own;
    at_status status =
        argument_check_problem("at_tune", results, pattern_name, problem, problem_count, error);
    if (!status)
        status = thread_state_reset(&callers, error);
    if (status)
        return status;
    status = make(results, pattern_name, problem, problem_count, &t, error);
    if (!status && !tunings_contain(results->tunings, t)) {
        status = ask_pick(results, pattern_name, problem, problem_count, &known, error);
        if (!status)
            status = tunings_add(results, &t, known, options, error);
    }
    tuning_free(t);
    thread_state_restore(&callers);
    return status;
}

at_status at_tune_wait(const at_results *results, const char *pattern_name,
                       const at_variable *problem, size_t problem_count, int64_t wait_ns,
                       at_tune_state *out, at_error *error)
{
    thread_state callers;
    tuning *t = NULL;
    if (!out)
        return argument_refuse_null("at_tune_wait", "out", error);
    at_status status = argument_check_problem("at_tune_wait", results, pattern_name, problem,
                                              problem_count, error);
    if (!status)
        status = thread_state_reset(&callers, error);
    if (status)
        return status;
    int64_t begun_ns = clock_now_ns();
    status = make(results, pattern_name, problem, problem_count, &t, error);
    while (!status) {
        *out = tunings_state(results->tunings, t, error);
        if (!tuning_is_open(*out) || clock_now_ns() - begun_ns >= wait_ns)
            break;
        nanosleep(&(struct timespec){.tv_nsec = WAIT_NS}, NULL);
    }
    tuning_free(t);
    thread_state_restore(&callers);
    return status;
}
