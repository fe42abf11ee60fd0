/* Tests that unordered accesses of lanes, warps and blocks are faults, and ordered ones are not. */
#include "sim/machine/fault_fixture.h"

TEST(a_missing_barrier_is_a_race_between_warps)
{
    sim_test t;
    assert_fault("__shared__ int s[64]; s[threadIdx.x] = in[threadIdx.x]; __syncthreads(); "
                 "out[threadIdx.x] = s[63 - threadIdx.x];",
                 1, 64, SIM_FAULT_NONE, NULL);
    sim_fault_kind kind = run(&t,
                              "extern \"C\" __global__ void k(const int *in, int *out)\n"
                              "{ __shared__ int s[64]; s[threadIdx.x] = in[threadIdx.x]; "
                              "out[threadIdx.x] = s[63 - threadIdx.x]; }\n",
                              64);
    /* The warp that runs first reads values that the other warp writes later. */
    assert_true(kind == SIM_FAULT_RACE || kind == SIM_FAULT_UNINITIALISED);
    sim_test_deinit(&t);
}

TEST(overwriting_what_another_warp_reads_is_a_race)
{
    assert_fault("\n"
                 "    __shared__ int s[64];\n"
                 "    s[threadIdx.x] = in[threadIdx.x];\n"
                 "    __syncthreads();\n"
                 "    if (threadIdx.x < 32) out[threadIdx.x] = s[threadIdx.x + 32];\n"
                 "    else s[threadIdx.x] = 1;\n"
                 "    __syncthreads();\n"
                 "    out[threadIdx.x] = s[threadIdx.x];",
                 1, 64, SIM_FAULT_RACE,
                 "test.cu:7 ... written by this thread after a read by thread");
}

TEST(lanes_that_synchronise_their_warp_may_share_memory)
{
#define SHARE "__shared__ int s[32]; s[threadIdx.x] = in[threadIdx.x]; "
    assert_fault(SHARE "__syncwarp(); out[threadIdx.x] = s[31 - threadIdx.x];", 1, 32,
                 SIM_FAULT_NONE, NULL);
    assert_fault(SHARE "out[threadIdx.x] = s[31 - threadIdx.x];", 1, 32, SIM_FAULT_RACE, NULL);
#undef SHARE
}

/* Accesses of whole warps are tracked by line, not by thread. The message must find the thread. */
TEST(a_race_with_a_whole_warp_names_the_conflicting_thread)
{
    assert_fault("__shared__ int s[32]; int x = threadIdx.x; if (x < 32) s[x] = in[x]; "
                 "if (x == 40) out[0] = s[7];",
                 1, 64, SIM_FAULT_RACE, "by thread (7,0,0) without a barrier");
    assert_fault("int x = threadIdx.x; if (x < 32) ((int2 *)out)[x] = ((int2 *)in)[x]; "
                 "if (x == 40) in[0] = out[9];",
                 1, 64, SIM_FAULT_RACE, "after a write by thread (4,0,0)");
    assert_fault("int x = threadIdx.x; if (x < 32) out[x] = in[x]; "
                 "__syncthreads(); if (x == 40) in[0] = out[9]; __syncthreads(); "
                 "if (x < 32) out[x] = in[x] + x;",
                 1, 64, SIM_FAULT_NONE, NULL);
    assert_fault("int x = threadIdx.x; if (x < 32) out[x] = in[x]; __syncthreads(); "
                 "if (x == 40) in[0] = out[9]; if (x < 32) out[x] = -1 - x;",
                 1, 64, SIM_FAULT_RACE, "byte 36 of out");
}

TEST(warps_that_write_one_line_race_unless_values_are_equal)
{
    assert_fault("int l = threadIdx.x % 32; out[l] = l;", 1, 64, SIM_FAULT_NONE, NULL);
    assert_fault("int l = threadIdx.x % 32; out[l] = threadIdx.x;", 1, 64, SIM_FAULT_RACE,
                 "byte 0 of out");
    assert_fault("int l = threadIdx.x % 32; out[l] = l == 5 ? threadIdx.x : l;", 1, 64,
                 SIM_FAULT_RACE, "byte 20 of out");
    assert_fault("int l = threadIdx.x; out[l] = blockIdx.x;", 2, 32, SIM_FAULT_RACE,
                 "byte 0 of out");
    assert_fault("int l = threadIdx.x; out[l] = l; if (blockIdx.x) in[l] = out[31 - l];", 2, 32,
                 SIM_FAULT_RACE, "byte 124 of out");
}

TEST(two_lanes_that_write_different_values_to_one_address_race)
{
    assert_fault("__shared__ int s; s = in[threadIdx.x]; __syncthreads(); out[threadIdx.x] = s;", 1,
                 32, SIM_FAULT_RACE, NULL);
    assert_fault("__shared__ int s; s = in[3]; __syncthreads(); out[threadIdx.x] = s;", 1, 64,
                 SIM_FAULT_NONE, NULL);
}

