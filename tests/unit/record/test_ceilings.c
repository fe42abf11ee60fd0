/* Tests the recorded ceilings of a GPU in results/<gpu>/device.json. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "check.h"
#include "record/ceilings.h"
#include "record/record.h"
#include "record/schema.h"
#include "sample_run.h"
#include "temporary.h"

typedef temporary_file fixture;

static void assert_contains(const char *text, const char *part)
{
    if (!strstr(text, part))
        fail_msg("no \"%s\" in: %s", part, text);
}

static int set_up(void **state)
{
    return temporary_file_set_up(state, "nvidia-h200/device.json");
}

/* Records the rate of a run whose median time is `median_ns`. */
static at_status merge(fixture *f, ceiling_kind kind, int64_t median_ns, const char *gpu)
{
    pattern_variable variables[3];
    pattern p = sample_pattern(8192, variables);
    run_summary s;
    sample_run(&s, &p, median_ns);
    snprintf(s.device.limits.name, sizeof s.device.limits.name, "%s", gpu);
    s.device.predicted = median_ns == 0;
    s.results[0].rates[WORK_FLOPS] = 10 * s.results[0].rates[WORK_BYTES];
    char path[256];
    at_status status = ceilings_merge(f->folder, &s, kind, path, sizeof path, &f->error);
    if (!status)
        assert_string_equal(path, f->path);
    run_summary_deinit(&s);
    return status;
}

static ceiling_rates kept(fixture *f)
{
    ceiling_rates rates;
    assert_ok(ceilings_read(f->folder, "NVIDIA H200", &rates, &f->error), f->error);
    return rates;
}

static void write_file(fixture *f, const char *text)
{
    at_error error = {0};
    char folder[TEMPORARY_BYTES + 64];
    snprintf(folder, sizeof folder, "%s/nvidia-h200", f->folder);
    assert_ok(file_make_folder(folder, &error), error);
    assert_ok(file_replace(f->path, text, strlen(text), &error), error);
}

TEST_IN(without_a_file_nothing_is_known, set_up, temporary_file_tear_down)
{
    const ceiling_rates rates = kept(*state);
    for (int i = 0; i < CEILING_KINDS; i++)
        assert_true(rates.rates[i] == 0);
}

TEST_IN(a_ceiling_is_stored_in_its_unit_until_a_new_measurement, set_up, temporary_file_tear_down)
{
    fixture *f = *state;
    assert_ok(merge(f, CEILING_COPY, 140000, "NVIDIA H200"), f->error);
    assert_ok(merge(f, CEILING_FP32, 140000, "NVIDIA H200"), f->error);
    ceiling_rates rates = kept(f);
    assert_true(rates.rates[CEILING_COPY] > 3834 && rates.rates[CEILING_COPY] < 3835);
    assert_true(rates.rates[CEILING_FP32] > 38347 && rates.rates[CEILING_FP32] < 38349);
    assert_true(rates.rates[CEILING_FP64] == 0);
    assert_ok(merge(f, CEILING_COPY, 280000, "NVIDIA H200"), f->error);
    rates = kept(f);
    assert_true(rates.rates[CEILING_COPY] > 1917 && rates.rates[CEILING_COPY] < 1918);
    assert_true(rates.rates[CEILING_FP32] > 38347);
}

TEST_IN(the_file_says_where_a_figure_is_from, set_up, temporary_file_tear_down)
{
    fixture *f = *state;
    char *text;
    size_t size_bytes;
    assert_ok(merge(f, CEILING_COPY, 140000, "NVIDIA H200"), f->error);
    assert_ok(file_read(f->path, 1 << 20, &text, &size_bytes, &f->error), f->error);
    static const char *const members[] = {"\"schema\": \"autotune-device\"",
                                          "\"gpu\": \"NVIDIA H200\"",
                                          "\"compute_capability\": \"9.0\"",
                                          "\"unit\": \"GB/s\"",
                                          "\"median_ns\": 140000",
                                          "\"rows\": 8192",
                                          "\"tile\": 32",
                                          "\"driver\": \"580.159.04\"",
                                          "\"nvrtc\": \"13.0\"",
                                          "\"date\": \"2"};
    for (size_t i = 0; i < sizeof members / sizeof *members; i++)
        if (!strstr(text, members[i]))
            fail_msg("%s is not in %s", members[i], text);
    free(text);
}

TEST_IN(what_another_version_wrote_is_kept, set_up, temporary_file_tear_down)
{
    fixture *f = *state;
    write_file(
        f,
        "{\"schema\": \"autotune-device\", \"version\": 1, \"gpu\": \"NVIDIA H200\", \"note\": 7, "
        "\"ceilings\": {\"tensor\": {\"rate\": \"x\"}, \"l2\": {\"rate\": 5000}}}");
    assert_ok(merge(f, CEILING_COPY, 140000, "NVIDIA H200"), f->error);
    assert_true(kept(f).rates[CEILING_L2] == 5000);
    json_t *root = json_load_file(f->path, 0, NULL);
    assert_int_equal(json_integer_value(json_object_get(root, "note")), 7);
    assert_non_null(json_object_get(json_object_get(root, "ceilings"), "tensor"));
    json_decref(root);
}

