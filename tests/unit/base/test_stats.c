#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "base/stats.h"
#include "check.h"
#include "normal.h"

TEST(no_samples_give_zeros)
{
    stats_summary s = stats_summarise(NULL, 0);
    assert_int_equal(s.count, 0);
    assert_int_equal(s.median_ns, 0);
    assert_int_equal(s.high_ns, 0);
}

TEST(one_sample_is_every_quartile)
{
    int64_t samples[] = {42};
    stats_summary s = stats_summarise(samples, 1);
    assert_int_equal(s.min_ns, 42);
    assert_int_equal(s.q1_ns, 42);
    assert_int_equal(s.median_ns, 42);
    assert_int_equal(s.low_ns, 42);
    assert_int_equal(s.high_ns, 42);
}

TEST(quartiles_interpolate_between_ranks)
{
    int64_t samples[] = {40, 10, 30, 20};
    stats_summary s = stats_summarise(samples, 4);
    assert_int_equal(s.q1_ns, 17); /* the quartile is 17.5 and is rounded down */
    assert_int_equal(s.median_ns, 25);
    assert_int_equal(s.q3_ns, 32);
    assert_int_equal(s.low_ns, 10);
    assert_int_equal(s.high_ns, 40);
}

TEST(quartiles_of_huge_samples_do_not_overflow)
{
    int64_t samples[] = {0, INT64_MAX};
    stats_summary s = stats_summarise(samples, 2);
    assert_true(s.q3_ns > INT64_MAX / 4 * 3 - 4 && s.q3_ns < INT64_MAX);
    assert_true(s.median_ns == INT64_MAX / 2);
}

TEST(the_interval_uses_the_ranks_of_the_binomial)
{
    int64_t samples[40];
    for (size_t i = 0; i < 40; i++)
        samples[i] = (int64_t)(40 - i);
    stats_summary s = stats_summarise(samples, 40);
    /* The ranks 13 and 28 are n/2 - 0.98 sqrt(n) and n/2 + 1 + 0.98 sqrt(n), rounded outwards. */
    assert_int_equal(s.low_ns, 13);
    assert_int_equal(s.high_ns, 28);
}

TEST(the_interval_covers_the_median_in_95_of_100)
{
    enum { TRIALS = 4000 };
    static const size_t counts[] = {6, 7, 10, 25, 40};
    rng r = rng_seeded(11);
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
        size_t covered = 0;
        for (size_t n = 0; n < TRIALS; n++) {
            int64_t samples[40];
            /* The samples come from a skewed distribution with median 1e6, because the interval
             * does not assume normality. */
            for (size_t i = 0; i < counts[c]; i++)
                samples[i] = (int64_t)(1e6 * exp(0.3 * rng_normal(&r)));
            stats_summary s = stats_summarise(samples, counts[c]);
            covered += s.low_ns <= 1000000 && 1000000 <= s.high_ns;
        }
        /* The bound is 95 % minus five standard deviations of the count. */
        assert_true((double)covered / TRIALS > 0.95 - 5 * sqrt(0.95 * 0.05 / TRIALS));
    }
}

TEST(a_trimmed_mean_ignores_outliers)
{
    double values[] = {1e9, 3, 1, 2, 4, 5, 6, 7, 8, -1e9};
    double error;
    assert_true(fabs(stats_trimmed_mean(values, 10, 0.1, &error) - 4.5) < 1e-12);
    /* The winsorised samples are 1 1 2 3 4 5 6 7 8 8 with mean 4.5. Their squared deviations sum to
     * 66.5, which is divided by 8 * 7. */
    assert_true(fabs(error - sqrt(66.5 / 56)) < 1e-12);
    assert_true(stats_trimmed_freedom(10, 0.1) == 7);
}

TEST(without_trimming_it_is_the_mean_and_its_standard_error)
{
    double values[] = {1, 2, 3, 4}, error;
    assert_true(fabs(stats_trimmed_mean(values, 4, 0.1, &error) - 2.5) < 1e-12);
    assert_true(fabs(error - sqrt(5.0 / 3 / 4)) < 1e-12);
    assert_true(stats_trimmed_freedom(4, 0.1) == 3);
}

TEST(one_value_has_no_standard_error)
{
    double value = 3, error = 0;
    assert_true(stats_trimmed_mean(&value, 1, 0.1, &error) == 3);
    assert_true(isinf(error));
    assert_true(stats_trimmed_freedom(1, 0.1) == 0);
    assert_true(stats_trimmed_mean(NULL, 0, 0.1, NULL) == 0);
}

TEST(the_standard_error_predicts_the_spread_of_means)
{
    enum { TRIALS = 4000, VALUES = 40 };
    rng r = rng_seeded(12);
    double squares = 0, variances = 0;
    for (size_t n = 0; n < TRIALS; n++) {
        double values[VALUES], error;
        for (size_t i = 0; i < VALUES; i++)
            values[i] = rng_normal(&r) + (rng_uniform(&r) < 0.02 ? 30 : 0);
        double mean = stats_trimmed_mean(values, VALUES, 0.1, &error);
        squares += mean * mean;
        variances += error * error;
    }
    double ratio = squares / variances;
    assert_true(ratio > 0.85 && ratio < 1.2);
}

TEST(the_median_of_an_even_count_is_the_middle)
{
    double even[] = {4, 1, 3, 2}, odd[] = {9, 1, 5};
    assert_true(stats_median(even, 4) == 2.5);
    assert_true(stats_median(odd, 3) == 5);
    assert_true(stats_median(NULL, 0) == 0);
}

/* Returns P(T > t) by the closed forms for 1, 2 and 4 degrees of freedom. */
static double exact_tail(double t, int freedom)
{
    const double pi = 3.14159265358979323846;
    if (freedom == 1)
        return atan2(1, t) / pi;
    double u = t / sqrt(freedom + t * t);
    if (freedom == 2)
        return (1 - u) / 2;
    return 0.5 - 0.75 * u * (1 - u * u / 3);
}

TEST(t_tails_match_their_closed_forms)
{
    static const int freedoms[] = {1, 2, 4};
    for (size_t i = 0; i < 3; i++)
        for (double t = -5; t <= 20; t += 0.37) {
            double expected = exact_tail(t, freedoms[i]);
            assert_true(fabs(stats_t_tail(t, freedoms[i]) - expected) < 1e-12);
        }
}

TEST(t_quantiles_match_published_tables)
{
    static const struct {
        double tail, freedom, t;
    } table[] = {{0.05, 3, 2.353363},  {0.01, 7, 2.997952},     {0.025, 31, 2.039513},
                 {0.005, 1, 63.65674}, {0.0005, 120, 3.373454}, {0.025, 1e6, 1.959966}};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        assert_true(fabs(stats_t_quantile(table[i].tail, table[i].freedom) - table[i].t) <
                    2e-6 * table[i].t);
    assert_true(stats_t_quantile(0.5, 5) == 0);
}

TEST(quantile_and_tail_are_inverse_far_out)
{
    for (double freedom = 1; freedom < 100; freedom *= 1.7)
        for (double tail = 0.4; tail > 1e-9; tail /= 7) {
            double back = stats_t_tail(stats_t_quantile(tail, freedom), freedom);
            assert_true(fabs(back - tail) < 1e-6 * tail);
        }
}
