/* Tests held variants, which are sampled in blocks and checked again. */
#include "worker_fixture.h"

TEST(a_try_may_defer_the_ragged_problem_until_the_variant_is_held)
{
    fixture f;
    begin(&f);
    device_variant v = plan_variant("skips_edge");
    v.present[1] = false;
    assert_ok(device_worker_try(f.worker, 1, &v, 3, &f.error), f.error);
    expect_outcome(expect(&f, DEVICE_TRIED), OUTCOME_OK, "");
    v.present[1] = v.unchecked = true;
    assert_ok(device_worker_hold(f.worker, 1, &v, &f.error), f.error);
    expect_outcome(expect(&f, DEVICE_HELD), OUTCOME_WRONG_RESULT,
                   "on the ragged problem: 11 of 1003 elements of dst");
    /* The variant is no longer held: a request for the variant fails, and its id is free. */
    v = plan_variant("good_120");
    v.unchecked = true;
    assert_ok(device_worker_hold(f.worker, 1, &v, &f.error), f.error);
    expect_outcome(expect(&f, DEVICE_HELD), OUTCOME_OK, "");
    end(&f);
}

TEST(a_block_samples_held_variants_in_the_order_given)
{
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
    expect_outcome(e, OUTCOME_CRASHED, "no longer has this variant");
    assert_int_equal(e->restarts, 0);
    assert_int_equal(e->id, 10);
    end(&f);
}

TEST(short_blocks_measure_their_clock_in_a_longer_window)
{
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

TEST(held_variants_survive_the_worker)
{
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

TEST(a_failed_block_names_and_drops_the_variant_that_broke_it)
{
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

TEST(a_recheck_uses_new_contents)
{
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

TEST(a_recheck_launches_more_often_than_a_try)
{
    fixture f;
    begin(&f);
    expect_outcome(try_entry(&f, 1, "fails_the_sixth_time", 0), OUTCOME_OK, "");
    hold(&f, 2, "fails_the_sixth_time");
    assert_ok(device_worker_recheck(f.worker, 2, 77, &f.error), f.error);
    expect_outcome(expect(&f, DEVICE_RECHECKED), OUTCOME_WRONG_RESULT, "1 of ");
    end(&f);
}

TEST_GROUP(worker_use_fake_driver, NULL)
