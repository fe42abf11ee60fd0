/* A record of results/ (tuner/record): of the problem of which it holds most, the winner, those
 * that came next and the default. It is no measured space, which recorded.is_record says. */

#include "base/json_text.h"
#include "device/ceiling.h"
#include "history/recorded.h"

static bool detect(const json_t *root)
{
    return json_is_array(json_object_get(root, "entries")) &&
           json_is_string(json_object_get(root, "gpu"));
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

/* One of the entry's configurations with its time; what has none, or other parameters, is left
 * out. */
static void add_result(recorded *out, work_unit unit, const json_t *from)
{
    const json_t *config = json_object_get(from, "configuration"),
                 *time = json_object_get(from, "time");
    double median_ns = recorded_positive(time, "median_ns");
    for (size_t p = 0; p < out->parameter_count; p++) {
        value known;
        if (!json_to_value(json_object_get(config, out->names[p]), &known))
            return;
    }
    if (median_ns <= 0)
        return;
    recorded_result *r = recorded_add(out);
    for (size_t p = 0; p < out->parameter_count; p++)
        json_to_value(json_object_get(config, out->names[p]), &r->values[p]);
    r->outcome = OUTCOME_OK;
    r->cost = median_ns / 1e6;
    r->low_ms = recorded_positive(time, "low_ns") / 1e6;
    r->high_ms = recorded_positive(time, "high_ns") / 1e6;
    r->rate = out->work[unit] / median_ns;
    r->occupancy = recorded_positive(json_object_get(from, "resources"), "occupancy");
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
    if (!ceiling_find(recorded_text(entry, "ceiling", ""), &out->ceiling))
        out->ceiling = CEILING_COPY;
    recorded_read_problem(out, entry);
    work_unit unit = ceiling_get(out->ceiling)->unit;
    for (int u = 0; u < WORK_UNITS && out->work[unit] <= 0; u++)
        unit = (work_unit)u;
    at_status status = recorded_read_names(out, json_object_get(entry, "configuration"), path,
                                           "an entry of the record has no 'configuration'", error);
    if (!status)
        add_result(out, unit, entry);
    json_array_foreach(json_object_get(entry, "contenders"), i, contender)
    {
        if (!status)
            add_result(out, unit, contender);
    }
    if (!status)
        add_result(out, unit, baseline);
    out->kernel = recorded_text(out->root, "pattern", "");
    out->device = json_string_value(json_object_get(out->root, "gpu"));
    out->ranked = out->is_record = true;
    out->rate_unit = rates[unit];
    out->ceiling_rate = recorded_positive(
        entry, ceiling_get(out->ceiling)->unit == WORK_BYTES ? "ceiling_gbps" : "ceiling_rate");
    out->baseline_ms = recorded_positive(json_object_get(baseline, "time"), "median_ns") / 1e6;
    out->baseline_rate = out->baseline_ms > 0 ? out->work[unit] / (out->baseline_ms * 1e6) : 0;
    return status;
}

const recorded_format recorded_record = {
    .name = "record",
    .detect = detect,
    .read = read_record,
};
