/* Tests that a fault names the place and the cause of each kind of mistake. */
#include "sim/machine/fault_fixture.h"

#include "device/plan.h"

TEST(a_write_past_a_buffer_names_buffer_thread_and_line)
{
    sim_test t;
    sim_fault_kind kind = run(&t,
                              "extern \"C\" __global__ void k(const int *in, int *out)\n"
                              "{\n"
                              "    out[threadIdx.x + 1] = in[threadIdx.x];\n"
                              "}\n",
                              64);
    assert_int_equal(kind, SIM_FAULT_BOUNDS);
    assert_int_equal(t.fault.at.thread[0], 63);
    assert_story(&t, "write of 4 bytes");
    assert_story(&t, "0 bytes after the end of out (256 bytes)");
    assert_story(&t, "test.cu:3");
    assert_story(&t, "thread (63,0,0) of block (0,0,0)");
    sim_test_deinit(&t);
}

TEST(faults_name_elements_if_the_plan_gives_the_element_type)
{
    static const buffer_plan matrix = {
        .name = "m", .type = DTYPE_FLOAT, .count = 12, .rank = 2, .shape = {3, 4}};
    static const struct {
        const char *body;
        sim_fault_kind kind;
        const char *story;
    } cases[] = {{"m[4 * threadIdx.x] = 1;", SIM_FAULT_BOUNDS,
                  "m[3][0], 0 bytes after the end of m (48 bytes)"},
                 {"m[13] = 1;", SIM_FAULT_BOUNDS, "m[3][1], 4 bytes after the end of m (48 bytes)"},
                 {"m[-1] = 1;", SIM_FAULT_BOUNDS,
                  "global address 0xffffffffc, 4 bytes before the start of m (48 bytes)"},
                 {"m[0] = m[6];", SIM_FAULT_UNINITIALISED, "m[1][2], byte 24 of m (48 bytes)"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sim_test t;
        char source[256];
        float elements[12] = {0};
        snprintf(source, sizeof source, "extern \"C\" __global__ void k(float *m)\n{ %s }\n",
                 cases[i].body);
        sim_test_init(&t, source, "sm_90", NULL);
        sim_test_u64(&t, sim_test_buffer(&t, "m", elements, sizeof elements, false));
        t.memory.regions[0].plan = &matrix;
        assert_int_equal(sim_test_run(&t, 1, 1, 4, 1, 0), cases[i].kind);
        assert_story(&t, cases[i].story);
        sim_test_deinit(&t);
    }
}

TEST(faults_name_the_array_in_shared_memory)
{
    static const char source[] =
        "extern __shared__ int more[];\n"
        "template <int N> __device__ void meet(int *out, int on) {\n"
        "    __shared__ int first[8], part[N];\n"
        "    first[threadIdx.x %% 8] = 1;\n"
        "    %s\n"
        "    out[threadIdx.x] = first[0] + part[on] + more[on];\n"
        "}\n"
        "extern \"C\" __global__ void k(int *in, int *out) { meet<64>(out, in[2]); }\n"
        "extern \"C\" __global__ void other(int *out) { __shared__ int alone[9]; "
        "alone[threadIdx.x] = 1; __syncthreads();\n"
        "    out[0] = alone[3]; }\n";
    static const struct {
        const char *body, *story;
    } cases[] = {
        {"more[threadIdx.x % 8] = 1; __syncthreads();", "byte 8 of part (shared memory byte "},
        {"part[threadIdx.x] = 1; __syncthreads();", "byte 8 of more (shared memory byte "}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sim_test t;
        int in[64] = {0, 0, 2}, out[64];
        char text[1024];
        snprintf(text, sizeof text, source, cases[i].body);
        sim_test_init(&t, text, "sm_90", "k");
        sim_test_u64(&t, sim_test_buffer(&t, "in", in, sizeof in, true));
        sim_test_u64(&t, sim_test_buffer(&t, "out", out, sizeof out, false));
        assert_int_equal(sim_test_run(&t, 1, 1, 32, 1, 64), SIM_FAULT_UNINITIALISED);
        assert_story(&t, cases[i].story);
        sim_test_deinit(&t);
    }
}

TEST(a_read_before_a_buffer_is_out_of_bounds)
{
    assert_fault("out[threadIdx.x] = in[(int)threadIdx.x - 3];", 1, 32, SIM_FAULT_BOUNDS,
                 "12 bytes before the start of in");
}

TEST(accesses_past_shared_and_local_arrays_are_faults)
{
    assert_fault("__shared__ int s[32]; s[in[threadIdx.x] + 1] = 1; __syncthreads(); "
                 "out[threadIdx.x] = s[in[threadIdx.x]];",
                 1, 32, SIM_FAULT_BOUNDS, "write of 4 bytes at byte 128 of s, which has 128 bytes");
    assert_fault("extern __shared__ int s[]; s[threadIdx.x] = in[0]; out[0] = s[1];", 1, 32,
                 SIM_FAULT_BOUNDS,
                 "byte 0 of s, which has 0 bytes: kernel = { shared = BYTES } gives its size");
    assert_fault("int l[8]; for (int i = 0; i < 8; i++) l[i] = in[i]; l[in[threadIdx.x] & 15] = 7; "
                 "out[threadIdx.x] = l[in[3] & 7];",
                 1, 32, SIM_FAULT_BOUNDS, "local address 32, where 32 bytes exist");
}

TEST(a_misaligned_vector_load_is_a_fault)
{
    assert_fault("int2 v = ((const int2 *)(in + 1))[threadIdx.x]; out[threadIdx.x] = v.x + v.y;", 1,
                 8, SIM_FAULT_MISALIGNED, "for 8 bytes");
    assert_fault(
        "asm volatile(\"{ .reg .b128 q; ld.global.b128 q, [%0]; st.global.b128 [%1], q; }\" "
        ":: \"l\"(in + 2), \"l\"(out) : \"memory\");",
        1, 1, SIM_FAULT_MISALIGNED, "for 16 bytes");
    assert_fault("asm volatile(\"{ .reg .b128 q; mov.b128 q, {%0, %0}; atom.global.exch.b128 q, "
                 "[%0], q; }\" :: \"l\"(in + 2) : \"memory\");",
                 1, 1, SIM_FAULT_MISALIGNED, "for 16 bytes");
}

TEST(reads_of_unwritten_memory_are_faults)
{
    assert_fault("out[threadIdx.x] += in[threadIdx.x];", 1, 8, SIM_FAULT_UNINITIALISED,
                 "byte 0 of out");
    assert_fault("__shared__ int s[33]; s[threadIdx.x] = in[threadIdx.x]; __syncthreads(); "
                 "out[threadIdx.x] = s[threadIdx.x + 1];",
                 1, 32, SIM_FAULT_UNINITIALISED,
                 "byte 128 of s (shared memory byte 128 of 132), to which no value was written, "
                 "read at test.cu:2");
}

TEST(a_barrier_that_some_lanes_miss_is_a_fault)
{
    sim_test t;
    sim_fault_kind kind =
        run(&t,
            "extern \"C\" __global__ void k(const int *in, int *out)\n"
            "{ if (in[threadIdx.x] < 7) __syncthreads(); out[threadIdx.x] = 1; }\n",
            32);
    assert_int_equal(kind, SIM_FAULT_BARRIER);
    assert_int_equal(t.fault.at.thread[0], 7);
    sim_test_deinit(&t);
    /* The barrier does not wait for threads that have exited. */
    assert_fault("if (in[threadIdx.x] >= 7) return; __syncthreads(); out[threadIdx.x] = 1;", 1, 32,
                 SIM_FAULT_NONE, NULL);
}

TEST(a_shuffle_that_some_lanes_of_its_mask_miss_is_a_fault)
{
    assert_fault("int v = in[threadIdx.x]; if (v < 9) v = __shfl_xor_sync(~0u, v, 1) + 2; "
                 "out[threadIdx.x] = v;",
                 1, 32, SIM_FAULT_SHUFFLE, NULL);
}

TEST(an_endless_loop_reaches_the_limit_of_instructions)
{
    sim_test t;
    sim_fault_kind kind =
        run(&t,
            "extern \"C\" __global__ void k(volatile int *in, volatile int *out)\n"
            "{ int sum = 0;\n"
            "for (int i = 0; in[0] == 0; i++) {\n"
            "    sum += in[i % 8];\n"
            "    out[threadIdx.x] = sum;\n"
            "} }\n",
            32);
    assert_int_equal(kind, SIM_FAULT_BUDGET);
    assert_story(&t, "not ended in k at test.cu:3 ");
    sim_test_deinit(&t);
}

TEST(a_launch_that_reaches_its_limit_names_the_loop)
{
    sim_test t;
    int in[8] = {0};
    sim_test_init(&t,
                  "extern \"C\" __global__ void k(volatile int *in)\n{\n"
                  "    int sum = 0;\n"
                  "    for (int i = 0; i < 1 << 30; i++)\n"
                  "        sum += in[i % 8];\n"
                  "    in[0] = sum;\n"
                  "}\n",
                  "sm_90", NULL);
    sim_test_u64(&t, sim_test_buffer(&t, "in", in, sizeof in, true));
    t.work_limit = 100000;
    assert_int_equal(sim_test_run(&t, 1, 1, 64, 1, 0), SIM_FAULT_LATE);
    assert_story(&t, "not ended in k at test.cu:4 ");
    sim_test_deinit(&t);
}

TEST(a_loop_that_repeats_its_state_is_endless)
{
    assert_fault("\n"
                 "    int at = in[threadIdx.x] & 7;\n"
                 "    while (at != 9)\n"
                 "        at = (at * 5 + 1) & 7;\n"
                 "    out[threadIdx.x] = at;",
                 1, 32, SIM_FAULT_ENDLESS, "endless loop in k at test.cu:5 ");
}

TEST(a_loop_that_reaches_new_states_is_no_fault)
{
    assert_fault("\n"
                 "    unsigned at = in[threadIdx.x], sum = 0;\n"
                 "    for (unsigned i = 1; i != 40000; i++)\n"
                 "        sum |= sum * 3 + i;\n"
                 "    out[threadIdx.x] = sum + at;",
                 1, 32, SIM_FAULT_NONE, NULL);
}

TEST(a_loop_that_changes_only_memory_is_endless)
{
    assert_fault("\n"
                 "    __shared__ int part[64];\n"
                 "    part[threadIdx.x] = in[threadIdx.x];\n"
                 "    for (int half = 32; half > 0; half /= 1) {\n"
                 "        __syncthreads();\n"
                 "        if (threadIdx.x < half)\n"
                 "            part[threadIdx.x] += part[threadIdx.x + half];\n"
                 "    }\n"
                 "    out[threadIdx.x] = part[threadIdx.x];",
                 1, 64, SIM_FAULT_ENDLESS, "all values that its branches depend on are the same");
}

TEST(a_loop_that_memory_ends_is_no_fault)
{
    assert_fault("\n"
                 "    __shared__ int part[64];\n"
                 "    part[threadIdx.x] = 0;\n"
                 "    while (part[threadIdx.x] < 60000)\n"
                 "        part[threadIdx.x] += 1 + (in[threadIdx.x] & 0);\n"
                 "    out[threadIdx.x] = part[threadIdx.x];",
                 1, 32, SIM_FAULT_NONE, NULL);
}

TEST(a_poll_of_memory_that_nothing_changes_is_a_deadlock)
{
    sim_test t;
    sim_fault_kind kind = run(&t,
                              "extern \"C\" __global__ void k(volatile int *in, int *out)\n"
                              "{\n"
                              "    while (in[0] == 0) ;\n"
                              "    out[threadIdx.x] = 1;\n"
                              "}\n",
                              32);
    assert_int_equal(kind, SIM_FAULT_DEADLOCK);
    assert_story(&t, "test.cu:3");
    assert_story(&t, "no running thread changes");
    sim_test_deinit(&t);
}

TEST(a_trap_is_a_crash)
{
    sim_test t;
    sim_fault_kind kind = run(&t,
                              "extern \"C\" __global__ void k(const int *in, int *out)\n"
                              "{ if (in[threadIdx.x] == 5) __trap(); out[threadIdx.x] = 1; }\n",
                              32);
    assert_int_equal(kind, SIM_FAULT_TRAP);
    assert_int_equal(t.fault.at.thread[0], 5);
    sim_test_deinit(&t);
}

TEST(a_missing_wait_for_a_copy_is_a_fault)
{
    sim_test t;
    sim_fault_kind kind = run(
        &t,
        "#include <cuda_pipeline.h>\n"
        "extern \"C\" __global__ void k(const int *in, int *out)\n"
        "{ __shared__ int s[32]; __pipeline_memcpy_async(&s[threadIdx.x], in + threadIdx.x, 4);\n"
        "  __pipeline_commit(); __syncthreads(); out[threadIdx.x] = s[threadIdx.x]; }\n",
        32);
    assert_int_equal(kind, SIM_FAULT_UNINITIALISED);
    sim_test_deinit(&t);
}

TEST(the_lowest_faulty_block_is_reported)
{
    static int in[64], out[64];
    sim_test t;
    sim_test_init(&t,
                  "extern \"C\" __global__ void k(const int *in, int *out)\n"
                  "{ if (blockIdx.x >= 37) out[1000000] = 1; out[threadIdx.x] = 1; }\n",
                  "sm_90", NULL);
    sim_test_u64(&t, sim_test_buffer(&t, "in", in, sizeof in, true));
    sim_test_u64(&t, sim_test_buffer(&t, "out", out, sizeof out, false));
    for (int i = 0; i < 5; i++) {
        assert_int_equal(sim_test_run(&t, 100, 1, 32, 1, 0), SIM_FAULT_BOUNDS);
        assert_int_equal(t.fault.at.block[0], 37);
    }
    sim_test_deinit(&t);
}

/* Runs the entry k(u64 p) of PTX text with the value `first` for p. */
static sim_fault run_module(const char *ptx, uint64_t first)
{
    at_error error = {0};
    sim_kernel k;
    sim_fault fault;
    assert_ok(sim_kernel_init(&k, ptx, strlen(ptx), "test.ptx", (const char *[]){"k"}, 1, &error),
              error);
    const sim_memory memory = {0};
    const sim_launch launch = {.program = k.programs[0],
                               .memory = &memory,
                               .parameters = (const uint8_t *)&first,
                               .grid = {1, 1, 1},
                               .block = {32, 1, 1},
                               .check = true,
                               .threads = 1};
    assert_ok(sim_run(&launch, &fault, &error), error);
    sim_kernel_deinit(&k);
    return fault;
}

static sim_fault run_ptx(const char *body, uint64_t first)
{
    char ptx[2048];
    snprintf(
        ptx, sizeof ptx,
        ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n%s}\n"
        "\t.file 1 \"kernel.cu\"\n",
        body);
    return run_module(ptx, first);
}

