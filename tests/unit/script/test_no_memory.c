/* Tests libautotune when memory runs out: the n-th allocation fails, for n = 1, 2, ... The tested
 * function must return AT_NO_MEMORY or do its whole job, without a crash, a leak or a half-written
 * file. In other programs, the process ends (base/test_memory.c). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "autotune.h"
#include "base/file.h"
#include "check.h"
#include "failing_memory.h"
#include "record/record.h"
#include "report/progress.h"
#include "sample_run.h"
#include "temporary.h"

typedef struct fixture {
    char folder[TEMPORARY_BYTES];
    pattern_variable variables[3];
    pattern pattern;
    run_summary run;
    char *record; /* the text of a complete record */
    size_t record_bytes;
    char *output; /* the result of the last trial that succeeded */
} fixture;

/* Calls the tested function once. On AT_OK, *output is the result, which fail_each_allocation()
 * compares. The caller frees *output. */
typedef at_status (*trial)(fixture *f, char **output, at_error *error);

/* Fails each of the first EACH allocations, then every 127th. A Lua state that runs a template
 * makes an allocation for each text of the template. */
static void fail_each_allocation(fixture *f, trial t)
{
    enum { MOST = 200000, EACH = 1000, STRIDE = 127 };
    char *expected = NULL, *output = NULL;
    at_error error = {0};
    assert_ok(t(f, &expected, &error), error);
    for (long n = 0; n < MOST; n += n < EACH ? 1 : STRIDE) {
        error_clear(&error);
        output = NULL;
        until_failure = n;
        at_status status = t(f, &output, &error);
        bool ended = until_failure >= 0;
        until_failure = -1;
        if (status == AT_OK) {
            if (expected && strcmp(output, expected) != 0)
                fail_msg("allocation %ld: half of the job was done:\n%s", n, output);
        } else if (status != AT_NO_MEMORY) {
            fail_msg("allocation %ld: %s: %s", n, status_name(status), error.message);
        }
        free(output);
        if (ended) {
            assert_int_equal(status, AT_OK);
            assert_true(n > 0);
            free(expected);
            return;
        }
    }
    fail_msg("it never ends");
}

static int set_up(void **state)
{
    static fixture f;
    record_change change;
    at_error error = {0};
    memset(&f, 0, sizeof f);
    temporary_make(f.folder);
    f.pattern = sample_pattern(8192, f.variables);
    sample_run(&f.run, &f.pattern, 140000);
    assert_ok(record_merge(f.folder, &f.run, &change, &error), error);
    assert_ok(file_read(f.run.record_path, 1 << 20, &f.record, &f.record_bytes, &error), error);
    *state = &f;
    return 0;
}

static int tear_down(void **state)
{
    fixture *f = *state;
    run_summary_deinit(&f->run);
    free(f->record);
    temporary_remove(f->folder);
    return 0;
}

static at_status parse_record(fixture *f, char **output, at_error *error)
{
    record r;
    (void)output;
    at_status status = record_parse(f->record, f->record_bytes, "r.json", NULL, &r, error);
    if (!status)
        record_deinit(&r);
    return status;
}

TEST_IN(reading_a_record, set_up, tear_down)
{
    fail_each_allocation(*state, parse_record);
}

static at_status merge_record(fixture *f, char **output, at_error *error)
{
    char path[TEMPORARY_BYTES + 64];
    record_change change;
    snprintf(path, sizeof path, "%s/nvidia-h200/transpose.json", f->folder);
    long left = until_failure;
    until_failure = -1;
    at_error trouble;
    assert_ok(file_replace(path, f->record, f->record_bytes, &trouble), trouble);
    until_failure = left;
    at_status status = record_merge(f->folder, &f->run, &change, error);
    left = until_failure;
    until_failure = -1;
    char *text;
    assert_ok(file_read(path, 1 << 20, &text, NULL, &trouble), trouble);
    /* The file must have the complete old or new text. */
    if (status) {
        assert_string_equal(text, f->record);
        free(text);
    } else {
        *output = text;
    }
    until_failure = left;
    return status;
}

TEST_IN(merging_a_record, set_up, tear_down)
{
    fixture *f = *state;
    f->run.warm_cache = true;
    fail_each_allocation(f, merge_record);
}

static at_status load_all(fixture *f, char **output, at_error *error)
{
    record_set set;
    (void)output;
    at_status status = record_load_all(f->folder, NULL, &set, error);
    if (!status) {
        assert_int_equal(set.count, 1);
        record_set_deinit(&set);
    }
    return status;
}

TEST_IN(loading_all_records, set_up, tear_down)
{
    fail_each_allocation(*state, load_all);
}

/* Picks without loading the pattern's script. test_memory.c tests the loading of scripts. */
static at_status pick_from_library(fixture *f, char **output, at_error *error)
{
    setenv("AUTOTUNE_SHARE", f->folder, 1);
    const at_gpu gpu = {"NVIDIA H200", 9, 0};
    const at_variable problem[] = {at_integer("rows", 8192), at_text("dtype", "float")};
    at_results *results = NULL;
    at_choice *choice = NULL;
    at_status status = at_open(f->folder, &results, error);
    if (!status)
        status = at_pick(results, "transpose", &gpu, problem, 2, &choice, error);
    if (!status)
        *output = __real_strdup(at_choice_text(choice));
    at_choice_free(choice);
    at_close(results);
    return status;
}

TEST_IN(picking, set_up, tear_down)
{
    fail_each_allocation(*state, pick_from_library);
}

/* If memory runs out, no progress is shown and no error returned. */
TEST_IN(showing_progress, set_up, tear_down)
{
    until_failure = 0;
    progress *p = progress_new(-1, false);
    until_failure = -1;
    assert_null(p);
    progress_update(p, &(progress_state){.stage = "search"});
    progress_free(p);
}
