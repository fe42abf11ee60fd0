/* Expects the time of each configuration on a problem, from the problems that were timed: kriging,
 * also known as Gaussian process regression (Rasmussen & Williams, "Gaussian Processes for Machine
 * Learning", 2006, algorithm 2.1).
 *
 * The logarithm of a configuration's time over the best time changes gradually with the sizes of a
 * problem, in doublings (Matern kernel of order 3/2), with a step between sizes of different
 * divisibility. Problems with different words are independent. Features, which come after the
 * variables, count as far as the timed problems show that they matter. */
#ifndef AUTOTUNE_PORTFOLIO_KRIGING_H
#define AUTOTUNE_PORTFOLIO_KRIGING_H

#include "portfolio/cover.h"
#include "portfolio/problems.h"

typedef struct kriging kriging;

/* Learns from a matrix. `problems` has one value per axis for each problem of the matrix; it is
 * borrowed, as the axes are. If `fits` is true and there are enough problems, the scale of each
 * size and each product of two, the weight of divisibility, and the noise are chosen to make the
 * times most likely. More noise is chosen if it clearly lowers the loss in cross-validation. This
 * takes seconds. The caller frees the result with kriging_free(). */
kriging *kriging_new(const portfolio_matrix *m, const portfolio_axis *axes, size_t axis_count,
                     const value *problems, bool fits);
void kriging_free(kriging *k); /* `k` may be NULL */

/* Writes the expected ratio of each configuration, then of the default: its time over the time of
 * the best. 0 if it was possible nowhere. */
void kriging_expect(const kriging *k, const value *problem, double *ratios);

/* Adds to the ratios of kriging_expect() a margin for the risk that a configuration is slower than
 * the default. The margin grows as less is known about the problem. */
void kriging_add_risk(const kriging *k, const value *problem, double *ratios);

#endif
