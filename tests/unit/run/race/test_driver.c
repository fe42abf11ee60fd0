#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "run/race/driver.h"
#include "run/tables.h"
#include "script_fixture.h"

typedef struct fixture {
    session session;
    pipeline *pipeline;
    race_log log;
    settings settings;
    race_driver *driver;
    bool deferred, stopped; /* the ragged check is deferred; the race ends at once */
    size_t most;            /* the most entrants; 0 for no limit */
    int64_t until_ns;       /* time limit; 0 for no limit */
    bool two;               /* the race runs on two GPUs */
    at_error error;
} fixture;

static int open_all(void **state)
{
    static fixture f;
    f = (fixture){.settings = {.search.seed = 1, .race.tie_margin = -1}};
    tables_open(&f.session);
    *state = &f;
    return 0;
}

static int close_all(void **state)
{
    fixture *f = *state;
    race_driver_free(f->driver);
    pipeline_free(f->pipeline);
    device_worker_free(f->session.workers->others[0]);
    f->session.workers->other_count = 0;
    tables_close(&f->session);
    return 0;
}

static void open_another(session *s)
{
    at_error error = {0};
    device_event opened;
    device_worker **other = &s->workers->others[0];
    assert_ok(device_worker_start(&(device_worker_options){.spec = "cuda:1"}, other, &error),
              error);
    assert_ok(device_worker_take(*other, 0, &opened, &error), error);
    device_event_deinit(&opened);
    assert_ok(device_worker_setup(*other, NULL, NULL, 1, &error), error);
    s->workers->other_count = 1;
    strcpy(s->workers->other_properties[0].spec, "cuda:1");
}

static at_status run_race(fixture *f)
{
    if (f->two)
        open_another(&f->session);
    f->pipeline = pipeline_new(
        &f->session,
        &(pipeline_options){.samples = 3, .racing = 1.3, .defers_ragged = f->deferred});
    assert_ok(tables_try_all(f->pipeline, &f->session, &f->error), f->error);
    race_log_init(&f->log, NULL, 0, "a test's");
    at_status status = race_driver_new(&f->session, f->pipeline, &f->log, NULL, f->most,
                                       &f->settings, &f->driver, &f->error);
    if (!status && f->until_ns)
        race_driver_hurry(f->driver, f->until_ns);
    if (!status && f->stopped)
        race_driver_stop(f->driver);
    bool finished = status != AT_OK;
    while (!status && !finished)
        status = race_driver_step(f->driver, &finished, &f->error);
    return status;
}

static uint64_t winner(fixture *f)
{
    const race_result *r = race_driver_result(f->driver);
    assert_true(r->has_winner);
    return race_driver_candidate(f->driver, r->winner)->id;
}

TEST_IN(the_fastest_wins, open_all, close_all)
{
    fixture *f = *state;
    the_tables.time_ns[9] = 80000;
    assert_ok(run_race(f), f->error);
    assert_int_equal(winner(f), 9);
    assert_true(the_tables.sampled_blocks > 0);
}

TEST_IN(a_variant_wrong_on_fresh_data_does_not_win, open_all, close_all)
{
    fixture *f = *state;
    the_tables.time_ns[9] = 80000;
    the_tables.time_ns[4] = 85000;
    the_tables.rechecks[9] = OUTCOME_WRONG_RESULT;
    assert_ok(run_race(f), f->error);
    assert_int_equal(winner(f), 4);
    const candidate *loser = pipeline_candidates(f->pipeline)->items[9];
    assert_int_equal(loser->found.outcome, OUTCOME_WRONG_RESULT);
    assert_int_equal(race_driver_get_state(f->driver)->excluded, 1);
}

TEST_IN(a_variant_that_crashes_in_a_block_is_excluded_and_the_race_goes_on, open_all, close_all)
{
    fixture *f = *state;
    the_tables.time_ns[9] = 80000;
    the_tables.time_ns[4] = 85000;
    the_tables.blocks[9] = OUTCOME_CRASHED;
    assert_ok(run_race(f), f->error);
    assert_int_equal(winner(f), 4);
    assert_int_equal(pipeline_candidates(f->pipeline)->items[9]->found.outcome, OUTCOME_CRASHED);
}

TEST_IN(a_variant_wrong_on_a_ragged_problem_leaves_the_race_when_loaded, open_all, close_all)
{
    fixture *f = *state;
    the_tables.time_ns[0] = 80000;
    the_tables.time_ns[4] = 85000;
    the_tables.ragged[0] = OUTCOME_WRONG_RESULT;
    f->deferred = true;
    f->session.slots = 2;
    assert_ok(run_race(f), f->error);
    assert_int_equal(winner(f), 4);
    const candidate *const *all = (const candidate *const *)pipeline_candidates(f->pipeline)->items;
    assert_int_equal(all[0]->found.outcome, OUTCOME_WRONG_RESULT);
    assert_int_equal(all[4]->ragged, RAGGED_PASSED);
}

