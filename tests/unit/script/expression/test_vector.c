#include <lauxlib.h>
#include <lualib.h>
#include <stdio.h>
#include <string.h>

#include "base/rng.h"
#include "check.h"
#include "reader_fixture.h"
#include "script/expression/term.h"

enum { MOST_TEXT = 4096 };

/* Returns the same address for equal texts. */
static const char *find_text(const char *text)
{
    static const char *const texts[] = {"a", "b", "half", "float", "int8", "short", "none"};
    size_t i = 0;
    while (strcmp(texts[i], text) != 0)
        i++;
    return texts[i];
}

static bool resolve(void *context, const node *leaf, vector_operand *operand)
{
    (void)context;
    if (leaf->op == NODE_INPUT)
        *operand = (vector_operand){.input = reader_input(leaf)};
    else /* the leaf is `device.sm_count` or a text */
        *operand = (vector_operand){
            .is_constant = true,
            .constant = leaf->op == NODE_TEXT ? (int64_t)(intptr_t)find_text(leaf->name) : 1024};
    return true;
}

static size_t compile(const char *text, vector_step *steps)
{
    tree *t = tree_new();
    assert_non_null(t);
    const node *root = reader_read(t, text, &reader_inputs), *term = NULL;
    term_type type;
    at_error error = {0};
    if (root)
        assert_ok(term_make(t, root, reader_leaf, NULL, &type, &term, &error), error);
    size_t count = term && type == TERM_TRUTH ? vector_compile(term, resolve, NULL, steps) : 0;
    tree_free(t);
    return count;
}

