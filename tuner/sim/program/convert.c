#include <fenv.h>
#include <math.h>
#include <string.h>

#include "base/bits.h"
#include "sim/program/operations.h"

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

/* Returns whether the magnitude `below` + `part`, with `part` less than 1, is rounded up. */
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
    exponent--; /* v = 1.x * 2^exponent */
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

/* A conversion reads the source into the widest type of its domain and rounds before it writes. */
typedef enum domain { DOMAIN_NONE, DOMAIN_SIGNED, DOMAIN_UNSIGNED, DOMAIN_FLOAT } domain;

static const struct {
    domain domain;
    int bits;
} kinds[PTX_TYPE_COUNT] = {
    [PTX_U8] = {DOMAIN_UNSIGNED, 8},   [PTX_S8] = {DOMAIN_SIGNED, 8},
    [PTX_U16] = {DOMAIN_UNSIGNED, 16}, [PTX_S16] = {DOMAIN_SIGNED, 16},
    [PTX_U32] = {DOMAIN_UNSIGNED, 32}, [PTX_S32] = {DOMAIN_SIGNED, 32},
    [PTX_U64] = {DOMAIN_UNSIGNED, 64}, [PTX_S64] = {DOMAIN_SIGNED, 64},
    [PTX_B8] = {DOMAIN_UNSIGNED, 8},   [PTX_B16] = {DOMAIN_UNSIGNED, 16},
    [PTX_B32] = {DOMAIN_UNSIGNED, 32}, [PTX_B64] = {DOMAIN_UNSIGNED, 64},
    [PTX_F16] = {DOMAIN_FLOAT, 16},    [PTX_BF16] = {DOMAIN_FLOAT, 16},
    [PTX_F32] = {DOMAIN_FLOAT, 32},    [PTX_F64] = {DOMAIN_FLOAT, 64},
    [PTX_TF32] = {DOMAIN_FLOAT, 32},   [PTX_E4M3X2] = {DOMAIN_FLOAT, 8},
    [PTX_E5M2X2] = {DOMAIN_FLOAT, 8},
};

static void read_integers(ptx_type from, int64_t *restrict v, const void *a)
{
    const uint32_t *w = a;
    const int unused = 64 - kinds[from].bits;
    if (unused == 0)
        memcpy(v, a, SIM_LANES * sizeof *v);
    else if (kinds[from].domain == DOMAIN_SIGNED)
        SIM_EACH_LANE(l) v[l] = (int64_t)((uint64_t)w[l] << unused) >> unused;
    else
        SIM_EACH_LANE(l) v[l] = (int64_t)((uint64_t)w[l] << unused >> unused);
}

static void read_floats(ptx_type from, bool flush, double *restrict v, const void *a)
{
    const uint32_t *w = a;
    const float *f = a;
    const double *g = a;
    switch (from) {
    case PTX_F16:
        SIM_EACH_LANE(l) v[l] = half_to_float((uint16_t)w[l]);
        break;
    case PTX_BF16:
        SIM_EACH_LANE(l) v[l] = bfloat_to_float((uint16_t)w[l]);
        break;
    case PTX_E4M3X2:
    case PTX_E5M2X2:
        SIM_EACH_LANE(l) v[l] = small_float_value(small_float_of(from), w[l]);
        break;
    case PTX_F32:
        SIM_EACH_LANE(l) v[l] = flush && fabsf(f[l]) < 0x1p-126f ? copysign(0.0, f[l]) : f[l];
        break;
    default:
        SIM_EACH_LANE(l) v[l] = g[l];
        break;
    }
}

/* Writes the low bits. 16-bit integers and unsigned bytes are zero-extended; signed bytes are
 * sign-extended. */
static void write_integers(ptx_type to, void *restrict d, const int64_t *v)
{
    uint32_t *w = d;
    const uint32_t mask = kinds[to].bits < 32 ? (1u << kinds[to].bits) - 1 : UINT32_MAX;
    if (kinds[to].bits == 64)
        memcpy(d, v, SIM_LANES * sizeof *v);
    else if (to == PTX_S8)
        SIM_EACH_LANE(l) w[l] = (uint32_t)(int8_t)v[l];
    else
        SIM_EACH_LANE(l) w[l] = (uint32_t)v[l] & mask;
}

