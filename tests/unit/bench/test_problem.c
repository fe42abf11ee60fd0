/* Tests the work limits of the launches of a check, on a fake device that logs the limits. */
#include <stddef.h>
#include <string.h>

#include "bench/problem.h"
#include "check.h"

enum { MOST_BOUNDS = 8 };

struct device {
    uint64_t bounds[MOST_BOUNDS]; /* limits, in the order of the calls */
    size_t count, launched_after; /* number of limits; number of limits before the launch */
};

static void limit_work(device *d, uint64_t most_work)
{
    assert_true(d->count < MOST_BOUNDS);
    d->bounds[d->count++] = most_work;
}

static at_status launch(device *d, device_kernel *k, const launch_plan *plan,
                        device_buffer *const *buffers, at_error *error)
{
    (void)k;
    (void)plan;
    (void)buffers;
    (void)error;
    d->launched_after = d->count;
    return AT_OK;
}

/* Returns the work limit that a launch gets if its check allows `most_work`. */
static uint64_t bound_of(bool proves, uint64_t most_work)
{
    static const device_analysis analysis = {.limit_work = limit_work};
    static const device_api counts = {.launch = launch, .analysis = &analysis};
    device d = {0};
    device_slot s = {.api = &counts, .device = &d, .proves = proves};
    at_error error = {0};
    assert_ok(device_slot_launch(&s, NULL, NULL, NULL, most_work, &error), error);
    assert_int_equal(d.launched_after, 1);
    assert_int_equal(d.count, 2);
    assert_int_equal(d.bounds[1], 0); /* launches outside the check have no limit */
    return d.bounds[0];
}

TEST(a_launch_of_a_proof_ends_after_2_to_the_28th_of_work)
{
    static const uint64_t most = UINT64_C(1) << 28;
    assert_int_equal(bound_of(true, 0), most);
    assert_int_equal(bound_of(true, most + 1), most);
    assert_int_equal(bound_of(true, most - 1), most - 1);
}

TEST(a_launch_that_is_to_be_timed_ends_where_its_check_says)
{
    assert_int_equal(bound_of(false, 0), 0);
    assert_int_equal(bound_of(false, UINT64_C(1) << 40), UINT64_C(1) << 40);
}

TEST(a_device_that_counts_no_work_is_not_bounded)
{
    static const device_api counts_nothing = {.launch = launch};
    device d = {0};
    device_slot s = {.api = &counts_nothing, .device = &d, .proves = true};
    at_error error = {0};
    assert_ok(device_slot_launch(&s, NULL, NULL, NULL, 1, &error), error);
    assert_int_equal(d.count, 0);
}

/* Asserts that a table of functions has no NULL entry. `table` may be NULL. */
static void assert_whole(const void *table, size_t from_bytes, size_t bytes)
{
    for (; table && from_bytes < bytes; from_bytes += sizeof(void *)) {
        void *function;
        memcpy(&function, (const char *)table + from_bytes, sizeof function);
        assert_non_null(function);
    }
}

TEST(every_device_has_all_functions_of_its_tables)
{
    size_t count;
    const device_api *const *apis = device_apis(&count);
    for (size_t i = 0; i < count; i++) {
        assert_whole(apis[i], offsetof(device_api, list), sizeof *apis[i]);
        assert_whole(apis[i]->hardware, 0, sizeof *apis[i]->hardware);
        assert_whole(apis[i]->batches, 0, sizeof *apis[i]->batches);
        assert_whole(apis[i]->energy, 0, sizeof *apis[i]->energy);
        assert_whole(apis[i]->counters, 0, sizeof *apis[i]->counters);
        assert_whole(apis[i]->analysis, 0, sizeof *apis[i]->analysis);
        assert_whole(apis[i]->excerpts, 0, sizeof *apis[i]->excerpts);
    }
}
