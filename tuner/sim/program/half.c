#include <math.h>

#include "base/bits.h"
#include "sim/program/operations.h"

/* a * b + c rounded to odd in double: the product of two short numbers is exact, the sum's error
 * is found by Knuth's two-sum. */
static double fma_to_odd(float a, float b, float c)
{
    double p = (double)a * b, s = p + c;
    if (isnan(s) || isinf(s))
        return s;
    double t = s - p, error = (p - (s - t)) + (c - t);
    uint64_t bits = bits_of_double(s);
    if (error != 0.0 && !(bits & 1))
        bits += (error > 0) == (s > 0) ? 1 : UINT64_MAX;
    return double_of_bits(bits);
}

static float min_of(float a, float b)
{
    return isnan(a) ? b : isnan(b) ? a : a == b ? (signbit(a) ? a : b) : a < b ? a : b;
}

static float max_of(float a, float b)
{
    return isnan(a) ? b : isnan(b) ? a : a == b ? (signbit(a) ? b : a) : a > b ? a : b;
}

/* .xorsign.abs: the extreme of the magnitudes, whose sign is the product's. */
static uint16_t product_sign(uint16_t a, uint16_t b, uint16_t extreme)
{
    if (extreme == 0x7fffu) /* NaN has no sign */
        return extreme;
    return (extreme & 0x7fffu) | ((a ^ b) & 0x8000u);
}

static float propagate(float a, float b, float v)
{
    return isnan(a) || isnan(b) ? (float)NAN : v;
}

static float relu(float v)
{
    return v > 0.0f ? v : isnan(v) ? v : 0.0f;
}

static float saturate(float v)
{
    return v > 1.0f ? 1.0f : v > 0.0f ? v : 0.0f;
}

#define LO(x) ((uint16_t)(x))
#define HI(x) ((uint16_t)((x) >> 16))
/* The bits of a half but for its sign. */
#define MAGNITUDE(x) ((uint16_t)((x)&0x7fffu))
#define PAIR(low, high) ((uint32_t)(low) | (uint32_t)(high) << 16)

/* Sums and products of 11-bit (8-bit) significands rounded first to float's 24 bits round to the
 * right half (bfloat16): Figueroa, "When is double rounding innocuous?" (1995). */
#define SIM_TABLE sim_half_operations
#define SIM_ROWS_HALF
#include "sim/program/rows.h"
