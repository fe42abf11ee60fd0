#include <string.h>

#include "opcode.h"

/* Returns whether a value is subnormal after rounding to the precision of normal numbers. */
static bool is_tiny(const soft_format *f, soft v, soft_rounding r)
{
    soft least = {.m = 1, .exponent = 2 - (1 << (f->exponent_bits - 1))};
    soft_format endless = *f;
    endless.exponent_bits += 3;
    soft rounded = soft_unpack(&endless, soft_pack(&endless, v, r));
    rounded.negative = false;
    return !v.nan && !v.infinite && v.m && soft_compare(rounded, least) < 0;
}

/* Applies .sat, .relu and .ftz to a result. Only 32-bit floats and operations on halves have
 * .ftz. */
static uint64_t finished(const opcode *o, const soft_format *f, soft v, soft_rounding r)
{
    /* Operations test for a subnormal result before rounding to the spacing of subnormal numbers.
     * Conversions test afterwards. */
    if (opcode_has(o, "ftz") && o->kind_count == 1 && is_tiny(f, v, r))
        v = (soft){.negative = v.negative};
    uint64_t bits = soft_pack(f, v, r);
    soft rounded = soft_unpack(f, bits), one = soft_integer(1);
    bool zero = rounded.m == 0 && !rounded.infinite && !rounded.nan;
    if (opcode_has(o, "sat") && (rounded.nan || rounded.negative || zero))
        return 0;
    if (opcode_has(o, "sat") && soft_compare(rounded, one) > 0)
        bits = soft_pack(f, one, SOFT_NEAREST);
    if (opcode_has(o, "relu") && !rounded.nan && rounded.negative)
        return 0;
    return opcode_has(o, "ftz") && (f == &soft_f32 || o->kind_count == 1) ? soft_flush(f, bits)
                                                                          : bits;
}

/* Evaluates min and max. A number is preferred to NaN, but with .NaN the NaN is preferred. -0 is
 * less than +0. */
static uint64_t extreme(const opcode *o, const soft_format *f, soft a, soft b)
{
    bool products_sign = opcode_has(o, "xorsign"), negative = a.negative != b.negative,
         is_min = o->words[0][1] == 'i';
    if (products_sign)
        a.negative = b.negative = false;
    if ((a.nan && b.nan) || (opcode_has(o, "NaN") && (a.nan || b.nan)))
        return f->nan;
    int order = soft_compare(a, b);
    bool first = b.nan || (!a.nan && (order == 0 ? a.negative == is_min : (order < 0) == is_min));
    soft v = first ? a : b;
    if (products_sign)
        v.negative = negative;
    return soft_pack(f, v, SOFT_NEAREST);
}

/* Finds the NaN that an H100 returns for doubles: an operand with its payload, made quiet. If
 * several operands are NaN, the second factor or summand is taken, then the third operand of fma,
 * then the first. A quotient takes the first. Returns false if no operand is NaN. */
static bool passes_nan(const opcode *o, const uint64_t *sources, uint64_t *d)
{
    static const struct {
        const char *name;
        int count, order[3];
    } rows[] = {{"add", 2, {1, 0}},    {"sub", 2, {1, 0}},    {"mul", 2, {1, 0}},
                {"fma", 3, {1, 2, 0}}, {"mad", 3, {1, 2, 0}}, {"div", 2, {0, 1}},
                {"rcp", 1, {0}},       {"sqrt", 1, {0}},      {"abs", 1, {0}},
                {"neg", 1, {0}}};
    bool extreme =
        o->words[0][0] == 'm' && (o->words[0][1] == 'i' || strcmp(o->words[0], "max") == 0);
    if (extreme && soft_unpack(&soft_f64, sources[0]).nan &&
        soft_unpack(&soft_f64, sources[1]).nan) {
        *d = sources[1] | 1ull << 51;
        return true;
    }
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (strcmp(rows[i].name, o->words[0]) != 0)
            continue;
        for (int k = 0; k < rows[i].count; k++) {
            uint64_t bits = sources[rows[i].order[k]];
            if (!soft_unpack(&soft_f64, bits).nan)
                continue;
            *d = bits | 1ull << 51;
            return true;
        }
    }
    return false;
}

