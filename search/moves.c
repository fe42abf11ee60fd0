#include "search/strategies.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"

enum { MOST_NEAREST = 8 };

void moves_init(moves *m, ledger *l)
{
    size_t count = space_parameter_count(l->space);
    *m = (moves){.ledger = l,
                 .parameter_count = count,
                 .free_parameters = memory_new(count, sizeof *m->free_parameters),
                 .here = memory_new(count, sizeof *m->here),
                 .there = memory_new(count, sizeof *m->there),
                 .near_limit = space_hamming_limit(l->space)};
    m->near = memory_new(m->near_limit, sizeof *m->near);
    for (size_t p = 0; p < count; p++) {
        size_t used = 0;
        for (size_t v = 0; v < space_get_parameter(l->space, p)->value_count; v++)
            used += space_uses(l->space, p, (uint16_t)v);
        if (used > 1)
            m->free_parameters[m->free_count++] = p;
    }
}

void moves_deinit(moves *m)
{
    free(m->free_parameters);
    free(m->here);
    free(m->there);
    free(m->near);
    *m = (moves){0};
}

/* Draws a value in use other than `value_index`, uniformly. */
static uint16_t other_value(moves *m, size_t parameter, uint16_t value_index)
{
    const space *s = m->ledger->space;
    size_t count = space_get_parameter(s, parameter)->value_count;
    uint16_t v;
    do
        v = (uint16_t)rng_below(&m->ledger->rng, count);
    while (v == value_index || !space_uses(s, parameter, v));
    return v;
}

uint64_t moves_mutate(moves *m, uint64_t configuration, size_t changes)
{
    space_at(m->ledger->space, configuration, m->here);
    for (size_t i = 0; i < changes && m->free_count; i++) {
        size_t p = m->free_parameters[rng_below(&m->ledger->rng, m->free_count)];
        m->here[p] = other_value(m, p, m->here[p]);
    }
    return space_project(m->ledger->space, m->here);
}

static uint16_t next_value(const space *s, size_t parameter, uint16_t value_index, int direction)
{
    int count = (int)space_get_parameter(s, parameter)->value_count;
    for (int v = value_index + direction; v >= 0 && v < count; v += direction)
        if (space_uses(s, parameter, (uint16_t)v))
            return (uint16_t)v;
    return value_index;
}

uint64_t moves_shift(moves *m, uint64_t configuration)
{
    space_at(m->ledger->space, configuration, m->here);
    for (size_t i = 0; i < m->free_count; i++) {
        size_t p = m->free_parameters[i];
        int direction = (int)rng_below(&m->ledger->rng, 3) - 1;
        if (direction)
            m->here[p] = next_value(m->ledger->space, p, m->here[p], direction);
    }
    return space_project(m->ledger->space, m->here);
}

uint64_t moves_cross(moves *m, uint64_t a, uint64_t b)
{
    space_at(m->ledger->space, a, m->here);
    space_at(m->ledger->space, b, m->there);
    for (size_t p = 0; p < m->parameter_count; p++)
        if (rng_below(&m->ledger->rng, 2))
            m->here[p] = m->there[p];
    return space_project(m->ledger->space, m->here);
}

size_t moves_unseen_neighbours(moves *m, uint64_t configuration)
{
    const ledger *l = m->ledger;
    size_t unseen = 0;
    size_t count = space_neighbours(l->space, configuration, m->near, m->near_limit);
    for (size_t i = 0; i < count; i++)
        if (!ledger_seen(l, m->near[i]))
            m->near[unseen++] = m->near[i];
    return unseen;
}

static size_t difference(const moves *m)
{
    size_t count = 0;
    for (size_t p = 0; p < m->parameter_count; p++)
        count += m->here[p] != m->there[p];
    return count;
}

size_t moves_difference(moves *m, uint64_t a, uint64_t b)
{
    space_at(m->ledger->space, a, m->here);
    space_at(m->ledger->space, b, m->there);
    return difference(m);
}

double moves_nearest_cost(moves *m, uint64_t configuration, size_t count)
{
    const ledger *l = m->ledger;
    size_t found = 0, distance[MOST_NEAREST];
    double cost[MOST_NEAREST], worst = 0, sum = 0;
    space_at(l->space, configuration, m->here);
    for (size_t i = 0; i < l->trial_count; i++) {
        double c = l->trials[i].cost;
        if (isnan(c))
            continue;
        worst = isfinite(c) && c > worst ? c : worst;
        space_at(l->space, l->trials[i].configuration, m->there);
        size_t d = difference(m);
        if (found == count && d >= distance[count - 1])
            continue;
        size_t at = found < count ? found++ : count - 1;
        for (; at > 0 && distance[at - 1] > d; at--) {
            distance[at] = distance[at - 1];
            cost[at] = cost[at - 1];
        }
        distance[at] = d;
        cost[at] = c;
    }
    if (worst == 0)
        return NAN;
    for (size_t i = 0; i < found; i++)
        sum += log(isfinite(cost[i]) ? cost[i] : worst);
    return sum / (double)found;
}
