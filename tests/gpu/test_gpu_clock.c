/* Tests how times are measured on a GPU: kernels of known length, the order of nearly equal
 * kernels, cold and warm caches, and the cost of a try. */
#include "gpu_fixture.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* The kernels of this problem copy little and wait until a fixed time after their start. */
static const gpu_problem waits = {
    .type = DTYPE_UINT8, .count = 4096, .items = 4096, .reference = "copy"};

static int64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* The floor is the part of a launch's time that is not spent in the kernel. */
static void a_busy_wait_of_known_length_measures_that_length(void **state)
{
    static const struct {
        const char *entry;
        int64_t length_ns;
    } known[] = {{"wait_100us", 100000}, {"wait_102us", 102000}, {"wait_200us", 200000}};
    gpu_bench b;
    gpu_begin(&b, *state, &waits, DEVICE_CACHE_COLD);
    int64_t floor_ns = b.ready.ready.floor_ns;
    printf("floor %lld ns, tick %lld ns\n", (long long)floor_ns, (long long)b.ready.ready.tick_ns);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const device_variant v = gpu_variant(&b, known[i].entry, 1);
        const device_event *e = gpu_try(&b, &v, 41);
        gpu_expect(e, OUTCOME_OK, "");
        int64_t excess_ns = gpu_median(e) - known[i].length_ns;
        printf("%s: %lld ns over its length\n", known[i].entry, (long long)excess_ns);
        assert_in_range(excess_ns, 0, floor_ns + 1000);
    }
    gpu_end(&b);
}

/* A copy of 256 KiB takes a few microseconds, which is too short for the resolution of events. */
static void short_kernels_are_timed_in_batches(void **state)
{
    const gpu_problem small = {
        .type = DTYPE_UINT8, .count = 1 << 18, .items = 1 << 14, .reference = "copy_vector"};
    gpu_bench b;
    gpu_begin(&b, *state, &small, DEVICE_CACHE_COLD);
    const device_ready *r = &b.ready.ready;
    const device_event *e = gpu_try_entry(&b, "copy_vector", 11);
    gpu_expect(e, OUTCOME_OK, "");
    int64_t least_ns = INT64_MAX, most_ns = 0;
    for (size_t i = 0; i < e->sample_count; i++) {
        least_ns = e->samples_ns[i] < least_ns ? e->samples_ns[i] : least_ns;
        most_ns = e->samples_ns[i] > most_ns ? e->samples_ns[i] : most_ns;
    }
    printf("256 KiB copied: %lld ns (%lld to %lld) in batches of %u over %u sets; floor %lld ns, "
           "driver's copy %lld ns\n",
           (long long)gpu_median(e), (long long)least_ns, (long long)most_ns, r->batch,
           r->buffer_sets, (long long)r->floor_ns, (long long)b.ready.ceiling_ns);
    assert_true(r->batch > 1);
    assert_true(r->buffer_sets > 1);
    assert_true(most_ns - least_ns < least_ns / 10);
    gpu_end(&b);
}

static void kernels_two_percent_apart_are_ordered_in_every_block(void **state)
{
    gpu_bench b;
    gpu_begin(&b, *state, &waits, DEVICE_CACHE_COLD);
    gpu_hold(&b, 1, "wait_100us", 1);
    gpu_hold(&b, 2, "wait_102us", 1);
    int wrong = 0;
    for (int i = 0; i < 40; i++) {
        const uint64_t orders[2][2] = {{1, 2}, {2, 1}};
        const device_event *e = gpu_block(&b, orders[i % 2], 2);
        gpu_expect(e, OUTCOME_OK, "");
        int64_t first_ns = e->samples_ns[i % 2], second_ns = e->samples_ns[1 - i % 2];
        wrong += first_ns >= second_ns;
    }
    assert_in_range(wrong, 0, 2);
    gpu_end(&b);
}

static void a_warm_cache_is_faster_than_a_cold_one(void **state)
{
    const gpu_problem small = {
        .type = DTYPE_UINT8, .count = 1 << 23, .items = 1 << 19, .reference = "copy_vector"};
    int64_t times_ns[2];
    for (int cache = 0; cache < 2; cache++) {
        gpu_bench b;
        gpu_begin(&b, *state, &small, cache ? DEVICE_CACHE_WARM : DEVICE_CACHE_COLD);
        times_ns[cache] = gpu_median(gpu_try_entry(&b, "copy_vector", 21));
        gpu_end(&b);
    }
    printf("8 MiB copied: cold %lld ns, warm %lld ns\n", (long long)times_ns[0],
           (long long)times_ns[1]);
    assert_true(times_ns[1] < times_ns[0]);
}

