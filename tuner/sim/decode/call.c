/* Calls, and the stack of a thread.
 *
 * A call is inlined. A call of a computed address inlines every function that may have this
 * address, and a branch on the address selects one of them. The code of a function that may be
 * recursive exists once, after the kernel's code. Calls of this function have stack frames
 * (sim_body): its variables lie in a frame of local memory, and a slot holds the frame's address.
 *
 * alloca takes memory from the stack (PTX ISA, "Stack Manipulation Instructions"). The stack
 * follows the variables in local memory, grows upwards, and has the default size of CUDA. When a
 * function returns, its stack memory is free and its variables become undefined. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "sim/decode/decoder.h"

enum { MOST_ARGUMENTS = 64, STACK_BYTES = 1024, STACK_ALIGNMENT = 16 };

/* In a program with more instructions, a function called by a computed address gets stack frames,
 * because inlining such calls may multiply the code. */
static const size_t most_copied = 1 << 15;

/* Stands for the address of the stack's start until all local variables have addresses. */
static const uint64_t unknown_begin = UINT64_C(0x7374616b20617421);

static const ptx_statement no_statement = {.guard = PTX_NONE, .location = PTX_NONE};

/* A call: call[.uni] [(result),] callee[, (arguments)][, table or prototype] */
typedef struct call {
    const ptx_operand *results, *arguments;
    const ptx_operand *callee; /* name of a function, or register with its address */
    const ptx_label *table;    /* functions that may have this address; NULL if unknown */
} call;

/* Offsets in local memory of a callee's results, then of its parameters. */
typedef struct binding {
    int64_t at[2 * MOST_ARGUMENTS];
} binding;

static at_status read_call(decoder *d, call *c)
{
    static const ptx_operand none = {.kind = PTX_OPERAND_GROUP};
    *c = (call){.results = &none, .arguments = &none};
    for (int i = 0; i < d->statement->count; i++) {
        const ptx_operand *o = decode_operand(d, i);
        if (o->kind == PTX_OPERAND_GROUP && !c->callee)
            c->results = o;
        else if (o->kind == PTX_OPERAND_GROUP)
            c->arguments = o;
        else if (!c->callee && (o->kind == PTX_OPERAND_FUNCTION || o->kind == PTX_OPERAND_REGISTER))
            c->callee = o;
        else if (o->kind == PTX_OPERAND_LABEL && c->callee)
            c->table = &d->module->labels[o->index];
        else
            return decode_fail(d, "the simulator does not know this form of a call");
    }
    return c->callee ? d->status : decode_fail(d, "the call names no function");
}

/* Returns whether the callee's variables from `first` on match the operands of a call. Their number
 * must match. Their sizes must be equal if `exactly`, otherwise not larger. */
static bool fits(const decoder *d, int first, int count, const ptx_operand *group, bool exactly)
{
    bool same = group->count == count && count <= MOST_ARGUMENTS;
    for (int i = 0; i < count && same; i++) {
        const ptx_operand *o = decode_part(d, group, i);
        const ptx_variable *v = &d->module->variables[first + i];
        same = o->kind == PTX_OPERAND_VARIABLE;
        uint64_t given = same ? d->module->variables[o->index].size_bytes : 0;
        same = same && (exactly ? given == v->size_bytes : given >= v->size_bytes);
    }
    return same;
}

/* The same as fits(), for results or parameters that are in variables or registers. */
static bool fits_either(const decoder *d, int first, int count, int registers,
                        const ptx_operand *group, bool exactly)
{
    return registers == 0 ? fits(d, first, count, group, exactly)
                          : count == 0 && group->count == registers && registers <= MOST_ARGUMENTS;
}

static bool fits_call(const decoder *d, const ptx_function *f, const call *c, bool exactly)
{
    return fits_either(d, f->first_result, f->result_count, f->register_results, c->results,
                       exactly) &&
           fits_either(d, f->first_parameter, f->parameter_count, f->register_parameters,
                       c->arguments, exactly);
}

