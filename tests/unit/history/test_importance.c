#include <stdio.h>
#include <string.h>

#include "check.h"

#include "history/recorded.h"
#include "script/render.h"

/* Analyses the --json output of a run. Returns the answer, or NULL if the analysis fails. */
static json_t *analyse_text(const char *text, at_error *error)
{
    json_t *source, *found, *answer = NULL;
    assert_ok(recorded_open_text(text, strlen(text), "run.json", &source, error), *error);
    json_t *given = json_pack("{so ss si}", "source", source, "path", "run.json", "top", 10);
    if (script_compute("commands.importance", "run.json", given, &found, error) == AT_OK) {
        answer = json_incref(json_array_get(found, 0));
        json_decref(found);
    }
    json_decref(given);
    return answer;
}

/* Analyses a run with parameters a, b and c of values 0 and 1. The time of a configuration is
 * exp(logs[a + 2 b + 4 c]). */
static json_t *analyse(const double logs[8])
{
    char text[8192];
    at_error error = {0};
    int used =
        snprintf(text, sizeof text,
                 "{\"pattern\": \"p\", \"counts\": {}, \"space\": {\"valid\": 8}, \"results\": [");
    for (int i = 0; i < 8; i++)
        used += snprintf(text + used, sizeof text - (size_t)used,
                         "%s{\"config\": {\"a\": %d, \"b\": %d, \"c\": %d}, \"outcome\": \"ok\", "
                         "\"time_ns\": %.17g}",
                         i ? "," : "", i & 1, i >> 1 & 1, i >> 2, logs[i]);
    snprintf(text + used, sizeof text - (size_t)used, "]}");
    json_t *found = analyse_text(text, &error);
    assert_ok(error.status, error);
    return found;
}

static const json_t *member(const json_t *found, const char *list, size_t i, const char *name)
{
    return json_object_get(json_array_get(json_object_get(found, list), i), name);
}

static double figure(const json_t *found, const char *list, size_t i, const char *name)
{
    return json_number_value(member(found, list, i, name));
}

TEST(a_parameter_that_decides_alone_has_all_of_the_variance)
{
    const double times[8] = {100, 200, 100, 200, 100, 200, 100, 200};
    json_t *m = analyse(times);
    assert_true(json_is_true(json_object_get(m, "whole")));
    assert_string_equal(json_string_value(member(m, "parameters", 0, "name")), "a");
    assert_float_equal(figure(m, "parameters", 0, "alone"), 1, 1e-9);
    assert_float_equal(figure(m, "parameters", 0, "total"), 1, 1e-9);
    assert_float_equal(figure(m, "parameters", 0, "worst_value_ratio"), 2, 1e-9);
    assert_float_equal(figure(m, "parameters", 1, "total"), 0, 1e-9);
    json_decref(m);
}

TEST(parameters_that_decide_only_together_are_a_pair)
{
    const double times[8] = {100, 200, 200, 100, 100, 200, 200, 100};
    json_t *m = analyse(times);
    assert_string_equal(json_string_value(member(m, "pairs", 0, "a")), "a");
    assert_string_equal(json_string_value(member(m, "pairs", 0, "b")), "b");
    assert_float_equal(figure(m, "pairs", 0, "share"), 1, 1e-9);
    assert_float_equal(figure(m, "parameters", 0, "alone"), 0, 1e-9);
    assert_float_equal(figure(m, "parameters", 0, "total"), 1, 1e-9);
    json_decref(m);
}

TEST(independent_effects_add_up)
{
    double times[8], sum = 0;
    for (int i = 0; i < 8; i++)
        times[i] = 100.0 * (i & 1 ? 8 : 1) * (i & 2 ? 4 : 1) * (i & 4 ? 2 : 1);
    json_t *m = analyse(times);
    for (size_t i = 0; i < 3; i++) {
        const double alone = figure(m, "parameters", i, "alone");
        assert_float_equal(alone, figure(m, "parameters", i, "total"), 1e-9);
        sum += alone;
    }
    assert_float_equal(sum, 1, 1e-9);
    assert_float_equal(figure(m, "parameters", 0, "alone"), 9.0 / 14, 1e-9);
    json_decref(m);
}

TEST(one_configuration_decides_nothing)
{
    at_error error = {0};
    const char text[] = "{\"pattern\": \"p\", \"counts\": {}, \"results\": "
                        "[{\"config\": {\"a\": 1}, \"outcome\": \"ok\", \"time_ns\": 5}]}";
    assert_null(analyse_text(text, &error));
    assert_int_equal(error.status, AT_NOT_FOUND);
    assert_non_null(strstr(error.message, "so nothing can be compared"));
}
