#include <stdlib.h>
#include <string.h>

#include "run/tables.h"
#include "run/variant/course.h"
#include "script_fixture.h"

typedef struct fixture {
    session session;
    pipeline *pipeline;
    at_error error;
} fixture;

static int open_session(void **state)
{
    static fixture f;
    f = (fixture){0};
    tables_open(&f.session);
    *state = &f;
    return 0;
}

static int close_session(void **state)
{
    fixture *f = *state;
    pipeline_free(f->pipeline);
    tables_close(&f->session);
    return 0;
}

static void start_with(fixture *f, pipeline_options o)
{
    pipeline_free(f->pipeline);
    o.samples = 3;
    f->pipeline = pipeline_new(&f->session, &o);
}

static void start(fixture *f)
{
    start_with(f, (pipeline_options){0});
}

/* Asserts that the pipeline has returned each candidate once. */
static void expect_all_finished(fixture *f)
{
    const candidates *all = pipeline_candidates(f->pipeline);
    size_t taken = 0;
    bool seen[TABLES_MOST] = {false};
    for (candidate *c; (c = pipeline_take(f->pipeline)); taken++) {
        assert_true(candidate_is_finished(c));
        assert_false(seen[c->id]);
        seen[c->id] = true;
    }
    assert_int_equal(taken, space_count(f->session.space));
    assert_int_equal(all->count, taken);
    assert_int_equal(pipeline_in_flight(f->pipeline), 0);
}

TEST_IN(every_configuration_ends_once_with_its_own_outcome, open_session, close_session)
{
    fixture *f = *state;
    the_tables.compiles[1] = COMPILE_ERROR;
    the_tables.compiles[2] = COMPILE_TIMEOUT;
    the_tables.works[3] = OUTCOME_WRONG_RESULT;
    the_tables.works[4] = OUTCOME_CRASHED;
    for (int backwards = 0; backwards < 2; backwards++) {
        the_tables.last_first = backwards;
        the_tables.tried = 0;
        start_with(f, (pipeline_options){.is_blind = backwards});
        if (backwards) /* the first pipeline took the answer to the set-up */
            assert_ok(device_worker_setup(f->session.workers->device, NULL, NULL, 1, &f->error),
                      f->error);
        assert_ok(tables_try_all(f->pipeline, &f->session, &f->error), f->error);
        expect_all_finished(f);
        candidate *const *all = pipeline_candidates(f->pipeline)->items;
        assert_int_equal(all[0]->found.outcome, OUTCOME_OK);
        assert_int_equal(all[0]->found.sample_count, 3);
        assert_int_equal(measurement_fastest_ns(&all[5]->found), 105000);
        assert_int_equal(all[1]->found.outcome, OUTCOME_COMPILE_ERROR);
        assert_string_equal(all[1]->found.message, "the table refuses it");
        assert_int_equal(all[2]->found.outcome, OUTCOME_TIMEOUT);
        assert_int_equal(all[3]->found.outcome, OUTCOME_WRONG_RESULT);
        assert_null(all[3]->images[0]);
        assert_int_equal(all[4]->found.outcome, OUTCOME_CRASHED);
        /* A variant that does not compile is not sent to the device. */
        assert_int_equal(the_tables.tried, space_count(f->session.space) - 2);
    }
}

/* There are fewer workers than requests to the device, and then more workers than variants. */
TEST_IN(one_and_sixteen_compile_workers_give_the_same_outcomes, open_session, close_session)
{
    fixture *f = *state;
    const size_t widths[] = {1, 16};
    for (size_t i = 0; i < 2; i++) {
        tables_close(&f->session);
        tables_open(&f->session);
        the_tables.workers = widths[i];
        the_tables.slow = true;
        the_tables.compiles[1] = COMPILE_ERROR;
        the_tables.works[3] = OUTCOME_WRONG_RESULT;
        the_tables.most_compiling = 0;
        start(f);
        assert_ok(tables_try_all(f->pipeline, &f->session, &f->error), f->error);
        expect_all_finished(f);
        const candidates *all = pipeline_candidates(f->pipeline);
        for (size_t c = 0; c < all->count; c++)
            assert_int_equal(all->items[c]->found.outcome, c == 1   ? OUTCOME_COMPILE_ERROR
                                                           : c == 3 ? OUTCOME_WRONG_RESULT
                                                                    : OUTCOME_OK);
        assert_in_range(the_tables.most_compiling, widths[i], widths[i] + 4);
    }
}

