#include "sim/affine.h"

#include <string.h>

#include "base/rng.h"
#include "check.h"

/* Compares values of boxes with values that are computed coordinate by coordinate. */

static affine_box box_of(rng *r)
{
    affine_box box;
    for (int i = 0; i < AFFINE_AXES; i++) {
        box.from[i] = 0;
        box.count[i] = rng_below(r, 2) ? 1 : 1 + rng_below(r, 9);
        box.stride[i] = 1;
    }
    return box;
}

static affine value_of(rng *r, int64_t most)
{
    affine v = {.kind = AFFINE_EXACT, .base = (int64_t)rng_below(r, (uint64_t)most)};
    for (int i = 0; i < AFFINE_AXES; i++)
        v.step[i] = (int64_t)rng_below(r, (uint64_t)most) - most / 2;
    return v;
}

/* Returns the value at coordinate number `number` of the box. */
static uint64_t at(const affine_box *box, const affine *v, uint64_t number)
{
    uint64_t sum = (uint64_t)v->base;
    for (int i = 0; i < AFFINE_AXES; i++) {
        sum += (uint64_t)v->step[i] * (number % box->count[i]);
        number /= box->count[i];
    }
    return sum;
}

static uint64_t places(const affine_box *box)
{
    uint64_t all = 1;
    for (int i = 0; i < AFFINE_AXES; i++)
        all *= box->count[i];
    return all;
}

static void expect_cut_within(const affine_box *box, const affine *cut)
{
    assert_int_equal(cut->kind, AFFINE_CUT);
    assert_true(cut->base > 0 && (uint64_t)cut->base < box->count[cut->axis]);
}

TEST(a_value_that_does_not_wrap_in_the_box_is_exact)
{
    rng r = rng_seeded(1);
    int wrapped = 0, kept = 0;
    for (int n = 0; n < 3000; n++) {
        const affine_box box = box_of(&r);
        affine full = value_of(&r, INT64_C(1) << (8 + rng_below(&r, 24)));
        const affine v = affine_wrap32(&full);
        const affine_order order = n % 2 ? AFFINE_SIGNED : AFFINE_UNSIGNED;
        affine_whole whole;
        affine cut;
        if (!affine_whole_of(&box, &v, 32, order, &whole, &cut)) {
            expect_cut_within(&box, &cut);
            wrapped++;
            continue;
        }
        kept++;
        affine exact = {.kind = AFFINE_EXACT, .base = (int64_t)whole.base};
        memcpy(exact.step, whole.step, sizeof exact.step);
        for (uint64_t i = 0; i < places(&box); i++) {
            const uint32_t held = (uint32_t)at(&box, &full, i);
            const int64_t found = (int64_t)at(&box, &exact, i);
            assert_true(found == (order == AFFINE_SIGNED ? (int64_t)(int32_t)held : (int64_t)held));
        }
    }
    assert_true(wrapped > 100 && kept > 100);
}

TEST(quotients_are_exact_or_return_a_cut)
{
    rng r = rng_seeded(2);
    int changed = 0, kept = 0;
    for (int n = 0; n < 3000; n++) {
        const affine_box box = box_of(&r);
        const affine v = value_of(&r, 200);
        const int64_t by = 1 + (int64_t)rng_below(&r, 1000);
        affine_whole whole;
        affine quotient, rest, cut;
        assert_true(affine_whole_of(&box, &v, 64, AFFINE_SIGNED, &whole, &cut));
        if (!affine_divide(&box, &whole, by, &quotient, &rest, &cut)) {
            expect_cut_within(&box, &cut);
            changed++;
            continue;
        }
        kept++;
        for (uint64_t i = 0; i < places(&box); i++) {
            const int64_t number = (int64_t)at(&box, &v, i), q = (int64_t)at(&box, &quotient, i),
                          left = (int64_t)at(&box, &rest, i);
            assert_true(left >= 0 && left < by && q * by + left == number);
        }
    }
    assert_true(changed > 100 && kept > 100);
}

/* Returns the number of classes into which a division cuts the box, or 0 for a cut without
 * classes. Each of n classes has every n-th coordinate. */
static int64_t classes_of(uint64_t count, int64_t step, int64_t by)
{
    affine_box box;
    for (int i = 0; i < AFFINE_AXES; i++) {
        box.from[i] = 0;
        box.count[i] = box.stride[i] = 1;
    }
    box.count[3] = count;
    affine_whole whole = {.step = {[3] = step}};
    affine quotient, rest, cut;
    affine_find_ends(&box, &whole);
    assert_false(affine_divide(&box, &whole, by, &quotient, &rest, &cut));
    expect_cut_within(&box, &cut);
    assert_int_equal(cut.axis, 3);
    return cut.step[0];
}

TEST(a_quotient_that_changes_often_is_cut_into_classes)
{
    assert_int_equal(classes_of(16384, 1, 4), 4);
    assert_int_equal(classes_of(16384, 6, 4), 2);
    assert_int_equal(classes_of(16384, -5, 12), 12);
    assert_int_equal(classes_of(6000000, 2863311531, INT64_C(1) << 35), 12);
    assert_int_equal(classes_of(1000000, 100003, 1000003), 10);
    /* The classes would have to be cut again, or would be too many. */
    assert_int_equal(classes_of(16, 1, 4), 0);
    assert_int_equal(classes_of(1000000, 1, 5000), 0);
}

TEST(a_cut_separates_values_below_a_limit_or_comes_nearer)
{
    rng r = rng_seeded(3);
    for (int n = 0; n < 1000; n++) {
        affine_box box = box_of(&r);
        affine v = value_of(&r, 100);
        affine_whole whole;
        affine cut;
        int cuts = 0;
        assert_true(affine_whole_of(&box, &v, 64, AFFINE_SIGNED, &whole, &cut));
        const affine_integer limit = (whole.low + whole.high) / 2 + 1;
        for (; whole.low < limit && whole.high >= limit; cuts++) {
            cut = affine_cut_where(&box, &whole, limit);
            expect_cut_within(&box, &cut);
            /* The first part is cut next, or the second part if the first is exact. */
            affine_box first = box, second = box;
            affine further = v;
            first.count[cut.axis] = (uint64_t)cut.base;
            second.count[cut.axis] -= (uint64_t)cut.base;
            further.base += v.step[cut.axis] * cut.base;
            box = first;
            assert_true(affine_whole_of(&box, &v, 64, AFFINE_SIGNED, &whole, &cut));
            if (whole.low < limit && whole.high >= limit)
                continue;
            box = second;
            v = further;
            assert_true(affine_whole_of(&box, &v, 64, AFFINE_SIGNED, &whole, &cut));
        }
        assert_true(cuts <= 4 * AFFINE_AXES * 4);
    }
}
