/* Statistics of time samples: order statistics and robust comparisons; Cholesky factors. No clock,
 * no device.
 *
 * Samples are int64 nanoseconds. Sources: ranks of the median's interval, Hettmansperger & Sheather
 * 1986; trimmed mean and its standard error, Yuen 1974. Nothing here allocates or fails, but
 * for stats_summarise_copy(); samples and values must be finite. */
#ifndef AUTOTUNE_BASE_STATS_H
#define AUTOTUNE_BASE_STATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct stats_summary {
    size_t count;
    int64_t min_ns, q1_ns, median_ns, q3_ns;
    int64_t low_ns, high_ns; /* 95 % interval of the median (order statistics); min/max below 6 */
} stats_summary;

/* Sorts `samples` in place and summarises them; count 0 gives all zeros. Quartiles are the linear
 * interpolation of Hyndman & Fan's type 7, rounded down. */
stats_summary stats_summarise(int64_t *samples_ns, size_t count);

/* The same of a copy, in the caller's order afterwards too; all 0 for none. False when memory ran
 * out. */
bool stats_summarise_copy(const int64_t *samples_ns, size_t count, stats_summary *out);

/* Trimmed mean of `values` (sorted in place), dropping floor(fraction * n) at each end, and its
 * Yuen standard error (INFINITY below 2 remaining values; may be NULL). `fraction` in [0, 0.5);
 * count 0 gives 0. */
double stats_trimmed_mean(double *values, size_t count, double fraction, double *standard_error);

/* Degrees of freedom of that standard error: remaining values less one; 0 when there is none. */
double stats_trimmed_freedom(size_t count, double fraction);

/* Sorts numbers, ascending. */
void stats_sort(double *values, size_t count);

/* Median of `values` (sorted in place); 0 for count 0. */
double stats_median(double *values, size_t count);

/* P(T > t) of Student's t with `freedom` > 0 degrees. */
double stats_t_tail(double t, double freedom);

/* The t that Student's t with `freedom` > 0 degrees exceeds with probability `tail` in (0, 0.5]. */
double stats_t_quantile(double tail, double freedom);

/* ---- Cholesky factors ----
 *
 * Cholesky's factor L of a symmetric, positive definite matrix A = L L^T. Matrices are n x n, row
 * by row, of which the lower triangle alone is read and written. */

/* Replaces A by L; false when A is not positive definite, as rounding may have it. With a
 * `least_pivot` above 0 squares of the diagonal are at least that, and there is always a factor. */
bool cholesky_factor(double *a, size_t n, double least_pivot);

/* The logarithm of the determinant of L, which is half of that of A's. */
double cholesky_log_determinant(const double *factor, size_t n);

/* x := L^-1 x, and x := L^-T x. */
void cholesky_solve_lower(const double *factor, size_t n, double *x);
void cholesky_solve_upper(const double *factor, size_t n, double *x);

#endif
