/* Tests the result of one source: code, or errors with the lines of the template. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "compile/cubin.h"
#include "pool_fixture.h"
#include "process/confine.h"
#include "temporary.h"

static const char transpose[] =
    "#line 5 \"transpose.cu.tmpl\"\n"
    "extern \"C\" __global__ void transpose(const float *src, float *dst, int rows, int cols)\n"
    "{\n"
    "    __shared__ float tile[32][PAD + 32];\n"
    "    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;\n"
    "    if (x < cols && y < rows)\n"
    "        tile[threadIdx.y][threadIdx.x] = src[(size_t)y * cols + x];\n"
    "    __syncthreads();\n"
    "    x = blockIdx.y * 32 + threadIdx.x, y = blockIdx.x * 32 + threadIdx.y;\n"
    "    if (x < rows && y < cols)\n"
    "        dst[(size_t)y * rows + x] = tile[threadIdx.x][threadIdx.y];\n"
    "}\n";

TEST(a_kernel_becomes_a_cubin_with_its_resources)
{
    compile_pool *pool = open_pool(1, 0);
    assert_non_null(strchr(compile_nvrtc_version(pool), '.'));
    const char *const options[] = {"-DPAD=1"};
    compile_request r = request_of(7, transpose);
    r.entry = "transpose";
    r.options = options;
    r.option_count = 1;
    compile_result result = compile_one(pool, &r);
    assert_int_equal(result.outcome, COMPILE_OK);
    assert_true(result.cubin_bytes > 64);
    assert_memory_equal(result.cubin, "\177ELF", 4);
    assert_null(result.ptx);
    assert_int_equal(result.resources.static_shared_bytes, 32 * 33 * 4);
    assert_int_equal(result.resources.barriers, 1);
    /* The bank has two pointers, two ints, and before them the data that the driver passes. */
    assert_in_range(result.resources.constant_bytes, 24, 4096);
    assert_in_range(result.resources.registers, 8, 64);
    assert_string_equal(result.log, "");
    assert_true(result.time_ns > 0);
    assert_false(result.cached);
    compile_result_deinit(&result);
    assert_int_equal(compile_pending(pool), 0);
    compile_pool_free(pool);
}

/* Drops the notes on machine code at the ends of lines. */
static void drop_notes(char *ptx)
{
    for (char *note; (note = strstr(ptx, " //@"));)
        memmove(note, note + strcspn(note, "\n"), strlen(note + strcspn(note, "\n")) + 1);
}

TEST(ptx_alone_is_the_ptx_that_comes_with_machine_code)
{
    compile_pool *pool = open_pool(1, 0);
    compile_request r = request_of(1, plain);
    r.want_ptx = true;
    compile_result both = compile_one(pool, &r);
    r.ptx_alone = true;
    compile_result alone = compile_one(pool, &r);
    assert_int_equal(alone.outcome, COMPILE_OK);
    assert_null(alone.cubin);
    assert_int_equal(alone.resources.registers, 0);
    assert_string_equal(alone.symbols, "k");
    drop_notes(both.ptx);
    assert_string_equal(alone.ptx, both.ptx);
    compile_result_deinit(&both);
    compile_result_deinit(&alone);
    compile_pool_free(pool);
}

TEST(instructions_of_a_specific_architecture_are_found_without_ptxas)
{
    static const char header[] =
        "#define RAISE asm volatile(\"setmaxnreg.inc.sync.aligned.u32 232;\")\n";
    const source_header headers[] = {{.name = "raise.h", .text = header}};
    compile_pool *pool = open_pool(1, 0);
    compile_request r = request_of(
        1, "#include \"raise.h\"\nextern \"C\" __global__ void k(int *p) { RAISE; *p = 1; }");
    r.headers = headers;
    r.header_count = 1;
    r.want_ptx = r.ptx_alone = true;
    compile_result result = compile_one(pool, &r);
    assert_string_equal(result.log, "");
    assert_non_null(strstr(result.ptx, ".target sm_90a"));
    compile_result_deinit(&result);
    compile_pool_free(pool);
}

