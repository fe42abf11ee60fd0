#include "sim/decode/deciding.h"

#include <stdlib.h>

#include "base/memory.h"
#include "sim/program/operands.h"

static bool is_arithmetic(const sim_instruction *c)
{
    return c->kind == SIM_COMPUTE || c->kind == SIM_COMPARE || c->kind == SIM_LOGIC ||
           c->kind == SIM_SELECT || c->kind == SIM_CONVERT;
}

/* Marks a slot and what follows it up to the next one; false: it was marked. */
static bool mark(sim_program *p, const bool *begins, int32_t slot)
{
    const size_t end = p->register_bytes / SIM_SLOT_STEP;
    size_t i = (size_t)slot / SIM_SLOT_STEP;
    if (p->deciding[i])
        return false;
    do
        p->deciding[i++] = true;
    while (i < end && !begins[i]);
    return true;
}

/* Marks all that it reads; of a store the address alone, as what it changes in memory is seen
 * there. */
static bool mark_reads(sim_program *p, const bool *begins, const sim_instruction *c)
{
    bool any = false;
    sim_operands o;
    sim_operands_of(p, c, &o);
    if (c->kind == SIM_STORE)
        o.read_count = 0;
    for (int i = 0; i < o.read_count; i++)
        any = mark(p, begins, o.reads[i]) || any;
    if (c->kind == SIM_STORE && c->a >= 0)
        any = mark(p, begins, c->a) || any;
    if (c->kind == SIM_STORE && c->guard >= 0)
        any = mark(p, begins, c->guard) || any;
    return any;
}

static bool writes_deciding(const sim_program *p, const sim_instruction *c)
{
    sim_operands o;
    sim_operands_of(p, c, &o);
    for (int i = 0; i < o.write_count; i++)
        if (p->deciding[o.writes[i] / SIM_SLOT_STEP])
            return true;
    return false;
}

static void find_beginnings(const sim_program *p, bool *begins)
{
    for (size_t n = 0; n < p->code_count; n++) {
        sim_operands o;
        sim_operands_of(p, &p->code[n], &o);
        for (int i = 0; i < o.read_count; i++)
            begins[o.reads[i] / SIM_SLOT_STEP] = true;
        for (int i = 0; i < o.write_count; i++)
            begins[o.writes[i] / SIM_SLOT_STEP] = true;
    }
}

void deciding_find(sim_program *p)
{
    const size_t steps = p->register_bytes / SIM_SLOT_STEP + 1;
    bool *begins = memory_new(steps, sizeof *begins);
    p->deciding = memory_new(steps, sizeof *p->deciding);
    find_beginnings(p, begins);
    for (size_t n = 0; n < p->code_count; n++)
        if (!is_arithmetic(&p->code[n]))
            mark_reads(p, begins, &p->code[n]);
    for (bool any = true; any;) {
        any = false;
        for (size_t n = p->code_count; n-- > 0;)
            if (is_arithmetic(&p->code[n]) && writes_deciding(p, &p->code[n]))
                any = mark_reads(p, begins, &p->code[n]) || any;
    }
    free(begins);
}
