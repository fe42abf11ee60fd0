#include "sim/machine/fault.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "device/plan.h"

static const char *const fault_names[] = {
    [SIM_FAULT_NONE] = "none",
    [SIM_FAULT_LAUNCH] = "impossible launch",
    [SIM_FAULT_BOUNDS] = "out of bounds",
    [SIM_FAULT_MISALIGNED] = "misaligned",
    [SIM_FAULT_UNINITIALISED] = "uninitialised read",
    [SIM_FAULT_READ_ONLY] = "write to read-only memory",
    [SIM_FAULT_RACE] = "data race",
    [SIM_FAULT_BARRIER] = "divergent barrier",
    [SIM_FAULT_SHUFFLE] = "divergent warp operation",
    [SIM_FAULT_TRAP] = "trap",
    [SIM_FAULT_ASSERTION] = "assertion failed",
    [SIM_FAULT_ENDLESS] = "endless loop",
    [SIM_FAULT_BUDGET] = "not ended",
    [SIM_FAULT_LATE] = "not ended",
    [SIM_FAULT_UNKNOWN] = "not simulated",
    [SIM_FAULT_UNSEEN] = "unseen",
    [SIM_FAULT_DEADLOCK] = "deadlock",
    [SIM_FAULT_INTERNAL] = "internal error",
};

void sim_thread_position(const sim_block *b, uint32_t thread, uint32_t position[3])
{
    const uint32_t *n = b->launch->block;
    position[0] = thread % n[0];
    position[1] = thread / n[0] % n[1];
    position[2] = thread / n[0] / n[1];
}

ptx_text sim_declared_name(ptx_text name)
{
    for (uint32_t at = name.length; at-- > 3 && memcmp(name.at, "_ZZ", 3) == 0;) {
        uint32_t length = 0, digits = at + 1;
        for (; digits < name.length && name.at[digits] >= '0' && name.at[digits] <= '9'; digits++)
            length = length * 10 + (uint32_t)(name.at[digits] - '0');
        if (name.at[at] == 'E' && length > 0 && length <= name.length - digits)
            return (ptx_text){name.at + digits, length};
    }
    return name;
}

/* Finds the variable that contains a byte of shared memory, and the byte's index in this variable.
 * Returns false if there is no variable. */
static bool find_shared(const sim_block *b, uint64_t offset, ptx_text *name, uint64_t *within)
{
    const ptx_module *m = b->program->module;
    for (size_t i = 0; i < m->variable_count; i++) {
        const ptx_variable *v = &m->variables[i];
        const uint64_t from = b->program->addresses[i];
        /* An unsized array extends to the end of shared memory, whose size the launch gives. */
        const uint64_t size = v->size_bytes ? v->size_bytes : b->shared_bytes - from;
        if (v->space != PTX_SPACE_SHARED || offset < from || offset - from >= size)
            continue;
        *name = sim_declared_name(v->name);
        *within = offset - from;
        return true;
    }
    return false;
}

void sim_shared_name(const sim_block *b, uint32_t offset, char *text, size_t size_bytes)
{
    ptx_text name;
    uint64_t within;
    text[0] = '\0';
    if (find_shared(b, offset, &name, &within))
        snprintf(text, size_bytes, "byte %llu of %.*s (", (unsigned long long)within,
                 (int)(name.length > 60 ? 60 : name.length), name.at);
    text_add(text, size_bytes, "shared memory byte %u of %u%s", offset, b->shared_bytes,
             text[0] ? ")" : "");
}

const sim_instruction *sim_loop_around(const sim_program *p, int32_t pc)
{
    const sim_instruction *found = &p->code[pc];
    size_t least = SIZE_MAX;
    for (size_t i = (size_t)pc; i < p->code_count; i++) {
        const sim_instruction *c = &p->code[i];
        if (c->kind == SIM_BRANCH && c->target <= pc && i - (size_t)c->target < least) {
            least = i - (size_t)c->target;
            found = c;
        }
    }
    return found;
}

static void keep_lines(const ptx_module *m, int location, device_fault *f)
{
    for (size_t i = 0; i < FAULT_LINES; i++) {
        location = ptx_user_location(m, location);
        if (location == PTX_NONE)
            return;
        const ptx_location *l = &m->locations[location];
        const ptx_text file = ptx_location_file(m, l);
        fault_line *to = &f->lines[i];
        snprintf(to->file, sizeof to->file, "%.*s", (int)file.length, file.at);
        to->line = (uint32_t)l->line;
        to->column = (uint32_t)l->column;
        location = l->outer;
    }
}

bool sim_fail(sim_block *b, const sim_warp *w, const sim_instruction *c, int lane,
              sim_fault_kind kind, const char *format, ...)
{
    sim_fault *f = &b->fault;
    device_fault *at = &f->at;
    const ptx_module *m = b->program->module;
    char text[512], place[PTX_LOCATION_BYTES];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    *f = (sim_fault){.kind = kind, .at.has_thread = true};
    snprintf(at->kind, sizeof at->kind, "%s", fault_names[kind]);
    memcpy(at->block, b->block, sizeof at->block);
    sim_thread_position(b, w->first_thread + (uint32_t)lane, at->thread);
    keep_lines(m, c->location, at);
    ptx_format_location(m, c->location, place, sizeof place);
    ptx_text op = c->statement >= 0 ? m->statements[c->statement].opcode : (ptx_text){"ret", 3};
    snprintf(f->message, sizeof f->message,
             "%s in %s at %s (%.*s, PTX line %d), thread (%u,%u,%u) of block (%u,%u,%u): %s",
             at->kind, b->program->entry, place, (int)(op.length > 60 ? 60 : op.length), op.at,
             c->line, at->thread[0], at->thread[1], at->thread[2], at->block[0], at->block[1],
             at->block[2], text);
    return false;
}

bool sim_fault_add_address(sim_block *b, const sim_block *owner, ptx_space space, uint64_t address)
{
    device_fault *f = &b->fault.at;
    const bool shared = space == PTX_SPACE_SHARED;
    const bool is_region = space == PTX_SPACE_GLOBAL || space == PTX_SPACE_CONST;
    const sim_region *r = is_region ? sim_memory_nearest(b->launch->memory, address) : NULL;
    ptx_text name;
    uint64_t within;
    snprintf(f->space, sizeof f->space, "%s", ptx_space_name(space));
    f->address = address;
    if (shared && find_shared(owner, address, &name, &within))
        snprintf(f->buffer, sizeof f->buffer, "%.*s", (int)(name.length > 60 ? 60 : name.length),
                 name.at);
    if (!r)
        return false;
    snprintf(f->buffer, sizeof f->buffer, "%s", r->name);
    f->has_element = r->plan && address >= r->base;
    if (f->has_element)
        f->element = (address - r->base) / dtype_get(r->plan->type)->size_bytes;
    return false;
}
