/* Tests blocks of a cluster: correct kernels run to their end, and each mistake is a fault. */
#include <stdio.h>
#include <string.h>

#include "sim_fixture.h"

/* The code before the bodies. The grid has 4 blocks of 64 threads, in clusters of 2 blocks. */
static const char prelude[] =
    "typedef unsigned int u32; typedef unsigned long long u64;\n"
    "#define REGISTER(name) ([] { u32 v; asm volatile(\"mov.u32 %0, %%\" name \";\" : \"=r\"(v)); "
    "return v; }())\n"
    "__device__ u32 at(const void *p) { return (u32)__cvta_generic_to_shared(p); }\n"
    "__device__ void arrive() { asm volatile(\"barrier.cluster.arrive.aligned;\" ::: \"memory\"); "
    "}\n"
    "__device__ void relaxed() { asm volatile(\"barrier.cluster.arrive.relaxed.aligned;\" ::: "
    "\"memory\"); }\n"
    "__device__ void wait() { asm volatile(\"barrier.cluster.wait.aligned;\" ::: \"memory\"); }\n"
    "__device__ void meet() { arrive(); wait(); }\n"
    "__device__ u32 map(u32 a, u32 r) {\n"
    "    u32 d; asm(\"mapa.shared::cluster.u32 %0, %1, %2;\" : \"=r\"(d) : \"r\"(a), \"r\"(r)); "
    "return d; }\n"
    "__device__ int *of(int *p, u32 r) {\n"
    "    u64 d; asm(\"mapa.u64 %0, %1, %2;\" : \"=l\"(d) : \"l\"(p), \"r\"(r)); return (int *)d; "
    "}\n"
    "__device__ int load(u32 a) {\n"
    "    int v; asm volatile(\"ld.shared::cluster.s32 %0, [%1];\" : \"=r\"(v) : \"r\"(a) : "
    "\"memory\"); return v; }\n"
    "__device__ void store(u32 a, int v) {\n"
    "    asm volatile(\"st.shared::cluster.s32 [%0], %1;\" :: \"r\"(a), \"r\"(v) : \"memory\"); }\n"
    "__device__ void add(u32 a, int v) {\n"
    "    asm volatile(\"red.shared::cluster.add.s32 [%0], %1;\" :: \"r\"(a), \"r\"(v) : "
    "\"memory\"); }\n"
    "extern \"C\" __global__ void k(const int *in, int *out)\n"
    "{\n"
    "    __shared__ int pad, x[64];\n"
    "    const u32 t = threadIdx.x, me = REGISTER(\"cluster_ctarank\"), other = me ^ 1;\n"
    "    const u32 i = blockIdx.x * 64 + t;\n";

enum { BLOCKS = 4, THREADS = 64, COUNT = BLOCKS * THREADS };

static int in[COUNT], out[COUNT];

static sim_fault_kind run_body(sim_test *t, const char *body)
{
    char source[8192];
    for (int i = 0; i < COUNT; i++)
        in[i] = 100 + i;
    memset(out, 0, sizeof out);
    snprintf(source, sizeof source, "%s%s\n}\n", prelude, body);
    sim_test_init(t, source, "sm_90", "k");
    for (int k = 0; k < 3; k++)
        t->cluster[k] = k == 0 ? 2 : 1;
    sim_test_u64(t, sim_test_buffer(t, "in", in, sizeof in, true));
    sim_test_u64(t, sim_test_buffer(t, "out", out, sizeof out, false));
    return sim_test_run(t, BLOCKS, 1, THREADS, 1, 0);
}

static void assert_fault(const char *body, sim_fault_kind kind, const char *part)
{
    sim_test t;
    sim_fault_kind found = run_body(&t, body);
    if (found != kind || !strstr(t.fault.message, part))
        fail_msg("%s: fault %d (%s), not %d (%s)", body, found, t.fault.message, kind, part);
    sim_test_deinit(&t);
}

static void assert_fine(const char *body)
{
    assert_fault(body, SIM_FAULT_NONE, "");
}

/* Asserts that the body runs without a fault, and that out is `in` of the other block plus
 * `more`. */
static void assert_exchanges(const char *body, int more)
{
    assert_fine(body);
    for (int i = 0; i < COUNT; i++)
        assert_int_equal(out[i], in[i ^ THREADS] + more);
}

