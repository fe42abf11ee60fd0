#include "base/text.h"

#include <stdio.h>
#include <string.h>

#include "check.h"

/* ---- escaped text ---- */

static void expect_escaped(const char *text, const char *wanted)
{
    char out[256];
    plain_text_escape(text, out, sizeof out);
    assert_string_equal(out, wanted);
}

TEST(terminal_control_sequences_are_escaped)
{
    expect_escaped("plain \xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80\n\tend",
                   "plain \xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80\n\tend");
    expect_escaped("\033[31mred\033]0;title\a\r\b\x7f",
                   "\\u001b[31mred\\u001b]0;title\\u0007\\u000d\\u0008\\u007f");
    expect_escaped("\xc2\x9b"
                   "31m",
                   "\\u009b31m");
    expect_escaped("a\xe2\x80\xae"
                   "b\xe2\x81\xa6",
                   "a\\u202eb\\u2066");
    expect_escaped("\x9b \xff \xc3( \xc0\xaf \xed\xa0\x80 \xc3",
                   "\\ufffd \\ufffd \\ufffd( \\ufffd\\ufffd \\ufffd\\ufffd\\ufffd \\ufffd");
}

TEST(an_escape_that_does_not_fit_is_left_out_whole)
{
    char out[8];
    plain_text_escape("ab\033cd", out, sizeof out);
    assert_string_equal(out, "ab");
    plain_text_escape("a\033cd", out, sizeof out);
    assert_string_equal(out, "a\\u001b");
    plain_text_escape("abcdefg", out, sizeof out);
    assert_string_equal(out, "abcdefg");
}

TEST(a_line_has_no_control_characters)
{
    assert_true(plain_text_is_line("caf\xc3\xa9 *", 7));
    assert_true(plain_text_is_line("", 0));
    assert_false(plain_text_is_line("a\nb", 3));
    assert_false(plain_text_is_line("a\0b", 3));
    assert_false(plain_text_is_line("\xff", 1));
    assert_false(plain_text_is_line("\xc3", 1));
}

TEST(an_error_is_plain_text)
{
    at_error error = {0};
    error_set_at(&error, AT_SCRIPT, "a\033[2Jb", 1, "%s", "\033]0;x\a");
    assert_string_equal(error.message, "\\u001b]0;x\\u0007");
    assert_string_equal(error.file, "a\\u001b[2Jb");
    error_prefix(&error, "%s", "\r");
    assert_string_equal(error.message, "\\u000d: \\u001b]0;x\\u0007");
}

/* ---- nearest names ---- */

static const char *const names[] = {"rows", "cols", "tile", "block", "algorithm"};

static const char *near(const char *typed)
{
    return nearest_name(typed, names, sizeof names / sizeof *names);
}

TEST(one_typing_error_is_corrected)
{
    assert_string_equal(near("row"), "rows");
    assert_string_equal(near("clos"), "cols");
    assert_string_equal(near("tyle"), "tile");
    assert_string_equal(near("bloock"), "block");
    assert_string_equal(near("algoritm"), "algorithm");
    assert_string_equal(near("block"), "block");
}

TEST(of_equally_near_names_the_one_with_the_same_beginning_wins)
{
    static const char *const both[] = {"how", "rows", "low"};
    assert_string_equal(nearest_name("row", both, 3), "rows");
}

TEST(the_only_name_with_this_beginning_is_found)
{
    static const char *const alike[] = {"relative", "mismatches", "mismeasured"};
    assert_string_equal(near("alg"), "algorithm");
    assert_string_equal(nearest_name("rel", alike, 3), "relative");
    assert_null(nearest_name("mism", alike, 3));
    assert_null(nearest_name("re", alike, 3));
}

TEST(another_word_finds_no_name)
{
    assert_null(near("warp"));
    assert_null(near(""));
    assert_null(
        near("a_name_that_is_far_longer_than_any_that_a_person_would_ever_mistype_by_a_letter"));
}

/* ---- numbers for people ---- */

TEST(times_have_four_digits_and_the_unit_a_person_would_choose)
{
    static const struct {
        int64_t ns;
        const char *text;
    } cases[] = {{0, "0 ns"},           {812, "812 ns"},
                 {999, "999 ns"},       {1000, "1.000 us"},
                 {131400, "131.4 us"},  {12345, "12.35 us"},
                 {999960, "1.000 ms"},  {9999900, "10.00 ms"},
                 {2105000, "2.105 ms"}, {12340000000, "12.34 s"},
                 {-1500, "-1.500 us"}};
    char text[UNITS_BYTES];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_string_equal(units_time(cases[i].ns, text), cases[i].text);
}

TEST(durations_grow_from_seconds_to_hours)
{
    char text[UNITS_BYTES];
    assert_string_equal(units_duration(0.418, text), "0.42 s");
    assert_string_equal(units_duration(73.44, text), "73.4 s");
    assert_string_equal(units_duration(119.99, text), "2 min 00 s");
    assert_string_equal(units_duration(133, text), "2 min 13 s");
    assert_string_equal(units_duration(3725, text), "1 h 02 min");
    assert_string_equal(units_duration(-1, text), "0.00 s");
    assert_string_equal(units_duration(3.5e9, text), "972222 h 13 min");
    assert_string_equal(units_duration(0x1p63, text), "9.22e+18 s");
    assert_string_equal(units_duration(1e300, text), "1e+300 s");
}

TEST(sizes_are_whole_where_they_are_exact)
{
    char text[UNITS_BYTES];
    assert_string_equal(units_size(0, text), "0 B");
    assert_string_equal(units_size(1000, text), "1000 B");
    assert_string_equal(units_size(49152, text), "48 KiB");
    assert_string_equal(units_size(1572864, text), "1.5 MiB");
    assert_string_equal(units_size(UINT64_MAX, text), "16.0 EiB");
}

TEST(rates_counts_and_percentages_are_short)
{
    char text[UNITS_BYTES];
    assert_string_equal(units_rate(4057.3, text), "4057");
    assert_string_equal(units_rate(93.44, text), "93.4");
    assert_string_equal(units_rate(3.14159, text), "3.142");
    assert_string_equal(units_count(0, text), "0");
    assert_string_equal(units_count(999, text), "999");
    assert_string_equal(units_count(2048, text), "2,048");
    assert_string_equal(units_count(UINT64_MAX, text), "18,446,744,073,709,551,615");
    assert_string_equal(units_percent(0.9482, text), "94.8 %");
    assert_string_equal(units_percent(1, text), "100.0 %");
}
