/* Tests how PTX is written as kernels of CUDA C++. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "check.h"
#include "export/kernels.h"
#include "sim/kernel.h"
#include "sim/machine/run.h"

enum { THREADS = 32, BUFFER_BASE = 0x10000 };

static const char *const entry = "scale";

/* Returns kernels as inline PTX, or NULL if one cannot be written. The caller frees the text. */
static char *inlined(const char *text, const char *const *entries, size_t count)
{
    char *out, symbols[256] = "";
    export_entry named[8];
    at_error error = {0};
    for (size_t i = 0; i < count; i++) {
        text_add(symbols, sizeof symbols, "%s%s", i ? "\n" : "", entries[i]);
        named[i] = (export_entry){.name = strdup(entries[i]), .place = i};
    }
    at_status status = export_inline_ptx(text, strlen(text), symbols, named, count, &out, &error);
    for (size_t i = 0; i < count; i++)
        free(named[i].name);
    assert_ok(status, error);
    return out;
}

static void expect(const char *text, const char *kernels)
{
    char *out = inlined(text, &entry, 1);
    if (kernels)
        assert_non_null(out);
    else
        assert_null(out);
    if (kernels)
        assert_string_equal(out, kernels);
    free(out);
}

#define HEAD ".version 9.0\n.target sm_90\n.address_size 64\n"

/* A kernel `scale` with these directives and two parameters: a pointer and a number. `body`
 * follows the code that loads the parameters. */
#define SCALE(directives, body)                                                                    \
    ".visible .entry scale(\n\t.param .u64 scale_param_0,\n\t.param .f32 "                         \
    "scale_param_1\n)\n" directives "{\n"                                                          \
    "\t.reg .b64 \t%rd<4>;\n\t.reg .f32 \t%f<3>;\n\t.reg .b32 \t%r<3>;\n"                          \
    "\tld.param.u64 \t%rd1, [scale_param_0];\n\tld.param.f32 \t%f1, [scale_param_1];\n" body       \
    "\tret;\n}\n"

TEST(a_kernel_keeps_its_code_and_its_bounds)
{
    expect(
        HEAD "\n\t// .globl\tscale\n" SCALE(
            ".maxntid 128, 2, 1\n.minnctapersm 3\n",
            "\t.loc\t1 7 0\n"
            "\t// demoted variable\n"
            "\t.shared .align 4 .b8 tile[64];\n"
            "\t.reg .pred \t%p<2>;\n"
            "$L__BB0_1:\n"
            "\t.pragma \"nounroll\";\n"
            "\t@%p1 bra \t$L__BB0_1;\n"
            "\t.loc 1 8 3, function_name $L__info_string0, inlined_at 1 2 3\n"
            "\tmov.u64 \t%rd2, tile; /* shared */\n"
            "\tst.global.v2.f32 \t[%rd1+8], {%f1, 0f3F800000};\n"),
        "__global__ void __launch_bounds__(256, 3) scale(unsigned long long p0, unsigned int p1)\n"
        "{\n"
        "    asm volatile(\"{\\n\"\n"
        "    \".reg .b64 scale_param_0;\\n\"\n"
        "    \"mov.b64 scale_param_0, %0;\\n\"\n"
        "    \".reg .b32 scale_param_1;\\n\"\n"
        "    \"mov.b32 scale_param_1, %1;\\n\"\n"
        "    \"{\\n\"\n"
        "    \".reg .b64 %%rd<4>;\\n\"\n"
        "    \".reg .f32 %%f<3>;\\n\"\n"
        "    \".reg .b32 %%r<3>;\\n\"\n"
        "    \"mov.b64 %%rd1, scale_param_0;\\n\"\n"
        "    \"mov.b32 %%f1, scale_param_1;\\n\"\n"
        "    \".shared .align 4 .b8 tile[64];\\n\"\n"
        "    \".reg .pred %%p<2>;\\n\"\n"
        "    \"$L__BB0_1:\\n\"\n"
        "    \".pragma \\\"nounroll\\\";\\n\"\n"
        "    \"@%%p1 bra $L__BB0_1;\\n\"\n"
        "    \"mov.u64 %%rd2, tile;\\n\"\n"
        "    \"st.global.v2.f32 [%%rd1+8], {%%f1, 0f3F800000};\\n\"\n"
        "    \"ret;\\n\"\n"
        "    \"}\\n\"\n"
        "    \"}\"\n"
        "    ::\"l\"(p0), \"r\"(p1) : \"memory\");\n"
        "}\n");
}

