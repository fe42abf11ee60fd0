/* Reads portfolios, and collects all comparisons of configurations with the pattern's default. */
#include <stdlib.h>
#include <string.h>

#include "base/json_text.h"
#include "record/record.h"
#include "record/schema.h"
#include "space/pattern.h"

static void read_order(record_reading *r, const json_t *j, const json_t *default_at,
                       const record_portfolio *p, record_node *out)
{
    bool used[RECORD_MAX_KEPT] = {false};
    if (!json_is_array(j) || json_array_size(j) != p->configuration_count)
        record_bad(r, "order", "an array of all the portfolio's configurations");
    for (size_t i = 0; i < p->configuration_count && !r->status; i++) {
        const json_t *at = json_array_get(j, i);
        json_int_t place = json_integer_value(at);
        if (!json_is_integer(at) || place < 0 || (size_t)place >= p->configuration_count ||
            used[place]) {
            record_bad(r, "order", "each configuration's place, from 0, once");
            return;
        }
        used[place] = true;
        out->order[i] = (uint8_t)place;
    }
    json_int_t place = json_integer_value(default_at);
    if (default_at &&
        (!json_is_integer(default_at) || place < 0 || (size_t)place > p->configuration_count))
        record_bad(r, "default_at", "the number of configurations before the default");
    out->has_default = default_at;
    out->default_at = (uint8_t)place;
}

static const record_feature *find_feature(const record_portfolio *p, const json_t *name)
{
    for (size_t i = 0; i < p->feature_count && json_is_string(name); i++)
        if (strcmp(p->features[i].name, json_string_value(name)) == 0)
            return &p->features[i];
    return NULL;
}

/* Reads the feature of a node {"feature": "waves", "of": 2, "below": 1.5, ...}. */
static void read_feature_node(record_reading *r, const json_t *j, const json_t *feature,
                              const record_portfolio *p, record_node *out)
{
    const json_t *of = json_object_get(j, "of");
    out->feature = find_feature(p, feature);
    if (!out->feature)
        record_bad(r, "feature", "one of the names in \"choose_by\"");
    else
        out->variable = out->feature->name;
    if (of && (!json_is_integer(of) || json_integer_value(of) < 0 ||
               (size_t)json_integer_value(of) >= p->configuration_count))
        record_bad(r, "of", "the place of one of the portfolio's configurations");
    out->is_of_one = of;
    out->of = (size_t)json_integer_value(of);
    if (!json_is_number(json_object_get(j, "below")) || json_object_get(j, "variable") ||
        json_object_get(j, "times") || json_object_get(j, "multiple_of") ||
        json_object_get(j, "is"))
        record_bad(r, "a node that tests a feature", "only a comparison with a number \"below\"");
}

/* Reads a node of the list of a tree's nodes. A walk ends, because children follow parents. */
static void read_node(record_reading *r, const json_t *j, const record_portfolio *p, size_t at,
                      record_node *out)
{
    const json_t *variable = json_object_get(j, "variable"),
                 *feature = json_object_get(j, "feature");
    if (!variable && !feature) {
        read_order(r, json_object_get(j, "order"), json_object_get(j, "default_at"), p, out);
        return;
    }
    const json_t *below = json_object_get(j, "below"), *is = json_object_get(j, "is");
    const json_t *times = json_object_get(j, "times"),
                 *multiple = json_object_get(j, "multiple_of");
    const json_t *then = json_object_get(j, "then"), *otherwise = json_object_get(j, "else");
    out->variable = json_string_value(variable);
    if (feature)
        read_feature_node(r, j, feature, p, out);
    else if (!out->variable || !record_is_name(out->variable))
        record_bad(r, "variable", "an identifier");
    out->times = json_string_value(times);
    if (times && (!below || !out->times || !record_is_name(out->times)))
        record_bad(r, "times", "an identifier, together with a number \"below\"");
    out->multiple_of = json_integer_value(multiple);
    if (multiple && (!json_is_integer(multiple) || out->multiple_of < 1 || below || is))
        record_bad(r, "multiple_of", "a whole number from 1 on, without \"below\" and \"is\"");
    if (multiple)
        out->bound = (value){.kind = VALUE_INTEGER, .integer = out->multiple_of};
    else if (below ? !json_to_value(below, &out->bound) || !json_is_number(below)
                   : !json_to_value(is, &out->bound) || json_is_number(is))
        record_bad(r, "a node of the tree",
                   "a test with a number \"below\", a text \"is\" or a number \"multiple_of\"");
    out->then = (size_t)json_integer_value(then);
    out->otherwise = (size_t)json_integer_value(otherwise);
    if (!json_is_integer(then) || !json_is_integer(otherwise) || json_integer_value(then) < 0 ||
        json_integer_value(otherwise) < 0 || out->then <= at || out->otherwise <= at ||
        out->then >= p->node_count || out->otherwise >= p->node_count)
        record_bad(r, "\"then\" and \"else\"", "places of nodes further down the list");
}

