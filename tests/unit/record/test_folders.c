/* Tests the search for records in folders: the order of records, and damaged files and entries. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "check.h"
#include "record/folders.h"
#include "temporary.h"

#define HEAD                                                                                       \
    "{\"schema\": \"autotune-record\", \"version\": 1, \"pattern\": \"copy\", \"gpu\": \"G\","     \
    " \"compute_capability\": \"9.0\", "
/* JSON of an entry for a problem n, whose only parameter is `block`. */
#define ENTRY(n, block)                                                                            \
    "{\"problem\": {\"n\": " #n "}, \"configuration\": {\"block\": " #block "},"                   \
    " \"time\": {\"median_ns\": 5, \"low_ns\": 4, \"high_ns\": 6}}"

typedef struct fixture {
    char folder[TEMPORARY_BYTES];
    char before[4096];
    record_folders folders;
    record_set set;
    at_error error;
} fixture;

static int set_up(void **state)
{
    static fixture f;
    f = (fixture){0};
    temporary_make(f.folder);
    assert_non_null(getcwd(f.before, sizeof f.before));
    assert_int_equal(chdir(f.folder), 0);
    unsetenv("AUTOTUNE_RESULTS");
    *state = &f;
    return 0;
}

static int tear_down(void **state)
{
    fixture *f = *state;
    record_set_deinit(&f->set);
    assert_int_equal(chdir(f->before), 0);
    temporary_remove(f->folder);
    return 0;
}

static void put(fixture *f, const char *folder, const char *name, const char *text)
{
    char path[256];
    snprintf(path, sizeof path, "%s/g", folder);
    assert_ok(file_make_folder(path, &f->error), f->error);
    snprintf(path, sizeof path, "%s/g/%s", folder, name);
    assert_ok(file_replace(path, text, strlen(text), &f->error), f->error);
}

static void search(fixture *f, const char *given, const paths *own)
{
    record_folders_find(given, own, &f->folders);
    assert_ok(record_search(&f->folders, NULL, &f->set, &f->error), f->error);
}

TEST_IN(a_folder_that_is_given_is_the_only_one, set_up, tear_down)
{
    fixture *f = *state;
    setenv("AUTOTUNE_RESULTS", "mine", 1);
    put(f, "mine", "copy.json", HEAD "\"entries\": [" ENTRY(1, 32) "]}");
    put(f, "other", "copy.json", HEAD "\"entries\": [" ENTRY(2, 64) "]}");
    search(f, "other", NULL);
    assert_int_equal(f->folders.count, 1);
    assert_int_equal(f->set.count, 1);
    assert_int_equal(f->set.records[0].entries[0].problem.pairs[0].value.integer, 2);
}

TEST_IN(results_are_searched_in_the_environments_current_and_installed_folders, set_up, tear_down)
{
    fixture *f = *state;
    paths own = {0};
    snprintf(own.lua_dir, sizeof own.lua_dir, "%s/share/lua", f->folder);
    setenv("AUTOTUNE_RESULTS", "mine", 1);
    put(f, "share/results", "copy.json", HEAD "\"entries\": [" ENTRY(3, 32) "]}");
    put(f, "results", "copy.json", HEAD "\"entries\": [" ENTRY(2, 32) "]}");
    put(f, "mine", "copy.json", HEAD "\"entries\": [" ENTRY(1, 32) "]}");
    search(f, NULL, &own);
    assert_int_equal(f->set.count, 3);
    for (int i = 0; i < 3; i++)
        assert_int_equal(f->set.records[i].entries[0].problem.pairs[0].value.integer, i + 1);
}

TEST_IN(a_repeated_record_is_left_out, set_up, tear_down)
{
    fixture *f = *state;
    setenv("AUTOTUNE_RESULTS", "mine", 1);
    put(f, "mine", "copy.json", HEAD "\"entries\": [" ENTRY(1, 32) ", " ENTRY(2, 32) "]}");
    put(f, "results", "copy.json", HEAD "\"entries\": [" ENTRY(2, 64) "]}");
    search(f, NULL, NULL);
    assert_int_equal(f->set.count, 1);
    assert_int_equal(f->set.records[0].entry_count, 2);
    assert_int_equal(f->set.records[0].entries[0].configuration.pairs[0].value.integer, 32);
}

