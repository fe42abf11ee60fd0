#include "base/units.h"
#include "check.h"

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