/* Forty variants are about equally fast. The probe also samples some variants 10 % slower. */
TEST_IN(only_finalists_are_compiled_and_checked_for_ragged_problems, open_all, close_all)
{
    fixture *f = *state;
    tables_close(&f->session);
    tables_open_with(&f->session, "../../lua/rgb.lua");
    f->session.slots = 2;
    f->deferred = true;
    uint64_t count = space_count(f->session.space);
    assert_true(count > 255);
    for (uint64_t i = 0; i < count; i++)
        the_tables.time_ns[i] = i < 40 ? 100000 + (int64_t)i : 110000 + (int64_t)i;
    the_tables.ragged[0] = OUTCOME_WRONG_RESULT;
    assert_ok(run_race(f), f->error);
    const candidates *all = pipeline_candidates(f->pipeline);
    assert_int_equal(all->items[0]->found.outcome, OUTCOME_WRONG_RESULT);
    assert_true(the_tables.held > the_tables.unchecked + 50);
    size_t checked = 0;
    for (size_t i = 0; i < all->count; i++)
        checked += !candidate_waits(all->items[i]);
    assert_true(checked <= race_defaults().finalists + 2); /* plus the wrong one, the default */
    assert_int_equal(
        race_driver_candidate(f->driver, race_driver_result(f->driver)->winner)->ragged,
        RAGGED_PASSED);
}

TEST_IN(the_winner_of_a_stopped_race_is_checked, open_all, close_all)
{
    fixture *f = *state;
    the_tables.time_ns[9] = 80000;
    the_tables.time_ns[4] = 85000;
    the_tables.rechecks[9] = OUTCOME_WRONG_RESULT;
    f->stopped = true;
    assert_ok(run_race(f), f->error);
    assert_int_equal(the_tables.sampled_blocks, 0);
    assert_int_equal(winner(f), 4);
}

/* Makes all variants but two much slower. Returns the number of sampled entrants. */
static uint64_t entrants_sampled(fixture *f, int64_t second_ns)
{
    for (int i = 0; i < TABLES_MOST; i++)
        the_tables.time_ns[i] = i == 3 ? 100000 : i == 5 ? second_ns : 900000;
    assert_ok(run_race(f), f->error);
    assert_int_equal(winner(f), 3);
    return the_tables.held;
}

TEST_IN(a_quick_run_races_only_variants_near_the_best, open_all, close_all)
{
    fixture *f = *state;
    f->settings.search.has_effort = true;
    f->settings.search.effort = EFFORT_QUICK;
    the_tables.more_ns = 5000;
    assert_int_equal(entrants_sampled(f, 120000), 1);
}

TEST_IN(a_quick_run_races_variants_within_the_spread_of_samples, open_all, close_all)
{
    fixture *f = *state;
    f->settings.search.has_effort = true;
    f->settings.search.effort = EFFORT_QUICK;
    the_tables.more_ns = 1000 * 9; /* samples of slow variants differ by 1 % */
    assert_int_equal(entrants_sampled(f, 105000), 2);
}

TEST_IN(a_quick_run_does_not_race_variants_that_cannot_be_fastest, open_all, close_all)
{
    fixture *f = *state;
    f->settings.search.has_effort = true;
    f->settings.search.effort = EFFORT_QUICK;
    assert_int_equal(entrants_sampled(f, 105000), 1);
}

TEST_IN(a_quick_run_checks_the_next_winner_if_the_first_is_wrong, open_all, close_all)
{
    fixture *f = *state;
    f->settings.search.has_effort = true;
    f->settings.search.effort = EFFORT_QUICK;
    for (int i = 0; i < TABLES_MOST; i++)
        the_tables.time_ns[i] = 100000 + 1000 * i;
    the_tables.rechecks[0] = OUTCOME_WRONG_RESULT;
    assert_ok(run_race(f), f->error);
    assert_int_equal(winner(f), 1);
    assert_int_equal(the_tables.rechecked, 2);
}

TEST_IN(a_race_with_few_places_has_the_fastest_variants, open_all, close_all)
{
    fixture *f = *state;
    for (int i = 0; i < TABLES_MOST; i++)
        the_tables.time_ns[i] = 100000 + 100 * i;
    f->most = 3;
    assert_ok(run_race(f), f->error);
    assert_int_equal(the_tables.held, 3);
}

TEST_IN(after_the_time_is_up_the_winner_alone_is_checked, open_all, close_all)
{
    fixture *f = *state;
    for (int i = 0; i < TABLES_MOST; i++)
        the_tables.time_ns[i] = 100000 + 100 * i;
    f->until_ns = clock_now_ns();
    assert_ok(run_race(f), f->error);
    assert_int_equal(winner(f), 0);
    assert_int_equal(the_tables.rechecked, 1);
}

TEST_IN(other_runs_race_variants_within_a_third_of_the_best, open_all, close_all)
{
    fixture *f = *state;
    f->settings.search.has_effort = true;
    f->settings.search.effort = EFFORT_NORMAL;
    assert_int_equal(entrants_sampled(f, 120000), 2);
}