TEST(an_unknown_instruction_ends_a_run_that_executes_it)
{
    static const char body[] = "\t.reg .b32 %r<2>;\n\t.reg .b64 %rd<2>;\n\t.reg .pred %p<2>;\n"
                               "\tld.param.u64 %rd1, [p];\n\tsetp.eq.u64 %p1, %rd1, 0;\n"
                               "\t.loc 1 42 3\n\t@%p1 frobnicate.b32 %r1, %r1;\n\tret;\n";
    const sim_fault fault = run_ptx(body, 0);
    assert_int_equal(fault.kind, SIM_FAULT_UNKNOWN);
    assert_non_null(strstr(fault.message, "not simulated"));
    assert_non_null(strstr(fault.message, "frobnicate.b32, PTX line 12"));
    assert_non_null(strstr(fault.message, "kernel.cu:42"));
    assert_int_equal(run_ptx(body, 1).kind, SIM_FAULT_NONE);
}

/* The kernel calls one of two functions by address. The second function executes a trap. */
TEST(a_call_by_address_reaches_the_functions_in_its_table)
{
    static const char kernel[] =
        ".version 8.0\n.target sm_90\n.address_size 64\n"
        ".func f(.param .b32 a) { ret; }\n.func g(.param .b32 a) { trap; }\n.func h(.param .b32 a) "
        "{ ret; }\n"
        ".visible .entry k(.param .u64 p)\n{\n.reg .b64 %%rd<2>;\nmov.u64 %%rd1, %s;\n"
        "targets: .calltargets f, g;\n{ .param .b32 x; st.param.b32 [x], 1; call %%rd1, (x), "
        "targets; }\nret;\n}\n";
    static const struct {
        const char *address;
        sim_fault_kind kind;
    } cases[] = {{"f", SIM_FAULT_NONE},
                 {"g", SIM_FAULT_TRAP},
                 {"h", SIM_FAULT_BOUNDS},
                 {"0", SIM_FAULT_BOUNDS}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char ptx[1024];
        snprintf(ptx, sizeof ptx, kernel, cases[i].address);
        const sim_fault fault = run_module(ptx, 0);
        if (fault.kind != cases[i].kind)
            fail_msg("%s: %s", cases[i].address, fault.message);
    }
}

