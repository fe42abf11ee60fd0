#include "base/bits.h"
#include "sim/program/operations.h"

/* Signed arithmetic wraps in PTX; in C it must go through the unsigned type. */
#define U(x) ((uint32_t)(x))
#define UL(x) ((uint64_t)(x))
#define LOW(x) ((x)&0xffffu)
#define S16(x) ((int32_t)(int16_t)(x))

static int64_t divide(int64_t a, int64_t b)
{
    if (b == 0)
        return -1;
    return b == -1 ? (int64_t)(0 - UL(a)) : a / b;
}

/* A division by zero gives all ones, as on an H100; the PTX ISA leaves it open. */
static int64_t remainder_of(int64_t a, int64_t b)
{
    if (b == 0)
        return -1;
    return b == -1 ? 0 : a % b;
}

static int64_t high_s64(int64_t a, int64_t b)
{
    uint64_t h = high_product(UL(a), UL(b));
    h -= a < 0 ? UL(b) : 0;
    h -= b < 0 ? UL(a) : 0;
    return (int64_t)h;
}

static int32_t clamp_s32(int64_t v)
{
    return v > INT32_MAX ? INT32_MAX : v < INT32_MIN ? INT32_MIN : (int32_t)v;
}

SIM_OP2(add_16, uint32_t, uint32_t, uint32_t, LOW(a[l] + b[l]))
SIM_OP2(add_32, uint32_t, uint32_t, uint32_t, a[l] + b[l])
SIM_OP2(add_64, uint64_t, uint64_t, uint64_t, a[l] + b[l])
SIM_OP2(add_sat_s32, int32_t, int32_t, int32_t, clamp_s32((int64_t)a[l] + b[l]))
SIM_OP2(sub_16, uint32_t, uint32_t, uint32_t, LOW(a[l] - b[l]))
SIM_OP2(sub_32, uint32_t, uint32_t, uint32_t, a[l] - b[l])
SIM_OP2(sub_64, uint64_t, uint64_t, uint64_t, a[l] - b[l])
SIM_OP2(sub_sat_s32, int32_t, int32_t, int32_t, clamp_s32((int64_t)a[l] - b[l]))

SIM_OP2(mul_lo_16, uint32_t, uint32_t, uint32_t, LOW(LOW(a[l]) * LOW(b[l])))
SIM_OP2(mul_lo_32, uint32_t, uint32_t, uint32_t, a[l] * b[l])
SIM_OP2(mul_lo_64, uint64_t, uint64_t, uint64_t, a[l] * b[l])
SIM_OP2(mul_hi_u16, uint32_t, uint32_t, uint32_t, LOW(a[l]) * LOW(b[l]) >> 16)
SIM_OP2(mul_hi_s16, uint32_t, uint32_t, uint32_t, LOW(U(S16(a[l]) * S16(b[l])) >> 16))
SIM_OP2(mul_hi_u32, uint32_t, uint32_t, uint32_t, UL(a[l]) * b[l] >> 32)
SIM_OP2(mul_hi_s32, int32_t, int32_t, int32_t, UL((int64_t)a[l] * b[l]) >> 32)
SIM_OP2(mul_hi_u64, uint64_t, uint64_t, uint64_t, high_product(a[l], b[l]))
SIM_OP2(mul_hi_s64, int64_t, int64_t, int64_t, high_s64(a[l], b[l]))
SIM_OP2(mul_wide_u16, uint32_t, uint32_t, uint32_t, LOW(a[l]) * LOW(b[l]))
SIM_OP2(mul_wide_s16, int32_t, uint32_t, uint32_t, S16(a[l]) * S16(b[l]))
SIM_OP2(mul_wide_u32, uint64_t, uint32_t, uint32_t, UL(a[l]) * b[l])
SIM_OP2(mul_wide_s32, int64_t, int32_t, int32_t, (int64_t)a[l] * b[l])

SIM_OP3(mad_lo_16, uint32_t, uint32_t, uint32_t, uint32_t, LOW(LOW(a[l]) * LOW(b[l]) + c[l]))
SIM_OP3(mad_lo_32, uint32_t, uint32_t, uint32_t, uint32_t, a[l] * b[l] + c[l])
SIM_OP3(mad_lo_64, uint64_t, uint64_t, uint64_t, uint64_t, a[l] * b[l] + c[l])
SIM_OP3(mad_hi_u16, uint32_t, uint32_t, uint32_t, uint32_t,
        LOW((LOW(a[l]) * LOW(b[l]) >> 16) + c[l]))