TEST(blocks_that_write_different_values_to_one_address_race)
{
    assert_fault("out[threadIdx.x] = blockIdx.x;", 2, 32, SIM_FAULT_RACE,
                 "byte 0 of out: written by this thread and by thread (0,0,0) of block");
    assert_fault("out[threadIdx.x] = 5;", 2, 32, SIM_FAULT_NONE, NULL);
    assert_fault("atomicExch(out + threadIdx.x, blockIdx.x);", 2, 32, SIM_FAULT_NONE, NULL);
    assert_fault("in[threadIdx.x] = atomicExch(out + threadIdx.x, 5);", 1, 32,
                 SIM_FAULT_UNINITIALISED, NULL);
    assert_fault("atomicAdd(in + threadIdx.x, blockIdx.x);", 2, 32, SIM_FAULT_NONE, NULL);
    assert_fault("in[threadIdx.x] += blockIdx.x;", 2, 32, SIM_FAULT_RACE, "of in");
}

TEST(a_read_of_another_blocks_write_needs_a_fence)
{
    static const char *const form[] = {
        "__shared__ bool last; if (threadIdx.x == 0) { out[blockIdx.x] = blockIdx.x + 7; ",
        " last = atomicAdd(in, 1) == 3; } __syncthreads();"
        " if (last && threadIdx.x == 0) { int s = 0; for (int i = 0; i < 4; i++) s += __ldcg(out + "
        "i); out[8] = s; }"};
    static const char story[] = "without a fence and an atomic between";
    assert_fault_with(form, "__threadfence();", 4, 32, SIM_FAULT_NONE, NULL);
    assert_fault_with(form, "", 4, 32, SIM_FAULT_RACE, story);
    assert_fault_with(form, "__threadfence_block();", 4, 32, SIM_FAULT_RACE, story);
}

/* Blocks run in order. The reader is the last block and finds all values. */
TEST(an_atomic_that_reads_a_release_orders_the_published_writes)
{
    static const char form[] =
        "extern \"C\" __global__ void k(int *in, int *out) { if (threadIdx.x == 0) {"
        " %s out[blockIdx.x] = blockIdx.x; __threadfence(); %s"
        " if (blockIdx.x == 3) { %s int s = 0; for (int i = 0; i < 4; i++) s += __ldcg(out + i); "
        "out[8] = s; } } }";
    static const struct {
        const char *before, *behind, *reader;
        sim_fault_kind wanted;
    } cases[] = {{"", "if (atomicAdd(in, 1) < 0) return;", "", SIM_FAULT_NONE},
                 {"", "atomicAdd(in, 1);", "", SIM_FAULT_RACE},
                 {"", "", "atomicAdd(in, 1);", SIM_FAULT_RACE},
                 {"atomicAdd(in, 1);", "", "atomicAdd(in, 1);", SIM_FAULT_RACE},
                 {"", "if (blockIdx.x < 3) atomicAdd(in, 1);", "", SIM_FAULT_RACE}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char source[768];
        sim_test t;
        snprintf(source, sizeof source, form, cases[i].before, cases[i].behind, cases[i].reader);
        assert_int_equal(run_on(1, &t, source, 4, 32), cases[i].wanted);
        if (cases[i].wanted == SIM_FAULT_RACE)
            assert_story(&t, "without a fence and an atomic between");
        sim_test_deinit(&t);
    }
}

/* One block stores a value and sets a flag. Another block sees the flag and reads the value. The
 * memory orders decide whether the accesses race. */
