#include "record/pick.h"

#include <math.h>
#include <string.h>

static const char *const names[PICK_RULES] = {
    [PICK_EXACT] = "exact",
    [PICK_PORTFOLIO] = "portfolio",
    [PICK_NEAREST] = "nearest_problem",
    [PICK_CAPABILITY] = "same_capability",
    [PICK_MAJOR] = "same_major",
    [PICK_DEFAULT] = "default",
    [PICK_OTHER] = "other_gpu",
    [PICK_NONE] = "none",
};

const char *pick_rule_name(pick_rule rule)
{
    return (size_t)rule < PICK_RULES ? names[rule] : "unknown";
}

double pick_scale(double x)
{
    double size = 1 + (x < 0 ? -x : x), power = 0;
    /* Numbers that no problem has; the loop below stays short. */
    if (!(size < 1e30))
        size = 1e30;
    while (size >= 2) {
        size /= 2;
        power += 1;
    }
    power += size - 1;
    return x < 0 ? -power : power;
}

double pick_value_distance(value a, value b)
{
    if (value_is_number(a) && value_is_number(b))
        return fabs(pick_scale(value_number(a)) - pick_scale(value_number(b)));
    return value_equal(a, b) ? 0 : PICK_UNLIKE;
}

/* The sum over all variables of both. */
static double pick_distance(const record_values *a, const record_values *b)
{
    double distance = 0;
    size_t shared = 0;
    for (size_t i = 0; i < a->count; i++) {
        const value *other = record_get(b, a->pairs[i].name);
        shared += other != NULL;
        distance += other ? pick_value_distance(a->pairs[i].value, *other) : PICK_UNLIKE;
    }
    return distance + PICK_UNLIKE * (double)(b->count - shared);
}

int pick_preference(const record_entry *e)
{
    return 2 * e->energy + e->warm_cache;
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

/* Those of a portfolio, in the order of its leaf. */
static pick_candidate candidate_at(const record *from, const record_portfolio *p,
                                   const record_node *leaf, int place, pick_rule rule)
{
    const bool own = rule == PICK_NEAREST;
    return (pick_candidate){.rule = own ? PICK_PORTFOLIO : rule,
                            .distance = own ? place : PICK_PORTFOLIO_FIRST + place,
                            .from = from,
                            .configuration = &p->configurations[leaf->order[place]],
                            .is_told = leaf->has_default,
                            .standing = place < leaf->default_at ? RECORD_FASTER : RECORD_LEVEL};
}

static pick_rule rule_for(const record *r, const pick_target *t)
{
    if (strcmp(r->gpu, t->gpu) == 0)
        return PICK_NEAREST;
    if (r->major != t->major)
        return PICK_OTHER;
    return r->minor == t->minor ? PICK_CAPABILITY : PICK_MAJOR;
}

/* Of what is equally far, the one that a caller who says nothing more wants. */
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

bool pick_next(const record_set *set, const pick_target *target, const pick_candidate *after,
               pick_candidate *out)
{
    pick_candidate best = {.rule = PICK_NONE};
    search s = {.after = after, .best = &best};
    for (size_t r = 0; r < set->count; r++) {
        const record *rec = &set->records[r];
        pick_rule rule = rule_for(rec, target);
        for (size_t p = 0; p < rec->portfolio_count; p++) {
            const record_portfolio *portfolio = &rec->portfolios[p];
            const record_node *leaf = leaf_of(portfolio, target);
            for (size_t i = 0; leaf && i < portfolio->configuration_count; i++)
                consider(&s, candidate_at(rec, portfolio, leaf, (int)i, rule));
        }
        for (size_t i = 0; i < rec->entry_count; i++) {
            const record_entry *e = &rec->entries[i];
            bool exact = rule == PICK_NEAREST && record_same_values(&e->problem, target->problem);
            consider(&s, (pick_candidate){.rule = exact ? PICK_EXACT : rule,
                                          .distance = pick_distance(&e->problem, target->problem),
                                          .preference = pick_preference(e),
                                          .from = rec,
                                          .entry = e,
                                          .configuration = &e->configuration});
        }
    }
    const record_values *fallback = target->fallback ? target->fallback : pick_default(set);
    if (fallback)
        consider(&s, (pick_candidate){.rule = PICK_DEFAULT, .configuration = fallback});
    if (s.found)
        *out = best;
    return s.found;
}

/* The nearest problem on which the candidate's GPU has timed it beside the default; NULL: none.
 * What was measured with the data in the L2 tells of nothing else. */
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
    if (!c->from || c->rule == PICK_EXACT)
        return PICK_GOOD;
    if (c->is_told)
        return c->standing == RECORD_FASTER ? PICK_GOOD : PICK_LEVEL;
    const record_seen *s = nearest_seen(c, target->problem);
    if (!s || s->standing == RECORD_FASTER)
        return PICK_GOOD;
    if (seen)
        *seen = s;
    return s->standing == RECORD_SLOWER ? PICK_SLOWER : PICK_LEVEL;
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