/* Evaluates an operation on one element. Returns false if the operation is not implemented here. */
static bool element(const opcode *o, const soft_format *f, const uint64_t *sources, uint64_t *d)
{
    const char *name = o->words[0];
    soft_rounding r = opcode_rounding(o);
    uint64_t bits[3], sign = 1ull << (f->exponent_bits + f->fraction_bits);
    soft v[3];
    for (int i = 0; i < 3; i++) {
        bits[i] = opcode_has(o, "ftz") ? soft_flush(f, sources[i]) : sources[i];
        v[i] = soft_unpack(f, bits[i]);
    }
    if (opcode_has(o, "approx") || opcode_has(o, "full") || opcode_has(o, "oob"))
        return false;
    if (f == &soft_f64 && passes_nan(o, sources, d))
        return true;
    if (strcmp(name, "add") == 0)
        *d = finished(o, f, soft_add(v[0], v[1], r), r);
    else if (strcmp(name, "sub") == 0)
        *d = finished(o, f, soft_add(v[0], soft_negate(v[1]), r), r);
    else if (strcmp(name, "mul") == 0)
        *d = finished(o, f, soft_multiply(v[0], v[1]), r);
    else if (strcmp(name, "fma") == 0 || strcmp(name, "mad") == 0)
        *d = finished(o, f, soft_add(soft_multiply(v[0], v[1]), v[2], r), r);
    else if (strcmp(name, "div") == 0)
        *d = finished(o, f, soft_divide(v[0], v[1]), r);
    else if (strcmp(name, "rcp") == 0)
        *d = finished(o, f, soft_divide(soft_integer(1), v[0]), r);
    else if (strcmp(name, "sqrt") == 0)
        *d = finished(o, f, soft_root(v[0]), r);
    else if (strcmp(name, "min") == 0 || strcmp(name, "max") == 0)
        *d = extreme(o, f, v[0], v[1]);
    else if (strcmp(name, "copysign") == 0)
        *d = (sources[0] & sign) | (sources[1] & ~sign & (sign | (sign - 1)));
    else if (strcmp(name, "neg") == 0)
        *d = v[0].nan ? f->nan : bits[0] ^ sign;
    else if (strcmp(name, "abs") == 0)
        *d = v[0].nan ? f->nan : bits[0] & ~sign;
    else
        return false;
    return true;
}

bool evaluate_float(const opcode *o, const uint64_t *s, uint64_t *d)
{
    kind k = o->kinds[0];
    const soft_format *f = o->kind_count == 1 ? format_of(k) : NULL;
    if (!f)
        return false;
    uint64_t mask = k.bits == 64 ? UINT64_MAX : (1ull << k.bits) - 1, all = 0;
    for (int i = 0; i <= k.packed; i++) {
        uint64_t part[3], one;
        for (int j = 0; j < 3; j++)
            part[j] = s[j] >> 16 * i & mask;
        if (!element(o, f, part, &one))
            return false;
        all |= one << 16 * i;
    }
    *d = all;
    return true;
}

static const soft_format tf32 = {8, 10, 0x3ffff}, e5m2 = {5, 2, 0x7f};

/* Converts to e4m3, which has no infinity and whose largest number is 1.75 * 2^8. */
static uint64_t to_e4m3(soft v)
{
    uint64_t sign = (uint64_t)v.negative << 7;
    if (v.nan)
        return 0x7f;
    soft largest = soft_integer(448), size = v;
    size.negative = false;
    if (v.infinite || soft_compare(size, largest) > 0)
        return sign | 0x7e;
    /* Numbers below 2^-6 are multiples of 2^-9. */
    soft scaled = size;
    if (size.m == 0)
        return sign;
    for (int e = 8; e >= -6; e--) {
        soft lead = {.m = 1, .exponent = e};
        if (soft_compare(size, lead) < 0 && e > -6)
            continue;
        scaled.exponent -= e - 3;
        integer units = soft_to_integer(scaled, SOFT_NEAREST, 0, 16, 0);
        uint64_t bits = (uint64_t)(e + 6) * 8 + (uint64_t)units;
        return sign | (bits > 0x7e ? 0x7e : bits);
    }
    return sign;
}

static uint64_t to_e5m2(soft v)
{
    uint64_t bits = soft_pack(&e5m2, v, SOFT_NEAREST);
    return !v.nan && (bits & 0x7f) == 0x7c ? bits - 1 : bits;
}

static soft from_e4m3(uint64_t bits)
{
    int exponent = (int)(bits >> 3 & 15);
    soft v = {.negative = bits >> 7 & 1,
              .m = (bits & 7) | (exponent ? 8 : 0),
              .exponent = (exponent ? exponent : 1) - 10};
    v.nan = (bits & 0x7f) == 0x7f;
    return v;
}

/* Applies .satfinite, which replaces infinity by the largest number. */
static uint64_t made_finite(const opcode *o, const soft_format *f, uint64_t bits)
{
    return opcode_has(o, "satfinite") && soft_unpack(f, bits).infinite ? bits - 1 : bits;
}

/* Converts v to an element of a packed or short type. */
static uint64_t converted(const opcode *o, kind to, soft v)
{
    soft_rounding r = opcode_rounding(o);
    bool zeroed = opcode_has(o, "relu") && v.negative && !v.nan;
    if (zeroed)
        v = (soft){0};
    if (to.letter == 't')
        return v.nan ? 0x7fffe000 : made_finite(o, &tf32, soft_pack(&tf32, v, r)) << 13;
    if (to.letter == '4')
        return to_e4m3(v);
    if (to.letter == '5')
        return to_e5m2(v);
    return made_finite(o, format_of(to), finished(o, format_of(to), v, r));
}

