#define _GNU_SOURCE /* for strndup */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "cpp/signature.h"
#include "cpp/token.h"
#include "cpp/unit.h"

/* Returns the parts of a file that `root` needs. Each run of white space becomes one blank. */
static char *cut(const char *text, const char *root, const char *given)
{
    cpp_unit u;
    at_error error = {0};
    assert_ok(cpp_unit_read(text, NULL, 0, &u, &error), error);
    const cpp_span roots[] = {{root, strlen(root)}}, names[] = {{given, strlen(given)}};
    assert_ok(cpp_need(&u, 1, roots, 1, false, &error), error);
    char *left = cpp_render(&u, names, 1);
    assert_non_null(left);
    size_t lines = 0, kept = 0;
    for (const char *c = text; *c; c++)
        lines += *c == '\n';
    for (const char *c = left; *c; c++)
        kept += *c == '\n';
    assert_int_equal(kept, lines);
    char *to = left;
    for (const char *c = left; *c; c++)
        if (!strchr(" \n\t\v", *c))
            *to++ = *c;
        else if (to > left && to[-1] != ' ')
            *to++ = ' ';
    while (to > left && to[-1] == ' ')
        to--;
    *to = '\0';
    cpp_unit_deinit(&u);
    return left;
}

static void leaves(const char *text, const char *expected)
{
    char *left = cut(text, "k", "GIVEN");
    assert_string_equal(left, expected);
    free(left);
}

TEST(code_of_the_host_is_cut)
{
    leaves(
        "#include <vector>\nstd::vector<float> data;\n__global__ void k(float *x) { x[0] = 1; }\n"
        "int main(int n, char **v) {\n  k<<<1, 1>>>(0);\n}\n",
        "#include <vector> __global__ void k(float *x) { x[0] = 1; }");
    leaves("static void check(int e) { if (e) { exit(1); } }\n"
           "template <class T> T *allocate(size_t n) { return new T[n]; }\n"
           "__global__ void k() {}\nclass Timer { public: Timer(); private: double t; };",
           "__global__ void k() {}");
}

TEST(brackets_without_a_name_before_them_are_no_function)
{
    leaves("__global__ void k() {}\n>(n);", "__global__ void k() {}");
}

TEST(declarations_that_a_kernel_needs_are_kept)
{
    leaves("struct Unused { int a; };\nenum Mode { FAST, SLOW };\ntypedef struct { float x, y; } "
           "point;\n"
           "static const int width = FAST;\nfloat host_table[4];\n__constant__ float table[4];\n"
           "__device__ float get(point p) { return p.x * width; }\n"
           "__global__ void k(float *x, const point *p) { x[0] = get(p[0]) + table[0]; }",
           "enum Mode { FAST, SLOW }; typedef struct { float x, y; } point; static const int width "
           "= FAST; "
           "__constant__ float table[4]; __device__ float get(point p) { return p.x * width; } "
           "__global__ void k(float *x, const point *p) { x[0] = get(p[0]) + table[0]; }");
    leaves("typedef float (*op)(float);\n__global__ void k(op f) {}",
           "typedef float (*op)(float); __global__ void k(op f) {}");
}

TEST(macros_with_annotations_or_declarations_are_expanded)
{
    leaves("#define DEV static __device__ __forceinline__\n#define TWICE(x) twice(x)\n"
           "DEV int twice(int a) { return 2 * a; }\n__global__ void k(int *x) { x[0] = TWICE(3); }",
           "#define DEV static __device__ __forceinline__ #define TWICE(x) twice(x) "
           "DEV int twice(int a) { return 2 * a; } __global__ void k(int *x) { x[0] = TWICE(3); }");
    leaves("#define MAKE(T) __global__ void k##T(T *x) {}\nMAKE(int)\nint other() { return 1; "
           "}\n__global__ void k() {}",
           "#define MAKE(T) __global__ void k##T(T *x) {} MAKE(int) __global__ void k() {}");
}

TEST(each_definition_of_a_macro_may_contain_the_annotation)
{
    leaves(
        "#ifdef HOST\n#define DEV\n#define TABLE(n) const int n[] = {\n#else\n#define DEV "
        "__device__\n"
        "#define TABLE(n) __device__ const int n[] = {\n#endif\n#define END() };\n"
        "TABLE(primes)\n2, 3, 5\nEND()\nDEV int one() { return 1; }\n"
        "__global__ void k(int *x) { x[0] = primes[one()]; }",
        "#ifdef HOST #define DEV #define TABLE(n) const int n[] = { #else #define DEV __device__ "
        "#define TABLE(n) __device__ const int n[] = { #endif #define END() }; TABLE(primes) 2, 3, "
        "5 END() "
        "DEV int one() { return 1; } __global__ void k(int *x) { x[0] = primes[one()]; }");
}