static void read_configurations(record_reading *r, const json_t *list, record_portfolio *out)
{
    size_t count = json_array_size(list);
    if (!json_is_array(list) || count == 0 || count > RECORD_MAX_KEPT)
        record_bad(r, "configurations", "an array of 1 to 16");
    if (r->status)
        return;
    out->configurations = calloc(count, sizeof *out->configurations);
    if (!out->configurations)
        record_no_memory(r);
    for (size_t i = 0; i < count && !r->status; i++)
        record_read_values(r, json_array_get(list, i), "configurations",
                           &out->configurations[out->configuration_count++]);
}

/* Reads the features {NAME: DEFINITION, ...}. */
static void read_features(record_reading *r, json_t *list, record_portfolio *out)
{
    const char *name;
    json_t *definition;
    size_t count = json_object_size(list);
    if (list && (!json_is_object(list) || count > PATTERN_MAX_FEATURES))
        record_bad(r, "choose_by", "an object of at most 8 names");
    if (r->status || !count)
        return;
    out->features = calloc(count, sizeof *out->features);
    if (!out->features)
        record_no_memory(r);
    json_object_foreach(list, name, definition)
    {
        const char *text = json_string_value(definition);
        if (r->status)
            return;
        if (!record_is_name(name) || !text || strlen(text) >= PATTERN_MAX_DEFINITION_BYTES)
            record_bad(r, "choose_by", "identifiers, each with a text of less than 2000 bytes");
        out->features[out->feature_count++] = (record_feature){name, text};
    }
}

static void read_tree(record_reading *r, const json_t *list, record_portfolio *out)
{
    size_t count = json_array_size(list);
    if (!json_is_array(list) || count == 0 || count > RECORD_MAX_NODES)
        record_bad(r, "tree", "an array of 1 to 255 nodes");
    if (r->status)
        return;
    out->nodes = calloc(count, sizeof *out->nodes);
    if (!out->nodes)
        record_no_memory(r);
    out->node_count = count;
    for (size_t i = 0; i < count && !r->status; i++)
        read_node(r, json_array_get(list, i), out, i, &out->nodes[i]);
}

static void read_portfolio(record_reading *r, const json_t *j, record_portfolio *out)
{
    const json_t *regret = json_object_get(j, "regret");
    const char *date = json_string_value(json_object_get(j, "date"));
    json_int_t held_out = json_integer_value(json_object_get(regret, "held_out"));
    out->date = date ? date : "";
    record_read_values(r, json_object_get(j, "fixed"), "fixed", &out->fixed);
    read_configurations(r, json_object_get(j, "configurations"), out);
    read_features(r, json_object_get(j, "choose_by"), out);
    read_tree(r, json_object_get(j, "tree"), out);
    out->held_out = held_out > 0 ? (size_t)held_out : 0;
    out->mean_regret = json_number_value(json_object_get(regret, "mean"));
    out->worst_regret = json_number_value(json_object_get(regret, "worst"));
}

static void portfolio_deinit(record_portfolio *p)
{
    for (size_t c = 0; c < p->configuration_count; c++)
        free(p->configurations[c].pairs);
    free(p->configurations);
    free(p->features);
    free(p->nodes);
    free(p->fixed.pairs);
    *p = (record_portfolio){0};
}

void record_read_portfolios(record_reading *r, const json_t *root, record *out)
{
    const json_t *list = json_object_get(root, "portfolios");
    size_t count = json_array_size(list);
    if (!list || json_is_null(list) || r->status)
        return;
    if (!json_is_array(list) || count > RECORD_MAX_ENTRIES) {
        record_bad(r, "portfolios", "an array of 10000 at most");
        record_leave_out(r, "portfolios", 0);
        return;
    }
    out->portfolios = calloc(count ? count : 1, sizeof *out->portfolios);
    if (!out->portfolios)
        record_no_memory(r);
    for (size_t i = 0; i < count && !r->status; i++) {
        record_portfolio *p = &out->portfolios[out->portfolio_count++];
        p->place = i;
        read_portfolio(r, json_array_get(list, i), p);
        if (r->status) {
            portfolio_deinit(p);
            out->portfolio_count--;
            record_leave_out(r, "portfolios", i);
        }
    }
}

static void note(record *out, const record_values *problem, const record_values *configuration,
                 bool warm_cache, record_standing standing)
{
    out->seen[out->comparison_count++] =
        (record_comparison){problem, configuration, warm_cache, standing};
}

static record_standing compare_medians(double median, double baseline)
{
    return median * (1 + RECORD_NOISE) < baseline   ? RECORD_FASTER
           : median > baseline * (1 + RECORD_NOISE) ? RECORD_SLOWER
                                                    : RECORD_EQUAL;
}

