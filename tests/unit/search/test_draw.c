#include <math.h>

#include "check.h"
#include "search/strategies.h"

TEST(every_number_is_drawn_once)
{
    for (uint64_t count = 0; count < 200; count++) {
        draw d = draw_new(count, rng_seeded(count));
        uint64_t seen[4] = {0}, number;
        for (uint64_t i = 0; i < count; i++) {
            assert_true(draw_next(&d, &number));
            assert_true(number < count);
            assert_false(seen[number / 64] >> (number % 64) & 1);
            seen[number / 64] |= UINT64_C(1) << (number % 64);
        }
        assert_false(draw_next(&d, &number));
        draw_deinit(&d);
    }
}

TEST(every_order_is_equally_likely)
{
    enum { DRAWS = 24000, ORDERS = 27 };
    size_t hits[ORDERS] = {0};
    for (uint64_t i = 0; i < DRAWS; i++) {
        draw d = draw_new(3, rng_seeded(i));
        uint64_t number, order = 0;
        while (draw_next(&d, &number))
            order = 3 * order + number;
        hits[order]++;
        draw_deinit(&d);
    }
    /* The tolerance for each of six orders is five standard deviations of the binomial count. */
    size_t met = 0;
    for (size_t i = 0; i < ORDERS; i++) {
        met += hits[i] > 0;
        if (hits[i])
            assert_true(fabs((double)hits[i] - DRAWS / 6) < 5 * sqrt(DRAWS * 5.0 / 36));
    }
    assert_int_equal(met, 6);
}

TEST(the_cost_of_a_huge_range_depends_only_on_the_draws)
{
    draw d = draw_new(UINT64_MAX, rng_seeded(1));
    uint64_t number;
    for (size_t i = 0; i < 1000; i++)
        assert_true(draw_next(&d, &number));
    assert_true(d.moved.count <= 1000);
    draw_deinit(&d);
}
