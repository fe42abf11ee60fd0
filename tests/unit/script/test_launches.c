/* Tests the plans of scripts with several launches: attributes of launches, arguments of every
 * type, constants and fills. */
#include "device/plan.h"
#include "script_fixture.h"

static launch_plan plan_of(const fixture_pattern *p, const char *configuration)
{
    script *s = fixture_load_pattern(p);
    launch_plan plan;
    uint16_t indices[8];
    at_error error = {0};
    assert_ok(script_parse_configuration(s, configuration, indices, &error), error);
    assert_ok(script_launch_plan(s, PROBLEM_TUNED, indices, &plan, &error), error);
    script_free(s);
    return plan;
}

TEST(launches_follow_one_another)
{
    launch_plan p = plan_of(
        &(fixture_pattern){
            .kernel =
                "kernel = { template = 'p.cu.tmpl', entry = 'k', args = { 'n' }, shared = 16 },",
            .launch =
                "launches = { { grid = 'tile', block = 32 },\n"
                "{ entry = 'other', args = { 'tile', true }, shared = 'tile * 8', grid = { 1, 2 }, "
                "block = 64 } },"},
        "tile=4");
    assert_int_equal(p.launch_count, 2);
    assert_string_equal(plan_entry(&p, 0), "k");
    assert_int_equal(p.launches[0].grid[0], 4);
    assert_int_equal(p.launches[0].dynamic_shared_bytes, 16);
    assert_int_equal(p.launches[0].argument_count, 1);
    assert_int_equal(p.arguments[0].bits, 1024);
    assert_string_equal(plan_entry(&p, 1), "other");
    assert_int_equal(p.launches[1].dynamic_shared_bytes, 32);
    assert_int_equal(p.launches[1].first_argument, 1);
    assert_int_equal(p.launches[1].argument_count, 2);
    assert_int_equal(p.arguments[1].bits, 4);
    assert_int_equal(p.launches[1].block[0], 64);
    assert_int_equal(p.argument_count, 3);
    assert_int_equal(plan_most_shared_bytes(&p), 32);
    assert_int_equal(plan_most_threads(&p), 64);
    char entries[PLAN_ENTRIES_BYTES];
    plan_entries(&p, entries);
    assert_string_equal(entries, "k\nother");
}

TEST(a_kernel_is_named_as_cpp_names_it_by_parameters_and_variables)
{
    launch_plan p = plan_of(
        &(fixture_pattern){
            .kernel = "kernel = { template = 'p.cu.tmpl', entry = 'ns::k<${tile},\\n  float>' },",
            .launch =
                "launches = { { grid = 1, block = 32 },\n"
                "{ entry = '(void(*)(float*, int))other<${n // tile}>', grid = 1, block = 32 } "
                "},"},
        "tile=4");
    assert_string_equal(plan_entry(&p, 0), "ns::k<4, float>");
    assert_string_equal(plan_entry(&p, 1), "(void(*)(float*, int))other<256>");
}

TEST(a_launch_may_depend_on_the_configuration)
{
    const fixture_pattern p = {.launch =
                                   "launches = { { grid = 1, block = 32 }, { when = \"mode == "
                                   "'b'\", grid = 2, block = 32 } },"};
    assert_int_equal(plan_of(&p, "mode=a").launch_count, 1);
    assert_int_equal(plan_of(&p, "mode=b").launch_count, 2);
}

/* Asserts the order in which a plan's launches run, as indices, for example "0 1 2 1 2 3". */
static void assert_order(const launch_plan *p, const char *expected)
{
    char text[256] = "";
    launch_walk walk = {0};
    while (plan_walk(p, &walk))
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%u", text[0] ? " " : "",
                 walk.place);
    assert_string_equal(text, expected);
    uint32_t places = (uint32_t)(strlen(expected) + 1) / 2;
    assert_int_equal(plan_total_launches(p), places);
}

