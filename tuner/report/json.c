/* The object that --json prints:
 *
 *   pattern, problem {name: value}, device {kind, name, arch}, space {cartesian, valid},
 *   counts {outcome: n}, unraced (how many of "ok" were too slow to race, and checked on the tuned
 * problem alone), twins (how many of them have the machine code of another), best, baseline,
 * speedup, ceiling_gbps, wall_s, stages {enumerate_s, ...}, traffic_bytes, flops, items (of a
 * launch), item (what items are), ceiling (what shares are of), ceiling_rate (its 10^9 a second, in
 * rate_unit), rate (the member of a variant that says how fast it is: gbps, gflops or gitems),
 * rate_unit ("GB/s", "GFLOP/s" ...), record (path), version, and: verdict, tied (number), end,
 * strategy, seed, cache, oracle (what says which results are right), warnings [text], results
 * [variant], failures [{outcome, message, count, config}]: each message once, with how many
 * variants ended with it and one of them.
 *
 * best, baseline and each of results: config {name: value}, outcome, time_ns (median), tuned_ns
 * (predicted of the tuned problem, where time_ns is of a smaller one), ci_ns [low,
 * high] (95 %), min_ns, samples, gbps, gflops, gitems (10^9 a second), ceiling_fraction, registers,
 * spill_bytes (stores and loads), shared_bytes (static and dynamic), occupancy (0 .. 1), tied,
 * twin_of (the config of the same machine code and launch that was tried in its place; null: it was
 * tried itself), message (why it is not ok), proven (on a simulated device), unproven (why not, of
 * what a GPU measured). Unknown values are null. A device of kind "none" is an architecture that
 * was only compiled for. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/json_text.h"
#include "base/paths.h"
#include "record/schema.h"
#include "report/report.h"

/* Figures are as precise as they are known. */
enum { FIGURE_DIGITS = 6 };

static json_t *known(bool is_known, double v)
{
    return is_known ? json_rounded(v, FIGURE_DIGITS) : json_null();
}

static json_t *count_or_null(bool is_known, uint64_t v)
{
    return is_known ? json_count(v) : json_null();
}

static json_t *pack_rate(const run_result *r, work_unit unit)
{
    return known(r->time.count > 0 && r->rates[unit] > 0, r->rates[unit]);
}

static json_t *pack_twin_of(const run_summary *s, const run_result *r)
{
    const run_result *lead = run_summary_lead(s, r);
    return lead ? json_from_values(s->parameters, lead->values, s->parameter_count) : json_null();
}

static json_t *pack_variant(const run_summary *s, const run_result *r)
{
    if (!r)
        return json_null();
    const stats_summary *t = &r->time;
    const kernel_resources *k = &r->found.resources;
    bool timed = t->count > 0;
    json_t *interval =
        timed ? json_pack("[I, I]", (json_int_t)t->low_ns, (json_int_t)t->high_ns) : json_null();
    return json_pack(
        "{so ss so so so so so so so so so so so so so sb so so sb so so}", "config",
        json_from_values(s->parameters, r->values, s->parameter_count), "outcome",
        outcome_name(r->found.outcome), "time_ns", count_or_null(timed, (uint64_t)t->median_ns),
        "tuned_ns", count_or_null(r->tuned_ns > 0, (uint64_t)(r->tuned_ns + 0.5)), "ci_ns",
        interval, "min_ns", count_or_null(timed, (uint64_t)t->min_ns), "samples",
        count_or_null(timed, t->count), "gbps", pack_rate(r, WORK_BYTES), "gflops",
        pack_rate(r, WORK_FLOPS), "gitems", pack_rate(r, WORK_ITEMS), "ceiling_fraction",
        known(timed && r->ceiling_fraction > 0, r->ceiling_fraction), "registers",
        count_or_null(r->found.has_resources, k->registers), "spill_bytes",
        count_or_null(r->found.has_resources, (uint64_t)k->spill_store_bytes + k->spill_load_bytes),
        "shared_bytes",
        count_or_null(r->found.has_resources,
                      (uint64_t)k->static_shared_bytes + r->dynamic_shared_bytes),
        "occupancy", known(r->found.has_resources, r->occupancy.fraction), "tied", (int)r->tied,
        "twin_of", pack_twin_of(s, r), "message",
        json_said(r->found.outcome == OUTCOME_OK ? NULL : r->found.message), "proven",
        (int)r->proven, "unproven", json_said(r->unproven), "covered", coverage_pack(r->coverage));
}

static json_t *pack_counts(const run_summary *s)
{
    json_t *object = json_object();
    for (int o = 0; o < OUTCOME_COUNT; o++)
        json_put(&object, outcome_name((outcome)o), count_or_null(true, s->counts[o]));
    return object;
}

