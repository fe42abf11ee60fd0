#include <math.h>
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "history/recorded.h"
#include "script/render.h"

enum { SIDE = 12 };

/* Makes a recorded space of 144 configurations. The cost is 1 + the distance to (3, 5). One
 * configuration in 12 fails. */
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

/* Replays the recorded space. Returns the answer of the command. */
static json_t *replayed(const recorded *r, const recorded_space *rs, const replay_options *options)
{
    json_t *answer;
    at_error error = {0};
    assert_ok(replay_run(r, rs, "recorded.json", options, &answer, &error), error);
    return answer;
}

static double figure(const json_t *answer, const char *name)
{
    return json_number_value(json_object_get(json_array_get(answer, 0), name));
}

/* Returns the marks of the curve that users see. */
static const json_t *marks_of(const json_t *answer)
{
    return json_object_get(json_array_get(answer, 1), "marks");
}

static double at_mark(const json_t *answer, size_t i, const char *name)
{
    return json_number_value(json_object_get(json_array_get(marks_of(answer), i), name));
}

TEST(random_search_scores_nothing_on_average)
{
    recorded r;
    recorded_space rs;
    make_recorded(&r, &rs);
    json_t *answer =
        replayed(&r, &rs, &(replay_options){.strategy = "random", .seed = 1, .repeat = 2000});
    assert_true(fabs(figure(answer, "score")) < 0.03);
    assert_true(fabs(figure(answer, "score_in_time")) < 0.03);
    assert_int_equal(figure(answer, "failed"), 6);
    assert_true(json_array_size(marks_of(answer)) > 3);
    for (size_t i = 0; i < json_array_size(marks_of(answer)); i++) {
        double random = at_mark(answer, i, "random"), seconds = at_mark(answer, i, "seconds");
        assert_true(fabs(at_mark(answer, i, "share") - random) < 0.03);
        assert_true(fabs(at_mark(answer, i, "in_time") - random) < 0.03);
        assert_true(fabs(seconds - at_mark(answer, i, "evaluations")) < 0.05 * seconds);
    }
    json_decref(answer);
    recorded_space_deinit(&rs);
    recorded_deinit(&r);
}

TEST(a_run_that_has_evaluated_nothing_yet_is_not_charged_the_slowest)
{
    recorded r;
    recorded_space rs;
    make_recorded(&r, &rs);
    /* One of 12 configurations takes long to try although its cost is low; one takes very long. */
    for (uint64_t i = 0; i < rs.count; i += SIDE)
        rs.elapsed_s[i] = 8;
    rs.cost[SIDE + 1] = 10000;
    json_t *answer =
        replayed(&r, &rs, &(replay_options){.strategy = "random", .seed = 1, .repeat = 2000});
    /* If each run were charged the longest time, the score would be below -5. The score is not
     * exactly 0, because the time of few evaluations differs from their mean. */
    assert_true(fabs(figure(answer, "score_in_time")) < 1);
    json_decref(answer);
    recorded_space_deinit(&rs);
    recorded_deinit(&r);
}

TEST(a_replay_is_repeatable_and_stops_at_its_budget)
{
    recorded r;
    recorded_space rs;
    make_recorded(&r, &rs);
    replay_options options = {.strategy = "random", .evaluations = 20, .seed = 5, .repeat = 10};
    json_t *a = replayed(&r, &rs, &options), *b = replayed(&r, &rs, &options);
    assert_int_equal(json_array_size(marks_of(a)), 5); /* budgets of 1, 2, 5, 10 and 20 */
    assert_true(json_equal(a, b));
    options.seed = 6;
    json_t *c = replayed(&r, &rs, &options);
    assert_true(at_mark(a, 4, "share") != at_mark(c, 4, "share"));
    json_decref(a);
    json_decref(b);
    json_decref(c);
    recorded_space_deinit(&rs);
    recorded_deinit(&r);
}

TEST(exhaustive_search_ends_at_the_optimum)
{
    recorded r;
    recorded_space rs;
    make_recorded(&r, &rs);
    json_t *answer = replayed(
        &r, &rs,
        &(replay_options){.strategy = "exhaustive", .evaluations = 144, .seed = 1, .repeat = 1});
    size_t last = json_array_size(marks_of(answer)) - 1;
    assert_true(figure(answer, "optimum") == 1);
    assert_int_equal(at_mark(answer, last, "evaluations"), 100);
    assert_true(at_mark(answer, last, "share") == 1);
    json_decref(answer);
    recorded_space_deinit(&rs);
    recorded_deinit(&r);
}

TEST(an_unknown_strategy_is_an_error)
{
    recorded r;
    recorded_space rs;
    make_recorded(&r, &rs);
    at_error error = {0};
    json_t *answer;
    const replay_options options = {.strategy = "luck", .repeat = 1};
    assert_int_equal(replay_run(&r, &rs, "recorded.json", &options, &answer, &error), AT_USAGE);
    recorded_space_deinit(&rs);
    recorded_deinit(&r);
}

/* ---- scores ---- */

enum { N = 9, MARKS_OF_N = 3 };
static const double costs[N] = {5, 2, INFINITY, 9, 3, 7, INFINITY, 2.5, 30};

