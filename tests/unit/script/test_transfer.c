#include "script_fixture.h"

/* Tests the field transfer = { ... } of a script: its plan, and messages about mistakes. */

static const char problem[] = "problem = { n = 1000, direction = 'to_device', pieces = 1 },";
static const char space_of_all[] =
    "space = { memory = { 'pageable', 'pinned', 'mapped' }, chunk = { 0, 256, 1024 }, "
    "streams = { 1, 4 } },";
static const char buffers[] =
    "buffers = { src = at.input { dtype = 'uint32', count = 'n' }, "
    "dst = at.output { dtype = 'uint32', count = 'n' } }, traffic = '4 * n', "
    "reference = at.reference { template = 'p.cu.tmpl' }, ";

/* Loads the pattern with this text for `transfer`, which is line 10. `kernel` may be "". */
static at_status load(const char *transfer, const char *kernel, const char *launch, script **out,
                      at_error *error)
{
    static char extra[4096];
    snprintf(extra, sizeof extra, "%s %s", buffers, transfer);
    fixture_write_pattern(&(fixture_pattern){.problem = problem,
                                             .space = space_of_all,
                                             .baseline = "",
                                             .kernel = kernel,
                                             .launch = launch,
                                             .extra = extra});
    return fixture_load(out, error);
}

static const char whole[] =
    "transfer = { from = 'src', to = 'dst', direction = 'direction', memory = 'memory', "
    "chunk_bytes = 'chunk', streams = 'streams' },";

static launch_plan plan_of(script *s, const char *configuration, at_status wanted, at_error *error)
{
    uint16_t indices[64];
    launch_plan p;
    *error = (at_error){0};
    assert_ok(script_parse_configuration(s, configuration, indices, error), *error);
    assert_int_equal(script_launch_plan(s, PROBLEM_TUNED, indices, &p, error), wanted);
    return p;
}

TEST(a_pattern_without_a_kernel_launches_none)
{
    script *s;
    at_error error;
    assert_ok(load(whole, "", "", &s, &error), error);
    assert_true(script_pattern(s)->transfers && script_pattern(s)->measurable);
    launch_plan p = plan_of(s, "memory=pinned,chunk=256,streams=4", AT_OK, &error);
    assert_int_equal(p.launch_count, 0);
    assert_true(plan_transfers(&p));
    assert_int_equal(p.transfer.memory, HOST_PINNED);
    assert_int_equal(p.transfer.staging, STAGING_NONE);
    assert_int_equal(p.transfer.chunk_bytes, 256);
    assert_int_equal(p.transfer.streams, 4);
    assert_int_equal(p.transfer.task.direction, TRANSFER_TO_DEVICE);
    assert_int_equal(p.transfer.task.pieces, 1);
    assert_int_equal(p.transfer.task.pitch_bytes, 4000);
    script_free(s);
}

TEST(the_problem_has_the_same_task)
{
    script *s;
    at_error error;
    problem_plan p;
    assert_ok(load("transfer = { from = 'src', to = 'dst', direction = 'both', memory = 'memory', "
                   "pieces = 8, pitch_bytes = 512 },",
                   "", "", &s, &error),
              error);
    assert_ok(script_problem_plan(s, PROBLEM_TUNED, NULL, 1, &p, &error), error);
    assert_int_equal(p.transfer.direction, TRANSFER_BOTH);
    assert_int_equal(p.transfer.from, 0);
    assert_int_equal(p.transfer.to, 1);
    assert_int_equal(p.transfer.pieces, 8);
    assert_int_equal(p.transfer.pitch_bytes, 512);
    launch_plan launch = plan_of(s, "", AT_OK, &error);
    assert_memory_equal(&launch.transfer.task, &p.transfer, sizeof p.transfer);
    script_free(s);
}

TEST(a_kernel_may_be_launched_or_not)
{
    script *s;
    at_error error;
    assert_ok(load(whole, "kernel = { template = 'p.cu.tmpl', args = { 'src', 'dst' } },",
                   "launches = { { when = \"memory == 'mapped'\", grid = 4, block = 32 } },", &s,
                   &error),
              error);
    assert_int_equal(plan_of(s, "memory=mapped", AT_OK, &error).launch_count, 1);
    assert_int_equal(plan_of(s, "memory=pinned", AT_OK, &error).launch_count, 0);
    script_free(s);
}

