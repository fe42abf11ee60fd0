/* The time of each configuration on each problem, from which a portfolio is chosen: plain data. */
#ifndef AUTOTUNE_PORTFOLIO_MATRIX_H
#define AUTOTUNE_PORTFOLIO_MATRIX_H

#include <stdbool.h>
#include <stddef.h>

#include "record/record.h"

/* Ratios are times over the time of the problem's own best: 1 or more. 0: impossible there. */
typedef struct portfolio_matrix {
    size_t problem_count, configuration_count;
    const double *ratios;   /* of all configurations on the first problem, then on the next ... */
    const double *defaults; /* of the script's default, one a problem */
} portfolio_matrix;

/* Is a reader of the record given the configuration on the problem: possible there, and faster than
 * the default? Else the next one, at last the default. */
static inline bool portfolio_serves(const portfolio_matrix *m, size_t problem, size_t configuration)
{
    double ratio = m->ratios[problem * m->configuration_count + configuration];
    double fallback = m->defaults[problem];
    return ratio > 0 && (fallback <= 0 || ratio * (1 + RECORD_NOISE) < fallback);
}

/* The ratio of a problem on which nothing is possible, not even the default. */
#define PORTFOLIO_UNCOVERED 1000.0

#endif