TEST_IN(a_learning_search_runs_ahead_by_a_quarter_of_its_tries, open_session, close_session)
{
    fixture *f = *state;
    compile_pool *pool = f->session.workers->pool;
    start(f);
    const size_t busy = pipeline_room(f->pipeline), groups = compile_group_width(pool);
    assert_true(busy >= compile_width(pool) && busy + 1 < groups);
    f->pipeline->state.finished = 4 * busy;
    assert_int_equal(pipeline_room(f->pipeline), busy);
    f->pipeline->state.finished = 4 * (busy + 1);
    assert_int_equal(pipeline_room(f->pipeline), busy + 1);
    f->pipeline->state.finished = 100 * groups;
    assert_int_equal(pipeline_room(f->pipeline), groups);
}

TEST_IN(candidates_are_counted_by_stage, open_session, close_session)
{
    fixture *f = *state;
    bool seen[CANDIDATE_STAGES] = {false};
    the_tables.slow = true;
    start(f);
    const candidates *all = pipeline_candidates(f->pipeline);
    for (uint64_t next = 0; next < space_count(f->session.space);) {
        if (pipeline_room(f->pipeline))
            assert_ok(pipeline_add(f->pipeline, next++, &f->error), f->error);
        else
            assert_ok(pipeline_step(f->pipeline, 0, &f->error), f->error);
        size_t at[CANDIDATE_STAGES] = {0};
        for (size_t i = 0; i < all->count; i++)
            at[all->items[i]->stage]++;
        assert_memory_equal(at, all->at, sizeof at);
        for (size_t s = 0; s < CANDIDATE_STAGES; s++)
            seen[s] = seen[s] || at[s];
        assert_int_equal(pipeline_in_flight(f->pipeline), all->count - at[CANDIDATE_FINISHED]);
    }
    assert_true(seen[CANDIDATE_COMPILING] && seen[CANDIDATE_WAITING] && seen[CANDIDATE_TRYING]);
    pipeline_abandon_queue(f->pipeline);
    assert_true(all->at[CANDIDATE_ABANDONED] > 0);
    while (pipeline_in_flight(f->pipeline))
        assert_ok(pipeline_step(f->pipeline, 0, &f->error), f->error);
    assert_int_equal(all->at[CANDIDATE_ABANDONED] + all->at[CANDIDATE_FINISHED], all->count);
}

TEST_IN(variants_are_tried_in_the_order_of_requests, open_session, close_session)
{
    fixture *f = *state;
    the_tables.last_first = true;
    start_with(f, (pipeline_options){.is_blind = true});
    assert_ok(device_worker_setup(f->session.workers->device, NULL, NULL, 1, &f->error), f->error);
    assert_ok(tables_try_all(f->pipeline, &f->session, &f->error), f->error);
    uint64_t next = 0;
    for (candidate *c; (c = pipeline_take(f->pipeline)); next++)
        assert_int_equal(c->id, next);
    assert_int_equal(next, space_count(f->session.space));
}

TEST_IN(replaced_workers_are_counted, open_session, close_session)
{
    fixture *f = *state;
    the_tables.restarts = 2;
    start(f);
    assert_ok(tables_try_all(f->pipeline, &f->session, &f->error), f->error);
    assert_int_equal(pipeline_get_state(f->pipeline)->restarts, 2);
}

