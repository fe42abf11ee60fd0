#include <math.h>
#include <string.h>

#include "base/rng.h"
#include "check.h"
#include "normal.h"
#include "search/race/paired.h"

/* ---- paired comparison ---- */

enum { BLOCKS = 40 };

TEST(drift_that_both_share_cancels)
{
    int64_t a[BLOCKS], b[BLOCKS];
    double scratch[BLOCKS];
    for (int i = 0; i < BLOCKS; i++) {
        b[i] = 1000000 + 100000 * i;
        a[i] = b[i] + b[i] / 50;
    }
    paired p = paired_compare(a, b, BLOCKS, 0, scratch);
    assert_true(fabs(p.mean - log(1.02)) < 1e-9);
    assert_true(p.error < 1e-9);
    assert_true(p.tick == 0);
}

TEST(one_block_has_no_interval)
{
    int64_t a = 1100, b = 1000;
    double scratch;
    paired p = paired_compare(&a, &b, 1, 0, &scratch);
    assert_true(fabs(p.mean - log(1.1)) < 1e-12);
    assert_true(isinf(paired_half_width(&p, paired_quantile(0.01, 1))));
}

TEST(no_interval_is_narrower_than_the_tick_of_a_steady_clock)
{
    int64_t a[BLOCKS], b[BLOCKS];
    double scratch[BLOCKS];
    for (int i = 0; i < BLOCKS; i++) {
        a[i] = 100500;
        b[i] = 100000;
    }
    paired p = paired_compare(a, b, BLOCKS, 500, scratch);
    assert_true(fabs(paired_half_width(&p, 2.5) - 0.005) < 1e-9);
    assert_true(p.mean <= paired_half_width(&p, 2.5));
}

TEST(noise_above_the_tick_averages_it_out)
{
    rng r = rng_seeded(7);
    int64_t a[BLOCKS], b[BLOCKS];
    double scratch[BLOCKS];
    for (int i = 0; i < BLOCKS; i++) {
        a[i] = 500 * (int64_t)(200 + 3 * rng_normal(&r));
        b[i] = 500 * (int64_t)(200 + 3 * rng_normal(&r));
    }
    paired p = paired_compare(a, b, BLOCKS, 500, scratch);
    assert_true(p.tick == 0);
}

TEST(the_bound_is_wrong_as_often_as_its_error_probability)
{
    enum { TRIALS = 20000, FEW = 16 };
    rng r = rng_seeded(8);
    double quantile = paired_quantile(0.01, FEW);
    size_t wrong = 0;
    for (size_t n = 0; n < TRIALS; n++) {
        int64_t a[FEW], b[FEW];
        double scratch[FEW];
        for (int i = 0; i < FEW; i++) {
            a[i] = (int64_t)(1e6 * exp(0.008 * rng_normal(&r)));
            b[i] = (int64_t)(1e6 * exp(0.008 * rng_normal(&r)));
        }
        paired p = paired_compare(a, b, FEW, 0, scratch);
        wrong += p.mean > paired_half_width(&p, quantile);
    }
    /* The rate may differ from 1 % by a factor of 1.5, because Yuen's test is an approximation. */
    assert_true(wrong > TRIALS / 150 && wrong < TRIALS * 15 / 1000);
}

/* ---- balanced orders ---- */

enum { MOST = 12 };

TEST(every_item_is_at_every_position_equally_often)
{
    for (size_t n = 1; n <= MOST; n++) {
        size_t at[MOST][MOST] = {{0}}, rows = balance_rows(n);
        for (size_t row = 0; row < rows; row++) {
            uint32_t order[MOST];
            balance_row(n, row, order);
            for (size_t i = 0; i < n; i++) {
                assert_true(order[i] < n);
                at[order[i]][i]++;
            }
        }
        for (size_t i = 0; i < n; i++)
            for (size_t j = 0; j < n; j++)
                assert_int_equal(at[i][j], rows / n);
    }
}

TEST(every_item_follows_every_other_equally_often)
{
    for (size_t n = 2; n <= MOST; n++) {
        size_t follows[MOST][MOST] = {{0}}, rows = balance_rows(n);
        for (size_t row = 0; row < rows; row++) {
            uint32_t order[MOST];
            balance_row(n, row, order);
            for (size_t i = 1; i < n; i++)
                follows[order[i - 1]][order[i]]++;
        }
        for (size_t i = 0; i < n; i++)
            for (size_t j = 0; j < n; j++)
                assert_int_equal(follows[i][j], i == j ? 0 : rows / n);
    }
}

TEST(rows_repeat_after_a_whole_design)
{
    for (size_t n = 1; n <= MOST; n++) {
        uint32_t first[MOST], again[MOST];
        balance_row(n, 1, first);
        balance_row(n, 1 + 3 * balance_rows(n), again);
        assert_memory_equal(first, again, n * sizeof *first);
    }
}