TEST(a_flag_orders_the_writes_before_its_release)
{
    static const char form[] =
        "extern \"C\" __global__ void k(int *in, int *out) { if (threadIdx.x > 0) return;"
        " volatile int *flag = in;"
        " if (blockIdx.x == 0) { out[0] = 7; %s } else { %s out[1] = out[0]; } }";
#define SET(order) "asm volatile(\"st." order ".global.u32 [%0], 1;\" :: \"l\"(in) : \"memory\");"
#define AWAIT(order)                                                                               \
    "int seen; do asm volatile(\"ld." order                                                        \
    ".global.u32 %0, [%1];\" : \"=r\"(seen) : \"l\"(in) : \"memory\");"                            \
    " while (seen == 0);"
    static const struct {
        const char *set, *await;
        bool is_right;
    } cases[] = {
        {"__threadfence(); *flag = 1;", "while (*flag == 0); __threadfence();", true},
        {"__threadfence(); *flag = 1;", "while (*flag == 0);", false},
        {"__threadfence(); *flag = 1;", "__threadfence(); while (*flag == 0);", false},
        {"*flag = 1; __threadfence();", "while (*flag == 0); __threadfence();", false},
        {"__threadfence_block(); *flag = 1;", "while (*flag == 0); __threadfence();", false},
        {"__threadfence(); *flag = 1;", "while (*flag == 0); __threadfence_block();", false},
        {"__threadfence(); flag[1] = 1; *flag = 1;", "(void)flag[2]; __threadfence();", false},
        {SET("release.gpu"), AWAIT("acquire.gpu"), true},
        {SET("release.sys"), AWAIT("acquire.gpu"), true},
        {SET("release.gpu"), AWAIT("relaxed.gpu") " __threadfence();", true},
        {SET("release.gpu"), AWAIT("relaxed.gpu"), false},
        {SET("relaxed.gpu"), AWAIT("acquire.gpu"), false},
        {SET("release.cta"), AWAIT("acquire.gpu"), false},
        {SET("release.cluster"), AWAIT("acquire.gpu"), false},
        {SET("release.gpu"), AWAIT("acquire.cta"), false},
        {SET("release.gpu"), AWAIT("acquire.cluster"), false},
        {"__threadfence(); atomicExch(in, 1);", "while (atomicAdd(in, 0) == 0); __threadfence();",
         true},
        {"atomicExch(in, 1);", "while (atomicAdd(in, 0) == 0); __threadfence();", false},
        {"__threadfence(); atomicExch_block(in, 1);",
         "while (atomicAdd(in, 0) == 0); __threadfence();", false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char source[1024];
        int in[4] = {0}, out[2] = {0};
        sim_test t;
        snprintf(source, sizeof source, form, cases[i].set, cases[i].await);
        sim_test_init(&t, source, "sm_90", NULL);
        sim_test_u64(&t, sim_test_buffer(&t, "in", in, sizeof in, true));
        sim_test_u64(&t, sim_test_buffer(&t, "out", out, sizeof out, false));
        sim_fault_kind found = sim_test_run(&t, 2, 1, 32, 1, 0);
        if (found != (cases[i].is_right ? SIM_FAULT_NONE : SIM_FAULT_RACE))
            fail_msg("%s %s: %s", cases[i].set, cases[i].await, t.fault.message);
        sim_test_deinit(&t);
    }
}

/* Two blocks read the values one after the other. A third block overwrites the values. */
TEST(each_reading_block_must_release_before_another_block_overwrites)
{
    static const char form[] =
        "extern \"C\" __global__ void k(int *in, int *out) { if (threadIdx.x == 0) {"
        " if (blockIdx.x < 2) { out[blockIdx.x] = __ldcg(in + 8); __threadfence(); if (%s) "
        "atomicAdd(in, 1); }"
        " else if (atomicAdd(in, 1) >= 0) in[8] = -1; } }";
    static const char *const publish[] = {"true", "blockIdx.x == 0", "blockIdx.x == 1"};
    for (size_t i = 0; i < sizeof publish / sizeof *publish; i++) {
        char source[768];
        sim_test t;
        snprintf(source, sizeof source, form, publish[i]);
        assert_int_equal(run_on(1, &t, source, 3, 32), i ? SIM_FAULT_RACE : SIM_FAULT_NONE);
        if (i)
            assert_story(&t, "written by this thread after a read by");
        sim_test_deinit(&t);
    }
}

TEST(overwriting_what_another_block_reads_is_a_race)
{
    assert_fault(
        "out[threadIdx.x + 32 * blockIdx.x] = in[(threadIdx.x + 32 * blockIdx.x + 1) % 64];"
        " in[threadIdx.x + 32 * blockIdx.x] = -1;",
        2, 32, SIM_FAULT_RACE, "of in");
}

TEST(barriers_order_global_memory_within_a_block)
{
    static const char *const form[] = {"in[threadIdx.x] = threadIdx.x + 100; ",
                                       " out[threadIdx.x] = in[63 - threadIdx.x];"};
    assert_fault_with(form, "__syncthreads();", 1, 64, SIM_FAULT_NONE, NULL);
    assert_fault_with(form, "", 1, 64, SIM_FAULT_RACE, "without a barrier between");
}

TEST(a_warp_barrier_orders_only_the_lanes_of_its_mask)
{
    static const char *const form[] = {"__shared__ int s[32]; s[threadIdx.x] = threadIdx.x;"
                                       " __syncwarp(threadIdx.x < 16 ? 0xffffu : 0xffff0000u);"
                                       " out[threadIdx.x] = s[threadIdx.x ^ ",
                                       "];"};
    assert_fault_with(form, "15", 1, 32, SIM_FAULT_NONE, NULL);
    assert_fault_with(form, "31", 1, 32, SIM_FAULT_RACE, "without a barrier between");
}

TEST(a_copy_to_memory_that_other_threads_still_read_is_a_race)
{
    static const char *const form[] = {
        "__shared__ int s[64]; s[threadIdx.x] = in[threadIdx.x]; __syncthreads();"
        " out[threadIdx.x] = s[63 - threadIdx.x]; ",
        " asm volatile(\"cp.async.ca.shared.global [%0], [%1], 4; cp.async.wait_all;\""
        " :: \"r\"((unsigned)__cvta_generic_to_shared(s + threadIdx.x)), \"l\"(in + threadIdx.x));"
        " __syncthreads(); out[threadIdx.x] += s[63 - threadIdx.x];"};
    assert_fault_with(form, "__syncthreads();", 1, 64, SIM_FAULT_NONE, NULL);
    assert_fault_with(form, "", 1, 64, SIM_FAULT_RACE, "without a barrier between");
}
