/* The nearest of many problems, beside a look at all of them. */
#include "check.h"

#include <math.h>
#include <string.h>

#include "base/rng.h"
#include "record/pick_near.h"

enum { PROBLEMS = 1500, VARIABLES = 4, ASKED = 200 };

static const char *const dtypes[] = {"float", "double", "half"};

typedef struct cloud {
    record_pair pairs[PROBLEMS][VARIABLES];
    record_values problems[PROBLEMS];
    record_classes classes;
    pick_points points;
    uint32_t which[PROBLEMS];
} cloud;

/* Sizes, of which few are different, so that many are equally far; a type; one that some lack. */
static record_values draw(rng *r, record_pair pairs[VARIABLES])
{
    size_t n = 0;
    const int64_t size = (int64_t)rng_below(r, 40);
    pairs[n++] = (record_pair){"n", {.kind = VALUE_INTEGER, .integer = 128 * size}};
    pairs[n++] = (record_pair){"m", {.kind = VALUE_NUMBER, .number = (double)rng_below(r, 9)}};
    if (rng_below(r, 3))
        pairs[n++] = (record_pair){"dtype", {.kind = VALUE_STRING, .string = dtypes[size % 3]}};
    if (rng_below(r, 4) == 0)
        pairs[n++] = size % 2 ? (record_pair){"k", {.kind = VALUE_INTEGER, .integer = size}}
                              : (record_pair){"k", {.kind = VALUE_BOOLEAN, .boolean = true}};
    return (record_values){n, pairs};
}

static void make_cloud(cloud *c, rng *r)
{
    for (uint32_t i = 0; i < PROBLEMS; i++) {
        c->problems[i] = draw(r, c->pairs[i]);
        c->which[i] = (uint32_t)record_class_of(&c->classes, &c->problems[i]);
    }
    assert_true(pick_points_make(&c->points, &c->classes));
}

static void free_cloud(cloud *c)
{
    pick_points_deinit(&c->points);
    record_classes_deinit(&c->classes);
}

static double distance_of(const record_values *a, const record_values *b)
{
    double d = 0;
    for (size_t i = 0; i < a->count; i++) {
        const value *v = record_get(b, a->pairs[i].name);
        d += v ? pick_value_distance(a->pairs[i].value, *v) : PICK_UNLIKE;
    }
    for (size_t i = 0; i < b->count; i++)
        d += record_get(a, b->pairs[i].name) ? 0 : PICK_UNLIKE;
    return d;
}

/* The least distance beyond `beyond`; how many have it, and the first of them. */
static double look_at_all(const cloud *c, const pick_aim *aim, double beyond, size_t *count,
                          uint32_t *first)
{
    double least = INFINITY;
    *count = 0;
    for (uint32_t i = 0; i < PROBLEMS; i++) {
        const double d = pick_aim_distance(aim, c->which[i]);
        if (d <= beyond || d > least)
            continue;
        if (d < least)
            *count = 0;
        if ((*count)++ == 0)
            *first = i;
        least = d;
    }
    return least;
}

static void compare_with_all(const cloud *c, const pick_near *near, rng *r)
{
    for (int n = 0; n < ASKED; n++) {
        record_pair pairs[VARIABLES];
        const record_values problem = draw(r, pairs);
        double beyond = -1;
        pick_aim aim;
        assert_true(pick_aim_make(&aim, &c->points, &problem));
        for (int level = 0; level < 5; level++) {
            size_t count;
            uint32_t first = 0;
            pick_nearest nearest;
            const double least = look_at_all(c, &aim, beyond, &count, &first);
            pick_nearest_begin(&nearest, beyond);
            pick_near_search(near, &aim, 7, &nearest);
            assert_true(nearest.distance == least);
            assert_int_equal(nearest.count, count);
            assert_int_equal(nearest.first_place, first);
            assert_int_equal(nearest.found[0].tree, 7);
            beyond = least;
        }
        pick_aim_deinit(&aim);
    }
}

TEST(a_search_finds_what_a_look_at_all_finds)
{
    static cloud c;
    rng r = rng_seeded(11);
    pick_near near;
    make_cloud(&c, &r);
    assert_true(pick_near_make(&near, &c.points, c.which, sizeof *c.which, PROBLEMS, NULL));
    assert_true(near.depth > 0);
    compare_with_all(&c, &near, &r);
    pick_near_deinit(&near);
    free_cloud(&c);
    memset(&c, 0, sizeof c);
}

TEST(the_order_of_a_tree_makes_no_difference)
{
    static cloud c;
    rng r = rng_seeded(12);
    static uint32_t order[PROBLEMS];
    pick_near near;
    make_cloud(&c, &r);
    for (uint32_t i = 0; i < PROBLEMS; i++)
        order[i] = (i * 7) % PROBLEMS;
    /* One that has each place once, then damaged ones. */
    for (int n = 0; n < 3; n++) {
        assert_true(pick_near_make(&near, &c.points, c.which, sizeof *c.which, PROBLEMS, order));
        compare_with_all(&c, &near, &r);
        pick_near_deinit(&near);
        order[PROBLEMS / 2] = n == 0 ? order[0] : UINT32_MAX;
    }
    free_cloud(&c);
    memset(&c, 0, sizeof c);
}

TEST(a_distance_is_the_sum_over_the_variables_of_both)
{
    static cloud c;
    rng r = rng_seeded(13);
    make_cloud(&c, &r);
    for (int n = 0; n < ASKED; n++) {
        record_pair pairs[VARIABLES];
        const record_values problem = draw(&r, pairs);
        pick_aim aim;
        assert_true(pick_aim_make(&aim, &c.points, &problem));
        for (size_t i = 0; i < c.classes.count; i += 7) {
            const double d = distance_of(&problem, c.classes.members[i]);
            assert_true(fabs(pick_aim_distance(&aim, i) - d) < 1e-9);
        }
        pick_aim_deinit(&aim);
    }
    free_cloud(&c);
    memset(&c, 0, sizeof c);
}

TEST_GROUP(NULL, NULL)
