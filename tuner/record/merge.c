#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/json_text.h"
#include "base/paths.h"
#include "record/coverage.h"
#include "record/record.h"
#include "record/schema.h"
#include "record/store.h"
#include "record/summary.h"

/* The number of entrants that the finals take beside the best. */
enum { CONTENDERS = 4 };

/* The numbers that a landscape has, about, and the values of its parameter at most. */
enum { LANDSCAPE_TIMES = 256, LANDSCAPE_LEVELS = 64 };

/* Figures are rounded to what a measurement can know. */
enum { RATE_DIGITS = 5, FRACTION_DIGITS = 4, SECONDS_DIGITS = 4 };

/* Members of an entry that this version writes; any other belongs to another version and is
 * kept. */
static const char *const entry_members[] = {
    "problem",   "configuration", "time",     "gbps",       "ceiling_gbps", "ceiling_fraction",
    "speedup",   "traffic_bytes", "tied",     "energy",     "ceiling",      "ceiling_rate",
    "flops",     "gflops",        "items",    "gitems",     "item",         "verdict",
    "resources", "search",        "baseline", "hashes",     "device",       "measured",
    "date",      "tool",          "proof",    "contenders", "oracle",       "landscape",
};

json_t *record_pack_values(const record_values *values)
{
    json_t *object = json_object();
    for (size_t i = 0; i < values->count; i++)
        json_put(&object, values->pairs[i].name, json_from_value(values->pairs[i].value));
    return object;
}

json_t *record_pack_problem(const run_summary *s)
{
    json_t *object = json_object();
    for (size_t i = 0; i < s->problem_count; i++) {
        const pattern_variable *v = &s->problem[i];
        json_put(&object, v->name, json_from_value(v->value));
    }
    return object;
}

json_t *record_pack_stood_for(const pattern_variable *tuned, const pattern_variable *problem,
                              size_t count)
{
    json_t *object = json_object();
    for (size_t i = 0; tuned && i < count; i++)
        if (!value_equal(tuned[i].value, problem[i].value))
            json_put(&object, tuned[i].name, json_from_value(tuned[i].value));
    return object;
}

static json_t *pack_configuration(const run_summary *s, const run_result *r)
{
    return json_from_values(s->parameters, r->values, s->parameter_count);
}

json_t *record_pack_time(const stats_summary *t)
{
    return json_pack("{sI sI sI sI sI sI sI}", "median_ns", (json_int_t)t->median_ns, "low_ns",
                     (json_int_t)t->low_ns, "high_ns", (json_int_t)t->high_ns, "min_ns",
                     (json_int_t)t->min_ns, "q1_ns", (json_int_t)t->q1_ns, "q3_ns",
                     (json_int_t)t->q3_ns, "samples", (json_int_t)t->count);
}

static json_t *pack_resources(const run_result *r)
{
    const kernel_resources *k = &r->found.resources;
    return json_pack("{si si si si si si si si so}", "registers", (int)k->registers, "stack_bytes",
                     (int)k->stack_bytes, "spill_store_bytes", (int)k->spill_store_bytes,
                     "spill_load_bytes", (int)k->spill_load_bytes, "static_shared_bytes",
                     (int)k->static_shared_bytes, "dynamic_shared_bytes",
                     (int)r->dynamic_shared_bytes, "constant_bytes", (int)k->constant_bytes,
                     "block_threads", (int)r->block_threads, "occupancy",
                     json_rounded(r->occupancy.fraction, FRACTION_DIGITS));
}

/* "gbps" is always there, as it always was; the others where the pattern gives flops or items. */
static void put_rates(json_t **object, const run_result *r)
{
    static const char *const names[WORK_UNITS] = {
        [WORK_BYTES] = "gbps", [WORK_FLOPS] = "gflops", [WORK_ITEMS] = "gitems"};
    for (int u = 0; u < WORK_UNITS; u++)
        if (u == WORK_BYTES || r->rates[u] > 0)
            json_put(object, names[u], json_rounded(r->rates[u], RATE_DIGITS));
}

/* Puts the work that rates and shares are of, beyond a copy of the traffic. */
static void put_work(json_t **entry, const run_summary *s)
{
    if (s->work[WORK_FLOPS])
        json_put(entry, "flops", json_integer((json_int_t)s->work[WORK_FLOPS]));
    if (s->work[WORK_ITEMS]) {
        json_put(entry, "items", json_integer((json_int_t)s->work[WORK_ITEMS]));
        json_put(entry, "item", json_string(s->item));
    }
    if (s->ceiling != CEILING_DEFAULT)
        json_put(entry, "ceiling", json_string(ceiling_get(s->ceiling)->name));
    if (s->ceiling_rate > 0 && ceiling_get(s->ceiling)->unit != WORK_BYTES)
        json_put(entry, "ceiling_rate", json_rounded(s->ceiling_rate, RATE_DIGITS));
}

