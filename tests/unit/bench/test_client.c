/* Tests the start and the set-up of a device worker. */
#include "worker_fixture.h"

TEST(opening_describes_the_device_before_anything_is_set_up)
{
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

TEST(a_worker_that_waits_opens_nothing_before_it_begins)
{
    fixture f;
    start(&f);
    device_worker_free(f.worker);
    const device_worker_options options = {.spec = "cuda:0", .waits = true};
    assert_ok(device_worker_start(&options, &f.worker, &f.error), f.error);
    assert_ok(device_worker_setup(f.worker, (const device_image[DEVICE_SUPPORT_PARTS]){image},
                                  f.problems, 2, &f.error),
              f.error);
    assert_int_equal(device_worker_take(f.worker, 50, &f.event, &f.error), AT_NOT_FOUND);
    assert_true(device_worker_is_unstarted(f.worker));
    assert_false(device_worker_is_opening(f.worker));
    device_worker_begin(f.worker);
    assert_true(device_worker_is_opening(f.worker));
    expect(&f, DEVICE_OPENED);
    expect(&f, DEVICE_READY);
    assert_false(device_worker_is_unstarted(f.worker));
    assert_false(device_worker_is_opening(f.worker));
    end(&f);
}

TEST(a_worker_that_was_never_started_is_freed)
{
    fixture f = {0};
    const device_worker_options options = {.spec = "cuda:0", .waits = true};
    assert_ok(device_worker_start(&options, &f.worker, &f.error), f.error);
    device_worker_kill(f.worker);
    end(&f);
}

TEST(the_set_up_measures_floor_tick_reference_and_ceiling)
{
    fixture f;
    begin(&f);
    const device_event *e = &f.event;
    assert_int_equal(e->ready.floor_ns, 2000);
    assert_int_equal(e->ready.reference_ns, 1000000);
    assert_int_equal(e->ready.watchdog_ns, 300 * 1000 * 1000);
    assert_true(e->sample_count >= 7);
    /* The ceiling is 2 us plus half of the traffic at 50 bytes/ns, rounded to 500 ns. */
    assert_int_equal(e->ceiling_ns, 2500);
    assert_float_equal(e->ready.sm_clock_khz, 1.5e6, 1);
    assert_int_equal(device_worker_pending(f.worker), 0);
    poll_set set;
    poll_set_start(&set, -1);
    device_worker_poll(f.worker, &set);
    assert_int_equal(set.timeout_ms, -1);
    end(&f);
}

TEST(a_ceiling_that_runs_do_not_measure_is_zero)
{
    fixture f;
    start(&f);
    f.problems[0].plan.flops = 1000;
    f.problems[0].plan.ceiling = CEILING_FP32;
    set_up(&f);
    assert_int_equal(f.event.ceiling_ns, 0);
    expect_outcome(try_entry(&f, 1, "good_50", 3), OUTCOME_OK, "");
    end(&f);
}

TEST(a_worker_is_set_up_again_for_other_problems)
{
    /* The memory is too small for the buffers of both set-ups at once. */
    setenv("FAKE_CUDA_MEMORY", "10000000", 1);
    fixture f;
    begin(&f);
    hold(&f, 1, "good_10");
    for (size_t i = 0; i < 3; i++) {
        assert_ok(device_worker_setup(f.worker, (const device_image[DEVICE_SUPPORT_PARTS]){image},
                                      f.problems, 2, &f.error),
                  f.error);
        expect(&f, DEVICE_READY);
        hold(&f, 1, "good_10"); /* the new set-up has dropped the variant */
        const device_event *e = try_entry(&f, 2, "illegal", 1); /* a restart replays the set-up */
        expect_outcome(e, OUTCOME_CRASHED, "");
        expect_outcome(try_entry(&f, 3, "good_10", 1), OUTCOME_OK, "");
    }
    end(&f);
    unsetenv("FAKE_CUDA_MEMORY");
}

TEST(too_little_memory_fails_the_set_up_with_the_remedy)
{
    /* The memory is enough for the flush buffers, but not for the problem. */
    setenv("FAKE_CUDA_MEMORY", "8800000", 1);
    fixture f;
    start(&f);
    assert_ok(device_worker_setup(f.worker, (const device_image[DEVICE_SUPPORT_PARTS]){image},
                                  f.problems, 2, &f.error),
              f.error);
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

TEST(a_reference_that_leaves_elements_alone_is_refused)
{
    fixture f;
    start(&f);
    f.problems[1].reference_launch = plan_launch("skips_edge", RAGGED_COUNT);
    assert_ok(device_worker_setup(f.worker, (const device_image[DEVICE_SUPPORT_PARTS]){image},
                                  f.problems, 2, &f.error),
              f.error);
    expect(&f, DEVICE_OPENED);
    const device_event *e = expect(&f, DEVICE_FAILED);
    assert_non_null(strstr(e->message, "reference kernel give different dst"));
    end(&f);
}

TEST(a_reference_that_hangs_or_faults_ends_the_worker_for_good)
{
    fixture f;
    start(&f);
    f.problems[0].reference_launch = plan_launch("illegal", TUNED_COUNT);
    assert_ok(device_worker_setup(f.worker, (const device_image[DEVICE_SUPPORT_PARTS]){image},
                                  f.problems, 2, &f.error),
              f.error);
    expect(&f, DEVICE_OPENED);
    const device_event *e = expect(&f, DEVICE_FAILED);
    assert_non_null(strstr(e->message, "CUDA_ERROR_ILLEGAL_ADDRESS"));
    end(&f);
}

TEST(missing_driver_gpu_and_ordinal_have_different_errors)
{
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

TEST_GROUP(worker_use_fake_driver, NULL)
