#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "compile/log.h"

/* The log of NVRTC 13.0 for sm_75. It has two kernels, a function that is not inlined, spills,
 * and both constant banks. */
static const char two_kernels[] =
    "ptxas warning : Value of threads per SM for entry k2 is out of range. .minnctapersm will be "
    "ignored\n"
    "ptxas info    : 0 bytes gmem, 400 bytes cmem[3]\n"
    "ptxas info    : Compiling entry function 'k2' for 'sm_75'\n"
    "ptxas info    : Function properties for k2\n"
    "ptxas         .     32 bytes stack frame, 36 bytes spill stores, 40 bytes spill loads\n"
    "ptxas info    : Used 64 registers, used 1 barriers, 32 bytes cumulative stack size, 4224 "
    "bytes "
    "smem, 368 bytes cmem[0]\n"
    "ptxas info    : Compile time = 21.255 ms\n"
    "ptxas info    : Compiling entry function 'k' for 'sm_75'\n"
    "ptxas info    : Function properties for k\n"
    "ptxas         .     160 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
    "ptxas info    : Used 21 registers, used 0 barriers, 160 bytes cumulative stack size, 364 "
    "bytes "
    "cmem[0]\n"
    "ptxas info    : Compile time = 6.184 ms\n"
    "ptxas info    : Function properties for _Z6helperfi\n"
    "ptxas         .     8 bytes stack frame, 4 bytes spill stores, 4 bytes spill loads\n";

static kernel_resources read_log(const char *log, const char *entry)
{
    at_error error = {0};
    kernel_resources r;
    assert_ok(compile_log_read(log, entry, &r, &error), error);
    return r;
}

TEST(each_kernel_gets_its_own_figures)
{
    kernel_resources r = read_log(two_kernels, "k2");
    assert_int_equal(r.registers, 64);
    assert_int_equal(r.barriers, 1);
    assert_int_equal(r.stack_bytes, 32);
    assert_int_equal(r.spill_store_bytes, 36);
    assert_int_equal(r.spill_load_bytes, 40);
    assert_int_equal(r.static_shared_bytes, 4224);
    assert_int_equal(r.constant_bytes, 768);
    r = read_log(two_kernels, "k");
    assert_int_equal(r.registers, 21);
    assert_int_equal(r.barriers, 0);
    assert_int_equal(r.stack_bytes, 160);
    assert_int_equal(r.spill_store_bytes, 0);
    assert_int_equal(r.static_shared_bytes, 0);
    assert_int_equal(r.constant_bytes, 764);
}

/* The logs were printed by NVRTC and nvcc with ptxas of CUDA 11 and 12. */
TEST(older_spellings_are_read)
{
    kernel_resources r = read_log(
        "ptxas info    : 0 bytes gmem\n"
        "ptxas info    : Compiling entry function 'k' for 'sm_80'\n"
        "ptxas info    : Function properties for k\n"
        "    16 bytes stack frame, 12 bytes spill stores, 8 bytes spill loads\n"
        "ptxas info    : Used 255 registers, 16 bytes cumulative stack size, 1024+16 bytes smem, "
        "400 bytes cmem[0], 8 bytes cmem[2]\n",
        "k");
    assert_int_equal(r.registers, 255);
    assert_int_equal(r.stack_bytes, 16);
    assert_int_equal(r.spill_store_bytes, 12);
    assert_int_equal(r.spill_load_bytes, 8);
    assert_int_equal(r.static_shared_bytes, 1040);
    assert_int_equal(r.constant_bytes, 408);
}

TEST(a_kernel_that_the_log_lacks_is_reported)
{
    static const char *const logs[] = {"", "\n", two_kernels,
                                       "ptxas info    : Compiling entry function 'k3",
                                       "ptxas info    : Compiling entry function 'k3' for 'sm_90'"};
    for (size_t i = 0; i < sizeof logs / sizeof logs[0]; i++) {
        at_error error = {0};
        kernel_resources r;
        assert_int_equal(compile_log_read(logs[i], "k3", &r, &error), AT_NOT_FOUND);
        assert_non_null(strstr(error.message, "'k3'"));
        assert_int_equal(r.registers, 0);
    }
}

TEST(figures_too_large_are_cut)
{
    kernel_resources r = read_log(
        "ptxas info    : Compiling entry function 'k' for 'sm_90'\n"
        "ptxas info    : Used 99999999999999999999999999 registers, 4294967295 bytes smem, "
        "4294967295 bytes cmem[0], 7 bytes cmem[2], 4294967295+1 bytes smem\n",
        "k");
    assert_true(r.registers == UINT32_MAX);
    assert_true(r.static_shared_bytes == UINT32_MAX);
    assert_true(r.constant_bytes == UINT32_MAX);
}

TEST(trimming_leaves_messages_for_people)
{
    char log[] = "a.cu(7): warning #177-D: variable \"x\" was declared but never referenced\n"
                 "      int x;\n"
                 "          ^\n\n"
                 "ptxas info    : 0 bytes gmem\n"
                 "ptxas warning : Registers are spilled to local memory in function 'k'\n"
                 "ptxas         .     0 bytes stack frame, 0 bytes spill stores\n"
                 "ptxas info    : Used 30 registers\n\n";
    compile_log_trim(log);
    assert_string_equal(
        log, "a.cu(7): warning #177-D: variable \"x\" was declared but never referenced\n"
             "      int x;\n"
             "          ^\n\n"
             "ptxas warning : Registers are spilled to local memory in function 'k'");
    char only_info[] = "ptxas info    : 0 bytes gmem\nptxas info    : Compile time = 9.822 ms\n";
    compile_log_trim(only_info);
    assert_string_equal(only_info, "");
    char nothing[] = "";
    compile_log_trim(nothing);
    assert_string_equal(nothing, "");
}

TEST(warnings_beside_errors_are_left_out)
{
    char log[] = "a.cu(13): error: expected a \";\"\n"
                 "  }\n"
                 "  ^\n\n"
                 "a.cu(7): warning #177-D: variable \"x\" was declared but never referenced\n"
                 "      int x;\n"
                 "          ^\n\n"
                 "Remark: The warnings can be suppressed with \"-diag-suppress <number>\"\n\n"
                 "1 error detected in the compilation of \"a.cu\".\n";
    compile_log_trim(log);
    assert_string_equal(log, "a.cu(13): error: expected a \";\"\n"
                             "  }\n"
                             "  ^\n\n"
                             "1 error detected in the compilation of \"a.cu\".");
}

TEST(places_in_a_source_follow_its_line_directives)
{
    static const char source[] = "#include <cuda_fp16.h>\n"
                                 "#line 7 \"a.tmpl\"\n"
                                 "extern \"C\" __global__ void\n"
                                 "k(float *p)\n"
                                 "#line 3 \"b.tmpl\"\n"
                                 "{\n"
                                 "    __shared__ float a[99999];\n";
    char place[64] = "";
    assert_true(compile_source_place(source, "k(", place, sizeof place));
    assert_string_equal(place, "a.tmpl:8");
    assert_true(compile_source_place(source, "__shared__", place, sizeof place));
    assert_string_equal(place, "b.tmpl:4");
    assert_false(compile_source_place(source, "cuda_fp16", place, sizeof place));
}