TEST(dynamic_shared_memory_has_the_address_of_an_array)
{
    static const char text[] =
        HEAD ".extern .shared .align 16 .b8 tile[];\n"
             ".visible .entry scale()\n{\n\t.reg .b32 %r<3>;\n\t.reg .b64 %rd<3>;\n"
             "\tmov.u32 %r1, tile;\n\tmov.u64 %rd1, tile;\n\tld.shared.u32 %r2, [tile+4];\n"
             "\tret;\n}\n";
    expect(text, "__global__ void scale()\n"
                 "{\n"
                 "    extern __shared__ __align__(16) unsigned char scale_dynamic[];\n"
                 "    asm volatile(\"{\\n\"\n"
                 "    \".reg .b64 dynamic_generic;\\n\"\n"
                 "    \"cvta.to.shared.u64 dynamic_generic, %0;\\n\"\n"
                 "    \".reg .b32 tile;\\n\"\n"
                 "    \"cvt.u32.u64 tile, dynamic_generic;\\n\"\n"
                 "    \"{\\n\"\n"
                 "    \".reg .b32 %%r<3>;\\n\"\n"
                 "    \".reg .b64 %%rd<3>;\\n\"\n"
                 "    \"mov.u32 %%r1, tile;\\n\"\n"
                 "    \"cvt.u64.u32 %%rd1, tile;\\n\"\n"
                 "    \"ld.shared.u32 %%r2, [tile+4];\\n\"\n"
                 "    \"ret;\\n\"\n"
                 "    \"}\\n\"\n"
                 "    \"}\"\n"
                 "    ::\"l\"(scale_dynamic) : \"memory\");\n"
                 "}\n");
}

TEST(kernels_that_need_declarations_outside_their_body_cannot_be_written)
{
    expect(HEAD ".const .align 4 .b8 weight[8];\n" SCALE("", "\tld.const.f32 %f2, [weight+4];\n"),
           NULL);
    expect(HEAD ".global .align 4 .b8 table[8];\n" SCALE("", "\tmov.u64 %rd2, table;\n"), NULL);
    expect(HEAD ".shared .align 4 .b8 both[8];\n" SCALE("", "\tst.shared.f32 [both], %f1;\n"),
           NULL);
    expect(HEAD ".extern .func trap_it();\n" SCALE("", "\tcall trap_it;\n"), NULL);
    expect(HEAD ".extern .shared .align 4 .b8 tile[];\n" SCALE("", "\tadd.u64 %rd2, %rd1, tile;\n"),
           NULL);
    expect(HEAD ".extern .shared .align 4 .b8 tile[];\n" SCALE("", "\tmov.u32 %r1, tile+4;\n"),
           NULL);
}

TEST(kernels_with_unknown_ptx_cannot_be_written)
{
    expect(HEAD SCALE("", "\tfrobnicate [[scale_param_0], {1 ~ 2}];\n"), NULL);
    expect(HEAD ".weird .b8 odd[8];\n" SCALE("", "\tst.global.u32 [odd], %r1;\n"), NULL);
    expect(HEAD SCALE("", "\tbra NOWHERE;\n"), NULL);
}

TEST(parameters_that_are_no_numbers_cannot_be_written)
{
    expect(HEAD SCALE("", "\tld.param.f32 %f2, [scale_param_0+4];\n"), NULL);
    expect(HEAD SCALE("", "\tld.param.f32 %f2, [scale_param_1+4];\n"), NULL);
    expect(HEAD SCALE("", "\tld.param.u32 %r1, [scale_param_0];\n"), NULL);
    expect(HEAD SCALE("", "\tmov.b64 %rd2, scale_param_0;\n"), NULL);
    expect(HEAD ".visible .entry scale(.param .align 4 .b8 scale_param_0[12])\n{\n\tret;\n}\n",
           NULL);
}

TEST(what_a_function_returns_is_no_parameter)
{
    char *out =
        inlined(HEAD ".visible .entry scale()\n{\n\t.reg .f32 %f<2>;\n\t.param .f32 returned;\n"
                     "\tld.param.f32 %f1, [returned];\n\tret;\n}\n",
                &entry, 1);
    assert_non_null(out);
    assert_non_null(strstr(out, "\"ld.param.f32 %%f1, [returned];\\n\""));
    free(out);
}

TEST(launch_settings_that_only_ptx_has_cannot_be_written)
{
    static const char *const directives[] = {".reqntid 64\n",        ".reqnctapercluster 2\n",
                                             ".maxclusterrank 4\n",  ".explicitcluster\n",
                                             ".blocksareclusters\n", ".maxnreg 64\n"};
    for (size_t i = 0; i < sizeof directives / sizeof *directives; i++) {
        char text[1024];
        snprintf(text, sizeof text, "%s.visible .entry scale()\n%s{\n\tret;\n}\n", HEAD,
                 directives[i]);
        expect(text, NULL);
    }
}

TEST(all_kernels_of_a_module_are_written_or_none)
{
    static const char *const entries[] = {"first", "absent", "second"};
    static const char good[] = HEAD ".entry second()\n{\n\tret;\n}\n.entry first()\n{\n\tret;\n}\n";
    static const char mixed[] =
        HEAD ".entry second()\n.maxnreg 64\n{\n\tret;\n}\n.entry first()\n{\n\tret;\n}\n";
    char *out = inlined(good, entries, 3);
    assert_non_null(out);
    const char *first = strstr(out, "__global__ void first()"),
               *second = strstr(out, "__global__ void second()");
    assert_true(first && second && first < second && !strstr(out, "absent"));
    free(out);
    assert_null(inlined(mixed, entries, 3));
    assert_null(inlined(good, &entries[1], 1));
}