SIM_OP3(mad_hi_s16, uint32_t, uint32_t, uint32_t, uint32_t,
        LOW((U(S16(a[l]) * S16(b[l])) >> 16) + c[l]))
SIM_OP3(mad_hi_sat_s32, int32_t, int32_t, int32_t, int32_t,
        clamp_s32(((int64_t)a[l] * b[l] >> 32) + c[l]))
SIM_OP3(mad_hi_u32, uint32_t, uint32_t, uint32_t, uint32_t, (UL(a[l]) * b[l] >> 32) + c[l])
SIM_OP3(mad_hi_s32, uint32_t, int32_t, int32_t, uint32_t, U(UL((int64_t)a[l] * b[l]) >> 32) + c[l])
SIM_OP3(mad_hi_u64, uint64_t, uint64_t, uint64_t, uint64_t, high_product(a[l], b[l]) + c[l])
SIM_OP3(mad_hi_s64, uint64_t, int64_t, int64_t, uint64_t, UL(high_s64(a[l], b[l])) + c[l])
SIM_OP3(mad_wide_u16, uint32_t, uint32_t, uint32_t, uint32_t, LOW(a[l]) * LOW(b[l]) + c[l])
SIM_OP3(mad_wide_s16, uint32_t, uint32_t, uint32_t, uint32_t, U(S16(a[l]) * S16(b[l])) + c[l])
SIM_OP3(mad_wide_u32, uint64_t, uint32_t, uint32_t, uint64_t, UL(a[l]) * b[l] + c[l])
SIM_OP3(mad_wide_s32, uint64_t, int32_t, int32_t, uint64_t, UL((int64_t)a[l] * b[l]) + c[l])
#define U24(x) ((x)&0xffffffu)
#define S24(x) ((int64_t)((int32_t)((x) << 8) >> 8))
SIM_OP2(mul24_lo_u32, uint32_t, uint32_t, uint32_t, U24(a[l]) * U24(b[l]))
SIM_OP2(mul24_lo_s32, uint32_t, uint32_t, uint32_t, S24(a[l]) * S24(b[l]))
SIM_OP2(mul24_hi_u32, uint32_t, uint32_t, uint32_t, UL(U24(a[l])) * U24(b[l]) >> 16)
SIM_OP2(mul24_hi_s32, uint32_t, uint32_t, uint32_t, S24(a[l]) * S24(b[l]) >> 16)
SIM_OP3(mad24_lo_u32, uint32_t, uint32_t, uint32_t, uint32_t, U24(a[l]) * U24(b[l]) + c[l])
SIM_OP3(mad24_lo_s32, uint32_t, uint32_t, uint32_t, uint32_t, S24(a[l]) * S24(b[l]) + c[l])
SIM_OP3(mad24_hi_u32, uint32_t, uint32_t, uint32_t, uint32_t,
        (UL(U24(a[l])) * U24(b[l]) >> 16) + c[l])
SIM_OP3(mad24_hi_s32, uint32_t, uint32_t, uint32_t, uint32_t, (S24(a[l]) * S24(b[l]) >> 16) + c[l])
SIM_OP3(mad24_hi_sat_s32, int32_t, uint32_t, uint32_t, int32_t,
        clamp_s32((S24(a[l]) * S24(b[l]) >> 16) + c[l]))

SIM_OP3(sad_u32, uint32_t, uint32_t, uint32_t, uint32_t,
        c[l] + (a[l] > b[l] ? a[l] - b[l] : b[l] - a[l]))
SIM_OP3(sad_s32, uint32_t, int32_t, int32_t, uint32_t,
        c[l] + (a[l] > b[l] ? U(a[l]) - U(b[l]) : U(b[l]) - U(a[l])))
SIM_OP3(sad_u16, uint32_t, uint32_t, uint32_t, uint32_t,
        LOW(c[l] + (LOW(a[l]) > LOW(b[l]) ? a[l] - b[l] : b[l] - a[l])))