/* The ceiling of a problem that reads much more than it writes is the rate of reading. If the
 * problem writes much more, the ceiling is the rate of writing. */
static void a_one_sided_problem_has_a_one_sided_ceiling(void **state)
{
    static const gpu_problem sides[] = {
        {.type = DTYPE_UINT8,
         .count = 1 << 28,
         .dst_count = 4096,
         .items = 4096,
         .reference = "copy"},
        {.type = DTYPE_UINT8,
         .count = 4096,
         .dst_count = 1 << 28,
         .items = 1 << 28,
         .reference = "spread"},
        {.type = DTYPE_UINT8, .count = 1 << 27, .items = 1 << 27, .reference = "copy"},
    };
    static const char *const names[] = {"read", "written", "copied"};
    for (size_t i = 0; i < sizeof sides / sizeof *sides; i++) {
        gpu_bench b;
        gpu_begin(&b, *state, &sides[i], DEVICE_CACHE_COLD);
        double gbps = (double)(1 << 28) / (double)b.ready.ceiling_ns;
        printf("256 MiB %s: %.0f GB/s\n", names[i], gbps);
        assert_true(gbps * 1e9 < 1.02 * b.gpu->properties.limits.bandwidth_bytes_per_s);
        assert_true(gbps * 1e9 > 0.3 * b.gpu->properties.limits.bandwidth_bytes_per_s);
        gpu_end(&b);
    }
}

/* The problem has the size of the transpose, 8192 x 8192 floats. */
static void a_try_costs_milliseconds(void **state)
{
    enum { TRIES = 50, SAMPLES = 7, IN_FLIGHT = 4 };
    const gpu_problem matrix = {.type = DTYPE_FLOAT,
                                .count = 1 << 26,
                                .items = 1 << 24,
                                .ragged = 1000004,
                                .ragged_items = 250001,
                                .reference = "copy_vector"};
    gpu_bench b;
    gpu_begin(&b, *state, &matrix, DEVICE_CACHE_COLD);
    const device_variant v = gpu_variant(&b, "copy_vector", 0);
    double check_ms = 0, measure_ms = 0;
    int64_t start_ns = now_ns(), best_ns = INT64_MAX;
    int submitted = 0;
    for (int done = 0; done < TRIES; done++) {
        while (submitted < TRIES && device_worker_pending(b.worker) < IN_FLIGHT) {
            assert_ok(device_worker_try(b.worker, 1, &v, SAMPLES, &b.error), b.error);
            submitted++;
        }
        device_event e;
        assert_ok(device_worker_take(b.worker, 60000, &e, &b.error), b.error);
        gpu_expect(&e, OUTCOME_OK, "");
        check_ms += (double)e.check_ns / 1e6;
        measure_ms += (double)e.measure_ns / 1e6;
        if (gpu_median(&e) < best_ns)
            best_ns = gpu_median(&e);
        device_event_deinit(&e);
    }
    double all_ms = (double)(now_ns() - start_ns) / 1e6 / TRIES;
    double ceiling_gbps = 8.0 * (1 << 26) / (double)b.ready.ceiling_ns;
    printf("a try with %d samples: %.2f ms, of which check %.2f, samples %.2f\n", SAMPLES, all_ms,
           check_ms / TRIES, measure_ms / TRIES);
    printf("512 MiB moved: copy kernel %.0f GB/s, driver's copy %.0f GB/s; SM clock %.0f MHz\n",
           8.0 * (1 << 26) / (double)best_ns, ceiling_gbps, b.ready.ready.sm_clock_khz / 1e3);
    assert_true(all_ms < 20);
    gpu_end(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_busy_wait_of_known_length_measures_that_length),
        cmocka_unit_test(short_kernels_are_timed_in_batches),
        cmocka_unit_test(kernels_two_percent_apart_are_ordered_in_every_block),
        cmocka_unit_test(a_warm_cache_is_faster_than_a_cold_one),
        cmocka_unit_test(a_one_sided_problem_has_a_one_sided_ceiling),
        cmocka_unit_test(a_try_costs_milliseconds),
    };
    return gpu_run(tests);
}
