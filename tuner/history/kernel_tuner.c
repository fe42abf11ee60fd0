/* Kernel Tuner's cache files: one member of "cache" for each configuration, named by its values.
 *
 * Described in Kernel Tuner's documentation ("Cache files"). A configuration that failed has a text
 * ("InvalidConfig", "CompilationFailedConfig", "RuntimeFailedConfig") in the place of its cost. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_text.h"
#include "history/recorded.h"

/* How Kernel Tuner calls outcomes; the first of an outcome is the one written. */
static const struct {
    const char *name;
    outcome outcome;
} failures[] = {
    {"InvalidConfig", OUTCOME_REJECTED},
    {"CompilationFailedConfig", OUTCOME_COMPILE_ERROR},
    {"RuntimeFailedConfig", OUTCOME_LAUNCH_ERROR},
    {"RuntimeFailedConfig", OUTCOME_WRONG_RESULT},
    {"RuntimeFailedConfig", OUTCOME_CRASHED},
    {"RuntimeFailedConfig", OUTCOME_TIMEOUT},
};

enum { FAILURE_COUNT = sizeof failures / sizeof *failures };

static bool detect(const json_t *root)
{
    return json_is_object(json_object_get(root, "cache"));
}

static outcome failure_of(const json_t *cost)
{
    const char *name = json_string_value(cost);
    for (size_t i = 0; name && i < FAILURE_COUNT; i++)
        if (strcmp(name, failures[i].name) == 0)
            return failures[i].outcome;
    return OUTCOME_LAUNCH_ERROR;
}

static double number_or_zero(const json_t *object, const char *name)
{
    double v = json_number_value(json_object_get(object, name));
    return isfinite(v) && v > 0 ? v : 0;
}

static at_status read_samples(const json_t *list, recorded_result *result, at_error *error)
{
    size_t count = json_array_size(list);
    if (count == 0)
        return AT_OK;
    result->samples_ms = calloc(count, sizeof *result->samples_ms);
    if (!result->samples_ms)
        return error_set(error, AT_NO_MEMORY, "no memory for recorded measurements");
    result->sample_count = count;
    for (size_t i = 0; i < count; i++)
        result->samples_ms[i] = json_number_value(json_array_get(list, i));
    return AT_OK;
}

static at_status read_entry(recorded *out, const char *key, const json_t *entry, const char *path,
                            at_error *error)
{
    recorded_result *result = recorded_add(out);
    if (!result)
        return error_set(error, AT_NO_MEMORY, "no memory for recorded measurements");
    for (size_t p = 0; p < out->parameter_count; p++) {
        const json_t *v = json_object_get(entry, out->names[p]);
        if (!v || !json_to_value(v, &result->values[p]))
            return error_set_at(error, AT_FORMAT, path, 0, "'%s' has no value for '%s'", key,
                                out->names[p]);
    }
    const json_t *cost = json_object_get(entry, out->objective);
    double v = json_number_value(cost);
    bool ok = json_is_number(cost) && isfinite(v) && v > 0;
    result->outcome = ok ? OUTCOME_OK : failure_of(cost);
    result->cost = ok ? v : INFINITY;
    result->compile_ms = number_or_zero(entry, "compile_time");
    result->check_ms = number_or_zero(entry, "verification_time");
    result->run_ms = number_or_zero(entry, "benchmark_time");
    result->timestamp = json_string_value(json_object_get(entry, "timestamp"));
    return read_samples(json_object_get(entry, "times"), result, error);
}

static at_status read_names(recorded *out, const char *path, at_error *error)
{
    const char *names[RECORDED_MAX_PARAMETERS];
    const json_t *keys = json_object_get(out->root, "tune_params_keys");
    size_t count = json_array_size(keys);
    if (count == 0 || count > RECORDED_MAX_PARAMETERS)
        return error_set_at(error, AT_FORMAT, path, 0, "'tune_params_keys' lists no parameters");
    for (size_t p = 0; p < count; p++) {
        names[p] = json_string_value(json_array_get(keys, p));
        if (!names[p])
            return error_set_at(error, AT_FORMAT, path, 0,
                                "'tune_params_keys' holds something that is no name");
    }
    return recorded_set_names(out, names, count, error);
}

static const char *text_or(const json_t *object, const char *name, const char *otherwise)
{
    const char *text = json_string_value(json_object_get(object, name));
    return text ? text : otherwise;
}

static at_status read_cache(recorded *out, const char *path, at_error *error)
{
    at_status status = read_names(out, path, error);
    out->device = text_or(out->root, "device_name", "");
    out->kernel = text_or(out->root, "kernel_name", "");
    out->objective = text_or(out->root, "objective", "time");
    const char *key;
    json_t *entry;
    json_object_foreach(json_object_get(out->root, "cache"), key, entry)
    {
        if (!status)
            status = read_entry(out, key, entry, path, error);
    }
    return status;
}

