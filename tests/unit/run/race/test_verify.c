#include <string.h>

#include "run/tables.h"
#include "run/tune_state.h"
#include "script_fixture.h"

/* A race on two GPUs, in which variant 9 wins and variant 4 is second. On the second GPU,
 * finalists are numbered by their places in the race: the winner is number 0. */
typedef struct fixture {
    session session;
    pipeline *pipeline;
    race_log log;
    race_driver *driver;
    settings settings;
    run_summary summary;
    at_error error;
} fixture;

static int run_race(void **state)
{
    static fixture f;
    f = (fixture){.settings = {.search.seed = 1, .race.tie_margin = -1}};
    *state = &f;
    tables_open(&f.session);
    the_tables.time_ns[9] = 80000;
    the_tables.time_ns[4] = 85000;
    f.pipeline = pipeline_new(&f.session, &(pipeline_options){.samples = 3, .racing = 1.3});
    assert_ok(tables_try_all(f.pipeline, &f.session, &f.error), f.error);
    race_log_init(&f.log, NULL, 0, "a test's");
    assert_ok(
        race_driver_new(&f.session, f.pipeline, &f.log, NULL, 0, &f.settings, &f.driver, &f.error),
        f.error);
    for (bool finished = false; !finished;)
        assert_ok(race_driver_step(f.driver, &finished, &f.error), f.error);
    device_event opened;
    device_worker **other = &f.session.workers->others[0];
    assert_ok(device_worker_start(&(device_worker_options){.spec = "cuda:1"}, other, &f.error),
              f.error);
    assert_ok(device_worker_take(*other, 0, &opened, &f.error), f.error);
    device_event_deinit(&opened);
    f.session.workers->other_count = 1;
    strcpy(f.session.workers->other_properties[0].spec, "cuda:1");
    strcpy(f.session.workers->other_properties[0].uuid, "GPU-1");
    return 0;
}

static int end_race(void **state)
{
    fixture *f = *state;
    device_worker_free(f->session.workers->others[0]);
    f->session.workers->other_count = 0;
    race_driver_free(f->driver);
    pipeline_free(f->pipeline);
    run_summary_deinit(&f->summary);
    tables_close(&f->session);
    return 0;
}

static const char *verify(fixture *f)
{
    assert_ok(verify_elsewhere(&f->session, f->driver, &f->settings, &f->summary, &f->error),
              f->error);
    assert_int_equal(f->summary.warning_count, 1);
    return f->summary.warnings[0];
}

TEST_IN(a_winner_that_wins_on_the_other_gpu_is_verified, run_race, end_race)
{
    fixture *f = *state;
    assert_string_equal(verify(f),
                        "verified: on 1 of 1 other GPUs no finalist is faster than the winner");
}

TEST_IN(a_finalist_faster_on_the_other_gpu_is_named_with_its_lead, run_race, end_race)
{
    fixture *f = *state;
    char text[CONFIGURATION_BYTES];
    uint16_t indices[PATTERN_MAX_PARAMETERS];
    the_tables.elsewhere_ns[0] = 100000;
    the_tables.elsewhere_ns[1] = 80000;
    const char *said = verify(f);
    assert_non_null(strstr(said, "on cuda:1 (GPU-1), "));
    assert_non_null(strstr(said, "is 25.00 % faster than the winner"));
    space_at(f->session.space, 4, indices);
    script_format_configuration(f->session.script, indices, text, sizeof text);
    assert_non_null(strstr(said, text));
}

TEST_IN(a_winner_that_fails_on_the_other_gpu_is_reported_with_its_outcome, run_race, end_race)
{
    fixture *f = *state;
    the_tables.blocks[0] = OUTCOME_CRASHED;
    assert_non_null(
        strstr(verify(f), "could not be verified on cuda:1 (GPU-1): it ended as crashed"));
}

TEST_IN(a_lost_gpu_verifies_nothing_and_is_no_error, run_race, end_race)
{
    fixture *f = *state;
    the_tables.calls = 0;
    the_tables.fail_at = 1;
    the_tables.failure = AT_DEVICE;
    const char *said = verify(f);
    assert_non_null(strstr(said, "could not be verified on cuda:1 (GPU-1): as the table says"));
}

TEST_IN(without_another_gpu_nothing_is_reported, run_race, end_race)
{
    fixture *f = *state;
    f->session.workers->other_count = 0;
    assert_ok(verify_elsewhere(&f->session, f->driver, &f->settings, &f->summary, &f->error),
              f->error);
    assert_int_equal(f->summary.warning_count, 0);
}
