/* Memory that a thread takes from its stack: alloca, stacksave, stackrestore. PTX ISA, "Stack
 * Manipulation Instructions". It lies after the variables in local memory, upwards, and is as much
 * as a thread of CUDA has unless a program asks for more. What a function took it gives back when
 * it returns. Its variables have no value then: the next call may lie there. */
#include "sim/decode/decoder.h"

enum { STACK_BYTES = 1024, STACK_ALIGNMENT = 16 };

/* Stands for where the stack begins until all variables have their places. */
static const uint64_t unknown_begin = UINT64_C(0x7374616b20617421);

static bool takes_memory(const ptx_module *m, const ptx_function *f)
{
    for (int i = 0; i < f->statement_count; i++) {
        const ptx_text text = m->statements[f->first_statement + i].opcode;
        if (ptx_text_begins(text, "alloca.") || ptx_text_begins(text, "stack"))
            return true;
    }
    return false;
}

void decode_copy_slot(decoder *d, int32_t to, int32_t from, uint32_t bytes)
{
    static const ptx_statement none = {.guard = PTX_NONE, .location = PTX_NONE};
    const ptx_statement *here = d->statement;
    const size_t at = d->program->code_count;
    d->statement = &none;
    decode_compute(d, bytes == 8 ? "mov.b64" : "mov.b32", to, &from, 1)->extra = true;
    d->statement = here;
    for (size_t i = at; i < d->program->code_count; i++)
        d->program->code[i].statement = PTX_NONE;
}

void decode_stack_begin(decoder *d)
{
    bool any = false;
    for (size_t i = 0; i < d->module->function_count; i++)
        any = any || takes_memory(d->module, &d->module->functions[i]);
    if (!any)
        return;
    d->stack = decode_new_slot(d, 8);
    decode_copy_slot(d, d->stack, decode_constant(d, unknown_begin, 8), 8);
}

void decode_stack_end(decoder *d)
{
    sim_program *p = d->program;
    for (size_t i = 0; i < p->constant_count; i++) {
        if (p->constants[i].bits != unknown_begin)
            continue;
        p->local_bytes = (p->local_bytes + STACK_ALIGNMENT - 1) / STACK_ALIGNMENT * STACK_ALIGNMENT;
        p->constants[i].bits = p->local_bytes;
        p->local_bytes += STACK_BYTES;
    }
}

int32_t decode_stack_enter(decoder *d, const ptx_function *f)
{
    if (d->stack == SIM_NO_SLOT || f->is_entry || !takes_memory(d->module, f))
        return SIM_NO_SLOT;
    const int32_t kept = decode_new_slot(d, 8);
    decode_copy_slot(d, kept, d->stack, 8);
    return kept;
}

/* Emits, without a guard, that memory has no value any more: `bytes` from `offset` on, or from the
 * address in a slot on; 0: all up to the end of the stack. */
static void forget(decoder *d, int64_t offset, uint64_t bytes, int32_t slot)
{
    static const ptx_statement none = {.guard = PTX_NONE, .location = PTX_NONE};
    const ptx_statement *here = d->statement;
    d->statement = &none;
    sim_instruction *c = decode_emit(d, SIM_FORGET, SIM_CLASS_CONTROL);
    c->a = slot;
    c->offset = offset;
    c->target = (int32_t)bytes;
    c->extra = true;
    c->statement = PTX_NONE;
    d->statement = here;
}

void decode_stack_leave(decoder *d, const ptx_function *f, int32_t kept)
{
    if (kept != SIM_NO_SLOT) {
        decode_copy_slot(d, d->stack, kept, 8);
        forget(d, 0, 0, kept);
    }
    for (int i = f->first_variable; !f->is_entry && i < f->first_variable + f->variable_count; i++)
        if (d->module->variables[i].space == PTX_SPACE_LOCAL && d->local_at[i] >= 0)
            forget(d, d->local_at[i], d->module->variables[i].size_bytes, d->base);
}

/* alloca.u64 d, bytes{, alignment} */
at_status decode_alloca(decoder *d)
{
    const ptx_operand *aligned = decode_operand(d, 2);
    uint64_t alignment = 8;
    if (d->statement->count > 2)
        alignment = aligned->kind == PTX_OPERAND_INTEGER ? aligned->bits : 0;
    if (alignment == 0 || (alignment & (alignment - 1)))
        return decode_fail(d, "an alignment that is no power of two");
    const int32_t bytes = decode_source(d, decode_operand(d, 1), 8, PTX_U64),
                  most = decode_constant(d, alignment - 1, 8),
                  mask = decode_constant(d, ~(alignment - 1), 8);
    const int32_t up = decode_step(d, "add.u64", (int32_t[]){d->stack, most}, 2);
    const int32_t at = decode_step(d, "and.b64", (int32_t[]){up, mask}, 2);
    const destination to = decode_destination(d, decode_operand(d, 0), 8);
    decode_compute(d, "add.u64", d->stack, (int32_t[]){at, bytes}, 2);
    decode_compute(d, "mov.b64", to.slot, &at, 1)->extra = true;
    return decode_finish(d, &to, false);
}

at_status decode_save(decoder *d)
{
    const destination to = decode_destination(d, decode_operand(d, 0), 8);
    decode_compute(d, "mov.b64", to.slot, &d->stack, 1);
    return decode_finish(d, &to, false);
}

at_status decode_restore(decoder *d)
{
    const int32_t from = decode_source(d, decode_operand(d, 0), 8, PTX_U64);
    decode_compute(d, "mov.b64", d->stack, &from, 1);
    sim_instruction *c = decode_emit(d, SIM_FORGET, SIM_CLASS_CONTROL);
    c->a = from;
    c->extra = true;
    return d->status;
}