TEST_IN(every_failure_is_returned_and_leaks_nothing, open_session, close_session)
{
    fixture *f = *state;
    int place = 1;
    for (at_status status = AT_INTERNAL; status; place++) {
        session s;
        pipeline *p;
        tables_open(&s);
        p = pipeline_new(&s, &(pipeline_options){.samples = 3});
        the_tables.fail_at = place;
        the_tables.failure = place % 2 ? AT_NO_MEMORY : AT_DEVICE;
        status = tables_try_all(p, &s, &f->error);
        /* The loop ends when `place` exceeds the number of calls, so that no call failed. */
        assert_int_equal(status, the_tables.calls < place ? AT_OK : the_tables.failure);
        pipeline_free(p);
        tables_close(&s);
    }
    assert_true(place > 4 * 20); /* at least four calls for each of twenty variants */
}

TEST_IN(deferred_ragged_problems_are_compiled_only_for_entrants, open_session, close_session)
{
    fixture *f = *state;
    tables_close(&f->session);
    tables_open_with(&f->session, "luma.lua");
    f->session.slots = 2;
    start_with(f, (pipeline_options){.racing = 1.3, .defers_ragged = true});
    assert_ok(tables_try_all(f->pipeline, &f->session, &f->error), f->error);
    const pipeline_state *p = pipeline_get_state(f->pipeline);
    size_t compiled = the_tables.compiled;
    assert_int_equal(compiled, p->finished - p->twins);
    candidate *c = pipeline_candidates(f->pipeline)->items[0];
    assert_true(candidate_waits(c));
    assert_ok(pipeline_recompile(f->pipeline, c, true, &f->error), f->error);
    while (pipeline_in_flight(f->pipeline))
        assert_ok(pipeline_step(f->pipeline, 10, &f->error), f->error);
    assert_false(candidate_waits(c));
    assert_int_equal(the_tables.compiled, compiled + 1);
    assert_int_equal(c->found.outcome, OUTCOME_OK);
}

/* Starts a pipeline with a slow device. Ragged problems are checked in the race. */
static void start_with_ragged(fixture *f)
{
    tables_close(&f->session);
    tables_open_with(&f->session, "luma.lua");
    f->session.slots = 2;
    the_tables.slow = true;
    start_with(f, (pipeline_options){.racing = 1.3, .defers_ragged = true, .is_blind = true});
}

/* The first three variants are the fastest. Variant 0 does not compile for the ragged problem. */
TEST_IN(idle_compile_workers_prepare_likely_entrants, open_session, close_session)
{
    fixture *f = *state;
    enum { PREPARED = 3 };
    start_with_ragged(f);
    const candidates *all = pipeline_candidates(f->pipeline);
    uint64_t count = space_count(f->session.space);
    for (uint64_t i = 0; i < count; i++)
        assert_ok(pipeline_add(f->pipeline, i, &f->error), f->error);
    while (pipeline_in_flight(f->pipeline)) {
        assert_ok(pipeline_step(f->pipeline, 0, &f->error), f->error);
        if (!candidate_is_finished(all->items[PREPARED]))
            continue;
        the_tables.compiles[0] = COMPILE_ERROR;
        pipeline_expect_race(f->pipeline, PREPARED, false);
    }
    size_t followers = pipeline_get_state(f->pipeline)->twins;
    /* The fourth variant is prepared in place of the first variant. */
    assert_int_equal(the_tables.compiled, count - followers + PREPARED + 1);
    assert_int_equal(all->items[0]->found.outcome, OUTCOME_COMPILE_ERROR);
    for (uint64_t i = 1; i < count; i++)
        assert_int_equal(candidate_waits(all->items[i]), i > PREPARED);
}