/* Each call of a function has its own registers, even in a recursive call. */
TEST(a_function_may_take_and_return_registers)
{
    static const char kernel[] =
        ".version 8.0\n.target sm_90\n.address_size 64\n"
        ".func (.reg .b32 sum) sums (.reg .b32 n, .reg .b64 more)\n{\n.reg .b32 rest, m; .reg "
        ".pred "
        "p;\n"
        "cvt.u32.u64 sum, more; setp.eq.u32 p, n, 0; @p ret;\n"
        "mov.b32 m, n; sub.u32 n, n, 1; call (rest), sums, (n, more); add.u32 sum, rest, m; "
        "ret;\n}\n"
        ".visible .entry k(.param .u64 p)\n{\n.reg .b32 n, s, z; .reg .b64 w; .reg .pred q, "
        "never;\n"
        "mov.b32 n, 4; mov.b32 z, 7; call (s), sums, (n, 100); setp.ne.u32 never, n, 4;\n"
        "@never call (z), sums, (n, 0);\n"
        "setp.ne.or.u32 q, s, %d, never; @q trap; setp.ne.u32 q, z, 7; @q trap; ret;\n}\n";
    for (int off = 0; off < 2; off++) {
        char ptx[2048];
        snprintf(ptx, sizeof ptx, kernel, 110 + off);
        const sim_fault fault = run_module(ptx, 0);
        if (fault.kind != (off ? SIM_FAULT_TRAP : SIM_FAULT_NONE))
            fail_msg("%d: %s", 110 + off, fault.message);
    }
}

