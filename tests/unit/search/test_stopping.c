#include <math.h>
#include <string.h>

#include "check.h"
#include "search/stopping.h"

static stopping make(stopping_limits limits)
{
    stopping s;
    stopping_init(&s, &limits);
    return s;
}

TEST(without_limits_a_search_goes_on)
{
    stopping s = make((stopping_limits){0});
    for (size_t i = 0; i < 1000; i++)
        stopping_record(&s, 5);
    assert_int_equal(stopping_check(&s, 1e9), STOP_NONE);
    stopping_deinit(&s);
}

TEST(the_first_limit_that_is_reached_ends_the_run)
{
    stopping s = make((stopping_limits){.evaluations = 3, .seconds = 10});
    stopping_record(&s, 5);
    stopping_record(&s, INFINITY);
    assert_int_equal(stopping_check(&s, 9.9), STOP_NONE);
    assert_int_equal(stopping_check(&s, 10), STOP_SECONDS);
    stopping_record(&s, INFINITY);
    assert_int_equal(stopping_check(&s, 1), STOP_EVALUATIONS);
    stopping_deinit(&s);
}

TEST(a_cost_at_the_target_ends_the_run)
{
    stopping s = make((stopping_limits){.target_cost = 2});
    stopping_record(&s, 2.1);
    assert_int_equal(stopping_check(&s, 0), STOP_NONE);
    stopping_record(&s, 2);
    stopping_record(&s, 9);
    assert_int_equal(stopping_check(&s, 0), STOP_TARGET);
    stopping_deinit(&s);
}

TEST(a_search_without_gain_is_ended)
{
    stopping s = make((stopping_limits){.gain = 0.01});
    for (size_t i = 0; i < 100; i++) {
        assert_int_equal(stopping_check(&s, 0), STOP_NONE);
        stopping_record(&s, i < 50 ? 100 - (double)i : 51);
    }
    /* The second 50 evaluations found nothing better. */
    assert_int_equal(stopping_check(&s, 0), STOP_GAIN);
    stopping_record(&s, 50.4);
    assert_int_equal(stopping_check(&s, 0), STOP_NONE);
    for (size_t i = 0; i < 98; i++)
        stopping_record(&s, 50.4);
    assert_int_equal(stopping_check(&s, 0), STOP_NONE);
    for (size_t i = 0; i < 8; i++)
        stopping_record(&s, 50.4);
    assert_int_equal(stopping_check(&s, 0), STOP_GAIN);
    stopping_deinit(&s);
}

TEST(a_gain_is_expected_until_the_search_has_doubled_without_one)
{
    stopping s = make((stopping_limits){.gain = 0.01});
    assert_int_equal(stopping_expected(&s), 100);
    for (size_t i = 0; i < 70; i++)
        stopping_record(&s, 100 - (double)i);
    assert_int_equal(stopping_expected(&s), 140);
    for (size_t i = 0; i < 80; i++)
        stopping_record(&s, 100);
    assert_int_equal(stopping_expected(&s), 150);
    stopping_deinit(&s);
}

TEST(a_search_without_a_success_is_not_ended)
{
    stopping s = make((stopping_limits){.gain = 0.5});
    for (size_t i = 0; i < 500; i++)
        stopping_record(&s, INFINITY);
    assert_int_equal(stopping_check(&s, 0), STOP_NONE);
    stopping_record(&s, 1);
    assert_int_equal(stopping_check(&s, 0), STOP_NONE);
    stopping_deinit(&s);
}

TEST(efforts_are_found_by_name_and_grow)
{
    uint64_t before = 0;
    for (effort e = EFFORT_QUICK; e < EFFORTS; e++) {
        at_error error = {0};
        effort found;
        assert_ok(effort_find(effort_name(e), &found, &error), error);
        assert_int_equal(found, e);
        stopping_limits limits = effort_limits(e, 1000000);
        assert_true(limits.evaluations > before);
        before = limits.evaluations;
        assert_int_equal(effort_limits(e, 7).evaluations, 7);
    }
    at_error error = {0};
    effort found;
    assert_int_equal(effort_find("norma", &found, &error), AT_USAGE);
    assert_non_null(strstr(error.message, "normal"));
}
