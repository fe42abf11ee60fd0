/* Arithmetic that becomes several operations (PTX ISA). Extended-precision instructions add words
 * and keep the carry in the condition code register. Video instructions select parts of words,
 * combine, clamp and merge these parts: scalar ones in 64 bits, SIMD ones in 32 bits. */
#include <stdio.h>
#include <string.h>

#include "sim/decode/decoder.h"

typedef struct sum {
    bool subtracts;
    bool takes, gives; /* the step reads the carry (or borrow); the step writes it */
    ptx_type type;     /* unsigned type of a word */
    uint32_t bytes;    /* bytes of a word */
} sum;

static int32_t carry_slot(decoder *d)
{
    if (d->carry == SIM_NO_SLOT)
        d->carry = decode_new_slot(d, 0);
    return d->carry;
}

static int32_t emit_step(decoder *d, const sum *s, int32_t a, int32_t b)
{
    char name[16];
    snprintf(name, sizeof name, "%s.u%u", s->subtracts ? "sub" : "add", 8 * s->bytes);
    return decode_step2(d, name, a, b);
}

/* Returns a new predicate slot: whether the step from `a` to `result` wrapped around. */
static int32_t emit_wrapped(decoder *d, const sum *s, int32_t result, int32_t a)
{
    int32_t p = decode_new_slot(d, 0);
    decode_compare(d, s->subtracts ? "gt" : "lt", s->type, p, result, a)->extra = true;
    return p;
}

static void emit_logic(decoder *d, sim_logic op, int32_t to, int32_t a, int32_t b)
{
    sim_instruction *c = decode_emit(d, SIM_LOGIC, SIM_CLASS_PREDICATE);
    c->op = (uint8_t)op;
    c->d = to;
    c->a = a;
    c->b = b;
    c->extra = true;
}

static int32_t emit_carry(decoder *d, const sum *s)
{
    const destination to = {decode_new_slot(d, s->bytes), SIM_NO_SLOT, (uint8_t)s->bytes};
    int32_t one = decode_constant(d, 1, s->bytes), zero = decode_constant(d, 0, s->bytes);
    decode_select(d, &to, one, zero, carry_slot(d))->extra = true;
    return to.slot;
}

/* Emits one word of a sum, with its carry. Returns the result. */
static int32_t emit_sum(decoder *d, const sum *s, int32_t a, int32_t b)
{
    int32_t result = emit_step(d, s, a, b), wrapped = SIM_NO_SLOT;
    if (s->gives)
        wrapped = emit_wrapped(d, s, result, a);
    if (s->takes) {
        int32_t before = result;
        result = emit_step(d, s, before, emit_carry(d, s));
        if (s->gives)
            emit_logic(d, SIM_LOGIC_OR, wrapped, wrapped, emit_wrapped(d, s, result, before));
    }
    if (s->gives)
        emit_logic(d, SIM_LOGIC_MOVE, carry_slot(d), wrapped, wrapped);
    return result;
}

/* Decodes {add,sub}[c][.cc].TYPE d, a, b and mad[c].{lo,hi}[.cc].TYPE d, a, b, c. */
at_status decode_carrying(decoder *d)
{
    bool multiplies = d->op.name[0] == 'm';
    sum s = {.subtracts = d->op.name[0] == 's',
             .takes = d->op.name[3] == 'c',
             .gives = decode_has(d, "cc")};
    if (!s.takes && !s.gives)
        return decode_arithmetic(d);
    ptx_type type = d->op.type_count == 1 ? d->op.types[0] : PTX_PRED;
    s.bytes = ptx_type_bytes(type);
    s.type = s.bytes == 8 ? PTX_U64 : PTX_U32;
    if (type != PTX_U32 && type != PTX_S32 && type != PTX_U64 && type != PTX_S64)
        return decode_unknown(d);
    static const sim_cost sums[] = {SIM_COST(EITHER, 1), SIM_COST(EITHER, 2)},
                          products[] = {SIM_COST(PRODUCT, 1), SIM_COST(PRODUCT, 4)};
    d->cost = multiplies ? &products[s.bytes == 8] : &sums[s.bytes == 8];
    decode_count(d, multiplies ? 4 : 3, multiplies ? 4 : 3);
    int32_t sources[3];
    for (int i = 0; i < (multiplies ? 3 : 2); i++)
        sources[i] = decode_source(d, decode_operand(d, i + 1), s.bytes, type);
    if (multiplies) {
        char name[16];
        snprintf(name, sizeof name, "mul.%s.%c%u", decode_has(d, "hi") ? "hi" : "lo",
                 type_is_signed(type) ? 's' : 'u', 8 * s.bytes);
        sources[0] = decode_step(d, name, sources, 2);
        sources[1] = sources[2];
    }
    destination to = decode_destination(d, decode_operand(d, 0), s.bytes);
    int32_t result = emit_sum(d, &s, sources[0], sources[1]);
    decode_compute(d, s.bytes == 8 ? "mov.b64" : "mov.b32", to.slot, &result, 1)->count_class =
        SIM_CLASS_INTEGER;
    return decode_finish(d, &to, type_is_signed(type));
}

