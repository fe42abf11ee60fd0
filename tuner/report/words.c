/* The values that the text of a run needs beside those that --json prints:
 *
 *   compiled_only, predicted, resumable, driver, configurations {best, baseline} (as texts),
 *   work {bytes, flops, items} (of a launch, 0: not given), item_name, space_valid,
 *   cartesian_is_known, bound {name, words, unit, rate, in_run}: the ceiling that shares are of;
 *   exact_speedup, share (of the best), energy_j, power_w, rate_units [text],
 *   parameters [name], rows [row], shown (rows before a baseline that is not among them), all
 *   {count, least, most, spilling, full} (of what was compiled; registers a thread), stood_for
 *   {name: value}: the tuned problem, where it differs from this one, which stands in for it,
 *   explain: the command that shows why the winner wins; "": not said.
 *
 * A row: values (one a parameter), baseline, median_ns, tuned_ns, low_ns, high_ns, rates, share,
 * tied, registers, spill_bytes, shared_bytes, occupancy, blocks, limit (no registers: they are not
 * known), twins [values], twin_count: those with its machine code. */
#include <stdlib.h>

#include "base/json_text.h"
#include "base/memory.h"
#include "record/schema.h"
#include "report/report.h"

enum { MOST_TWINS = 3 };

static json_t *pack_value_list(const run_summary *s, const run_result *r)
{
    json_t *list = json_array();
    for (size_t i = 0; i < s->parameter_count; i++)
        json_append(&list, json_from_value(r->values[i]));
    return list;
}

static uint64_t spill_bytes(const run_result *r)
{
    return (uint64_t)r->found.resources.spill_store_bytes + r->found.resources.spill_load_bytes;
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
        json_pack("{so sb sI so sI sI so so sb}", "values", pack_value_list(s, r), "baseline",
                  r == run_summary_baseline(s), "median_ns", (json_int_t)r->time.median_ns,
                  "tuned_ns", json_exact(r->tuned_ns), "low_ns", (json_int_t)r->time.low_ns,
                  "high_ns", (json_int_t)r->time.high_ns, "rates", rates, "share",
                  json_exact(r->ceiling_fraction), "tied", (int)r->tied);
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

/* Packs the *shown fastest, and the baseline below them when it is not among them. */
static json_t *pack_measured(const run_summary *s, size_t top, size_t *shown)
{
    const run_result *baseline = run_summary_baseline(s);
    bool has_baseline =
        !baseline || baseline->time.count == 0 || baseline->found.outcome != OUTCOME_OK;
    json_t *rows = json_array();
    for (size_t i = 0; i < s->result_count && *shown < (top ? top : 1); i++) {
        const run_result *r = &s->results[i];
        if (r->found.outcome != OUTCOME_OK || r->time.count == 0 || r->is_twin)
            continue;
        json_append(&rows, pack_row(s, r));
        has_baseline = has_baseline || r == baseline;
        ++*shown;
    }
    if (!has_baseline)
        json_append(&rows, pack_row(s, baseline));
    return rows;
}

/* Orders by occupancy, then spills, then registers. */
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

/* Packs those that compiled; *all gets what is said of all of them. */
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

json_t *report_pack_words(const run_summary *s, size_t top)
{
    json_t *names = json_array(), *all = json_null(), *rows;
    size_t shown = 0;
    for (size_t i = 0; i < s->parameter_count; i++)
        json_append(&names, json_string(s->parameters[i]));
    rows = s->compiled_only ? pack_compiled(s, top, &shown, &all) : pack_measured(s, top, &shown);
    json_t *words = json_pack(
        "{sb sb sb ss s{so so so} ss sI sb so so so so so sI so}", "compiled_only",
        (int)s->compiled_only, "predicted", (int)s->device.predicted, "resumable",
        (int)s->resumable, "driver", s->device.driver, "work", "bytes",
        json_count(s->work[WORK_BYTES]), "flops", json_count(s->work[WORK_FLOPS]), "items",
        json_count(s->work[WORK_ITEMS]), "item_name", s->item ? s->item : "", "space_valid",
        (json_int_t)s->space_valid, "cartesian_is_known", s->space_cartesian != UINT64_MAX, "bound",
        pack_bound(s), "exact_speedup", json_exact(s->speedup), "rate_units", pack_units(s),
        "parameters", names, "rows", rows, "shown", (json_int_t)shown, "all", all);
    put_best(&words, s);
    json_put(&words, "explain", json_string(""));
    json_put(&words, "stood_for", record_pack_stood_for(s->tuned, s->problem, s->problem_count));
    return words;
}