/* Returns the result of Lua: 0, 1, or -1 for an error. */
static int ask_lua(lua_State *L, const char *text, const int64_t *inputs)
{
    char chunk[MOST_TEXT + 200];
    snprintf(chunk, sizeof chunk,
             "local x, y, p, q = ...; local device = { sm_count = 1024 }; local min, max, abs = "
             "math.min, math.max, math.abs; return (%s\n)",
             text);
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
    /* Half of the brackets are left out, so that precedence is tested. */
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
    if (depth > 0 && rng_below(r, 8) == 0) {
        append(text, rng_below(r, 3) == 0 ? "abs(" : rng_below(r, 2) ? "min(y, " : "max(x, ");
        append_whole(r, depth - 1, text);
        append(text, ")");
        return;
    }
    static const char *const operators[] = {" + ", " - ", "*",   " // ", " % ",
                                            " & ", " | ", " ~ ", " << ", " >> "};
    if (depth == 0) {
        static const char *const leaves[] = {"x",   "y",        "- y", "device.sm_count",
                                             "(x)", "--[[no]]x"};
        char number[32];
        snprintf(number, sizeof number, "%d", (int)rng_below(r, 40));
        uint64_t which = rng_below(r, 9);
        append(text, which < 6 ? leaves[which] : number);
    } else {
        append_pair(r, depth, text, operators[rng_below(r, 10)], append_whole);
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
    vector_step steps[VECTOR_MOST_STEPS];
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

TEST(answers_are_those_of_lua)
{
    lua_State *L = luaL_newstate();
    assert_non_null(L);
    luaL_openlibs(L);
    rng r = rng_seeded(11);
    enum { ROUNDS = 4000 };
    size_t refused = 0;
    for (int round = 0; round < ROUNDS; round++) {
        char text[MOST_TEXT] = "";
        append_truth(&r, (int)rng_below(&r, 4), text);
        check_against_lua(L, &r, text, &refused);
    }
    lua_close(L);
    /* Zero divisors must be frequent. But if most expressions were refused, the test would show
     * little. */
    assert_in_range(refused, 1, ROUNDS / 2);
}

TEST(only_integers_and_booleans_are_evaluated_without_lua)
{
    static const char *const texts[] = {
        "x / 2 == 1",
        "x ^ 2 == 4",
        "x == 1.0",
        "x == 9223372036854775808",
        "x",
        "x and 1",
        "p < q",
        "z == 1",
        "x.y == 1",
        "#w == 1",
        "x == 1e3",
        "p == 1 == q and nil",
        "x:len()",
        "({})[1] == x",
        "w .. 'a' == 'ba'",
        "max(x, 1.5) == 2",
        "f(x) == 1",
        "sizeof(x) == 1",
        "math.log2(x) == 1",
        "x == 0x10000000000000000",
        "'a' < 'b'",
        "'a' + 1 == 2",
        "('a' and x or y) == 1",
        "(p and x) == 1",
        "~x == 1",
        "w == 'a\\n'",
    };
    vector_step steps[VECTOR_MOST_STEPS];
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (compile(texts[i], steps) != 0)
            fail_msg("%s", texts[i]);
}

TEST(texts_are_equal_or_not)
{
    vector_step steps[VECTOR_MOST_STEPS];
    bool holds[1];
    const int64_t inputs[INPUTS] = {[X] = 1};
    size_t count = compile("'a' == 'a' and 'a' ~= \"b\" and x == 1", steps);
    assert_int_not_equal(count, 0);
    assert_true(vector_evaluate(steps, count, inputs, SIZE_MAX, NULL, 1, holds));
    assert_true(holds[0]);
}

/* Expressions that fail in Lua are not compiled. All others are evaluated. */
TEST(functions_are_those_of_lua)
{
    static const char *const hold[] = {
        "ceil_div(x, 4) == 3 and round_up(x, 8) == 16 and log2(x) == 3",
        "is_pow2(x - 4) and not is_pow2(x) and math.max(x, y, 3) == 12",
        "sizeof('half') == 2 and is_float('float') and not is_float('int8')",
        "cluster_load(66, 67, 2, 1) == 3 and floor(x) == 12 and abs(y) == 5",
        "(p and x or q and y or 3) == -5 and 0x10 == 16",
        "not (x == 'a') and x ~= p and x << 2 == 48 and x >> -2 == 48",
    };
    static const char *const fail[] = {"ceil_div(x, 0) == 1",    "round_up(y, 2) == 1",
                                       "log2(x - 12) == 1",      "sizeof('short') == 1",
                                       "is_float('none') or q",  "cluster_load(x, 1, 1, 0) == 1",
                                       "x // (x - 12) == 1 or q"};
    const int64_t inputs[INPUTS] = {12, -5, 0, 1, 0};
    vector_step steps[VECTOR_MOST_STEPS];
    bool holds;
    for (size_t i = 0; i < sizeof hold / sizeof *hold; i++) {
        size_t count = compile(hold[i], steps);
        if (!count || !vector_evaluate(steps, count, inputs, SIZE_MAX, NULL, 1, &holds) || !holds)
            fail_msg("%s", hold[i]);
    }
    for (size_t i = 0; i < sizeof fail / sizeof *fail; i++) {
        size_t count = compile(fail[i], steps);
        if (!count || vector_evaluate(steps, count, inputs, SIZE_MAX, NULL, 1, &holds))
            fail_msg("%s", fail[i]);
    }
}

TEST(a_zero_divisor_is_left_to_lua)
{
    vector_step steps[VECTOR_MOST_STEPS];
    size_t count = compile("x == 0 or y % x == 0", steps);
    assert_int_not_equal(count, 0);
    bool holds[2];
    int64_t inputs[INPUTS] = {[Y] = 6};
    assert_true(vector_evaluate(steps, count, inputs, X, (int64_t[]){3, 4}, 2, holds));
    assert_true(holds[0]);
    assert_false(holds[1]);
    assert_false(vector_evaluate(steps, count, inputs, X, (int64_t[]){3, 0}, 2, holds));
}

TEST(a_repeated_part_is_one_step)
{
    vector_step steps[VECTOR_MOST_STEPS];
    assert_int_equal(compile("x * y + 1 == 1", steps), 6);
    assert_int_equal(compile("(x * y + 1) // (x * y + 1) == 1", steps), 7);
    assert_int_equal(compile("x * y + 1 == 1 and not (x * y + 1 == 1)", steps), 8);
}

TEST(expressions_with_too_many_steps_or_registers_are_left_to_lua)
{
    vector_step steps[VECTOR_MOST_STEPS];
    char text[MOST_TEXT] = "x == 1", more[32];
    for (int i = 0; i < 100; i++) {
        snprintf(more, sizeof more, " and y == %d", i);
        append(text, more);
    }
    assert_int_equal(compile(text, steps), 0);

    strcpy(text, "x == 1");
    for (int i = 0; i < 20; i++) {
        snprintf(more, sizeof more, " + (x * %d", i); /* each bracket needs a register more */
        append(text, more);
    }
    for (int i = 0; i < 20; i++)
        append(text, ")");
    assert_int_equal(compile(text, steps), 0);
}