static uint32_t lane_bytes(const decoder *d, const ptx_function *f, int i)
{
    return type_lane_bytes((ptx_type)d->module->register_types[f->first_register + i]);
}

/* Emits a move under the guard of the statement. The move is not counted. */
static void move(decoder *d, int32_t to, int32_t from, uint32_t bytes)
{
    decode_compute(d, bytes == 8 ? "mov.b64" : "mov.b32", to, &from, 1)->extra = true;
}

/* Emits a move without a guard. The move is not counted. */
static void copy_slot(decoder *d, int32_t to, int32_t from, uint32_t bytes)
{
    const ptx_statement *here = d->statement;
    const size_t at = d->program->code_count;
    d->statement = &no_statement;
    decode_compute(d, bytes == 8 ? "mov.b64" : "mov.b32", to, &from, 1)->extra = true;
    d->statement = here;
    for (size_t i = at; i < d->program->code_count; i++)
        d->program->code[i].statement = PTX_NONE;
}

/* Moves the results that a callee returned in registers to the registers of the caller. */
static void take_results(decoder *d, const ptx_function *f, const call *c, const int32_t *slots)
{
    for (int i = 0; i < f->register_results && !d->status; i++) {
        const destination to =
            decode_destination(d, decode_part(d, c->results, i), lane_bytes(d, f, i));
        move(d, to.slot, slots[i], to.width);
        decode_finish(d, &to,
                      type_is_signed((ptx_type)d->module->register_types[f->first_register + i]));
    }
}

/* Finds the offsets in local memory of the variables that a group of operands names. */
static void find_offsets(decoder *d, const ptx_operand *group, int registers, int64_t *at)
{
    for (int i = registers; i < group->count && !d->status; i++) {
        const ptx_operand *o = decode_part(d, group, i);
        decode_source(d, o, 8, PTX_U64); /* makes sure that the variable has an address */
        at[i] = d->local_at[o->index];
        if (at[i] < 0)
            decode_fail(d, "an argument must be a .param variable of the caller");
    }
}

/* Emits an instruction without a guard: call_around() branches around the whole call instead. */
static sim_instruction *emit_unguarded(decoder *d, sim_kind kind)
{
    sim_instruction *c = decode_emit(d, kind, SIM_CLASS_CONTROL);
    c->guard = SIM_NO_SLOT;
    c->guard_negated = false;
    return c;
}

/* Returns whether `f` is the current function or one of its callers. */
static bool is_active(const decoder *d, const ptx_function *f)
{
    bool active = false;
    for (const frame *at = d->frame; at; at = at->outer)
        active = active || at->function == f;
    return active;
}

/* Inlines a callee. `b` has the offsets of the results and parameters in local memory, `registers`
 * the slots of those in registers. */
static void decode_body(decoder *d, const ptx_function *f, const binding *b,
                        const int32_t *registers)
{
    for (int i = 0; i < f->result_count; i++)
        d->local_at[f->first_result + i] = b->at[i];
    for (int i = 0; i < f->parameter_count; i++)
        d->local_at[f->first_parameter + i] = b->at[f->result_count + i];
    d->depth++;
    d->given = registers;
    d->function(d, f);
    d->depth--;
}

/* Gives the results and parameters of a function the first offsets in its frame, and fills `at`
 * with these offsets. Returns the offset after the parameters. */
static uint64_t place_parameters(decoder *d, const ptx_function *f, int64_t *at)
{
    uint64_t end = 0;
    for (int i = 0; i < f->result_count + f->parameter_count; i++) {
        const ptx_variable *v =
            &d->module->variables[i < f->result_count ? f->first_result + i
                                                      : f->first_parameter + i - f->result_count];
        end = (end + v->alignment - 1) & ~((uint64_t)v->alignment - 1);
        at[i] = (int64_t)end;
        end += v->size_bytes;
        if (v->alignment > d->frame_alignment)
            d->frame_alignment = v->alignment;
    }
    return end;
}