static json_t *pack_stages(const run_summary *s)
{
    json_t *object = json_object();
    for (int i = 0; i < STAGE_COUNT; i++) {
        char name[32];
        snprintf(name, sizeof name, "%s_s", run_stage_name((run_stage)i));
        json_put(&object, name, known(true, s->stage_s[i]));
    }
    return object;
}

static json_t *pack_warnings(const run_summary *s)
{
    json_t *array = json_array();
    for (size_t i = 0; i < s->warning_count; i++)
        json_append(&array, json_said(s->warnings[i]));
    return array;
}

static json_t *pack_results(const run_summary *s, size_t top)
{
    json_t *array = json_array();
    for (size_t i = 0; i < s->result_count && i < top; i++)
        json_append(&array, pack_variant(s, &s->results[i]));
    return array;
}

/* In the order in which the results have them. */
static json_t *pack_failures(const run_summary *s)
{
    json_t *array = json_array(), *places = json_object();
    for (size_t i = 0; i < s->result_count && array && places; i++) {
        const run_result *r = &s->results[i];
        if (r->found.outcome == OUTCOME_OK || !r->found.message)
            continue;
        char key[64];
        snprintf(key, sizeof key, "%d %016llx", (int)r->found.outcome,
                 (unsigned long long)XXH3_64bits(r->found.message, strlen(r->found.message)));
        json_t *seen = json_object_get(places, key);
        if (seen) {
            json_t *failure = json_array_get(array, (size_t)json_integer_value(seen));
            json_t *count = json_object_get(failure, "count");
            json_integer_set(count, json_integer_value(count) + 1);
            continue;
        }
        json_put(&places, key, json_integer((json_int_t)json_array_size(array)));
        json_append(&array,
                    json_pack("{ss so si so}", "outcome", outcome_name(r->found.outcome), "message",
                              json_said(r->found.message), "count", 1, "config",
                              json_from_values(s->parameters, r->values, s->parameter_count)));
    }
    if (!places) {
        json_decref(array);
        return NULL;
    }
    json_decref(places);
    return array;
}

static json_t *pack_run(const run_summary *s, size_t top)
{
    const device_properties *d = &s->device;
    const bool in_bytes = ceiling_get(s->ceiling)->unit == WORK_BYTES;
    return json_pack(
        "{ss so s{ss ss ss} s{so so} so so so so so so so so so so ss ss sI ss ss? so ss ss so so "
        "so}",
        "pattern", s->pattern, "problem", record_pack_problem(s), "device", "kind",
        d->kind[0] ? d->kind : "none", "name", d->limits.name, "arch", d->arch, "space",
        "cartesian", count_or_null(true, s->space_cartesian), "valid",
        count_or_null(!s->space_sampled, s->space_valid), "counts", pack_counts(s), "unraced",
        count_or_null(true, s->unraced), "twins", count_or_null(true, s->twins), "best",
        pack_variant(s, run_summary_best(s)), "baseline", pack_variant(s, run_summary_baseline(s)),
        "speedup", known(s->speedup > 0, s->speedup), "ceiling_gbps",
        known(in_bytes && s->ceiling_rate > 0, s->ceiling_rate), "wall_s", known(true, s->wall_s),
        "stages", pack_stages(s), "record",
        s->record_path[0] ? json_path(s->record_path) : json_null(), "version", version_text(),
        "verdict", run_verdict_name(s->verdict), "tied", (json_int_t)s->tied_count, "end",
        run_end_name(s->end), "strategy", s->strategy, "seed", count_or_null(true, s->seed),
        "cache", s->warm_cache ? "warm" : "cold", "oracle", oracle_name(s->oracle), "warnings",
        pack_warnings(s), "results", pack_results(s, top), "failures", pack_failures(s));
}

static void put_after(json_t **root, const run_summary *s)
{
    json_put(root, "after", *s->after ? json_string(s->after) : json_null());
}

static void put_work(json_t **root, const run_summary *s)
{
    static const char *const amounts[WORK_UNITS] = {"traffic_bytes", "flops", "items"};
    static const char *const rates[WORK_UNITS] = {"gbps", "gflops", "gitems"};
    const char *ceiling = ceiling_get(s->ceiling)->name;
    const work_unit unit = run_summary_unit(s);
    char text[WORK_RATE_BYTES];
    for (int u = 0; u < WORK_UNITS; u++)
        json_put(root, amounts[u], count_or_null(s->work[u] > 0, s->work[u]));
    json_put(root, "item", s->item && *s->item ? json_string(s->item) : json_null());
    json_put(root, "ceiling", *ceiling ? json_string(ceiling) : json_null());
    json_put(root, "ceiling_rate", known(s->ceiling_rate > 0, s->ceiling_rate));
    json_put(root, "rate", json_string(rates[unit]));
    json_put(root, "rate_unit", json_string(work_rate_name(unit, s->item, text)));
}

json_t *report_pack(const run_summary *s, size_t top)
{
    json_t *root = pack_run(s, top);
    put_after(&root, s);
    put_work(&root, s);
    return root;
}
