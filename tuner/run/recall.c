#include "run/recall.h"

#include <stdio.h>
#include <string.h>

bool recall_find(const char *results_dir, const run_summary *s, effort wanted, record *out,
                 const record_entry **entry)
{
    char path[4096];
    effort recorded;
    if (record_path(results_dir, s->device.limits.name, s->pattern, path, sizeof path, NULL) ||
        record_read(path, out, NULL))
        return false;
    *entry = record_find_entry(out, s);
    if (*entry && effort_find((*entry)->effort, &recorded, NULL) == AT_OK && recorded >= wanted &&
        strcmp((*entry)->script_hash, s->script_hash) == 0 &&
        strcmp((*entry)->template_hash, s->template_hash) == 0)
        return true;
    record_deinit(out);
    return false;
}

static at_status add(run_summary *s, const record_values *values, run_result **out, at_error *error)
{
    char text[CONFIGURATION_BYTES];
    record_format_values(values, text, sizeof text);
    at_status status = run_summary_add(s, text, OUTCOME_OK, out, error);
    for (size_t i = 0; !status && i < s->parameter_count; i++) {
        const value *v = record_get(values, s->parameters[i]);
        (*out)->values[i] = v ? *v : (value){.kind = VALUE_STRING, .string = "?"};
    }
    s->counts[OUTCOME_OK] = 0; /* nothing was tried */
    return status;
}

at_status recall_fill(const record *r, const record_entry *entry, run_summary *s, at_error *error)
{
    run_result *best;
    at_status status = add(s, &entry->configuration, &best, error);
    if (status)
        return status;
    best->time = (stats_summary){.count = 1,
                                 .min_ns = entry->time_low_ns,
                                 .q1_ns = entry->time_low_ns,
                                 .median_ns = entry->time_ns,
                                 .q3_ns = entry->time_high_ns,
                                 .max_ns = entry->time_high_ns,
                                 .low_ns = entry->time_low_ns,
                                 .high_ns = entry->time_high_ns};
    best->rates[WORK_BYTES] = entry->gbps;
    best->rates[WORK_FLOPS] = entry->gflops;
    best->rates[WORK_ITEMS] = entry->gitems;
    if (!ceiling_find(entry->ceiling, &s->ceiling))
        s->ceiling = CEILING_COPY;
    best->ceiling_fraction = entry->ceiling_fraction;
    s->best_found = true;
    s->speedup = entry->speedup;
    s->end = RUN_END_RECORDED;
    s->effort = entry->effort;
    snprintf(s->record_path, sizeof s->record_path, "%s", r->path);
    return AT_OK;
}