TEST(text_that_is_not_ptx_is_an_error)
{
    char *out;
    at_error error = {0};
    assert_int_equal(export_inline_ptx("int main;", 9, entry, &(export_entry){0}, 1, &out, &error),
                     AT_FORMAT);
    assert_null(out);
}

/* ---- inlined kernels run ---- */

/* Prints the lines of the literals in an asm statement. `operands` replace %0, %1 ... */
static void print_assembly(const char *kernel, const char *const *operands, FILE *to)
{
    const char *at = strstr(kernel, "asm volatile(") + strlen("asm volatile(");
    for (; *at == '"'; at += strspn(at, " \n")) {
        for (at++; *at != '"'; at++) {
            if (at[0] == '\\' && at[1] == 'n')
                at++;
            else if (at[0] == '%' && at[1] == '%')
                fputc(*at++, to);
            else if (at[0] == '%')
                fputs(operands[*++at - '0'], to);
            else
                fputc(*at, to);
        }
        at++;
        fputc('\n', to);
    }
}

/* Runs a kernel whose parameters are a pointer and a number. It has 32 threads and dynamic
 * shared memory. */
static void run(const char *text, const char *name, float factor, float results[THREADS])
{
    uint8_t valid[THREADS * sizeof(float)] = {0}, parameters[16] = {0};
    const uint64_t address = BUFFER_BASE;
    sim_region buffer = {.name = "buffer",
                         .base = BUFFER_BASE,
                         .size_bytes = THREADS * sizeof(float),
                         .bytes = (uint8_t *)results,
                         .valid = valid};
    sim_kernel k;
    sim_memory memory = {0};
    sim_fault fault;
    at_error error = {0};
    memcpy(parameters, &address, sizeof address);
    memcpy(parameters + 8, &factor, sizeof factor);
    assert_ok(sim_kernel_init(&k, text, strlen(text), name, &name, 1, &error), error);
    assert_ok(sim_memory_add(&memory, &buffer, &error), error);
    sim_launch launch = {.program = k.programs[0],
                         .memory = &memory,
                         .parameters = parameters,
                         .grid = {1, 1, 1},
                         .block = {THREADS, 1, 1},
                         .dynamic_shared_bytes = THREADS * sizeof(float),
                         .check = true,
                         .threads = 1};
    assert_ok(sim_run(&launch, &fault, &error), error);
    if (fault.kind != SIM_FAULT_NONE)
        fail_msg("%s", fault.message);
    sim_memory_deinit(&memory);
    sim_kernel_deinit(&k);
}

/* The compiler may give operands the register names that the kernel uses. */
TEST(an_inlined_kernel_has_the_same_results)
{
    static const char text[] = HEAD ".extern .shared .align 16 .b8 tile[];\n" SCALE(
        ".maxntid 32\n",
        "\tmov.u32 %r1, %tid.x;\n\tcvt.rn.f32.u32 %f2, %r1;\n\tmul.f32 %f2, %f2, %f1;\n"
        "\tmul.wide.u32 %rd2, %r1, 4;\n\tmov.u64 %rd3, tile;\n\tadd.s64 %rd3, %rd3, %rd2;\n"
        "\tst.shared.f32 [%rd3], %f2;\n\tbar.sync 0;\n\txor.b32 %r2, %r1, 31;\n"
        "\tshl.b32 %r2, %r2, 2;\n\tmov.u32 %r1, tile;\n\tadd.s32 %r2, %r2, %r1;\n"
        "\tld.shared.f32 %f2, [%r2];\n\tadd.s64 %rd2, %rd1, %rd2;\n"
        "\tst.global.f32 [%rd2], %f2;\n");
    static const char *const operands[] = {"%rd1", "%r1", "%rd3"};
    float expected[THREADS], results[THREADS];
    char *kernel = inlined(text, &entry, 1), *compiled;
    size_t size_bytes;
    assert_non_null(kernel);
    FILE *to = open_memstream(&compiled, &size_bytes);
    fputs(HEAD ".extern .shared .align 16 .b8 outer_tile[];\n"
               ".visible .entry outer(.param .u64 outer_param_0, .param .u32 outer_param_1)\n{\n"
               ".reg .b64 %rd<4>;\n.reg .b32 %r<2>;\n"
               "ld.param.u64 %rd1, [outer_param_0];\nld.param.u32 %r1, [outer_param_1];\n"
               "mov.u64 %rd2, outer_tile;\ncvta.shared.u64 %rd3, %rd2;\n",
          to);
    print_assembly(kernel, operands, to);
    fputs("ret;\n}\n", to);
    fclose(to);
    run(text, "scale", 1.5f, expected);
    run(compiled, "outer", 1.5f, results);
    for (int i = 0; i < THREADS; i++) {
        assert_true(expected[i] == 1.5f * (float)(THREADS - 1 - i));
        assert_true(results[i] == expected[i]);
    }
    free(kernel);
    free(compiled);
}
