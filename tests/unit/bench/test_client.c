#include "check.h"

#include <dirent.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#include "bench/client.h"
#include "base/rng.h"

/* Everything here runs on the fake driver (tests/fake): real processes, messages and checks, no
 * GPU. Buffers are floats; a right variant copies src to dst. */

enum { TUNED_COUNT = 4096, RAGGED_COUNT = 1003, EVENT_LIMIT_MS = 60000 };

static const char image_bytes[] = "FAKE image";
static const device_image image = {.bytes = image_bytes, .size_bytes = sizeof image_bytes};

static launch_plan plan_launch(const char *entry, uint64_t count)
{
    launch_plan p = {
        .launch_count = 1,
        .launches = {{.grid = {1, 1, 1}, .block = {32, 1, 1}, .argument_count = 3}},
        .argument_count = 3};
    snprintf(p.launches[0].entry, sizeof p.launches[0].entry, "%s", entry);
    p.arguments[0] = (argument_plan){.is_buffer = true, .buffer = 0, .size_bytes = 8};
    p.arguments[1] = (argument_plan){.is_buffer = true, .buffer = 1, .size_bytes = 8};
    p.arguments[2] = (argument_plan){.size_bytes = 8, .bits = count};
    return p;
}

static device_problem plan_problem(const char *reference, uint64_t count, buffer_role role)
{
    device_problem p = {.reference = image, .reference_launch = plan_launch(reference, count)};
    p.plan = (problem_plan){.buffer_count = 2,
                            .deterministic = true,
                            .traffic_bytes = 8 * count,
                            .seed = 42};
    p.plan.buffers[0] = (buffer_plan){
        .name = "src", .role = BUFFER_INPUT, .type = DTYPE_FLOAT, .count = count};
    p.plan.buffers[1] = (buffer_plan){.name = "dst",
                                      .role = role,
                                      .type = DTYPE_FLOAT,
                                      .count = count,
                                      .rank = 2,
                                      .shape = {count / 8, 8}};
    return p;
}

static device_variant plan_variant(const char *entry)
{
    device_variant v = {.present = {true, true}, .images = {image}};
    v.launches[0] = plan_launch(entry, TUNED_COUNT);
    v.launches[1] = plan_launch(entry, RAGGED_COUNT);
    return v;
}

/* A started worker; most tests want it set up as well. */
typedef struct fixture {
    device_worker *worker;
    device_problem problems[2];
    at_error error;
    device_event event; /* the last one taken */
} fixture;

static void start(fixture *f)
{
    const device_worker_options options = {.spec = "cuda:0",
                                           .watchdog_floor_ns = 300 * 1000 * 1000};
    *f = (fixture){0};
    f->problems[0] = plan_problem("good_1000", TUNED_COUNT, BUFFER_OUTPUT);
    f->problems[1] = plan_problem("good_1000", RAGGED_COUNT, BUFFER_OUTPUT);
    snprintf(f->problems[1].label, sizeof f->problems[1].label, "the ragged problem");
    assert_ok(device_worker_start(&options, &f->worker, &f->error), f->error);
}

/* Takes the next event, as the tuner's loop does. */
static const device_event *next(fixture *f)
{
    device_event_deinit(&f->event);
    assert_ok(device_worker_take(f->worker, EVENT_LIMIT_MS, &f->event, &f->error), f->error);
    return &f->event;
}

static const device_event *expect(fixture *f, device_event_kind kind)
{
    const device_event *e = next(f);
    if (e->kind != kind)
        fail_msg("event %d instead of %d: %s", (int)e->kind, (int)kind, e->message);
    return e;
}

static void set_up(fixture *f)
{
    assert_ok(device_worker_setup(f->worker, &image, f->problems, 2, &f->error),
              f->error);
    expect(f, DEVICE_OPENED);
    expect(f, DEVICE_READY);
}

static void begin(fixture *f)
{
    start(f);
    set_up(f);
}

static void end(fixture *f)
{
    device_event_deinit(&f->event);
    device_worker_free(f->worker);
}

static const device_event *try_entry(fixture *f, uint64_t id, const char *entry, size_t samples)
{
    const device_variant v = plan_variant(entry);
    assert_ok(device_worker_try(f->worker, id, &v, samples, &f->error), f->error);
    const device_event *e = expect(f, DEVICE_TRIED);
    assert_int_equal(e->id, id);
    return e;
}

static void expect_outcome(const device_event *e, outcome wanted, const char *words)
{
    if (e->outcome != wanted || !strstr(e->message, words))
        fail_msg("%s, \"%s\" instead of %s, \"%s\"", outcome_name(e->outcome), e->message,
                 outcome_name(wanted), words);
}

