/* The choice of a few configurations that serve many problems: facility location, in which every
 * problem goes to the configuration that loses least on it against its own best.
 *
 * A configuration serves no problem on which it is impossible, nor one on which it is slower than the
 * script's default, which serves whatever nothing else does and is not counted. Exact where the number of sets is small;
 * else greedy, each size followed by exchanges of one for one until none helps (Teitz & Bart,
 * "Heuristic methods for estimating the generalized vertex median of a weighted graph", 1968). */
#ifndef AUTOTUNE_PORTFOLIO_COVER_H
#define AUTOTUNE_PORTFOLIO_COVER_H

#include "base/error.h"
#include "portfolio/matrix.h"

/* What a problem loses with these configurations, relative to its own best. */
double portfolio_loss_of(const portfolio_matrix *m, size_t problem, const size_t *chosen, size_t count);

/* Chooses 1 to `most` configurations, as few as come within `least_gain` (a relative loss) a
 * configuration of the least mean loss; none where there are none. `chosen` has room for `most`;
 * *loss is the mean. AT_NO_MEMORY. */
at_status portfolio_cover(const portfolio_matrix *m, size_t most, double least_gain, size_t *chosen,
                          size_t *count, double *loss, at_error *error);

#endif
