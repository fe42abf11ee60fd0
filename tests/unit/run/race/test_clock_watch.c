#include "check.h"
#include "run/race/state.h"

static const double mhz = 1000;

TEST(steady_blocks_are_kept)
{
    clock_watch w;
    clock_watch_init(&w);
    for (int i = 0; i < 200; i++)
        assert_int_equal(clock_watch_judge(&w, (1980 - 15 * (i % 3)) * mhz), CLOCK_KEEP);
    assert_true(clock_watch_median_khz(&w) == 1965 * mhz);
    assert_int_equal(w.redone, 0);
}

TEST(an_unknown_clock_is_kept_and_forgotten)
{
    clock_watch w;
    clock_watch_init(&w);
    for (int i = 0; i < 10; i++)
        assert_int_equal(clock_watch_judge(&w, 0), CLOCK_KEEP);
    assert_true(clock_watch_median_khz(&w) == 0);
    assert_int_equal(clock_watch_judge(&w, 1980 * mhz), CLOCK_KEEP);
    assert_true(clock_watch_median_khz(&w) == 1980 * mhz);
}

TEST(a_dip_is_redone_and_leaves_no_trace)
{
    clock_watch w;
    clock_watch_init(&w);
    for (int i = 0; i < 5; i++)
        clock_watch_judge(&w, 1980 * mhz);
    assert_int_equal(clock_watch_judge(&w, 1500 * mhz), CLOCK_REDO);
    assert_int_equal(clock_watch_judge(&w, 1500 * mhz), CLOCK_REDO);
    assert_int_equal(clock_watch_judge(&w, 1980 * mhz), CLOCK_KEEP);
    assert_int_equal(clock_watch_judge(&w, 1500 * mhz), CLOCK_REDO);
    assert_int_equal(clock_watch_judge(&w, 1500 * mhz), CLOCK_REDO);
    assert_int_equal(w.redone, 4);
    assert_int_equal(w.throttled, 0);
    assert_true(clock_watch_median_khz(&w) == 1980 * mhz);
}

TEST(five_percent_is_the_limit)
{
    clock_watch w;
    clock_watch_init(&w);
    clock_watch_judge(&w, 2000 * mhz);
    assert_int_equal(clock_watch_judge(&w, 1900 * mhz), CLOCK_KEEP);
    clock_watch_init(&w);
    clock_watch_judge(&w, 2000 * mhz);
    assert_int_equal(clock_watch_judge(&w, 1899 * mhz), CLOCK_REDO);
    assert_int_equal(clock_watch_judge(&w, 2101 * mhz), CLOCK_REDO);
}

TEST(three_slow_blocks_in_a_row_are_throttled_and_become_normal)
{
    clock_watch w;
    clock_watch_init(&w);
    for (int i = 0; i < 50; i++)
        clock_watch_judge(&w, 1980 * mhz);
    assert_int_equal(clock_watch_judge(&w, 1500 * mhz), CLOCK_REDO);
    assert_int_equal(clock_watch_judge(&w, 1490 * mhz), CLOCK_REDO);
    assert_int_equal(clock_watch_judge(&w, 1510 * mhz), CLOCK_THROTTLED);
    assert_int_equal(clock_watch_judge(&w, 1500 * mhz), CLOCK_KEEP);
    assert_int_equal(w.throttled, 1);
}

TEST(a_clock_that_recovers_is_not_called_throttled)
{
    clock_watch w;
    clock_watch_init(&w);
    clock_watch_judge(&w, 1500 * mhz);
    assert_int_equal(clock_watch_judge(&w, 1980 * mhz), CLOCK_REDO);
    assert_int_equal(clock_watch_judge(&w, 1980 * mhz), CLOCK_REDO);
    assert_int_equal(clock_watch_judge(&w, 1980 * mhz), CLOCK_KEEP);
    assert_int_equal(w.throttled, 0);
    assert_true(clock_watch_median_khz(&w) == 1980 * mhz);
}

TEST(no_block_is_redone_for_ever)
{
    clock_watch w;
    clock_watch_init(&w);
    int in_a_row = 0;
    for (int i = 0; i < 1000; i++) {
        double clock_khz = (1000 + i * 7919 % 1000) * mhz;
        in_a_row = clock_watch_judge(&w, clock_khz) == CLOCK_REDO ? in_a_row + 1 : 0;
        assert_true(in_a_row < CLOCK_WATCH_TRIES);
    }
}
