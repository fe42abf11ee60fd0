#include "record/table.h"

#include <string.h>

#include "base/json_text.h"
#include "base/paths.h"

static json_t *text_or_null(const char *text)
{
    return text && text[0] ? json_string(text) : json_null();
}

static json_t *number_or_null(double v)
{
    return v > 0 ? json_real(v) : json_null();
}

static json_t *time_or_null(int64_t time_ns)
{
    return time_ns > 0 ? json_integer(time_ns) : json_null();
}

/* The object of an entry or a portfolio as the file has it. */
static json_t *in_file(const record *r, const char *list, size_t place)
{
    json_t *found = json_array_get(json_object_get(r->root, list), place);
    return found ? json_incref(found) : json_null();
}

static json_t *timed(const record_values *configuration, int64_t time_ns, int64_t low_ns,
                     int64_t high_ns)
{
    json_t *out = json_object();
    json_put(&out, "configuration", record_pack_values(configuration));
    json_put(&out, "time_ns", time_or_null(time_ns));
    json_put(&out, "time_low_ns", time_or_null(low_ns));
    json_put(&out, "time_high_ns", time_or_null(high_ns));
    return out;
}

static json_t *entry_table(const record *r, const record_entry *e)
{
    json_t *contenders = json_array();
    json_t *out = timed(&e->configuration, e->time_ns, e->time_low_ns, e->time_high_ns);
    json_put(&out, "problem", record_pack_values(&e->problem));
    json_put(&out, "baseline",
             e->baseline.count
                 ? timed(&e->baseline, e->baseline_ns, e->baseline_low_ns, e->baseline_high_ns)
                 : json_null());
    for (size_t i = 0; i < e->contender_count; i++)
        json_append(&contenders,
                    timed(&e->contenders[i].configuration, e->contenders[i].time_ns,
                          e->contenders[i].time_low_ns, e->contenders[i].time_high_ns));
    json_put(&out, "contenders", contenders);
    json_put(&out, "speedup", number_or_null(e->speedup));
    json_put(&out, "gbps", number_or_null(e->gbps));
    json_put(&out, "gflops", number_or_null(e->gflops));
    json_put(&out, "gitems", number_or_null(e->gitems));
    json_put(&out, "item", text_or_null(e->item));
    json_put(&out, "ceiling", text_or_null(e->ceiling));
    json_put(&out, "ceiling_fraction", number_or_null(e->ceiling_fraction));
    json_put(&out, "warm_cache", json_boolean(e->warm_cache));
    json_put(&out, "after", text_or_null(e->after));
    json_put(&out, "energy", json_boolean(e->energy));
    json_put(&out, "oracle", json_string(e->oracle));
    json_put(&out, "date", text_or_null(e->date));
    json_put(&out, "tool", text_or_null(e->tool));
    json_put(&out, "effort", text_or_null(e->effort));
    json_put(&out, "script_hash", text_or_null(e->script_hash));
    json_put(&out, "template_hash", text_or_null(e->template_hash));
    json_put(&out, "source_hash", text_or_null(e->source_hash));
    json_put(&out, "file", in_file(r, "entries", e->place));
    return out;
}

static json_t *node_table(const record_portfolio *p, const record_node *n)
{
    json_t *out = json_object(), *order = json_array();
    const bool asks = n->variable != NULL, bounded = asks && !n->multiple_of;
    const char *variable = n->feature ? NULL : n->variable;
    for (size_t i = 0; !asks && i < p->configuration_count; i++)
        json_append(&order, json_integer(n->order[i]));
    json_put(&out, "variable", text_or_null(variable));
    json_put(&out, "feature", text_or_null(n->feature ? n->feature->name : NULL));
    json_put(&out, "of", n->feature ? json_integer((json_int_t)n->of) : json_null());
    json_put(&out, "times", text_or_null(n->times));
    json_put(&out, "below",
             bounded && value_is_number(n->bound) ? json_from_value(n->bound) : json_null());
    json_put(&out, "is",
             bounded && !value_is_number(n->bound) ? json_from_value(n->bound) : json_null());
    json_put(&out, "multiple_of", n->multiple_of ? json_integer(n->multiple_of) : json_null());
    json_put(&out, "then", asks ? json_integer((json_int_t)n->then) : json_null());
    json_put(&out, "otherwise", asks ? json_integer((json_int_t)n->otherwise) : json_null());
    json_put(&out, "order", order);
    json_put(&out, "default_at",
             !asks && n->has_default ? json_integer(n->default_at) : json_null());
    return out;
}

static json_t *portfolio_table(const record *r, const record_portfolio *p)
{
    json_t *out = json_object(), *configurations = json_array(), *tree = json_array();
    json_t *choose_by = json_object();
    for (size_t i = 0; i < p->configuration_count; i++)
        json_append(&configurations, record_pack_values(&p->configurations[i]));
    for (size_t i = 0; i < p->node_count; i++)
        json_append(&tree, node_table(p, &p->nodes[i]));
    for (size_t i = 0; i < p->feature_count; i++)
        json_put(&choose_by, p->features[i].name, json_string(p->features[i].definition));
    json_put(&out, "choose_by", choose_by);
    json_put(&out, "fixed", record_pack_values(&p->fixed));
    json_put(&out, "configurations", configurations);
    json_put(&out, "tree", tree);
    json_put(&out, "held_out", p->held_out ? json_integer((json_int_t)p->held_out) : json_null());
    json_put(&out, "mean_regret", p->held_out ? json_real(p->mean_regret) : json_null());
    json_put(&out, "worst_regret", p->held_out ? json_real(p->worst_regret) : json_null());
    json_put(&out, "date", text_or_null(p->date));
    json_put(&out, "file", in_file(r, "portfolios", p->place));
    return out;
}

json_t *record_table(const record *r)
{
    char slug[PATHS_SLUG_BYTES];
    json_t *out = json_object(), *entries = json_array(), *portfolios = json_array();
    paths_slug(r->gpu, slug);
    for (size_t i = 0; i < r->entry_count; i++)
        json_append(&entries, entry_table(r, &r->entries[i]));
    for (size_t i = 0; i < r->portfolio_count; i++)
        json_append(&portfolios, portfolio_table(r, &r->portfolios[i]));
    json_put(&out, "pattern", json_string(r->pattern));
    json_put(&out, "gpu", json_string(r->gpu));
    json_put(&out, "slug", json_string(slug));
    json_put(&out, "major", json_integer(r->major));
    json_put(&out, "minor", json_integer(r->minor));
    json_put(&out, "path", r->path ? json_path(r->path) : json_null());
    json_put(&out, "entries", entries);
    json_put(&out, "portfolios", portfolios);
    json_put(&out, "file", r->root ? json_incref(r->root) : json_null());
    return out;
}