/* Clamps to the range of the destination. `is_unsigned` says how the 64 bits of v are read. */
static int64_t clamp(int64_t v, bool is_unsigned, domain to, int bits)
{
    if (to == DOMAIN_UNSIGNED) {
        if (!is_unsigned && v < 0)
            return 0;
        uint64_t top = bits == 64 ? UINT64_MAX : (1ull << bits) - 1;
        return (uint64_t)v > top ? (int64_t)top : v;
    }
    int64_t top = bits == 64 ? INT64_MAX : ((int64_t)1 << (bits - 1)) - 1;
    if (is_unsigned && v < 0)
        return top;
    return v > top ? top : v < -top - 1 ? -top - 1 : v;
}

static double round_integral(double v, sim_rounding rounding)
{
    switch (rounding) {
    case SIM_ROUND_INTEGER_NEAREST:
        return rint(v);
    case SIM_ROUND_INTEGER_DOWN:
        return floor(v);
    case SIM_ROUND_INTEGER_UP:
        return ceil(v);
    default:
        return trunc(v);
    }
}

/* Converts v, clamped to the range. NaN becomes 0, or only the top bit if `wide` (the source or the
 * destination has 64 bits): PTX ISA, "cvt". */
static int64_t float_to_integer(double v, domain to, int bits, bool wide)
{
    if (isnan(v))
        return wide ? (int64_t)(1ull << (bits - 1)) : 0;
    if (to == DOMAIN_UNSIGNED) {
        if (v <= 0.0)
            return 0;
        if (v >= ldexp(1.0, bits))
            return bits == 64 ? -1 : (int64_t)((1ull << bits) - 1);
        return (int64_t)(uint64_t)v;
    }
    double top = ldexp(1.0, bits - 1);
    if (v >= top)
        return bits == 64 ? INT64_MAX : (int64_t)top - 1;
    return v < -top ? (bits == 64 ? INT64_MIN : -(int64_t)top) : (int64_t)v;
}

/* Returns the rounding mode of the host. SIM_ROUND_NONE rounds to nearest. */
static int host_rounding(sim_rounding r)
{
    static const int modes[] = {[SIM_ROUND_ZERO] = FE_TOWARDZERO,
                                [SIM_ROUND_DOWN] = FE_DOWNWARD,
                                [SIM_ROUND_UP] = FE_UPWARD};
    return r >= SIM_ROUND_ZERO && r <= SIM_ROUND_UP ? modes[r] : FE_TONEAREST;
}

/* Converts a double that is NaN: keeps the sign and the top bits of the payload. */
static uint32_t encode_small_nan(double v, const small_float *f)
{
    uint64_t bits = bits_of_double(v), exponent = (1ull << f->exponent_bits) - 1;
    return (uint32_t)(bits >> 63 << 15 | exponent << f->fraction_bits |
                      1ull << (f->fraction_bits - 1) |
                      (bits & ((1ull << 52) - 1)) >> (52 - f->fraction_bits));
}

static uint32_t encode_small(const sim_conversion *c, double v)
{
    if (isnan(v) && c->from == PTX_F64)
        return encode_small_nan(v, small_float_of(c->to));
    const bool is_nearest =
        host_rounding(c->rounding) == FE_TONEAREST && c->rounding != SIM_ROUND_AWAY && !c->finite;
    if (is_nearest && c->to == PTX_F16)
        return half_from_double(v);
    if (is_nearest && c->to == PTX_BF16)
        return bfloat_from_double(v);
    return small_float_encode(small_float_of(c->to), v, c->rounding,
                              c->finite || kinds[c->to].bits == 8);
}

/* Writes lane l. The caller has set the rounding mode of the host. */
static void write_float(const sim_conversion *c, void *restrict d, int l, double v)
{
    if (c->saturate)
        v = v > 1.0 ? 1.0 : v > 0.0 ? v : 0.0;
    if (c->relu && (v < 0.0 || v == 0.0))
        v = 0.0;
    if (c->to == PTX_F64) {
        /* With .ftz, the GPU adds 32-bit floats, so a NaN becomes the NaN of float arithmetic. */
        ((double *)d)[l] =
            isnan(v) && c->flush ? (double)float_of_bits(SIM_NAN_FLOAT) : sim_quiet(v);
    } else if (c->to == PTX_F32) {
        float f = c->from == PTX_F64 ? (float)v : sim_float((float)v);
        ((float *)d)[l] = c->flush && fabsf(f) < 0x1p-126f ? copysignf(0.0f, f) : f;
    } else {
        ((uint32_t *)d)[l] = encode_small(c, v);
    }
}

