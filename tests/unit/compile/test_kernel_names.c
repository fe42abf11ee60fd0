/* The names of kernels, in entries and in sources. */
#include <string.h>

#include "check.h"
#include "compile/kernel_names.h"

TEST(an_entry_names_its_kernel_after_namespaces_and_types_and_before_arguments)
{
    static const char *const entries[][2] = {
        {"scale", "scale"},
        {"ns::scale<64, float>", "scale"},
        {"&a::b::scale<c::d<3>, (4 + 1)>", "scale"},
        {"(void(*)(float *, int))scale", "scale"},
        {"(void(*)(T<2>))ns::scale<2>\nother", "scale"},
        {"", ""},
        {"<>", ""},
    };
    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++) {
        char name[KERNEL_NAME_BYTES];
        kernel_own_name(entries[i][0], name);
        assert_string_equal(name, entries[i][1]);
    }
}

TEST(kernels_are_found_with_namespaces_and_places)
{
    static const char source[] =
        "// __global__ void not_this(int);\n"
        "#define MAKE(name) __global__ void name(int)\n"
        "const char *text = \"__global__ void nor_this(int)\";\n"
        "namespace a::b { inline namespace v1 {\n"
        "template <typename T, int N = (3 > 2)>\n"
        "__global__ void __launch_bounds__(256, 2)\n"
        "first(const T *x, int (*f)(int)) { if (x) { } }\n"
        "} struct s { int x; }; }\n"
        "#line 70 \"other.cuh\"\n"
        "namespace { extern \"C\" __global__ __attribute__((used)) void second(int n) { } }\n"
        "__global__ static void third();\n";
    declared_kernel k[8];
    assert_int_equal(kernel_names_find(source, "own.cu", k, 8), 3);
    assert_string_equal(k[0].name, "a::b::v1::first");
    assert_string_equal(k[0].parameters, "(const T *x, int (*f)(int))");
    assert_string_equal(k[0].file, "own.cu");
    assert_int_equal(k[0].line, 7);
    assert_true(k[0].is_template);
    assert_string_equal(k[1].name, "second");
    assert_string_equal(k[1].file, "other.cuh");
    assert_int_equal(k[1].line, 70);
    assert_false(k[1].is_template);
    assert_string_equal(k[2].name, "third");
    assert_int_equal(kernel_names_find(source, "own.cu", k, 2), 2);
}

TEST(any_text_is_read_without_harm)
{
    static const char *const texts[] = {"__global__", "__global__ f(", "namespace", "namespace a {",
                                        "#", "#line 3 \"", "/*", "\"\\", "'", "}}}", "template"};
    declared_kernel k[4];
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        char text[64], name[KERNEL_NAME_BYTES];
        size_t count = kernel_names_find(texts[i], "own.cu", k, 4);
        assert_int_equal(count, strchr(texts[i], '(') ? 1 : 0);
        strcpy(text, texts[i]);
        kernel_own_name(text, name);
    }
}
