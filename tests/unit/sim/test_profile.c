/* Tests profiles from a few blocks: critical path, cached reads, and work of the last block. */
#include <stdio.h>
#include <string.h>

#include "sim/profile.h"
#include "sim_fixture.h"

enum { WORDS = 1 << 14, DRAM = 1000, L2 = 300, L1 = 30 };

static uint32_t data[WORDS];

static sim_profile profile_sampled(const char *source, uint32_t blocks, uint32_t threads,
                                   uint64_t l1_bytes, uint32_t window, uint64_t sample)
{
    sim_test t;
    sim_profile out;
    sim_fault fault;
    at_error error = {0};
    sim_test_init(&t, source, "sm_90", NULL);
    for (uint32_t i = 0; i < WORDS; i++)
        data[i] = 0;
    sim_test_u64(&t, sim_test_buffer(&t, "data", data, sizeof data, false));
    const sim_launch launch = {.program = t.kernel.programs[0],
                               .memory = &t.memory,
                               .parameters = t.parameters,
                               .grid = {blocks, 1, 1},
                               .block = {threads, 1, 1}};
    const sim_sampling how = {.blocks = sample,
                              .wave = blocks / 2,
                              .l1_bytes = l1_bytes,
                              .window = window,
                              .latencies = {.compute = 4,
                                            .wide = 8,
                                            .special = 20,
                                            .shuffle = 20,
                                            .shared = 20,
                                            .barrier = 10,
                                            .atomic = L2,
                                            .fence = L2,
                                            .levels = {L1, L2, DRAM}}};
    assert_ok(sim_profile_launch(&launch, &how, NULL, &out, &fault, &error), error);
    assert_int_equal(fault.kind, SIM_FAULT_NONE);
    sim_test_deinit(&t);
    return out;
}

static sim_profile profile(const char *source, uint32_t blocks, uint32_t threads, uint64_t l1_bytes,
                           uint32_t window)
{
    return profile_sampled(source, blocks, threads, l1_bytes, window, 4);
}

static const char chain[] = "extern \"C\" __global__ void k(unsigned *p)\n"
                            "{\n"
                            "    unsigned at = blockIdx.x * 512 + threadIdx.x, i = at;\n"
                            "    for (int j = 0; j < 4; j++) i = p[at + 128 * j + i % 2];\n"
                            "    p[at] = i;\n"
                            "}\n";

static const char apart[] = "extern \"C\" __global__ void k(unsigned *p)\n"
                            "{\n"
                            "    unsigned at = blockIdx.x * 512 + threadIdx.x, sum = 0;\n"
                            "    #pragma unroll\n"
                            "    for (int j = 0; j < 4; j++) sum += p[at + 128 * j];\n"
                            "    p[at] = sum;\n"
                            "}\n";

TEST(dependent_loads_follow_one_another)
{
    const sim_profile one = profile(apart, 32, 32, 1 << 16, 32),
                      four = profile(chain, 32, 32, 1 << 16, 32);
    assert_true(one.critical_clocks > DRAM && one.critical_clocks < 1.5 * DRAM);
    assert_true(four.critical_clocks > 4 * DRAM && four.critical_clocks < 4.5 * DRAM);
}

TEST(registers_limit_the_pending_loads_of_a_thread)
{
    const sim_profile two = profile(apart, 32, 32, 1 << 16, 2);
    assert_true(two.critical_clocks > 2 * DRAM && two.critical_clocks < 2.5 * DRAM);
}

TEST(a_barrier_waits_for_the_slowest_warp)
{
    static const char source[] =
        "extern \"C\" __global__ void k(unsigned *p)\n"
        "{\n"
        "    __shared__ unsigned s;\n"
        "    if (threadIdx.x == 32) s = p[blockIdx.x * 64];\n"
        "    __syncthreads();\n"
        "    p[blockIdx.x * 64 + threadIdx.x] = p[blockIdx.x * 64 + s + threadIdx.x];\n"
        "}\n";
    const sim_profile found = profile(source, 32, 64, 1 << 16, 32);
    assert_true(found.critical_clocks > 2 * DRAM && found.critical_clocks < 2.5 * DRAM);
}

