#include "record/pick_points.h"

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

/* ---- values that are no numbers ---- */

static bool same_other(value a, value b)
{
    return a.kind == b.kind && value_equal(a, b);
}

/* The number of a value that is none; PICK_MISSING: there is none. *key: where it is, or belongs.
 */
static uint32_t find_other(const pick_points *p, value v, uint64_t *key)
{
    const char *text = v.kind == VALUE_STRING ? v.string : v.boolean ? "\1" : "\2";
    uint64_t place;
    for (*key = XXH3_64bits(text, strlen(text)); keymap_get(&p->other_places, *key, &place); ++*key)
        if (same_other(p->other_values[place], v))
            return (uint32_t)place + PICK_FIRST_OTHER;
    return PICK_MISSING;
}

/* PICK_MISSING: no memory. */
static uint32_t add_other(pick_points *p, value v)
{
    uint64_t key;
    const uint32_t known = find_other(p, v, &key);
    if (known != PICK_MISSING)
        return known;
    if (!keymap_put(&p->other_places, key, p->other_count) ||
        !array_add(&p->other_values, &p->other_count, &v, sizeof v))
        return PICK_MISSING;
    return (uint32_t)p->other_count - 1 + PICK_FIRST_OTHER;
}

/* ---- points ---- */

/* SIZE_MAX: there is none. Problems mostly have the same variables in the same order: `likely` is
 * looked at first. */
static size_t find_column(const pick_points *p, const char *name, size_t likely)
{
    if (likely < p->column_count && strcmp(p->columns[likely].name, name) == 0)
        return likely;
    for (size_t c = 0; c < p->column_count; c++)
        if (strcmp(p->columns[c].name, name) == 0)
            return c;
    return SIZE_MAX;
}

static bool find_columns(pick_points *p, const record_classes *problems)
{
    for (size_t i = 0; i < problems->count; i++)
        for (size_t v = 0; v < problems->members[i]->count; v++) {
            const pick_column column = {.name = problems->members[i]->pairs[v].name};
            if (find_column(p, column.name, v) == SIZE_MAX &&
                !array_add(&p->columns, &p->column_count, &column, sizeof column))
                return false;
        }
    return true;
}

static bool fill_point(pick_points *p, size_t point, const record_values *problem)
{
    double *numbers = p->numbers + point * p->column_count;
    uint32_t *others = p->others + point * p->column_count;
    for (size_t c = 0; c < p->column_count; c++)
        numbers[c] = NAN;
    for (size_t v = 0; v < problem->count; v++) {
        const value is = problem->pairs[v].value;
        const size_t c = find_column(p, problem->pairs[v].name, v);
        others[c] = value_is_number(is) ? PICK_NUMBER : add_other(p, is);
        if (value_is_number(is))
            numbers[c] = pick_scale(value_number(is));
        if (others[c] == PICK_MISSING)
            return false;
    }
    return true;
}

bool pick_points_make(pick_points *to, const record_classes *problems)
{
    *to = (pick_points){.count = problems->count};
    if (!find_columns(to, problems))
        return false;
    const size_t cells = to->count * to->column_count;
    to->numbers = malloc((cells + 1) * sizeof *to->numbers);
    to->others = calloc(cells + 1, sizeof *to->others);
    bool made = to->numbers && to->others;
    for (size_t i = 0; i < to->count && made; i++)
        made = fill_point(to, i, problems->members[i]);
    for (size_t c = 0; c < to->column_count && made; c++) {
        to->columns[c].same = to->others[c] != PICK_NUMBER;
        for (size_t i = c; i < cells; i += to->column_count)
            to->columns[c].same = to->columns[c].same && to->others[i] == to->others[c];
    }
    return made;
}

void pick_points_deinit(pick_points *p)
{
    keymap_deinit(&p->other_places);
    free(p->columns);
    free(p->numbers);
    free(p->others);
    free(p->other_values);
    *p = (pick_points){0};
}

/* ---- a problem at hand ---- */

/* False: the column makes no difference. */
static bool find_axis(const pick_points *p, size_t c, const value *is, pick_axis *out)
{
    uint64_t key;
    const pick_column *column = &p->columns[c];
    const bool is_number = is && value_is_number(*is);
    *out = (pick_axis){.column = c, .is_number = is_number && !column->same};
    if (out->is_number) {
        out->from = pick_scale(value_number(*is));
        return true;
    }
    out->same = !is ? PICK_MISSING : is_number ? PICK_NUMBER : find_other(p, *is, &key);
    if (is && out->same == PICK_MISSING)
        out->same = UINT32_MAX;
    return !column->same || p->others[c] != out->same;
}

bool pick_aim_make(pick_aim *to, const pick_points *points, const record_values *problem)
{
    *to =
        (pick_aim){.points = points, .axes = malloc((points->column_count + 1) * sizeof *to->axes)};
    if (!to->axes)
        return false;
    for (size_t v = 0; v < problem->count; v++)
        to->alone += find_column(points, problem->pairs[v].name, v) == SIZE_MAX ? PICK_UNLIKE : 0;
    for (size_t c = 0; c < points->column_count; c++)
        to->axis_count += find_axis(points, c, record_get(problem, points->columns[c].name),
                                    &to->axes[to->axis_count]);
    return true;
}

void pick_aim_deinit(pick_aim *a)
{
    free(a->axes);
    *a = (pick_aim){0};
}

double pick_aim_distance(const pick_aim *a, size_t point)
{
    const double *numbers = a->points->numbers + point * a->points->column_count;
    const uint32_t *others = a->points->others + point * a->points->column_count;
    double distance = a->alone;
    for (size_t i = 0; i < a->axis_count; i++) {
        const pick_axis *x = &a->axes[i];
        /* NAN, of what is no number, is unlike any. */
        const double d = fabs(x->from - numbers[x->column]);
        if (x->is_number)
            distance += d >= 0 ? d : PICK_UNLIKE;
        else
            distance += others[x->column] == x->same ? 0 : PICK_UNLIKE;
    }
    return distance;
}
