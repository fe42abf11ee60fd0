#include "sim/decode/objects.h"

enum { NOTHING_YET = -3 }; /* no instruction that was looked at writes it */

/* How a result comes from the sources. */
typedef enum rule {
    RULE_SAME,       /* it is the first */
    RULE_ONE_OF_TWO, /* or the second */
    RULE_SUM,
    RULE_DIFFERENCE,
    RULE_MULTIPLY_ADD,
    RULE_LOADED /* from memory */
} rule;

static const struct {
    const char *name;
    rule rule;
} rules[] = {{"mov", RULE_SAME},        {"cvt", RULE_SAME},       {"cvta", RULE_SAME},
             {"selp", RULE_ONE_OF_TWO}, {"add", RULE_SUM},        {"or", RULE_SUM},
             {"xor", RULE_SUM},         {"sub", RULE_DIFFERENCE}, {"mad", RULE_MULTIPLY_ADD},
             {"ld", RULE_LOADED},       {"ldu", RULE_LOADED},     {"atom", RULE_LOADED}};

typedef struct finder {
    const ptx_module *module;
    const ptx_function *function;
    int32_t *objects;
} finder;

int32_t objects_of(const ptx_module *module, const ptx_function *function, const int32_t *objects,
                   const ptx_operand *o)
{
    if (o->kind == PTX_OPERAND_REGISTER)
        return o->selector.length > 0 ? OBJECTS_SEVERAL
                                      : objects[o->index - function->first_register];
    if (o->kind != PTX_OPERAND_VARIABLE)
        return OBJECTS_NONE;
    const ptx_space space = module->variables[o->index].space;
    return space == PTX_SPACE_SHARED || space == PTX_SPACE_GLOBAL || space == PTX_SPACE_CONST
               ? (int32_t)o->index
               : OBJECTS_NONE;
}

static int32_t source(const finder *f, const ptx_statement *s, int i)
{
    return i < s->count
               ? objects_of(f->module, f->function, f->objects, &f->module->operands[s->first + i])
               : OBJECTS_NONE;
}

/* It is the one or the other. */
static int32_t either(int32_t a, int32_t b)
{
    return a == NOTHING_YET || a == b ? b : b == NOTHING_YET ? a : OBJECTS_SEVERAL;
}

static int32_t sum(int32_t a, int32_t b)
{
    return a == NOTHING_YET || b == NOTHING_YET ? NOTHING_YET
           : a == OBJECTS_NONE                  ? b
           : b == OBJECTS_NONE                  ? a
                                                : OBJECTS_SEVERAL;
}

/* An address that was neither moved nor added to is none any more. */
static int32_t mix(int32_t a, int32_t b)
{
    return a == NOTHING_YET || b == NOTHING_YET     ? NOTHING_YET
           : a == OBJECTS_NONE && b == OBJECTS_NONE ? OBJECTS_NONE
                                                    : OBJECTS_SEVERAL;
}

/* Mixes all sources, those in vectors too. */
static int32_t mixed(const finder *f, int first, int count)
{
    int32_t all = OBJECTS_NONE;
    for (int i = first; i < first + count; i++) {
        const ptx_operand *o = &f->module->operands[i];
        const bool several = o->kind == PTX_OPERAND_VECTOR || o->kind == PTX_OPERAND_GROUP ||
                             o->kind == PTX_OPERAND_PAIR;
        all = mix(all, several ? mixed(f, o->first, o->count)
                               : objects_of(f->module, f->function, f->objects, o));
    }
    return all;
}

static int32_t result_of(const finder *f, const ptx_statement *s)
{
    uint32_t length = 0;
    while (length < s->opcode.length && s->opcode.at[length] != '.')
        length++;
    const ptx_text name = {s->opcode.at, length};
    const ptx_operand *first = &f->module->operands[s->first + 1];
    const bool plain = s->count > 1 && first->kind != PTX_OPERAND_VECTOR;
    for (size_t i = 0; i < sizeof rules / sizeof *rules && plain; i++) {
        if (!ptx_text_is(name, rules[i].name))
            continue;
        const int32_t a = source(f, s, 1), b = source(f, s, 2);
        switch (rules[i].rule) {
        case RULE_SAME:
            return a;
        case RULE_ONE_OF_TWO:
            return either(a, b);
        case RULE_SUM:
            return sum(a, b);
        case RULE_DIFFERENCE:
            return b == OBJECTS_NONE ? a : mix(a, b);
        case RULE_MULTIPLY_ADD:
            return sum(mix(a, b), source(f, s, 3));
        case RULE_LOADED:
            return OBJECTS_NONE;
        }
    }
    return mixed(f, s->first + 1, s->count - 1);
}

/* Notes that one more instruction writes it: true where that tells something new. */
static bool note(const finder *f, const ptx_operand *o, int32_t object, bool part)
{
    bool changed = false;
    if (o->kind == PTX_OPERAND_REGISTER) {
        int32_t *known = &f->objects[o->index - f->function->first_register];
        const int32_t now = either(*known, part ? mix(object, OBJECTS_NONE) : object);
        changed = now != *known;
        *known = now;
    }
    if (o->kind == PTX_OPERAND_VECTOR || o->kind == PTX_OPERAND_GROUP ||
        o->kind == PTX_OPERAND_PAIR)
        for (int i = 0; i < o->count; i++)
            changed |= note(f, &f->module->operands[o->first + i], object, true);
    return changed;
}

void objects_find(const ptx_module *module, const ptx_function *function, int32_t *objects)
{
    const finder f = {module, function, objects};
    const int given = function->register_results + function->register_parameters;
    for (int i = 0; i < function->register_count; i++)
        objects[i] = i < given ? OBJECTS_NONE : NOTHING_YET;
    for (bool changed = true; changed;) {
        changed = false;
        for (int i = 0; i < function->statement_count; i++) {
            const ptx_statement *s = &module->statements[function->first_statement + i];
            if (s->count > 0)
                changed |= note(&f, &module->operands[s->first], result_of(&f, s), false);
        }
    }
    for (int i = 0; i < function->register_count; i++)
        if (objects[i] == NOTHING_YET)
            objects[i] = OBJECTS_NONE;
}
