/* Tests the loading and the use of a script when memory runs out. Each allocation of the C
 * library fails in turn. The result must be AT_NO_MEMORY or success, without a crash. The
 * address sanitizer reports leaks. */
#include "failing_memory.h"
#include "script/emit.h"
#include "script_fixture.h"

static at_status use(const script_options *options, at_error *error)
{
    script *s;
    space *made = NULL;
    at_status status = script_load(TEST_SOURCE_DIR "/tests/fixtures/scale.lua", options, &s, error);
    if (status)
        return status;
    emitted out = {0};
    launch_plan launch;
    problem_plan problem;
    status = script_space(s, PROBLEM_TUNED, &made, error);
    if (!status)
        status = script_problem_plan(s, PROBLEM_TUNED, NULL, 1, &problem, error);
    if (!status)
        status = script_launch_plan(s, PROBLEM_TUNED, script_pattern(s)->baseline, &launch, error);
    if (!status)
        status = emit_variant(s, PROBLEM_TUNED, script_pattern(s)->baseline, true, &out, error);
    emitted_deinit(&out);
    space_free(made);
    script_free(s);
    return status;
}

TEST(every_allocation_may_fail)
{
    script_options options = fixture_options();
    size_t failures = 0;
    /* A load makes about ten thousand allocations, and neighbouring allocations are similar. The
     * stride is small enough for each kind of allocation to fail. */
    for (long n = 0;; n += n < 200 ? 1 : 23 * TEST_STRIDE) {
        at_error error = {0};
        until_failure = n;
        at_status status = use(&options, &error);
        bool unused = until_failure >= 0;
        until_failure = -1;
        if (unused) {
            assert_ok(status, error);
            break;
        }
        /* After a failure Lua collects garbage and tries again, so the load may succeed. */
        if (status == AT_OK)
            continue;
        failures++;
        if (status != AT_NO_MEMORY)
            fail_msg("allocation %ld: %s: %s", n, status_name(status), error.message);
        assert_true(error.message[0] != '\0');
    }
    assert_true(failures > 50);
}

TEST_GROUP(fixture_setup, fixture_teardown)
