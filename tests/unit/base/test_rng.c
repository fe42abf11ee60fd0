#include <math.h>
#include <string.h>

#include "base/rng.h"
#include "check.h"
#include "normal.h"

TEST(the_sequence_is_that_of_splitmix64)
{
    static const uint64_t expected[] = {6457827717110365317u, 3203168211198807973u,
                                        9817491932198370423u, 4593380528125082431u,
                                        16408922859458223821u};
    rng r = rng_seeded(1234567);
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
        assert_true(rng_next(&r) == expected[i]);
}

TEST(small_ranges_are_hit_evenly)
{
    enum { BOUND = 7, DRAWS = 70000 };
    size_t hits[BOUND] = {0};
    rng r = rng_seeded(1);
    for (size_t i = 0; i < DRAWS; i++) {
        uint64_t v = rng_below(&r, BOUND);
        assert_true(v < BOUND);
        hits[v]++;
    }
    /* The tolerance is five standard deviations of the binomial count. */
    for (size_t i = 0; i < BOUND; i++)
        assert_true(fabs((double)hits[i] - DRAWS / BOUND) < 5 * sqrt(DRAWS * 6.0 / 49));
    assert_true(rng_below(&r, 0) == 0);
    assert_true(rng_below(&r, 1) == 0);
}

TEST(a_bound_above_half_the_range_is_kept)
{
    rng r = rng_seeded(2);
    uint64_t bound = (UINT64_C(1) << 63) + 1;
    for (size_t i = 0; i < 1000; i++)
        assert_true(rng_below(&r, bound) < bound);
}

TEST(normal_numbers_have_mean_0_and_variance_1)
{
    enum { DRAWS = 100000 };
    double sum = 0, squares = 0;
    rng r = rng_seeded(3);
    for (size_t i = 0; i < DRAWS; i++) {
        double v = rng_normal(&r);
        assert_true(isfinite(v));
        sum += v;
        squares += v * v;
    }
    assert_true(fabs(sum / DRAWS) < 5 / sqrt(DRAWS));
    assert_true(fabs(squares / DRAWS - 1) < 5 * sqrt(2.0 / DRAWS));
}

TEST(a_shuffle_moves_every_item_everywhere)
{
    enum { ITEMS = 5, SHUFFLES = 20000 };
    size_t at[ITEMS][ITEMS] = {{0}};
    rng r = rng_seeded(4);
    for (size_t n = 0; n < SHUFFLES; n++) {
        uint64_t items[ITEMS] = {0, 1, 2, 3, 4};
        rng_shuffle(&r, items, ITEMS);
        uint64_t seen = 0;
        for (size_t i = 0; i < ITEMS; i++) {
            seen |= UINT64_C(1) << items[i];
            at[items[i]][i]++;
        }
        assert_int_equal(seen, 31);
    }
    for (size_t i = 0; i < ITEMS; i++)
        for (size_t j = 0; j < ITEMS; j++)
            assert_true(fabs((double)at[i][j] - SHUFFLES / ITEMS) < 5 * sqrt(SHUFFLES * 0.16));
}

TEST(a_split_generator_gives_other_numbers)
{
    rng r = rng_seeded(5);
    rng s = rng_split(&r);
    for (size_t i = 0; i < 1000; i++)
        assert_true(rng_next(&r) != rng_next(&s));
}
