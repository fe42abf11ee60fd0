#include "base/clock.h"
#include "script_fixture.h"

TEST(an_empty_space_names_the_constraint_that_emptied_it)
{
    script *s = fixture_load_pattern(&(fixture_pattern){
        .where = "where = { 'tile > 1', 'mode == \"a\"',\n'tile < 2',\n'tile > 0' },"});
    space *sp;
    at_error error = {0};
    assert_int_equal(script_space(s, PROBLEM_TUNED, &sp, &error), AT_SCRIPT);
    assert_null(sp);
    assert_contains(error.message, "no configuration is left after where[3]: \"tile < 2\"");
    assert_int_equal(error.line, 7);
    script_free(s);
}

TEST(a_space_without_bounds_is_sampled)
{
    script *s = fixture_load_pattern(&(fixture_pattern){
        .space = "space = { a = at.range(1, 60000), b = at.range(1, 60000) },",
        .baseline = "baseline = { a = 1, b = 1 },",
    });
    space *sp;
    at_error error = {0};
    assert_ok(script_space(s, PROBLEM_TUNED, &sp, &error), error);
    assert_true(space_is_sample(sp));
    assert_int_equal(space_count(sp), 65536);
    uint64_t index;
    assert_true(space_find(sp, script_pattern(s)->baseline, &index));
    space_free(sp);
    script_free(s);
}

/* Loads a pattern of twenty parameters and one constraint, which reads all parameters and so is
 * tested last. */
static script *load_late_binding(const char *constraint)
{
    char values[2048] = "space = {", baseline[512] = "baseline = {", where[256];
    for (int i = 0; i < 20; i++) {
        sprintf(values + strlen(values), " p%d = at.range(0, 9),", i);
        sprintf(baseline + strlen(baseline), " p%d = 5,", i);
    }
    strcat(values, " },");
    strcat(baseline, " },");
    snprintf(where, sizeof where, "where = { '%s' },", constraint);
    return fixture_load_pattern(
        &(fixture_pattern){.space = values, .baseline = baseline, .where = where});
}

static const char sum_of_twenty[] = "p0 + p1 + p2 + p3 + p4 + p5 + p6 + p7 + p8 + p9 + p10 + p11 + "
                                    "p12 + p13 + p14 + p15 + p16 + p17 + p18 + p19 == 100";

TEST(constraints_tested_last_leave_a_sample_of_valid_configurations)
{
    script *s = load_late_binding(sum_of_twenty);
    space *sp;
    at_error error = {0};
    script_space_limits limits = script_space_defaults();
    limits.enumerate_s = 0.1;
    limits.sample = 500;
    assert_ok(script_space_within(s, PROBLEM_TUNED, &limits, &sp, &error), error);
    assert_true(space_is_sample(sp));
    assert_int_equal(space_count(sp), 500);
    for (uint64_t i = 0; i < space_count(sp); i++) {
        uint16_t indices[20];
        int sum = 0;
        space_at(sp, i, indices);
        for (int p = 0; p < 20; p++)
            sum += indices[p];
        assert_int_equal(sum, 100);
    }
    space_free(sp);
    script_free(s);
}

/* The space needs 10^20 evaluations. Each evaluation alone is within its limit. */
TEST(the_evaluations_of_a_whole_space_have_a_limit)
{
    script *s = load_late_binding(
        "p0 + p1 + p2 + p3 + p4 + p5 + p6 + p7 + p8 + p9 + p10 + p11 + p12 + p13 + p14 + p15 + "
        "p16 + p17 + p18 + p19 == 100 and not (\"a\"):rep(1 << 8):find(\".-.-b\")");
    space *sp;
    at_error error = {0};
    /* The work of C functions counts, so its limit ends the script before the time limit. */
    bool timed_out = true;
    script_space_limits limits = script_space_defaults();
    limits.enumerate_s = limits.sample_s = 0.2;
    limits.timed_out = &timed_out;
    assert_ok(script_space_within(s, PROBLEM_TUNED, &limits, &sp, &error), error);
    assert_true(space_is_sample(sp));
    assert_true(space_count(sp) >= 1);
    assert_false(timed_out);
    space_free(sp);
    script_free(s);
}

