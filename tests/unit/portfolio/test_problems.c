/* Tests that the problems of a portfolio fill the requested ranges. */
#include "check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "portfolio/problems.h"

enum { MOST = 64 };

static bool any(void *context, const value *problem)
{
    (void)context;
    (void)problem;
    return true;
}

static const portfolio_axis rows = {
    .name = "rows", .least = 256, .most = 16384, .divisor_count = 2, .divisors = {2, 4}};
static const portfolio_axis cols = {
    .name = "cols", .least = 3, .most = 100000, .divisor_count = 4, .divisors = {2, 3, 4, 8}};

static size_t choose(const portfolio_axis *axes, size_t axis_count, size_t wanted,
                     portfolio_accepts accept, value *out)
{
    at_error error = {0};
    size_t count;
    assert_ok(
        portfolio_choose_problems(axes, axis_count, wanted, 1, accept, NULL, out, &count, &error),
        error);
    return count;
}

TEST(problems_are_different_and_lie_in_their_ranges)
{
    const portfolio_axis axes[] = {rows, cols};
    value found[2 * MOST];
    assert_int_equal(choose(axes, 2, MOST, any, found), MOST);
    for (size_t i = 0; i < MOST; i++) {
        for (size_t a = 0; a < 2; a++)
            assert_true(found[2 * i + a].integer >= axes[a].least &&
                        found[2 * i + a].integer <= axes[a].most);
        for (size_t j = 0; j < i; j++)
            assert_false(found[2 * i].integer == found[2 * j].integer &&
                         found[2 * i + 1].integer == found[2 * j + 1].integer);
    }
}

TEST(every_class_of_every_variable_occurs)
{
    const portfolio_axis axes[] = {rows, cols};
    value found[2 * 24];
    assert_int_equal(portfolio_class_count(&rows), 3);
    assert_int_equal(portfolio_class_count(&cols), 8);
    assert_int_equal(choose(axes, 2, 24, any, found), 24);
    for (size_t a = 0; a < 2; a++)
        for (size_t class = 0; class < portfolio_class_count(&axes[a]); class ++) {
            bool occurs = false;
            for (size_t i = 0; i < 24; i++)
                occurs = occurs || portfolio_class(&axes[a], found[2 * i + a].integer) == class;
            assert_true(occurs);
        }
}

/* If there are few combinations of classes, every combination must occur. */
TEST(classes_of_all_variables_are_combined)
{
    const portfolio_axis axes[] = {rows, rows};
    value found[2 * 24];
    bool met[3][3] = {{false}};
    assert_int_equal(choose(axes, 2, 24, any, found), 24);
    for (size_t i = 0; i < 24; i++)
        met[portfolio_class(&rows, found[2 * i].integer)]
           [portfolio_class(&rows, found[2 * i + 1].integer)] = true;
    for (size_t a = 0; a < 3; a++)
        for (size_t b = 0; b < 3; b++)
            assert_true(met[a][b]);
}

/* The first problems go through all classes. In one of four further problems both numbers are
 * odd, as among all numbers. */
TEST(classes_are_as_frequent_as_among_numbers)
{
    enum { MANY = 1024 };
    const portfolio_axis axes[] = {rows, rows};
    static value found[2 * MANY];
    size_t odd = 0, both = 0;
    assert_int_equal(choose(axes, 2, MANY, any, found), MANY);
    for (size_t i = 0; i < MANY; i++) {
        odd += found[2 * i].integer % 2;
        both += found[2 * i].integer % 2 && found[2 * i + 1].integer % 2;
    }
    /* At most one number in eight is round, and so even. Equal numbers are both odd or both even.
     */
    assert_in_range(odd, MANY * 7 / 16, MANY / 2 + MANY / 32);
    assert_in_range(both, MANY * 7 / 32, MANY * 5 / 16);
}

TEST(classes_tell_divisors)
{
    for (int64_t v = 1; v < 200; v++)
        for (int64_t w = 1; w < v; w++) {
            bool same = true;
            for (size_t d = 0; d < cols.divisor_count; d++)
                same = same && (v % cols.divisors[d] == 0) == (w % cols.divisors[d] == 0);
            assert_int_equal(same, portfolio_class(&cols, v) == portfolio_class(&cols, w));
        }
}

/* The problems include corners of the range, primes and powers of two. They leave no gap. */
TEST(problems_fill_the_range)
{
    const portfolio_axis axes[] = {rows, rows};
    value found[2 * MOST];
    bool tall = false, flat = false, large = false, small = false, odd = false, round = false;
    bool octaves[2][6] = {{false}};
    assert_int_equal(choose(axes, 2, MOST, any, found), MOST);
    for (size_t i = 0; i < MOST; i++) {
        int64_t r = found[2 * i].integer, c = found[2 * i + 1].integer;
        tall = tall || (r == 16384 && c == 256);
        flat = flat || (r == 256 && c == 16384);
        large = large || (r == 16384 && c == 16384);
        small = small || (r == 256 && c == 256);
        odd = odd || (r % 2 == 1 && c % 2 == 1);
        round = round || (r % 128 == 0 && c % 128 == 0 && r < 16384 && r > 256);
        if (r < 16384)
            octaves[0][(size_t)log2((double)r / 256)] = true;
        if (c < 16384)
            octaves[1][(size_t)log2((double)c / 256)] = true;
    }
    assert_true(tall && flat && large && small && odd && round);
    for (size_t o = 0; o < 6; o++)
        assert_true(octaves[0][o] && octaves[1][o]);
}

