#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "record/record.h"
#include "run/tables.h"
#include "script_fixture.h"
#include "temporary.h"

typedef tables_run fixture;

static int open_run(void **state)
{
    tables_run_open(state, "scale.lua");
    ((fixture *)*state)->settings.results.record = true;
    return 0;
}

static at_status run_it(fixture *f)
{
    tune_free(f->tune);
    return tune_run(&f->settings, &f->tune, &f->error);
}

static bool was_tried(const run_summary *s, const char *configuration)
{
    bool tried = false;
    for (size_t i = 0; i < s->result_count; i++)
        tried = tried || strcmp(s->results[i].configuration, configuration) == 0;
    return tried;
}

TEST_IN(a_run_searches_races_and_records, open_run, tables_run_close)
{
    fixture *f = *state;
    record r;
    /* The fake device times tries by candidate, and races by entrant. With this strategy both
     * have the same order. */
    f->settings.search.strategy = "exhaustive";
    the_tables.time_ns[7] = 70000;
    assert_ok(run_it(f), f->error);
    const run_summary *s = tune_summary(f->tune);
    assert_true(s->best_found);
    assert_int_equal(s->results[0].time.median_ns / 10, 7000);
    assert_int_equal(s->end, RUN_END_EXHAUSTED);
    assert_int_equal(s->counts[OUTCOME_OK], s->space_valid);
    assert_true(s->has_baseline);
    assert_true(the_tables.sampled_blocks > 0);
    assert_ok(record_read(s->record_path, &r, &f->error), f->error);
    assert_int_equal(r.entry_count, 1);
    record_deinit(&r);
}

TEST_IN(a_record_of_equal_effort_answers_and_nothing_is_tried, open_run, tables_run_close)
{
    fixture *f = *state;
    the_tables.time_ns[7] = 70000;
    assert_ok(run_it(f), f->error);
    char *best = strdup(tune_summary(f->tune)->results[0].configuration);
    the_tables.tried = the_tables.sampled_blocks = 0;
    f->settings.search.has_effort = true;
    f->settings.search.effort = EFFORT_QUICK;
    assert_ok(run_it(f), f->error);
    const run_summary *s = tune_summary(f->tune);
    assert_int_equal(the_tables.tried + the_tables.sampled_blocks, 0);
    assert_true(s->best_found);
    assert_string_equal(s->results[0].configuration, best);
    free(best);
}

TEST_IN(a_quick_run_begins_with_a_recorded_configuration_of_another_problem, open_run,
        tables_run_close)
{
    fixture *f = *state;
    the_tables.time_ns[7] = 70000;
    assert_ok(run_it(f), f->error);
    char *best = strdup(tune_summary(f->tune)->results[0].configuration);
    f->settings.pattern.variables[0] = (script_setting){"n", "2097152"};
    f->settings.pattern.variable_count = 1;
    f->settings.search.has_effort = true;
    f->settings.search.effort = EFFORT_QUICK;
    f->settings.search.budget_evaluations = 2; /* the default and one other configuration */
    assert_ok(run_it(f), f->error);
    const run_summary *s = tune_summary(f->tune);
    assert_int_equal(s->result_count, 2);
    assert_true(was_tried(s, best));
    free(best);
}

/* The record is for this GPU and problem, but for another version of the script. The run does not
 * take the record as its result. Its configuration is tried first, races, and is recorded again. */
