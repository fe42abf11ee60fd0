#include "script/state.h"
#include "script_fixture.h"

/* Asserts which names the loader of scripts finds in an expression. `wanted` lists the names,
 * separated by blanks. */
static void expect_names(const char *text, const char *wanted)
{
    char where[512], found[512] = "";
    snprintf(where, sizeof where, "where = { [==[%s]==] },", text);
    script *s = fixture_load_pattern(&(fixture_pattern){.where = where});
    const expression *e = &s->space.constraint_tests[0];
    for (size_t i = 0; i < e->input_count; i++) {
        strcat(found, *found ? " " : "");
        strcat(found, e->inputs[i].is_parameter
                          ? s->space.parameters[e->inputs[i].index].name
                          : s->problems[PROBLEM_TUNED][e->inputs[i].index].name);
    }
    assert_string_equal(found, wanted);
    size_t parameters = 0;
    for (size_t i = 0; i < e->input_count; i++)
        parameters += e->inputs[i].is_parameter;
    assert_int_equal(script_pattern(s)->constraints[0].parameter_count, parameters);
    assert_int_equal(e->reads_parameters, parameters > 0);
    script_free(s);
}

TEST(names_are_the_variables_that_lua_would_look_up)
{
    expect_names("tile == 1", "tile");
    expect_names("n % tile == tile", "n tile");
    expect_names("mode == 'tile' and \"n\" == [[n]]", "mode");
    expect_names("true -- tile", "");
    expect_names("--[[ tile ]] n > 0", "n");
    expect_names("({ tile = 1, n = 2 }).tile == 1", "");
    expect_names("({ mode, [tile] = n }).tile == 1", "mode tile n");
    expect_names("device.warp_size == 32", "");
    expect_names("math.max(tile, 1) == min(n, 1)", "tile n");
    expect_names("mode:len() == 1", "mode");
    expect_names("tile..'' == n .. 'x'", "tile n");
    expect_names("0x1p4 == 1e5 or tile>0", "tile");
    expect_names("tile==n", "tile n");
}

TEST(helper_functions_return_documented_results)
{
    static const char *const truths[] = {
        "ceil_div(7, 2) == 4 and ceil_div(8, 2) == 4 and ceil_div(0, 5) == 0",
        "ceil_div(math.maxinteger, 2) == 1 << 62",
        "round_up(7, 4) == 8 and round_up(8, 4) == 8 and round_up(0, 4) == 0",
        "log2(1) == 0 and log2(32) == 5 and log2(33) == 5",
        "cluster_load(device.sm_count, 66, 2, 1) == 1 and cluster_load(device.sm_count, 67, 2, 1) "
        "== 2",
        "is_pow2(1) and is_pow2(64) and not is_pow2(0) and not is_pow2(48) and not is_pow2(-4)",
        "sizeof('half') == 2 and sizeof(dtype) == 4 and sizeof('uint64') == 8",
        "min(3, 1, 2) == 1 and max(3, 1) == 3 and abs(-1) == 1",
        "floor(1.5) == 1 and ceil(1.5) == 2",
        "is_float('half') and not is_float('int8')",
        "device.name == 'sm_90' and device.major == 9 and device.max_shared_per_block == 232448",
        "7 // 2 == 3 and 7 % 4 == 3 and 1 << 4 == 16 and (5 & 3) == 1",
    };
    for (size_t i = 0; i < sizeof truths / sizeof *truths; i++) {
        char where[512];
        snprintf(where, sizeof where, "where = { [==[%s]==] },", truths[i]);
        script *s = fixture_load_pattern(&(fixture_pattern){.where = where});
        bool valid = false;
        size_t broken;
        at_error error = {0};
        assert_ok(script_valid(s, PROBLEM_TUNED, (uint16_t[]){0, 0}, &valid, &broken, &error),
                  error);
        if (!valid)
            fail_msg("%s", truths[i]);
        script_free(s);
    }
}

/* Strings reach an expression through a table in Lua; numbers and booleans through the stack. */
TEST(values_of_every_kind_reach_an_expression)
{
    script *s = fixture_load_pattern(&(fixture_pattern){
        .problem = "problem = { n = 1, f = 0.5, on = true, word = 'w' }, ragged = { word = 'r', on "
                   "= false },",
        .space = "space = { a = { 1, 2.5, 'x', true } },",
        .baseline = "baseline = { a = 1 },",
        .where = "where = { \"n == 1 and f == 0.5 and on and word == 'w' "
                 "and (a == 1 or a == 2.5 or a == 'x' or a == true)\", "
                 "\"math.type(n) == 'integer' and math.type(f) == 'float'\" },"});
    bool valid;
    size_t broken = 9;
    at_error error = {0};
    for (uint16_t a = 0; a < 4; a++) {
        assert_ok(script_valid(s, PROBLEM_TUNED, &a, &valid, &broken, &error), error);
        assert_true(valid);
    }
    assert_ok(script_valid(s, PROBLEM_RAGGED, (uint16_t[]){0}, &valid, &broken, &error), error);
    assert_false(valid);
    assert_int_equal(broken, 0);
    script_free(s);
}

/* Evaluates each constraint one value at a time and for many values at once. `v` takes values of
 * each kind. */
TEST(values_tested_together_and_alone_get_the_same_answers)
{
    script *s = fixture_load_pattern(&(fixture_pattern){
        .problem =
            "problem = { n = 6, f = 0.5, on = true, word = 'w' }, ragged = { n = 7, on = false },",
        .space = "space = { v = at.range(1, 100), w = { 1, 3 }, mix = { 1, 2.5 }, flag = { true, "
                 "false } },",
        .baseline = "baseline = { v = 1, w = 1, mix = 1, flag = true },",
        .where =
            "where = { 'v % w == n % w', 'not flag or v * v > device.warp_size', 'on == (v > n)', "
            "'v * f > w', \"word == 'w' and v > 2\", 'mix < v', 'w > 1 or v < 0', "
            "'v == 50 or (n - 6) // (v - 50) == 0' },"});
    uint16_t choices[100], indices[4] = {0};
    bool together[100], alone;
    at_error error = {0};
    for (uint16_t i = 0; i < 100; i++)
        choices[i] = (uint16_t)(99 - i);
    for (size_t round = 0; round < 2 * 8 * 8; round++) {
        const expression *e = &s->space.constraint_tests[round % 8];
        problem_kind problem = round / 8 % 2 ? PROBLEM_RAGGED : PROBLEM_TUNED;
        for (size_t p = 0; p < 3; p++)
            indices[1 + p] = round / 16 >> p & 1;
        space_question q = {round % 8, indices, 0, choices, 100};
        assert_ok(expression_test_each(s, e, problem, &q, &(work_budget){0}, together, &error),
                  error);
        for (size_t i = 0; i < 100; i++) {
            indices[0] = choices[i];
            assert_ok(expression_test(s, e, problem, indices, &alone, &error), error);
            assert_int_equal(together[i], alone);
        }
    }
    script_free(s);
}

TEST_GROUP(fixture_setup, fixture_teardown)