TEST(an_unreadable_statement_matters_only_if_it_is_executed)
{
    static const char *const unread[] = {"frobnicate {%p1 ~ %p1}, [[8], {9}];",
                                         "ld.u32 1, [8, 4];",
                                         "bra NOWHERE;",
                                         "@%nothing ret;",
                                         ".reg .wrong %x; mov.b32 %x, 1;",
                                         "call.uni absent, ();",
                                         "mov.b128 %q, 1;",
                                         ".shared .weird t[4]; st.shared.u32 [t], 1;"};
    for (size_t i = 0; i < sizeof unread / sizeof *unread; i++) {
        char body[512];
        snprintf(
            body, sizeof body,
            ".reg .b64 %%rd<2>;\n.reg .pred %%p<2>;\n.reg .b128 %%q;\nld.param.u64 %%rd1, [p];\n"
            "setp.eq.u64 %%p1, %%rd1, 0;\n@!%%p1 bra END;\n%s\nEND: ret;\n",
            unread[i]);
        if (run_ptx(body, 0).kind != SIM_FAULT_UNKNOWN || run_ptx(body, 1).kind != SIM_FAULT_NONE)
            fail_msg("%s: %s", unread[i], run_ptx(body, 0).message);
    }
}

TEST(a_lane_must_be_in_its_own_mask)
{
    static const char *const bodies[] = {
        "out[threadIdx.x] = __shfl_sync(0xffffu, in[threadIdx.x], 0);",
        "out[threadIdx.x] = __any_sync(0xffffu, in[threadIdx.x] == 3);",
        "out[threadIdx.x] = __ballot_sync(0xfffffffeu, in[threadIdx.x] == 3);",
        "out[threadIdx.x] = __match_any_sync(0xffffu, in[threadIdx.x]);",
        "out[threadIdx.x] = __reduce_add_sync(0xffffu, (unsigned)in[threadIdx.x]);",
        "__shared__ int s[32]; s[threadIdx.x] = 1; __syncwarp(0xffffu); out[threadIdx.x] = "
        "s[threadIdx.x];",
    };
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++)
        assert_fault(bodies[i], 1, 32, SIM_FAULT_SHUFFLE, "leaves out lane");
}

