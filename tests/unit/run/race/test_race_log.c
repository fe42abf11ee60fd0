#include "check.h"

#include <stdio.h>
#include <string.h>

#include "run/race/race_log.h"
#include "temporary.h"

/* A race of three variants in a run that ends. The next run opens the race's log. */
typedef struct fixture {
    char folder[TEMPORARY_BYTES];
    device_properties device;
    problem_plan problem;
    candidate variants[3];
    journal *journal;
    race_log log;
    at_error error;
} fixture;

static void open_log(fixture *f, const char *plan)
{
    const journal_facts facts = {.pattern = "copy",
                                 .device = &f->device,
                                 .nvrtc_version = "13.0",
                                 .problems = &f->problem,
                                 .problem_count = 1,
                                 .reference_hash = ""};
    assert_ok(journal_open(f->folder, &facts, &f->journal, &f->error), f->error);
    race_log_init(&f->log, f->journal, 0, plan);
}

static void reopen(fixture *f, const char *plan)
{
    journal_close(f->journal);
    open_log(f, plan);
}

static int set_up(void **state)
{
    static fixture f;
    f = (fixture){.device = {.kind = "cuda", .uuid = "GPU-1", .arch = "sm_90"}};
    temporary_make(f.folder);
    snprintf(f.device.limits.name, sizeof f.device.limits.name, "GPU");
    for (size_t i = 0; i < 3; i++) {
        f.variants[i].configuration = 10 * i;
        f.variants[i].key.bytes[0] = (unsigned char)i;
    }
    open_log(&f, "seed=1");
    *state = &f;
    return 0;
}

static int tear_down(void **state)
{
    fixture *f = *state;
    journal_close(f->journal);
    temporary_remove(f->folder);
    return 0;
}

static void keep_block(fixture *f, const race_question *q)
{
    int64_t samples_ns[] = {300, 100, 200};
    const device_event e = {.outcome = OUTCOME_OK,
                            .message = (char[]){""},
                            .samples_ns = samples_ns,
                            .sample_count = 3,
                            .ceiling_ns = 90,
                            .sm_clock_khz = 1.5e6};
    race_log_keep(&f->log, q, "race", &e);
}

TEST_IN(a_logged_block_is_found_by_its_number_and_order, set_up, tear_down)
{
    fixture *f = *state;
    candidate *order[] = {&f->variants[2], &f->variants[0], &f->variants[1]};
    candidate *other[] = {&f->variants[0], &f->variants[2], &f->variants[1]};
    race_question q = {.asked = "block", .number = 4, .variants = order, .count = 3};
    device_event e;
    keep_block(f, &q);
    reopen(f, "seed=1");
    assert_true(race_log_find(&f->log, &q, &e));
    assert_int_equal(e.sample_count, 3);
    assert_int_equal(e.samples_ns[0], 300);
    assert_int_equal(e.ceiling_ns, 90);
    assert_float_equal(e.sm_clock_khz, 1.5e6, 0);
    device_event_deinit(&e);
    q.number = 5;
    assert_false(race_log_find(&f->log, &q, &e));
    q = (race_question){.asked = "block", .number = 4, .variants = other, .count = 3};
    assert_false(race_log_find(&f->log, &q, &e));
    q = (race_question){.asked = "check", .number = 4, .variants = order, .count = 3};
    assert_false(race_log_find(&f->log, &q, &e));
}

TEST_IN(another_plan_is_another_race, set_up, tear_down)
{
    fixture *f = *state;
    candidate *order[] = {&f->variants[0], &f->variants[1], &f->variants[2]};
    const race_question q = {.asked = "block", .variants = order, .count = 3};
    device_event e;
    keep_block(f, &q);
    reopen(f, "seed=2");
    assert_false(race_log_find(&f->log, &q, &e));
}

TEST_IN(a_failed_block_names_the_culprit_by_its_place, set_up, tear_down)
{
    fixture *f = *state;
    candidate *order[] = {&f->variants[2], &f->variants[0], &f->variants[1]};
    const race_question q = {.asked = "block", .variants = order, .count = 3};
    const device_event failed = {
        .id = 2, .outcome = OUTCOME_TIMEOUT, .message = (char[]){"it hung"}};
    device_event e;
    race_log_keep(&f->log, &q, "finals", &failed);
    reopen(f, "seed=1");
    assert_true(race_log_find(&f->log, &q, &e));
    assert_int_equal(e.outcome, OUTCOME_TIMEOUT);
    assert_int_equal(e.id, 2);
    assert_string_equal(e.message, "it hung");
    device_event_deinit(&e);
}

TEST_IN(the_end_of_a_search_lists_the_tried_variants, set_up, tear_down)
{
    fixture *f = *state;
    const uint64_t tried[] = {20, 0, 10}, *found;
    size_t count;
    int end;
    assert_false(race_log_find_search(&f->log, &found, &count, &end));
    race_log_keep_search(&f->log, tried, 3, 2);
    reopen(f, "seed=1");
    assert_true(race_log_find_search(&f->log, &found, &count, &end));
    assert_int_equal(count, 3);
    assert_int_equal(found[0], 20);
    assert_int_equal(end, 2);
}

TEST_IN(a_finished_run_is_raced_again, set_up, tear_down)
{
    fixture *f = *state;
    candidate *order[] = {&f->variants[0], &f->variants[1], &f->variants[2]};
    const race_question q = {.asked = "block", .variants = order, .count = 3};
    device_event e;
    keep_block(f, &q);
    assert_ok(journal_finish(f->journal, &f->error), f->error);
    reopen(f, "seed=1");
    assert_false(race_log_find(&f->log, &q, &e));
}

TEST_IN(without_a_journal_nothing_is_kept_or_found, set_up, tear_down)
{
    fixture *f = *state;
    candidate *order[] = {&f->variants[0], &f->variants[1], &f->variants[2]};
    const race_question q = {.asked = "block", .variants = order, .count = 3};
    const uint64_t *found;
    size_t count;
    int end;
    device_event e;
    race_log_init(&f->log, NULL, 0, "seed=1");
    keep_block(f, &q);
    race_log_keep_search(&f->log, &(uint64_t){1}, 1, 0);
    assert_false(race_log_find(&f->log, &q, &e));
    assert_false(race_log_find_search(&f->log, &found, &count, &end));
    assert_int_equal(f->log.trouble.status, AT_OK);
}
