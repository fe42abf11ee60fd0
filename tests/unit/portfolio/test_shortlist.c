/* Tests the choice of the configurations that are timed on all problems, on made-up searches. */
#include "check.h"

#include <stdlib.h>

#include "base/rng.h"
#include "portfolio/cover.h"

enum {
    PROBLEMS = 30,
    WIDTH = 60,
    MOST = 12,
    UNKNOWN = SHORTLIST_UNKNOWN,
    IMPOSSIBLE = SHORTLIST_IMPOSSIBLE
};

static size_t shortlist(size_t problems, size_t width, const double *ratios, const double *defaults,
                        size_t most, size_t *list)
{
    const portfolio_matrix m = {problems, width, ratios, defaults};
    return portfolio_shortlist(&m, most, list);
}

TEST(nearly_best_everywhere_comes_before_best_once)
{
    /* Each of the first three configurations is best by 1 % on one problem and bad on the next.
     * The last configuration is nearly best on all problems. */
    const double ratios[] = {1, 1.2,  UNKNOWN,      1.01, /**/ 1.2, UNKNOWN,
                             1, 1.01, /**/ UNKNOWN, 1,    1.2,      1.01},
                 defaults[] = {2, 2, 2};
    size_t list[4];
    assert_int_equal(shortlist(3, 4, ratios, defaults, 1, list), 1);
    assert_int_equal(list[0], 3);
}

TEST(a_configuration_timed_once_is_expected_to_be_worse_elsewhere)
{
    /* The first configuration was best in its only trial. The second was tried on every problem. */
    const double ratios[] = {1,    1.02, 1.5,          /**/ UNKNOWN, 1.02, 1.5, /**/ UNKNOWN,
                             1.02, 1.5,  /**/ UNKNOWN, 1.02,         1.5},
                 defaults[] = {2, 2, 2, 2};
    size_t list[3];
    assert_int_equal(shortlist(4, 3, ratios, defaults, 3, list), 3);
    assert_int_equal(list[0], 1);
    assert_int_equal(list[1], 0);
}

TEST(a_long_list_has_a_configuration_for_every_problem)
{
    rng r = rng_seeded(5);
    static double ratios[PROBLEMS * WIDTH], defaults[PROBLEMS];
    /* Each configuration is possible on a fifth of the problems, and timed on half of these. */
    for (size_t p = 0; p < PROBLEMS; p++)
        for (size_t c = 0; c < WIDTH; c++)
            ratios[p * WIDTH + c] = c % 5 != p % 5         ? IMPOSSIBLE
                                    : rng_uniform(&r) < .5 ? UNKNOWN
                                                           : 1 + rng_uniform(&r);
    size_t list[MOST], count = shortlist(PROBLEMS, WIDTH, ratios, defaults, MOST, list);
    assert_int_equal(count, MOST);
    for (size_t p = 0; p < PROBLEMS; p++) {
        bool served = false;
        for (size_t i = 0; i < count; i++)
            served = served || list[i] % 5 == p % 5;
        assert_true(served);
    }
}

TEST(a_configuration_possible_nowhere_is_not_listed)
{
    const double ratios[] = {IMPOSSIBLE, 1.1, IMPOSSIBLE, 1}, defaults[] = {2, 2};
    size_t list[2];
    assert_int_equal(shortlist(2, 2, ratios, defaults, 2, list), 1);
    assert_int_equal(list[0], 1);
}

TEST(a_very_long_time_counts_as_twice_the_best)
{
    /* On the first problem the first configuration takes a thousand times as long as the second. */
    const double ratios[] = {1000, 1, 1, 1.4, 1, 1.4}, defaults[] = {3, 3, 3};
    size_t list[2];
    assert_int_equal(shortlist(3, 2, ratios, defaults, 1, list), 1);
    assert_int_equal(list[0], 1);
    const double twice[] = {2, 1, 1, 1.8, 1, 1.8};
    assert_int_equal(shortlist(3, 2, twice, defaults, 1, list), 1);
    const size_t by_twice = list[0];
    const double far[] = {1000, 1, 1, 1.8, 1, 1.8};
    assert_int_equal(shortlist(3, 2, far, defaults, 1, list), 1);
    assert_int_equal(list[0], by_twice);
}

TEST(nothing_is_listed_twice)
{
    rng r = rng_seeded(6);
    static double ratios[PROBLEMS * WIDTH], defaults[PROBLEMS];
    for (size_t i = 0; i < PROBLEMS * WIDTH; i++)
        ratios[i] = rng_uniform(&r) < .7 ? UNKNOWN : 1 + rng_uniform(&r);
    size_t list[WIDTH], count = shortlist(PROBLEMS, WIDTH, ratios, defaults, WIDTH, list);
    assert_int_equal(count, WIDTH);
    for (size_t i = 1; i < count; i++)
        assert_false(portfolio_contains(list, i, list[i]));
}

/* All configurations are timed. The best few of the list must be almost as good as the best few
 * of all. */
TEST(little_is_lost_by_the_list)
{
    enum { FEW = 4 };
    double lost = 0, lost_by_list = 0;
    for (uint64_t seed = 1; seed <= 10; seed++) {
        rng r = rng_seeded(seed);
        static double ratios[PROBLEMS * WIDTH], listed[PROBLEMS * MOST], defaults[PROBLEMS];
        for (size_t i = 0; i < PROBLEMS * WIDTH; i++)
            ratios[i] = 1 + 0.2 * rng_uniform(&r);
        size_t list[MOST], chosen[FEW],
            count = shortlist(PROBLEMS, WIDTH, ratios, defaults, MOST, list);
        assert_int_equal(count, MOST);
        for (size_t p = 0; p < PROBLEMS; p++)
            for (size_t i = 0; i < MOST; i++)
                listed[p * MOST + i] = ratios[p * WIDTH + list[i]];
        const portfolio_matrix all = {PROBLEMS, WIDTH, ratios, defaults},
                               of_list = {PROBLEMS, MOST, listed, defaults};
        double loss;
        portfolio_cover(&all, FEW, 0, chosen, &loss);
        lost += loss;
        portfolio_cover(&of_list, FEW, 0, chosen, &loss);
        lost_by_list += loss;
    }
    assert_true(lost_by_list < 1.1 * lost);
}
