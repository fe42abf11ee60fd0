/* Tests that a sweep over a grid finds the same elements as a loop over all threads. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/sweep.h"
#include "sim_fixture.h"

enum { BLOCKS = 48, THREADS = 64, END = 3000 };

/* The element that thread x of block b writes. i is the number of the thread in the grid. The
 * expression is valid in C and CUDA. */
#define PLACES(PLACE)                                                                              \
    PLACE(0, i)                                                                                    \
    PLACE(1, i / 7 * 7 + 6 - i % 7)                                                                \
    PLACE(2, i ^ 5)                                                                                \
    PLACE(3, (i & 0xff8) | (7 - (i & 7)))                                                          \
    PLACE(4, (i >> 3 | i << 9) & 4095)                                                             \
    PLACE(5, (unsigned)(int)((float)i * (1.0f / 3.0f)))                                            \
    PLACE(6, (unsigned)(int)((float)(i + 16777000u) / 7.0f) - 2396714u)                            \
    PLACE(7, (unsigned short)(i * 40))                                                             \
    PLACE(8, (unsigned)((int)i - 100))                                                             \
    PLACE(9, b % 3 * 1000 + x)                                                                     \
    PLACE(10, i * 2654435761u >> 20)                                                               \
    PLACE(11, ~i & 2047)                                                                           \
    PLACE(12, i < 1000 ? i : 1999 - i)                                                             \
    PLACE(13, x * 16 + b % 16 + b / 16 * 1024)                                                     \
    PLACE(14, (i / 33u) ^ (i % 33u))                                                               \
    PLACE(15, b & 1 ? 63 - x + b * 64 : i)                                                         \
    PLACE(16, (unsigned)((int)(x - 32) / 5 + 100))                                                 \
    PLACE(17, (unsigned)((int)(x - 32) >> 2) + 100)                                                \
    PLACE(18, i * 1431655766u)                                                                     \
    PLACE(19, (unsigned)((unsigned long long)i * 3000000000u >> 32))                               \
    PLACE(20, (x & 15) * 64 + (x >> 4) + (b << 5 & 992) * 2)                                       \
    PLACE(21, (unsigned)((double)i * 0.7))                                                         \
    PLACE(22, b == 17 ? 5 : i)                                                                     \
    PLACE(23, (x > b ? x : b) * 40)                                                                \
    PLACE(24, (unsigned char)(i * 3 + 250) * 10)                                                   \
    PLACE(25, i / (b / 8 + 1))

#define TEXT(N, PLACE) "K(" #N ", " #PLACE ")\n"
static const char frame[] =
    "#define K(N, PLACE) extern \"C\" __global__ void k##N(int *dst, unsigned n) \\\n"
    "{ unsigned x = threadIdx.x, b = blockIdx.x, i = b * 64 + x, j = PLACE; (void)i; \\\n"
    "  if (j < n) dst[j] = 1; }\n";
static const char kernels[] = PLACES(TEXT);
#define CASE(N, PLACE)                                                                             \
    case N:                                                                                        \
        return PLACE;
#define COUNT(N, PLACE) +1

static unsigned place(int number, unsigned x, unsigned b)
{
    const unsigned i = b * THREADS + x;
    switch (number) {
        PLACES(CASE)
    default:
        return 0;
    }
}

static void follow_blocks(const char *ptx, const char *entry, uint32_t blocks, uint32_t n,
                          uint64_t most, sim_sweep *out)
{
    sim_test t;
    int dst[1];
    sim_test_init_ptx(&t, ptx, entry);
    const uint64_t base = sim_test_buffer(&t, "dst", dst, sizeof dst, false);
    sim_test_u64(&t, base);
    sim_test_u32(&t, n);
    const sim_launch launch = {.program = t.kernel.programs[0],
                               .memory = &t.memory,
                               .parameters = t.parameters,
                               .grid = {blocks, 1, 1},
                               .block = {THREADS, 1, 1}};
    /* The sweep does not write to the memory, so the memory may be shorter than the buffer. */
    const sim_sweep_buffer b = {
        .base = base, .size_bytes = (uint64_t)n * 4, .end = n, .element_bytes = 4};
    sim_sweep_run(&launch, &b, 1, most, SWEEP_WRITES, 0, out);
    sim_test_deinit(&t);
}

static void follow(const char *ptx, const char *entry, uint32_t n, uint64_t most, sim_sweep *out)
{
    follow_blocks(ptx, entry, BLOCKS, n, most, out);
}

