/* Products of matrices by four warps. PTX ISA, "Asynchronous Warpgroup Level Matrix Instructions".
 */
#include <stdio.h>

#include "sim/decode/decoder.h"
#include "sim/program/warpgroup.h"

/* wgmma.fence, .commit_group: no operand; .wait_group n. */
static at_status decode_order(decoder *d, sim_kind kind)
{
    int64_t left = 0;
    if (kind == SIM_WARPGROUP_WAIT)
        left = decode_groups(d);
    else
        decode_count(d, 0, 0);
    decode_emit(d, kind, SIM_CLASS_CONTROL)->offset = left;
    return d->status;
}

/* Is that the length along k of such elements, and do they go together? */
static bool are_multiplied(const sim_matrix *x)
{
    const int32_t *e = x->elements, d = e[SIM_MATRIX_D], a = e[SIM_MATRIX_A], b = e[SIM_MATRIX_B];
    if ((uint32_t)x->k * sim_element_bits((sim_element)a) !=
        8 * SIM_WARPGROUP_BYTES * (x->sparse ? 2u : 1u))
        return false;
    switch (a) {
    case SIM_ELEMENT_F16:
        return b == a && (d == SIM_ELEMENT_F32 || d == SIM_ELEMENT_F16);
    case SIM_ELEMENT_BF16:
    case SIM_ELEMENT_TF32:
        return b == a && d == SIM_ELEMENT_F32;
    case SIM_ELEMENT_E4M3:
    case SIM_ELEMENT_E5M2:
        return (b == SIM_ELEMENT_E4M3 || b == SIM_ELEMENT_E5M2) &&
               (d == SIM_ELEMENT_F32 || d == SIM_ELEMENT_F16);
    case SIM_ELEMENT_S8:
    case SIM_ELEMENT_U8:
        return (b == SIM_ELEMENT_S8 || b == SIM_ELEMENT_U8) && d == SIM_ELEMENT_S32;
    default:
        return a == SIM_ELEMENT_B1 && b == a && d == SIM_ELEMENT_S32 && !x->sparse;
    }
}

static bool find_shape(const decoder *d, sim_matrix *x)
{
    char more;
    for (int i = 0; i < d->op.count; i++)
        if (sscanf(d->op.modifiers[i], "m64n%dk%d%c", &x->n, &x->k, &more) == 2)
            return x->n > 0 && x->n <= SIM_WARPGROUP_COLUMNS && x->n % 8 == 0;
    return false;
}

/* The immediate operand of that number, 0 or 1, or -1 or 1. */
static bool find_flag(const decoder *d, int number, int64_t other, bool *is_other)
{
    const ptx_operand *o = decode_operand(d, number);
    const int64_t v = (int64_t)o->bits;
    *is_other = v == other;
    return o->kind == PTX_OPERAND_INTEGER && (v == other || v == (other < 0 ? 1 : 0));
}

/* Signs and major-nesses: scale-a, scale-b, then those of what is in shared memory, of 16 bits
 * alone. */
static bool find_flags(const decoder *d, sim_warpgroup_product *x, bool a_is_shared)
{
    const int32_t a = x->part.elements[SIM_MATRIX_A];
    const bool floats = x->part.elements[SIM_MATRIX_D] != SIM_ELEMENT_S32,
               turns = a == SIM_ELEMENT_F16 || a == SIM_ELEMENT_BF16;
    bool negates[2] = {false, false}, turned = false;
    int at = x->part.sparse ? 6 : 4;
    for (int i = 0; floats && i < 2; i++)
        if (!find_flag(d, at++, -1, &negates[i]))
            return false;
    x->negated = negates[0] != negates[1];
    for (int i = a_is_shared ? 0 : 1; turns && i < 2; i++) {
        if (!find_flag(d, at++, 1, &turned))
            return false;
        x->turned[i] = turned;
    }
    return d->statement->count == at;
}