static void a_try_may_leave_the_ragged_problem_for_when_the_variant_is_held(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    device_variant v = plan_variant("skips_edge");
    v.present[1] = false;
    assert_ok(device_worker_try(f.worker, 1, &v, 3, &f.error), f.error);
    expect_outcome(expect(&f, DEVICE_TRIED), OUTCOME_OK, "");
    v.present[1] = v.unchecked = true;
    assert_ok(device_worker_hold(f.worker, 1, &v, &f.error), f.error);
    expect_outcome(expect(&f, DEVICE_HELD), OUTCOME_WRONG_RESULT, "on the ragged problem: 11 of 1003 elements of dst");
    /* It is not held: nothing can be asked of it, and its number is free. */
    v = plan_variant("good_120");
    v.unchecked = true;
    assert_ok(device_worker_hold(f.worker, 1, &v, &f.error), f.error);
    expect_outcome(expect(&f, DEVICE_HELD), OUTCOME_OK, "");
    end(&f);
}

static void hold(fixture *f, uint64_t id, const char *entry)
{
    const device_variant v = plan_variant(entry);
    assert_ok(device_worker_hold(f->worker, id, &v, &f->error), f->error);
    const device_event *e = expect(f, DEVICE_HELD);
    assert_int_equal(e->id, id);
    expect_outcome(e, OUTCOME_OK, "");
}

static void opening_describes_the_device_before_anything_is_set_up(void **state)
{
    (void)state;
    fixture f;
    start(&f);
    const device_event *e = expect(&f, DEVICE_OPENED);
    assert_string_equal(e->properties.kind, "cuda");
    assert_string_equal(e->properties.arch, "sm_90");
    assert_string_equal(e->properties.limits.name, "Fake GPU 0");
    assert_string_equal(e->properties.uuid, "GPU-00000000-0000-0000-0000-000000000000");
    assert_int_equal(e->properties.limits.max_shared_per_block_bytes, 232448);
    assert_int_equal(e->properties.cuda_version, 13000);
    end(&f);
}

static void a_worker_that_waits_opens_nothing_before_it_begins(void **state)
{
    (void)state;
    fixture f;
    start(&f);
    device_worker_free(f.worker);
    const device_worker_options options = {.spec = "cuda:0", .waits = true};
    assert_ok(device_worker_start(&options, &f.worker, &f.error), f.error);
    assert_ok(device_worker_setup(f.worker, &image, f.problems, 2, &f.error), f.error);
    assert_int_equal(device_worker_take(f.worker, 50, &f.event, &f.error), AT_NOT_FOUND);
    assert_true(device_worker_waits(f.worker));
    assert_false(device_worker_opens(f.worker));
    assert_ok(device_worker_begin(f.worker, &f.error), f.error);
    assert_true(device_worker_opens(f.worker));
    expect(&f, DEVICE_OPENED);
    expect(&f, DEVICE_READY);
    assert_false(device_worker_waits(f.worker));
    assert_false(device_worker_opens(f.worker));
    end(&f);
}

static void a_worker_that_never_began_is_freed(void **state)
{
    (void)state;
    fixture f = {0};
    const device_worker_options options = {.spec = "cuda:0", .waits = true};
    assert_ok(device_worker_start(&options, &f.worker, &f.error), f.error);
    device_worker_kill(f.worker);
    end(&f);
}

static void the_set_up_measures_floor_tick_reference_and_ceiling(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    const device_event *e = &f.event;
    assert_int_equal(e->ready.floor_ns, 2000);
    assert_int_equal(e->ready.reference_ns, 1000000);
    assert_int_equal(e->ready.watchdog_ns, 300 * 1000 * 1000);
    assert_true(e->sample_count >= 7);
    /* 2 us and half of the traffic at 50 bytes/ns, in steps of 500 ns. */
    assert_int_equal(e->ceiling_ns, 2500);
    assert_float_equal(e->ready.sm_clock_khz, 1.5e6, 1);
    assert_int_equal(device_worker_pending(f.worker), 0);
    poll_set set;
    poll_set_start(&set, -1);
    device_worker_poll(f.worker, &set);
    assert_int_equal(set.timeout_ms, -1);
    end(&f);
}

static void a_ceiling_that_no_run_measures_is_left_alone(void **state)
{
    (void)state;
    fixture f;
    start(&f);
    f.problems[0].plan.flops = 1000;
    f.problems[0].plan.ceiling = CEILING_FP32;
    set_up(&f);
    assert_int_equal(f.event.ceiling_ns, 0);
    expect_outcome(try_entry(&f, 1, "good_50", 3), OUTCOME_OK, "");
    end(&f);
}

