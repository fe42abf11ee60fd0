#include <string.h>

#include "check.h"
#include "history/recorded.h"

static const char cache[] =
    "{\"tune_params_keys\": [\"y\", \"x\", \"gone\"], \"cache\": {"
    "\"1\": {\"x\": 1, \"y\": 10, \"gone\": 0, \"time\": 3},"
    "\"2\": {\"x\": 2, \"y\": 10, \"gone\": 0, \"time\": 1},"
    "\"3\": {\"x\": 2, \"y\": 10, \"gone\": 1, \"time\": 2},"
    "\"4\": {\"x\": 1, \"y\": 20, \"gone\": 0, \"time\": \"RuntimeFailedConfig\"},"
    "\"5\": {\"x\": 3, \"y\": 20, \"gone\": 0, \"time\": 0.5},"
    "\"6\": {\"x\": 2, \"y\": 20, \"gone\": 0, \"time\": 4}}}";

static const value x_values[] = {{.integer = 1}, {.integer = 2}};
static const value y_values[] = {{.integer = 10}, {.integer = 20}};
static const value z_values[] = {{.integer = 5}, {.integer = 6}};

static space *make_space(const char *first)
{
    at_error error = {0};
    space *s = NULL;
    const space_parameter parameters[] = {
        {first, x_values, 2}, {"y", y_values, 2}, {"z", z_values, 2}};
    assert_ok(space_new(parameters, 3, NULL, 0, NULL, NULL, 0, &s, &error), error);
    return s;
}

TEST(fast_configurations_come_first_and_impossible_ones_are_left_out)
{
    at_error error = {0};
    recorded r;
    assert_ok(recorded_parse(cache, strlen(cache), "test", &r, &error), error);
    space *s = make_space("x");
    static const uint16_t otherwise[3] = {0, 0, 1};
    static const uint16_t expected[3][3] = {{1, 0, 1}, {0, 0, 1}, {1, 1, 1}};
    warm_start w;
    assert_ok(warm_start_init(&w, &r, s, otherwise, 100, &error), error);
    assert_int_equal(w.count, 3);
    assert_int_equal(w.unmatched, 1);
    for (size_t i = 0; i < 3; i++) {
        uint16_t indices[3];
        space_at(s, w.configurations[i], indices);
        assert_memory_equal(indices, expected[i], sizeof indices);
    }
    warm_start_deinit(&w);
    assert_ok(warm_start_init(&w, &r, s, otherwise, 2, &error), error);
    assert_int_equal(w.count, 2);
    warm_start_deinit(&w);
    space_free(s);
    recorded_deinit(&r);
}

TEST(a_recording_of_something_else_is_an_error)
{
    at_error error = {0};
    recorded r;
    static const char other[] =
        "{\"tune_params_keys\": [\"q\"], \"cache\": {\"1\": {\"q\": 1, \"time\": 3}}}";
    assert_ok(recorded_parse(other, strlen(other), "test", &r, &error), error);
    space *s = make_space("x");
    static const uint16_t otherwise[3] = {0};
    warm_start w;
    assert_int_equal(warm_start_init(&w, &r, s, otherwise, 10, &error), AT_NOT_FOUND);
    assert_non_null(strstr(error.message, "q"));
    space_free(s);
    recorded_deinit(&r);
}
