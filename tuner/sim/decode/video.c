/* Video instructions: parts of words, widened, combined, clamped and merged into another word. PTX
 * ISA, "Video Instructions". Each becomes the steps that the reference describes it by, in words of
 * 64 bits (scalar) or 32. */
#include <stdio.h>
#include <string.h>

#include "sim/decode/decoder.h"

static int32_t step1(decoder *d, const char *name, int32_t a)
{
    return decode_step(d, name, &a, 1);
}

static int32_t step2(decoder *d, const char *name, int32_t a, int32_t b)
{
    return decode_step(d, name, (int32_t[]){a, b}, 2);
}

/* `bits` bits of a word from `at` on, widened to 32. */
static int32_t field(decoder *d, int32_t word, uint32_t at, uint32_t bits, bool is_signed)
{
    int32_t from[3] = {word, decode_constant(d, at, 4), decode_constant(d, bits, 4)};
    return bits == 32 ? word : decode_step(d, is_signed ? "bfe.s32" : "bfe.u32", from, 3);
}

/* The word with its bits from `at` on replaced. */
static int32_t insert(decoder *d, int32_t word, int32_t value, uint32_t at, uint32_t bits)
{
    int32_t from[4] = {value, word, decode_constant(d, at, 4), decode_constant(d, bits, 4)};
    return decode_step(d, "bfi.b32", from, 4);
}

/* Reads a selector ".b2" or ".h1": the place and width of a part; without one the whole word. */
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

/* A source word, whatever its selector says. */
static int32_t word_of(decoder *d, int operand)
{
    ptx_operand o = *decode_operand(d, operand);
    o.selector = (ptx_text){0};
    return decode_source(d, &o, 4, PTX_B32);
}

/* The part of an operand that its selector names, as 64 bits. */
static int32_t wide_part(decoder *d, int operand, bool is_signed)
{
    uint32_t at, bits;
    if (!part_of(decode_operand(d, operand)->selector, &at, &bits))
        decode_unknown(d);
    int32_t part = field(d, word_of(d, operand), at, bits, is_signed);
    return step1(d, is_signed ? "extend.s" : "extend.u", part);
}

/* The constants between which a result of `bits` bits lies, in lanes of `width` bytes. */
static int32_t clamp(decoder *d, int32_t value, uint32_t bits, bool is_signed, bool from_unsigned,
                     uint32_t width)
{
    uint64_t top = (1ull << (is_signed ? bits - 1 : bits)) - 1, bottom = is_signed ? ~top : 0;
    int32_t most = decode_constant(d, top, width), least = decode_constant(d, bottom, width);
    if (from_unsigned)
        return step2(d, "min.u64", value, most);
    value = step2(d, width == 8 ? "min.s64" : "min.s32", value, most);
    return step2(d, width == 8 ? "max.s64" : "max.s32", value, least);
}

/* 1 or 0 of a comparison. */
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

/* The operation of the whole words' parts a and b. */
static int32_t combine(decoder *d, const char *op, int32_t a, int32_t b, bool a_signed)
{
    if (strcmp(op, "vset") == 0)
        return compared(d, PTX_S64, a, b);
    if (strcmp(op, "vabsdiff") == 0)
        return step1(d, "abs.s64", step2(d, "sub.s64", a, b));
    if (strcmp(op, "vshl") == 0 || strcmp(op, "vshr") == 0) {
        bool wraps = decode_has(d, "wrap");
        b = step2(d, wraps ? "and.b64" : "min.u64", b, decode_constant(d, wraps ? 31 : 32, 8));
        return step2(d,
                     op[3] == 'l' ? "shl.b64"
                     : a_signed   ? "shr.s64"
                                  : "shr.u64",
                     a, step1(d, "narrow", b));
    }
    static const char *const names[][2] = {
        {"vadd", "add.s64"}, {"vsub", "sub.s64"}, {"vmin", "min.s64"}, {"vmax", "max.s64"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(op, names[i][0]) == 0)
            return step2(d, names[i][1], a, b);
    decode_unknown(d);
    return SIM_NO_SLOT;
}

/* The result, of 64 bits, goes to the destination, combined with the third source or into a part of
 * it. */
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
            value = step1(d, "narrow",
                          step2(d, names[second][is_signed], value, wide_part(d, 3, is_signed)));
        else
            value = insert(d, word_of(d, 3), step1(d, "narrow", value), at, bits);
    } else if (bits < 32) {
        return decode_unknown(d);
    } else {
        value = step1(d, "narrow", value);
    }
    destination to = decode_destination(d, &target, 4);
    decode_compute(d, "mov.b32", to.slot, &value, 1)->count_class = SIM_CLASS_INTEGER;
    return decode_finish(d, &to, is_signed);
}

