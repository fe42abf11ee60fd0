#include "sim/affine.h"

#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "base/memory.h"

void symbolic_init(symbolic *s, const sim_program *p)
{
    *s = (symbolic){.program = p,
                    .values = memory_new(p->register_bytes / SIM_SLOT_STEP + 1, sizeof *s->values)};
}

void symbolic_deinit(symbolic *s)
{
    free(s->values);
}

affine *symbolic_value(const symbolic *s, int32_t slot)
{
    return &s->values[slot / SIM_SLOT_STEP];
}

typedef union lanes {
    uint32_t w32[SIM_LANES];
    uint64_t w64[SIM_LANES];
} lanes;

/* Returns a cut in the middle of `axis`, or of another axis if `axis` has one coordinate. */
static affine halve_along(const symbolic *s, uint8_t axis)
{
    return affine_halve_range(&s->box, &(affine){.kind = AFFINE_RANGE, .axis = axis});
}

static const affine *operand(const symbolic *s, const sim_instruction *c, int i)
{
    const int32_t slots[] = {c->a, c->b, c->c, c->e};
    return symbolic_value(s, slots[i]);
}

static int operand_count(const sim_instruction *c)
{
    int count = 0;
    while (count < 4 && c->widths[count])
        count++;
    return count;
}

static void compute_lanes(const sim_instruction *c, lanes sources[4], lanes *result)
{
    const void *from[4] = {&sources[0], &sources[1], &sources[2], &sources[3]};
    for (int i = 0; c->flush && i < 3; i++)
        sim_flush_lanes(c->flush, sources[i].w32);
    c->compute(result, from);
    if (c->op != SIM_TINY_NEVER)
        sim_flush_tiny(c->flush, (sim_tiny)c->op,
                       (const uint32_t *const[]){sources[0].w32, sources[1].w32, sources[2].w32},
                       result->w32);
    if (c->flush)
        sim_flush_lanes(c->flush, result->w32);
}

/* Returns the range of an operation's results for all combinations of its operands' ends. */
static affine compute_ends(const symbolic *s, const sim_instruction *c, const uint64_t ends[4][2],
                           int count, affine_order order, uint8_t axis)
{
    lanes sources[4] = {0}, result;
    uint64_t results[16];
    for (int i = 0; i < count; i++)
        for (int k = 0; k < 1 << count; k++) {
            if (c->widths[i] == 8)
                sources[i].w64[k] = ends[i][k >> i & 1];
            else
                sources[i].w32[k] = (uint32_t)ends[i][k >> i & 1];
        }
    compute_lanes(c, sources, &result);
    for (int k = 0; k < 1 << count; k++)
        results[k] = c->width == 8 ? result.w64[k] : result.w32[k];
    return affine_between(&s->box, results, 1 << count, c->width, order, axis);
}

static bool meets_zero(const uint64_t ends[2], int bytes)
{
    const double low = bytes == 4 ? float_of_bits((uint32_t)ends[0]) : double_of_bits(ends[0]),
                 high = bytes == 4 ? float_of_bits((uint32_t)ends[1]) : double_of_bits(ends[1]);
    return !(low > 0 || high < 0);
}

/* Returns whether a product has 32-bit operands and a 64-bit result. */
static bool is_wide(const sim_instruction *c)
{
    return (c->rule == RULE_MULTIPLY || c->rule == RULE_MULTIPLY_ADD) && c->width == 8 &&
           c->widths[0] == 4;
}

/* Computes an operation that is monotone in each operand from the ends of the operands. */
static affine monotone(const symbolic *s, const sim_instruction *c, bool divides)
{
    uint64_t ends[4][2];
    affine cut;
    uint8_t axis = 0;
    const int count = operand_count(c);
    for (int i = 0; i < count; i++) {
        const affine *v = operand(s, c, i);
        if (!affine_ends(&s->box, v, c->widths[i], (affine_order)c->number, ends[i], &cut))
            return cut;
        if (ends[i][0] != ends[i][1])
            axis = affine_axis(&s->box, v);
    }
    if (divides && ends[count - 1][0] != ends[count - 1][1] && c->number == AFFINE_REAL &&
        meets_zero(ends[count - 1], c->widths[count - 1]))
        return halve_along(s, axis);
    return compute_ends(s, c, (const uint64_t(*)[2])ends, count, (affine_order)c->number, axis);
}