TEST(a_group_of_launches_repeats_in_order)
{
    const fixture_pattern p = {
        .launch = "launches = { { grid = 1, block = 32 },\n"
                  "{ times = 'tile', launches = { { grid = 2, block = 32 }, { when = \"mode == "
                  "'a'\", grid = 3, "
                  "block = 32 } } },\n"
                  "{ times = \"mode == 'a' and 2 or 0\", grid = 4, block = 32 } },"};
    launch_plan plan = plan_of(&p, "tile=2,mode=a");
    assert_order(&plan, "0 1 2 1 2 3 3");
    assert_int_equal(plan_rounds(&plan, 0), 1);
    assert_int_equal(plan_rounds(&plan, 2), 2);
    plan = plan_of(&p, "tile=2,mode=b");
    assert_order(&plan, "0 1 1");
    plan = plan_of(&p, "tile=4,mode=a");
    assert_order(&plan, "0 1 2 1 2 1 2 1 2 3 3");
}

/* A group that runs once has the plan of its launches alone, so that equal launches are equal. */
TEST(a_group_that_runs_once_is_no_group)
{
    const fixture_pattern
        grouped = {.launch = "launches = { { times = 1, launches = { { grid = 1, block = 32 }, { "
                             "grid = 2, block = 32 } } } },"},
        plain = {.launch = "launches = { { grid = 1, block = 32 }, { grid = 2, block = 32 } },"};
    const launch_plan a = plan_of(&grouped, ""), b = plan_of(&plain, "");
    pack of_a = {0}, of_b = {0};
    plan_put_launch(&of_a, &a);
    plan_put_launch(&of_b, &b);
    assert_int_equal(of_a.size_bytes, of_b.size_bytes);
    assert_memory_equal(of_a.bytes, of_b.bytes, of_a.size_bytes);
    pack_deinit(&of_a);
    pack_deinit(&of_b);
}

TEST(a_single_launch_and_a_reference_have_rounds)
{
    script *s = fixture_load_pattern(
        &(fixture_pattern){.launch = "launch = { grid = 1, block = 32, times = 3 },",
                           .extra = "reference = at.reference { template = 'p.cu.tmpl', grid = 8, "
                                    "block = 32, times = 'n' },"});
    launch_plan p;
    at_error error = {0};
    assert_ok(script_launch_plan(s, PROBLEM_TUNED, NULL, &p, &error), error);
    assert_order(&p, "0 0 0");
    assert_ok(script_reference_plan(s, PROBLEM_TUNED, NULL, &p, &error), error);
    assert_int_equal(plan_total_launches(&p), 1024);
    script_free(s);
}

TEST(clusters_and_cooperation_are_attributes_of_a_launch)
{
    launch_plan p = plan_of(
        &(fixture_pattern){.launch =
                               "launch = { grid = { 8, 4 }, block = 32, cluster = { 'tile', 2 }, "
                               "cooperative = \"mode == 'a'\" },"},
        "tile=4");
    assert_int_equal(p.launches[0].cluster[0], 4);
    assert_int_equal(p.launches[0].cluster[1], 2);
    assert_int_equal(p.launches[0].cluster[2], 1);
    assert_true(p.launches[0].cooperative);
}

