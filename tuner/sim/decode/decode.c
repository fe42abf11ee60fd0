#include "sim/decode/decode.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "sim/decode/addresses.h"
#include "sim/decode/decoder.h"
#include "sim/decode/facts.h"
#include "sim/decode/reshape.h"

/* These limits exceed those of any GPU: a kernel that needs more cannot be launched. */
static const uint64_t max_shared_bytes = 1u << 20;
static const uint32_t max_register_bytes = 64u << 20;

void sim_program_free(sim_program *p)
{
    if (!p)
        return;
    free(p->code);
    free(p->lists);
    free(p->deciding);
    free(p->steering);
    free(p->bodies);
    free(p->slot_lanes);
    for (size_t i = 0; i < p->reason_count; i++)
        free(p->reasons[i]);
    free(p->reasons);
    free(p->constants);
    free(p->parameter_offsets);
    free(p->parameter_sizes);
    free(p->addresses);
    free(p);
}

static void cut_opcode(opcode *op, ptx_text text)
{
    *op = (opcode){0};
    for (uint32_t i = 0, length = 0; i < text.length && length < OPCODE_BYTES - 1; i++)
        if (text.at[i] != ' ' && text.at[i] != '\t')
            op->text[length++] = text.at[i];
    op->name = op->text;
    for (char *c = op->text; *c && op->count < OPCODE_MODIFIERS; c++) {
        if (*c != '.')
            continue;
        ptx_type type;
        ptx_text modifier = {c, (uint32_t)strcspn(c + 1, ".") + 1};
        if (ptx_type_find(modifier, &type) && op->type_count < 4)
            op->types[op->type_count++] = type;
        *c = '\0';
        op->modifiers[op->count++] = c + 1;
    }
}

/* A family of instructions: their opcodes start with the same text before the first dot. */
typedef struct family {
    const char *name;
    at_status (*decode)(decoder *d);
    int least, most; /* numbers of operands; `most` is 0 if `decode` checks them */
    int types;       /* number of modifiers that are types; 0 if `decode` checks it */
    sim_cost cost;
    bool has_cost;
} family;

static const family families[] = {
#define PIPE(pipe, instructions) SIM_COST(pipe, instructions), true
#define BY_TYPE SIM_COST(OTHER, 0), false
#define FAMILY(name, decode, least, most, types, ...)                                              \
    {name, decode, least, most, types, __VA_ARGS__},
#define SIM_ROWS_FAMILIES
#include "sim/instructions.def"
};

static const family *find_family(const char *name)
{
    for (size_t i = 0; i < sizeof families / sizeof *families; i++)
        if (strcmp(families[i].name, name) == 0)
            return &families[i];
    return NULL;
}

static at_status decode_known(decoder *d, const ptx_statement *s)
{
    if (d->program->register_bytes > max_register_bytes)
        return decode_fail(d, "the kernel uses more registers than the simulator can hold");
    if (s->unreadable)
        return decode_unknown(d);
    cut_opcode(&d->op, s->opcode);
    const family *f = find_family(d->op.name);
    d->cost = f && f->has_cost ? &f->cost : NULL;
    if (!f)
        return decode_arithmetic(d);
    if (f->most && decode_count(d, f->least, f->most))
        return d->status;
    return f->types && d->op.type_count != f->types ? decode_unknown(d) : f->decode(d);
}

/* Decodes a statement. An unsupported statement becomes SIM_UNKNOWN. */
static at_status decode_statement(decoder *d, const ptx_statement *s)
{
    const size_t first = d->program->code_count;
    d->statement = s;
    if (decode_known(d, s) == AT_FORMAT) {
        d->program->code_count = first;
        decode_not_simulated(d);
    }
    return d->status;
}

/* Replaces each branch target -1 - s by the index of the first instruction of statement s. If s is
 * the number of statements, the target is the end. */
static void patch_branches(decoder *d, size_t first)
{
    sim_program *p = d->program;
    const int32_t *pc = d->frame->label_pc;
    for (size_t i = first; i < p->code_count; i++) {
        sim_instruction *c = &p->code[i];
        /* Targets in inlined callees were replaced before: they are not negative. */
        if (c->kind == SIM_BRANCH && c->target < 0)
            c->target = pc[-c->target - 1];
        for (int32_t t = 0; c->kind == SIM_BRANCH_INDEXED && t < c->target_count; t++) {
            int32_t *target = &p->lists[c->target + t];
            if (*target < 0)
                *target = pc[-*target - 1];
        }
    }
}