static soft number_of(const opcode *o, kind from, uint64_t bits)
{
    if (from.letter == '4')
        return from_e4m3(bits & 0xff);
    if (from.letter == '5')
        return soft_unpack(&e5m2, bits & 0xff);
    const soft_format *f = format_of(from);
    if (!f)
        return soft_integer(integer_of(from, bits));
    bits &= from.bits == 64 ? UINT64_MAX : (1ull << from.bits) - 1;
    /* Conversions to halves do not flush subnormal floats. */
    bool to_half = format_of(o->kinds[0]) && o->kinds[0].bits == 16;
    if (f == &soft_f32 && opcode_has(o, "ftz") && !to_half)
        bits = soft_flush(f, bits);
    return soft_unpack(f, bits);
}

/* Converts a NaN between float types. A conversion to the same type keeps the NaN. A conversion
 * from or to a double shortens or extends its payload. Returns false for the format's own NaN. */
static bool converts_nan(const opcode *o, kind to, kind from, uint64_t bits, uint64_t *d)
{
    const soft_format *t = format_of(to), *f = format_of(from);
    bool plain = o->count == 3, doubles = to.bits == 64 || from.bits == 64;
    if (to.letter == 't' && opcode_has(o, "rna") && soft_unpack(f, bits).nan) {
        *d = bits & 0xffffe000; /* the low bits are always dropped */
        return true;
    }
    if (!t || !f || to.packed || !soft_unpack(f, bits).nan || opcode_has(o, "sat") ||
        opcode_has(o, "relu"))
        return false;
    if (to.bits == 64 && opcode_has(o, "ftz")) {
        *d = 0x7fffffffe0000000; /* the NaN of the format f32 */
        return true;
    }
    if (!doubles && (!plain || to.bits != 32 || (from.bits != 32 && from.letter != 'B')))
        return false;
    uint64_t quiet = doubles && !(plain && t == f) ? 1ull << (t->fraction_bits - 1) : 0;
    uint64_t payload = bits & ((1ull << f->fraction_bits) - 1),
             sign = bits >> (f->exponent_bits + f->fraction_bits) & 1;
    int wider = t->fraction_bits - f->fraction_bits;
    payload = wider >= 0 ? payload << wider : payload >> -wider;
    *d = sign << (t->exponent_bits + t->fraction_bits) |
         ((1ull << t->exponent_bits) - 1) << t->fraction_bits | quiet | payload;
    return true;
}

bool evaluate_conversion(const opcode *o, const uint64_t *s, uint64_t *d)
{
    if (strcmp(o->words[0], "cvt") != 0 || o->kind_count != 2)
        return false;
    kind to = o->kinds[0], from = o->kinds[1];
    bool to_float = format_of(to) || strchr("t45", to.letter), integral = false;
    static const char *const directions[] = {"rni", "rzi", "rmi", "rpi"};
    for (int i = 0; i < 4; i++)
        integral = integral || opcode_has(o, directions[i]);
    if (to.packed) {
        /* The first of two sources becomes the high half. Both halves of a packed source are
         * converted. */
        int width = from.packed ? from.bits : 0;
        uint64_t low = converted(o, to, number_of(o, from, from.packed ? s[0] : s[1]));
        *d = low | converted(o, to, number_of(o, from, s[0] >> width)) << to.bits;
        return true;
    }
    if (converts_nan(o, to, from, s[0], d))
        return true;
    soft v = number_of(o, from, s[0]);
    bool was_float = format_of(from) != NULL;
    if (to_float) {
        if (integral && !v.nan && !v.infinite) {
            integer limit = (integer)1 << 100;
            /* Larger numbers are integers already. */
            if (v.exponent < 0) {
                bool negative = v.negative;
                v = soft_integer(soft_to_integer(v, opcode_rounding(o), -limit, limit, 0));
                v.negative = negative;
            }
        }
        *d = converted(o, to, v);
        return true;
    }
    integer top_bit = to.letter == 's' ? least_of(to) : (integer)1 << (to.bits - 1);
    integer nan = to.bits == 64 || from.bits == 64 ? top_bit : 0, n;
    if (was_float)
        n = soft_to_integer(v, opcode_rounding(o), least_of(to), most_of(to), nan);
    else
        n = integer_of(from, s[0]);
    if (opcode_has(o, "sat"))
        n = clamped(n, least_of(to), most_of(to));
    /* Bytes are sign-extended in 32-bit registers. */
    *d = bits_of(to.bits == 8 ? 32 : to.bits, to.bits == 8 ? integer_of(to, (uint64_t)n) : n);
    return true;
}
