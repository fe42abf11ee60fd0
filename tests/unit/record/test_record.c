#include <jansson.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/file.h"
#include "base/paths.h"
#include "check.h"
#include "record/record.h"
#include "record/summary.h"
#include "sample_run.h"
#include "temporary.h"

typedef temporary_file fixture;

static int set_up(void **state)
{
    return temporary_file_set_up(state, "nvidia-h200/transpose.json");
}

static record_change merge(fixture *f, int64_t rows, int64_t best_ns)
{
    pattern_variable variables[3];
    pattern p = sample_pattern(rows, variables);
    run_summary s;
    record_change change;
    sample_run(&s, &p, best_ns);
    assert_ok(record_merge(f->folder, &s, &change, &f->error), f->error);
    assert_string_equal(s.record_path, f->path);
    run_summary_deinit(&s);
    return change;
}

static void put_file(fixture *f, const char *text)
{
    char folder[TEMPORARY_BYTES + 32];
    snprintf(folder, sizeof folder, "%s/nvidia-h200", f->folder);
    assert_ok(file_make_folder(folder, &f->error), f->error);
    assert_ok(file_replace(f->path, text, strlen(text), &f->error), f->error);
}

/* Reads the file of the record. The caller frees *text. */
static void get_file(fixture *f, char **text)
{
    assert_ok(file_read(f->path, 1 << 24, text, NULL, &f->error), f->error);
}

TEST_IN(a_record_keeps_the_times_of_all_variants_by_the_parameter_that_explains_most, set_up,
        temporary_file_tear_down)
{
    fixture *f = *state;
    pattern_variable variables[3];
    pattern p = sample_pattern(8192, variables);
    run_summary s;
    record_change change;
    char *text;
    sample_run(&s, &p, 140000);
    /* The tile changes the time little, and the algorithm changes it much. */
    sample_result(&s, 1, 0, OUTCOME_OK, 150000);
    for (int i = 0; i < 600; i++)
        sample_result(&s, 0, 2, OUTCOME_OK, 1000000 + i);
    assert_ok(record_merge(f->folder, &s, &change, &f->error), f->error);
    run_summary_deinit(&s);
    get_file(f, &text);
    json_t *root = json_loads(text, 0, NULL);
    free(text);
    const json_t *entry = json_array_get(json_object_get(root, "entries"), 0);
    const json_t *landscape = json_object_get(entry, "landscape");
    const json_t *values = json_object_get(landscape, "values");
    assert_string_equal(json_string_value(json_object_get(landscape, "parameter")), "algorithm");
    assert_int_equal(json_integer_value(json_object_get(landscape, "variants")), 603);
    assert_int_equal(json_array_size(values), 2);
    const json_t *tiles = json_object_get(json_array_get(values, 0), "times_ns");
    const json_t *naive = json_object_get(json_array_get(values, 1), "times_ns");
    assert_int_equal(json_array_size(tiles), 2); /* of the first and the last tile */
    assert_int_equal(json_integer_value(json_array_get(tiles, 1)), 150000);
    assert_in_range(json_array_size(naive), 150, 256);
    assert_int_equal(json_integer_value(json_array_get(naive, json_array_size(naive) - 1)),
                     1000599);
    json_decref(root);
}

TEST(slugs_are_folder_names)
{
    static const char *const cases[][2] = {{"NVIDIA H200", "nvidia-h200"},
                                           {"NVIDIA A100-SXM4-80GB", "nvidia-a100-sxm4-80gb"},
                                           {"NVIDIA GeForce RTX 4090", "nvidia-geforce-rtx-4090"},
                                           {"NVIDIA H200 MIG 1g.18gb", "nvidia-h200-mig-1g-18gb"},
                                           {"  ../../etc  ", "etc"},
                                           {"///", "unknown"},
                                           {"", "unknown"}};
    char slug[PATHS_SLUG_BYTES];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        paths_slug(cases[i][0], slug);
        assert_string_equal(slug, cases[i][1]);
    }
    char many[1000];
    memset(many, 'A', sizeof many - 1);
    many[sizeof many - 1] = '\0';
    paths_slug(many, slug);
    assert_int_equal(strlen(slug), RECORD_NAME_BYTES - 1);
}