/* Computes an operation on integers, some of which are ranges, by interval arithmetic. Asks for a
 * cut if the result wraps. */
static affine on_ranges(const symbolic *s, const sim_instruction *c, sim_rule r)
{
    const affine_integer most = (affine_integer)1 << 62;
    affine_integer low[3] = {0}, high[3] = {0};
    affine cut;
    affine_order order = AFFINE_SIGNED;
    uint8_t axis = 0;
    const int count = operand_count(c);
    for (int i = 0; i < count; i++)
        if (operand(s, c, i)->kind == AFFINE_RANGE) {
            order = (affine_order)operand(s, c, i)->order;
            axis = operand(s, c, i)->axis;
        }
    order = is_wide(c) ? (affine_order)c->number : order;
    for (int i = 0; i < count; i++) {
        uint64_t ends[2];
        const int bytes = c->widths[i];
        if (order == AFFINE_REAL ||
            !affine_ends(&s->box, operand(s, c, i), bytes, order, ends, &cut))
            return affine_obstacle(&s->box, (const affine *const[]){operand(s, c, i)}, 1);
        for (int k = 0; k < 2; k++)
            *(k ? &high[i] : &low[i]) = order == AFFINE_UNSIGNED ? (affine_integer)ends[k]
                                        : bytes == 4 ? (affine_integer)(int32_t)(uint32_t)ends[k]
                                                     : (affine_integer)(int64_t)ends[k];
        /* Within these limits, products of two factors do not overflow. */
        if (low[i] < -most || high[i] > most)
            return halve_along(s, axis);
    }
    if (r == RULE_SUBTRACT) {
        const affine_integer t = low[1];
        low[1] = -high[1];
        high[1] = -t;
    }
    affine_integer least = low[0] + low[1], greatest = high[0] + high[1];
    if (r == RULE_SHIFT_LEFT) {
        if (low[1] != high[1] || low[1] < 0 || low[1] > 62)
            return halve_along(s, axis);
        low[1] = high[1] = (affine_integer)1 << low[1];
    }
    if (r == RULE_MULTIPLY || r == RULE_MULTIPLY_ADD || r == RULE_SHIFT_LEFT) {
        const affine_integer products[] = {low[0] * low[1], low[0] * high[1], high[0] * low[1],
                                           high[0] * high[1]};
        least = greatest = products[0];
        for (int i = 1; i < 4; i++) {
            least = products[i] < least ? products[i] : least;
            greatest = products[i] > greatest ? products[i] : greatest;
        }
        least += low[2];
        greatest += high[2];
    }
    /* A difference of unsigned numbers may be negative, because a later sum may correct it. */
    const int bits = 8 * c->width;
    const affine_integer half = (affine_integer)1 << (bits - 1);
    if (order == AFFINE_UNSIGNED && least < 0)
        order = AFFINE_SIGNED;
    if (order == AFFINE_SIGNED ? least < -half || greatest >= half : greatest >= 2 * half)
        return halve_along(s, axis);
    const uint64_t results[] = {bits == 32 ? (uint32_t)least : (uint64_t)least,
                                bits == 32 ? (uint32_t)greatest : (uint64_t)greatest};
    return affine_between(&s->box, results, 2, c->width, order, axis);
}

/* Stores `cut` in a range, as the cut that makes the value exact. */
static affine exact_after(affine range, const affine *cut)
{
    if (range.kind == AFFINE_RANGE && cut->kind == AFFINE_CUT) {
        range.axis = cut->axis;
        range.step[1] = cut->base;
        range.step[2] = cut->step[0];
    }
    return range;
}

/* Computes a monotone operation whose value becomes exact only after `cut`. */
static affine ordered(const symbolic *s, const sim_instruction *c, const affine *cut)
{
    return exact_after(monotone(s, c, false), cut);
}

