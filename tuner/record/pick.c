#include "record/pick.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

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

/* ---- the walk ---- */

/* A problem of a record, by its distance. */
typedef struct pick_far {
    double distance;
    uint32_t record, problem;
} pick_far;

/* Each next distance is looked for from the beginning; after so many, what is left is sorted. */
enum { MOST_LEVELS = 8 };

/* Their preference decides between equally far ones: a caller who says nothing more wants the
 * first. */
static int compare_candidates(const void *x, const void *y)
{
    const pick_candidate *a = x, *b = y;
    if (a->distance != b->distance)
        return a->distance < b->distance ? -1 : 1;
    if (a->preference != b->preference)
        return a->preference < b->preference ? -1 : 1;
    return a->place < b->place ? -1 : a->place > b->place;
}

static int compare_far(const void *x, const void *y)
{
    const double a = ((const pick_far *)x)->distance, b = ((const pick_far *)y)->distance;
    return a < b ? -1 : a > b;
}

/* The facts that a record's GPU and the target's share give the rule. */
static int rule_of(const pick_walk *w, const record *from, int portfolio_place, bool same_problem)
{
    const pick_target *t = w->target;
    return (int)autotune_rule_for(strcmp(from->gpu, t->gpu) == 0, from->major == t->major,
                                  from->minor == t->minor, portfolio_place, same_problem);
}

/* NULL: no memory. */
static const pick_aim *aim_of(pick_walk *w)
{
    if (!w->aim.axes && !pick_aim_make(&w->aim, &w->table->points, w->target->problem))
        w->lacks_memory = true;
    return w->aim.axes ? &w->aim : NULL;
}

static bool add_item(pick_walk *w, pick_candidate c)
{
    bool added = array_add(&w->items, &w->count, &c, sizeof c);
    w->lacks_memory = w->lacks_memory || !added;
    return added;
}

static bool add_entry(pick_walk *w, const pick_entry *e, double distance)
{
    const pick_record *r = &w->table->records[e->record];
    const size_t nth = (size_t)(e - w->table->entries) - r->first_entry;
    return add_item(
        w, (pick_candidate){.rule = (pick_rule)w->rule,
                            .distance = autotune_rank((autotune_rule)w->rule, -1, distance),
                            .preference = e->preference,
                            /* After all of its portfolios'. */
                            .place = r->place + r->kept_count + nth,
                            .from = r->from,
                            .entry = e->entry,
                            .configuration =
                                e->entry ? &e->entry->configuration
                                         : w->table->configurations.members[e->configuration],
                            .number = e->configuration,
                            .time_ns = e->time_ns,
                            .warm_cache = e->warm_cache,
                            .portfolio_place = -1,
                            .ahead = -1});
}

static bool add_portfolio(pick_walk *w, const pick_record *r, const record_portfolio *p,
                          size_t kept)
{
    const record_node *leaf = leaf_of(p, w->target);
    for (size_t i = 0; leaf && i < p->configuration_count; i++) {
        const pick_candidate c = {.rule = (pick_rule)w->rule,
                                  .distance = autotune_rank((autotune_rule)w->rule, (int)i, 0),
                                  .place = r->place + kept + i,
                                  .from = r->from,
                                  .configuration = &p->configurations[leaf->order[i]],
                                  .number = r->portfolio_numbers[kept + leaf->order[i]],
                                  .portfolio_place = (int)i,
                                  .ahead = leaf->has_default ? leaf->default_at : -1};
        if (!add_item(w, c))
            return false;
    }
    return true;
}

static bool add_portfolios(pick_walk *w)
{
    for (size_t r = 0; r < w->table->record_count; r++) {
        const pick_record *of = &w->table->records[r];
        size_t kept = 0;
        for (size_t p = 0; p < of->from->portfolio_count; p++) {
            const record_portfolio *portfolio = &of->from->portfolios[p];
            if (rule_of(w, of->from, 0, false) == w->rule && !add_portfolio(w, of, portfolio, kept))
                return false;
            kept += portfolio->configuration_count;
        }
    }
    return true;
}

/* The entries of a problem that the rule is for, of one record or (`record` PICK_NO_ENTRY) of all.
 */
