#include "report/report.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/json_text.h"
#include "base/memory.h"
#include "base/paths.h"
#include "record/schema.h"

/* ---- --json ---- */

/* The object that --json prints:
 *
 *   pattern, problem {name: value}, version, record: path,
 *   device {kind, name, arch}: kind is "none" if variants were only compiled, for this arch,
 *   space {cartesian, valid}, counts {outcome: n},
 *   unraced: variants among "ok" that were checked on the tuned problem only,
 *   twins: variants with the machine code of another variant,
 *   best, baseline: variants; speedup, wall_s, stages {enumerate_s, ...},
 *   traffic_bytes, flops, items: work of a launch; item: name of an item,
 *   ceiling: name of the ceiling; ceiling_rate: its rate in rate_unit; ceiling_gbps,
 *   rate: the member that states the speed of a variant (gbps, gflops or gitems),
 *   rate_unit: "GB/s", "GFLOP/s" ...; verdict, tied: number; end, strategy, seed, cache,
 *   oracle: source of the expected results; warnings [text], results [variant],
 *   failures [{outcome, message, count, config}]: each message once, with one of its variants
 *
 * A variant (unknown values are null):
 *
 *   config {name: value}, outcome, time_ns: median,
 *   ci_ns [low, high]: 95 % interval; for a prediction, the interval of 90 % of the times,
 *   min_ns, samples, gbps, gflops, gitems: 10^9 per second,
 *   ceiling_fraction, registers, spill_bytes: stores and loads; shared_bytes: static and dynamic,
 *   occupancy: 0 to 1; tied, twin_of: config of the tried variant with the same machine code,
 *   message: why it is not ok; proven: on a simulated device; unproven: why not */

enum { FIGURE_DIGITS = 6 };

static uint64_t spill_bytes(const run_result *r)
{
    return (uint64_t)r->found.resources.spill_store_bytes + r->found.resources.spill_load_bytes;
}

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
        "{so ss so so so so so so so so so so so so sb so so sb so so}", "config",
        json_from_values(s->parameters, r->values, s->parameter_count), "outcome",
        outcome_name(r->found.outcome), "time_ns", count_or_null(timed, (uint64_t)t->median_ns),
        "ci_ns", interval, "min_ns", count_or_null(timed, (uint64_t)t->min_ns), "samples",
        count_or_null(timed, t->count), "gbps", pack_rate(r, WORK_BYTES), "gflops",
        pack_rate(r, WORK_FLOPS), "gitems", pack_rate(r, WORK_ITEMS), "ceiling_fraction",
        known(timed && r->ceiling_fraction > 0, r->ceiling_fraction), "registers",
        count_or_null(r->found.has_resources, k->registers), "spill_bytes",
        count_or_null(r->found.has_resources, spill_bytes(r)), "shared_bytes",
        count_or_null(r->found.has_resources,
                      (uint64_t)k->static_shared_bytes + r->dynamic_shared_bytes),
        "occupancy", known(r->found.has_resources, r->occupancy.fraction), "tied", (int)r->tied,
        "twin_of", pack_twin_of(s, r), "message",
        json_foreign_text(r->found.outcome == OUTCOME_OK ? NULL : r->found.message), "proven",
        (int)r->proven, "unproven", json_foreign_text(r->unproven), "covered",
        coverage_pack(r->coverage));
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
        json_append(&array, json_foreign_text(s->warnings[i]));
    return array;
}

static json_t *pack_results(const run_summary *s, size_t top)
{
    json_t *array = json_array();
    for (size_t i = 0; i < s->result_count && i < top; i++)
        json_append(&array, pack_variant(s, &s->results[i]));
    return array;
}

/* Packs each different failure message once, in the order of the results. */
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
                              json_foreign_text(r->found.message), "count", 1, "config",
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
    json_put(&root, "after", *s->after ? json_string(s->after) : json_null());
    put_work(&root, s);
    return root;
}

/* ---- the text ---- */