/* Makes the input that replay_run() gives the script for these costs. */
static json_t *given_costs(const double *of, size_t count)
{
    json_t *working = json_array();
    for (size_t i = 0; i < count; i++)
        if (isfinite(of[i]))
            json_array_append_new(working, json_real(of[i]));
    return json_pack("{ss ss ss ss so si sf si si si}", "path", "p", "kernel", "", "device", "",
                     "objective", "time", "costs", working, "count", (int)count, "mean_s", 1.0,
                     "evaluations", 0, "seeds", 1, "seed", 1);
}

static json_t *computed(const json_t *given)
{
    json_t *out;
    at_error error = {0};
    assert_ok(script_compute("commands.replay", NULL, given, &out, &error), error);
    return out;
}

/* Returns the mean, over all subsets of m configurations, of the best cost. Tries every subset. */
static double by_brute_force(uint64_t m, double nothing, bool share)
{
    double sum = 0;
    size_t count = 0;
    for (unsigned subset = 0; subset < 1u << N; subset++) {
        double best = INFINITY;
        uint64_t size = 0;
        for (unsigned i = 0; i < N; i++)
            if (subset >> i & 1) {
                size++;
                best = fmin(best, costs[i]);
            }
        if (size != m)
            continue;
        count++;
        sum += isinf(best) ? nothing : share ? 2 / best : best;
    }
    return sum / (double)count;
}

static double random_cost(uint64_t m)
{
    return by_brute_force(m, 30, false);
}

/* Returns the cost at the expected rank of the best of m configurations. */
static double rank_cost(uint64_t m)
{
    static const double from_worst[N] = {30, 30, 30, 9, 7, 5, 3, 2.5, 2}; /* failures cost 30 */
    return from_worst[(size_t)round((double)(m * (N + 1)) / (double)(m + 1)) - 1];
}

/* Returns the script's answer for runs. At each point m of the plan, their mean cost lies `part` of
 * the way from the optimum to `of`(m). */
static json_t *answer_for(double (*of)(uint64_t m), double part)
{
    json_t *given = given_costs(costs, N), *plan = computed(given), *found = json_array(), *curve;
    size_t k;
    json_array_foreach(json_object_get(plan, "curves"), k, curve)
    {
        json_t *means = json_array();
        for (size_t i = 0; i < json_array_size(curve); i++) {
            double at = fmax(1, floor(json_number_value(json_array_get(curve, i)) + 1e-9));
            json_array_append_new(means, json_real(2 + part * (of((uint64_t)at) - 2)));
        }
        json_array_append_new(found, means);
    }
    json_object_set_new(given, "runs",
                        json_pack("{ss so sO}", "strategy", "s", "costs", found, "shares", found));
    json_t *answer = computed(given);
    json_decref(plan);
    json_decref(given);
    return answer;
}

TEST(random_search_is_the_mean_over_all_subsets)
{
    json_t *given = given_costs(costs, N), *plan = computed(given), *answer;
    assert_float_equal(json_number_value(json_object_get(plan, "first")), random_cost(1), 1e-12);
    answer = answer_for(random_cost, 1);
    assert_true(json_array_size(marks_of(answer)) >= MARKS_OF_N);
    for (size_t i = 0; i < json_array_size(marks_of(answer)); i++) {
        double share = by_brute_force((uint64_t)at_mark(answer, i, "evaluations"), 0, true);
        assert_float_equal(at_mark(answer, i, "random"), share, 1e-12);
    }
    json_decref(answer);
    json_decref(plan);
    json_decref(given);
}

TEST(the_budget_is_the_first_that_reaches_the_target)
{
    json_t *given = given_costs(costs, N), *plan = computed(given);
    double target = 5 - 0.95 * (5 - 2); /* 5 is the median */
    uint64_t budget = (uint64_t)json_integer_value(json_object_get(plan, "budget"));
    assert_true(random_cost(budget) <= target);
    assert_true(random_cost(budget - 1) > target);
    json_decref(plan);
    json_decref(given);
}

TEST(a_score_is_0_for_random_search_and_1_for_the_optimum)
{
    static const double parts[] = {1, 0.5, 0};
    for (size_t i = 0; i < 3; i++) {
        json_t *by_cost = answer_for(random_cost, parts[i]),
               *by_rank = answer_for(rank_cost, parts[i]);
        assert_float_equal(figure(by_cost, "score"), 1 - parts[i], 1e-6);
        assert_float_equal(figure(by_cost, "score_in_time"), 1 - parts[i], 1e-6);
        assert_float_equal(figure(by_rank, "methodology_score"), 1 - parts[i], 1e-6);
        json_decref(by_cost);
        json_decref(by_rank);
    }
}

TEST(a_space_where_nothing_works_has_no_score)
{
    static const double failed[2] = {INFINITY, INFINITY};
    at_error error = {0};
    json_t *out, *given = given_costs(failed, 2);
    assert_int_equal(script_compute("commands.replay", NULL, given, &out, &error), AT_NOT_FOUND);
    assert_non_null(strstr(error.message, "none of the 2 configurations works"));
    json_decref(given);
}
