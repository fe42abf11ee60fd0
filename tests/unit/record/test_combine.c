/* Merged records may have two entries for one problem. Tests which entry stays. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "check.h"
#include "record/merge.h"
#include "temporary.h"

/* JSON of an entry for n = 1 with this date, block, time and template. `more` has further
 * members. */
#define ENTRY(date, block, ns, hash, more)                                                         \
    "{\"problem\": {\"n\": 1}, \"configuration\": {\"block\": " #block "}, \"date\": \"" date      \
    "\","                                                                                          \
    " \"hashes\": {\"script\": \"s\", \"template\": \"" hash "\"}, \"time\": {\"median_ns\": " #ns \
    ", \"low_ns\": " #ns ", \"high_ns\": " #ns "}" more "}"
#define RECORD(members)                                                                            \
    "{\"schema\": \"autotune-record\", \"version\": 1, \"pattern\": \"copy\", \"gpu\": \"G\","     \
    " \"compute_capability\": \"9.0\", " members "}"

typedef struct fixture {
    char folder[TEMPORARY_BYTES], path[TEMPORARY_BYTES + 32];
    size_t told[COMBINE_REMOVED + 1];
    char why[256];
    at_error error;
} fixture;

static int set_up(void **state)
{
    static fixture f;
    char folder[TEMPORARY_BYTES + 8];
    f = (fixture){0};
    temporary_make(f.folder);
    snprintf(folder, sizeof folder, "%s/g", f.folder);
    snprintf(f.path, sizeof f.path, "%s/copy.json", folder);
    assert_ok(file_make_folder(folder, &f.error), f.error);
    *state = &f;
    return 0;
}

static int tear_down(void **state)
{
    temporary_remove(((fixture *)*state)->folder);
    return 0;
}

static void tell(void *context, const record *r, const record_entry *e, const record_values *fixed,
                 combine_change change, const char *why)
{
    fixture *f = context;
    assert_true((e != NULL) != (fixed != NULL));
    assert_string_equal(r->pattern, "copy");
    f->told[change]++;
    snprintf(f->why, sizeof f->why, "%s", why);
}

static void merge(fixture *f, const char *there, const char *comes, bool dry)
{
    record from;
    if (there)
        assert_ok(file_replace(f->path, there, strlen(there), &f->error), f->error);
    assert_ok(record_parse(comes, strlen(comes), "from.json", NULL, &from, &f->error), f->error);
    assert_ok(record_combine(&from, f->folder, dry, tell, f, &f->error), f->error);
    record_deinit(&from);
}

static void expect_block(fixture *f, int64_t block)
{
    record r;
    assert_ok(record_read(f->path, &r, &f->error), f->error);
    assert_int_equal(r.entry_count, 1);
    assert_int_equal(record_get(&r.entries[0].configuration, "block")->integer, block);
    record_deinit(&r);
}

TEST_IN(where_there_is_no_record_it_is_made, set_up, tear_down)
{
    fixture *f = *state;
    static const char only[] =
        RECORD("\"entries\": [" ENTRY("2026-01-01T00:00:00Z", 1, 90, "t", "") "]");
    merge(f, NULL, only, false);
    expect_block(f, 1);
    assert_int_equal(f->told[COMBINE_ADDED], 1);
}

TEST_IN(the_newer_entry_is_taken_in_any_order, set_up, tear_down)
{
    fixture *f = *state;
    static const char old[] =
        RECORD("\"entries\": [" ENTRY("2026-01-01T00:00:00Z", 1, 90, "t", "") "]");
    static const char young[] =
        RECORD("\"entries\": [" ENTRY("2026-02-01T00:00:00Z", 2, 80, "t", "") "]");
    merge(f, old, young, false);
    expect_block(f, 2);
    assert_int_equal(f->told[COMBINE_REPLACED], 1);
    merge(f, NULL, old, false);
    expect_block(f, 2);
    assert_int_equal(f->told[COMBINE_KEPT], 1);
    assert_string_equal(f->why, "the newer one is taken");
}