/* 10^9 bytes a second; 0 where the ceiling is in another unit. */
static double ceiling_gbps(const run_summary *s)
{
    return ceiling_get(s->ceiling)->unit == WORK_BYTES ? s->ceiling_rate : 0;
}

static json_t *pack_baseline(const run_summary *s, const run_result *r)
{
    if (!r)
        return json_null();
    json_t *object = json_pack("{so}", "configuration", pack_configuration(s, r));
    if (object && r->time.count > 0 && r->found.outcome == OUTCOME_OK) {
        json_put(&object, "time", record_pack_time(&r->time));
        put_rates(&object, r);
        json_put(&object, "ceiling_fraction", json_rounded(r->ceiling_fraction, FRACTION_DIGITS));
    }
    return object;
}

/* Packs the variants that came next to the best and met the default in the same blocks. */
static json_t *pack_contenders(const run_summary *s)
{
    json_t *list = json_array();
    size_t kept = 0;
    for (size_t i = 1; i < s->result_count && kept < CONTENDERS; i++) {
        const run_result *r = &s->results[i];
        if (r->found.outcome != OUTCOME_OK || r->time.count == 0 || r->is_twin ||
            (s->has_baseline && i == s->baseline))
            continue;
        json_append(&list, json_pack("{so so}", "configuration", pack_configuration(s, r), "time",
                                     record_pack_time(&r->time)));
        kept++;
    }
    return list;
}

/* ---- the landscape: the times of all variants, by the most important parameter ---- */

/* The values of a parameter that occur, with the times of their variants. */
typedef struct landscape_levels {
    value values[LANDSCAPE_LEVELS];
    double sums[LANDSCAPE_LEVELS]; /* of log(time) */
    size_t counts[LANDSCAPE_LEVELS], level_count, count;
} landscape_levels;

static bool is_timed(const run_result *r)
{
    return r->found.outcome == OUTCOME_OK && r->time.median_ns > 0 && r->time.count > 0 &&
           !r->is_twin;
}

/* Groups the variants by their values of a parameter. Returns the variance of log(time) between the
 * groups; 0 if there are more than LANDSCAPE_LEVELS. */
static double group(const run_summary *s, size_t parameter, landscape_levels *out)
{
    double sum = 0, between = 0;
    *out = (landscape_levels){0};
    for (size_t i = 0; i < s->result_count; i++) {
        const run_result *r = &s->results[i];
        size_t l = 0;
        if (!is_timed(r))
            continue;
        while (l < out->level_count && !value_equal(out->values[l], r->values[parameter]))
            l++;
        if (l == LANDSCAPE_LEVELS)
            return 0;
        if (l == out->level_count)
            out->values[out->level_count++] = r->values[parameter];
        out->sums[l] += log((double)r->time.median_ns);
        sum += log((double)r->time.median_ns);
        out->counts[l]++;
        out->count++;
    }
    for (size_t l = 0; l < out->level_count; l++) {
        const double distance = out->sums[l] / (double)out->counts[l] - sum / (double)out->count;
        between += distance * distance * (double)out->counts[l] / (double)out->count;
    }
    return between;
}

/* Packs the times with one value: of many every k-th, and the first and the last. */
static json_t *pack_level(const run_summary *s, size_t parameter, const landscape_levels *all,
                          size_t level)
{
    const size_t step = all->count / LANDSCAPE_TIMES + 1;
    json_t *times = json_array();
    for (size_t i = 0, k = 0; i < s->result_count; i++) {
        const run_result *r = &s->results[i];
        if (!is_timed(r) || !value_equal(r->values[parameter], all->values[level]))
            continue;
        if (k % step == 0 || k + 1 == all->counts[level])
            json_append(&times, json_integer((json_int_t)r->time.median_ns));
        k++;
    }
    return json_pack("{so so}", "value", json_from_value(all->values[level]), "times_ns", times);
}

/* Packs the times of all variants by the value of the parameter that explains most; NULL where no
 * parameter varies. */