/* From the twentieth variant on, each variant is faster than all earlier ones. */
TEST_IN(a_variant_faster_than_the_prepared_variants_is_prepared, open_session, close_session)
{
    fixture *f = *state;
    enum { PREPARED = 3, LATE = 20 };
    start_with_ragged(f);
    const candidates *all = pipeline_candidates(f->pipeline);
    uint64_t count = space_count(f->session.space);
    assert_in_range(count, LATE + PREPARED + 1, TABLES_MOST);
    for (uint64_t i = LATE; i < count; i++)
        the_tables.time_ns[i] = (int64_t)(50000 - 100 * i);
    for (uint64_t i = 0; i < count; i++)
        assert_ok(pipeline_add(f->pipeline, i, &f->error), f->error);
    while (pipeline_in_flight(f->pipeline)) {
        assert_ok(pipeline_step(f->pipeline, 0, &f->error), f->error);
        pipeline_expect_race(f->pipeline, PREPARED, false);
    }
    size_t prepared = 0;
    for (uint64_t i = LATE; i < count; i++)
        prepared += all->items[i]->ragged == RAGGED_UNCHECKED;
    assert_true(prepared > 0);
}

TEST_IN(variants_that_wait_for_the_device_when_time_is_up_are_not_tried, open_session,
        close_session)
{
    fixture *f = *state;
    start(f);
    for (uint64_t i = 0; i < 4; i++)
        assert_ok(pipeline_add(f->pipeline, i, &f->error), f->error);
    pipeline_abandon_queue(f->pipeline);
    while (pipeline_in_flight(f->pipeline))
        assert_ok(pipeline_step(f->pipeline, 0, &f->error), f->error);
    assert_int_equal(the_tables.tried, 0);
    assert_null(pipeline_take(f->pipeline));
}

TEST_IN(compilations_are_not_waited_for_when_time_is_up, open_session, close_session)
{
    fixture *f = *state;
    start(f);
    for (uint64_t i = 0; i < 4; i++)
        assert_ok(pipeline_add(f->pipeline, i, &f->error), f->error);
    assert_int_equal(pipeline_in_flight(f->pipeline), 4);
    pipeline_abandon_queue(f->pipeline);
    assert_int_equal(pipeline_in_flight(f->pipeline), 0);
    /* A late result does not affect variants that are compiled afterwards. */
    assert_ok(pipeline_add(f->pipeline, 4, &f->error), f->error);
    assert_int_equal(pipeline_in_flight(f->pipeline), 1);
    for (int i = 0; i < 8; i++)
        assert_ok(pipeline_step(f->pipeline, 0, &f->error), f->error);
    assert_int_equal(pipeline_in_flight(f->pipeline), 0);
    assert_null(pipeline_take(f->pipeline));
}

TEST_IN(an_event_that_answers_nothing_is_an_error, open_session, close_session)
{
    fixture *f = *state;
    static const device_variant none;
    start(f);
    assert_ok(device_worker_try(f->session.workers->device, 7, &none, 3, &f->error), f->error);
    at_status status = AT_OK;
    for (int i = 0; i < 4 && !status; i++)
        status = pipeline_step(f->pipeline, 0, &f->error);
    assert_int_equal(status, AT_INTERNAL);
}

TEST_IN(variants_in_the_journal_are_not_tried_again_and_keep_their_times, open_session,
        close_session)
{
    fixture *f = *state;
    char folder[TEMPORARY_BYTES];
    temporary_make(folder);
    journal *j = tables_journal(&f->session, folder);
    the_tables.works[3] = OUTCOME_WRONG_RESULT;
    start_with(f, (pipeline_options){.journal = j});
    assert_ok(tables_try_all(f->pipeline, &f->session, &f->error), f->error);
    journal_close(j);
    j = tables_journal(&f->session, folder);
    the_tables.compiled = the_tables.tried = 0;
    start_with(f, (pipeline_options){.journal = j});
    assert_ok(tables_try_all(f->pipeline, &f->session, &f->error), f->error);
    assert_int_equal(the_tables.compiled, 0);
    assert_int_equal(the_tables.tried, 0);
    expect_all_finished(f);
    const candidates *all = pipeline_candidates(f->pipeline);
    assert_int_equal(pipeline_get_state(f->pipeline)->resumed, all->count);
    for (size_t i = 0; i < all->count; i++) {
        assert_true(all->items[i]->from_journal);
        assert_int_equal(all->items[i]->found.compile_ns, 1000000);
        assert_int_equal(all->items[i]->found.check_ns, 5000);
    }
    assert_int_equal(all->items[3]->found.outcome, OUTCOME_WRONG_RESULT);
    assert_int_equal(all->items[5]->found.samples_ns[1], 105001);
    pipeline_free(f->pipeline);
    f->pipeline = NULL;
    journal_close(j);
    temporary_remove(folder);
}

