/* The time of each configuration on each problem, from which a portfolio is chosen: plain data. */
#ifndef AUTOTUNE_PORTFOLIO_MATRIX_H
#define AUTOTUNE_PORTFOLIO_MATRIX_H

#include <stddef.h>

/* Ratios are times over the time of the problem's own best: 1 or more. 0: impossible there. */
typedef struct portfolio_matrix {
    size_t problem_count, configuration_count;
    const double *ratios;   /* of all configurations on the first problem, then on the next ... */
    const double *defaults; /* of the script's default, one a problem */
} portfolio_matrix;

/* A configuration is slower than the default only by more than this: there is just one median of each.
 * Readers of records use the same margin. */
#define PORTFOLIO_NOISE 0.01

/* The ratio of a problem on which nothing is possible, not even the default. */
#define PORTFOLIO_UNCOVERED 1000.0

#endif
