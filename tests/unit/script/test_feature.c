/* Tests features (choose_by), by which a program chooses among configurations. */
#include <math.h>

#include "script_fixture.h"

static script *load_with(const char *extra)
{
    return fixture_load_pattern(&(fixture_pattern){.extra = extra});
}

static double value_with(script *s, size_t feature, const char *configuration)
{
    uint16_t indices[PATTERN_MAX_PARAMETERS];
    double found = NAN;
    at_error error = {0};
    assert_ok(script_parse_configuration(s, configuration, indices, &error), error);
    assert_ok(script_feature(s, PROBLEM_TUNED, feature, indices, &found, &error), error);
    return found;
}

TEST(a_feature_is_computed_from_problem_device_and_configuration)
{
    script *s = load_with("derived = { tiles = 'ceil_div(n, tile)' }, "
                          "choose_by = { waves = 'tiles / device.sm_count', rest = 'n % 1000' },");
    const pattern *p = script_pattern(s);
    assert_int_equal(p->feature_count, 2);
    assert_string_equal(p->features[0].name, "waves");
    assert_true(p->features[0].of_configuration);
    assert_false(p->features[1].of_configuration);
    assert_float_equal(value_with(s, 0, "tile=2,mode=a"), 512.0 / 132, 1e-12);
    assert_float_equal(value_with(s, 0, "tile=4,mode=a"), 256.0 / 132, 1e-12);
    assert_float_equal(value_with(s, 1, "tile=4,mode=a"), 24, 0);
    script_free(s);
}

/* Records store the definition of a feature. It must change with the derived values it reads. */
TEST(a_definition_contains_the_derived_values_that_it_reads)
{
    script *s = load_with("derived = { b = 'n // tile', other = 7, a = 'b + 1' }, "
                          "choose_by = { x = '2 * a' },");
    assert_string_equal(script_pattern(s)->features[0].definition,
                        "2 * a; b = n // tile; a = b + 1");
    assert_int_equal(
        pattern_find_feature(script_pattern(s), "x", "2 * a; b = n // tile; a = b + 1"), 0);
    assert_int_equal(
        pattern_find_feature(script_pattern(s), "y", "2 * a; b = n // tile; a = b + 1"), SIZE_MAX);
    assert_int_equal(pattern_find_feature(script_pattern(s), "x", "2 * a; b = n; a = b + 1"),
                     SIZE_MAX);
    script_free(s);
}

TEST(long_definitions_have_a_hash)
{
    static const char *const extras[] = {
        "derived = { d = 'n' .. ('+n'):rep(1000) }, choose_by = { x = 'd' },",
        "derived = { d = 'n' .. ('+n'):rep(1001) }, choose_by = { x = 'd' },"};
    char definitions[2][100];
    for (size_t i = 0; i < 2; i++) {
        script *s = load_with(extras[i]);
        const char *definition = script_pattern(s)->features[0].definition;
        assert_true(strlen(definition) < sizeof definitions[i]);
        strcpy(definitions[i], definition);
        script_free(s);
    }
    assert_contains(definitions[0], "d; XXH3 of what it reads: ");
    assert_string_not_equal(definitions[0], definitions[1]);
}

TEST(a_feature_may_be_just_the_name_of_a_derived_value)
{
    script_free(load_with("derived = { tiles = 'n // tile' }, choose_by = { tiles = 'tiles' },"));
    fixture_write_pattern(&(fixture_pattern){.extra = "choose_by = { tile = 'n' },"});
    fixture_expect_failure("choose_by.tile: a parameter already has this name; choose another name",
                           10);
    fixture_write_pattern(&(fixture_pattern){.extra = "choose_by = { n = 'tile' },"});
    fixture_expect_failure(
        "choose_by.n: a problem variable already has this name; choose another name", 10);
}

TEST(mistakes_are_reported_with_their_line)
{
    static const struct {
        const char *extra, *wanted;
    } cases[] = {
        {"choose_by = { x = 'tiel' },",
         "choose_by.x: \"tiel\": there is no 'tiel'; did you mean 'tile'?"},
        {"choose_by = { x = 'n +' },", "choose_by.x"},
        {"choose_by = { x = {} },", "choose_by.x is a table; write an expression"},
        {"choose_by = 'n',", "choose_by is 'n'; write choose_by = {"},
        {"choose_by = { 'n' },", "choose_by"},
        {"choose_by = { a=1, b=2, c=3, d=4, e=5, f=6, g=7, h=8, i=9 },",
         "choose_by has 9 names; at most 8 are allowed"},
        {"choose_by = { x = 'n' .. ('+n'):rep(1000) },", "choose_by.x: \"n+n"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fixture_write_pattern(&(fixture_pattern){.extra = cases[i].extra});
        fixture_expect_failure(cases[i].wanted, 10);
    }
}

TEST(a_feature_that_is_no_number_is_an_error_when_evaluated)
{
    script *s = load_with("choose_by = { x = 'n > tile', y = 'n // (tile - tile)' },");
    uint16_t indices[PATTERN_MAX_PARAMETERS] = {0};
    double found;
    at_error error = {0};
    assert_int_equal(script_feature(s, PROBLEM_TUNED, 0, indices, &found, &error), AT_SCRIPT);
    assert_contains(error.message, "choose_by.x: \"n > tile\" gives a boolean");
    assert_int_equal(error.line, 10);
    assert_int_equal(script_feature(s, PROBLEM_TUNED, 1, indices, &found, &error), AT_SCRIPT);
    assert_contains(error.message, "choose_by.y");
    script_free(s);
}

TEST_GROUP(fixture_setup, fixture_teardown)
