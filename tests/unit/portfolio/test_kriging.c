/* Tests the ratios that kriging expects for problems without times. */
#include "check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "portfolio/kriging.h"

enum { ROWS = 9, COUNT = 2 };

static const value words[2] = {{.kind = VALUE_STRING, .string = "rows"},
                               {.kind = VALUE_STRING, .string = "columns"}};
static const portfolio_axis axes[2] = {
    {.name = "n", .least = 1, .most = 65536, .divisor_count = 1, .divisors = {2}},
    {.name = "axis", .values = words, .value_count = 2}};

static value number(int64_t n)
{
    return (value){.kind = VALUE_INTEGER, .integer = n};
}

/* Problems with n = 1, 4, 16, ... The first configuration is best for small n, and the second
 * for large n. The default takes twice the time of the best. */
typedef struct fixture {
    value problems[2 * ROWS];
    double ratios[COUNT * ROWS], defaults[ROWS];
    portfolio_matrix m;
    kriging *k;
} fixture;

static int setup(void **state)
{
    static fixture f;
    f = (fixture){.m = {ROWS, COUNT, f.ratios, f.defaults}};
    for (int i = 0; i < ROWS; i++) {
        f.problems[2 * i] = number(INT64_C(1) << (2 * i));
        f.problems[2 * i + 1] = words[0];
        f.ratios[COUNT * i] = i < 4 ? 1 : 1 + 0.1 * (i - 3);
        f.ratios[COUNT * i + 1] = i < 4 ? 1 + 0.1 * (4 - i) : 1;
        f.defaults[i] = 2;
    }
    f.k = kriging_new(&f.m, axes, 2, f.problems, false);
    *state = &f;
    return 0;
}

static int teardown(void **state)
{
    kriging_free(((fixture *)*state)->k);
    return 0;
}

TEST_IN(what_was_timed_is_expected_there, setup, teardown)
{
    fixture *f = *state;
    for (int i = 0; i < ROWS; i++) {
        double ratios[COUNT + 1];
        kriging_expect(f->k, &f->problems[2 * i], ratios);
        for (int c = 0; c < COUNT; c++)
            assert_float_equal(ratios[c], f->ratios[COUNT * i + c], 0.02);
        assert_float_equal(ratios[COUNT], 2, 1e-9);
    }
}

TEST_IN(between_problems_times_change_gradually, setup, teardown)
{
    fixture *f = *state;
    double ratios[COUNT + 1];
    kriging_expect(f->k, (value[]){number(2048), words[0]}, ratios); /* 2048 was not timed */
    assert_true(ratios[0] > 1.2 && ratios[0] < 1.3);
    assert_float_equal(ratios[1], 1, 0.02);
}

TEST_IN(a_ratio_is_relative_to_the_best_of_the_compared_entries, setup, teardown)
{
    fixture *f = *state;
    kriging *k;
    double ratios[COUNT + 1], others[COUNT + 1];
    for (int i = 0; i < ROWS; i++) { /* makes another configuration the best, by a factor of 3 */
        f->ratios[COUNT * i] *= 3;
        f->ratios[COUNT * i + 1] *= 3;
        f->defaults[i] *= 3;
    }
    k = kriging_new(&f->m, axes, 2, f->problems, false);
    kriging_expect(f->k, f->problems, ratios);
    kriging_expect(k, f->problems, others);
    for (int c = 0; c <= COUNT; c++)
        assert_float_equal(ratios[c], others[c], 1e-9);
    kriging_free(k);
}

TEST_IN(what_is_possible_nowhere_is_not_known, setup, teardown)
{
    fixture *f = *state;
    kriging *k;
    double ratios[COUNT + 1];
    for (int i = 0; i < ROWS; i++)
        f->ratios[COUNT * i] = 0;
    k = kriging_new(&f->m, axes, 2, f->problems, false);
    kriging_expect(k, f->problems, ratios);
    assert_true(ratios[0] <= 0 && ratios[1] > 0);
    kriging_free(k);
}

