#include "search/regression/encoding.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/rng.h"

/* A larger space is sampled for what its values leave free. */
enum { LOOKED_AT = 8192 };

struct encoded_parameter {
    size_t first, count; /* features: position, category or both */
    bool ordered;
    float *position;       /* of each value */
    uint64_t *free_beside; /* of each value: the parameters, by their first feature's bit, that
                              exceed their least beside it */
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

/* The least and the greatest of the values in use. */
static void find_range(const space *s, size_t parameter, double *low, double *high)
{
    const space_parameter *p = space_get_parameter(s, parameter);
    *low = INFINITY;
    *high = -INFINITY;
    for (size_t v = 0; v < p->value_count; v++) {
        if (!space_uses(s, parameter, (uint16_t)v))
            continue;
        double x = number_of(p->values[v]);
        *low = x < *low ? x : *low;
        *high = x > *high ? x : *high;
    }
}

/* Places positive numbers halfway between their rank and their logarithm: sizes matter by ratio,
 * counts by step, and which of these a parameter is cannot be known. Others by rank. */
static void place_numbers(const space *s, size_t parameter, size_t used, float *position)
{
    const space_parameter *p = space_get_parameter(s, parameter);
    double low, high;
    find_range(s, parameter, &low, &high);
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

/* Notes beside which values each parameter exceeds its least: a choice that leaves another
 * parameter no say, as an algorithm without stages does, holds it at one value. */
static void find_free(encoding *e)
{
    uint64_t count = space_count(e->space);
    rng r = rng_seeded(1);
    for (uint64_t i = 0; i < count && i < LOOKED_AT; i++) {
        uint64_t more = 0;
        space_at(e->space, count > LOOKED_AT ? rng_below(&r, count) : i, e->indices);
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