static at_status decode_function(decoder *d, const ptx_function *f)
{
    frame here = {.function = f, .outer = d->frame};
    size_t first = d->program->code_count;
    here.slots = memory_new((size_t)f->register_count, sizeof *here.slots);
    here.label_pc = memory_new((size_t)f->statement_count + 1, sizeof *here.label_pc);
    here.shapes = reshape_accesses(d->module, f, d->program->addresses);
    here.objects = memory_new((size_t)f->register_count, sizeof *here.objects);
    addresses_find_objects(d->module, f, here.objects);
    for (int i = 0; i < f->register_count; i++)
        here.slots[i] = d->given && i < f->register_results + f->register_parameters ? d->given[i]
                                                                                     : SIM_NO_SLOT;
    d->given = NULL;
    d->frame = &here;
    const int32_t stack = decode_stack_enter(d, f);
    for (int i = 0; i < f->statement_count && !d->status; i++) {
        here.label_pc[i] = (int32_t)d->program->code_count;
        decode_statement(d, &d->module->statements[f->first_statement + i]);
    }
    here.label_pc[f->statement_count] = (int32_t)d->program->code_count;
    decode_stack_leave(d, f, stack);
    if (!d->status)
        patch_branches(d, first);
    d->frame = here.outer;
    free(here.slots);
    free(here.label_pc);
    free(here.shapes);
    free(here.objects);
    return d->status;
}

/* Marks the variables that the kernel names, or a function that it might call. */
static void mark_used(const decoder *d, bool *used)
{
    const ptx_module *m = d->module;
    for (size_t f = 0; f < m->function_count; f++) {
        const ptx_function *fn = &m->functions[f];
        if (fn->is_entry && (int)f != d->program->function)
            continue;
        for (int s = 0; s < fn->statement_count; s++) {
            const ptx_statement *st = &m->statements[fn->first_statement + s];
            for (int o = 0; o < st->count; o++) {
                const ptx_operand *op = &m->operands[st->first + o];
                if (op->kind == PTX_OPERAND_ADDRESS)
                    op = &m->operands[op->first];
                if (op->kind == PTX_OPERAND_VARIABLE)
                    used[op->index] = true;
            }
        }
    }
}

static uint64_t align_up(uint64_t v, uint64_t alignment)
{
    return (v + alignment - 1) & ~(alignment - 1);
}

/* Gives each variable that the kernel can reach an address in its space. Shared memory holds the
 * static arrays, then the launch's dynamic memory, where all arrays without a size start. */
static at_status lay_out(decoder *d)
{
    const ptx_module *m = d->module;
    sim_program *p = d->program;
    bool *used = memory_new(m->variable_count, sizeof *used);
    mark_used(d, used);
    /* Without an array of unknown size, shared memory ends with the last static array, so that any
     * access after this array is a fault. */
    uint64_t shared = 0, global = SIM_MODULE_BASE, dynamic_alignment = 1;
    for (size_t i = 0; i < m->variable_count; i++) {
        const ptx_variable *v = &m->variables[i];
        if (v->space == PTX_SPACE_SHARED && used[i] && v->size_bytes > 0) {
            shared = align_up(shared, v->alignment);
            p->addresses[i] = shared;
            shared += v->size_bytes;
        } else if (v->space == PTX_SPACE_SHARED && used[i]) {
            if (v->alignment > dynamic_alignment || dynamic_alignment == 1)
                dynamic_alignment = v->alignment > 16 ? v->alignment : 16;
        } else if (v->space == PTX_SPACE_SHARED) {
            p->addresses[i] = SIM_NO_ADDRESS;
        } else if (v->space == PTX_SPACE_GLOBAL || v->space == PTX_SPACE_CONST) {
            /* Unused variables get addresses, too, because all kernels of a module share them. */
            global = align_up(global, v->alignment > 256 ? v->alignment : 256);
            p->addresses[i] = global;
            global += v->size_bytes;
        }
    }
    p->global_bytes = global - SIM_MODULE_BASE;
    if (shared > max_shared_bytes)
        decode_fail(d,
                    "the kernel has %llu bytes of static shared memory, more than a block can have",
                    (unsigned long long)shared);
    p->static_shared_bytes = (uint32_t)align_up(shared, dynamic_alignment);
    for (size_t i = 0; i < m->variable_count; i++)
        if (m->variables[i].space == PTX_SPACE_SHARED && m->variables[i].size_bytes == 0 && used[i])
            p->addresses[i] = p->static_shared_bytes;
    free(used);
    return d->status;
}