TEST(a_type_may_have_a_macro_with_brackets_before_its_name)
{
    leaves(
        "#define ALIGNED(n) alignas(n)\ntemplate <class T> struct ALIGNED(16) quad : base<T> {};\n"
        "struct ALIGNED(8) other {};\n__global__ void k(quad<float> q) {}",
        "#define ALIGNED(n) alignas(n) template <class T> struct ALIGNED(16) quad : base<T> {}; "
        "__global__ void k(quad<float> q) {}");
}

TEST(prototypes_among_which_decltype_chooses_need_no_annotation)
{
    leaves("template <class T> auto has_size(T *) -> yes<sizeof(T)>;\nauto has_size(...) -> no;\n"
           "void host(float *);\ntemplate <class T> std::vector<T> read(T *);\n"
           "__global__ void k() { decltype(has_size((int *)0)) x; host(0); read(&x); }",
           "template <class T> auto has_size(T *) -> yes<sizeof(T)>; auto has_size(...) -> no; "
           "__global__ void k() { decltype(has_size((int *)0)) x; host(0); read(&x); }");
}

TEST(expansion_of_recursive_macros_ends)
{
    char text[1024] = "#define A";
    for (int i = 0; i < 100; i++)
        strcat(text, " A B");
    strcat(text, "\n#define B A A A A A A\nA int host() { return 1; }\n__global__ void k() {}");
    char *left = cut(text, "k", "A"); /* without a limit, expanding B would visit 200^6 words */
    assert_string_equal(left, "#define B A A A A A A __global__ void k() {}");
    free(left);
}

TEST(what_is_declared_before_its_first_use_is_kept_whatever_the_order)
{
    leaves("__device__ int a() { return ONE; }\n__device__ int b() { return a(); }\n"
           "__device__ int c() { return b(); }\nenum { ZERO, ONE };\n__device__ int z();\n"
           "__global__ void k(int *x) { x[0] = c(); }",
           "__device__ int a() { return ONE; } __device__ int b() { return a(); } "
           "__device__ int c() { return b(); } enum { ZERO, ONE }; "
           "__global__ void k(int *x) { x[0] = c(); }");
}

TEST(members_that_only_the_host_can_call_are_cut)
{
    leaves("struct Tile {\n  int n;\n  Tile(int a) : n(a) { puts(\"\"); }\n  __device__ int get() "
           "const { return n; }\n"
           "  std::string name();\n};\n__global__ void k(Tile t) {}",
           "struct Tile { int n; __device__ int get() const { return n; } }; __global__ void "
           "k(Tile t) {}");
}

TEST(conditions_stay_whole)
{
    leaves("int main() {\n#ifdef A\n  if (x) {\n#else\n  {\n#endif\n  }\n}\n__global__ void k() {}",
           "#ifdef A #else #endif __global__ void k() {}");
    leaves(
        "#if A\n__global__ void k(int a)\n#else\n__global__ void k()\n#endif\n{ }\nvoid host() {}",
        "#if A __global__ void k(int a) #else __global__ void k() #endif { }");
}

TEST(names_that_the_caller_defines_are_not_defined_again)
{
    leaves("#ifndef GIVEN\n#define GIVEN 16\n#endif\n#define OTHER \\\n  GIVEN\n__global__ void "
           "k() {}",
           "#ifndef GIVEN #endif #define OTHER \\ GIVEN __global__ void k() {}");
    leaves("constexpr int GIVEN = 16;\n__global__ void k(int *x) { x[0] = GIVEN; }",
           "__global__ void k(int *x) { x[0] = GIVEN; }");
}

TEST(scope_and_parameters_of_kernels_are_read)
{
    const char *text =
        "namespace a { namespace b {\ntemplate <int N, class T = float>\n__global__ void "
        "__launch_bounds__(N) scale(const T *__restrict__ in, T out[], int n = 3,\n unsigned long,"
        " std::array<T, 4> v /* last */) { }\n} }";
    cpp_unit u;
    at_error error = {0};
    cpp_parameter p[8];
    assert_ok(cpp_unit_read(text, NULL, 0, &u, &error), error);
    assert_int_equal(u.declaration_count, 1);
    const cpp_declaration *d = &u.declarations[0];
    assert_true(cpp_is_kernel(&u, 1, d));
    assert_true(cpp_span_is(d->name, "scale"));
    assert_string_equal(d->scope, "a::b::");
    assert_int_equal(d->line, 2);
    assert_true(cpp_span_is(d->template_of, "int N, class T = float"));
    assert_int_equal(cpp_parameters(d->parameters, p, 8), 5);
    static const char *const names[] = {"in", "out", "n", "", "v"};
    for (size_t i = 0; i < 5; i++)
        assert_true(cpp_span_is(p[i].name, names[i]));
    assert_true(cpp_span_is(p[0].text, "const T *__restrict__ in"));
    cpp_unit_deinit(&u);
}

