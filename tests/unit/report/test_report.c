#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "rendered.h"
#include "report/report.h"
#include "sample_run.h"

typedef struct fixture {
    pattern_variable variables[3];
    pattern pattern;
    run_summary run;
    char *text;     /* the last output */
    size_t columns; /* width of the page in letters; 0 stands for 100 */
} fixture;

static int set_up(void **state)
{
    static fixture f;
    memset(&f, 0, sizeof f);
    f.pattern = sample_pattern(8192, f.variables);
    sample_run(&f.run, &f.pattern, 140000);
    *state = &f;
    return 0;
}

static int tear_down(void **state)
{
    fixture *f = *state;
    run_summary_deinit(&f->run);
    free(f->text);
    return 0;
}

static const char *print_text(fixture *f, size_t top, bool colour)
{
    free(f->text);
    f->text = render_page("tune", report_pack(&f->run, top), report_pack_text_values(&f->run, top),
                          f->columns ? (int)f->columns : 100, colour);
    return f->text;
}

static json_t *print_object(fixture *f, size_t top)
{
    json_t *root = report_pack(&f->run, top);
    assert_non_null(root);
    return root;
}

static void assert_has(const char *text, const char *part)
{
    if (!strstr(text, part))
        fail_msg("'%s' is not in:\n%s", part, text);
}

static void assert_page_fits(const char *text, size_t columns)
{
    while (*text) {
        size_t length = strcspn(text, "\n");
        if (length > columns && strncmp(text, "best ", 5) != 0 &&
            strncmp(text, "baseline ", 9) != 0)
            fail_msg("%zu columns: %.*s", length, (int)length, text);
        text += length + (text[length] == '\n');
    }
}

TEST_IN(the_table_names_the_winner_and_its_lead, set_up, tear_down)
{
    fixture *f = *state;
    const char *text = print_text(f, 10, false);
    assert_has(text, "transpose on NVIDIA H200 (sm_90, driver 580.159.04)\n");
    assert_has(text, "rows=8192 cols=8192 dtype=float; cold cache; 512 MiB to move");
    assert_has(text, "time us");
    assert_has(text, "140.0");
    assert_has(text, "0.20 %");
    assert_has(text, "1000.0");
    assert_has(text, "clear");
    assert_has(text, "7.14 times as fast as the baseline, 0.945 of a copy");
    assert_has(text, "best        algorithm=tile,tile=32\n");
    assert_has(text, "4 tried of 4 valid (6 in the full product): 2 ok, 1 compile_error, "
                     "1 wrong_result");
    assert_has(text, "3.20 s in all; of it, overlapping: compile 1.25 s (all workers), "
                     "measure 0.75 s\n");
    assert_null(strchr(text, '\033'));
}

TEST_IN(each_way_to_fail_has_an_example, set_up, tear_down)
{
    fixture *f = *state;
    const char *text = print_text(f, 10, false);
    assert_has(text, "  wrong_result, for example algorithm=tile,tile=16\n    it went wrong\n");
    assert_has(text, "  compile_error, for example algorithm=tile,tile=64\n");
}

/* A message of 300 characters, with a line of the compiler below it. */
static const char long_message[] = "element (3,17) of dst is 0 where 8.5 is expected; thread "
                                   "(1,0,0) of block (2,0,0) wrote 4 bytes at "
                                   "global address 0x700000004000, 4 bytes after the end of src "
                                   "(16384 bytes), at transpose.cu.tmpl:41, "
                                   "and the same thread wrote there twice more before the launch "
                                   "ended, which the guards show as well\n"
                                   "  see transpose.cu.tmpl:41";

TEST_IN(the_whole_message_of_a_failure_is_shown_wrapped, set_up, tear_down)
{
    fixture *f = *state;
    set_message(&f->run.results[2], long_message);
    const char *text = print_text(f, 10, false);
    assert_has(text, "    element (3,17) of dst is 0 where 8.5 is expected;");
    assert_has(text, "show as well\n      see transpose.cu.tmpl:41\n");
    assert_page_fits(text, 100);
    f->columns = 60;
    text = print_text(f, 10, false);
    assert_has(text, "as well\n");
    assert_page_fits(text, 60);
}

