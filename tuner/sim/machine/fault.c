#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "sim/machine/machine.h"

static const char *const fault_names[] = {
    [SIM_FAULT_NONE] = "none",
    [SIM_FAULT_BOUNDS] = "out of bounds",
    [SIM_FAULT_MISALIGNED] = "misaligned",
    [SIM_FAULT_UNINITIALISED] = "uninitialised read",
    [SIM_FAULT_READ_ONLY] = "write to read-only memory",
    [SIM_FAULT_RACE] = "data race",
    [SIM_FAULT_BARRIER] = "divergent barrier",
    [SIM_FAULT_SHUFFLE] = "divergent warp operation",
    [SIM_FAULT_TRAP] = "trap",
    [SIM_FAULT_ASSERTION] = "assertion failed",
    [SIM_FAULT_BUDGET] = "endless loop",
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

bool sim_fail(sim_block *b, const sim_warp *w, const sim_instruction *c, int lane,
              sim_fault_kind kind, const char *format, ...)
{
    sim_fault *f = &b->fault;
    const ptx_module *m = b->program->module;
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    *f = (sim_fault){.kind = kind};
    memcpy(f->block, b->block, sizeof f->block);
    sim_thread_position(b, w->first_thread + (uint32_t)lane, f->thread);
    char place[PTX_PLACE_BYTES];
    ptx_place(m, c->location, place, sizeof place);
    ptx_text op = c->statement >= 0 ? m->statements[c->statement].opcode : (ptx_text){"ret", 3};
    snprintf(f->message, sizeof f->message,
             "%s in %s at %s (%.*s, PTX line %d), thread (%u,%u,%u) of block (%u,%u,%u): %s",
             fault_names[kind], b->program->entry, place,
             (int)(op.length > 60 ? 60 : op.length), op.at, c->line, f->thread[0], f->thread[1],
             f->thread[2], f->block[0], f->block[1], f->block[2], text);
    return false;
}