/* Computes a quotient, a remainder or a right shift by a known number. */
static affine quotient(const symbolic *s, const sim_instruction *c, sim_rule r)
{
    const affine *a = operand(s, c, 0), *b = operand(s, c, 1);
    affine_whole whole;
    affine q, rest, cut;
    int64_t by = affine_is_number(b) ? b->base : 0;
    if (r == RULE_SHIFT_RIGHT)
        by = by >= 0 && by < 62 ? INT64_C(1) << by : 0;
    else if (c->widths[1] == 4 && c->number == AFFINE_UNSIGNED)
        by = (int64_t)(uint32_t)(uint64_t)by;
    if (by <= 0)
        return affine_obstacle(&s->box, (const affine *const[]){a, b}, 2);
    if (a->kind == AFFINE_RANGE && r != RULE_REMAINDER)
        return monotone(s, c, false);
    if (a->kind != AFFINE_EXACT)
        return affine_obstacle(&s->box, (const affine *const[]){a}, 1);
    if (!affine_whole_of(&s->box, a, 8 * c->widths[0], (affine_order)c->number, &whole, &cut))
        return cut;
    /* Division rounds towards zero; a shift rounds down. */
    if (r != RULE_SHIFT_RIGHT && whole.low < 0)
        return whole.high < 0 ? affine_obstacle(&s->box, (const affine *const[]){a}, 1)
                              : affine_cut_where(&s->box, &whole, 0);
    if (affine_divide(&s->box, &whole, by, &q, &rest, &cut))
        return r == RULE_REMAINDER ? rest : q;
    return r == RULE_REMAINDER ? cut : ordered(s, c, &cut);
}

/* Returns the range of the bitwise combination of two integers. */
static affine bitwise_range(const symbolic *s, const sim_instruction *c, const affine_whole of[2],
                            const affine *cut)
{
    const affine_integer least = of[0].low > of[1].low ? of[0].low : of[1].low,
                         most = of[0].high > of[1].high ? of[0].high : of[1].high,
                         lesser = of[0].high < of[1].high ? of[0].high : of[1].high;
    const bool is_both = c->flow == SIM_FLOW_AND, is_either = c->flow == SIM_FLOW_OR;
    int width = 0;
    while (most >> width > 0)
        width++;
    if (cut->kind != AFFINE_CUT || width > 62)
        return *cut;
    const uint64_t ends[] = {is_either ? (uint64_t)least : 0,
                             is_both ? (uint64_t)lesser : (UINT64_C(1) << width) - 1};
    return exact_after(affine_between(&s->box, ends, 2, c->width, AFFINE_UNSIGNED, cut->axis), cut);
}

/* Computes a bitwise operation on two integers, one of which fits in `width` bits. An AND
 * clears all higher bits of the other integer; an OR and an XOR keep them. */
static affine bitwise_of(const symbolic *s, const sim_instruction *c)
{
    const affine *v[] = {operand(s, c, 0), operand(s, c, 1)};
    const int bits = 8 * c->width;
    affine_whole whole[2];
    affine quotient, rest, cut;
    for (int i = 0; i < 2; i++)
        if (v[i]->kind != AFFINE_EXACT)
            return affine_obstacle(&s->box, v, 2);
        else if (!affine_whole_of(&s->box, v[i], bits, AFFINE_UNSIGNED, &whole[i], &cut))
            return cut;
    const int low = whole[0].high < whole[1].high ? 0 : 1, high = 1 - low;
    int width = 0;
    while (whole[low].high >> width > 0)
        width++;
    if (width > 61)
        return affine_obstacle(&s->box, v, 2);
    const int64_t period = INT64_C(1) << width;
    /* OR and XOR of integers without common bits are their sum. */
    if (whole[low].high < (affine_integer)1 << affine_zero_bits(&s->box, v[high]) &&
        c->flow != SIM_FLOW_AND)
        return affine_add(v[0], v[1]);
    if (!affine_divide(&s->box, &whole[high], period, &quotient, &rest, &cut))
        return bitwise_range(s, c, whole, &cut);
    const affine *parts[] = {&rest, v[low]};
    if (!affine_is_number(&rest) || !affine_is_number(v[low])) {
        cut = affine_obstacle(&s->box, parts, 2);
        return bitwise_range(s, c, whole, &cut);
    }
    lanes sources[4] = {0}, result;
    for (int i = 0; i < 2; i++)
        sources[i].w64[0] = affine_bits(parts[i], c->width);
    compute_lanes(c, sources, &result);
    const affine together = affine_number(c->width == 8 ? result.w64[0] : result.w32[0]);
    quotient = affine_scale(&quotient, c->flow == SIM_FLOW_AND ? 0 : period);
    return affine_add(&quotient, &together);
}

