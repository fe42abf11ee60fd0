#include <math.h>
#include <string.h>

#include "base/half.h"
#include "sim/program/operations.h"

static const sim_operation *const tables[] = {sim_integer_operations, sim_bit_operations,
                                              sim_float_operations, sim_half_operations};

/* Is the name one of those of the list? */
static bool is_among(const char *names, const char *name, size_t length)
{
    for (const char *at = names; at; at = strchr(at, ' ')) {
        at += *at == ' ';
        if (strncmp(at, name, length) == 0 && (at[length] == ' ' || at[length] == '\0'))
            return true;
    }
    return false;
}

const sim_operation *sim_operation_find(const char *name)
{
    const size_t length = strlen(name);
    for (size_t t = 0; t < sizeof tables / sizeof *tables; t++)
        for (const sim_operation *o = tables[t]; o->names; o++)
            if (is_among(o->names, name, length))
                return o;
    return NULL;
}

affine_order sim_number_of(ptx_type t)
{
    return t == PTX_S8 || t == PTX_S16 || t == PTX_S32 || t == PTX_S64 ? AFFINE_SIGNED
           : t == PTX_F32 || t == PTX_F64                              ? AFFINE_REAL
                                                                       : AFFINE_UNSIGNED;
}

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
/* "ne" of floats is false when an operand is NaN; the u forms are true then. */
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

/* testp: what a number is; its second operand is the first again. */
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
            /* Comparisons of 16 bits have no rule. */
            *rule = ptx_type_bytes(type) < 4 ? RULE_NUMBERS : (sim_rule)comparisons[i].rule;
            return comparisons[i].compare;
        }
    return NULL;
}