/* Compares a time with the default's by their intervals. A difference below RECORD_NOISE does not
 * count as faster, because it promises nothing for another problem. */
static record_standing compare_times(const record_entry *e, int64_t low_ns, int64_t median_ns,
                                     int64_t high_ns)
{
    if (low_ns > e->baseline_high_ns)
        return RECORD_SLOWER;
    return high_ns < e->baseline_low_ns &&
                   compare_medians((double)median_ns, (double)e->baseline_ns) == RECORD_FASTER
               ? RECORD_FASTER
               : RECORD_EQUAL;
}

/* Adds an entry's comparisons, or only a comparison by its speedup if the default was not timed. */
static void note_entry(record *out, const record_entry *e)
{
    const bool warm = e->warm_cache;
    if (e->energy || (!e->baseline_ns && e->speedup <= 0))
        return;
    note(out, &e->problem, &e->configuration, warm,
         e->baseline_ns ? compare_times(e, e->time_low_ns, e->time_ns, e->time_high_ns)
                        : compare_medians(1, e->speedup));
    for (size_t i = 0; i < e->contender_count && e->baseline_ns; i++) {
        const record_contender *c = &e->contenders[i];
        note(out, &e->problem, &c->configuration, warm,
             compare_times(e, c->time_low_ns, c->time_ns, c->time_high_ns));
    }
}

/* Adds the comparisons of {"problem": {}, "baseline_ns": 1, "times_ns": [1, null, ...]}, where null
 * marks an impossible configuration. */
static void note_problem(record_reading *r, const json_t *j, const record_portfolio *p, record *out)
{
    record_values *problem = &out->seen_problems[out->seen_problem_count++];
    const json_t *times = json_object_get(j, "times_ns");
    double baseline = (double)json_integer_value(json_object_get(j, "baseline_ns"));
    record_read_values(r, json_object_get(j, "problem"), "problem", problem);
    if (!json_is_array(times) || json_array_size(times) != p->configuration_count)
        record_bad(r, "times_ns", "an array with a time for each configuration");
    for (size_t i = 0; i < p->configuration_count && baseline > 0 && !r->status; i++) {
        const json_t *time = json_array_get(times, i);
        if (json_is_integer(time))
            note(out, problem, &p->configurations[i], false,
                 compare_medians((double)json_integer_value(time), baseline));
    }
}

static const json_t *problems_of(const json_t *portfolios, const record_portfolio *p)
{
    return json_object_get(json_array_get(portfolios, p->place), "problems");
}

void record_note_comparisons(record_reading *r, const json_t *root, record *out)
{
    const json_t *portfolios = json_object_get(root, "portfolios");
    size_t problems = 0;
    for (size_t i = 0; i < out->portfolio_count; i++)
        problems += json_array_size(problems_of(portfolios, &out->portfolios[i]));
    if (problems > RECORD_MAX_ENTRIES)
        record_bad(r, "problems", "10000 at most");
    if (r->status)
        return;
    out->seen =
        calloc(out->entry_count * (RECORD_MAX_CONTENDERS + 1) + problems * RECORD_MAX_KEPT + 1,
               sizeof *out->seen);
    out->seen_problems = calloc(problems + 1, sizeof *out->seen_problems);
    if (!out->seen || !out->seen_problems) {
        record_no_memory(r);
        return;
    }
    for (size_t i = 0; i < out->entry_count; i++)
        note_entry(out, &out->entries[i]);
    for (size_t i = 0; i < out->portfolio_count; i++) {
        const json_t *list = problems_of(portfolios, &out->portfolios[i]);
        for (size_t p = 0; p < json_array_size(list) && !r->status; p++) {
            note_problem(r, json_array_get(list, p), &out->portfolios[i], out);
            record_leave_out(r, "portfolios", out->portfolios[i].place);
        }
    }
}

void record_portfolios_deinit(record *r)
{
    for (size_t i = 0; i < r->portfolio_count; i++)
        portfolio_deinit(&r->portfolios[i]);
    for (size_t i = 0; i < r->seen_problem_count; i++)
        free(r->seen_problems[i].pairs);
    free(r->portfolios);
    free(r->seen_problems);
    free(r->seen);
}

const record_portfolio *record_same_portfolio(const record *r, const record_portfolio *like)
{
    for (size_t i = 0; i < r->portfolio_count; i++)
        if (record_same_values(&r->portfolios[i].fixed, &like->fixed))
            return &r->portfolios[i];
    return NULL;
}

bool record_put_portfolio(const record *r, const record_portfolio *there, json_t *packed)
{
    json_t *list = json_object_get(r->root, "portfolios");
    if (there)
        return json_array_set(list, there->place, packed) == 0;
    if (json_is_array(list))
        return json_array_append(list, packed) == 0;
    return json_object_set_new(r->root, "portfolios", json_pack("[O]", packed)) == 0;
}
