#include <string.h>

#include "base/bits.h"
#include "sim/decode/decoder.h"

sim_instruction *decode_compute(decoder *d, const char *name, int32_t to, const int32_t *from,
                                int count)
{
    const sim_operation *op = sim_operation_find(name);
    if (!op) {
        decode_unknown(d);
        return &d->discarded;
    }
    sim_instruction *c = decode_emit(d, SIM_COMPUTE, (sim_class)op->count_class);
    int32_t *sources[4] = {&c->a, &c->b, &c->c, &c->e};
    for (int i = 0; i < count; i++)
        *sources[i] = from[i];
    c->d = to;
    c->width = op->width;
    c->compute = op->compute;
    c->flow = op->flow;
    c->rule = op->range.rule;
    c->number = op->range.number;
    c->cost = d->cost ? d->cost : &op->cost;
    memcpy(c->widths, op->widths, sizeof c->widths);
    return c;
}

int32_t decode_step(decoder *d, const char *name, const int32_t *from, int count)
{
    const sim_operation *op = sim_operation_find(name);
    int32_t to = decode_new_slot(d, op ? op->width : 4);
    decode_compute(d, name, to, from, count)->extra = true;
    return to;
}

int32_t decode_step1(decoder *d, const char *name, int32_t a)
{
    return decode_step(d, name, &a, 1);
}

int32_t decode_step2(decoder *d, const char *name, int32_t a, int32_t b)
{
    return decode_step(d, name, (int32_t[]){a, b}, 2);
}

static void change_width(decoder *d, int32_t slot, int32_t to, uint32_t width, bool is_signed)
{
    const char *name = width == 4 ? "narrow" : is_signed ? "extend.s" : "extend.u";
    decode_compute(d, name, to, &slot, 1)->extra = true;
}

/* Converts a value to lanes of `width` bytes. Returns the new slot. */
static int32_t as_width(decoder *d, int32_t slot, uint32_t width, bool is_signed)
{
    int32_t changed = decode_new_slot(d, width);
    change_width(d, slot, changed, width, is_signed);
    return changed;
}

static const struct special_name {
    const char *name;
    sim_special special;
} special_names[] = {
    {"%tid.x", SIM_TID_X},
    {"%tid.y", SIM_TID_Y},
    {"%tid.z", SIM_TID_Z},
    {"%ntid.x", SIM_NTID_X},
    {"%ntid.y", SIM_NTID_Y},
    {"%ntid.z", SIM_NTID_Z},
    {"%ctaid.x", SIM_CTAID_X},
    {"%ctaid.y", SIM_CTAID_Y},
    {"%ctaid.z", SIM_CTAID_Z},
    {"%nctaid.x", SIM_NCTAID_X},
    {"%nctaid.y", SIM_NCTAID_Y},
    {"%nctaid.z", SIM_NCTAID_Z},
    {"%laneid", SIM_LANEID},
    {"%warpid", SIM_WARPID},
    {"%nwarpid", SIM_NWARPID},
    {"%lanemask_eq", SIM_LANEMASK_EQ},
    {"%lanemask_lt", SIM_LANEMASK_LT},
    {"%lanemask_le", SIM_LANEMASK_LE},
    {"%lanemask_gt", SIM_LANEMASK_GT},
    {"%lanemask_ge", SIM_LANEMASK_GE},
    {"%smid", SIM_SMID},
    {"%nsmid", SIM_NSMID},
    {"%gridid", SIM_GRIDID},
    {"%dynamic_smem_size", SIM_DYNAMIC_SMEM},
    {"%total_smem_size", SIM_TOTAL_SMEM},
    {"%reserved_smem_offset_1", SIM_RESERVED_SMEM},
    {"%clusterid.x", SIM_CLUSTERID_X},
    {"%clusterid.y", SIM_CLUSTERID_Y},
    {"%clusterid.z", SIM_CLUSTERID_Z},
    {"%nclusterid.x", SIM_NCLUSTERID_X},
    {"%nclusterid.y", SIM_NCLUSTERID_Y},
    {"%nclusterid.z", SIM_NCLUSTERID_Z},
    {"%cluster_ctaid.x", SIM_CLUSTER_CTAID_X},
    {"%cluster_ctaid.y", SIM_CLUSTER_CTAID_Y},
    {"%cluster_ctaid.z", SIM_CLUSTER_CTAID_Z},
    {"%cluster_nctaid.x", SIM_CLUSTER_NCTAID_X},
    {"%cluster_nctaid.y", SIM_CLUSTER_NCTAID_Y},
    {"%cluster_nctaid.z", SIM_CLUSTER_NCTAID_Z},
    {"%cluster_ctarank", SIM_CLUSTER_CTARANK},
    {"%cluster_nctarank", SIM_CLUSTER_NCTARANK},
    {"%envreg1", SIM_ENVREG1},
    {"%envreg2", SIM_ENVREG2},
    {"%is_explicit_cluster", SIM_IS_EXPLICIT_CLUSTER},
};