static bool only_even(void *context, const value *problem)
{
    (void)context;
    return problem[0].integer % 2 == 0;
}

static bool is_round(int64_t v)
{
    while (v % 2 == 0)
        v /= 2;
    return v == 1 || v == 3;
}

TEST(some_problems_are_round_and_some_square)
{
    const portfolio_axis axes[] = {rows, rows};
    value found[2 * MOST];
    size_t round = 0, square = 0, powers = 0;
    assert_int_equal(choose(axes, 2, MOST, any, found), MOST);
    for (size_t i = 4; i < MOST; i++) {
        int64_t r = found[2 * i].integer, c = found[2 * i + 1].integer;
        round += is_round(r) && is_round(c);
        powers += (r & (r - 1)) == 0 && (c & (c - 1)) == 0;
        square += r == c;
    }
    assert_in_range(round, 7, 20);
    assert_in_range(square, 7, 20);
    assert_in_range(powers, 1, 7);
}

TEST(of_one_variable_some_problems_are_round)
{
    value found[MOST];
    size_t round = 0;
    assert_int_equal(choose(&rows, 1, MOST, any, found), MOST);
    for (size_t i = 0; i < MOST; i++)
        round += is_round(found[i].integer);
    assert_in_range(round, 4, 16);
}

TEST(refused_problems_are_not_chosen)
{
    value found[MOST];
    assert_int_equal(choose(&rows, 1, MOST, only_even, found), MOST);
    for (size_t i = 0; i < MOST; i++)
        assert_int_equal(found[i].integer % 2, 0);
}

TEST(a_short_range_gives_all_its_problems)
{
    const portfolio_axis few = {
        .name = "n", .least = 5, .most = 8, .divisor_count = 1, .divisors = {2}};
    value found[MOST];
    assert_int_equal(choose(&few, 1, MOST, any, found), 4);
}

TEST(all_values_of_a_list_are_chosen)
{
    const value types[] = {{.kind = VALUE_STRING, .string = "float"},
                           {.kind = VALUE_STRING, .string = "half"}};
    const portfolio_axis axes[] = {rows, {.name = "dtype", .values = types, .value_count = 2}};
    value found[2 * 12];
    size_t halves = 0;
    assert_int_equal(choose(axes, 2, 12, any, found), 12);
    for (size_t i = 0; i < 12; i++)
        halves += strcmp(found[2 * i + 1].string, "half") == 0;
    assert_in_range(halves, 3, 9);
}

TEST(distance_counts_doublings_and_classes)
{
    const value a = {.kind = VALUE_INTEGER, .integer = 1023},
                b = {.kind = VALUE_INTEGER, .integer = 4095};
    const value c = {.kind = VALUE_INTEGER, .integer = 1024};
    assert_float_equal(portfolio_distance(&rows, 1, &a, &b), 2, 1e-9);
    assert_float_equal(portfolio_distance(&rows, 1, &a, &a), 0, 1e-9);
    assert_true(portfolio_distance(&rows, 1, &a, &c) > 1);
}

/* Draws `wanted` problems from a range. At least `least_found` must be found. Returns the
 * processor time in seconds. */
static double draw_s(size_t wanted, int64_t most, size_t least_found)
{
    const portfolio_axis axis = {.name = "n", .least = 1, .most = most};
    value *found = calloc(wanted, sizeof *found);
    assert_non_null(found);
    clock_t begin = clock();
    size_t count = choose(&axis, 1, wanted, any, found);
    clock_t end = clock();
    assert_true(count >= least_found);
    free(found);
    return (double)(end - begin) / CLOCKS_PER_SEC;
}

/* A hundred times as many problems take about a hundred times as long. If each problem were
 * compared with all earlier problems, they would take ten thousand times as long. */
TEST(the_time_grows_in_proportion_to_the_number_of_problems)
{
    double few_s = draw_s(1000, 1 << 24, 1000), many_s = draw_s(100000, 1 << 24, 100000);
    if (many_s > 1000 * (few_s + 0.001))
        fail_msg("1,000 problems take %g s, 100,000 take %g s", few_s, many_s);
}

/* The time also grows in proportion if the range has fewer problems than wanted. */
TEST(an_exhausted_range_is_given_up_soon)
{
    double few_s = draw_s(1000, 900, 850), many_s = draw_s(10000, 9000, 8500);
    if (many_s > 50 * (few_s + 0.001))
        fail_msg("900 problems take %g s, 9,000 take %g s", few_s, many_s);
}
