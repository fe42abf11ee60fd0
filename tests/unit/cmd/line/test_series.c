#include "check.h"

#include <stdio.h>
#include <string.h>

#include "cmd/line/series.h"

static void expect(const char *list, const char *wanted)
{
    series s;
    at_error error = {0};
    char text[512] = "";
    assert_ok(series_parse("x", list, &s, &error), error);
    for (size_t i = 0; i < s.count; i++) {
        strcat(text, i > 0 ? " " : "");
        strcat(text, s.texts[i]);
    }
    assert_string_equal(text, wanted);
    series_deinit(&s);
}

static void expect_refused(const char *list, const char *words)
{
    series s;
    at_error error = {0};
    assert_int_equal(series_parse("x", list, &s, &error), AT_USAGE);
    if (!strstr(error.message, words))
        fail_msg("no \"%s\" in: %s", words, error.message);
    series_deinit(&s);
}

TEST(values_are_taken_as_they_are)
{
    expect("4", "4");
    expect("float,half,1.5", "float half 1.5");
}

TEST(dots_continue_the_numbers_before_them)
{
    expect("3,...,6", "3 4 5 6");
    expect("1,2,...,5", "1 2 3 4 5");
    expect("8,16,...,40", "8 16 24 32 40");
    expect("1,2,4,...,64", "1 2 4 8 16 32 64");
    expect("9,6,...,-3", "9 6 3 0 -3");
    expect("1,...,3,10", "1 2 3 10");
    expect("0,...,2", "0 1 2");
    expect("0,1,2,4,...,16", "0 1 2 4 8 16");
}

TEST(dots_that_never_reach_the_last_number_are_refused)
{
    expect_refused("1,2,4,...,65", "does not reach its last value 65");
    expect_refused("4,...,1", "does not reach its last value 1");
    expect_refused("1,2,5,...,64", "a constant difference or factor");
    expect_refused("a,...,c", "whole numbers");
    expect_refused("1,2,...", "must stand between two values");
    expect_refused("...,3", "must stand between two values");
    expect_refused("", "must stand between two values");
}

TEST(a_value_twice_or_too_many_are_refused)
{
    expect_refused("1,2,1", "goes over 1 twice");
    expect_refused("1,...,5000", "has over 1000 values");
}