TEST(kernels_of_templates_namespaces_and_overloads_are_compiled_by_name)
{
    static const char source[] =
        "#define SIDE 3\n"
        "namespace a { namespace b {\n"
        "template <int N, typename T> __global__ void k(T *p) { p[threadIdx.x] = N; }\n"
        "} }\n"
        "__global__ void scale(float *p, int n) { p[threadIdx.x] *= n; }\n"
        "__global__ void scale(int *p) { p[threadIdx.x] *= 2; }\n"
        "extern \"C\" __global__ void plain(int *p) { *p = 1; }\n";
    compile_pool *pool = open_pool(1, 0);
    compile_request r = request_of(1, source);
    r.entry = "a::b::k<SIDE + 1, float>\n(void(*)(float *, int))scale\nplain\n_Z5scalePi";
    r.want_ptx = true;
    compile_result result = compile_one(pool, &r);
    assert_string_equal(result.log, "");
    assert_string_equal(result.symbols, "_ZN1a1b1kILi4EfEEvPT0_\n_Z5scalePfi\nplain\n_Z5scalePi");
    assert_non_null(strstr(result.ptx, ".entry _ZN1a1b1kILi4EfEEvPT0_("));
    assert_true(result.resources.registers > 0);
    compile_result_deinit(&result);
    compile_pool_free(pool);
}

TEST(an_entry_that_names_no_kernel_gets_suggestions)
{
    static const struct {
        const char *entry, *told;
    } wrong[] = {
        {"a::scal<3>", "k.tmpl(2): error: there is no kernel 'a::scal<3>'; did you mean "
                       "'a::scale<...>', which is here?; other kernels here are both, plain"},
        {"a::scale",
         "k.tmpl(2): error: the entry 'a::scale' is a template: name an instance of it, "
         "such as 'a::scale<...>'; other kernels here are both, plain"},
        {"both",
         "k.tmpl(3): error: the entry 'both' names several kernels: choose one by its type, "
         "such as '(void(*)(float *p))both'; other kernels here are a::scale<...>, plain"},
        {"a::scale<q>",
         "k.tmpl(2): error: the entry 'a::scale<q>' is not the name of a kernel: identifier \"q\" "
         "is undefined; other kernels here are both, plain"},
        {"_Z4rottPf", "k.tmpl(2): error: there is no kernel '_Z4rottPf'; the kernels here are "
                      "a::scale<...>, both, plain"},
    };
    static const char source[] =
        "#line 2 \"k.tmpl\"\n"
        "namespace a { template <int N> __global__ void scale(int *p) { *p = N; } }\n"
        "__global__ void both(float *p) { *p = 1; }\n"
        "__global__ void both(int *p) { *p = 1; }\n"
        "__global__ void __launch_bounds__(64) plain(int *p) { *p = 2; }\n";
    compile_pool *pool = open_pool(1, 0);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        compile_request r = request_of(i, source);
        r.entry = wrong[i].entry;
        compile_result result = compile_one(pool, &r);
        assert_int_equal(result.outcome, COMPILE_ERROR);
        assert_string_equal(result.log, wrong[i].told);
        compile_result_deinit(&result);
    }
    compile_pool_free(pool);
}

