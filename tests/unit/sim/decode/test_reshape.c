/* Tests the machine accesses that ptxas makes of short sequences. The expected counts are from
 * its machine code for sm_90. */
#include <stdio.h>

#include "sim_fixture.h"

enum { SHARED_BYTES = 2048, FILLS = SHARED_BYTES / 128 };

/* %a is an address in shared memory, which grows by `stride` bytes from lane to lane. %g is an
 * address in global memory, which grows by 16 bytes from lane to lane. */
static const char frame[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n"
    ".visible .entry k(.param .u64 in, .param .u64 out, .param .u32 n)\n{\n"
    ".reg .f32 %%f<10>; .reg .u64 %%a, %%b, %%c, %%e, %%g, %%o, %%t, %%d; .reg .u32 %%i, %%n; .reg "
    ".pred %%p, %%q;\n"
    ".shared .align 4 .b8 s[2048];\n"
    "ld.param.u64 %%g, [in]; ld.param.u64 %%o, [out]; ld.param.u32 %%n, [n];\n"
    "mov.u32 %%i, %%tid.x; mul.wide.u32 %%t, %%i, 4; add.u64 %%o, %%o, %%t;\n"
    "mov.u64 %%b, s; add.u64 %%b, %%b, %%t; mov.f32 %%f9, 0f3F800000; mov.u32 %%i, 0;\n"
    "FILL: st.shared.f32 [%%b], %%f9; add.u64 %%b, %%b, 128; add.u32 %%i, %%i, 1;\n"
    "setp.lt.u32 %%p, %%i, 16; @%%p bra FILL;\n"
    "bar.sync 0; mov.u32 %%i, %%tid.x; mul.wide.u32 %%c, %%i, %d; mov.u64 %%a, s; add.u64 %%a, "
    "%%a, %%c;\n"
    "mul.wide.u32 %%e, %%i, 16; add.u64 %%g, %%g, %%e; setp.gt.u32 %%q, %%n, 5; mul.wide.u32 %%d, "
    "%%n, 16;\n"
    "mov.f32 %%f0, %%f9; mov.f32 %%f1, %%f9; mov.f32 %%f2, %%f9; mov.f32 %%f3, %%f9;\n"
    "%s\nadd.f32 %%f0, %%f0, %%f1; st.global.f32 [%%o], %%f0;\nret;\n}\n";

static sim_totals count(int stride, const char *body)
{
    static float in[512], out[32];
    static char ptx[4096];
    sim_test t;
    snprintf(ptx, sizeof ptx, frame, stride, body);
    sim_test_init_ptx(&t, ptx, NULL);
    sim_test_u64(&t, sim_test_buffer(&t, "in", in, sizeof in, true));
    sim_test_u64(&t, sim_test_buffer(&t, "out", out, sizeof out, false));
    sim_test_u32(&t, 8);
    sim_test_run_well(&t, 1, 1, 32, 1, 0);
    sim_totals totals = t.totals;
    sim_test_deinit(&t);
    return totals;
}

static uint64_t shared_loads(int stride, const char *body)
{
    return count(stride, body).shared_load.shared_requests;
}

static uint64_t shared_stores(int stride, const char *body)
{
    return count(stride, body).shared_store.shared_requests - FILLS;
}

static uint64_t global_loads(const char *body)
{
    return count(16, body).global_load.requests;
}

#define LOAD(space, f, at) "ld." space ".f32 %" f ", [" at "]; "
#define STORE(at) "st.shared.f32 [%a+" at "], %f9; "
#define USE23 "add.f32 %f0, %f0, %f2; add.f32 %f0, %f0, %f3; "
#define FOUR(space, base)                                                                          \
    LOAD(space, "f0", base)                                                                        \
    LOAD(space, "f1", base "+4") LOAD(space, "f2", base "+8") LOAD(space, "f3", base "+12") USE23

TEST(neighbouring_loads_join_within_their_alignment)
{
    assert_int_equal(shared_loads(16, FOUR("shared", "%a")), 1);
    assert_int_equal(shared_loads(8, FOUR("shared", "%a")), 2);
    assert_int_equal(shared_loads(4, FOUR("shared", "%a")), 4);
    assert_int_equal(shared_loads(16, "add.u64 %a, %a, %d;" FOUR("shared", "%a")), 1);
    assert_int_equal(
        shared_loads(16, "shr.u64 %t, %d, 2; add.u64 %a, %a, %t;" FOUR("shared", "%a")), 4);
    assert_int_equal(shared_loads(16, LOAD("shared", "f0", "%a+8") LOAD("shared", "f1", "%a+12")
                                          LOAD("shared", "f2", "%a+16")
                                              LOAD("shared", "f3", "%a+20") USE23),
                     2);
}

TEST(a_joined_load_has_the_bank_conflicts_of_its_width)
{
    assert_int_equal(
        count(8, LOAD("shared", "f0", "%a") LOAD("shared", "f1", "%a+4")).shared_load.conflicts, 0);
    assert_int_equal(count(8, LOAD("shared", "f0", "%a")).shared_load.conflicts, 1);
    /* The code uses only the upper half of the 16 bytes. */
    sim_totals half = count(16, "ld.shared.v4.f32 {%f4, %f5, %f0, %f1}, [%a];");
    assert_int_equal(half.shared_load.shared_requests, 1);
    assert_int_equal(half.shared_load.conflicts, 2);
}

TEST(three_of_four_words_are_one_load_and_so_is_an_aligned_pair)
{
    static const struct {
        const char *at[3];
        uint64_t loads;
    } cases[] = {{{"%a", "%a+4", "%a+8"}, 1},
                 {{"%a+12", "%a+4", "%a+8"}, 1},
                 {{"%a", "%a+8", "%a"}, 2},
                 {{"%a+8", "%a+12", "%a+8"}, 1},
                 {{"%a+4", "%a+8", "%a+4"}, 2}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char body[512];
        snprintf(body, sizeof body,
                 "ld.shared.f32 %%f0, [%s]; ld.shared.f32 %%f1, [%s]; ld.shared.f32 %%f2, [%s];"
                 "add.f32 %%f0, %%f0, %%f2;",
                 cases[i].at[0], cases[i].at[1], cases[i].at[2]);
        assert_int_equal(shared_loads(16, body), cases[i].loads);
    }
}

TEST(a_vector_load_leaves_out_unused_elements)
{
    assert_int_equal(count(16, "ld.global.v4.f32 {%f4, %f5, %f0, %f1}, [%g];").global_load.bytes,
                     32 * 8);
    assert_int_equal(count(16, "ld.global.v4.f32 {%f4, %f0, %f1, %f5}, [%g];").global_load.requests,
                     2);
    assert_int_equal(
        count(16, "@%q ld.global.v4.f32 {%f4, %f5, %f0, %f1}, [%g];").global_load.bytes, 32 * 8);
    sim_totals three =
        count(16, "ld.global.v4.f32 {%f4, %f0, %f1, %f2}, [%g]; add.f32 %f0, %f0, %f2;");
    assert_int_equal(three.global_load.requests, 1);
    assert_int_equal(three.global_load.bytes, 32 * 16);
}

TEST(stores_join_without_gaps_and_only_in_sequence)
{
    assert_int_equal(shared_stores(16, STORE("12") STORE("4") STORE("8") STORE("0")), 1);
    assert_int_equal(shared_stores(16, STORE("0") STORE("4") STORE("8")), 2);
    assert_int_equal(shared_stores(16, STORE("4") STORE("8") STORE("12")), 2);
    assert_int_equal(shared_stores(16, STORE("0") STORE("512") STORE("4")), 3);
    assert_int_equal(shared_stores(16, STORE("0") LOAD("shared", "f1", "%a+512") STORE("4")), 2);
    assert_int_equal(shared_stores(16, STORE("0") LOAD("global", "f1", "%g") STORE("4")), 1);
    assert_int_equal(shared_stores(16, "@%q " STORE("0") "@%q " STORE("4")), 2);
}

TEST(loads_do_not_join_across_barriers_fences_and_stores)
{
#define PAIR(between) LOAD("shared", "f0", "%a") between LOAD("shared", "f1", "%a+4")
    assert_int_equal(shared_loads(16, PAIR("")), 1);
    assert_int_equal(shared_loads(16, PAIR("st.global.f32 [%o], %f0;")), 1);
    assert_int_equal(shared_loads(16, PAIR("st.shared.f32 [%a+512], %f0;")), 2);
    assert_int_equal(shared_loads(16, PAIR("bar.sync 0;")), 2);
    assert_int_equal(shared_loads(16, PAIR("bar.warp.sync 0xffffffff;")), 2);
    assert_int_equal(shared_loads(16, PAIR("membar.cta;")), 2);
    assert_int_equal(shared_loads(16, PAIR("@!%q bra NEXT; NEXT:")), 2);
    assert_int_equal(shared_loads(16, PAIR("add.u64 %a, %a, 128;")), 2);
    assert_int_equal(
        shared_loads(16, "ld.volatile.shared.f32 %f0, [%a]; ld.volatile.shared.f32 %f1, [%a+4];"),
        2);
}

TEST(a_wider_access_implies_the_alignment_of_a_pointer)
{
    assert_int_equal(global_loads(FOUR("global", "%g")), 4);
#define WIDE                                                                                       \
    "ld.global.v4.f32 {%f4, %f5, %f6, %f7}, [%g+64]; add.f32 %f4, %f4, %f5; add.f32 %f6, %f6, "    \
    "%f7;"
    assert_int_equal(global_loads(FOUR("global", "%g") WIDE), 2);
    assert_int_equal(global_loads(WIDE FOUR("global.nc", "%g")), 2);
    assert_int_equal(global_loads(FOUR("global", "%g") "@!%q bra NEXT; " WIDE "NEXT:"), 5);
    assert_int_equal(global_loads(WIDE LOAD("global", "f0", "%g") "st.global.f32 [%o], %f0;" LOAD(
                         "global", "f1", "%g+4")),
                     3);
    assert_int_equal(
        global_loads(WIDE LOAD("global.nc", "f0",
                               "%g") "st.global.f32 [%o], %f0;" LOAD("global.nc", "f1", "%g+4")),
        2);
}
