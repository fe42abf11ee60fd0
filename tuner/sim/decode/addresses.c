#include "sim/decode/addresses.h"

#include <string.h>

enum { NOTHING_YET = -3 }; /* no instruction visited so far writes the register */

/* Rules that compute the zero bits of a result from the zero bits of its sources. */
typedef enum zeros_rule {
    ZEROS_NONE,
    ZEROS_LEAST,
    ZEROS_SUM,
    ZEROS_MULTIPLY_ADD,
    ZEROS_SHIFT_LEFT,
    ZEROS_SHIFT_RIGHT,
    ZEROS_MOST
} zeros_rule;

/* Rules that find the variable of a result from the variables of its sources. */
typedef enum object_rule {
    OBJECT_MIXED,  /* the result is no address */
    OBJECT_FIRST,  /* the variable of the first source */
    OBJECT_EITHER, /* the variable of the first or second source */
    OBJECT_SUM,
    OBJECT_DIFFERENCE,
    OBJECT_MULTIPLY_ADD,
    OBJECT_LOADED /* the result comes from memory */
} object_rule;

typedef struct row {
    const char *name;
    zeros_rule zeros;
    object_rule object;
} row;

static const row rows[] = {{"mov", ZEROS_LEAST, OBJECT_FIRST},
                           {"cvt", ZEROS_LEAST, OBJECT_FIRST},
                           {"cvta", ZEROS_LEAST, OBJECT_FIRST},
                           {"selp", ZEROS_LEAST, OBJECT_EITHER},
                           {"add", ZEROS_LEAST, OBJECT_SUM},
                           {"or", ZEROS_LEAST, OBJECT_SUM},
                           {"xor", ZEROS_LEAST, OBJECT_SUM},
                           {"sub", ZEROS_LEAST, OBJECT_DIFFERENCE},
                           {"min", ZEROS_LEAST, OBJECT_MIXED},
                           {"max", ZEROS_LEAST, OBJECT_MIXED},
                           {"neg", ZEROS_LEAST, OBJECT_MIXED},
                           {"mul", ZEROS_SUM, OBJECT_MIXED},
                           {"mad", ZEROS_MULTIPLY_ADD, OBJECT_MULTIPLY_ADD},
                           {"shl", ZEROS_SHIFT_LEFT, OBJECT_MIXED},
                           {"shr", ZEROS_SHIFT_RIGHT, OBJECT_MIXED},
                           {"and", ZEROS_MOST, OBJECT_MIXED},
                           {"ld", ZEROS_NONE, OBJECT_LOADED},
                           {"ldu", ZEROS_NONE, OBJECT_LOADED},
                           {"atom", ZEROS_NONE, OBJECT_LOADED}};

typedef struct finder {
    const ptx_module *module;
    const ptx_function *function;
    const uint64_t *addresses;
    uint8_t *zeros;
    int32_t *objects;
} finder;

/* Returns the row of an opcode; unknown instructions have the row without rules. */
static const row *row_of(ptx_text opcode)
{
    static const row other = {"", ZEROS_NONE, OBJECT_MIXED};
    const char *dot = memchr(opcode.at, '.', opcode.length);
    const ptx_text name = {opcode.at, dot ? (uint32_t)(dot - opcode.at) : opcode.length};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (ptx_text_is(name, rows[i].name))
            return &rows[i];
    return &other;
}

static bool is_list(const ptx_operand *o)
{
    return o->kind == PTX_OPERAND_VECTOR || o->kind == PTX_OPERAND_GROUP ||
           o->kind == PTX_OPERAND_PAIR;
}

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
        return f->zeros[o->index - f->function->first_register];
    case PTX_OPERAND_INTEGER:
        return zeros_of_bits(o->bits);
    case PTX_OPERAND_VARIABLE:
        v = &f->module->variables[o->index];
        /* A shared variable has its address on a GPU. For others, only the alignment is known. */
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

static int zeros_of_result(const finder *f, const ptx_statement *s)
{
    const ptx_operand *o = &f->module->operands[s->first];
    const row *r = row_of(s->opcode);
    const size_t length = strlen(r->name);
    int a = s->count > 1 ? zeros_of(f, &o[1]) : 0,
        b = s->count > 2 ? zeros_of(f, &o[2]) : ALIGNMENT_MOST;
    bool constant = s->count > 2 && o[2].kind == PTX_OPERAND_INTEGER;
    bool high = s->opcode.length > length + 3 && memcmp(s->opcode.at + length, ".hi", 3) == 0;
    if (!is_integer(s->opcode))
        return 0;
    switch (r->zeros) {
    case ZEROS_LEAST:
        return least(a, b);
    case ZEROS_SUM:
        return high ? 0 : least(a + b, ALIGNMENT_MOST);
    case ZEROS_MULTIPLY_ADD:
        return high || s->count < 4 ? 0 : least(least(a + b, ALIGNMENT_MOST), zeros_of(f, &o[3]));
    case ZEROS_SHIFT_LEFT:
        return least(a + (constant && o[2].bits < 64 ? (int)o[2].bits : 0), ALIGNMENT_MOST);
    case ZEROS_SHIFT_RIGHT:
        return constant && o[2].bits < (uint64_t)a && a < ALIGNMENT_MOST ? a - (int)o[2].bits : 0;
    case ZEROS_MOST:
        return a > b ? a : b;
    default:
        return 0;
    }
}