TEST(a_use_of_a_value_shuffled_from_an_absent_lane_is_a_fault)
{
    assert_fault(
        "if (threadIdx.x < 16) out[threadIdx.x] = __shfl_sync(0xffffu, in[threadIdx.x], 20);"
        " else out[threadIdx.x] = 0;",
        1, 32, SIM_FAULT_UNINITIALISED, "lane 20 of a shuffle, which does not execute it");
    assert_fault("out[threadIdx.x] = __shfl_down_sync(~0u, in[threadIdx.x], 16);", 1, 16,
                 SIM_FAULT_UNINITIALISED, "lane 16 of a shuffle, which does not execute it");
    assert_fault("out[threadIdx.x] = __shfl_down_sync(threadIdx.x < 16 ? 0xffffu : 0xffff0000u,"
                 " in[threadIdx.x], 16);",
                 1, 32, SIM_FAULT_UNINITIALISED, "lane 16 of a shuffle, which its mask leaves out");
    assert_fault("int v = __shfl_down_sync(~0u, in[threadIdx.x], 1);"
                 " out[threadIdx.x] = threadIdx.x < 15 ? v : 0;",
                 1, 16, SIM_FAULT_NONE, NULL);
    assert_fault("int v = in[threadIdx.x]; for (int d = 8; d; d /= 2)"
                 " v += __shfl_down_sync(0xffffu, v, d);"
                 " if (threadIdx.x == 0) out[0] = v;",
                 1, 16, SIM_FAULT_NONE, NULL);
    assert_fault("out[threadIdx.x] = __shfl_down_sync(~0u, in[threadIdx.x], 16);", 1, 32,
                 SIM_FAULT_NONE, NULL);
    assert_fault(
        "out[threadIdx.x] = threadIdx.x < 16 ? __shfl_xor_sync(0xffffu, in[threadIdx.x], 8)"
        " : __shfl_xor_sync(0xffff0000u, in[threadIdx.x], 8) + 1;",
        1, 32, SIM_FAULT_NONE, NULL);
}

