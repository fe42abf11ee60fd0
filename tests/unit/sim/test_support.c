/* Tests the GPU's support kernels on the simulated device. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/rng.h"
#include "base/value.h"
#include "device/plan.h"
#include "sim_fixture.h"

enum {
    BAND = 1000,
    RESULTS = 6,
    WRONG = 0,
    FIRST_INVERTED = 1,
    BEFORE_INVERTED = 4,
    AFTER_INVERTED = 5
};

static char *support, *parts[2]; /* PTX of the complete source, and of each of its two parts */
static unsigned char before[BAND], after[BAND];
static uint64_t results[RESULTS];

static int read_support(void **state)
{
    (void)state;
    at_error error = {0};
    char *source;
    size_t size_bytes;
    assert_ok(file_read(TEST_SOURCE_DIR "/templates/device_support.cu", 1 << 20, &source,
                        &size_bytes, &error),
              error);
    support = sim_test_ptx(source, "sm_90");
    char *text = malloc(size_bytes + 64);
    assert_non_null(text);
    for (int i = 0; i < 2; i++) {
        snprintf(text, size_bytes + 64, "#define SUPPORT_PART %d\n%s", i + 1, source);
        parts[i] = sim_test_ptx(text, "sm_90");
    }
    free(text);
    free(source);
    return 0;
}

static int free_support(void **state)
{
    (void)state;
    free(support);
    free(parts[0]);
    free(parts[1]);
    return 0;
}

static size_t count_entries(const char *ptx)
{
    size_t count = 0;
    for (const char *at = ptx; (at = strstr(at, ".entry at_")); at++)
        count++;
    return count;
}

TEST(every_kernel_is_in_one_of_two_parts)
{
    char entry[64];
    assert_int_equal(count_entries(parts[0]) + count_entries(parts[1]), count_entries(support));
    for (const char *at = support; (at = strstr(at, ".entry at_")); at++) {
        assert_int_equal(sscanf(at, ".entry %59[a-z_]", entry), 1);
        snprintf(entry + strlen(entry), 2, "(");
        assert_true((strstr(parts[0], entry) != NULL) != (strstr(parts[1], entry) != NULL));
    }
}

static void begin(sim_test *t, const char *entry)
{
    sim_test_init_ptx(t, support, entry);
    sim_test_u64(t, sim_test_buffer(t, "before", before, BAND, true));
    sim_test_u64(t, sim_test_buffer(t, "after", after, BAND, true));
    sim_test_u64(t, BAND);
}

static void set_guards(dtype type, int pattern, uint64_t salt)
{
    sim_test t;
    begin(&t, "at_guards_set");
    sim_test_u32(&t, (uint32_t)type);
    sim_test_u32(&t, (uint32_t)pattern);
    sim_test_u64(&t, salt);
    sim_test_run_well(&t, 2, 1, 256, 1, 0);
    sim_test_deinit(&t);
}

static void check_guards(dtype type, int pattern, uint64_t salt)
{
    sim_test t;
    memset(results, 0, sizeof results);
    begin(&t, "at_guards_check");
    sim_test_u32(&t, (uint32_t)type);
    sim_test_u32(&t, (uint32_t)pattern);
    sim_test_u64(&t, salt);
    sim_test_u64(&t, sim_test_buffer(&t, "results", results, sizeof results, true));
    sim_test_run_well(&t, 2, 1, 256, 1, 0);
    sim_test_deinit(&t);
}

TEST(untouched_guard_bands_are_intact_for_each_type_and_pattern)
{
    for (int type = 0; type < DTYPE_COUNT; type++)
        for (int pattern = 0; pattern < 4; pattern++) {
            set_guards((dtype)type, pattern, 77);
            check_guards((dtype)type, pattern, 77);
            assert_true(results[BEFORE_INVERTED] == 0 && results[AFTER_INVERTED] == 0);
        }
}

TEST(a_write_next_to_the_buffer_damages_the_band)
{
    set_guards(DTYPE_FLOAT, 1, 5);
    before[BAND - 1] ^= 1;
    after[0] ^= 1;
    after[3] ^= 1;
    check_guards(DTYPE_FLOAT, 1, 5);
    assert_true(~results[BEFORE_INVERTED] == 1);
    assert_true(~results[AFTER_INVERTED] == 1);
}

TEST(a_band_of_another_buffer_or_side_counts_as_damaged)
{
    set_guards(DTYPE_FLOAT, 0, 5);
    check_guards(DTYPE_FLOAT, 0, 6);
    /* The guard bands of two buffers have different NaNs, which may have some equal bytes. */
    assert_true(~results[BEFORE_INVERTED] <= 4 && ~results[AFTER_INVERTED] <= 4);
    memcpy(after, before, BAND);
    check_guards(DTYPE_FLOAT, 0, 5);
    assert_true(results[BEFORE_INVERTED] == 0 && ~results[AFTER_INVERTED] <= 4);
}

