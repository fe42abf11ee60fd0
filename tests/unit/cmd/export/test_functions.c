/* Tests that functions in expressions, and derived values that become functions, have the same
 * results in an exported header as in Lua. If a function fails, the configuration is invalid. */
#include <inttypes.h>

#include "base/rng.h"
#include "check.h"
#include "device/arch.h"
#include "header_fixture.h"

enum { CALLS = 200 };

/* Appends constraints with random arguments. One of the constraints fails unless `tile` is 1. */
static void append_calls(char *where, rng *r, const char *const *failing, int failing_count)
{
    append(where, "where = {");
    for (int i = 0; i < CALLS; i++) {
        int64_t m = 1 + (int64_t)rng_below(r, 200),
                n = 1 + (int64_t)(rng_below(r, 1 << 20) >> rng_below(r, 20));
        int64_t blocks = 1 + (int64_t)rng_below(r, 16), resident = 1 + (int64_t)rng_below(r, 32);
        if (i % 50 == 0)
            n = CLUSTER_LOAD_MOST_CLUSTERS - i;
        append(where,
               "'cluster_load(%" PRId64 ", %" PRId64 ", %" PRId64 ", %" PRId64 ") == %" PRId64
               "', ",
               m, n, blocks, resident, cluster_load(m, n, blocks, resident));
    }
    for (int i = 0; i < failing_count; i++)
        append(where, "'tile ~= %d or %s >= 0', ", i + 2, failing[i]);
    append(where, "},");
}

/* Checks which of ten tiles the exported header allows, in C and in C++. `wanted` has '1' or '0'
 * for each tile. */
static void expect_fitting(const script *s, const char *wanted)
{
    static const char one_record[] =
        "{\"schema\": \"autotune-record\", \"version\": 1, \"pattern\": \"p\", \"gpu\": \"G\","
        " \"compute_capability\": \"9.0\", \"entries\": [{\"problem\": {\"n\": 1}, "
        "\"configuration\": {\"tile\": 1},"
        " \"time\": {\"median_ns\": 5, \"low_ns\": 4, \"high_ns\": 6}}]}";
    write_consumer(
        s, one_record,
        "#include \"p.h\"\n#include <stdio.h>\n"
        "#ifdef __cplusplus\n"
        "constexpr int64_t load(int64_t clusters)\n{\n    int failed = 0;\n"
        "    return autotune_cluster_load(132, clusters, 2, 1, &failed) + failed;\n}\n"
        "static_assert(load(66) == 1 && load(67) == 2, \"\");\n"
        "#endif\n"
        "int main(void)\n{\n    autotune_device d = autotune_device_named(\"G\", 9, 0);\n"
        "    autotune_p_problem p = {1};\n    autotune_p_config c = {1};\n"
        "    for (c.tile = 1; c.tile <= 10; c.tile++)\n"
        "        putchar('0' + autotune_p_fits(&d, &p, &c));\n    return 0;\n}\n");
    for (int c = 0; c < CONSUMER_COMPILERS; c++) {
        char *out = run_consumer(consumer_compilers[c]);
        assert_string_equal(out, wanted);
        free(out);
    }
}

TEST(cluster_load_is_the_same_in_c_and_lua)
{
    static const char *const failing[] = {
        "cluster_load(0, 1, 1, 1)",    "cluster_load(1, 0, 1, 1)",
        "cluster_load(1, 1, 0, 1)",    "cluster_load(1, 1, 1, 0)",
        "cluster_load(-1, 1, 1, 1)",   "cluster_load(1025, 1, 1, 1)",
        "cluster_load(1, 1, 1025, 1)", "cluster_load(1, (1 << 40) + 1, 1, 1)",
        "cluster_load(1, 1, 1, 1025)",
    };
    enum { FAILING = sizeof failing / sizeof *failing };
    static char where[HEADER_TEXT_BYTES];
    rng r = rng_seeded(3);
    append_calls(where, &r, failing, FAILING);
    script *s =
        fixture_load_pattern(&(fixture_pattern){.problem = "problem = { n = 1 },",
                                                .space = "space = { tile = at.range(1, 10) },",
                                                .where = where,
                                                .baseline = "baseline = { tile = 1 },"});
    for (uint16_t i = 0; i <= FAILING; i++) {
        bool valid = false;
        size_t broken;
        at_error error = {0};
        at_status status = script_valid(s, PROBLEM_TUNED, &i, &valid, &broken, &error);
        assert_int_equal(status, i == 0 ? AT_OK : AT_SCRIPT);
        assert_true(status || valid);
    }

    expect_fitting(s, "1000000000");
    script_free(s);
}

/* Appends "NAME = 'TEXT MORE ... MORE END', ". The text is long, so the derived value becomes a
 * function. */
static void append_long(char *derived, const char *name, const char *text, const char *more,
                        const char *end)
{
    append(derived, "%s = \"%s", name, text);
    for (size_t bytes = 0; bytes < 600; bytes += strlen(more))
        append(derived, "%s", more);
    append(derived, "%s\", ", end);
}

TEST(long_derived_values_are_the_same_in_c_and_lua)
{
    static char derived[HEADER_TEXT_BYTES] = "derived = { ";
    append_long(derived, "whole", "tile * 7 % 5", " + 0", "");
    append_long(derived, "number", "whole + tile / 4", " - 0.0", "");
    append_long(derived, "truth", "tile % 2 == 0", " and true", "");
    append_long(derived, "word", "tile > 5 and 'many'", " or tile > 90 and 'most'", " or 'few'");
    append_long(derived, "some", "tile > 3 and tile", " + 0",
                ""); /* the value is copied into expressions, so it does not become a function */
    append_long(derived, "broken", "6 // (tile - 7)", " + 0", "");
    append(derived, "},");
    script *s = fixture_load_pattern(
        &(fixture_pattern){.problem = "problem = { n = 1 },",
                           .space = "space = { tile = at.range(1, 10) },",
                           .where = "where = { \"number < 5.5 and number > whole\", \"truth or "
                                    "word == 'few'\", \"(some or 5) ~= 4\", "
                                    "\"tile < 4 or whole + broken + (some or 0) > 2\" },",
                           .baseline = "baseline = { tile = 1 },",
                           .extra = derived});
    char wanted[11] = "";
    for (uint16_t i = 0; i < 10; i++) {
        bool valid = false;
        size_t broken;
        at_error error = {0};
        at_status status = script_valid(s, PROBLEM_TUNED, &i, &valid, &broken, &error);
        wanted[i] = !status && valid ? '1' : '0';
    }
    assert_string_equal(wanted, "1110000101");
    expect_fitting(s, wanted);
    script_free(s);
}

TEST_GROUP(fixture_setup, fixture_teardown)