static bool add_problem(pick_walk *w, uint32_t problem, uint32_t record_number, double distance)
{
    const pick_table *t = w->table;
    for (uint32_t i = t->first_entry[problem]; i != PICK_NO_ENTRY; i = t->entries[i].next) {
        const pick_entry *e = &t->entries[i];
        const bool same = problem == w->problem;
        if ((record_number == PICK_NO_ENTRY || record_number == e->record) &&
            rule_of(w, t->records[e->record].from, -1, same) == w->rule &&
            !add_entry(w, e, distance))
            return false;
    }
    return true;
}

/* Are entries of the record, on other problems than the target's, of the rule? */
static bool is_of_rule(const pick_walk *w, const pick_record *r)
{
    return r->problem_count > 0 && rule_of(w, r->from, -1, false) == w->rule;
}

/* Sorts what is farther than the walk is. */
static bool sort_rest(pick_walk *w, const pick_aim *aim)
{
    const pick_table *t = w->table;
    free(w->sorted);
    w->sorted_count = w->sorted_at = 0;
    w->sorted = malloc((t->entry_count + 1) * sizeof *w->sorted);
    if (!w->sorted) {
        w->lacks_memory = true;
        return false;
    }
    for (uint32_t r = 0; r < t->record_count; r++) {
        const pick_record *of = &t->records[r];
        for (uint32_t i = 0; is_of_rule(w, of) && i < of->problem_count; i++) {
            const uint32_t problem = t->record_problems[of->first_problem + i];
            const double distance = pick_aim_distance(aim, problem);
            if (distance > w->distance)
                w->sorted[w->sorted_count++] = (pick_far){distance, r, problem};
        }
    }
    qsort(w->sorted, w->sorted_count, sizeof *w->sorted, compare_far);
    return true;
}

/* The entries at the least distance beyond the walk's, of what is sorted. */
static bool add_sorted(pick_walk *w)
{
    const size_t first = w->sorted_at;
    while (w->sorted_at < w->sorted_count &&
           w->sorted[w->sorted_at].distance == w->sorted[first].distance) {
        const pick_far *f = &w->sorted[w->sorted_at++];
        w->distance = f->distance;
        if (!add_problem(w, f->problem, f->record, f->distance))
            return false;
    }
    return w->sorted_at > first;
}

/* Adds the entries at the least distance beyond the walk's; false: there are none. */
static bool add_nearest(pick_walk *w)
{
    const pick_table *t = w->table;
    const pick_aim *aim = aim_of(w);
    if (!aim)
        return false;
    if (w->sorted || ++w->levels > MOST_LEVELS)
        return (w->sorted || sort_rest(w, aim)) && add_sorted(w);
    pick_nearest nearest;
    pick_nearest_begin(&nearest, w->distance);
    for (uint32_t r = 0; r < t->record_count; r++)
        if (is_of_rule(w, &t->records[r]))
            pick_near_search(&t->records[r].near, aim, r, &nearest);
    if (nearest.count > PICK_MOST_ALIKE)
        return sort_rest(w, aim) && add_sorted(w);
    w->distance = nearest.distance;
    for (size_t i = 0; i < nearest.count; i++)
        if (!add_problem(w, nearest.found[i].point, nearest.found[i].tree, nearest.distance))
            return false;
    return nearest.count > 0;
}

static bool add_default(pick_walk *w)
{
    return w->fallback && add_item(w, (pick_candidate){.rule = PICK_DEFAULT,
                                                       .configuration = w->fallback,
                                                       .portfolio_place = -1,
                                                       .ahead = -1});
}

/* More candidates of the rule; false: there are none. */
static bool add_more(pick_walk *w)
{
    const bool first = !w->has_portfolios;
    w->has_portfolios = true;
    if (w->rule == PICK_DEFAULT)
        return first && add_default(w);
    if (w->rule == PICK_EXACT)
        return first && w->problem != RECORD_NO_CLASS &&
               add_problem(w, (uint32_t)w->problem, PICK_NO_ENTRY, 0);
    /* Portfolios come before entries, whatever their distance. */
    if (first && add_portfolios(w) && w->count > 0)
        return true;
    return w->rule != PICK_PORTFOLIO && add_nearest(w);
}