TEST_IN(the_object_has_every_message_once_and_whole, set_up, tear_down)
{
    fixture *f = *state;
    set_message(&f->run.results[2], long_message);
    json_t *root = print_object(f, 1), *failures = json_object_get(root, "failures");
    assert_int_equal(json_array_size(failures), 2);
    json_t *first = json_array_get(failures, 0);
    assert_string_equal(json_string_value(json_object_get(first, "message")), long_message);
    assert_string_equal(json_string_value(json_object_get(first, "outcome")), "wrong_result");
    assert_int_equal(json_integer_value(json_object_get(first, "count")), 1);
    assert_non_null(json_object_get(json_object_get(first, "config"), "tile"));
    json_decref(root);
    set_message(&f->run.results[3], long_message);
    f->run.results[3].found.outcome = OUTCOME_WRONG_RESULT;
    root = print_object(f, 10);
    failures = json_object_get(root, "failures");
    assert_int_equal(json_array_size(failures), 1);
    assert_int_equal(json_integer_value(json_object_get(json_array_get(failures, 0), "count")), 2);
    json_t *last = json_array_get(json_object_get(root, "results"), 3);
    assert_string_equal(json_string_value(json_object_get(last, "message")), long_message);
    json_decref(root);
}

/* Columns that do not fit beside the times move to a table below. No value is split. */
TEST_IN(narrow_pages_keep_values_whole, set_up, tear_down)
{
    fixture *f = *state;
    f->columns = 60;
    const char *text = print_text(f, 10, false);
    assert_page_fits(text, 60);
    assert_has(text, "\n      algorithm=tile tile=32");
    assert_has(text, "occupancy");
    f->columns = 100;
    assert_has(print_text(f, 10, false), "occup");
}

TEST_IN(the_baseline_is_shown_even_below_the_top, set_up, tear_down)
{
    fixture *f = *state;
    assert_has(print_text(f, 1, false), "base   1000.0");
    assert_has(print_text(f, 10, false), "base   1000.0");
    assert_has(f->text, "baseline    algorithm=naive,tile=16\n");
}

TEST_IN(ties_and_doubts_are_said, set_up, tear_down)
{
    fixture *f = *state;
    f->run.results[1].tied = true;
    f->run.verdict = VERDICT_TIED;
    f->run.tied_count = 1;
    const char *text = print_text(f, 10, false);
    assert_has(text, "tied with 1 other\n");
    assert_has(text, "tied");
    f->run.verdict = VERDICT_NOISY;
    assert_has(print_text(f, 10, false), "noisy: ");
    f->run.verdict = VERDICT_INCONCLUSIVE;
    f->run.end = RUN_END_EVALUATIONS;
    text = print_text(f, 10, false);
    assert_has(text, "inconclusive: ");
    assert_has(text, "the limit of variants was reached");
    run_summary_warn(&f->run, "the clocks fell by %d %%", 7);
    assert_has(print_text(f, 10, false), "warning     the clocks fell by 7 %\n");
}

TEST_IN(a_run_without_a_winner_says_so, set_up, tear_down)
{
    fixture *f = *state;
    f->run.best_found = f->run.has_baseline = false;
    f->run.results[0].found.outcome = f->run.results[1].found.outcome = OUTCOME_TIMEOUT;
    assert_has(print_text(f, 10, false), "no variant is known to be right yet\n");
    f->run.counts[OUTCOME_OK] = 0;
    assert_has(print_text(f, 10, false), "no variant worked\n");
    json_t *root = print_object(f, 10);
    assert_true(json_is_null(json_object_get(root, "best")));
    assert_true(json_is_null(json_object_get(root, "baseline")));
    json_decref(root);
}

TEST_IN(only_colour_differs_on_a_terminal, set_up, tear_down)
{
    fixture *f = *state;
    char *plain = strdup(print_text(f, 10, false));
    const char *coloured = print_text(f, 10, true);
    assert_non_null(strchr(coloured, '\033'));
    char *stripped = calloc(strlen(coloured) + 1, 1);
    size_t n = 0;
    for (const char *c = coloured; *c; c++) {
        if (*c == '\033')
            c = strchr(c, 'm');
        else
            stripped[n++] = *c;
    }
    assert_string_equal(stripped, plain);
    free(stripped);
    free(plain);
}

TEST_IN(outside_texts_cannot_command_the_terminal, set_up, tear_down)
{
    fixture *f = *state;
    snprintf(f->run.device.limits.name, sizeof f->run.device.limits.name, "GPU\033[2J\n");
    set_message(&f->run.results[2], "bad \033]0;x\a kernel");
    const char *text = print_text(f, 10, false);
    assert_null(strchr(text, '\033'));
    assert_null(strchr(text, '\a'));
    assert_has(text, "GPU?[2J?");
}

/* The space has eight parameters with long names. The table has twelve rows, with figures of
 * every size. */