TEST(a_launch_in_clusters_may_be_balanced)
{
    static const struct {
        const char *field;
        bool of_a, of_b; /* whether the variants mode=a and mode=b are valid */
    } cases[] = {{"", false, false},
                 {", cluster = 4", false, false},
                 {", cluster = 4, balanced = true", true, true},
                 {", cluster = 4, balanced = false", false, false},
                 {", cluster = 4, balanced = \"mode == 'a'\"", true, false},
                 {", cluster = { 1, 2 }, balanced = true", true, true},
                 {", cluster = \"mode == 'a' and 4 or 1\", balanced = true", true, false},
                 {", cluster = 1, balanced = true", false, false},
                 {", balanced = true", false, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char launch[160];
        snprintf(launch, sizeof launch, "launch = { grid = { 8, 4 }, block = 32%s },",
                 cases[i].field);
        const fixture_pattern p = {.launch = launch};
        assert_int_equal(plan_of(&p, "mode=a").launches[0].balanced, cases[i].of_a);
        assert_int_equal(plan_of(&p, "mode=b").launches[0].balanced, cases[i].of_b);
    }
}

/* The field is checked even in launches without clusters. */
TEST(balanced_is_true_or_false)
{
    for (int cluster = 1; cluster <= 4; cluster += 3) {
        char launch[128];
        launch_plan p;
        at_error error = {0};
        snprintf(launch, sizeof launch,
                 "launch = { grid = 4, block = 1, cluster = %d, balanced = 'n' },", cluster);
        script *s = fixture_load_pattern(&(fixture_pattern){.launch = launch});
        assert_int_equal(script_launch_plan(s, PROBLEM_TUNED, NULL, &p, &error), AT_SCRIPT);
        assert_string_equal(
            error.message,
            "launch.balanced: \"n\" gives a number, but true or false is needed, where n is 1024");
        assert_int_equal(error.line, 9);
        script_free(s);
    }
}

TEST(a_reference_may_be_balanced)
{
    script *s = fixture_load_pattern(&(fixture_pattern){
        .extra =
            "reference = at.reference { template = 'p.cu.tmpl', grid = 8, block = 32, cluster = 2, "
            "balanced = true },"});
    launch_plan p;
    at_error error = {0};
    assert_ok(script_reference_plan(s, PROBLEM_TUNED, NULL, &p, &error), error);
    assert_true(p.launches[0].balanced);
    script_free(s);
}

TEST(arguments_have_every_width)
{
    launch_plan p = plan_of(
        &(fixture_pattern){.kernel = "kernel = { template = 'p.cu.tmpl', args = { at.int8(-1), "
                                     "at.uint8(200), at.int16(-2), at.uint16(65535), at.half(0.5), "
                                     "at.bfloat16(-2) } },"},
        "");
    static const struct {
        uint32_t size_bytes;
        uint64_t bits;
    } wanted[] = {{1, 0xff}, {1, 200}, {2, 0xfffe}, {2, 0xffff}, {2, 0x3800}, {2, 0xc000}};
    for (size_t i = 0; i < 6; i++) {
        assert_int_equal(p.arguments[i].size_bytes, wanted[i].size_bytes);
        assert_true(p.arguments[i].bits == wanted[i].bits);
    }
}

TEST(structs_are_laid_out_as_c_does)
{
    launch_plan p = plan_of(
        &(fixture_pattern){
            .kernel =
                "kernel = { template = 'p.cu.tmpl', args = { at.struct { at.uint8(1), at.int32(2) "
                "}, at.struct { at.uint8(3), at.double(0.5), 'n' == 'x' and 1 or at.int16(7) }, "
                "at.struct { at.float(1), at.float(2), at.float(3), at.float(4) } } },"},
        "");
    struct {
        uint8_t a;
        int32_t b;
    } small;
    struct {
        uint8_t a;
        double b;
        int16_t c;
    } large;
    assert_int_equal(p.arguments[0].size_bytes, sizeof small);
    memcpy(&small, plan_argument_value(&p, &p.arguments[0]), sizeof small);
    assert_true(small.a == 1 && small.b == 2);
    assert_int_equal(p.arguments[1].size_bytes, sizeof large);
    memcpy(&large, plan_argument_value(&p, &p.arguments[1]), sizeof large);
    assert_true(large.a == 3 && large.b == 0.5 && large.c == 7);
    float four[4];
    assert_int_equal(p.arguments[2].size_bytes, sizeof four);
    memcpy(four, plan_argument_value(&p, &p.arguments[2]), sizeof four);
    assert_true(four[0] == 1 && four[3] == 4);
}

TEST(constants_name_buffers)
{
    launch_plan p = plan_of(
        &(fixture_pattern){.kernel =
                               "kernel = { template = 'p.cu.tmpl', constants = { w = 'b' } },",
                           .extra = "buffers = { a = at.input { dtype = 'float', count = 1 }, b = "
                                    "at.input { dtype = 'float', count = 3 } },"},
        "");
    assert_int_equal(p.constant_count, 1);
    assert_string_equal(p.constants[0].name, "w");
    assert_int_equal(p.constants[0].buffer, 1);
}

TEST(fills_are_evaluated)
{
    script *s = fixture_load_pattern(&(fixture_pattern){
        .extra = "buffers = {\n"
                 "a = at.input { dtype = 'float', count = 3, fill = at.values { 1, '1 / 4' } },\n"
                 "b = at.input { dtype = 'int32', count = 3, fill = at.constant(-7) },\n"
                 "c = at.inout { dtype = 'half', count = 3, fill = 'zero' },\n"
                 "d = at.input { dtype = 'uint32', count = 9, fill = 'local', limit = 'n', block = "
                 "4 },\n"
                 "e = at.input { dtype = 'int64', count = 'n', fill = 'permutation' },\n"
                 "f = at.input { dtype = 'uint32', count = 9, fill = 'below', limit = 5 },\n"
                 "g = at.input { dtype = 'uint32', count = 9, fill = 'offsets', limit = 50 } },"});
    problem_plan p;
    at_error error = {0};
    assert_ok(script_problem_plan(s, PROBLEM_TUNED, NULL, 1, &p, &error), error);
    assert_int_equal(p.buffers[0].fill, FILL_VALUES);
    assert_int_equal(p.buffers[0].value_count, 2);
    assert_true(p.buffers[0].values[1] == 0.25);
    assert_true(p.buffers[1].values[0] == -7);
    assert_int_equal(p.buffers[2].fill, FILL_VALUES);
    assert_int_equal(p.buffers[2].value_count, 1);
    assert_int_equal(p.buffers[3].fill, FILL_LOCAL);
    assert_int_equal(p.buffers[3].fill_block, 4);
    assert_int_equal(p.buffers[4].fill, FILL_PERMUTATION);
    assert_int_equal(p.buffers[5].fill, FILL_MODULO);
    assert_int_equal(p.buffers[6].fill, FILL_OFFSETS);
    script_free(s);
}

TEST(mistakes_are_reported_with_their_line)
{
    static const struct {
        fixture_pattern pattern;
        int line;
        const char *message;
    } cases[] = {
        {{.extra = "launches = { { grid = 1, block = 1 } },"}, 10, "must not stand beside launch"},
        {{.launch = "launches = {},"}, 9, "launches is empty"},
        {{.launch = "launches = { 3 },"}, 9, "launches[1] is 3"},
        {{.launch = "launches = { { grid = 1, block = 1 }, { gird = 1, block = 1 } },"},
         9,
         "did you mean 'grid'?"},
        {{.launch = "launches = { { grid = 1, block = 1, entry = 'a b' } },"},
         9,
         "is not the name"},
        {{.launch = "launches = { { grid = 1, block = 1, when = 'tiel == 1' } },"},
         9,
         "launches[1].when: \"tiel == 1\": there is no 'tiel'"},
        {{.launch = "launch = { grid = 1, block = 1, balanced = {} },"}, 9, "launch.balanced"},
        {{.launch = "launch = { grid = 1, block = 1, balanced = 'tiel == 1' },"},
         9,
         "launch.balanced: \"tiel == 1\": there is no 'tiel'"},
        {{.kernel = "kernel = { template = 'p.cu.tmpl', args = { at.struct {} } },"},
         8,
         "no members"},
        {{.kernel = "kernel = { template = 'p.cu.tmpl', args = { at.struct { 3 } } },"},
         8,
         "a struct's members are"},
        {{.kernel = "kernel = { template = 'p.cu.tmpl', constants = { w = 'x' } },"},
         8,
         "'x' is not one of the buffers"},
        {{.kernel = "kernel = { template = 'p.cu.tmpl', constants = { w = 'o' } },",
          .extra = "buffers = { o = at.scratch { dtype = 'float', count = 1 } },"},
         8,
         "o is at.scratch"},
        {{.kernel = "kernel = { template = 'p.cu.tmpl', args = { at.struct { 'o', 'o' } }, "
                    "constants = { w = 'o' } },",
          .extra = "buffers = { o = at.output { dtype = 'float', count = 1 } },"},
         8,
         "o holds the results of the variable w and is also an argument of the kernel; use it for"},
        {{.kernel = "kernel = { template = 'p.cu.tmpl', constants = { v = 'o', w = 'o' } },",
          .extra = "buffers = { o = at.output { dtype = 'float', count = 1 } },"},
         8,
         "o already holds the results of the variable v"},
        {{.extra =
              "buffers = { a = at.input { dtype = 'float', count = 1, fill = at.values {} } },"},
         10,
         "is empty"},
        {{.extra = "buffers = { a = at.input { dtype = 'float', count = 1, fill = at.values { 1 }, "
                   "values = 3 } },"},
         10,
         "has values, and so has the buffer; give only one of them"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fixture_write_pattern(&cases[i].pattern);
        fixture_expect_failure(cases[i].message, cases[i].line);
    }
}

TEST(impossible_plans_are_errors)
{
    static const struct {
        const char *kernel, *launch, *extra, *message;
    } cases[] = {
        {NULL, "launches = { { grid = 1, block = 1, when = 'tile > 9' } },", NULL,
         "the `when` of every launch is false"},
        {NULL, "launch = { grid = 6, block = 1, cluster = 4 },", NULL,
         "do not divide the grid of 6"},
        {NULL, "launch = { grid = 64, block = 1, cluster = 32 },", NULL,
         "must be 16 at most, but is 32"},
        {NULL, "launch = { grid = 1, block = 1, cooperative = 'n' },", NULL,
         "true or false is needed"},
        {"args = { at.half(1e6) }", NULL, NULL, "does not fit a half"},
        {"args = { at.int8(128) }", NULL, NULL, "must be 127 at most, but is 128"},
        {NULL, NULL,
         "buffers = { a = at.input { dtype = 'int8', count = 3, fill = at.constant(0.5) } },",
         "but a whole number is needed"},
        {NULL, NULL, "buffers = { a = at.input { dtype = 'int8', count = 3, fill = 'constant' } },",
         "needs values"},
        {NULL, NULL, "buffers = { a = at.input { dtype = 'int8', count = 3, fill = 'sorted' } },",
         "needs a limit"},
        {NULL, NULL,
         "buffers = { a = at.input { dtype = 'int8', count = 3, fill = 'local', limit = 9 } },",
         "needs a block"},
        {NULL, NULL,
         "buffers = { a = at.input { dtype = 'int8', count = 1, fill = 'offsets', limit = 9 } },",
         "needs a buffer of two elements"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char kernel[256];
        snprintf(kernel, sizeof kernel, "kernel = { template = 'p.cu.tmpl', %s },",
                 or_else(cases[i].kernel, ""));
        script *s = fixture_load_pattern(&(fixture_pattern){
            .kernel = kernel, .launch = cases[i].launch, .extra = cases[i].extra});
        launch_plan launch;
        problem_plan problem;
        at_error error = {0};
        at_status status = script_launch_plan(s, PROBLEM_TUNED, NULL, &launch, &error);
        if (!status)
            status = script_problem_plan(s, PROBLEM_TUNED, NULL, 1, &problem, &error);
        /* A cluster that no GPU allows is no script error, because other values may be right. */
        const bool impossible = strstr(or_else(cases[i].launch, ""), "cluster") != NULL;
        assert_int_equal(status, impossible ? AT_USAGE : AT_SCRIPT);
        assert_contains(error.message, cases[i].message);
        script_free(s);
    }
}

TEST_GROUP(fixture_setup, fixture_teardown)
