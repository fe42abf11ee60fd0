#include <string.h>

#include "check.h"
#include "record/summary.h"
#include "sample_run.h"

TEST(results_are_counted_by_outcome)
{
    pattern_variable variables[3];
    pattern p = sample_pattern(8192, variables);
    run_summary s;
    sample_run(&s, &p, 140000);
    assert_int_equal(s.result_count, 4);
    assert_int_equal(s.counts[OUTCOME_OK], 2);
    assert_int_equal(s.counts[OUTCOME_WRONG_RESULT], 1);
    assert_int_equal(s.counts[OUTCOME_COMPILE_ERROR], 1);
    assert_int_equal(s.counts[OUTCOME_TIMEOUT], 0);
    assert_ptr_equal(run_summary_best(&s), &s.results[0]);
    assert_ptr_equal(run_summary_baseline(&s), &s.results[1]);
    assert_string_equal(s.parameters[1], "tile");
    run_summary_deinit(&s);
}

TEST(an_empty_run_has_neither_best_nor_baseline)
{
    pattern_variable variables[3];
    pattern p = sample_pattern(8192, variables);
    run_summary s;
    at_error error = {0};
    assert_ok(run_summary_init(&s, &p, PROBLEM_TUNED, &error), error);
    assert_null(run_summary_best(&s));
    assert_null(run_summary_baseline(&s));
    s.best_found = s.has_baseline = true;
    assert_null(run_summary_best(&s));
    assert_null(run_summary_baseline(&s));
    run_summary_deinit(&s);
    run_summary_deinit(&s);
}

TEST(dates_are_iso_8601_in_utc)
{
    pattern_variable variables[3];
    pattern p = sample_pattern(8192, variables);
    run_summary s;
    at_error error = {0};
    assert_ok(run_summary_init(&s, &p, PROBLEM_TUNED, &error), error);
    static const char form[] = "dddd-dd-ddTdd:dd:ddZ";
    assert_int_equal(strlen(s.date), strlen(form));
    for (size_t i = 0; i < strlen(form); i++)
        assert_true(form[i] == 'd' ? s.date[i] >= '0' && s.date[i] <= '9' : s.date[i] == form[i]);
    run_summary_deinit(&s);
}

TEST(many_results_and_warnings_are_kept)
{
    enum { MANY = 1000 };
    pattern_variable variables[3];
    pattern p = sample_pattern(8192, variables);
    run_summary s;
    at_error error = {0};
    assert_ok(run_summary_init(&s, &p, PROBLEM_TUNED, &error), error);
    for (int i = 0; i < MANY; i++) {
        sample_result(&s, 1, 1, OUTCOME_OK, i + 1);
        run_summary_warn(&s, "warning %d", i);
    }
    assert_int_equal(s.result_count, MANY);
    assert_int_equal(s.results[999].time.median_ns, 1000);
    assert_int_equal(s.warning_count, MANY);
    assert_string_equal(s.warnings[999], "warning 999");
    run_summary_deinit(&s);
}

TEST(every_outcome_is_found_by_its_name)
{
    for (int i = 0; i < OUTCOME_COUNT; i++) {
        outcome o;
        assert_true(outcome_find(outcome_name((outcome)i), &o));
        assert_int_equal(o, i);
    }
    outcome o = OUTCOME_TIMEOUT;
    assert_false(outcome_find("no such", &o));
    assert_int_equal(o, OUTCOME_TIMEOUT);
    assert_string_equal(outcome_name(OUTCOME_COUNT), "unknown");
}

TEST(stages_verdicts_and_ends_have_names)
{
    for (int i = 0; i < STAGE_COUNT; i++)
        assert_string_not_equal(run_stage_name((run_stage)i), "unknown");
    assert_string_equal(run_stage_name(STAGE_COUNT), "unknown");
    assert_string_equal(run_verdict_name(VERDICT_CLEAR), "clear");
    assert_string_equal(run_verdict_name((run_verdict)99), "unknown");
    assert_string_equal(run_end_name(RUN_END_SECONDS), "seconds");
    assert_string_equal(run_end_name((run_end)99), "unknown");
}
