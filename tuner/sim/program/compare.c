/* Comparisons over 32 lanes, and the arithmetic of atomics. */
#include <math.h>
#include <string.h>

#include "base/bits.h"
#include "sim/program/operations.h"

#define COMPARE(name, T, load, expression)                                                         \
    static uint32_t name(const void *pa, const void *pb)                                           \
    {                                                                                              \
        const T *a = pa, *b = pb;                                                                  \
        uint32_t mask = 0;                                                                         \
        SIM_EACH_LANE(l)                                                                           \
        {                                                                                          \
            __typeof__(load(a[0])) x = load(a[l]), y = load(b[l]);                                 \
            mask |= (uint32_t)(expression) << l;                                                   \
        }                                                                                          \
        return mask;                                                                               \
    }
#define SAME(v) (v)
#define AS_U16(v) ((uint32_t)(uint16_t)(v))
#define AS_S16(v) ((int32_t)(int16_t)(v))
#define AS_F16(v) half_to_float((uint16_t)(v))
#define AS_BF16(v) bfloat_to_float((uint16_t)(v))

#define BUT_NE(s, T, load)                                                                         \
    COMPARE(eq_##s, T, load, x == y)                                                               \
    COMPARE(lt_##s, T, load, x < y)                                                                \
    COMPARE(le_##s, T, load, x <= y)                                                               \
    COMPARE(gt_##s, T, load, x > y)                                                                \
    COMPARE(ge_##s, T, load, x >= y)
#define ORDERED(s, T, load) BUT_NE(s, T, load) COMPARE(ne_##s, T, load, x != y)
/* "ne" of floats is false if an operand is NaN; the u forms are true then. */
#define FLOATING(s, T, load)                                                                       \
    BUT_NE(s, T, load)                                                                             \
    COMPARE(ne_##s, T, load, x<y || x> y)                                                          \
    COMPARE(equ_##s, T, load, !(x < y || x > y))                                                   \
    COMPARE(neu_##s, T, load, x != y)                                                              \
    COMPARE(ltu_##s, T, load, !(x >= y))                                                           \
    COMPARE(leu_##s, T, load, !(x > y))                                                            \
    COMPARE(gtu_##s, T, load, !(x <= y))                                                           \
    COMPARE(geu_##s, T, load, !(x < y))                                                            \
    COMPARE(num_##s, T, load, x == x && y == y)                                                    \
    COMPARE(nan_##s, T, load, x != x || y != y)

/* testp: the class of a number. Its second operand equals the first. */
#define CLASSES(s, T, least, magnitude)                                                            \
    COMPARE(finite_##s, T, magnitude, x < INFINITY && y < INFINITY)                                \
    COMPARE(infinite_##s, T, magnitude, x == INFINITY && y == INFINITY)                            \
    COMPARE(normal_##s, T, magnitude, (x >= least && x < INFINITY) || y == 0)                      \
    COMPARE(subnormal_##s, T, magnitude, x > 0 && y < least)

CLASSES(f32, float, 0x1p-126f, fabsf)
CLASSES(f64, double, 0x1p-1022, fabs)
ORDERED(u16, uint32_t, AS_U16)
ORDERED(s16, uint32_t, AS_S16)
ORDERED(u32, uint32_t, SAME)
ORDERED(s32, int32_t, SAME)
ORDERED(u64, uint64_t, SAME)
ORDERED(s64, int64_t, SAME)
FLOATING(f32, float, SAME)
FLOATING(f64, double, SAME)
FLOATING(f16, uint32_t, AS_F16)
FLOATING(bf16, uint32_t, AS_BF16)

typedef struct comparison {
    const char *name;
    ptx_type type;
    sim_compare compare;
    uint8_t rule; /* sim_rule */
} comparison;

#define EQUAL_ROWS(T, s)                                                                           \
    {"eq", T, eq_##s, RULE_EQUAL},                                                                 \
    {                                                                                              \
        "ne", T, ne_##s, RULE_UNEQUAL                                                              \
    }
#define ROWS(T, s)                                                                                 \
    EQUAL_ROWS(T, s), {"lt", T, lt_##s, RULE_LESS}, {"le", T, le_##s, RULE_LESS_EQUAL},            \
        {"gt", T, gt_##s, RULE_GREATER},                                                           \
    {                                                                                              \
        "ge", T, ge_##s, RULE_GREATER_EQUAL                                                        \
    }
#define UNSIGNED_ROWS(T, s)                                                                        \
    ROWS(T, s), {"lo", T, lt_##s, RULE_LESS}, {"ls", T, le_##s, RULE_LESS_EQUAL},                  \
        {"hi", T, gt_##s, RULE_GREATER},                                                           \
    {                                                                                              \
        "hs", T, ge_##s, RULE_GREATER_EQUAL                                                        \
    }
#define FLOAT_ROWS(T, s)                                                                           \
    ROWS(T, s), {"equ", T, equ_##s, 0}, {"neu", T, neu_##s, 0}, {"ltu", T, ltu_##s, 0},            \
        {"leu", T, leu_##s, 0}, {"gtu", T, gtu_##s, 0}, {"geu", T, geu_##s, 0},                    \
        {"num", T, num_##s, 0},                                                                    \
    {                                                                                              \
        "nan", T, nan_##s, 0                                                                       \
    }
#define CLASS_ROWS(T, s)                                                                           \
    {"testp.finite", T, finite_##s, 0}, {"testp.infinite", T, infinite_##s, 0},                    \
        {"testp.number", T, num_##s, 0}, {"testp.notanumber", T, nan_##s, 0},                      \
        {"testp.normal", T, normal_##s, 0},                                                        \
    {                                                                                              \
        "testp.subnormal", T, subnormal_##s, 0                                                     \
    }

/* clang-format off */
static const comparison comparisons[] = {
    CLASS_ROWS(PTX_F32, f32), CLASS_ROWS(PTX_F64, f64),
    EQUAL_ROWS(PTX_B16, u16), EQUAL_ROWS(PTX_B32, u32), EQUAL_ROWS(PTX_B64, u64),
    UNSIGNED_ROWS(PTX_U16, u16), UNSIGNED_ROWS(PTX_U32, u32), UNSIGNED_ROWS(PTX_U64, u64),
    ROWS(PTX_S16, s16), ROWS(PTX_S32, s32), ROWS(PTX_S64, s64),
    FLOAT_ROWS(PTX_F32, f32), FLOAT_ROWS(PTX_F64, f64),
    FLOAT_ROWS(PTX_F16, f16), FLOAT_ROWS(PTX_BF16, bf16)};
/* clang-format on */

sim_compare sim_compare_find(const char *name, ptx_type type, sim_rule *rule)
{
    for (size_t i = 0; i < sizeof comparisons / sizeof *comparisons; i++)
        if (comparisons[i].type == type && strcmp(comparisons[i].name, name) == 0) {
            /* 16-bit comparisons have no rule. */
            *rule = ptx_type_bytes(type) < 4 ? RULE_NUMBERS : (sim_rule)comparisons[i].rule;
            return comparisons[i].compare;
        }
    return NULL;
}

/* Atomics. */

static double to_double(uint64_t bits, ptx_type t)
{
    switch (t) {
    case PTX_F32:
        return float_of_bits((uint32_t)bits);
    case PTX_F64:
        return double_of_bits(bits);
    case PTX_F16:
        return half_to_float((uint16_t)bits);
    default:
        return bfloat_to_float((uint16_t)bits);
    }
}

static float flushed(float v)
{
    return fabsf(v) < 0x1p-126f ? copysignf(0.0f, v) : v;
}

/* PTX ISA, "atom": additions of floats in global memory replace subnormal operands and results by
 * zero; in shared memory they do not. */
static uint64_t add_float(uint64_t a, uint64_t b, ptx_type t, bool flush)
{
    if (t == PTX_F32 && flush)
        return bits_of_float(
            sim_float(flushed(flushed((float)to_double(a, t)) + flushed((float)to_double(b, t)))));
    if (t == PTX_F32)
        return bits_of_float(sim_float((float)to_double(a, t) + (float)to_double(b, t)));
    double v = to_double(a, t) + to_double(b, t);
    switch (t) {
    case PTX_F16:
        return half_from_double(v);
    case PTX_BF16:
        return bfloat_from_double(v);
    default:
        return bits_of_double(sim_double(v, to_double(a, t), to_double(b, t)));
    }
}

static bool is_less(uint64_t a, uint64_t b, ptx_type t)
{
    switch (t) {
    case PTX_S32:
        return (int32_t)a < (int32_t)b;
    case PTX_S64:
        return (int64_t)a < (int64_t)b;
    case PTX_U32:
    case PTX_B32:
        return (uint32_t)a < (uint32_t)b;
    case PTX_F16:
    case PTX_BF16:
        return to_double(a, t) < to_double(b, t);
    default:
        return a < b;
    }
}

static uint64_t combine(sim_atomic_op op, ptx_type t, bool flush, uint64_t old, uint64_t v,
                        uint64_t other)
{
    bool is_float = t == PTX_F32 || t == PTX_F64 || t == PTX_F16 || t == PTX_BF16;
    switch (op) {
    case SIM_ATOMIC_ADD:
        return is_float ? add_float(old, v, t, flush) : old + v;
    case SIM_ATOMIC_MIN:
        return is_less(v, old, t) ? v : old;
    case SIM_ATOMIC_MAX:
        return is_less(old, v, t) ? v : old;
    case SIM_ATOMIC_INC:
        return (uint32_t)old >= (uint32_t)v ? 0 : old + 1;
    case SIM_ATOMIC_DEC:
        return old == 0 || (uint32_t)old > (uint32_t)v ? v : old - 1;
    case SIM_ATOMIC_AND:
        return old & v;
    case SIM_ATOMIC_OR:
        return old | v;
    case SIM_ATOMIC_XOR:
        return old ^ v;
    case SIM_ATOMIC_EXCH:
        return v;
    default:
        return old == v ? other : old;
    }
}

/* Combines both halves of a packed pair. */
static uint64_t combine_pair(sim_atomic_op op, ptx_type half, uint64_t old, uint64_t v)
{
    uint64_t low = combine(op, half, false, old & 0xffff, v & 0xffff, 0) & 0xffff;
    uint64_t high = combine(op, half, false, old >> 16 & 0xffff, v >> 16 & 0xffff, 0) & 0xffff;
    return low | high << 16;
}

static uint64_t next_value(sim_atomic_op op, ptx_type t, bool flush, uint64_t old, uint64_t v,
                           uint64_t other)
{
    if (t == PTX_F16X2 || t == PTX_BF16X2)
        return combine_pair(op, t == PTX_F16X2 ? PTX_F16 : PTX_BF16, old, v);
    return combine(op, t, flush, old, v, other);
}

/* A compare-and-swap loop, because blocks run on several host threads. */
#define APPLY(T)                                                                                   \
    do {                                                                                           \
        T *p = (T *)(void *)at;                                                                    \
        T old = __atomic_load_n(p, __ATOMIC_SEQ_CST);                                              \
        while (!__atomic_compare_exchange_n(                                                       \
            p, &old, (T)next_value(op, type, flush, old, (T)operand, (T)other), false,             \
            __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))                                                   \
            ;                                                                                      \
        return old;                                                                                \
    } while (0)

uint64_t sim_atomic_apply(uint8_t *at, sim_atomic_op op, ptx_type type, bool flush,
                          uint64_t operand, uint64_t other)
{
    switch (ptx_type_bytes(type)) {
    case 2:
        APPLY(uint16_t);
    case 4:
        APPLY(uint32_t);
    default:
        APPLY(uint64_t);
    }
}