TEST_IN(a_quick_run_begins_with_a_recorded_configuration_of_an_earlier_script, open_run,
        tables_run_close)
{
    fixture *f = *state;
    the_tables.time_ns[7] = 70000;
    assert_ok(run_it(f), f->error);
    const run_summary *s = tune_summary(f->tune);
    char *best = strdup(s->results[0].configuration), *text;
    size_t size_bytes;
    assert_ok(file_read(s->record_path, 1 << 20, &text, &size_bytes, &f->error), f->error);
    char *hash = strstr(text, "\"hashes\"");
    assert_non_null(hash);
    hash = strstr(hash, "\"script\": \"");
    assert_non_null(hash);
    hash += strlen("\"script\": \"");
    *hash = *hash == '0' ? '1' : '0';
    assert_ok(file_replace(s->record_path, text, size_bytes, &f->error), f->error);
    free(text);
    f->settings.search.has_effort = true;
    f->settings.search.effort = EFFORT_QUICK;
    f->settings.search.budget_evaluations = 2; /* the default and one other configuration */
    the_tables.tried = the_tables.sampled_blocks = 0;
    assert_ok(run_it(f), f->error);
    s = tune_summary(f->tune);
    assert_int_equal(the_tables.tried, 2);
    assert_true(the_tables.sampled_blocks > 0);
    assert_true(was_tried(s, best));
    free(best);
}

static int open_started(void **state)
{
    return tables_run_open(state, "started.lua");
}

TEST_IN(a_run_begins_with_the_default_and_the_starts_of_the_script, open_started, tables_run_close)
{
    fixture *f = *state;
    f->settings.search.budget_evaluations = 3;
    assert_ok(run_it(f), f->error);
    const run_summary *s = tune_summary(f->tune);
    assert_int_equal(s->result_count, 3);
    assert_true(was_tried(s, "block=256,vec=1,cached=true"));
    assert_true(was_tried(s, "block=256,vec=2,cached=true"));
    assert_true(was_tried(s, "block=128,vec=1,cached=false"));
}

TEST_IN(starts_of_settings_come_before_starts_of_the_script, open_started, tables_run_close)
{
    fixture *f = *state;
    const char *const starts[] = {"block=64,vec=4"};
    f->settings.search.starts = starts;
    f->settings.search.start_count = 1;
    f->settings.search.budget_evaluations = 2;
    assert_ok(run_it(f), f->error);
    const run_summary *s = tune_summary(f->tune);
    assert_int_equal(s->result_count, 2);
    assert_true(was_tried(s, "block=64,vec=4,cached=true"));
}

/* A user names a run for a warm start to try its configurations, perhaps to race two of them. */
TEST_IN(a_warm_start_comes_before_the_starts_of_the_script, open_started, tables_run_close)
{
    static const char text[] = "{\"pattern\": \"started\", \"problem\": {}, \"counts\": {},\n"
                               " \"results\": [{\"config\": {\"block\": 64, \"vec\": 4, "
                               "\"cached\": true}, \"outcome\": \"ok\",\n"
                               "   \"time_ns\": 1000}]}\n";
    fixture *f = *state;
    char folder[TEMPORARY_BYTES], path[TEMPORARY_BYTES + 16];
    temporary_make(folder);
    snprintf(path, sizeof path, "%s/run.json", folder);
    assert_ok(file_replace(path, text, strlen(text), &f->error), f->error);
    f->settings.search.warm_start = path;
    f->settings.search.budget_evaluations = 2;
    assert_ok(run_it(f), f->error);
    assert_true(was_tried(tune_summary(f->tune), "block=64,vec=4,cached=true"));
    temporary_remove(folder);
}

TEST_IN(starts_that_the_problem_excludes_are_skipped, open_started, tables_run_close)
{
    fixture *f = *state;
    f->settings.pattern.variables[0] = (script_setting){"n", "1048575"};
    f->settings.pattern.variable_count = 1;
    f->settings.search.budget_evaluations = 2;
    assert_ok(run_it(f), f->error);
    const run_summary *s = tune_summary(f->tune);
    assert_int_equal(s->result_count, 2);
    assert_int_equal(s->warning_count, 0);
    assert_true(was_tried(s, "block=128,vec=1,cached=false"));
}

