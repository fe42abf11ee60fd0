#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "check.h"
#include "history/recorded.h"
#include "journal/line.h"
#include "script/render.h"

static const char cache[] =
    "{\"device_name\": \"GPU\", \"kernel_name\": \"k\", \"tune_params_keys\": [\"x\", \"mode\"],\n"
    " \"tune_params\": {\"x\": [1, 2], \"mode\": [\"a\", \"b\"]}, \"objective\": \"time\",\n"
    " \"cache\": {\n"
    "\"1,a\": {\"x\": 1, \"mode\": \"a\", \"time\": 2.5, \"times\": [2.5, 2.6],\n"
    "  \"compile_time\": 100, \"verification_time\": 3, \"benchmark_time\": 7},\n"
    "\"2,a\": {\"x\": 2, \"mode\": \"a\", \"time\": \"CompilationFailedConfig\"},\n"
    "\"2,b\": {\"x\": 2, \"mode\": \"b\", \"time\": \"RuntimeFailedConfig\"},\n"
    "\"1,b\": {\"x\": 1, \"mode\": \"b\", \"time\": 1.5}";
static const char closing[] = "\n}\n}";

static const char t4[] =
    "{\"schema_version\": \"1.0.0\", \"metadata\": {\"timeunit\": \"miliseconds\"}, \"results\": ["
    "{\"configuration\": {\"x\": 1, \"mode\": \"a\"}, \"times\": {\"compilation\": 100,"
    " \"validation\": 3, \"runtimes\": [3, 4]}, \"invalidity\": \"correct\", \"correctness\": 1,"
    " \"measurements\": [{\"name\": \"time\", \"value\": 2.5, \"unit\": \"\"}],"
    " \"objectives\": [\"time\"]},"
    "{\"configuration\": {\"x\": 2, \"mode\": \"a\"}, \"times\": {}, \"invalidity\": \"compile\","
    " \"correctness\": 0, \"measurements\": [], \"objectives\": [\"time\"]},"
    "{\"configuration\": {\"x\": 1, \"mode\": \"a\"}, \"times\": {}, \"invalidity\": \"timeout\","
    " \"correctness\": 0}]}";

static recorded parse(const char *text)
{
    at_error error = {0};
    recorded r;
    assert_ok(recorded_parse(text, strlen(text), "test", &r, &error), error);
    return r;
}

/* Converts a text to the format of another tool. */
static json_t *convert(const char *text, const char *format, at_error *error)
{
    json_t *source, *document;
    assert_ok(recorded_open_text(text, strlen(text), "test", &source, error), *error);
    json_t *given =
        json_pack("{so ss ss}", "source", source, "format", format, "name", "a file's name");
    script_compute("commands.convert", "test", given, &document, error);
    json_decref(given);
    return document;
}

/* Returns the T4 name of the outcome of result `i`. Sets *samples to the number of its samples. */
static const char *invalidity_of(const json_t *document, size_t i, size_t *samples)
{
    const json_t *result = json_array_get(json_object_get(document, "results"), i);
    *samples = json_array_size(json_object_get(json_object_get(result, "times"), "runtimes"));
    return json_string_value(json_object_get(result, "invalidity"));
}

TEST(a_kernel_tuner_cache_is_read)
{
    char text[2048];
    snprintf(text, sizeof text, "%s%s", cache, closing);
    recorded r = parse(text);
    assert_int_equal(r.parameter_count, 2);
    assert_string_equal(r.names[1], "mode");
    assert_string_equal(r.device, "GPU");
    assert_int_equal(r.result_count, 4);
    assert_int_equal(r.results[0].values[0].integer, 1);
    assert_string_equal(r.results[0].values[1].string, "a");
    assert_true(r.results[0].cost == 2.5);
    assert_float_equal(r.results[0].elapsed_s, 0.11, 1e-12);
    assert_true(isinf(r.results[1].cost));
    recorded_deinit(&r);

    at_error error = {0};
    size_t samples;
    json_t *t4_text = convert(text, "t4", &error);
    assert_string_equal(invalidity_of(t4_text, 0, &samples), "correct");
    assert_int_equal(samples, 2);
    assert_string_equal(invalidity_of(t4_text, 1, &samples), "compile");
    assert_string_equal(invalidity_of(t4_text, 2, &samples), "runtime");
    json_decref(t4_text);
}

