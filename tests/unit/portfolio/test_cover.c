/* Tests the choice of a portfolio's configurations, on made-up matrices. */
#include "check.h"

#include <math.h>

#include "base/rng.h"
#include "portfolio/cover.h"

enum { PROBLEMS = 40, MOST_CONFIGURATIONS = 48, MOST = 8, CASES = 20 };

typedef struct invented {
    portfolio_matrix m;
    double ratios[PROBLEMS * MOST_CONFIGURATIONS], defaults[PROBLEMS];
} invented;

/* Makes a matrix in which some configurations are possible on few problems. Without the default,
 * some problems have few possible configurations. */
static void invent(rng *r, size_t configurations, invented *out)
{
    out->m = (portfolio_matrix){PROBLEMS, configurations, out->ratios, out->defaults};
    for (size_t p = 0; p < PROBLEMS; p++) {
        for (size_t c = 0; c < configurations; c++) {
            bool possible = rng_uniform(r) < 0.2 + 0.8 * (double)c / (double)configurations;
            out->ratios[p * configurations + c] = possible ? 1 + rng_uniform(r) : 0;
        }
        out->defaults[p] = rng_uniform(r) < 0.8 ? 1 + rng_uniform(r) : 0;
    }
}

static double mean_loss(const portfolio_matrix *m, const size_t *chosen, size_t count)
{
    double sum = 0;
    for (size_t p = 0; p < m->problem_count; p++)
        sum += portfolio_loss_of(m, p, chosen, count);
    return sum / (double)m->problem_count;
}

static double cover(const portfolio_matrix *m, size_t most, double gain, size_t *chosen,
                    size_t *count)
{
    double loss;
    *count = portfolio_cover(m, most, gain, chosen, &loss);
    assert_float_equal(loss, mean_loss(m, chosen, *count), 1e-9);
    return loss;
}

TEST(several_lose_no_more_than_the_best_one)
{
    rng r = rng_seeded(3);
    for (int i = 0; i < CASES; i++) {
        static invented in;
        size_t chosen[MOST], count;
        size_t configurations = 1 + (size_t)rng_below(&r, MOST_CONFIGURATIONS);
        invent(&r, configurations, &in);
        double loss = cover(&in.m, MOST, 0, chosen, &count);
        assert_in_range(count, 1, MOST);
        for (size_t c = 0; c < configurations; c++)
            assert_true(loss <= mean_loss(&in.m, &c, 1) + 1e-9);
    }
}

TEST(every_problem_that_can_be_covered_is_covered)
{
    rng r = rng_seeded(4);
    for (int i = 0; i < CASES; i++) {
        static invented in;
        size_t chosen[PROBLEMS], count;
        invent(&r, 12, &in);
        cover(&in.m, 12, 0, chosen, &count);
        for (size_t p = 0; p < PROBLEMS; p++) {
            bool possible = in.defaults[p] > 0;
            for (size_t c = 0; c < 12; c++)
                possible = possible || in.ratios[p * 12 + c] > 0;
            assert_int_equal(possible,
                             portfolio_loss_of(&in.m, p, chosen, count) < PORTFOLIO_UNCOVERED);
        }
    }
}

/* Exchanges must give almost the best set. The test finds the best set by trying every set. */
TEST(exchanges_come_near_the_best_set)
{
    rng r = rng_seeded(5);
    for (int i = 0; i < 3; i++) {
        static invented in;
        size_t chosen[4], count;
        double least = INFINITY;
        invent(&r, 40, &in); /* cover() cannot try all 91,390 sets of four configurations */
        double loss = cover(&in.m, 4, 0, chosen, &count);
        for (size_t a = 0; a < 40; a++)
            for (size_t b = 0; b < a; b++)
                for (size_t c = 0; c < b; c++)
                    for (size_t d = 0; d < c; d++)
                        least = fmin(least, mean_loss(&in.m, (size_t[]){a, b, c, d}, 4));
        assert_true(loss <= least * 1.05 + 1e-9);
    }
}

TEST(configurations_that_gain_little_are_not_taken)
{
    /* The second configuration is best. The third is a little better on one problem. */
    const double ratios[] = {1.5, 1, 1.2, 1.5, 1.0005, 1}, defaults[] = {2, 2};
    const portfolio_matrix m = {2, 3, ratios, defaults};
    size_t chosen[3], count;
    cover(&m, 3, 0.001, chosen, &count);
    assert_int_equal(count, 1);
    assert_int_equal(chosen[0], 1);
    cover(&m, 3, 0, chosen, &count);
    assert_true(count >= 2);
}

TEST(a_configuration_no_faster_than_the_default_covers_no_problem)
{
    const double ratios[] = {1.3, 1, 1.2}, defaults[] = {1.1, 1.5, 1.205};
    const portfolio_matrix m = {3, 1, ratios, defaults};
    const size_t chosen[] = {0};
    assert_float_equal(portfolio_loss_of(&m, 0, chosen, 1), 0.1, 1e-9);
    assert_float_equal(portfolio_loss_of(&m, 1, chosen, 1), 0, 1e-9);
    assert_float_equal(portfolio_loss_of(&m, 2, chosen, 1), 0.205, 1e-9);
}
