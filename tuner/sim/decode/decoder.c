#include "sim/decode/decoder.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "sim/decode/addresses.h"

static const size_t most_instructions = (size_t)4 << 20;

at_status decode_fail(decoder *d, const char *format, ...)
{
    if (d->status)
        return d->status;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(d->reason, sizeof d->reason, format, arguments);
    va_end(arguments);
    return d->status = error_set_at(d->error, AT_FORMAT, d->module->name,
                                    d->statement ? d->statement->line : 0, "%s", d->reason);
}

/* Returns the index of the failure's message in sim_program.reasons. Adds a new message. */
static int32_t keep_reason(decoder *d)
{
    sim_program *p = d->program;
    for (size_t i = 0; i < p->reason_count; i++)
        if (strcmp(p->reasons[i], d->reason) == 0)
            return (int32_t)i;
    char *kept = memory_text(d->reason);
    memory_add(&p->reasons, &p->reason_count, &kept, sizeof kept);
    return (int32_t)p->reason_count - 1;
}

void decode_not_simulated(decoder *d)
{
    error_clear(d->error);
    d->status = AT_OK;
    int32_t reason = keep_reason(d);
    decode_emit(d, SIM_UNKNOWN, SIM_CLASS_CONTROL)->target = reason;
}

at_status decode_unknown(decoder *d)
{
    return decode_fail(d, "the simulator does not know this instruction");
}

bool type_is_signed(ptx_type t)
{
    return t == PTX_S8 || t == PTX_S16 || t == PTX_S32 || t == PTX_S64;
}

uint32_t type_lane_bytes(ptx_type t)
{
    return ptx_type_bytes(t) > 4 ? 8 : 4;
}

static const sim_cost *cost_by_type(const opcode *op)
{
    static const sim_cost doubles = SIM_COST(DOUBLE, 1), wide = SIM_COST(INTEGER, 2),
                          narrow = SIM_COST(INTEGER, 1);
    const ptx_type type = op->type_count > 0 ? op->types[op->type_count - 1] : PTX_B32;
    return type == PTX_F64                                         ? &doubles
           : type == PTX_B64 || type == PTX_U64 || type == PTX_S64 ? &wide
                                                                   : &narrow;
}

sim_instruction *decode_emit(decoder *d, sim_kind kind, sim_class count_class)
{
    sim_program *p = d->program;
    const ptx_statement *s = d->statement;
    int32_t guard = SIM_NO_SLOT;
    if (s->guard != PTX_NONE)
        guard = decode_predicate(d, &(ptx_operand){.kind = PTX_OPERAND_REGISTER, .index = s->guard},
                                 false);
    const sim_instruction c = {.kind = (uint8_t)kind,
                               .count_class = (uint8_t)count_class,
                               .cost = d->cost ? d->cost : cost_by_type(&d->op),
                               .guard = guard,
                               .guard_negated = s->guard_negated,
                               .vector = 1,
                               .reduction = -1,
                               .d = SIM_NO_SLOT,
                               .d2 = SIM_NO_SLOT,
                               .a = SIM_NO_SLOT,
                               .b = SIM_NO_SLOT,
                               .c = SIM_NO_SLOT,
                               .e = SIM_NO_SLOT,
                               .object = OBJECTS_NONE,
                               .drops = -1,
                               .reconverge = SIM_EXIT_PC,
                               .line = s->line,
                               .location = s->location,
                               .statement = (int32_t)(s - d->module->statements)};
    if (!d->status && p->code_count > most_instructions)
        d->status = error_set(d->error, AT_NO_MEMORY, "no memory to decode a kernel");
    if (!d->status)
        memory_add(&p->code, &p->code_count, &c, sizeof c);
    return d->status ? &d->discarded : &p->code[p->code_count - 1];
}

void decode_list(decoder *d, int32_t value)
{
    if (!d->status)
        memory_add(&d->program->lists, &d->program->list_count, &value, sizeof value);
}

void decode_lists(decoder *d, const int32_t *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        decode_list(d, values[i]);
}

const ptx_operand *decode_operand(const decoder *d, int i)
{
    static const ptx_operand none = {.kind = PTX_OPERAND_SINK};
    return i < d->statement->count ? &d->module->operands[d->statement->first + i] : &none;
}

const ptx_operand *decode_part(const decoder *d, const ptx_operand *o, int i)
{
    return &d->module->operands[o->first + i];
}

