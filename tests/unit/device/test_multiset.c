#include "check.h"

#include <math.h>
#include <string.h>

#include "device/device.h"

static device_comparison compare(dtype type, tolerance t, uint64_t count, const void *found,
                                 const void *expected)
{
    at_error error = {0};
    device_comparison out;
    const buffer_plan plan = {.type = type, .tolerance = t, .count = count, .record = 1};
    assert_ok(multiset_compare(&plan, found, expected, &out, &error), error);
    return out;
}

TEST(elements_are_equal_in_any_order)
{
    const int32_t a[] = {-3, 7, 0, -3, INT32_MIN, 7}, b[] = {7, INT32_MIN, -3, 7, -3, 0};
    assert_int_equal(compare(DTYPE_INT32, tolerance_of(0), 6, a, b).wrong, 0);
    const uint8_t c[] = {255, 0, 128}, d[] = {128, 255, 0};
    assert_int_equal(compare(DTYPE_UINT8, tolerance_of(0), 3, c, d).wrong, 0);
    const double e[] = {-1.5, INFINITY, NAN, 2}, f[] = {NAN, 2, -1.5, INFINITY};
    assert_int_equal(compare(DTYPE_DOUBLE, tolerance_of(0), 4, e, f).wrong, 0);
    assert_int_equal(compare(DTYPE_DOUBLE, tolerance_of(1e-9), 4, e, f).wrong, 0);
}

TEST(a_surplus_element_is_named_with_the_missing_element)
{
    const int32_t found[] = {5, -9, 5, 1}, expected[] = {1, 5, -9, -9};
    const device_comparison d = compare(DTYPE_INT32, tolerance_of(0), 4, found, expected);
    assert_int_equal(d.wrong, 1);
    assert_true(d.first == 0 && (int32_t)d.found == 5);
    assert_true((int32_t)d.expected == -9);
}

TEST(records_of_several_elements_are_kept_together)
{
    const int32_t expected[] = {1, 10, 2, 20, 2, 20, 3, 30}, moved[] = {2, 20, 3, 30, 1, 10, 2, 20},
                  mixed[] = {2, 20, 3, 10, 1, 30, 2, 20};
    at_error error = {0};
    device_comparison out;
    const buffer_plan plan = {.type = DTYPE_INT32, .count = 8, .record = 2};
    assert_ok(multiset_compare(&plan, moved, expected, &out, &error), error);
    assert_int_equal(out.wrong, 0);
    assert_ok(multiset_compare(&plan, mixed, expected, &out, &error), error);
    assert_int_equal(out.wrong, 2);
    assert_int_equal(out.first, 2);
    assert_true((int32_t)out.found == 3 && (int32_t)out.expected == 1);
}

TEST(with_a_tolerance_elements_of_equal_rank_are_compared)
{
    const float near[] = {2.00001f, -1, 1}, far[] = {2.1f, -1, 1}, expected[] = {1, 2, -1.00001f};
    assert_int_equal(compare(DTYPE_FLOAT, tolerance_of(1e-4), 3, near, expected).wrong, 0);
    const device_comparison d = compare(DTYPE_FLOAT, tolerance_of(1e-4), 3, far, expected);
    float missing;
    memcpy(&missing, &d.expected, sizeof missing);
    assert_int_equal(d.wrong, 1);
    assert_int_equal(d.first, 0);
    assert_true(missing == 2);
}
