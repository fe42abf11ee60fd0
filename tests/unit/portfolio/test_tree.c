/* Tests the tree that chooses among a portfolio's configurations. */
#include "check.h"

#include <math.h>
#include <string.h>

#include "base/rng.h"
#include "portfolio/cover.h"
#include "portfolio/tree.h"

enum { PROBLEMS = 40 };

static const portfolio_axis axes[] = {
    {.name = "rows", .least = 100, .most = 100000, .divisor_count = 2, .divisors = {2, 4}},
    {.name = "cols", .least = 100, .most = 100000, .divisor_count = 2, .divisors = {2, 4}}};

static bool any(void *context, const value *problem)
{
    (void)context;
    (void)problem;
    return true;
}

typedef struct fixture {
    value problems[2 * PROBLEMS];
    double ratios[3 * PROBLEMS], defaults[PROBLEMS];
    portfolio_matrix m;
    record_node nodes[RECORD_MAX_NODES];
    size_t node_count;
} fixture;

/* Makes a matrix of three configurations. `rule` computes their ratios. */
static void setup(fixture *f, void (*rule)(int64_t rows, int64_t cols, double *ratios))
{
    at_error error = {0};
    size_t count;
    assert_ok(
        portfolio_choose_problems(axes, 2, PROBLEMS, 1, any, NULL, f->problems, &count, &error),
        error);
    assert_int_equal(count, PROBLEMS);
    f->m = (portfolio_matrix){PROBLEMS, 3, f->ratios, f->defaults};
    for (size_t p = 0; p < PROBLEMS; p++) {
        f->defaults[p] = 2;
        rule(f->problems[2 * p].integer, f->problems[2 * p + 1].integer, &f->ratios[3 * p]);
    }
    f->node_count = portfolio_grow(&f->m, axes, 2, f->problems, f->nodes);
    for (size_t i = 0; i < f->node_count; i++)
        if (f->nodes[i].variable)
            assert_true(f->nodes[i].then > i && f->nodes[i].otherwise > i &&
                        f->nodes[i].then < f->node_count && f->nodes[i].otherwise < f->node_count);
}

static const value *value_of(const portfolio_axis *of, size_t axis_count, const value *problem,
                             const char *name)
{
    size_t a = 0;
    while (a < axis_count && strcmp(of[a].name, name) != 0)
        a++;
    assert_true(a < axis_count);
    return &problem[a];
}

static bool goes_to_then(const portfolio_axis *of, size_t axis_count, const value *problem,
                         const record_node *n)
{
    const value *v = value_of(of, axis_count, problem, n->variable);
    if (n->multiple_of)
        return v->integer % n->multiple_of == 0;
    if (n->bound.kind == VALUE_STRING)
        return value_equal(*v, n->bound);
    double by = n->times ? value_number(*value_of(of, axis_count, problem, n->times)) : 1;
    return value_number(*v) * by < value_number(n->bound);
}

/* Returns the time of the tree's choice on a problem, relative to the best choice. Returns
 * PORTFOLIO_UNCOVERED if no choice of the tree is possible. */
static double loss_of(const portfolio_matrix *m, const portfolio_axis *of, size_t axis_count,
                      const record_node *nodes, const value *problems, size_t problem)
{
    const record_node *n = nodes;
    while (n->variable)
        n = &nodes[goes_to_then(of, axis_count, &problems[problem * axis_count], n) ? n->then
                                                                                    : n->otherwise];
    double fallback = m->defaults[problem];
    for (size_t i = 0; i < m->configuration_count && !(i == n->default_at && fallback > 0); i++) {
        double ratio = m->ratios[problem * m->configuration_count + n->order[i]];
        if (ratio > 0)
            return ratio - 1;
    }
    return fallback > 0 ? fallback - 1 : PORTFOLIO_UNCOVERED;
}

static double loss(const fixture *f)
{
    double sum = 0;
    for (size_t p = 0; p < PROBLEMS; p++)
        sum += loss_of(&f->m, axes, 2, f->nodes, f->problems, p);
    return sum / PROBLEMS;
}

static void by_rows(int64_t rows, int64_t cols, double *ratios)
{
    (void)cols;
    ratios[0] = rows < 3000 ? 1 : 1.2;
    ratios[1] = rows < 3000 ? 1.3 : 1;
    ratios[2] = 1.5;
}