TEST_IN(a_damaged_file_is_an_error_and_stays, set_up, temporary_file_tear_down)
{
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"{", "not valid JSON"},
        {"[]", "not a file of a device's ceilings"},
        {"{\"schema\": \"autotune-device\", \"version\": 2}", "ceilings of version 2"},
        {"{\"schema\": \"autotune-device\", \"version\": 1}", "gpu must be"},
        {"{\"schema\": \"autotune-device\", \"version\": 1, \"gpu\": \"NVIDIA H200\"}",
         "ceilings must be an object"},
        {"{\"schema\": \"autotune-device\", \"version\": 1, \"gpu\": \"NVIDIA H200\", "
         "\"ceilings\": {\"copy\": "
         "{\"rate\": -1}}}",
         "a number above 0"},
        {"{\"schema\": \"autotune-device\", \"version\": 1, \"gpu\": \"NVIDIA T4\", \"ceilings\": "
         "{}}",
         "of another GPU, 'NVIDIA T4'"},
    };
    fixture *f = *state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ceiling_rates rates;
        char *after;
        size_t size_bytes;
        write_file(f, cases[i].text);
        assert_int_equal(ceilings_read(f->folder, "NVIDIA H200", &rates, &f->error), AT_FORMAT);
        assert_contains(f->error.message, cases[i].message);
        assert_int_equal(merge(f, CEILING_COPY, 140000, "NVIDIA H200"), AT_FORMAT);
        assert_ok(file_read(f->path, 1 << 20, &after, &size_bytes, &f->error), f->error);
        assert_string_equal(after, cases[i].text);
        free(after);
    }
}

static void count(void *context, const char *gpu, const char *ceiling, combine_change change,
                  const char *why)
{
    size_t *counts = context;
    assert_string_equal(gpu, "NVIDIA H200");
    assert_true(record_is_name(ceiling));
    assert_true((*why != '\0') == (change == COMBINE_REPLACED || change == COMBINE_KEPT));
    counts[change]++;
}

/* The target folder has a ceiling of May 1. `from` also has a ceiling that no other folder has. */
TEST_IN(the_newer_of_two_ceilings_is_taken, set_up, temporary_file_tear_down)
{
    static const struct {
        const char *from;
        combine_change change;
        double copy;
    } cases[] = {
        {"\"copy\": {\"rate\": 2, \"date\": \"2026-04-30T00:00:00Z\"}", COMBINE_KEPT, 1},
        {"\"copy\": {\"rate\": 2, \"date\": \"2026-05-02T00:00:00Z\"}", COMBINE_REPLACED, 2},
        {"\"copy\": {\"rate\": 2, \"date\": \"2026-05-01T00:00:00Z\"}", COMBINE_KEPT, 1},
        {"\"copy\": {\"rate\": 1, \"date\": \"2026-05-01T00:00:00Z\"}", COMBINE_SAME, 1},
        {"\"copy\": {\"rate\": 2}", COMBINE_KEPT, 1},
        {"\"tensor\": 5", COMBINE_ADDED, 1},
        {"\"no name\": {}, \"l2\": {\"rate\": 3}", COMBINE_ADDED, 1}};
    static const char file[] = "{\"schema\": \"autotune-device\", \"version\": 1, \"gpu\": "
                               "\"NVIDIA H200\", \"ceilings\": {%s}}";
    fixture *f = *state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        size_t counts[COMBINE_REMOVED + 1] = {0}, files, all = 0;
        char text[512], folder[TEMPORARY_BYTES + 64], path[TEMPORARY_BYTES + 96];
        record_faults faults = {0};
        snprintf(text, sizeof text, file,
                 "\"copy\": {\"rate\": 1, \"date\": \"2026-05-01T00:00:00Z\"}");
        write_file(f, text);
        snprintf(folder, sizeof folder, "%s/from", f->folder);
        assert_ok(file_make_folder(folder, &f->error), f->error);
        snprintf(path, sizeof path, "%s/device.json", folder);
        snprintf(text, sizeof text, file, cases[i].from);
        assert_ok(file_replace(path, text, strlen(text), &f->error), f->error);
        assert_ok(
            ceilings_combine(folder, f->folder, true, count, counts, &faults, &files, &f->error),
            f->error);
        assert_true(kept(f).rates[CEILING_COPY] == 1);
        assert_ok(
            ceilings_combine(folder, f->folder, false, count, counts, &faults, &files, &f->error),
            f->error);
        assert_int_equal(files, 1);
        assert_int_equal(faults.count, 0);
        assert_true(kept(f).rates[CEILING_COPY] == cases[i].copy);
        for (int c = 0; c <= COMBINE_REMOVED; c++)
            all += counts[c];
        assert_int_equal(counts[cases[i].change], 2);
        assert_int_equal(all, 2);
    }
}

TEST_IN(predictions_are_no_ceilings, set_up, temporary_file_tear_down)
{
    fixture *f = *state;
    assert_int_equal(merge(f, CEILING_COPY, 0, "NVIDIA H200"), AT_USAGE);
    assert_contains(f->error.message, "ceilings must be measured on a real GPU");
}

/* device.json is in the folder of records, although it is not a record. */
TEST_IN(the_file_of_ceilings_is_not_read_as_a_record, set_up, temporary_file_tear_down)
{
    fixture *f = *state;
    record_set all;
    char path[256];
    assert_ok(merge(f, CEILING_COPY, 140000, "NVIDIA H200"), f->error);
    assert_ok(record_load_all(f->folder, NULL, &all, &f->error), f->error);
    assert_int_equal(all.count, 0);
    assert_int_equal(all.faults.count, 0);
    record_set_deinit(&all);
    assert_int_equal(record_path(f->folder, "NVIDIA H200", "device", path, sizeof path, &f->error),
                     AT_USAGE);
}
