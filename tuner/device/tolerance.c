/* Compares results by tolerances and as multisets, and writes elements as text. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/bits.h"
#include "device/device.h"

tolerance tolerance_of(double limit)
{
    return (tolerance){.kind = limit == 0 ? TOLERANCE_EXACT : TOLERANCE_SCALED, .limit = limit};
}

tolerance tolerance_of_rounding(dtype type)
{
    switch (type) {
    case DTYPE_HALF:
        return tolerance_of(0x1p-5);
    case DTYPE_BFLOAT16:
        return tolerance_of(0x1p-2);
    case DTYPE_FLOAT:
        return tolerance_of(0x1p-18);
    case DTYPE_DOUBLE:
        return tolerance_of(0x1p-47);
    default:
        return tolerance_of(0);
    }
}

bool tolerance_is_valid(tolerance t)
{
    if (!isfinite(t.limit) || t.limit < 0 || !isfinite(t.mismatches) || t.mismatches < 0)
        return false;
    if (t.mismatches >= 1 && (floor(t.mismatches) != t.mismatches || t.mismatches > 0x1p53))
        return false;
    if (t.kind == TOLERANCE_EXACT)
        return t.limit == 0;
    if (t.kind == TOLERANCE_SCALED)
        return t.limit > 0;
    return t.kind < TOLERANCE_KINDS && (t.kind != TOLERANCE_ULPS || floor(t.limit) == t.limit);
}

bool tolerance_is_exact(tolerance t)
{
    return t.kind == TOLERANCE_EXACT && t.mismatches == 0;
}

uint64_t tolerance_mismatches(tolerance t, uint64_t count)
{
    /* Without this factor 0.29 of 100 gives 28, because the nearest double to 0.29 is smaller. */
    const double share = t.mismatches * (double)count * (1 + 0x1p-50);
    return (uint64_t)(t.mismatches < 1 ? floor(share) : t.mismatches);
}

void tolerance_format(tolerance t, char text[TOLERANCE_TEXT_BYTES])
{
    static const char *const formats[TOLERANCE_KINDS] = {
        [TOLERANCE_EXACT] = "bit for bit",
        [TOLERANCE_SCALED] = "within %.9g of the largest magnitude",
        [TOLERANCE_RELATIVE] = "within %.9g of its magnitude",
        [TOLERANCE_ABSOLUTE] = "within %.9g",
        [TOLERANCE_ULPS] = "within %.17g ULPs",
    };
    if (t.kind == TOLERANCE_EXACT)
        snprintf(text, TOLERANCE_TEXT_BYTES, "%s", formats[t.kind]);
    else
        snprintf(text, TOLERANCE_TEXT_BYTES, formats[t.kind], t.limit);
}

typedef union element {
    int8_t s8;
    int16_t s16;
    int32_t s32;
    int64_t s64;
    uint64_t bits;
    float f;
    double d;
} element;

static element load(dtype type, const void *bytes)
{
    element v = {.bits = 0};
    memcpy(&v, bytes, dtype_get(type)->size_bytes);
    return v;
}

static bool is_signed(dtype type)
{
    return type == DTYPE_INT8 || type == DTYPE_INT16 || type == DTYPE_INT32 || type == DTYPE_INT64;
}

static int64_t signed_value(dtype type, element v)
{
    return type == DTYPE_INT8    ? v.s8
           : type == DTYPE_INT16 ? v.s16
           : type == DTYPE_INT32 ? v.s32
                                 : v.s64;
}

/* Returns the value of an element as a double. Large 64-bit integers are rounded. */
static double value_of(dtype type, element v)
{
    switch (type) {
    case DTYPE_HALF:
        return half_to_float((uint16_t)v.bits);
    case DTYPE_BFLOAT16:
        return bfloat_to_float((uint16_t)v.bits);
    case DTYPE_FLOAT:
        return v.f;
    case DTYPE_DOUBLE:
        return v.d;
    default:
        return is_signed(type) ? (double)signed_value(type, v) : (double)v.bits;
    }
}

/* Returns the number of digits that distinguish any two numbers of a type: 1 + ceil(p * log10(2))
 * for p bits of significand (IEEE 754-2019, 5.12.2). */
static int digits_of(dtype type)
{
    return type == DTYPE_HALF ? 5 : type == DTYPE_BFLOAT16 ? 4 : type == DTYPE_FLOAT ? 9 : 17;
}

