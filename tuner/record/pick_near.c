#include "record/pick_near.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- the order ---- */

typedef struct keyed {
    double key;
    pick_spot spot;
} keyed;

static int compare_keyed(const void *x, const void *y)
{
    const keyed *a = x, *b = y;
    if (a->key != b->key)
        return a->key < b->key ? -1 : 1;
    return a->spot.place < b->spot.place ? -1 : a->spot.place > b->spot.place;
}

/* Values that are no numbers stand apart, equal ones together. */
static double key_of(const pick_points *p, size_t column, uint32_t point)
{
    const size_t cell = point * p->column_count + column;
    return p->others[cell] == PICK_NUMBER ? p->numbers[cell]
                                          : -PICK_UNLIKE - (double)p->others[cell];
}

/* The column in which the spots are the farthest apart. */
static size_t widest(const pick_points *p, const pick_spot *spots, size_t count)
{
    size_t best = 0;
    double most = -1;
    for (size_t c = 0; c < p->column_count; c++) {
        double low = INFINITY, high = -INFINITY;
        for (size_t i = 0; i < count; i++) {
            const double key = key_of(p, c, spots[i].point);
            low = fmin(low, key);
            high = fmax(high, key);
        }
        if (high - low > most) {
            most = high - low;
            best = c;
        }
    }
    return best;
}

static size_t begin_of(const pick_near *n, unsigned level, size_t part)
{
    return n->count * part >> level;
}

/* Sorts every half of every level by what is widest in it. */
static bool sort_halves(pick_near *n)
{
    keyed *sorted = malloc((n->count + 1) * sizeof *sorted);
    for (unsigned level = 0; sorted && level < n->depth; level++)
        for (size_t part = 0; part < (size_t)1 << level; part++) {
            const size_t first = begin_of(n, level, part);
            const size_t count = begin_of(n, level, part + 1) - first;
            const size_t column = widest(n->points, n->spots + first, count);
            for (size_t i = 0; i < count; i++) {
                const pick_spot spot = n->spots[first + i];
                sorted[i] = (keyed){key_of(n->points, column, spot.point), spot};
            }
            qsort(sorted, count, sizeof *sorted, compare_keyed);
            for (size_t i = 0; i < count; i++)
                n->spots[first + i] = sorted[i].spot;
        }
    free(sorted);
    return sorted != NULL;
}

/* ---- what is in a half ---- */

static pick_span *spans_of(const pick_near *n, unsigned level, size_t part)
{
    return n->spans + (((size_t)1 << level) - 1 + part) * n->points->column_count;
}

static void join(pick_span *to, const pick_span *with)
{
    to->least = with->least < to->least ? with->least : to->least;
    to->most = with->most > to->most ? with->most : to->most;
    to->lacks = to->lacks || with->lacks;
    if (with->other != to->other)
        to->other = UINT32_MAX;
}

static void span_points(const pick_near *n, size_t part)
{
    const pick_points *p = n->points;
    const size_t first = begin_of(n, n->depth, part), end = begin_of(n, n->depth, part + 1);
    pick_span *spans = spans_of(n, n->depth, part);
    for (size_t i = first; i < end; i++)
        for (size_t c = 0; c < p->column_count; c++) {
            const size_t cell = n->spots[i].point * p->column_count + c;
            const double number = p->numbers[cell];
            const bool is_number = p->others[cell] == PICK_NUMBER;
            const pick_span one = {is_number ? number : INFINITY, is_number ? number : -INFINITY,
                                   !is_number, p->others[cell]};
            if (i == first)
                spans[c] = one;
            else
                join(&spans[c], &one);
        }
}

static bool make_spans(pick_near *n)
{
    const size_t columns = n->points->column_count;
    n->spans = malloc((((size_t)2 << n->depth) * columns + 1) * sizeof *n->spans);
    if (!n->spans)
        return false;
    for (size_t part = 0; part < (size_t)1 << n->depth; part++)
        span_points(n, part);
    for (unsigned level = n->depth; level-- > 0;)
        for (size_t part = 0; part < (size_t)1 << level; part++) {
            pick_span *to = spans_of(n, level, part);
            const pick_span *left = spans_of(n, level + 1, 2 * part), *right = left + columns;
            for (size_t c = 0; c < columns; c++) {
                to[c] = left[c];
                join(&to[c], &right[c]);
            }
        }
    return true;
}