/* Returns `bits` bits of a word from bit `at` on, extended to 32 bits. */
static int32_t field(decoder *d, int32_t word, uint32_t at, uint32_t bits, bool is_signed)
{
    int32_t from[3] = {word, decode_constant(d, at, 4), decode_constant(d, bits, 4)};
    return bits == 32 ? word : decode_step(d, is_signed ? "bfe.s32" : "bfe.u32", from, 3);
}

/* Returns a word with `bits` bits from bit `at` on replaced by `value`. */
static int32_t insert(decoder *d, int32_t word, int32_t value, uint32_t at, uint32_t bits)
{
    int32_t from[4] = {value, word, decode_constant(d, at, 4), decode_constant(d, bits, 4)};
    return decode_step(d, "bfi.b32", from, 4);
}

/* Reads a selector (".b2", ".h1") as a range of bits. An empty selector is the whole word. Returns
 * false for an invalid selector. */
static bool part_of(ptx_text selector, uint32_t *at, uint32_t *bits)
{
    *at = 0;
    *bits = 32;
    if (selector.length == 0)
        return true;
    char kind = selector.length == 3 ? selector.at[1] : '\0';
    *bits = kind == 'b' ? 8 : 16;
    uint32_t number = kind ? (uint32_t)(selector.at[2] - '0') : 9;
    *at = number * *bits;
    return (kind == 'b' || kind == 'h') && *at < 32;
}

static int32_t word_of(decoder *d, int operand)
{
    ptx_operand o = *decode_operand(d, operand);
    o.selector = (ptx_text){0};
    return decode_source(d, &o, 4, PTX_B32);
}

/* Returns the part of an operand that its selector selects, extended to 64 bits. */
static int32_t wide_part(decoder *d, int operand, bool is_signed)
{
    uint32_t at, bits;
    if (!part_of(decode_operand(d, operand)->selector, &at, &bits))
        decode_unknown(d);
    int32_t part = field(d, word_of(d, operand), at, bits, is_signed);
    return decode_step1(d, is_signed ? "extend.s" : "extend.u", part);
}

/* Clamps a value to the range of a result of `bits` bits, in lanes of `width` bytes. */
static int32_t clamp(decoder *d, int32_t value, uint32_t bits, bool is_signed, bool from_unsigned,
                     uint32_t width)
{
    uint64_t top = (1ull << (is_signed ? bits - 1 : bits)) - 1, bottom = is_signed ? ~top : 0;
    int32_t most = decode_constant(d, top, width), least = decode_constant(d, bottom, width);
    if (from_unsigned)
        return decode_step2(d, "min.u64", value, most);
    value = decode_step2(d, width == 8 ? "min.s64" : "min.s32", value, most);
    return decode_step2(d, width == 8 ? "max.s64" : "max.s32", value, least);
}

/* Emits the comparison in the opcode. Its result is 1 or 0. */
static int32_t compared(decoder *d, ptx_type type, int32_t a, int32_t b)
{
    static const choice comparisons[] = {{"eq", 0}, {"ne", 1}, {"lt", 2}, {"le", 3},
                                         {"gt", 4}, {"ge", 5}, {0}};
    int chosen = decode_choice(d, comparisons, -1);
    uint32_t width = type_lane_bytes(type);
    if (chosen < 0) {
        decode_unknown(d);
        return SIM_NO_SLOT;
    }
    int32_t p = decode_new_slot(d, 0), one = decode_constant(d, 1, width),
            zero = decode_constant(d, 0, width);
    const destination to = {decode_new_slot(d, width), SIM_NO_SLOT, (uint8_t)width};
    decode_compare(d, comparisons[chosen].modifier, type, p, a, b)->extra = true;
    decode_select(d, &to, one, zero, p)->extra = true;
    return to.slot;
}