void decode_passed(decoder *d)
{
    d->passed = memory_new(d->module->function_count, sizeof *d->passed);
    for (size_t i = 0; i < d->module->function_count; i++) {
        const ptx_function *f = &d->module->functions[i];
        d->passed[i] = (int32_t)d->slots_passed_count;
        for (int r = 0; d->framed[i] && r < f->register_results + f->register_parameters; r++) {
            const int32_t slot = decode_new_slot(d, lane_bytes(d, f, r));
            memory_add(&d->slots_passed, &d->slots_passed_count, &slot, sizeof slot);
        }
    }
    for (size_t i = 0; i < d->module->function_count && d->frame_slot == SIM_NO_SLOT; i++)
        if (d->framed[i])
            d->frame_slot = decode_new_slot(d, 8);
    d->frame_alignment = 16;
}

static int32_t find_body(decoder *d, int function)
{
    sim_program *p = d->program;
    for (size_t i = 0; i < p->body_count; i++)
        if (p->bodies[i].function == function)
            return (int32_t)i;
    const sim_body body = {.function = function};
    memory_add(&p->bodies, &p->body_count, &body, sizeof body);
    return (int32_t)p->body_count - 1;
}

/* Lists what a call copies: offset in the caller's frame, offset in the callee's frame, bytes. */
static void list_copies(decoder *d, const ptx_variable *variables, const int64_t *from,
                        const int64_t *to, int count)
{
    for (int i = 0; i < count; i++) {
        decode_list(d, (int32_t)from[i]);
        decode_list(d, (int32_t)to[i]);
        decode_list(d, (int32_t)variables[i].size_bytes);
    }
}

/* Emits a call with a frame. `own` has the offsets of the operands in the caller's frame. */
static void call_with_frame(decoder *d, const ptx_function *f, const binding *own)
{
    const int function = (int)(f - d->module->functions);
    binding *b = memory_new(1, sizeof *b);
    place_parameters(d, f, b->at);
    const int32_t list = (int32_t)d->program->list_count, body = find_body(d, function);
    decode_list(d, body);
    decode_list(d, d->body);
    decode_list(d, f->parameter_count);
    decode_list(d, f->result_count);
    list_copies(d, &d->module->variables[f->first_parameter], own->at + f->result_count,
                b->at + f->result_count, f->parameter_count);
    list_copies(d, &d->module->variables[f->first_result], own->at, b->at, f->result_count);
    sim_instruction *c = emit_unguarded(d, SIM_CALL);
    c->list = list;
    c->target = body;
    c->d = d->frame_slot;
    c->width = 8;
    free(b);
}

/* Fills `slots` with the slots of the registers that a callee returns and takes, and moves the
 * arguments there. A function with frames has fixed slots; an inlined callee gets new slots. */
static void give_registers(decoder *d, const ptx_function *f, const call *c, bool has_frame,
                           int32_t slots[2 * MOST_ARGUMENTS])
{
    for (int i = 0; i < f->register_results + f->register_parameters && !d->status; i++) {
        const uint32_t bytes = lane_bytes(d, f, i);
        const ptx_type type = (ptx_type)d->module->register_types[f->first_register + i];
        if (type == PTX_PRED || type == PTX_B128)
            decode_fail(d, "the simulator does not pass such a register to a function");
        slots[i] = has_frame ? d->slots_passed[d->passed[f - d->module->functions] + i]
                             : decode_new_slot(d, bytes);
        if (i >= f->register_results)
            move(d, slots[i],
                 decode_source(d, decode_part(d, c->arguments, i - f->register_results), bytes,
                               type),
                 bytes);
    }
}

