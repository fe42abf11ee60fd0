#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "run/race/driver.h"
#include "run/tables.h"
#include "script_fixture.h"

/* tests/fixtures/twins.lua has four launches. Each launch has two sources, which differ in a name.
 * Each source has three values of `note`, which are not part of the source. */
enum { LAUNCHES = 4, SOURCES = 2 * LAUNCHES, NOTES = 3, CONFIGURATIONS = SOURCES * NOTES };

typedef struct fixture {
    session session;
    pipeline *pipeline;
    char folder[TEMPORARY_BYTES];
    at_error error;
} fixture;

static int open_session(void **state)
{
    static fixture f;
    f = (fixture){0};
    temporary_make(f.folder);
    tables_open_with(&f.session, "twins.lua");
    *state = &f;
    return 0;
}

static int close_session(void **state)
{
    fixture *f = *state;
    pipeline_free(f->pipeline);
    tables_close(&f->session);
    temporary_remove(f->folder);
    return 0;
}

static const candidates *try_all(fixture *f, journal *log)
{
    if (f->pipeline) /* the first pipeline took the answer to the set-up */
        assert_ok(device_worker_setup(f->session.workers->device, NULL, NULL, 1, &f->error),
                  f->error);
    pipeline_free(f->pipeline);
    the_tables.compiled = the_tables.tried = 0;
    f->pipeline =
        pipeline_new(&f->session, &(pipeline_options){.journal = log, .samples = 3, .racing = 1.3});
    assert_ok(tables_try_all(f->pipeline, &f->session, &f->error), f->error);
    const candidates *all = pipeline_candidates(f->pipeline);
    assert_int_equal(all->count, CONFIGURATIONS);
    for (size_t i = 0; i < all->count; i++)
        assert_true(candidate_is_finished(all->items[i]));
    return all;
}

static void one_code_for_each_launch(void)
{
    for (size_t i = 0; i < TABLES_MOST; i++)
        the_tables.codes[i] = 7;
}

static void expect_same_outcome(const candidate *a, const candidate *b)
{
    assert_int_equal(a->found.outcome, b->found.outcome);
    assert_int_equal(a->found.sample_count, b->found.sample_count);
    for (size_t i = 0; i < a->found.sample_count; i++)
        assert_int_equal(a->found.samples_ns[i], b->found.samples_ns[i]);
    assert_int_equal(a->found.check_ns, b->found.check_ns);
    assert_int_equal(a->found.resources.registers, b->found.resources.registers);
}

TEST_IN(equal_sources_are_compiled_and_tried_once, open_session, close_session)
{
    fixture *f = *state;
    const candidates *all = try_all(f, NULL);
    assert_int_equal(the_tables.compiled, SOURCES);
    assert_int_equal(the_tables.tried, SOURCES);
    assert_int_equal(pipeline_get_state(f->pipeline)->twins, CONFIGURATIONS - SOURCES);
    for (size_t i = 0; i < all->count; i++)
        expect_same_outcome(all->items[i], twins_lead(all->items[i]));
}

TEST_IN(equal_machine_code_is_tried_once_for_each_launch, open_session, close_session)
{
    fixture *f = *state;
    one_code_for_each_launch();
    for (int backwards = 0; backwards < 2; backwards++) {
        the_tables.last_first = backwards;
        const candidates *all = try_all(f, NULL);
        assert_int_equal(the_tables.compiled, SOURCES);
        assert_int_equal(the_tables.tried, LAUNCHES);
        assert_int_equal(pipeline_get_state(f->pipeline)->twins, CONFIGURATIONS - LAUNCHES);
        size_t taken = 0;
        while (pipeline_take(f->pipeline))
            taken++;
        assert_int_equal(taken, CONFIGURATIONS);
        for (size_t i = 0; i < all->count; i++) {
            const candidate *lead = twins_lead(all->items[i]);
            expect_same_outcome(all->items[i], lead);
            assert_int_equal(
                memcmp(&lead->launches[0], &all->items[i]->launches[0], sizeof lead->launches[0]),
                0);
        }
    }
}