TEST(blocks_read_shared_memory_of_other_blocks_of_the_cluster)
{
    assert_exchanges("x[t] = in[i]; meet(); out[i] = load(map(at(x + t), other)); meet();", 0);
    assert_exchanges("x[t] = in[i]; meet(); out[i] = of(x, other)[t]; meet();", 0);
    /* Threads of one warp may read from several blocks. */
    assert_exchanges("x[t] = in[i]; meet(); int a = of(x, t & 1)[t], b = of(x, ~t & 1)[t];\n"
                     "out[i] = (t & 1) == other ? a : b; meet();",
                     0);
    /* Addresses in the cluster's shared memory may also belong to the block itself. */
    assert_exchanges(
        "x[t] = in[i] + 1; meet(); int v = load(at(x + t)) - load(map(at(x + t), me));\n"
        "out[i] = v + of(x, other)[t]; meet();",
        1);
    assert_exchanges(
        "store(at(x + t), in[i]); meet(); out[i] = load(map(at(x + t), other)); meet();", 0);
}

TEST(blocks_write_to_each_other_and_add_up)
{
    assert_exchanges("meet(); store(map(at(x + t), other), in[i]); meet(); out[i] = x[t];", 0);
    assert_exchanges("meet(); of(x, other)[t] = in[i] + 3; meet(); out[i] = x[t];", 3);
    assert_fine("if (t == 0) pad = 0; meet(); add(map(at(&pad), 0), 1); meet(); out[i] = 0;\n"
                "if (me == 0) out[i] = pad;");
    for (int i = 0; i < COUNT; i++)
        assert_int_equal(out[i], i / THREADS % 2 == 0 ? 2 * THREADS : 0);
    assert_fine("if (t == 0) pad = 0; meet(); atomicAdd(of(&pad, 1), 2); meet(); out[i] = 0;\n"
                "if (me == 1) out[i] = pad;");
    for (int i = 0; i < COUNT; i++)
        assert_int_equal(out[i], i / THREADS % 2 == 1 ? 4 * THREADS : 0);
}

TEST(special_registers_hold_the_position_of_a_block_in_its_cluster)
{
    static const char body[] =
        "u32 e; asm volatile(\"{.reg .pred p; mov.pred p, %%is_explicit_cluster; selp.u32 %0, 1, "
        "0, p;}\"\n"
        "    : \"=r\"(e));\n"
        "u32 r; asm volatile(\"getctarank.shared::cluster.u32 %0, %1;\" : \"=r\"(r) : "
        "\"r\"(map(at(x), other)));\n"
        "out[i] = REGISTER(\"clusterid.x\") + 10 * me + 100 * REGISTER(\"cluster_ctaid.x\") +\n"
        "    1000 * REGISTER(\"cluster_nctaid.x\") + 10000 * REGISTER(\"cluster_nctarank\") +\n"
        "    100000 * REGISTER(\"nclusterid.x\") + 1000000 * e + 10000000 * r + 100000000 * "
        "REGISTER(\"clusterid.y\");";
    assert_fine(body);
    for (int i = 0; i < COUNT; i++) {
        int cluster = i / THREADS / 2, rank = i / THREADS % 2;
        assert_int_equal(out[i], 1222000 + cluster + 110 * rank + 10000000 * (rank ^ 1));
    }
}

TEST(a_cluster_may_have_three_dimensions)
{
    sim_test t;
    static uint32_t ranks[24];
    sim_test_init(
        &t,
        "extern \"C\" __global__ void k(unsigned *out) {\n"
        "unsigned r, c, z; asm volatile(\"mov.u32 %0, %%cluster_ctarank;\" : \"=r\"(r));\n"
        "asm volatile(\"mov.u32 %0, %%cluster_ctaid.y;\" : \"=r\"(c));\n"
        "asm volatile(\"mov.u32 %0, %%clusterid.x;\" : \"=r\"(z));\n"
        "out[blockIdx.x + 4 * blockIdx.y] = r + 10 * c + 100 * z; }",
        "sm_90", "k");
    t.cluster[0] = 2, t.cluster[1] = 3, t.cluster[2] = 1;
    sim_test_u64(&t, sim_test_buffer(&t, "out", ranks, sizeof ranks, false));
    sim_test_run_well(&t, 4, 6, 1, 1, 0);
    for (uint32_t y = 0; y < 6; y++)
        for (uint32_t x = 0; x < 4; x++)
            assert_int_equal(ranks[x + 4 * y], x % 2 + 2 * (y % 3) + 10 * (y % 3) + 100 * (x / 2));
    sim_test_deinit(&t);
}