/* The further values that the text of a run needs:
 *
 *   compiled_only, predicted, resumable, driver; configurations {best, baseline}: as texts,
 *   work {bytes, flops, items}: of a launch, 0 if unknown; item_name, space_valid,
 *   cartesian_is_known, exact_speedup; share: the best variant's share of the ceiling; energy_j,
 *   power_w, bound {name, words, unit, rate, in_run}: the ceiling,
 *   rate_units [text], parameters [name], rows [row],
 *   shown: number of rows, not counting an appended baseline,
 *   all {count, least, most, spilling, full}: the compiled variants: their number, registers per
 *   thread, how many spill, how many have full occupancy,
 *   explain: command that shows why the winner wins; "" if there is none
 *
 * A row:
 *
 *   values: one per parameter; baseline, median_ns, low_ns, high_ns, rates, share, tied,
 *   registers, spill_bytes, shared_bytes, occupancy, blocks, limit: missing if unknown,
 *   twins [values], twin_count: variants with the same machine code */

enum { MOST_TWINS = 3 };

static json_t *pack_value_list(const run_summary *s, const run_result *r)
{
    json_t *list = json_array();
    for (size_t i = 0; i < s->parameter_count; i++)
        json_append(&list, json_from_value(r->values[i]));
    return list;
}

static void put_twins(json_t **row, const run_summary *s, const run_result *r)
{
    const run_result *end = s->results + s->result_count;
    json_t *twins = json_array();
    size_t count = 0;
    for (const run_result *twin = r + 1; twin < end && twin->is_twin && twin->lead == r->index;
         twin++)
        if (count++ < MOST_TWINS)
            json_append(&twins, pack_value_list(s, twin));
    json_put(row, "twins", twins);
    json_put(row, "twin_count", json_integer((json_int_t)count));
}

static json_t *pack_row(const run_summary *s, const run_result *r)
{
    json_t *rates = json_array();
    for (int u = 0; u < WORK_UNITS; u++)
        json_append(&rates, json_exact(r->rates[u]));
    const kernel_resources *k = &r->found.resources;
    json_t *row =
        json_pack("{so sb sI sI sI so so sb}", "values", pack_value_list(s, r), "baseline",
                  r == run_summary_baseline(s), "median_ns", (json_int_t)r->time.median_ns,
                  "low_ns", (json_int_t)r->time.low_ns, "high_ns", (json_int_t)r->time.high_ns,
                  "rates", rates, "share", json_exact(r->ceiling_fraction), "tied", (int)r->tied);
    put_twins(&row, s, r);
    if (!r->found.has_resources)
        return row;
    json_put(&row, "registers", json_integer(k->registers));
    json_put(&row, "spill_bytes", json_count(spill_bytes(r)));
    json_put(&row, "shared_bytes",
             json_count((uint64_t)k->static_shared_bytes + r->dynamic_shared_bytes));
    json_put(&row, "occupancy", json_exact(r->occupancy.fraction));
    json_put(&row, "blocks", json_integer(r->occupancy.blocks_per_sm));
    json_put(&row, "limit", json_string(occupancy_limit_name(r->occupancy.limit)));
    return row;
}

/* Packs the `top` fastest variants, at least one. If the baseline is not among them, packs it as
 * the last row. *shown counts the rows without this last row, *hidden those that are left out. */
static json_t *pack_measured(const run_summary *s, size_t top, size_t *shown, size_t *hidden)
{
    const run_result *baseline = run_summary_baseline(s);
    bool has_baseline =
        !baseline || baseline->time.count == 0 || baseline->found.outcome != OUTCOME_OK;
    json_t *rows = json_array();
    for (size_t i = 0; i < s->result_count; i++) {
        const run_result *r = &s->results[i];
        if (r->found.outcome != OUTCOME_OK || r->time.count == 0 || r->is_twin)
            continue;
        if (*shown == (top ? top : 1)) {
            ++*hidden;
            continue;
        }
        json_append(&rows, pack_row(s, r));
        has_baseline = has_baseline || r == baseline;
        ++*shown;
    }
    if (!has_baseline) {
        json_append(&rows, pack_row(s, baseline));
        *hidden -= !baseline->is_twin;
    }
    return rows;
}

