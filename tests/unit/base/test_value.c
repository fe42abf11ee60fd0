#include <string.h>

#include "base/value.h"
#include "check.h"

static value parse_then_format(const char *text, char *out, size_t size)
{
    value v = value_parse(text);
    value_format(v, out, size);
    return v;
}

TEST(typed_text_becomes_the_value_a_person_means)
{
    assert_int_equal(value_parse("64").kind, VALUE_INTEGER);
    assert_int_equal(value_parse("-3").integer, -3);
    assert_int_equal(value_parse("0x40").integer, 64);
    assert_int_equal(value_parse("010").integer, 10);
    assert_int_equal(value_parse("0.5").kind, VALUE_NUMBER);
    assert_int_equal(value_parse("1e9").kind, VALUE_NUMBER);
    assert_int_equal(value_parse("true").kind, VALUE_BOOLEAN);
    assert_int_equal(value_parse("tile").kind, VALUE_STRING);
    assert_int_equal(value_parse("nan").kind, VALUE_STRING);
    assert_int_equal(value_parse("inf").kind, VALUE_STRING);
    assert_int_equal(value_parse("").kind, VALUE_STRING);
    assert_int_equal(value_parse("12ab").kind, VALUE_STRING);
    assert_int_equal(value_parse("99999999999999999999").kind, VALUE_NUMBER);
}

TEST(formatted_values_read_back_the_same)
{
    const char *texts[] = {"64", "-1", "0.1", "2.0", "1e+300", "true", "false", "tile"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        char out[64];
        value v = parse_then_format(texts[i], out, sizeof out);
        assert_string_equal(out, texts[i]);
        assert_true(value_equal(v, value_parse(out)));
    }
}

TEST(order_is_by_magnitude_exactly)
{
    value big = {.kind = VALUE_INTEGER, .integer = INT64_MAX};
    value two_63 = {.kind = VALUE_NUMBER, .number = 9223372036854775808.0};
    assert_true(value_compare(big, two_63) < 0);
    assert_true(value_equal(value_parse("2"), value_parse("2.0")));
    assert_true(value_compare(value_parse("3"), value_parse("2.5")) > 0);
    assert_true(value_compare(value_parse("-3"), value_parse("-2.5")) < 0);
    assert_true(value_compare(value_parse("1"), value_parse("a")) < 0);
}

TEST(dtypes_are_found_by_their_script_names)
{
    for (int i = 0; i < DTYPE_COUNT; i++) {
        dtype found;
        assert_true(dtype_find(dtype_get((dtype)i)->name, &found));
        assert_int_equal(found, i);
    }
    dtype none;
    assert_false(dtype_find("quad", &none));
}
