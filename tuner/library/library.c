#include "library/library.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/nearest.h"
#include "base/thread_state.h"
#include "base/version.h"
#include "cuda/cuda.h"
#include "cuda/driver.h"
#include "library/pattern.h"
#include "library/tuning.h"
#include "record/folders.h"

const char *at_version(void)
{
    return version_text();
}

const char *at_status_name(at_status status)
{
    return status_name(status);
}

const char *at_rule_name(at_rule rule)
{
    return pick_rule_name((pick_rule)rule);
}

at_status library_refuse_null(const char *function, const char *argument, at_error *error)
{
    error_clear(error);
    return error_set(error, AT_USAGE, "%s: the argument '%s' is NULL", function, argument);
}

static at_status no_memory(at_error *error)
{
    return error_set(error, AT_NO_MEMORY, "out of memory");
}

/* ---- results ---- */

at_status at_open(const char *folder, at_results **out, at_error *error)
{
    if (!out)
        return library_refuse_null("at_open", "out", error);
    *out = NULL;
    error_clear(error);
    at_results *results = calloc(1, sizeof *results);
    if (!results)
        return no_memory(error);
    results->tunings = tunings_new();
    results->folder = folder ? strdup(folder) : NULL;
    if (!results->tunings || (folder && !results->folder)) {
        at_close(results);
        return no_memory(error);
    }
    paths own;
    record_folders folders;
    thread_state callers;
    at_status status = thread_state_plain(&callers, error);
    if (!status) {
        record_folders_find(folder, library_find_share(&own) ? &own : NULL, &folders);
        status = record_search(&folders, NULL, &results->all, error);
        thread_state_restore(&callers);
    }
    if (status)
        at_close(results);
    else
        *out = results;
    return status;
}

void at_close(at_results *results)
{
    if (!results)
        return;
    tunings_free(results->tunings);
    record_set_deinit(&results->all);
    free(results->folder);
    free(results);
}

const char *at_results_problem(const at_results *results, size_t index)
{
    return results && index < results->all.faults.count ? results->all.faults.items[index].text
                                                        : NULL;
}

/* ---- the GPU at hand ---- */

enum { MOST_DEVICES = 64 };

at_status library_current_device(device_properties *out, at_error *error)
{
    cuda_driver cuda = {0};
    CUdevice current;
    size_t count;
    device_properties *list = NULL;
    at_status status = cuda_driver_open(&cuda, error);
    if (status)
        return status;
    status = cuda_check(&cuda, cuda.cuCtxGetDevice(&current), AT_NO_DEVICE,
                        "no CUDA context is current in this thread", error);
    if (status)
        goto cleanup;
    list = calloc(MOST_DEVICES, sizeof *list);
    if (!list) {
        status = no_memory(error);
        goto cleanup;
    }
    /* The driver's device handles are its ordinals. */
    status = device_cuda_api.list(list, MOST_DEVICES, &count, error);
    if (!status && (current < 0 || (size_t)current >= count))
        status = error_set(error, AT_NO_DEVICE, "the current context's GPU is not listed");
    if (!status)
        *out = list[current];
cleanup:
    free(list);
    cuda_driver_close(&cuda);
    return status;
}

static at_gpu gpu_of(const arch_limits *limits)
{
    at_gpu gpu = {.major = limits->major, .minor = limits->minor};
    snprintf(gpu.name, sizeof gpu.name, "%s", limits->name);
    return gpu;
}

at_status at_current_gpu(at_gpu *out, at_error *error)
{
    device_properties p;
    if (!out)
        return library_refuse_null("at_current_gpu", "out", error);
    error_clear(error);
    thread_state callers;
    at_status status = thread_state_plain(&callers, error);
    if (status)
        return status;
    status = library_current_device(&p, error);
    thread_state_restore(&callers);
    if (!status)
        *out = gpu_of(&p.limits);
    return status;
}

/* ---- picking ---- */

