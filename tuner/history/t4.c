/* T4: results of auto-tuners as the FAIR benchmark hub and several tuners exchange them.
 *
 * The schema is TuningSchema's (github.com/odgaard/TuningSchema, branch T4, "Open Autotuning
 * Results Schema" 1.0.0). Times are milliseconds. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/json_text.h"
#include "history/recorded.h"

/* How T4 calls outcomes; the first of an outcome is the one written. */
static const struct {
    const char *name;
    outcome outcome;
} invalidities[] = {
    {"correct", OUTCOME_OK},
    {"constraints", OUTCOME_REJECTED},
    {"compile", OUTCOME_COMPILE_ERROR},
    {"runtime", OUTCOME_LAUNCH_ERROR},
    {"correctness", OUTCOME_WRONG_RESULT},
    {"runtime", OUTCOME_CRASHED},
    {"timeout", OUTCOME_TIMEOUT},
    {"timeout", OUTCOME_TOO_SLOW},
};

enum { INVALIDITY_COUNT = sizeof invalidities / sizeof *invalidities };

static bool detect(const json_t *root)
{
    return json_is_array(json_object_get(root, "results"));
}

/* The value of the result's (first) objective among its measurements; NULL when absent. */
static const json_t *objective_of(const json_t *result)
{
    const char *objective =
        json_string_value(json_array_get(json_object_get(result, "objectives"), 0));
    const json_t *measurements = json_object_get(result, "measurements");
    for (size_t i = 0; i < json_array_size(measurements); i++) {
        const json_t *m = json_array_get(measurements, i);
        const char *name = json_string_value(json_object_get(m, "name"));
        if (name && strcmp(name, objective ? objective : "time") == 0)
            return json_object_get(m, "value");
    }
    return NULL;
}

static void read_times(const json_t *times, recorded_result *result)
{
    result->compile_ms = recorded_positive(
        times, json_object_get(times, "compilation") ? "compilation" : "compilation_time");
    result->check_ms = recorded_positive(times, "validation");
    recorded_read_samples(result, json_object_get(times, "runtimes"));
    for (size_t i = 0; i < result->sample_count; i++)
        result->run_ms += result->samples_ms[i];
}

static at_status read_result(recorded *out, size_t number, const json_t *from, const char *path,
                             at_error *error)
{
    recorded_result *result;
    char which[40];
    snprintf(which, sizeof which, "result %zu", number);
    at_status status = recorded_read_values(out, json_object_get(from, "configuration"), path,
                                            which, &result, error);
    if (status)
        return status;
    const char *invalidity = json_string_value(json_object_get(from, "invalidity"));
    result->outcome = OUTCOME_LAUNCH_ERROR;
    for (size_t i = INVALIDITY_COUNT; invalidity && i-- > 0;)
        if (strcmp(invalidity, invalidities[i].name) == 0)
            result->outcome = invalidities[i].outcome;
    double cost = json_number_value(objective_of(from));
    if (result->outcome == OUTCOME_OK && isfinite(cost) && cost > 0)
        result->cost = cost;
    else if (result->outcome == OUTCOME_OK)
        return error_set_at(error, AT_FORMAT, path, 0,
                            "result %zu is correct but has no positive objective", number);
    result->timestamp = json_string_value(json_object_get(from, "timestamp"));
    read_times(json_object_get(from, "times"), result);
    return AT_OK;
}

static at_status read_results(recorded *out, const char *path, at_error *error)
{
    const json_t *results = json_object_get(out->root, "results");
    if (json_array_size(results) == 0)
        return error_set_at(error, AT_FORMAT, path, 0, "holds no results");
    at_status status =
        recorded_read_names(out, json_object_get(json_array_get(results, 0), "configuration"), path,
                            "the first result has no 'configuration' with parameters", error);
    for (size_t i = 0; !status && i < json_array_size(results); i++)
        status = read_result(out, i, json_array_get(results, i), path, error);
    return status;
}

static const char *invalidity_name(outcome o)
{
    for (size_t i = 0; i < INVALIDITY_COUNT; i++)
        if (invalidities[i].outcome == o)
            return invalidities[i].name;
    return "runtime";
}

static json_t *write_times(const recorded_result *result)
{
    json_t *runtimes = json_array();
    for (size_t i = 0; i < result->sample_count; i++)
        json_append(&runtimes, json_real(result->samples_ms[i]));
    return json_pack("{s:f, s:i, s:i, s:f, s:o}", "compilation_time", result->compile_ms,
                     "framework", 0, "search_algorithm", 0, "validation", result->check_ms,
                     "runtimes", runtimes);
}

static json_t *write_result(const recorded *r, const recorded_result *result)
{
    bool ok = result->outcome == OUTCOME_OK;
    json_t *cost = ok ? json_real(result->cost) : json_string(outcome_name(result->outcome));
    return json_pack("{s:s, s:o, s:o, s:s, s:i, s:[{s:s, s:o, s:s}], s:[s]}", "timestamp",
                     result->timestamp ? result->timestamp : "", "configuration",
                     json_from_values(r->names, result->values, r->parameter_count), "times",
                     write_times(result), "invalidity", invalidity_name(result->outcome),
                     "correctness", ok ? 1 : 0, "measurements", "name", r->objective, "value", cost,
                     "unit", strcmp(r->objective, "time") == 0 ? "ms" : "", "objectives",
                     r->objective);
}

static json_t *write_results(const recorded *r)
{
    json_t *results = json_array();
    for (size_t i = 0; i < r->result_count; i++)
        json_append(&results, write_result(r, &r->results[i]));
    return json_pack("{s:s, s:{s:s, s:s, s:s}, s:o}", "schema_version", "1.0.0", "metadata",
                     "timeunit", "milliseconds", "device", r->device, "kernel", r->kernel,
                     "results", results);
}

const recorded_format recorded_t4 = {
    .name = "t4",
    .detect = detect,
    .read = read_results,
    .write = write_results,
};
