/* A record of results/ (tuner/record): of the problem of which it holds most, the winner, those that came next
 * and the default. It is no measured space, which recorded.is_record says. */
#include <math.h>

#include "base/json_text.h"
#include "device/ceiling.h"
#include "history/recorded.h"

static bool detect(const json_t *root)
{
    return json_is_array(json_object_get(root, "entries")) && json_is_string(json_object_get(root, "gpu"));
}

static double positive(const json_t *object, const char *name)
{
    double v = json_number_value(json_object_get(object, name));
    return isfinite(v) && v > 0 ? v : 0;
}

/* The entry with the most contenders, the first of such; NULL: the record has none. */
static json_t *richest_entry(const json_t *root)
{
    json_t *entry, *found = NULL;
    size_t i, most = 0;
    json_array_foreach(json_object_get(root, "entries"), i, entry)
    {
        size_t contenders = json_array_size(json_object_get(entry, "contenders"));
        if (!found || contenders > most) {
            most = contenders;
            found = entry;
        }
    }
    return found;
}

/* One of the entry's configurations with its time; what has none, or other parameters, is left out. */
static at_status add_result(recorded *out, work_unit unit, const json_t *from, at_error *error)
{
    const json_t *config = json_object_get(from, "configuration"), *time = json_object_get(from, "time");
    double median_ns = positive(time, "median_ns");
    for (size_t p = 0; p < out->parameter_count; p++) {
        value known;
        if (!json_to_value(json_object_get(config, out->names[p]), &known))
            return AT_OK;
    }
    if (median_ns <= 0)
        return AT_OK;
    recorded_result *r = recorded_add(out);
    if (!r)
        return error_set(error, AT_NO_MEMORY, "no memory for recorded measurements");
    for (size_t p = 0; p < out->parameter_count; p++)
        json_to_value(json_object_get(config, out->names[p]), &r->values[p]);
    r->outcome = OUTCOME_OK;
    r->cost = median_ns / 1e6;
    r->low_ms = positive(time, "low_ns") / 1e6;
    r->high_ms = positive(time, "high_ns") / 1e6;
    r->rate = out->work[unit] / median_ns;
    r->occupancy = positive(json_object_get(from, "resources"), "occupancy");
    return AT_OK;
}

static at_status read_names(recorded *out, const json_t *entry, const char *path, at_error *error)
{
    const char *names[RECORDED_MAX_PARAMETERS], *name;
    size_t count = 0;
    json_t *v;
    json_object_foreach(json_object_get(entry, "configuration"), name, v)
    {
        if (count < RECORDED_MAX_PARAMETERS)
            names[count++] = name;
    }
    if (count == 0)
        return error_set_at(error, AT_FORMAT, path, 0, "an entry of the record has no 'configuration'");
    return recorded_set_names(out, names, count, error);
}

static at_status read_record(recorded *out, const char *path, at_error *error)
{
    static const char *const rates[WORK_UNITS] = {"GB/s", "GFLOP/s", "Gitems/s"};
    const json_t *entry = richest_entry(out->root);
    json_t *contender;
    size_t i;
    if (!entry)
        return error_set_at(error, AT_NOT_FOUND, path, 0, "a record without an entry");
    const json_t *baseline = json_object_get(entry, "baseline");
    const char *ceiling = json_string_value(json_object_get(entry, "ceiling"));
    if (!ceiling || !ceiling_find(ceiling, &out->ceiling))
        out->ceiling = CEILING_COPY;
    recorded_read_problem(out, entry);
    work_unit unit = ceiling_get(out->ceiling)->unit;
    for (int u = 0; u < WORK_UNITS && out->work[unit] <= 0; u++)
        unit = (work_unit)u;
    at_status status = read_names(out, entry, path, error);
    if (!status)
        status = add_result(out, unit, entry, error);
    json_array_foreach(json_object_get(entry, "contenders"), i, contender)
    {
        if (!status)
            status = add_result(out, unit, contender, error);
    }
    if (!status)
        status = add_result(out, unit, baseline, error);
    const char *pattern = json_string_value(json_object_get(out->root, "pattern"));
    out->kernel = pattern ? pattern : "";
    out->device = json_string_value(json_object_get(out->root, "gpu"));
    out->ranked = out->is_record = true;
    out->rate_unit = rates[unit];
    out->ceiling_rate = positive(entry, ceiling_get(out->ceiling)->unit == WORK_BYTES ? "ceiling_gbps" : "ceiling_rate");
    out->baseline_ms = positive(json_object_get(baseline, "time"), "median_ns") / 1e6;
    out->baseline_rate = out->baseline_ms > 0 ? out->work[unit] / (out->baseline_ms * 1e6) : 0;
    return status;
}

const recorded_format recorded_record = {
    .name = "record",
    .summary = "records of results/",
    .detect = detect,
    .read = read_record,
};