TEST(warps_that_use_one_barrier_differently_are_a_fault)
{
    assert_fault("if (threadIdx.x < 32) asm volatile(\"bar.sync 1, 64;\"); else asm "
                 "volatile(\"bar.sync 1, 32;\");"
                 " out[threadIdx.x] = 1;",
                 1, 64, SIM_FAULT_BARRIER, "wait for");
    assert_fault("asm volatile(\"bar.sync 1, 40;\"); out[threadIdx.x] = 1;", 1, 64,
                 SIM_FAULT_BARRIER, "multiple of 32");
    assert_fault("asm volatile(\"bar.sync 1, 96;\"); out[threadIdx.x] = 1;", 1, 64,
                 SIM_FAULT_BARRIER, "waits for 96 threads");
    /* Each warp alone completes a barrier of 32 threads, so this barrier orders no warps. */
    assert_fault("__shared__ int s[64]; s[threadIdx.x] = 1; asm volatile(\"bar.sync 1, 32;\");"
                 " out[threadIdx.x] = s[63 - threadIdx.x];",
                 1, 64, SIM_FAULT_UNINITIALISED, NULL);
    assert_fault(
        "if (threadIdx.x < 32) __syncthreads(); else out[40] = __syncthreads_or(in[threadIdx.x]);"
        " out[threadIdx.x] = 1;",
        1, 64, SIM_FAULT_BARRIER, "another kind of barrier");
}

TEST(a_read_of_unwritten_local_memory_is_a_fault)
{
    assert_fault(
        "int l[8]; l[in[threadIdx.x] & 7] = 3; out[threadIdx.x] = l[(in[threadIdx.x] + 1) & 7];", 1,
        32, SIM_FAULT_UNINITIALISED, "local memory");
}

TEST(an_index_that_wraps_reaches_no_other_buffer)
{
    assert_fault("out[threadIdx.x] = in[(unsigned)(in[0] - 1)];", 1, 32, SIM_FAULT_BOUNDS,
                 "after the end of in");
}

/* The code never initialises the sum. */
TEST(a_sum_that_starts_uninitialised_has_no_value)
{
    assert_fault("int s; for (int i = 1; i <= in[1]; i++) s += in[i]; out[s - 1] = 1;", 1, 1,
                 SIM_FAULT_UNINITIALISED,
                 "the address comes from a variable or register that nothing wrote");
}