const ptx_operand *decode_registers(decoder *d, const ptx_operand *o, int count)
{
    const bool is_vector = o->kind == PTX_OPERAND_VECTOR;
    if (is_vector ? o->count != count : count != 1)
        decode_fail(d, "the operand must be a vector of %d registers", count);
    return is_vector ? decode_part(d, o, 0) : o;
}

bool decode_has(const decoder *d, const char *modifier)
{
    for (int i = 0; i < d->op.count; i++)
        if (strcmp(d->op.modifiers[i], modifier) == 0)
            return true;
    return false;
}

int decode_choice(const decoder *d, const choice *choices, int otherwise)
{
    for (; choices->modifier; choices++)
        if (decode_has(d, choices->modifier))
            return choices->value;
    return otherwise;
}

at_status decode_count(decoder *d, int least, int most)
{
    if (d->statement->count < least || d->statement->count > most)
        decode_fail(d, "the instruction has the wrong number of operands, %d", d->statement->count);
    return d->status;
}

int32_t decode_new_slot(decoder *d, uint32_t lane_bytes)
{
    sim_program *p = d->program;
    int32_t slot = (int32_t)p->register_bytes;
    /* A predicate takes a whole cache line, so that every slot is aligned. */
    p->register_bytes += lane_bytes ? lane_bytes * SIM_LANES : 64;
    for (uint32_t at = (uint32_t)slot; at < p->register_bytes; at += SIM_SLOT_STEP) {
        const bool begins = (at - (uint32_t)slot) % SIM_HIGH_HALF == 0;
        const uint8_t lanes = !begins           ? 0
                              : lane_bytes == 0 ? SIM_LANE_OF_PREDICATE
                              : lane_bytes > 8  ? 8
                                                : (uint8_t)lane_bytes;
        memory_add(&p->slot_lanes, &p->slot_steps, &lanes, sizeof lanes);
    }
    return slot;
}

int32_t decode_fixed_slot(decoder *d, uint32_t lane_bytes)
{
    const int32_t slot = decode_new_slot(d, lane_bytes);
    d->program->slot_lanes[slot / SIM_SLOT_STEP] = 0;
    return slot;
}

int32_t decode_constant(decoder *d, uint64_t bits, uint32_t width)
{
    sim_program *p = d->program;
    if (width == 4)
        bits &= UINT32_MAX;
    for (size_t i = 0; i < p->constant_count; i++)
        if (p->constants[i].bits == bits && p->constants[i].width == width)
            return p->constants[i].slot;
    if (d->status)
        return SIM_NO_SLOT;
    const sim_constant c = {decode_fixed_slot(d, width), (uint8_t)width, bits};
    memory_add(&p->constants, &p->constant_count, &c, sizeof c);
    return c.slot;
}

int32_t decode_predicate(decoder *d, const ptx_operand *o, bool is_destination)
{
    if (d->status)
        return SIM_NO_SLOT;
    if (o->kind == PTX_OPERAND_SINK && is_destination)
        return decode_new_slot(d, 0);
    /* A constant predicate is a 32-bit constant, whose first lane is read as the mask. */
    if (o->kind == PTX_OPERAND_INTEGER && !is_destination)
        return decode_constant(d, o->bits ? UINT32_MAX : 0, 4);
    if (o->kind == PTX_OPERAND_REGISTER && decode_register_width(d, o) == 0)
        return decode_register_slot(d, o);
    decode_fail(d, "the operand must be a predicate register");
    return SIM_NO_SLOT;
}

const ptx_operand *decode_pair(decoder *d, const ptx_operand *o, int32_t *predicate)
{
    *predicate = SIM_NO_SLOT;
    if (o->kind != PTX_OPERAND_PAIR)
        return o;
    *predicate = decode_predicate(d, decode_part(d, o, 1), true);
    return decode_part(d, o, 0);
}

uint32_t decode_register_width(const decoder *d, const ptx_operand *o)
{
    ptx_type t = (ptx_type)d->module->register_types[o->index];
    return t == PTX_PRED ? 0 : t == PTX_B128 ? 16 : type_lane_bytes(t);
}

int32_t decode_register_slot(decoder *d, const ptx_operand *o)
{
    int32_t *slot = &d->frame->slots[o->index - d->frame->function->first_register];
    if (*slot == SIM_NO_SLOT)
        *slot = decode_new_slot(d, decode_register_width(d, o));
    return *slot;
}
