#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_text.h"
#include "base/rng.h"
#include "check.h"

TEST(errors_name_line_and_column)
{
    json_t *j;
    at_error error = {0};
    const char text[] = "{\n  \"a\": 1,\n  \"b\": }\n";
    assert_int_equal(json_text_parse(text, strlen(text), "f.json", &j, &error), AT_FORMAT);
    assert_null(j);
    assert_int_equal(error.line, 3);
    assert_string_equal(error.file, "f.json");
    assert_non_null(strstr(error.message, "line 3, column 8"));
}

TEST(names_that_appear_twice_are_refused)
{
    json_t *j;
    at_error error = {0};
    const char text[] = "{\"a\": 1, \"a\": 2}";
    assert_int_equal(json_text_parse(text, strlen(text), "f.json", &j, &error), AT_FORMAT);
}

TEST(depth_is_bounded)
{
    enum { DEPTH = 1000000 };
    json_t *j;
    at_error error = {0};
    char *text = malloc(DEPTH);
    memset(text, '[', DEPTH);
    assert_int_equal(json_text_parse(text, DEPTH, "f.json", &j, &error), AT_FORMAT);
    free(text);
}

TEST(short_decimals_are_written_as_they_were_typed)
{
    at_error error = {0};
    char *text;
    json_t *j = json_pack("{s:f, s:f, s:i}", "a", 0.1, "b", 4085.8, "c", 7);
    assert_ok(json_text_format(j, 0, &text, &error), error);
    assert_string_equal(text, "{\"a\":0.1,\"b\":4085.8,\"c\":7}");
    free(text);
    json_decref(j);
}

TEST(every_number_reads_back_the_same)
{
    rng r = rng_seeded(3);
    at_error error = {0};
    for (int i = 0; i < 2000; i++) {
        uint64_t bits = rng_next(&r);
        double v;
        char *text;
        memcpy(&v, &bits, sizeof v);
        if (!isfinite(v))
            continue;
        json_t *j = json_pack("[f]", v), *again;
        assert_ok(json_text_format(j, 0, &text, &error), error);
        assert_ok(json_text_parse(text, strlen(text), "x", &again, &error), error);
        assert_true(json_real_value(json_array_get(again, 0)) == v);
        json_decref(j);
        json_decref(again);
        free(text);
    }
}

TEST(values_keep_their_kind)
{
    static const char *const typed[] = {"64", "-3", "0.5", "2.0", "true", "false", "tile", ""};
    for (size_t i = 0; i < sizeof typed / sizeof *typed; i++) {
        value v = value_parse(typed[i]), again;
        json_t *j = json_from_value(v);
        assert_true(json_to_value(j, &again));
        assert_int_equal(again.kind, v.kind);
        assert_true(value_equal(again, v));
        json_decref(j);
    }
    value v;
    json_t *array = json_array(), *null = json_null();
    assert_false(json_to_value(array, &v));
    assert_false(json_to_value(null, &v));
    json_decref(array);
}

TEST(figures_are_rounded_and_infinities_unknown)
{
    json_t *j = json_rounded(4085.8361, 5);
    assert_true(json_real_value(j) == 4085.8);
    json_decref(j);
    assert_true(json_is_null(json_rounded(INFINITY, 5)));
    assert_true(json_is_null(json_rounded(NAN, 5)));
}

static void expect_count(json_t *count, json_int_t expected)
{
    assert_true(json_is_integer(count) && json_integer_value(count) == expected);
    json_decref(count);
}

TEST(counts_are_written_as_integers)
{
    expect_count(json_count(7), 7);
    expect_count(json_count(UINT64_MAX), INT64_MAX);
    expect_count(json_count_rounded(12.6), 13);
    expect_count(json_count_rounded(1e30), INT64_MAX);
    assert_true(json_is_null(json_count_rounded(NAN)));
}

TEST(texts_that_are_not_utf8_are_no_json)
{
    const char *names[] = {"a"};
    value v = {.kind = VALUE_STRING, .string = "\xff"};
    assert_null(json_from_value(v));
    assert_null(json_from_values(names, &v, 1));
}

static void assert_json(json_t *j, const char *expected)
{
    char *text = json_dumps(j, JSON_COMPACT | JSON_ENCODE_ANY);
    assert_non_null(text);
    assert_string_equal(text, expected);
    free(text);
    json_decref(j);
}

TEST(an_escaped_path_can_be_read_back)
{
    assert_json(json_path("caf\xc3\xa9/x"), "\"caf\xc3\xa9/x\"");
    assert_json(json_path("caf\xe9"), "{\"bytes\":\"636166e9\"}");
    assert_json(json_path_bytes("n\xff and more", 2), "{\"bytes\":\"6eff\"}");
}

TEST(bytes_of_foreign_messages_that_are_not_text_are_replaced)
{
    assert_json(json_foreign_text(NULL), "null");
    assert_json(json_foreign_text("caf\xc3\xa9\n"), "\"caf\xc3\xa9\\n\"");
    assert_json(json_foreign_text("caf\xe9: \xc3\xa9"), "\"caf?: \xc3\xa9\"");
    assert_json(json_foreign_text("\xff\xff\xff\xff"), "\"????\"");
}