/* Returns the slot of a special register. Each call for a clock emits a new read. */
static int32_t special_slot(decoder *d, const ptx_operand *o, uint32_t width)
{
    static const struct {
        const char *name;
        uint8_t shift;
    } clocks[] = {{"%clock", 0},       {"%clock_hi", 32},      {"%clock64", 0},
                  {"%globaltimer", 0}, {"%globaltimer_lo", 0}, {"%globaltimer_hi", 32}};
    for (size_t i = 0; i < sizeof clocks / sizeof *clocks; i++) {
        if (!ptx_text_is(o->text, clocks[i].name))
            continue;
        sim_instruction *c = decode_emit(d, SIM_CLOCK, SIM_CLASS_MOVE);
        c->extra = true;
        c->width = (uint8_t)width;
        c->op = clocks[i].shift;
        return c->d = decode_new_slot(d, width);
    }
    for (size_t i = 0; i < sizeof special_names / sizeof *special_names; i++) {
        if (!ptx_text_is(o->text, special_names[i].name))
            continue;
        int32_t *s = &d->program->special_slots[special_names[i].special];
        if (*s == SIM_NO_SLOT)
            *s = decode_fixed_slot(d, 4);
        return width == 4 ? *s : as_width(d, *s, width, false);
    }
    decode_fail(d, "the simulator does not know the register or name \"%.*s\"",
                (int)(o->text.length > 60 ? 60 : o->text.length), o->text.at);
    return SIM_NO_SLOT;
}

static uint64_t number_bits(const ptx_operand *o, ptx_type type)
{
    bool is_float = type == PTX_F32 || type == PTX_F16 || type == PTX_BF16;
    double v;
    if (o->kind == PTX_OPERAND_DOUBLE && is_float)
        v = double_of_bits(o->bits);
    else if (o->kind == PTX_OPERAND_INTEGER && (is_float || type == PTX_F64))
        v = (double)(int64_t)o->bits;
    else if (o->kind == PTX_OPERAND_FLOAT &&
             (type == PTX_F64 || type == PTX_F16 || type == PTX_BF16))
        v = float_of_bits((uint32_t)o->bits);
    else
        return o->bits;
    switch (type) {
    case PTX_F32:
        return bits_of_float((float)v);
    case PTX_F16:
        return half_from_double(v);
    case PTX_BF16:
        return bfloat_from_double(v);
    default:
        return bits_of_double(v);
    }
}

/* Returns whether a variable is in local memory, as is a .param variable of a called function. */
static bool is_local(const decoder *d, const ptx_operand *o)
{
    const ptx_variable *v = &d->module->variables[o->index];
    const ptx_function *kernel = &d->module->functions[d->program->function];
    bool kernel_parameter = v->space == PTX_SPACE_PARAM && o->index >= kernel->first_parameter &&
                            o->index < kernel->first_parameter + kernel->parameter_count;
    return v->space == PTX_SPACE_LOCAL || (v->space == PTX_SPACE_PARAM && !kernel_parameter);
}

/* Returns the address of a variable in its own space. A local variable gets an address at its first
 * use. In a function with frames, this address is an offset in the frame. */
static uint64_t variable_address(decoder *d, const ptx_operand *o)
{
    const ptx_variable *v = &d->module->variables[o->index];
    if (!is_local(d, o))
        return d->program->addresses[o->index] + (uint64_t)o->offset;
    sim_program *p = d->program;
    if (d->local_at[o->index] < 0) {
        uint64_t at = (p->local_bytes + (uint64_t)v->alignment - 1) & ~((uint64_t)v->alignment - 1);
        if (at + v->size_bytes > DECODE_LOCAL_BYTES) {
            decode_fail(d,
                        "the variables in local memory take more than %d bytes a thread, the "
                        "simulator's limit",
                        DECODE_LOCAL_BYTES);
            return 0;
        }
        if (d->base != SIM_NO_SLOT && v->alignment > d->frame_alignment)
            d->frame_alignment = v->alignment;
        d->local_at[o->index] = (int64_t)at;
        p->local_bytes = (uint32_t)(at + v->size_bytes);
    }
    return (uint64_t)d->local_at[o->index] + (uint64_t)o->offset;
}

