/* Tests verdicts on races. The simulated clock drifts, jitters and has outliers. The share of
 * wrong verdicts must be as small as judge.h says. */
#include "base/rng.h"
#include "check.h"
#include "cmd/results/judge.h"
#include "synthetic_clock.h"

enum { PAIRS = 100 };

static const double margin = 0.0025; /* the margin that races use */

/* Races two kernels. The time of the second is `slowdown` times that of the first. */
static verdict one_race(uint64_t seed, double slowdown)
{
    synthetic_machine machine = synthetic_machine_usual();
    synthetic_clock clock = synthetic_clock_start(&machine, seed);
    rng random = rng_seeded(seed);
    int64_t a[JUDGE_BLOCKS], b[JUDGE_BLOCKS];
    for (size_t i = 0; i < JUDGE_BLOCKS; i++) {
        bool first = rng_below(&random, 2) == 0;
        if (first)
            a[i] = synthetic_clock_sample(&clock, 130000);
        b[i] = synthetic_clock_sample(&clock, 130000 * slowdown);
        if (!first)
            a[i] = synthetic_clock_sample(&clock, 130000);
    }
    return judge_samples(a, b, JUDGE_BLOCKS, 32, margin).verdict;
}

static int slower_of(double slowdown)
{
    int count = 0;
    for (uint64_t seed = 1; seed <= PAIRS; seed++)
        count += one_race(seed, slowdown) == SLOWER;
    return count;
}

TEST(of_a_hundred_pairs_of_one_kernel_at_most_one_is_called_slower)
{
    assert_true(slower_of(1) <= 1);
}

TEST(a_kernel_that_is_one_percent_slower_is_called_so_in_ninety_five_of_a_hundred)
{
    assert_true(slower_of(1.01) >= 95);
}

TEST(the_interval_decides_and_not_its_middle)
{
    assert_int_equal(judge_interval(1.01, 1.05, 0.005), SLOWER);
    assert_int_equal(judge_interval(0.99, 1.05, 0.005), NOT_SURE);
    assert_int_equal(judge_interval(0.998, 1.002, 0.005), SAME);
    assert_int_equal(judge_interval(0.9, 0.95, 0.005), FASTER);
}
