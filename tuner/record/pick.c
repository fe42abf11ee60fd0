#include "record/pick.h"

#include <math.h>
#include <string.h>

static const char *const names[PICK_RULES] = {
    [PICK_EXACT] = "exact",
    [PICK_NEAREST] = "nearest_problem",
    [PICK_CAPABILITY] = "same_capability",
    [PICK_MAJOR] = "same_major",
    [PICK_DEFAULT] = "default",
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

static bool is_number(value v)
{
    return v.kind == VALUE_INTEGER || v.kind == VALUE_NUMBER;
}

static double number_of(value v)
{
    return v.kind == VALUE_INTEGER ? (double)v.integer : v.number;
}

double pick_value_distance(value a, value b)
{
    if (is_number(a) && is_number(b))
        return fabs(pick_scale(number_of(a)) - pick_scale(number_of(b)));
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

static bool same_values(const record_values *a, const record_values *b)
{
    if (a->count != b->count)
        return false;
    for (size_t i = 0; i < a->count; i++) {
        const value *other = record_get(b, a->pairs[i].name);
        if (!other || !value_equal(a->pairs[i].value, *other))
            return false;
    }
    return true;
}

/* Lower is what a caller who says nothing more wants. */
static int preference(const record_entry *e)
{
    return 2 * e->energy + e->warm_cache;
}

bool pick_is_candidate(const record *r, size_t entry)
{
    const record_entry *e = &r->entries[entry];
    for (size_t i = 0; i < r->entry_count; i++) {
        const record_entry *other = &r->entries[i];
        bool better =
            preference(other) < preference(e) || (preference(other) == preference(e) && i < entry);
        if (better && same_values(&other->problem, &e->problem))
            return false;
    }
    return true;
}

static pick_rule rule_for(const record *r, const record_entry *e, const pick_target *t)
{
    if (strcmp(r->gpu, t->gpu) == 0)
        return same_values(&e->problem, t->problem) ? PICK_EXACT : PICK_NEAREST;
    if (r->major != t->major)
        return PICK_DEFAULT;
    return r->minor == t->minor ? PICK_CAPABILITY : PICK_MAJOR;
}

typedef struct picked {
    pick_rule rule;
    double distance;
    int preference;
} picked;

/* Is `a` to be taken before `b`, which came first? Of entries for one problem, which are equally
 * far, the one that a caller who says nothing more wants. */
static bool comes_before(const picked *a, const picked *b)
{
    if (a->rule != b->rule)
        return a->rule < b->rule;
    if (a->distance != b->distance)
        return a->distance < b->distance;
    return a->preference < b->preference;
}

pick_rule pick(const record_set *set, const pick_target *target, const record_entry **entry,
               const record **from)
{
    picked best = {.rule = PICK_DEFAULT};
    *entry = NULL;
    *from = NULL;
    for (size_t r = 0; r < set->count; r++) {
        const record *rec = &set->records[r];
        for (size_t i = 0; i < rec->entry_count; i++) {
            const record_entry *e = &rec->entries[i];
            picked candidate = {rule_for(rec, e, target), 0, preference(e)};
            if (candidate.rule == PICK_DEFAULT || candidate.rule > best.rule)
                continue;
            candidate.distance = pick_distance(&e->problem, target->problem);
            if (comes_before(&candidate, &best) &&
                (!target->fits || target->fits(target->context, e))) {
                best = candidate;
                *entry = e;
                *from = rec;
            }
        }
    }
    return best.rule;
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