TEST(a_comment_becomes_lua_on_its_own_lines)
{
    const char *text = "int a; // no autotune\n/* autotune\nspace = { A = 1 }\n*/\nint b;";
    cpp_span comment;
    int line;
    assert_true(cpp_comment_find(text, &comment, &line));
    assert_int_equal(line, 2);
    char *body = cpp_comment_body(text, comment);
    assert_non_null(strstr(body, "\nspace = { A = 1 }\n"));
    assert_int_equal(strspn(body, " \n"), strstr(body, "space") - body);
    free(body);
    text = "//autotune\n//  space = { A = 1 }\n// where = 'A'\n\n// other";
    assert_true(cpp_comment_find(text, &comment, &line));
    body = cpp_comment_body(text, comment);
    assert_non_null(strstr(body, "\n    space = { A = 1 }\n   where = 'A'"));
    assert_null(strstr(body, "other"));
    free(body);
    assert_false(cpp_comment_find("/* autotuned */ \"/* autotune */\"", &comment, &line));
}

TEST(a_signature_is_read_from_the_compilers_name)
{
    cpp_argument a[CPP_MAX_PARAMETERS];
    size_t count;
    assert_true(cpp_signature_read(
        ".global .align 4 .b8 autotune_signature[44] = {3, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, "
        "0, 1, 0, 0, 0, 0, 0, 0, 0, 10, 0, 0, 0, 255, 255, 255, 255, 4, 0, 0, 0, 1, 0, 0, "
        "0, 16, 0, 0, 0, 0, 1};",
        "autotune_signature", a, &count));
    assert_int_equal(count, 2);
    assert_true(a[0].is_pointer && a[0].is_const && a[0].type == 10 && a[0].lanes == 4 &&
                a[0].bytes == 16);
    assert_true(!a[1].is_pointer && a[1].type == -1 && a[1].bytes == 256);
    assert_true(cpp_signature_read(" autotune_signature[4] = {2, 4, 0, 0};", "autotune_signature",
                                   a, &count));
    assert_int_equal(count, CPP_MAX_PARAMETERS + 1);
    assert_false(
        cpp_signature_read(".global .b8 other[4] = {3};", "autotune_signature", a, &count));
    assert_false(cpp_signature_read(" autotune_signature[4] = {255, 255, 255, 255};",
                                    "autotune_signature", a, &count));
}

TEST(any_cut_of_a_file_is_read_without_harm)
{
    static const char text[] =
        "#define A(x) \\\n x\nnamespace n { struct S : B<int> { S() {} int a[3]; }; }\n"
        "template <int N> __global__ void k(S s) { A(\"}\") /* { */ }\nenum { E = 1 };";
    for (size_t from = 0; from < sizeof text - 1; from++)
        for (size_t to = from; to < sizeof text; to++) {
            char *part = strndup(text + from, to - from);
            free(cut(part, "k", "E"));
            free(part);
        }
}

TEST(variables_and_enumerators_are_found_and_plain_constants_have_values)
{
    static const char text[] = "enum { A = 1, B };\nenum C { D };\nstruct E { int F; };\n"
                               "const int H = 1, I = 2;\nstatic constexpr unsigned J{3};\n"
                               "void f() { int K = 4; }\n";
    cpp_unit u;
    at_error error = {0};
    assert_ok(cpp_unit_read(text, NULL, 0, &u, &error), error);
    static const char *const found[] = {"A", "B", "D", "H", "I"}, *const others[] = {"C", "E", "F",
                                                                                     "K", "f"};
    for (size_t i = 0; i < sizeof found / sizeof *found; i++)
        if (!cpp_find_variable(&u, found[i]))
            fail_msg("%s is not found", found[i]);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (cpp_find_variable(&u, others[i]))
            fail_msg("%s is found", others[i]);
    const cpp_macro *j = cpp_find_macro(&u, 1, (cpp_span){"J", 1});
    assert_non_null(j);
    assert_true(j->is_constant && cpp_span_is(j->value, "3"));
    assert_null(cpp_find_macro(&u, 1, (cpp_span){"I", 1}));
    cpp_unit_deinit(&u);
}
