#include <stdio.h>
#include <string.h>

#include "check.h"
#include "run/recall.h"
#include "sample_run.h"
#include "temporary.h"

typedef struct fixture {
    char folder[TEMPORARY_BYTES];
    pattern_variable variables[3];
    pattern pattern;
    run_summary run;
    at_error error;
} fixture;

/* Makes the record of a run with normal effort. */
static int record_run(void **state)
{
    static fixture f;
    record_change change;
    f = (fixture){0};
    temporary_make(f.folder);
    f.pattern = sample_pattern(8192, f.variables);
    sample_run(&f.run, &f.pattern, 140000);
    f.run.effort = "normal";
    assert_ok(record_merge(f.folder, &f.run, &change, &f.error), f.error);
    *state = &f;
    return 0;
}

static int remove_record(void **state)
{
    fixture *f = *state;
    run_summary_deinit(&f->run);
    temporary_remove(f->folder);
    return 0;
}

static bool answers(fixture *f, effort wanted)
{
    record r;
    const record_entry *entry;
    if (!recall_find(f->folder, &f->run, wanted, &r, &entry))
        return false;
    assert_int_equal(entry->time_ns, 140000);
    record_deinit(&r);
    return true;
}

TEST_IN(a_record_answers_runs_of_equal_or_less_effort, record_run, remove_record)
{
    fixture *f = *state;
    assert_true(answers(f, EFFORT_QUICK));
    assert_true(answers(f, EFFORT_NORMAL));
    assert_false(answers(f, EFFORT_THOROUGH));
}

TEST_IN(a_record_does_not_answer_for_a_changed_script_or_template, record_run, remove_record)
{
    fixture *f = *state;
    f->run.script_hash[0] = 'f';
    assert_false(answers(f, EFFORT_QUICK));
    f->run.script_hash[0] = '0';
    assert_true(answers(f, EFFORT_QUICK));
    f->run.template_hash[0] = 'f';
    assert_false(answers(f, EFFORT_QUICK));
}

TEST_IN(without_a_record_there_is_no_answer, record_run, remove_record)
{
    fixture *f = *state;
    snprintf(f->run.device.limits.name, sizeof f->run.device.limits.name, "Another GPU");
    assert_false(answers(f, EFFORT_QUICK));
}

TEST_IN(the_answer_is_the_runs_result, record_run, remove_record)
{
    fixture *f = *state;
    record r;
    const record_entry *entry;
    run_summary s;
    assert_true(recall_find(f->folder, &f->run, EFFORT_QUICK, &r, &entry));
    assert_ok(run_summary_init(&s, &f->pattern, PROBLEM_TUNED, &f->error), f->error);
    assert_ok(recall_fill(&r, entry, &s, &f->error), f->error);
    const run_result *best = run_summary_best(&s);
    assert_non_null(best);
    assert_int_equal(best->time.median_ns, 140000);
    assert_string_equal(best->configuration, f->run.results[0].configuration);
    assert_int_equal(s.counts[OUTCOME_OK], 0); /* the run tried nothing */
    run_summary_deinit(&s);
    record_deinit(&r);
}
