#include <lauxlib.h>
#include <stdio.h>
#include <string.h>

#include "base/rng.h"
#include "check.h"
#include "script/expression_vector.h"

/* Whole numbers x and y, truth values p and q, and the constant device.limit. */
enum { X, Y, P, Q, INPUTS, MOST_STEPS = 256, MOST_TEXT = 4096 };
static const char *const names[INPUTS] = {"x", "y", "p", "q"};
static const int64_t limit = 1024;

static bool resolve(void *context, token name, token field, vector_operand *operand)
{
    (void)context;
    if (field.kind == TOKEN_NAME) {
        *operand = (vector_operand){.is_constant = true, .constant = limit};
        return token_is(name, "device") && token_is(field, "limit");
    }
    if (name.kind == TOKEN_STRING) { /* texts of one character */
        *operand =
            (vector_operand){.type = VECTOR_TEXT, .is_constant = true, .constant = name.text[1]};
        return true;
    }
    for (size_t i = 0; i < INPUTS; i++)
        if (token_is(name, names[i])) {
            *operand = (vector_operand){.type = i < P ? VECTOR_WHOLE : VECTOR_TRUTH, .input = i};
            return true;
        }
    return false;
}

static size_t compile(const char *text, vector_step *steps)
{
    return vector_compile(text, resolve, NULL, steps, MOST_STEPS);
}

/* What Lua makes of it: 0 or 1, or -1 for an error. */
static int ask_lua(lua_State *L, const char *text, const int64_t *inputs)
{
    char chunk[MOST_TEXT + 100];
    snprintf(chunk, sizeof chunk,
             "local x, y, p, q = ...; local device = { limit = 1024 }; return (%s\n)", text);
    assert_int_equal(luaL_loadstring(L, chunk), LUA_OK);
    for (size_t i = 0; i < INPUTS; i++)
        if (i < P)
            lua_pushinteger(L, inputs[i]);
        else
            lua_pushboolean(L, (int)inputs[i]);
    int result = lua_pcall(L, INPUTS, 1, 0);
    int answer = result == LUA_OK ? lua_toboolean(L, -1) : -1;
    if (result == LUA_OK)
        assert_true(lua_isboolean(L, -1));
    lua_settop(L, 0);
    return answer;
}

static int64_t random_number(rng *r)
{
    static const int64_t edges[] = {0, 1, -1, INT64_MAX, INT64_MIN, INT64_MIN + 1, 1024};
    if (rng_below(r, 3) == 0)
        return edges[rng_below(r, sizeof edges / sizeof *edges)];
    return (int64_t)rng_below(r, 41) - 20;
}

static void append(char *text, const char *more)
{
    strncat(text, more, MOST_TEXT - 1 - strlen(text));
}

static void append_whole(rng *r, int depth, char *text);

static void append_pair(rng *r, int depth, char *text, const char *operator,
                        void (*operand)(rng *, int, char *))
{
    /* Brackets are left out as often as not, to try which operator binds more strongly. */
    bool brackets = rng_below(r, 2);
    append(text, brackets ? "(" : "");
    operand(r, depth - 1, text);
    append(text, operator);
    operand(r, depth - 1, text);
    append(text, brackets ? ")" : "");
}

static void append_truth(rng *r, int depth, char *text);

static void append_whole(rng *r, int depth, char *text)
{
    if (depth > 0 && rng_below(r, 12) == 0) {
        append(text, "((");
        append_truth(r, 0, text);
        append(text, ") and (");
        append_whole(r, 0, text);
        append(text, ") or (");
        append_whole(r, 0, text);
        append(text, "))");
        return;
    }
    static const char *const operators[] = {" + ", " - ", "*", " // ", " % "};
    if (depth == 0) {
        static const char *const leaves[] = {"x", "y", "- y", "device.limit", "(x)", "--[[no]]x"};
        char number[32];
        snprintf(number, sizeof number, "%d", (int)rng_below(r, 40));
        uint64_t which = rng_below(r, 9);
        append(text, which < 6 ? leaves[which] : number);
    } else {
        append_pair(r, depth, text, operators[rng_below(r, 5)], append_whole);
    }
}

static void append_comparison(rng *r, int depth, char *text)
{
    static const char *const operators[] = {" < ", "<=", " > ", " >= ", " == ", " ~= "};
    append_whole(r, depth, text);
    append(text, operators[rng_below(r, 6)]);
    append_whole(r, depth, text);
}

static void append_truth(rng *r, int depth, char *text)
{
    switch (depth == 0 ? rng_below(r, 3) : 3 + rng_below(r, 4)) {
    case 0:
        append(text, (const char *[]){"p", "q", "true", "false", "not p"}[rng_below(r, 5)]);
        break;
    case 1:
    case 2:
        append_comparison(r, (int)rng_below(r, 3), text);
        break;
    case 3:
        append(text, "not (");
        append_truth(r, depth - 1, text);
        append(text, ")");
        break;
    case 4:
        append(text, "(");
        append_truth(r, depth - 1, text);
        append(text, rng_below(r, 2) ? ") == (" : ") ~= (");
        append_truth(r, depth - 1, text);
        append(text, ")");
        break;
    default:
        append_pair(r, depth, text, rng_below(r, 2) ? " and " : " or ", append_truth);
    }
}

