#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "check.h"
#include "space/space.h"

enum { MOST_PARAMETERS = 6, MOST_VALUES = 6, MOST_CONSTRAINTS = 5, MOST_POINTS = 46656 };

static const value some_values[MOST_VALUES] = {{.kind = VALUE_INTEGER}};

/* A random space. Constraints are truth tables from a hash. Brute force finds valid points. */
typedef struct sample {
    space_parameter parameters[MOST_PARAMETERS];
    size_t parameter_count;
    space_constraint constraints[MOST_CONSTRAINTS];
    size_t reads[MOST_CONSTRAINTS][MOST_PARAMETERS];
    size_t constraint_count;
    uint64_t salt;
    unsigned permille; /* share of the combinations that satisfy a constraint, in thousandths */
    size_t asked;
    bool valid[MOST_POINTS];
    size_t points, valid_count;
} sample;

static bool holds_at(const sample *m, size_t constraint, const uint16_t *indices)
{
    const space_constraint *c = &m->constraints[constraint];
    uint64_t key = m->salt + constraint;
    for (size_t i = 0; i < c->parameter_count; i++) {
        rng r = rng_seeded(key ^ (indices[c->parameters[i]] + 1));
        key = rng_next(&r);
    }
    return key % 1000 < m->permille;
}

static at_status test_sample(void *context, const space_question *q, bool *holds, at_error *error)
{
    (void)error;
    sample *m = context;
    for (size_t i = 0; i < q->count; i++) {
        m->asked++;
        q->indices[q->varied] = q->choices[i];
        holds[i] = holds_at(m, q->constraint, q->indices);
    }
    return AT_OK;
}

static void point_at(const sample *m, size_t point, uint16_t *indices)
{
    for (size_t p = m->parameter_count; p-- > 0;) {
        indices[p] = (uint16_t)(point % m->parameters[p].value_count);
        point /= m->parameters[p].value_count;
    }
}

static void make_sample(sample *m, uint64_t seed)
{
    rng r = rng_seeded(seed);
    memset(m, 0, sizeof *m);
    m->salt = rng_next(&r);
    m->permille = 300 + (unsigned)rng_below(&r, 700);
    m->parameter_count = rng_below(&r, MOST_PARAMETERS + 1);
    m->points = 1;
    for (size_t p = 0; p < m->parameter_count; p++) {
        m->parameters[p] = (space_parameter){
            .name = "p", .values = some_values, .value_count = 1 + rng_below(&r, MOST_VALUES)};
        m->points *= m->parameters[p].value_count;
    }
    m->constraint_count = rng_below(&r, MOST_CONSTRAINTS + 1);
    for (size_t c = 0; c < m->constraint_count; c++) {
        size_t count = 0;
        for (size_t p = 0; p < m->parameter_count; p++)
            if (rng_below(&r, 2))
                m->reads[c][count++] = p;
        m->constraints[c] =
            (space_constraint){.text = "c", .parameters = m->reads[c], .parameter_count = count};
    }
    for (size_t i = 0; i < m->points; i++) {
        uint16_t indices[MOST_PARAMETERS];
        point_at(m, i, indices);
        m->valid[i] = true;
        for (size_t c = 0; c < m->constraint_count; c++)
            m->valid[i] &= holds_at(m, c, indices);
        m->valid_count += m->valid[i];
    }
}

static space *build(sample *m)
{
    at_error error = {0};
    space *s = NULL;
    assert_ok(space_new(m->parameters, m->parameter_count, m->constraints, m->constraint_count,
                        test_sample, m, 0, &s, &error),
              error);
    return s;
}

typedef void (*sample_check)(sample *m, const space *s);

static void check_samples(sample_check check)
{
    sample *m = malloc(sizeof *m);
    assert_non_null(m);
    for (uint64_t seed = 0; seed < 400; seed++) {
        make_sample(m, seed);
        space *s = build(m);
        check(m, s);
        space_free(s);
    }
    free(m);
}

static void check_set(sample *m, const space *s)
{
    assert_int_equal(space_count(s), m->valid_count);
    assert_int_equal(space_cartesian(s), m->points);
    size_t found = 0;
    bool *met = calloc(m->points, sizeof *met);
    assert_non_null(met);
    for (size_t i = 0; i < m->points; i++) {
        uint16_t indices[MOST_PARAMETERS], back[MOST_PARAMETERS];
        uint64_t index;
        point_at(m, i, indices);
        bool valid = space_find(s, indices, &index);
        assert_int_equal(valid, m->valid[i]);
        if (!valid)
            continue;
        assert_true(index < m->valid_count);
        assert_false(met[index]);
        met[index] = true;
        space_at(s, index, back);
        assert_memory_equal(indices, back, m->parameter_count * sizeof *back);
        found++;
    }
    assert_int_equal(found, m->valid_count);
    free(met);
}

TEST(the_valid_configurations_are_those_of_brute_force)
{
    check_samples(check_set);
}

