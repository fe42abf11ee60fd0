#include "record/draft.h"

#include <jansson.h>
#include <stdio.h>

#include "base/json_text.h"
#include "base/paths.h"
#include "record/schema.h"
#include "record/store.h"

enum { FRACTION_DIGITS = 4 };

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

/* Packs the features that some node asks for; NULL: none is. */
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
    if (object && d->baseline_ns)
        json_put(&object, "baseline_ns", json_integer(d->baseline_ns));
    json_put(&object, "times_ns", times);
    return object;
}

static json_t *pack_portfolio(const portfolio_draft *d)
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
    if (root && p->held_out)
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

static at_status put(const portfolio_draft *d, const record *into, at_error *error)
{
    json_t *packed = pack_portfolio(d);
    bool done =
        packed && record_put_portfolio(into, record_same_portfolio(into, d->portfolio), packed);
    json_decref(packed);
    return done ? AT_OK
                : error_set(error, AT_NO_MEMORY,
                            "no memory to write the record, or a name that is not UTF-8");
}

at_status draft_format(const portfolio_draft *d, char **text, at_error *error)
{
    const record empty = {.root = record_store_empty(d->gpu, d->pattern)};
    at_status status = empty.root ? put(d, &empty, error)
                                  : error_set(error, AT_NO_MEMORY, "no memory for a record");
    if (!status)
        status = json_text_format(empty.root, 0, text, error);
    json_decref(empty.root);
    return status;
}

at_status draft_merge(const char *results_dir, const portfolio_draft *d, char *path,
                      size_t path_bytes, at_error *error)
{
    record_store store;
    at_status status = record_store_open(&store, results_dir, d->gpu, d->pattern, error);
    if (status)
        return status;
    status = put(d, &store.old, error);
    if (!status)
        status = record_store_write(&store, error);
    if (!status)
        snprintf(path, path_bytes, "%s", store.path);
    record_store_close(&store);
    return status;
}