static void a_right_variant_is_sampled_without_launch_latency(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    const device_event *e = try_entry(&f, 7, "good_120", 5);
    expect_outcome(e, OUTCOME_OK, "");
    assert_int_equal(e->sample_count, 5);
    for (size_t i = 0; i < 5; i++)
        assert_int_equal(e->samples_ns[i], 120000);
    end(&f);
}

static void short_kernels_are_timed_in_batches_and_so_is_the_ceiling(void **state)
{
    (void)state;
    fixture f;
    start(&f);
    f.problems[0].reference_launch = plan_launch("good_10", TUNED_COUNT);
    set_up(&f);
    assert_in_range(f.event.ready.batch, 20, 1000);
    /* Three times the 64 KiB of L2 in sets of 32 KiB. */
    assert_int_equal(f.event.ready.buffer_sets, 6);
    assert_int_equal(f.event.ready.reference_ns, 10000);
    /* 2 us and 16384 bytes at 50 a nanosecond; one copy alone is told as 2500. */
    assert_in_range(f.event.ceiling_ns, 2320, 2335);
    const device_event *e = try_entry(&f, 1, "good_3", 5);
    expect_outcome(e, OUTCOME_OK, "");
    for (size_t i = 0; i < 5; i++)
        assert_int_equal(e->samples_ns[i], 3000);
    expect_outcome(try_entry(&f, 2, "skips_last", 5), OUTCOME_WRONG_RESULT, "");
    hold(&f, 4, "good_4");
    hold(&f, 3, "good_3");
    const uint64_t order[] = {3, 4};
    assert_ok(device_worker_block(f.worker, order, 2, true, &f.error), f.error);
    e = expect(&f, DEVICE_BLOCK);
    assert_int_equal(e->samples_ns[0], 3000);
    assert_int_equal(e->samples_ns[1], 4000);
    end(&f);
}

static void a_slow_kernel_among_short_ones_is_launched_once_a_sample(void **state)
{
    (void)state;
    fixture f;
    start(&f);
    f.problems[0].reference_launch = plan_launch("good_10", TUNED_COUNT);
    set_up(&f);
    assert_in_range(f.event.ready.batch, 20, 1000);
    const device_event *e = try_entry(&f, 1, "tires_1000", 5);
    expect_outcome(e, OUTCOME_OK, "");
    for (size_t i = 0; i < 5; i++)
        assert_int_equal(e->samples_ns[i], 1000000);
    end(&f);
}

static void a_warm_sample_follows_an_untimed_launch(void **state)
{
    (void)state;
    const device_worker_options options = {.spec = "cuda:0", .cache = DEVICE_CACHE_WARM};
    fixture f;
    start(&f);
    device_worker_free(f.worker);
    assert_ok(device_worker_start(&options, &f.worker, &f.error), f.error);
    set_up(&f);
    const device_event *e = try_entry(&f, 1, "good_30", 2);
    expect_outcome(e, OUTCOME_OK, "");
    assert_int_equal(e->samples_ns[1], 30000);
    end(&f);
}

static void every_kind_of_wrong_result_is_found_and_named(void **state)
{
    (void)state;
    static const struct {
        const char *entry, *words;
    } wrong[] = {
        {"skips_last", "1 of 4096 elements of dst are wrong, first dst[511][7]"},
        {"skips_edge", "on the ragged problem: 11 of 1003 elements of dst"},
        {"swaps_pair", "2 of 4096 elements of dst are wrong, first dst[1][2]"},
        {"writes_past", "byte 1 past the end of buffer dst"},
        {"copies_past", "byte 1 past the end of buffer dst"},
        {"reads_past", "1 of "},
        {"writes_before", "byte 3 before buffer dst"},
        {"changes_input", "it changed its input src"},
        {"zeros", "of 4096 elements of dst are wrong, first dst[0][0]: expected"},
        {"close_to", "1 of 4096 elements of dst are wrong"},
    };
    fixture f;
    begin(&f);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        expect_outcome(try_entry(&f, i, wrong[i].entry, 3), OUTCOME_WRONG_RESULT, wrong[i].words);
        assert_int_equal(f.event.sample_count, 0);
        /* The one after it does not suffer. */
        expect_outcome(try_entry(&f, 100 + i, "good_50", 1), OUTCOME_OK, "");
    }
    assert_int_equal(f.event.restarts, 0);
    end(&f);
}

static void damage_to_expected_outputs_is_repaired_before_it_is_blamed_on_others(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    assert_int_equal(try_entry(&f, 1, "wild", 1)->outcome, OUTCOME_WRONG_RESULT);
    expect_outcome(try_entry(&f, 2, "good_50", 1), OUTCOME_OK, "");
    assert_int_equal(try_entry(&f, 3, "zeros", 1)->outcome, OUTCOME_WRONG_RESULT);
    expect_outcome(try_entry(&f, 4, "good_50", 1), OUTCOME_OK, "");
    end(&f);
}

