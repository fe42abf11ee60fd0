#include "record/pick.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define AUTOTUNE_FUNCTION static inline
#include "pick_rules.h"

_Static_assert((int)PICK_EXACT == (int)AUTOTUNE_RULE_EXACT &&
                   (int)PICK_PORTFOLIO == (int)AUTOTUNE_RULE_PORTFOLIO &&
                   (int)PICK_NEAREST == (int)AUTOTUNE_RULE_NEAREST &&
                   (int)PICK_CAPABILITY == (int)AUTOTUNE_RULE_CAPABILITY &&
                   (int)PICK_MAJOR == (int)AUTOTUNE_RULE_MAJOR &&
                   (int)PICK_DEFAULT == (int)AUTOTUNE_RULE_DEFAULT &&
                   (int)PICK_OTHER == (int)AUTOTUNE_RULE_OTHER &&
                   (int)PICK_NONE == (int)AUTOTUNE_RULE_NONE,
               "rules have one order");

const char *pick_rule_name(pick_rule rule)
{
    const char *name = autotune_rule_name((autotune_rule)rule);
    return *name ? name : "unknown";
}

/* Tests a feature. Sets `*known` to false if the target does not compute the feature. */
static bool is_feature_below(const record_portfolio *p, const record_node *n,
                             const pick_target *target, bool *known)
{
    double found = 0;
    *known =
        target->ask && target->ask(target->context, n->feature, &p->configurations[n->of], &found);
    return *known && found < value_number(n->bound);
}

static bool goes_to_then(const record_node *n, const record_values *problem)
{
    const value *v = record_get(problem, n->variable);
    const value *by = n->times ? record_get(problem, n->times) : NULL;
    if (!v || (n->times && !(by && value_is_number(*by))))
        return false;
    if (n->multiple_of)
        return v->kind == VALUE_INTEGER && v->integer % n->multiple_of == 0;
    if (!value_is_number(n->bound))
        return value_equal(*v, n->bound);
    return value_is_number(*v) &&
           value_number(*v) * (by ? value_number(*by) : 1) < value_number(n->bound);
}

/* Returns the leaf for the target's problem, or NULL if the portfolio does not serve the problem or
 * its tree cannot be followed. */
static const record_node *leaf_of(const record_portfolio *p, const pick_target *target)
{
    for (size_t i = 0; i < p->fixed.count; i++) {
        const value *v = record_get(target->problem, p->fixed.pairs[i].name);
        if (!v || !value_equal(*v, p->fixed.pairs[i].value))
            return NULL;
    }
    const record_node *n = &p->nodes[0];
    bool known = true;
    while (n->variable && known) {
        bool then =
            n->feature ? is_feature_below(p, n, target, &known) : goes_to_then(n, target->problem);
        n = &p->nodes[then ? n->then : n->otherwise];
    }
    return known ? n : NULL;
}

static bool comes_before(const pick_candidate *a, const pick_candidate *b)
{
    if (a->distance != b->distance)
        return a->distance < b->distance;
    if (a->preference != b->preference)
        return a->preference < b->preference;
    return a->place < b->place;
}

static pick_rule rule_of(const pick_walk *w, const record *from, int portfolio_place,
                         bool same_problem)
{
    const pick_target *t = w->target;
    return (pick_rule)autotune_rule_for(strcmp(from->gpu, t->gpu) == 0, from->major == t->major,
                                        from->minor == t->minor, portfolio_place, same_problem);
}

/* Returns the distances of the table's problems from the target's, or NULL if memory ran out. */
static const double *distances_of(pick_walk *w)
{
    if (!w->has_distances)
        w->has_distances = pick_table_distances(w->table, w->target->problem, w->distances);
    w->lacks_memory = w->lacks_memory || !w->has_distances;
    return w->has_distances ? w->distances : NULL;
}