SIM_OP3(sad_s16, uint32_t, uint32_t, uint32_t, uint32_t,
        LOW(c[l] + (S16(a[l]) > S16(b[l]) ? a[l] - b[l] : b[l] - a[l])))
SIM_OP3(sad_u64, uint64_t, uint64_t, uint64_t, uint64_t,
        c[l] + (a[l] > b[l] ? a[l] - b[l] : b[l] - a[l]))
SIM_OP3(sad_s64, uint64_t, int64_t, int64_t, uint64_t,
        c[l] + (a[l] > b[l] ? UL(a[l]) - UL(b[l]) : UL(b[l]) - UL(a[l])))

SIM_OP2(div_u16, uint32_t, uint32_t, uint32_t, LOW(b[l]) ? LOW(a[l]) / LOW(b[l]) : 0xffffu)
SIM_OP2(div_s16, uint32_t, uint32_t, uint32_t, LOW(U(divide(S16(a[l]), S16(b[l])))))
SIM_OP2(div_u32, uint32_t, uint32_t, uint32_t, b[l] ? a[l] / b[l] : UINT32_MAX)
SIM_OP2(div_s32, int32_t, int32_t, int32_t, divide(a[l], b[l]))
SIM_OP2(div_u64, uint64_t, uint64_t, uint64_t, b[l] ? a[l] / b[l] : UINT64_MAX)
SIM_OP2(div_s64, int64_t, int64_t, int64_t, divide(a[l], b[l]))
SIM_OP2(rem_u16, uint32_t, uint32_t, uint32_t, LOW(b[l]) ? LOW(a[l]) % LOW(b[l]) : 0xffffu)
SIM_OP2(rem_s16, uint32_t, uint32_t, uint32_t, LOW(U(remainder_of(S16(a[l]), S16(b[l])))))
SIM_OP2(rem_u32, uint32_t, uint32_t, uint32_t, b[l] ? a[l] % b[l] : UINT32_MAX)
SIM_OP2(rem_s32, int32_t, int32_t, int32_t, remainder_of(a[l], b[l]))
SIM_OP2(rem_u64, uint64_t, uint64_t, uint64_t, b[l] ? a[l] % b[l] : UINT64_MAX)
SIM_OP2(rem_s64, int64_t, int64_t, int64_t, remainder_of(a[l], b[l]))

SIM_OP2(min_u16, uint32_t, uint32_t, uint32_t, LOW(a[l]) < LOW(b[l]) ? LOW(a[l]) : LOW(b[l]))
SIM_OP2(min_s16, uint32_t, uint32_t, uint32_t, LOW(S16(a[l]) < S16(b[l]) ? a[l] : b[l]))
SIM_OP2(min_u32, uint32_t, uint32_t, uint32_t, a[l] < b[l] ? a[l] : b[l])
SIM_OP2(min_s32, int32_t, int32_t, int32_t, a[l] < b[l] ? a[l] : b[l])
SIM_OP2(min_u64, uint64_t, uint64_t, uint64_t, a[l] < b[l] ? a[l] : b[l])
SIM_OP2(min_s64, int64_t, int64_t, int64_t, a[l] < b[l] ? a[l] : b[l])
SIM_OP2(max_u16, uint32_t, uint32_t, uint32_t, LOW(a[l]) > LOW(b[l]) ? LOW(a[l]) : LOW(b[l]))
SIM_OP2(max_s16, uint32_t, uint32_t, uint32_t, LOW(S16(a[l]) > S16(b[l]) ? a[l] : b[l]))
SIM_OP2(max_u32, uint32_t, uint32_t, uint32_t, a[l] > b[l] ? a[l] : b[l])
SIM_OP2(max_s32, int32_t, int32_t, int32_t, a[l] > b[l] ? a[l] : b[l])
SIM_OP2(max_u64, uint64_t, uint64_t, uint64_t, a[l] > b[l] ? a[l] : b[l])
SIM_OP2(max_s64, int64_t, int64_t, int64_t, a[l] > b[l] ? a[l] : b[l])