/* Inlines a callee, or calls it with a frame. */
static at_status call_function(decoder *d, const ptx_function *f, const call *c, bool computed)
{
    const ptx_statement *here = d->statement;
    bool *framed = &d->framed[f - d->module->functions];
    if (!f->has_body || f->is_entry)
        return decode_fail(
            d, "the call of %.*s is not possible: it is a kernel, or this PTX has no body of it",
            (int)(f->name.length > 60 ? 60 : f->name.length), f->name.at);
    if (!fits_call(d, f, c, false))
        return decode_fail(d, "the arguments of the call do not match the parameters of %.*s",
                           (int)(f->name.length > 60 ? 60 : f->name.length), f->name.at);
    if (!*framed && (is_active(d, f) || d->depth >= DECODE_MAX_DEPTH ||
                     (computed && d->program->code_count > most_copied)))
        *framed = d->again = true;
    if (*framed && d->again)
        return d->status;
    /* These arrays are on the heap, because decoding recurses as deep as the calls nest. */
    binding *b = memory_new(1, sizeof *b);
    int32_t *registers = memory_new(2 * MOST_ARGUMENTS, sizeof *registers);
    find_offsets(d, c->results, f->register_results, b->at);
    find_offsets(d, c->arguments, f->register_parameters, b->at + f->result_count);
    give_registers(d, f, c, *framed, registers);
    if (!d->status && *framed)
        call_with_frame(d, f, b);
    else if (!d->status)
        decode_body(d, f, b, registers);
    d->statement = here;
    take_results(d, f, c, registers);
    free(registers);
    free(b);
    return d->status;
}

static at_status decode_framed(decoder *d, int32_t number)
{
    sim_program *p = d->program;
    const int function = p->bodies[number].function;
    const ptx_function *f = &d->module->functions[function];
    const int32_t first_slot = (int32_t)p->register_bytes, *passed = NULL;
    const uint32_t kernel_bytes = p->local_bytes;
    binding *b = memory_new(1, sizeof *b);
    int32_t *registers = memory_new(2 * MOST_ARGUMENTS, sizeof *registers);
    for (size_t i = 0; i < d->module->variable_count; i++)
        d->local_at[i] = -1;
    p->bodies[number].entry = (int32_t)p->code_count;
    d->body = number;
    d->base = d->frame_slot;
    p->local_bytes = (uint32_t)place_parameters(d, f, b->at);
    passed = d->slots_passed ? &d->slots_passed[d->passed[function]] : NULL;
    for (int i = 0; i < f->register_results + f->register_parameters; i++) {
        registers[i] = decode_new_slot(d, lane_bytes(d, f, i));
        if (i >= f->register_results)
            copy_slot(d, registers[i], passed[i], lane_bytes(d, f, i));
    }
    decode_body(d, f, b, registers);
    for (int i = 0; i < f->register_results; i++)
        copy_slot(d, passed[i], registers[i], lane_bytes(d, f, i));
    d->statement = &no_statement;
    sim_instruction *c = decode_emit(d, SIM_RETURN, SIM_CLASS_CONTROL);
    c->d = d->frame_slot;
    c->width = 8;
    c->extra = true;
    c->statement = PTX_NONE;
    p->bodies[number].first_slot = first_slot;
    p->bodies[number].slot_bytes = (int32_t)p->register_bytes - first_slot;
    if (p->local_bytes > p->frame_bytes)
        p->frame_bytes = p->local_bytes;
    p->local_bytes = kernel_bytes;
    d->base = SIM_NO_SLOT;
    free(registers);
    free(b);
    return d->status;
}

at_status decode_bodies(decoder *d)
{
    sim_program *p = d->program;
    for (size_t i = 0; i < p->body_count && !d->status; i++)
        decode_framed(d, (int32_t)i);
    if (d->status || d->again || p->body_count == 0)
        return d->status;
    for (size_t i = 0; i < p->code_count; i++)
        if (p->code[i].kind == SIM_CALL)
            p->code[i].target = p->bodies[p->code[i].target].entry;
    const uint32_t alignment = d->frame_alignment;
    p->frame_bytes = (p->frame_bytes + alignment - 1) / alignment * alignment;
    p->frame_bytes = p->frame_bytes ? p->frame_bytes : alignment;
    p->frames_at = (p->local_bytes + alignment - 1) / alignment * alignment;
    p->most_levels = p->frames_at < DECODE_LOCAL_BYTES
                         ? (DECODE_LOCAL_BYTES - p->frames_at) / p->frame_bytes
                         : 0;
    if (p->most_levels > SIM_MOST_LEVELS)
        p->most_levels = SIM_MOST_LEVELS;
    p->local_bytes = p->frames_at + p->most_levels * p->frame_bytes;
    return d->status;
}

