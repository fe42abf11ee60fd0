#include <math.h>

#include "check.h"
#include "search/pool.h"
#include "search/regression/gp.h"
#include "search/strategies.h"

/* Tests the common parts of strategies: the ledger, the candidates and their feasibility. */

enum { SIDE = 8, PARAMETERS = 3 };

static at_status test_even(void *context, const space_question *q, bool *holds, at_error *error)
{
    (void)context;
    (void)error;
    for (size_t i = 0; i < q->count; i++) {
        q->indices[q->varied] = q->choices[i];
        holds[i] = (q->indices[0] + q->indices[1]) % 2 == 0;
    }
    return AT_OK;
}

static const value numbers[SIDE] = {{.integer = 1}, {.integer = 2}, {.integer = 3}, {.integer = 4},
                                    {.integer = 5}, {.integer = 6}, {.integer = 7}, {.integer = 8}};

typedef struct setting {
    space *space;
    ledger ledger;
} setting;

static void set_up(setting *t)
{
    static const size_t reads[] = {0, 1};
    static const space_constraint even = {
        .text = "even", .parameters = reads, .parameter_count = 2};
    static const space_parameter parameters[] = {
        {"x", numbers, SIDE}, {"y", numbers, SIDE}, {"z", numbers, SIDE}, {"one", numbers, 1}};
    at_error error = {0};
    t->space = NULL;
    assert_ok(space_new(parameters, 4, &even, 1, test_even, NULL, 0, &t->space, &error), error);
    strategy_options options = {.space = t->space, .seed = 1};
    ledger_init(&t->ledger, &options);
}

static void tear_down(setting *t)
{
    ledger_deinit(&t->ledger);
    space_free(t->space);
}

static uint64_t at(const setting *t, uint16_t x, uint16_t y, uint16_t z)
{
    const uint16_t indices[] = {x, y, z, 0};
    uint64_t index = UINT64_MAX;
    assert_true(space_find(t->space, indices, &index));
    return index;
}

TEST(the_ledger_ranks_successes_and_keeps_the_first_outcome)
{
    setting t;
    set_up(&t);
    static const double costs[] = {5, 3, INFINITY, 4, 1, 2};
    for (uint64_t i = 0; i < 6; i++) {
        ledger_ask(&t.ledger, i);
        assert_int_equal(ledger_tell(&t.ledger, i, costs[i]), i);
    }
    size_t elite[3];
    assert_int_equal(ledger_elite(&t.ledger, elite, 3), 3);
    assert_int_equal(elite[0], 4);
    assert_int_equal(elite[1], 5);
    assert_int_equal(elite[2], 1);
    assert_int_equal(t.ledger.best, 4);
    assert_int_equal(ledger_tell(&t.ledger, 0, 0.1), SIZE_MAX);
    assert_int_equal(ledger_tell(&t.ledger, UINT64_MAX, 0.1), SIZE_MAX);
    assert_int_equal(t.ledger.best, 4);
    assert_int_equal(t.ledger.outstanding, 0);
    tear_down(&t);
}

TEST(all_of_a_small_space_is_candidate_and_failures_affect_neighbours)
{
    setting t;
    set_up(&t);
    encoding e;
    pool p;
    feasibility f;
    encoding_init(&e, t.space, GP_MAX_FEATURES);
    pool_init(&p, &t.ledger, &e);
    feasibility_init(&f, &e, p.most);
    pool_fill(&p, &t.ledger, &e);
    assert_int_equal(p.count, space_count(t.space));
    feasibility_reset(&f, p.points, p.count, &t.ledger);
    size_t near = (size_t)at(&t, 0, 0, 1), far = (size_t)at(&t, 7, 7, 7);
    assert_true(feasibility_chance(&f, near) == 1);
    feasibility_learn(&f, &t.ledger, ledger_tell(&t.ledger, at(&t, 7, 7, 6), 1));
    feasibility_learn(&f, &t.ledger, ledger_tell(&t.ledger, at(&t, 0, 0, 0), INFINITY));
    assert_true(feasibility_chance(&f, near) < 0.7);
    assert_true(feasibility_chance(&f, far) > 0.95);
    feasibility_deinit(&f);
    pool_deinit(&p);
    encoding_deinit(&e);
    tear_down(&t);
}