static void check_asked(sample *m, const space *s)
{
    (void)s;
    size_t combinations = 0;
    for (size_t c = 0; c < m->constraint_count; c++) {
        size_t product = 1;
        for (size_t i = 0; i < m->constraints[c].parameter_count; i++)
            product *= m->parameters[m->reads[c][i]].value_count;
        combinations += product;
    }
    assert_true(m->asked <= combinations);
}

TEST(no_constraint_is_evaluated_twice_for_the_same_values)
{
    check_samples(check_asked);
}

static void check_removed(sample *m, const space *s)
{
    double sum = (double)space_count(s);
    for (size_t c = 0; c < m->constraint_count; c++) {
        double failing = 0;
        for (size_t i = 0; i < m->points; i++) {
            uint16_t indices[MOST_PARAMETERS];
            point_at(m, i, indices);
            failing += !holds_at(m, c, indices);
        }
        assert_true(space_removed(s, c) <= failing);
        if (m->constraint_count == 1)
            assert_true(space_removed(s, c) == failing);
        sum += space_removed(s, c);
    }
    assert_true(sum == (double)m->points);
}

TEST(removed_and_remaining_configurations_make_the_product)
{
    check_samples(check_removed);
}

static bool is_neighbour(const sample *m, const uint16_t *a, const uint16_t *b)
{
    size_t differing = 0;
    for (size_t p = 0; p < m->parameter_count; p++)
        differing += a[p] != b[p];
    return differing == 1;
}

static void check_neighbours(sample *m, const space *s)
{
    if (m->valid_count == 0)
        return;
    bool uses[MOST_PARAMETERS][MOST_VALUES] = {{false}};
    for (uint64_t i = 0; i < m->valid_count; i++) {
        uint16_t indices[MOST_PARAMETERS];
        space_at(s, i, indices);
        for (size_t p = 0; p < m->parameter_count; p++)
            uses[p][indices[p]] = true;
    }
    for (size_t p = 0; p < m->parameter_count; p++)
        for (uint16_t v = 0; v < m->parameters[p].value_count; v++)
            assert_int_equal(space_uses(s, p, v), uses[p][v]);
    uint64_t *found = malloc((m->valid_count + 1) * sizeof *found);
    assert_non_null(found);
    uint64_t centre = m->salt % m->valid_count;
    uint16_t here[MOST_PARAMETERS], there[MOST_PARAMETERS];
    space_at(s, centre, here);
    size_t count = space_neighbours(s, centre, found, m->valid_count + 1), at = 0;
    for (uint64_t i = 0; i < m->valid_count; i++) {
        space_at(s, i, there);
        if (is_neighbour(m, here, there)) {
            assert_true(at < count);
            assert_true(found[at++] == i);
        }
    }
    assert_int_equal(at, count);
    free(found);
}

TEST(neighbours_are_those_of_brute_force)
{
    check_samples(check_neighbours);
}

static at_status test_equal_pair(void *context, const space_question *q, bool *holds,
                                 at_error *error)
{
    (void)error;
    for (size_t i = 0; i < q->count; i++) {
        ++*(size_t *)context;
        q->indices[q->varied] = q->choices[i];
        const uint16_t *pair = q->indices + q->constraint;
        holds[i] = pair[0] == pair[1] || pair[0] + 1 == pair[1];
    }
    return AT_OK;
}

enum { CHAIN = 24 };

static void make_chain(space_parameter *parameters, space_constraint *constraints,
                       size_t (*reads)[2])
{
    for (size_t p = 0; p < CHAIN; p++)
        parameters[p] =
            (space_parameter){.name = "p", .values = some_values, .value_count = MOST_VALUES};
    for (size_t c = 0; c + 1 < CHAIN; c++) {
        reads[c][0] = c;
        reads[c][1] = c + 1;
        constraints[c] =
            (space_constraint){.text = "c", .parameters = reads[c], .parameter_count = 2};
    }
}

TEST(a_product_beyond_64_bits_is_counted_without_walking_it)
{
    space_parameter parameters[CHAIN + 8];
    space_constraint constraints[CHAIN];
    size_t reads[CHAIN][2], asked = 0;
    at_error error = {0};
    space *s = NULL;
    make_chain(parameters, constraints, reads);
    for (size_t p = CHAIN; p < CHAIN + 8; p++)
        parameters[p] = parameters[0];
    assert_ok(space_new(parameters, CHAIN + 8, constraints, CHAIN - 1, test_equal_pair, &asked, 0,
                        &s, &error),
              error);
    assert_true(space_cartesian(s) == UINT64_MAX);
    assert_true(asked == (CHAIN - 1) * MOST_VALUES * MOST_VALUES);

    /* Counts ascending sequences by their last value. The last 8 parameters have no constraint. */
    uint64_t ways[MOST_VALUES];
    for (size_t v = 0; v < MOST_VALUES; v++)
        ways[v] = 1;
    for (size_t p = 1; p < CHAIN; p++)
        for (size_t v = MOST_VALUES; v-- > 1;)
            ways[v] += ways[v - 1];
    uint64_t expected = 0;
    for (size_t v = 0; v < MOST_VALUES; v++)
        expected += ways[v];
    for (size_t i = 0; i < 8; i++)
        expected *= MOST_VALUES;
    assert_true(space_count(s) == expected);

    uint16_t indices[CHAIN + 8];
    rng r = rng_seeded(1);
    for (size_t i = 0; i < 1000; i++) {
        uint64_t index = rng_below(&r, expected), back;
        space_at(s, index, indices);
        assert_true(space_find(s, indices, &back));
        assert_true(back == index);
    }
    space_free(s);
}

