/* Operations on floats. The rows of sim/instructions.def use the functions of this file. */
#include <fenv.h>
#include <math.h>

#include "base/bits.h"
#include "sim/program/operations.h"

/* A result was rounded to the smallest normal number `least`. Returns whether rounding with
 * unbounded exponents would give a number below `least`; such numbers are `unit` apart. For
 * rounding to nearest, the exact result must be below `least` by more than half a unit. For
 * directed rounding, which yields `least` only away from zero, it must be below by at least a unit.
 * An H100 agrees for a million products and sums of floats and for all products of halves. */
static bool was_tiny(sim_tiny how, double least, double unit, float a, float b, float c)
{
    const bool directed = how & SIM_TINY_DIRECTED;
    const double limit = least - (directed ? unit : unit / 2);
    double p = (double)a * b, s = p + c, t = s - p,
           error = (p - (s - t)) + (c - t), /* Knuth's two-sum */
        size = 0, bound = limit, more = 0;
    switch (how & ~SIM_TINY_DIRECTED) {
    case SIM_TINY_PRODUCT:
        size = fabs(p);
        break;
    case SIM_TINY_SUM:
        size = fabs(s);
        more = s < 0.0 ? -error : error;
        break;
    case SIM_TINY_QUOTIENT:
        size = fabs((double)a);
        bound = fabs((double)b) * limit;
        break;
    case SIM_TINY_RECIPROCAL:
        size = 1.0;
        bound = fabs((double)a) * limit;
        break;
    default:
        return false;
    }
    return size < bound || (size == bound && (more < 0.0 || (directed && more == 0.0)));
}

static void flush_tiny_floats(sim_tiny how, const uint32_t *const sources[3], uint32_t *lanes)
{
    uint32_t any = 0;
    SIM_EACH_LANE(l) any |= (lanes[l] & 0x7fffffffu) == 0x00800000u;
    for (int l = 0; any && l < SIM_LANES; l++)
        if ((lanes[l] & 0x7fffffffu) == 0x00800000u &&
            was_tiny(how, 0x1p-126, 0x1p-150, float_of_bits(sources[0][l]),
                     float_of_bits(sources[1][l]), float_of_bits(sources[2][l])))
            lanes[l] &= 0x80000000u;
}

static void flush_tiny_halves(sim_tiny how, const uint32_t *const sources[3], uint32_t *lanes)
{
    for (int i = 0; i < 2 * SIM_LANES; i++) {
        int l = i / 2, at = i % 2 * 16;
        float operands[3];
        if ((lanes[l] >> at & 0x7fffu) != 0x0400u)
            continue;
        for (int k = 0; k < 3; k++)
            operands[k] = half_to_float((uint16_t)(sources[k][l] >> at));
        if (was_tiny(how, 0x1p-14, 0x1p-25, operands[0], operands[1], operands[2]))
            lanes[l] &= ~(0x7fffu << at);
    }
}

void sim_flush_tiny(sim_flush what, sim_tiny how, const uint32_t *const sources[3], uint32_t *lanes)
{
    if (what == SIM_FLUSH_FLOATS)
        flush_tiny_floats(how, sources, lanes);
    else if (what == SIM_FLUSH_HALVES)
        flush_tiny_halves(how, sources, lanes);
}

void sim_flush_lanes(sim_flush what, uint32_t *lanes)
{
    const uint32_t exponent = what == SIM_FLUSH_HALVES ? 0x7c00u : 0x7f80u;
    if (what == SIM_FLUSH_FLOATS)
        SIM_EACH_LANE(l) lanes[l] = lanes[l] & 0x7f800000u ? lanes[l] : lanes[l] & 0x80000000u;
    else
        SIM_EACH_LANE(l)
    lanes[l] &= (lanes[l] & exponent ? 0xffffu : 0x8000u) |
                (lanes[l] & exponent << 16 ? 0xffff0000u : 0x80000000u);
}

/* min and max return the operand that is a number if the other is NaN; -0 is below +0. */
#define EXTREME(name, T, is_min, first)                                                            \
    static T name(T a, T b)                                                                        \
    {                                                                                              \
        if (a == b)                                                                                \
            return (signbit(a) != 0) == (is_min) ? a : b;                                          \
        return a != a ? b : b != b || a first b ? a : b;                                           \
    }
