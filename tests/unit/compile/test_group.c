#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "check.h"
#include "compile/compile.h"
#include "compile/cubin.h"
#include "compile/group.h"

/* Returns true if a source may be compiled in a group. */
static bool fits(const char *source)
{
    group_member m;
    bool ok = group_member_init(source, "k.tmpl", "k", &m);
    if (ok)
        group_member_deinit(&m);
    return ok;
}

TEST(sources_that_would_affect_others_are_compiled_alone)
{
    static const char *const alone[] = {
        "__constant__ float c[4]; extern \"C\" __global__ void k(float *p) { *p = c[0]; }",
        "__device__ int count; extern \"C\" __global__ void k(int *p) { *p = count++; }",
        "static __device__ float4 seen[2] = {}; extern \"C\" __global__ void k(int *p) {}",
        "#include \"mine.h\"\nextern \"C\" __global__ void k(int *p) {}",
        "#define N 3\n#include <cuda_fp16.h>\nextern \"C\" __global__ void k(int *p) {}",
        "#ifdef X\n#endif\nextern \"C\" __global__ void k(int *p) {}",
        "#undef __CUDA_ARCH__\nextern \"C\" __global__ void k(int *p) {}",
        "extern \"C\" __global__ void k(int *p) { *p = __LINE__; }",
        "extern \"C\" __global__ void k(int *p) { assert(*p); }",
        "namespace mine { int f(); }\nextern \"C\" __global__ void k(int *p) {}",
        "extern \"C\" {\n__global__ void k(int *p) {}\n}",
        "extern \"C\" __global__ void k(int *p) { if (*p) { }",
        "extern \"C\" __global__ void k(int *p) { } }",
        "const char *t = R\"(})\"; extern \"C\" __global__ void k(int *p) { }",
        "extern \"C\" __global__ void k(int *p) { /* }",
        "__device__ int x_at3_() { return 1; } extern \"C\" __global__ void k(int *p) { }",
        "#define PAIR(a, b) a \\\n b\nextern \"C\" __global__ void k(int *p) { }",
    };
    for (size_t i = 0; i < sizeof alone / sizeof alone[0]; i++)
        if (fits(alone[i]))
            fail_msg("goes into a group: %s", alone[i]);
}

TEST(sources_of_a_template_fit)
{
    static const char *const fitting[] = {
        "extern \"C\" __global__ void __launch_bounds__(64) k(int *p) { *p = 1; }",
        "#include <cuda_fp16.h>\n#line 7 \"k.tmpl\"\nextern \"C\" __global__ void k(__half *p) {}",
        "struct __align__(16) row { float4 v[2]; };\nconstexpr int N = 1 << 3;\n"
        "using vector = float4;\ntypedef unsigned word;\nenum class mode : int { a, b };\n"
        "template <typename T, int M = 2>\n__device__ __forceinline__ T twice(T x) { return x * M; "
        "}\n"
        "extern \"C\" __global__ void k(float *p) { *p = twice(*p); }",
        "#define N 3\nextern \"C\" __global__ void k(int *p) { *p = N; }\n#undef N",
        "extern \"C\" __global__ void k(int *p) { extern __shared__ uint4 shared[]; }",
        "using namespace cooperative_groups; extern \"C\" __global__ void k(int *p) { }",
    };
    for (size_t i = 0; i < sizeof fitting / sizeof fitting[0]; i++)
        if (!fits(fitting[i]))
            fail_msg("does not go into a group: %s", fitting[i]);
}

TEST(names_of_file_scope_are_found)
{
    group_member m;
    assert_true(group_member_init("struct pair { int a, b; };\nusing word = unsigned;\n"
                                  "constexpr float half_pi = atanf(1.0f) * 2;\n"
                                  "__device__ inline int add(pair p) { return p.a + p.b; }\n"
                                  "extern __shared__ float4 rows[];\n"
                                  "extern \"C\" __global__ void k(int *p) { int local = 1; }",
                                  "k.tmpl", "k", &m));
    assert_string_equal(m.declared, "pair\nword\nhalf_pi\nadd\nrows\n");
    assert_string_equal(m.renamed, "k\nrows\n");
    group_member_deinit(&m);
}

