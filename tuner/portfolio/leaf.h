/* A leaf of a portfolio's tree: the order that its problems suggest, and what they lose by it. */
#ifndef AUTOTUNE_PORTFOLIO_LEAF_H
#define AUTOTUNE_PORTFOLIO_LEAF_H

#include "portfolio/matrix.h"
#include "record/record.h"

enum { LEAF_COLUMNS = RECORD_MAX_KEPT + 1 };

/* What each configuration, and behind them the pattern's default, costs on each problem: what it
 * loses beside the best one, and more where it is slower than the default. INFINITY: it is
 * impossible. */
typedef struct leaf_costs {
    size_t columns;
    double *values; /* of the first problem, then of the next ... */
} leaf_costs;

/* Fills costs->values, which has room, from a matrix. */
void leaf_set_costs(const portfolio_matrix *m, leaf_costs *costs);

/* What the best column costs on a row, or PORTFOLIO_UNCOVERED. */
double leaf_least_cost(const leaf_costs *costs, size_t row);

/* Makes a leaf of some rows: columns by what they cost in the mean of those where they are
 * possible. */
void leaf_order(const leaf_costs *costs, const size_t *rows, size_t count, record_node *leaf);

/* What a leaf of some rows costs their readers, who take the first that is possible: the sum. */
double leaf_cost(const leaf_costs *costs, const size_t *rows, size_t count);

#endif