TEST_IN(what_may_be_slower_than_the_default_is_bewared_of_where_little_is_known, setup, teardown)
{
    fixture *f = *state;
    kriging *k;
    const value timed[] = {number(1), words[0]}, unseen[] = {number(1), words[1]};
    double ratios[COUNT + 1], others[COUNT + 1];
    for (int i = 0; i < ROWS; i++)
        f->defaults[i] = 1.1;
    k = kriging_new(&f->m, axes, 2, f->problems, false);
    kriging_expect(k, unseen, ratios);
    memcpy(others, ratios, sizeof others);
    kriging_add_risk(k, unseen, others);
    assert_true(others[0] > ratios[0] + 0.01 && others[1] > ratios[1] + 0.01);
    assert_float_equal(others[COUNT], ratios[COUNT], 0);
    kriging_expect(k, timed, ratios);
    memcpy(others, ratios, sizeof others);
    kriging_add_risk(k, timed, others);
    assert_float_equal(others[0], ratios[0], 0.001);
    /* Risk is relative to the default, so without a default there is no risk. */
    kriging_expect(k, unseen, ratios);
    ratios[COUNT] = 0;
    memcpy(others, ratios, sizeof others);
    kriging_add_risk(k, unseen, others);
    assert_memory_equal(others, ratios, sizeof ratios);
    kriging_free(k);
}

/* Only the product of the two axes matters. On every second doubling of the product, the first
 * configuration takes 1.5 times as long. */
TEST_IN(a_product_that_alone_matters_is_found, setup, teardown)
{
    enum { SIDE = 12, PROBLEMS = SIDE * SIDE };
    static const portfolio_axis sides[2] = {{.name = "rows", .least = 1, .most = 65536},
                                            {.name = "cols", .least = 1, .most = 65536}};
    static value problems[2 * PROBLEMS];
    static double ratios[2 * PROBLEMS], defaults[PROBLEMS];
    size_t count = 0;
    double off[2] = {0};
    const portfolio_matrix m = {PROBLEMS - SIDE / 2, 2, ratios, defaults};
    for (int i = 0; i < PROBLEMS; i++) { /* the last SIDE / 2 problems have no times */
        int place = i * 7 % PROBLEMS, a = place % SIDE, b = place / SIDE;
        problems[2 * count] = number((INT64_C(1) << a) - 1);
        problems[2 * count + 1] = number((INT64_C(1) << b) - 1);
        ratios[2 * count] = (a + b) % 2 ? 1.5 : 1;
        ratios[2 * count + 1] = 1.2;
        defaults[count++] = 3;
    }
    for (int fits = 0; fits < 2; fits++) {
        kriging *k;
        k = kriging_new(&m, sides, 2, problems, fits);
        for (size_t i = m.problem_count; i < PROBLEMS; i++) {
            double expected[COUNT + 1];
            kriging_expect(k, &problems[2 * i], expected);
            off[fits] += fabs(expected[0] / expected[1] - ratios[2 * i] / ratios[2 * i + 1]);
        }
        kriging_free(k);
    }
    assert_true(off[1] < off[0] / 4);
}

/* On odd numbers, the first configuration takes 1.5 times as long. No timed even number is
 * divisible by 3. Kriging must find that divisibility by 2 matters, and by 3 does not. */
TEST_IN(the_divisor_that_decides_is_found, setup, teardown)
{
    enum { PROBLEMS = 60 };
    static const portfolio_axis lengths[1] = {
        {.name = "n", .least = 1, .most = 65536, .divisor_count = 2, .divisors = {2, 3}}};
    static const int64_t more[] = {1, 2, 3};
    static value problems[PROBLEMS];
    static double ratios[2 * PROBLEMS], defaults[PROBLEMS];
    const portfolio_matrix m = {PROBLEMS, 2, ratios, defaults};
    double expected[COUNT + 1];
    kriging *k;
    for (int i = 0; i < PROBLEMS; i++) {
        problems[i] = number(6 * ((INT64_C(64) << i % 7) + 16 * (i / 7)) + more[i % 3]);
        ratios[2 * i] = i % 3 == 1 ? 1 : 1.5;
        ratios[2 * i + 1] = 1.2;
        defaults[i] = 3;
    }
    k = kriging_new(&m, lengths, 1, problems, true);
    for (int64_t n = 480; n < 16384; n *= 2) { /* n is divisible by 6 */
        const value unseen = number(n);
        kriging_expect(k, &unseen, expected);
        assert_float_equal(expected[0] / expected[1], 1 / 1.2, 0.03);
    }
    kriging_free(k);
}