static const char *failure_name(outcome o)
{
    for (size_t i = 0; i < FAILURE_COUNT; i++)
        if (failures[i].outcome == o)
            return failures[i].name;
    return "RuntimeFailedConfig";
}

/* Python's str() of each value, with commas between: what Kernel Tuner looks configurations up by.
 */
static bool format_key(const recorded *r, const recorded_result *result, char *key,
                       size_t size_bytes)
{
    size_t used = 0;
    for (size_t p = 0; p < r->parameter_count; p++) {
        value v = result->values[p];
        char text[1024];
        if (v.kind == VALUE_BOOLEAN)
            snprintf(text, sizeof text, "%s", v.boolean ? "True" : "False");
        else
            value_format(v, text, sizeof text);
        int n = snprintf(key + used, size_bytes - used, "%s%s", p ? "," : "", text);
        if (n < 0 || (size_t)n >= size_bytes - used)
            return false;
        used += (size_t)n;
    }
    return true;
}

static json_t *write_entry(const recorded *r, const recorded_result *result)
{
    json_t *times = json_array();
    json_t *entry = json_object();
    int bad = 0;
    for (size_t i = 0; i < result->sample_count; i++)
        bad |= json_array_append_new(times, json_real(result->samples_ms[i]));
    for (size_t p = 0; p < r->parameter_count; p++)
        bad |= json_object_set_new(entry, r->names[p], json_from_value(result->values[p]));
    bad |= json_object_set_new(entry, r->objective,
                               result->outcome == OUTCOME_OK
                                   ? json_real(result->cost)
                                   : json_string(failure_name(result->outcome)));
    if (result->outcome != OUTCOME_OK)
        bad |= json_object_set_new(entry, "__error__", json_string(failure_name(result->outcome)));
    bad |= json_object_set_new(entry, "times", times);
    bad |= json_object_set_new(entry, "compile_time", json_real(result->compile_ms));
    bad |= json_object_set_new(entry, "verification_time", json_real(result->check_ms));
    bad |= json_object_set_new(entry, "benchmark_time", json_real(result->run_ms));
    bad |= json_object_set_new(entry, "strategy_time", json_integer(0));
    bad |= json_object_set_new(entry, "framework_time", json_integer(0));
    bad |= json_object_set_new(entry, "timestamp",
                               json_string(result->timestamp ? result->timestamp : ""));
    if (!bad)
        return entry;
    json_decref(entry);
    return NULL;
}

static int compare_values(const void *a, const void *b)
{
    return value_compare(*(const value *)a, *(const value *)b);
}

/* The different values that parameter `p` takes, sorted. */
static json_t *write_values(const recorded *r, size_t p)
{
    json_t *list = json_array();
    value *all = malloc((r->result_count + 1) * sizeof *all);
    int bad = !all;
    for (size_t i = 0; !bad && i < r->result_count; i++)
        all[i] = r->results[i].values[p];
    if (!bad)
        qsort(all, r->result_count, sizeof *all, compare_values);
    for (size_t i = 0; !bad && i < r->result_count; i++)
        if (i == 0 || !value_equal(all[i], all[i - 1]))
            bad |= json_array_append_new(list, json_from_value(all[i]));
    free(all);
    if (!bad)
        return list;
    json_decref(list);
    return NULL;
}

static json_t *write_cache(const recorded *r)
{
    json_t *root = json_object(), *keys = json_array(), *values = json_object(),
           *cache = json_object();
    int bad = 0;
    for (size_t p = 0; p < r->parameter_count; p++) {
        bad |= json_array_append_new(keys, json_string(r->names[p]));
        bad |= json_object_set_new(values, r->names[p], write_values(r, p));
    }
    for (size_t i = 0; i < r->result_count; i++) {
        char key[16384];
        bad |= !format_key(r, &r->results[i], key, sizeof key) ||
               json_object_set_new(cache, key, write_entry(r, &r->results[i]));
    }
    bad |= json_object_set_new(root, "device_name", json_string(r->device));
    bad |= json_object_set_new(root, "kernel_name", json_string(r->kernel));
    bad |= json_object_set_new(root, "problem_size", json_string(""));
    bad |= json_object_set_new(root, "tune_params_keys", keys);
    bad |= json_object_set_new(root, "tune_params", values);
    bad |= json_object_set_new(root, "objective", json_string(r->objective));
    bad |= json_object_set_new(root, "cache", cache);
    if (!bad)
        return root;
    json_decref(root);
    return NULL;
}

const recorded_format recorded_kernel_tuner = {
    .name = "kernel-tuner",
    .summary = "Kernel Tuner's cache file",
    .detect = detect,
    .read = read_cache,
    .write = write_cache,
};
