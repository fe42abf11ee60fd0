#include "sim/symbolic.h"

#include <stdlib.h>
#include <string.h>

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

/* Values. */

typedef union lanes {
    uint32_t w32[SIM_LANES];
    uint64_t w64[SIM_LANES];
} lanes;

/* A value that an operation cannot go on with: the first that is of data, else the first that is
 * known of a smaller box. */
affine symbolic_worst(const symbolic *s, const affine *const v[], int count)
{
    for (int i = 0; i < count; i++)
        if (v[i]->kind == AFFINE_DATA)
            return *v[i];
    for (int i = 0; i < count; i++)
        if (v[i]->kind == AFFINE_CUT)
            return *v[i];
    for (int i = 0; i < count; i++) {
        affine_whole whole = {.base = 0};
        if (affine_is_number(v[i]))
            continue;
        memcpy(whole.step, v[i]->step, sizeof whole.step);
        affine_find_ends(&s->box, &whole);
        return affine_cut_where(&s->box, &whole, (whole.low + whole.high) / 2 + 1);
    }
    return affine_halve(&s->box);
}

static uint64_t bits_of(const affine *v, int bytes)
{
    return bytes == 4 ? (uint32_t)(uint64_t)v->base : (uint64_t)v->base;
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

/* Computes an instruction whose operands are numbers. */
static affine compute_numbers(const symbolic *s, const sim_instruction *c)
{
    lanes sources[4] = {0}, result;
    for (int i = 0; i < operand_count(c); i++)
        sources[i].w64[0] = bits_of(operand(s, c, i), c->widths[i]);
    compute_lanes(c, sources, &result);
    return affine_number(c->width == 8 ? result.w64[0] : result.w32[0]);
}

/* Has a product operands of 32 bits and a result of 64? */
static bool is_wide(const sim_instruction *c)
{
    return (c->rule == RULE_MULTIPLY || c->rule == RULE_MULTIPLY_ADD) && c->width == 8 &&
           c->widths[0] == 4;
}

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
        return symbolic_worst(s, (const affine *const[]){a, b}, 2);
    if (a->kind != AFFINE_EXACT)
        return symbolic_worst(s, (const affine *const[]){a}, 1);
    if (!affine_whole_of(&s->box, a, 8 * c->widths[0], (affine_order)c->number, &whole, &cut))
        return cut;
    /* Division rounds to zero, a shift down. */
    if (r != RULE_SHIFT_RIGHT && whole.low < 0)
        return whole.high < 0 ? symbolic_worst(s, (const affine *const[]){a}, 1)
                              : affine_cut_where(&s->box, &whole, 0);
    if (!affine_divide(&s->box, &whole, by, &q, &rest, &cut))
        return cut;
    return r == RULE_REMAINDER ? rest : q;
}

/* Combines two values bit by bit. Only values that have no bit in common are known together. */
static affine combined(const symbolic *s, const sim_instruction *c)
{
    const affine *v[] = {operand(s, c, 0), operand(s, c, 1)};
    affine_whole whole[2];
    affine cut;
    for (int i = 0; i < 2; i++)
        if (v[i]->kind != AFFINE_EXACT)
            return symbolic_worst(s, v, 2);
        else if (!affine_whole_of(&s->box, v[i], 8 * c->width, AFFINE_UNSIGNED, &whole[i], &cut))
            return cut;
    const int low = whole[0].high < whole[1].high ? 0 : 1;
    return c->flow != SIM_FLOW_AND && whole[low].high < (affine_integer)1
                                                            << affine_zero_bits(&s->box, v[1 - low])
               ? affine_add(v[0], v[1])
               : symbolic_worst(s, v, 2);
}

