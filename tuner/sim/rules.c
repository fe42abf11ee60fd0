#include "sim/rules.h"

#include <string.h>

#include "sim/program/operations.h"

static bool begins(const char *name, const char *with)
{
    return strncmp(name, with, strlen(with)) == 0;
}

static affine_order order_of(const char *name)
{
    const char *type = strrchr(name, '.');
    return type && type[1] == 's'   ? AFFINE_SIGNED
           : type && type[1] == 'f' ? AFFINE_REAL
                                    : AFFINE_UNSIGNED;
}

static const char *name_of(sim_compute compute)
{
    static const sim_operation *const tables[] = {sim_integer_operations, sim_bit_operations,
                                                  sim_float_operations};
    for (size_t t = 0; t < sizeof tables / sizeof *tables; t++)
        for (const sim_operation *o = tables[t]; o->name; o++)
            if (o->compute == compute)
                return o->name;
    return "";
}

manner sim_rule_of_compute(const sim_instruction *c)
{
    static const struct {
        const char *name;
        rule rule;
    } rows[] = {{"mov.", RULE_COPY},
                {"narrow", RULE_COPY},
                {"space.add", RULE_ADD},
                {"space.sub", RULE_SUBTRACT},
                {"extend.", RULE_WIDEN},
                {"add.u32", RULE_ADD},
                {"add.u64", RULE_ADD},
                {"sub.u32", RULE_SUBTRACT},
                {"sub.u64", RULE_SUBTRACT},
                {"mul.lo.u32", RULE_MULTIPLY},
                {"mul.lo.u64", RULE_MULTIPLY},
                {"mul.wide.u32", RULE_MULTIPLY},
                {"mul.wide.s32", RULE_MULTIPLY},
                {"mad.lo.u32", RULE_MULTIPLY_ADD},
                {"mad.lo.u64", RULE_MULTIPLY_ADD},
                {"mad.wide.u32", RULE_MULTIPLY_ADD},
                {"mad.wide.s32", RULE_MULTIPLY_ADD},
                {"shl.b32", RULE_SHIFT_LEFT},
                {"shl.b64", RULE_SHIFT_LEFT},
                {"shr.u32", RULE_SHIFT_RIGHT},
                {"shr.s32", RULE_SHIFT_RIGHT},
                {"shr.u64", RULE_SHIFT_RIGHT},
                {"shr.s64", RULE_SHIFT_RIGHT},
                {"div.u32", RULE_DIVIDE},
                {"div.s32", RULE_DIVIDE},
                {"div.u64", RULE_DIVIDE},
                {"div.s64", RULE_DIVIDE},
                {"rem.u32", RULE_REMAINDER},
                {"rem.s32", RULE_REMAINDER},
                {"rem.u64", RULE_REMAINDER},
                {"rem.s64", RULE_REMAINDER},
                {"and.b", RULE_AND},
                {"bfe.u", RULE_TAKE_FIELD},
                {"bfi.b", RULE_PUT_FIELD},
                {"not.b32", RULE_NOT},
                {"not.b64", RULE_NOT},
                {"neg.s32", RULE_NEGATE},
                {"neg.s64", RULE_NEGATE},
                {"or.b", RULE_OR},
                {"xor.b", RULE_OR},
                {"min.u32", RULE_LEAST},
                {"min.s32", RULE_LEAST},
                {"min.u64", RULE_LEAST},
                {"min.s64", RULE_LEAST},
                {"max.u32", RULE_MOST},
                {"max.s32", RULE_MOST},
                {"max.u64", RULE_MOST},
                {"max.s64", RULE_MOST},
                {"mul.hi.u32", RULE_MONOTONE},
                {"mul.hi.s32", RULE_MONOTONE},
                {"mul.hi.u64", RULE_MONOTONE},
                {"mul.hi.s64", RULE_MONOTONE}};
    static const char *const real[] = {"add.",  "sub.",  "mul.", "fma.", "mad.",  "div.",
                                       "min.f", "max.f", "neg.", "rcp.", "sqrt.", "rsqrt."};
    const char *name = name_of(c->compute);
    manner m = {.rule = RULE_NUMBERS, .order = (uint8_t)order_of(name)};
    if (c->saturate)
        return m;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (begins(name, rows[i].name))
            m.rule = (uint8_t)rows[i].rule;
    for (size_t i = 0; m.order == AFFINE_REAL && i < sizeof real / sizeof *real; i++)
        if (begins(name, real[i]) && !strstr(name, "x2"))
            m.rule = RULE_MONOTONE;
    m.is_wide = strstr(name, ".wide.") != NULL;
    m.order = m.rule == RULE_WIDEN && name[7] == 's' ? AFFINE_SIGNED : m.order;
    return m;
}

affine_order sim_rule_order(ptx_type t)
{
    return t == PTX_S8 || t == PTX_S16 || t == PTX_S32 || t == PTX_S64 ? AFFINE_SIGNED
           : t == PTX_F32 || t == PTX_F64                              ? AFFINE_REAL
                                                                       : AFFINE_UNSIGNED;
}

manner sim_rule_of_compare(const sim_instruction *c)
{
    static const struct {
        const char *name;
        rule rule;
    } rows[] = {{"eq", RULE_EQUAL},        {"ne", RULE_UNEQUAL},    {"lt", RULE_LESS},
                {"le", RULE_LESS_EQUAL},   {"gt", RULE_GREATER},    {"ge", RULE_GREATER_EQUAL},
                {"lo", RULE_LESS},         {"ls", RULE_LESS_EQUAL}, {"hi", RULE_GREATER},
                {"hs", RULE_GREATER_EQUAL}};
    manner m = {.rule = RULE_NUMBERS, .order = (uint8_t)sim_rule_order((ptx_type)c->type)};
    const uint32_t bytes = ptx_type_bytes((ptx_type)c->type);
    if (bytes < 4 || c->type == PTX_F16X2 || c->type == PTX_BF16X2)
        return m;
    for (size_t i = 0; i < sizeof rows / sizeof *rows && m.rule == RULE_NUMBERS; i++)
        if (sim_compare_find(rows[i].name, (ptx_type)c->type) == c->compare)
            m.rule = (uint8_t)rows[i].rule;
    return m;
}
