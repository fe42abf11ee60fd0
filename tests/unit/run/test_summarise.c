#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "run/tables.h"
#include "run/tune_state.h"
#include "script_fixture.h"
#include "temporary.h"

typedef struct fixture {
    struct tune run;
    settings settings;
    at_error error;
} fixture;

static int try_all(void **state)
{
    static fixture f;
    f = (fixture){.settings = {.search.seed = 1}};
    tables_open(&f.run.session);
    *state = &f;
    return 0;
}

static int close_all(void **state)
{
    fixture *f = *state;
    run_summary_deinit(&f->run.summary);
    pipeline_free(f->run.pipeline);
    strategy_free(f->run.strategy);
    tables_close(&f->run.session);
    return 0;
}

static void summarise_run(fixture *f, journal *log)
{
    const strategy_kind *kind;
    f->run.settings = &f->settings;
    f->run.journal = log;
    f->run.has_baseline = true;
    f->run.baseline = 2;
    f->run.end = RUN_END_EXHAUSTED;
    assert_ok(strategy_find("exhaustive", &kind, &f->error), f->error);
    f->run.strategy = strategy_new(kind, &(strategy_options){.space = f->run.session.space});
    f->run.pipeline =
        pipeline_new(&f->run.session, &(pipeline_options){.samples = 3, .racing = 1.3});
    assert_ok(tables_try_all(f->run.pipeline, &f->run.session, &f->error), f->error);
    assert_ok(run_summary_init(&f->run.summary, script_pattern(f->run.session.script),
                               PROBLEM_TUNED, &f->error),
              f->error);
    assert_ok(tune_summarise(&f->run, &f->error), f->error);
}

static bool is_warned(const run_summary *s, const char *words)
{
    for (size_t i = 0; i < s->warning_count; i++)
        if (strstr(s->warnings[i], words))
            return true;
    return false;
}

TEST_IN(the_fastest_comes_first_and_failures_come_last, try_all, close_all)
{
    fixture *f = *state;
    the_tables.time_ns[5] = 50000;
    the_tables.works[0] = OUTCOME_WRONG_RESULT;
    summarise_run(f, NULL);
    const run_summary *s = &f->run.summary;
    assert_int_equal(s->result_count, space_count(f->run.session.space));
    assert_true(s->best_found);
    assert_int_equal(s->results[0].index, 5);
    assert_int_equal(s->results[0].time.median_ns, 50001);
    for (size_t i = 2; i + 1 < s->result_count; i++)
        assert_true(s->results[i - 1].time.median_ns <= s->results[i].time.median_ns);
    assert_int_equal(s->results[s->result_count - 1].found.outcome, OUTCOME_WRONG_RESULT);
    assert_int_equal(s->counts[OUTCOME_WRONG_RESULT], 1);
    assert_int_equal(s->results[s->baseline].index, 2);
    assert_true(s->speedup == 102001.0 / 50001.0);
    assert_string_equal(s->effort, "exhaustive");
}

/* Outcomes from a device or a journal may have any number of samples. */
TEST_IN(any_number_of_samples_is_summarised, try_all, close_all)
{
    fixture *f = *state;
    the_tables.samples = 100000;
    summarise_run(f, NULL);
    assert_int_equal(f->run.summary.results[0].time.count, 100000);
    assert_int_equal(f->run.summary.results[0].time.median_ns, 100001);
}

TEST_IN(warnings_of_compile_workers_are_in_the_summary, try_all, close_all)
{
    fixture *f = *state;
    the_tables.warning = "the cache cannot be written";
    summarise_run(f, NULL);
    assert_true(is_warned(&f->run.summary, "the cache cannot be written"));
}

TEST_IN(skipped_lines_of_the_journal_are_in_the_summary, try_all, close_all)
{
    fixture *f = *state;
    char folder[TEMPORARY_BYTES], path[TEMPORARY_BYTES + 64];
    const journal_facts facts = {.pattern = "scale",
                                 .device = &f->run.session.workers->properties,
                                 .nvrtc_version = "13.0",
                                 .problems = f->run.session.problems.plans,
                                 .problem_count = 1,
                                 .reference_hash = ""};
    journal *j;
    temporary_make(folder);
    assert_ok(journal_open(folder, &facts, &j, &f->error), f->error);
    snprintf(path, sizeof path, "%s", journal_path(j));
    journal_close(j);
    FILE *file = fopen(path, "a");
    fputs("a line\nthat is none\n", file);
    fclose(file);
    assert_ok(journal_open(folder, &facts, &j, &f->error), f->error);
    summarise_run(f, j);
    assert_true(is_warned(&f->run.summary, "2 damaged lines of the journal were skipped"));
    journal_close(j);
    temporary_remove(folder);
}

TEST_IN(replaced_workers_are_in_the_summary, try_all, close_all)
{
    fixture *f = *state;
    the_tables.restarts = 3;
    summarise_run(f, NULL);
    assert_true(is_warned(&f->run.summary, "replaced 3 times"));
}