/* A mask of bits that lie together. */
static affine masked(const symbolic *s, const sim_instruction *c)
{
    const affine *a = operand(s, c, 0), *b = operand(s, c, 1);
    if (affine_is_number(a)) {
        const affine *t = a;
        a = b;
        b = t;
    }
    const int bits = 8 * c->width;
    const uint64_t mask = bits_of(b, c->width), lowest = mask & (0 - mask);
    const bool is_high = mask >> (bits - 1) & 1, together = ((mask + lowest) & mask) == 0;
    affine_whole whole;
    affine q, part, rest, cut;
    if (!affine_is_number(b) || !together || (!is_high && mask >> 61))
        return combined(s, c);
    if (mask == 0)
        return *b;
    if (a->kind != AFFINE_EXACT)
        return combined(s, c);
    if (!affine_whole_of(&s->box, a, bits, AFFINE_UNSIGNED, &whole, &cut))
        return cut;
    part = *a;
    if (!is_high && (!affine_divide(&s->box, &whole, (int64_t)(mask + lowest), &q, &part, &cut) ||
                     !affine_whole_of(&s->box, &part, bits, AFFINE_UNSIGNED, &whole, &cut)))
        return cut;
    if (!affine_divide(&s->box, &whole, (int64_t)lowest, &q, &rest, &cut))
        return cut;
    rest = affine_scale(&rest, -1);
    return affine_add(&part, &rest);
}