/* A copy of the text that lives as long as the choice. */
static const char *keep_text(at_choice *c, const char *text)
{
    char *copy = strdup(text);
    if (copy)
        c->texts[c->text_count++] = copy;
    return copy;
}

static at_status to_value(at_choice *c, const at_variable *v, value *out, at_error *error)
{
    switch (v->kind) {
    case AT_KIND_INTEGER:
        *out = (value){.kind = VALUE_INTEGER, .integer = v->integer};
        return AT_OK;
    case AT_KIND_NUMBER:
        *out = (value){.kind = VALUE_NUMBER, .number = v->number};
        return AT_OK;
    case AT_KIND_BOOLEAN:
        *out = (value){.kind = VALUE_BOOLEAN, .boolean = v->integer != 0};
        return AT_OK;
    case AT_KIND_TEXT:
        if (!v->text)
            return error_set(error, AT_USAGE,
                             "the problem's variable '%.80s' is a text that is NULL", v->name);
        *out = (value){.kind = VALUE_STRING, .string = keep_text(c, v->text)};
        return out->string ? AT_OK : no_memory(error);
    }
    return error_set(error, AT_USAGE,
                     "the problem's variable '%.80s' has a kind that does not exist (%d)", v->name,
                     (int)v->kind);
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

static at_status copy_problem(at_choice *c, const at_variable *problem, size_t count,
                              at_error *error)
{
    c->problem.pairs = calloc(count + 1, sizeof *c->problem.pairs);
    c->texts = calloc(2 * count + 2 * RECORD_MAX_VALUES + 1, sizeof *c->texts);
    if (!c->problem.pairs || !c->texts)
        return no_memory(error);
    for (size_t i = 0; i < count; i++) {
        record_pair *p = &c->problem.pairs[i];
        if (!problem[i].name)
            return error_set(error, AT_USAGE, "variable %zu of the problem has no name", i + 1);
        p->name = keep_text(c, problem[i].name);
        if (!p->name)
            return no_memory(error);
        at_status status = to_value(c, &problem[i], &p->value, error);
        if (status)
            return status;
        c->problem.count++;
    }
    return AT_OK;
}

static at_status copy_records(at_choice *c, const at_results *results, at_error *error)
{
    const tuned_records *tuned = tunings_records(results->tunings);
    size_t most = results->all.count;
    for (const tuned_records *t = tuned; t; t = t->next)
        most += t->set.count;
    c->records.records = calloc(most + 1, sizeof *c->records.records);
    if (!c->records.records)
        return no_memory(error);
    for (; tuned; tuned = tuned->next)
        for (size_t i = 0; i < tuned->set.count && strcmp(tuned->pattern, c->pattern) == 0; i++)
            c->records.records[c->records.count++] = tuned->set.records[i];
    for (size_t i = 0; i < results->all.count; i++)
        if (strcmp(results->all.records[i].pattern, c->pattern) == 0)
            c->records.records[c->records.count++] = results->all.records[i];
    const char *problem = at_results_problem(results, 0);
    if (c->records.count == 0)
        return error_set(error, AT_NOT_FOUND, "there are no results for '%s'%s%.1000s", c->pattern,
                         problem ? "; what could not be read: " : "", problem ? problem : "");
    return AT_OK;
}

/* The texts of a script's default die with it. */
static at_status keep_default(at_choice *c, const pattern *p, at_error *error)
{
    c->fallback = library_default(p, c->defaults);
    for (size_t i = 0; i < c->fallback.count; i++) {
        record_pair *pair = &c->defaults[i];
        pair->name = keep_text(c, pair->name);
        if (pair->name && pair->value.kind == VALUE_STRING)
            pair->value.string = keep_text(c, pair->value.string);
        if (!pair->name || (pair->value.kind == VALUE_STRING && !pair->value.string))
            return no_memory(error);
    }
    return AT_OK;
}

static at_status choose_checked(at_choice *c, script *s, pick_target *target, pick_candidate *found,
                                at_error *error)
{
    library_check check = {.script = s};
    target->fits = library_fits;
    target->ask = library_ask;
    target->context = &check;
    c->checked = true;
    at_status status = keep_default(c, script_pattern(s), error);
    if (status)
        return status;
    target->fallback = &c->fallback;
    c->rule = pick(&c->records, target, found);
    return c->rule != PICK_NONE ? AT_OK : library_refuse(c, s, error);
}

static at_status choose(at_choice *c, const arch_limits *limits, at_error *error)
{
    pick_target target = {
        .gpu = c->gpu.name, .major = c->gpu.major, .minor = c->gpu.minor, .problem = &c->problem};
    pick_candidate found = {.rule = PICK_NONE};
    script *s = NULL;
    at_error none = {0};
    at_status status = limits ? library_load_script(c, NULL, limits, &s, &none) : AT_NOT_FOUND;
    if (status == AT_NO_MEMORY)
        return no_memory(error);
    if (!status && script_pattern(s)->parameter_count <= RECORD_MAX_VALUES) {
        status = choose_checked(c, s, &target, &found, error);
    } else {
        status = AT_OK;
        c->rule = pick(&c->records, &target, &found);
    }
    script_free(s);
    if (status)
        return status;
    c->entry = found.entry;
    c->from = found.from;
    c->values = found.configuration;
    if (!c->values)
        return error_set(error, AT_NOT_FOUND,
                         "no result of '%s' is for a GPU like %s, and its default is not recorded",
                         c->pattern, c->gpu.name);
    record_format_values(c->values, c->text, sizeof c->text);
    return AT_OK;
}

static at_status choose_for(at_choice *c, const at_results *results, const char *pattern_name,
                            const at_gpu *gpu, const at_variable *problem, size_t problem_count,
                            at_error *error)
{
    at_status status = AT_OK;
    device_properties here = {0};
    bool has_limits = true;
    c->pattern = strdup(pattern_name);
    if (!c->pattern) {
        status = no_memory(error);
    } else if (gpu) {
        c->gpu = *gpu;
        c->gpu.name[sizeof c->gpu.name - 1] = '\0'; /* the caller's may fill its array */
        has_limits = !arch_of_gpu(c->gpu.name, c->gpu.major, c->gpu.minor, &here.limits, NULL);
    } else {
        status = library_current_device(&here, error);
        c->gpu = gpu_of(&here.limits);
    }
    if (!status)
        status = copy_problem(c, problem, problem_count, error);
    if (!status)
        status = copy_records(c, results, error);
    return status ? status : choose(c, has_limits ? &here.limits : NULL, error);
}

at_status at_pick(const at_results *results, const char *pattern_name, const at_gpu *gpu,
                  const at_variable *problem, size_t problem_count, at_choice **out,
                  at_error *error)
{
    if (!out)
        return library_refuse_null("at_pick", "out", error);
    *out = NULL;
    if (!results || !pattern_name || (!problem && problem_count > 0))
        return library_refuse_null("at_pick",
                                   !results        ? "results"
                                   : !pattern_name ? "pattern"
                                                   : "problem",
                                   error);
    error_clear(error);
    if (problem_count > RECORD_MAX_VALUES)
        return error_set(error, AT_USAGE, "a problem has %d variables at most", RECORD_MAX_VALUES);
    at_choice *c = calloc(1, sizeof *c);
    if (!c)
        return no_memory(error);
    thread_state callers;
    at_status status = thread_state_plain(&callers, error);
    if (!status) {
        tunings_look(results);
        status = choose_for(c, results, pattern_name, gpu, problem, problem_count, error);
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
    for (size_t i = 0; i < c->text_count; i++)
        free(c->texts[i]);
    free(c->texts);
    free(c->problem.pairs);
    free(c->records.records);
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
    return c && c->entry ? c->entry->time_ns : 0;
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
        return library_refuse_null("at_choice_get", !c ? "choice" : !name ? "name" : "out", error);
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