/* Converts an integer to a double, rounding to odd: the dropped bits are combined into the last
 * bit. Then a second rounding to fewer bits has the right result (to_odd() in base/bits.c). */
static double double_to_odd(int64_t v, bool is_unsigned)
{
    bool negative = !is_unsigned && v < 0;
    uint64_t magnitude = negative ? 0 - (uint64_t)v : (uint64_t)v;
    if (magnitude >> 53)
        magnitude = (magnitude >> 11 | ((magnitude & 0x7ff) != 0)) << 11;
    return negative ? -(double)magnitude : (double)magnitude;
}

static void integer_to_float(const sim_conversion *c, void *restrict d, const int64_t *v)
{
    bool is_unsigned = kinds[c->from].domain == DOMAIN_UNSIGNED;
    int mode = host_rounding(c->rounding);
    if (mode != FE_TONEAREST)
        fesetround(mode);
    SIM_EACH_LANE(l)
    {
        volatile int64_t s = v[l];
        if (c->to != PTX_F64)
            write_float(c, d, l, double_to_odd(s, is_unsigned));
        else
            write_float(c, d, l, is_unsigned ? (double)(uint64_t)s : (double)s);
    }
    if (mode != FE_TONEAREST)
        fesetround(FE_TONEAREST);
}

static void float_to_float(const sim_conversion *c, void *restrict d, double *v)
{
    if (c->rounding >= SIM_ROUND_INTEGER_NEAREST)
        SIM_EACH_LANE(l) v[l] = round_integral(v[l], c->rounding);
    int mode = host_rounding(c->rounding);
    if (mode != FE_TONEAREST)
        fesetround(mode);
    SIM_EACH_LANE(l)
    {
        volatile double s = v[l];
        write_float(c, d, l, s);
    }
    if (mode != FE_TONEAREST)
        fesetround(FE_TONEAREST);
}

/* Returns whether an H100 keeps the payload of NaN (rna.tf32 drops its low bits). */
static bool moves_bits(const sim_conversion *c)
{
    if (c->to == PTX_TF32 && c->rounding == SIM_ROUND_AWAY)
        return true;
    if (c->rounding != SIM_ROUND_NONE || c->flush || c->saturate || c->relu)
        return false;
    return (c->to == PTX_F64 && c->from == PTX_F64) ||
           (c->to == PTX_F32 && (c->from == PTX_F32 || c->from == PTX_BF16));
}

static void keep_nan(const sim_conversion *c, void *restrict d, const void *a)
{
    uint32_t *w = d, kept = c->to == PTX_TF32 ? 0xffffe000u : UINT32_MAX;
    uint64_t *x = d;
    const uint32_t *from = a;
    if (c->to == PTX_F64)
        SIM_EACH_LANE(l) x[l] = isnan(((const double *)a)[l]) ? ((const uint64_t *)a)[l] : x[l];
    else
        SIM_EACH_LANE(l)
        {
            uint32_t v = from[l] << (c->from == PTX_BF16 ? 16 : 0);
            w[l] = (v & 0x7fffffffu) > 0x7f800000u ? v & kept : w[l];
        }
}

bool sim_conversion_exists(ptx_type to, ptx_type from)
{
    return kinds[to].domain != DOMAIN_NONE && kinds[from].domain != DOMAIN_NONE;
}

void sim_convert(const sim_conversion *c, void *restrict d, const void *a)
{
    domain dt = kinds[c->to].domain, df = kinds[c->from].domain;
    int64_t integers[SIM_LANES];
    double floats[SIM_LANES];
    if (df == DOMAIN_FLOAT) {
        read_floats(c->from, c->flush, floats, a);
        if (dt == DOMAIN_FLOAT) {
            float_to_float(c, d, floats);
            if (moves_bits(c))
                keep_nan(c, d, a);
            return;
        }
        bool wide = c->from == PTX_F64 || kinds[c->to].bits == 64;
        SIM_EACH_LANE(l)
        integers[l] =
            float_to_integer(round_integral(floats[l], c->rounding), dt, kinds[c->to].bits, wide);
    } else {
        read_integers(c->from, integers, a);
        if (dt == DOMAIN_FLOAT) {
            integer_to_float(c, d, integers);
            return;
        }
        if (c->saturate)
            SIM_EACH_LANE(l)
        integers[l] = clamp(integers[l], df == DOMAIN_UNSIGNED, dt, kinds[c->to].bits);
    }
    write_integers(c->to, d, integers);
}