TEST(an_unfinished_cache_is_read)
{
    char text[2048];
    snprintf(text, sizeof text, "%s,\n", cache);
    recorded r = parse(text);
    assert_int_equal(r.result_count, 4);
    recorded_deinit(&r);
}

/* Python's json module writes NaN for a missing measurement. NaN inside a string must stay. */
TEST(nan_is_a_missing_value)
{
    static const char text[] =
        "{\"device_name\": \"Infinity \\\" NaN\", \"kernel_name\": \"k\", "
        "\"tune_params_keys\": [\"x\"],\n"
        "\"cache\": {\n"
        "\"1\": {\"x\": 1, \"time\": 2.5, \"times\": [2.5, NaN, 2.75], \"watts\": NaN},\n"
        "\"2\": {\"x\": 2, \"time\": NaN, \"times\": [], \"joules\": [-Infinity,NaN]},\n"
        "\"3\": {\"x\": 3, \"time\": 1.5, \"compile_time\":Infinity},\n";
    recorded r = parse(text);
    assert_string_equal(r.device, "Infinity \" NaN");
    assert_int_equal(r.result_count, 3);
    assert_true(r.results[0].cost == 2.5);
    assert_true(isinf(r.results[1].cost));
    assert_true(r.results[2].cost == 1.5);
    assert_true(r.results[2].elapsed_s == 0);
    recorded_deinit(&r);

    at_error error = {0};
    size_t samples;
    json_t *converted = convert(text, "t4", &error);
    assert_string_equal(invalidity_of(converted, 0, &samples), "correct");
    assert_int_equal(samples, 2);
    json_decref(converted);
    const char *const parameter =
        "{\"cache\": {\"1\": {\"x\": NaN, \"time\": 1}}, \"tune_params_keys\": [\"x\"]}";
    assert_int_equal(recorded_parse(parameter, strlen(parameter), "test", &r, &error), AT_FORMAT);
    assert_non_null(strstr(error.message, "has no value for 'x'"));
}

TEST(t4_results_are_read_and_the_first_of_equals_counts)
{
    recorded r = parse(t4);
    assert_int_equal(r.result_count, 2);
    assert_true(r.results[0].cost == 2.5);
    assert_float_equal(r.results[0].elapsed_s, 0.11, 1e-12);
    assert_true(isinf(r.results[1].cost));
    recorded_deinit(&r);
}

TEST(a_gzip_file_is_read)
{
    char path[] = "/tmp/test_recorded_XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    gzFile file = gzopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(gzwrite(file, t4, sizeof t4 - 1), sizeof t4 - 1);
    assert_int_equal(gzclose(file), Z_OK);
    at_error error = {0};
    recorded r;
    assert_ok(recorded_read(path, &r, &error), error);
    assert_int_equal(r.result_count, 2);
    recorded_deinit(&r);
    remove(path);
    assert_int_equal(recorded_read(path, &r, &error), AT_NOT_FOUND);
}

/* The parsed file would take a hundred times as much memory as its bytes. */
TEST(a_file_that_would_take_gigabytes_is_refused_early)
{
    enum { ROWS = 1 << 14, REPEATS = 1 << 10 };
    char path[] = "/tmp/test_recorded_XXXXXX";
    static char row[3 * ROWS + 1];
    for (size_t i = 0; i < ROWS; i++)
        memcpy(row + 3 * i, "{},", 3);
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    gzFile file = gzdopen(fd, "wb1");
    for (size_t i = 0; i < REPEATS; i++)
        assert_int_equal(gzwrite(file, row, 3 * ROWS), 3 * ROWS);
    assert_int_equal(gzclose(file), Z_OK);
    at_error error = {0};
    recorded r;
    assert_int_equal(recorded_read(path, &r, &error), AT_FORMAT);
    assert_non_null(strstr(error.message, "MiB of memory; the limit is 4096 MiB"));
    remove(path);
}

/* The file has 0.5 MiB. It repeats one member, which unpacks to 1 MiB, 513 times, and so exceeds
 * the limit. */