TEST_IN(an_older_faster_entry_stays_if_the_newer_run_did_not_time_it, set_up, tear_down)
{
    fixture *f = *state;
    static const char old[] =
        RECORD("\"entries\": [" ENTRY("2026-01-01T00:00:00Z", 1, 70, "t", "") "]");
    static const char young[] =
        RECORD("\"entries\": [" ENTRY("2026-02-01T00:00:00Z", 2, 80, "t", "") "]");
    merge(f, old, young, false);
    expect_block(f, 1);
    /* Merging in the other direction must give the same result. */
    merge(f, young, old, false);
    expect_block(f, 1);
    assert_int_equal(f->told[COMBINE_KEPT], 1);
    assert_int_equal(f->told[COMBINE_REPLACED], 1);
}

TEST_IN(who_timed_it_or_has_another_template_knows_better, set_up, tear_down)
{
    fixture *f = *state;
    static const char old[] =
        RECORD("\"entries\": [" ENTRY("2026-01-01T00:00:00Z", 1, 70, "t", "") "]");
    static const char timed[] =
        RECORD("\"entries\": [" ENTRY("2026-02-01T00:00:00Z", 2, 80, "t",
                                      ", \"contenders\": [{\"configuration\": {\"block\": 1}, "
                                      "\"time\": {\"median_ns\": 81, \"low_ns\": 81,"
                                      " \"high_ns\": 81}}]") "]");
    static const char other[] =
        RECORD("\"entries\": [" ENTRY("2026-02-01T00:00:00Z", 3, 80, "u", "") "]");
    merge(f, old, timed, false);
    expect_block(f, 2);
    merge(f, old, other, false);
    expect_block(f, 3);
}

TEST_IN(what_is_the_same_or_only_tried_changes_nothing, set_up, tear_down)
{
    fixture *f = *state;
    static const char old[] =
        RECORD("\"entries\": [" ENTRY("2026-01-01T00:00:00Z", 1, 70, "t", "") "]");
    static const char young[] =
        RECORD("\"entries\": [" ENTRY("2026-02-01T00:00:00Z", 2, 60, "t", "") "]");
    char *text;
    merge(f, old, old, false);
    assert_int_equal(f->told[COMBINE_SAME], 1);
    merge(f, NULL, young, true);
    assert_int_equal(f->told[COMBINE_REPLACED], 1);
    assert_ok(file_read(f->path, 1 << 20, &text, NULL, &f->error), f->error);
    assert_string_equal(text, old);
    free(text);
}

TEST_IN(members_of_others_and_portfolios_come_along, set_up, tear_down)
{
    fixture *f = *state;
    static const char old[] = RECORD("\"comment\": 1, \"entries\": [" ENTRY(
        "2026-01-01T00:00:00Z", 1, 90, "t", ", \"note\": 2") "]");
    static const char young[] = RECORD(
        "\"entries\": [" ENTRY("2026-02-01T00:00:00Z", 2, 60, "t",
                               "") "], \"portfolios\": [{\"fixed\": {},"
                                   " \"configurations\": [{\"block\": 8}], \"tree\": [{\"order\": "
                                   "[0]}], \"date\": \"2026-02-01T00:00:00Z\"}]");
    char *text;
    merge(f, old, young, false);
    assert_int_equal(f->told[COMBINE_ADDED], 1);
    assert_ok(file_read(f->path, 1 << 20, &text, NULL, &f->error), f->error);
    assert_non_null(strstr(text, "\"comment\": 1"));
    assert_non_null(strstr(text, "\"note\": 2"));
    assert_non_null(strstr(text, "\"portfolios\""));
    free(text);
}

static const char *reason(void *context, const record *r, const record_entry *e)
{
    (void)r;
    return record_get(&e->configuration, "block")->integer == *(int64_t *)context ? "it is stale"
                                                                                  : NULL;
}

TEST_IN(pruning_removes_only_entries_with_a_reason, set_up, tear_down)
{
    fixture *f = *state;
    static const char text[] = RECORD("\"entries\": [" ENTRY("", 1, 70, "t", "") ", " ENTRY(
        "", 2, 70, "t", ", \"measured\": {\"cache\": \"warm\"}") "]");
    int64_t block = 1;
    assert_ok(file_replace(f->path, text, strlen(text), &f->error), f->error);
    assert_ok(record_prune(f->path, false, reason, &block, tell, f, &f->error), f->error);
    assert_int_equal(f->told[COMBINE_REMOVED], 1);
    assert_string_equal(f->why, "it is stale");
    expect_block(f, 2);
}
