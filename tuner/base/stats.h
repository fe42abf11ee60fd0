/* Statistics of time samples: order statistics, trimmed means, Student's t; Cholesky factors.
 *
 * Samples must be finite. Only stats_summarise_copy() allocates and can fail. Sources: confidence
 * interval of the median, Hettmansperger & Sheather 1986; trimmed mean and its standard error, Yuen
 * 1974. */
#ifndef AUTOTUNE_BASE_STATS_H
#define AUTOTUNE_BASE_STATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct stats_summary {
    size_t count;
    int64_t min_ns, q1_ns, median_ns, q3_ns;
    int64_t low_ns, high_ns; /* 95 % interval of the median; min and max below 6 samples */
} stats_summary;

/* Sorts the samples in place and summarises them. All results are 0 if `count` is 0. Quartiles are
 * interpolated linearly (Hyndman & Fan's type 7) and rounded down. */
stats_summary stats_summarise(int64_t *samples_ns, size_t count);

/* Like stats_summarise(), but keeps the samples' order. Returns false if memory ran out. */
bool stats_summarise_copy(const int64_t *samples_ns, size_t count, stats_summary *out);

/* Sorts `values` in place and returns their mean without the floor(fraction * count) smallest and
 * largest values; `fraction` is in [0, 0.5). Returns 0 if `count` is 0. `*standard_error` (may be
 * NULL) gets Yuen's standard error, INFINITY if fewer than 2 values remain. */
double stats_trimmed_mean(double *values, size_t count, double fraction, double *standard_error);

/* Returns the degrees of freedom of Yuen's standard error: the number of remaining values minus 1,
 * or 0 if the error is INFINITY. */
double stats_trimmed_freedom(size_t count, double fraction);

/* Sorts values, the smallest first. */
void stats_sort(double *values, size_t count);

/* Sorts `values` in place and returns their median, 0 if `count` is 0. */
double stats_median(double *values, size_t count);

/* Returns P(T > t) for Student's t with `freedom` > 0 degrees of freedom. */
double stats_t_tail(double t, double freedom);

/* Returns the t with P(T > t) = `tail`, in (0, 0.5], for `freedom` > 0 degrees of freedom. */
double stats_t_quantile(double tail, double freedom);

/* ---- Cholesky factors ----
 * The factor L of a symmetric, positive definite matrix A = L L^T. Matrices are n x n and
 * row-major. Only the lower triangle is read and written. */

/* Replaces A by L. Returns false if A is not positive definite after rounding. If `least_pivot` is
 * above 0, squares of L's diagonal are raised to it, and the factorisation always succeeds. */
bool cholesky_factor(double *a, size_t n, double least_pivot);

/* Returns log det L, half of log det A. */
double cholesky_log_determinant(const double *factor, size_t n);

/* Replace x by L^-1 x, and by L^-T x. */
void cholesky_solve_lower(const double *factor, size_t n, double *x);
void cholesky_solve_upper(const double *factor, size_t n, double *x);

#endif
