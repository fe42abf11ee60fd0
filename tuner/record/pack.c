#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/json_text.h"
#include "base/paths.h"
#include "record/merge.h"
#include "record/record.h"
#include "record/schema.h"
#include "record/summary.h"

/* The most contenders that an entry keeps, because the finals take this many beside the best. */
enum { CONTENDERS = 4 };

/* A landscape (below) has about LANDSCAPE_TIMES times of at most LANDSCAPE_LEVELS values. */
enum { LANDSCAPE_TIMES = 256, LANDSCAPE_LEVELS = 64 };

/* Significant digits of recorded figures, about the precision of a measurement. */
enum { RATE_DIGITS = 5, FRACTION_DIGITS = 4, SECONDS_DIGITS = 4 };

/* The members of an entry that this version writes. Members of other versions are kept. */
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

json_t *record_pack_tuned_difference(const pattern_variable *tuned, const pattern_variable *problem,
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

/* Puts the rates: "gbps" always, "gflops" and "gitems" if the pattern states flops or items. */
static void put_rates(json_t **object, const run_result *r)
{
    static const char *const names[WORK_UNITS] = {
        [WORK_BYTES] = "gbps", [WORK_FLOPS] = "gflops", [WORK_ITEMS] = "gitems"};
    for (int u = 0; u < WORK_UNITS; u++)
        if (u == WORK_BYTES || r->rates[u] > 0)
            json_put(object, names[u], json_rounded(r->rates[u], RATE_DIGITS));
}

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

/* Packs the variants that rank after the best and raced against the default. */
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

/* ---- the landscape: the times of all variants, by the value of one parameter ---- */

/* The values of one parameter that occur, with the times of their variants. */
typedef struct landscape_levels {
    value values[LANDSCAPE_LEVELS];
    double sums[LANDSCAPE_LEVELS]; /* sums of log(time in ns) */
    size_t counts[LANDSCAPE_LEVELS], level_count, count;
} landscape_levels;

static bool is_timed(const run_result *r)
{
    return r->found.outcome == OUTCOME_OK && r->time.median_ns > 0 && r->time.count > 0 &&
           !r->is_twin;
}

/* Groups the variants by their value of a parameter. Returns the variance of log(time) between the
 * groups, or 0 if there are more than LANDSCAPE_LEVELS groups. */
static double variance_between_values(const run_summary *s, size_t parameter, landscape_levels *out)
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

/* Packs the times of the variants with one value: of many, every step-th and the last. */
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

/* Packs the times of all variants, grouped by the parameter that explains most of their variance.
 * Returns NULL if no parameter varies. */
static json_t *pack_landscape(const run_summary *s)
{
    landscape_levels levels;
    size_t parameter = s->parameter_count;
    double most = 0;
    for (size_t p = 0; p < s->parameter_count; p++) {
        const double between = variance_between_values(s, p, &levels);
        if (between > most) {
            most = between;
            parameter = p;
        }
    }
    if (parameter == s->parameter_count)
        return NULL;
    variance_between_values(s, parameter, &levels);
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

json_t *record_pack_entry(const run_summary *s)
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
        best->source_hash, "device", record_pack_device(s), "measured", "cache",
        s->warm_cache ? "warm" : "cold", "objective", s->objective ? s->objective : "time", "date",
        s->date, "tool", version_text());
    json_put(&entry, "proof",
             best->proven
                 ? json_pack("{sb so}", "proven", 1, "covered", coverage_pack(best->coverage))
                 : json_pack("{sb so}", "proven", 0, "why", json_foreign_text(best->unproven)));
    put_rates(&entry, best);
    put_work(&entry, s);
    json_put(&entry, "contenders", pack_contenders(s));
    json_t *landscape = pack_landscape(s);
    if (landscape)
        json_put(&entry, "landscape", landscape);
    if (*s->after)
        json_object_set_new(json_object_get(entry, "measured"), "after", json_string(s->after));
    if (s->oracle != ORACLE_REFERENCE)
        json_put(&entry, "oracle", json_string(oracle_name(s->oracle)));
    if (best->energy_j > 0)
        json_put(&entry, "energy",
                 json_pack("{so so}", "launch_j", json_rounded(best->energy_j, 4), "power_w",
                           json_rounded(best->power_w, 4)));
    return entry;
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

static json_t *pack_node(const record_portfolio *p, const record_node *n)
{
    json_t *object = json_object();
    if (!n->variable) {
        json_t *order = json_array();
        for (size_t i = 0; i < p->configuration_count; i++)
            json_append(&order, json_integer(n->order[i]));
        json_put(&object, "order", order);
        if (n->has_default)
            json_put(&object, "default_at", json_integer(n->default_at));
        return object;
    }
    json_put(&object, n->feature ? "feature" : "variable", json_string(n->variable));
    if (n->is_of_one)
        json_put(&object, "of", json_integer((json_int_t)n->of));
    if (n->times)
        json_put(&object, "times", json_string(n->times));
    bool number = value_is_number(n->bound);
    json_put(&object,
             n->multiple_of ? "multiple_of"
             : number       ? "below"
                            : "is",
             n->multiple_of ? json_integer(n->multiple_of) : json_from_value(n->bound));
    json_put(&object, "then", json_integer((json_int_t)n->then));
    json_put(&object, "else", json_integer((json_int_t)n->otherwise));
    return object;
}

/* Packs the features that nodes test. Returns NULL if there are none. */
static json_t *pack_features(const record_portfolio *p)
{
    json_t *object = NULL;
    for (size_t i = 0; i < p->node_count; i++) {
        const record_feature *f = p->nodes[i].feature;
        if (!f)
            continue;
        if (!object)
            object = json_object();
        json_object_set_new(object, f->name, json_string(f->definition));
    }
    return object;
}

static json_t *pack_problem(const record_portfolio *p, const draft_problem *d)
{
    json_t *times = json_array();
    for (size_t i = 0; i < p->configuration_count; i++)
        json_append(&times, d->times_ns[i] ? json_integer(d->times_ns[i]) : json_null());
    json_t *object = json_pack("{so}", "problem", record_pack_values(&d->problem));
    if (d->baseline_ns)
        json_put(&object, "baseline_ns", json_integer(d->baseline_ns));
    json_put(&object, "times_ns", times);
    return object;
}

json_t *record_pack_portfolio(const portfolio_draft *d)
{
    const record_portfolio *p = d->portfolio;
    json_t *configurations = json_array(), *tree = json_array(), *problems = json_array();
    for (size_t i = 0; i < p->configuration_count; i++)
        json_append(&configurations, record_pack_values(&p->configurations[i]));
    for (size_t i = 0; i < p->node_count; i++)
        json_append(&tree, pack_node(p, &p->nodes[i]));
    for (size_t i = 0; i < d->problem_count; i++)
        json_append(&problems, pack_problem(p, &d->problems[i]));
    json_t *root = json_pack("{so so so so}", "fixed", record_pack_values(&p->fixed),
                             "configurations", configurations, "tree", tree, "problems", problems);
    json_t *features = pack_features(p);
    if (features)
        json_put(&root, "choose_by", features);
    if (p->held_out)
        json_put(&root, "regret",
                 json_pack("{sI so so}", "held_out", (json_int_t)p->held_out, "mean",
                           json_rounded(p->mean_regret, FRACTION_DIGITS), "worst",
                           json_rounded(p->worst_regret, FRACTION_DIGITS)));
    json_put(&root, "hashes",
             json_pack("{ss ss}", "script", d->script_hash, "template", d->template_hash));
    json_put(&root, "date", json_string(p->date));
    json_put(&root, "tool", json_string(version_text()));
    return root;
}

/* Packs a text, or JSON null if the text is empty. */
static json_t *text_json(const char *text)
{
    return text[0] ? json_string(text) : json_null();
}

json_t *coverage_pack(const device_coverage *c)
{
    json_t *tuned = json_null();
    if (!c || !c->problems[0])
        return json_null();
    if (c->blocks > 0 && !c->whole)
        tuned = json_pack("{sI sI sI sI sI}", "blocks", (json_int_t)c->blocks, "run",
                          (json_int_t)c->run, "cut", (json_int_t)c->cut, "blind",
                          (json_int_t)c->blind, "compared", (json_int_t)c->compared);
    return json_pack("{ss ss so so so so so so}", "problems", c->problems, "extent",
                     c->smaller ? "smaller" : "tuned", "tuned", tuned, "skipped",
                     text_json(c->skipped), "never_ran", text_json(c->never), "ran_once",
                     text_json(c->once), "allowed", text_json(c->allowed), "unwatched",
                     text_json(c->unwatched));
}