/* Functions that the CUDA driver provides. */
static const struct {
    const char *name;
    sim_kind kind;
    int parameters, results;
    uint8_t op;
} built_in[] = {{"vprintf", SIM_PRINT, 2, 1, 0},
                {"__assertfail", SIM_ASSERTION, 5, 0, 0},
                {"malloc", SIM_HEAP, 1, 1, SIM_HEAP_MALLOC},
                {"__cuda_syscall_aligned_malloc", SIM_HEAP, 2, 1, SIM_HEAP_ALIGNED},
                {"free", SIM_HEAP, 1, 0, SIM_HEAP_FREE}};

/* Emits the call of a built-in function. Returns false if the function is not built in. */
static bool call_built_in(decoder *d, const ptx_function *f, const call *c)
{
    for (size_t i = 0; i < sizeof built_in / sizeof *built_in && !f->has_body; i++) {
        if (!ptx_text_is(f->name, built_in[i].name) ||
            f->parameter_count != built_in[i].parameters ||
            f->result_count != built_in[i].results || !fits_call(d, f, c, false))
            continue;
        binding b;
        const int32_t first = (int32_t)d->program->list_count;
        find_offsets(d, c->arguments, 0, b.at);
        find_offsets(d, c->results, 0, b.at + f->parameter_count);
        for (int k = 0; k < f->parameter_count + f->result_count; k++)
            decode_list(d, (int32_t)b.at[k]);
        sim_instruction *emitted = decode_emit(d, built_in[i].kind, SIM_CLASS_CONTROL);
        emitted->target = first;
        emitted->a = d->base;
        emitted->op = built_in[i].op;
        d->program->allocates = d->program->allocates || built_in[i].kind == SIM_HEAP;
        return true;
    }
    return false;
}

/* Emits a branch around a guarded call, since the callee's instructions have their own guards. */
static void call_around(decoder *d)
{
    sim_instruction *c = decode_emit(d, SIM_BRANCH, SIM_CLASS_CONTROL);
    c->guard_negated = !c->guard_negated;
    const ptx_function *f = d->frame->function;
    int32_t here = (int32_t)(d->statement - d->module->statements) - f->first_statement;
    c->target = -(here + 1) - 1;
}

/* Returns whether the computed address of a call may be the address of the function. */
static bool is_candidate(const decoder *d, const call *c, int function)
{
    const ptx_function *f = &d->module->functions[function];
    bool named = !c->table || c->table->count == 0;
    for (int i = 0; !named && i < c->table->count; i++) {
        const ptx_operand *o = &d->module->operands[c->table->first + i];
        named = o->kind == PTX_OPERAND_FUNCTION && o->index == function;
    }
    return named && f->has_body && !f->is_entry && fits_call(d, f, c, true);
}

/* Emits code that selects one of `count` functions by `address`. The program's lists hold the
 * functions' numbers from index `first` on. */
static void choose(decoder *d, int32_t address, int32_t first, int32_t count)
{
    int32_t chosen = decode_new_slot(d, 4);
    sim_instruction *c = emit_unguarded(d, SIM_CALLEE);
    c->a = address;
    c->d = chosen;
    c->width = 4;
    c->target = first;
    c->target_count = count;
    if (count == 0) /* SIM_CALLEE faults for every address */
        return;
    c = emit_unguarded(d, SIM_BRANCH_INDEXED);
    c->extra = true;
    c->a = chosen;
    c->target = first + count;
    c->target_count = count;
}

