#include <string.h>

#include "check.h"
#include "cpp/name.h"

static cpp_span span(const char *text)
{
    return (cpp_span){text, strlen(text)};
}

TEST(a_variable_is_told_from_a_word_that_is_only_used)
{
    const cpp_span text = span("int N = 4; void f(float x[M]) { return K; auto v = L + 1; }");
    assert_true(cpp_is_declared(text, "N"));
    assert_true(cpp_is_declared(text, "x"));
    assert_false(cpp_is_declared(text, "M"));
    assert_false(cpp_is_declared(text, "K"));
    assert_false(cpp_is_declared(text, "L"));
}

TEST(a_type_stands_before_a_name_or_after_const)
{
    const cpp_span text = span("void f(const real *x, value n) { int i = SIZE; }");
    assert_true(cpp_is_type_like(text, "real"));
    assert_true(cpp_is_type_like(text, "value"));
    assert_false(cpp_is_type_like(text, "SIZE"));
}

TEST(an_array_has_indices_if_its_elements_say_where_others_are)
{
    const cpp_span text =
        span("y[at[i]] = *(x + deltas[i]); int row = rows[i]; p = x + row * w; int n = sizes[i];"
             "for (int k = 0; k < n; k++) s += values[k];"
             "for (int j = starts[i] + t; j < n; j++) s += values[j];");
    assert_true(cpp_is_index_array(text, "at"));
    assert_true(cpp_is_index_array(text, "rows"));
    assert_true(cpp_is_index_array(text, "starts"));
    assert_true(cpp_is_index_array(text, "deltas"));
    assert_false(cpp_is_index_array(text, "sizes"));
    assert_false(cpp_is_index_array(text, "values"));
    assert_false(cpp_is_index_array(text, "y"));
}

TEST(variables_of_an_unrolled_kernel_are_followed_once_each)
{
    char text[8192] = ""; /* each line would be followed from each other one otherwise */
    for (int i = 0; i < 100; i++)
        strcat(text, "a = b * v[i] * w[i]; b = c * a; c = a * b; ");
    assert_false(cpp_is_index_array(span(text), "v"));
    strcat(text, "y[c] = 1;");
    assert_true(cpp_is_index_array(span(text), "w"));
}
