#define _GNU_SOURCE /* open_memstream */
#include <stdio.h>
#include <stdlib.h>

#include "check.h"
#include "export/common_subexpression.h"

static void expect(const char *c, const char *wanted)
{
    char *text;
    size_t size_bytes;
    FILE *to = open_memstream(&text, &size_bytes);
    assert_non_null(to);
    export_print_assignment("x", c, 0, to);
    fclose(to);
    assert_string_equal(text, wanted);
    free(text);
}

static void a_call_that_stands_there_twice_is_made_once(void **state)
{
    (void)state;
    expect("autotune_min(autotune_add(a, b), autotune_multiply(autotune_add(a, b), c))",
           "const int64_t common_0 = autotune_add(a, b);\n"
           "x = autotune_min(common_0, autotune_multiply(common_0, c));\n");
}

static void what_has_nothing_twice_stays_as_it_is(void **state)
{
    (void)state;
    expect("autotune_add(a, autotune_divide(b, c, failed))",
           "x = autotune_add(a, autotune_divide(b, c, failed));\n");
    expect("a", "x = a;\n");
    expect("", "x = ;\n");
}

static void calls_in_a_call_that_stands_there_twice_are_not_constants_of_their_own(void **state)
{
    (void)state;
    expect("autotune_max(autotune_add(autotune_divide(a, b, failed), 1), "
           "autotune_add(autotune_divide(a, b, failed), 1))",
           "const int64_t common_1 = autotune_add(autotune_divide(a, b, failed), 1);\n"
           "x = autotune_max(common_1, common_1);\n");
}

static void a_constant_comes_before_those_that_it_is_part_of(void **state)
{
    (void)state;
    expect("autotune_max(autotune_add(autotune_log2(a, failed), 1), "
           "autotune_min(autotune_add(autotune_log2(a, failed), 1), autotune_log2(a, failed)))",
           "const int64_t common_0 = autotune_log2(a, failed);\n"
           "const int64_t common_1 = autotune_add(common_0, 1);\n"
           "x = autotune_max(common_1, autotune_min(common_1, common_0));\n");
}

static void what_may_not_be_evaluated_is_not_evaluated_before(void **state)
{
    (void)state;
    static const char *const kept[] = {
        "autotune_add((a ? autotune_divide(b, a, failed) : 0), (a ? autotune_divide(b, a, failed) "
        ": 1))",
        "(a && autotune_divide(b, a, failed) == autotune_divide(b, a, failed))",
        "(!a || (autotune_divide(b, a, failed) < autotune_divide(b, a, failed)))",
    };
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++) {
        char wanted[256];
        snprintf(wanted, sizeof wanted, "x = %s;\n", kept[i]);
        expect(kept[i], wanted);
    }
}

static void bits_are_no_conditions(void **state)
{
    (void)state;
    expect("(autotune_add(a, b) & autotune_add(a, b))",
           "const int64_t common_0 = autotune_add(a, b);\nx = (common_0 & common_0);\n");
}

static void each_side_of_a_choice_has_constants_of_its_own(void **state)
{
    (void)state;
    expect("((a == b) ? autotune_min(autotune_add(a, 1), autotune_add(a, 1)) : (c ? 1 : "
           "autotune_add(a, 1)))",
           "if (a == b) {\n"
           "    const int64_t common_0 = autotune_add(a, 1);\n"
           "    x = autotune_min(common_0, common_0);\n"
           "} else {\n"
           "    if (c) {\n"
           "        x = 1;\n"
           "    } else {\n"
           "        x = autotune_add(a, 1);\n"
           "    }\n"
           "}\n");
}

static void calls_that_give_no_whole_number_are_no_constants(void **state)
{
    (void)state;
    expect("(autotune_max_number(a, b) + autotune_max_number(a, b))",
           "x = (autotune_max_number(a, b) + autotune_max_number(a, b));\n");
    expect("(autotune_is_pow2(a) == autotune_is_pow2(a))",
           "x = (autotune_is_pow2(a) == autotune_is_pow2(a));\n");
}

static void brackets_and_questions_in_a_string_are_its_own(void **state)
{
    (void)state;
    expect("autotune_add(autotune_sizeof(\"(?\\\"autotune_add(\", failed), "
           "autotune_sizeof(\"(?\\\"autotune_add(\", failed))",
           "x = autotune_add(autotune_sizeof(\"(?\\\"autotune_add(\", failed), "
           "autotune_sizeof(\"(?\\\"autotune_add(\", failed));\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_call_that_stands_there_twice_is_made_once),
        cmocka_unit_test(what_has_nothing_twice_stays_as_it_is),
        cmocka_unit_test(calls_in_a_call_that_stands_there_twice_are_not_constants_of_their_own),
        cmocka_unit_test(a_constant_comes_before_those_that_it_is_part_of),
        cmocka_unit_test(what_may_not_be_evaluated_is_not_evaluated_before),
        cmocka_unit_test(bits_are_no_conditions),
        cmocka_unit_test(each_side_of_a_choice_has_constants_of_its_own),
        cmocka_unit_test(calls_that_give_no_whole_number_are_no_constants),
        cmocka_unit_test(brackets_and_questions_in_a_string_are_its_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
