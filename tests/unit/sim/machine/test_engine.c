/* Tests mbarriers and bulk copies: correct kernels pass, and a missing wait or fence is a fault. */
#include <stdio.h>
#include <string.h>

#include "sim_fixture.h"

/* the code around the bodies */
static const char prelude[] =
    "typedef unsigned int u32; typedef unsigned long long u64;\n"
    "__device__ u32 at(const void *p) { return (u32)__cvta_generic_to_shared(p); }\n"
    "__device__ void init(u64 *b, u32 n) {\n"
    "    asm volatile(\"mbarrier.init.shared::cta.b64 [%0], %1;\" :: \"r\"(at(b)), \"r\"(n) : "
    "\"memory\"); }\n"
    "__device__ void expect(u64 *b, u32 n) {\n"
    "    asm volatile(\"mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;\"\n"
    "                 :: \"r\"(at(b)), \"r\"(n) : \"memory\"); }\n"
    "__device__ void arrive(u64 *b) {\n"
    "    asm volatile(\"mbarrier.arrive.shared::cta.b64 _, [%0];\" :: \"r\"(at(b)) : \"memory\"); "
    "}\n"
    "__device__ void await(u64 *b, u32 parity) {\n"
    "    u32 done; do {\n"
    "    asm volatile(\"{.reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\"\n"
    "                 \"selp.u32 %0, 1, 0, p;}\" : \"=r\"(done) : \"r\"(at(b)), \"r\"(parity) : "
    "\"memory\");\n"
    "    } while (!done); }\n"
    "__device__ void load(void *to, const void *from, u32 n, u64 *b) {\n"
    "    asm volatile(\"cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], "
    "[%1], %2, [%3];\"\n"
    "                 :: \"r\"(at(to)), \"l\"(from), \"r\"(n), \"r\"(at(b)) : \"memory\"); }\n"
    "__device__ void store(void *to, const void *from, u32 n) {\n"
    "    asm volatile(\"cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;\"\n"
    "                 :: \"l\"(to), \"r\"(at(from)), \"r\"(n) : \"memory\"); }\n"
    "__device__ void commit() { asm volatile(\"cp.async.bulk.commit_group;\" ::: \"memory\"); }\n"
    "__device__ void leave() { asm volatile(\"cp.async.bulk.wait_group.read 0;\" ::: \"memory\"); "
    "}\n"
    "__device__ void fence() { asm volatile(\"fence.proxy.async.shared::cta;\" ::: \"memory\"); }\n"
    "extern \"C\" __global__ void k(const int *in, int *out)\n"
    "{\n"
    "    __shared__ alignas(128) int x[64];\n"
    "    __shared__ alignas(128) int y[64];\n"
    "    __shared__ u64 full[2], empty[2];\n"
    "    const int t = threadIdx.x;\n";

enum { THREADS = 64 };

static int in[THREADS], out[THREADS];

static sim_fault_kind run_body(sim_test *t, const char *body)
{
    char source[8192];
    for (int i = 0; i < THREADS; i++)
        in[i] = 100 + i;
    memset(out, 0, sizeof out);
    snprintf(source, sizeof source, "%s%s\n}\n", prelude, body);
    sim_test_init(t, source, "sm_90", "k");
    sim_test_u64(t, sim_test_buffer(t, "in", in, sizeof in, true));
    sim_test_u64(t, sim_test_buffer(t, "out", out, sizeof out, false));
    return sim_test_run(t, 1, 1, THREADS, 1, 0);
}

/* Asserts that the body runs without a fault, and that out[i] is in[i] + `more`. */
static void assert_copies(const char *body, int more)
{
    sim_test t;
    sim_fault_kind found = run_body(&t, body);
    if (found != SIM_FAULT_NONE)
        fail_msg("%s: %s", body, t.fault.message);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(out[i], in[i] + more);
    sim_test_deinit(&t);
}

static void assert_fault(const char *body, sim_fault_kind kind, const char *part)
{
    sim_test t;
    sim_fault_kind found = run_body(&t, body);
    if (found != kind || !strstr(t.fault.message, part))
        fail_msg("%s: fault %d (%s), not %d (%s)", body, found, t.fault.message, kind, part);
    sim_test_deinit(&t);
}

