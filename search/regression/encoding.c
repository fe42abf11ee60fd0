#include "search/regression/encoding.h"

#include <math.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/memory.h"
#include "base/rng.h"

enum { SAMPLED = 8192 };

struct encoded_parameter {
    size_t first, count; /* features of the parameter: position, category, or both */
    bool ordered;
    float *position;       /* position of each value */
    uint64_t *free_beside; /* for each value, a set of parameters (bit i: the parameter whose first
                            * feature is i): those that exceed their least value in some
                            * configuration with this value */
};

static double number_of(value v)
{
    if (v.kind == VALUE_INTEGER)
        return (double)v.integer;
    return v.kind == VALUE_NUMBER ? v.number : v.boolean;
}

static bool is_ordered(const space_parameter *p)
{
    for (size_t v = 0; v < p->value_count; v++)
        if (p->values[v].kind == VALUE_STRING)
            return false;
    return true;
}

/* Computes positions. Positive numbers are placed by the mean of rank and logarithm: ratios matter
 * for sizes, steps for counts, and the kind of a parameter is unknown. Other numbers are placed by
 * rank. */
static void place_numbers(const space *s, size_t parameter, size_t used, float *position)
{
    const space_parameter *p = space_get_parameter(s, parameter);
    double low = INFINITY, high = -INFINITY;
    for (size_t v = 0; v < p->value_count; v++)
        if (space_uses(s, parameter, (uint16_t)v)) {
            low = fmin(low, number_of(p->values[v]));
            high = fmax(high, number_of(p->values[v]));
        }
    bool ratios = low > 0 && high > low;
    size_t rank = 0;
    for (size_t v = 0; v < p->value_count; v++) {
        if (!space_uses(s, parameter, (uint16_t)v))
            continue;
        double by_rank = (double)rank++ / (double)(used - 1);
        double by_ratio = ratios ? log(number_of(p->values[v]) / low) / log(high / low) : by_rank;
        position[v] = (float)((by_rank + by_ratio) / 2);
    }
}

static void encode_parameter(encoding *e, size_t parameter, size_t most)
{
    struct encoded_parameter *ep = &e->parameters[parameter];
    const space_parameter *p = space_get_parameter(e->space, parameter);
    size_t used = 0;
    for (size_t v = 0; v < p->value_count; v++)
        used += space_uses(e->space, parameter, (uint16_t)v);
    ep->ordered = is_ordered(p);
    ep->first = e->features;
    ep->count = used < 2 ? 0 : used == 2 || !ep->ordered ? 1 : 2;
    if (ep->first + ep->count > most)
        ep->count = 0;
    if (ep->count == 0)
        return;
    ep->position = memory_new(p->value_count, sizeof *ep->position);
    ep->free_beside = memory_new(p->value_count, sizeof *ep->free_beside);
    for (size_t v = 0; v < p->value_count; v++)
        ep->position[v] = (float)v;
    if (ep->ordered)
        place_numbers(e->space, parameter, used, ep->position);
    e->is_category[ep->first] = !ep->ordered;
    e->is_category[ep->first + ep->count - 1] = !ep->ordered || ep->count == 2;
    e->features += ep->count;
}

/* Computes free_beside. A value may force another parameter to its least value, as an algorithm
 * without stages does with the number of stages. */
static void find_free(encoding *e)
{
    uint64_t count = space_count(e->space);
    rng r = rng_seeded(1);
    for (uint64_t i = 0; i < count && i < SAMPLED; i++) {
        uint64_t more = 0;
        space_at(e->space, count > SAMPLED ? rng_below(&r, count) : i, e->indices);
        for (size_t p = 0; p < e->parameter_count; p++) {
            const struct encoded_parameter *ep = &e->parameters[p];
            if (ep->count && ep->position[e->indices[p]] > 0)
                more |= UINT64_C(1) << ep->first;
        }
        for (size_t p = 0; p < e->parameter_count; p++) {
            const struct encoded_parameter *ep = &e->parameters[p];
            if (ep->count)
                ep->free_beside[e->indices[p]] |= more | UINT64_C(1) << ep->first;
        }
    }
}

void encoding_init(encoding *e, const space *s, size_t most)
{
    size_t count = space_parameter_count(s);
    *e = (encoding){.space = s,
                    .parameter_count = count,
                    .is_category = memory_new(most, sizeof *e->is_category),
                    .parameters = memory_new(count, sizeof *e->parameters),
                    .indices = memory_new(count, sizeof *e->indices)};
    for (size_t p = 0; p < count; p++)
        encode_parameter(e, p, most);
    find_free(e);
}