TEST_IN(a_quick_run_leaves_checks_on_ragged_problems_to_the_race, open_run, tables_run_close)
{
    fixture *f = *state;
    assert_ok(run_it(f), f->error);
    assert_int_equal(the_tables.unchecked, 0);
    f->settings.pattern.variables[0] = (script_setting){"n", "2097152"};
    f->settings.pattern.variable_count = 1;
    f->settings.search.has_effort = true;
    f->settings.search.effort = EFFORT_QUICK;
    assert_ok(run_it(f), f->error);
    assert_true(the_tables.unchecked > 0);
}

/* The variant that is tried first is not the default, and crashes. */
TEST_IN(a_quick_run_tries_others_before_the_default, open_run, tables_run_close)
{
    fixture *f = *state;
    the_tables.works[0] = OUTCOME_CRASHED;
    f->settings.search.has_effort = true;
    f->settings.search.effort = EFFORT_QUICK;
    assert_ok(run_it(f), f->error);
    const run_summary *s = tune_summary(f->tune);
    assert_int_equal(s->counts[OUTCOME_CRASHED], 1);
    assert_true(s->has_baseline);
    assert_int_equal(run_summary_baseline(s)->found.outcome, OUTCOME_OK);
}

TEST_IN(hopeless_variants_are_abandoned_and_counted, open_run, tables_run_close)
{
    fixture *f = *state;
    the_tables.time_ns[7] = 60000000;
    the_tables.time_ns[8] = 1900000; /* slow, but not slow enough to be abandoned */
    assert_ok(run_it(f), f->error);
    const run_summary *s = tune_summary(f->tune);
    assert_int_equal(s->counts[OUTCOME_TOO_SLOW], 1);
    assert_int_equal(the_tables.left, 1);
    assert_true(s->best_found);
    for (size_t i = 0; i < s->result_count; i++)
        if (s->results[i].found.outcome == OUTCOME_TOO_SLOW)
            assert_int_equal(s->results[i].found.sample_count, 1);
}

TEST_IN(the_default_is_timed_however_slow_it_is, open_run, tables_run_close)
{
    fixture *f = *state;
    f->settings.search.has_effort = true;
    f->settings.search.effort = EFFORT_QUICK;
    for (size_t i = 2; i < 8; i++)
        the_tables.time_ns[i] = 60000000;
    assert_ok(run_it(f), f->error);
    const run_summary *s = tune_summary(f->tune);
    assert_true(the_tables.left > 0);
    assert_true(s->has_baseline);
    assert_int_equal(run_summary_baseline(s)->found.outcome, OUTCOME_OK);
}

TEST_IN(a_budget_ends_the_search_and_not_the_race, open_run, tables_run_close)
{
    fixture *f = *state;
    f->settings.search.budget_evaluations = 5;
    assert_ok(run_it(f), f->error);
    const run_summary *s = tune_summary(f->tune);
    assert_int_equal(s->end, RUN_END_EVALUATIONS);
    /* The script's default is always tried, so it may add one try. */
    assert_in_range(the_tables.tried, 5, 6);
    assert_true(s->best_found);
}

TEST_IN(a_budget_of_time_ends_a_race_that_gets_no_answer, open_run, tables_run_close)
{
    fixture *f = *state;
    the_tables.silent = true;
    f->settings.search.budget_s = 1;
    assert_ok(run_it(f), f->error);
    assert_true(the_tables.sampled_blocks > 0);
    assert_true(tune_summary(f->tune)->best_found);
    assert_int_equal(tune_summary(f->tune)->verdict, VERDICT_INCONCLUSIVE);
}

/* The search has requested the whole space before the device has tried most of it. */
TEST_IN(a_search_that_was_cut_is_not_called_exhausted, open_run, tables_run_close)
{
    fixture *f = *state;
    the_tables.slow = true;
    the_tables.time_ns[18] = 1000;
    f->settings.search.strategy = "random";
    f->settings.search.stop_at = 1;
    assert_ok(run_it(f), f->error);
    const run_summary *s = tune_summary(f->tune);
    assert_true(s->result_count < s->space_valid);
    assert_int_equal(s->end, RUN_END_TARGET);
}

