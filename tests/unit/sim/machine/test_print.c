/* Tests printf() and assert(). The text must not depend on the number of host threads. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim_fixture.h"

/* Runs a kernel without arguments. Returns the text that it printed before its fault or end. */
static char *printed_by(const char *source, uint32_t blocks, uint32_t threads, int host_threads,
                        sim_fault *fault)
{
    sim_test t;
    sim_prints prints;
    sim_prints_init(&prints);
    sim_test_init(&t, source, "sm_90", NULL);
    t.prints = &prints;
    t.threads = host_threads;
    sim_test_run(&t, blocks, 1, threads, 1, 0);
    const sim_launch launch = {.grid = {blocks, 1, 1}, .block = {threads, 1, 1}};
    char *text = sim_prints_text(&prints, t.fault.kind ? sim_print_order(&launch, t.fault.at.block)
                                                       : UINT64_MAX);
    *fault = t.fault;
    sim_test_deinit(&t);
    sim_prints_deinit(&prints);
    return text;
}

TEST(values_are_printed_as_the_format_says)
{
    sim_fault fault;
    char *text =
        printed_by("extern \"C\" __global__ void k()\n{\n"
                   "    short h = -3; unsigned char c = 200; long long w = 1ll << 40;\n"
                   "    printf(\"[%5d] [%-5d] [%+05d] [%x] [%#o] %u\\n\", 7, 7, 7, 255, 8, -1);\n"
                   "    printf(\"%c%c %hd %hhu %lld %zu %s [%5s] [%.2s]\\n\", 'o', 'k', h, c, w, "
                   "sizeof w, \"text\", \"ab\", \"abc\");\n"
                   "    printf(\"%.3f %e %g [%8.2f] [%*d] [%.*f] %p %% %q\\n\", 3.14159, 1e10, "
                   "0.1, 2.5f, 4, 5, 1, 2.25, (void *)16);\n"
                   "    if (printf(\"%d%%%d\\n\", 1, 2) != 2) printf(\"miscounted\\n\");\n"
                   "}\n",
                   1, 1, 1, &fault);
    assert_int_equal(fault.kind, SIM_FAULT_NONE);
    assert_non_null(text);
    assert_string_equal(text, "[    7] [7    ] [+0007] [ff] [010] 4294967295\n"
                              "ok -3 200 1099511627776 8 text [   ab] [ab]\n"
                              "3.142 1.000000e+10 0.1 [    2.50] [   5] [2.2] 0x10 % %q\n"
                              "1%2\n");
    free(text);
}

TEST(the_text_is_bounded_and_does_not_depend_on_host_threads)
{
    static const char source[] = "extern \"C\" __global__ void k()\n{\n"
                                 "    if (threadIdx.x % 8 == 0) printf(\"block %d thread %d\\n\", "
                                 "blockIdx.x, threadIdx.x);\n"
                                 "}\n";
    sim_fault fault;
    char *first = printed_by(source, 500, 64, 1, &fault);
    assert_non_null(first);
    assert_memory_equal(first, "block 0 thread 0\nblock 0 thread 8\n", 34);
    assert_true(strlen(first) < SIM_PRINT_BYTES + 32);
    assert_non_null(strstr(first, "\n... (and more)\n"));
    for (int run = 0; run < 4; run++) {
        char *again = printed_by(source, 500, 64, 4, &fault);
        assert_non_null(again);
        assert_string_equal(again, first);
        free(again);
    }
    free(first);
}

TEST(a_launch_that_prints_nothing_has_no_text)
{
    sim_fault fault;
    assert_null(
        printed_by("extern \"C\" __global__ void k()\n{ if (gridDim.x > 9) printf(\"many\"); }\n",
                   2, 32, 2, &fault));
}

TEST(a_failed_assertion_ends_the_run_with_its_text)
{
    sim_fault fault;
    char *text = printed_by("extern \"C\" __global__ void k()\n"
                            "{\n"
                            "    if (threadIdx.x == 0) printf(\"block %d\\n\", blockIdx.x);\n"
                            "    assert(blockIdx.x < 3 && \"three blocks\");\n"
                            "    assert(threadIdx.x < 64);\n"
                            "}\n",
                            40, 64, 2, &fault);
    assert_int_equal(fault.kind, SIM_FAULT_ASSERTION);
    assert_int_equal(fault.at.block[0], 3);
    assert_non_null(strstr(fault.message, "assertion failed in k at test.cu:4"));
    assert_non_null(
        strstr(fault.message, "blockIdx.x < 3 && \"three blocks\" (test.cu:4, void k())"));
    assert_non_null(text);
    assert_string_equal(text, "block 0\nblock 1\nblock 2\nblock 3\n");
    free(text);
}

/* Reads the address of the workspace as cooperative_groups does. */
TEST(the_special_registers_hold_the_address_of_the_workspace)
{
    sim_test t;
    uint32_t workspace[2] = {0}, seen = 0;
    sim_test_init(&t,
                  "extern \"C\" __global__ void k(unsigned long long *seen)\n{\n"
                  "    unsigned high, low;\n"
                  "    asm(\"mov.u32 %0, %%envreg1;\" : \"=r\"(high));\n"
                  "    asm(\"mov.u32 %0, %%envreg2;\" : \"=r\"(low));\n"
                  "    unsigned *at = (unsigned *)((unsigned long long)high << 32 | low);\n"
                  "    if (at) atomicAdd(at + 1, 5u);\n"
                  "}\n",
                  "sm_90", NULL);
    sim_test_u64(&t, sim_test_buffer(&t, "seen", &seen, sizeof seen, true));
    sim_test_run_well(&t, 4, 1, 1, 1, 0);
    assert_int_equal(workspace[1], 0);
    t.workspace = sim_test_buffer(&t, "workspace", workspace, sizeof workspace, true);
    sim_test_run_well(&t, 4, 1, 1, 1, 0);
    assert_int_equal(workspace[1], 20);
    sim_test_deinit(&t);
}