TEST(reads_that_exceed_the_l1_miss_it)
{
    static const char source[] = "extern \"C\" __global__ void k(unsigned *p)\n"
                                 "{\n"
                                 "    unsigned at = blockIdx.x * 1024 + threadIdx.x, sum = 0;\n"
                                 "    for (int i = 0; i < 4; i++) {\n"
                                 "        for (int j = 0; j < 16; j++) sum += p[at + 32 * j];\n"
                                 "        p[at + 512 + sum] = sum;\n"
                                 "    }\n"
                                 "}\n";
    /* Each block reads 16 times 128 bytes, and repeats this four times. */
    const sim_profile large = profile(source, 16, 32, 4096, 32),
                      small = profile(source, 16, 32, 1024, 32);
    assert_float_equal(large.read.sectors, 256, 0);
    assert_float_equal(large.read.missed, 64, 0);
    assert_float_equal(small.read.missed, 256, 0);
    assert_float_equal(small.read.distinct, 64, 0);
    assert_float_equal(large.read.again, 0, 0);
    assert_float_equal(small.read.again, 192, 0);
    assert_float_equal(small.read.between, 64, 0);
}

TEST(blocks_find_data_of_the_previous_block_in_the_l1)
{
    /* A table that all blocks read, and words that only one block reads. */
    static const char source[] =
        "extern \"C\" __global__ void k(unsigned *p)\n"
        "{\n"
        "    p[4096 + blockIdx.x * 32 + threadIdx.x] =\n"
        "        p[threadIdx.x] + p[8192 + blockIdx.x * 32 + threadIdx.x];\n"
        "}\n";
    const sim_profile later = profile(source, 64, 32, 4096, 32),
                      no_room = profile(source, 64, 32, 128, 32),
                      first = profile(source, 1, 32, 4096, 32);
    assert_float_equal(later.read.missed, 4, 0);
    assert_float_equal(no_room.read.missed, 8, 0);
    assert_float_equal(first.read.missed, 8, 0);
    assert_float_equal(later.read.again, 0, 0);
}

/* Profiles a kernel whose threads read a word four times. The words of neighbouring threads are
 * `words` words apart. No two blocks read the same words. */
static sim_profile profile_loads(int words, const char *cache, uint64_t l1_bytes)
{
    char source[640];
    snprintf(source, sizeof source,
             "extern \"C\" __global__ void k(unsigned *p)\n"
             "{\n"
             "    unsigned v, sum = 0;\n"
             "    for (int i = 0; i < 4; i++) {\n"
             "        asm volatile(\"ld.global%s.u32 %%0, [%%1];\" : \"=r\"(v)\n"
             "                     : \"l\"(p + (blockIdx.x * 32 + threadIdx.x) * %d + sum));\n"
             "        sum += v;\n"
             "    }\n"
             "    p[sum] = sum;\n"
             "}\n",
             cache, words);
    return profile(source, 16, 32, l1_bytes, 32);
}

TEST(the_l1_allocates_whole_lines)
{
    /* A warp reads 32 sectors in 32 lines. */
    assert_float_equal(profile_loads(32, "", 32 * 128).read.missed, 32, 0);
    assert_float_equal(profile_loads(32, "", 31 * 32).read.missed, 4 * 32, 0);
    assert_float_equal(profile_loads(32, "", 31 * 128).read.missed, 4 * 32, 0);
}

TEST(loads_cached_in_the_l2_bypass_the_l1)
{
    assert_float_equal(profile_loads(1, "", 4096).read.missed, 4, 0);
    assert_float_equal(profile_loads(1, ".cg", 4096).read.missed, 16, 0);
}

TEST(a_pass_of_the_l1_reads_a_word_of_each_bank)
{
    assert_float_equal(profile_loads(1, "", 4096).read.passes, 4, 0);
    assert_float_equal(profile_loads(3, "", 4096).read.passes, 4, 0);
    assert_float_equal(profile_loads(8, "", 4096).read.passes, 4 * 8, 0);
    assert_float_equal(profile_loads(32, "", 4096).read.passes, 4 * 32, 0);
}

TEST(a_pass_of_the_l1_reads_four_lines)
{
    /* Words in different banks, of 5 and of 32 lines. */
    assert_float_equal(profile_loads(5, "", 4096).read.passes, 4 * 2, 0);
    assert_float_equal(profile_loads(33, "", 4096).read.passes, 4 * 8, 0);
}