TEST_IN(a_written_run_is_read_back_unchanged, set_up, temporary_file_tear_down)
{
    fixture *f = *state;
    record r;
    assert_int_equal(merge(f, 8192, 140000), RECORD_ADDED);
    assert_ok(record_read(f->path, &r, &f->error), f->error);
    assert_string_equal(r.pattern, "transpose");
    assert_string_equal(r.gpu, "NVIDIA H200");
    assert_int_equal(r.major, 9);
    assert_int_equal(r.minor, 0);
    assert_int_equal(r.entry_count, 1);
    const record_entry *e = &r.entries[0];
    assert_int_equal(e->time_ns, 140000);
    assert_int_equal(e->time_low_ns, 139720);
    assert_int_equal(e->time_high_ns, 140280);
    assert_true(e->gbps > 3834 && e->gbps < 3835);
    assert_true(e->speedup > 7.14 && e->speedup < 7.15);
    assert_string_equal(record_get(&e->configuration, "algorithm")->string, "tile");
    assert_int_equal(record_get(&e->configuration, "tile")->integer, 32);
    assert_int_equal(record_get(&e->baseline, "tile")->integer, 16);
    assert_int_equal(record_get(&e->problem, "rows")->integer, 8192);
    assert_string_equal(record_get(&e->problem, "dtype")->string, "float");
    assert_null(record_get(&e->problem, "nothing"));
    assert_string_equal(e->tool, version_text());
    assert_int_equal(strlen(e->date), 20);
    assert_false(e->warm_cache);
    record_deinit(&r);
}

TEST_IN(flops_and_items_read_back_with_the_ceiling, set_up, temporary_file_tear_down)
{
    fixture *f = *state;
    pattern_variable variables[3];
    pattern p = sample_pattern(8192, variables);
    p.item = "keys";
    run_summary s;
    record_change change;
    record r;
    sample_run(&s, &p, 140000);
    s.work[WORK_FLOPS] = 1 << 30;
    s.work[WORK_ITEMS] = 1 << 20;
    s.results[0].rates[WORK_FLOPS] = 7669.6;
    s.results[0].rates[WORK_ITEMS] = 7.5;
    s.ceiling = CEILING_FP32;
    s.ceiling_rate = 60000;
    assert_ok(record_merge(f->folder, &s, &change, &f->error), f->error);
    run_summary_deinit(&s);
    assert_ok(record_read(f->path, &r, &f->error), f->error);
    assert_true(r.entries[0].gflops > 7669 && r.entries[0].gflops < 7670);
    assert_true(r.entries[0].gitems == 7.5);
    assert_string_equal(r.entries[0].item, "keys");
    assert_string_equal(r.entries[0].ceiling, "fp32");
    record_deinit(&r);
}

TEST_IN(a_run_that_ended_before_its_default_was_tried_reads_back, set_up, temporary_file_tear_down)
{
    fixture *f = *state;
    pattern_variable variables[3];
    pattern p = sample_pattern(8192, variables);
    run_summary s;
    record_change change;
    record r;
    sample_run(&s, &p, 140000);
    s.has_baseline = false;
    assert_ok(record_merge(f->folder, &s, &change, &f->error), f->error);
    run_summary_deinit(&s);
    assert_ok(record_read(f->path, &r, &f->error), f->error);
    assert_int_equal(r.entry_count, 1);
    assert_int_equal(r.entries[0].baseline.count, 0);
    record_deinit(&r);
}

TEST_IN(the_file_has_all_conditions_of_the_measurement, set_up, temporary_file_tear_down)
{
    fixture *f = *state;
    merge(f, 8192, 140000);
    char *text;
    get_file(f, &text);
    static const char *const members[] = {
        "\"schema\": \"autotune-record\"",
        "\"sm_count\": 132",
        "\"driver\": \"580.159.04\"",
        "\"cuda\": \"13.0\"",
        "\"nvrtc\": \"13.0\"",
        "\"script\": \"0",
        "\"template\": \"0",
        "\"source\": \"0",
        "\"verdict\": \"clear\"",
        "\"ceiling_gbps\": 4057",
        "\"compile_error\": 1",
    };
    for (size_t i = 0; i < sizeof members / sizeof *members; i++)
        if (!strstr(text, members[i]))
            fail_msg("%s is not in %s", members[i], text);
    static const char *const numbers[] = {"\"version\": 1", "\"samples\": 40", "\"registers\": 32",
                                          "\"seed\": 1"};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        const char *at = strstr(text, numbers[i]);
        if (!at || strchr("0123456789.e", at[strlen(numbers[i])]))
            fail_msg("%s is not in %s", numbers[i], text);
    }
    free(text);
}