/* A field of so many bits from a place on: cut out of the first operand, or put into the second. */
static affine field(const symbolic *s, const sim_instruction *c, bool inserts)
{
    const int bits = 8 * c->widths[0];
    const affine *a = operand(s, c, 0), *b = inserts ? operand(s, c, 1) : a,
                 *place = operand(s, c, 1 + inserts), *length = operand(s, c, 2 + inserts);
    affine_whole from, into, high;
    affine q, low, rest, cut;
    if (a->kind != AFFINE_EXACT || b->kind != AFFINE_EXACT || !affine_is_number(place) ||
        !affine_is_number(length))
        return symbolic_worst(s, (const affine *const[]){a, b, place, length}, 4);
    const int64_t first = place->base & 255, count = length->base & 255;
    if (first + count > bits || first + count > 61 || count == 0)
        return symbolic_worst(s, (const affine *const[]){a, b}, 2);
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

static affine widened(const symbolic *s, const affine *v, affine_order order)
{
    affine_whole whole;
    affine cut;
    if (v->kind != AFFINE_EXACT)
        return symbolic_worst(s, &v, 1);
    if (!affine_whole_of(&s->box, v, 32, order, &whole, &cut))
        return cut;
    return affine_of_whole(&whole);
}

static affine product(const symbolic *s, const sim_instruction *c, const affine *a, const affine *b)
{
    const affine *v[] = {a, b};
    affine wide[2];
    for (int i = 0; is_wide(c) && i < 2; i++) {
        wide[i] = widened(s, v[i], (affine_order)c->number);
        if (wide[i].kind != AFFINE_EXACT)
            return wide[i];
        v[i] = &wide[i];
    }
    if (affine_is_number(v[0]))
        return affine_scale(v[1], v[0]->base);
    return affine_is_number(v[1]) ? affine_scale(v[0], v[1]->base) : symbolic_worst(s, v, 2);
}

/* The lesser or the greater of two. */
static affine chosen(const symbolic *s, const sim_instruction *c, bool least)
{
    const affine *v[] = {operand(s, c, 0), operand(s, c, 1)};
    affine_whole a, b;
    affine cut;
    if (v[0]->kind != AFFINE_EXACT || v[1]->kind != AFFINE_EXACT)
        return symbolic_worst(s, v, 2);
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
    bool numbers = true, exact = true;
    for (int i = 0; i < count; i++) {
        v[i] = operand(s, c, i);
        if (v[i]->kind == AFFINE_DATA)
            return *v[i];
        numbers = numbers && affine_is_number(v[i]);
        exact = exact && v[i]->kind == AFFINE_EXACT;
    }
    if (!exact)
        return symbolic_worst(s, v, count);
    if (numbers && c->rule != RULE_COPY)
        return compute_numbers(s, c);
    affine t;
    switch (c->rule) {
    case RULE_COPY:
        return *v[0];
    case RULE_WIDEN:
        return widened(s, v[0], (affine_order)c->number);
    case RULE_ADD:
    case RULE_SUBTRACT:
        t = affine_scale(v[1], c->rule == RULE_ADD ? 1 : -1);
        return affine_add(v[0], &t);
    case RULE_MULTIPLY:
    case RULE_MULTIPLY_ADD:
        t = product(s, c, v[0], v[1]);
        return c->rule == RULE_MULTIPLY || t.kind != AFFINE_EXACT ? t : affine_add(&t, v[2]);
    case RULE_SHIFT_LEFT:
        if (!affine_is_number(v[1]))
            return symbolic_worst(s, v, count);
        return (uint64_t)v[1]->base >= 8u * c->width
                   ? affine_number(0)
                   : affine_scale(v[0], (int64_t)(UINT64_C(1) << v[1]->base));
    case RULE_SHIFT_RIGHT:
    case RULE_DIVIDE:
    case RULE_REMAINDER:
        return quotient(s, c, (sim_rule)c->rule);
    case RULE_AND:
        return masked(s, c);
    case RULE_OR:
        return combined(s, c);
    case RULE_TAKE_FIELD:
    case RULE_PUT_FIELD:
        return field(s, c, c->rule == RULE_PUT_FIELD);
    case RULE_NOT:
    case RULE_NEGATE:
        t = affine_scale(v[0], -1);
        t.base = (int64_t)((uint64_t)t.base - (c->rule == RULE_NOT));
        return t;
    case RULE_LEAST:
    case RULE_MOST:
        return chosen(s, c, c->rule == RULE_LEAST);
    default:
        return symbolic_worst(s, v, count);
    }
}

affine symbolic_convert(const symbolic *s, int32_t pc)
{
    const sim_instruction *c = &s->program->code[pc];
    const affine *v = symbolic_value(s, c->a);
    const ptx_type to = (ptx_type)c->type, from = (ptx_type)c->source_type;
    const int bytes = (int)ptx_type_bytes(from), lane = bytes < 4 ? 4 : bytes;
    const int least = (int)ptx_type_bytes(to) < bytes ? (int)ptx_type_bytes(to) : bytes;
    if (v->kind != AFFINE_EXACT)
        return *v;
    if (affine_is_number(v)) {
        const sim_conversion conversion = {
            to, from, (sim_rounding)c->op, c->flush, c->saturate, c->relu, c->finite};
        lanes source = {0}, result;
        source.w64[0] = bits_of(v, lane);
        sim_convert(&conversion, &result, &source);
        return affine_number(c->width == 8 ? result.w64[0] : result.w32[0]);
    }
    if (c->saturate || c->relu || !sim_is_integer(to) || !sim_is_integer(from))
        return symbolic_worst(s, &v, 1);
    if (least < 4) {
        affine_whole part;
        affine cut;
        if (!affine_whole_of(&s->box, v, 8 * least,
                             ptx_type_bytes(to) < 4 ? AFFINE_UNSIGNED : sim_number_of(from), &part,
                             &cut))
            return cut;
        return affine_of_whole(&part);
    }
    return bytes == 4 && ptx_type_bytes(to) == 8 ? widened(s, v, sim_number_of(from)) : *v;
}

/* Predicates are numbers: 0 or 1. */

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

/* Is a < b, and a > b? Of both, and of what the rule asks: 1: yes, 0: no, -1: of some threads. */
static int settle(sim_rule r, int less, int greater)
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
              found = settle(r, less, greater);
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
    if (affine_is_number(v[0]) && affine_is_number(v[1])) {
        lanes x = {0}, y = {0};
        x.w64[0] = bits_of(v[0], lane);
        y.w64[0] = bits_of(v[1], lane);
        if (c->flush) {
            sim_flush_lanes(c->flush, x.w32);
            sim_flush_lanes(c->flush, y.w32);
        }
        return affine_number(c->compare(&x, &y) & 1);
    }
    if (c->rule == RULE_NUMBERS || v[0]->kind != AFFINE_EXACT || v[1]->kind != AFFINE_EXACT)
        return symbolic_worst(s, v, 2);
    if (!affine_whole_of(&s->box, v[0], 8 * bytes, (affine_order)c->number, &a, &cut) ||
        !affine_whole_of(&s->box, v[1], 8 * bytes, (affine_order)c->number, &b, &cut))
        return cut;
    return compare_exact(s, (sim_rule)c->rule, &a, &b);
}
