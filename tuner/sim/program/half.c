#include <math.h>

#include "base/bits.h"
#include "base/half.h"
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

/* Sums and products of 11-bit (8-bit) significands rounded first to float's 24 bits round to the
 * right half (bfloat16): Figueroa, "When is double rounding innocuous?" (1995). */
#define DEFINE_HALF(T, load, store, store_double)                                                  \
    static uint16_t T##_add(uint16_t a, uint16_t b)                                                \
    {                                                                                              \
        return store(load(a) + load(b));                                                           \
    }                                                                                              \
    static uint16_t T##_sub(uint16_t a, uint16_t b)                                                \
    {                                                                                              \
        return store(load(a) - load(b));                                                           \
    }                                                                                              \
    static uint16_t T##_mul(uint16_t a, uint16_t b)                                                \
    {                                                                                              \
        return store(load(a) * load(b));                                                           \
    }                                                                                              \
    static uint16_t T##_adds(uint16_t a, uint16_t b)                                               \
    {                                                                                              \
        return store(saturate(load(a) + load(b)));                                                 \
    }                                                                                              \
    static uint16_t T##_subs(uint16_t a, uint16_t b)                                               \
    {                                                                                              \
        return store(saturate(load(a) - load(b)));                                                 \
    }                                                                                              \
    static uint16_t T##_muls(uint16_t a, uint16_t b)                                               \
    {                                                                                              \
        return store(saturate(load(a) * load(b)));                                                 \
    }                                                                                              \
    static uint16_t T##_min(uint16_t a, uint16_t b)                                                \
    {                                                                                              \
        return store(min_of(load(a), load(b)));                                                    \
    }                                                                                              \
    static uint16_t T##_max(uint16_t a, uint16_t b)                                                \
    {                                                                                              \
        return store(max_of(load(a), load(b)));                                                    \
    }                                                                                              \
    static uint16_t T##_minn(uint16_t a, uint16_t b)                                               \
    {                                                                                              \
        return store(propagate(load(a), load(b), min_of(load(a), load(b))));                       \
    }                                                                                              \
    static uint16_t T##_maxn(uint16_t a, uint16_t b)                                               \
    {                                                                                              \
        return store(propagate(load(a), load(b), max_of(load(a), load(b))));                       \
    }                                                                                              \
    static uint16_t T##_minx(uint16_t a, uint16_t b)                                               \
    {                                                                                              \
        return product_sign(a, b, T##_min(a & 0x7fffu, b & 0x7fffu));                              \
    }                                                                                              \
    static uint16_t T##_maxx(uint16_t a, uint16_t b)                                               \
    {                                                                                              \
        return product_sign(a, b, T##_max(a & 0x7fffu, b & 0x7fffu));                              \
    }                                                                                              \
    static uint16_t T##_minnx(uint16_t a, uint16_t b)                                              \
    {                                                                                              \
        return product_sign(a, b, T##_minn(a & 0x7fffu, b & 0x7fffu));                             \
    }                                                                                              \
    static uint16_t T##_maxnx(uint16_t a, uint16_t b)                                              \
    {                                                                                              \
        return product_sign(a, b, T##_maxn(a & 0x7fffu, b & 0x7fffu));                             \
    }                                                                                              \
    static uint16_t T##_fma(uint16_t a, uint16_t b, uint16_t c)                                    \
    {                                                                                              \
        return store_double(fma_to_odd(load(a), load(b), load(c)));                                \
    }                                                                                              \
    static uint16_t T##_fmar(uint16_t a, uint16_t b, uint16_t c)                                   \
    {                                                                                              \
        return store(relu(load(T##_fma(a, b, c))));                                                \
    }                                                                                              \
    static uint16_t T##_fmas(uint16_t a, uint16_t b, uint16_t c)                                   \
    {                                                                                              \
        return store(saturate(load(T##_fma(a, b, c))));                                            \
    }                                                                                              \
    static uint16_t T##_neg(uint16_t a)                                                            \
    {                                                                                              \
        return store(-load(a));                                                                    \
    }                                                                                              \
    static uint16_t T##_abs(uint16_t a)                                                            \
    {                                                                                              \
        return store(fabsf(load(a)));                                                              \
    }                                                                                              \
    static uint16_t T##_ex2(uint16_t a)                                                            \
    {                                                                                              \
        return store((float)exp2((double)load(a)));                                                \
    }                                                                                              \
    static uint16_t T##_tanh(uint16_t a)                                                           \
    {                                                                                              \
        return store((float)tanh((double)load(a)));                                                \
    }

DEFINE_HALF(h, half_to_float, half_from_float, half_from_double)
DEFINE_HALF(b, bfloat_to_float, bfloat_from_float, bfloat_from_double)

#define LO(x) ((uint16_t)(x))
#define HI(x) ((uint16_t)((x) >> 16))
#define PAIR(low, high) ((uint32_t)(low) | (uint32_t)(high) << 16)
#define W uint32_t
#define HALF1(f)                                                                                   \
    SIM_OP1(f##_1, W, W, f(LO(a[l])))                                                              \
    SIM_OP1(f##_2, W, W, PAIR(f(LO(a[l])), f(HI(a[l]))))
#define HALF2(f)                                                                                   \
    SIM_OP2(f##_1, W, W, W, f(LO(a[l]), LO(b[l])))                                                 \
    SIM_OP2(f##_2, W, W, W, PAIR(f(LO(a[l]), LO(b[l])), f(HI(a[l]), HI(b[l]))))
#define HALF3(f)                                                                                   \
    SIM_OP3(f##_1, W, W, W, W, f(LO(a[l]), LO(b[l]), LO(c[l])))                                    \
    SIM_OP3(f##_2, W, W, W, W,                                                                     \
            PAIR(f(LO(a[l]), LO(b[l]), LO(c[l])), f(HI(a[l]), HI(b[l]), HI(c[l]))))
/* clang-format off */
#define HALF_ALL(T)                                                                                \
    HALF2(T##_add) HALF2(T##_sub) HALF2(T##_mul) HALF2(T##_adds) HALF2(T##_subs) HALF2(T##_muls)   \
    HALF2(T##_min) HALF2(T##_max) HALF2(T##_minn) HALF2(T##_maxn) HALF2(T##_minx) HALF2(T##_maxx)  \
    HALF2(T##_minnx) HALF2(T##_maxnx) HALF3(T##_fma) HALF3(T##_fmar) HALF3(T##_fmas)               \
    HALF1(T##_neg) HALF1(T##_abs) HALF1(T##_ex2) HALF1(T##_tanh)
/* clang-format on */

HALF_ALL(h)
HALF_ALL(b)

/* cvt.rn.f16x2.f32 d, a, b: a is the high half. */
#define F float
SIM_OP2(pack_half, W, F, F, PAIR(half_from_float(b[l]), half_from_float(a[l])))
SIM_OP2(pack_bfloat, W, F, F, PAIR(bfloat_from_float(b[l]), bfloat_from_float(a[l])))

#define N1(name, fn)                                                                               \
    {                                                                                              \
        name, fn, 1, 4, {4}, SIM_CLASS_HALF                                                        \
    }
#define N2(name, fn)                                                                               \
    {                                                                                              \
        name, fn, 2, 4, {4, 4}, SIM_CLASS_HALF                                                     \
    }
#define N3(name, fn)                                                                               \
    {                                                                                              \
        name, fn, 3, 4, {4, 4, 4}, SIM_CLASS_HALF                                                  \
    }
#define BOTH(N, op, t, f) N(op "." t, f##_1), N(op "." t "x2", f##_2)
#define HALF_TABLE(T, t)                                                                           \
    BOTH(N2, "add", t, T##_add), BOTH(N2, "sub", t, T##_sub), BOTH(N2, "mul", t, T##_mul),         \
        BOTH(N2, "add.sat", t, T##_adds), BOTH(N2, "sub.sat", t, T##_subs),                        \
        BOTH(N2, "mul.sat", t, T##_muls), BOTH(N2, "min", t, T##_min),                             \
        BOTH(N2, "max", t, T##_max), BOTH(N2, "min.NaN", t, T##_minn),                             \
        BOTH(N2, "max.NaN", t, T##_maxn), BOTH(N2, "min.xorsign.abs", t, T##_minx),                \
        BOTH(N2, "max.xorsign.abs", t, T##_maxx), BOTH(N2, "min.NaN.xorsign.abs", t, T##_minnx),   \
        BOTH(N2, "max.NaN.xorsign.abs", t, T##_maxnx), BOTH(N3, "fma", t, T##_fma),                \
        BOTH(N3, "fma.relu", t, T##_fmar), BOTH(N3, "fma.sat", t, T##_fmas),                       \
        BOTH(N1, "neg", t, T##_neg), BOTH(N1, "abs", t, T##_abs),                                  \
        BOTH(N1, "ex2.approx", t, T##_ex2), BOTH(N1, "tanh.approx", t, T##_tanh)

const sim_operation sim_half_operations[] = {HALF_TABLE(h, "f16"),
                                             HALF_TABLE(b, "bf16"),
                                             N2("cvt.f16x2.f32", pack_half),
                                             N2("cvt.bf16x2.f32", pack_bfloat),
                                             {0}};
