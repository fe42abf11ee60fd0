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

TEST(launch_arguments_are_traced_through_variables_macros_and_functions)
{
    file f = read_host();
    assert_true(cpp_launch_reads(&f.unit, 1, &f.launches[0], "BLOCK"));
    assert_true(cpp_launch_reads(&f.unit, 1, &f.launches[0], "div_up"));
    assert_false(cpp_launch_reads(&f.unit, 1, &f.launches[0], "lanes"));
    assert_true(cpp_launch_reads(&f.unit, 1, &f.launches[1], "lanes"));
    assert_false(cpp_launch_reads(&f.unit, 1, &f.launches[1], "BLOCK"));
    cpp_unit_deinit(&f.unit);
}