/* Inlines all functions that a computed address may select. */
static at_status call_computed(decoder *d, const call *c)
{
    sim_program *p = d->program;
    const int32_t first = (int32_t)p->list_count;
    int32_t count = 0, address = decode_source(d, c->callee, 8, PTX_U64);
    for (size_t i = 0; i < d->module->function_count; i++)
        if (is_candidate(d, c, (int)i)) {
            decode_list(d, (int32_t)i);
            count++;
        }
    /* These entries will hold the start of each function and the branch after each function. */
    for (int32_t i = 0; i < 2 * count; i++)
        decode_list(d, 0);
    choose(d, address, first, count);
    for (int32_t i = 0; i < count && !d->status; i++) {
        p->lists[first + count + i] = (int32_t)p->code_count;
        if (call_function(d, &d->module->functions[p->lists[first + i]], c, true) == AT_FORMAT)
            decode_not_simulated(d);
        p->lists[first + 2 * count + i] = (int32_t)p->code_count;
        emit_unguarded(d, SIM_BRANCH)->extra = true;
    }
    for (int32_t i = 0; i < count && !d->status; i++)
        p->code[p->lists[first + 2 * count + i]].target = (int32_t)p->code_count;
    return d->status;
}

at_status decode_call(decoder *d)
{
    call c;
    if (read_call(d, &c))
        return d->status;
    const bool by_name = c.callee->kind == PTX_OPERAND_FUNCTION;
    if (by_name && call_built_in(d, &d->module->functions[c.callee->index], &c))
        return d->status;
    if (d->statement->guard != PTX_NONE)
        call_around(d);
    return by_name ? call_function(d, &d->module->functions[c.callee->index], &c, false)
                   : call_computed(d, &c);
}

static bool uses_stack(const ptx_module *m, const ptx_function *f)
{
    for (int i = 0; i < f->statement_count; i++) {
        const ptx_text text = m->statements[f->first_statement + i].opcode;
        if (ptx_text_begins(text, "alloca.") || ptx_text_begins(text, "stack"))
            return true;
    }
    return false;
}

void decode_stack_begin(decoder *d)
{
    bool any = false;
    for (size_t i = 0; i < d->module->function_count; i++)
        any = any || uses_stack(d->module, &d->module->functions[i]);
    if (!any)
        return;
    d->stack = decode_new_slot(d, 8);
    copy_slot(d, d->stack, decode_constant(d, unknown_begin, 8), 8);
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
    if (d->stack == SIM_NO_SLOT || f->is_entry || !uses_stack(d->module, f))
        return SIM_NO_SLOT;
    const int32_t kept = decode_new_slot(d, 8);
    copy_slot(d, kept, d->stack, 8);
    return kept;
}

/* Emits an instruction without a guard that makes local memory undefined: `bytes` from `offset` on,
 * or the rest of the stack if `bytes` is 0. The offset counts from the address in `slot`, or from 0
 * if `slot` is SIM_NO_SLOT. */
static void forget(decoder *d, int64_t offset, uint64_t bytes, int32_t slot)
{
    const ptx_statement *here = d->statement;
    d->statement = &no_statement;
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
        copy_slot(d, d->stack, kept, 8);
        forget(d, 0, 0, kept);
    }
    for (int i = f->first_variable; !f->is_entry && i < f->first_variable + f->variable_count; i++)
        if (d->module->variables[i].space == PTX_SPACE_LOCAL && d->local_at[i] >= 0)
            forget(d, d->local_at[i], d->module->variables[i].size_bytes, d->base);
}

/* Decodes alloca.u64 d, bytes{, alignment}. */
at_status decode_alloca(decoder *d)
{
    const ptx_operand *aligned = decode_operand(d, 2);
    uint64_t alignment = 8;
    if (d->statement->count > 2)
        alignment = aligned->kind == PTX_OPERAND_INTEGER ? aligned->bits : 0;
    if (alignment == 0 || (alignment & (alignment - 1)))
        return decode_fail(d, "the alignment is not a power of two");
    const int32_t bytes = decode_source(d, decode_operand(d, 1), 8, PTX_U64),
                  most = decode_constant(d, alignment - 1, 8),
                  mask = decode_constant(d, ~(alignment - 1), 8);
    const int32_t up = decode_step2(d, "add.u64", d->stack, most);
    const int32_t at = decode_step2(d, "and.b64", up, mask);
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