TEST(the_memory_of_a_space_has_a_limit)
{
    script *s = load_late_binding("(p0 * 7 + p1 * 5 + p2 * 3 + p3 * 11) % 13 ~= (p16 * p17 * p18 * "
                                  "p19 + p4 * p5 * p6 + p7 * 3 + 1) % 17");
    space *sp;
    at_error error = {0};
    script_space_limits limits = script_space_defaults();
    limits.memory_bytes = 1 << 20;
    limits.sample = 100;
    assert_ok(script_space_within(s, PROBLEM_TUNED, &limits, &sp, &error), error);
    assert_true(space_is_sample(sp));
    space_free(sp);
    script_free(s);
}

static void count_asking(void *context, const space_progress *progress)
{
    double *last = context;
    assert_true(progress->sampling || (progress->share >= *last && progress->share <= 1));
    *last = progress->sampling ? 0 : progress->share;
    if (!progress->sampling && progress->share > 0)
        last[1]++;
}

TEST(progress_is_reported_and_never_decreases)
{
    script *s = load_late_binding(sum_of_twenty);
    space *sp;
    at_error error = {0};
    double seen[2] = {0};
    script_space_limits limits = script_space_defaults();
    limits.enumerate_s = 0.1;
    limits.sample = 10;
    limits.show = count_asking;
    limits.show_context = seen;
    assert_ok(script_space_within(s, PROBLEM_TUNED, &limits, &sp, &error), error);
    assert_true(seen[1] > 0);
    space_free(sp);
    script_free(s);
}

typedef struct waste {
    int calls, every, ms;
} waste;

/* Uses some milliseconds of processor time in every n-th call. */
static void waste_time(void *context, const space_progress *progress)
{
    waste *w = context;
    (void)progress;
    if (w->calls++ % w->every == 0)
        for (const int64_t end_ns = clock_thread_ns() + w->ms * 1000000;
             clock_thread_ns() < end_ns;)
            ;
}

TEST(a_sample_does_not_depend_on_the_speed_of_the_machine)
{
    script *s = load_late_binding(sum_of_twenty);
    space *samples[2];
    at_error error = {0};
    bool timed_out = true;
    for (int i = 0; i < 2; i++) {
        script_space_limits limits = script_space_defaults();
        waste wasted = {.every = 8, .ms = 2};
        limits.enumerate_s = 0.2;
        limits.sample_s = 0.2;
        limits.show = i == 1 ? waste_time : NULL;
        limits.show_context = &wasted;
        limits.timed_out = &timed_out;
        assert_ok(script_space_within(s, PROBLEM_TUNED, &limits, &samples[i], &error), error);
        assert_false(timed_out);
    }
    assert_true(space_is_sample(samples[0]));
    assert_true(space_count(samples[0]) < script_space_defaults().sample);
    assert_int_equal(space_count(samples[0]), space_count(samples[1]));
    for (uint64_t i = 0; i < space_count(samples[0]); i++) {
        uint16_t indices[2][20];
        space_at(samples[0], i, indices[0]);
        space_at(samples[1], i, indices[1]);
        assert_memory_equal(indices[0], indices[1], sizeof indices[0]);
    }
    space_free(samples[0]);
    space_free(samples[1]);
    script_free(s);
}

TEST(on_a_very_slow_machine_the_time_limit_ends_the_sample_and_is_reported)
{
    script *s = load_late_binding(sum_of_twenty);
    space *sp;
    at_error error = {0};
    bool timed_out = false;
    waste wasted = {.every = 1, .ms = 20};
    script_space_limits limits = script_space_defaults();
    limits.enumerate_s = limits.sample_s = 0.01;
    limits.show = waste_time;
    limits.show_context = &wasted;
    limits.timed_out = &timed_out;
    assert_ok(script_space_within(s, PROBLEM_TUNED, &limits, &sp, &error), error);
    assert_true(space_is_sample(sp));
    space_free(sp);
    assert_true(timed_out);
    script_free(s);
}

typedef struct stopping {
    bool wanted;
    int times;
} stopping;

static bool stop_if_wanted(void *context)
{
    stopping *s = context;
    s->times += s->wanted;
    return s->wanted;
}

