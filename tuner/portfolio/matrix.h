/* What each configuration costs on each problem, as the choice of a portfolio sees it: plain data. */
#ifndef AUTOTUNE_PORTFOLIO_MATRIX_H
#define AUTOTUNE_PORTFOLIO_MATRIX_H

#include <stddef.h>

/* Ratios are times over the time of the problem's own best: 1 and up. 0: impossible there. */
typedef struct portfolio_matrix {
    size_t problem_count, configuration_count;
    const double *ratios;   /* of all configurations on the first problem, then on the next ... */
    const double *defaults; /* of the script's default, one a problem */
} portfolio_matrix;

/* What is slower than the default by less is noise: a median each is what there is. As the readers of
 * records have it. */
#define PORTFOLIO_NOISE 0.01

/* What a problem costs for which nothing is possible, not even the default. */
#define PORTFOLIO_UNCOVERED 1000.0

#endif