/* The code is inline PTX, because NVRTC would remove code that uses an unwritten register. */
TEST(a_use_of_an_unwritten_register_is_a_fault)
{
    static const struct {
        const char *body, *story;
    } wrong[] = {
        {"asm volatile(\"{ .reg .b32 r; st.global.b32 [%0], r; }\" :: \"l\"(out) : \"memory\");",
         "what it stores"},
        {"asm volatile(\"{ .reg .b32 r; xor.b32 r, r, 5; st.global.b32 [%0], r; }\" :: \"l\"(out) "
         ": \"memory\");",
         "what it stores"},
        {"asm volatile(\"{ .reg .b64 a; ld.global.b32 %0, [a]; }\" : \"=r\"(out[0]));",
         "the address"},
        {"asm volatile(\"{ .reg .pred p; @p st.global.b32 [%0], 1; }\" :: \"l\"(out) : "
         "\"memory\");",
         "the condition"},
        {"asm volatile(\"{ .reg .b32 r; red.global.add.u32 [%0], r; }\" :: \"l\"(in) : "
         "\"memory\");",
         "an operand"},
        {"asm volatile(\"{ .reg .b32 r, q; shfl.sync.bfly.b32 q, r, 0, 31, 1; st.global.b32 [%0], "
         "q; }\" :: "
         "\"l\"(out) : \"memory\");",
         "what it stores"},
        {"asm volatile(\"{ .reg .b64 h; .reg .b128 q; mov.b128 q, {%0, h}; atom.global.exch.b128 "
         "q, "
         "[%0], q; }\" :: \"l\"(in) : \"memory\");",
         "an operand"},
        {"int l[4]; l[in[1]] = 1; out[0] = l[in[2]];",
         "local memory byte 8 of 16, which was never written"}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_fault(wrong[i].body, 1, 1, SIM_FAULT_UNINITIALISED, wrong[i].story);
}

TEST(instructions_that_discard_a_value_accept_a_missing_one)
{
    static const char *const right[] = {
        "asm volatile(\"{ .reg .b64 l, h; .reg .b128 q; mov.b128 q, {%0, h}; mov.b128 {l, _}, q; "
        "st.global.b64 [%0], l; }\" :: \"l\"(out) : \"memory\");",
        "asm volatile(\"{ .reg .b32 r; and.b32 r, r, 0; st.global.b32 [%0], r; }\" :: \"l\"(out) : "
        "\"memory\");",
        "asm volatile(\"{ .reg .b32 r; or.b32 r, r, -1; st.global.b32 [%0], r; }\" :: \"l\"(out) : "
        "\"memory\");",
        "asm volatile(\"{ .reg .b32 r; xor.b32 r, r, r; st.global.b32 [%0], r; }\" :: \"l\"(out) : "
        "\"memory\");",
        "asm volatile(\"{ .reg .b32 r; mul.lo.u32 r, r, 0; st.global.b32 [%0], r; }\" :: "
        "\"l\"(out) : \"memory\");",
        "asm volatile(\"{ .reg .b32 r; .reg .pred p; setp.ne.s32 p, %1, 1; selp.b32 r, r, 7, p; "
        "st.global.b32 [%0], r; }\""
        " :: \"l\"(out), \"r\"(in[1]) : \"memory\");",
        "asm volatile(\"{ .reg .b32 r, h; .reg .b64 w; mov.b64 w, {%1, r}; mov.b64 {h, r}, w; "
        "st.global.b32 [%0], h; }\""
        " :: \"l\"(out), \"r\"(in[1]) : \"memory\");",
        "asm volatile(\"{ .reg .b32 r; .reg .pred p; setp.eq.s32 p, %1, 1; @p mov.b32 r, 3; @p "
        "st.global.b32 [%0], r; }\""
        " :: \"l\"(out), \"r\"(in[1]) : \"memory\");",
        "asm volatile(\"{ .reg .b32 r; prmt.b32 r, r, %1, 0x7654; st.global.b32 [%0], r; }\""
        " :: \"l\"(out), \"r\"(in[1]) : \"memory\");",
        "struct gap { char a; int b; } s = {(char)in[1], in[2]}, l[2]; l[in[1]] = s; l[0] = "
        "l[in[1]]; out[0] = l[0].b;",
        "__shared__ int s[4]; s[0] = in[1]; int4 v = *(int4 *)s; asm volatile(\"\" :: \"r\"(v.w)); "
        "out[0] = v.x;"};
    for (size_t i = 0; i < sizeof right / sizeof *right; i++)
        assert_fault(right[i], 1, 1, SIM_FAULT_NONE, NULL);
}
