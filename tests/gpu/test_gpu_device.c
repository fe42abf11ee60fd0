/* Tests checks and outcomes of variants on a GPU, through a device worker that must survive. */
#include "gpu_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

/* The tuned problem has 2^24 bytes, the ragged problem about a million. An element is a byte, so an
 * edge can be at any place. */
static const gpu_problem bytes = {.type = DTYPE_UINT8,
                                  .count = 1 << 24,
                                  .items = 1 << 24,
                                  .ragged = 1000003,
                                  .ragged_items = 1000003,
                                  .reference = "copy"};

static int64_t now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static void wrong_results_are_found_and_named(void **state)
{
    static const struct {
        const char *entry, *words;
    } wrong[] = {
        {"one_byte_past", "byte 1 past the end of buffer dst"},
        {"one_byte_before", "byte 1 before buffer dst"},
        /* 579 bytes are not written, but some of them may have the right value by chance */
        {"skips_ragged_edge", "of 1000003 elements of dst are wrong, first dst[9994"},
        {"changes_input", "the variant changed its input src"},
    };
    gpu_bench b;
    gpu_begin(&b, *state, &bytes, DEVICE_CACHE_COLD);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        gpu_expect(gpu_try_entry(&b, wrong[i].entry, 3), OUTCOME_WRONG_RESULT, wrong[i].words);
        gpu_expect(gpu_try_entry(&b, "copy", 3), OUTCOME_OK, "");
    }
    assert_int_equal(b.event.restarts, 0);
    gpu_end(&b);
}

static void one_wrong_element_among_two_to_the_thirty_is_found(void **state)
{
    const gpu_problem large = {.type = DTYPE_UINT8,
                               .count = UINT64_C(1) << 30,
                               .items = UINT64_C(1) << 26,
                               .reference = "copy_vector"};
    gpu_bench b;
    gpu_begin(&b, *state, &large, DEVICE_CACHE_COLD);
    gpu_expect(gpu_try_entry(&b, "one_wrong", 1), OUTCOME_WRONG_RESULT,
               "1 of 1073741824 elements of dst are wrong, first dst[939524105]");
    gpu_expect(gpu_try_entry(&b, "copy_vector", 1), OUTCOME_OK, "");
    gpu_end(&b);
}

static void every_element_type_is_filled_and_compared(void **state)
{
    for (int type = 0; type < DTYPE_COUNT; type++) {
        uint64_t size = dtype_get((dtype)type)->size_bytes;
        const gpu_problem p = {.type = (dtype)type,
                               .count = 1 << 20,
                               .items = (1 << 20) * size,
                               .ragged = 1013,
                               .ragged_items = 1013 * size,
                               .reference = "copy"};
        gpu_bench b;
        gpu_begin(&b, *state, &p, DEVICE_CACHE_COLD);
        gpu_expect(gpu_try_entry(&b, "copy", 1), OUTCOME_OK, "");
        gpu_expect(gpu_try_entry(&b, "skips_ragged_edge", 1), OUTCOME_WRONG_RESULT, "ragged");
        gpu_end(&b);
    }
}

static void a_tolerance_is_relative_to_the_largest_expected_value(void **state)
{
    static const struct {
        dtype type;
        const char *entry;
    } scaled[] = {
        {DTYPE_FLOAT, "scaled_float"},
        {DTYPE_DOUBLE, "scaled_double"},
        {DTYPE_HALF, "scaled_half"},
        {DTYPE_BFLOAT16, "scaled_bfloat16"},
    };
    for (size_t i = 0; i < 2 * sizeof scaled / sizeof *scaled; i++) {
        bool loose = i % 2 == 0;
        uint64_t count = 1 << 20, size = dtype_get(scaled[i / 2].type)->size_bytes;
        const gpu_problem p = {.type = scaled[i / 2].type,
                               .count = count,
                               .items = count * size,
                               .tolerance = loose ? 1e-2 : 1e-4,
                               .reference = "copy"};
        gpu_bench b;
        gpu_begin(&b, *state, &p, DEVICE_CACHE_COLD);
        device_variant v = gpu_variant(&b, scaled[i / 2].entry, 0);
        v.launches[0].arguments[2].bits = count;
        gpu_expect(gpu_try(&b, &v, 1), loose ? OUTCOME_OK : OUTCOME_WRONG_RESULT,
                   loose ? "" : "elements of dst are wrong");
        gpu_end(&b);
    }
}

static void no_tolerance_accepts_nan_or_races(void **state)
{
    const uint64_t count = 1 << 20;
    const gpu_problem p = {.type = DTYPE_FLOAT,
                           .count = count,
                           .items = 4 * count,
                           .tolerance = 1e-2,
                           .reference = "copy"};
    gpu_bench b;
    gpu_begin(&b, *state, &p, DEVICE_CACHE_COLD);
    device_variant v = gpu_variant(&b, "nan_float", 0);
    v.launches[0].arguments[2].bits = count;
    gpu_expect(gpu_try(&b, &v, 1), OUTCOME_WRONG_RESULT, "found nan");
    v = gpu_variant(&b, "racy_float", 0);
    v.launches[0].arguments[2].bits = count;
    gpu_expect(gpu_try(&b, &v, 1), OUTCOME_WRONG_RESULT, "two launches");
    gpu_end(&b);
}