/* vOP.TYPE.TYPE.TYPE[.sat] d, a, b[, c]; vset has two types. */
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

/* vmad.TYPE.TYPE.TYPE[.sat][.shr7|.shr15], .po: one more */
at_status decode_mad(decoder *d)
{
    decode_count(d, 4, 4);
    if (d->op.type_count != 3 || decode_operand(d, 0)->selector.length > 0)
        return decode_unknown(d);
    bool a_signed = type_is_signed(d->op.types[1]), b_signed = type_is_signed(d->op.types[2]);
    bool is_signed = a_signed || b_signed;
    int32_t product = step2(d, "mul.lo.s64", wide_part(d, 1, a_signed), wide_part(d, 2, b_signed));
    int32_t value = step2(d, "add.s64", product, wide_part(d, 3, is_signed));
    if (decode_has(d, "po"))
        value = step2(d, "add.s64", value, decode_constant(d, 1, 8));
    int shift = decode_has(d, "shr7") ? 7 : decode_has(d, "shr15") ? 15 : 0;
    if (shift)
        value = step2(d, is_signed ? "shr.s64" : "shr.u64", value,
                      decode_constant(d, (uint64_t)shift, 4));
    if (decode_has(d, "sat"))
        value = clamp(d, value, 32, is_signed, !is_signed, 8);
    destination to = decode_destination(d, decode_operand(d, 0), 4);
    decode_compute(d, "narrow", to.slot, &value, 1)->count_class = SIM_CLASS_INTEGER;
    return decode_finish(d, &to, type_is_signed(d->op.types[0]));
}

/* Reads a selector of lanes, ".h32" or ".b7654": digit i, from the right. Without one `otherwise` +
 * i; -1: it has no such digit. */
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
        return step1(d, "abs.s32", step2(d, "sub.s32", a, b));
    if (strncmp(op, "vavrg", 5) == 0) {
        /* Half, rounded away from zero where it is positive, else down. */
        int32_t total = step2(d, "add.s32", a, b),
                sign = step2(d, "shr.s32", total, decode_constant(d, 31, 4));
        total = step2(d, "add.s32", total, step2(d, "add.s32", sign, decode_constant(d, 1, 4)));
        return step2(d, "shr.s32", total, decode_constant(d, 1, 4));
    }
    const char *name = op[1] == 'a'   ? "add.s32"
                       : op[1] == 's' ? "sub.s32"
                       : op[2] == 'i' ? "min.s32"
                                      : "max.s32";
    return step2(d, name, a, b);
}

/* vOP2.TYPE.TYPE.TYPE[.sat][.add] d, a, b, c; vOP4 likewise with bytes; vset2, vset4 have two
 * types. */
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
            value = step2(d, "add.u32", value, part);
        else if (chosen)
            value = insert(d, value, part, (uint32_t)i * bits, bits);
    }
    destination to = decode_destination(d, &target, 4);
    decode_compute(d, "mov.b32", to.slot, &value, 1)->count_class = SIM_CLASS_INTEGER;
    return decode_finish(d, &to, is_signed);
}
