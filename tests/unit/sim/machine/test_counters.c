/* Compares counters of access patterns with known counts of the hardware. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim_fixture.h"

/* Returns the sectors of a load of `bytes` bytes a lane. Stride and offset count elements. */
static int sectors_of(int stride, int offset, uint32_t bytes, uint32_t mask)
{
    uint64_t addresses[SIM_LANES];
    sim_sectors s;
    for (int l = 0; l < SIM_LANES; l++)
        addresses[l] = 0x10000u + (uint64_t)(l * stride + offset) * bytes;
    sim_sectors_collect(addresses, mask, bytes, &s);
    return s.count;
}

TEST(a_warp_of_floats_takes_four_sectors_and_strides_take_more)
{
    assert_int_equal(sectors_of(1, 0, 4, UINT32_MAX), 4);
    assert_int_equal(sectors_of(1, 1, 4, UINT32_MAX), 5);
    assert_int_equal(sectors_of(2, 0, 4, UINT32_MAX), 8);
    assert_int_equal(sectors_of(8, 0, 4, UINT32_MAX), 32);
    assert_int_equal(sectors_of(64, 0, 4, UINT32_MAX), 32);
    assert_int_equal(sectors_of(0, 0, 4, UINT32_MAX), 1);
    assert_int_equal(sectors_of(1, 0, 16, UINT32_MAX), 16);
    assert_int_equal(sectors_of(1, 0, 1, UINT32_MAX), 1);
    assert_int_equal(sectors_of(1, 0, 4, 0x000000ffu), 1);
    assert_int_equal(sectors_of(-1, 31, 4, UINT32_MAX), 4);
}

TEST(sectors_of_random_accesses_equal_a_sorted_count)
{
    uint64_t seed = 7;
    for (int round = 0; round < 2000; round++) {
        uint64_t addresses[SIM_LANES], sorted[SIM_LANES];
        for (int l = 0; l < SIM_LANES; l++) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            addresses[l] = (seed >> 40) % (round + 1) * 4;
        }
        uint32_t mask = (uint32_t)(seed >> 16) | 1;
        int n = 0, expected = 0;
        for (int l = 0; l < SIM_LANES; l++)
            if (mask >> l & 1)
                sorted[n++] = addresses[l] / 32;
        for (int i = 0; i < n; i++) {
            bool seen = false;
            for (int j = 0; j < i; j++)
                seen |= sorted[j] == sorted[i];
            expected += !seen;
        }
        sim_sectors s;
        sim_sectors_collect(addresses, mask, 4, &s);
        assert_int_equal(s.count, expected);
    }
}

static sim_counter shared_of(int stride, uint32_t bytes)
{
    uint64_t addresses[SIM_LANES];
    sim_counter c = {0};
    for (int l = 0; l < SIM_LANES; l++)
        addresses[l] = (uint64_t)(l * stride) * bytes;
    sim_counter_add_shared(&c, addresses, UINT32_MAX, bytes, false);
    return c;
}

TEST(shared_strides_conflict_by_their_power_of_two)
{
    for (int stride = 1; stride <= 33; stride++) {
        sim_counter c = shared_of(stride, 4);
        uint64_t ways = (uint64_t)(stride & -stride);
        if (ways > 32)
            ways = 32;
        assert_int_equal(c.wavefronts, ways);
        assert_int_equal(c.conflicts, ways - 1);
    }
    /* A broadcast causes no conflict. */
    assert_int_equal(shared_of(0, 4).conflicts, 0);
    assert_int_equal(shared_of(0, 8).wavefronts, 1);
}

TEST(wide_accesses_are_served_in_halves_and_quarters)
{
    assert_int_equal(shared_of(1, 8).wavefronts, 2);
    assert_int_equal(shared_of(1, 8).conflicts, 0);
    assert_int_equal(shared_of(1, 16).wavefronts, 4);
    assert_int_equal(shared_of(1, 16).conflicts, 0);
    assert_int_equal(shared_of(2, 8).wavefronts, 4);
    assert_int_equal(shared_of(2, 8).conflicts, 2);
    assert_int_equal(shared_of(2, 16).wavefronts, 8);
}

