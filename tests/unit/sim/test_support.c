/* The support code of a GPU, run on the simulated one: what lies around a buffer is its own, and shows
 * wherever it is copied to. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/value.h"
#include "sim_fixture.h"

enum { BAND = 1000, RESULTS = 7, BEFORE_INVERTED = 5, AFTER_INVERTED = 6 };

static char *support; /* PTX */
static unsigned char before[BAND], after[BAND];
static uint64_t results[RESULTS];

static int read_support(void **state)
{
    (void)state;
    at_error error = {0};
    char *source;
    size_t size_bytes;
    assert_ok(file_read(TEST_SOURCE_DIR "/templates/device_support.cu", 1 << 20, &source, &size_bytes,
                        &error),
              error);
    support = sim_test_ptx(source, "sm_90");
    free(source);
    return 0;
}

static int free_support(void **state)
{
    (void)state;
    free(support);
    return 0;
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

static void bands_are_intact_as_they_were_set_for_every_type_and_pattern(void **state)
{
    (void)state;
    for (int type = 0; type < DTYPE_COUNT; type++)
        for (int pattern = 0; pattern < 4; pattern++) {
            set_guards((dtype)type, pattern, 77);
            check_guards((dtype)type, pattern, 77);
            assert_true(results[BEFORE_INVERTED] == 0 && results[AFTER_INVERTED] == 0);
        }
}

static void the_byte_next_to_the_buffer_is_watched(void **state)
{
    (void)state;
    set_guards(DTYPE_FLOAT, 1, 5);
    before[BAND - 1] ^= 1;
    after[0] ^= 1;
    after[3] ^= 1;
    check_guards(DTYPE_FLOAT, 1, 5);
    assert_true(~results[BEFORE_INVERTED] == 1);
    assert_true(~results[AFTER_INVERTED] == 1);
}

static void the_band_of_another_buffer_or_side_is_damage(void **state)
{
    (void)state;
    set_guards(DTYPE_FLOAT, 0, 5);
    check_guards(DTYPE_FLOAT, 0, 6);
    /* Some bytes of two values that are not numbers agree. */
    assert_true(~results[BEFORE_INVERTED] <= 4 && ~results[AFTER_INVERTED] <= 4);
    memcpy(after, before, BAND);
    check_guards(DTYPE_FLOAT, 0, 5);
    assert_true(results[BEFORE_INVERTED] == 0 && ~results[AFTER_INVERTED] <= 4);
}

static void what_is_read_there_shows(void **state)
{
    (void)state;
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

static void all_of_shared_memory_is_filled(void **state)
{
    (void)state;
    sim_test t;
    sim_test_init_ptx(&t, support, "at_scrub");
    sim_test_u32(&t, 4096);
    sim_test_u32(&t, 3);
    sim_test_run_well(&t, 2, 1, 256, 1, 4096);
    assert_int_equal(t.totals.shared_store.shared_requests, 2 * 4096 / 4 / 32);
    sim_test_deinit(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bands_are_intact_as_they_were_set_for_every_type_and_pattern),
        cmocka_unit_test(the_byte_next_to_the_buffer_is_watched),
        cmocka_unit_test(the_band_of_another_buffer_or_side_is_damage),
        cmocka_unit_test(what_is_read_there_shows),
        cmocka_unit_test(all_of_shared_memory_is_filled),
    };
    return cmocka_run_group_tests(tests, read_support, free_support);
}