#define BEGIN                                                                                      \
    "if (t == 0) { init(full, 1); fence(); expect(full, 256); load(x, in, 256, full); } "          \
    "__syncthreads();\n"

TEST(data_of_a_bulk_copy_is_readable_after_the_wait)
{
    assert_copies(BEGIN "await(full, 0); out[t] = x[t];", 0);
}

TEST(a_missing_wait_for_a_bulk_copy_is_a_fault)
{
    assert_fault(BEGIN "out[t] = x[t]; await(full, 0);", SIM_FAULT_UNINITIALISED, "is on its way");
    assert_fault(BEGIN "if (t >= 32) await(full, 0); out[t] = x[t];", SIM_FAULT_UNINITIALISED,
                 "is on its way");
    /* A wait of one warp orders nothing in the other warp. */
    assert_fault(BEGIN "if (t < 32) await(full, 0); out[t] = x[t];", SIM_FAULT_RACE,
                 "read by this thread");
}

TEST(a_bulk_store_needs_a_fence_and_a_barrier_after_the_writes)
{
    assert_copies("y[t] = in[t] + 1; fence(); __syncthreads();\n"
                  "if (t == 0) { store(out, y, 256); commit(); leave(); }",
                  1);
    /* A fence after the barrier is enough. */
    assert_copies("y[t] = in[t] + 1; __syncthreads();\n"
                  "if (t == 0) { fence(); store(out, y, 256); commit(); leave(); }",
                  1);
    assert_fault("y[t] = in[t]; __syncthreads();\n"
                 "if (t == 0) { store(out, y, 256); commit(); leave(); }",
                 SIM_FAULT_RACE, "without a fence.proxy.async between");
    assert_fault("y[t] = in[t]; fence();\n"
                 "if (t == 0) { store(out, y, 256); commit(); leave(); }",
                 SIM_FAULT_RACE, "without a barrier between");
}

TEST(overwriting_the_source_of_a_pending_bulk_store_is_a_fault)
{
    assert_fault("y[t] = in[t]; fence(); __syncthreads();\n"
                 "if (t == 0) { store(out, y, 256); commit(); y[3] = 0; leave(); }",
                 SIM_FAULT_RACE, "written while a bulk copy from it");
    assert_fault("y[t] = in[t]; fence(); __syncthreads();\n"
                 "if (t == 0) { store(out, y, 256); commit(); }",
                 SIM_FAULT_RACE, "the block ends while its bulk copy from shared memory");
    /* The copy is not committed, so no wait includes the copy. */
    assert_fault("y[t] = in[t]; fence(); __syncthreads();\n"
                 "if (t == 0) { store(out, y, 256); leave(); }",
                 SIM_FAULT_RACE, "the block ends");
    assert_fault(BEGIN "if (t == 0) x[5] = 1; await(full, 0);", SIM_FAULT_RACE,
                 "written while a bulk copy to it");
}

TEST(an_incomplete_mbarrier_names_the_missing_arrivals)
{
    assert_fault("if (t == 0) { init(full, 1); expect(full, 272); load(x, in, 256, full); } "
                 "__syncthreads();\n"
                 "await(full, 0);",
                 SIM_FAULT_BARRIER, "0 arrivals and 16 bytes are missing");
    assert_fault(
        "if (t == 0) init(full, 3); __syncthreads(); if (t < 2) arrive(full); await(full, 0);",
        SIM_FAULT_BARRIER, "1 arrivals and 0 bytes are missing");
    assert_fault(
        "if (t == 0) init(full, 1); __syncthreads(); if (t < 2) arrive(full); await(full, 1);",
        SIM_FAULT_NONE, "");
    assert_fault("if (t == 0) init(full, 2); __syncthreads(); asm "
                 "volatile(\"mbarrier.arrive.shared::cta.b64 _, "
                 "[%0], 3;\" :: \"r\"(at(full)) : \"memory\");",
                 SIM_FAULT_BARRIER, "3 threads arrive");
}

