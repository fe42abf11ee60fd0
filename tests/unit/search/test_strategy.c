#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "check.h"
#include "search/strategy.h"

/* Tests properties that every strategy must have, on spaces with holes. */

enum { MOST_BATCH = 64, PARAMETERS = 4 };

static const value numbers[] = {
    {.kind = VALUE_INTEGER, .integer = 1},  {.kind = VALUE_INTEGER, .integer = 2},
    {.kind = VALUE_INTEGER, .integer = 4},  {.kind = VALUE_INTEGER, .integer = 8},
    {.kind = VALUE_INTEGER, .integer = 16}, {.kind = VALUE_INTEGER, .integer = 32},
};

static at_status test_sum(void *context, const space_question *q, bool *holds, at_error *error)
{
    (void)error;
    for (size_t i = 0; i < q->count; i++) {
        q->indices[q->varied] = q->choices[i];
        size_t sum = 0;
        for (size_t p = 0; p < PARAMETERS; p++)
            sum += q->indices[p];
        holds[i] = sum % *(const size_t *)context == 0;
    }
    return AT_OK;
}

enum { MANY = 0, SOME = 1000 };

/* Makes a space of `count` configurations. SOME stands for about 85, and MANY for 432. */
static space *make_space(size_t count)
{
    static const size_t reads[PARAMETERS] = {0, 1, 2, 3};
    space_parameter parameters[PARAMETERS];
    space_constraint constraint = {
        .text = "sum", .parameters = reads, .parameter_count = PARAMETERS};
    at_error error = {0};
    space *s = NULL;
    bool exact = count != MANY && count != SOME;
    size_t side = count == MANY ? 6 : 4, modulus = exact ? 1 : 3;
    for (size_t p = 0; p < PARAMETERS; p++)
        parameters[p] = (space_parameter){
            .name = "p", .values = numbers, .value_count = exact ? (p == 1 ? count : 1) : side};
    assert_ok(space_new(parameters, PARAMETERS, &constraint, 1, test_sum, &modulus, 0, &s, &error),
              error);
    assert_true(!exact || space_count(s) == count);
    return s;
}

typedef double (*cost_function)(const space *s, uint64_t configuration);

/* A smooth cost with a step and some failures. The optimum has value index 3 for all parameters. */
static double cost_bowl(const space *s, uint64_t configuration)
{
    uint16_t at[PARAMETERS];
    space_at(s, configuration, at);
    double cost = 10;
    for (size_t p = 0; p < PARAMETERS; p++)
        cost += (at[p] - 3.0) * (at[p] - 3.0) * (double)(p + 1);
    if (at[0] == 5 && at[1] > 2)
        return STRATEGY_FAILED;
    return at[2] > 3 ? 2 * cost : cost;
}

static double cost_failing(const space *s, uint64_t configuration)
{
    (void)s;
    (void)configuration;
    return STRATEGY_FAILED;
}

static double cost_constant(const space *s, uint64_t configuration)
{
    (void)s;
    (void)configuration;
    return 5;
}

/* How a search runs: the number of trials in flight, and the order of outcomes. */
typedef struct drive {
    size_t batch;
    bool shuffled;
    uint64_t seed;
    uint64_t evaluations; /* number of evaluations; 0 stands for the whole space */
} drive;

typedef struct run_outcome {
    uint64_t *order; /* configurations in the order of proposals; freed by the caller */
    size_t count;
    double best;
} run_outcome;

static void tell_one(strategy *st, const space *s, cost_function cost, uint64_t *outstanding,
                     size_t *count, rng *r, const drive *d, double *best)
{
    size_t i = d->shuffled ? (size_t)rng_below(r, *count) : 0;
    uint64_t configuration = outstanding[i];
    memmove(outstanding + i, outstanding + i + 1, (*count - i - 1) * sizeof *outstanding);
    --*count;
    double c = cost(s, configuration);
    *best = c < *best ? c : *best;
    strategy_tell(st, configuration, c);
}