TEST(a_file_that_unpacks_to_more_than_the_limit_is_refused)
{
    enum { MEMBER_BYTES = 1 << 20, MEMBERS = 513 };
    char path[] = "/tmp/test_recorded_XXXXXX";
    static char blanks[MEMBER_BYTES], packed[MEMBER_BYTES];
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    gzFile file = gzdopen(dup(fd), "wb");
    memset(blanks, ' ', sizeof blanks);
    assert_int_equal(gzwrite(file, blanks, sizeof blanks), sizeof blanks);
    assert_int_equal(gzclose(file), Z_OK);
    ssize_t size = pread(fd, packed, sizeof packed, 0);
    assert_in_range(size, 1, 4096);
    for (int i = 1; i < MEMBERS; i++)
        assert_int_equal(write(fd, packed, (size_t)size), size);
    close(fd);
    at_error error = {0};
    recorded r;
    assert_int_equal(recorded_read(path, &r, &error), AT_FORMAT);
    assert_non_null(strstr(error.message, "the unpacked file is larger than 512 MiB, the limit"));
    remove(path);
}

TEST(a_pipe_is_refused_and_not_waited_for)
{
    char folder[] = "/tmp/test_recorded_XXXXXX", path[64];
    at_error error = {0};
    recorded r;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/pipe", folder);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_int_equal(recorded_read(path, &r, &error), AT_IO);
    assert_non_null(strstr(error.message, "device or pipe"));
    remove(path);
    rmdir(folder);
}

TEST(written_results_are_read_back_unchanged)
{
    char text[2048];
    snprintf(text, sizeof text, "%s%s", cache, closing);
    recorded r = parse(text);
    at_error error = {0};
    static const char *const formats[] = {"kernel-tuner", "t4"};
    for (size_t f = 0; f < sizeof formats / sizeof *formats; f++) {
        json_t *document = convert(text, formats[f], &error), *names, *again;
        char *written = json_dumps(document, JSON_REAL_PRECISION(17));
        recorded back = parse(written);
        assert_int_equal(back.result_count, r.result_count);
        assert_int_equal(back.parameter_count, r.parameter_count);
        for (size_t i = 0; i < r.result_count; i++) {
            assert_true(back.results[i].cost == r.results[i].cost);
            for (size_t p = 0; p < r.parameter_count; p++)
                assert_true(value_equal(back.results[i].values[p], r.results[i].values[p]));
        }
        /* Outcomes, times and samples are kept. Names that T4 does not have are lost. */
        names = convert(written, formats[f], &error);
        again = convert(text, formats[f], &error);
        if (f == 0)
            assert_true(json_equal(names, again));
        else
            assert_true(json_equal(json_array_get(json_object_get(names, "results"), 0),
                                   json_array_get(json_object_get(again, "results"), 0)));
        json_decref(names);
        json_decref(again);
        recorded_deinit(&back);
        json_decref(document);
        free(written);
    }
    assert_null(convert(text, "t5", &error));
    assert_int_equal(error.status, AT_USAGE);
    assert_non_null(strstr(error.message, "'t4'"));
    recorded_deinit(&r);
}

TEST(the_last_journal_line_of_a_variant_counts)
{
    static const int64_t slow[] = {5000000, 4000000, 6000000}, fast[] = {2000000};
    const journal_entry entries[] = {
        {.found.outcome = OUTCOME_OK,
         .configuration = "x=1,mode=a",
         .found.message = "",
         .found.samples_ns = slow,
         .found.sample_count = 3},
        {.found.outcome = OUTCOME_TIMEOUT, .configuration = "x=2,mode=a", .found.message = "slow"},
        {.found.outcome = OUTCOME_OK,
         .configuration = "x=1,mode=b",
         .found.message = "",
         .found.samples_ns = slow,
         .found.sample_count = 3},
        {.found.outcome = OUTCOME_OK,
         .configuration = "x=1,mode=a",
         .found.message = "",
         .found.samples_ns = fast,
         .found.sample_count = 1,
         .found.compile_ns = 300000000,
         .found.check_ns = 1500000},
    };
    char text[4096] = "";
    at_error error = {0};
    for (size_t i = 0; i < 4; i++) {
        char *line = NULL;
        journal_key key = {{(unsigned char)i}};
        assert_ok(journal_line_of_entry(1, key, key, &entries[i], &line, &error), error);
        strcat(text, line);
        free(line);
    }
    recorded r = parse(text);
    assert_int_equal(r.result_count, 3);
    assert_true(r.results[0].cost == 2);
    assert_float_equal(r.results[0].elapsed_s, 0.3035, 1e-12);
    assert_true(r.results[1].cost == 5);
    assert_string_equal(r.results[1].values[1].string, "b");
    assert_true(isinf(r.results[2].cost));
    recorded_deinit(&r);
    size_t samples;
    json_t *converted = convert(text, "t4", &error);
    assert_string_equal(invalidity_of(converted, 2, &samples), "timeout");
    json_decref(converted);
}

