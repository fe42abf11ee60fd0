#include <stdio.h>
#include <stdlib.h>

#include "check.h"
#include "reader_fixture.h"
#include "script/expression/term.h"

/* Returns the expression in C, as statements that set `target` if `target` is not NULL. Returns
 * NULL if the expression cannot be written in C. */
static char *in_c(const char *text, const char *target)
{
    tree *t = tree_new();
    assert_non_null(t);
    const node *root = reader_read(t, text, &reader_inputs);
    char *c = NULL;
    term_type type;
    at_error error = {0};
    assert_non_null(root);
    assert_ok(c_text_write(t, root, reader_leaf, NULL, (c_text_form){target, 0}, &type, &c, &error),
              error);
    tree_free(t);
    return c;
}

static void expect(const char *text, const char *wanted)
{
    char *c = in_c(text, "v");
    assert_non_null(c);
    assert_string_equal(c, wanted);
    free(c);
}

TEST(a_repeated_call_becomes_a_constant)
{
    expect("min(x + y, (x + y) * 3)",
           "const int64_t common_0 = autotune_add(x, y);\n"
           "v = autotune_min(common_0, autotune_multiply(common_0, INT64_C(3)));\n");
}

TEST(an_expression_without_repetition_has_no_constants)
{
    expect("x + y // 2", "v = autotune_add(x, autotune_divide(y, INT64_C(2), failed));\n");
    expect("x", "v = x;\n");
}

TEST(calls_inside_a_repeated_call_get_no_constants)
{
    expect("max(x // y + 1, x // y + 1)",
           "const int64_t common_1 = autotune_add(autotune_divide(x, y, failed), INT64_C(1));\n"
           "v = autotune_max(common_1, common_1);\n");
}

TEST(a_constant_comes_before_constants_that_use_it)
{
    expect("max(log2(x) + y, min(log2(x) + y, log2(x)))",
           "const int64_t common_0 = autotune_log2(x, failed);\n"
           "const int64_t common_1 = autotune_add(common_0, y);\n"
           "v = autotune_max(common_1, autotune_min(common_1, common_0));\n");
}

TEST(calls_that_may_not_be_evaluated_get_no_constants)
{
    expect("(p and y // x or 0) + (p and y // x or 1)",
           "v = autotune_add((p ? autotune_divide(y, x, failed) : INT64_C(0)), (p ? "
           "autotune_divide(y, x, failed) : INT64_C(1)));\n");
    expect("p and y // x == y // x",
           "v = (p && (autotune_divide(y, x, failed) == autotune_divide(y, x, failed)));\n");
    expect("not p or y // x < y // x",
           "v = (!(p) || (autotune_divide(y, x, failed) < autotune_divide(y, x, failed)));\n");
}

TEST(operands_of_bit_operations_are_no_conditions)
{
    expect("(x + y) & (x + y)",
           "const int64_t common_0 = autotune_add(x, y);\nv = (common_0 & common_0);\n");
}

TEST(each_side_of_a_choice_has_constants_of_its_own)
{
    expect("x == y and min(x + y, x + y) or p and 1 or x + y",
           "if (x == y) {\n"
           "    const int64_t common_0 = autotune_add(x, y);\n"
           "    v = autotune_min(common_0, common_0);\n"
           "} else {\n"
           "    if (p) {\n"
           "        v = INT64_C(1);\n"
           "    } else {\n"
           "        v = autotune_add(x, y);\n"
           "    }\n"
           "}\n");
}

TEST(calls_with_fractional_results_get_no_constants)
{
    expect("max(x / y, 0.5) + max(x / y, 0.5)",
           "v = (autotune_max_number(((double)x / (double)y), (double)0.5) + "
           "autotune_max_number(((double)x / (double)y), (double)0.5));\n");
    expect("is_pow2(x) == is_pow2(x)", "v = ((autotune_is_pow2(x)) == (autotune_is_pow2(x)));\n");
}

TEST(texts_are_escaped)
{
    expect("w == '(?\"autotune_add('",
           "v = autotune_same_text(w, \"(\\077\\042autotune_add(\");\n");
    expect("string.find(w, 'x')", "v = autotune_contains(w, \"x\");\n");
}

/* Each expression contains the previous expression twice. */
TEST(an_expression_too_long_for_c_is_refused)
{
    char text[8192] = "x", longer[2 * sizeof text];
    for (int i = 0; i < 9; i++) {
        snprintf(longer, sizeof longer, "(%s / 3 + %s)", text, text);
        strcpy(text, longer);
    }
    char *c = in_c(text, "v");
    assert_non_null(c);
    free(c);
    tree *t = tree_new();
    assert_non_null(t);
    const node *root = reader_read(t, "x / 3", &reader_inputs);
    for (int i = 0; i < 60; i++)
        root = tree_add(t, &(node){.op = NODE_ADD, .count = 2, .of = {root, root}});
    term_type type;
    at_error error = {0};
    assert_ok(c_text_write(t, root, reader_leaf, NULL, (c_text_form){"v", 0}, &type, &c, &error),
              error);
    assert_null(c);
    tree_free(t);
}

TEST(an_expression_without_a_term_has_no_c)
{
    static const char *const texts[] = {"x ^ 2",
                                        "#w",
                                        "w .. w",
                                        "x and 1",
                                        "nil",
                                        "{ x }",
                                        "w + 1",
                                        "w:len()",
                                        "f(x)",
                                        "x % 0.5",
                                        "p + 1",
                                        "w == 'a\\n'",
                                        "string.find(w, '[a]')",
                                        "x // 0 == 'a'"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (in_c(texts[i], NULL))
            fail_msg("%s", texts[i]);
}