static int compare_compiled(const void *a, const void *b)
{
    const run_result *x = *(const run_result *const *)a, *y = *(const run_result *const *)b;
    if (x->occupancy.warps_per_sm != y->occupancy.warps_per_sm)
        return x->occupancy.warps_per_sm > y->occupancy.warps_per_sm ? -1 : 1;
    if (spill_bytes(x) != spill_bytes(y))
        return spill_bytes(x) < spill_bytes(y) ? -1 : 1;
    if (x->found.resources.registers != y->found.resources.registers)
        return x->found.resources.registers < y->found.resources.registers ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

/* Packs the `top` first variants that compiled. Sets `*all` to a summary of all that compiled. */
static json_t *pack_compiled(const run_summary *s, size_t top, size_t *shown, json_t **all)
{
    const run_result **list = memory_new(s->result_count, sizeof *list);
    uint32_t least = UINT32_MAX, most = 0;
    size_t count = 0, spilling = 0, full = 0;
    for (size_t i = 0; i < s->result_count; i++) {
        const run_result *r = &s->results[i];
        const uint32_t registers = r->found.resources.registers;
        if (r->found.outcome != OUTCOME_OK || !r->found.has_resources || r->is_twin)
            continue;
        list[count++] = r;
        least = registers < least ? registers : least;
        most = registers > most ? registers : most;
        spilling += spill_bytes(r) > 0;
        full += r->occupancy.fraction > 0.999;
    }
    qsort(list, count, sizeof *list, compare_compiled);
    json_t *rows = json_array();
    for (; *shown < count && (top == 0 || *shown < top); ++*shown)
        json_append(&rows, pack_row(s, list[*shown]));
    *all = json_pack("{sI sI sI sI sI}", "count", (json_int_t)count, "least", (json_int_t)least,
                     "most", (json_int_t)most, "spilling", (json_int_t)spilling, "full",
                     (json_int_t)full);
    free(list);
    return rows;
}

static json_t *pack_units(const run_summary *s)
{
    json_t *units = json_array();
    char text[WORK_RATE_BYTES];
    for (int u = 0; u < WORK_UNITS; u++)
        json_append(&units, json_string(work_rate_name((work_unit)u, s->item, text)));
    return units;
}

static json_t *pack_bound(const run_summary *s)
{
    const ceiling_info *ceiling = ceiling_get(s->ceiling);
    char unit[WORK_RATE_BYTES];
    return json_pack("{ss? ss? ss so sb}", "name", ceiling->name, "words", ceiling->words, "unit",
                     work_rate_name(ceiling->unit, s->item, unit), "rate",
                     json_exact(s->ceiling_rate), "in_run", (int)ceiling->in_run);
}

static void put_best(json_t **words, const run_summary *s)
{
    const run_result *best = run_summary_best(s), *baseline = run_summary_baseline(s);
    json_t *texts = json_object();
    if (best)
        json_put(&texts, "best", json_string(best->configuration));
    if (baseline && baseline != best)
        json_put(&texts, "baseline", json_string(baseline->configuration));
    json_put(words, "configurations", texts);
    json_put(words, "share", json_exact(best ? best->ceiling_fraction : 0));
    json_put(words, "energy_j", json_exact(best ? best->energy_j : 0));
    json_put(words, "power_w", json_exact(best ? best->power_w : 0));
}

json_t *report_pack_text_values(const run_summary *s, size_t top)
{
    json_t *names = json_array(), *all = json_null(), *rows;
    size_t shown = 0, hidden = 0;
    for (size_t i = 0; i < s->parameter_count; i++)
        json_append(&names, json_string(s->parameters[i]));
    rows = s->compiled_only ? pack_compiled(s, top, &shown, &all)
                            : pack_measured(s, top, &shown, &hidden);
    json_t *words =
        json_pack("{sb sb sb ss s{so so so} ss sI sb so so so so so sI sI so}", "compiled_only",
                  (int)s->compiled_only, "predicted", (int)s->device.predicted, "resumable",
                  (int)s->resumable, "driver", s->device.driver, "work", "bytes",
                  json_count(s->work[WORK_BYTES]), "flops", json_count(s->work[WORK_FLOPS]),
                  "items", json_count(s->work[WORK_ITEMS]), "item_name", s->item ? s->item : "",
                  "space_valid", (json_int_t)s->space_valid, "cartesian_is_known",
                  s->space_cartesian != UINT64_MAX, "bound", pack_bound(s), "exact_speedup",
                  json_exact(s->speedup), "rate_units", pack_units(s), "parameters", names, "rows",
                  rows, "shown", (json_int_t)shown, "hidden", (json_int_t)hidden, "all", all);
    put_best(&words, s);
    json_put(&words, "explain", json_string(""));
    return words;
}

/* ---- curves ---- */

static json_t *positive(double v)
{
    return known(v > 0, v);
}

void curve_init(curve *c, const char *const *names, size_t count)
{
    *c = (curve){.over = json_array(), .points = json_array(), .words = json_array()};
    for (size_t i = 0; i < count; i++)
        json_append(&c->over, json_string(names[i]));
}

void curve_deinit(curve *c)
{
    json_decref(c->over);
    json_decref(c->points);
    json_decref(c->words);
    *c = (curve){0};
}

static void fill_head(curve *c, const run_summary *s)
{
    const char *ceiling = ceiling_get(s->ceiling)->name;
    if (c->pattern[0]) {
        if (strcmp(ceiling, c->ceiling) != 0)
            snprintf(c->ceiling, sizeof c->ceiling, "ceiling");
        return;
    }
    c->shown = run_summary_unit(s);
    work_rate_name(c->shown, s->item, c->unit);
    snprintf(c->ceiling, sizeof c->ceiling, "%s", ceiling);
    snprintf(c->pattern, sizeof c->pattern, "%s", s->pattern);
    snprintf(c->device, sizeof c->device, "%s", s->device.limits.name);
    c->predicted = s->device.predicted;
    c->warm_cache = s->warm_cache;
}

static json_t *pack_point(json_t *at, const run_summary *s, const run_result *best)
{
    const double gbps = best->rates[WORK_BYTES];
    return json_pack("{so so so sI s[I I] so so so so so so ss sI so}", "at", at, "problem",
                     record_pack_problem(s), "config",
                     json_from_values(s->parameters, best->values, s->parameter_count), "time_ns",
                     (json_int_t)best->time.median_ns, "ci_ns", (json_int_t)best->time.low_ns,
                     (json_int_t)best->time.high_ns, "gbps", positive(gbps), "gflops",
                     positive(best->rates[WORK_FLOPS]), "gitems", positive(best->rates[WORK_ITEMS]),
                     "ceiling_fraction", positive(best->ceiling_fraction), "speedup",
                     positive(s->speedup), "baseline_gbps",
                     positive(s->speedup > 0 ? gbps / s->speedup : 0), "verdict",
                     run_verdict_name(s->verdict), "tied", (json_int_t)s->tied_count, "record",
                     s->record_path[0] ? json_path(s->record_path) : json_null());
}

void curve_add(curve *c, const char *const *values, const run_summary *s, const char *why)
{
    const run_result *best = s ? run_summary_best(s) : NULL;
    json_t *at = json_object();
    if (s)
        fill_head(c, s);
    for (size_t i = 0; i < json_array_size(c->over); i++)
        json_put(&at, json_string_value(json_array_get(c->over, i)), json_foreign_text(values[i]));
    if (!best || best->time.count == 0) {
        json_append(&c->words, json_object());
        json_append(&c->points,
                    json_pack("{so so}", "at", at, "message",
                              json_foreign_text(why && *why ? why : "no variant worked")));
        return;
    }
    c->found++;
    json_append(&c->words,
                json_pack("{so so so}", "rate", json_exact(best->rates[c->shown]), "share",
                          json_exact(best->ceiling_fraction), "speedup", json_exact(s->speedup)));
    json_append(&c->points, pack_point(at, s, best));
}

json_t *curve_pack(const curve *c)
{
    return json_pack("{ss? ss? ss ss sb ss sO sO}", "pattern", c->pattern[0] ? c->pattern : NULL,
                     "device", c->pattern[0] ? c->device : NULL, "ceiling", c->ceiling, "rate_unit",
                     c->unit, "predicted", (int)c->predicted, "cache",
                     c->warm_cache ? "warm" : "cold", "over", c->over, "points", c->points);
}

json_t *curve_pack_figures(const curve *c)
{
    return json_incref(c->words);
}