EXTREME(min_float, float, true, <)
EXTREME(max_float, float, false, >)
EXTREME(min_double, double, true, <)
EXTREME(max_double, double, false, >)

static float either_nan(float a, float b, float otherwise)
{
    return a != a || b != b ? float_of_bits(SIM_NAN_FLOAT) : otherwise;
}

/* .xorsign.abs: returns `extreme` (of the magnitudes) with the sign of the product. */
static float product_sign(float a, float b, float extreme)
{
    if (extreme != extreme)
        return extreme;
    return float_of_bits((bits_of_float(extreme) & 0x7fffffffu) |
                         ((bits_of_float(a) ^ bits_of_float(b)) & 0x80000000u));
}

/* The conversion to float turns a result out of range into infinity or zero. */
static float exp2_approx(float a)
{
    return (float)exp2((double)a);
}

/* PTX ISA, "div.approx": for divisors beyond 2^126 the reciprocal is zero. */
static float divide_approx(float a, float b)
{
    return fabsf(b) > 0x1p126f ? a * copysignf(0.0f, b) : a / b;
}

/* PTX ISA, "rcp.approx.ftz.f64" and "rsqrt.approx.ftz.f64": the GPU reads and writes only the upper
 * halves of doubles. Subnormal doubles count as zeros. */
static double coarse(double v)
{
    double upper = double_of_bits(bits_of_double(v) & 0xffffffff00000000u);
    return fabs(upper) < 0x1p-1022 ? copysign(0.0, v) : upper;
}

static double coarse_result(double v)
{
    return v == v ? coarse(v) : double_of_bits(0x7fffffff00000000u);
}

/* Returns v, the result of a * b + c. If v is NaN, returns the first of b, c and a that is NaN. */
static double fused_nan(double v, double a, double b, double c)
{
    return sim_double(v, b, c == c ? a : c);
}

#define R sim_float
#define OF_MAGNITUDES(f) product_sign(a[l], b[l], f(fabsf(a[l]), fabsf(b[l])))

#define FMA_LANES(name, function)                                                                  \
    static void name(void *restrict to, const void *const sources[4])                              \
    {                                                                                              \
        float *restrict d = to;                                                                    \
        const float *a = sources[0], *b = sources[1], *c = sources[2];                             \
        SIM_EACH_LANE(l) d[l] = R(function(a[l], b[l], c[l]));                                     \
    }
#if defined(__x86_64__) && defined(__GNUC__)
FMA_LANES(fma_f32_portable, fmaf)
/* The baseline of x86-64 has no fused multiply-add: each lane would call fmaf(). */
__attribute__((target("avx2,fma"))) FMA_LANES(fma_f32_vector, __builtin_fmaf)

    static void fma_f32(void *restrict d, const void *const sources[4])
{
    if (__builtin_cpu_supports("fma") && __builtin_cpu_supports("avx2"))
        fma_f32_vector(d, sources);
    else
        fma_f32_portable(d, sources);
}
#else
FMA_LANES(fma_f32, fmaf)
#endif

/* Packed floats (f32x2, from sm_100 on): a 64-bit register holds two floats. */
static float half_of(uint64_t pair, int which)
{
    return float_of_bits((uint32_t)(pair >> (32 * which)));
}

static uint64_t pair_of(float low, float high)
{
    return bits_of_float(R(low)) | (uint64_t)bits_of_float(R(high)) << 32;
}

/* Halves and bfloat16: each half is computed as a float, whose result is rounded again. */

/* Returns a * b + c, rounded to odd. Products of halves are exact; the sum's error is computed. */
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

/* Does the same as product_sign() for halves. */
static uint16_t product_sign_half(uint16_t a, uint16_t b, uint16_t extreme)
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
#define MAGNITUDE(x) ((uint16_t)((x)&0x7fffu))
#define PAIR(low, high) ((uint32_t)(low) | (uint32_t)(high) << 16)

/* Halves are computed as floats. Rounding to 24 bits before 11 or 8 bits does no harm: Figueroa,
 * "When is double rounding innocuous?" (1995). */
#define SIM_TABLE sim_float_operations
#define SIM_ROWS_FLOAT
#include "sim/program/rows.h"
