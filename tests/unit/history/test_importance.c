/* Importance of parameters. */
#include <stdio.h>
#include <string.h>

#include "check.h"

#include "history/history.h"
#include "history/importance.h"

/* A run over a, b, c in {0, 1} whose time is exp(of(a, b, c)). */
static void analyse(const double logs[8], importance *m, recorded *r)
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
    assert_ok(recorded_parse(text, strlen(text), "run.json", r, &error), error);
    assert_ok(importance_of(r, m, &error), error);
}

TEST(a_parameter_that_decides_alone_has_all_of_the_variance)
{
    importance m;
    recorded r;
    const double times[8] = {100, 200, 100, 200, 100, 200, 100, 200};
    analyse(times, &m, &r);
    assert_true(m.whole);
    assert_int_equal(m.parameters[0].parameter, 0);
    assert_float_equal(m.parameters[0].alone, 1, 1e-9);
    assert_float_equal(m.parameters[0].total, 1, 1e-9);
    assert_float_equal(m.parameters[0].worst, 2, 1e-9);
    assert_float_equal(m.parameters[1].total, 0, 1e-9);
    importance_deinit(&m);
    recorded_deinit(&r);
}

TEST(parameters_that_decide_only_together_are_a_pair)
{
    importance m;
    recorded r;
    const double times[8] = {100, 200, 200, 100, 100, 200, 200, 100};
    analyse(times, &m, &r);
    assert_int_equal(m.pairs[0].a, 0);
    assert_int_equal(m.pairs[0].b, 1);
    assert_float_equal(m.pairs[0].share, 1, 1e-9);
    assert_float_equal(m.parameters[0].alone, 0, 1e-9);
    assert_float_equal(m.parameters[0].total, 1, 1e-9);
    importance_deinit(&m);
    recorded_deinit(&r);
}

TEST(independent_effects_add_up)
{
    importance m;
    recorded r;
    double times[8], sum = 0;
    for (int i = 0; i < 8; i++)
        times[i] = 100.0 * (i & 1 ? 8 : 1) * (i & 2 ? 4 : 1) * (i & 4 ? 2 : 1);
    analyse(times, &m, &r);
    for (size_t i = 0; i < 3; i++) {
        assert_float_equal(m.parameters[i].alone, m.parameters[i].total, 1e-9);
        sum += m.parameters[i].alone;
    }
    assert_float_equal(sum, 1, 1e-9);
    assert_float_equal(m.parameters[0].alone, 9.0 / 14, 1e-9);
    importance_deinit(&m);
    recorded_deinit(&r);
}

TEST(one_configuration_decides_nothing)
{
    importance m;
    recorded r;
    at_error error = {0};
    const char text[] = "{\"pattern\": \"p\", \"counts\": {}, \"results\": "
                        "[{\"config\": {\"a\": 1}, \"outcome\": \"ok\", \"time_ns\": 5}]}";
    assert_ok(recorded_parse(text, strlen(text), "run.json", &r, &error), error);
    assert_int_equal(importance_of(&r, &m, &error), AT_NOT_FOUND);
    recorded_deinit(&r);
}