void encoding_deinit(encoding *e)
{
    for (size_t p = 0; e->parameters && p < e->parameter_count; p++) {
        free(e->parameters[p].position);
        free(e->parameters[p].free_beside);
    }
    free(e->is_category);
    free(e->parameters);
    free(e->indices);
    *e = (encoding){0};
}

void encoding_point(encoding *e, uint64_t configuration, float *point)
{
    space_at(e->space, configuration, e->indices);
    for (size_t p = 0; p < e->parameter_count; p++) {
        const struct encoded_parameter *ep = &e->parameters[p];
        for (size_t i = 0; i < ep->count; i++)
            point[ep->first + i] = ep->position[e->indices[p]];
    }
}

double encoding_distance(const encoding *e, const float *a, const float *b)
{
    double sum = 0;
    for (size_t p = 0; p < e->parameter_count; p++) {
        const struct encoded_parameter *ep = &e->parameters[p];
        if (ep->count == 0)
            continue;
        double d = (double)a[ep->first] - (double)b[ep->first];
        sum += ep->ordered ? d * d : d != 0;
    }
    return sum;
}

size_t encoding_least(encoding *e, uint64_t configuration)
{
    uint64_t least = 0, counted = UINT64_MAX;
    space_at(e->space, configuration, e->indices);
    for (size_t p = 0; p < e->parameter_count; p++) {
        const struct encoded_parameter *ep = &e->parameters[p];
        if (ep->count == 0)
            continue;
        counted &= ep->free_beside[e->indices[p]];
        if (ep->count == 2 && ep->position[e->indices[p]] <= 0)
            least |= UINT64_C(1) << ep->first;
    }
    return (size_t)__builtin_popcountll(least & counted);
}

static const double rank_part = 0.5; /* Weight of the rank in a score. */

void cost_scale_deinit(cost_scale *s)
{
    free(s->logarithms);
    free(s->scores);
    *s = (cost_scale){0};
}

/* Returns the normal quantile, by bisection, which is fast enough for a few hundred calls. */
static double normal_quantile(double probability)
{
    double low = -8, high = 8;
    for (int i = 0; i < 40; i++) {
        double middle = (low + high) / 2;
        if (0.5 * erfc(-middle * M_SQRT1_2) < probability)
            low = middle;
        else
            high = middle;
    }
    return (low + high) / 2;
}

static double deviation(const double *x, size_t count, double *mean)
{
    double sum = 0, squares = 0;
    for (size_t i = 0; i < count; i++)
        sum += x[i] / (double)count;
    for (size_t i = 0; i < count; i++)
        squares += (x[i] - sum) * (x[i] - sum) / (double)count;
    *mean = sum;
    return sqrt(squares);
}

/* Returns the slope of the scale below the lowest cost: the mean slope of the best quarter. */
static double slope_of(const cost_scale *s)
{
    size_t quarter = s->count > 8 ? s->count / 4 : s->count - 1;
    return quarter
               ? (s->scores[quarter] - s->scores[0]) / (s->logarithms[quarter] - s->logarithms[0])
               : 1;
}

void cost_scale_set(cost_scale *s, const double *costs, size_t count)
{
    cost_scale made = {.logarithms = memory_new(count, sizeof *made.logarithms),
                       .scores = memory_new(count, sizeof *made.scores)};
    double *x = made.logarithms, mean;
    for (size_t i = 0; i < count; i++)
        x[i] = log(costs[i]);
    qsort(x, count, sizeof *x, ascending_double);
    double spread = deviation(x, count, &mean);
    for (size_t i = 0; i < count;) {
        size_t end = i + 1;
        while (end < count && x[end] - x[i] < 1e-9)
            end++;
        double rank = (double)(i + end) / 2 / (double)count;
        double ratio = spread > 1e-9 ? (x[i] - mean) / spread : 0;
        made.scores[made.count] = rank_part * normal_quantile(rank) + (1 - rank_part) * ratio;
        x[made.count++] = x[i];
        i = end;
    }
    made.slope = slope_of(&made);
    cost_scale_deinit(s);
    *s = made;
}

double cost_scale_score(const cost_scale *s, double cost)
{
    double x = log(cost);
    if (x <= s->logarithms[0])
        return s->scores[0] + s->slope * (x - s->logarithms[0]);
    if (x >= s->logarithms[s->count - 1])
        return s->scores[s->count - 1];
    size_t low = 0, high = s->count - 1;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (s->logarithms[middle] <= x)
            low = middle;
        else
            high = middle;
    }
    double part = (x - s->logarithms[low]) / (s->logarithms[high] - s->logarithms[low]);
    return s->scores[low] + part * (s->scores[high] - s->scores[low]);
}
