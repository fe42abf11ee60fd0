#include "base/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

void stats_sort(double *values, size_t count)
{
    if (count > 0)
        qsort(values, count, sizeof *values, ascending_double);
}

static int64_t quartile(const int64_t *sorted, size_t count, size_t quarter)
{
    size_t position = (count - 1) * quarter; /* in quarters of a rank */
    size_t rank = position / 4, rest = position % 4;
    if (rest == 0)
        return sorted[rank];
    int64_t step = sorted[rank + 1] - sorted[rank];
    return sorted[rank] + step / 4 * (int64_t)rest + step % 4 * (int64_t)rest / 4;
}

stats_summary stats_summarise(int64_t *samples_ns, size_t count)
{
    stats_summary s = {.count = count};
    if (count == 0)
        return s;
    qsort(samples_ns, count, sizeof *samples_ns, ascending_i64);
    s.min_ns = s.low_ns = samples_ns[0];
    s.high_ns = samples_ns[count - 1];
    s.q1_ns = quartile(samples_ns, count, 1);
    s.median_ns = quartile(samples_ns, count, 2);
    s.q3_ns = quartile(samples_ns, count, 3);
    if (count >= 6) {
        /* The number of samples below the median is binomial(n, 1/2): 1.96 standard deviations are
         * 0.98 sqrt(n). The ranks, from 1, are rounded outwards. */
        double reach = 0.98 * sqrt((double)count);
        double low = floor((double)count / 2 - reach);
        double high = ceil((double)count / 2 + 1 + reach);
        s.low_ns = samples_ns[low < 1 ? 0 : (size_t)low - 1];
        s.high_ns = samples_ns[high > (double)count ? count - 1 : (size_t)high - 1];
    }
    return s;
}

bool stats_summarise_copy(const int64_t *samples_ns, size_t count, stats_summary *out)
{
    *out = (stats_summary){0};
    if (count == 0)
        return true;
    int64_t *sorted = malloc(count * sizeof *sorted);
    if (!sorted)
        return false;
    memcpy(sorted, samples_ns, count * sizeof *sorted);
    *out = stats_summarise(sorted, count);
    free(sorted);
    return true;
}

static size_t trimmed_each_end(size_t count, double fraction)
{
    return (size_t)floor(fraction * (double)count);
}

double stats_trimmed_freedom(size_t count, double fraction)
{
    size_t left = count - 2 * trimmed_each_end(count, fraction);
    return left < 2 ? 0 : (double)(left - 1);
}

/* Returns Yuen's standard error: a trimmed value counts as the nearest kept value (Winsorised). */
static double yuen_error(const double *sorted, size_t count, size_t cut)
{
    size_t left = count - 2 * cut;
    if (left < 2)
        return INFINITY;
    double low = sorted[cut], high = sorted[count - 1 - cut];
    double sum = (double)cut * (low + high);
    for (size_t i = cut; i < count - cut; i++)
        sum += sorted[i];
    double mean = sum / (double)count;
    double squares = (double)cut * ((low - mean) * (low - mean) + (high - mean) * (high - mean));
    for (size_t i = cut; i < count - cut; i++)
        squares += (sorted[i] - mean) * (sorted[i] - mean);
    return sqrt(squares / ((double)left * (double)(left - 1)));
}

double stats_trimmed_mean(double *values, size_t count, double fraction, double *standard_error)
{
    stats_sort(values, count);
    size_t cut = trimmed_each_end(count, fraction);
    double sum = 0;
    for (size_t i = cut; i < count - cut; i++)
        sum += values[i];
    if (standard_error)
        *standard_error = yuen_error(values, count, cut);
    return count ? sum / (double)(count - 2 * cut) : 0;
}

double stats_median(double *values, size_t count)
{
    if (count == 0)
        return 0;
    stats_sort(values, count);
    size_t half = count / 2;
    return count % 2 ? values[half] : values[half - 1] + (values[half] - values[half - 1]) / 2;
}

/* Keeps a denominator of the continued fraction away from zero, as Lentz's method requires. */
static double away_from_zero(double v)
{
    return fabs(v) < 1e-300 ? 1e-300 : v;
}

/* Computes the continued fraction of the incomplete beta function by Lentz's method (DLMF 8.17.22;
 * Thompson & Barnett 1986). The fraction converges fast for x < (a + 1) / (a + b + 2). */
static double beta_fraction(double a, double b, double x)
{
    double c = 1, d = 1 / away_from_zero(1 - (a + b) * x / (a + 1)), value = d;
    for (int m = 1; m <= 500; m++) {
        double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
        d = 1 / away_from_zero(1 + even * d);
        c = away_from_zero(1 + even / c);
        value *= d * c;
        double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
        d = 1 / away_from_zero(1 + odd * d);
        c = away_from_zero(1 + odd / c);
        value *= d * c;
        if (fabs(d * c - 1) < 1e-15)
            break;
    }
    return value;
}

/* Returns log gamma(x), x > 0. lgamma() writes a global variable, so it is not thread-safe. */
static double log_gamma(double x)
{
    int sign;
    return lgamma_r(x, &sign);
}

/* Returns the regularised incomplete beta function I_x(a, b). `y` is 1 - x, which the caller knows
 * more precisely. */
static double beta_share(double a, double b, double x, double y)
{
    if (x <= 0 || y <= 0)
        return x <= 0 ? 0 : 1;
    double front = exp(log_gamma(a + b) - log_gamma(a) - log_gamma(b) + a * log(x) + b * log(y));
    if (x < (a + 1) / (a + b + 2))
        return front * beta_fraction(a, b, x) / a;
    return 1 - front * beta_fraction(b, a, y) / b;
}

double stats_t_tail(double t, double freedom)
{
    double both = freedom + t * t;
    double tail = 0.5 * beta_share(freedom / 2, 0.5, freedom / both, t * t / both);
    return t < 0 ? 1 - tail : tail;
}

double stats_t_quantile(double tail, double freedom)
{
    if (tail >= 0.5)
        return 0;
    double low = 0, high = 1;
    while (stats_t_tail(high, freedom) > tail && high < 1e300)
        high *= 2;
    while (high - low > 1e-12 * high) {
        double middle = low + (high - low) / 2;
        if (middle <= low || middle >= high)
            break;
        if (stats_t_tail(middle, freedom) > tail)
            low = middle;
        else
            high = middle;
    }
    return high;
}

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
