/* A leaf of a portfolio's tree: the order that its problems suggest, and what they lose by it. */
#ifndef AUTOTUNE_PORTFOLIO_LEAF_H
#define AUTOTUNE_PORTFOLIO_LEAF_H

#include "portfolio/matrix.h"
#include "record/record.h"

enum { LEAF_COLUMNS = RECORD_MAX_KEPT + 1 };

/* The cost of each configuration, and after them of the pattern's default, on each problem: its
 * loss beside the best one, and more where it is slower than the default. INFINITY: it is
 * impossible. */
typedef struct leaf_costs {
    size_t columns;
    double *values; /* of the first problem, then of the next ... */
} leaf_costs;

/* Fills costs->values, which has room, from a matrix. */
void leaf_set_costs(const portfolio_matrix *m, leaf_costs *costs);

/* The cost of the best column on a row, or PORTFOLIO_UNCOVERED. */
double leaf_least_cost(const leaf_costs *costs, size_t row);

/* Makes a leaf of some rows: columns by what they cost in the mean of those where they are
 * possible. */
void leaf_order(const leaf_costs *costs, const size_t *rows, size_t count, record_node *leaf);

/* The cost of a leaf, summed over the readers of its rows, who take the first possible column. */
double leaf_cost(const leaf_costs *costs, const size_t *rows, size_t count);

#endif
