#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "compile/compile.h"
#include "compile/cubin.h"
#include "cubin_image.h"

static const unsigned char instructions[] = {1, 2, 3, 4, 5, 6, 7, 8};
static const unsigned char others[] = {1, 2, 3, 4, 5, 6, 7, 9};
/* Attributes of a kernel: the threads of a block; the parameter bank, which begins with a symbol
 * number; the register limit. */
static const unsigned char limits[] = {4,  5, 4, 0, 0,  1, 0,  0, 4, 10, 8,   0,
                                       11, 0, 0, 0, 16, 2, 16, 0, 3, 27, 255, 0};
static const unsigned char elsewhere[] = {4,  5, 4, 0, 0,  1, 0,  0, 4, 10, 8,   0,
                                          15, 0, 0, 0, 16, 2, 16, 0, 3, 27, 128, 0};
static const unsigned char fewer_threads[] = {4,  5, 4, 0, 128, 0, 0,  0, 4, 10, 8,   0,
                                              11, 0, 0, 0, 16,  2, 16, 0, 3, 27, 255, 0};
enum { INFO = 0x70000000 };

static const cubin_section_image plain[] = {{".text.%s", SHT_PROGBITS, instructions, 8},
                                            {".nv.info.%s", INFO, limits, sizeof limits},
                                            {".nv.shared.%s", SHT_NOBITS, NULL, 4096},
                                            {".debug_frame", SHT_PROGBITS, others, 8}};

static bool code_of(const char *kernel, const cubin_section_image *sections, size_t count,
                    const char *symbol, compile_code *out)
{
    unsigned char image[CUBIN_IMAGE_BYTES];
    cubin_image_of(image, kernel, sections, count);
    return compile_code_of_cubin(image, sizeof image, symbol, out);
}

static bool same(const compile_code *a, const compile_code *b)
{
    return memcmp(a, b, sizeof *a) == 0;
}

TEST(names_places_and_debug_information_do_not_change_the_code)
{
    const cubin_section_image moved[] = {{".debug_frame", SHT_PROGBITS, instructions, 8},
                                         {".nv.shared.%s", SHT_NOBITS, NULL, 4096},
                                         {".text.another", SHT_PROGBITS, others, 8},
                                         {".rela.text.%s", SHT_RELA, NULL, 0},
                                         {".text.%s", SHT_PROGBITS, instructions, 8},
                                         {".nv.info.%s", INFO, elsewhere, sizeof elsewhere}};
    compile_code a, b;
    assert_true(code_of("k", plain, 4, "k", &a));
    assert_true(code_of("k_at3_", moved, 6, "k_at3_", &b));
    assert_true(same(&a, &b));
    assert_false(code_of("other", plain, 4, "k", &b));
}

TEST(everything_that_a_launch_depends_on_changes_the_code)
{
    static const cubin_section_image changed[] = {
        {".text.%s", SHT_PROGBITS, others, 8},
        {".nv.info.%s", INFO, fewer_threads, sizeof fewer_threads},
        {".nv.shared.%s", SHT_NOBITS, NULL, 8192},
        {".nv.constant3", SHT_PROGBITS, others, 8},
        {".nv.global", SHT_NOBITS, NULL, 16}};
    compile_code a, b;
    assert_true(code_of("k", plain, 3, "k", &a));
    for (size_t i = 0; i < 5; i++) {
        cubin_section_image all[4] = {plain[0], plain[1], plain[2]};
        all[i < 3 ? i : 3] = changed[i];
        assert_true(code_of("k", all, i < 3 ? 3 : 4, "k", &b));
        assert_false(same(&a, &b));
    }
}

TEST(code_with_unknown_references_is_not_compared)
{
    const cubin_section_image referring[] = {plain[0],
                                             {".rela.text.%s", SHT_RELA, instructions, 8}};
    static const unsigned char cut[] = {4, 5, 4, 0, 0};
    const cubin_section_image damaged[] = {plain[0], {".nv.info.%s", INFO, cut, sizeof cut}};
    compile_code code;
    assert_false(code_of("k", referring, 2, "k", &code));
    assert_false(code_of("k", damaged, 2, "k", &code));
    assert_false(compile_code_of_cubin("cubin", 6, "k", &code));
}

