#include "sim/decode/alignment.h"

#include <string.h>

/* How the zeros of a result follow from those of its sources. */
typedef enum rule {
    RULE_LEAST,
    RULE_SUM,
    RULE_MULTIPLY_ADD,
    RULE_SHIFT_LEFT,
    RULE_SHIFT_RIGHT,
    RULE_MOST
} rule;

static const struct {
    const char *name;
    rule rule;
} rules[] = {{"mov", RULE_LEAST},      {"cvt", RULE_LEAST},       {"cvta", RULE_LEAST},
             {"add", RULE_LEAST},      {"sub", RULE_LEAST},       {"or", RULE_LEAST},
             {"xor", RULE_LEAST},      {"min", RULE_LEAST},       {"max", RULE_LEAST},
             {"neg", RULE_LEAST},      {"mul", RULE_SUM},         {"mad", RULE_MULTIPLY_ADD},
             {"shl", RULE_SHIFT_LEFT}, {"shr", RULE_SHIFT_RIGHT}, {"and", RULE_MOST},
             {"selp", RULE_LEAST}};

typedef struct finder {
    const ptx_module *module;
    int first_register;
    const uint64_t *addresses;
    uint8_t *zeros;
} finder;

static int zeros_of_bits(uint64_t bits)
{
    return bits && __builtin_ctzll(bits) < ALIGNMENT_MOST ? __builtin_ctzll(bits) : ALIGNMENT_MOST;
}

static int least(int a, int b)
{
    return a < b ? a : b;
}

static int zeros_of(const finder *f, const ptx_operand *o)
{
    const ptx_variable *v;
    switch (o->kind) {
    case PTX_OPERAND_REGISTER:
        return f->zeros[o->index - f->first_register];
    case PTX_OPERAND_INTEGER:
        return zeros_of_bits(o->bits);
    case PTX_OPERAND_VARIABLE:
        v = &f->module->variables[o->index];
        /* Only shared memory lies on the GPU as it does here; of other variables their alignment is
         * sure. */
        return v->space == PTX_SPACE_SHARED
                   ? zeros_of_bits(f->addresses[o->index] + (uint64_t)o->offset)
                   : least(zeros_of_bits(v->alignment), zeros_of_bits((uint64_t)o->offset));
    default:
        return 0;
    }
}

static bool is_integer(ptx_text opcode)
{
    ptx_type type;
    return ptx_opcode_type(opcode, &type) && ptx_type_bytes(type) >= 2 && type != PTX_F16 &&
           type != PTX_BF16 && type != PTX_F32 && type != PTX_F64;
}

/* Zeros of what the statement computes. */
static int result_of(const finder *f, const ptx_statement *s)
{
    const ptx_operand *o = &f->module->operands[s->first];
    uint32_t length = 0;
    while (length < s->opcode.length && s->opcode.at[length] != '.')
        length++;
    ptx_text name = {s->opcode.at, length};
    int a = s->count > 1 ? zeros_of(f, &o[1]) : 0,
        b = s->count > 2 ? zeros_of(f, &o[2]) : ALIGNMENT_MOST;
    bool constant = s->count > 2 && o[2].kind == PTX_OPERAND_INTEGER;
    bool high = s->opcode.length > length + 3 && memcmp(s->opcode.at + length, ".hi", 3) == 0;
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        if (!ptx_text_is(name, rules[i].name) || !is_integer(s->opcode))
            continue;
        switch (rules[i].rule) {
        case RULE_LEAST:
            return least(a, b);
        case RULE_SUM:
            return high ? 0 : least(a + b, ALIGNMENT_MOST);
        case RULE_MULTIPLY_ADD:
            return high || s->count < 4 ? 0
                                        : least(least(a + b, ALIGNMENT_MOST), zeros_of(f, &o[3]));
        case RULE_SHIFT_LEFT:
            return least(a + (constant && o[2].bits < 64 ? (int)o[2].bits : 0), ALIGNMENT_MOST);
        case RULE_SHIFT_RIGHT:
            return constant && o[2].bits < (uint64_t)a && a < ALIGNMENT_MOST ? a - (int)o[2].bits
                                                                             : 0;
        case RULE_MOST:
            return a > b ? a : b;
        }
    }
    return 0;
}

static bool lower(const finder *f, const ptx_operand *o, int zeros)
{
    bool changed = false;
    if (o->kind == PTX_OPERAND_REGISTER && zeros < f->zeros[o->index - f->first_register]) {
        f->zeros[o->index - f->first_register] = (uint8_t)zeros;
        changed = true;
    }
    if (o->kind == PTX_OPERAND_VECTOR || o->kind == PTX_OPERAND_GROUP ||
        o->kind == PTX_OPERAND_PAIR)
        for (int i = 0; i < o->count; i++)
            changed |= lower(f, &f->module->operands[o->first + i], 0);
    return changed;
}

void alignment_find(const ptx_module *module, const ptx_function *function,
                    const uint64_t *addresses, uint8_t *zeros)
{
    finder f = {module, function->first_register, addresses, zeros};
    /* A value that goes round a loop must not stand in its own way: all begin divisible, and lose
     * it. */
    memset(zeros, ALIGNMENT_MOST, (size_t)function->register_count);
    memset(zeros, 0, (size_t)(function->register_results + function->register_parameters));
    for (bool changed = true; changed;) {
        changed = false;
        for (int i = 0; i < function->statement_count; i++) {
            const ptx_statement *s = &module->statements[function->first_statement + i];
            if (s->count > 0)
                changed |= lower(&f, &module->operands[s->first], result_of(&f, s));
        }
    }
}