static void check_against_lua(lua_State *L, rng *r, const char *text, size_t *refused)
{
    vector_step steps[MOST_STEPS];
    size_t step_count = compile(text, steps);
    if (step_count == 0)
        fail_msg("left to Lua: %s", text);
    size_t varied = rng_below(r, INPUTS + 1);
    size_t count = 1 + rng_below(r, VECTOR_MOST_VALUES);
    int64_t inputs[INPUTS], values[VECTOR_MOST_VALUES];
    bool holds[VECTOR_MOST_VALUES];
    for (size_t i = 0; i < INPUTS; i++)
        inputs[i] = i < P ? random_number(r) : (int64_t)rng_below(r, 2);
    for (size_t i = 0; i < count; i++)
        values[i] = varied < P ? random_number(r) : (int64_t)rng_below(r, 2);
    if (varied == INPUTS)
        varied = SIZE_MAX;
    bool evaluated = vector_evaluate(steps, step_count, inputs, varied, values, count, holds);
    *refused += !evaluated;
    for (size_t i = 0; i < count; i++) {
        if (varied != SIZE_MAX)
            inputs[varied] = values[i];
        int wanted = ask_lua(L, text, inputs);
        if (evaluated && wanted != holds[i])
            fail_msg("%s: %d, but Lua gives %d for x = %lld, y = %lld", text, holds[i], wanted,
                     (long long)inputs[X], (long long)inputs[Y]);
    }
}

static void answers_are_those_of_lua(void **state)
{
    (void)state;
    lua_State *L = luaL_newstate();
    assert_non_null(L);
    rng r = rng_seeded(11);
    enum { ROUNDS = 4000 };
    size_t refused = 0;
    for (int round = 0; round < ROUNDS; round++) {
        char text[MOST_TEXT] = "";
        append_truth(&r, (int)rng_below(&r, 4), text);
        check_against_lua(L, &r, text, &refused);
    }
    lua_close(L);
    /* Zero divisors are frequent here; a test of nothing but refusals would show nothing. */
    assert_in_range(refused, 1, ROUNDS / 2);
}

static void what_is_not_whole_numbers_and_truth_values_is_left_to_lua(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "x / 2 == 1",
        "x ^ 2 == 4",
        "x == 1.0",
        "x == 'one'",
        "max(x, 1) == 1",
        "x & 1 == 0",
        "x << 1 == 2",
        "x == 0x10",
        "x == 9223372036854775808",
        "x",
        "x and p",
        "x == p",
        "p < q",
        "not x",
        "device.name == 1",
        "z == 1",
        "x.y == 1",
        "#names == 1",
        "x == 1e3",
        "p == 1 == q and nil",
        "({})[1] == x",
        "x:len() == 1",
    };
    vector_step steps[MOST_STEPS];
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (compile(texts[i], steps) != 0)
            fail_msg("%s", texts[i]);
}

static void texts_are_equal_or_not_and_nothing_else(void **state)
{
    (void)state;
    vector_step steps[MOST_STEPS];
    bool holds[1];
    const int64_t inputs[INPUTS] = {[X] = 1};
    size_t count = compile("'a' == 'a' and 'a' ~= \"b\" and x == 1", steps);
    assert_int_not_equal(count, 0);
    assert_true(vector_evaluate(steps, count, inputs, SIZE_MAX, NULL, 1, holds));
    assert_true(holds[0]);
    static const char *const not_understood[] = {"'a' < 'b'",    "'a' == 1",
                                                 "'a' + 1 == 2", "('a' and x or y) == 1",
                                                 "p and x",      "(p and x) == 1"};
    for (size_t i = 0; i < sizeof not_understood / sizeof *not_understood; i++)
        if (compile(not_understood[i], steps) != 0)
            fail_msg("%s", not_understood[i]);
}

static void a_zero_divisor_is_left_to_lua(void **state)
{
    (void)state;
    vector_step steps[MOST_STEPS];
    size_t count = compile("x == 0 or y % x == 0", steps);
    assert_int_not_equal(count, 0);
    bool holds[2];
    int64_t inputs[INPUTS] = {[Y] = 6};
    assert_true(vector_evaluate(steps, count, inputs, X, (int64_t[]){3, 4}, 2, holds));
    assert_true(holds[0]);
    assert_false(holds[1]);
    assert_false(vector_evaluate(steps, count, inputs, X, (int64_t[]){3, 0}, 2, holds));
}

static void what_is_too_long_or_nested_too_deeply_is_left_to_lua(void **state)
{
    (void)state;
    vector_step steps[MOST_STEPS];
    char text[MOST_TEXT] = "";
    for (int i = 0; i < 100; i++)
        append(text, "(");
    append(text, "x");
    for (int i = 0; i < 100; i++)
        append(text, ")");
    append(text, " == 1");
    assert_int_equal(compile(text, steps), 0);

    strcpy(text, "x == 1");
    for (int i = 0; i < 200; i++)
        append(text, " and y == 1");
    assert_int_equal(compile(text, steps), 0);

    strcpy(text, "x == 1");
    for (int i = 0; i < 20; i++)
        append(text, " + (1"); /* each bracket holds one more operand back */
    for (int i = 0; i < 20; i++)
        append(text, ")");
    assert_int_equal(compile(text, steps), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_are_those_of_lua),
        cmocka_unit_test(what_is_not_whole_numbers_and_truth_values_is_left_to_lua),
        cmocka_unit_test(texts_are_equal_or_not_and_nothing_else),
        cmocka_unit_test(a_zero_divisor_is_left_to_lua),
        cmocka_unit_test(what_is_too_long_or_nested_too_deeply_is_left_to_lua),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