TEST(an_mbarrier_needs_initialisation_that_other_threads_see)
{
    assert_fault("arrive(full);", SIM_FAULT_BARRIER, "mbarrier.init was not executed for it");
    assert_fault("if (t == 0) load(x, in, 256, full);", SIM_FAULT_BARRIER,
                 "no mbarrier was initialised");
    assert_fault("if (t == 0) init(full, 64); arrive(full); await(full, 0);", SIM_FAULT_RACE,
                 "without a barrier between");
}

TEST(sizes_and_addresses_are_multiples_of_16)
{
    assert_fault("if (t == 0) { init(full, 1); expect(full, 8); load(x, in, 8, full); }",
                 SIM_FAULT_MISALIGNED, "a bulk copy of 8 bytes");
    assert_fault("if (t == 0) { init(full, 1); expect(full, 16); load(x, in + 1, 16, full); }",
                 SIM_FAULT_MISALIGNED, "multiples of 16");
    assert_fault("if (t == 0) { init(full, 1); expect(full, 16); load(x + 1, in, 16, full); }",
                 SIM_FAULT_MISALIGNED, "must be a multiple of 16");
    assert_fault("if (t == 0) { init(full, 1); expect(full, 128); load(x, in + 48, 128, full); }",
                 SIM_FAULT_BOUNDS, "of in");
    assert_fault("if (t == 0) { fence(); store((void *)in, x, 16); }", SIM_FAULT_UNINITIALISED, "");
}

/* One thread copies pieces through two buffers to the other warp. Each buffer has two mbarriers. */
#define PIPELINE(RELEASE)                                                                          \
    "if (t == 0) { for (int s = 0; s < 2; s++) { init(full + s, 1); init(empty + s, 32); } "       \
    "fence(); }\n"                                                                                 \
    "__syncthreads();\n"                                                                           \
    "if (t == 0) for (int i = 0; i < 8; i++) { int s = i % 2;\n"                                   \
    "    if (i >= 2) await(empty + s, (i / 2 - 1) & 1);\n"                                         \
    "    expect(full + s, 32); load(x + s * 8, in + i * 8, 32, full + s); }\n"                     \
    "if (t >= 32) for (int i = 0; i < 8; i++) { int s = i % 2, l = t - 32;\n"                      \
    "    await(full + s, (i / 2) & 1);\n"                                                          \
    "    if (l < 8) out[i * 8 + l] = x[s * 8 + l] + 2;\n" RELEASE "}\n"

TEST(a_pipeline_between_warps_is_right_and_its_mistakes_are_found)
{
    assert_copies(PIPELINE("arrive(empty + s);"), 2);
    assert_fault(PIPELINE("if (l < 31) arrive(empty + s);"), SIM_FAULT_BARRIER,
                 "1 arrivals and 0 bytes");
    /* A producer that does not wait for a free buffer overwrites data that must still be read. */
    assert_fault("if (t == 0) { init(full, 1); init(full + 1, 1); fence(); } __syncthreads();\n"
                 "if (t == 0) for (int i = 0; i < 2; i++) { expect(full + i, 256); load(x, in, "
                 "256, full + i); }\n"
                 "await(full, 0); out[t] = x[t];",
                 SIM_FAULT_RACE, "written while a bulk copy to it");
}

TEST(arrivals_and_waits_order_plain_accesses)
{
    assert_copies("if (t == 0) init(full, 64); __syncthreads();\n"
                  "y[t] = in[t] + 3; arrive(full); await(full, 0); out[63 - t] = y[63 - t];",
                  3);
    assert_fault("if (t == 0) init(full, 64); __syncthreads();\n"
                 "y[t] = in[t]; arrive(full); out[63 - t] = y[63 - t]; await(full, 0);",
                 SIM_FAULT_UNINITIALISED, "to which no value was written");
    assert_fault("if (t == 0) init(full, 64); __syncthreads();\n"
                 "arrive(full); y[t] = in[t]; await(full, 0); if (t < 32) out[t] = y[t + 32];",
                 SIM_FAULT_RACE, "without a barrier between");
}
