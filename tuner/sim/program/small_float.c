#include "sim/program/small_float.h"

#include <math.h>

const small_float *small_float_of(ptx_type type)
{
    static const small_float f16 = {5, 10, 0, true}, bf16 = {8, 7, 0, true},
                             tf32 = {8, 10, 13, true}, e4m3 = {4, 3, 0, false},
                             e5m2 = {5, 2, 0, true};
    switch (type) {
    case PTX_F16:
    case PTX_F16X2:
        return &f16;
    case PTX_BF16:
    case PTX_BF16X2:
        return &bf16;
    case PTX_TF32:
        return &tf32;
    case PTX_E4M3X2:
        return &e4m3;
    case PTX_E5M2X2:
        return &e5m2;
    default:
        return NULL;
    }
}

/* Is a part between 0 and 1 of a unit, above the number `below`, rounded up? */
static bool rounds_up(double part, uint64_t below, bool negative, sim_rounding rounding)
{
    switch (rounding) {
    case SIM_ROUND_ZERO:
        return false;
    case SIM_ROUND_DOWN:
        return negative && part > 0.0;
    case SIM_ROUND_UP:
        return !negative && part > 0.0;
    case SIM_ROUND_AWAY:
        return part >= 0.5;
    default:
        return part > 0.5 || (part == 0.5 && (below & 1));
    }
}

uint32_t small_float_encode(const small_float *f, double v, sim_rounding rounding, bool finite)
{
    uint32_t ones = (1u << (f->exponent_bits + f->fraction_bits)) - 1,
             bias = (1u << (f->exponent_bits - 1)) - 1;
    uint32_t largest = f->has_infinity ? ones - (1u << f->fraction_bits) : ones - 1,
             beyond = largest + 1;
    bool negative = signbit(v);
    uint32_t sign = negative ? (ones + 1) << f->unused_bits : 0;
    if (isnan(v))
        return ones << f->unused_bits;
    v = fabs(v);
    uint64_t bits = beyond;
    int exponent;
    frexp(v, &exponent);
    exponent--; /* of v = 1.x * 2^exponent */
    if (v < ldexp(1.0, (int)bias + 2)) {
        int least = 1 - (int)bias, lead = exponent < least || v == 0.0 ? least : exponent;
        double units = ldexp(v, f->fraction_bits - lead), whole = floor(units);
        bits = (uint64_t)whole + rounds_up(units - whole, (uint64_t)whole, negative, rounding);
        if (lead > least || whole >= ldexp(1.0, f->fraction_bits))
            bits += (uint64_t)(lead - least) << f->fraction_bits;
    }
    if (bits > largest) {
        bool towards_zero =
            rounding == SIM_ROUND_ZERO || rounding == (negative ? SIM_ROUND_UP : SIM_ROUND_DOWN);
        bool was_infinite = isinf(v);
        bits = finite || (towards_zero && !was_infinite) ? largest : beyond;
    }
    return sign | (uint32_t)bits << f->unused_bits;
}

double small_float_value(const small_float *f, uint32_t bits)
{
    bits >>= f->unused_bits;
    uint32_t ones = (1u << (f->exponent_bits + f->fraction_bits)) - 1, magnitude = bits & ones;
    uint32_t fraction = magnitude & ((1u << f->fraction_bits) - 1),
             exponent = magnitude >> f->fraction_bits;
    int bias = (1 << (f->exponent_bits - 1)) - 1;
    double v;
    if (f->has_infinity && exponent == (1u << f->exponent_bits) - 1)
        v = fraction ? NAN : INFINITY;
    else if (magnitude == ones)
        v = NAN;
    else if (exponent == 0)
        v = ldexp(fraction, 1 - bias - f->fraction_bits);
    else
        v = ldexp(fraction + (1u << f->fraction_bits), (int)exponent - bias - f->fraction_bits);
    return bits & (ones + 1) ? -v : v;
}