/* A worker writes the precompiled headers with its second source and reads them with its third. */
TEST(headers_that_are_read_once_change_no_code_and_no_message)
{
    char folder[TEMPORARY_BYTES];
    at_error error = {0};
    compile_pool *pool, *other = open_pool(1, 0);
    temporary_make(folder);
    assert_ok(
        compile_pool_new(&(compile_options){.jobs = 1, .use_cache = true, .cache_dir = folder},
                         &pool, &error),
        error);
    for (uint64_t i = 0; i < 5; i++) {
        char source[256];
        compile_code codes[2];
        snprintf(source, sizeof source,
                 "#include <cuda/std/type_traits>\n"
                 "template <typename T> __global__ void k(T *p)\n"
                 "{ int unused; p[threadIdx.x] = %d %s cuda::std::is_same_v<T, int>; }\n",
                 (int)i, i == 3 ? "+ nothing +" : "+");
        compile_request r = request_of(i, source);
        r.entry = "k<int>";
        compile_result here = compile_one(pool, &r), there = compile_one(other, &r);
        assert_int_equal(here.outcome, i == 3 ? COMPILE_ERROR : COMPILE_OK);
        assert_int_equal(here.outcome, there.outcome);
        assert_string_equal(here.log, there.log);
        assert_string_equal(here.symbols, there.symbols);
        if (i != 3) {
            assert_true(
                compile_code_of_cubin(here.cubin, here.cubin_bytes, here.symbols, &codes[0]));
            assert_true(
                compile_code_of_cubin(there.cubin, there.cubin_bytes, there.symbols, &codes[1]));
            assert_memory_equal(&codes[0], &codes[1], sizeof codes[0]);
        }
        compile_result_deinit(&here);
        compile_result_deinit(&there);
    }
    compile_pool_free(pool);
    compile_pool_free(other);
    temporary_remove(folder);
}

TEST(ptx_comes_with_the_templates_own_lines)
{
    compile_pool *pool = open_pool(1, 0);
    const char *const options[] = {"-DPAD=0"};
    compile_request r = request_of(1, transpose);
    r.entry = "transpose";
    r.options = options;
    r.option_count = 1;
    r.want_ptx = true;
    compile_result result = compile_one(pool, &r);
    assert_int_equal(result.outcome, COMPILE_OK);
    assert_non_null(result.cubin);
    assert_int_equal(strlen(result.ptx), result.ptx_bytes);
    assert_non_null(strstr(result.ptx, ".entry transpose("));
    assert_non_null(strstr(result.ptx, ".loc"));
    assert_non_null(strstr(result.ptx, "transpose.cu.tmpl"));
    compile_result_deinit(&result);
    compile_pool_free(pool);
}

TEST(an_error_names_the_templates_line_and_the_next_source_compiles)
{
    compile_pool *pool = open_pool(1, 0);
    compile_request wrong =
        request_of(1, "#line 40 \"mine.tmpl\"\nextern \"C\" __global__ void k(int *p) { *p = q; }");
    compile_result result = compile_one(pool, &wrong);
    assert_int_equal(result.outcome, COMPILE_ERROR);
    assert_non_null(strstr(result.log, "mine.tmpl(40)"));
    assert_null(strstr(result.log, "ptxas info"));
    assert_null(result.cubin);
    compile_result_deinit(&result);

    compile_request right = request_of(2, "extern \"C\" __global__ void k(int *p) { *p = 1; }");
    result = compile_one(pool, &right);
    assert_int_equal(result.outcome, COMPILE_OK);
    compile_result_deinit(&result);

    right.entry = "kernel";
    right.id = 3;
    result = compile_one(pool, &right);
    assert_int_equal(result.outcome, COMPILE_ERROR);
    assert_non_null(strstr(result.log, "no kernel 'kernel'"));
    compile_result_deinit(&result);
    compile_pool_free(pool);
}

TEST(architecture_specific_instructions_are_compiled_for_their_architecture)
{
    static const char *const sources[] = {
        "extern \"C\" __global__ void k(int *p) { asm volatile(\"wgmma.fence.sync.aligned;\"); }",
        /* This source hides the instruction in macros, as a header may do. */
        "#define NAME \"wg\" \"mma\"\n"
        "extern \"C\" __global__ void k(int *p) { asm volatile(NAME \".fence.sync.aligned;\"); }"};
    compile_pool *pool = open_pool(1, 0);
    for (size_t i = 0; i < sizeof sources / sizeof *sources; i++) {
        compile_request r = request_of(i + 1, sources[i]);
        r.want_ptx = true;
        compile_result result = compile_one(pool, &r);
        assert_int_equal(result.outcome, COMPILE_OK);
        assert_non_null(strstr(result.ptx, ".target sm_90a"));
        compile_result_deinit(&result);
        r.arch = "sm_80"; /* there is no architecture-specific sm_80a */
        result = compile_one(pool, &r);
        assert_int_equal(result.outcome, COMPILE_ERROR);
        assert_non_null(strstr(result.log, "not supported on .target 'sm_80'"));
        compile_result_deinit(&result);
    }
    compile_pool_free(pool);
}