static const race_standing *standing(fixture *f, uint64_t id)
{
    const race_result *r = race_driver_result(f->driver);
    for (size_t i = 0; i < r->count; i++)
        if (race_driver_candidate(f->driver, r->ranking[i].entrant)->id == id)
            return &r->ranking[i];
    fail();
    return NULL;
}

TEST_IN(another_gpu_samples_every_other_block_until_the_finals, open_all, close_all)
{
    fixture *f = *state;
    for (int i = 0; i < TABLES_MOST; i++)
        the_tables.time_ns[i] = 100000 + 10 * i;
    f->two = true;
    assert_ok(run_race(f), f->error);
    size_t finals = standing(f, winner(f))->time.count;
    assert_int_equal(winner(f), 0);
    assert_int_equal(race_driver_result(f->driver)->blocks, the_tables.sampled_blocks);
    assert_true(the_tables.sampled_elsewhere > 0);
    assert_int_equal(2 * the_tables.sampled_elsewhere, the_tables.sampled_blocks - finals);
}

/* Reported times are from the first GPU. On the second GPU every variant has another time. */
TEST_IN(a_slower_second_gpu_changes_no_reported_time, open_all, close_all)
{
    fixture *f = *state;
    for (int i = 0; i < TABLES_MOST; i++) {
        the_tables.time_ns[i] = 100000 + 2000 * i;
        the_tables.elsewhere_ns[i] = 3 * the_tables.time_ns[i];
    }
    f->two = true;
    assert_ok(run_race(f), f->error);
    assert_true(the_tables.sampled_elsewhere > 0);
    assert_int_equal(winner(f), 0);
    const race_standing *beaten = standing(f, 5);
    assert_int_equal(beaten->left_at, RACE_HEATS);
    assert_true(llabs(beaten->time.median_ns - the_tables.time_ns[5]) < 100);
}

TEST_IN(a_failure_on_another_gpu_is_judged_on_the_first, open_all, close_all)
{
    fixture *f = *state;
    the_tables.time_ns[9] = 80000;
    the_tables.time_ns[4] = 80800;
    the_tables.blocks_elsewhere = OUTCOME_CRASHED;
    f->two = true;
    assert_ok(run_race(f), f->error);
    assert_int_equal(winner(f), 9);
    assert_int_equal(the_tables.sampled_elsewhere, 1);
    assert_int_equal(race_driver_get_state(f->driver)->excluded, 0);
}

TEST_IN(without_a_working_variant_there_is_no_race, open_all, close_all)
{
    fixture *f = *state;
    for (int i = 0; i < TABLES_MOST; i++)
        the_tables.works[i] = OUTCOME_CRASHED;
    assert_int_equal(run_race(f), AT_NOT_FOUND);
    assert_null(f->driver);
}

TEST_IN(machine_code_that_was_dropped_is_compiled_again_for_the_race, open_all, close_all)
{
    fixture *f = *state;
    f->pipeline = pipeline_new(&f->session, &(pipeline_options){.samples = 3, .racing = 1.3});
    assert_ok(tables_try_all(f->pipeline, &f->session, &f->error), f->error);
    const candidates *all = pipeline_candidates(f->pipeline);
    for (size_t i = 0; i < all->count; i++)
        candidate_drop_images(all->items[i]);
    the_tables.compiled = 0;
    race_log_init(&f->log, NULL, 0, "a test's");
    assert_ok(race_driver_new(&f->session, f->pipeline, &f->log, NULL, 0, &f->settings, &f->driver,
                              &f->error),
              f->error);
    bool finished = false;
    while (!finished)
        assert_ok(race_driver_step(f->driver, &finished, &f->error), f->error);
    assert_true(the_tables.compiled > 0);
    assert_int_equal(the_tables.held, the_tables.compiled);
    assert_int_equal(winner(f), 0);
}

/* Each call fails in turn. The run must return the failure and keep earlier measurements. */
TEST_IN(a_failure_in_any_place_leaves_a_result, open_all, close_all)
{
    fixture *f = *state;
    bool reached = true;
    for (int place = 1; reached; place += 3) {
        fixture one = {.settings = f->settings};
        tables_open(&one.session);
        one.pipeline = pipeline_new(&one.session, &(pipeline_options){.samples = 3, .racing = 1.3});
        assert_ok(tables_try_all(one.pipeline, &one.session, &one.error), one.error);
        race_log_init(&one.log, NULL, 0, "a test's");
        assert_ok(race_driver_new(&one.session, one.pipeline, &one.log, NULL, 0, &one.settings,
                                  &one.driver, &one.error),
                  one.error);
        the_tables.calls = 0;
        the_tables.fail_at = place;
        the_tables.failure = AT_DEVICE;
        bool finished = false;
        at_status status = AT_OK;
        while (!status && !finished)
            status = race_driver_step(one.driver, &finished, &one.error);
        reached = the_tables.calls >= place;
        assert_int_equal(status, reached ? AT_DEVICE : AT_OK);
        race_driver_stop(one.driver);
        assert_true(race_driver_result(one.driver)->has_winner);
        race_driver_free(one.driver);
        pipeline_free(one.pipeline);
        tables_close(&one.session);
    }
}
