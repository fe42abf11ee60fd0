#include <fenv.h>
#include <math.h>

#include "base/bits.h"
#include "base/half.h"
#include "sim/program/operations.h"

/* Is the result below `least` where exponents have no end? Numbers there are `unit` apart, so that
 * it is where the exact one is below least by more than half of that; by all of it, where it was
 * rounded away from zero: any other direction gives no `least`. On an H100 so it is with a million
 * products and sums of floats, and with all products of halves. */
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

/* min and max return the operand that is a number; -0 is below +0. */
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

/* .xorsign.abs: the extreme of the magnitudes, whose sign is the product's. */
static float product_sign(float a, float b, float extreme)
{
    if (extreme != extreme)
        return extreme;
    return float_of_bits((bits_of_float(extreme) & 0x7fffffffu) |
                         ((bits_of_float(a) ^ bits_of_float(b)) & 0x80000000u));
}

/* Powers of two beyond a float's range come out as infinity or zero of the host's conversion. */
static float exp2_approx(float a)
{
    return (float)exp2((double)a);
}

/* PTX ISA, div.approx: beyond 2^126 the divisor's reciprocal is zero. */
static float divide_approx(float a, float b)
{
    return fabsf(b) > 0x1p126f ? a * copysignf(0.0f, b) : a / b;
}

/* PTX ISA, rcp.approx.ftz.f64 and rsqrt.approx.ftz.f64: of doubles their upper halves are read and
 * written, and subnormal ones are zeros. */
static double coarse(double v)
{
    double upper = double_of_bits(bits_of_double(v) & 0xffffffff00000000u);
    return fabs(upper) < 0x1p-1022 ? copysign(0.0, v) : upper;
}

static double coarse_result(double v)
{
    return v == v ? coarse(v) : double_of_bits(0x7fffffff00000000u);
}

/* a * b + c: where several are NaN, b goes before c and c before a. */
static double fused_nan(double v, double a, double b, double c)
{
    return sim_double(v, b, c == c ? a : c);
}

#define R sim_float
#define F float
#define G double
SIM_OP2(add_f32, F, F, F, R(a[l] + b[l]))
SIM_OP2(sub_f32, F, F, F, R(a[l] - b[l]))
SIM_OP2(mul_f32, F, F, F, R(a[l] * b[l]))
SIM_OP2(div_f32, F, F, F, R(a[l] / b[l]))
SIM_OP2(div_approx_f32, F, F, F, R(divide_approx(a[l], b[l])))
SIM_OP2(min_f32, F, F, F, R(min_float(a[l], b[l])))
SIM_OP2(max_f32, F, F, F, R(max_float(a[l], b[l])))
SIM_OP2(min_nan_f32, F, F, F, R(either_nan(a[l], b[l], min_float(a[l], b[l]))))
SIM_OP2(max_nan_f32, F, F, F, R(either_nan(a[l], b[l], max_float(a[l], b[l]))))
#define OF_MAGNITUDES(f) product_sign(a[l], b[l], f(fabsf(a[l]), fabsf(b[l])))
SIM_OP2(min_xor_f32, F, F, F, R(OF_MAGNITUDES(min_float)))
SIM_OP2(max_xor_f32, F, F, F, R(OF_MAGNITUDES(max_float)))
SIM_OP2(min_nan_xor_f32, F, F, F, R(either_nan(a[l], b[l], OF_MAGNITUDES(min_float))))
SIM_OP2(max_nan_xor_f32, F, F, F, R(either_nan(a[l], b[l], OF_MAGNITUDES(max_float))))
SIM_OP1(neg_f32, F, F, R(-a[l]))
SIM_OP1(abs_f32, F, F, R(fabsf(a[l])))
SIM_OP1(rcp_f32, F, F, R(1.0f / a[l]))
SIM_OP1(sqrt_f32, F, F, R(sqrtf(a[l])))
SIM_OP1(rsqrt_f32, F, F, R((F)(1.0 / sqrt((G)a[l]))))
SIM_OP1(sin_f32, F, F, R((F)sin((G)a[l])))
SIM_OP1(cos_f32, F, F, R((F)cos((G)a[l])))
SIM_OP1(lg2_f32, F, F, R((F)log2((G)a[l])))
SIM_OP1(ex2_f32, F, F, R(exp2_approx(a[l])))
SIM_OP1(tanh_f32, F, F, R((F)tanh((G)a[l])))
SIM_OP2(copysign_f32, F, F, F, copysignf(b[l], a[l]))
SIM_OP2(add_f64, G, G, G, sim_double(a[l] + b[l], b[l], a[l]))
SIM_OP2(sub_f64, G, G, G, sim_double(a[l] - b[l], b[l], a[l]))
SIM_OP2(mul_f64, G, G, G, sim_double(a[l] * b[l], b[l], a[l]))
SIM_OP2(div_f64, G, G, G, sim_double(a[l] / b[l], a[l], b[l]))
SIM_OP3(fma_f64, G, G, G, G, fused_nan(fma(a[l], b[l], c[l]), a[l], b[l], c[l]))
SIM_OP2(min_f64, G, G, G, sim_quiet(min_double(a[l], b[l])))
SIM_OP2(max_f64, G, G, G, sim_quiet(max_double(a[l], b[l])))
SIM_OP1(neg_f64, G, G, a[l] == a[l] ? -a[l] : sim_quiet(a[l]))
SIM_OP1(abs_f64, G, G, a[l] == a[l] ? fabs(a[l]) : sim_quiet(a[l]))
SIM_OP1(rcp_f64, G, G, sim_double(1.0 / a[l], a[l], a[l]))
SIM_OP1(sqrt_f64, G, G, sim_double(sqrt(a[l]), a[l], a[l]))
SIM_OP1(rsqrt_f64, G, G, sim_double(1.0 / sqrt(a[l]), a[l], a[l]))
SIM_OP1(rcp_coarse_f64, G, G, coarse_result(1.0 / coarse(a[l])))
SIM_OP1(rsqrt_coarse_f64, G, G, coarse_result(1.0 / sqrt(coarse(a[l]))))
SIM_OP2(copysign_f64, G, G, G, copysign(b[l], a[l]))