SIM_OP1(neg_16, uint32_t, uint32_t, LOW(0 - a[l]))
SIM_OP1(neg_32, uint32_t, uint32_t, 0 - a[l])
SIM_OP1(neg_64, uint64_t, uint64_t, 0 - a[l])
SIM_OP1(abs_16, uint32_t, uint32_t, LOW(S16(a[l]) < 0 ? 0 - a[l] : a[l]))
SIM_OP1(abs_32, uint32_t, uint32_t, (int32_t)a[l] < 0 ? 0 - a[l] : a[l])
SIM_OP1(abs_64, uint64_t, uint64_t, (int64_t)a[l] < 0 ? 0 - a[l] : a[l])

/* Two numbers of 16 bits in a word. */
#define HALVES(low, high) (LOW(low) | U(high) << 16)
SIM_OP2(add_16x2, uint32_t, uint32_t, uint32_t, HALVES(a[l] + b[l], (a[l] >> 16) + (b[l] >> 16)))
#define PICK_U16(x, op, y) (LOW(x) op LOW(y) ? x : y)
#define PICK_S16(x, op, y) (S16(x) op S16(y) ? x : y)
#define PICK_BOTH(PICK, op) HALVES(PICK(a[l], op, b[l]), PICK((a[l] >> 16), op, (b[l] >> 16)))
SIM_OP2(min_u16x2, uint32_t, uint32_t, uint32_t, PICK_BOTH(PICK_U16, <))
SIM_OP2(min_s16x2, uint32_t, uint32_t, uint32_t, PICK_BOTH(PICK_S16, <))
SIM_OP2(max_u16x2, uint32_t, uint32_t, uint32_t, PICK_BOTH(PICK_U16, >))
SIM_OP2(max_s16x2, uint32_t, uint32_t, uint32_t, PICK_BOTH(PICK_S16, >))

static uint32_t relu_16x2(uint32_t v)
{
    return HALVES(S16(v) < 0 ? 0 : v, S16(v >> 16) < 0 ? 0 : v >> 16);
}
SIM_OP2(min_relu_s16x2, uint32_t, uint32_t, uint32_t, relu_16x2(PICK_BOTH(PICK_S16, <)))
SIM_OP2(max_relu_s16x2, uint32_t, uint32_t, uint32_t, relu_16x2(PICK_BOTH(PICK_S16, >)))
#define RELU(v) ((v) < 0 ? 0 : (v))
SIM_OP2(min_relu_s32, int32_t, int32_t, int32_t, RELU(a[l] < b[l] ? a[l] : b[l]))
SIM_OP2(max_relu_s32, int32_t, int32_t, int32_t, RELU(a[l] > b[l] ? a[l] : b[l]))

#define INT1(name, fn, bytes)                                                                      \
    {                                                                                              \
        name, fn, 1, bytes, {bytes}, SIM_CLASS_INTEGER                                             \
    }
#define INT2(name, fn, bytes)                                                                      \
    {                                                                                              \
        name, fn, 2, bytes, {bytes, bytes}, SIM_CLASS_INTEGER                                      \
    }
#define INT3(name, fn, bytes)                                                                      \
    {                                                                                              \
        name, fn, 3, bytes, {bytes, bytes, bytes}, SIM_CLASS_INTEGER                               \
    }
#define WIDE2(name, fn)                                                                            \
    {                                                                                              \
        name, fn, 2, 8, {4, 4}, SIM_CLASS_INTEGER                                                  \
    }
#define WIDE3(name, fn)                                                                            \
    {                                                                                              \
        name, fn, 3, 8, {4, 4, 8}, SIM_CLASS_INTEGER                                               \
    }