TEST(a_log_is_split_among_the_members)
{
    static const char log[] = "0|k.tmpl(3): warning #177-D: variable \"x\" was declared\n"
                              "      int x;\n"
                              "          ^\n"
                              "\n"
                              "Remark: The warnings can be suppressed with \"-diag-suppress "
                              "<warning-number>\"\n"
                              "\n"
                              "11|k.tmpl(4): warning #550-D: at11_::f in k_at11_\n"
                              "\n";
    char *first = group_log(log, 0), *other = group_log(log, 11), *none = group_log(log, 1);
    assert_string_equal(first, "k.tmpl(3): warning #177-D: variable \"x\" was declared\n"
                               "      int x;\n"
                               "          ^\n"
                               "\n"
                               "Remark: The warnings can be suppressed with \"-diag-suppress "
                               "<warning-number>\"\n"
                               "\n");
    assert_string_equal(other, "k.tmpl(4): warning #550-D: f in k\n"
                               "\n"
                               "Remark: The warnings can be suppressed with \"-diag-suppress "
                               "<warning-number>\"\n"
                               "\n");
    assert_string_equal(none, "");
    free(first);
    free(other);
    free(none);
}

TEST(the_member_that_failed_is_read_from_the_log)
{
    bool broken[16];
    group_member members[16];
    char pair[] = "pair\nmin\n", none[] = "maximum\nadmin\n";
    for (size_t i = 0; i < 16; i++)
        members[i] = (group_member){.declared = i % 8 == 5 ? pair : none};
    assert_int_equal(
        group_broken(members, 16,
                     "2|k.tmpl(4): error: identifier \"q\" is undefined\n\n"
                     "ptxas error   : Entry function 'k_at13_' uses too much shared data\n"
                     "0|k.tmpl(1): warning: no\n",
                     broken),
        2);
    for (size_t i = 0; i < 16; i++)
        assert_int_equal(broken[i], i == 2 || i == 13);
    assert_int_equal(group_broken(members, 16,
                                  "names|min(1): error: \"min\" is already declared\n"
                                  "k.tmpl(1): error: what is this\n",
                                  broken),
                     2);
    assert_true(broken[5] && broken[13]);
}

/* Returns a random source. A `broken` source has one of several errors. */
static char *random_source(rng *r, bool broken)
{
    static const char *const heads[] = {
        "",
        "struct pair { float a, b; };\n__device__ float sum(pair p) { return p.a + p.b; }\n",
        "#define SCALE 3\n",
        "__device__ __forceinline__ float scaled(float x) { return x * 2; }\n",
        "#include <cuda_fp16.h>\n",
        "__device__ float min(float4 v) { return v.x; }\n",
        "__constant__ float weights[3] = {1, 2, 3};\n",
        "template <int N> __device__ float power(float x) { return N ? x * power<N - 1>(x) : 1; }\n"
        "template <> __device__ float power<0>(float x) { return 1; }\n",
    };
    static const char *const bodies[] = {
        "p[i] = i;",
        "extern __shared__ float shared[]; shared[i] = p[i]; __syncthreads(); p[i] = shared[i ^ "
        "1];",
        "extern __shared__ uint4 shared[]; shared[i].x = i; __syncthreads(); p[i] = shared[i ^ "
        "3].x;",
        "int unused = 4; p[i] = i * 2;",
        "__shared__ float tile[33]; tile[i % 33] = p[i]; __syncthreads(); p[i] = tile[i * 7 % 33];",
        "float v[64];\n#pragma unroll\nfor (int j = 0; j < 64; j++) v[j] = p[i + j * 32];\n"
        "for (int j = 0; j < 64; j++) p[i * 64 + j] = v[63 - j] * v[j];",
        "atomicAdd(p, 1.0f);",
    };
    static const char *const wrongs[] = {
        "p[i] = q;",
        "p[i] = ;",
        "__shared__ float big[20000]; big[i] = 1; __syncthreads(); p[i] = big[i ^ 1];",
        "float4 v = p[i];",
        "#error this cannot be\n",
    };
    char *text = malloc(2048);
    assert_non_null(text);
    const char *head = heads[rng_below(r, sizeof heads / sizeof heads[0])];
    const char *body = broken ? wrongs[rng_below(r, sizeof wrongs / sizeof wrongs[0])]
                              : bodies[rng_below(r, sizeof bodies / sizeof bodies[0])];
    snprintf(
        text, 2048,
        "%s#line %u \"k.cu.tmpl\"\nextern \"C\" __global__ void __launch_bounds__(%u) k(float *p)\n"
        "{\n    int i = threadIdx.x + %u;\n    %s\n}\n",
        head, (unsigned)rng_below(r, 50) + 1, 32u << rng_below(r, 4), (unsigned)rng_below(r, 9),
        body);
    return text;
}

static compile_request request_of(uint64_t id, const char *source)
{
    return (compile_request){
        .id = id, .source = source, .name = "k.cu.tmpl", .entry = "k", .arch = "sm_90"};
}

static void take(compile_pool *pool, compile_result *results, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        at_error error = {0};
        compile_result result;
        assert_ok(compile_take(pool, -1, &result, &error), error);
        assert_in_range(result.id, 0, 1000);
        results[result.id] = result;
    }
}

