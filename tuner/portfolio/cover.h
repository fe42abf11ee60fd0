/* Chooses a few configurations for many problems: facility location, in which every problem uses
 * the chosen configuration that is fastest on it.
 *
 * A problem on which all chosen configurations are impossible, or no faster than the script's
 * default, uses the default, which is not counted. Exact if the number of sets is small; else
 * greedy, each size followed by exchanges of one for one until none helps (Teitz & Bart, "Heuristic
 * methods for estimating the generalized vertex median of a weighted graph", 1968). */
#ifndef AUTOTUNE_PORTFOLIO_COVER_H
#define AUTOTUNE_PORTFOLIO_COVER_H

#include <stdbool.h>

#include "portfolio/matrix.h"

/* Is a configuration one of those that a list has? */
bool portfolio_contains(const size_t *list, size_t count, size_t configuration);

/* The loss of a problem with these configurations, relative to its own best. */
double portfolio_loss_of(const portfolio_matrix *m, size_t problem, const size_t *chosen,
                         size_t count);

/* Chooses 1 to `most` configurations (none if there are none): more than k only if each one more
 * lowers the mean relative loss by `least_gain` on average. `chosen` has room for `most`; *loss is
 * the mean. Returns how many. */
size_t portfolio_cover(const portfolio_matrix *m, size_t most, double least_gain, size_t *chosen,
                       double *loss);

#endif