SIM_OP3(fma_f32_portable, F, F, F, F, R(fmaf(a[l], b[l], c[l])))

#if defined(__x86_64__) && defined(__GNUC__)
/* Without this, every lane is a call of fmaf(): the baseline of x86-64 has no fused
 * multiply-add. */
__attribute__((target("avx2,fma")))
SIM_OP3(fma_f32_vector, F, F, F, F, R(__builtin_fmaf(a[l], b[l], c[l])))

    static void fma_f32(void *restrict d, const void *const sources[4])
{
    if (__builtin_cpu_supports("fma") && __builtin_cpu_supports("avx2"))
        fma_f32_vector(d, sources);
    else
        fma_f32_portable(d, sources);
}
#else
#define fma_f32 fma_f32_portable
#endif

/* Directed rounding: rare, so the processor's mode is changed around one loop. The volatile
 * operands keep the arithmetic between the two changes. `result`: what of v is given. */
#define DIRECTED(name, T, count, mode, expression, result)                                         \
    static void name(void *restrict to, const void *const sources[4])                              \
    {                                                                                              \
        T *restrict d = to;                                                                        \
        const T *a = sources[0], *b = sources[(count) > 1 ? 1 : 0],                                \
                *c = sources[(count) > 2 ? 2 : 0];                                                 \
        int before = fegetround();                                                                 \
        fesetround(mode);                                                                          \
        SIM_EACH_LANE(l)                                                                           \
        {                                                                                          \
            volatile T x = a[l], y = b[l], z = c[l];                                               \
            (void)y, (void)z;                                                                      \
            volatile T v = expression;                                                             \
            d[l] = result;                                                                         \
        }                                                                                          \
        fesetround(before);                                                                        \
    }
