/* Costs on a scale that suits a Gaussian process.
 *
 * The mean of the cost's logarithm, scaled to deviation 1, and the normal quantile of its rank. The
 * first keeps ratios; the second keeps good costs apart from each other, however bad the worst are.
 * Between and beyond the costs that it was made from, the scale is linear in the logarithm.
 * Rank transforms: Salinas, Shen & Perrone, "A quantile-based approach for hyperparameter transfer
 * learning" (2020). Owns its tables. */
#ifndef AUTOTUNE_COST_SCALE_H
#define AUTOTUNE_COST_SCALE_H

#include <stdbool.h>
#include <stddef.h>

typedef struct cost_scale {
    double *logarithms, *scores; /* ascending, as many as different costs */
    size_t count;
    double slope; /* below the least cost */
} cost_scale;

/* Makes the scale for `count` costs, more than 0 and finite; there must be one. Frees what
 * *s held. */
void cost_scale_set(cost_scale *s, const double *costs, size_t count);
void cost_scale_deinit(cost_scale *s); /* a zeroed one is fine */

/* The score of a cost: about -2 .. 2, lower is better. */
double cost_scale_score(const cost_scale *s, double cost);

#endif