TEST(an_impossible_transfer_of_a_configuration_is_an_error_of_its_plan)
{
    script *s;
    at_error error;
    assert_ok(load(whole, "", "", &s, &error), error);
    plan_of(s, "memory=mapped", AT_SCRIPT, &error);
    assert_non_null(strstr(error.message, "but this configuration launches no kernel"));
    script_free(s);
    assert_ok(
        load("transfer = { from = 'src', to = 'dst', direction = 'to_host', memory = 'pinned', "
             "streams = '5 * streams' },",
             "", "", &s, &error),
        error);
    plan_of(s, "streams=4", AT_SCRIPT, &error);
    assert_non_null(strstr(error.message, "transfer.streams"));
    script_free(s);
    assert_ok(load("transfer = { from = 'src', to = 'dst', direction = 'to_host', "
                   "memory = \"'pined'\" },",
                   "", "", &s, &error),
              error);
    plan_of(s, "", AT_SCRIPT, &error);
    assert_non_null(strstr(error.message, "'pined', which is none of pageable, pinned"));
    assert_non_null(strstr(error.message, "did you mean 'pinned'?"));
    assert_int_equal(error.line, 10);
    script_free(s);
}

TEST(pieces_must_divide_and_fit_their_pitch)
{
    static const struct {
        const char *fields, *words;
    } wrong[] = {
        {"pieces = 3", "do not divide the 4000 bytes of src"},
        {"pieces = 8, pitch_bytes = 499",
         "gives 499 bytes, but a piece has 500: the pitch must not be smaller"},
        {"pieces = 0", "transfer.pieces"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char transfer[512];
        script *s;
        at_error error;
        problem_plan p;
        snprintf(transfer, sizeof transfer,
                 "transfer = { from = 'src', to = 'dst', direction = 'to_host', memory = 'pinned', "
                 "%s },",
                 wrong[i].fields);
        assert_ok(load(transfer, "", "", &s, &error), error);
        assert_int_equal(script_problem_plan(s, PROBLEM_TUNED, NULL, 1, &p, &error), AT_SCRIPT);
        if (!strstr(error.message, wrong[i].words))
            fail_msg("%s: %s", wrong[i].fields, error.message);
        script_free(s);
    }
}

TEST(mistakes_are_reported_with_line_and_remedy)
{
    static const struct {
        const char *transfer, *words;
    } wrong[] = {
        {"transfer = 'src',", "transfer is 'src'; write transfer = {"},
        {"transfer = { from = 'src', to = 'dst', memory = 'pinned' },",
         "transfer.direction is missing; write one of"},
        {"transfer = { from = 'src', to = 'dst', direction = 'both' },",
         "transfer.memory is missing"},
        {"transfer = { to = 'dst', direction = 'both', memory = 'pinned' },",
         "transfer.from is missing"},
        {"transfer = { from = 'scr', to = 'dst', direction = 'both', memory = 'pinned' },",
         "did you mean 'src'?"},
        {"transfer = { from = 'dst', to = 'src', direction = 'both', memory = 'pinned' },",
         "dst is at.output; a transfer moves data from an at.input to an at.output"},
        {"transfer = { from = 'src', to = 'dst', direction = 'up', memory = 'pinned' },",
         "'up' is none of to_device, to_host, both"},
        {"transfer = { from = 'src', to = 'dst', direction = 'both', memory = 'pined' },",
         "did you mean 'pinned'?"},
        {"transfer = { from = 'src', to = 'dst', direction = 'both', memory = 'pinned', stream = 1 "
         "},",
         "transfer.stream: there is no such field; did you mean 'streams'?"},
        {"transfer = { from = 'src', to = 'dst', direction = 'both', memory = 'pinned', pieces = "
         "'streams' },",
         "'streams' is a parameter, but this must be the same for all variants"},
        {"transfer = { from = 'src', to = 'dst', direction = 'both', memory = 'pinned', staging = "
         "'some' },",
         "'some' is none of none, pinned, write_combined"},
        {"layout = 'streams', transfer = { from = 'src', to = 'dst', direction = 'both', memory = "
         "'pinned' },",
         "cannot have a data layout as parameter"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        script *s;
        at_error error;
        assert_int_equal(load(wrong[i].transfer, "", "", &s, &error), AT_SCRIPT);
        if (!strstr(error.message, wrong[i].words) || error.line != 10)
            fail_msg("%s gives: %s", wrong[i].transfer, error.message);
    }
}

TEST(a_launch_needs_a_kernel)
{
    script *s;
    at_error error;
    assert_int_equal(load(whole, "", "launch = { grid = 1, block = 32 },", &s, &error), AT_SCRIPT);
    assert_non_null(strstr(error.message, "launch: there is no kernel to launch"));
}

TEST_GROUP(fixture_setup, fixture_teardown)