#define DIRECTED_ALL(op, T, suffix, count, expression, result)                                     \
    DIRECTED(op##_rz_##suffix, T, count, FE_TOWARDZERO, expression, result)                        \
    DIRECTED(op##_rm_##suffix, T, count, FE_DOWNWARD, expression, result)                          \
    DIRECTED(op##_rp_##suffix, T, count, FE_UPWARD, expression, result)

DIRECTED_ALL(add, F, f32, 2, x + y, R(v))
DIRECTED_ALL(sub, F, f32, 2, x - y, R(v))
DIRECTED_ALL(mul, F, f32, 2, x *y, R(v))
DIRECTED_ALL(div, F, f32, 2, x / y, R(v))
DIRECTED_ALL(fma, F, f32, 3, fmaf(x, y, z), R(v))
DIRECTED_ALL(rcp, F, f32, 1, 1.0f / x, R(v))
DIRECTED_ALL(sqrt, F, f32, 1, sqrtf(x), R(v))
DIRECTED_ALL(add, G, f64, 2, x + y, sim_double(v, y, x))
DIRECTED_ALL(sub, G, f64, 2, x - y, sim_double(v, y, x))
DIRECTED_ALL(mul, G, f64, 2, x *y, sim_double(v, y, x))
DIRECTED_ALL(div, G, f64, 2, x / y, sim_double(v, x, y))
DIRECTED_ALL(fma, G, f64, 3, fma(x, y, z), fused_nan(v, x, y, z))
DIRECTED_ALL(rcp, G, f64, 1, 1.0 / x, sim_double(v, x, x))
DIRECTED_ALL(sqrt, G, f64, 1, sqrt(x), sim_double(v, x, x))

/* Two floats in a 64-bit register, since sm_100. */
static float half_of(uint64_t pair, int which)
{
    return float_of_bits((uint32_t)(pair >> (32 * which)));
}

static uint64_t pair_of(float low, float high)
{
    return bits_of_float(R(low)) | (uint64_t)bits_of_float(R(high)) << 32;
}

#define P uint64_t
SIM_OP2(add_f32x2, P, P, P,
        pair_of(half_of(a[l], 0) + half_of(b[l], 0), half_of(a[l], 1) + half_of(b[l], 1)))
SIM_OP2(mul_f32x2, P, P, P,
        pair_of(half_of(a[l], 0) * half_of(b[l], 0), half_of(a[l], 1) * half_of(b[l], 1)))
SIM_OP3(fma_f32x2, P, P, P, P,
        pair_of(fmaf(half_of(a[l], 0), half_of(b[l], 0), half_of(c[l], 0)),
                fmaf(half_of(a[l], 1), half_of(b[l], 1), half_of(c[l], 1))))

#define F1(name, fn)                                                                               \
    {                                                                                              \
        name, fn, 1, 4, {4}, SIM_CLASS_FLOAT                                                       \
    }
#define F2(name, fn)                                                                               \
    {                                                                                              \
        name, fn, 2, 4, {4, 4}, SIM_CLASS_FLOAT                                                    \
    }
#define F3(name, fn)                                                                               \
    {                                                                                              \
        name, fn, 3, 4, {4, 4, 4}, SIM_CLASS_FLOAT                                                 \
    }
#define S1(name, fn)                                                                               \
    {                                                                                              \
        name, fn, 1, 4, {4}, SIM_CLASS_SPECIAL                                                     \
    }
#define S2(name, fn)                                                                               \
    {                                                                                              \
        name, fn, 2, 4, {4, 4}, SIM_CLASS_SPECIAL                                                  \
    }
#define G1(name, fn)                                                                               \
    {                                                                                              \
        name, fn, 1, 8, {8}, SIM_CLASS_DOUBLE                                                      \
    }
#define G2(name, fn)                                                                               \
    {                                                                                              \
        name, fn, 2, 8, {8, 8}, SIM_CLASS_DOUBLE                                                   \
    }
#define G3(name, fn)                                                                               \
    {                                                                                              \
        name, fn, 3, 8, {8, 8, 8}, SIM_CLASS_DOUBLE                                                \
    }
#define P2(name, fn)                                                                               \
    {                                                                                              \
        name, fn, 2, 8, {8, 8}, SIM_CLASS_FLOAT                                                    \
    }
#define P3(name, fn)                                                                               \
    {                                                                                              \
        name, fn, 3, 8, {8, 8, 8}, SIM_CLASS_FLOAT                                                 \
    }
#define ROUNDED(N, op, s)                                                                          \
    N(#op ".rz." #s, op##_rz_##s), N(#op ".rm." #s, op##_rm_##s), N(#op ".rp." #s, op##_rp_##s)

const sim_operation sim_float_operations[] = {F2("add.f32", add_f32),
                                              F2("sub.f32", sub_f32),
                                              F2("mul.f32", mul_f32),
                                              F3("fma.f32", fma_f32),
                                              F3("mad.f32", fma_f32),
                                              S2("div.f32", div_f32),
                                              S2("div.approx.f32", div_approx_f32),
                                              S2("div.full.f32", div_f32),
                                              F2("min.f32", min_f32),
                                              F2("max.f32", max_f32),
                                              F2("min.NaN.f32", min_nan_f32),
                                              F2("max.NaN.f32", max_nan_f32),
                                              F2("min.xorsign.abs.f32", min_xor_f32),
                                              F2("max.xorsign.abs.f32", max_xor_f32),
                                              F2("min.NaN.xorsign.abs.f32", min_nan_xor_f32),
                                              F2("max.NaN.xorsign.abs.f32", max_nan_xor_f32),
                                              F1("neg.f32", neg_f32),
                                              F1("abs.f32", abs_f32),
                                              S1("rcp.f32", rcp_f32),
                                              S1("rcp.approx.f32", rcp_f32),
                                              S1("sqrt.f32", sqrt_f32),
                                              S1("sqrt.approx.f32", sqrt_f32),
                                              S1("rsqrt.approx.f32", rsqrt_f32),
                                              S1("sin.approx.f32", sin_f32),
                                              S1("cos.approx.f32", cos_f32),
                                              S1("lg2.approx.f32", lg2_f32),
                                              S1("ex2.approx.f32", ex2_f32),
                                              S1("tanh.approx.f32", tanh_f32),
                                              F2("copysign.f32", copysign_f32),
                                              G2("add.f64", add_f64),
                                              G2("sub.f64", sub_f64),
                                              G2("mul.f64", mul_f64),
                                              G3("fma.f64", fma_f64),
                                              G3("mad.f64", fma_f64),
                                              G2("div.f64", div_f64),
                                              G2("min.f64", min_f64),
                                              G2("max.f64", max_f64),
                                              G1("neg.f64", neg_f64),
                                              G1("abs.f64", abs_f64),
                                              G1("rcp.f64", rcp_f64),
                                              G1("rcp.approx.ftz.f64", rcp_coarse_f64),
                                              G1("sqrt.f64", sqrt_f64),
                                              G1("rsqrt.approx.f64", rsqrt_f64),
                                              G1("rsqrt.approx.ftz.f64", rsqrt_coarse_f64),
                                              G2("copysign.f64", copysign_f64),
                                              ROUNDED(F2, add, f32),
                                              ROUNDED(F2, sub, f32),
                                              ROUNDED(F2, mul, f32),
                                              ROUNDED(S2, div, f32),
                                              ROUNDED(F3, fma, f32),
                                              F3("mad.rz.f32", fma_rz_f32),
                                              F3("mad.rm.f32", fma_rm_f32),
                                              F3("mad.rp.f32", fma_rp_f32),
                                              G3("mad.rz.f64", fma_rz_f64),
                                              G3("mad.rm.f64", fma_rm_f64),
                                              G3("mad.rp.f64", fma_rp_f64),
                                              ROUNDED(S1, rcp, f32),
                                              ROUNDED(S1, sqrt, f32),
                                              ROUNDED(G2, add, f64),
                                              ROUNDED(G2, sub, f64),
                                              ROUNDED(G2, mul, f64),
                                              ROUNDED(G2, div, f64),
                                              ROUNDED(G3, fma, f64),
                                              ROUNDED(G1, rcp, f64),
                                              ROUNDED(G1, sqrt, f64),
                                              P2("add.f32x2", add_f32x2),
                                              P2("mul.f32x2", mul_f32x2),
                                              P3("fma.f32x2", fma_f32x2),
                                              {0}};