TEST(a_bound_is_found)
{
    fixture f;
    setup(&f, by_rows);
    assert_int_equal(f.node_count, 3);
    assert_string_equal(f.nodes[0].variable, "rows");
    assert_null(f.nodes[0].times);
    assert_int_equal(f.nodes[f.nodes[0].then].order[0], 0);
    assert_int_equal(f.nodes[f.nodes[0].otherwise].order[0], 1);
    assert_float_equal(loss(&f), 0, 1e-9);
}

static void by_divisor(int64_t rows, int64_t cols, double *ratios)
{
    (void)rows;
    ratios[0] = cols % 4 == 0 ? 1.0 : 1.4;
    ratios[1] = cols % 4 == 0 ? 1.2 : 1.0;
    ratios[2] = 1.5;
}

TEST(a_divisor_is_found)
{
    fixture f;
    setup(&f, by_divisor);
    assert_int_equal(f.node_count, 3);
    assert_string_equal(f.nodes[0].variable, "cols");
    assert_int_equal(f.nodes[0].multiple_of, 4);
}

static void by_size(int64_t rows, int64_t cols, double *ratios)
{
    bool small = (double)rows * (double)cols < 1e7;
    ratios[0] = small ? 1 : 1.3;
    ratios[1] = small ? 1.3 : 1;
    ratios[2] = 1.5;
}

TEST(a_product_is_found)
{
    fixture f;
    setup(&f, by_size);
    assert_int_equal(f.node_count, 3);
    assert_non_null(f.nodes[0].times);
    assert_float_equal(loss(&f), 0, 1e-9);
}

/* A configuration is impossible if its vector does not divide a row. The tree needs no question
 * for this case, because a program then takes the next configuration in the leaf's order. */
static void by_constraint(int64_t rows, int64_t cols, double *ratios)
{
    (void)rows;
    ratios[0] = cols % 4 == 0 ? 1 : 0;
    ratios[1] = 1.1;
    ratios[2] = 1.5;
}

TEST(constraints_need_no_question)
{
    fixture f;
    setup(&f, by_constraint);
    assert_int_equal(f.node_count, 1);
    assert_int_equal(f.nodes[0].order[0], 0);
    assert_int_equal(f.nodes[0].order[1], 1);
}

/* The best of two configurations depends on two questions together. One question alone saves
 * nothing. */
TEST(two_questions_that_are_useful_only_together_are_found)
{
    enum { SIDE = 20, COUNT = SIDE * SIDE };
    static value problems[2 * COUNT];
    static double ratios[2 * COUNT], defaults[COUNT];
    record_node nodes[RECORD_MAX_NODES];
    double sum = 0;
    for (size_t p = 0; p < COUNT; p++) {
        size_t row = p % SIDE, column = p / SIDE;
        bool first = (row < 7) == (column < 7);
        problems[2 * p] = (value){.kind = VALUE_INTEGER, .integer = 128 + 64 * (int64_t)row};
        problems[2 * p + 1] = (value){.kind = VALUE_INTEGER, .integer = 128 + 64 * (int64_t)column};
        ratios[2 * p] = first ? 1 : 1.2;
        ratios[2 * p + 1] = first ? 1.2 : 1;
        defaults[p] = 2;
    }
    const portfolio_matrix m = {COUNT, 2, ratios, defaults};
    portfolio_grow(&m, axes, 2, problems, nodes);
    for (size_t p = 0; p < COUNT; p++)
        sum += loss_of(&m, axes, 2, nodes, problems, p);
    /* Each configuration alone loses 0.09 on average. */
    assert_true(sum / COUNT < 0.002);
}

static uint64_t draw; /* state of by_chance() */

static void by_chance(int64_t rows, int64_t cols, double *ratios)
{
    rng r = rng_seeded(draw + (uint64_t)(rows * 1000003 + cols));
    ratios[0] = 1 + 0.02 * rng_uniform(&r);
    ratios[1] = 1 + 0.02 * rng_uniform(&r);
    ratios[2] = 1 + 0.02 * rng_uniform(&r);
}

