#include <math.h>

#include "base/rng.h"
#include "check.h"
#include "normal.h"
#include "search/regression/cost_scale.h"

TEST(scores_rise_with_costs_everywhere)
{
    rng r = rng_seeded(1);
    for (size_t count = 1; count <= 40; count++) {
        double costs[40];
        for (size_t i = 0; i < count; i++)
            costs[i] = exp(rng_normal(&r)) * (i % 5 ? 1 : 20);
        cost_scale s = {0};
        cost_scale_set(&s, costs, count);
        double before = -INFINITY;
        for (double cost = 1e-3; cost < 1e3; cost *= 1.07) {
            double score = cost_scale_score(&s, cost);
            assert_true(isfinite(score));
            assert_true(score >= before);
            before = score;
        }
        cost_scale_deinit(&s);
    }
}

TEST(what_is_close_together_near_the_best_is_kept_apart)
{
    static const double costs[] = {1, 1.001, 1.002, 1.003, 50, 100, 1000, 10000};
    cost_scale s = {0};
    cost_scale_set(&s, costs, 8);
    double near = cost_scale_score(&s, 1.001) - cost_scale_score(&s, 1);
    double range = cost_scale_score(&s, 10000) - cost_scale_score(&s, 1);
    assert_true(near > 0.05 * range);
    /* Better than all: the scale goes on. */
    assert_true(cost_scale_score(&s, 0.999) < cost_scale_score(&s, 1));
    cost_scale_deinit(&s);
}

TEST(equal_costs_have_one_score)
{
    static const double costs[] = {3, 3, 3};
    cost_scale s = {0};
    cost_scale_set(&s, costs, 3);
    assert_int_equal(s.count, 1);
    assert_true(isfinite(cost_scale_score(&s, 3)));
    assert_true(cost_scale_score(&s, 2) < cost_scale_score(&s, 3));
    cost_scale_deinit(&s);
}
