#include <math.h>
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "history/recorded.h"
#include "history/replay.h"

enum { SIDE = 12 };

/* Makes a recorded space of 144 configurations. The cost is 1 + the distance to (3, 5); one in 12
 * fails. */
static void make_recorded(recorded *r, recorded_space *rs)
{
    static char text[65536];
    size_t used = (size_t)snprintf(text, sizeof text, "{\"results\": [");
    for (int x = 0; x < SIDE; x++)
        for (int y = 0; y < SIDE; y++)
            used += (size_t)snprintf(
                text + used, sizeof text - used,
                "%s{\"configuration\": {\"x\": %d, \"y\": %d}, \"times\": {\"compilation\": 500,"
                " \"runtimes\": [500]}, \"invalidity\": \"%s\", \"correctness\": 1,"
                " \"measurements\": [{\"name\": \"time\", \"value\": %d}]}",
                x || y ? "," : "", x, y, x == y && x > 5 ? "runtime" : "correct",
                1 + (x - 3) * (x - 3) + (y - 5) * (y - 5));
    snprintf(text + used, sizeof text - used, "]}");
    at_error error = {0};
    assert_ok(recorded_parse(text, strlen(text), "test", r, &error), error);
    assert_ok(recorded_space_init(rs, r, &error), error);
}

TEST(random_search_scores_nothing_on_average)
{
    recorded r;
    recorded_space rs;
    make_recorded(&r, &rs);
    replay_options options = {.strategy = "random", .seed = 1, .repeat = 2000, .batch = 1};
    replay_result result;
    at_error error = {0};
    assert_ok(replay_run(&rs, &options, &result, &error), error);
    assert_true(fabs(result.score) < 0.03);
    assert_true(fabs(result.score_in_time) < 0.03);
    assert_int_equal(result.failed, 6);
    for (size_t i = 0; i < result.mark_count; i++) {
        const replay_mark *m = &result.marks[i];
        assert_true(fabs(m->share - m->random_share) < 0.03);
        assert_true(fabs(m->share_in_time - m->random_share) < 0.03);
        assert_true(fabs(m->seconds - (double)m->evaluations) < 0.05 * m->seconds);
    }
    recorded_space_deinit(&rs);
    recorded_deinit(&r);
}

TEST(a_run_that_has_evaluated_nothing_yet_is_not_charged_the_slowest)
{
    recorded r;
    recorded_space rs;
    make_recorded(&r, &rs);
    /* One in 12 configurations takes long to try although its cost is low, and one takes very
     * long. */
    for (uint64_t i = 0; i < rs.count; i += SIDE)
        rs.elapsed_s[i] = 8;
    rs.cost[SIDE + 1] = 10000;
    replay_options options = {.strategy = "random", .seed = 1, .repeat = 2000, .batch = 1};
    replay_result result;
    at_error error = {0};
    assert_ok(replay_run(&rs, &options, &result, &error), error);
    /* The score is not exactly 0, because few evaluations of uneven length fit less well than their
     * mean length suggests. If each were charged the longest, the score would be below -5. */
    assert_true(fabs(result.score_in_time) < 1);
    recorded_space_deinit(&rs);
    recorded_deinit(&r);
}

TEST(a_replay_is_repeatable_and_stops_at_its_budget)
{
    recorded r;
    recorded_space rs;
    make_recorded(&r, &rs);
    at_error error = {0};
    replay_result a, b;
    replay_options options = {
        .strategy = "random", .evaluations = 20, .seed = 5, .repeat = 10, .batch = 4};
    assert_ok(replay_run(&rs, &options, &a, &error), error);
    assert_ok(replay_run(&rs, &options, &b, &error), error);
    assert_int_equal(a.mark_count, 5); /* budgets of 1, 2, 5, 10 and 20 */
    assert_true(a.score == b.score);
    assert_true(a.marks[4].share == b.marks[4].share);
    options.seed = 6;
    assert_ok(replay_run(&rs, &options, &b, &error), error);
    assert_true(a.marks[4].share != b.marks[4].share);
    recorded_space_deinit(&rs);
    recorded_deinit(&r);
}

TEST(exhaustive_search_ends_at_the_optimum)
{
    recorded r;
    recorded_space rs;
    make_recorded(&r, &rs);
    at_error error = {0};
    replay_result result;
    replay_options options = {
        .strategy = "exhaustive", .evaluations = 144, .seed = 1, .repeat = 1, .batch = 1};
    assert_ok(replay_run(&rs, &options, &result, &error), error);
    assert_true(result.optimum == 1);
    assert_int_equal(result.marks[result.mark_count - 1].evaluations, 100);
    assert_true(result.marks[result.mark_count - 1].share == 1);
    recorded_space_deinit(&rs);
    recorded_deinit(&r);
}

TEST(an_unknown_strategy_is_an_error)
{
    recorded r;
    recorded_space rs;
    make_recorded(&r, &rs);
    at_error error = {0};
    replay_result result;
    replay_options options = {.strategy = "luck", .repeat = 1, .batch = 1};
    assert_int_equal(replay_run(&rs, &options, &result, &error), AT_USAGE);
    recorded_space_deinit(&rs);
    recorded_deinit(&r);
}
