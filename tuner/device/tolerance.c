#include "device/tolerance.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/bits.h"

tolerance tolerance_of(double limit)
{
    return (tolerance){.kind = limit == 0 ? TOLERANCE_EXACT : TOLERANCE_SCALED, .limit = limit};
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
    /* 0.29 of 100 is 29, though the nearest double to 0.29 is less. */
    const double share = t.mismatches * (double)count * (1 + 0x1p-50);
    return (uint64_t)(t.mismatches < 1 ? floor(share) : t.mismatches);
}

void tolerance_tell(tolerance t, char text[TOLERANCE_TEXT_BYTES])
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
    uint8_t u8;
    int16_t s16;
    uint16_t u16;
    int32_t s32;
    uint32_t u32;
    int64_t s64;
    uint64_t u64;
    float f;
    double d;
} element;

static element load(dtype type, const void *bytes)
{
    element v = {.u64 = 0};
    memcpy(&v, bytes, dtype_get(type)->size_bytes);
    return v;
}

static double value_of(dtype type, element v)
{
    switch (type) {
    case DTYPE_INT8:
        return v.s8;
    case DTYPE_UINT8:
        return v.u8;
    case DTYPE_INT16:
        return v.s16;
    case DTYPE_UINT16:
        return v.u16;
    case DTYPE_INT32:
        return v.s32;
    case DTYPE_UINT32:
        return v.u32;
    case DTYPE_INT64:
        return (double)v.s64;
    case DTYPE_UINT64:
        return (double)v.u64;
    case DTYPE_HALF:
        return half_to_float(v.u16);
    case DTYPE_BFLOAT16:
        return bfloat_to_float(v.u16);
    case DTYPE_FLOAT:
        return v.f;
    default:
        return v.d;
    }
}

/* 64-bit integers are rounded. */
static double element_value(dtype type, const void *bytes)
{
    return value_of(type, load(type, bytes));
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

/* So many digits tell any two numbers of a type apart (IEEE 754-2019, 5.12.2): 1 + ceil(p *
 * log10(2)) for p bits of significand. */
static int digits_of(dtype type)
{
    return type == DTYPE_HALF ? 5 : type == DTYPE_BFLOAT16 ? 4 : type == DTYPE_FLOAT ? 9 : 17;
}

void element_tell(dtype type, const void *bytes, char text[ELEMENT_TEXT_BYTES])
{
    const element v = load(type, bytes);
    const size_t size = dtype_get(type)->size_bytes;
    if (!dtype_get(type)->is_float && is_signed(type))
        snprintf(text, ELEMENT_TEXT_BYTES, "%" PRId64, signed_value(type, v));
    else if (!dtype_get(type)->is_float)
        snprintf(text, ELEMENT_TEXT_BYTES, "%" PRIu64, v.u64);
    else if (isnan(value_of(type, v)))
        snprintf(text, ELEMENT_TEXT_BYTES, "nan (0x%0*" PRIx64 ")", (int)(2 * size), v.u64);
    else
        snprintf(text, ELEMENT_TEXT_BYTES, "%.*g", digits_of(type), value_of(type, v));
    if (size == 1)
        snprintf(text + strlen(text), ELEMENT_TEXT_BYTES - strlen(text), " (0x%02x)",
                 (unsigned)v.u8);
}

double element_magnitude(dtype type, const void *elements, uint64_t count)
{
    const unsigned char *bytes = elements;
    size_t size = dtype_get(type)->size_bytes;
    double largest = 0;
    for (uint64_t i = 0; i < count; i++) {
        double magnitude = fabs(element_value(type, bytes + i * size));
        if (isfinite(magnitude) && magnitude > largest)
            largest = magnitude;
    }
    return largest;
}

/* Sign and magnitude to a place on one line: neighbours differ by 1, and both zeros are one
 * place. */
static uint64_t place_of_float(uint64_t bits, int width)
{
    const uint64_t middle = UINT64_C(1) << 63, sign = UINT64_C(1) << (width - 1);
    return bits & sign ? middle - (bits & (sign - 1)) : middle + bits;
}

static uint64_t place_of(dtype type, element v)
{
    const uint64_t middle = UINT64_C(1) << 63;
    switch (type) {
    case DTYPE_INT8:
        return middle + (uint64_t)v.s8;
    case DTYPE_UINT8:
        return v.u8;
    case DTYPE_INT16:
        return middle + (uint64_t)v.s16;
    case DTYPE_UINT16:
        return v.u16;
    case DTYPE_INT32:
        return middle + (uint64_t)v.s32;
    case DTYPE_UINT32:
        return v.u32;
    case DTYPE_INT64:
        return middle + (uint64_t)v.s64;
    case DTYPE_HALF:
    case DTYPE_BFLOAT16:
        return place_of_float(v.u16, 16);
    case DTYPE_FLOAT:
        return place_of_float(v.u32, 32);
    case DTYPE_DOUBLE:
        return place_of_float(v.u64, 64);
    default:
        return v.u64;
    }
}

bool tolerance_accepts(tolerance t, double magnitude, dtype type, const void *found,
                       const void *expected)
{
    const element f = load(type, found), e = load(type, expected);
    if (t.kind == TOLERANCE_EXACT)
        return f.u64 == e.u64;
    const double x = value_of(type, f), y = value_of(type, e);
    const uint64_t a = place_of(type, f), b = place_of(type, e), steps = a > b ? a - b : b - a;
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
