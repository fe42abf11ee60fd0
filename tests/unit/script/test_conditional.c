/* Tests conditional parameters (at.when), derived values, and incomplete baselines and starts. */
#include "script/emit.h"
#include "script_fixture.h"

/* Loads p.lua. Asserts that these are its valid configurations, in any order. */
static void expect_configurations(const fixture_pattern *p, const char *const *wanted, size_t count)
{
    script *s = fixture_load_pattern(p);
    at_error error = {0};
    space *sp;
    assert_ok(script_space(s, PROBLEM_TUNED, &sp, &error), error);
    assert_int_equal(space_count(sp), count);
    for (size_t i = 0; i < count; i++) {
        uint16_t indices[8];
        uint64_t index;
        assert_ok(script_parse_configuration(s, wanted[i], indices, &error), error);
        if (!space_find(sp, indices, &index))
            fail_msg("%s is not valid", wanted[i]);
    }
    space_free(sp);
    script_free(s);
}

static void expect_baseline(const fixture_pattern *p, const char *wanted)
{
    script *s = fixture_load_pattern(p);
    char text[256];
    script_format_configuration(s, script_pattern(s)->baseline, text, sizeof text);
    assert_string_equal(text, wanted);
    script_free(s);
}

TEST(without_its_condition_a_parameter_has_its_first_value)
{
    static const char *const wanted[] = {"mode=a,pad=0", "mode=a,pad=1", "mode=b,pad=0"};
    expect_configurations(
        &(fixture_pattern){
            .space = "space = { mode = { 'a', 'b' }, pad = at.when(\"mode == 'a'\", { 0, 1 }) },",
            .baseline = ""},
        wanted, 3);
}

TEST(the_value_without_the_condition_may_be_in_the_list)
{
    static const char *const wanted[] = {"mode=a,group=2", "mode=a,group=4", "mode=b,group=1"};
    expect_configurations(
        &(fixture_pattern){
            .space =
                "space = { mode = { 'a', 'b' }, group = at.when(\"mode == 'a'\", { 4, 2 }, 1) },",
            .baseline = ""},
        wanted, 3);
}

TEST(cases_follow_one_another)
{
    static const char *const wanted[] = {"mode=a,vec=1", "mode=b,vec=2", "mode=b,vec=4",
                                         "mode=c,vec=1", "mode=c,vec=4"};
    expect_configurations(
        &(fixture_pattern){
            .space = "space = { mode = { 'a', 'b', 'c' }, vec = at.when(\"mode == 'a'\", 1, "
                     "at.when(\"mode == 'b' -- wide\", { 2, 4 }, { 1, 4 })) },",
            .baseline = ""},
        wanted, 5);
}

TEST(numbers_of_several_lists_are_in_order)
{
    script *s = fixture_load_pattern(&(fixture_pattern){
        .space = "space = { on = { true, false }, v = at.when('on', { 8, 2 }, { 4, 0.5 }) },",
        .baseline = ""});
    const space_parameter *v = &script_pattern(s)->parameters[1];
    assert_int_equal(v->value_count, 4);
    assert_true(v->values[0].number == 0.5);
    assert_int_equal(v->values[1].integer, 2);
    assert_int_equal(v->values[2].integer, 4);
    assert_int_equal(v->values[3].integer, 8);
    script_free(s);
}

TEST(values_of_every_kind_can_be_conditional)
{
    static const char *const wanted[] = {"on=true,s=x\"y,f=0.1,b=true",
                                         "on=false,s=z,f=0.25,b=false"};
    expect_configurations(
        &(fixture_pattern){.space =
                               "space = { on = { true, false }, s = at.when('on', 'x\"y', 'z'),"
                               "f = at.when('on', 0.1, 0.25), b = at.when('on', true, false) },",
                           .baseline = ""},
        wanted, 2);
}

TEST(parameters_missing_in_the_baseline_have_their_first_value)
{
    expect_baseline(&(fixture_pattern){.baseline = ""}, "tile=1,mode=a");
    expect_baseline(&(fixture_pattern){.baseline = "baseline = { mode = 'b' },"}, "tile=1,mode=b");
}

