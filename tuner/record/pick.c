#include "record/pick.h"

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

double pick_scale(double x)
{
    return autotune_scale(x);
}

double pick_value_distance(value a, value b)
{
    if (value_is_number(a) && value_is_number(b))
        return autotune_apart(value_number(a), value_number(b));
    return value_equal(a, b) ? 0 : AUTOTUNE_UNLIKE;
}

/* The sum over all variables of both. */
static double pick_distance(const record_values *a, const record_values *b)
{
    double distance = 0;
    size_t shared = 0;
    for (size_t i = 0; i < a->count; i++) {
        const value *other = record_get(b, a->pairs[i].name);
        shared += other != NULL;
        distance += other ? pick_value_distance(a->pairs[i].value, *other) : AUTOTUNE_UNLIKE;
    }
    return distance + AUTOTUNE_UNLIKE * (double)(b->count - shared);
}

int pick_preference(const record_entry *e)
{
    bool in_context = e->after && *e->after;
    return 3 * e->energy + (in_context ? 0 : 1 + e->warm_cache);
}

/* Sets *known to false where the target does not tell the feature that the node asks for. */
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

/* The leaf for the problem; NULL: the portfolio is not for it. */
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

/* Tells whether a comes before b. Their preference decides between equally far ones: a caller who
 * says nothing more wants the first. */
static bool comes_before(const pick_candidate *a, const pick_candidate *b)
{
    if (a->rule != b->rule)
        return a->rule < b->rule;
    if (a->distance != b->distance)
        return a->distance < b->distance;
    if (a->preference != b->preference)
        return a->preference < b->preference;
    return a->place < b->place;
}

typedef struct search {
    const pick_candidate *after;
    pick_candidate *best;
    bool found;
    size_t place; /* of the next candidate */
} search;

static void consider(search *s, pick_candidate c)
{
    c.place = s->place++;
    if ((s->after && !comes_before(s->after, &c)) || (s->found && !comes_before(&c, s->best)))
        return;
    *s->best = c;
    s->found = true;
}

/* A candidate of a record. The facts that its GPU and the target's share give the rule. */
static pick_candidate candidate_of(const record *from, const pick_target *t, int portfolio_place,
                                   bool same_problem, double distance)
{
    autotune_rule rule = autotune_rule_for(strcmp(from->gpu, t->gpu) == 0, from->major == t->major,
                                           from->minor == t->minor, portfolio_place, same_problem);
    return (pick_candidate){.rule = (pick_rule)rule,
                            .distance = autotune_rank(rule, portfolio_place, distance),
                            .from = from,
                            .portfolio_place = portfolio_place,
                            .ahead = -1};
}

static void consider_portfolio(search *s, const record *from, const record_portfolio *p,
                               const pick_target *t)
{
    const record_node *leaf = leaf_of(p, t);
    for (size_t i = 0; leaf && i < p->configuration_count; i++) {
        pick_candidate c = candidate_of(from, t, (int)i, false, 0);
        c.configuration = &p->configurations[leaf->order[i]];
        c.ahead = leaf->has_default ? leaf->default_at : -1;
        consider(s, c);
    }
}

static void consider_entry(search *s, const record *from, const record_entry *e,
                           const pick_target *t)
{
    pick_candidate c = candidate_of(from, t, -1, record_same_values(&e->problem, t->problem),
                                    pick_distance(&e->problem, t->problem));
    c.preference = pick_preference(e);
    c.entry = e;
    c.configuration = &e->configuration;
    consider(s, c);
}

bool pick_next(const record_set *set, const pick_target *target, const pick_candidate *after,
               pick_candidate *out)
{
    pick_candidate best = {.rule = PICK_NONE};
    search s = {.after = after, .best = &best};
    for (size_t r = 0; r < set->count; r++) {
        const record *rec = &set->records[r];
        for (size_t p = 0; p < rec->portfolio_count; p++)
            consider_portfolio(&s, rec, &rec->portfolios[p], target);
        for (size_t i = 0; i < rec->entry_count; i++)
            consider_entry(&s, rec, &rec->entries[i], target);
    }
    const record_values *fallback = target->fallback ? target->fallback : pick_default(set);
    if (fallback)
        consider(&s, (pick_candidate){.rule = PICK_DEFAULT, .configuration = fallback});
    if (s.found)
        *out = best;
    return s.found;
}

/* The nearest problem on which the candidate's GPU has timed it beside the default; NULL: none.
 * Times with the data in the L2 tell of nothing else. */
static const record_seen *nearest_seen(const pick_candidate *c, const record_values *problem)
{
    const record_seen *nearest = NULL;
    const bool warm_cache = c->entry && c->entry->warm_cache;
    double least = 0;
    for (size_t i = 0; i < c->from->seen_count; i++) {
        const record_seen *s = &c->from->seen[i];
        if (s->warm_cache != warm_cache || !record_same_values(s->configuration, c->configuration))
            continue;
        double distance = pick_distance(s->problem, problem);
        if (!nearest || distance < least) {
            nearest = s;
            least = distance;
        }
    }
    return nearest;
}

static bool is_possible(const pick_target *target, const record_values *configuration)
{
    return !target->fits || target->fits(target->context, configuration);
}

pick_verdict pick_judge(const pick_target *target, const pick_candidate *c,
                        const record_seen **seen)
{
    if (!is_possible(target, c->configuration))
        return PICK_IMPOSSIBLE;
    const record_seen *s = c->from && c->ahead < 0 ? nearest_seen(c, target->problem) : NULL;
    bool faster = !s || s->standing == RECORD_FASTER;
    if (!c->from ||
        !autotune_default_will_do((autotune_rule)c->rule, c->portfolio_place, c->ahead, faster))
        return PICK_GOOD;
    if (seen && s)
        *seen = s;
    return s && s->standing == RECORD_SLOWER ? PICK_SLOWER : PICK_LEVEL;
}

pick_rule pick(const record_set *set, const pick_target *target, pick_candidate *out)
{
    const record_values *fallback = target->fallback ? target->fallback : pick_default(set);
    const bool has_default = fallback && is_possible(target, fallback);
    bool as_good = false; /* the default */
    pick_candidate next;
    const pick_candidate *after = NULL;
    while (pick_next(set, target, after, &next)) {
        const record_seen *seen = NULL;
        if (as_good && (next.entry || next.rule != out->rule))
            break;
        pick_verdict verdict = pick_judge(target, &next, &seen);
        *out = next;
        after = out;
        /* Better slow than nothing, where the default is impossible; where none is known, the next
         * may do. */
        bool will_do = verdict == PICK_LEVEL || (verdict == PICK_SLOWER && fallback);
        if (verdict == PICK_GOOD || (will_do && !has_default))
            return out->rule;
        if (target->refused)
            target->refused(target->context, out, verdict, seen);
        as_good = as_good || (has_default && verdict != PICK_IMPOSSIBLE);
    }
    *out = as_good ? (pick_candidate){.rule = PICK_DEFAULT, .configuration = fallback}
                   : (pick_candidate){.rule = PICK_NONE};
    return out->rule;
}

const record_values *pick_default(const record_set *set)
{
    const record_entry *latest = NULL;
    for (size_t r = 0; r < set->count; r++) {
        for (size_t i = 0; i < set->records[r].entry_count; i++) {
            const record_entry *e = &set->records[r].entries[i];
            /* ISO dates in UTC order as texts do. */
            if (e->baseline.count > 0 && (!latest || strcmp(e->date, latest->date) > 0))
                latest = e;
        }
    }
    return latest ? &latest->baseline : NULL;
}
