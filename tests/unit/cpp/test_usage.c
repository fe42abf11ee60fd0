#include <stdio.h>
#include <string.h>

#include "check.h"
#include "cpp/usage.h"

static const char host[] = "#define BLOCK 256\n"
                           "#define SHARED (4 * BLOCK)\n"
                           "static int div_up(int a, int b) { return (a + b - 1) / b; }\n"
                           "template <int N> __global__ void k(float *x, int n) {}\n"
                           "const int lanes = 32;\n"
                           "void run(float *x, int m) {\n"
                           "  int threads = BLOCK;\n"
                           "  dim3 grid(div_up(m, threads), 2), block;\n"
                           "  block.x = 8; block.y = lanes;\n"
                           "  k<64><<<grid, threads, SHARED>>>(x + 1, m);\n"
                           "  k<1><<<dim3(4, 4), block>>>(x, f(m, 2));\n"
                           "  if (a < b && k < c) return;\n"
                           "}\n";

typedef struct file {
    cpp_unit unit;
    cpp_launch launches[4];
    size_t count;
} file;

static file read_host(void)
{
    file f;
    at_error error = {0};
    assert_ok(cpp_unit_read(host, NULL, 0, &f.unit, &error), error);
    f.count = cpp_find_launches(&f.unit, 1, (cpp_span){"k", 1}, f.launches, 4);
    return f;
}

static void is_text(cpp_span found, const char *expected)
{
    char text[256];
    snprintf(text, sizeof text, "%.*s", (int)found.length, found.text);
    assert_string_equal(text + strspn(text, " "), expected);
}

TEST(launches_are_found_with_their_parts)
{
    file f = read_host();
    assert_int_equal(f.count, 2);
    assert_int_equal(f.launches[0].line, 10);
    assert_int_equal(f.launches[0].part_count, 3);
    is_text(f.launches[0].parts[1], "threads");
    is_text(f.launches[0].arguments, "x + 1, m");
    is_text(f.launches[1].parts[0], "dim3(4, 4)");
    is_text(f.launches[1].arguments, "x, f(m, 2)");
    cpp_unit_deinit(&f.unit);
}

TEST(what_a_launch_comes_from_is_followed_through_variables_macros_and_functions)
{
    file f = read_host();
    assert_true(cpp_launch_reads(&f.unit, 1, &f.launches[0], "BLOCK"));
    assert_true(cpp_launch_reads(&f.unit, 1, &f.launches[0], "div_up"));
    assert_false(cpp_launch_reads(&f.unit, 1, &f.launches[0], "lanes"));
    assert_true(cpp_launch_reads(&f.unit, 1, &f.launches[1], "lanes"));
    assert_false(cpp_launch_reads(&f.unit, 1, &f.launches[1], "BLOCK"));
    cpp_unit_deinit(&f.unit);
}

TEST(names_that_shape_a_kernel_are_told_from_those_of_what_it_computes)
{
    static const char text[] =
        "__shared__ float tile[TILE][TILE + PAD];\n"
        "int i = blockIdx.x * BLOCK * (VEC + 0) + threadIdx.x, j = ROWS * blockIdx.y;\n"
        "#pragma unroll UNROLL\n"
        "for (int k = 0; k < N; k += STEP) sum += ALPHA * x[k * N + i];\n";
    static const char *const expected[] = {"TILE", "TILE",   "PAD", "BLOCK", "VEC",
                                           "ROWS", "UNROLL", "k",   "STEP"};
    cpp_span words[16];
    size_t n = cpp_shaping_words((cpp_span){text, strlen(text)}, words, 16), at = 0;
    for (size_t i = 0; i < n; i++)
        for (size_t e = at; e < sizeof expected / sizeof *expected; e++)
            if (cpp_span_is(words[i], expected[e])) {
                at = e + 1;
                break;
            }
    assert_int_equal(at, sizeof expected / sizeof *expected);
    for (size_t i = 0; i < n; i++)
        assert_false(cpp_span_is(words[i], "N") || cpp_span_is(words[i], "ALPHA"));
}

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
    char text[8192] = ""; /* without a limit, the work would grow with the square of the lines */
    for (int i = 0; i < 100; i++)
        strcat(text, "a = b * v[i] * w[i]; b = c * a; c = a * b; ");
    assert_false(cpp_is_index_array(span(text), "v"));
    strcat(text, "y[c] = 1;");
    assert_true(cpp_is_index_array(span(text), "w"));
}