TEST(a_division_takes_as_long_as_its_machine_instructions)
{
    static const char source[] = "extern \"C\" __global__ void k(float *p)\n"
                                 "{\n"
                                 "    float v = p[threadIdx.x];\n"
                                 "    v = %s(%s(v, 3.1f), 4.3f);\n"
                                 "    p[threadIdx.x] = v;\n"
                                 "}\n";
    char exact[256], fast[256];
    snprintf(exact, sizeof exact, source, "__fdiv_rn", "__fdiv_rn");
    snprintf(fast, sizeof fast, source, "__fadd_rn", "__fadd_rn");
    const double longer = profile(exact, 32, 32, 4096, 32).critical_clocks -
                          profile(fast, 32, 32, 4096, 32).critical_clocks;
    assert_true(longer > 2 * 40 && longer < 2 * 60);
}

/* Profiles two stores to adjacent words. The address grows by `words` words from lane to lane. */
static sim_profile profile_stores(int words)
{
    char source[512];
    snprintf(source, sizeof source,
             "extern \"C\" __global__ void k(unsigned *p)\n"
             "{\n"
             "    unsigned *to = p + (blockIdx.x * 32 + threadIdx.x) * %d;\n"
             "    asm volatile(\"st.global.u32 [%%0], %%1;\" :: \"l\"(to), \"r\"(1));\n"
             "    asm volatile(\"st.global.u32 [%%0], %%1;\" :: \"l\"(to + 1), \"r\"(1));\n"
             "}\n",
             words);
    return profile(source, 16, 32, 4096, 32);
}

TEST(stores_of_a_warp_to_the_same_few_lines_merge)
{
    const sim_profile near = profile_stores(2), some = profile_stores(6), far = profile_stores(16);
    assert_float_equal(near.write.sectors, 16, 0);
    assert_float_equal(near.write.sent, 8, 0);
    /* In six lines, only half of the sectors of the two stores merge, so both stores send 24. */
    assert_float_equal(some.write.sectors, 48, 0);
    assert_float_equal(some.write.sent, 36, 0);
    assert_float_equal(some.write.parts, 24, 0);
    assert_float_equal(far.write.sectors, 64, 0);
    assert_float_equal(far.write.sent, 64, 0);
    assert_float_equal(far.write.moved, 2 * 16, 0);
}

TEST(data_that_all_blocks_of_a_wave_read_counts_once)
{
    static const char source[] = "extern \"C\" __global__ void k(unsigned *p)\n"
                                 "{\n"
                                 "    p[1024 + blockIdx.x * 32 + threadIdx.x] = p[threadIdx.x];\n"
                                 "}\n";
    const sim_profile found = profile(source, 32, 32, 4096, 32);
    assert_float_equal(found.wave.first_fresh, 1.0 / 16, 1e-9);
    assert_float_equal(found.wave.later_fresh, 0, 1e-9);
}

TEST(a_wave_has_a_share_of_reads_for_each_buffer)
{
    static const char source[] = "extern \"C\" __global__ void k(unsigned *p)\n"
                                 "{\n"
                                 "    unsigned at = blockIdx.x * 32 + threadIdx.x;\n"
                                 "    p[8192 + at] = p[at] + p[4096 + threadIdx.x];\n"
                                 "}\n";
    const sim_profile found = profile(source, 32, 32, 4096, 32);
    /* A block shares half of the data that it reads with the other blocks. */
    assert_float_equal(found.buffers[0].distinct, 8, 0);
    assert_float_equal(found.buffers[0].first_fresh, (16 + 1) / 32.0, 1e-9);
    assert_float_equal(found.buffers[0].later_fresh, 0.5, 1e-9);
}

