/* Reads what `autotune SCRIPT --json` printed: a run's results (report/json.c documents the
 * members). */
#include <string.h>

#include "device/ceiling.h"
#include "history/recorded.h"

static bool detect(const json_t *root)
{
    return json_is_array(json_object_get(root, "results")) &&
           json_is_object(json_object_get(root, "counts")) &&
           json_is_string(json_object_get(root, "pattern"));
}

/* It stands in what gnuplot reads. */
static bool is_unit(const char *text)
{
    size_t length = strlen(text);
    return length > 0 && length < WORK_RATE_BYTES &&
           strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_/") ==
               length;
}

/* The member of a variant that says how fast it is. */
static const char *rate_name(const recorded *r)
{
    return recorded_text(r->root, "rate", "gbps");
}

static uint32_t small_count(const json_t *object, const char *name)
{
    double v = recorded_positive(object, name);
    return v < UINT32_MAX ? (uint32_t)v : UINT32_MAX;
}

static at_status read_result(recorded *out, const json_t *from, const char *path, at_error *error)
{
    recorded_result *r;
    const json_t *interval = json_object_get(from, "ci_ns");
    at_status status =
        recorded_read_values(out, json_object_get(from, "config"), path, "a result", &r, error);
    if (status)
        return status;
    double time_ns = recorded_positive(from, "time_ns");
    r->outcome = OUTCOME_LAUNCH_ERROR;
    outcome_find(recorded_text(from, "outcome", ""), &r->outcome);
    if (r->outcome == OUTCOME_OK && time_ns > 0) {
        r->cost = time_ns / 1e6;
        r->low_ms = json_number_value(json_array_get(interval, 0)) / 1e6;
        r->high_ms = json_number_value(json_array_get(interval, 1)) / 1e6;
        r->rate = recorded_positive(from, rate_name(out));
    } else if (r->outcome == OUTCOME_OK) {
        r->outcome = OUTCOME_LAUNCH_ERROR; /* a run that only compiled measured nothing */
    }
    r->has_resources = json_is_integer(json_object_get(from, "registers"));
    r->registers = small_count(from, "registers");
    r->spill_bytes = small_count(from, "spill_bytes");
    r->shared_bytes = small_count(from, "shared_bytes");
    r->occupancy = recorded_positive(from, "occupancy");
    return AT_OK;
}

static at_status read_run(recorded *out, const char *path, at_error *error)
{
    const json_t *device = json_object_get(out->root, "device"), *baseline;
    json_t *result;
    size_t i;
    at_status status = recorded_read_names(
        out, json_object_get(json_array_get(json_object_get(out->root, "results"), 0), "config"),
        path,
        "the run has no results with a 'config'; it is what 'autotune SCRIPT --json --top 1000000' "
        "prints",
        error);
    out->kernel = json_string_value(json_object_get(out->root, "pattern"));
    out->device = recorded_text(device, "name", "");
    out->ranked = true;
    out->predicted = strcmp(recorded_text(device, "kind", ""), "sim") == 0;
    out->rate_unit = recorded_text(out->root, "rate_unit", "GB/s");
    if (!is_unit(out->rate_unit))
        return error_set_at(error, AT_FORMAT, path, 0,
                            "rate_unit must be letters, digits, _ and /");
    out->ceiling_rate = recorded_positive(
        out->root, json_object_get(out->root, "ceiling_rate") ? "ceiling_rate" : "ceiling_gbps");
    if (!ceiling_find(recorded_text(out->root, "ceiling", ""), &out->ceiling))
        out->ceiling = CEILING_COPY;
    baseline = json_object_get(out->root, "baseline");
    out->baseline_ms = recorded_positive(baseline, "time_ns") / 1e6;
    out->baseline_rate = recorded_positive(baseline, rate_name(out));
    out->space_count = (uint64_t)recorded_positive(json_object_get(out->root, "space"), "valid");
    recorded_read_problem(out, out->root);
    json_array_foreach(json_object_get(out->root, "results"), i, result)
    {
        if (!status)
            status = read_result(out, result, path, error);
    }
    return status;
}

const recorded_format recorded_run = {
    .name = "run",
    .detect = detect,
    .read = read_run,
};