/* Averaged over some draws, the tree must have at most one question for each eight problems. */
TEST(noise_grows_a_small_tree)
{
    enum { DRAWS = 20 };
    fixture f;
    size_t nodes = 0;
    for (draw = 0; draw < DRAWS; draw++) {
        setup(&f, by_chance);
        nodes += f.node_count;
    }
    assert_in_range(nodes, DRAWS, DRAWS * PROBLEMS / 4);
}

/* The best configuration changes with the size more often than a tree has leaves. The choice
 * matters in one of five ranges of sizes. */
TEST(a_full_tree_keeps_the_questions_that_gain_most)
{
    enum { STRETCH = 16, STRETCHES = 200, EACH = 5, ALL = STRETCH * STRETCHES, WIDTH = 8 };
    static const portfolio_axis n[] = {{.name = "n", .least = 1, .most = ALL}};
    static value problems[ALL];
    static double ratios[WIDTH * ALL], defaults[ALL];
    const portfolio_matrix m = {ALL, WIDTH, ratios, defaults};
    record_node nodes[RECORD_MAX_NODES];
    size_t node_count;
    double lost = 0;
    for (int i = 0; i < ALL; i++) {
        int stretch = i / STRETCH;
        problems[i] = (value){.kind = VALUE_INTEGER, .integer = i + 1};
        for (int c = 0; c < WIDTH; c++)
            ratios[WIDTH * i + c] = c == stretch % WIDTH ? 1 : stretch % EACH == 0 ? 1.3 : 1.01;
        defaults[i] = 2;
    }
    node_count = portfolio_grow(&m, n, 1, problems, nodes);
    assert_in_range(node_count, RECORD_MAX_NODES / 2, RECORD_MAX_NODES);
    for (size_t i = 0; i < ALL; i++)
        lost += i / STRETCH % EACH == 0 ? loss_of(&m, n, 1, nodes, problems, i) : 0;
    assert_true(lost < 0.05 * 0.3 * ALL / EACH);
}

static void at_random(int64_t rows, int64_t cols, double *ratios)
{
    rng r = rng_seeded((uint64_t)(rows * 31 + cols));
    for (size_t i = 0; i < 3; i++)
        ratios[i] = rng_uniform(&r) < 0.4 ? 0 : 1 + rng_uniform(&r);
}

/* For every matrix, a problem gets a possible configuration if there is one, and every leaf has
 * each configuration once. */
TEST(every_problem_gets_what_is_possible)
{
    fixture f;
    setup(&f, at_random);
    for (size_t p = 0; p < PROBLEMS; p++)
        f.defaults[p] = 0;
    for (size_t p = 0; p < PROBLEMS; p++) {
        bool possible = f.ratios[3 * p] > 0 || f.ratios[3 * p + 1] > 0 || f.ratios[3 * p + 2] > 0;
        double found = loss_of(&f.m, axes, 2, f.nodes, f.problems, p);
        assert_int_equal(possible, found < PORTFOLIO_UNCOVERED);
    }
    for (size_t i = 0; i < f.node_count; i++)
        if (!f.nodes[i].variable)
            assert_int_equal((1 << f.nodes[i].order[0]) | (1 << f.nodes[i].order[1]) |
                                 (1 << f.nodes[i].order[2]),
                             7);
}

/* Below a size the default is by a third faster than all configurations. Above this size the
 * first configuration is the fastest. */
static void by_default(int64_t rows, int64_t cols, double *ratios)
{
    bool small = (double)rows * (double)cols < 1e7;
    ratios[0] = small ? 2.7 : 1;
    ratios[1] = small ? 2.8 : 1.3;
    ratios[2] = 3;
}

TEST(the_default_has_its_place_in_each_leaf)
{
    fixture f;
    setup(&f, by_default);
    assert_int_equal(f.node_count, 3);
    const record_node *small = &f.nodes[f.nodes[0].then], *large = &f.nodes[f.nodes[0].otherwise];
    assert_true(small->has_default && large->has_default);
    assert_int_equal(small->default_at, 0);
    assert_int_equal(large->default_at, 2);
    for (size_t p = 0; p < PROBLEMS; p++)
        assert_true(loss_of(&f.m, axes, 2, f.nodes, f.problems, p) <= 1);
}

/* The configuration is faster than the default on average, but slower on one of five problems.
 * No question separates this problem from the others. */
