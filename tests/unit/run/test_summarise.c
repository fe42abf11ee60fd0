#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "run/summarise.h"
#include "run/tables.h"
#include "script_fixture.h"
#include "temporary.h"

typedef struct fixture {
    session session;
    pipeline *pipeline;
    settings settings;
    run_summary summary;
    at_error error;
} fixture;

static int try_all(void **state)
{
    static fixture f;
    f = (fixture){.settings = {.seed = 1}};
    tables_open(&f.session);
    *state = &f;
    return 0;
}

static int close_all(void **state)
{
    fixture *f = *state;
    run_summary_deinit(&f->summary);
    pipeline_free(f->pipeline);
    tables_close(&f->session);
    return 0;
}

static void summarise_run(fixture *f, const journal *log)
{
    f->pipeline = pipeline_new(&f->session, &(pipeline_options){.samples = 3, .racing = 1.3});
    assert_ok(tables_try_all(f->pipeline, &f->session, &f->error), f->error);
    assert_ok(
        run_summary_init(&f->summary, script_pattern(f->session.script), PROBLEM_TUNED, &f->error),
        f->error);
    assert_ok(summarise(&(summarise_input){.settings = &f->settings,
                                           .session = &f->session,
                                           .pipeline = f->pipeline,
                                           .journal = log,
                                           .strategy = "exhaustive",
                                           .has_baseline = true,
                                           .baseline = 2,
                                           .end = RUN_END_EXHAUSTED},
                        &f->summary, &f->error),
              f->error);
}

static bool is_warned(const run_summary *s, const char *words)
{
    for (size_t i = 0; i < s->warning_count; i++)
        if (strstr(s->warnings[i], words))
            return true;
    return false;
}

TEST_IN(the_fastest_comes_first_and_what_failed_last, try_all, close_all)
{
    fixture *f = *state;
    the_tables.time_ns[5] = 50000;
    the_tables.works[0] = OUTCOME_WRONG_RESULT;
    summarise_run(f, NULL);
    const run_summary *s = &f->summary;
    assert_int_equal(s->result_count, space_count(f->session.space));
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

/* A device may bring any number of samples, and so may a journal. */
TEST_IN(any_number_of_samples_is_summarised, try_all, close_all)
{
    fixture *f = *state;
    the_tables.samples = 100000;
    summarise_run(f, NULL);
    assert_int_equal(f->summary.results[0].time.count, 100000);
    assert_int_equal(f->summary.results[0].time.median_ns, 100001);
}

TEST_IN(what_compile_workers_warn_of_is_in_the_summary, try_all, close_all)
{
    fixture *f = *state;
    the_tables.warning = "the cache cannot be written";
    summarise_run(f, NULL);
    assert_true(is_warned(&f->summary, "the cache cannot be written"));
}

TEST_IN(skipped_lines_of_the_journal_are_in_the_summary, try_all, close_all)
{
    fixture *f = *state;
    char folder[TEMPORARY_BYTES], path[TEMPORARY_BYTES + 64];
    const journal_facts facts = {.pattern = "scale",
                                 .device = &f->session.workers->properties,
                                 .nvrtc_version = "13.0",
                                 .problems = f->session.problems.plans,
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
    assert_true(is_warned(&f->summary, "2 damaged lines of the journal were skipped"));
    journal_close(j);
    temporary_remove(folder);
}

TEST_IN(replaced_workers_are_in_the_summary, try_all, close_all)
{
    fixture *f = *state;
    the_tables.restarts = 3;
    summarise_run(f, NULL);
    assert_true(is_warned(&f->summary, "replaced 3 times"));
}
