/* Every allocation fails once: each of the functions below, asked to run with the n-th allocation
 * failing, for n = 1, 2, ..., says AT_NO_MEMORY or does the whole job; it neither crashes, leaks
 * nor writes half of it. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/json_text.h"
#include "check.h"
#include "export/export.h"
#include "record/record.h"
#include "report/progress.h"
#include "report/report.h"
#include "sample_run.h"
#include "temporary.h"

/* The linker sends the core's allocations here (--wrap). */
void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *memory, size_t size);
char *__real_strdup(const char *text);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *memory, size_t size);
char *__wrap_strdup(const char *text);

static long until_failure = -1; /* < 0: nothing fails */

static bool fails(void)
{
    return until_failure >= 0 && until_failure-- == 0;
}

void *__wrap_malloc(size_t size)
{
    return fails() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
    return fails() ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *memory, size_t size)
{
    return fails() ? NULL : __real_realloc(memory, size);
}

char *__wrap_strdup(const char *text)
{
    return fails() ? NULL : __real_strdup(text);
}

/* jansson's writer is held to the same; its reader, out of memory, drops letters without a word
 * (2.14), so it is spared. */
static bool jansson_fails;

static void *jansson_malloc(size_t size)
{
    return jansson_fails ? __wrap_malloc(size) : __real_malloc(size);
}

typedef struct fixture {
    char folder[TEMPORARY_BYTES];
    pattern_variable variables[3];
    pattern pattern;
    run_summary run;
    char *record; /* text of a whole record */
    size_t record_bytes;
    char *output; /* of the last successful trial */
} fixture;

/* Does the job once; on AT_OK *output is what it made, for comparison (free). */
typedef at_status (*trial)(fixture *f, char **output, at_error *error);

/* Runs with the n-th allocation failing, until none is left to fail: each of the first, then every
 * 127th, since a Lua state that runs a template makes as many as there are texts in it. */
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
    jansson_fails = false;
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
    /* Whatever happened, the file is the old one or the new one. */
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

static at_status make_model(fixture *f, char **output, at_error *error)
{
    record_set set = {0};
    export_model m;
    const export_model *models[] = {&m};
    static const char *const all[] = {"header", "json", "wisdom", "t4"};
    at_status status = record_load_all(f->folder, "transpose", &set, error);
    if (status)
        return status;
    status = export_model_init(&m, "transpose", &set, NULL, error);
    if (!status) {
        export_files files = {0};
        for (size_t i = 0; i < sizeof all / sizeof *all && !status; i++) {
            const exporter *e;
            assert_ok(exporter_find(all[i], &e, error), *error);
            status = exporter_write(e, models, 1, "exported", &files, error);
        }
        if (!status)
            *output = __real_strdup(files.files[0].text);
        export_files_deinit(&files);
        export_model_deinit(&m);
    }
    record_set_deinit(&set);
    return status;
}

TEST_IN(exporting, set_up, tear_down)
{
    fail_each_allocation(*state, make_model);
}

static at_status print_json(fixture *f, char **output, at_error *error)
{
    json_t *found = report_pack(&f->run, 10), *words = report_pack_words(&f->run, 10);
    at_status status = AT_OK;
    if (found && words && json_object_update(found, words) == 0)
        status = json_text_format(found, 2, output, error);
    else
        status = error_set(error, AT_NO_MEMORY, "out of memory");
    json_decref(found);
    json_decref(words);
    return status;
}

TEST_IN(printing_the_object, set_up, tear_down)
{
    fixture *f = *state;
    run_summary_warn(&f->run, "a warning");
    jansson_fails = true;
    fail_each_allocation(f, print_json);
}

/* Without the pattern's script: what loading one does without memory is script/test_memory.c's. */
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

/* Without memory there is no progress, and that is no error. */
TEST_IN(showing_progress, set_up, tear_down)
{
    until_failure = 0;
    progress *p = progress_new(-1, false);
    until_failure = -1;
    assert_null(p);
    progress_update(p, &(progress_state){.stage = "search"});
    progress_free(p);
}

static int prepare(void **state)
{
    (void)state;
    /* jansson is a shared library: the linker does not reach its calls. */
    json_set_alloc_funcs(jansson_malloc, free);
    return 0;
}

TEST_GROUP(prepare, NULL)
