#include <math.h>
#include <string.h>

#include "base/half.h"
#include "sim/program/operations.h"

static const sim_operation *const tables[] = {sim_integer_operations, sim_bit_operations,
                                              sim_float_operations, sim_half_operations};

const sim_operation *sim_operation_find(const char *name)
{
    for (size_t t = 0; t < sizeof tables / sizeof *tables; t++)
        for (const sim_operation *o = tables[t]; o->name; o++)
            if (strcmp(o->name, name) == 0)
                return o;
    return NULL;
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
} comparison;

#define ROWS(T, s)                                                                                 \
    {"eq", T, eq_##s}, {"ne", T, ne_##s}, {"lt", T, lt_##s}, {"le", T, le_##s}, {"gt", T, gt_##s}, \
    {                                                                                              \
        "ge", T, ge_##s                                                                            \
    }
#define UNSIGNED_ROWS(T, s)                                                                        \
    ROWS(T, s), {"lo", T, lt_##s}, {"ls", T, le_##s}, {"hi", T, gt_##s},                           \
    {                                                                                              \
        "hs", T, ge_##s                                                                            \
    }
#define FLOAT_ROWS(T, s)                                                                           \
    ROWS(T, s), {"equ", T, equ_##s}, {"neu", T, neu_##s}, {"ltu", T, ltu_##s},                     \
        {"leu", T, leu_##s}, {"gtu", T, gtu_##s}, {"geu", T, geu_##s}, {"num", T, num_##s},        \
    {                                                                                              \
        "nan", T, nan_##s                                                                          \
    }

#define CLASS_ROWS(T, s)                                                                           \
    {"testp.finite", T, finite_##s}, {"testp.infinite", T, infinite_##s},                          \
        {"testp.number", T, num_##s}, {"testp.notanumber", T, nan_##s},                            \
        {"testp.normal", T, normal_##s},                                                           \
    {                                                                                              \
        "testp.subnormal", T, subnormal_##s                                                        \
    }

static const comparison comparisons[] = {
    CLASS_ROWS(PTX_F32, f32),    CLASS_ROWS(PTX_F64, f64),    {"eq", PTX_B16, eq_u16},
    {"ne", PTX_B16, ne_u16},     {"eq", PTX_B32, eq_u32},     {"ne", PTX_B32, ne_u32},
    {"eq", PTX_B64, eq_u64},     {"ne", PTX_B64, ne_u64},     UNSIGNED_ROWS(PTX_U16, u16),
    ROWS(PTX_S16, s16),          UNSIGNED_ROWS(PTX_U32, u32), ROWS(PTX_S32, s32),
    UNSIGNED_ROWS(PTX_U64, u64), ROWS(PTX_S64, s64),          FLOAT_ROWS(PTX_F32, f32),
    FLOAT_ROWS(PTX_F64, f64),    FLOAT_ROWS(PTX_F16, f16),    FLOAT_ROWS(PTX_BF16, bf16)};

sim_compare sim_compare_find(const char *name, ptx_type type)
{
    for (size_t i = 0; i < sizeof comparisons / sizeof *comparisons; i++)
        if (comparisons[i].type == type && strcmp(comparisons[i].name, name) == 0)
            return comparisons[i].compare;
    return NULL;
}