static run_outcome run(const strategy_kind *kind, const space *s, cost_function cost,
                       const drive *d, const strategy_options *more)
{
    strategy *st = NULL;
    strategy_options options = more ? *more : (strategy_options){0};
    options.space = s;
    options.seed = d->seed;
    options.budget = d->evaluations;
    st = strategy_new(kind, &options);
    uint64_t total = space_count(s), outstanding[MOST_BATCH];
    size_t waiting = 0;
    bool *met = calloc(total + 1, sizeof *met);
    run_outcome out = {.order = calloc(total + 1, sizeof *out.order), .best = STRATEGY_FAILED};
    assert_non_null(met);
    assert_non_null(out.order);
    rng r = rng_seeded(d->seed + 99);
    for (;;) {
        size_t room = d->batch - waiting;
        if (d->evaluations && d->evaluations - out.count < room)
            room = d->evaluations - out.count;
        size_t got = room ? strategy_ask(st, room, outstanding + waiting) : 0;
        assert_true(got <= room);
        for (size_t i = 0; i < got; i++) {
            uint64_t configuration = outstanding[waiting + i];
            if (configuration >= total)
                fail_msg("%s proposed an invalid configuration", kind->name);
            if (met[configuration])
                fail_msg("%s proposed a configuration twice", kind->name);
            met[configuration] = true;
            out.order[out.count++] = configuration;
        }
        waiting += got;
        if (waiting == 0)
            break;
        /* Sometimes the strategy gets several outcomes before the next question. */
        size_t tells = d->shuffled ? 1 + (size_t)rng_below(&r, waiting) : 1;
        while (tells-- > 0)
            tell_one(st, s, cost, outstanding, &waiting, &r, d, &out.best);
    }
    strategy_free(st);
    free(met);
    return out;
}

static const drive drives[] = {
    {.batch = 1, .seed = 1},
    {.batch = 7, .shuffled = true, .seed = 2},
    {.batch = MOST_BATCH, .shuffled = true, .seed = 3},
    {.batch = MOST_BATCH, .seed = 4},
};
enum { DRIVES = sizeof drives / sizeof *drives };

static void check_whole_budget(const space *s, cost_function cost, size_t first_drive)
{
    size_t kinds;
    const strategy_kind *const *kind = strategy_kinds(&kinds);
    double best = STRATEGY_FAILED;
    for (uint64_t i = 0; i < space_count(s); i++)
        best = cost(s, i) < best ? cost(s, i) : best;
    for (size_t k = 0; k < kinds; k++)
        for (size_t d = first_drive; d < DRIVES; d++) {
            run_outcome out = run(kind[k], s, cost, &drives[d], NULL);
            if (out.count != space_count(s))
                fail_msg("%s ended after %zu of %llu", kind[k]->name, out.count,
                         (unsigned long long)space_count(s));
            assert_true(out.best == best);
            free(out.order);
        }
}

TEST(every_strategy_finds_the_optimum_given_the_whole_budget)
{
    space *s = make_space(SOME);
    check_whole_budget(s, cost_bowl, 0);
    space_free(s);
    s = make_space(MANY);
    check_whole_budget(s, cost_bowl, DRIVES - 1);
    space_free(s);
}

TEST(every_strategy_ends_on_tiny_spaces)
{
    for (size_t count = 1; count <= 3; count++) {
        space *s = make_space(count);
        check_whole_budget(s, cost_bowl, 0);
        check_whole_budget(s, cost_failing, 0);
        space_free(s);
    }
}

TEST(every_strategy_goes_on_when_everything_fails)
{
    space *s = make_space(SOME);
    check_whole_budget(s, cost_failing, 0);
    space_free(s);
}

TEST(every_strategy_goes_on_when_all_costs_are_equal)
{
    space *s = make_space(SOME);
    check_whole_budget(s, cost_constant, 0);
    space_free(s);
}

TEST(every_strategy_repeats_itself_from_its_seed)
{
    size_t kinds;
    const strategy_kind *const *kind = strategy_kinds(&kinds);
    space *s = make_space(SOME);
    for (size_t k = 0; k < kinds; k++)
        for (size_t d = 0; d < DRIVES; d++) {
            drive limited = drives[d];
            limited.evaluations = 60;
            run_outcome a = run(kind[k], s, cost_bowl, &limited, NULL);
            run_outcome b = run(kind[k], s, cost_bowl, &limited, NULL);
            assert_int_equal(a.count, 60);
            assert_int_equal(a.count, b.count);
            assert_memory_equal(a.order, b.order, a.count * sizeof *a.order);
            free(a.order);
            free(b.order);
        }
    space_free(s);
}