TEST(a_conditional_parameter_missing_in_the_baseline_has_the_first_value_of_its_case)
{
    static const char parameters[] = "space = { late = at.when('vec == 2', { 7, 8 }, 9), vec = "
                                     "at.when(\"mode == 'b'\", { 2, 4 }, "
                                     "1), mode = { 'a', 'b' } },";
    expect_baseline(&(fixture_pattern){.space = parameters, .baseline = ""}, "late=9,vec=1,mode=a");
    expect_baseline(
        &(fixture_pattern){.space = parameters, .baseline = "baseline = { mode = 'b' },"},
        "late=7,vec=2,mode=b");
    expect_baseline(
        &(fixture_pattern){.space = parameters, .baseline = "baseline = { mode = 'b', vec = 4 },"},
        "late=9,vec=4,mode=b");
}

static void expect_starts(const fixture_pattern *p, const char *const *wanted, size_t count)
{
    script *s = fixture_load_pattern(p);
    const pattern *read = script_pattern(s);
    assert_int_equal(read->start_count, count);
    for (size_t i = 0; i < count; i++) {
        char text[256];
        script_format_configuration(s, read->starts[i], text, sizeof text);
        assert_string_equal(text, wanted[i]);
    }
    script_free(s);
}

TEST(parameters_missing_in_a_start_have_the_value_of_the_baseline)
{
    static const char *const wanted[] = {"tile=4,mode=b", "tile=2,mode=a", "tile=2,mode=b"};
    expect_starts(&(fixture_pattern){.baseline = "baseline = { tile = 2, mode = 'b' },",
                                     .extra = "starts = { { tile = 4 }, { mode = 'a' }, {} },"},
                  wanted, 3);
    expect_starts(&(fixture_pattern){0}, NULL, 0);
}

TEST(a_conditional_parameter_missing_in_baseline_and_start_has_the_first_value_of_its_case)
{
    static const char *const wanted[] = {"late=7,vec=2,mode=b", "late=9,vec=4,mode=b",
                                         "late=9,vec=1,mode=a"};
    expect_starts(
        &(fixture_pattern){
            .space =
                "space = { late = at.when('vec == 2', { 7, 8 }, 9), vec = at.when(\"mode == 'b'\", "
                "{ 2, 4 }, 1), mode = { 'a', 'b' } },",
            .baseline = "",
            .extra = "starts = { { mode = 'b' }, { mode = 'b', vec = 4 }, { mode = 'a' } },"},
        wanted, 3);
}

/* A start that is invalid for this problem may be valid for another problem. */
TEST(a_start_need_not_be_a_configuration_of_the_problem)
{
    static const char *const wanted[] = {"tile=4,mode=a"};
    expect_starts(&(fixture_pattern){.where = "where = { 'tile < n' },",
                                     .problem = "problem = { n = 3, dtype = 'float' },",
                                     .extra = "starts = { { tile = 4 } },"},
                  wanted, 1);
}

TEST(expressions_read_derived_values_in_any_order)
{
    static const char *const wanted[] = {"tile=4,mode=a", "tile=4,mode=b"};
    expect_configurations(
        &(fixture_pattern){.where = "where = { 'all >= 32' },",
                           .baseline = "baseline = { tile = 4 },",
                           .extra =
                               "derived = { all = '2 * part -- in words', part = 'tile * 4' },"},
        wanted, 2);
}

TEST(buffers_read_values_derived_from_the_problem)
{
    script *s = fixture_load_pattern(&(fixture_pattern){
        .extra = "derived = { places = 'round_up(n, 1000)' },\n"
                 "buffers = { a = at.input { dtype = 'float', count = 'places' } },"});
    problem_plan plan;
    at_error error = {0};
    assert_ok(script_problem_plan(s, PROBLEM_TUNED, NULL, 1, &plan, &error), error);
    assert_int_equal(plan.buffers[0].count, 2000);
    script_free(s);
}

TEST(a_derived_value_is_evaluated_only_where_it_is_read)
{
    static const char *const wanted[] = {"tile=1,mode=a", "tile=1,mode=b"};
    expect_configurations(&(fixture_pattern){.where = "where = { 'tile == 1 and whole == 4' },",
                                             .extra = "derived = { whole = '4 // (tile % 2)' },"},
                          wanted, 2);
}