/* False: the order does not have each place once. */
static bool put_in_order(pick_near *n, const uint32_t *order)
{
    pick_spot *spots = malloc((n->count + 1) * sizeof *spots);
    bool whole = spots != NULL;
    for (size_t i = 0; i < n->count && whole; i++) {
        whole = order[i] < n->count && n->spots[order[i]].place != UINT32_MAX;
        if (!whole)
            break;
        spots[i] = n->spots[order[i]];
        n->spots[order[i]].place = UINT32_MAX; /* taken */
    }
    if (!whole) {
        for (uint32_t i = 0; i < n->count; i++)
            n->spots[i].place = i;
        free(spots);
        return false;
    }
    free(n->spots);
    n->spots = spots;
    return true;
}

bool pick_near_make(pick_near *to, const pick_points *points, const uint32_t *which,
                    size_t stride_bytes, size_t count, const uint32_t *order)
{
    *to = (pick_near){.points = points, .count = count};
    to->spots = malloc((count + 1) * sizeof *to->spots);
    if (!to->spots)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        const char *at = (const char *)which + i * stride_bytes;
        memcpy(&to->spots[i].point, at, sizeof *which);
        to->spots[i].place = i;
    }
    while (count >> to->depth > PICK_NEAR_FEW)
        to->depth++;
    return to->depth == 0 ||
           (((order && put_in_order(to, order)) || sort_halves(to)) && make_spans(to));
}

void pick_near_deinit(pick_near *n)
{
    free(n->spots);
    free(n->spans);
    *n = (pick_near){0};
}

/* ---- searching ---- */

void pick_nearest_begin(pick_nearest *n, double beyond)
{
    n->beyond = beyond;
    n->distance = INFINITY;
    n->count = 0;
}

typedef struct search {
    const pick_near *in;
    const pick_aim *aim;
    uint32_t tree;
    bool has_any;
    pick_nearest *out;
} search;

static void take(search *s, const pick_spot *spot)
{
    pick_nearest *out = s->out;
    const double d = pick_aim_distance(s->aim, spot->point);
    if (d > out->distance || d <= out->beyond)
        return;
    if (d < out->distance) {
        out->distance = d;
        out->count = 0;
        s->has_any = false;
    }
    if (!s->has_any || spot->place < out->first_place)
        out->first_place = spot->place;
    s->has_any = true;
    if (out->count < PICK_MOST_ALIKE) {
        out->found[out->count].tree = s->tree;
        out->found[out->count].point = spot->point;
    }
    out->count++;
}

/* No point of the part is nearer. */
static double bound_of(const search *s, unsigned level, size_t part)
{
    const pick_span *spans = spans_of(s->in, level, part);
    double bound = s->aim->alone;
    for (size_t i = 0; i < s->aim->axis_count; i++) {
        const pick_axis *x = &s->aim->axes[i];
        const pick_span *span = &spans[x->column];
        if (!x->is_number) {
            bound += span->other == UINT32_MAX || span->other == x->same ? 0 : PICK_UNLIKE;
            continue;
        }
        const double d = x->from < span->least  ? span->least - x->from
                         : x->from > span->most ? x->from - span->most
                                                : 0;
        bound += span->lacks && d > PICK_UNLIKE ? PICK_UNLIKE : d;
    }
    return bound;
}

static void search_part(search *s, unsigned level, size_t part)
{
    if (level == s->in->depth) {
        for (size_t i = begin_of(s->in, level, part); i < begin_of(s->in, level, part + 1); i++)
            take(s, &s->in->spots[i]);
        return;
    }
    const double bounds[2] = {bound_of(s, level + 1, 2 * part),
                              bound_of(s, level + 1, 2 * part + 1)};
    const size_t nearer = bounds[1] < bounds[0];
    if (bounds[nearer] <= s->out->distance)
        search_part(s, level + 1, 2 * part + nearer);
    if (bounds[!nearer] <= s->out->distance)
        search_part(s, level + 1, 2 * part + !nearer);
}

void pick_near_search(const pick_near *n, const pick_aim *aim, uint32_t tree, pick_nearest *out)
{
    search s = {.in = n, .aim = aim, .tree = tree, .out = out};
    search_part(&s, 0, 0);
}
