#include <math.h>
#include <stdlib.h>

#include "base/rng.h"
#include "check.h"
#include "normal.h"
#include "search/regression/gp.h"

enum { FEATURES = 3, ROWS = 30, CANDIDATES = 37 };

static const bool is_category[FEATURES] = {false, false, true};

static double smooth(const float *x)
{
    return sin(4 * (double)x[0]) + 0.5 * (double)x[1] + (x[2] > 0.5f ? 0.7 : 0);
}

static void fill_points(float *points, size_t count, rng *r)
{
    for (size_t i = 0; i < count; i++) {
        points[i * FEATURES] = (float)rng_uniform(r);
        points[i * FEATURES + 1] = (float)rng_uniform(r);
        points[i * FEATURES + 2] = (float)rng_below(r, 2);
    }
}

/* Computes the kernel of gp.h directly. */
static double kernel(const gp_kernel *k, const float *a, const float *b)
{
    double s = 0;
    for (size_t f = 0; f < FEATURES; f++) {
        double d = is_category[f] ? a[f] != b[f] : (double)a[f] - (double)b[f];
        s += k->weight[f] * d * d;
    }
    double r = sqrt(5 * s);
    return (1 + r + r * r / 3) * exp(-r);
}

static void solve(double *a, double *b, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        size_t pivot = i;
        for (size_t j = i; j < n; j++)
            if (fabs(a[j * n + i]) > fabs(a[pivot * n + i]))
                pivot = j;
        for (size_t k = 0; k < n; k++) {
            double swap = a[i * n + k];
            a[i * n + k] = a[pivot * n + k];
            a[pivot * n + k] = swap;
        }
        double swap = b[i];
        b[i] = b[pivot];
        b[pivot] = swap;
        for (size_t j = i + 1; j < n; j++) {
            double factor = a[j * n + i] / a[i * n + i];
            for (size_t k = i; k < n; k++)
                a[j * n + k] -= factor * a[i * n + k];
            b[j] -= factor * b[i];
        }
    }
    for (size_t i = n; i-- > 0;) {
        for (size_t k = i + 1; k < n; k++)
            b[i] -= a[i * n + k] * b[k];
        b[i] /= a[i * n + i];
    }
}

TEST(predictions_are_those_of_the_textbook)
{
    rng r = rng_seeded(1);
    float points[ROWS * FEATURES], pool[CANDIDATES * FEATURES];
    fill_points(points, ROWS, &r);
    fill_points(pool, CANDIDATES, &r);
    gp_kernel k = gp_prior_kernel(FEATURES);
    gp g;
    gp_init(&g, FEATURES, is_category, ROWS, pool, CANDIDATES);
    gp_reset(&g, &k, 2, CANDIDATES);
    for (size_t i = 0; i < ROWS; i++)
        assert_true(gp_add(&g, points + i * FEATURES, i % 2 ? NAN : smooth(points + i * FEATURES)));
    assert_false(gp_add(&g, points, 0));
    for (size_t i = 1; i < ROWS; i += 2)
        gp_set(&g, i, smooth(points + i * FEATURES));
    gp_update_means(&g);
    for (size_t c = 0; c < CANDIDATES; c++) {
        double a[ROWS * ROWS], cross[ROWS], x[ROWS];
        for (int variance = 0; variance < 2; variance++) {
            for (size_t i = 0; i < ROWS; i++) {
                cross[i] = kernel(&k, points + i * FEATURES, pool + c * FEATURES);
                x[i] = variance ? cross[i] : smooth(points + i * FEATURES);
                for (size_t j = 0; j < ROWS; j++)
                    a[i * ROWS + j] = kernel(&k, points + i * FEATURES, points + j * FEATURES) +
                                      (i == j ? k.noise : 0);
            }
            solve(a, x, ROWS);
            double sum = 0;
            for (size_t i = 0; i < ROWS; i++)
                sum += cross[i] * x[i];
            if (variance)
                assert_true(fabs(gp_deviation(&g, c) - sqrt(2 * (1 - sum))) < 1e-3);
            else
                assert_true(fabs(gp_mean(&g, c) - sum) < 1e-3);
        }
    }
    gp_deinit(&g);
}

TEST(a_pending_value_changes_no_mean_but_narrows_the_deviation)
{
    rng r = rng_seeded(2);
    float points[ROWS * FEATURES], pool[CANDIDATES * FEATURES];
    fill_points(points, ROWS, &r);
    fill_points(pool, CANDIDATES, &r);
    gp_kernel k = gp_prior_kernel(FEATURES);
    gp g;
    gp_init(&g, FEATURES, is_category, ROWS, pool, CANDIDATES);
    gp_reset(&g, &k, 1, CANDIDATES);
    for (size_t i = 0; i < 5; i++)
        gp_add(&g, points + i * FEATURES, smooth(points + i * FEATURES));
    gp_update_means(&g);
    double mean = gp_mean(&g, 0), wide = gp_deviation(&g, 0);
    gp_add(&g, pool, NAN);
    gp_update_means(&g);
    assert_true(fabs(gp_mean(&g, 0) - mean) < 1e-5);
    assert_true(gp_deviation(&g, 0) < 0.5 * wide);
    assert_true(fabs(gp_known_deviation(&g, 0) - wide) < 1e-5);
    gp_deinit(&g);
}

TEST(fitting_distinguishes_features_that_matter)
{
    enum { MANY = 60 };
    rng r = rng_seeded(3);
    float points[MANY * FEATURES];
    double values[MANY], scale = 0;
    fill_points(points, MANY, &r);
    for (size_t i = 0; i < MANY; i++)
        values[i] = 2 * sin(6 * (double)points[i * FEATURES]) + 0.01 * rng_normal(&r);
    gp_kernel k = gp_prior_kernel(FEATURES);
    gp_fit(&k, &scale, FEATURES, is_category, points, values, MANY, 60);
    assert_true(k.weight[0] > 5 * k.weight[1]);
    assert_true(k.weight[0] > 5 * k.weight[2]);
    assert_true(k.noise < 0.01);
    assert_true(scale > 0.5);
}

TEST(values_without_any_spread_are_no_trouble)
{
    float points[ROWS * FEATURES] = {0};
    double values[ROWS] = {0}, scale = 0;
    gp_kernel k = gp_prior_kernel(FEATURES);
    gp_fit(&k, &scale, FEATURES, is_category, points, values, ROWS, 20);
    assert_true(isfinite(k.weight[0]) && isfinite(k.noise) && scale > 0);
}

/* Before length scales are fitted, an outcome matters for points that share only one feature. */
TEST(before_length_scales_are_fitted_an_outcome_influences_far_points)
{
    enum { MANY = 8 };
    static const bool numbers[MANY] = {false};
    const float here[MANY] = {0}, there[MANY] = {.6f, .6f, .6f, .6f, .6f, .6f, .6f, .6f};
    gp_kernel k = gp_prior_kernel(MANY);
    gp g;
    gp_init(&g, MANY, numbers, 1, there, 1);
    gp_reset(&g, &k, 1, 1);
    assert_true(gp_add(&g, here, 1));
    gp_update_means(&g);
    assert_true(gp_mean(&g, 0) > 0.5 && gp_mean(&g, 0) < 0.9);
    gp_deinit(&g);
}