TEST_IN(each_problem_has_one_entry, set_up, temporary_file_tear_down)
{
    fixture *f = *state;
    record r;
    assert_int_equal(merge(f, 8192, 140000), RECORD_ADDED);
    assert_int_equal(merge(f, 4096, 70000), RECORD_ADDED);
    assert_int_equal(merge(f, 8192, 150000), RECORD_REPLACED);
    assert_ok(record_read(f->path, &r, &f->error), f->error);
    assert_int_equal(r.entry_count, 2);
    assert_int_equal(r.entries[0].time_ns, 150000);
    assert_int_equal(r.entries[1].time_ns, 70000);
    record_deinit(&r);
}

TEST_IN(what_says_that_results_are_right_is_kept_and_stands_for_a_reference_where_it_is_not, set_up,
        temporary_file_tear_down)
{
    fixture *f = *state;
    pattern_variable variables[3];
    pattern p = sample_pattern(8192, variables);
    run_summary s;
    record_change change;
    record r;
    merge(f, 4096, 70000);
    sample_run(&s, &p, 90000);
    s.oracle = ORACLE_BASELINE;
    assert_ok(record_merge(f->folder, &s, &change, &f->error), f->error);
    run_summary_deinit(&s);
    assert_ok(record_read(f->path, &r, &f->error), f->error);
    assert_string_equal(r.entries[0].oracle, "reference");
    assert_string_equal(r.entries[1].oracle, "baseline");
    record_deinit(&r);
}

TEST_IN(cold_and_warm_results_do_not_replace_each_other, set_up, temporary_file_tear_down)
{
    fixture *f = *state;
    pattern_variable variables[3];
    pattern p = sample_pattern(8192, variables);
    run_summary s;
    record_change change;
    record r;
    merge(f, 8192, 140000);
    sample_run(&s, &p, 90000);
    s.warm_cache = true;
    assert_ok(record_merge(f->folder, &s, &change, &f->error), f->error);
    assert_int_equal(change, RECORD_ADDED);
    run_summary_deinit(&s);
    assert_ok(record_read(f->path, &r, &f->error), f->error);
    assert_int_equal(r.entry_count, 2);
    assert_false(r.entries[0].warm_cache);
    assert_true(r.entries[1].warm_cache);
    record_deinit(&r);
}

/* Merges the sample run. Its best configuration differs from that of the record. */
static record_change merge_without_the_recorded_best(fixture *f, int64_t best_ns,
                                                     const char *template_hash)
{
    pattern_variable variables[3];
    pattern p = sample_pattern(8192, variables);
    run_summary s;
    record_change change;
    assert_ok(run_summary_init(&s, &p, PROBLEM_TUNED, &f->error), f->error);
    run_summary_deinit(&s);
    sample_run(&s, &p, best_ns);
    s.results[0].values[1] = sample_tiles[2];
    snprintf(s.template_hash, sizeof s.template_hash, "%s", template_hash);
    assert_ok(record_merge(f->folder, &s, &change, &f->error), f->error);
    run_summary_deinit(&s);
    return change;
}

TEST_IN(a_short_run_does_not_push_out_a_faster_result, set_up, temporary_file_tear_down)
{
    fixture *f = *state;
    record r;
    const char *same_template = "00000000000000000000000000000002";
    merge(f, 8192, 140000);
    assert_int_equal(merge_without_the_recorded_best(f, 170000, same_template), RECORD_KEPT);
    assert_ok(record_read(f->path, &r, &f->error), f->error);
    assert_int_equal(r.entries[0].time_ns, 140000);
    record_deinit(&r);
    /* The intervals of the two times overlap, so the entry is replaced. */
    assert_int_equal(merge_without_the_recorded_best(f, 140100, same_template), RECORD_REPLACED);
}

