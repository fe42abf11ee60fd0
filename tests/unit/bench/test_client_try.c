/* Tests the result of a try: whether the variant is right, and its time. */
#include "cubin_image.h"
#include "worker_fixture.h"

TEST(a_right_variant_is_sampled_without_launch_latency)
{
    fixture f;
    begin(&f);
    const device_event *e = try_entry(&f, 7, "good_120", 5);
    expect_outcome(e, OUTCOME_OK, "");
    assert_int_equal(e->sample_count, 5);
    for (size_t i = 0; i < 5; i++)
        assert_int_equal(e->samples_ns[i], 120000);
    end(&f);
}

TEST(short_kernels_are_timed_in_batches_and_so_is_the_ceiling)
{
    fixture f;
    start(&f);
    f.problems[0].reference_launch = plan_launch("good_10", TUNED_COUNT);
    set_up(&f);
    assert_in_range(f.event.ready.batch, 20, 1000);
    /* Six sets of buffers of 32 KiB are three times as large as the L2 of 64 KiB. */
    assert_int_equal(f.event.ready.buffer_sets, 6);
    assert_int_equal(f.event.ready.reference_ns, 10000);
    /* The ceiling is 2 us plus 16384 bytes at 50 bytes/ns. A single copy would be rounded to
     * 2500 ns. */
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

TEST(a_slow_kernel_among_short_ones_is_launched_once_a_sample)
{
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

TEST(a_warm_sample_follows_an_untimed_launch)
{
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

TEST(every_kind_of_wrong_result_is_found_and_named)
{
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
        {"changes_input", "the variant changed its input src"},
        {"zeros", "of 4096 elements of dst are wrong, first dst[0][0]: expected"},
        {"close_to", "1 of 4096 elements of dst are wrong"},
    };
    fixture f;
    begin(&f);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        expect_outcome(try_entry(&f, i, wrong[i].entry, 3), OUTCOME_WRONG_RESULT, wrong[i].words);
        assert_int_equal(f.event.sample_count, 0);
        /* The next variant is not affected. */
        expect_outcome(try_entry(&f, 100 + i, "good_50", 1), OUTCOME_OK, "");
    }
    assert_int_equal(f.event.restarts, 0);
    end(&f);
}

TEST(damage_to_expected_outputs_is_repaired_before_it_is_blamed_on_others)
{
    fixture f;
    begin(&f);
    assert_int_equal(try_entry(&f, 1, "wild", 1)->outcome, OUTCOME_WRONG_RESULT);
    expect_outcome(try_entry(&f, 2, "good_50", 1), OUTCOME_OK, "");
    assert_int_equal(try_entry(&f, 3, "zeros", 1)->outcome, OUTCOME_WRONG_RESULT);
    expect_outcome(try_entry(&f, 4, "good_50", 1), OUTCOME_OK, "");
    end(&f);
}

TEST(a_tolerance_forgives_small_errors_but_not_nan_or_a_race)
{
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

/* The results of "close_to" differ by 1e-7, a few ULPs, from the expected results. */
TEST(a_buffer_has_a_tolerance_of_its_own)
{
    static const struct {
        tolerance allowed;
        outcome result;
        const char *message;
    } cases[] = {
        {{.kind = TOLERANCE_EXACT}, OUTCOME_WRONG_RESULT, "1 of "},
        {{.kind = TOLERANCE_ULPS, .limit = 1}, OUTCOME_WRONG_RESULT, " within 1 ULPs, found "},
        {{.kind = TOLERANCE_ULPS, .limit = 1000}, OUTCOME_OK, ""},
        {{.mismatches = 1}, OUTCOME_OK, ""},
        {{.kind = TOLERANCE_ULPS, .limit = 1, .mismatches = 0.5}, OUTCOME_OK, ""},
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

TEST(an_in_out_buffer_gets_its_input_back_before_every_launch)
{
    fixture f;
    start(&f);
    f.problems[0] = plan_problem("add", TUNED_COUNT, BUFFER_INOUT);
    f.problems[1] = plan_problem("add", RAGGED_COUNT, BUFFER_INOUT);
    set_up(&f);
    expect_outcome(try_entry(&f, 1, "add", 4), OUTCOME_OK, "");
    expect_outcome(try_entry(&f, 2, "good", 4), OUTCOME_WRONG_RESULT, "elements of dst");
    end(&f);
}

static void in_rounds(launch_plan *plan, uint32_t rounds)
{
    plan->launches[0].group = 1;
    plan->launches[0].rounds = rounds;
}

/* The second number of rounds is larger than a sample can queue behind its gate. */
TEST(a_group_of_launches_runs_in_rounds)
{
    static const uint32_t rounds[] = {2, 700};
    (void)state;
    for (int i = 0; i < 2; i++) {
        fixture f;
        start(&f);
        f.problems[0] = plan_problem("add", TUNED_COUNT, BUFFER_INOUT);
        f.problems[1] = plan_problem("add", RAGGED_COUNT, BUFFER_INOUT);
        device_variant v = plan_variant("add");
        for (int k = 0; k < 2; k++) {
            in_rounds(&f.problems[k].reference_launch, rounds[i]);
            in_rounds(&v.launches[k], rounds[i]);
        }
        set_up(&f);
        assert_ok(device_worker_try(f.worker, 1, &v, 4, &f.error), f.error);
        expect_outcome(expect(&f, DEVICE_TRIED), OUTCOME_OK, "");
        in_rounds(&v.launches[0], rounds[i] + 1);
        assert_ok(device_worker_try(f.worker, 2, &v, 4, &f.error), f.error);
        expect_outcome(expect(&f, DEVICE_TRIED), OUTCOME_WRONG_RESULT, "elements of dst");
        end(&f);
    }
}

TEST(the_first_elements_alone_may_be_results)
{
    fixture f;
    start(&f);
    set_up(&f);
    device_variant v = plan_variant("zeros");
    for (int k = 0; k < 2; k++)
        v.launches[k].compared_count = 1;
    v.launches[0].compared[0] = (compared_plan){.buffer = 1, .count = 5};
    v.launches[1].compared[0] = (compared_plan){.buffer = 1, .count = 3};
    assert_ok(device_worker_try(f.worker, 1, &v, 1, &f.error), f.error);
    expect_outcome(expect(&f, DEVICE_TRIED), OUTCOME_WRONG_RESULT,
                   " of the first 5 elements of dst are wrong");
    end(&f);
}

TEST(dynamic_shared_memory_above_48_KiB_is_requested)
{
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

TEST(a_refused_launch_is_a_launch_error_and_costs_no_worker)
{
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

/* The first launch on the fake driver takes 1 ms longer than its kernel. The kernel's time must
 * not include this millisecond. */
TEST(a_variant_that_is_too_slow_is_launched_once_and_not_checked)
{
    fixture f;
    begin(&f);
    const struct {
        const char *entry;
        int64_t too_slow_ns;
        outcome outcome;
        int64_t least_ns, most_ns;
    } tries[] = {
        {"good_50000", 4000000, OUTCOME_TOO_SLOW, 50000000, 52000000},
        {"good_3000", 2000000, OUTCOME_TOO_SLOW, 3000000, 3000000},
        {"good_500", 1000000, OUTCOME_OK, 500000, 500000},
        {"good_50000", 0, OUTCOME_OK, 50000000, 50000000},
    };
    for (size_t i = 0; i < sizeof tries / sizeof *tries; i++) {
        device_variant v = plan_variant(tries[i].entry);
        v.too_slow_ns = tries[i].too_slow_ns;
        assert_ok(device_worker_try(f.worker, i, &v, 3, &f.error), f.error);
        const device_event *e = expect(&f, DEVICE_TRIED);
        expect_outcome(e, tries[i].outcome, "");
        assert_int_equal(e->sample_count, tries[i].outcome == OUTCOME_OK ? 3 : 1);
        assert_in_range(e->samples_ns[0], tries[i].least_ns, tries[i].most_ns);
    }
    end(&f);
}

/* Before each checked launch, the module's variables get the values that the image defines. */
TEST(variables_of_a_module_are_reset_before_each_launch)
{
    fixture f;
    begin(&f);
    /* The variable has the name of the section, which is the first name in the table of names. */
    const Elf64_Sym symbol = {.st_name = sizeof(Elf64_Ehdr) +
                                         CUBIN_IMAGE_SECTIONS * sizeof(Elf64_Shdr) + 1,
                              .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT),
                              .st_shndx = 2,
                              .st_size = 16};
    unsigned char cubin[CUBIN_IMAGE_BYTES];
    cubin_image_of(cubin, "",
                   &(cubin_section_image){"fake_constant", SHT_SYMTAB, &symbol, sizeof symbol}, 1);
    device_variant v = plan_variant("right_once");
    assert_ok(device_worker_try(f.worker, 0, &v, 1, &f.error), f.error);
    expect_outcome(expect(&f, DEVICE_TRIED), OUTCOME_WRONG_RESULT, "");
    v.images[0] = (device_image){.bytes = cubin, .size_bytes = sizeof cubin};
    assert_ok(device_worker_try(f.worker, 1, &v, 1, &f.error), f.error);
    expect_outcome(expect(&f, DEVICE_TRIED), OUTCOME_OK, "");
    end(&f);
}

TEST(results_in_a_variable_of_the_module_are_compared)
{
    fixture f;
    begin(&f);
    device_variant v = plan_variant("into_variable");
    assert_ok(device_worker_try(f.worker, 0, &v, 1, &f.error), f.error);
    expect_outcome(expect(&f, DEVICE_TRIED), OUTCOME_WRONG_RESULT, "");
    for (size_t i = 0; i < 2; i++) {
        v.launches[i].constant_count = 1;
        v.launches[i].constants[0] =
            (constant_plan){.name = "fake_constant", .buffer = 1, .is_result = true};
    }
    assert_ok(device_worker_try(f.worker, 1, &v, 1, &f.error), f.error);
    expect_outcome(expect(&f, DEVICE_TRIED), OUTCOME_OK, "");
    end(&f);
}

TEST(modules_are_unloaded_after_each_try)
{
    setenv("FAKE_CUDA_MODULES", "5", 1);
    fixture f;
    begin(&f);
    for (uint64_t i = 0; i < 20; i++)
        expect_outcome(try_entry(&f, i, i % 2 ? "good_10" : "zeros", 1),
                       i % 2 ? OUTCOME_OK : OUTCOME_WRONG_RESULT, "");
    end(&f);
    unsetenv("FAKE_CUDA_MODULES");
}

TEST_GROUP(worker_use_fake_driver, NULL)
