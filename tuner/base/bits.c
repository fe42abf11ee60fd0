#include "base/bits.h"

#include <math.h>

float half_to_float(uint16_t h)
{
    uint32_t sign = (uint32_t)(h & 0x8000u) << 16, exponent = h >> 10 & 0x1f, mantissa = h & 0x3ff;
    if (exponent == 31)
        return float_of_bits(sign | 0x7f800000u | mantissa << 13);
    if (exponent == 0) {
        float v = (float)mantissa * 0x1p-24f;
        return sign ? -v : v;
    }
    return float_of_bits(sign | (exponent + 112) << 23 | mantissa << 13);
}

/* Rounds a double to a float by rounding to odd: the last bit is set if the result is inexact.
 * Rounding that float to a half or bfloat16 then gives the same as rounding the double (Boldo &
 * Melquiond, "Emulation of FMA and correctly rounded sums", 2008). */
static float to_odd(double v)
{
    float f = (float)v;
    if ((double)f == v || isnan(v) || isinf(f))
        return isinf(f) && !isinf(v) ? copysignf(0x1.fffffep127f, f) : f;
    if (fabs((double)f) > fabs(v))
        f = float_of_bits(bits_of_float(f) - 1);
    return float_of_bits(bits_of_float(f) | 1);
}

uint16_t half_from_float(float v)
{
    uint32_t b = bits_of_float(v), sign = b >> 16 & 0x8000u, magnitude = b & 0x7fffffffu;
    if (magnitude > 0x7f800000u)
        return 0x7fff;
    if (magnitude >= 0x477ff000u) /* 65520 and above round to infinity */
        return (uint16_t)(sign | 0x7c00u);
    if (magnitude < 0x38800000u) { /* below 2^-14: subnormal, in units of 2^-24 */
        float scaled = float_of_bits(magnitude) * 0x1p24f;
        return (uint16_t)(sign | (uint32_t)lrintf(scaled));
    }
    uint32_t rounded = magnitude + 0xfffu + (magnitude >> 13 & 1);
    return (uint16_t)(sign | ((rounded - 0x38000000u) >> 13));
}

uint16_t half_from_double(double v)
{
    return half_from_float(to_odd(v));
}

float bfloat_to_float(uint16_t b)
{
    return float_of_bits((uint32_t)b << 16);
}

uint16_t bfloat_from_float(float v)
{
    uint32_t b = bits_of_float(v);
    if ((b & 0x7fffffffu) > 0x7f800000u)
        return 0x7fff;
    return (uint16_t)((b + 0x7fffu + (b >> 16 & 1)) >> 16);
}

uint16_t bfloat_from_double(double v)
{
    return bfloat_from_float(to_odd(v));
}
