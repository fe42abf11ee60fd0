#include "script_fixture.h"

static void an_empty_space_names_the_constraint_that_emptied_it(void **state)
{
    (void)state;
    script *s = fixture_load_pattern(&(fixture_pattern){
        .where = "where = { 'tile > 1', 'mode == \"a\"',\n'tile < 2',\n'tile > 0' },"});
    space *sp;
    at_error error = {0};
    assert_int_equal(script_space(s, PROBLEM_TUNED, &sp, &error), AT_SCRIPT);
    assert_null(sp);
    assert_contains(error.message, "no configuration is left after where[3]: \"tile < 2\"");
    assert_int_equal(error.line, 7);
    script_free(s);
}

static void a_space_without_bounds_is_an_error(void **state)
{
    (void)state;
    script *s = fixture_load_pattern(&(fixture_pattern){
        .space = "space = { a = at.range(1, 60000), b = at.range(1, 60000) },",
        .baseline = "baseline = { a = 1, b = 1 },",
    });
    space *sp;
    at_error error = {0};
    assert_int_equal(script_space(s, PROBLEM_TUNED, &sp, &error), AT_SCRIPT);
    assert_contains(error.message, "more than 67108864 valid configurations");
    assert_string_equal(error.file, fixture_path("p.lua"));
    script_free(s);
}

static void a_baseline_outside_of_the_space_is_an_error(void **state)
{
    (void)state;
    script *s = fixture_load_pattern(&(fixture_pattern){.where = "where = { 'tile > 1' },"});
    space *sp;
    at_error error = {0};
    assert_int_equal(script_space(s, PROBLEM_TUNED, &sp, &error), AT_SCRIPT);
    assert_contains(error.message, "the baseline (tile=1,mode=a) breaks where[1]: \"tile > 1\"");
    assert_int_equal(error.line, 6);
    script_free(s);
}

static void constraints_that_fail_are_told(void **state)
{
    (void)state;
    static const struct {
        const char *where, *message;
    } cases[] = {
        {"where = { 'tile' },", "where[1]: \"tile\": gives a number where true or false is needed"},
        {"where = { 'tile // (tile - tile) == 1' },", "attempt to divide by zero"},
        {"where = { 'mode + 1 == 2' },", "attempt to perform arithmetic on a string value"},
        {"where = { 'sizeof(mode) == 2' },", "there is no element type 'a'"},
        {"where = { 'ceil_div(tile, 0) == 2' },", "must be positive"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        script *s = fixture_load_pattern(&(fixture_pattern){.where = cases[i].where});
        space *sp;
        at_error error = {0};
        assert_int_equal(script_space(s, PROBLEM_TUNED, &sp, &error), AT_SCRIPT);
        assert_contains(error.message, cases[i].message);
        assert_int_equal(error.line, 6);
        script_free(s);
    }
}

static void the_space_is_what_brute_force_finds(void **state)
{
    (void)state;
    script_options options = fixture_options();
    at_error error = {0};
    script *s;
    assert_ok(script_load(TEST_SOURCE_DIR "/tests/fixtures/scale.lua", &options, &s, &error),
              error);
    for (problem_kind kind = PROBLEM_TUNED; kind < PROBLEM_KINDS; kind++) {
        space *sp;
        assert_ok(script_space(s, kind, &sp, &error), error);
        uint64_t valid_count = 0;
        for (uint16_t block = 0; block < 6; block++)
            for (uint16_t vec = 0; vec < 3; vec++)
                for (uint16_t cached = 0; cached < 2; cached++) {
                    uint16_t indices[] = {block, vec, cached};
                    bool valid;
                    size_t broken;
                    uint64_t index;
                    assert_ok(script_valid(s, kind, indices, &valid, &broken, &error), error);
                    assert_int_equal(space_find(sp, indices, &index), valid);
                    valid_count += valid;
                }
        assert_int_equal(space_count(sp), valid_count);
        space_free(sp);
    }
    script_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_space_names_the_constraint_that_emptied_it),
        cmocka_unit_test(a_space_without_bounds_is_an_error),
        cmocka_unit_test(a_baseline_outside_of_the_space_is_an_error),
        cmocka_unit_test(constraints_that_fail_are_told),
        cmocka_unit_test(the_space_is_what_brute_force_finds),
    };
    return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