void pick_walk_begin(pick_walk *w, const pick_table *t, const pick_target *target)
{
    *w = (pick_walk){.table = t,
                     .target = target,
                     .fallback = target->fallback ? target->fallback : t->fallback,
                     .problem = record_class_find(&t->problems, target->problem),
                     .distance = -1};
}

void pick_walk_end(pick_walk *w)
{
    pick_aim_deinit(&w->aim);
    free(w->sorted);
    free(w->items);
    *w = (pick_walk){0};
}

bool pick_walk_next(pick_walk *w, pick_candidate *out)
{
    while (w->at == w->count) {
        w->at = w->count = 0;
        free(w->items);
        w->items = NULL;
        const bool more = add_more(w);
        if (w->lacks_memory)
            return false;
        if (more) {
            if (w->count > 1)
                qsort(w->items, w->count, sizeof *w->items, compare_candidates);
            continue;
        }
        if (++w->rule == PICK_NONE)
            return false;
        w->has_portfolios = false;
        w->distance = -1;
        w->levels = 0;
        free(w->sorted);
        w->sorted = NULL;
    }
    *out = w->items[w->at++];
    return true;
}

/* ---- judging ---- */

/* The nearest problem on which the candidate's GPU has timed it beside the default; NULL: none.
 * Times with the data in the L2 tell of nothing else. */
static const pick_seen *nearest_seen(pick_walk *w, const pick_candidate *c)
{
    const pick_table *t = w->table;
    size_t of = 0;
    while (t->records[of].from != c->from)
        of++;
    const pick_group *g = pick_table_group(t, of, c->number, c->warm_cache);
    const pick_aim *aim = g ? aim_of(w) : NULL;
    if (aim && g->near.count > 0) {
        pick_nearest found;
        pick_nearest_begin(&found, -1);
        pick_near_search(&g->near, aim, 0, &found);
        return &t->seen[g->first + found.first_place];
    }
    const pick_seen *nearest = NULL;
    double least = INFINITY;
    for (uint32_t i = 0; aim && i < g->count; i++) {
        const pick_seen *s = &t->seen[g->first + i];
        const double distance = pick_aim_distance(aim, s->problem);
        if (distance < least)
            nearest = s;
        least = distance < least ? distance : least;
    }
    return nearest;
}

static bool is_possible(const pick_target *target, const record_values *configuration)
{
    return !target->fits || target->fits(target->context, configuration);
}

pick_verdict pick_judge(pick_walk *w, const pick_candidate *c, const record_seen **seen)
{
    if (!is_possible(w->target, c->configuration))
        return PICK_IMPOSSIBLE;
    /* A problem that was measured itself needs no neighbour. */
    const bool asked = c->from && c->ahead < 0 && c->rule != PICK_EXACT;
    const pick_seen *s = asked ? nearest_seen(w, c) : NULL;
    bool faster = !s || s->standing == RECORD_FASTER;
    if (!c->from ||
        !autotune_default_will_do((autotune_rule)c->rule, c->portfolio_place, c->ahead, faster))
        return PICK_GOOD;
    if (seen && s)
        *seen = s->seen;
    return s && s->standing == RECORD_SLOWER ? PICK_SLOWER : PICK_LEVEL;
}

/* ---- picking ---- */

pick_rule pick_from(const pick_table *t, const pick_target *target, pick_candidate *out)
{
    pick_walk w;
    pick_walk_begin(&w, t, target);
    const bool has_default = w.fallback && is_possible(target, w.fallback);
    bool as_good = false; /* the default */
    bool found = false;
    pick_candidate next;
    while (!found && pick_walk_next(&w, &next)) {
        const record_seen *seen = NULL;
        if (as_good && (next.portfolio_place < 0 || next.rule != out->rule))
            break;
        pick_verdict verdict = pick_judge(&w, &next, &seen);
        *out = next;
        /* Better slow than nothing, where the default is impossible; where none is known, the next
         * may do. */
        bool will_do = verdict == PICK_LEVEL || (verdict == PICK_SLOWER && w.fallback);
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