TEST(a_damaged_image_is_safe)
{
    /* The image is on the heap, so that the sanitizer detects reads behind its end. */
    unsigned char *image = malloc(CUBIN_IMAGE_BYTES);
    compile_code code;
    assert_non_null(image);
    for (size_t i = 0; i < CUBIN_IMAGE_BYTES; i++)
        for (unsigned bit = 0; bit < 8; bit += 3) {
            cubin_image_of(image, "k", plain, 4);
            image[i] ^= (unsigned char)(1u << bit);
            compile_code_of_cubin(image, CUBIN_IMAGE_BYTES, "k", &code);
        }
    free(image);
}

TEST(ptx_is_compared_without_comments_and_places)
{
    static const char a[] =
        "// made by\n.visible .entry k()\n{\n\t.loc\t1 16 0\n\tret;\n}\n\t.file\t1 \"a\"\n";
    static const char b[] = ".visible .entry k()\n{\n\t.loc\t1 18 3\n\t// why\n    ret;\n\n}\n";
    static const char c[] = ".visible .entry k()\n{\n\ttrap;\n}\n",
                      d[] = "{\n.visible .entry k()\nret;\n}\n";
    compile_code codes[] = {compile_code_of_ptx(a), compile_code_of_ptx(b), compile_code_of_ptx(c),
                            compile_code_of_ptx(d)};
    assert_true(same(&codes[0], &codes[1]));
    assert_false(same(&codes[0], &codes[2]));
    assert_false(same(&codes[0], &codes[3]));
}

TEST(kernels_compiled_together_have_the_code_of_kernels_compiled_alone)
{
    enum { SOURCES = 4 };
    static const char *const sources[SOURCES] = {
        "extern \"C\" __global__ void k(float *p) { __shared__ float t[64]; t[threadIdx.x] = *p; "
        "__syncthreads(); p[threadIdx.x] = t[63 - threadIdx.x]; }",
        "// another text\nextern \"C\" __global__ void k(float *to) { __shared__ float tile[64]; "
        "tile[threadIdx.x] = *to; __syncthreads(); to[threadIdx.x] = tile[63 - threadIdx.x]; }",
        "extern \"C\" __global__ void k(float *p) { __shared__ float t[65]; t[threadIdx.x] = *p; "
        "__syncthreads(); p[threadIdx.x] = t[63 - threadIdx.x]; }",
        "extern \"C\" __global__ void k(float *p) { __shared__ float t[64]; t[threadIdx.x] = *p; "
        "__syncthreads(); p[threadIdx.x] = t[62 - threadIdx.x]; }"};
    enum { REQUESTS = 8 * SOURCES };
    at_error error = {0};
    compile_pool *pool;
    compile_code codes[REQUESTS];
    size_t grouped = 0;
    assert_ok(compile_pool_new(&(compile_options){.jobs = 1}, &pool, &error), error);
    /* The worker compiles the first requests alone. The others are queued and grouped. */
    for (uint64_t i = 0; i < REQUESTS; i++)
        assert_ok(compile_submit(pool,
                                 &(compile_request){.id = i,
                                                    .source = sources[i % SOURCES],
                                                    .name = "k.tmpl",
                                                    .entry = "k",
                                                    .arch = "sm_90"},
                                 &error),
                  error);
    for (uint64_t i = 0; i < REQUESTS; i++) {
        compile_result r;
        assert_ok(compile_take(pool, -1, &r, &error), error);
        assert_int_equal(r.outcome, COMPILE_OK);
        assert_true(compile_code_of_cubin(r.cubin, r.cubin_bytes, r.symbols, &codes[r.id]));
        grouped += r.grouped;
        compile_result_deinit(&r);
    }
    compile_pool_free(pool);
    assert_in_range(grouped, SOURCES, REQUESTS - 1);
    for (size_t i = SOURCES; i < REQUESTS; i++)
        assert_true(same(&codes[i], &codes[i % SOURCES]));
    assert_true(same(&codes[0], &codes[1]));
    assert_false(same(&codes[0], &codes[2]));
    assert_false(same(&codes[0], &codes[3]));
}
