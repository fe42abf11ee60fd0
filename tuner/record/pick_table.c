#include "record/pick_table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/array.h"

#define AUTOTUNE_FUNCTION static inline
#include "pick_rules.h"

_Static_assert((int)PICK_UNLIKE == (int)AUTOTUNE_UNLIKE, "what is not alike is as far apart there");

double pick_scale(double x)
{
    return autotune_scale(x);
}

double pick_value_distance(value a, value b)
{
    if (value_is_number(a) && value_is_number(b))
        return autotune_apart(value_number(a), value_number(b));
    return value_equal(a, b) ? 0 : PICK_UNLIKE;
}

int pick_preference(const record_entry *e)
{
    bool in_context = e->after && *e->after;
    return 3 * e->energy + (in_context ? 0 : 1 + e->warm_cache);
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

/* Arrays of problems have room for whole blocks, in which compilers use vectors. */
enum { BLOCK = 8 };

static size_t blocks_of(size_t count)
{
    return (count + BLOCK - 1) / BLOCK;
}

static bool same_other(value a, value b)
{
    return a.kind == b.kind && value_equal(a, b);
}

/* The number of a value that is none; PICK_MISSING: there is none. *key: where it is, or belongs.
 */
static uint32_t find_other(const pick_table *t, value v, uint64_t *key)
{
    const char *text = v.kind == VALUE_STRING ? v.string : v.boolean ? "\1" : "\2";
    uint64_t place;
    for (*key = XXH3_64bits(text, strlen(text)); keymap_get(&t->other_places, *key, &place); ++*key)
        if (same_other(t->others[place], v))
            return (uint32_t)place + PICK_FIRST_OTHER;
    return PICK_MISSING;
}

/* PICK_MISSING: no memory. */
static uint32_t add_other(pick_table *t, value v)
{
    uint64_t key;
    const uint32_t known = find_other(t, v, &key);
    if (known != PICK_MISSING)
        return known;
    if (!keymap_put(&t->other_places, key, t->other_count) ||
        !array_add(&t->others, &t->other_count, &v, sizeof v))
        return PICK_MISSING;
    return (uint32_t)t->other_count - 1 + PICK_FIRST_OTHER;
}

static pick_column *find_column(const pick_table *t, const char *name)
{
    for (size_t c = 0; c < t->column_count; c++)
        if (strcmp(t->columns[c].name, name) == 0)
            return &t->columns[c];
    return NULL;
}

static pick_column *new_column(pick_table *t, const char *name)
{
    const size_t count = t->problems.count;
    pick_column column = {.name = name,
                          .numbers = malloc((count + BLOCK) * sizeof *column.numbers),
                          .others = calloc(count + 1, sizeof *column.others)};
    for (size_t i = 0; column.numbers && i < count + BLOCK; i++)
        column.numbers[i] = NAN;
    if (column.numbers && column.others &&
        array_add(&t->columns, &t->column_count, &column, sizeof column))
        return &t->columns[t->column_count - 1];
    free(column.numbers);
    free(column.others);
    return NULL;
}

static bool fill_columns(pick_table *t)
{
    for (size_t i = 0; i < t->problems.count; i++) {
        const record_values *problem = t->problems.members[i];
        for (size_t v = 0; v < problem->count; v++) {
            const value is = problem->pairs[v].value;
            pick_column *column = find_column(t, problem->pairs[v].name);
            if (!column)
                column = new_column(t, problem->pairs[v].name);
            if (!column)
                return false;
            column->others[i] = value_is_number(is) ? PICK_NUMBER : add_other(t, is);
            if (value_is_number(is))
                column->numbers[i] = pick_scale(value_number(is));
            if (column->others[i] == PICK_MISSING)
                return false;
        }
    }
    for (size_t c = 0; c < t->column_count; c++) {
        pick_column *column = &t->columns[c];
        column->same = column->others[0] != PICK_NUMBER;
        column->all_numbers = true;
        for (size_t i = 0; i < t->problems.count; i++) {
            column->same = column->same && column->others[i] == column->others[0];
            column->all_numbers = column->all_numbers && column->others[i] == PICK_NUMBER;
        }
    }
    return true;
}

/* ---- entries ---- */

static bool add_entry(pick_table *t, uint32_t record_number, const record_entry *e)
{
    const size_t problem = record_class_of(&t->problems, &e->problem);
    const size_t configuration = record_class_of(&t->configurations, &e->configuration);
    const pick_entry added = {.record = record_number,
                              .problem = (uint32_t)problem,
                              .configuration = (uint32_t)configuration,
                              .next = PICK_NO_ENTRY,
                              .preference = pick_preference(e),
                              .warm_cache = e->warm_cache,
                              .time_ns = e->time_ns,
                              .entry = e};
    return problem != RECORD_NO_CLASS && configuration != RECORD_NO_CLASS &&
           array_add(&t->entries, &t->entry_count, &added, sizeof added);
}

/* Entries of a problem in their order, and the problems of each record, each once. */
static bool link_entries(pick_table *t)
{
    uint32_t *last = malloc((t->problems.count + 1) * sizeof *last);
    t->first_entry = malloc((t->problems.count + 1) * sizeof *t->first_entry);
    t->record_problems = malloc((t->entry_count + 1) * sizeof *t->record_problems);
    const bool has_memory = last && t->first_entry && t->record_problems;
    uint32_t n = 0;
    for (size_t i = 0; has_memory && i < t->problems.count; i++)
        t->first_entry[i] = last[i] = PICK_NO_ENTRY;
    for (uint32_t i = 0; has_memory && i < t->entry_count; i++) {
        pick_entry *e = &t->entries[i];
        const uint32_t before = last[e->problem];
        pick_record *r = &t->records[e->record];
        if (r->problem_count == 0)
            r->first_problem = n;
        if (before == PICK_NO_ENTRY)
            t->first_entry[e->problem] = i;
        else
            t->entries[before].next = i;
        if (before == PICK_NO_ENTRY || t->entries[before].record != e->record) {
            t->record_problems[n++] = e->problem;
            r->in_a_row = (r->problem_count == 0 || r->in_a_row) &&
                          e->problem == t->record_problems[r->first_problem] + r->problem_count;
            r->problem_count++;
        }
        last[e->problem] = i;
    }
    free(last);
    return has_memory;
}

static bool add_record(pick_table *t, const record *from, size_t *place)
{
    size_t kept = 0;
    pick_record added = {.from = from, .place = *place, .first_entry = (uint32_t)t->entry_count};
    const uint32_t number = (uint32_t)t->record_count;
    for (size_t p = 0; p < from->portfolio_count; p++)
        kept += from->portfolios[p].configuration_count;
    added.kept_count = kept;
    added.portfolio_numbers = calloc(kept + 1, sizeof *added.portfolio_numbers);
    if (!added.portfolio_numbers ||
        !array_add(&t->records, &t->record_count, &added, sizeof added)) {
        free(added.portfolio_numbers);
        return false;
    }
    kept = 0;
    for (size_t p = 0; p < from->portfolio_count; p++)
        for (size_t c = 0; c < from->portfolios[p].configuration_count; c++) {
            size_t of = record_class_of(&t->configurations, &from->portfolios[p].configurations[c]);
            if (of == RECORD_NO_CLASS)
                return false;
            added.portfolio_numbers[kept++] = (uint32_t)of;
        }
    for (size_t i = 0; i < from->entry_count; i++)
        if (!add_entry(t, number, &from->entries[i]))
            return false;
    t->records[number].entry_count = (uint32_t)from->entry_count;
    *place += kept + from->entry_count;
    return true;
}

/* ---- what was seen ---- */

static uint64_t group_key(size_t record_number, uint32_t configuration, bool warm_cache)
{
    return (uint64_t)record_number << 33 | (uint64_t)configuration << 1 | warm_cache;
}

const pick_group *pick_table_group(const pick_table *t, size_t record_number,
                                   uint32_t configuration, bool warm_cache)
{
    uint64_t place;
    return keymap_get(&t->group_places, group_key(record_number, configuration, warm_cache), &place)
               ? &t->groups[place]
               : NULL;
}

static bool find_group(pick_table *t, size_t record_number, const record_seen *s, uint64_t *place)
{
    const size_t configuration = record_class_of(&t->configurations, s->configuration);
    const uint64_t key = group_key(record_number, (uint32_t)configuration, s->warm_cache);
    const pick_group none = {.key = key};
    if (configuration == RECORD_NO_CLASS)
        return false;
    if (keymap_get(&t->group_places, key, place))
        return true;
    *place = t->group_count;
    return array_add(&t->groups, &t->group_count, &none, sizeof none) &&
           keymap_put(&t->group_places, key, *place);
}

/* Those of a group stand together, in their order: they are counted first. */
static bool group_seen(pick_table *t)
{
    size_t count = 0, n = 0;
    for (size_t r = 0; r < t->record_count; r++)
        count += t->records[r].from->seen_count;
    uint64_t *places = malloc((count + 1) * sizeof *places);
    t->seen = calloc(count + 1, sizeof *t->seen);
    bool made = places && t->seen;
    for (size_t r = 0; r < t->record_count; r++)
        for (size_t i = 0; made && i < t->records[r].from->seen_count; i++, n++) {
            made = find_group(t, r, &t->records[r].from->seen[i], &places[n]);
            if (made)
                t->groups[places[n]].count++;
        }
    n = 0;
    for (size_t g = 0; g < t->group_count; g++) {
        t->groups[g].first = (uint32_t)n;
        n += t->groups[g].count;
        t->groups[g].count = 0;
    }
    for (size_t r = 0; r < t->record_count; r++)
        for (size_t i = 0; made && i < t->records[r].from->seen_count; i++) {
            const record_seen *s = &t->records[r].from->seen[i];
            const size_t problem = record_class_of(&t->problems, s->problem);
            pick_group *g = &t->groups[places[t->seen_count++]];
            t->seen[g->first + g->count++] = (pick_seen){(uint32_t)problem, s->standing, s};
            made = problem != RECORD_NO_CLASS;
        }
    free(places);
    return made;
}

/* ---- the whole ---- */

at_status pick_table_make(const record_set *set, pick_table *out, at_error *error)
{
    size_t place = 0;
    bool made = true;
    *out = (pick_table){.fallback = pick_default(set)};
    for (size_t r = 0; r < set->count && made; r++)
        made = add_record(out, &set->records[r], &place);
    if (made && group_seen(out) && pick_table_finish(out))
        return AT_OK;
    return error_no_memory(error);
}

bool pick_table_finish(pick_table *t)
{
    return link_entries(t) && fill_columns(t);
}

static void free_owned(pick_owned *own)
{
    for (size_t r = 0; own && r < own->record_count; r++) {
        record *of = &own->records[r];
        for (size_t p = 0; of->portfolios && p <= of->portfolio_count; p++) {
            free(of->portfolios[p].configurations);
            free(of->portfolios[p].features);
            free(of->portfolios[p].nodes);
            free(of->portfolios[p].fixed.pairs);
        }
        free(of->portfolios);
    }
    if (!own)
        return;
    free(own->records);
    free(own->problems);
    free(own->configurations);
    free(own->problem_pairs);
    free(own->configuration_pairs);
    free(own->fallback_pairs);
    free(own->bytes);
    free(own);
}

void pick_table_deinit(pick_table *t)
{
    for (size_t c = 0; c < t->column_count; c++) {
        free(t->columns[c].numbers);
        free(t->columns[c].others);
    }
    for (size_t r = 0; r < t->record_count; r++)
        free(t->records[r].portfolio_numbers);
    record_classes_deinit(&t->problems);
    record_classes_deinit(&t->configurations);
    keymap_deinit(&t->other_places);
    keymap_deinit(&t->group_places);
    free(t->columns);
    free(t->others);
    free(t->first_entry);
    free(t->record_problems);
    free(t->entries);
    free(t->records);
    free(t->seen);
    free(t->groups);
    free(atomic_load(&t->spare));
    free_owned(t->owned);
    *t = (pick_table){0};
}

/* ---- distances ---- */

/* A column beside the value that is compared with it. */
typedef struct comparison {
    const double *numbers; /* NULL: what is compared is no number, */
    double from;
    bool all; /* every problem has a number */
    const uint32_t *others;
    uint32_t same; /* but like those with this number */
} comparison;

/* Problems are compared so many at a time, whose distances the nearest cache keeps. */
enum { CHUNK = 64 * BLOCK };

/* NAN, of what is no number, is unlike any. */
static void add_apart(const comparison *c, size_t first, size_t end, double *restrict distances)
{
    const double *restrict numbers = c->numbers, from = c->from;
    for (size_t b = first; b < end; b += BLOCK)
        for (size_t i = b; c->all && i < b + BLOCK; i++)
            distances[i] += fabs(from - numbers[i]);
    for (size_t b = first; b < end; b += BLOCK)
        for (size_t i = b; !c->all && i < b + BLOCK; i++) {
            const double d = fabs(from - numbers[i]);
            distances[i] += d >= 0 ? d : PICK_UNLIKE;
        }
}

static void add_unlike(const comparison *c, size_t first, size_t end, double *restrict distances)
{
    for (size_t i = first; i < end; i++)
        distances[i] += c->others[i] == c->same ? 0 : PICK_UNLIKE;
}

/* False: the column makes no difference. */
static bool compare(const pick_table *t, const pick_column *column, const value *is,
                    comparison *out)
{
    uint64_t key;
    const bool is_number = is && value_is_number(*is);
    *out = (comparison){.others = column->others, .all = column->all_numbers};
    if (is_number && !column->same) {
        out->numbers = column->numbers;
        out->from = pick_scale(value_number(*is));
        return true;
    }
    out->same = !is ? PICK_MISSING : is_number ? PICK_NUMBER : find_other(t, *is, &key);
    if (is && out->same == PICK_MISSING)
        out->same = UINT32_MAX;
    return !column->same || (t->problems.count > 0 && column->others[0] != out->same);
}

double *pick_table_distances(const pick_table *t, const record_values *problem)
{
    pick_table *shared = (pick_table *)(uintptr_t)t; /* for what is spare, which is atomic */
    comparison *compared = malloc((t->column_count + 1) * sizeof *compared);
    const size_t count = t->problems.count, room = blocks_of(count) * BLOCK;
    double *distances = atomic_exchange(&shared->spare, NULL);
    if (!distances)
        distances = malloc((room + 1) * sizeof *distances);
    if (!distances || !compared) {
        free(distances);
        free(compared);
        return NULL;
    }
    double alone = 0; /* variables that no problem has */
    size_t n = 0;
    for (size_t v = 0; v < problem->count; v++)
        alone += find_column(t, problem->pairs[v].name) ? 0 : PICK_UNLIKE;
    for (size_t c = 0; c < t->column_count; c++)
        n += compare(t, &t->columns[c], record_get(problem, t->columns[c].name), &compared[n]);
    for (size_t first = 0; first < room; first += CHUNK) {
        const size_t end = first + CHUNK < room ? first + CHUNK : room;
        for (size_t b = first; b < end; b += BLOCK)
            for (size_t i = b; i < b + BLOCK; i++)
                distances[i] = alone;
        for (size_t c = 0; c < n; c++)
            if (compared[c].numbers)
                add_apart(&compared[c], first, end, distances);
            else
                add_unlike(&compared[c], first, end < count ? end : count, distances);
    }
    free(compared);
    return distances;
}

void pick_table_give_back(const pick_table *t, double *distances)
{
    pick_table *shared = (pick_table *)(uintptr_t)t;
    free(atomic_exchange(&shared->spare, distances));
}