void element_format(dtype type, const void *bytes, char text[ELEMENT_TEXT_BYTES])
{
    const element v = load(type, bytes);
    const size_t size = dtype_get(type)->size_bytes;
    if (!dtype_get(type)->is_float && is_signed(type))
        snprintf(text, ELEMENT_TEXT_BYTES, "%" PRId64, signed_value(type, v));
    else if (!dtype_get(type)->is_float)
        snprintf(text, ELEMENT_TEXT_BYTES, "%" PRIu64, v.bits);
    else if (isnan(value_of(type, v)))
        snprintf(text, ELEMENT_TEXT_BYTES, "nan (0x%0*" PRIx64 ")", (int)(2 * size), v.bits);
    else
        snprintf(text, ELEMENT_TEXT_BYTES, "%.*g", digits_of(type), value_of(type, v));
    if (size == 1)
        snprintf(text + strlen(text), ELEMENT_TEXT_BYTES - strlen(text), " (0x%02x)",
                 (unsigned)v.bits);
}

double element_magnitude(dtype type, const void *elements, uint64_t count)
{
    const unsigned char *bytes = elements;
    size_t size = dtype_get(type)->size_bytes;
    double largest = 0;
    for (uint64_t i = 0; i < count; i++) {
        double magnitude = fabs(value_of(type, load(type, bytes + i * size)));
        if (isfinite(magnitude) && magnitude > largest)
            largest = magnitude;
    }
    return largest;
}

/* Maps a float to an integer: neighbouring values differ by 1, and both zeros are equal. */
static uint64_t rank_of_float(uint64_t bits, int width)
{
    const uint64_t middle = UINT64_C(1) << 63, sign = UINT64_C(1) << (width - 1);
    return bits & sign ? middle - (bits & (sign - 1)) : middle + bits;
}

/* Maps an element to an integer, so that the difference of two is their distance in ULPs. */
static uint64_t rank_of(dtype type, element v)
{
    if (dtype_get(type)->is_float)
        return rank_of_float(v.bits, (int)(8 * dtype_get(type)->size_bytes));
    return is_signed(type) ? (UINT64_C(1) << 63) + (uint64_t)signed_value(type, v) : v.bits;
}

bool tolerance_accepts(tolerance t, double magnitude, dtype type, const void *found,
                       const void *expected)
{
    const element f = load(type, found), e = load(type, expected);
    if (t.kind == TOLERANCE_EXACT)
        return f.bits == e.bits;
    const double x = value_of(type, f), y = value_of(type, e);
    const uint64_t a = rank_of(type, f), b = rank_of(type, e), steps = a > b ? a - b : b - a;
    const bool is_float = dtype_get(type)->is_float;
    if (is_float && (isnan(x) || isnan(y)))
        return isnan(x) && isnan(y);
    if (is_float && (isinf(x) || isinf(y)))
        return x == y;
    double allowed = t.limit;
    if (t.kind == TOLERANCE_SCALED)
        allowed *= magnitude;
    if (t.kind == TOLERANCE_RELATIVE)
        allowed *= fabs(y);
    if (is_float && t.kind != TOLERANCE_ULPS)
        return fabs(x - y) <= allowed;
    return allowed >= 0x1p64 || steps <= (uint64_t)allowed;
}

/* ---- multisets ----
 *
 * Compares results whose order does not matter: two buffers as multisets of records of plan->record
 * elements. If the tolerance is exact, records are matched by their bytes, but only if the sums of
 * their hashes differ. With a tolerance, a record is one element: both sides are sorted, NaNs last,
 * and the i-th elements of both sides are compared. For an absolute tolerance this comparison
 * accepts the results if and only if some matching accepts them. */

static uint64_t bits_at(const void *elements, uint64_t i, size_t size)
{
    uint64_t bits = 0;
    memcpy(&bits, (const unsigned char *)elements + i * size, size);
    return bits;
}

static uint64_t top_of(size_t size)
{
    return UINT64_C(1) << (8 * size - 1);
}

/* Maps the bits of an element to a key with the same order as the values. */
static uint64_t key_of(dtype type, uint64_t bits)
{
    const dtype_info *t = dtype_get(type);
    const uint64_t top = top_of(t->size_bytes), all = top | (top - 1);
    if (t->is_float)
        return bits & top ? ~bits & all : bits | top;
    return is_signed(type) ? bits ^ top : bits;
}

static uint64_t bits_of(dtype type, uint64_t key)
{
    const dtype_info *t = dtype_get(type);
    const uint64_t top = top_of(t->size_bytes), all = top | (top - 1);
    if (t->is_float)
        return key & top ? key & ~top : ~key & all;
    return is_signed(type) ? key ^ top : key;
}

static bool is_nan(dtype type, uint64_t key)
{
    static const uint64_t infinity[DTYPE_COUNT] = {[DTYPE_HALF] = 0x7c00,
                                                   [DTYPE_BFLOAT16] = 0x7f80,
                                                   [DTYPE_FLOAT] = 0x7f800000,
                                                   [DTYPE_DOUBLE] = UINT64_C(0x7ff0) << 48};
    const uint64_t top = top_of(dtype_get(type)->size_bytes);
    return infinity[type] && (bits_of(type, key) & ~top) > infinity[type];
}