/* Merging twins saves tries, but every variant must have the outcome of its own try. */
TEST_IN(merging_changes_no_outcome, open_session, close_session)
{
    fixture *f = *state;
    enum { CODES = 3 };
    rng r = rng_seeded(1);
    for (int round = 0; round < 40; round++) {
        unsigned code_of_source[SOURCES];
        outcome works[CODES];
        bool met[LAUNCHES][CODES] = {{false}};
        size_t classes = 0;
        for (size_t i = 0; i < SOURCES; i++)
            code_of_source[i] = (unsigned)rng_below(&r, CODES);
        for (size_t i = 0; i < CODES; i++)
            works[i] = rng_below(&r, 3) ? OUTCOME_OK : OUTCOME_WRONG_RESULT;
        the_tables.last_first = round % 2;
        for (uint64_t i = 0; i < CONFIGURATIONS; i++) {
            uint16_t at[4];
            space_at(f->session.space, i, at);
            size_t launch = (size_t)(2 * at[0] + at[3]);
            unsigned code = code_of_source[2 * launch + at[1]];
            classes += !met[launch][code];
            met[launch][code] = true;
            the_tables.codes[i] = code + 1;
            the_tables.works[i] = works[code];
            the_tables.time_ns[i] = (int64_t)(100000 + 1000 * launch + 10 * code);
        }
        const candidates *all = try_all(f, NULL);
        assert_int_equal(the_tables.compiled, SOURCES);
        assert_int_equal(the_tables.tried, classes);
        assert_int_equal(pipeline_get_state(f->pipeline)->twins, CONFIGURATIONS - classes);
        for (size_t i = 0; i < CONFIGURATIONS; i++) {
            bool ok = the_tables.works[i] == OUTCOME_OK;
            assert_int_equal(all->items[i]->found.outcome, the_tables.works[i]);
            assert_int_equal(measurement_fastest_ns(&all->items[i]->found),
                             ok ? the_tables.time_ns[i] : 0);
        }
    }
}

TEST_IN(a_variant_that_does_not_compile_has_no_machine_code, open_session, close_session)
{
    fixture *f = *state;
    one_code_for_each_launch();
    the_tables.compiles[0] = COMPILE_ERROR;
    const candidates *all = try_all(f, NULL);
    /* All variants of one source fail, and no variant of the other sources. */
    size_t failed = 0;
    for (size_t i = 0; i < all->count; i++)
        failed += all->items[i]->found.outcome == OUTCOME_COMPILE_ERROR;
    assert_int_equal(failed, NOTES);
    assert_string_equal(twins_lead(all->items[0])->found.message, "the table refuses it");
    assert_int_equal(the_tables.tried, LAUNCHES);
}

TEST_IN(the_lowest_or_preferred_configuration_leads_the_twins, open_session, close_session)
{
    fixture *f = *state;
    one_code_for_each_launch();
    the_tables.last_first = true;
    const candidates *all = try_all(f, NULL);
    const candidate *preferred = all->items[CONFIGURATIONS - 1];
    void *image = twins_lead(all->items[CONFIGURATIONS - 1])->images[0];
    pipeline_settle_twins(f->pipeline, preferred);
    assert_null(preferred->twin_of);
    assert_ptr_equal(preferred->images[0], image);
    for (size_t i = 0; i < all->count; i++) {
        const candidate *lead = twins_lead(all->items[i]);
        assert_true(lead == preferred || lead->configuration <= all->items[i]->configuration);
        assert_true(lead == all->items[i] || !all->items[i]->images[0]);
        expect_same_outcome(all->items[i], lead);
    }
    /* If one twin fails, all twins fail. */
    candidate_reject(twins_lead(all->items[0]), OUTCOME_WRONG_RESULT, "on fresh data");
    pipeline_settle_twins(f->pipeline, preferred);
    size_t rejected = 0;
    for (size_t i = 0; i < all->count; i++)
        rejected += all->items[i]->found.outcome == OUTCOME_WRONG_RESULT;
    assert_int_equal(rejected, CONFIGURATIONS / LAUNCHES);
}

/* If another GPU must sample the variant, it is compiled again. */
TEST(the_lead_of_the_noted_twin_is_no_twin_of_itself)
{
    twins known = {0};
    candidate noted = {.id = 0, .configuration = 2, .has_code = true, .stage = CANDIDATE_FINISHED},
              lower = {.id = 1, .configuration = 1, .has_code = true, .stage = CANDIDATE_FINISHED},
              *first;
    candidate *items[] = {&noted, &lower};
    const candidates all = {.items = items, .count = 2};
    first = twins_meet_code(&known, &all, &noted);
    assert_null(first);
    first = twins_meet_code(&known, &all, &lower);
    assert_ptr_equal(first, &noted);
    twins_join(&lower, &noted);
    twins_elect(&all, NULL);
    assert_ptr_equal(noted.twin_of, &lower);
    first = twins_meet_code(&known, &all, &lower);
    assert_null(first);
    twins_deinit(&known);
}

