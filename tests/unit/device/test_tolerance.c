/* Compares tolerances with independent computations: tables of all values of a type, steps to
 * the next value, and 128-bit arithmetic. */
#include "check.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "base/rng.h"
#include "device/plan.h"

/* an integer that can hold the difference of any two elements */
__extension__ typedef __int128 integer;

static bool accepts(tolerance_kind kind, double limit, dtype type, const void *found,
                    const void *expected)
{
    return tolerance_accepts((tolerance){.kind = kind, .limit = limit}, 1, type, found, expected);
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double short_value(dtype type, uint16_t bits)
{
    return type == DTYPE_HALF ? half_to_float(bits) : bfloat_to_float(bits);
}

/* Writes the rank of each finite value of a 16-bit type. Zero and -0 have the same rank. */
static void rank_values(dtype type, int32_t rank[65536])
{
    static double sorted[65536];
    size_t count = 0;
    for (uint32_t bits = 0; bits < 65536; bits++) {
        const double v = short_value(type, (uint16_t)bits);
        if (isfinite(v) && bits != 0x8000)
            sorted[count++] = v;
    }
    qsort(sorted, count, sizeof *sorted, by_value);
    for (uint32_t bits = 0; bits < 65536; bits++) {
        const double v = short_value(type, (uint16_t)bits);
        const double *at =
            isfinite(v) ? bsearch(&v, sorted, count, sizeof *sorted, by_value) : NULL;
        rank[bits] = at ? (int32_t)(at - sorted) : -1;
    }
}

TEST(ulps_of_16_bit_types_are_differences_of_ranks)
{
    static int32_t rank[65536];
    static const dtype types[] = {DTYPE_HALF, DTYPE_BFLOAT16};
    rng r = rng_seeded(1);
    for (int t = 0; t < 2; t++) {
        rank_values(types[t], rank);
        for (int i = 0; i < 200000; i++) {
            const uint16_t a = (uint16_t)rng_below(&r, 65536);
            const uint16_t b = rng_below(&r, 2) ? (uint16_t)(a + rng_below(&r, 9) - 4)
                                                : (uint16_t)(a ^ 0x8000 ^ rng_below(&r, 4));
            if (rank[a] < 0 || rank[b] < 0)
                continue;
            const double allowed = (double)rng_below(&r, 6);
            assert_int_equal(accepts(TOLERANCE_ULPS, allowed, types[t], &a, &b),
                             abs(rank[a] - rank[b]) <= allowed);
        }
    }
}

TEST(ulps_are_steps_to_the_neighbour)
{
    rng r = rng_seeded(2);
    for (int i = 0; i < 20000; i++) {
        uint64_t bits = rng_next(&r);
        double d, wide;
        float f, narrow;
        memcpy(&d, &bits, sizeof d);
        memcpy(&f, &bits, sizeof f);
        if (rng_below(&r, 4) == 0)
            d = 0, f = 0;
        const double to = rng_below(&r, 2) ? INFINITY : -INFINITY;
        const uint64_t steps = rng_below(&r, 5);
        wide = d, narrow = f;
        for (uint64_t s = 0; s < steps; s++)
            wide = nextafter(wide, to), narrow = nextafterf(narrow, (float)to);
        if (isfinite(d) && isfinite(wide)) {
            assert_true(accepts(TOLERANCE_ULPS, (double)steps, DTYPE_DOUBLE, &wide, &d));
            assert_true(steps == 0 ||
                        !accepts(TOLERANCE_ULPS, (double)steps - 1, DTYPE_DOUBLE, &wide, &d));
        }
        if (isfinite(f) && isfinite(narrow)) {
            assert_true(accepts(TOLERANCE_ULPS, (double)steps, DTYPE_FLOAT, &narrow, &f));
            assert_true(steps == 0 ||
                        !accepts(TOLERANCE_ULPS, (double)steps - 1, DTYPE_FLOAT, &narrow, &f));
        }
    }
}

/* Returns an extreme value of the type, or random bits. */
static uint64_t random_integer(rng *r)
{
    static const uint64_t special[] = {0, 1, INT64_MAX, UINT64_C(1) << 63, UINT64_MAX};
    return rng_below(r, 3) ? rng_next(r) >> rng_below(r, 64) : special[rng_below(r, 5)];
}

static integer wide_integer(dtype type, uint64_t bits)
{
    switch (type) {
    case DTYPE_INT8:
        return (int8_t)bits;
    case DTYPE_UINT8:
        return (uint8_t)bits;
    case DTYPE_INT16:
        return (int16_t)bits;
    case DTYPE_UINT16:
        return (uint16_t)bits;
    case DTYPE_INT32:
        return (int32_t)bits;
    case DTYPE_UINT32:
        return (uint32_t)bits;
    case DTYPE_INT64:
        return (int64_t)bits;
    default:
        return bits;
    }
}

TEST(integers_are_compared_without_rounding)
{
    rng r = rng_seeded(3);
    for (int i = 0; i < 100000; i++) {
        const dtype type = (dtype)rng_below(&r, DTYPE_UINT64 + 1);
        const uint64_t e = random_integer(&r),
                       f = rng_below(&r, 2) ? e + rng_below(&r, 7) - 3 : random_integer(&r);
        integer apart = wide_integer(type, f) - wide_integer(type, e);
        apart = apart < 0 ? -apart : apart;
        const double limit = (double)rng_below(&r, 5);
        assert_int_equal(accepts(TOLERANCE_ABSOLUTE, limit, type, &f, &e), apart <= (integer)limit);
        assert_int_equal(accepts(TOLERANCE_ULPS, limit, type, &f, &e), apart <= (integer)limit);
        const integer magnitude =
            wide_integer(type, e) < 0 ? -wide_integer(type, e) : wide_integer(type, e);
        /* 0.25 is a power of two, so the test is exact if the magnitude is exact in a double. */
        if (magnitude < (integer)1 << 53)
            assert_int_equal(accepts(TOLERANCE_RELATIVE, 0.25, type, &f, &e),
                             4 * apart <= magnitude);
    }
}

TEST(errors_of_floats_are_differences)
{
    rng r = rng_seeded(4);
    for (int i = 0; i < 50000; i++) {
        const float e = (float)ldexp((double)rng_below(&r, 1000) - 500, (int)rng_below(&r, 9) - 4);
        const float f = e + (float)ldexp((double)rng_below(&r, 65) - 32, -8);
        const double apart = fabs((double)f - (double)e);
        assert_int_equal(accepts(TOLERANCE_ABSOLUTE, 0x1p-5, DTYPE_FLOAT, &f, &e), apart <= 0x1p-5);
        assert_int_equal(accepts(TOLERANCE_RELATIVE, 0x1p-5, DTYPE_FLOAT, &f, &e),
                         apart <= 0x1p-5 * fabs((double)e));
        assert_int_equal(tolerance_accepts(tolerance_of(0x1p-7), 8, DTYPE_FLOAT, &f, &e),
                         apart <= 0x1p-4);
    }
}

TEST(not_a_number_and_infinities_equal_only_themselves)
{
    static const uint64_t bits[][6] = {
        /* NaN, another NaN, infinity, -infinity, the largest finite value, 1 */
        [DTYPE_HALF] = {0x7e00, 0xfe01, 0x7c00, 0xfc00, 0x7bff, 0x3c00},
        [DTYPE_BFLOAT16] = {0x7fc0, 0xffc1, 0x7f80, 0xff80, 0x7f7f, 0x3f80},
        [DTYPE_FLOAT] = {0x7fc00000, 0xffc00001, 0x7f800000, 0xff800000, 0x7f7fffff, 0x3f800000},
        [DTYPE_DOUBLE] = {0x7ff8000000000000, 0xfff8000000000001, 0x7ff0000000000000,
                          0xfff0000000000000, 0x7fefffffffffffff, 0x3ff0000000000000},
    };
    static const double limits[TOLERANCE_KINDS] = {[TOLERANCE_SCALED] = 100,
                                                   [TOLERANCE_RELATIVE] = 0.5,
                                                   [TOLERANCE_ABSOLUTE] = DBL_MAX,
                                                   [TOLERANCE_ULPS] = 0x1p53};
    for (int type = DTYPE_HALF; type <= DTYPE_DOUBLE; type++)
        for (int kind = TOLERANCE_SCALED; kind < TOLERANCE_KINDS; kind++)
            for (int f = 0; f < 6; f++)
                for (int e = 0; e < 6; e++) {
                    if (f > 3 && e > 3)
                        continue;
                    const bool same = f == e || (f < 2 && e < 2);
                    assert_int_equal(tolerance_accepts((tolerance){.kind = (tolerance_kind)kind,
                                                                   .limit = limits[kind]},
                                                       DBL_MAX, (dtype)type, &bits[type][f],
                                                       &bits[type][e]),
                                     same);
                }
}

TEST(an_exact_comparison_is_of_bits)
{
    const float zero = 0, minus_zero = -0.0f, nan = NAN;
    assert_false(accepts(TOLERANCE_EXACT, 0, DTYPE_FLOAT, &zero, &minus_zero));
    assert_true(accepts(TOLERANCE_EXACT, 0, DTYPE_FLOAT, &nan, &nan));
    assert_true(accepts(TOLERANCE_ULPS, 0, DTYPE_FLOAT, &zero, &minus_zero));
}

/* If the largest magnitude were infinite, every result would be right. */
TEST(the_largest_magnitude_is_a_finite_one)
{
    const float values[] = {1, -3, INFINITY, NAN, 2};
    assert_true(element_magnitude(DTYPE_FLOAT, values, 5) == 3);
    assert_true(element_magnitude(DTYPE_FLOAT, values + 2, 2) == 0);
    const int64_t least = INT64_MIN;
    assert_true(element_magnitude(DTYPE_INT64, &least, 1) == 0x1p63);
}

TEST(a_share_or_a_number_of_elements_may_exceed_the_tolerance)
{
    static const struct {
        double mismatches;
        uint64_t count, allowed;
    } cases[] = {{0, 1000, 0},    {1e-3, 1000, 1}, {1e-3, 999, 0}, {0.5, 7, 3},
                 {0.29, 100, 29}, {1, 1000000, 1}, {12, 5, 12},    {0x1p53, 1, 1ull << 53}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const tolerance t = {.mismatches = cases[i].mismatches};
        assert_true(tolerance_is_valid(t));
        assert_int_equal(tolerance_is_exact(t), cases[i].mismatches == 0);
        assert_int_equal(tolerance_mismatches(t, cases[i].count), cases[i].allowed);
    }
    static const double senseless[] = {-1, 1.5, NAN, INFINITY, 0x1p54};
    for (size_t i = 0; i < sizeof senseless / sizeof *senseless; i++)
        assert_false(tolerance_is_valid((tolerance){.mismatches = senseless[i]}));
}

static void assert_told(dtype type, const void *element, const char *expected)
{
    char text[ELEMENT_TEXT_BYTES];
    element_format(type, element, text);
    assert_string_equal(text, expected);
}

TEST(elements_are_written_according_to_their_type)
{
    assert_told(DTYPE_INT8, &(int8_t){-1}, "-1 (0xff)");
    assert_told(DTYPE_UINT8, &(uint8_t){200}, "200 (0xc8)");
    assert_told(DTYPE_INT16, &(int16_t){INT16_MIN}, "-32768");
    assert_told(DTYPE_UINT16, &(uint16_t){65535}, "65535");
    assert_told(DTYPE_INT32, &(int32_t){INT32_MIN}, "-2147483648");
    assert_told(DTYPE_UINT32, &(uint32_t){4294967295u}, "4294967295");
    assert_told(DTYPE_INT64, &(int64_t){-9007199254740993}, "-9007199254740993");
    assert_told(DTYPE_UINT64, &(uint64_t){UINT64_MAX}, "18446744073709551615");
    assert_told(DTYPE_HALF, &(uint16_t){0x3c01}, "1.001");
    assert_told(DTYPE_BFLOAT16, &(uint16_t){0x3f81}, "1.008");
    assert_told(DTYPE_FLOAT, &(float){0.1f}, "0.100000001");
    assert_told(DTYPE_FLOAT, &(float){-0.0f}, "-0");
    assert_told(DTYPE_FLOAT, &(uint32_t){0x7fc00001}, "nan (0x7fc00001)");
    assert_told(DTYPE_HALF, &(uint16_t){0x7e01}, "nan (0x7e01)");
    assert_told(DTYPE_DOUBLE, &(double){0.1}, "0.10000000000000001");
}

/* Compares all 16-bit numbers. */
TEST(different_numbers_are_written_differently)
{
    for (int type = DTYPE_HALF; type <= DTYPE_BFLOAT16; type++) {
        char before[ELEMENT_TEXT_BYTES] = "", text[ELEMENT_TEXT_BYTES];
        for (uint32_t bits = 0; bits < 0x10000; bits++) {
            const uint16_t element = (uint16_t)bits;
            element_format((dtype)type, &element, text);
            assert_string_not_equal(text, before);
            memcpy(before, text, sizeof before);
        }
    }
}