TEST(errors_of_ptxas_name_the_templates_line)
{
    compile_pool *pool = open_pool(1, 0);
    compile_request large =
        request_of(1, "#line 12 \"mine.tmpl\"\nextern \"C\" __global__ void k(int *p)\n{\n"
                      "    __shared__ int a[16384];\n    a[*p] = 1;\n    __syncthreads();\n"
                      "    *p = a[threadIdx.x];\n}");
    compile_result result = compile_one(pool, &large);
    assert_int_equal(result.outcome, COMPILE_ERROR);
    assert_non_null(strstr(result.log, "mine.tmpl:14: "));
    assert_non_null(strstr(result.log, "too much shared data (0x10000 bytes"));
    compile_result_deinit(&result);
    compile_pool_free(pool);
}

TEST(declarations_that_minimal_leaves_out_are_found)
{
    compile_pool *pool = open_pool(1, 0);
    /* NVRTC's option --minimal leaves out the declarations of textures. */
    compile_request texture =
        request_of(1, "extern \"C\" __global__ void k(float *p, cudaTextureObject_t t)\n"
                      "{ p[threadIdx.x] = tex1Dfetch<float>(t, threadIdx.x); }");
    for (int i = 0; i < 2; i++) {
        compile_result result = compile_one(pool, &texture);
        assert_string_equal(result.log, "");
        assert_int_equal(result.outcome, COMPILE_OK);
        compile_result_deinit(&result);
    }
    compile_request half =
        request_of(2, "#include <cuda_fp16.h>\n"
                      "extern \"C\" __global__ void k(__half *p) { *p = __hadd(*p, *p); }");
    compile_result result = compile_one(pool, &half);
    assert_string_equal(result.log, "");
    assert_int_equal(result.outcome, COMPILE_OK);
    compile_result_deinit(&result);
    compile_pool_free(pool);
}

/* Cooperative groups include cuda::std. CUDA 13 has cuda::std and CUB in a folder of their own. */
TEST(cooperative_groups_cuda_std_and_cub_compile)
{
    compile_pool *pool = open_pool(1, 0);
    compile_request r = request_of(
        1, "#include <cooperative_groups.h>\n"
           "#include <cuda/std/array>\n"
           "#include <cub/block/block_reduce.cuh>\n"
           "extern \"C\" __global__ void k(float *out)\n"
           "{\n"
           "    using Reduce = cub::BlockReduce<float, 64>;\n"
           "    __shared__ typename Reduce::TempStorage shared;\n"
           "    cuda::std::array<float, 2> values{1, 2};\n"
           "    float sum = Reduce(shared).Sum(values[threadIdx.x & 1]);\n"
           "    auto block = cooperative_groups::this_thread_block();\n"
           "    sum += cooperative_groups::tiled_partition<32>(block).shfl_down(sum, 1);\n"
           "    out[threadIdx.x] = sum;\n"
           "}\n");
    compile_result result = compile_one(pool, &r);
    assert_string_equal(result.log, "");
    assert_int_equal(result.outcome, COMPILE_OK);
    compile_result_deinit(&result);
    compile_pool_free(pool);
}