TEST_IN(a_race_has_one_variant_of_each_class_of_twins, open_session, close_session)
{
    fixture *f = *state;
    race_log log;
    race_driver *driver;
    const settings o = {.search.seed = 1, .race.tie_margin = -1};
    one_code_for_each_launch();
    try_all(f, NULL);
    pipeline_settle_twins(f->pipeline, NULL);
    race_log_init(&log, NULL, 0, "a test's");
    assert_ok(race_driver_new(&f->session, f->pipeline, &log, NULL, 0, &o, &driver, &f->error),
              f->error);
    for (bool finished = false; !finished;)
        assert_ok(race_driver_step(driver, &finished, &f->error), f->error);
    assert_int_equal(race_driver_result(driver)->count, LAUNCHES);
    race_driver_free(driver);
}

TEST_IN(a_resumed_run_knows_twins_without_compiling_them, open_session, close_session)
{
    fixture *f = *state;
    journal *j = tables_journal(&f->session, f->folder);
    one_code_for_each_launch();
    try_all(f, j);
    journal_close(j);
    j = tables_journal(&f->session, f->folder);
    const candidates *all = try_all(f, j);
    assert_int_equal(the_tables.compiled + the_tables.tried, 0);
    assert_int_equal(pipeline_get_state(f->pipeline)->twins, CONFIGURATIONS - LAUNCHES);
    for (size_t i = 0; i < all->count; i++)
        expect_same_outcome(all->items[i], twins_lead(all->items[i]));
    pipeline_free(f->pipeline);
    f->pipeline = NULL;
    journal_close(j);
}

/* ---- whole runs ---- */

static int open_run(void **state)
{
    tables_run_open(state, "twins.lua");
    one_code_for_each_launch();
    return 0;
}

TEST_IN(twins_are_counted_and_listed_behind_the_tried_variant, open_run, tables_run_close)
{
    tables_run *w = *state;
    assert_ok(tune_run(&w->settings, &w->tune, &w->error), w->error);
    const run_summary *s = tune_summary(w->tune);
    assert_int_equal(s->counts[OUTCOME_OK], CONFIGURATIONS);
    assert_int_equal(s->twins, CONFIGURATIONS - LAUNCHES);
    assert_int_equal(the_tables.tried, LAUNCHES);
    assert_int_equal(s->end, RUN_END_EXHAUSTED);
    assert_true(s->best_found && s->has_baseline);
    assert_false(run_summary_best(s)->is_twin || run_summary_baseline(s)->is_twin);
    assert_true(s->tied_count < LAUNCHES);
    for (size_t i = 0; i < s->result_count; i++) {
        const run_result *lead = run_summary_lead(s, &s->results[i]);
        assert_true((lead != NULL) == s->results[i].is_twin);
        if (lead)
            assert_int_equal(lead->time.median_ns, s->results[i].time.median_ns);
    }
}

TEST_IN(a_budget_counts_only_tried_variants, open_run, tables_run_close)
{
    tables_run *w = *state;
    w->settings.search.budget_evaluations = LAUNCHES - 1;
    w->settings.search.strategy = "random";
    assert_ok(tune_run(&w->settings, &w->tune, &w->error), w->error);
    assert_int_equal(the_tables.tried, LAUNCHES - 1);
    assert_int_equal(tune_summary(w->tune)->end, RUN_END_EVALUATIONS);
}

TEST_IN(the_twins_of_a_rejected_winner_are_rejected, open_run, tables_run_close)
{
    tables_run *w = *state;
    for (int i = 0; i < TABLES_MOST; i++)
        the_tables.rechecks[i] = OUTCOME_WRONG_RESULT;
    assert_ok(tune_run(&w->settings, &w->tune, &w->error), w->error);
    const run_summary *s = tune_summary(w->tune);
    assert_false(s->best_found);
    assert_int_equal(s->counts[OUTCOME_WRONG_RESULT], CONFIGURATIONS);
}