/* Computes an AND with a mask of adjacent bits. */
static affine masked(const symbolic *s, const sim_instruction *c)
{
    const affine *a = operand(s, c, 0), *b = operand(s, c, 1);
    if (affine_is_number(a)) {
        const affine *t = a;
        a = b;
        b = t;
    }
    const int bits = 8 * c->width;
    const uint64_t mask = affine_bits(b, c->width), lowest = mask & (0 - mask);
    const bool is_high = mask >> (bits - 1) & 1, together = ((mask + lowest) & mask) == 0;
    affine_whole whole;
    affine q, part, rest, cut;
    if (!affine_is_number(b) || !together || (!is_high && mask >> 61))
        return bitwise_of(s, c);
    if (mask == 0)
        return *b;
    if (a->kind == AFFINE_RANGE && is_high)
        return monotone(s, c, false);
    if (a->kind != AFFINE_EXACT)
        return bitwise_of(s, c);
    if (!affine_whole_of(&s->box, a, bits, AFFINE_UNSIGNED, &whole, &cut))
        return cut;
    part = *a;
    if (!is_high && (!affine_divide(&s->box, &whole, (int64_t)(mask + lowest), &q, &part, &cut) ||
                     !affine_whole_of(&s->box, &part, bits, AFFINE_UNSIGNED, &whole, &cut)))
        return cut;
    if (!affine_divide(&s->box, &whole, (int64_t)lowest, &q, &rest, &cut))
        return is_high ? ordered(s, c, &cut) : cut;
    rest = affine_scale(&rest, -1);
    return affine_add(&part, &rest);
}

/* Computes bfe or bfi, which extract or insert a field. Position and length must be known. */
static affine field(const symbolic *s, const sim_instruction *c, bool inserts)
{
    const int bits = 8 * c->widths[0];
    const affine *a = operand(s, c, 0), *b = inserts ? operand(s, c, 1) : a,
                 *place = operand(s, c, 1 + inserts), *length = operand(s, c, 2 + inserts);
    affine_whole from, into, high;
    affine q, low, rest, cut;
    if (a->kind != AFFINE_EXACT || b->kind != AFFINE_EXACT || !affine_is_number(place) ||
        !affine_is_number(length))
        return affine_obstacle(&s->box, (const affine *const[]){a, b, place, length}, 4);
    const int64_t first = place->base & 255, count = length->base & 255;
    if (first + count > bits || first + count > 61 || count == 0)
        return affine_obstacle(&s->box, (const affine *const[]){a, b}, 2);
    if (!affine_whole_of(&s->box, a, bits, AFFINE_UNSIGNED, &from, &cut) ||
        !affine_whole_of(&s->box, b, bits, AFFINE_UNSIGNED, &into, &cut))
        return cut;
    if (!inserts) {
        if (!affine_divide(&s->box, &from, INT64_C(1) << first, &q, &rest, &cut) ||
            !affine_whole_of(&s->box, &q, bits, AFFINE_UNSIGNED, &high, &cut) ||
            !affine_divide(&s->box, &high, INT64_C(1) << count, &q, &rest, &cut))
            return cut;
        return rest;
    }
    if (!affine_divide(&s->box, &from, INT64_C(1) << count, &q, &rest, &cut))
        return cut;
    rest = affine_scale(&rest, INT64_C(1) << first);
    if (!affine_divide(&s->box, &into, INT64_C(1) << first, &q, &low, &cut))
        return cut;
    rest = affine_add(&rest, &low);
    if (!affine_divide(&s->box, &into, INT64_C(1) << (first + count), &q, &low, &cut))
        return cut;
    q = affine_scale(&q, INT64_C(1) << (first + count));
    return affine_add(&rest, &q);
}