static void a_tolerance_forgives_small_errors_but_not_nan_or_a_race(void **state)
{
    (void)state;
    fixture f;
    start(&f);
    for (int i = 0; i < 2; i++)
        f.problems[i].plan.buffers[1].tolerance = tolerance_of(1e-5);
    set_up(&f);
    expect_outcome(try_entry(&f, 1, "close_to", 1), OUTCOME_OK, "");
    expect_outcome(try_entry(&f, 2, "not_a_number", 1), OUTCOME_WRONG_RESULT, "found nan");
    expect_outcome(try_entry(&f, 3, "unstable", 1), OUTCOME_WRONG_RESULT, "two launches");
    expect_outcome(try_entry(&f, 4, "zeros", 1), OUTCOME_WRONG_RESULT, "elements of dst");
    end(&f);
}

/* "close_to" is 1e-7 off, which is a few representable values away. */
static void a_buffer_has_a_tolerance_of_its_own(void **state)
{
    static const struct {
        tolerance allowed;
        outcome result;
        const char *message;
    } cases[] = {
        {{TOLERANCE_EXACT, 0}, OUTCOME_WRONG_RESULT, "1 of "},
        {{TOLERANCE_ULPS, 1}, OUTCOME_WRONG_RESULT, " within 1 ULPs, found "},
        {{TOLERANCE_ULPS, 1000}, OUTCOME_OK, ""},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fixture f;
        start(&f);
        f.problems[0].plan.buffers[1].tolerance = cases[i].allowed;
        f.problems[1].plan.buffers[1].tolerance = cases[i].allowed;
        set_up(&f);
        expect_outcome(try_entry(&f, 1, "close_to", 1), cases[i].result, cases[i].message);
        end(&f);
    }
}

static void an_in_out_buffer_gets_its_input_back_before_every_launch(void **state)
{
    (void)state;
    fixture f;
    start(&f);
    f.problems[0] = plan_problem("add", TUNED_COUNT, BUFFER_INOUT);
    f.problems[1] = plan_problem("add", RAGGED_COUNT, BUFFER_INOUT);
    set_up(&f);
    expect_outcome(try_entry(&f, 1, "add", 4), OUTCOME_OK, "");
    expect_outcome(try_entry(&f, 2, "good", 4), OUTCOME_WRONG_RESULT, "elements of dst");
    end(&f);
}

static void dynamic_shared_memory_past_48_KiB_is_asked_for(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    device_variant v = plan_variant("good_shared");
    v.launches[0].launches[0].dynamic_shared_bytes = 65536;
    v.launches[1].launches[0].dynamic_shared_bytes = 65536;
    assert_ok(device_worker_try(f.worker, 1, &v, 2, &f.error), f.error);
    expect_outcome(expect(&f, DEVICE_TRIED), OUTCOME_OK, "");
    v.launches[0].launches[0].dynamic_shared_bytes = 300000;
    assert_ok(device_worker_try(f.worker, 2, &v, 2, &f.error), f.error);
    expect_outcome(expect(&f, DEVICE_TRIED), OUTCOME_LAUNCH_ERROR,
                   "300000 bytes of dynamic shared memory");
    end(&f);
}

static void a_refused_launch_is_a_launch_error_and_costs_no_worker(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    device_variant v = plan_variant("good_10");
    v.launches[0].launches[0].block[0] = 2048;
    assert_ok(device_worker_try(f.worker, 1, &v, 2, &f.error), f.error);
    expect_outcome(expect(&f, DEVICE_TRIED), OUTCOME_LAUNCH_ERROR, "the launch was refused");
    v = plan_variant("good_10");
    v.launches[0].launches[0].grid[1] = 0;
    assert_ok(device_worker_try(f.worker, 2, &v, 2, &f.error), f.error);
    expect_outcome(expect(&f, DEVICE_TRIED), OUTCOME_LAUNCH_ERROR, "size 0");
    expect_outcome(try_entry(&f, 3, "no_such_kernel", 1), OUTCOME_LAUNCH_ERROR,
                   "named symbol not found");
    v = plan_variant("good_10");
    v.images[0] = (device_image){.bytes = "garbage!", .size_bytes = 9};
    assert_ok(device_worker_try(f.worker, 4, &v, 2, &f.error), f.error);
    expect_outcome(expect(&f, DEVICE_TRIED), OUTCOME_LAUNCH_ERROR, "image is invalid");
    v = plan_variant("good_10");
    v.launches[0].arguments[0].buffer = 5;
    assert_ok(device_worker_try(f.worker, 5, &v, 2, &f.error), f.error);
    expect_outcome(expect(&f, DEVICE_TRIED), OUTCOME_LAUNCH_ERROR, "names buffer 5");
    assert_int_equal(f.event.restarts, 0);
    end(&f);
}