/* Lowers a destination's number of zero bits (0 for a vector). Returns whether it changed. */
static bool lower(const finder *f, const ptx_operand *o, int zeros)
{
    bool changed = false;
    if (o->kind == PTX_OPERAND_REGISTER &&
        zeros < f->zeros[o->index - f->function->first_register]) {
        f->zeros[o->index - f->function->first_register] = (uint8_t)zeros;
        changed = true;
    }
    if (is_list(o))
        for (int i = 0; i < o->count; i++)
            changed |= lower(f, &f->module->operands[o->first + i], 0);
    return changed;
}

void addresses_find_alignment(const ptx_module *module, const ptx_function *function,
                              const uint64_t *addresses, uint8_t *zeros)
{
    const finder f = {module, function, .addresses = addresses, .zeros = zeros};
    /* Registers start with the most zero bits and lose bits that a write may set. Otherwise, a
     * value that a loop computes from itself would never have zero bits. */
    memset(zeros, ALIGNMENT_MOST, (size_t)function->register_count);
    memset(zeros, 0, (size_t)(function->register_results + function->register_parameters));
    for (bool changed = true; changed;) {
        changed = false;
        for (int i = 0; i < function->statement_count; i++) {
            const ptx_statement *s = &module->statements[function->first_statement + i];
            if (s->count > 0)
                changed |= lower(&f, &module->operands[s->first], zeros_of_result(&f, s));
        }
    }
}

int32_t addresses_object(const ptx_module *module, const ptx_function *function,
                         const int32_t *objects, const ptx_operand *o)
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

/* Returns the variable of a value that is either of two values. */
static int32_t either(int32_t a, int32_t b)
{
    return a == NOTHING_YET || a == b ? b : b == NOTHING_YET ? a : OBJECTS_SEVERAL;
}

/* Returns the variable of the sum of two values. */
static int32_t sum(int32_t a, int32_t b)
{
    return a == NOTHING_YET || b == NOTHING_YET ? NOTHING_YET
           : a == OBJECTS_NONE                  ? b
           : b == OBJECTS_NONE                  ? a
                                                : OBJECTS_SEVERAL;
}

/* Returns the variable of another combination of two values. The result is no address. */
static int32_t mix(int32_t a, int32_t b)
{
    return a == NOTHING_YET || b == NOTHING_YET     ? NOTHING_YET
           : a == OBJECTS_NONE && b == OBJECTS_NONE ? OBJECTS_NONE
                                                    : OBJECTS_SEVERAL;
}

/* Returns the variable of a combination of all sources, including the elements of vectors. */
static int32_t mixed(const finder *f, int first, int count)
{
    int32_t all = OBJECTS_NONE;
    for (int i = first; i < first + count; i++) {
        const ptx_operand *o = &f->module->operands[i];
        all = mix(all, is_list(o) ? mixed(f, o->first, o->count)
                                  : addresses_object(f->module, f->function, f->objects, o));
    }
    return all;
}

static int32_t object_of_result(const finder *f, const ptx_statement *s)
{
    const ptx_operand *o = &f->module->operands[s->first];
    const bool plain = s->count > 1 && o[1].kind != PTX_OPERAND_VECTOR;
    const object_rule rule = plain ? row_of(s->opcode)->object : OBJECT_MIXED;
    int32_t sources[4] = {OBJECTS_NONE, OBJECTS_NONE, OBJECTS_NONE, OBJECTS_NONE};
    for (int i = 1; i < 4 && i < s->count; i++)
        sources[i] = addresses_object(f->module, f->function, f->objects, &o[i]);
    const int32_t a = sources[1], b = sources[2];
    switch (rule) {
    case OBJECT_FIRST:
        return a;
    case OBJECT_EITHER:
        return either(a, b);
    case OBJECT_SUM:
        return sum(a, b);
    case OBJECT_DIFFERENCE:
        return b == OBJECTS_NONE ? a : mix(a, b);
    case OBJECT_MULTIPLY_ADD:
        return sum(mix(a, b), sources[3]);
    case OBJECT_LOADED:
        return OBJECTS_NONE;
    default:
        return mixed(f, s->first + 1, s->count - 1);
    }
}

/* Adds a write to a destination, or to a part of it. Returns whether a register changed. */
static bool add_write(const finder *f, const ptx_operand *o, int32_t object, bool part)
{
    bool changed = false;
    if (o->kind == PTX_OPERAND_REGISTER) {
        int32_t *known = &f->objects[o->index - f->function->first_register];
        const int32_t now = either(*known, part ? mix(object, OBJECTS_NONE) : object);
        changed = now != *known;
        *known = now;
    }
    if (is_list(o))
        for (int i = 0; i < o->count; i++)
            changed |= add_write(f, &f->module->operands[o->first + i], object, true);
    return changed;
}

void addresses_find_objects(const ptx_module *module, const ptx_function *function,
                            int32_t *objects)
{
    const finder f = {module, function, .objects = objects};
    const int given = function->register_results + function->register_parameters;
    for (int i = 0; i < function->register_count; i++)
        objects[i] = i < given ? OBJECTS_NONE : NOTHING_YET;
    for (bool changed = true; changed;) {
        changed = false;
        for (int i = 0; i < function->statement_count; i++) {
            const ptx_statement *s = &module->statements[function->first_statement + i];
            if (s->count > 0)
                changed |=
                    add_write(&f, &module->operands[s->first], object_of_result(&f, s), false);
        }
    }
    for (int i = 0; i < function->register_count; i++)
        if (objects[i] == NOTHING_YET)
            objects[i] = OBJECTS_NONE;
}