static json_t *pack_landscape(const run_summary *s)
{
    landscape_levels levels;
    size_t parameter = s->parameter_count;
    double most = 0;
    for (size_t p = 0; p < s->parameter_count; p++) {
        const double between = group(s, p, &levels);
        if (between > most) {
            most = between;
            parameter = p;
        }
    }
    if (parameter == s->parameter_count)
        return NULL;
    group(s, parameter, &levels);
    json_t *values = json_array();
    for (size_t l = 0; l < levels.level_count; l++)
        json_append(&values, pack_level(s, parameter, &levels, l));
    return json_pack("{ss sI so}", "parameter", s->parameters[parameter], "variants",
                     (json_int_t)levels.count, "values", values);
}

static json_t *pack_search(const run_summary *s)
{
    json_t *counts = json_object();
    for (int o = 0; o < OUTCOME_COUNT; o++)
        json_put(&counts, outcome_name((outcome)o), json_integer((json_int_t)s->counts[o]));
    return json_pack(
        "{ss? ss? sI sI so ss sI sI so sI so}", "strategy", s->strategy, "effort", s->effort,
        "seed", (json_int_t)s->seed, "budget_evaluations", (json_int_t)s->budget_evaluations,
        "budget_s", json_rounded(s->budget_s, SECONDS_DIGITS), "end", run_end_name(s->end),
        "cartesian", (json_int_t)(s->space_cartesian > INT64_MAX ? INT64_MAX : s->space_cartesian),
        "valid", (json_int_t)s->space_valid, "counts", counts, "twins", (json_int_t)s->twins,
        "wall_s", json_rounded(s->wall_s, SECONDS_DIGITS));
}

json_t *record_pack_device(const run_summary *s)
{
    char cuda[16];
    snprintf(cuda, sizeof cuda, "%d.%d", s->device.cuda_version / 1000,
             s->device.cuda_version % 1000 / 10);
    return json_pack("{ss si ss ss ss}", "arch", s->device.arch, "sm_count",
                     s->device.limits.sm_count, "driver", s->device.driver, "cuda", cuda, "nvrtc",
                     s->nvrtc_version);
}

static const char *cache_name(const run_summary *s)
{
    return s->warm_cache ? "warm" : "cold";
}

static const char *objective_name(const run_summary *s)
{
    return s->objective ? s->objective : "time";
}

/* New reference; NULL when out of memory (or for texts that are not UTF-8). */
static json_t *pack_entry(const run_summary *s)
{
    const run_result *best = run_summary_best(s), *baseline = run_summary_baseline(s);
    json_t *entry = json_pack(
        "{so so so so so so sI so ss sI so so so s{ss ss ss} so s{ss ss} ss ss}", "problem",
        record_pack_problem(s), "configuration", pack_configuration(s, best), "time",
        record_pack_time(&best->time), "gbps", json_rounded(best->rates[WORK_BYTES], RATE_DIGITS),
        "ceiling_gbps", json_rounded(ceiling_gbps(s), RATE_DIGITS), "ceiling_fraction",
        json_rounded(best->ceiling_fraction, FRACTION_DIGITS), "traffic_bytes",
        (json_int_t)s->work[WORK_BYTES], "speedup", json_rounded(s->speedup, FRACTION_DIGITS),
        "verdict", run_verdict_name(s->verdict), "tied", (json_int_t)s->tied_count, "resources",
        pack_resources(best), "baseline", pack_baseline(s, baseline), "search", pack_search(s),
        "hashes", "script", s->script_hash, "template", s->template_hash, "source",
        best->source_hash, "device", record_pack_device(s), "measured", "cache", cache_name(s),
        "objective", objective_name(s), "date", s->date, "tool", version_text());
    if (entry)
        json_put(&entry, "proof",
                 best->proven
                     ? json_pack("{sb so}", "proven", 1, "covered", coverage_pack(best->coverage))
                     : json_pack("{sb so}", "proven", 0, "why", json_said(best->unproven)));
    if (entry) {
        put_rates(&entry, best);
        put_work(&entry, s);
    }
    if (entry)
        json_put(&entry, "contenders", pack_contenders(s));
    json_t *landscape = entry ? pack_landscape(s) : NULL;
    if (landscape)
        json_put(&entry, "landscape", landscape);
    if (entry && *s->after)
        json_object_set_new(json_object_get(entry, "measured"), "after", json_string(s->after));
    if (entry && s->oracle != ORACLE_REFERENCE)
        json_put(&entry, "oracle", json_string(oracle_name(s->oracle)));
    if (entry && best->energy_j > 0)
        json_put(&entry, "energy",
                 json_pack("{so so}", "launch_j", json_rounded(best->energy_j, 4), "power_w",
                           json_rounded(best->power_w, 4)));
    return entry;
}

static bool same_problem(const run_summary *s, const record_values *problem)
{
    if (problem->count != s->problem_count)
        return false;
    for (size_t i = 0; i < s->problem_count; i++) {
        const value *v = record_get(problem, s->problem[i].name);
        if (!v || !value_equal(*v, s->problem[i].value))
            return false;
    }
    return true;
}