TEST_IN(a_changed_template_ends_the_claim_of_an_earlier_result, set_up, temporary_file_tear_down)
{
    fixture *f = *state;
    merge(f, 8192, 140000);
    assert_int_equal(merge_without_the_recorded_best(f, 170000, "another"), RECORD_REPLACED);
}

TEST_IN(a_slower_remeasurement_of_the_recorded_best_replaces_it, set_up, temporary_file_tear_down)
{
    fixture *f = *state;
    merge(f, 8192, 140000);
    assert_int_equal(merge(f, 8192, 170000), RECORD_REPLACED);
}

TEST_IN(members_of_others_are_kept, set_up, temporary_file_tear_down)
{
    fixture *f = *state;
    put_file(f,
             "{\"schema\": \"autotune-record\", \"version\": 1, \"pattern\": \"transpose\","
             " \"gpu\": \"NVIDIA H200\", \"compute_capability\": \"9.0\", \"comment\": \"ours\","
             " \"entries\": [{\"problem\": {\"rows\": 8192, \"cols\": 8192, \"dtype\": \"float\"},"
             " \"configuration\": {\"tile\": 16}, \"note\": [1, 0.1],"
             " \"time\": {\"median_ns\": 1, \"low_ns\": 1, \"high_ns\": 1}},"
             " {\"problem\": {\"rows\": 7}, \"configuration\": {}, \"other\": {\"x\": null},"
             " \"time\": {\"median_ns\": 1, \"low_ns\": 1, \"high_ns\": 1}}]}");
    assert_int_equal(merge(f, 8192, 140000), RECORD_REPLACED);
    char *text;
    get_file(f, &text);
    assert_non_null(strstr(text, "\"comment\": \"ours\""));
    assert_non_null(strstr(text, "\"note\": ["));
    assert_non_null(strstr(text, "0.1\n"));
    assert_non_null(strstr(text, "\"other\": {"));
    assert_non_null(strstr(text, "\"median_ns\": 140000"));
    free(text);
}

TEST_IN(a_file_of_another_version_is_named_and_left_alone, set_up, temporary_file_tear_down)
{
    fixture *f = *state;
    static const char newer[] = "{\"schema\": \"autotune-record\", \"version\": 2}";
    pattern_variable variables[3];
    pattern p = sample_pattern(8192, variables);
    run_summary s;
    record_change change;
    put_file(f, newer);
    assert_int_equal(record_check_writable(f->folder, "NVIDIA H200", "transpose", &f->error),
                     AT_FORMAT);
    assert_string_equal(f->error.file, f->path);
    assert_non_null(strstr(f->error.message, "version 2, which a newer autotune wrote"));
    assert_non_null(strstr(f->error.message, "choose another results folder"));
    sample_run(&s, &p, 140000);
    assert_int_equal(record_merge(f->folder, &s, &change, &f->error), AT_FORMAT);
    run_summary_deinit(&s);
    char *text;
    get_file(f, &text);
    assert_string_equal(text, newer);
    free(text);
}

TEST_IN(a_damaged_file_is_named_with_its_line_and_left_alone, set_up, temporary_file_tear_down)
{
    fixture *f = *state;
    static const char damaged[] = "{\n  \"schema\": \"autotune-record\",\n  oops\n}";
    pattern_variable variables[3];
    pattern p = sample_pattern(8192, variables);
    run_summary s;
    record_change change;
    put_file(f, damaged);
    sample_run(&s, &p, 140000);
    assert_int_equal(record_merge(f->folder, &s, &change, &f->error), AT_FORMAT);
    run_summary_deinit(&s);
    assert_int_equal(f->error.line, 3);
    assert_string_equal(f->error.file, f->path);
    assert_non_null(strstr(f->error.message, "line 3, column 6"));
    char *text;
    get_file(f, &text);
    assert_string_equal(text, damaged);
    free(text);
}