/* The slots of registers of 32 bits, which are there already: accumulators are not moved. */
static bool find_registers(decoder *d, const ptx_operand *o, int count, int32_t *slots)
{
    if (o->kind != PTX_OPERAND_VECTOR || o->count != count)
        return false;
    for (int i = 0; i < count; i++) {
        const ptx_operand *one = decode_part(d, o, i);
        if (one->kind != PTX_OPERAND_REGISTER || one->selector.length > 0 ||
            decode_register_width(d, one) != 4)
            return false;
        slots[i] = decode_register_slot(d, one);
    }
    return true;
}

/* The operand after the metadata. */
static bool find_selector(const decoder *d, sim_matrix *x)
{
    const ptx_operand *o = decode_operand(d, 4);
    x->selector = (int32_t)(o->bits & 3);
    return o->kind == PTX_OPERAND_INTEGER && o->bits < (uint64_t)sim_matrix_selectors(x);
}

/* wgmma.mma_async{.sp}.sync.aligned.SHAPE{.satfinite}.D.A.B{.and.popc} d, a, b, {metadata,
 * selector,} scale-d, flags */
static at_status decode_product(decoder *d)
{
    sim_warpgroup_product x = {
        .part = {.m = SIM_WARPGROUP_ROWS, .sparse = decode_has(d, "sp") ? SIM_SPARSE : SIM_DENSE}};
    int32_t slots[2 * SIM_WARPGROUP_COLUMNS];
    if (decode_elements(d, x.part.elements) != 3 || !find_shape(d, &x.part) ||
        !are_multiplied(&x.part) ||
        decode_has(d, "popc") != (x.part.elements[SIM_MATRIX_A] == SIM_ELEMENT_B1) ||
        decode_has(d, "and") != decode_has(d, "popc"))
        return decode_unknown(d);
    const ptx_operand *a = decode_operand(d, 1);
    const bool a_is_shared = a->kind == PTX_OPERAND_REGISTER;
    const int of_d = sim_matrix_least(&x.part, SIM_MATRIX_D),
              of_a = a_is_shared ? 0 : sim_matrix_least(&x.part, SIM_MATRIX_A);
    x.part.registers[SIM_MATRIX_D] = of_d;
    x.part.registers[SIM_MATRIX_A] = of_a;
    if (!find_flags(d, &x, a_is_shared) || (x.part.sparse && !find_selector(d, &x.part)) ||
        !find_registers(d, decode_operand(d, 0), of_d, slots) ||
        (!a_is_shared && !find_registers(d, a, of_a, slots + of_d)))
        return decode_unknown(d);
    int32_t of_a_at = SIM_NO_SLOT;
    if (a_is_shared)
        of_a_at = decode_source(d, a, 8, PTX_B64);
    const int32_t of_b_at = decode_source(d, decode_operand(d, 2), 8, PTX_B64),
                  keeps = decode_predicate(d, decode_operand(d, x.part.sparse ? 5 : 3), false);
    const int32_t metadata =
        x.part.sparse ? decode_source(d, decode_operand(d, 3), 4, PTX_B32) : SIM_NO_SLOT;
    sim_instruction *c =
        decode_emit(d, SIM_WARPGROUP_PRODUCT, decode_matrix_class(x.part.elements[SIM_MATRIX_A]));
    c->a = of_a_at;
    c->b = of_b_at;
    c->c = keeps;
    c->e = metadata;
    c->saturate = decode_has(d, "satfinite");
    c->list = (int32_t)d->program->list_count;
    decode_lists(d, (const int32_t *)(const void *)&x, sizeof x / sizeof(int32_t));
    decode_lists(d, slots, (size_t)(of_d + of_a));
    return d->status;
}

at_status decode_wgmma(decoder *d)
{
    static const sim_cost product = SIM_COST(MATRIX, 1);
    if (decode_has(d, "mma_async")) {
        d->cost = &product;
        return decode_product(d);
    }
    return decode_has(d, "fence")          ? decode_order(d, SIM_WARPGROUP_FENCE)
           : decode_has(d, "commit_group") ? decode_order(d, SIM_WARPGROUP_COMMIT)
           : decode_has(d, "wait_group")   ? decode_order(d, SIM_WARPGROUP_WAIT)
                                           : decode_unknown(d);
}