/* Only blind strategies are asked for many configurations in advance. */
TEST(a_blind_strategy_ignores_outcomes)
{
    size_t kinds, blind = 0;
    const strategy_kind *const *kind = strategy_kinds(&kinds);
    space *s = make_space(SOME);
    drive d = {.batch = 4, .seed = 5, .evaluations = 60};
    for (size_t k = 0; k < kinds; k++) {
        if (!kind[k]->blind)
            continue;
        blind++;
        run_outcome a = run(kind[k], s, cost_bowl, &d, NULL);
        run_outcome b = run(kind[k], s, cost_failing, &d, NULL);
        assert_int_equal(a.count, b.count);
        assert_memory_equal(a.order, b.order, a.count * sizeof *a.order);
        free(a.order);
        free(b.order);
    }
    assert_int_equal(blind, 2);
    space_free(s);
}

TEST(start_configurations_come_first_and_once)
{
    size_t kinds;
    const strategy_kind *const *kind = strategy_kinds(&kinds);
    space *s = make_space(SOME);
    uint64_t start[] = {17, 3, 17, UINT64_MAX, 80};
    strategy_options more = {.start = start, .start_count = 5};
    for (size_t k = 0; k < kinds; k++) {
        drive d = {.batch = 4, .seed = 5, .evaluations = 50};
        run_outcome out = run(kind[k], s, cost_bowl, &d, &more);
        assert_int_equal(out.order[0], 17);
        assert_int_equal(out.order[1], 3);
        assert_int_equal(out.order[2], 80);
        free(out.order);
    }
    space_free(s);
}

TEST(configurations_with_an_outcome_are_not_proposed)
{
    size_t kinds;
    const strategy_kind *const *kind = strategy_kinds(&kinds);
    space *s = make_space(SOME);
    for (size_t k = 0; k < kinds; k++) {
        strategy *st = NULL;
        strategy_options options = {.space = s, .seed = 6};
        st = strategy_new(kind[k], &options);
        for (uint64_t i = 0; i < space_count(s); i += 2)
            strategy_tell(st, i, cost_bowl(s, i));
        strategy_tell(st, space_count(s), 1); /* not in the space, so it is ignored */
        uint64_t configuration;
        size_t count = 0;
        for (; strategy_ask(st, 1, &configuration) == 1; count++) {
            assert_int_equal(configuration % 2, 1);
            strategy_tell(st, configuration, cost_bowl(s, configuration));
            strategy_tell(st, configuration, 0.1);
        }
        assert_int_equal(count, space_count(s) / 2);
        strategy_free(st);
    }
    space_free(s);
}

/* Callers may drop configurations that are far slower than the best, so a good configuration
 * must come early. */
TEST(an_exhaustive_search_begins_in_all_parts_of_the_space)
{
    enum { FIRST = 12, PARTS = 4 };
    const strategy_kind *kind;
    at_error error;
    assert_ok(strategy_find("exhaustive", &kind, &error), error);
    space *s = make_space(MANY);
    strategy *st = strategy_new(kind, &(strategy_options){.space = s, .seed = 1});
    uint64_t first[FIRST];
    size_t in[PARTS] = {0};
    assert_int_equal(strategy_ask(st, FIRST, first), FIRST);
    for (size_t i = 0; i < FIRST; i++)
        in[first[i] * PARTS / space_count(s)]++;
    for (size_t p = 0; p < PARTS; p++)
        assert_in_range(in[p], FIRST / PARTS - 1, FIRST / PARTS + 1);
    strategy_free(st);
    space_free(s);
}

TEST(other_seeds_give_other_orders)
{
    size_t kinds;
    const strategy_kind *const *kind = strategy_kinds(&kinds);
    space *s = make_space(SOME);
    for (size_t k = 0; k < kinds; k++) {
        if (strcmp(kind[k]->name, "exhaustive") == 0)
            continue;
        drive d = {.batch = 1, .seed = 7, .evaluations = 60};
        run_outcome a = run(kind[k], s, cost_bowl, &d, NULL);
        d.seed = 8;
        run_outcome b = run(kind[k], s, cost_bowl, &d, NULL);
        assert_memory_not_equal(a.order, b.order, a.count * sizeof *a.order);
        free(a.order);
        free(b.order);
    }
    space_free(s);
}

