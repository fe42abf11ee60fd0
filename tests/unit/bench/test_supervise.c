#include "check.h"

#include "base/rng.h"
#include "scripted_device.h"

/* Steps that set the worker up, before a test's own steps. There is no real process or clock. */
#define SET_UP STEP_BEHAVE, STEP_BEHAVE, STEP_BEHAVE

#define RUN(...) run((const uint8_t[]){__VA_ARGS__}, sizeof(const uint8_t[]){__VA_ARGS__})

static scripted_result run(const uint8_t *script, size_t count)
{
    scripted_result r = scripted_run(script, count);
    if (r.wrong)
        fail_msg("%s", r.wrong);
    return r;
}

/* Asserts that a worker was lost and that all requests were answered. */
static void expect_a_worker_lost(scripted_result r)
{
    assert_int_equal(r.restarts, 1);
    assert_int_equal(r.failed, 0);
    assert_int_equal(r.fine, r.asked);
}

TEST(a_device_that_behaves_answers_everything)
{
    scripted_result r = RUN(SET_UP, STEP_TRY, STEP_HOLD, STEP_BLOCK, STEP_CLAIM, STEP_RECHECK,
                            STEP_ENERGY, STEP_CLAIM, STEP_RELEASE, STEP_TRY);
    assert_int_equal(r.asked, 6);
    assert_int_equal(r.fine, 6);
    assert_int_equal(r.restarts, 0);
}

TEST(requests_before_the_device_is_ready_are_answered_in_order)
{
    scripted_result r = RUN(STEP_ENERGY, STEP_CLAIM, STEP_TRY, STEP_BLOCK, STEP_CLAIM);
    assert_int_equal(r.fine, 3);
    assert_int_equal(r.restarts, 0);
}

TEST(a_repeated_answer_does_not_answer_the_next_request)
{
    expect_a_worker_lost(RUN(SET_UP, STEP_TRY, STEP_TRY, STEP_BEHAVE, STEP_DOUBLED, STEP_BEHAVE));
}

TEST(an_old_answer_does_not_answer_the_next_request)
{
    expect_a_worker_lost(
        RUN(SET_UP, STEP_TRY, STEP_BEHAVE, STEP_TRY, STEP_BEHAVE, STEP_TRY, STEP_LATE));
}

TEST(an_answer_of_another_kind_number_variant_or_length_ends_the_worker)
{
    expect_a_worker_lost(RUN(SET_UP, STEP_TRY, STEP_OTHER_KIND));
    expect_a_worker_lost(RUN(SET_UP, STEP_TRY, STEP_OTHER_NUMBER));
    expect_a_worker_lost(RUN(SET_UP, STEP_HOLD, STEP_OTHER_ID));
    expect_a_worker_lost(RUN(SET_UP, STEP_BLOCK, STEP_FEW_SAMPLES));
    expect_a_worker_lost(RUN(SET_UP, STEP_TRY, STEP_TRY, STEP_SWAPPED));
}

TEST(an_answer_that_is_missing_ends_the_worker)
{
    /* The next answer arrives in place of the missing one. */
    expect_a_worker_lost(RUN(SET_UP, STEP_TRY, STEP_TRY, STEP_MISSING, STEP_BEHAVE));
    /* No answer follows, so the watchdog ends the request. */
    scripted_result r = RUN(SET_UP, STEP_TRY, STEP_MISSING);
    assert_int_equal(r.answered, 1);
    assert_int_equal(r.fine, 0);
}

TEST(a_note_for_another_request_or_without_an_end_ends_the_worker)
{
    expect_a_worker_lost(RUN(SET_UP, STEP_TRY, STEP_OTHER_NOTE));
    expect_a_worker_lost(RUN(SET_UP, STEP_TRY, STEP_ENDLESS_NOTE));
    expect_a_worker_lost(RUN(SET_UP, STEP_TRY, STEP_IDLE_NOTE));
    expect_a_worker_lost(RUN(SET_UP, STEP_TRY, STEP_OPENED));
    expect_a_worker_lost(RUN(SET_UP, STEP_TRY, STEP_FAILED));
}

TEST(a_worker_that_dies_without_a_request_blames_no_variant)
{
    scripted_result r = RUN(SET_UP, STEP_TRY, STEP_BEHAVE, STEP_DEATH, STEP_TRY, SET_UP,
                            STEP_BEHAVE, STEP_DEATH, STEP_TRY);
    assert_int_equal(r.fine, 3);
    assert_int_equal(r.restarts, 2);
}

TEST(a_held_variant_is_dropped_only_after_three_deaths_in_a_row)
{
    scripted_result r = RUN(SET_UP, STEP_HOLD, STEP_BEHAVE, STEP_DEATH, SET_UP, STEP_DEATH, SET_UP,
                            STEP_DEATH, SET_UP, STEP_DEATH, STEP_TRY);
    assert_int_equal(r.restarts, 4);
    assert_int_equal(r.held, 0);
    /* The third and the sixth worker load the variant before they die. */
    r = RUN(SET_UP, STEP_HOLD, STEP_BEHAVE, STEP_DEATH, SET_UP, STEP_DEATH, SET_UP, STEP_BEHAVE,
            STEP_DEATH, SET_UP, STEP_DEATH, SET_UP, STEP_DEATH, SET_UP, STEP_BEHAVE, STEP_TRY);
    assert_int_equal(r.restarts, 5);
    assert_int_equal(r.held, 1);
}

TEST(what_a_device_said_in_time_counts_however_late_it_is_read)
{
    scripted_result r = RUN(SET_UP, STEP_TRY, STEP_READ_LATE, STEP_TRY);
    assert_int_equal(r.fine, 2);
    assert_int_equal(r.restarts, 0);
}

TEST(a_device_that_always_fails_is_given_up)
{
    uint8_t script[64];
    for (size_t i = 0; i < sizeof script; i++)
        script[i] = STEP_UNKNOWN;
    scripted_result r = run(script, sizeof script);
    assert_int_equal(r.failed, 1);
}

/* This test is a short run of the fuzz target (tests/fuzz/fuzz_device_order.c). */
TEST(no_order_of_messages_makes_a_wrong_result_or_a_hang)
{
    enum { RUNS = 600, STEPS = 48 };
    rng random = rng_seeded(11);
    size_t fine = 0, lost = 0;
    for (int i = 0; i < RUNS; i++) {
        uint8_t script[STEPS] = {SET_UP};
        /* Most steps are correct, so that a run gets far. */
        for (size_t k = 3; k < STEPS; k++)
            script[k] = (uint8_t)(rng_below(&random, 8) ? rng_below(&random, STEP_CLAIM + 1)
                                                        : rng_below(&random, STEP_COUNT));
        scripted_result r = run(script, STEPS);
        fine += r.fine;
        lost += (size_t)r.restarts;
    }
    /* Many steps must succeed, and some workers must fail. */
    assert_true(fine > RUNS);
    assert_true(lost > RUNS);
}