static void a_fault_costs_the_variant_and_a_worker_not_the_run(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    expect_outcome(try_entry(&f, 1, "illegal", 1), OUTCOME_CRASHED, "CUDA_ERROR_ILLEGAL_ADDRESS");
    expect_outcome(try_entry(&f, 2, "good_10", 1), OUTCOME_OK, "");
    expect_outcome(try_entry(&f, 3, "misaligned", 1), OUTCOME_CRASHED,
                   "CUDA_ERROR_MISALIGNED_ADDRESS");
    expect_outcome(try_entry(&f, 4, "good_10", 1), OUTCOME_OK, "");
    assert_int_equal(f.event.restarts, 2);
    end(&f);
}

static void a_kernel_that_never_ends_times_out_at_its_limit(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    struct timespec before, after;
    clock_gettime(CLOCK_MONOTONIC, &before);
    expect_outcome(try_entry(&f, 1, "hang", 1), OUTCOME_TIMEOUT, "checking had not ended after");
    clock_gettime(CLOCK_MONOTONIC, &after);
    assert_in_range(after.tv_sec - before.tv_sec, 1, 8);
    expect_outcome(try_entry(&f, 2, "good_10", 1), OUTCOME_OK, "");
    end(&f);
}

static void a_worker_that_a_variant_kills_is_replaced_and_the_variant_blamed(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    expect_outcome(try_entry(&f, 1, "abort_driver", 1), OUTCOME_CRASHED, "signal 6");
    expect_outcome(try_entry(&f, 2, "good_10", 1), OUTCOME_OK, "");
    end(&f);
}

static void a_block_samples_held_variants_in_the_order_given(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    hold(&f, 30, "good_30");
    hold(&f, 10, "good_10");
    hold(&f, 20, "good_20");
    const uint64_t order[] = {20, 10, 30, 10};
    assert_ok(device_worker_block(f.worker, order, 4, true, &f.error), f.error);
    const device_event *e = expect(&f, DEVICE_BLOCK);
    expect_outcome(e, OUTCOME_OK, "");
    assert_int_equal(e->sample_count, 4);
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(e->ids[i], order[i]);
        assert_int_equal(e->samples_ns[i], 1000 * order[i]);
    }
    assert_int_equal(e->ceiling_ns, 2500);
    assert_ok(device_worker_release(f.worker, 10, &f.error), f.error);
    assert_ok(device_worker_block(f.worker, order, 2, false, &f.error), f.error);
    e = expect(&f, DEVICE_BLOCK);
    expect_outcome(e, OUTCOME_LAUNCH_ERROR, "no longer held");
    assert_int_equal(e->id, 10);
    end(&f);
}

static void short_blocks_know_their_clock_from_a_longer_window(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    hold(&f, 1, "good_30");
    const uint64_t order[] = {1, 1};
    int known = 0;
    for (int i = 0; i < 60; i++) {
        assert_ok(device_worker_block(f.worker, order, 2, false, &f.error), f.error);
        const device_event *e = expect(&f, DEVICE_BLOCK);
        expect_outcome(e, OUTCOME_OK, "");
        known += e->sm_clock_khz > 0;
        if (e->sm_clock_khz > 0)
            assert_float_equal(e->sm_clock_khz, 1.5e6, 1);
    }
    assert_in_range(known, 1, 60);
    end(&f);
}

static void held_variants_survive_the_worker(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    hold(&f, 1, "good_30");
    hold(&f, 2, "good_40");
    expect_outcome(try_entry(&f, 3, "illegal", 1), OUTCOME_CRASHED, "ILLEGAL");
    const uint64_t order[] = {2, 1};
    assert_ok(device_worker_block(f.worker, order, 2, false, &f.error), f.error);
    const device_event *e = expect(&f, DEVICE_BLOCK);
    expect_outcome(e, OUTCOME_OK, "");
    assert_int_equal(e->samples_ns[0], 40000);
    assert_int_equal(e->samples_ns[1], 30000);
    end(&f);
}

static void a_block_names_the_variant_that_broke_it_and_drops_it(void **state)
{
    (void)state;
    static const struct {
        const char *entry;
        outcome wanted;
    } broken[] = {{"late_hang", OUTCOME_TIMEOUT}, {"late_fault", OUTCOME_CRASHED}};
    fixture f;
    begin(&f);
    hold(&f, 1, "good_30");
    for (size_t i = 0; i < 2; i++) {
        hold(&f, 9, broken[i].entry);
        const uint64_t order[] = {1, 9, 1};
        assert_ok(device_worker_block(f.worker, order, 3, false, &f.error), f.error);
        const device_event *e = expect(&f, DEVICE_BLOCK);
        expect_outcome(e, broken[i].wanted, "");
        assert_int_equal(e->id, 9);
        assert_ok(device_worker_block(f.worker, order, 1, false, &f.error), f.error);
        expect_outcome(expect(&f, DEVICE_BLOCK), OUTCOME_OK, "");
    }
    end(&f);
}

