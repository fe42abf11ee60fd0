/* Compares results whose order does not matter: two buffers as multisets of records of
 * plan->record elements.
 *
 * Exact records are paired by their bytes, and only if sums of hashes differ. Records of several
 * elements are exact. With a tolerance both sides are sorted, NaNs last, and the elements of one
 * rank are compared: that accepts whatever some pairing within an absolute tolerance accepts. */
#include "device/device.h"

#include <stdlib.h>
#include <string.h>

#include <xxhash.h>

/* Reads the bits of element `i`. */
static uint64_t bits_at(const void *elements, uint64_t i, size_t size)
{
    uint64_t bits = 0;
    memcpy(&bits, (const unsigned char *)elements + i * size, size);
    return bits;
}

static bool is_signed(dtype type)
{
    return type == DTYPE_INT8 || type == DTYPE_INT16 || type == DTYPE_INT32 || type == DTYPE_INT64;
}

static uint64_t top_of(size_t size)
{
    return UINT64_C(1) << (8 * size - 1);
}

/* Maps bits to a number that grows as the value does. */
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

/* Is the key that of a NaN? One lies beyond the infinity of its sign. */
static bool is_nan(dtype type, uint64_t key)
{
    static const uint64_t infinity[DTYPE_COUNT] = {[DTYPE_HALF] = 0x7c00,
                                                   [DTYPE_BFLOAT16] = 0x7f80,
                                                   [DTYPE_FLOAT] = 0x7f800000,
                                                   [DTYPE_DOUBLE] = UINT64_C(0x7ff0) << 48};
    const uint64_t top = top_of(dtype_get(type)->size_bytes);
    return infinity[type] && (bits_of(type, key) & ~top) > infinity[type];
}

/* Sorts `count` keys of `bytes` bytes by radix; `other` has room for as many. Returns where they
 * are. */
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

/* Returns a hash that does not depend on the order of the records. */
static uint64_t hash_records(const unsigned char *records, uint64_t count, size_t size)
{
    uint64_t sum = 0;
    for (uint64_t i = 0; i < count; i++)
        sum += XXH3_64bits(records + i * size, size);
    return sum;
}

typedef struct keyed { /* a record */
    const unsigned char *at;
    size_t size;
} keyed;

static int compare_keyed(const void *a, const void *b)
{
    const keyed *x = a, *y = b;
    const int order = memcmp(x->at, y->at, x->size);
    return order ? order : (x->at < y->at) - (x->at > y->at);
}

/* Pairs records by their bytes. */
static at_status pair_exactly(const buffer_plan *plan, const void *found, const void *expected,
                              device_comparison *out, at_error *error)
{
    const size_t element = dtype_get(plan->type)->size_bytes, size = element * plan->record;
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
        out->first = (uint64_t)(extra - sides[0]) / element;
        memcpy(&out->found, extra, element);
        memcpy(&out->expected, missing, element);
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
    /* Three rows: the room that the first is sorted with is the second's after it. */
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