static at_status lay_out_parameters(decoder *d, const ptx_function *f)
{
    sim_program *p = d->program;
    p->parameter_count = (uint32_t)f->parameter_count;
    p->parameter_offsets = memory_new((size_t)f->parameter_count, sizeof(uint32_t));
    p->parameter_sizes = memory_new((size_t)f->parameter_count, sizeof(uint32_t));
    uint64_t at = 0;
    for (int i = 0; i < f->parameter_count; i++) {
        const ptx_variable *v = &d->module->variables[f->first_parameter + i];
        at = align_up(at, v->alignment);
        if (at + v->size_bytes > 32764) /* CUDA C++ Programming Guide, "Kernel parameters" */
            return decode_fail(d,
                               "the kernel's parameters take more than 32764 bytes, CUDA's limit");
        p->addresses[f->first_parameter + i] = at;
        p->parameter_offsets[i] = (uint32_t)at;
        p->parameter_sizes[i] = (uint32_t)v->size_bytes;
        at += v->size_bytes;
    }
    p->parameter_bytes = (uint32_t)at;
    return AT_OK;
}

static at_status decode_kernel(decoder *d, const ptx_function *f)
{
    sim_program *p = d->program;
    for (int i = 0; i < SIM_SPECIAL_COUNT; i++)
        p->special_slots[i] = SIM_NO_SLOT;
    if (lay_out(d) || lay_out_parameters(d, f))
        return d->status;
    decode_stack_begin(d);
    decode_passed(d);
    if (decode_function(d, f))
        return d->status;
    /* A kernel ends after its last statement, even without an exit. */
    static const ptx_statement end = {
        .opcode = {"ret", 3}, .guard = PTX_NONE, .location = PTX_NONE};
    d->statement = &end;
    sim_instruction *c = decode_emit(d, SIM_EXIT, SIM_CLASS_CONTROL);
    c->statement = PTX_NONE;
    c->extra = true;
    if (decode_bodies(d) || d->again)
        return d->status;
    decode_stack_end(d);
    facts_find_meeting_points(p);
    facts_find_communication(p);
    facts_find_unwritten(p);
    facts_find_deciding(p);
    facts_find_drops(p);
    return AT_OK;
}

/* Decodes a kernel. Functions that are true in `framed` have stack frames. If more functions need
 * frames, marks these functions in `framed` and leaves *out NULL. */
static at_status decode_with(const ptx_module *module, int function, bool *framed,
                             sim_program **out, at_error *error)
{
    const ptx_function *f = &module->functions[function];
    decoder d = {.module = module,
                 .error = error,
                 .function = decode_function,
                 .framed = framed,
                 .body = -1,
                 .base = SIM_NO_SLOT,
                 .frame_slot = SIM_NO_SLOT,
                 .stack = SIM_NO_SLOT,
                 .carry = SIM_NO_SLOT};
    d.program = memory_new(1, sizeof *d.program);
    d.local_at = memory_new(module->variable_count, sizeof *d.local_at);
    d.program->module = module;
    d.program->function = function;
    d.program->shared_cell_bytes = d.program->global_cell_bytes = 4;
    snprintf(d.program->entry, sizeof d.program->entry, "%.*s", (int)f->name.length, f->name.at);
    d.program->addresses = memory_new(module->variable_count, sizeof(uint64_t));
    for (size_t i = 0; i < module->variable_count; i++)
        d.local_at[i] = -1;
    at_status status = decode_kernel(&d, f);
    free(d.local_at);
    free(d.passed);
    free(d.slots_passed);
    if (status || d.again)
        sim_program_free(d.program);
    else
        *out = d.program;
    return status;
}

at_status sim_decode(const ptx_module *module, const char *entry, sim_program **out,
                     at_error *error)
{
    *out = NULL;
    int function = ptx_module_entry(module, entry);
    if (function == PTX_NONE || !module->functions[function].has_body)
        return error_set_at(error, AT_NOT_FOUND, module->name, 0, "there is no kernel \"%s\"",
                            entry ? entry : "");
    const ptx_function *f = &module->functions[function];
    if (f->limits.blocks_are_clusters)
        return error_set_at(error, AT_FORMAT, module->name, f->line,
                            "the simulator does not know grids of clusters (.blocksareclusters)");
    bool *framed = memory_new(module->function_count, sizeof *framed);
    at_status status = AT_OK;
    while (!status && !*out)
        status = decode_with(module, function, framed, out, error);
    free(framed);
    return status;
}
