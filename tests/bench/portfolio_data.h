/* Times of configurations on many problems, read from a record's portfolio. Benchmarks of
 * portfolios' choices use them. */
#ifndef AUTOTUNE_BENCH_PORTFOLIO_DATA_H
#define AUTOTUNE_BENCH_PORTFOLIO_DATA_H

#include <jansson.h>

#include "portfolio/cover.h"
#include "portfolio/problems.h"

typedef struct portfolio_data {
    size_t axis_count; /* number of variables whose values differ */
    portfolio_axis axes[PORTFOLIO_MAX_AXES];
    size_t problem_count, width;
    value *problems;  /* values of each problem, one for each axis */
    double *times_ns; /* times of `width` configurations and of the default on each problem; 0 if
                         not timed */
} portfolio_data;

/* Reads an object with `configurations` and `problems` (`problem`, `times_ns`, `baseline_ns`),
 * which has to outlive *out. Returns false if it is not such an object, or if memory is short. The
 * caller calls data_deinit() in either case. */
bool data_init(const json_t *portfolio, portfolio_data *out);
void data_deinit(portfolio_data *d);

static inline double data_time_ns(const portfolio_data *d, size_t problem, size_t column)
{
    return d->times_ns[problem * (d->width + 1) + column];
}

/* Returns the fastest time on a problem, including the default's; INFINITY if nothing is
   possible. */
double data_best_ns(const portfolio_data *d, size_t problem);

/* Writes ratios, defaults and values of the problems `rows` to the three arrays of the caller.
 * Returns a matrix that points to these arrays. */
portfolio_matrix data_matrix(const portfolio_data *d, const size_t *rows, size_t count,
                             double *ratios, double *defaults, value *problems);

/* Prints losses as "mean 1.23 %, above 4 %: 5.0 %". */
void data_print_losses(const char *what, const double *losses, size_t count);

#endif