TEST(each_name_that_a_constraint_reads_is_listed_once)
{
    script *s = fixture_load_pattern(&(fixture_pattern){
        .where = "where = { '8 // half == half or e < half' },",
        .extra = "derived = { half = 'tile // 2', e = 'tile', other = 'tile' },"});
    char text[128];
    script_describe_derived(s, 0, text, sizeof text);
    assert_string_equal(text, ", where half = tile // 2, e = tile");
    script_free(s);
}

static void expect_emitted(const char *text, const char *extra, const char *wanted)
{
    fixture_write("p.cu.tmpl", text);
    script *s = fixture_load_pattern(&(fixture_pattern){.extra = extra});
    emitted out = {0};
    at_error error = {0};
    at_status status =
        emit_variant(s, PROBLEM_TUNED, script_pattern(s)->baseline, false, &out, &error);
    if (status)
        assert_contains(error.message, wanted);
    else
        assert_string_equal(out.source, wanted);
    emitted_deinit(&out);
    script_free(s);
    fixture_write("p.cu.tmpl", "// ${tile}\n");
}

TEST(templates_read_derived_values)
{
    static const char derived[] = "derived = { threads = 'tile * 32', bad = 'n // (tile - 1)' },";
    expect_emitted("${threads} of ${n}\n", derived, "32 of 1024\n");
    expect_emitted("${bad}\n", derived, "attempt to divide by zero");
    expect_emitted("${thread}\n", derived, "did you mean 'threads'?");
}

TEST(a_derived_value_is_no_parameter)
{
    script *s =
        fixture_load_pattern(&(fixture_pattern){.extra = "derived = { threads = 'tile' },"});
    uint16_t indices[2];
    at_error error = {0};
    assert_int_equal(script_parse_configuration(s, "threads=1", indices, &error), AT_USAGE);
    script_free(s);
}