static affine product(const symbolic *s, const sim_instruction *c, const affine *a, const affine *b)
{
    const affine *v[] = {a, b};
    affine wide[2];
    for (int i = 0; is_wide(c) && i < 2; i++) {
        wide[i] = affine_widen(&s->box, v[i], (affine_order)c->number);
        if (wide[i].kind != AFFINE_EXACT)
            return wide[i];
        v[i] = &wide[i];
    }
    if (affine_is_number(v[0]))
        return affine_scale(v[1], v[0]->base);
    return affine_is_number(v[1]) ? affine_scale(v[0], v[1]->base) : affine_obstacle(&s->box, v, 2);
}

/* Returns the minimum or maximum of two integers. */
static affine minimum_or_maximum(const symbolic *s, const sim_instruction *c, bool least)
{
    const affine *v[] = {operand(s, c, 0), operand(s, c, 1)};
    affine_whole a, b;
    affine cut;
    if (v[0]->kind != AFFINE_EXACT || v[1]->kind != AFFINE_EXACT)
        return affine_obstacle(&s->box, v, 2);
    if (!affine_whole_of(&s->box, v[0], 8 * c->width, (affine_order)c->number, &a, &cut) ||
        !affine_whole_of(&s->box, v[1], 8 * c->width, (affine_order)c->number, &b, &cut))
        return cut;
    const affine_whole d = affine_difference(&s->box, &a, &b);
    if (d.low >= 0)
        return *v[least];
    return d.high < 0 ? *v[!least] : affine_cut_where(&s->box, &d, 0);
}

affine symbolic_compute(const symbolic *s, int32_t pc)
{
    const sim_instruction *c = &s->program->code[pc];
    const int count = operand_count(c);
    const affine *v[4] = {NULL};
    bool numbers = true, exact = true, ranges = true;
    for (int i = 0; i < count; i++) {
        v[i] = operand(s, c, i);
        if (v[i]->kind == AFFINE_DATA)
            return *v[i];
        numbers = numbers && affine_is_number(v[i]);
        exact = exact && v[i]->kind == AFFINE_EXACT;
        ranges = ranges && v[i]->kind != AFFINE_CUT;
    }
    affine t;
    switch (c->rule) {
    case RULE_COPY:
        /* The low half of a range is not always a range. */
        return v[0]->kind == AFFINE_RANGE && c->width < c->widths[0]
                   ? affine_obstacle(&s->box, v, 1)
                   : *v[0];
    case RULE_WIDEN:
        return affine_widen(&s->box, v[0], (affine_order)c->number);
    case RULE_ADD:
    case RULE_SUBTRACT:
        if (!exact)
            return ranges ? on_ranges(s, c, (sim_rule)c->rule) : affine_obstacle(&s->box, v, count);
        t = affine_scale(v[1], c->rule == RULE_ADD ? 1 : -1);
        return affine_add(v[0], &t);
    case RULE_MULTIPLY:
    case RULE_MULTIPLY_ADD:
        if (!exact)
            return ranges ? on_ranges(s, c, (sim_rule)c->rule) : affine_obstacle(&s->box, v, count);
        t = product(s, c, v[0], v[1]);
        return c->rule == RULE_MULTIPLY || t.kind != AFFINE_EXACT ? t : affine_add(&t, v[2]);
    case RULE_SHIFT_LEFT:
        if (!affine_is_number(v[1]))
            return affine_obstacle(&s->box, v, count);
        if (!exact)
            return ranges ? on_ranges(s, c, RULE_SHIFT_LEFT) : affine_obstacle(&s->box, v, count);
        return (uint64_t)v[1]->base >= 8u * c->width
                   ? affine_number(0)
                   : affine_scale(v[0], (int64_t)(UINT64_C(1) << v[1]->base));
    case RULE_SHIFT_RIGHT:
    case RULE_DIVIDE:
    case RULE_REMAINDER:
        if (!numbers)
            return quotient(s, c, (sim_rule)c->rule);
        break;
    case RULE_AND:
        if (!numbers)
            return masked(s, c);
        break;
    case RULE_OR:
        if (!numbers)
            return bitwise_of(s, c);
        break;
    case RULE_TAKE_FIELD:
    case RULE_PUT_FIELD:
        if (!numbers)
            return field(s, c, c->rule == RULE_PUT_FIELD);
        break;
    case RULE_NOT:
    case RULE_NEGATE:
        if (!exact)
            return affine_obstacle(&s->box, v, count);
        t = affine_scale(v[0], -1);
        t.base = (int64_t)((uint64_t)t.base - (c->rule == RULE_NOT));
        return t;
    case RULE_LEAST:
    case RULE_MOST:
        if (!numbers)
            return minimum_or_maximum(s, c, c->rule == RULE_LEAST);
        break;
    case RULE_MONOTONE:
        if (!numbers)
            return ranges || exact ? monotone(s, c, true) : affine_obstacle(&s->box, v, count);
        break;
    default:
        break;
    }
    if (!numbers)
        return affine_obstacle(&s->box, v, count);
    uint64_t ends[4][2];
    for (int i = 0; i < count; i++)
        ends[i][0] = ends[i][1] = affine_bits(v[i], c->widths[i]);
    return compute_ends(s, c, (const uint64_t(*)[2])ends, count, AFFINE_UNSIGNED, 0);
}

