#include "soft_float.h"

const soft_format soft_f16 = {5, 10, 0x7fff}, soft_bf16 = {8, 7, 0x7fff},
                  soft_f32 = {8, 23, 0x7fffffff}, soft_f64 = {11, 52, 0xfff8000000000000};

static int length_of(soft_bits m)
{
    int n = 0;
    for (; m; m >>= 1)
        n++;
    return n;
}

static int bias_of(const soft_format *f)
{
    return (1 << (f->exponent_bits - 1)) - 1;
}

static uint64_t infinity_of(const soft_format *f)
{
    return ((1ull << f->exponent_bits) - 1) << f->fraction_bits;
}

soft soft_unpack(const soft_format *f, uint64_t bits)
{
    uint64_t fraction = bits & ((1ull << f->fraction_bits) - 1);
    int exponent = (int)(bits >> f->fraction_bits & ((1ull << f->exponent_bits) - 1));
    soft v = {.negative = bits >> (f->fraction_bits + f->exponent_bits) & 1};
    if (exponent == (1 << f->exponent_bits) - 1) {
        v.nan = fraction != 0;
        v.infinite = fraction == 0;
        return v;
    }
    v.m = exponent ? fraction | 1ull << f->fraction_bits : fraction;
    v.exponent = (exponent ? exponent : 1) - bias_of(f) - f->fraction_bits;
    return v;
}

/* Returns whether a number rounds away from zero. `odd` is the last bit that is kept, and `half`
 * the first bit that is dropped. `rest` is whether any later bit is set. */
static bool away_from_zero(soft_rounding r, bool negative, bool odd, bool half, bool rest)
{
    switch (r) {
    case SOFT_ZERO:
        return false;
    case SOFT_DOWN:
        return negative && (half || rest);
    case SOFT_UP:
        return !negative && (half || rest);
    case SOFT_AWAY:
        return half;
    default:
        return half && (rest || odd);
    }
}

/* Returns m / 2^shift rounded to an integer. */
static soft_bits round_shift(soft v, int shift, soft_rounding r)
{
    if (shift <= 0)
        return (v.m << -shift) + away_from_zero(r, v.negative, v.m & 1, false, v.more);
    if (shift > 127)
        return away_from_zero(r, v.negative, false, false, v.m || v.more);
    soft_bits whole = v.m >> shift, rest = v.m & (((soft_bits)1 << (shift - 1)) - 1);
    bool half = v.m >> (shift - 1) & 1;
    return whole + away_from_zero(r, v.negative, whole & 1, half, rest || v.more);
}

uint64_t soft_pack(const soft_format *f, soft v, soft_rounding r)
{
    uint64_t sign = (uint64_t)v.negative << (f->exponent_bits + f->fraction_bits),
             infinity = infinity_of(f);
    if (v.nan)
        return f->nan;
    if (v.infinite)
        return sign | infinity;
    if (v.m == 0)
        return sign;
    int lead = v.exponent + length_of(v.m) - 1, least = 1 - bias_of(f);
    int unit = (lead > least ? lead : least) - f->fraction_bits;
    uint64_t bits = infinity;
    if (lead <= bias_of(f))
        bits = ((uint64_t)(unit - least + f->fraction_bits) << f->fraction_bits) +
               (uint64_t)round_shift(v, unit - v.exponent, r);
    if (bits >= infinity) {
        bool stays = r == SOFT_ZERO || r == (v.negative ? SOFT_UP : SOFT_DOWN);
        bits = stays ? infinity - 1 : infinity;
    }
    return sign | bits;
}

uint64_t soft_flush(const soft_format *f, uint64_t bits)
{
    uint64_t sign = 1ull << (f->exponent_bits + f->fraction_bits);
    return bits & infinity_of(f) ? bits : bits & sign;
}

soft soft_integer(integer v)
{
    return (soft){.negative = v < 0, .m = v < 0 ? -(soft_bits)v : (soft_bits)v};
}

soft soft_negate(soft a)
{
    a.negative = !a.negative;
    return a;
}

/* Shifts the number until its highest bit is at position 120. */
static soft normalised(soft v)
{
    int shift = 121 - length_of(v.m);
    if (shift < 0)
        v.m = v.m >> -shift | ((v.m & (((soft_bits)1 << -shift) - 1)) != 0);
    else
        v.m <<= shift;
    v.exponent -= shift;
    return v;
}

