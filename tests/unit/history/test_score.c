#include <math.h>

#include "base/rng.h"
#include "check.h"
#include "history/replay.h"

enum { N = 9 };
static const double costs[N] = {5, 2, INFINITY, 9, 3, 7, INFINITY, 2.5, 30};

static score_space make(void)
{
    at_error error = {0};
    score_space s;
    assert_ok(score_space_init(&s, costs, N, &error), error);
    return s;
}

/* Returns the mean over all subsets of m configurations, by trying every subset. */
static double by_brute_force(uint64_t m, double nothing, bool share)
{
    double sum = 0;
    size_t count = 0;
    for (unsigned subset = 0; subset < 1u << N; subset++) {
        double best = INFINITY;
        uint64_t size = 0;
        for (unsigned i = 0; i < N; i++)
            if (subset >> i & 1) {
                size++;
                best = fmin(best, costs[i]);
            }
        if (size != m)
            continue;
        count++;
        sum += isinf(best) ? nothing : share ? 2 / best : best;
    }
    return sum / (double)count;
}

TEST(random_search_is_the_mean_over_all_subsets)
{
    score_space s = make();
    for (uint64_t m = 1; m <= N; m++) {
        assert_true(fabs(score_random_cost(&s, m) - by_brute_force(m, 30, false)) < 1e-12);
        assert_true(fabs(score_random_share(&s, m) - by_brute_force(m, 0, true)) < 1e-12);
    }
    assert_true(score_random_cost(&s, 100) == 2);
    score_space_deinit(&s);
}

TEST(the_methodology_takes_the_value_at_the_expected_rank)
{
    score_space s = make();
    /* From the worst to the best: two failures, 30, 9, 7, 5, 3, 2.5, 2. */
    assert_true(score_rank_cost(&s, 1) == 7); /* 1 x 10 / 2 = 5th */
    assert_true(score_rank_cost(&s, 2) == 3); /* 2 x 10 / 3 = 6.7 -> 7th */
    assert_true(score_rank_cost(&s, 9) == 2); /* 9th */
    score_space_deinit(&s);
}

TEST(the_budget_is_the_first_that_goes_the_way)
{
    score_space s = make();
    double target = 5 - 0.95 * (5 - 2);
    uint64_t budget = score_budget(&s);
    assert_true(score_median(&s) == 5);
    assert_true(score_random_cost(&s, budget) <= target);
    assert_true(score_random_cost(&s, budget - 1) > target);
    score_space_deinit(&s);
}

TEST(a_score_is_0_for_random_search_and_1_for_the_optimum)
{
    score_space s = make();
    double baseline[4], optimum[4], halfway[4];
    for (uint64_t i = 0; i < 4; i++) {
        baseline[i] = score_random_cost(&s, i + 1);
        optimum[i] = 2;
        halfway[i] = (baseline[i] + 2) / 2;
    }
    assert_true(score_curve(&s, baseline, baseline, 4) == 0);
    assert_true(fabs(score_curve(&s, baseline, optimum, 4) - 1) < 1e-12);
    assert_true(fabs(score_curve(&s, baseline, halfway, 4) - 0.5) < 1e-12);
    assert_true(score_curve(&s, optimum, optimum, 4) == 0);
    score_space_deinit(&s);
}

TEST(a_space_where_nothing_works_has_no_score)
{
    double failed[2] = {INFINITY, INFINITY};
    at_error error = {0};
    score_space s;
    assert_int_equal(score_space_init(&s, failed, 2, &error), AT_NOT_FOUND);
}
