#include "run/recall.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/paths.h"
#include "record/folders.h"
#include "record/pick.h"
#include "run/setup/setup.h"

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
    s->counts[OUTCOME_OK] = 0; /* Nothing was tried in this run. */
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

typedef struct starts {
    const session *session;
    uint64_t *found;
    size_t count, most;
} starts;

static void add_start(starts *to, const record_values *configuration)
{
    uint16_t indices[PATTERN_MAX_PARAMETERS];
    uint64_t found;
    if (to->count == to->most ||
        !record_indices(script_pattern(to->session->script), configuration, indices) ||
        !space_find(to->session->space, indices, &found))
        return;
    for (size_t i = 0; i < to->count; i++)
        if (to->found[i] == found)
            return;
    to->found[to->count++] = found;
}

/* Adds winners first: a runner-up of this GPU is no better than the winner of another problem. */
static void add_starts(starts *to, const pick_table *known, const pick_target *target)
{
    for (int contenders = 0; contenders < 2; contenders++) {
        pick_candidate next;
        pick_walk w;
        pick_walk_begin(&w, known, target);
        while (to->count < to->most && pick_walk_next(&w, &next)) {
            if (next.from && !contenders && pick_judge(&w, &next, NULL) != PICK_SLOWER)
                add_start(to, next.configuration);
            for (size_t i = 0; contenders && next.entry && i < next.entry->contender_count; i++)
                add_start(to, &next.entry->contenders[i].configuration);
        }
        pick_walk_end(&w);
    }
}

static bool ask(void *context, const record_feature *feature, const record_values *configuration,
                double *out)
{
    const session *s = context;
    return target_feature(s->script, PROBLEM_TUNED, feature, configuration, out);
}

static at_status read_known(const session *s, const char *results_dir, record_set *out)
{
    paths own;
    record_folders folders;
    bool found = paths_find(&own, NULL) == AT_OK;
    record_folders_find(strcmp(results_dir, "results") == 0 ? NULL : results_dir,
                        found ? &own : NULL, &folders);
    return record_search(&folders, script_pattern(s->script)->name, out, NULL);
}

size_t recall_starts(const session *s, const char *results_dir, uint64_t *out, size_t most)
{
    const pattern *p = script_pattern(s->script);
    record_set known = {0};
    record_values problem = {.count = p->problem_count,
                             .pairs = memory_new(p->problem_count, sizeof *problem.pairs)};
    starts to = {.session = s, .found = out, .most = most};
    for (size_t i = 0; i < p->problem_count; i++)
        problem.pairs[i] =
            (record_pair){p->problems[PROBLEM_TUNED][i].name, p->problems[PROBLEM_TUNED][i].value};
    /* A record that cannot be read gives no start. */
    pick_table table = {0};
    if (read_known(s, results_dir, &known) == AT_OK && !pick_table_make(&known, &table, NULL))
        add_starts(&to, &table,
                   &(pick_target){.gpu = s->workers->properties.limits.name,
                                  .major = s->workers->properties.limits.major,
                                  .minor = s->workers->properties.limits.minor,
                                  .problem = &problem,
                                  .ask = ask,
                                  .context = (void *)(uintptr_t)s});
    pick_table_deinit(&table);
    record_set_deinit(&known);
    free(problem.pairs);
    return to.count;
}
