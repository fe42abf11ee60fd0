#include <math.h>

#include "base/rng.h"
#include "check.h"
#include "normal.h"
#include "search/regression/encoding.h"

/* ---- configurations ---- */

static const value tiles[] = {{.integer = 16}, {.integer = 32}, {.integer = 64}};
static const value names[] = {{.kind = VALUE_STRING, .string = "a"},
                              {.kind = VALUE_STRING, .string = "b"},
                              {.kind = VALUE_STRING, .string = "c"}};
static const value flags[] = {{.kind = VALUE_BOOLEAN, .boolean = false},
                              {.kind = VALUE_BOOLEAN, .boolean = true}};
static const value one[] = {{.integer = 7}};

static space *make_space(void)
{
    static const space_parameter parameters[] = {
        {"tile", tiles, 3}, {"name", names, 3}, {"flag", flags, 2}, {"one", one, 1}};
    at_error error = {0};
    space *s = NULL;
    assert_ok(space_new(parameters, 4, NULL, 0, NULL, NULL, 0, &s, &error), error);
    return s;
}

TEST(numbers_have_position_and_category_texts_only_a_category)
{
    space *s = make_space();
    encoding e;
    encoding_init(&e, s, 64);
    assert_int_equal(e.features, 4);
    static const bool categories[] = {false, true, true, false};
    for (size_t f = 0; f < 4; f++)
        assert_int_equal(e.is_category[f], categories[f]);
    static const uint16_t middle[] = {1, 2, 1, 0};
    uint64_t index;
    float point[4];
    assert_true(space_find(s, middle, &index));
    encoding_point(&e, index, point);
    /* By rank and by ratio, 32 lies in the middle between 16 and 64. */
    assert_true(fabs((double)point[0] - 0.5) < 1e-6);
    assert_true(point[3] == 1);
    encoding_deinit(&e);
    space_free(s);
}

TEST(a_distance_adds_positions_and_differences_of_texts)
{
    space *s = make_space();
    encoding e;
    encoding_init(&e, s, 64);
    static const uint16_t x[] = {0, 0, 0, 0}, y[] = {1, 2, 1, 0};
    uint64_t a = 0, b = 0;
    float p[4], q[4];
    assert_true(space_find(s, x, &a) && space_find(s, y, &b));
    encoding_point(&e, a, p);
    encoding_point(&e, b, q);
    assert_true(encoding_distance(&e, p, p) == 0);
    assert_true(fabs(encoding_distance(&e, p, q) - 2.25) < 1e-6);
    encoding_deinit(&e);
    space_free(s);
}

TEST(least_values_count_only_for_parameters_of_three_or_more_numbers)
{
    at_error error = {0};
    static const value four[] = {{.integer = 0}, {.integer = 1}, {.integer = 2}, {.integer = 4}};
    static const space_parameter parameters[] = {
        {"tile", tiles, 3}, {"name", names, 3}, {"flag", flags, 2}, {"pad", four, 4}};
    static const struct {
        uint16_t indices[4];
        size_t least;
    } cases[] = {{{0, 0, 0, 0}, 2}, {{0, 0, 0, 1}, 1}, {{2, 0, 0, 0}, 1}, {{1, 0, 0, 3}, 0}};
    space *s = NULL;
    encoding e;
    assert_ok(space_new(parameters, 4, NULL, 0, NULL, NULL, 0, &s, &error), error);
    encoding_init(&e, s, 64);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t index;
        assert_true(space_find(s, cases[i].indices, &index));
        assert_int_equal(encoding_least(&e, index), cases[i].least);
    }
    encoding_deinit(&e);
    space_free(s);
}

/* A constraint that allows more than one stage only if the name is "b". */
static at_status only_b_has_stages(void *context, const space_question *q, bool *holds,
                                   at_error *error)
{
    (void)context;
    (void)error;
    for (size_t i = 0; i < q->count; i++) {
        q->indices[q->varied] = q->choices[i];
        holds[i] = q->indices[2] == 0 || q->indices[1] == 1;
    }
    return AT_OK;
}

TEST(least_values_forced_by_another_parameter_are_not_counted)
{
    at_error error = {0};
    static const space_parameter parameters[] = {
        {"tile", tiles, 3}, {"name", names, 3}, {"stages", tiles, 3}};
    static const size_t reads[] = {1, 2};
    static const space_constraint constraint = {
        .text = "stages", .parameters = reads, .parameter_count = 2};
    static const struct {
        uint16_t indices[3];
        size_t least;
    } cases[] = {{{0, 0, 0}, 1}, {{1, 0, 0}, 0}, {{0, 1, 0}, 2}, {{1, 1, 0}, 1}, {{1, 1, 2}, 0}};
    space *s = NULL;
    encoding e;
    assert_ok(space_new(parameters, 3, &constraint, 1, only_b_has_stages, NULL, 0, &s, &error),
              error);
    encoding_init(&e, s, 64);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t index;
        assert_true(space_find(s, cases[i].indices, &index));
        assert_int_equal(encoding_least(&e, index), cases[i].least);
    }
    encoding_deinit(&e);
    space_free(s);
}

TEST(no_more_features_are_made_than_there_is_room_for)
{
    space *s = make_space();
    encoding e;
    float point[4] = {9, 9, 9, 9};
    encoding_init(&e, s, 2);
    assert_int_equal(e.features, 2);
    encoding_point(&e, 0, point);
    assert_true(point[2] == 9);
    encoding_deinit(&e);
    space_free(s);
}

/* ---- costs ---- */

TEST(scores_rise_with_costs_everywhere)
{
    rng r = rng_seeded(1);
    for (size_t count = 1; count <= 40; count++) {
        double costs[40];
        for (size_t i = 0; i < count; i++)
            costs[i] = exp(rng_normal(&r)) * (i % 5 ? 1 : 20);
        cost_scale s = {0};
        cost_scale_set(&s, costs, count);
        double before = -INFINITY;
        for (double cost = 1e-3; cost < 1e3; cost *= 1.07) {
            double score = cost_scale_score(&s, cost);
            assert_true(isfinite(score));
            assert_true(score >= before);
            before = score;
        }
        cost_scale_deinit(&s);
    }
}

TEST(small_differences_near_the_best_cost_are_enlarged)
{
    static const double costs[] = {1, 1.001, 1.002, 1.003, 50, 100, 1000, 10000};
    cost_scale s = {0};
    cost_scale_set(&s, costs, 8);
    double near = cost_scale_score(&s, 1.001) - cost_scale_score(&s, 1);
    double range = cost_scale_score(&s, 10000) - cost_scale_score(&s, 1);
    assert_true(near > 0.05 * range);
    /* Costs below the lowest known cost still get different scores. */
    assert_true(cost_scale_score(&s, 0.999) < cost_scale_score(&s, 1));
    cost_scale_deinit(&s);
}

TEST(equal_costs_have_one_score)
{
    static const double costs[] = {3, 3, 3};
    cost_scale s = {0};
    cost_scale_set(&s, costs, 3);
    assert_int_equal(s.count, 1);
    assert_true(isfinite(cost_scale_score(&s, 3)));
    assert_true(cost_scale_score(&s, 2) < cost_scale_score(&s, 3));
    cost_scale_deinit(&s);
}
