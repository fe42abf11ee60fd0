/* Costs on a scale on which a model of them is easy to make.
 *
 * Half the logarithm of the cost, scaled to deviation 1, half the normal quantile of its rank: the
 * first keeps ratios, the second keeps apart what is close together near the best, however bad the
 * worst is. In between and beyond the costs that it was made from it is linear in the logarithm.
 * Rank transforms: Salinas, Shen & Perrone, "A quantile-based approach for hyperparameter transfer
 * learning" (2020). Owns its tables. */
#ifndef AUTOTUNE_COST_SCALE_H
#define AUTOTUNE_COST_SCALE_H

#include <stdbool.h>
#include <stddef.h>

typedef struct warp {
    double *logarithms, *scores; /* ascending, as many as different costs */
    size_t count;
    double slope; /* below the least cost */
} warp;

/* Makes the scale for `count` costs, more than 0 and finite; there must be one. False when memory
 * ran out: then *w is as before. Frees what *w held. */
bool warp_set(warp *w, const double *costs, size_t count);
void warp_deinit(warp *w); /* a zeroed one is fine */

/* The score of a cost: about -2 .. 2, lower is better. */
double warp_score(const warp *w, double cost);

#endif