static void in_out_buffers_are_restored(void **state)
{
    const gpu_problem p = {.type = DTYPE_FLOAT,
                           .count = 1 << 20,
                           .items = 1 << 20,
                           .role = BUFFER_INOUT,
                           .reference = "add_float"};
    gpu_bench b;
    gpu_begin(&b, *state, &p, DEVICE_CACHE_COLD);
    gpu_expect(gpu_try_entry(&b, "add_float", 5), OUTCOME_OK, "");
    gpu_end(&b);
}

static void dynamic_shared_memory_past_48_KiB_works(void **state)
{
    gpu_bench b;
    gpu_begin(&b, *state, &bytes, DEVICE_CACHE_COLD);
    device_variant v = gpu_variant(&b, "shared_99k", 0);
    v.launches[0].launches[0].dynamic_shared_bytes = 99 * 1024;
    v.launches[1].launches[0].dynamic_shared_bytes = 99 * 1024;
    gpu_expect(gpu_try(&b, &v, 3), OUTCOME_OK, "");
    v.launches[0].launches[0].dynamic_shared_bytes = 400 * 1024;
    gpu_expect(gpu_try(&b, &v, 3), OUTCOME_LAUNCH_ERROR, "dynamic shared memory");
    v = gpu_variant(&b, "copy", 0);
    v.launches[0].launches[0].block[0] = 2048;
    gpu_expect(gpu_try(&b, &v, 3), OUTCOME_LAUNCH_ERROR, "refused");
    gpu_expect(gpu_try_entry(&b, "copy", 3), OUTCOME_OK, "");
    assert_int_equal(b.event.restarts, 0);
    gpu_end(&b);
}

static void each_fault_and_each_hang_ends_one_worker(void **state)
{
    static const struct {
        const char *entry, *words;
        outcome wanted;
    } faults[] = {
        {"out_of_bounds", "CUDA_ERROR_ILLEGAL_ADDRESS", OUTCOME_CRASHED},
        {"misaligned", "CUDA_ERROR_MISALIGNED_ADDRESS", OUTCOME_CRASHED},
        {"endless", "checking had not ended after", OUTCOME_TIMEOUT},
    };
    gpu_bench b;
    gpu_begin(&b, *state, &bytes, DEVICE_CACHE_COLD);
    gpu_hold(&b, 5, "copy", 0);
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        int64_t start_ms = now_ms();
        gpu_expect(gpu_try_entry(&b, faults[i].entry, 3), faults[i].wanted, faults[i].words);
        int64_t told_ms = now_ms();
        gpu_expect(gpu_try_entry(&b, "copy", 3), OUTCOME_OK, "");
        assert_int_equal(b.event.restarts, i + 1);
        printf("%s: told after %lld ms, next result %lld ms later\n", faults[i].entry,
               (long long)(told_ms - start_ms), (long long)(now_ms() - told_ms));
    }
    const uint64_t ids[] = {5, 5};
    gpu_expect(gpu_block(&b, ids, 2), OUTCOME_OK, "");
    gpu_end(&b);
}

static void finalists_are_checked_on_other_contents(void **state)
{
    gpu_bench b;
    gpu_begin(&b, *state, &bytes, DEVICE_CACHE_COLD);
    gpu_hold(&b, 5, "copy", 0);
    gpu_hold(&b, 6, "skips_ragged_edge", 0);
    assert_ok(device_worker_recheck(b.worker, 5, 99, &b.error), b.error);
    assert_ok(device_worker_recheck(b.worker, 6, 99, &b.error), b.error);
    device_event e;
    assert_ok(device_worker_take(b.worker, 60000, &e, &b.error), b.error);
    gpu_expect(&e, OUTCOME_OK, "");
    device_event_deinit(&e);
    assert_ok(device_worker_take(b.worker, 60000, &e, &b.error), b.error);
    gpu_expect(&e, OUTCOME_WRONG_RESULT, "ragged");
    device_event_deinit(&e);
    gpu_end(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrong_results_are_found_and_named),
        cmocka_unit_test(one_wrong_element_among_two_to_the_thirty_is_found),
        cmocka_unit_test(every_element_type_is_filled_and_compared),
        cmocka_unit_test(a_tolerance_is_relative_to_the_largest_expected_value),
        cmocka_unit_test(no_tolerance_accepts_nan_or_races),
        cmocka_unit_test(in_out_buffers_are_restored),
        cmocka_unit_test(dynamic_shared_memory_past_48_KiB_works),
        cmocka_unit_test(each_fault_and_each_hang_ends_one_worker),
        cmocka_unit_test(finalists_are_checked_on_other_contents),
    };
    return gpu_run(tests);
}