/* Returns whether a variant has this time as its first sample. */
static bool was_measured(const run_summary *s, int64_t time_ns)
{
    for (size_t i = 0; i < s->result_count; i++)
        if (s->results[i].found.sample_count > 0 && s->results[i].found.samples_ns[0] == time_ns)
            return true;
    return false;
}

/* rgb.lua has so many variants that only the race checks most of them on ragged problems. */
TEST_IN(an_interrupted_run_records_the_fastest_that_was_checked_on_ragged_problems, open_run,
        tables_run_close)
{
    fixture *f = *state;
    snprintf(f->script, sizeof f->script, "%s/lua/rgb.lua", TEST_SOURCE_DIR);
    the_tables.time_ns[3] = 70000;
    the_tables.time_ns[9] = 60000;
    the_tables.ragged[9] = OUTCOME_WRONG_RESULT;
    the_tables.interrupt_at = 40;
    assert_int_equal(run_it(f), AT_INTERRUPTED);
    const run_summary *s = tune_summary(f->tune);
    assert_true(s->best_found);
    assert_int_equal(s->results[0].time.median_ns / 10, 7000);
    assert_int_equal(s->counts[OUTCOME_WRONG_RESULT], 1);
    assert_string_not_equal(s->record_path, "");
    /* A second run finds both variants in the journal and does not check them again. The race
     * may time another twin of a class, and the fake device gives another number another time. */
    the_tables.interrupt_at = the_tables.tried = 0;
    size_t checked = the_tables.checked;
    assert_ok(run_it(f), f->error);
    s = tune_summary(f->tune);
    assert_true(was_measured(s, 70000));
    assert_int_equal(s->counts[OUTCOME_WRONG_RESULT], 1);
    assert_int_equal(the_tables.checked, checked);
}

TEST_IN(without_a_working_variant_there_is_no_winner_and_no_record, open_run, tables_run_close)
{
    fixture *f = *state;
    for (int i = 0; i < TABLES_MOST; i++)
        the_tables.compiles[i] =
            i > 0 ? COMPILE_ERROR : COMPILE_OK; /* helper kernels and the reference have number 0 */
    the_tables.works[0] = OUTCOME_CRASHED;
    assert_ok(run_it(f), f->error);
    assert_false(tune_summary(f->tune)->best_found);
    assert_string_equal(tune_summary(f->tune)->record_path, "");
}

TEST_IN(a_missing_device_is_an_error_with_a_remedy, open_run, tables_run_close)
{
    fixture *f = *state;
    the_tables.no_device = "there is no GPU";
    assert_int_equal(run_it(f), AT_NO_DEVICE);
    assert_null(f->tune);
}

TEST_IN(an_architecture_alone_compiles_everything_and_measures_nothing, open_run, tables_run_close)
{
    fixture *f = *state;
    f->settings.machine.device = NULL;
    f->settings.machine.arch = "sm_80";
    assert_ok(run_it(f), f->error);
    const run_summary *s = tune_summary(f->tune);
    assert_true(s->compiled_only);
    assert_int_equal(the_tables.compiled, s->space_valid);
    assert_int_equal(the_tables.tried, 0);
    f->settings.results.must_record = true;
    assert_int_equal(run_it(f), AT_USAGE);
}

/* Each call fails in turn. The run must return an error or a complete result, and not leak. */
TEST_IN(a_failure_in_any_place_is_survived, open_run, tables_run_close)
{
    fixture *f = *state;
    bool reached = true;
    for (int place = 1; reached; place += 11) {
        the_tables = (tables){.fail_at = place, .failure = AT_DEVICE};
        at_status status = run_it(f);
        reached = the_tables.calls >= place;
        if (!status)
            assert_true(tune_summary(f->tune)->best_found);
        else if (f->tune && tune_summary(f->tune)->counts[OUTCOME_OK] > 0)
            assert_true(tune_summary(f->tune)->best_found);
    }
}