enum { MEMBERS = 32 };

static void compare(compile_pool *pool, rng *r, size_t broken)
{
    at_error error = {0};
    char *sources[MEMBERS];
    compile_result together[MEMBERS], alone[MEMBERS];
    for (size_t i = 0; i < MEMBERS; i++)
        sources[i] = random_source(r, i < broken);
    for (size_t i = MEMBERS; i-- > 1;) {
        size_t k = rng_below(r, i + 1);
        char *other = sources[i];
        sources[i] = sources[k];
        sources[k] = other;
    }
    for (size_t i = 0; i < MEMBERS; i++) {
        compile_request q = request_of(i, sources[i]);
        assert_ok(compile_submit(pool, &q, &error), error);
    }
    take(pool, together, MEMBERS);
    for (size_t i = 0; i < MEMBERS; i++) {
        compile_request q = request_of(i, sources[i]);
        assert_ok(compile_submit(pool, &q, &error), error);
        take(pool, alone, 1);
        assert_false(alone[i].grouped);
        if (together[i].outcome != alone[i].outcome || strcmp(together[i].log, alone[i].log) != 0 ||
            memcmp(&together[i].resources, &alone[i].resources, sizeof alone[i].resources) != 0)
            fail_msg(
                "compiled with others it is another:\n%s\n%s\n-- alone:\n%s\n%u and %u registers, "
                "%u and %u bytes shared, %u and %u constant, %u and %u stack, %u and %u barriers",
                sources[i], together[i].log, alone[i].log, together[i].resources.registers,
                alone[i].resources.registers, together[i].resources.static_shared_bytes,
                alone[i].resources.static_shared_bytes, together[i].resources.constant_bytes,
                alone[i].resources.constant_bytes, together[i].resources.stack_bytes,
                alone[i].resources.stack_bytes, together[i].resources.barriers,
                alone[i].resources.barriers);
        compile_result_deinit(&together[i]);
        compile_result_deinit(&alone[i]);
        free(sources[i]);
    }
}

/* $AUTOTUNE_GROUPS sets the number of groups, for a longer run. */
TEST(a_member_has_the_result_that_it_has_alone)
{
    static const size_t broken[] = {1, 8, 31};
    const char *wanted = getenv("AUTOTUNE_GROUPS");
    size_t groups = wanted ? strtoul(wanted, NULL, 10) : 3;
    at_error error = {0};
    compile_pool *pool;
    assert_ok(compile_pool_new(&(compile_options){.jobs = 1}, &pool, &error), error);
    for (size_t g = 0; g < groups; g++) {
        rng r = rng_seeded(g);
        compare(pool, &r, broken[g % 3]);
    }
    compile_pool_free(pool);
}

TEST(kernels_without_c_linkage_are_members_too)
{
    at_error error = {0};
    compile_pool *pool;
    compile_result results[MEMBERS];
    size_t shared = 0;
    assert_ok(compile_pool_new(&(compile_options){.jobs = 1}, &pool, &error), error);
    for (size_t i = 0; i < MEMBERS; i++) {
        char source[256];
        snprintf(source, sizeof source, "__global__ void k(int *p) { p[threadIdx.x] = %zu; }", i);
        compile_request q = request_of(i, source);
        assert_ok(compile_submit(pool, &q, &error), error);
    }
    take(pool, results, MEMBERS);
    for (size_t i = 0; i < MEMBERS; i++) {
        compile_code code;
        assert_int_equal(results[i].outcome, COMPILE_OK);
        assert_true(compile_code_of_cubin(results[i].cubin, results[i].cubin_bytes,
                                          results[i].symbols, &code));
        shared += results[i].grouped;
        compile_result_deinit(&results[i]);
    }
    assert_true(shared > MEMBERS / 2);
    compile_pool_free(pool);
}

TEST(members_share_an_image)
{
    at_error error = {0};
    compile_pool *pool;
    compile_result results[MEMBERS];
    assert_ok(compile_pool_new(&(compile_options){.jobs = 1}, &pool, &error), error);
    for (size_t i = 0; i < MEMBERS; i++) {
        char source[256];
        snprintf(source, sizeof source,
                 "extern \"C\" __global__ void k(int *p) { p[threadIdx.x] = %zu; }", i);
        compile_request q = request_of(i, source);
        assert_ok(compile_submit(pool, &q, &error), error);
    }
    take(pool, results, MEMBERS);
    size_t shared = 0;
    for (size_t i = 0; i < MEMBERS; i++) {
        assert_int_equal(results[i].outcome, COMPILE_OK);
        shared += results[i].grouped;
        compile_result_deinit(&results[i]);
    }
    assert_true(shared > MEMBERS / 2);
    compile_pool_free(pool);
}
