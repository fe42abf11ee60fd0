#include "check.h"

#include "search/threshold.h"

typedef threshold_answer (*response)(size_t place);

static threshold_answer rises_at_100(size_t i)
{
    return i >= 100 ? THRESHOLD_YES : THRESHOLD_NO;
}
static threshold_answer falls_at_37(size_t i)
{
    return i < 37 ? THRESHOLD_YES : THRESHOLD_NO;
}
static threshold_answer never(size_t i)
{
    (void)i;
    return THRESHOLD_NO;
}
static threshold_answer always(size_t i)
{
    (void)i;
    return THRESHOLD_YES;
}
static threshold_answer back_and_forth(size_t i)
{
    return i >= 100 && i != 102 ? THRESHOLD_YES : THRESHOLD_NO;
}
static threshold_answer only_odd(size_t i)
{
    return i % 2 == 0 ? THRESHOLD_GAP : rises_at_100(i);
}
static threshold_answer gaps(size_t i)
{
    (void)i;
    return THRESHOLD_GAP;
}

static threshold_kind solve(threshold *t, response r, size_t *place)
{
    size_t next;
    for (size_t steps = 0; threshold_next(t, &next); steps++) {
        assert_true(steps < t->count);
        assert_int_equal(t->told[next], THRESHOLD_UNKNOWN);
        threshold_tell(t, next, r(next));
    }
    return threshold_result(t, place);
}

static threshold_kind solve_line(response r, size_t count, size_t budget, size_t *place,
                                 size_t *asked)
{
    threshold t;
    threshold_init(&t, count, budget);
    threshold_kind kind = solve(&t, r, place);
    *asked = t.asked;
    threshold_deinit(&t);
    return kind;
}

TEST(a_monotone_response_is_bisected)
{
    size_t place, asked;
    assert_int_equal(solve_line(rises_at_100, 240, 0, &place, &asked), THRESHOLD_RISES);
    assert_int_equal(place, 100);
    assert_true(asked <= 10);
    assert_int_equal(solve_line(falls_at_37, 240, 0, &place, &asked), THRESHOLD_FALLS);
    assert_int_equal(place, 37);
}

TEST(a_budget_of_a_tenth_is_kept)
{
    size_t place, asked;
    solve_line(rises_at_100, 240, 24, &place, &asked);
    assert_int_equal(place, 100);
    assert_int_equal(asked, 24);
}

TEST(a_line_without_a_change_has_no_threshold)
{
    size_t place, asked;
    assert_int_equal(solve_line(never, 50, 5, &place, &asked), THRESHOLD_NEVER);
    assert_int_equal(solve_line(always, 50, 5, &place, &asked), THRESHOLD_ALWAYS);
    assert_int_equal(solve_line(gaps, 50, 5, &place, &asked), THRESHOLD_NOTHING);
    assert_int_equal(solve_line(always, 1, 0, &place, &asked), THRESHOLD_ALWAYS);
}

TEST(an_alternating_response_is_asked_for_at_every_point)
{
    size_t place, asked;
    assert_int_equal(solve_line(back_and_forth, 240, 24, &place, &asked), THRESHOLD_MIXED);
    assert_int_equal(asked, 240);
    assert_int_equal(place, 100);
}

/* Answers yes up to the threshold, and again at a few points beyond. */
static threshold_answer comes_back(size_t i)
{
    return i < 100 || (i >= 112 && i < 120) ? THRESHOLD_YES : THRESHOLD_NO;
}

TEST(a_few_yes_beyond_the_threshold_are_found_with_a_tenth_of_the_answers)
{
    size_t place;
    threshold t;
    for (int wishes = 0; wishes < 2; wishes++) {
        threshold_init(&t, 240, 24);
        for (size_t i = 0; wishes && i < 90; i += 3)
            threshold_prefer(&t, i);
        for (size_t i = 150; i < 240; i++)
            threshold_expect(&t, i, THRESHOLD_NO);
        assert_int_equal(solve(&t, comes_back, &place), THRESHOLD_MIXED);
        threshold_deinit(&t);
    }
}

TEST(places_without_an_answer_are_left_out)
{
    size_t place, asked;
    assert_int_equal(solve_line(only_odd, 240, 0, &place, &asked), THRESHOLD_RISES);
    assert_int_equal(place, 101);
}

TEST(a_guess_saves_answers_and_is_dropped_if_wrong)
{
    threshold t;
    size_t place;
    for (int wrong = 0; wrong < 2; wrong++) {
        threshold_init(&t, 240, 3);
        for (size_t i = 0; i < 240; i++)
            threshold_expect(&t, i, rises_at_100(wrong ? i + 9 : i));
        assert_int_equal(solve(&t, rises_at_100, &place), THRESHOLD_RISES);
        assert_int_equal(place, 100);
        assert_true(wrong ? t.asked > 3 : t.asked == 3);
        threshold_deinit(&t);
    }
}

TEST(preferred_points_are_asked_before_middles)
{
    threshold t;
    size_t place;
    threshold_init(&t, 240, 48);
    threshold_prefer(&t, 201);
    threshold_prefer(&t, 203);
    solve(&t, rises_at_100, &place);
    assert_int_equal(t.told[201], THRESHOLD_YES);
    assert_int_equal(t.told[203], THRESHOLD_YES);
    threshold_deinit(&t);
}
