#include <math.h>

#include "base/rng.h"
#include "check.h"
#include "search/regression/cost_scale.h"

static void scores_rise_with_costs_everywhere(void **state)
{
    (void)state;
    rng r = rng_seeded(1);
    for (size_t count = 1; count <= 40; count++) {
        double costs[40];
        for (size_t i = 0; i < count; i++)
            costs[i] = exp(rng_normal(&r)) * (i % 5 ? 1 : 20);
        warp w = {0};
        assert_true(warp_set(&w, costs, count));
        double before = -INFINITY;
        for (double cost = 1e-3; cost < 1e3; cost *= 1.07) {
            double score = warp_score(&w, cost);
            assert_true(isfinite(score));
            assert_true(score >= before);
            before = score;
        }
        warp_deinit(&w);
    }
}

static void what_is_close_together_near_the_best_is_kept_apart(void **state)
{
    (void)state;
    static const double costs[] = {1, 1.001, 1.002, 1.003, 50, 100, 1000, 10000};
    warp w = {0};
    assert_true(warp_set(&w, costs, 8));
    double near = warp_score(&w, 1.001) - warp_score(&w, 1);
    double range = warp_score(&w, 10000) - warp_score(&w, 1);
    assert_true(near > 0.05 * range);
    /* Better than all: the scale goes on. */
    assert_true(warp_score(&w, 0.999) < warp_score(&w, 1));
    warp_deinit(&w);
}

static void equal_costs_have_one_score(void **state)
{
    (void)state;
    static const double costs[] = {3, 3, 3};
    warp w = {0};
    assert_true(warp_set(&w, costs, 3));
    assert_int_equal(w.count, 1);
    assert_true(isfinite(warp_score(&w, 3)));
    assert_true(warp_score(&w, 2) < warp_score(&w, 3));
    warp_deinit(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scores_rise_with_costs_everywhere),
        cmocka_unit_test(what_is_close_together_near_the_best_is_kept_apart),
        cmocka_unit_test(equal_costs_have_one_score),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