static void a_recheck_uses_new_contents(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    hold(&f, 1, "good_30");
    hold(&f, 2, "skips_edge");
    assert_ok(device_worker_recheck(f.worker, 1, 77, &f.error), f.error);
    expect_outcome(expect(&f, DEVICE_RECHECKED), OUTCOME_OK, "");
    assert_ok(device_worker_recheck(f.worker, 2, 77, &f.error), f.error);
    expect_outcome(expect(&f, DEVICE_RECHECKED), OUTCOME_WRONG_RESULT, "ragged");
    assert_int_equal(f.event.id, 2);
    expect_outcome(try_entry(&f, 3, "good_10", 1), OUTCOME_OK, "");
    end(&f);
}

static void a_recheck_launches_more_often_than_a_try(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    expect_outcome(try_entry(&f, 1, "fails_the_sixth_time", 0), OUTCOME_OK, "");
    hold(&f, 2, "fails_the_sixth_time");
    assert_ok(device_worker_recheck(f.worker, 2, 77, &f.error), f.error);
    expect_outcome(expect(&f, DEVICE_RECHECKED), OUTCOME_WRONG_RESULT, "1 of ");
    end(&f);
}

static void modules_are_unloaded_after_each_try(void **state)
{
    (void)state;
    setenv("FAKE_CUDA_MODULES", "5", 1);
    fixture f;
    begin(&f);
    for (uint64_t i = 0; i < 20; i++)
        expect_outcome(try_entry(&f, i, i % 2 ? "good_10" : "zeros", 1),
                       i % 2 ? OUTCOME_OK : OUTCOME_WRONG_RESULT, "");
    end(&f);
    unsetenv("FAKE_CUDA_MODULES");
}

static void a_worker_is_set_up_again_for_other_problems(void **state)
{
    (void)state;
    setenv("FAKE_CUDA_MEMORY", "10000000", 1); /* too little for both sets of problems at once */
    fixture f;
    begin(&f);
    hold(&f, 1, "good_10");
    for (size_t i = 0; i < 3; i++) {
        assert_ok(device_worker_setup(f.worker, &image, f.problems, 2, &f.error), f.error);
        expect(&f, DEVICE_READY);
        hold(&f, 1, "good_10"); /* that of the set-up before is gone */
        const device_event *e = try_entry(&f, 2, "illegal", 1); /* the new set-up is replayed */
        expect_outcome(e, OUTCOME_CRASHED, "");
        expect_outcome(try_entry(&f, 3, "good_10", 1), OUTCOME_OK, "");
    }
    end(&f);
    unsetenv("FAKE_CUDA_MEMORY");
}

static void too_little_memory_fails_the_set_up_with_the_remedy(void **state)
{
    (void)state;
    setenv("FAKE_CUDA_MEMORY", "8800000", 1); /* the flush buffers fit, the problem does not */
    fixture f;
    start(&f);
    assert_ok(device_worker_setup(f.worker, &image, f.problems, 2, &f.error), f.error);
    expect(&f, DEVICE_OPENED);
    const device_event *e = expect(&f, DEVICE_FAILED);
    assert_non_null(strstr(e->message, "choose a smaller problem"));
    assert_int_equal(e->status, AT_DEVICE);
    assert_int_equal(device_worker_take(f.worker, 0, &f.event, &f.error), AT_DEVICE);
    assert_non_null(strstr(f.error.message, "choose a smaller problem"));
    poll_set set;
    poll_set_start(&set, 100);
    device_worker_poll(f.worker, &set);
    assert_int_equal(set.count, 0);
    end(&f);
    unsetenv("FAKE_CUDA_MEMORY");
}

static void a_reference_that_leaves_elements_alone_is_refused(void **state)
{
    (void)state;
    fixture f;
    start(&f);
    f.problems[1].reference_launch = plan_launch("skips_edge", RAGGED_COUNT);
    assert_ok(device_worker_setup(f.worker, &image, f.problems, 2, &f.error), f.error);
    expect(&f, DEVICE_OPENED);
    const device_event *e = expect(&f, DEVICE_FAILED);
    assert_non_null(strstr(e->message, "reference kernel give different dst"));
    end(&f);
}

