#include "record/pick.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

#define AUTOTUNE_FUNCTION static inline
#include "pick_rules.h"

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
            /* ISO dates in UTC are compared as texts. */
            if (e->baseline.count > 0 && (!latest || strcmp(e->date, latest->date) > 0))
                latest = e;
        }
    }
    return latest ? &latest->baseline : NULL;
}

static bool number(record_classes *of, const record_values *v, uint32_t *out)
{
    const size_t found = record_class_of(of, v);
    *out = (uint32_t)found;
    return found != RECORD_NO_CLASS;
}

static bool number_portfolios(pick_table *t, pick_record *r)
{
    size_t n = 0;
    for (size_t p = 0; p < r->from->portfolio_count; p++) {
        const record_portfolio *portfolio = &r->from->portfolios[p];
        for (size_t c = 0; c < portfolio->configuration_count; c++)
            if (!number(&t->configurations, &portfolio->configurations[c],
                        &r->portfolio_numbers[n++]))
                return false;
    }
    return true;
}

static bool number_entries(pick_table *t, pick_record *r)
{
    for (size_t i = 0; i < r->from->entry_count; i++) {
        const record_entry *e = &r->from->entries[i];
        r->entries[i].entry = e;
        if (!number(&t->problems, &e->problem, &r->entries[i].problem) ||
            !number(&t->configurations, &e->configuration, &r->entries[i].configuration))
            return false;
    }
    return true;
}

static bool number_seen(pick_table *t, pick_record *r)
{
    for (size_t i = 0; i < r->from->comparison_count; i++) {
        const record_comparison *s = &r->from->seen[i];
        pick_comparison *to = &r->seen[i];
        /* Comparisons on one problem are adjacent. */
        const bool same_problem = i > 0 && s->problem == to[-1].seen->problem;
        to->seen = s;
        if (same_problem)
            to->problem = to[-1].problem;
        else if (!number(&t->problems, s->problem, &to->problem))
            return false;
        if (!number(&t->configurations, s->configuration, &to->configuration))
            return false;
    }
    return true;
}

static bool add_record(pick_table *t, const record *from)
{
    pick_record *r = &t->records[t->record_count++];
    *r = (pick_record){.from = from, .place = t->candidate_count};
    for (size_t p = 0; p < from->portfolio_count; p++)
        r->kept_count += from->portfolios[p].configuration_count;
    t->candidate_count += r->kept_count + from->entry_count;
    r->portfolio_numbers = calloc(r->kept_count + 1, sizeof *r->portfolio_numbers);
    r->entries = calloc(from->entry_count + 1, sizeof *r->entries);
    r->seen = calloc(from->comparison_count + 1, sizeof *r->seen);
    return r->portfolio_numbers && r->entries && r->seen && number_portfolios(t, r) &&
           number_entries(t, r) && number_seen(t, r);
}

double pick_scale(double x)
{
    return autotune_scale(x);
}

static pick_cell cell_of(const value *v)
{
    return (pick_cell){v, v && value_is_number(*v) ? pick_scale(value_number(*v)) : NAN};
}

/* Returns whether the table has the column `name`. Looks at index `likely` first, because most
 * problems have the same variables in the same order. */
static bool has_column(const pick_table *t, const char *name, size_t likely)
{
    bool has = likely < t->column_count && strcmp(t->columns[likely], name) == 0;
    for (size_t c = 0; c < t->column_count && !has; c++)
        has = strcmp(t->columns[c], name) == 0;
    return has;
}

static bool make_cells(pick_table *t)
{
    const record_classes *problems = &t->problems;
    for (size_t i = 0; i < problems->count; i++)
        for (size_t v = 0; v < problems->members[i]->count; v++) {
            const char *name = problems->members[i]->pairs[v].name;
            if (!has_column(t, name, v) &&
                !array_add(&t->columns, &t->column_count, &name, sizeof name))
                return false;
        }
    t->cells = malloc((problems->count * t->column_count + 1) * sizeof *t->cells);
    for (size_t i = 0; t->cells && i < problems->count; i++)
        for (size_t c = 0; c < t->column_count; c++)
            t->cells[i * t->column_count + c] =
                cell_of(record_get(problems->members[i], t->columns[c]));
    return t->cells != NULL;
}

static double cell_distance(const pick_cell *a, const pick_cell *b)
{
    const double d = fabs(a->scale - b->scale);
    if (d >= 0)
        return d;
    const bool same =
        a->value && b->value ? value_equal(*a->value, *b->value) : a->value == b->value;
    return same ? 0 : AUTOTUNE_UNLIKE;
}

bool pick_table_distances(const pick_table *t, const record_values *problem, double *distances)
{
    double alone = 0; /* distance from variables that no problem of the table has */
    const size_t count = t->column_count;
    pick_cell *at = malloc((count + 1) * sizeof *at);
    if (!at)
        return false;
    for (size_t v = 0; v < problem->count; v++)
        alone += has_column(t, problem->pairs[v].name, v) ? 0 : AUTOTUNE_UNLIKE;
    for (size_t c = 0; c < count; c++)
        at[c] = cell_of(record_get(problem, t->columns[c]));
    for (size_t i = 0; i < t->problems.count; i++) {
        distances[i] = alone;
        for (size_t c = 0; c < count; c++)
            distances[i] += cell_distance(&at[c], &t->cells[i * count + c]);
    }
    free(at);
    return true;
}

at_status pick_table_make(const record_set *set, pick_table *out, at_error *error)
{
    *out = (pick_table){.fallback = pick_default(set),
                        .records = calloc(set->count + 1, sizeof *out->records)};
    bool made = out->records != NULL;
    for (size_t r = 0; r < set->count && made; r++)
        made = add_record(out, &set->records[r]);
    return made && make_cells(out) ? AT_OK : error_no_memory(error);
}

void pick_table_deinit(pick_table *t)
{
    for (size_t r = 0; r < t->record_count; r++) {
        free(t->records[r].portfolio_numbers);
        free(t->records[r].entries);
        free(t->records[r].seen);
    }
    record_classes_deinit(&t->problems);
    record_classes_deinit(&t->configurations);
    free(t->columns);
    free(t->cells);
    free(t->records);
    *t = (pick_table){0};
}