TEST(an_unknown_name_is_an_error_that_names_the_nearest)
{
    at_error error = {0};
    const strategy_kind *kind;
    assert_int_equal(strategy_find("exhastive", &kind, &error), AT_USAGE);
    assert_non_null(strstr(error.message, "'exhaustive'"));
}

TEST(the_default_is_the_surrogate)
{
    at_error error = {0};
    const strategy_kind *kind, *named;
    assert_ok(strategy_find(NULL, &kind, &error), error);
    assert_ok(strategy_find("auto", &named, &error), error);
    assert_ptr_equal(kind, named);
    assert_string_equal(kind->name, "surrogate");
}

/* Tries `count` configurations that the strategy proposes. Returns the lowest cost. */
static double try_some(strategy *st, const space *s, uint64_t count)
{
    double least = INFINITY;
    uint64_t next;
    for (uint64_t i = 0; i < count && strategy_ask(st, 1, &next) == 1; i++) {
        const double cost = cost_bowl(s, next);
        least = cost < least ? cost : least;
        strategy_tell(st, next, cost);
    }
    return least;
}

TEST(the_chance_of_a_better_configuration_falls_to_zero_if_the_model_fits)
{
    const strategy_kind *kind;
    at_error error = {0};
    space *s = make_space(MANY);
    assert_ok(strategy_find("surrogate", &kind, &error), error);
    strategy *st = strategy_new(kind, &(strategy_options){.space = s, .seed = 1});
    assert_true(strategy_chance(st, 0.005) == 1);
    try_some(st, s, 3);
    assert_true(strategy_chance(st, 0.005) > 0.01);
    assert_true(try_some(st, s, 150) == 10);
    assert_true(strategy_chance(st, 0.005) < 0.01);
    try_some(st, s, space_count(s));
    assert_true(strategy_chance(st, 0.005) == 0);
    strategy_free(st);
    space_free(s);
}

TEST(a_configuration_without_an_outcome_may_still_win)
{
    const strategy_kind *kind;
    at_error error = {0};
    uint64_t next, best = 0;
    space *s = make_space(SOME);
    assert_ok(strategy_find("surrogate", &kind, &error), error);
    strategy *st = strategy_new(kind, &(strategy_options){.space = s, .seed = 1});
    for (uint64_t i = 1; i < space_count(s); i++)
        best = cost_bowl(s, i) < cost_bowl(s, best) ? i : best;
    while (strategy_ask(st, 1, &next) == 1)
        if (next != best)
            strategy_tell(st, next, cost_bowl(s, next));
    assert_true(strategy_chance(st, 0.005) > 0.01);
    strategy_tell(st, best, cost_bowl(s, best));
    assert_true(strategy_chance(st, 0.005) == 0);
    strategy_free(st);
    space_free(s);
}

TEST(without_a_model_the_chance_is_unknown_until_the_space_is_exhausted)
{
    const strategy_kind *kind;
    at_error error = {0};
    space *s = make_space(SOME);
    assert_ok(strategy_find("random", &kind, &error), error);
    strategy *st = strategy_new(kind, &(strategy_options){.space = s, .seed = 1});
    try_some(st, s, space_count(s) - 1);
    assert_true(strategy_chance(st, 0.005) == 1);
    try_some(st, s, 1);
    assert_true(strategy_chance(st, 0.005) == 0);
    strategy_free(st);
    space_free(s);
}

/* Returns the mean of the best cost_bowl() after `evaluations` evaluations of this budget. */
static double mean_best(const space *s, uint64_t budget, size_t evaluations)
{
    enum { SEEDS = 60 };
    const strategy_kind *kind;
    at_error error = {0};
    double sum = 0;
    assert_ok(strategy_find("surrogate", &kind, &error), error);
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        strategy *g;
        double best = INFINITY;
        g = strategy_new(kind, &(strategy_options){.space = s, .seed = seed, .budget = budget});
        for (size_t i = 0; i < evaluations; i++) {
            uint64_t c;
            assert_int_equal(strategy_ask(g, 1, &c), 1);
            double cost = cost_bowl(s, c);
            strategy_tell(g, c, cost);
            best = cost < best ? cost : best;
        }
        sum += isfinite(best) ? best : 1000;
        strategy_free(g);
    }
    return sum / SEEDS;
}

