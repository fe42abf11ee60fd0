/* Additions and subtractions in several words, which hand the carry on in the condition code
 * register. PTX ISA, "Extended-Precision Arithmetic Instructions". Each becomes the steps by which
 * a word's carry is found. */
#include <stdio.h>
#include <string.h>

#include "sim/decode/decoder.h"

typedef struct sum { /* what the instruction does */
    bool subtracts;
    bool takes, gives; /* the carry (the borrow of a subtraction) */
    ptx_type type;     /* of its words, unsigned */
    uint32_t bytes;
} sum;

static int32_t carry_slot(decoder *d)
{
    if (d->carry == SIM_NO_SLOT)
        d->carry = decode_new_slot(d, 0);
    return d->carry;
}

static int32_t emit_step(decoder *d, const sum *s, int32_t a, int32_t b)
{
    char name[16];
    snprintf(name, sizeof name, "%s.u%u", s->subtracts ? "sub" : "add", 8 * s->bytes);
    return decode_step(d, name, (int32_t[]){a, b}, 2);
}

/* A predicate: did the step from a to `result` wrap around? */
static int32_t emit_wrapped(decoder *d, const sum *s, int32_t result, int32_t a)
{
    int32_t p = decode_new_slot(d, 0);
    decode_compare(d, s->subtracts ? "gt" : "lt", s->type, p, result, a)->extra = true;
    return p;
}

static void emit_logic(decoder *d, sim_logic op, int32_t to, int32_t a, int32_t b)
{
    sim_instruction *c = decode_emit(d, SIM_LOGIC, SIM_CLASS_PREDICATE);
    c->op = (uint8_t)op;
    c->d = to;
    c->a = a;
    c->b = b;
    c->extra = true;
}

/* The carry as a number. */
static int32_t emit_carry(decoder *d, const sum *s)
{
    const destination to = {decode_new_slot(d, s->bytes), SIM_NO_SLOT, (uint8_t)s->bytes};
    int32_t one = decode_constant(d, 1, s->bytes), zero = decode_constant(d, 0, s->bytes);
    decode_select(d, &to, one, zero, carry_slot(d))->extra = true;
    return to.slot;
}

static int32_t emit_sum(decoder *d, const sum *s, int32_t a, int32_t b)
{
    int32_t result = emit_step(d, s, a, b), wrapped = SIM_NO_SLOT;
    if (s->gives)
        wrapped = emit_wrapped(d, s, result, a);
    if (s->takes) {
        int32_t before = result;
        result = emit_step(d, s, before, emit_carry(d, s));
        if (s->gives)
            emit_logic(d, SIM_LOGIC_OR, wrapped, wrapped, emit_wrapped(d, s, result, before));
    }
    if (s->gives)
        emit_logic(d, SIM_LOGIC_MOVE, carry_slot(d), wrapped, wrapped);
    return result;
}

/* {add,sub}[c][.cc].TYPE d, a, b; mad[c].{lo,hi}[.cc].TYPE d, a, b, c */
at_status decode_carrying(decoder *d)
{
    bool multiplies = d->op.name[0] == 'm';
    sum s = {.subtracts = d->op.name[0] == 's',
             .takes = d->op.name[3] == 'c',
             .gives = decode_has(d, "cc")};
    if (!s.takes && !s.gives)
        return decode_arithmetic(d);
    ptx_type type = d->op.type_count == 1 ? d->op.types[0] : PTX_PRED;
    s.bytes = ptx_type_bytes(type);
    s.type = s.bytes == 8 ? PTX_U64 : PTX_U32;
    if (type != PTX_U32 && type != PTX_S32 && type != PTX_U64 && type != PTX_S64)
        return decode_unknown(d);
    static const sim_cost sums[] = {SIM_COST(EITHER, 1), SIM_COST(EITHER, 2)},
                          products[] = {SIM_COST(PRODUCT, 1), SIM_COST(PRODUCT, 4)};
    d->cost = multiplies ? &products[s.bytes == 8] : &sums[s.bytes == 8];
    decode_count(d, multiplies ? 4 : 3, multiplies ? 4 : 3);
    int32_t sources[3];
    for (int i = 0; i < (multiplies ? 3 : 2); i++)
        sources[i] = decode_source(d, decode_operand(d, i + 1), s.bytes, type);
    if (multiplies) {
        char name[16];
        snprintf(name, sizeof name, "mul.%s.%c%u", decode_has(d, "hi") ? "hi" : "lo",
                 type_is_signed(type) ? 's' : 'u', 8 * s.bytes);
        sources[0] = decode_step(d, name, sources, 2);
        sources[1] = sources[2];
    }
    destination to = decode_destination(d, decode_operand(d, 0), s.bytes);
    int32_t result = emit_sum(d, &s, sources[0], sources[1]);
    decode_compute(d, s.bytes == 8 ? "mov.b64" : "mov.b32", to.slot, &result, 1)->count_class =
        SIM_CLASS_INTEGER;
    return decode_finish(d, &to, type_is_signed(type));
}
