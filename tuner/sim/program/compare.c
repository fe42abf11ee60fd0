/* Comparisons over 32 lanes, and the arithmetic of atomics. */
#include <math.h>
#include <string.h>

#include "base/bits.h"
#include "sim/program/operations.h"

/* Each macro applies X to the comparisons of a kind of type. X gets a name, an expression over x
 * and y, and a rule (sim_rule). For NaN, "ne" of floats is false, and the forms with u or nan are
 * true. CLASSES has the classes of testp, which compares its operand with itself. */
/* clang-format off */
#define EQUALITY(X, ...)                                                                           \
    X(eq, x == y, RULE_EQUAL, __VA_ARGS__) X(ne, x != y, RULE_UNEQUAL, __VA_ARGS__)
#define ORDER(X, ...)                                                                              \
    X(lt, x < y, RULE_LESS, __VA_ARGS__) X(le, x <= y, RULE_LESS_EQUAL, __VA_ARGS__)               \
    X(gt, x > y, RULE_GREATER, __VA_ARGS__) X(ge, x >= y, RULE_GREATER_EQUAL, __VA_ARGS__)
#define INTEGERS(X, ...) EQUALITY(X, __VA_ARGS__) ORDER(X, __VA_ARGS__)
#define FLOATS(X, ...)                                                                             \
    X(eq, x == y, RULE_EQUAL, __VA_ARGS__) X(ne, x < y || x > y, RULE_UNEQUAL, __VA_ARGS__)        \
    ORDER(X, __VA_ARGS__)                                                                          \
    X(equ, !(x < y || x > y), 0, __VA_ARGS__) X(neu, x != y, 0, __VA_ARGS__)                       \
    X(ltu, !(x >= y), 0, __VA_ARGS__) X(leu, !(x > y), 0, __VA_ARGS__)                             \
    X(gtu, !(x <= y), 0, __VA_ARGS__) X(geu, !(x < y), 0, __VA_ARGS__)                             \
    X(num, x == x && y == y, 0, __VA_ARGS__) X(nan, x != x || y != y, 0, __VA_ARGS__)
#define LEAST (sizeof x == 4 ? 0x1p-126 : 0x1p-1022) /* the smallest normal number */
#define CLASSES(X, ...)                                                                            \
    X(finite, x < INFINITY && y < INFINITY, 0, __VA_ARGS__)                                        \
    X(infinite, x == INFINITY && y == INFINITY, 0, __VA_ARGS__)                                    \
    X(number, x == x && y == y, 0, __VA_ARGS__) X(notanumber, x != x || y != y, 0, __VA_ARGS__)    \
    X(normal, (x >= LEAST && x < INFINITY) || y == 0, 0, __VA_ARGS__)                              \
    X(subnormal, x > 0 && y < LEAST, 0, __VA_ARGS__)
/* clang-format on */

/* Defines the function of a comparison. The lanes have type T, and `load` converts them. */
#define DEFINE(name, expression, rule, suffix, T, load)                                            \
    static uint32_t name##_##suffix(const void *pa, const void *pb)                                \
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
CLASSES(DEFINE, f32, float, fabsf)
CLASSES(DEFINE, f64, double, fabs)
INTEGERS(DEFINE, u16, uint32_t, AS_U16)
INTEGERS(DEFINE, s16, uint32_t, AS_S16)
INTEGERS(DEFINE, u32, uint32_t, SAME)
INTEGERS(DEFINE, s32, int32_t, SAME)
INTEGERS(DEFINE, u64, uint64_t, SAME)
INTEGERS(DEFINE, s64, int64_t, SAME)
FLOATS(DEFINE, f32, float, SAME)
FLOATS(DEFINE, f64, double, SAME)
FLOATS(DEFINE, f16, uint32_t, AS_F16)
FLOATS(DEFINE, bf16, uint32_t, AS_BF16)

/* clang-format off */
#define ROW(name, expression, rule, suffix, type) {#name, type, name##_##suffix, rule},
#define CLASS_ROW(name, expression, rule, suffix, type) {"testp." #name, type, name##_##suffix, rule},
static const struct {
    const char *name;
    ptx_type type;
    sim_compare compare;
    uint8_t rule; /* sim_rule */
} comparisons[] = {
    CLASSES(CLASS_ROW, f32, PTX_F32) CLASSES(CLASS_ROW, f64, PTX_F64)
    EQUALITY(ROW, u16, PTX_B16) EQUALITY(ROW, u32, PTX_B32) EQUALITY(ROW, u64, PTX_B64)
    INTEGERS(ROW, u16, PTX_U16) INTEGERS(ROW, u32, PTX_U32) INTEGERS(ROW, u64, PTX_U64)
    INTEGERS(ROW, s16, PTX_S16) INTEGERS(ROW, s32, PTX_S32) INTEGERS(ROW, s64, PTX_S64)
    FLOATS(ROW, f32, PTX_F32) FLOATS(ROW, f64, PTX_F64)
    FLOATS(ROW, f16, PTX_F16) FLOATS(ROW, bf16, PTX_BF16)};
/* clang-format on */

/* Returns the signed name of an unsigned order such as "lo", or the name itself. */
static const char *plain_name(const char *name, ptx_type type)
{
    static const char *const orders[][2] = {{"lo", "lt"}, {"ls", "le"}, {"hi", "gt"}, {"hs", "ge"}};
    for (size_t i = 0; i < 4 && (type == PTX_U16 || type == PTX_U32 || type == PTX_U64); i++)
        if (strcmp(orders[i][0], name) == 0)
            return orders[i][1];
    return name;
}

sim_compare sim_compare_find(const char *comparison, ptx_type type, sim_rule *rule)
{
    const char *name = plain_name(comparison, type);
    for (size_t i = 0; i < sizeof comparisons / sizeof *comparisons; i++)
        if (comparisons[i].type == type && strcmp(comparisons[i].name, name) == 0) {
            /* 16-bit comparisons have no rule. */
            *rule = ptx_type_bytes(type) < 4 ? RULE_NUMBERS : (sim_rule)comparisons[i].rule;
            return comparisons[i].compare;
        }
    return NULL;
}

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

/* PTX ISA, "atom": float additions flush subnormal numbers in global, not in shared memory. */
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

/* Applies an atomic by a compare-and-swap loop, because blocks run on several host threads. */
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