static size_t least_values(const space *s, uint64_t configuration)
{
    uint16_t at[PARAMETERS];
    size_t count = 0;
    space_at(s, configuration, at);
    for (size_t p = 0; p < PARAMETERS; p++)
        count += at[p] == 0;
    return count;
}

static double cost_of_least_values(const space *s, uint64_t configuration)
{
    return 10 + (double)least_values(s, configuration);
}

static double cost_without_least_values(const space *s, uint64_t configuration)
{
    return 10 - (double)least_values(s, configuration);
}

/* Makes 40 searches of `evaluations` each. Returns the number of tried configurations that have
 * a parameter at its least value. */
static size_t tries_of_least_values(const space *s, cost_function cost, uint64_t evaluations,
                                    size_t *found)
{
    enum { SEEDS = 40 };
    const strategy_kind *kind;
    at_error error = {0};
    size_t tries = 0;
    double best = STRATEGY_FAILED;
    for (uint64_t i = 0; i < space_count(s); i++)
        best = cost(s, i) < best ? cost(s, i) : best;
    assert_ok(strategy_find("surrogate", &kind, &error), error);
    *found = 0;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        drive d = {.batch = 1, .seed = seed, .evaluations = evaluations};
        run_outcome out = run(kind, s, cost, &d, NULL);
        for (size_t i = 0; i < out.count; i++)
            tries += least_values(s, out.order[i]) > 0;
        *found += out.best == best;
        free(out.order);
    }
    return tries;
}

/* Half of the configurations of the space have a least value. */
TEST(least_values_are_assumed_slow_until_outcomes_contradict)
{
    space *s = make_space(MANY);
    size_t found, tries = tries_of_least_values(s, cost_of_least_values, 10, &found);
    assert_true(tries < 80); /* of 400 tries */
    tries_of_least_values(s, cost_without_least_values, 40, &found);
    assert_true(found > 30); /* of 40 searches */
    space_free(s);
}

TEST(a_small_budget_is_not_spent_on_filling_the_space)
{
    space *s = make_space(MANY);
    assert_true(mean_best(s, 12, 10) < 0.9 * mean_best(s, 400, 10));
    space_free(s);
}

/* If the tries were spread over the space, nearly half of them would have a least value. */
TEST(with_a_small_budget_the_model_chooses_from_the_second_try_on)
{
    space *s = make_space(MANY);
    size_t found, tries = tries_of_least_values(s, cost_of_least_values, 3, &found);
    assert_true(tries < 36); /* of 120 tries */
    space_free(s);
}

/* Half of the configurations of the space have a least value. */
TEST(least_values_are_assumed_slow_before_any_outcome)
{
    enum { SEEDS = 20, AT_ONCE = 20 };
    const strategy_kind *kind;
    at_error error = {0};
    space *s = make_space(MANY);
    size_t least = 0;
    assert_ok(strategy_find("surrogate", &kind, &error), error);
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        strategy *g;
        uint64_t asked[AT_ONCE];
        const strategy_options options = {.space = s, .seed = seed, .budget = 60};
        g = strategy_new(kind, &options);
        assert_int_equal(strategy_ask(g, AT_ONCE, asked), AT_ONCE);
        for (size_t i = 0; i < AT_ONCE; i++)
            least += least_values(s, asked[i]) > 0;
        strategy_free(g);
    }
    assert_true(least < SEEDS * AT_ONCE / 4);
    space_free(s);
}

TEST(extremes_are_not_tried_first)
{
    enum { SEEDS = 200 };
    space *s = make_space(MANY);
    const strategy_kind *kind;
    at_error error = {0};
    size_t extremes = 0;
    assert_ok(strategy_find("surrogate", &kind, &error), error);
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        strategy *g;
        uint64_t c;
        uint16_t at[PARAMETERS];
        g = strategy_new(kind, &(strategy_options){.space = s, .seed = seed});
        assert_int_equal(strategy_ask(g, 1, &c), 1);
        space_at(s, c, at);
        for (size_t p = 0; p < PARAMETERS; p++)
            extremes += at[p] == 0 || at[p] == 5;
        strategy_free(g);
    }
    /* Two of the six values are extremes, so a third of a random sample would be extremes. */
    assert_true(extremes < SEEDS * PARAMETERS / 10);
    space_free(s);
}