TEST(a_sweep_finds_exactly_the_elements_that_threads_write)
{
    char source[sizeof frame + sizeof kernels];
    snprintf(source, sizeof source, "%s%s", frame, kernels);
    char *ptx = sim_test_ptx(source, "sm_90");
    for (int k = 0; k < 0 PLACES(COUNT); k++) {
        char entry[8];
        sim_sweep swept;
        uint64_t count = 0, sum = 0, squares = 0;
        unsigned times[END] = {0};
        snprintf(entry, sizeof entry, "k%d", k);
        follow(ptx, entry, END, 1 << 22, &swept);
        for (unsigned b = 0; b < BLOCKS; b++)
            for (unsigned x = 0; x < THREADS; x++) {
                const uint64_t j = place(k, x, b);
                if (j >= END)
                    continue;
                times[j]++;
                count++;
                sum += j;
                squares += j * j;
            }
        const sim_written *w = &swept.written[0];
        if (!swept.ended || !w->is_known || swept.is_outside || w->count != count ||
            w->sum != sum || w->squares != squares)
            fail_msg("%s: ended %d, %llu elements of %llu, sum %llu of %llu", entry, swept.ended,
                     (unsigned long long)w->count, (unsigned long long)count,
                     (unsigned long long)w->sum, (unsigned long long)sum);
        uint64_t once = 0;
        for (int j = 0; j < END; j++)
            once += times[j] == 1;
        assert_int_equal(sim_written_all(w, END), once == END);
    }
    free(ptx);
}

TEST(a_sweep_follows_millions_of_alternating_blocks_together)
{
    char *ptx = sim_test_ptx(
        "extern \"C\" __global__ void mirrored(int *dst, unsigned n)\n"
        "{ unsigned b = blockIdx.x; dst[b / 12 * 768 + (11 - b % 12) * 64 + threadIdx.x] = 1; }\n"
        "extern \"C\" __global__ void twice(int *dst, unsigned n)\n"
        "{ unsigned b = blockIdx.x; dst[b / 12 * 768 + b % 11 * 64 + threadIdx.x] = 1; }\n",
        "sm_90");
    enum { MANY = 12 * 500000 };
    sim_sweep swept;
    follow_blocks(ptx, "mirrored", MANY, MANY * 64, 20000, &swept);
    assert_true(swept.ended && sim_written_all(&swept.written[0], (uint64_t)MANY * 64));
    follow_blocks(ptx, "twice", MANY, MANY * 64, 200000, &swept);
    assert_true(swept.ended && swept.written[0].is_known);
    assert_false(sim_written_all(&swept.written[0], (uint64_t)MANY * 64));
    free(ptx);
}

TEST(a_sweep_ends_without_a_result_if_data_decide_an_index)
{
    char *ptx = sim_test_ptx(
        "extern \"C\" __global__ void gathered(int *dst, unsigned n)\n"
        "{ unsigned i = blockIdx.x * 64 + threadIdx.x; int j = dst[i]; if (j < n) dst[j] = 1; }\n"
        "extern \"C\" __global__ void chosen(int *dst, unsigned n)\n"
        "{ unsigned i = blockIdx.x * 64 + threadIdx.x; if (dst[i] > 3) dst[i] = 1; }\n"
        "extern \"C\" __global__ void counted(int *dst, unsigned n)\n"
        "{ atomicAdd(&dst[threadIdx.x], 1); }\n"
        "extern \"C\" __global__ void beyond(int *dst, unsigned n)\n"
        "{ unsigned i = blockIdx.x * 64 + threadIdx.x; dst[blockIdx.x == 33 ? n + 5 : i] = 1; }\n"
        "extern \"C\" __global__ void endless(int *dst, unsigned n)\n"
        "{ for (;;) { if (((volatile int *)dst)[0] > 1) continue; dst[threadIdx.x]++; } }\n",
        "sm_90");
    sim_sweep swept;
    follow(ptx, "gathered", END, 1 << 20, &swept);
    assert_false(swept.ended && swept.written[0].is_known);
    follow(ptx, "chosen", END, 1 << 20, &swept);
    assert_false(swept.ended && swept.written[0].is_known);
    follow(ptx, "counted", END, 1 << 20, &swept);
    assert_false(swept.ended && swept.written[0].is_known);
    follow(ptx, "beyond", BLOCKS * THREADS, 1 << 20, &swept);
    assert_true(swept.ended && swept.is_outside);
    assert_true(swept.outside == 33);
    follow(ptx, "endless", END, 1 << 16, &swept);
    assert_false(swept.ended);
    free(ptx);
}