static void a_reference_that_hangs_or_faults_ends_the_worker_for_good(void **state)
{
    (void)state;
    fixture f;
    start(&f);
    f.problems[0].reference_launch = plan_launch("illegal", TUNED_COUNT);
    assert_ok(device_worker_setup(f.worker, &image, f.problems, 2, &f.error), f.error);
    expect(&f, DEVICE_OPENED);
    const device_event *e = expect(&f, DEVICE_FAILED);
    assert_non_null(strstr(e->message, "CUDA_ERROR_ILLEGAL_ADDRESS"));
    end(&f);
}

static void no_driver_no_gpu_and_no_such_gpu_are_told_apart(void **state)
{
    (void)state;
    device_properties found[4];
    size_t count;
    at_error error = {0};
    const char *fake = getenv("AUTOTUNE_LIBCUDA");
    char *kept = strdup(fake);
    setenv("AUTOTUNE_LIBCUDA", "/no/such/libcuda.so.1", 1);
    assert_int_equal(device_worker_list("cuda", found, 4, &count, &error), AT_NO_DEVICE);
    assert_non_null(strstr(error.message, "no CUDA driver"));
    setenv("AUTOTUNE_LIBCUDA", kept, 1);
    free(kept);
    setenv("FAKE_CUDA_INIT", "100", 1);
    assert_int_equal(device_worker_list("cuda", found, 4, &count, &error), AT_NO_DEVICE);
    assert_non_null(strstr(error.message, "no CUDA-capable device"));
    unsetenv("FAKE_CUDA_INIT");
    setenv("FAKE_CUDA_DEVICES", "3", 1);
    assert_ok(device_worker_list("cuda", found, 4, &count, &error), error);
    assert_int_equal(count, 3);
    assert_string_equal(found[2].spec, "cuda:2");
    unsetenv("FAKE_CUDA_DEVICES");
    const device_worker_options options = {.spec = "cuda:5"};
    fixture f = {0};
    assert_ok(device_worker_start(&options, &f.worker, &error), error);
    const device_event *e = expect(&f, DEVICE_FAILED);
    assert_int_equal(e->status, AT_NO_DEVICE);
    assert_non_null(strstr(e->message, "there is no cuda:5: the CUDA driver sees 1 GPU"));
    end(&f);
}

/* The parent of a process, from the fourth field of its stat line; 0 when it is gone. */
static pid_t find_parent(const char *pid)
{
    char path[300], line[512];
    snprintf(path, sizeof path, "/proc/%s/stat", pid);
    FILE *f = fopen(path, "r");
    if (!f)
        return 0;
    long parent = 0;
    const char *rest = fgets(line, sizeof line, f) ? strrchr(line, ')') : NULL;
    if (!rest || sscanf(rest, ") %*c %ld", &parent) != 1)
        parent = 0;
    fclose(f);
    return (pid_t)parent;
}

/* The worker's process: the only child that this test has. */
static pid_t find_child(void)
{
    pid_t child = 0;
    DIR *d = opendir("/proc");
    for (struct dirent *e = d ? readdir(d) : NULL; e && child == 0; e = readdir(d))
        if (strspn(e->d_name, "0123456789") == strlen(e->d_name) &&
            find_parent(e->d_name) == getpid())
            child = (pid_t)strtol(e->d_name, NULL, 10);
    if (d)
        closedir(d);
    return child;
}

static void workers_killed_at_random_lose_no_answer(void **state)
{
    (void)state;
    enum { TRIES = 100, IN_FLIGHT = 4, KILLS = 12 };
    fixture f;
    begin(&f);
    rng random = rng_seeded(1);
    int answered[TRIES] = {0};
    uint64_t submitted = 0, done = 0, kills = 0;
    while (done < TRIES) {
        while (submitted < TRIES && device_worker_pending(f.worker) < IN_FLIGHT) {
            const device_variant v = plan_variant(submitted % 3 ? "good_25" : "zeros");
            assert_ok(device_worker_try(f.worker, submitted++, &v, 3, &f.error), f.error);
        }
        bool kill_it = kills < KILLS && rng_below(&random, 6) == 0;
        if (kill_it && find_child() > 0) {
            usleep((useconds_t)rng_below(&random, 3000));
            kill(find_child(), SIGKILL);
            kills++;
        }
        const device_event *e = expect(&f, DEVICE_TRIED);
        assert_int_equal(e->id, done);
        answered[e->id]++;
        expect_outcome(e, e->id % 3 ? OUTCOME_OK : OUTCOME_WRONG_RESULT, "");
        if (e->outcome == OUTCOME_OK)
            assert_int_equal(e->samples_ns[2], 25000);
        done++;
    }
    for (int i = 0; i < TRIES; i++)
        assert_int_equal(answered[i], 1);
    assert_in_range(kills, 1, KILLS);
    assert_in_range(f.event.restarts, 1, KILLS);
    end(&f);
}