TEST(a_script_can_be_stopped)
{
    at_error error = {0};
    script *s;
    launch_plan plan;
    stopping asked = {0};
    uint16_t indices[2] = {0};
    script_options options = fixture_options();
    options.stop = stop_if_wanted;
    options.stop_context = &asked;
    fixture_write_pattern(&(fixture_pattern){
        .launch = "launch = { grid = '#(\"a\"):rep(1 << 24):upper()', block = 32 },"});
    assert_ok(script_load(fixture_path("p.lua"), &options, &s, &error), error);
    asked.wanted = true;
    assert_int_equal(script_launch_plan(s, PROBLEM_TUNED, indices, &plan, &error), AT_INTERRUPTED);
    assert_int_equal(asked.times, 1);
    script_free(s);
}

TEST(a_script_can_be_stopped_while_it_is_loaded)
{
    at_error error = {0};
    script *s;
    stopping asked = {.wanted = true};
    script_options options = fixture_options();
    options.stop = stop_if_wanted;
    options.stop_context = &asked;
    fixture_write("p.lua", "while true do end");
    assert_int_equal(script_load(fixture_path("p.lua"), &options, &s, &error), AT_INTERRUPTED);
    assert_int_equal(asked.times, 1);
}

TEST(a_stopped_enumeration_gives_no_complete_space)
{
    at_error error = {0};
    script *s;
    space *sp;
    stopping asked = {0};
    script_options options = fixture_options();
    options.stop = stop_if_wanted;
    options.stop_context = &asked;
    script_free(load_late_binding(sum_of_twenty));
    assert_ok(script_load(fixture_path("p.lua"), &options, &s, &error), error);
    asked.wanted = true;
    assert_int_equal(script_space(s, PROBLEM_TUNED, &sp, &error), AT_INTERRUPTED);
    assert_null(sp);
    script_free(s);
}

TEST(a_baseline_outside_of_the_space_is_an_error)
{
    script *s = fixture_load_pattern(&(fixture_pattern){.where = "where = { 'tile > 1' },"});
    space *sp;
    at_error error = {0};
    assert_int_equal(script_space(s, PROBLEM_TUNED, &sp, &error), AT_SCRIPT);
    assert_contains(error.message, "the baseline (tile=1,mode=a) breaks where[1]: \"tile > 1\"");
    assert_int_equal(error.line, 6);
    script_free(s);
}

TEST(errors_in_constraints_are_reported)
{
    static const struct {
        const char *where, *message;
    } cases[] = {
        {"where = { 'tile' },", "where[1]: \"tile\" gives a number, but true or false is needed"},
        {"where = { 'tile // (tile - tile) == 1' },", "attempt to divide by zero"},
        {"where = { 'mode + 1 == 2' },", "attempt to perform arithmetic on a string value"},
        {"where = { 'sizeof(mode) == 2' },", "there is no element type 'a'"},
        {"where = { 'ceil_div(tile, 0) == 2' },", "must be positive"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        script *s = fixture_load_pattern(&(fixture_pattern){.where = cases[i].where});
        space *sp;
        at_error error = {0};
        assert_int_equal(script_space(s, PROBLEM_TUNED, &sp, &error), AT_SCRIPT);
        assert_contains(error.message, cases[i].message);
        assert_int_equal(error.line, 6);
        script_free(s);
    }
}

TEST(the_space_has_the_configurations_of_brute_force)
{
    script_options options = fixture_options();
    at_error error = {0};
    script *s;
    assert_ok(script_load(TEST_SOURCE_DIR "/tests/fixtures/scale.lua", &options, &s, &error),
              error);
    for (problem_kind kind = PROBLEM_TUNED; kind < PROBLEM_KINDS; kind++) {
        space *sp;
        assert_ok(script_space(s, kind, &sp, &error), error);
        uint64_t valid_count = 0;
        for (uint16_t block = 0; block < 6; block++)
            for (uint16_t vec = 0; vec < 3; vec++)
                for (uint16_t cached = 0; cached < 2; cached++) {
                    uint16_t indices[] = {block, vec, cached};
                    bool valid;
                    size_t broken;
                    uint64_t index;
                    assert_ok(script_valid(s, kind, indices, &valid, &broken, &error), error);
                    assert_int_equal(space_find(sp, indices, &index), valid);
                    valid_count += valid;
                }
        assert_int_equal(space_count(sp), valid_count);
        space_free(sp);
    }
    script_free(s);
}

TEST_GROUP(fixture_setup, fixture_teardown)
