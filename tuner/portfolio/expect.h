/* What each configuration is expected to lose on a problem by somebody who knows what it lost on
 * the others: the mean of those, each with a weight that falls with its distance (Shepard, "A
 * two-dimensional interpolation function for irregularly-spaced data", 1968). A set of
 * configurations is worth what its readers take of it, and they know no more. */
#ifndef AUTOTUNE_PORTFOLIO_EXPECT_H
#define AUTOTUNE_PORTFOLIO_EXPECT_H

#include "portfolio/matrix.h"
#include "portfolio/problems.h"

/* Fills `expected` (configuration_count + 1 for each of the matrix's problems, the last being the
 * default's) from the first `timed` problems, whose values are `problems`; of the problems behind
 * them nothing is expected, 0. */
void portfolio_expect(const portfolio_matrix *m, const portfolio_axis *axes, size_t axis_count,
                      const value *problems, size_t timed, double *expected);

#endif