/* Chance decides whether the first or the second configuration is best, more often the first.
 * The times of the other configurations follow a pattern. */
TEST_IN(random_changes_are_not_followed, setup, teardown)
{
    enum { PROBLEMS = 200, WIDTH = 6 };
    static const portfolio_axis lengths[1] = {{.name = "n", .least = 1, .most = 1 << 20}};
    static value problems[PROBLEMS];
    static double ratios[WIDTH * PROBLEMS], defaults[PROBLEMS];
    const portfolio_matrix m = {PROBLEMS, WIDTH, ratios, defaults};
    rng chance = rng_seeded(1);
    kriging *k;
    for (int i = 0; i < PROBLEMS; i++) {
        bool is_ahead = rng_uniform(&chance) < 0.75;
        problems[i] = number((int64_t)exp2(0.1 * i));
        ratios[WIDTH * i] = is_ahead ? 1 : 1.1;
        ratios[WIDTH * i + 1] = is_ahead ? 1.1 : 1;
        for (int c = 2; c < WIDTH; c++)
            ratios[WIDTH * i + c] = 2 + sin(0.05 * c * i);
        defaults[i] = 4;
    }
    k = kriging_new(&m, lengths, 1, problems, true);
    for (int64_t n = 4; n < 1 << 20; n = 5 * n / 4) {
        const value unseen = number(n);
        double expected[WIDTH + 1];
        kriging_expect(k, &unseen, expected);
        assert_true(expected[0] < expected[1]);
    }
    kriging_free(k);
}

TEST_IN(with_few_problems_expectations_do_not_change, setup, teardown)
{
    fixture *f = *state;
    kriging *k;
    double ratios[COUNT + 1], others[COUNT + 1];
    const value between[] = {number(127), words[0]};
    k = kriging_new(&f->m, axes, 2, f->problems, true);
    kriging_expect(f->k, between, ratios);
    kriging_expect(k, between, others);
    assert_memory_equal(others, ratios, sizeof ratios);
    kriging_free(k);
}

/* The times rise and fall several times over the sizes. The test compares expectations for sizes
 * between the timed sizes, with and without a feature that follows the times. */
TEST(a_feature_predicts_times_that_sizes_do_not)
{
    enum { TIMED = 60 };
    static const record_feature share = {"share", "n % 512 / 512"};
    const portfolio_axis facts[] = {axes[0], {.name = "share", .feature = &share}};
    value problems[2 * TIMED], alone[TIMED];
    double ratios[COUNT * TIMED], defaults[TIMED], off[2] = {0, 0};
    kriging *knowing, *ignorant;
    for (int64_t i = 0; i < TIMED; i++) {
        int64_t n = 1024 + 331 * i;
        double x = (double)(n % 512) / 512;
        alone[i] = problems[2 * i] = number(n);
        problems[2 * i + 1] = (value){.kind = VALUE_NUMBER, .number = 8 * x};
        ratios[COUNT * i] = x < 0.5 ? 1 : 1.5;
        ratios[COUNT * i + 1] = x < 0.5 ? 1.5 : 1;
        defaults[i] = 2;
    }
    const portfolio_matrix m = {TIMED, COUNT, ratios, defaults};
    knowing = kriging_new(&m, facts, 2, problems, true);
    ignorant = kriging_new(&m, facts, 1, alone, true);
    for (int64_t n = 1100; n < 20000; n += 97) {
        double x = (double)(n % 512) / 512, expected[COUNT + 1];
        const value problem[] = {number(n), {.kind = VALUE_NUMBER, .number = 8 * x}};
        kriging_expect(knowing, problem, expected);
        off[0] += fabs(expected[0] - (x < 0.5 ? 1 : 1.5));
        kriging_expect(ignorant, problem, expected);
        off[1] += fabs(expected[0] - (x < 0.5 ? 1 : 1.5));
    }
    assert_true(off[0] < off[1] / 3);
    kriging_free(knowing);
    kriging_free(ignorant);
}