static uint64_t *sort(uint64_t *keys, uint64_t *other, uint64_t count, size_t bytes)
{
    for (size_t b = 0; b < bytes; b++) {
        uint64_t at[256] = {0}, sum = 0;
        for (uint64_t i = 0; i < count; i++)
            at[keys[i] >> 8 * b & 255]++;
        for (int v = 0; v < 256; v++) {
            const uint64_t n = at[v];
            at[v] = sum;
            sum += n;
        }
        for (uint64_t i = 0; i < count; i++)
            other[at[keys[i] >> 8 * b & 255]++] = keys[i];
        uint64_t *swapped = keys;
        keys = other;
        other = swapped;
    }
    return keys;
}

static uint64_t hash_records(const unsigned char *records, uint64_t count, size_t size)
{
    uint64_t sum = 0;
    for (uint64_t i = 0; i < count; i++)
        sum += XXH3_64bits(records + i * size, size);
    return sum;
}

typedef struct keyed {
    const unsigned char *at;
    size_t size;
} keyed;

static int compare_keyed(const void *a, const void *b)
{
    const keyed *x = a, *y = b;
    const int order = memcmp(x->at, y->at, x->size);
    return order ? order : (x->at < y->at) - (x->at > y->at);
}

static at_status pair_exactly(const buffer_plan *plan, const void *found, const void *expected,
                              device_comparison *out, at_error *error)
{
    const size_t element_bytes = dtype_get(plan->type)->size_bytes,
                 size = element_bytes * plan->record;
    const uint64_t n = plan->count / plan->record;
    const unsigned char *const sides[] = {found, expected};
    if (hash_records(found, n, size) == hash_records(expected, n, size))
        return AT_OK;
    keyed *f = n <= SIZE_MAX / sizeof *f / 2 ? malloc(2 * n * sizeof *f) : NULL, *e = f + n;
    if (!f)
        return error_no_memory(error);
    for (uint64_t i = 0; i < 2 * n; i++)
        f[i] = (keyed){sides[i / n] + i % n * size, size};
    qsort(f, n, sizeof *f, compare_keyed);
    qsort(e, n, sizeof *e, compare_keyed);
    const unsigned char *missing = NULL, *extra = NULL;
    for (uint64_t i = 0, j = 0; i < n || j < n;) {
        const int order = i == n ? 1 : j == n ? -1 : memcmp(f[i].at, e[j].at, size);
        if (order < 0) {
            out->wrong++;
            extra = !extra || f[i].at < extra ? f[i].at : extra;
        } else if (order > 0) {
            missing = !missing || e[j].at < missing ? e[j].at : missing;
        }
        i += order <= 0;
        j += order >= 0;
    }
    if (extra && missing) {
        out->first = (uint64_t)(extra - sides[0]) / element_bytes;
        memcpy(&out->found, extra, element_bytes);
        memcpy(&out->expected, missing, element_bytes);
    }
    free(f);
    return AT_OK;
}

static void pair_by_rank(const buffer_plan *plan, const uint64_t *f, const uint64_t *e,
                         double magnitude, device_comparison *out)
{
    for (uint64_t i = 0; i < plan->count; i++) {
        const uint64_t a = bits_of(plan->type, f[i]), b = bits_of(plan->type, e[i]);
        if (tolerance_accepts(plan->tolerance, magnitude, plan->type, &a, &b))
            continue;
        if (out->wrong++ == 0) {
            out->found = f[i];
            out->expected = e[i];
        }
    }
}

at_status multiset_compare(const buffer_plan *plan, const void *found, const void *expected,
                           device_comparison *out, at_error *error)
{
    const size_t size = dtype_get(plan->type)->size_bytes;
    const uint64_t n = plan->count;
    *out = (device_comparison){0};
    if (plan->tolerance.kind == TOLERANCE_EXACT)
        return pair_exactly(plan, found, expected, out, error);
    uint64_t *keys = n <= SIZE_MAX / 24 ? malloc(3 * n * sizeof *keys) : NULL;
    if (!keys)
        return error_no_memory(error);
    for (uint64_t i = 0; i < 2 * n; i++) {
        const uint64_t key =
            key_of(plan->type, bits_at(i < n ? found : expected, i < n ? i : i - n, size));
        keys[i] = is_nan(plan->type, key) ? top_of(size) | (top_of(size) - 1) : key;
    }
    /* The second sort uses the array that the first sort left unused. */
    uint64_t *spare = keys + 2 * n, *f = sort(keys, spare, n, size);
    spare = f == keys ? spare : keys;
    const uint64_t *e = sort(keys + n, spare, n, size);
    pair_by_rank(plan, f, e, element_magnitude(plan->type, expected, n), out);
    uint64_t at = 0;
    while (out->wrong && at < n - 1 && key_of(plan->type, bits_at(found, at, size)) != out->found)
        at++;
    out->first = at;
    out->found = bits_of(plan->type, out->found);
    out->expected = bits_of(plan->type, out->expected);
    free(keys);
    return AT_OK;
}