TEST_IN(wide_spaces_still_fit_the_page, set_up, tear_down)
{
    fixture *f = *state;
    static const char *const names[] = {"algorithm",     "tile_rows",   "tile_columns",
                                        "block_threads", "vector_read", "vector_pad",
                                        "block_order",   "cache_hint"};
    enum { COUNT = 8, ROWS = 12 };
    run_summary_deinit(&f->run);
    pattern p = f->pattern;
    space_parameter parameters[COUNT];
    for (size_t i = 0; i < COUNT; i++)
        parameters[i] = (space_parameter){names[i], sample_tiles, 3};
    p.parameters = parameters;
    p.parameter_count = COUNT;
    at_error error = {0};
    assert_ok(run_summary_init(&f->run, &p, PROBLEM_TUNED, &error), error);
    for (int r = 0; r < ROWS; r++) {
        run_result *result;
        assert_ok(run_summary_add(&f->run, "x=1", OUTCOME_OK, &result, &error), error);
        for (size_t i = 0; i < COUNT; i++)
            result->values[i] =
                (value){.kind = VALUE_STRING, .string = r % 2 ? "grouped" : "linear"};
        result->time = (stats_summary){
            .count = 9, .median_ns = 123456 * (r + 1), .low_ns = 123000, .high_ns = 133000};
        result->found.has_resources = true;
        result->found.resources.spill_load_bytes = 4096;
    }
    f->run.best_found = true;
    const char *text = print_text(f, 12, false);
    assert_has(text, "\n      algorithm=grouped tile_rows=grouped");
    assert_page_fits(text, 100);
    f->run.results[0].values[0].string = "linear";
    /* A parameter that varies gets a column. A value that all rows share is stated once. */
    for (int r = 0; r < ROWS; r++)
        for (size_t i = 1; i < COUNT; i++)
            f->run.results[r].values[i].string = "linear";
    text = print_text(f, 12, false);
    assert_page_fits(text, 100);
    assert_has(text, "  rows 1 to 12: tile_rows=linear tile_columns=linear");
}

/* Changes the run's work to floating-point operations. */
static void use_flops(fixture *f, double ceiling_rate)
{
    f->run.work[WORK_BYTES] = 0;
    f->run.work[WORK_FLOPS] = UINT64_C(2) << 39;
    f->run.ceiling = CEILING_FP32;
    f->run.ceiling_rate = ceiling_rate;
    for (size_t i = 0; i < f->run.result_count; i++) {
        run_result *r = &f->run.results[i];
        r->rates[WORK_BYTES] = 0;
        r->rates[WORK_FLOPS] =
            r->time.count ? (double)f->run.work[WORK_FLOPS] / (double)r->time.median_ns : 0;
        r->ceiling_fraction = ceiling_rate > 0 ? r->rates[WORK_FLOPS] / ceiling_rate : 0;
    }
}

TEST_IN(a_share_is_of_the_ceiling_that_the_heading_names, set_up, tear_down)
{
    fixture *f = *state;
    use_flops(f, 10e6);
    const char *text = print_text(f, 10, false);
    assert_has(text, "; 1100 GFLOP to do; the FP32 rate is 10000000 GFLOP/s\n");
    assert_has(text, "GFLOP/s  of fp32");
    assert_has(text, "78.5 %");
    assert_has(text, ", 0.785 of the FP32 rate");
    assert_null(strstr(text, "copy"));
    json_t *root = print_object(f, 10);
    assert_string_equal(json_string_value(json_object_get(root, "ceiling")), "fp32");
    assert_string_equal(json_string_value(json_object_get(root, "rate")), "gflops");
    assert_string_equal(json_string_value(json_object_get(root, "rate_unit")), "GFLOP/s");
    assert_true(json_number_value(json_object_get(root, "ceiling_rate")) == 10e6);
    assert_true(json_is_null(json_object_get(root, "ceiling_gbps")));
    assert_true(json_is_null(json_object_get(json_object_get(root, "best"), "gbps")));
    assert_true(json_number_value(json_object_get(json_object_get(root, "best"), "gflops")) >
                7.8e6);
    json_decref(root);
}

TEST_IN(an_unknown_ceiling_gives_no_share, set_up, tear_down)
{
    fixture *f = *state;
    use_flops(f, 0);
    const char *text = print_text(f, 10, false);
    assert_has(text, "the FP32 rate is not known here:\n'autotune ceilings' measures it");
    assert_null(strstr(text, "of fp32"));
    f->run.device.predicted = true;
    assert_null(strstr(print_text(f, 10, false), "not known"));
}

TEST_IN(items_are_counted_by_their_name, set_up, tear_down)
{
    fixture *f = *state;
    use_flops(f, 0);
    f->run.ceiling = CEILING_NONE;
    f->run.item = "keys";
    f->run.work[WORK_ITEMS] = 1 << 20;
    for (size_t i = 0; i < 2; i++)
        f->run.results[i].rates[WORK_ITEMS] = 7.49;
    const char *text = print_text(f, 10, false);
    assert_has(text, "; 1,048,576 keys");
    assert_has(text, "GFLOP/s  Gkeys/s   vs best");
    assert_has(text, "7.490");
}

