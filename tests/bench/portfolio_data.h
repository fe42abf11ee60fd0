/* Times of configurations on many problems, as a record's portfolio has them, for benchmarks of how
 * portfolios choose. */
#ifndef AUTOTUNE_BENCH_PORTFOLIO_DATA_H
#define AUTOTUNE_BENCH_PORTFOLIO_DATA_H

#include <jansson.h>

#include "portfolio/cover.h"
#include "portfolio/problems.h"

typedef struct portfolio_data {
    size_t axis_count; /* the variables that differ; numbers are told apart by powers of two up to
                          32 */
    portfolio_axis axes[PORTFOLIO_MAX_AXES];
    size_t problem_count, width;
    value *problems;  /* one value an axis for each */
    double *times_ns; /* of each problem: of `width` configurations, then of the default; 0:
                         impossible, or not timed */
} portfolio_data;

/* From an object with `configurations` and `problems` (`problem`, `times_ns`, `baseline_ns`), which
 * has to outlive *out. False: it is no such object, or memory ran out. The caller calls
 * data_deinit() in either case. */
bool data_init(const json_t *portfolio, portfolio_data *out);
void data_deinit(portfolio_data *d);

static inline double data_time_ns(const portfolio_data *d, size_t problem, size_t column)
{
    return d->times_ns[problem * (d->width + 1) + column];
}

/* What is fastest there, the default included; INFINITY: nothing is possible. */
double data_best_ns(const portfolio_data *d, size_t problem);

/* Writes the ratios of some problems and their values; there is room. */
portfolio_matrix data_matrix(const portfolio_data *d, const size_t *rows, size_t count,
                             double *ratios, double *defaults, value *problems);

/* "mean 1.23 %, above 4 %: 5.0 %" of losses. */
void data_print_losses(const char *what, const double *losses, size_t count);

#endif