/* Checks leaders until one of them is right. */
static void check_leaders(fixture *f)
{
    pipeline_abandon_queue(f->pipeline);
    pipeline_expect_race(f->pipeline, 0, true);
    do
        assert_ok(pipeline_step(f->pipeline, 0, &f->error), f->error);
    while (pipeline_in_flight(f->pipeline));
}

/* Two of the variants fail on the ragged problem. The fastest is wrong there, and another does
 * not compile. A proof rejects a third variant. */
TEST_IN(a_check_on_ragged_problems_decides_and_is_journaled, open_session, close_session)
{
    fixture *f = *state;
    char folder[TEMPORARY_BYTES];
    temporary_make(folder);
    tables_close(&f->session);
    tables_open_with(&f->session, "luma.lua");
    f->session.slots = 2;
    for (int64_t i = 0; i < 3; i++)
        the_tables.time_ns[i] = 70000 - 10000 * i;
    for (int again = 0; again < 2; again++) {
        journal *j = tables_journal(&f->session, folder);
        start_with(f, (pipeline_options){.journal = j, .racing = 1.3, .defers_ragged = true});
        the_tables.compiled = the_tables.tried = 0;
        assert_ok(tables_try_all(f->pipeline, &f->session, &f->error), f->error);
        candidate *const *all = pipeline_candidates(f->pipeline)->items;
        the_tables.ragged[1] = OUTCOME_WRONG_RESULT;
        the_tables.compiles[2] = COMPILE_ERROR;
        check_leaders(f);
        if (!again) {
            candidate_judge(all[3], &(proof){.verdict = PROOF_WRONG});
            course_keep_check(f->pipeline, all[3], "proof");
        }
        assert_int_equal(the_tables.checked, 2);
        assert_ptr_equal(pipeline_get_state(f->pipeline)->leader, all[0]);
        assert_int_equal(all[0]->ragged, RAGGED_PASSED);
        assert_int_equal(all[0]->found.outcome, OUTCOME_OK);
        assert_int_equal(all[1]->found.outcome, OUTCOME_WRONG_RESULT);
        assert_int_equal(all[2]->found.outcome, OUTCOME_COMPILE_ERROR);
        assert_int_equal(all[3]->found.outcome, OUTCOME_WRONG_RESULT);
        assert_int_equal(pipeline_get_state(f->pipeline)->failed, 3);
        assert_true(candidate_waits(all[4]));
        if (again)
            assert_int_equal(the_tables.compiled + the_tables.tried, 0);
        pipeline_free(f->pipeline);
        f->pipeline = NULL;
        journal_close(j);
    }
    temporary_remove(folder);
}

TEST_IN(a_rejected_variant_is_no_longer_the_best, open_session, close_session)
{
    fixture *f = *state;
    tables_close(&f->session);
    tables_open_with(&f->session, "luma.lua");
    f->session.slots = 2;
    the_tables.time_ns[1] = 50000;
    the_tables.ragged[1] = OUTCOME_WRONG_RESULT;
    start_with(f, (pipeline_options){.racing = 1.3, .defers_ragged = true});
    assert_ok(tables_try_all(f->pipeline, &f->session, &f->error), f->error);
    assert_int_equal(pipeline_get_state(f->pipeline)->leader->fastest_ns, 50000);
    check_leaders(f);
    assert_int_equal(pipeline_get_state(f->pipeline)->leader->fastest_ns, 100000);
}
