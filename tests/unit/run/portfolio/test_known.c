/* Tests what a portfolio learns from the runs on its problems. */
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run/portfolio/known.h"

enum { TILES = 4 };

typedef struct fixture {
    known known;
    value problems[2], tiles[TILES], tile[1];
    space_parameter parameters[1];
    pattern_variable variables[1];
    uint16_t baseline[1];
    pattern pattern;
} fixture;

static int setup(void **state)
{
    fixture *f = calloc(1, sizeof *f);
    if (!f)
        return -1;
    for (int i = 0; i < TILES; i++)
        f->tiles[i] = (value){.kind = VALUE_INTEGER, .integer = i};
    f->parameters[0] = (space_parameter){"tile", f->tiles, TILES};
    f->variables[0] = (pattern_variable){"n", {.kind = VALUE_INTEGER, .integer = 1}};
    f->pattern = (pattern){.name = "p",
                           .problem_count = 1,
                           .problems = {f->variables},
                           .parameter_count = 1,
                           .parameters = f->parameters,
                           .baseline = f->baseline};
    known_init(&f->known, f->problems, 1, 2);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    known_deinit(&((fixture *)*state)->known);
    free(*state);
    return 0;
}

typedef struct seen {
    int tile;
    outcome outcome;
    int64_t median_ns;
    double ratio;
} seen;

/* Learns from a run on problem number `problem`. The default of the run has tile 0. */
static void learn(fixture *f, size_t problem, const seen *all, size_t count, size_t most)
{
    at_error error = {0};
    run_summary s;
    assert_ok(run_summary_init(&s, &f->pattern, PROBLEM_TUNED, &error), error);
    for (size_t i = 0; i < count; i++) {
        char text[32];
        run_result *r;
        snprintf(text, sizeof text, "tile=%d", all[i].tile);
        assert_ok(run_summary_add(&s, text, all[i].outcome, &r, &error), error);
        r->values[0] = f->tiles[all[i].tile];
        r->ratio = all[i].ratio;
        r->time = (stats_summary){.count = all[i].median_ns > 0, .median_ns = all[i].median_ns};
        if (all[i].tile == 0) {
            s.has_baseline = true;
            s.baseline = i;
        }
    }
    known_learn(&f->known, problem, &s, most);
    run_summary_deinit(&s);
}

static double time_of(const fixture *f, size_t problem, const char *text)
{
    for (size_t i = 0; i < f->known.count; i++)
        if (strcmp(f->known.items[i].text, text) == 0)
            return f->known.items[i].times_ns[problem];
    return -1;
}

static bool is_fastest(const fixture *f, size_t problem, const char *text)
{
    for (size_t i = 0; i < f->known.count; i++)
        if (strcmp(f->known.items[i].text, text) == 0)
            return known_has_rank(&f->known, i, problem, 0);
    return false;
}

TEST_IN(times_come_from_paired_samples, setup, teardown)
{
    fixture *f = *state;
    /* The medians come from different blocks, so only the ratios count. */
    learn(f, 0,
          (seen[]){{1, OUTCOME_OK, 100, 1}, {2, OUTCOME_OK, 90, 1.1}, {0, OUTCOME_OK, 150, 1.5}}, 3,
          8);
    assert_float_equal(time_of(f, 0, "tile=2"), 110, 1e-9);
    assert_float_equal(f->known.problems[0].best_ns, 100, 1e-9);
    assert_float_equal(f->known.problems[0].baseline_ns, 150, 1e-9);
    assert_true(is_fastest(f, 0, "tile=1"));
    assert_false(is_fastest(f, 1, "tile=1"));
}

TEST_IN(predictions_are_taken_unchanged, setup, teardown)
{
    fixture *f = *state;
    learn(f, 0, (seen[]){{1, OUTCOME_OK, 100, 0}, {2, OUTCOME_OK, 120, 0}}, 2, 8);
    assert_float_equal(time_of(f, 0, "tile=2"), 120, 1e-9);
}

TEST_IN(the_fastest_and_known_configurations_are_kept, setup, teardown)
{
    fixture *f = *state;
    learn(f, 0,
          (seen[]){{1, OUTCOME_OK, 100, 1}, {2, OUTCOME_OK, 110, 1.1}, {0, OUTCOME_OK, 150, 1.5}},
          3, 1);
    assert_float_equal(time_of(f, 0, "tile=2"), -1, 0);
    learn(f, 1,
          (seen[]){{3, OUTCOME_OK, 100, 1}, {2, OUTCOME_OK, 110, 1.1}, {1, OUTCOME_OK, 150, 1.5}},
          3, 1);
    assert_float_equal(time_of(f, 1, "tile=1"), 150, 1e-9);
    assert_float_equal(time_of(f, 1, "tile=3"), 100, 1e-9);
}

TEST_IN(a_configuration_wrong_once_is_best_nowhere, setup, teardown)
{
    fixture *f = *state;
    learn(f, 0, (seen[]){{1, OUTCOME_OK, 100, 1}, {2, OUTCOME_OK, 110, 1.1}}, 2, 8);
    learn(f, 1, (seen[]){{2, OUTCOME_OK, 100, 1}, {1, OUTCOME_WRONG_RESULT, 0, 0}}, 2, 8);
    assert_true(is_fastest(f, 0, "tile=2"));
    assert_float_equal(time_of(f, 1, "tile=1"), 0, 0);
}

TEST_IN(a_configuration_that_fails_to_compile_once_may_be_good_elsewhere, setup, teardown)
{
    fixture *f = *state;
    learn(f, 0, (seen[]){{1, OUTCOME_OK, 100, 1}, {2, OUTCOME_OK, 110, 1.1}}, 2, 8);
    learn(f, 1, (seen[]){{2, OUTCOME_OK, 100, 1}, {1, OUTCOME_LAUNCH_ERROR, 0, 0}}, 2, 8);
    assert_true(is_fastest(f, 0, "tile=1"));
}
