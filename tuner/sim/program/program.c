#include <string.h>

#include "sim/program/operations.h"
#include "sim/program/warpgroup.h"

static bool is_among(const char *names, const char *name, size_t length)
{
    for (const char *at = names; at; at = strchr(at, ' ')) {
        at += *at == ' ';
        if (strncmp(at, name, length) == 0 && (at[length] == ' ' || at[length] == '\0'))
            return true;
    }
    return false;
}

const sim_operation *sim_operation_find(const char *name)
{
    const size_t length = strlen(name);
    const sim_operation *const tables[] = {sim_integer_operations, sim_float_operations};
    for (size_t t = 0; t < 2; t++)
        for (const sim_operation *o = tables[t]; o->names; o++)
            if (is_among(o->names, name, length))
                return o;
    return NULL;
}

affine_order sim_order_of(ptx_type t)
{
    return t == PTX_S8 || t == PTX_S16 || t == PTX_S32 || t == PTX_S64 ? AFFINE_SIGNED
           : t == PTX_F32 || t == PTX_F64                              ? AFFINE_REAL
                                                                       : AFFINE_UNSIGNED;
}

static void add_read(sim_operands *out, int32_t slot)
{
    if (slot >= 0 && out->read_count < SIM_MOST_OPERANDS)
        out->reads[out->read_count++] = slot;
}

static void add_write(sim_operands *out, int32_t slot)
{
    if (slot >= 0 && out->write_count < SIM_MOST_OPERANDS)
        out->writes[out->write_count++] = slot;
}

/* Register d is read, too, unless predicate c is known to be false. */
static void add_warpgroup(const sim_program *p, const sim_instruction *c, sim_operands *out)
{
    const sim_warpgroup_product *x = sim_warpgroup_product_of(p, c);
    const int32_t *d = sim_warpgroup_slots(p, c, SIM_MATRIX_D),
                  *a = sim_warpgroup_slots(p, c, SIM_MATRIX_A);
    bool reads = true;
    for (size_t i = 0; i < p->constant_count; i++)
        reads = reads && !(p->constants[i].slot == c->c && p->constants[i].bits == 0);
    for (int i = 0; i < x->part.registers[SIM_MATRIX_D]; i++) {
        add_write(out, d[i]);
        if (reads)
            add_read(out, d[i]);
    }
    for (int i = 0; i < x->part.registers[SIM_MATRIX_A]; i++)
        add_read(out, a[i]);
}

void sim_operands_of(const sim_program *p, const sim_instruction *c, sim_operands *out)
{
    out->read_count = out->write_count = 0;
    const int32_t sources[] = {c->guard, c->a, c->b, c->c, c->e};
    for (size_t i = 0; i < sizeof sources / sizeof *sources; i++)
        add_read(out, sources[i]);
    bool transfers = c->kind == SIM_LOAD || c->kind == SIM_STORE || c->kind == SIM_STORE_ASYNC;
    for (int v = 0; transfers && v < c->vector; v++) {
        if (c->kind == SIM_LOAD)
            add_write(out, p->lists[c->list + v]);
        else
            add_read(out, p->lists[c->list + v]);
    }
    const int results = c->kind == SIM_TEXTURE ? c->vector : 0;
    for (int v = 0; v < results; v++)
        add_write(out, p->lists[c->list + v]);
    for (int v = 0; (results > 0 || c->kind == SIM_SURFACE) && v < c->target_count; v++)
        add_read(out, p->lists[c->list + results + v]);
    const bool copies = c->kind == SIM_BULK_LOAD || c->kind == SIM_BULK_STORE;
    for (int32_t v = 0; copies && v < c->target_count; v++)
        add_read(out, p->lists[c->list + v]);
    for (int i = SIM_MATRIX_D; c->kind == SIM_MATRIX && i <= SIM_MATRIX_C; i++) {
        const int32_t *slots = sim_matrix_slots(p, c, (sim_operand)i);
        for (int k = 0; k < sim_matrix_of(p, c)->registers[i]; k++)
            (i == SIM_MATRIX_D ? add_write : add_read)(out, slots[k]);
    }
    if (c->kind == SIM_WARPGROUP_PRODUCT)
        add_warpgroup(p, c, out);
    if (transfers || c->kind == SIM_MATRIX || c->kind == SIM_WARPGROUP_PRODUCT)
        return;
    add_write(out, c->d);
    if (c->kind == SIM_ATOMIC && c->vector == 2) {
        add_write(out, c->d + SIM_HIGH_HALF);
        add_read(out, c->b + SIM_HIGH_HALF);
        if (c->c != SIM_NO_SLOT)
            add_read(out, c->c + SIM_HIGH_HALF);
    }
    /* In other kinds of instructions, d2 is a number, not a slot. */
    if (c->kind == SIM_COMPARE || c->kind == SIM_SHUFFLE || c->kind == SIM_MATCH ||
        c->kind == SIM_REDUCE || c->kind == SIM_SURFACE)
        add_write(out, c->d2);
}