TEST(a_gain_does_not_make_up_for_harm)
{
    enum { COUNT = 5 };
    const double ratios[COUNT] = {1.9, 1.9, 1.9, 1.9, 2.3}, defaults[COUNT] = {2, 2, 2, 2, 2};
    const portfolio_matrix m = {COUNT, 1, ratios, defaults};
    value problems[2 * COUNT];
    record_node nodes[RECORD_MAX_NODES];
    size_t count;
    for (size_t i = 0; i < 2 * COUNT; i++)
        problems[i] = (value){.kind = VALUE_INTEGER, .integer = 128};
    count = portfolio_grow(&m, axes, 2, problems, nodes);
    assert_int_equal(count, 1);
    assert_true(nodes[0].has_default);
    assert_int_equal(nodes[0].default_at, 0);
}

/* Without a configuration, the first problem loses 0.6 %. With it, the second problem loses 0.5
 * %, which is less than the noise. The tree must take the default. */
TEST(a_loss_below_the_noise_counts)
{
    const double ratios[] = {1, 1.005}, defaults[] = {1.006, 1};
    const portfolio_matrix m = {2, 1, ratios, defaults};
    value problems[2 * 2];
    record_node nodes[RECORD_MAX_NODES];
    size_t count;
    for (size_t i = 0; i < 2 * 2; i++)
        problems[i] = (value){.kind = VALUE_INTEGER, .integer = 128};
    count = portfolio_grow(&m, axes, 2, problems, nodes);
    assert_int_equal(count, 1);
    assert_int_equal(nodes[0].default_at, 0);
}

/* If there are few problems, each may get its own leaf. */
TEST(few_problems_are_separated)
{
    const value problems[] = {
        {.kind = VALUE_INTEGER, .integer = 128},  {.kind = VALUE_INTEGER, .integer = 64},
        {.kind = VALUE_INTEGER, .integer = 8192}, {.kind = VALUE_INTEGER, .integer = 64},
        {.kind = VALUE_INTEGER, .integer = 256},  {.kind = VALUE_INTEGER, .integer = 64}};
    const double ratios[] = {1, 1.3, 1.3, 1, 1, 1.3}, defaults[] = {2, 2, 2};
    const portfolio_matrix m = {3, 2, ratios, defaults};
    record_node nodes[RECORD_MAX_NODES];
    portfolio_grow(&m, axes, 2, problems, nodes);
    for (size_t p = 0; p < 3; p++)
        assert_float_equal(loss_of(&m, axes, 2, nodes, problems, p), 0, 1e-9);
}

/* In every second range of sizes, the last tile is mostly empty. A few bounds of the size cannot
 * separate these ranges, but a feature can. */
TEST(a_question_about_a_feature_separates_ranges)
{
    enum { COUNT = 45, FACTS = 3 };
    static const record_feature cut = {"cut", "n % 1000 / 1000"};
    portfolio_axis facts[FACTS] = {axes[0],
                                   {.name = "cut", .feature = &cut, .of = 0},
                                   {.name = "cut", .feature = &cut, .of = 1}};
    value problems[FACTS * COUNT];
    double ratios[2 * COUNT], defaults[COUNT];
    record_node nodes[RECORD_MAX_NODES];
    size_t count;
    for (int64_t p = 0; p < COUNT; p++) {
        int64_t n = 100 + 137 * p;
        double share = (double)(n % 1000) / 1000;
        problems[FACTS * p] = (value){.kind = VALUE_INTEGER, .integer = n};
        problems[FACTS * p + 1] = (value){.kind = VALUE_NUMBER, .number = 0.5};
        problems[FACTS * p + 2] = (value){.kind = VALUE_NUMBER, .number = share};
        ratios[2 * p] = share < 0.5 ? 1 : 1.5;
        ratios[2 * p + 1] = share < 0.5 ? 1.5 : 1;
        defaults[p] = 3;
    }
    const portfolio_matrix m = {COUNT, 2, ratios, defaults};
    count = portfolio_grow(&m, facts, FACTS, problems, nodes);
    assert_int_equal(count, 3);
    assert_ptr_equal(nodes[0].feature, &cut);
    assert_string_equal(nodes[0].variable, "cut");
    assert_int_equal(nodes[0].of, 1);
    assert_int_equal(nodes[nodes[0].then].order[0], 0);
    assert_int_equal(nodes[nodes[0].otherwise].order[0], 1);
}