static void add_portfolio(pick_walk *w, const pick_record *r, const record_portfolio *p,
                          size_t kept)
{
    const record_node *leaf = leaf_of(p, w->target);
    for (size_t i = 0; leaf && i < p->configuration_count; i++)
        w->items[w->count++] =
            (pick_candidate){.rule = w->rule,
                             .distance = autotune_rank((autotune_rule)w->rule, (int)i, 0),
                             .place = r->place + kept + i,
                             .from = r->from,
                             .configuration = &p->configurations[leaf->order[i]],
                             .number = r->portfolio_numbers[kept + leaf->order[i]],
                             .portfolio_place = (int)i,
                             .ahead = leaf->has_default ? leaf->default_at : -1};
}

static void add_portfolios(pick_walk *w, const pick_record *r)
{
    size_t kept = 0;
    for (size_t p = 0; p < r->from->portfolio_count; p++) {
        add_portfolio(w, r, &r->from->portfolios[p], kept);
        kept += r->from->portfolios[p].configuration_count;
    }
}

/* Adds the record's entries on the target's problem, or its entries on other problems. */
static void add_entries(pick_walk *w, const pick_record *r, bool same_problem)
{
    const double *distances = same_problem ? NULL : distances_of(w);
    for (size_t i = 0; (same_problem || distances) && i < r->from->entry_count; i++) {
        const pick_entry *e = &r->entries[i];
        const double distance = same_problem ? 0 : distances[e->problem];
        if ((e->problem == w->problem) == same_problem)
            w->items[w->count++] =
                (pick_candidate){.rule = w->rule,
                                 .distance = autotune_rank((autotune_rule)w->rule, -1, distance),
                                 .preference = pick_preference(e->entry),
                                 /* Entries come after the record's portfolios. */
                                 .place = r->place + r->kept_count + i,
                                 .from = r->from,
                                 .entry = e->entry,
                                 .configuration = &e->entry->configuration,
                                 .number = e->configuration,
                                 .portfolio_place = -1,
                                 .ahead = -1};
    }
}

static void add_default(pick_walk *w)
{
    if (w->fallback)
        w->items[w->count++] = (pick_candidate){
            .rule = PICK_DEFAULT, .configuration = w->fallback, .portfolio_place = -1, .ahead = -1};
}

static void find_candidates(pick_walk *w)
{
    w->at = w->count = 0;
    if (w->rule == PICK_DEFAULT)
        add_default(w);
    for (size_t i = 0; i < w->table->record_count; i++) {
        const pick_record *r = &w->table->records[i];
        if (rule_of(w, r->from, 0, false) == w->rule)
            add_portfolios(w, r);
        if (rule_of(w, r->from, -1, true) == w->rule)
            add_entries(w, r, true);
        if (rule_of(w, r->from, -1, false) == w->rule)
            add_entries(w, r, false);
    }
}

void pick_walk_begin(pick_walk *w, const pick_table *t, const pick_target *target)
{
    *w = (pick_walk){.table = t,
                     .target = target,
                     .fallback = target->fallback ? target->fallback : t->fallback,
                     .problem = record_class_find(&t->problems, target->problem),
                     .distances = malloc((t->problems.count + 1) * sizeof *w->distances),
                     .items = malloc((t->candidate_count + 1) * sizeof *w->items)};
    w->lacks_memory = !w->distances || !w->items;
    if (!w->lacks_memory)
        find_candidates(w);
}

void pick_walk_end(pick_walk *w)
{
    free(w->distances);
    free(w->items);
    *w = (pick_walk){0};
}

bool pick_walk_next(pick_walk *w, pick_candidate *out)
{
    while (w->at == w->count && !w->lacks_memory) {
        if (w->rule + 1 == PICK_NONE)
            return false;
        w->rule++;
        find_candidates(w);
    }
    if (w->lacks_memory)
        return false;
    /* Callers take only a few candidates, so this finds the first and does not sort the rest. */
    size_t first = w->at;
    for (size_t i = w->at + 1; i < w->count; i++)
        if (comes_before(&w->items[i], &w->items[first]))
            first = i;
    *out = w->items[first];
    w->items[first] = w->items[w->at++];
    return true;
}

