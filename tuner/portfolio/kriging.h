/* The expected loss of each configuration on a problem, from the problems that were timed: kriging,
 * also known as regression by Gaussian processes (Rasmussen & Williams, "Gaussian Processes for
 * Machine Learning", 2006, algorithm 2.1).
 *
 * The logarithm of a configuration's time over the best one's changes gradually with the sizes of a
 * problem, in doublings (Matern's kernel of order 3/2), with a step between sizes of different
 * divisibility; problems with different words tell nothing of each other. Features, which come
 * after the variables, count as far as what was timed says that they do. */
#ifndef AUTOTUNE_PORTFOLIO_KRIGING_H
#define AUTOTUNE_PORTFOLIO_KRIGING_H

#include "portfolio/matrix.h"
#include "portfolio/problems.h"

typedef struct kriging kriging;

/* Learns from a matrix; `problems` has one value an axis for each of its problems, and is borrowed
 * as the axes are. `fits`: chooses, where there are enough problems, how far each size and each
 * product of two reaches, what divisibility matters and how much is noise, by what makes the times
 * most likely; and more noise, where the choices of who knows the others' times clearly lose less
 * by that (cross-validation). It takes seconds. The caller frees it. */
kriging *kriging_new(const portfolio_matrix *m, const portfolio_axis *axes, size_t axis_count,
                     const value *problems, bool fits);
void kriging_free(kriging *k); /* NULL is fine */

/* Sets the expected ratio of each configuration, and after them that of the default. 0: it is known
 * nowhere. A ratio is a time over that of the best of them. */
void kriging_expect(const kriging *k, const value *problem, double *ratios);

/* Adds to what kriging_expect() expects of each configuration what it may be slower than the
 * default: the less is known of the problem, the more. */
void kriging_beware(const kriging *k, const value *problem, double *ratios);

#endif
