/* Tests the names of kernels in entries and in sources. */
#include <stdlib.h>
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
        kernel_name_of_entry(entries[i][0], name);
        assert_string_equal(name, entries[i][1]);
    }
}

static void expect(const char *source, const char *entry, const char *told)
{
    const source_header header = {.name = "sub/h.cuh", .text = "\n__global__ void in_header();"};
    const compile_request r = {
        .source = source, .name = "own.cu", .headers = &header, .header_count = 1};
    char *text = kernel_names_complain(&r, entry, "");
    assert_string_equal(text, told);
    free(text);
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
    expect(source, "firs",
           "own.cu(7): error: there is no kernel 'firs'; did you mean "
           "'a::b::v1::first<...>', which is here?; other kernels here are second, "
           "third, in_header");
    expect(source, "secnd<3>",
           "other.cuh(70): error: there is no kernel 'secnd<3>'; did you mean "
           "'second', which is here?; other kernels here are "
           "a::b::v1::first<...>, third, in_header");
    expect(source, "in_heder",
           "sub/h.cuh(2): error: there is no kernel 'in_heder'; did you mean "
           "'in_header', which is here?; other kernels here are "
           "a::b::v1::first<...>, second, third");
}

TEST(any_text_is_read_without_harm)
{
    static const char *const texts[] = {
        "__global__ f(", "__global__", "namespace", "namespace a {", "#", "#line 3 \"", "/*",
        "\"\\",          "'",          "}}}",       "template"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        expect(texts[i], "zzzzzzzzzzz",
               i == 0
                   ? "own.cu(1): error: there is no kernel 'zzzzzzzzzzz'; the kernels here are f, "
                     "in_header"
                   : "sub/h.cuh(2): error: there is no kernel 'zzzzzzzzzzz'; the kernels here are "
                     "in_header");
}
