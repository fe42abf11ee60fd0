/* Predicts the time of each configuration on a problem from the timed problems, by kriging, also
 * known as Gaussian process regression (Rasmussen & Williams, "Gaussian Processes for Machine
 * Learning", 2006, algorithm 2.1).
 *
 * The logarithm of time over best time changes gradually with the sizes of a problem, in doublings
 * (Matern covariance of order 3/2), with a step between sizes of different divisibility. Problems
 * with different strings among their values are independent. Each feature counts as much as it
 * affects the times of the timed problems. */
#ifndef AUTOTUNE_PORTFOLIO_KRIGING_H
#define AUTOTUNE_PORTFOLIO_KRIGING_H

#include "portfolio/cover.h"
#include "portfolio/problems.h"

typedef struct kriging kriging;

/* Learns from a matrix. `problems` has one value per axis for each problem; `problems` and the axes
 * are borrowed. If `fits` is true and there are enough problems, the parameters are chosen that
 * make the times most likely: the scale of each size and of each product of two sizes, the weight
 * of divisibility, and the noise. More noise is chosen if that clearly lowers the loss in
 * cross-validation. This takes seconds. The caller calls kriging_free(). */
kriging *kriging_new(const portfolio_matrix *m, const portfolio_axis *axes, size_t axis_count,
                     const value *problems, bool fits);
void kriging_free(kriging *k); /* `k` may be NULL */

/* Writes the predicted ratios of all configurations, then of the default; 0 if the configuration
 * was impossible on all problems. */
void kriging_expect(const kriging *k, const value *problem, double *ratios);

/* Adds to the ratios a margin for the risk that a configuration is slower than the default. The
 * margin grows with the doubt about the problem. */
void kriging_add_risk(const kriging *k, const value *problem, double *ratios);

#endif