static size_t find_entry(const run_summary *s, const record *old)
{
    bool energy = strcmp(objective_name(s), "energy") == 0;
    size_t at = 0;
    while (at < old->entry_count &&
           !(old->entries[at].warm_cache == s->warm_cache && old->entries[at].energy == energy &&
             strcmp(old->entries[at].after, s->after) == 0 &&
             same_problem(s, &old->entries[at].problem)))
        at++;
    return at;
}

const record_entry *record_find_entry(const record *r, const run_summary *s)
{
    size_t at = find_entry(s, r);
    return at < r->entry_count ? &r->entries[at] : NULL;
}

static bool measured_in_run(const run_summary *s, const record_values *configuration)
{
    for (size_t i = 0; i < s->result_count; i++) {
        const run_result *r = &s->results[i];
        bool same = r->time.count > 0 && configuration->count == s->parameter_count;
        for (size_t p = 0; same && p < s->parameter_count; p++) {
            const value *v = record_get(configuration, s->parameters[p]);
            same = v && value_equal(*v, r->values[p]);
        }
        if (same)
            return true;
    }
    return false;
}

/* A short run must not push out what a long one found: the earlier entry stays when it is of the
 * same script, template and oracle, surely faster, and was not among what this run measured. */
static bool keep_earlier(const run_summary *s, const record_entry *old, const json_t *old_json)
{
    const run_result *best = run_summary_best(s);
    const json_t *hashes = json_object_get(old_json, "hashes");
    const char *script = json_string_value(json_object_get(hashes, "script"));
    const char *template = json_string_value(json_object_get(hashes, "template"));
    return script && template && strcmp(script, s->script_hash) == 0 &&
           strcmp(template, s->template_hash) == 0 && !old->energy &&
           strcmp(old->oracle, oracle_name(s->oracle)) == 0 &&
           old->time_high_ns < best->time.low_ns && !measured_in_run(s, &old->configuration);
}

bool record_keep_unknown(json_t *entry, json_t *old)
{
    const char *name;
    json_t *member;
    json_object_foreach(old, name, member)
    {
        bool known = false;
        for (size_t i = 0; i < sizeof entry_members / sizeof *entry_members; i++)
            known = known || strcmp(entry_members[i], name) == 0;
        if (!known && !json_object_get(entry, name) && json_object_set(entry, name, member) != 0)
            return false;
    }
    return true;
}

/* Puts the run's entry into `root`, whose typed reading is `old`. */
static at_status put_entry(const run_summary *s, const record *old, json_t *root,
                           record_change *change, at_error *error)
{
    json_t *entries = json_object_get(root, "entries");
    size_t at = find_entry(s, old);
    bool exists = at < old->entry_count;
    json_t *earlier = exists ? json_array_get(entries, old->entries[at].place) : NULL;
    if (exists && keep_earlier(s, &old->entries[at], earlier)) {
        *change = RECORD_KEPT;
        return AT_OK;
    }
    *change = exists ? RECORD_REPLACED : RECORD_ADDED;
    json_t *entry = pack_entry(s);
    bool done = entry && (!exists || record_keep_unknown(entry, earlier)) &&
                (exists ? json_array_set(entries, old->entries[at].place, entry)
                        : json_array_append(entries, entry)) == 0;
    json_decref(entry);
    if (!done)
        return error_set(error, AT_NO_MEMORY,
                         "no memory to write the record, or a name that is not UTF-8");
    return AT_OK;
}

static at_status check_run(const run_summary *s, at_error *error)
{
    const run_result *best = run_summary_best(s);
    if (s->device.predicted || s->compiled_only)
        return error_set(error, AT_USAGE,
                         "predicted times are no results: nothing is recorded for %s",
                         s->device.spec);
    if (!best || best->time.count == 0)
        return error_set(error, AT_USAGE, "there is no winner to record");
    return AT_OK;
}

at_status record_merge(const char *results_dir, run_summary *s, record_change *change,
                       at_error *error)
{
    record_store store;
    at_status status = check_run(s, error);
    if (!status)
        status = record_store_open(&store, results_dir, &s->device.limits, s->pattern, error);
    if (status)
        return status;
    status = put_entry(s, &store.old, store.old.root, change, error);
    if (!status && *change != RECORD_KEPT)
        status = record_store_write(&store, error);
    if (!status)
        snprintf(s->record_path, sizeof s->record_path, "%s", store.path);
    record_store_close(&store);
    return status;
}
