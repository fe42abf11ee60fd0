#include "check.h"
#include "reader_fixture.h"
#include "script/expression/tree.h"

static const node *read_text(tree *t, const char *text)
{
    return reader_read(t, text, &reader_inputs);
}

TEST(equal_expressions_are_one_node_however_they_are_spelt)
{
    static const char *const alike[][2] = {
        {"x + y * 2", "(x + ((y) * 2)) -- the same"},
        {"x - y - 1", "(x - y) - 1"},
        {"x ^ y ^ 2", "x ^ (y ^ 2)"},
        {"-x ^ 2", "-(x ^ 2)"},
        {"not p == q", "(not p) == q"},
        {"w .. 'a' .. \"b\"", "w .. ('a' .. 'b')"},
        {"x | y ~ 1 & 2 << 3 + 4", "x | (y ~ (1 & (2 << (3 + 4))))"},
        {"x < y and p or q", "((x < y) and p) or q"},
        {"p or q or x == 1", "p or (q or (x == 1))"},
        {"x == 0x10", "x == 16"},
        {"f 'a'", "f('a')"},
        {"f { 1, x = 2, [y] = 3 }", "f({ 1, x = 2, [y] = 3 })"},
        {"math.max(x, 1).g(2)", "((math.max(x, 1)).g)(2)"},
    };
    tree *t = tree_new();
    assert_non_null(t);
    for (size_t i = 0; i < sizeof alike / sizeof *alike; i++) {
        const node *first = read_text(t, alike[i][0]);
        if (!first || first != read_text(t, alike[i][1]))
            fail_msg("%s and %s", alike[i][0], alike[i][1]);
    }
    tree_free(t);
}

TEST(different_expressions_are_different_nodes)
{
    static const char *const different[] = {
        "x - y", "y - x",   "x",       "x + y",  "1",     "1.0",    "'1'", "f(x)", "f.x",
        "f[x]",  "f:x()",   "f { x }", "true",   "false", "nil",    "-x",  "~x",   "#x",
        "not x", "f(x, y)", "f(f(x))", "'\\97'", "[[1]]", "f(nil)", "f()"};
    enum { COUNT = sizeof different / sizeof *different };
    tree *t = tree_new();
    assert_non_null(t);
    const node *nodes[COUNT];
    for (size_t i = 0; i < COUNT; i++) {
        nodes[i] = read_text(t, different[i]);
        assert_non_null(nodes[i]);
        for (size_t k = 0; k < i; k++)
            if (nodes[i] == nodes[k])
                fail_msg("%s and %s", different[i], different[k]);
    }
    tree_free(t);
}

TEST(text_that_is_no_expression_is_refused)
{
    static const char *const texts[] = {"",      "x +",   "x y",      "(x",      "x)",  "p) or (q",
                                        "x, y",  "x = 1", "f(x,)",    "{ [x] }", "x.",  "x:y",
                                        "x and", "end",   "1 + then", "f(x y)",  "* x", "z"};
    tree *t = tree_new();
    assert_non_null(t);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (read_text(t, texts[i]))
            fail_msg("%s", texts[i]);
    assert_false(tree_lacks_memory(t));
    tree_free(t);
}

/* Brackets may nest as deeply as in Lua, but no deeper. Chains may have any length. */
TEST(brackets_nest_as_deeply_as_in_lua)
{
    enum { MANY = 50000 };
    static char text[5 * MANY + 2];
    tree *t = tree_new();
    assert_non_null(t);
    for (int brackets = 190; brackets <= 210; brackets += 20) {
        memset(text, '(', (size_t)brackets);
        text[brackets] = 'x';
        memset(text + brackets + 1, ')', (size_t)brackets);
        text[2 * brackets + 1] = '\0';
        assert_int_equal(read_text(t, text) != NULL, brackets < 200);
    }
    text[0] = 'p';
    for (size_t i = 0; i < MANY; i++)
        memcpy(text + 1 + 5 * i, i % 2 ? " or p" : "==  p", sizeof "==  p");
    assert_non_null(read_text(t, text));
    tree_free(t);
}