TEST_IN(the_object_has_every_promised_member, set_up, tear_down)
{
    fixture *f = *state;
    snprintf(f->run.record_path, sizeof f->run.record_path, "results/nvidia-h200/transpose.json");
    json_t *root = print_object(f, 10);
    static const char *const members[] = {
        "pattern", "problem", "device",       "space",   "counts",       "best",    "baseline",
        "speedup", "wall_s",  "ceiling_gbps", "stages",  "record",       "version", "traffic_bytes",
        "flops",   "items",   "item",         "ceiling", "ceiling_rate", "rate",    "rate_unit"};
    static const char *const of_variant[] = {
        "config",           "time_ns",   "ci_ns",       "gbps",
        "ceiling_fraction", "registers", "spill_bytes", "shared_bytes",
        "occupancy",        "gflops",    "gitems"};
    for (size_t i = 0; i < sizeof members / sizeof *members; i++)
        if (!json_object_get(root, members[i]))
            fail_msg("no member %s", members[i]);
    for (size_t i = 0; i < sizeof of_variant / sizeof *of_variant; i++)
        if (!json_object_get(json_object_get(root, "best"), of_variant[i]) ||
            !json_object_get(json_object_get(root, "baseline"), of_variant[i]))
            fail_msg("no member %s", of_variant[i]);
    const char *kind, *name, *arch, *type, *algorithm, *path;
    json_int_t cartesian, valid, ok, wrong, rows, time, low, high, registers, spill, shared;
    double enumerate_s, speedup, fraction;
    json_error_t e;
    int failed = json_unpack_ex(
        root, &e, 0,
        "{s{ss ss ss} s{sI sI} s{sI sI} s{sI ss} s{s{ss} sI s[II] sI sI sI sF} s{sF} sF ss}",
        "device", "kind", &kind, "name", &name, "arch", &arch, "space", "cartesian", &cartesian,
        "valid", &valid, "counts", "ok", &ok, "wrong_result", &wrong, "problem", "rows", &rows,
        "dtype", &type, "best", "config", "algorithm", &algorithm, "time_ns", &time, "ci_ns", &low,
        &high, "registers", &registers, "spill_bytes", &spill, "shared_bytes", &shared, "occupancy",
        &fraction, "stages", "enumerate_s", &enumerate_s, "speedup", &speedup, "record", &path);
    if (failed)
        fail_msg("%s", e.text);
    assert_string_equal(kind, "cuda");
    assert_string_equal(name, "NVIDIA H200");
    assert_string_equal(arch, "sm_90");
    assert_int_equal(cartesian, 6);
    assert_int_equal(valid, 4);
    assert_int_equal(ok, 2);
    assert_int_equal(wrong, 1);
    assert_int_equal(rows, 8192);
    assert_string_equal(algorithm, "tile");
    assert_int_equal(time, 140000);
    assert_int_equal(low, 139720);
    assert_int_equal(high, 140280);
    assert_int_equal(shared, 4224);
    assert_true(enumerate_s > 0.0039 && enumerate_s < 0.0041);
    assert_string_equal(path, "results/nvidia-h200/transpose.json");
    assert_int_equal(json_array_size(json_object_get(root, "results")), 4);
    json_decref(root);
}

TEST_IN(a_compiled_run_lists_resources_by_occupancy, set_up, tear_down)
{
    fixture *f = *state;
    run_summary *s = &f->run;
    s->compiled_only = true;
    s->best_found = false;
    s->device = (device_properties){.arch = "sm_90"};
    s->results[0].occupancy = (occupancy){2, 16, 0.25, OCCUPANCY_REGISTERS};
    s->results[0].found.resources.registers = 128;
    s->results[0].found.resources.spill_store_bytes = 16;
    const char *text = print_text(f, 10, false);
    assert_has(text, "transpose compiled for sm_90\n");
    const char *first = strstr(text, "naive"), *second = strstr(text, "25 %");
    assert_non_null(first);
    assert_non_null(second);
    assert_true(first < second);
    assert_has(text, "registers   32 to 128 a thread; 1 spill\n");
    assert_has(text, "occupancy   1 of 2 variants can fill the SM's warps\n");
    assert_null(strstr(text, "no variant worked"));
    assert_has(print_text(f, 1, false), "... and 1 more (--top)");
    json_t *root = print_object(f, 10);
    const char *kind;
    assert_int_equal(json_unpack(root, "{s{ss}}", "device", "kind", &kind), 0);
    assert_string_equal(kind, "none");
    json_decref(root);
}