/* Operations whose low half does not depend on the sign. */
#define BOTH2(op, fn)                                                                              \
    INT2(op ".u16", fn##_16, 4), INT2(op ".s16", fn##_16, 4), INT2(op ".u32", fn##_32, 4),         \
        INT2(op ".s32", fn##_32, 4), INT2(op ".u64", fn##_64, 8), INT2(op ".s64", fn##_64, 8)
#define BOTH3(op, fn)                                                                              \
    INT3(op ".u16", fn##_16, 4), INT3(op ".s16", fn##_16, 4), INT3(op ".u32", fn##_32, 4),         \
        INT3(op ".s32", fn##_32, 4), INT3(op ".u64", fn##_64, 8), INT3(op ".s64", fn##_64, 8)
#define EACH2(op, fn)                                                                              \
    INT2(op ".u16", fn##_u16, 4), INT2(op ".s16", fn##_s16, 4), INT2(op ".u32", fn##_u32, 4),      \
        INT2(op ".s32", fn##_s32, 4), INT2(op ".u64", fn##_u64, 8), INT2(op ".s64", fn##_s64, 8)

const sim_operation sim_integer_operations[] = {BOTH2("add", add),
                                                INT2("add.sat.s32", add_sat_s32, 4),
                                                BOTH2("sub", sub),
                                                INT2("sub.sat.s32", sub_sat_s32, 4),
                                                BOTH2("mul.lo", mul_lo),
                                                EACH2("mul.hi", mul_hi),
                                                INT2("mul.wide.u16", mul_wide_u16, 4),
                                                INT2("mul.wide.s16", mul_wide_s16, 4),
                                                WIDE2("mul.wide.u32", mul_wide_u32),
                                                WIDE2("mul.wide.s32", mul_wide_s32),
                                                BOTH3("mad.lo", mad_lo),
                                                INT3("mad.hi.u16", mad_hi_u16, 4),
                                                INT3("mad.hi.s16", mad_hi_s16, 4),
                                                INT3("mad.hi.sat.s32", mad_hi_sat_s32, 4),
                                                INT3("mad.hi.u32", mad_hi_u32, 4),
                                                INT3("mad.hi.s32", mad_hi_s32, 4),
                                                INT3("mad.hi.u64", mad_hi_u64, 8),
                                                INT3("mad.hi.s64", mad_hi_s64, 8),
                                                INT3("mad.wide.u16", mad_wide_u16, 4),
                                                INT3("mad.wide.s16", mad_wide_s16, 4),
                                                WIDE3("mad.wide.u32", mad_wide_u32),
                                                WIDE3("mad.wide.s32", mad_wide_s32),
                                                INT2("mul24.lo.u32", mul24_lo_u32, 4),
                                                INT2("mul24.lo.s32", mul24_lo_s32, 4),
                                                INT2("mul24.hi.u32", mul24_hi_u32, 4),
                                                INT2("mul24.hi.s32", mul24_hi_s32, 4),
                                                INT3("mad24.lo.u32", mad24_lo_u32, 4),
                                                INT3("mad24.lo.s32", mad24_lo_s32, 4),
                                                INT3("mad24.hi.u32", mad24_hi_u32, 4),
                                                INT3("mad24.hi.s32", mad24_hi_s32, 4),
                                                INT3("mad24.hi.sat.s32", mad24_hi_sat_s32, 4),
                                                INT3("sad.u16", sad_u16, 4),
                                                INT3("sad.s16", sad_s16, 4),
                                                INT3("sad.u32", sad_u32, 4),
                                                INT3("sad.s32", sad_s32, 4),
                                                INT3("sad.u64", sad_u64, 8),
                                                INT3("sad.s64", sad_s64, 8),
                                                EACH2("div", div),
                                                EACH2("rem", rem),
                                                EACH2("min", min),
                                                EACH2("max", max),
                                                INT2("add.u16x2", add_16x2, 4),
                                                INT2("add.s16x2", add_16x2, 4),
                                                INT2("min.u16x2", min_u16x2, 4),
                                                INT2("min.s16x2", min_s16x2, 4),
                                                INT2("max.u16x2", max_u16x2, 4),
                                                INT2("max.s16x2", max_s16x2, 4),
                                                INT2("min.relu.s16x2", min_relu_s16x2, 4),
                                                INT2("max.relu.s16x2", max_relu_s16x2, 4),
                                                INT2("min.relu.s32", min_relu_s32, 4),
                                                INT2("max.relu.s32", max_relu_s32, 4),
                                                INT1("neg.s16", neg_16, 4),
                                                INT1("neg.s32", neg_32, 4),
                                                INT1("neg.s64", neg_64, 8),
                                                INT1("abs.s16", abs_16, 4),
                                                INT1("abs.s32", abs_32, 4),
                                                INT1("abs.s64", abs_64, 8),
                                                {0}};