TEST(streaming_loads_stay_in_the_l1_and_no_allocate_loads_do_not)
{
    static const char source[] =
        "extern \"C\" __global__ void k(unsigned *p)\n"
        "{\n"
        "    unsigned a, b, *at = p + blockIdx.x * 64 + 2 * threadIdx.x;\n"
        "    asm volatile(\"ld.global%s.u32 %%0,[%%1];\" : \"=r\"(a) : \"l\"(at));\n"
        "    asm volatile(\"ld.global%s.u32 %%0,[%%1];\" : \"=r\"(b) : \"l\"(at + 1));\n"
        "    at[4096] = a + b;\n"
        "}\n";
    char streaming[512], apart_from_l1[512], wide[512], wide_apart_from_l1[512];
    snprintf(streaming, sizeof streaming, source, ".cs", ".cs");
    snprintf(apart_from_l1, sizeof apart_from_l1, source, ".L1::no_allocate", ".L1::no_allocate");
    assert_float_equal(profile(streaming, 16, 32, 4096, 32).read.missed, 8, 0);
    snprintf(wide, sizeof wide, source, ".L2::256B", ".L2::256B");
    snprintf(wide_apart_from_l1, sizeof wide_apart_from_l1, source, ".L1::no_allocate.L2::256B",
             ".L1::no_allocate.L2::256B");
    assert_float_equal(profile(apart_from_l1, 16, 32, 4096, 32).read.missed, 16, 0);
    assert_float_equal(profile(wide, 16, 32, 4096, 32).read.missed, 8, 0);
    assert_float_equal(profile(wide_apart_from_l1, 16, 32, 4096, 32).read.missed, 16, 0);
    assert_float_equal(
        profile(wide_apart_from_l1, 16, 32, 4096, 32).hinted[SIM_HINT_WIDE_NO_ALLOCATE], 1, 0);
}

TEST(a_sample_has_blocks_of_several_columns_of_the_grid)
{
    /* The grid is 16 blocks wide. The blocks at its edge do more work. */
    static const char source[] = "extern \"C\" __global__ void k(unsigned *p)\n"
                                 "{\n"
                                 "    unsigned at = blockIdx.x * 32 + threadIdx.x, sum = p[at];\n"
                                 "    if (blockIdx.x % 16 == 0) sum += p[at ^ 1024];\n"
                                 "    p[at] = sum;\n"
                                 "}\n";
    const sim_profile found = profile_sampled(source, 256, 32, 4096, 32, 16);
    assert_int_equal(found.sampled, 16);
    assert_true(found.read.distinct > 4 && found.read.distinct <= 4.5);
}

TEST(the_block_that_draws_the_last_ticket_is_sampled)
{
    static const char source[] =
        "extern \"C\" __global__ void k(unsigned *p)\n"
        "{\n"
        "    __shared__ bool last;\n"
        "    if (threadIdx.x == 0) {\n"
        "        p[64 + blockIdx.x] = blockIdx.x;\n"
        "        __threadfence();\n"
        "        last = atomicInc(p, gridDim.x - 1) == gridDim.x - 1;\n"
        "    }\n"
        "    __syncthreads();\n"
        "    if (!last) return;\n"
        "    unsigned sum = 0;\n"
        "    for (unsigned i = threadIdx.x; i < gridDim.x; i += blockDim.x) sum += p[64 + i];\n"
        "    p[32 + threadIdx.x] = sum;\n"
        "}\n";
    const sim_profile found = profile(source, 1024, 32, 4096, 32);
    assert_true(found.last_clocks > found.critical_clocks + 6 * DRAM);
    assert_int_equal(data[0], 0);
    const sim_profile without = profile(apart, 32, 32, 4096, 32);
    assert_true(without.last_clocks == 0);
}

TEST(atomics_on_one_address_are_counted_by_type)
{
    static const char source[] =
        "extern \"C\" __global__ void k(double *p) { atomicAdd(p, 1.0); }\n";
    const sim_profile found = profile(source, 32, 32, 4096, 32);
    assert_float_equal(found.hot.operations, 32 * 32, 0);
    assert_float_equal(found.hot.sectors, 32, 0);
    assert_float_equal(found.hot.doubles, 1, 0);
}

TEST(atomics_on_one_word_differ_from_atomics_on_one_line)
{
    static const char source[] =
        "extern \"C\" __global__ void k(unsigned *p) { atomicAdd(p + threadIdx.x, 1u); }\n";
    const sim_profile found = profile(source, 32, 32, 4096, 32);
    assert_float_equal(found.hot.operations, 32, 0);
    assert_float_equal(found.hot.sectors, 4 * 32, 0);
}
