#include "script_fixture.h"

TEST(configurations_read_back_as_written)
{
    script *s = fixture_load_pattern(
        &(fixture_pattern){.space = "space = { tile = { 16, 32 }, f = { 0.5, 2.0 }, on = { false, "
                                    "true }, s = { 'a', '4' } },",
                           .baseline = "baseline = { tile = 32, f = 0.5, on = false, s = 'a' },"});
    uint16_t indices[4];
    at_error error = {0};
    assert_ok(script_parse_configuration(s, "s=4,f=2,on=true", indices, &error), error);
    char text[64];
    int n = script_format_configuration(s, indices, text, sizeof text);
    assert_string_equal(text, "tile=32,f=2.0,on=true,s=4");
    assert_int_equal(n, strlen(text));
    assert_int_equal(script_format_configuration(s, indices, text, 8), n);
    assert_string_equal(text, "tile=32");
    assert_int_equal(script_format_configuration(s, indices, NULL, 0), n);
    uint16_t again[4];
    assert_ok(script_parse_configuration(s, "tile=32,f=2.0,on=true,s=4", again, &error), error);
    assert_memory_equal(again, indices, sizeof indices);
    assert_ok(script_parse_configuration(s, "tile=32, 'f'=\"2.0\", on = true,s='4'", again, &error),
              error);
    assert_memory_equal(again, indices, sizeof indices);
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"tiel=16", "did you mean 'tile'?"},
        {"tile=17", "'17' is not a value of tile; it has 16, 32"},
        {"tile", "is not of the form NAME=VALUE"},
        {"tile=16,tile=32", "given twice"},
        {",", "is not of the form NAME=VALUE"},
        {"=", "no parameter ''; it has tile, f, on, s"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(script_parse_configuration(s, cases[i].text, again, &error), AT_USAGE);
        assert_contains(error.message, cases[i].message);
    }
    script_free(s);
}

enum { MANY = 64, LONG = 250 };

/* Loads a space with many parameters. Names have `name_letters` letters, and values are long. */
static script *load_long(int name_letters, at_error *error)
{
    static char field[1 << 15], baseline[1 << 15];
    size_t used = 0, given = 0;
    script *s = NULL;
    for (int i = 0; i < MANY; i++) {
        used += (size_t)snprintf(field + used, sizeof field - used, "%sp%0*d = { '%0*d' }",
                                 i ? ", " : "space = { ", name_letters - 1, i, LONG, i);
        given += (size_t)snprintf(baseline + given, sizeof baseline - given, "%sp%0*d = '%0*d'",
                                  i ? ", " : "baseline = { ", name_letters - 1, i, LONG, i);
    }
    strcat(field, " },");
    strcat(baseline, " },");
    fixture_write_pattern(&(fixture_pattern){.space = field, .baseline = baseline});
    fixture_load(&s, error);
    return s;
}

TEST(no_configuration_exceeds_the_size_of_its_text)
{
    char text[CONFIGURATION_BYTES];
    const uint16_t first[MANY] = {0};
    at_error error = {0};
    script *s = load_long(3, &error);
    assert_ok(error.status, error);
    int length = script_format_configuration(s, first, text, sizeof text);
    assert_int_equal(length, strlen(text));
    assert_int_equal(length, MANY * (3 + 1 + LONG + 1) - 1);
    script_free(s);
    assert_null(load_long(10, &error));
    assert_int_equal(error.status, AT_SCRIPT);
    assert_contains(error.message, "shorten string values");
}

TEST_GROUP(fixture_setup, fixture_teardown)