TEST(headers_of_the_current_folder_are_not_found)
{
    char dir[TEMPORARY_BYTES], here[4096];
    temporary_make(dir);
    assert_non_null(getcwd(here, sizeof here));
    assert_int_equal(chdir(dir), 0);
    FILE *f = fopen("secret.h", "w");
    assert_non_null(f);
    fputs("#define SECRET 1\n", f);
    fclose(f);
    compile_pool *pool = open_pool(1, 0);
    compile_request r = request_of(
        1, "#include \"secret.h\"\nextern \"C\" __global__ void k(int *p) { *p = SECRET; }");
    compile_result result = compile_one(pool, &r);
    assert_int_equal(result.outcome, COMPILE_ERROR);
    assert_non_null(strstr(result.log, "secret.h"));
    compile_result_deinit(&result);
    compile_pool_free(pool);
    assert_int_equal(chdir(here), 0);
    temporary_remove(dir);
}

TEST(a_header_that_comes_with_the_source_is_found)
{
    char dir[TEMPORARY_BYTES], path[TEMPORARY_BYTES + 16];
    temporary_make(dir);
    /* The worker may not open this file, although the file is in the source's folder. */
    snprintf(path, sizeof path, "%s/with.h", dir);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs("#error the file was read\n", f);
    fclose(f);
    snprintf(path, sizeof path, "%s/test.cu", dir);
    source_header headers[] = {{"with.h", "#include \"more.h\"\n"}, {"more.h", "#define MORE 3\n"}};
    compile_pool *pool = open_pool(1, 0);
    compile_request r =
        request_of(1, "#include \"with.h\"\nextern \"C\" __global__ void k(int *p) { *p = MORE; }");
    r.name = path;
    r.headers = headers;
    r.header_count = 2;
    compile_result result = compile_one(pool, &r);
    assert_string_equal(result.log, "");
    assert_int_equal(result.outcome, COMPILE_OK);
    compile_result_deinit(&result);
    compile_pool_free(pool);
    temporary_remove(dir);
}

/* Even if all other checks overlook a file name in the source, the worker cannot open the file. */
TEST(a_source_reads_only_files_of_the_toolkit)
{
    if (confine_available().landlock_version == 0)
        skip();
    char dir[TEMPORARY_BYTES], path[TEMPORARY_BYTES + 16], source[512];
    temporary_make(dir);
    snprintf(path, sizeof path, "%s/secret", dir);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs("#error the-secret-word\n", f);
    fclose(f);
    compile_pool *pool = open_pool(1, 0);
    const char *const names[] = {path, "/proc/self/environ", "/etc/passwd", "/dev/zero"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(source, sizeof source,
                 "#include \"%s\"\nextern \"C\" __global__ void k(int *p) { *p = 1; }", names[i]);
        compile_request r = request_of(i, source);
        compile_result result = compile_one(pool, &r);
        assert_int_equal(result.outcome, COMPILE_ERROR);
        assert_null(strstr(result.log, "the-secret-word"));
        assert_null(strstr(result.log, "root:"));
        assert_non_null(strstr(result.log, "cannot open source file"));
        compile_result_deinit(&result);
    }
    compile_pool_free(pool);
    temporary_remove(dir);
}

TEST(an_option_that_is_not_on_the_list_is_refused)
{
    compile_pool *pool = open_pool(1, 0);
    const char *const options[] = {"-DX=1", "--include-path=/etc"};
    compile_request r = request_of(1, plain);
    r.options = options;
    r.option_count = 2;
    at_error error = {0};
    assert_int_equal(compile_submit(pool, &r, &error), AT_SCRIPT);
    assert_non_null(strstr(error.message, "--include-path=/etc"));
    assert_int_equal(compile_pending(pool), 0);
    compile_pool_free(pool);
}

TEST(endless_recursion_in_a_template_is_an_error_of_bounded_length)
{
    compile_pool *pool = open_pool(1, 0);
    compile_request r = request_of(
        1, "template <class T> struct P { typedef typename P<P<P<T> *> *>::type type; };\n"
           "extern \"C\" __global__ void k(int *p) { *p = sizeof(P<int>::type); }");
    compile_result result = compile_one(pool, &r);
    assert_int_equal(result.outcome, COMPILE_ERROR);
    assert_non_null(strstr(result.log, "recursion"));
    assert_true(strlen(result.log) <= 65536);
    compile_result_deinit(&result);
    compile_pool_free(pool);
}
