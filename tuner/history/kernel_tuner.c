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
    {"RuntimeFailedConfig", OUTCOME_TOO_SLOW},
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

static at_status read_entry(recorded *out, const char *key, const json_t *entry, const char *path,
                            at_error *error)
{
    recorded_result *result;
    char which[80];
    snprintf(which, sizeof which, "'%.60s'", key);
    at_status status = recorded_read_values(out, entry, path, which, &result, error);
    if (status)
        return status;
    const json_t *cost = json_object_get(entry, out->objective);
    double v = json_number_value(cost);
    bool ok = json_is_number(cost) && isfinite(v) && v > 0;
    result->outcome = ok ? OUTCOME_OK : failure_of(cost);
    result->cost = ok ? v : INFINITY;
    result->compile_ms = recorded_positive(entry, "compile_time");
    result->check_ms = recorded_positive(entry, "verification_time");
    result->run_ms = recorded_positive(entry, "benchmark_time");
    result->timestamp = json_string_value(json_object_get(entry, "timestamp"));
    recorded_read_samples(result, json_object_get(entry, "times"));
    return AT_OK;
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
                                "'tune_params_keys' has an entry that is not a name");
    }
    return recorded_set_names(out, names, count, error);
}

static at_status read_cache(recorded *out, const char *path, at_error *error)
{
    at_status status = read_names(out, path, error);
    out->device = recorded_text(out->root, "device_name", "");
    out->kernel = recorded_text(out->root, "kernel_name", "");
    out->objective = recorded_text(out->root, "objective", "time");
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

/* Python's str() of each value, with commas between: what Kernel Tuner looks configurations up
 * by. */
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
    bool ok = result->outcome == OUTCOME_OK;
    json_t *times = json_array(),
           *entry = json_from_values(r->names, result->values, r->parameter_count);
    for (size_t i = 0; i < result->sample_count; i++)
        json_append(&times, json_real(result->samples_ms[i]));
    json_put(&entry, r->objective,
             ok ? json_real(result->cost) : json_string(failure_name(result->outcome)));
    if (!ok)
        json_put(&entry, "__error__", json_string(failure_name(result->outcome)));
    json_put(&entry, "times", times);
    json_put(&entry, "compile_time", json_real(result->compile_ms));
    json_put(&entry, "verification_time", json_real(result->check_ms));
    json_put(&entry, "benchmark_time", json_real(result->run_ms));
    json_put(&entry, "strategy_time", json_integer(0));
    json_put(&entry, "framework_time", json_integer(0));
    json_put(&entry, "timestamp", json_string(result->timestamp ? result->timestamp : ""));
    return entry;
}

/* The different values that parameter `p` takes, sorted. */
static json_t *write_values(const recorded *r, size_t p)
{
    size_t count;
    value *all = recorded_values_of(r, p, &count);
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++)
        json_append(&list, json_from_value(all[i]));
    free(all);
    return list;
}

static json_t *write_cache(const recorded *r)
{
    json_t *keys = json_array(), *values = json_object(), *cache = json_object();
    for (size_t p = 0; p < r->parameter_count; p++) {
        json_append(&keys, json_string(r->names[p]));
        json_put(&values, r->names[p], write_values(r, p));
    }
    for (size_t i = 0; i < r->result_count; i++) {
        char key[16384];
        json_put(&cache, key,
                 format_key(r, &r->results[i], key, sizeof key) ? write_entry(r, &r->results[i])
                                                                : NULL);
    }
    return json_pack("{s:s, s:s, s:s, s:o, s:o, s:s, s:o}", "device_name", r->device, "kernel_name",
                     r->kernel, "problem_size", "", "tune_params_keys", keys, "tune_params", values,
                     "objective", r->objective, "cache", cache);
}

const recorded_format recorded_kernel_tuner = {
    .name = "kernel-tuner",
    .detect = detect,
    .read = read_cache,
    .write = write_cache,
};
