/* Cholesky's factor L of a symmetric, positive definite matrix A = L L^T. Matrices are n x n, row
 * by row, of which the lower triangle alone is read and written. */
#ifndef AUTOTUNE_BASE_CHOLESKY_H
#define AUTOTUNE_BASE_CHOLESKY_H

#include <stdbool.h>
#include <stddef.h>

/* Replaces A by L; false when A is not positive definite, as rounding may have it. With a
 * `least_pivot` above 0 squares of the diagonal are at least that, and there is always a factor. */
bool cholesky_factor(double *a, size_t n, double least_pivot);

/* The logarithm of the determinant of L, which is half of that of A's. */
double cholesky_log_determinant(const double *factor, size_t n);

/* x := L^-1 x, and x := L^-T x. */
void cholesky_solve_lower(const double *factor, size_t n, double *x);
void cholesky_solve_upper(const double *factor, size_t n, double *x);

#endif