static int32_t combine(decoder *d, const char *op, int32_t a, int32_t b, bool a_signed)
{
    if (strcmp(op, "vset") == 0)
        return compared(d, PTX_S64, a, b);
    if (strcmp(op, "vabsdiff") == 0)
        return decode_step1(d, "abs.s64", decode_step2(d, "sub.s64", a, b));
    if (strcmp(op, "vshl") == 0 || strcmp(op, "vshr") == 0) {
        bool wraps = decode_has(d, "wrap");
        b = decode_step2(d, wraps ? "and.b64" : "min.u64", b,
                         decode_constant(d, wraps ? 31 : 32, 8));
        return decode_step2(d,
                            op[3] == 'l' ? "shl.b64"
                            : a_signed   ? "shr.s64"
                                         : "shr.u64",
                            a, decode_step1(d, "narrow", b));
    }
    static const char *const names[][2] = {
        {"vadd", "add.s64"}, {"vsub", "sub.s64"}, {"vmin", "min.s64"}, {"vmax", "max.s64"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(op, names[i][0]) == 0)
            return decode_step2(d, names[i][1], a, b);
    decode_unknown(d);
    return SIM_NO_SLOT;
}

/* Writes a 64-bit result: alone, combined with the third source, or inserted into that source. */
static at_status put_result(decoder *d, int32_t value, bool is_signed)
{
    ptx_operand target = *decode_operand(d, 0);
    uint32_t at, bits;
    if (!part_of(target.selector, &at, &bits))
        return decode_unknown(d);
    target.selector = (ptx_text){0};
    if (d->statement->count == 4) {
        static const choice seconds[] = {{"add", 0}, {"min", 1}, {"max", 2}, {0}};
        static const char *const names[][2] = {
            {"add.u64", "add.s64"}, {"min.u64", "min.s64"}, {"max.u64", "max.s64"}};
        int second = decode_choice(d, seconds, -1);
        if ((second >= 0) == (bits < 32))
            return decode_unknown(d);
        if (second >= 0)
            value = decode_step1(
                d, "narrow",
                decode_step2(d, names[second][is_signed], value, wide_part(d, 3, is_signed)));
        else
            value = insert(d, word_of(d, 3), decode_step1(d, "narrow", value), at, bits);
    } else if (bits < 32) {
        return decode_unknown(d);
    } else {
        value = decode_step1(d, "narrow", value);
    }
    destination to = decode_destination(d, &target, 4);
    decode_compute(d, "mov.b32", to.slot, &value, 1)->count_class = SIM_CLASS_INTEGER;
    return decode_finish(d, &to, is_signed);
}

/* Decodes vOP.TYPE.TYPE.TYPE[.sat] d, a, b[, c]. vset has two types. */
at_status decode_scalar(decoder *d)
{
    bool sets = strcmp(d->op.name, "vset") == 0;
    decode_count(d, 3, 4);
    if (d->op.type_count != (sets ? 2 : 3))
        return decode_unknown(d);
    bool is_signed = !sets && type_is_signed(d->op.types[0]);
    bool a_signed = type_is_signed(d->op.types[sets ? 0 : 1]),
         b_signed = type_is_signed(d->op.types[sets ? 1 : 2]);
    uint32_t at, bits;
    if (!part_of(decode_operand(d, 0)->selector, &at, &bits))
        return decode_unknown(d);
    int32_t a = wide_part(d, 1, a_signed), b = wide_part(d, 2, b_signed);
    int32_t value = combine(d, d->op.name, a, b, a_signed);
    if (decode_has(d, "sat"))
        value = clamp(d, value, bits, is_signed, strcmp(d->op.name, "vshl") == 0 && !a_signed, 8);
    return put_result(d, value, sets ? a_signed || b_signed : is_signed);
}

/* Decodes vmad.TYPE.TYPE.TYPE[.po][.sat][.shr7|.shr15]. With .po, one is added. */
at_status decode_mad(decoder *d)
{
    decode_count(d, 4, 4);
    if (d->op.type_count != 3 || decode_operand(d, 0)->selector.length > 0)
        return decode_unknown(d);
    bool a_signed = type_is_signed(d->op.types[1]), b_signed = type_is_signed(d->op.types[2]);
    bool is_signed = a_signed || b_signed;
    int32_t product =
        decode_step2(d, "mul.lo.s64", wide_part(d, 1, a_signed), wide_part(d, 2, b_signed));
    int32_t value = decode_step2(d, "add.s64", product, wide_part(d, 3, is_signed));
    if (decode_has(d, "po"))
        value = decode_step2(d, "add.s64", value, decode_constant(d, 1, 8));
    int shift = decode_has(d, "shr7") ? 7 : decode_has(d, "shr15") ? 15 : 0;
    if (shift)
        value = decode_step2(d, is_signed ? "shr.s64" : "shr.u64", value,
                             decode_constant(d, (uint64_t)shift, 4));
    if (decode_has(d, "sat"))
        value = clamp(d, value, 32, is_signed, !is_signed, 8);
    destination to = decode_destination(d, decode_operand(d, 0), 4);
    decode_compute(d, "narrow", to.slot, &value, 1)->count_class = SIM_CLASS_INTEGER;
    return decode_finish(d, &to, type_is_signed(d->op.types[0]));
}

/* Returns digit `i`, from the right, of a selector of lanes (".h32", ".b7654"), or -1 if it has no
 * such digit. Returns `otherwise` + i for an empty selector. */
static int lane_of(ptx_text selector, int i, int otherwise)
{
    if (selector.length == 0)
        return otherwise + i;
    return (int)selector.length - 1 - i > 1 ? selector.at[(int)selector.length - 1 - i] - '0' : -1;
}

static int32_t combine_lane(decoder *d, const char *op, int32_t a, int32_t b)
{
    if (strncmp(op, "vset", 4) == 0)
        return compared(d, PTX_S32, a, b);
    if (strncmp(op, "vabsdiff", 8) == 0)
        return decode_step1(d, "abs.s32", decode_step2(d, "sub.s32", a, b));
    if (strncmp(op, "vavrg", 5) == 0) {
        /* Half of the sum. A positive half is rounded up, a negative half is rounded down. */
        int32_t total = decode_step2(d, "add.s32", a, b),
                sign = decode_step2(d, "shr.s32", total, decode_constant(d, 31, 4));
        total = decode_step2(d, "add.s32", total,
                             decode_step2(d, "add.s32", sign, decode_constant(d, 1, 4)));
        return decode_step2(d, "shr.s32", total, decode_constant(d, 1, 4));
    }
    const char *name = op[1] == 'a'   ? "add.s32"
                       : op[1] == 's' ? "sub.s32"
                       : op[2] == 'i' ? "min.s32"
                                      : "max.s32";
    return decode_step2(d, name, a, b);
}

/* Decodes vOP2.TYPE.TYPE.TYPE[.sat][.add] d, a, b, c (16-bit lanes), and vOP4 (bytes). */
at_status decode_lanes(decoder *d)
{
    const char *op = d->op.name;
    bool sets = strncmp(op, "vset", 4) == 0;
    int lanes = op[strlen(op) - 1] - '0';
    uint32_t bits = 32 / (uint32_t)lanes;
    if (d->op.type_count != (sets ? 2 : 3))
        return decode_unknown(d);
    bool is_signed = !sets && type_is_signed(d->op.types[0]);
    bool is_signed_of[] = {type_is_signed(d->op.types[sets ? 0 : 1]),
                           type_is_signed(d->op.types[sets ? 1 : 2])};
    ptx_operand target = *decode_operand(d, 0);
    ptx_text mask = target.selector;
    target.selector = (ptx_text){0};
    int32_t words[] = {word_of(d, 1), word_of(d, 2)}, value = word_of(d, 3);
    for (int i = 0; i < lanes && !d->status; i++) {
        int32_t parts[2];
        bool chosen = mask.length == 0;
        for (uint32_t k = 2; k < mask.length; k++)
            chosen = chosen || mask.at[k] - '0' == i;
        for (int side = 0; side < 2; side++) {
            int lane = lane_of(decode_operand(d, side + 1)->selector, i, side * lanes);
            if (lane < 0 || lane >= 2 * lanes)
                return decode_unknown(d);
            parts[side] = field(d, words[lane / lanes], (uint32_t)(lane % lanes) * bits, bits,
                                is_signed_of[side]);
        }
        int32_t part = combine_lane(d, op, parts[0], parts[1]);
        if (decode_has(d, "sat"))
            part = clamp(d, part, bits, is_signed, false, 4);
        if (chosen && decode_has(d, "add"))
            value = decode_step2(d, "add.u32", value, part);
        else if (chosen)
            value = insert(d, value, part, (uint32_t)i * bits, bits);
    }
    destination to = decode_destination(d, &target, 4);
    decode_compute(d, "mov.b32", to.slot, &value, 1)->count_class = SIM_CLASS_INTEGER;
    return decode_finish(d, &to, is_signed);
}