TEST(the_cluster_functions_of_cuda_work)
{
    assert_exchanges(
        "__cluster_barrier_arrive_relaxed(); __cluster_barrier_wait();\n"
        "x[t] = in[i]; __cluster_barrier_arrive(); __cluster_barrier_wait();\n"
        "u32 next = (__clusterRelativeBlockRank() + 1) % __clusterSizeInBlocks();\n"
        "int *p = (int *)__cluster_map_shared_rank(x, next);\n"
        "out[i] = p[t] + (__cluster_query_shared_rank(p) == other) + __clusterDimIsSpecified();\n"
        "__cluster_barrier_arrive(); __cluster_barrier_wait();",
        2);
}

TEST(a_block_without_a_cluster_is_a_cluster_of_one)
{
    sim_test t;
    static int got[3];
    sim_test_init(
        &t,
        "extern \"C\" __global__ void k(int *out) { __shared__ int x; x = blockIdx.x;\n"
        "asm volatile(\"barrier.cluster.arrive;\\nbarrier.cluster.wait;\" ::: \"memory\");\n"
        "unsigned n, id; asm volatile(\"mov.u32 %0, %%cluster_nctarank;\" : \"=r\"(n));\n"
        "asm volatile(\"mov.u32 %0, %%clusterid.x;\" : \"=r\"(id)); \n"
        "out[blockIdx.x] = x * 100 + n * 10 + id; }",
        "sm_90", "k");
    sim_test_u64(&t, sim_test_buffer(&t, "out", got, sizeof got, false));
    sim_test_run_well(&t, 3, 1, 1, 1, 0);
    for (int i = 0; i < 3; i++)
        assert_int_equal(got[i], i * 101 + 10);
    sim_test_deinit(&t);
}

TEST(a_read_without_a_barrier_of_the_cluster_is_a_race)
{
    static const char *const race = "of block (1,0,0) without a barrier of the cluster between";
    /* A barrier of one block orders no accesses of other blocks. */
    assert_fault("meet(); x[t] = in[i]; __syncthreads(); out[i] = of(x, other)[t]; meet();",
                 SIM_FAULT_RACE, race);
    assert_fault("meet(); if (me == 0) out[i] = of(x, 1)[t]; meet();", SIM_FAULT_UNINITIALISED,
                 "to which no value was written");
    assert_fault("x[t] = 0; meet(); x[t] = in[i]; __syncthreads();\n"
                 "if (me == 1) { out[i] = of(x, 0)[t]; } meet();",
                 SIM_FAULT_RACE,
                 "read by this thread after a write by thread (0,0,0) of block (0,0,0)");
    assert_fault("x[t] = 0; meet(); if (me == 0) out[i] = of(x, 1)[t]; else x[t] = in[i]; meet();",
                 SIM_FAULT_RACE, "of the cluster between");
    /* An arrival or a wait alone orders nothing. */
    assert_fault(
        "x[t] = 0; meet(); arrive(); x[t] = in[i]; wait(); out[i] = of(x, other)[t]; meet();",
        SIM_FAULT_RACE, race);
    assert_fault(
        "x[t] = 0; meet(); x[t] = in[i]; arrive(); out[i] = of(x, other)[t]; wait(); meet();",
        SIM_FAULT_RACE, "of the cluster between");
    /* A relaxed arrival orders nothing unless it follows a fence. */
    assert_fault("x[t] = in[i]; relaxed(); wait(); out[i] = of(x, other)[t]; meet();",
                 SIM_FAULT_RACE, race);
    assert_exchanges(
        "x[t] = in[i]; __threadfence(); relaxed(); wait(); out[i] = of(x, other)[t]; meet();", 0);
}

TEST(overwriting_what_another_block_may_still_read_is_a_race)
{
    static const char *const race = "written by this thread after a read by";
    assert_fault("x[t] = in[i]; meet(); if (me == 0) out[i] = of(x, 1)[t]; else x[t] = 0; meet();",
                 SIM_FAULT_RACE, race);
    assert_fault(
        "x[t] = in[i]; meet(); out[i] = of(x, other)[t]; __syncthreads(); x[t] = 0; meet();",
        SIM_FAULT_RACE, "of the cluster between");
    assert_fault("x[t] = in[i]; meet(); if (me == 0) out[i] = of(x, 1)[t] + x[t];\n"
                 "meet(); x[t] = 0; __syncthreads(); if (me == 0) of(x, 1)[t] = 2; meet();",
                 SIM_FAULT_RACE, "written by this thread and by");
    assert_exchanges("x[t] = in[i]; meet(); out[i] = of(x, other)[t]; meet(); x[t] = 0; meet();",
                     0);
    /* The reading block may write to this memory after its own barrier. */
    assert_exchanges("x[t] = in[i]; meet(); out[i] = of(x, other)[t]; __syncthreads();\n"
                     "of(x, other)[63 - t] = 0; meet();",
                     0);
    assert_fault(
        "x[t] = in[i]; meet(); out[i] = of(x, other)[t]; of(x, other)[63 - t] = 0; meet();",
        SIM_FAULT_RACE, "without a barrier between");
}