affine symbolic_convert(const symbolic *s, int32_t pc)
{
    const sim_instruction *c = &s->program->code[pc];
    const affine *v = symbolic_value(s, c->a);
    const ptx_type to = (ptx_type)c->type, from = (ptx_type)c->source_type;
    const int bytes = (int)ptx_type_bytes(from), lane = bytes < 4 ? 4 : bytes;
    const affine_order order = sim_order_of(to);
    const bool whole = order != AFFINE_REAL && sim_order_of(from) != AFFINE_REAL;
    const bool plain = !c->saturate && !c->relu && from != PTX_F16 && from != PTX_BF16 &&
                       to != PTX_F16 && to != PTX_BF16;
    uint64_t ends[2];
    affine cut;
    if (v->kind == AFFINE_DATA || v->kind == AFFINE_CUT)
        return *v;
    const int least = (int)ptx_type_bytes(to) < bytes ? (int)ptx_type_bytes(to) : bytes;
    if (v->kind == AFFINE_EXACT && !affine_is_number(v) && plain && whole && least < 4) {
        affine_whole part;
        if (!affine_whole_of(&s->box, v, 8 * least,
                             ptx_type_bytes(to) < 4 ? AFFINE_UNSIGNED : sim_order_of(from), &part,
                             &cut))
            return cut;
        return affine_of_whole(&part);
    }
    if (!affine_is_number(v) && (!plain || least < 4))
        return affine_obstacle(&s->box, &v, 1);
    if (whole && !affine_is_number(v)) {
        if (bytes == 4 && ptx_type_bytes(to) == 8)
            return affine_widen(&s->box, v, sim_order_of(from));
        return v->kind == AFFINE_EXACT ? *v : affine_obstacle(&s->box, &v, 1);
    }
    if (!affine_ends(&s->box, v, lane, sim_order_of(from), ends, &cut))
        return cut;
    lanes source = {0}, result;
    for (int k = 0; k < 2; k++) {
        if (lane == 8)
            source.w64[k] = ends[k];
        else
            source.w32[k] = (uint32_t)ends[k];
    }
    const sim_conversion conversion = {
        to, from, (sim_rounding)c->op, c->flush, c->saturate, c->relu, c->finite};
    sim_convert(&conversion, &result, &source);
    uint64_t results[2];
    for (int k = 0; k < 2; k++)
        results[k] = c->width == 8 ? result.w64[k] : result.w32[k];
    return affine_between(&s->box, results, affine_is_number(v) ? 1 : 2, c->width, order,
                          affine_axis(&s->box, v));
}

affine symbolic_negated(const affine *p, bool negate)
{
    return negate && p->kind == AFFINE_EXACT ? affine_number(!p->base) : *p;
}

affine symbolic_logic(sim_logic op, const affine *a, const affine *b)
{
    const bool known[] = {a->kind == AFFINE_EXACT, b->kind == AFFINE_EXACT};
    if (op == SIM_LOGIC_NOT)
        return symbolic_negated(a, true);
    if (op == SIM_LOGIC_MOVE)
        return *a;
    if (op == SIM_LOGIC_XOR && known[0] && known[1])
        return affine_number((a->base ^ b->base) & 1);
    const int64_t settles = op == SIM_LOGIC_OR;
    if (op != SIM_LOGIC_XOR) {
        if ((known[0] && (a->base & 1) == settles) || (known[1] && (b->base & 1) == settles))
            return affine_number((uint64_t)settles);
        if (known[0])
            return *b;
        if (known[1])
            return *a;
    }
    return known[0] || (!known[1] && a->kind == AFFINE_DATA) ? *b : *a;
}