/* Returns the comparison of the candidate with the default, on the nearest problem on which the
 * candidate's GPU timed both. Returns NULL if there is none. Times with the data in the L2 cache
 * are compared only with each other. */
static const record_comparison *nearest_seen(pick_walk *w, const pick_candidate *c)
{
    const pick_record *r = w->table->records;
    while (r->from != c->from)
        r++;
    const bool warm_cache = c->entry && c->entry->warm_cache;
    const double *distances = distances_of(w);
    const record_comparison *nearest = NULL;
    double least = INFINITY;
    for (size_t i = 0; distances && i < r->from->comparison_count; i++) {
        const pick_comparison *s = &r->seen[i];
        if (s->configuration != c->number || s->seen->warm_cache != warm_cache ||
            distances[s->problem] >= least)
            continue;
        nearest = s->seen;
        least = distances[s->problem];
    }
    return nearest;
}

static bool is_possible(const pick_target *target, const record_values *configuration)
{
    return !target->fits || target->fits(target->context, configuration);
}

pick_verdict pick_judge(pick_walk *w, const pick_candidate *c, const record_comparison **seen)
{
    if (!is_possible(w->target, c->configuration))
        return PICK_IMPOSSIBLE;
    /* An entry on the target's own problem needs no comparison. */
    const bool asked = c->from && c->ahead < 0 && c->rule != PICK_EXACT;
    const record_comparison *s = asked ? nearest_seen(w, c) : NULL;
    bool faster = !s || s->standing == RECORD_FASTER;
    if (!c->from ||
        !autotune_default_will_do((autotune_rule)c->rule, c->portfolio_place, c->ahead, faster))
        return PICK_GOOD;
    if (seen && s)
        *seen = s;
    return s && s->standing == RECORD_SLOWER ? PICK_SLOWER : PICK_EQUAL;
}

pick_rule pick_from(const pick_table *t, const pick_target *target, pick_candidate *out)
{
    pick_walk w;
    pick_walk_begin(&w, t, target);
    const bool has_default = w.fallback && is_possible(target, w.fallback);
    bool as_good = false; /* the default is as good as a candidate */
    bool found = false;
    pick_candidate next;
    while (!found && pick_walk_next(&w, &next)) {
        const record_comparison *seen = NULL;
        if (as_good && (next.portfolio_place < 0 || next.rule != out->rule))
            break;
        pick_verdict verdict = pick_judge(&w, &next, &seen);
        *out = next;
        /* If the default is impossible, a slow configuration is better than no configuration. If no
         * default is known, the next candidate may be faster. */
        bool will_do = verdict == PICK_EQUAL || (verdict == PICK_SLOWER && w.fallback);
        found = verdict == PICK_GOOD || (will_do && !has_default);
        if (!found && target->refused)
            target->refused(target->context, out, verdict, seen);
        as_good = as_good || (has_default && verdict != PICK_IMPOSSIBLE);
    }
    if (!found)
        *out = as_good ? (pick_candidate){.rule = PICK_DEFAULT, .configuration = w.fallback}
                       : (pick_candidate){.rule = PICK_NONE};
    if (w.lacks_memory)
        *out = (pick_candidate){.rule = PICK_NONE, .lacks_memory = true};
    pick_walk_end(&w);
    return out->rule;
}

pick_rule pick(const record_set *set, const pick_target *target, pick_candidate *out)
{
    pick_table t;
    *out = (pick_candidate){.rule = PICK_NONE, .lacks_memory = true};
    if (!pick_table_make(set, &t, NULL))
        pick_from(&t, target, out);
    pick_table_deinit(&t);
    return out->rule;
}
