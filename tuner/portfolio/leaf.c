#include "portfolio/leaf.h"

#include <math.h>

/* A user who is given what is slower than the default is worse off than without any portfolio; and
 * where that is expected to be a little slower, or as fast, it may well be more. */
static const double harm_weight = 10;

static double cost_of(double ratio, double fallback)
{
    if (!(ratio > 0))
        return INFINITY;
    double harm = fallback > 0 ? ratio / fallback - 1 : 0;
    return ratio - 1 + harm_weight * fmax(0, harm);
}

void leaf_set_costs(const portfolio_matrix *m, leaf_costs *costs)
{
    size_t width = m->configuration_count;
    double *cost = costs->values;
    costs->columns = width + 1;
    for (size_t row = 0; row < m->problem_count; row++) {
        for (size_t c = 0; c < width; c++)
            *cost++ = cost_of(m->ratios[row * width + c], m->defaults[row]);
        *cost++ = cost_of(m->defaults[row], 0);
    }
}

double leaf_least_cost(const leaf_costs *costs, size_t row)
{
    double least = PORTFOLIO_UNCOVERED;
    for (size_t c = 0; c < costs->columns; c++)
        least = fmin(least, costs->values[row * costs->columns + c]);
    return least;
}

void leaf_order(const leaf_costs *costs, const size_t *rows, size_t count, record_node *leaf)
{
    double scores[LEAF_COLUMNS] = {0};
    size_t seen[LEAF_COLUMNS] = {0}, last = costs->columns - 1;
    for (size_t i = 0; i < count; i++) {
        const double *cost = &costs->values[rows[i] * costs->columns];
        for (size_t c = 0; c <= last; c++)
            if (isfinite(cost[c])) {
                scores[c] += cost[c];
                seen[c]++;
            }
    }
    /* Columns that are possible nowhere here come last. */
    for (size_t c = 0; c <= last; c++)
        scores[c] = seen[c] ? scores[c] / (double)seen[c] : PORTFOLIO_UNCOVERED;
    *leaf = (record_node){.has_default = true};
    for (size_t c = 0; c < last; c++) {
        size_t at = c;
        for (; at > 0 && scores[leaf->order[at - 1]] > scores[c]; at--)
            leaf->order[at] = leaf->order[at - 1];
        leaf->order[at] = (uint8_t)c;
        leaf->default_at += scores[c] <= scores[last];
    }
}

static double cost_at(const double *cost, size_t last, const record_node *leaf)
{
    for (size_t i = 0; i < last && !(i == leaf->default_at && isfinite(cost[last])); i++)
        if (isfinite(cost[leaf->order[i]]))
            return cost[leaf->order[i]];
    return isfinite(cost[last]) ? cost[last] : PORTFOLIO_UNCOVERED;
}

double leaf_cost(const leaf_costs *costs, const size_t *rows, size_t count)
{
    record_node leaf;
    double sum = 0;
    leaf_order(costs, rows, count, &leaf);
    for (size_t i = 0; i < count; i++)
        sum += cost_at(&costs->values[rows[i] * costs->columns], costs->columns - 1, &leaf);
    return sum;
}