TEST_IN(one_folder_by_two_names_is_searched_once, set_up, tear_down)
{
    fixture *f = *state;
    put(f, "results", "copy.json", HEAD "\"entries\": [" ENTRY(1, 32) "]}");
    setenv("AUTOTUNE_RESULTS", "./results", 1);
    search(f, NULL, NULL);
    assert_int_equal(f->folders.count, 1);
}

TEST_IN(without_any_folder_all_that_were_searched_are_named, set_up, tear_down)
{
    fixture *f = *state;
    setenv("AUTOTUNE_RESULTS", "mine", 1);
    record_folders_find(NULL, NULL, &f->folders);
    assert_int_equal(record_search(&f->folders, NULL, &f->set, &f->error), AT_NOT_FOUND);
    assert_non_null(strstr(f->error.message, "mine and results"));
}

TEST_IN(a_damaged_entry_costs_only_itself, set_up, tear_down)
{
    fixture *f = *state;
    put(f, "results", "copy.json",
        HEAD "\"entries\": [" ENTRY(1, 32) ", {\"problem\": 5}, 7, " ENTRY(
            4, 64) "],"
                   " \"portfolios\": [{\"fixed\": 3}, {\"fixed\": {}, \"configurations\": "
                   "[{\"block\": 8}],"
                   " \"tree\": [{\"order\": [0]}], \"problems\": [{\"problem\": {\"n\": 9},"
                   " \"baseline_ns\": 5, \"times_ns\": [7]}]}]}");
    search(f, NULL, NULL);
    const record *r = &f->set.records[0];
    assert_int_equal(r->entry_count, 2);
    assert_int_equal(r->entries[1].place, 3);
    assert_int_equal(r->entries[1].configuration.pairs[0].value.integer, 64);
    assert_int_equal(r->portfolio_count, 1);
    assert_int_equal(r->portfolios[0].place, 1);
    assert_int_equal(r->comparison_count, 1);
    assert_int_equal(r->seen[0].standing, RECORD_SLOWER);
    const record_faults *faults = &f->set.faults;
    assert_int_equal(faults->count, 3);
    assert_string_equal(faults->items[0].pointer, "/entries/1");
    assert_string_equal(faults->items[1].pointer, "/entries/2");
    assert_string_equal(faults->items[2].pointer, "/portfolios/0");
    assert_string_equal(faults->items[0].path, "results/g/copy.json");
    assert_non_null(strstr(faults->items[0].text, "results/g/copy.json: entry 2: problem must be"));
}

TEST_IN(a_damaged_file_costs_only_itself_and_is_named_with_its_line, set_up, tear_down)
{
    fixture *f = *state;
    put(f, "results", "copy.json", HEAD "\"entries\": [" ENTRY(1, 32) "]}");
    put(f, "results", "torn.json", "{\n  \"schema\": \"autotune-record\",\n  oops\n}");
    search(f, NULL, NULL);
    assert_int_equal(f->set.count, 1);
    assert_int_equal(f->set.faults.count, 1);
    assert_string_equal(f->set.faults.items[0].pointer, "");
    assert_non_null(strstr(f->set.faults.items[0].text, "results/g/torn.json:3: "));
}

TEST_IN(a_file_of_a_newer_version_costs_only_itself, set_up, tear_down)
{
    fixture *f = *state;
    put(f, "results", "copy.json", HEAD "\"entries\": [" ENTRY(1, 32) "]}");
    put(f, "results", "newer.json", "{\"schema\": \"autotune-record\", \"version\": 2}");
    search(f, NULL, NULL);
    assert_int_equal(f->set.count, 1);
    assert_non_null(strstr(f->set.faults.items[0].text, "which a newer autotune wrote"));
    assert_non_null(strstr(f->set.faults.items[0].text, "update autotune"));
}