TEST(a_block_must_not_end_while_another_reads_its_memory)
{
    static const char *const ended = "which may have ended: put a barrier of the cluster";
    assert_fault("x[t] = in[i]; meet(); out[i] = of(x, other)[t];", SIM_FAULT_RACE, "which");
    /* Either block may run first, and both orders give the fault. */
    assert_fault("x[t] = in[i]; meet(); if (me == 0) out[i] = of(x, 1)[t];", SIM_FAULT_RACE, ended);
    assert_fault("x[t] = in[i]; meet(); if (me == 1) out[i] = of(x, 0)[t];", SIM_FAULT_RACE,
                 "which has already ended");
    assert_fault("x[t] = in[i]; meet(); out[i] = of(x, other)[t]; __syncthreads();", SIM_FAULT_RACE,
                 "which");
    /* A block that arrives and does not wait may end too early. */
    assert_fault(
        "x[t] = in[i]; meet(); if (me == 0) out[i] = of(x, 1)[t]; arrive(); if (me == 0) wait();",
        SIM_FAULT_RACE, ended);
    /* The reading block need not wait. */
    assert_fine(
        "x[t] = in[i]; meet(); if (me == 0) out[i] = of(x, 1)[t]; arrive(); if (me == 1) wait();");
}

TEST(a_block_must_have_begun_before_another_writes_its_memory)
{
    assert_fault("store(map(at(x + t), other), in[i]); meet(); out[i] = x[t];", SIM_FAULT_RACE,
                 "may not have started");
    assert_exchanges(
        "relaxed(); wait(); store(map(at(x + t), other), in[i]); meet(); out[i] = x[t];", 0);
}

TEST(an_address_outside_the_cluster_is_a_fault)
{
    assert_fault("x[t] = in[i]; meet(); out[i] = of(x, 2)[t]; meet();", SIM_FAULT_BOUNDS,
                 "block 2 does not exist in a cluster of 2");
    assert_fault("x[t] = in[i]; meet(); out[i] = of(x, other)[t + 64]; meet();", SIM_FAULT_BOUNDS,
                 "shared address");
    assert_fault("out[i] = of(out, other)[t];", SIM_FAULT_BOUNDS,
                 "is not an address of shared memory");
    /* An instruction for shared::cta memory cannot reach another block. */
    assert_fault(
        "x[t] = in[i]; meet(); int v; asm volatile(\"ld.shared.s32 %0, [%1];\" : \"=r\"(v) :\n"
        "\"r\"(map(at(x + t), other))); out[i] = v; meet();",
        SIM_FAULT_BOUNDS, "shared address");
}

TEST(a_cluster_barrier_that_some_warps_miss_is_a_fault)
{
    assert_fault("if (t != 3) meet(); meet();", SIM_FAULT_BARRIER, "does not reach the barrier");
    assert_fault("if (me == 0) meet(); else { if (t < 32) __syncthreads(); else meet(); }",
                 SIM_FAULT_BARRIER, "others wait elsewhere");
    assert_fault("arrive(); if (me == 0) arrive(); wait();", SIM_FAULT_BARRIER, "it arrives twice");
    assert_fault("wait();", SIM_FAULT_BARRIER, "did not arrive there before");
    /* The cluster barrier does not wait for ended warps. */
    assert_fine("if (me == 0) return; meet();");
    assert_fine("if (t >= 32) return; meet();");
}

TEST(the_barrier_orders_global_memory_only_within_the_cluster)
{
    assert_fine("out[i] = in[i]; meet(); int v = out[i ^ 64]; meet(); out[i] = v;");
    for (int i = 0; i < COUNT; i++)
        assert_int_equal(out[i], in[i ^ THREADS]);
    assert_fault("out[i] = in[i]; __syncthreads(); int v = out[i ^ 64]; meet(); out[i] = v;",
                 SIM_FAULT_RACE, "read by this thread after a write by");
    assert_fault("out[i] = in[i]; meet(); if (me == 0) in = out + (i ^ 64); else out[i] = 1;\n"
                 "if (me == 0) out[i] = *in;",
                 SIM_FAULT_RACE, "written by this thread after a read by");
    assert_fault("out[i % 128] = in[i]; meet();", SIM_FAULT_RACE, "written by this thread and by");
}