TEST(more_configurations_than_64_bits_can_count_are_an_error)
{
    space_parameter parameters[32];
    at_error error = {0};
    space *s = NULL;
    for (size_t p = 0; p < 32; p++)
        parameters[p] =
            (space_parameter){.name = "p", .values = some_values, .value_count = MOST_VALUES};
    assert_int_equal(space_new(parameters, 32, NULL, 0, test_equal_pair, NULL, 0, &s, &error),
                     AT_SCRIPT);
    assert_null(s);
}

static void check_sample(const sample *m, const space *whole, const space *drawn, size_t most)
{
    assert_true(space_is_sample(drawn));
    assert_true(space_count(drawn) <= most);
    for (uint64_t i = 0; i < space_count(drawn); i++) {
        uint16_t indices[MOST_PARAMETERS];
        uint64_t back;
        space_at(drawn, i, indices);
        assert_true(space_find(whole, indices, &back));
        assert_true(space_find(drawn, indices, &back));
        assert_int_equal(back, i);
    }
    for (size_t c = 0; c < m->constraint_count; c++)
        assert_true(space_removed(drawn, c) != space_removed(drawn, c));
}

TEST(a_sample_has_valid_configurations_and_nearly_all_if_they_are_few)
{
    sample *m = malloc(sizeof *m);
    assert_non_null(m);
    for (uint64_t seed = 0; seed < 20; seed++) {
        make_sample(m, seed);
        space *whole = build(m);
        for (size_t part = 1; part <= 2; part++) {
            at_error error = {0};
            space *drawn = NULL;
            space_limits limits = {0};
            size_t most = m->points / part + 1;
            assert_ok(space_sample(m->parameters, m->parameter_count, m->constraints,
                                   m->constraint_count, test_sample, m, &limits, most, NULL, &drawn,
                                   &error),
                      error);
            check_sample(m, whole, drawn, most);
            if (part == 1)
                assert_true(10 * space_count(drawn) >= 9 * m->valid_count);
            space_free(drawn);
        }
        space_free(whole);
    }
    free(m);
}

TEST(the_limit_is_kept)
{
    space_parameter parameters[3];
    at_error error = {0};
    space *s = NULL;
    for (size_t p = 0; p < 3; p++)
        parameters[p] =
            (space_parameter){.name = "p", .values = some_values, .value_count = MOST_VALUES};
    assert_int_equal(space_new(parameters, 3, NULL, 0, test_equal_pair, NULL, 215, &s, &error),
                     AT_SCRIPT);
    assert_non_null(strstr(error.message, "215"));
    error_clear(&error);
    assert_ok(space_new(parameters, 3, NULL, 0, test_equal_pair, NULL, 216, &s, &error), error);
    assert_int_equal(space_count(s), 216);
    space_free(s);
}

static at_status test_failing(void *context, const space_question *q, bool *holds, at_error *error)
{
    size_t *left = context;
    for (size_t i = 0; i < q->count; i++) {
        if ((*left)-- == 0)
            return error_set(error, AT_SCRIPT, "division by zero");
        q->indices[q->varied] = q->choices[i];
        holds[i] = q->indices[0] != q->indices[1];
    }
    return AT_OK;
}

TEST(an_error_inside_a_constraint_is_passed_on)
{
    space_parameter parameters[CHAIN];
    space_constraint constraints[CHAIN];
    size_t reads[CHAIN][2];
    make_chain(parameters, constraints, reads);
    for (size_t calls = 0; calls < 36; calls++) {
        at_error error = {0};
        space *s = NULL;
        size_t left = calls;
        assert_int_equal(
            space_new(parameters, 2, constraints, 1, test_failing, &left, 0, &s, &error),
            AT_SCRIPT);
        assert_string_equal(error.message, "division by zero");
        assert_null(s);
    }
}

TEST(a_parameter_without_values_is_an_error_that_names_it)
{
    space_parameter parameter = {.name = "tile", .values = some_values, .value_count = 0};
    at_error error = {0};
    space *s = NULL;
    assert_int_equal(space_new(&parameter, 1, NULL, 0, test_failing, NULL, 0, &s, &error),
                     AT_SCRIPT);
    assert_non_null(strstr(error.message, "'tile'"));
}