soft soft_add(soft a, soft b, soft_rounding r)
{
    if (a.nan || b.nan || (a.infinite && b.infinite && a.negative != b.negative))
        return (soft){.nan = true};
    if (a.infinite || b.infinite)
        return a.infinite ? a : b;
    if (a.m == 0 && b.m == 0) {
        a.negative = a.negative == b.negative ? a.negative : r == SOFT_DOWN;
        return a;
    }
    if (a.m == 0 || b.m == 0)
        return a.m == 0 ? b : a;
    a = normalised(a);
    b = normalised(b);
    if (a.exponent < b.exponent || (a.exponent == b.exponent && a.m < b.m)) {
        soft t = a;
        a = b;
        b = t;
    }
    int shift = a.exponent - b.exponent;
    /* The last bit stands for all dropped bits. It is far below the bits that decide the result. */
    soft_bits lost = shift > 127 ? b.m : b.m & (((soft_bits)1 << shift) - 1);
    b.m = (shift > 127 ? 0 : b.m >> shift) | (lost != 0);
    a.m = a.negative == b.negative ? a.m + b.m : a.m - b.m;
    if (a.m == 0)
        a.negative = r == SOFT_DOWN;
    return a;
}

soft soft_multiply(soft a, soft b)
{
    bool negative = a.negative != b.negative,
         zero = (!a.infinite && a.m == 0) || (!b.infinite && b.m == 0);
    if (a.nan || b.nan || (zero && (a.infinite || b.infinite)))
        return (soft){.nan = true};
    if (a.infinite || b.infinite)
        return (soft){.infinite = true, .negative = negative};
    return (soft){.negative = negative, .exponent = a.exponent + b.exponent, .m = a.m * b.m};
}

soft soft_divide(soft a, soft b)
{
    bool negative = a.negative != b.negative, a_zero = !a.infinite && a.m == 0,
         b_zero = !b.infinite && b.m == 0;
    if (a.nan || b.nan || (a.infinite && b.infinite) || (a_zero && b_zero))
        return (soft){.nan = true};
    if (a.infinite || b_zero)
        return (soft){.infinite = true, .negative = negative};
    if (b.infinite || a_zero)
        return (soft){.negative = negative};
    a = normalised(a);
    return (soft){.negative = negative,
                  .exponent = a.exponent - b.exponent,
                  .m = a.m / b.m,
                  .more = a.m % b.m != 0};
}

soft soft_root(soft a)
{
    if (a.nan || (a.negative && (a.infinite || a.m)))
        return (soft){.nan = true};
    if (a.infinite || a.m == 0)
        return a;
    a = normalised(a);
    if (a.exponent & 1) {
        a.m <<= 1;
        a.exponent--;
    }
    soft_bits root = 0;
    for (int bit = 62; bit >= 0; bit--) {
        soft_bits next = root | (soft_bits)1 << bit;
        if (next * next <= a.m)
            root = next;
    }
    return (soft){.exponent = a.exponent / 2, .m = root, .more = root * root != a.m};
}

int soft_compare(soft a, soft b)
{
    if (a.nan || b.nan)
        return 2;
    bool a_zero = !a.infinite && a.m == 0, b_zero = !b.infinite && b.m == 0;
    if (a_zero && b_zero)
        return 0;
    if (a.infinite && b.infinite && a.negative == b.negative)
        return 0;
    if (a.infinite)
        return a.negative ? -1 : 1;
    if (b.infinite)
        return b.negative ? 1 : -1;
    soft difference = soft_add(a, soft_negate(b), SOFT_NEAREST);
    return difference.m == 0 ? 0 : difference.negative ? -1 : 1;
}

integer soft_to_integer(soft v, soft_rounding r, integer least, integer most, integer nan)
{
    if (v.nan)
        return nan;
    if (v.infinite || (v.m && v.exponent + length_of(v.m) > 100))
        return v.negative ? least : most;
    integer whole = v.m == 0 ? 0 : (integer)round_shift(v, -v.exponent, r);
    if (v.negative)
        whole = -whole;
    return whole < least ? least : whole > most ? most : whole;
}