TEST(guard_bands_hold_conspicuous_values)
{
    float x;
    int64_t index;
    set_guards(DTYPE_FLOAT, 0, 9);
    for (size_t i = 0; i < BAND / 4; i++) {
        memcpy(&x, after + 4 * i, sizeof x);
        assert_true(isnan(x));
    }
    for (int pattern = 1; pattern < 4; pattern += 2) {
        set_guards(DTYPE_FLOAT, pattern, 9);
        memcpy(&x, after, sizeof x);
        assert_true(fabsf(x) > 1e37f);
    }
    set_guards(DTYPE_INT64, 0, 9);
    memcpy(&index, after, sizeof index);
    assert_true(index > INT64_C(1) << 60);
    set_guards(DTYPE_INT64, 1, 9);
    memcpy(&index, after, sizeof index);
    assert_true(index < 0);
}

TEST(all_of_shared_memory_is_filled)
{
    sim_test t;
    sim_test_init_ptx(&t, support, "at_scrub");
    sim_test_u32(&t, 4096);
    sim_test_u32(&t, 3);
    sim_test_run_well(&t, 2, 1, 256, 1, 4096);
    assert_int_equal(t.totals.shared_store.shared_requests, 2 * 4096 / 4 / 32);
    sim_test_deinit(&t);
}

/* Makes values of a type: special values, and values near the expected values. */
static void make_elements(rng *r, dtype type, unsigned char *found, unsigned char *expected,
                          size_t count)
{
    static const uint64_t special[] = {0,
                                       1,
                                       0x8000,
                                       0x7c00,
                                       0xfc00,
                                       0x7e01,
                                       0x7bff,
                                       0x7f80,
                                       0x80000000,
                                       0x7f800000,
                                       0xff800000,
                                       0x7fc00001,
                                       0x7f7fffff,
                                       UINT64_MAX,
                                       UINT64_C(1) << 63,
                                       UINT64_C(0x7ff0000000000000),
                                       UINT64_C(0xfff0000000000000),
                                       UINT64_C(0x7ff8000000000001),
                                       UINT64_C(0x7fefffffffffffff),
                                       INT64_MAX};
    const size_t size = dtype_get(type)->size_bytes;
    for (size_t i = 0; i < count; i++) {
        const uint64_t kinds = sizeof special / sizeof *special;
        const uint64_t e = rng_below(r, 3) ? rng_next(r) : special[rng_below(r, kinds)];
        const uint64_t f = rng_below(r, 4) ? e + rng_below(r, 9) - 4 : special[rng_below(r, kinds)];
        memcpy(expected + i * size, &e, size);
        memcpy(found + i * size, &f, size);
    }
}

/* Runs at_compare_close, after at_magnitude if the tolerance needs it. Fills `results`. */
static void compare_on_device(dtype type, tolerance t, unsigned char *found,
                              unsigned char *expected, uint64_t count)
{
    const uint64_t size = count * dtype_get(type)->size_bytes;
    memset(results, 0, sizeof results);
    for (int pass = t.kind == TOLERANCE_SCALED ? 0 : 1; pass < 2; pass++) {
        sim_test s;
        uint64_t limit;
        memcpy(&limit, &t.limit, sizeof limit);
        sim_test_init_ptx(&s, support, pass ? "at_compare_close" : "at_magnitude");
        if (pass)
            sim_test_u64(&s, sim_test_buffer(&s, "found", found, size, true));
        sim_test_u64(&s, sim_test_buffer(&s, "expected", expected, size, true));
        sim_test_u64(&s, count);
        sim_test_u32(&s, (uint32_t)type);
        if (pass) {
            sim_test_u32(&s, (uint32_t)t.kind);
            sim_test_u64(&s, limit);
        }
        sim_test_u64(&s, sim_test_buffer(&s, "results", results, sizeof results, true));
        sim_test_run_well(&s, 1, 1, 256, 1, 0);
        sim_test_deinit(&s);
    }
}

TEST(the_gpu_and_the_host_find_the_same_wrong_elements)
{
    enum { COUNT = 400 };
    static unsigned char found[8 * COUNT], expected[8 * COUNT];
    static const double limits[TOLERANCE_KINDS] = {[TOLERANCE_SCALED] = 1e-3,
                                                   [TOLERANCE_RELATIVE] = 1e-3,
                                                   [TOLERANCE_ABSOLUTE] = 2,
                                                   [TOLERANCE_ULPS] = 2};
    rng r = rng_seeded(7);
    for (int type = 0; type < DTYPE_COUNT; type++)
        for (int kind = TOLERANCE_SCALED; kind < TOLERANCE_KINDS; kind++) {
            const tolerance t = {.kind = (tolerance_kind)kind, .limit = limits[kind]};
            const size_t size = dtype_get((dtype)type)->size_bytes;
            uint64_t wrong = 0, first = UINT64_MAX;
            make_elements(&r, (dtype)type, found, expected, COUNT);
            const double magnitude = element_magnitude((dtype)type, expected, COUNT);
            for (size_t i = COUNT; i-- > 0;)
                if (!tolerance_accepts(t, magnitude, (dtype)type, found + i * size,
                                       expected + i * size)) {
                    wrong++;
                    first = i;
                }
            assert_true(wrong > 0 && wrong < COUNT);
            compare_on_device((dtype)type, t, found, expected, COUNT);
            if (results[WRONG] != wrong || ~results[FIRST_INVERTED] != first)
                fail_msg("%s, kind %d: %d wrong instead of %d, the first %d instead of %d",
                         dtype_get((dtype)type)->name, kind, (int)results[WRONG], (int)wrong,
                         (int)~results[FIRST_INVERTED], (int)first);
        }
}

TEST_GROUP(read_support, free_support)