TEST(damaged_files_are_errors)
{
    static const char *const texts[] = {
        "",
        "{",
        "[]",
        "{\"results\": []}",
        "{\"results\": [1]}",
        "{\"results\": [{\"configuration\": {}}]}",
        "{\"results\": [{\"configuration\": {\"x\": []}}]}",
        "{\"results\": [{\"configuration\": {\"x\": 1}, \"invalidity\": \"correct\"}]}",
        "{\"cache\": {}}",
        "{\"cache\": {\"1\": {\"time\": 1}}, \"tune_params_keys\": [\"x\"]}",
        "{\"cache\": {\"1\": 7}, \"tune_params_keys\": [\"x\"]}",
        "{\"cache\": {\"1\": {\"x\": 1}}, \"tune_params_keys\": [7]}",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        at_error error = {0};
        recorded r;
        assert_int_equal(recorded_parse(texts[i], strlen(texts[i]), "test", &r, &error), AT_FORMAT);
        assert_true(error.message[0] != '\0');
    }
}

TEST(the_space_consists_of_the_recorded_configurations)
{
    char text[2048];
    snprintf(text, sizeof text, "%s%s", cache, closing);
    recorded r = parse(text);
    recorded_space rs;
    at_error error = {0};
    r.result_count = 3;
    assert_ok(recorded_space_init(&rs, &r, &error), error);
    assert_int_equal(rs.count, 3);
    assert_int_equal(space_cartesian(rs.space), 4);
    for (size_t k = 0; k < r.result_count; k++) {
        size_t found = 0;
        for (uint64_t i = 0; i < rs.count; i++) {
            uint16_t indices[2];
            space_at(rs.space, i, indices);
            bool same = true;
            for (size_t p = 0; p < 2; p++)
                same = same && value_equal(space_get_parameter(rs.space, p)->values[indices[p]],
                                           r.results[k].values[p]);
            assert_true(!same || rs.cost[i] == r.results[k].cost);
            found += same;
        }
        assert_int_equal(found, 1);
    }
    recorded_space_deinit(&rs);
    r.result_count = 4;
    recorded_deinit(&r);
}

TEST(a_value_written_in_two_ways_is_one_value)
{
    static const char *const pairs[][2] = {{"1", "1.0"},
                                           {"0", "-0.0"},
                                           {"0.0", "-0.0"},
                                           {"9007199254740992", "9007199254740992.0"},
                                           {"-9223372036854775808", "-9223372036854775808.0"}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        char text[1024];
        at_error error = {0};
        recorded_space rs;
        snprintf(text, sizeof text,
                 "{\"results\": ["
                 "{\"configuration\": {\"x\": %s}, \"times\": {\"runtimes\": [3]},"
                 " \"invalidity\": \"correct\", \"correctness\": 1,"
                 " \"measurements\": [{\"name\": \"time\", \"value\": 1}]},"
                 "{\"configuration\": {\"x\": %s}, \"times\": {\"runtimes\": [4]},"
                 " \"invalidity\": \"correct\", \"correctness\": 1,"
                 " \"measurements\": [{\"name\": \"time\", \"value\": 2}]}]}",
                 pairs[i][0], pairs[i][1]);
        recorded r = parse(text);
        assert_int_equal(r.result_count, 1);
        assert_ok(recorded_space_init(&rs, &r, &error), error);
        assert_int_equal(rs.count, 1);
        recorded_space_deinit(&rs);
        recorded_deinit(&r);
    }
}