TEST(lanes_on_one_address_serialise_atomics_and_share_constants)
{
    uint64_t addresses[SIM_LANES];
    sim_counter c = {0};
    for (int l = 0; l < SIM_LANES; l++)
        addresses[l] = 4 * (uint64_t)(l / 8);
    sim_counter_add_turns(&c, addresses, UINT32_MAX);
    assert_int_equal(c.turns, 7);
    sim_counter_add_turns(&c, addresses, 0x01010101u);
    assert_int_equal(c.turns, 7);
    sim_counter_add_constant(&c, addresses, UINT32_MAX);
    assert_int_equal(c.constant_requests, 1);
    assert_int_equal(c.constant_passes, 4);
    sim_counter_add_constant(&c, addresses, 0xff);
    assert_int_equal(c.constant_passes, 5);
}

TEST(the_fewest_sectors_are_rounded_up)
{
    uint64_t addresses[SIM_LANES] = {4096};
    sim_sectors s;
    sim_counter c = {0};
    sim_sectors_collect(addresses, 1, 4, &s);
    sim_counter_add_sectors(&c, &s);
    assert_int_equal(c.fewest, 1);
    for (int l = 0; l < SIM_LANES; l++)
        addresses[l] = 32 * (uint64_t)l;
    sim_sectors_collect(addresses, UINT32_MAX, 4, &s);
    sim_counter_add_sectors(&c, &s);
    assert_int_equal(c.fewest, 1 + 4);
    assert_int_equal(c.sectors, 1 + 32);
}

/* The transposes differ only in the width of the tile: the counters show the effect of padding. */
TEST(padding_removes_the_bank_conflicts_of_a_transpose)
{
    enum { N = 64 };
    static float src[N * N], dst[N * N];
    for (int pad = 0; pad < 2; pad++) {
        char source[1024];
        snprintf(source, sizeof source,
                 "extern \"C\" __global__ void t(const float *src, float *dst)\n"
                 "{\n"
                 "    __shared__ float tile[32][%d];\n"
                 "    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;\n"
                 "    for (int j = 0; j < 32; j += 8) tile[threadIdx.y + j][threadIdx.x] = src[(y "
                 "+ j) * 64 + x];\n"
                 "    __syncthreads();\n"
                 "    x = blockIdx.y * 32 + threadIdx.x; y = blockIdx.x * 32 + threadIdx.y;\n"
                 "    for (int j = 0; j < 32; j += 8) dst[(y + j) * 64 + x] = "
                 "tile[threadIdx.x][threadIdx.y + j];\n"
                 "}\n",
                 32 + pad);
        sim_test t;
        sim_test_init(&t, source, "sm_90", NULL);
        sim_test_u64(&t, sim_test_buffer(&t, "src", src, sizeof src, true));
        sim_test_u64(&t, sim_test_buffer(&t, "dst", dst, sizeof dst, false));
        sim_test_run_well(&t, 2, 2, 32, 8, 0);
        assert_int_equal(t.totals.global_load.requests, 128);
        assert_int_equal(t.totals.global_load.sectors, 512);
        assert_int_equal(t.totals.global_store.requests, 128);
        assert_int_equal(t.totals.global_store.sectors, 512);
        assert_int_equal(t.totals.shared_store.conflicts, 0);
        assert_int_equal(t.totals.shared_load.conflicts, pad ? 0 : 128 * 31);
        sim_test_deinit(&t);
    }
}

TEST(packed_float3_wastes_no_sector_but_takes_three_requests)
{
    static float in[3 * 128], out[128];
    sim_test t;
    sim_test_init(&t,
                  "extern \"C\" __global__ void k(const float3 *in, float *out)\n"
                  "{ float3 v = in[threadIdx.x]; out[threadIdx.x] = v.x + v.y + v.z; }\n",
                  "sm_90", NULL);
    sim_test_u64(&t, sim_test_buffer(&t, "in", in, sizeof in, true));
    sim_test_u64(&t, sim_test_buffer(&t, "out", out, sizeof out, false));
    sim_test_run_well(&t, 1, 1, 128, 1, 0);
    assert_int_equal(t.totals.global_load.requests, 12);
    assert_int_equal(t.totals.global_load.sectors, 12 * 12);
    assert_int_equal(t.totals.global_load.bytes, 128 * 12);
    sim_test_deinit(&t);
}