/* Evaluates a comparison, given whether a < b and whether a > b. Arguments and result are 1 for all
 * threads, 0 for no thread, and -1 for some threads. */
static int evaluate_comparison(sim_rule r, int less, int greater)
{
    const int equal = less == 1 || greater == 1 ? 0 : less == 0 && greater == 0 ? 1 : -1;
    switch (r) {
    case RULE_EQUAL:
    case RULE_UNEQUAL:
        return equal < 0 ? -1 : equal ^ (r == RULE_UNEQUAL);
    case RULE_LESS:
    case RULE_GREATER_EQUAL:
        return less < 0 ? -1 : less ^ (r == RULE_GREATER_EQUAL);
    default:
        return greater < 0 ? -1 : greater ^ (r == RULE_LESS_EQUAL);
    }
}

static affine compare_exact(const symbolic *s, sim_rule r, const affine_whole *a,
                            const affine_whole *b)
{
    const affine_whole d = affine_difference(&s->box, a, b);
    const int less = d.high < 0   ? 1
                     : d.low >= 0 ? 0
                                  : -1,
              greater = d.low > 0     ? 1
                        : d.high <= 0 ? 0
                                      : -1,
              found = evaluate_comparison(r, less, greater);
    if (found >= 0)
        return affine_number((uint64_t)found);
    const bool is_strict = r == RULE_LESS || r == RULE_GREATER_EQUAL,
               at_zero = is_strict || (d.low < 0 && (r == RULE_EQUAL || r == RULE_UNEQUAL));
    return affine_cut_where(&s->box, &d, at_zero ? 0 : 1);
}

affine symbolic_compare(const symbolic *s, int32_t pc)
{
    const sim_instruction *c = &s->program->code[pc];
    const affine *v[] = {symbolic_value(s, c->a), symbolic_value(s, c->b)};
    const int bytes = (int)ptx_type_bytes((ptx_type)c->type), lane = bytes < 4 ? 4 : bytes;
    affine_whole a, b;
    affine cut;
    uint64_t ends[2][2];
    if (affine_is_number(v[0]) && affine_is_number(v[1])) {
        lanes x = {0}, y = {0};
        x.w64[0] = affine_bits(v[0], lane);
        y.w64[0] = affine_bits(v[1], lane);
        if (c->flush) {
            sim_flush_lanes(c->flush, x.w32);
            sim_flush_lanes(c->flush, y.w32);
        }
        return affine_number(c->compare(&x, &y) & 1);
    }
    if (c->rule == RULE_NUMBERS || v[0]->kind <= AFFINE_CUT || v[1]->kind <= AFFINE_CUT)
        return affine_obstacle(&s->box, v, 2);
    if (c->number != AFFINE_REAL && v[0]->kind == AFFINE_EXACT && v[1]->kind == AFFINE_EXACT) {
        if (!affine_whole_of(&s->box, v[0], 8 * bytes, (affine_order)c->number, &a, &cut) ||
            !affine_whole_of(&s->box, v[1], 8 * bytes, (affine_order)c->number, &b, &cut))
            return cut;
        return compare_exact(s, (sim_rule)c->rule, &a, &b);
    }
    for (int i = 0; i < 2; i++)
        if (!affine_ends(&s->box, v[i], bytes, (affine_order)c->number, ends[i], &cut))
            return cut;
    const affine_order order = (affine_order)c->number;
    const int less = affine_is_less(ends[0][1], ends[1][0], bytes, order)    ? 1
                     : !affine_is_less(ends[0][0], ends[1][1], bytes, order) ? 0
                                                                             : -1,
              greater = affine_is_less(ends[1][1], ends[0][0], bytes, order)    ? 1
                        : !affine_is_less(ends[1][0], ends[0][1], bytes, order) ? 0
                                                                                : -1;
    const int found = evaluate_comparison((sim_rule)c->rule, less, greater);
    return found < 0 ? affine_halve_range(&s->box, v[0]->kind == AFFINE_RANGE ? v[0] : v[1])
                     : affine_number((uint64_t)found);
}