TEST(invalid_entries_are_refused)
{
    static const char *const entries[] = {
        "1",
        "{}",
        "{\"problem\": {}, \"configuration\": {}}",
        "{\"problem\": {\"a b\": 1}, \"configuration\": {}, \"time\": T}",
        "{\"problem\": {\"a\": null}, \"configuration\": {}, \"time\": T}",
        "{\"problem\": {\"a\": [1]}, \"configuration\": {}, \"time\": T}",
        "{\"problem\": {\"a\": \"x\\ny\"}, \"configuration\": {}, \"time\": T}",
        "{\"problem\": {\"a\": \"\\u009b\"}, \"configuration\": {}, \"time\": T}",
        "{\"problem\": {}, \"configuration\": {\"1x\": 1}, \"time\": T}",
        "{\"problem\": {}, \"configuration\": {}, \"time\": {\"median_ns\": 1}}",
        "{\"problem\": {}, \"configuration\": {}, \"time\": T, \"gbps\": -1}",
        "{\"problem\": {}, \"configuration\": {}, \"time\": T, \"gbps\": \"4\"}",
        "{\"problem\": {}, \"configuration\": {}, \"time\": T, \"baseline\": 3}",
        "{\"problem\": {}, \"configuration\": {}, \"time\": T, \"measured\": {\"cache\": \"x\"}}",
        "{\"problem\": {}, \"configuration\": {}, \"time\": T, \"oracle\": \"Delphi\"}",
        "{\"problem\": {}, \"problem\": {}, \"configuration\": {}, \"time\": T}",
    };
    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++) {
        char text[2048];
        const char *time = strstr(entries[i], "T");
        snprintf(text, sizeof text,
                 "{\"schema\": \"autotune-record\", \"version\": 1, \"pattern\": \"p\","
                 " \"gpu\": \"G\", \"compute_capability\": \"9.0\", \"entries\": [%.*s%s%s]}",
                 time ? (int)(time - entries[i]) : (int)strlen(entries[i]), entries[i],
                 time ? "{\"median_ns\": 2, \"low_ns\": 1, \"high_ns\": 3}" : "",
                 time ? time + 1 : "");
        record r;
        at_error error = {0};
        if (record_parse(text, strlen(text), "r.json", NULL, &r, &error) != AT_FORMAT)
            fail_msg("accepted: %s", text);
        assert_string_equal(error.file, "r.json");
    }
}

TEST(invalid_heads_are_refused)
{
    static const char *const texts[] = {
        "",
        "[]",
        "null",
        "{\"schema\": \"other\", \"version\": 1}",
        "{\"schema\": \"autotune-record\"}",
        "{\"schema\": \"autotune-record\", \"version\": \"1\"}",
        "{\"schema\": \"autotune-record\", \"version\": 1, \"pattern\": \"../x\"}",
        "{\"schema\": \"autotune-record\", \"version\": 1, \"pattern\": \"p\", \"gpu\": 3}",
        "{\"schema\": \"autotune-record\", \"version\": 1, \"pattern\": \"p\", \"gpu\": \"G\","
        " \"compute_capability\": \"9\", \"entries\": []}",
        "{\"schema\": \"autotune-record\", \"version\": 1, \"pattern\": \"p\", \"gpu\": \"G\","
        " \"compute_capability\": \"9.0x\", \"entries\": []}",
        "{\"schema\": \"autotune-record\", \"version\": 1, \"pattern\": \"p\", \"gpu\": \"G\","
        " \"compute_capability\": \"9.0\", \"entries\": {}}",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        record r;
        at_error error = {0};
        if (record_parse(texts[i], strlen(texts[i]), "r.json", NULL, &r, &error) != AT_FORMAT)
            fail_msg("accepted: %s", texts[i]);
    }
}

TEST_IN(predictions_and_runs_without_a_winner_are_not_recorded, set_up, temporary_file_tear_down)
{
    fixture *f = *state;
    pattern_variable variables[3];
    pattern p = sample_pattern(8192, variables);
    run_summary s;
    record_change change;
    sample_run(&s, &p, 140000);
    s.device.predicted = true;
    assert_int_equal(record_merge(f->folder, &s, &change, &f->error), AT_USAGE);
    s.device.predicted = false;
    s.best_found = false;
    assert_int_equal(record_merge(f->folder, &s, &change, &f->error), AT_USAGE);
    run_summary_deinit(&s);
    assert_int_not_equal(access(f->path, F_OK), 0);
}