static void a_worker_killed_while_it_starts_is_started_again(void **state)
{
    (void)state;
    fixture f;
    start(&f);
    kill(find_child(), SIGKILL);
    set_up(&f);
    assert_int_equal(f.event.restarts, 1);
    end(&f);
}

static void a_stopped_worker_neither_blocks_the_tuner_nor_lasts(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    pid_t child = find_child();
    kill(child, SIGSTOP);
    /* More than a socket holds. */
    static char large[1 << 20];
    memcpy(large, image_bytes, sizeof image_bytes);
    device_variant v = plan_variant("good_10");
    v.images[0] = (device_image){.bytes = large, .size_bytes = sizeof large};
    for (uint64_t id = 0; id < 4; id++)
        assert_ok(device_worker_try(f.worker, id, &v, 1, &f.error), f.error);
    assert_int_equal(device_worker_take(f.worker, 20, &f.event, &f.error), AT_NOT_FOUND);
    poll_set set;
    poll_set_start(&set, 100);
    device_worker_poll(f.worker, &set);
    assert_true(set.fds[0].events & POLLOUT);
    kill(child, SIGKILL);
    for (uint64_t id = 0; id < 4; id++)
        expect_outcome(expect(&f, DEVICE_TRIED), OUTCOME_OK, "");
    end(&f);
}

int main(void)
{
    setenv("AUTOTUNE_LIBCUDA", FAKE_CUDA, 1);
    setenv("FAKE_CUDA_EAGER", "1", 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(opening_describes_the_device_before_anything_is_set_up),
        cmocka_unit_test(a_worker_that_waits_opens_nothing_before_it_begins),
        cmocka_unit_test(a_worker_that_never_began_is_freed),
        cmocka_unit_test(the_set_up_measures_floor_tick_reference_and_ceiling),
        cmocka_unit_test(a_ceiling_that_no_run_measures_is_left_alone),
        cmocka_unit_test(a_right_variant_is_sampled_without_launch_latency),
        cmocka_unit_test(short_kernels_are_timed_in_batches_and_so_is_the_ceiling),
        cmocka_unit_test(a_try_may_leave_the_ragged_problem_for_when_the_variant_is_held),
        cmocka_unit_test(a_slow_kernel_among_short_ones_is_launched_once_a_sample),
        cmocka_unit_test(a_warm_sample_follows_an_untimed_launch),
        cmocka_unit_test(every_kind_of_wrong_result_is_found_and_named),
        cmocka_unit_test(damage_to_expected_outputs_is_repaired_before_it_is_blamed_on_others),
        cmocka_unit_test(a_tolerance_forgives_small_errors_but_not_nan_or_a_race),
        cmocka_unit_test(a_buffer_has_a_tolerance_of_its_own),
        cmocka_unit_test(an_in_out_buffer_gets_its_input_back_before_every_launch),
        cmocka_unit_test(dynamic_shared_memory_past_48_KiB_is_asked_for),
        cmocka_unit_test(a_refused_launch_is_a_launch_error_and_costs_no_worker),
        cmocka_unit_test(a_fault_costs_the_variant_and_a_worker_not_the_run),
        cmocka_unit_test(a_kernel_that_never_ends_times_out_at_its_limit),
        cmocka_unit_test(a_worker_that_a_variant_kills_is_replaced_and_the_variant_blamed),
        cmocka_unit_test(a_block_samples_held_variants_in_the_order_given),
        cmocka_unit_test(short_blocks_know_their_clock_from_a_longer_window),
        cmocka_unit_test(held_variants_survive_the_worker),
        cmocka_unit_test(a_block_names_the_variant_that_broke_it_and_drops_it),
        cmocka_unit_test(a_recheck_uses_new_contents),
        cmocka_unit_test(a_recheck_launches_more_often_than_a_try),
        cmocka_unit_test(modules_are_unloaded_after_each_try),
        cmocka_unit_test(a_worker_is_set_up_again_for_other_problems),
        cmocka_unit_test(too_little_memory_fails_the_set_up_with_the_remedy),
        cmocka_unit_test(a_reference_that_leaves_elements_alone_is_refused),
        cmocka_unit_test(a_reference_that_hangs_or_faults_ends_the_worker_for_good),
        cmocka_unit_test(no_driver_no_gpu_and_no_such_gpu_are_told_apart),
        cmocka_unit_test(workers_killed_at_random_lose_no_answer),
        cmocka_unit_test(a_worker_killed_while_it_starts_is_started_again),
        cmocka_unit_test(a_stopped_worker_neither_blocks_the_tuner_nor_lasts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
