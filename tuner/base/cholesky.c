#include "base/cholesky.h"

#include <math.h>

bool cholesky_factor(double *a, size_t n, double least_pivot)
{
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j <= i; j++) {
            double sum = a[i * n + j];
            for (size_t k = 0; k < j; k++)
                sum -= a[i * n + k] * a[j * n + k];
            if (i == j && least_pivot > 0)
                sum = fmax(sum, least_pivot);
            if (i == j && !(sum > 0))
                return false;
            a[i * n + j] = i == j ? sqrt(sum) : sum / a[j * n + j];
        }
    return true;
}

double cholesky_log_determinant(const double *factor, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += log(factor[i * n + i]);
    return sum;
}

void cholesky_solve_lower(const double *factor, size_t n, double *x)
{
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < i; k++)
            x[i] -= factor[i * n + k] * x[k];
        x[i] /= factor[i * n + i];
    }
}

void cholesky_solve_upper(const double *factor, size_t n, double *x)
{
    for (size_t i = n; i-- > 0;) {
        x[i] /= factor[i * n + i];
        for (size_t k = 0; k < i; k++)
            x[k] -= factor[i * n + k] * x[i];
    }
}