TEST_IN(runs_at_once_lose_nothing, set_up, temporary_file_tear_down)
{
    fixture *f = *state;
    enum { CHILDREN = 6, MERGES = 5 };
    pid_t children[CHILDREN];
    for (int c = 0; c < CHILDREN; c++) {
        children[c] = fork();
        assert_true(children[c] >= 0);
        if (children[c] == 0) {
            for (int i = 0; i < MERGES; i++)
                merge(f, 1 + c * MERGES + i, 1000 + c);
            _exit(0);
        }
    }
    for (int c = 0; c < CHILDREN; c++) {
        int status;
        waitpid(children[c], &status, 0);
        assert_int_equal(status, 0);
    }
    record r;
    assert_ok(record_read(f->path, &r, &f->error), f->error);
    assert_int_equal(r.entry_count, CHILDREN * MERGES);
    record_deinit(&r);
}

TEST_IN(a_full_disk_leaves_the_earlier_record, set_up, temporary_file_tear_down)
{
    fixture *f = *state;
    merge(f, 8192, 140000);
    char *before;
    get_file(f, &before);
    pid_t child = fork();
    if (child == 0) {
        struct rlimit limit = {1024, 1024};
        pattern_variable variables[3];
        pattern p = sample_pattern(4096, variables);
        run_summary s;
        record_change change;
        signal(SIGXFSZ, SIG_IGN);
        sample_run(&s, &p, 1000);
        setrlimit(RLIMIT_FSIZE, &limit);
        bool right =
            record_check_writable(f->folder, "NVIDIA H200", "transpose", &f->error) == AT_IO &&
            record_merge(f->folder, &s, &change, &f->error) == AT_IO &&
            strstr(f->error.message, "File too large") && s.record_path[0] == '\0';
        _exit(right ? 0 : 1);
    }
    int status;
    waitpid(child, &status, 0);
    assert_int_equal(status, 0);
    char *after;
    get_file(f, &after);
    assert_string_equal(after, before);
    free(before);
    free(after);
}

TEST_IN(record_check_writable_finds_unwritable_paths, set_up, temporary_file_tear_down)
{
    fixture *f = *state;
    char file[TEMPORARY_BYTES + 32];
    assert_ok(record_check_writable(f->folder, "NVIDIA H200", "transpose", &f->error), f->error);
    snprintf(file, sizeof file, "%s/results", f->folder);
    assert_ok(file_replace(file, "x", 1, &f->error), f->error);
    assert_int_equal(record_check_writable(file, "NVIDIA H200", "transpose", &f->error), AT_IO);
    assert_int_equal(record_check_writable("/proc/results", "G", "transpose", &f->error), AT_IO);
    assert_int_equal(record_check_writable(f->folder, "G", "../transpose", &f->error), AT_USAGE);
}

TEST_IN(all_records_of_a_pattern_are_found, set_up, temporary_file_tear_down)
{
    fixture *f = *state;
    record_set set;
    char other[TEMPORARY_BYTES + 64];
    merge(f, 8192, 140000);
    char *text;
    get_file(f, &text);
    char *gpu = strstr(text, "NVIDIA H200");
    assert_non_null(gpu);
    memcpy(gpu, "NVIDIA A100", 11);
    snprintf(other, sizeof other, "%s/nvidia-a100", f->folder);
    assert_ok(file_make_folder(other, &f->error), f->error);
    snprintf(other, sizeof other, "%s/nvidia-a100/transpose.json", f->folder);
    assert_ok(file_replace(other, text, strlen(text), &f->error), f->error);
    snprintf(other, sizeof other, "%s/nvidia-a100/notes.txt", f->folder);
    assert_ok(file_replace(other, "x", 1, &f->error), f->error);
    free(text);
    assert_ok(record_load_all(f->folder, "transpose", &set, &f->error), f->error);
    assert_int_equal(set.count, 2);
    assert_string_equal(set.records[0].gpu, "NVIDIA A100");
    assert_string_equal(set.records[1].gpu, "NVIDIA H200");
    record_set_deinit(&set);
    assert_ok(record_load_all(f->folder, "copy", &set, &f->error), f->error);
    assert_int_equal(set.count, 0);
    record_set_deinit(&set);
    snprintf(other, sizeof other, "%s/nothing", f->folder);
    assert_int_equal(record_load_all(other, NULL, &set, &f->error), AT_NOT_FOUND);
}