TEST(mistakes_in_derived_values_are_reported_with_their_line)
{
    static const struct {
        fixture_pattern pattern;
        int line;
        const char *message;
    } cases[] = {
        {{.space = "space = { a = at.when(3, { 1 }) },"}, 5, "the condition is 3"},
        {{.space = "space = { a = at.when('true') },"}, 5, "the values are missing"},
        {{.space = "space = { a = at.when('true', at.when('true', 1)) },"},
         5,
         "must follow the values"},
        {{.space = "space = { a = at.when('true', {}) },"}, 5, "space.a has no values"},
        {{.space = "space = { b = 1,\na = at.when('bb', { 1, 2 }) },", .baseline = ""},
         6,
         "did you mean 'b'?"},
        {{.space = "space = { b = { 1, 2 }, a = at.when('b', { 1, 2 }) },", .baseline = ""},
         5,
         "gives a number, but true or false is needed"},
        {{.space = "space = { a = at.when('a > 1', { 1, 2 }) },", .baseline = ""},
         5,
         "a condition cannot depend on its own parameter"},
        {{.space = "space = { a = at.when('b > 1', { 1, 2 }), b = at.when('a > 1', { 1, 2 }) },",
          .baseline = ""},
         5,
         "a condition cannot depend on its own parameter"},
        {{.extra = "derived = { x = 'y', y = 'x + 1' },"},
         10,
         "needs itself: a derived value cannot depend on itself"},
        {{.extra = "derived = { x = 'tiel' },"}, 10, "derived.x: \"tiel\": there is no 'tiel'"},
        {{.extra = "derived = { x = {} },"}, 10, "write an expression"},
        {{.extra = "derived = { tile = '1' },"},
         10,
         "a parameter already has this name; choose another name"},
        {{.extra = "derived = 3,"}, 10, "derived is 3"},
        {{.extra = "derived = { x = '1 +' },"}, 10, "derived.x: \"1 +\": unexpected symbol"},
        {{.extra = "derived = { x = 'tile' }, tolerance = 'x',"},
         10,
         "'x' reads the parameter 'tile'"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fixture_write_pattern(&cases[i].pattern);
        fixture_expect_failure(cases[i].message, cases[i].line);
    }
}

/* If derived values were copied into expressions, the last value would have 2^40 terms. */
TEST(derived_values_that_double_are_evaluated_once_each)
{
    static const char *const wanted[] = {"tile=2,mode=a", "tile=2,mode=b"};
    char text[4096] = "derived = { d0 = 'tile',";
    for (int i = 1; i <= 40; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "d%d = 'd%d + d%d',", i, i - 1,
                 i - 1);
    strcat(text, "},");
    expect_configurations(&(fixture_pattern){.where = "where = { 'd40 == 2199023255552' },",
                                             .baseline = "baseline = { tile = 2 },",
                                             .extra = text},
                          wanted, 2);
}

/* An expression so long that it becomes a function. */
#define LONG_SUM(of)                                                                               \
    "derived = { long = '(" of ") + 0" TEN(TEN(TEN(" + 0"))) "', twice = 'long + long' },"
#define TEN(text) text text text text text text text text text text

TEST(long_derived_values_follow_the_configuration)
{
    static const char *const wanted[] = {"tile=4,mode=a", "tile=4,mode=b"};
    expect_configurations(&(fixture_pattern){.where = "where = { 'twice == 2056' },",
                                             .baseline = "baseline = { tile = 4 },",
                                             .extra = LONG_SUM("n + tile")},
                          wanted, 2);
    expect_configurations(&(fixture_pattern){.where = "where = { 'long == 4 * device.warp_size' },",
                                             .baseline = "baseline = { tile = 4 },",
                                             .extra = LONG_SUM("tile * device.warp_size")},
                          wanted, 2);
}

TEST(an_error_in_a_long_derived_value_is_an_error_of_its_reader)
{
    script *s = fixture_load_pattern(&(fixture_pattern){.where = "where = { 'twice == 1' },",
                                                        .extra = LONG_SUM("n // (tile - 1)")});
    at_error error = {0};
    space *sp;
    assert_int_equal(script_space(s, PROBLEM_TUNED, &sp, &error), AT_SCRIPT);
    assert_contains(error.message, "where[1]: \"twice == 1\": attempt to divide by zero, where ");
    script_free(s);
}

static at_status load_with(const char *name, const char *text, script **s, at_error *error)
{
    script_options options = fixture_options();
    const script_setting setting = {name, text};
    options.settings = &setting;
    options.setting_count = 1;
    *error = (at_error){0};
    return script_load(fixture_path("p.lua"), &options, s, error);
}

TEST(a_problem_variable_may_have_a_domain)
{
    script *s;
    at_error error;
    fixture_write_pattern(
        &(fixture_pattern){.problem = "problem = { n = at.within(1024, 1, 1 << 21), dtype = "
                                      "at.one_of { 'float', 'half' } },"});
    assert_ok(load_with("dtype", "half", &s, &error), error);
    assert_int_equal(script_pattern(s)->problems[PROBLEM_TUNED][0].value.integer, 1024);
    assert_string_equal(script_pattern(s)->problems[PROBLEM_TUNED][1].value.string, "half");
    script_free(s);
    assert_ok(load_with("n", "2M", &s, &error), error);
    assert_int_equal(script_pattern(s)->problems[PROBLEM_TUNED][0].value.integer, 1 << 21);
    script_free(s);
    assert_int_equal(load_with("dtype", "foat", &s, &error), AT_USAGE);
    assert_contains(error.message, "is none of float, half; did you mean 'float'?");
    assert_int_equal(load_with("n", "3M", &s, &error), AT_USAGE);
    assert_contains(error.message, "3145728 is not between 1 and 2097152");
}

TEST(impossible_domains_are_errors)
{
    static const struct {
        const char *problem, *extra, *message;
        int line;
    } cases[] = {
        {"problem = { n = at.one_of(3) },", NULL, "takes a list", 4},
        {"problem = { n = at.one_of {} },", NULL, "problem.n has no values", 4},
        {"problem = { n = at.one_of { 1, 'a' } },", NULL, "values of different types", 4},
        {"problem = { n = at.within(9, 1, 4) },", NULL, "9 is not between 1 and 4", 4},
        {"problem = { n = at.within(2, 1, 4) },", "ragged = { n = 7 },", "7 is not between 1 and 4",
         10},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fixture_write_pattern(
            &(fixture_pattern){.problem = cases[i].problem, .extra = cases[i].extra});
        fixture_expect_failure(cases[i].message, cases[i].line);
    }
}

TEST_GROUP(fixture_setup, fixture_teardown)