static int32_t variable_source(decoder *d, const ptx_operand *o, uint32_t width)
{
    const uint64_t address = variable_address(d, o);
    if (d->base == SIM_NO_SLOT || !is_local(d, o))
        return decode_constant(d, address, width);
    const int32_t sum = decode_step2(d, "add.u64", d->base, decode_constant(d, address, 8));
    return width == 8 ? sum : as_width(d, sum, width, false);
}

int32_t decode_source(decoder *d, const ptx_operand *o, uint32_t width, ptx_type type)
{
    if (d->status)
        return SIM_NO_SLOT;
    switch (o->kind) {
    case PTX_OPERAND_REGISTER: {
        if (o->selector.length > 0) {
            decode_fail(d, "a part of a register is not supported here");
            return SIM_NO_SLOT;
        }
        uint32_t own = decode_register_width(d, o);
        if (own == 0 || own > 8) {
            decode_fail(d, "%s where a value is expected",
                        own ? "a register of 128 bits" : "a predicate");
            return SIM_NO_SLOT;
        }
        int32_t slot = decode_register_slot(d, o);
        return own == width ? slot : as_width(d, slot, width, type_is_signed(type));
    }
    case PTX_OPERAND_SPECIAL:
        return special_slot(d, o, width);
    case PTX_OPERAND_INTEGER:
    case PTX_OPERAND_FLOAT:
    case PTX_OPERAND_DOUBLE:
        return decode_constant(d, number_bits(o, type), width);
    case PTX_OPERAND_VARIABLE:
        return variable_source(d, o, width);
    case PTX_OPERAND_FUNCTION:
        return decode_constant(d, sim_function_address(o->index), width);
    case PTX_OPERAND_SINK:
        return decode_constant(d, 0, width);
    case PTX_OPERAND_LABEL:
        decode_fail(d, "the name \"%.*s\" is not declared",
                    (int)(o->text.length > 60 ? 60 : o->text.length), o->text.at);
        return SIM_NO_SLOT;
    default:
        decode_fail(d, "an operand of this kind is not supported here");
        return SIM_NO_SLOT;
    }
}

destination decode_destination(decoder *d, const ptx_operand *o, uint32_t width)
{
    destination to = {SIM_NO_SLOT, SIM_NO_SLOT, (uint8_t)width};
    if (d->status)
        return to;
    if (o->kind == PTX_OPERAND_SINK) {
        to.slot = decode_new_slot(d, width);
    } else if (o->selector.length > 0) {
        decode_fail(d, "a part of a register is not supported here");
    } else if (o->kind != PTX_OPERAND_REGISTER) {
        decode_fail(d, "the destination must be a register");
    } else if (decode_register_width(d, o) == 0 || decode_register_width(d, o) > 8) {
        decode_fail(d, "a %s cannot take this result",
                    decode_register_width(d, o) ? "register of 128 bits" : "predicate");
    } else {
        to.slot = decode_register_slot(d, o);
        if (decode_register_width(d, o) != width) {
            to.widen = to.slot;
            to.slot = decode_new_slot(d, width);
        }
    }
    return to;
}

int32_t decode_wide(decoder *d, const ptx_operand *o, bool is_destination)
{
    if (d->status)
        return SIM_NO_SLOT;
    if (o->kind == PTX_OPERAND_SINK && is_destination)
        return decode_new_slot(d, 16);
    if (o->kind == PTX_OPERAND_REGISTER && o->selector.length == 0 &&
        decode_register_width(d, o) == 16)
        return decode_register_slot(d, o);
    decode_fail(d, "the operand must be a register of 128 bits");
    return SIM_NO_SLOT;
}

at_status decode_finish(decoder *d, const destination *to, bool is_signed)
{
    if (to->widen != SIM_NO_SLOT)
        change_width(d, to->slot, to->widen, to->width == 8 ? 4 : 8, is_signed);
    return d->status;
}
