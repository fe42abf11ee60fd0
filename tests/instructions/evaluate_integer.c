#include <string.h>

#include "opcode.h"

static integer magnitude(integer v)
{
    return v < 0 ? -v : v;
}

/* Divides. The PTX ISA does not define division by zero; an H100 returns all ones. */
static integer quotient(integer a, integer b)
{
    return b == 0 ? -1 : a / b;
}

static integer rest_of(integer a, integer b)
{
    return b == 0 ? -1 : a % b;
}

/* Evaluates operations with two operands. */
static bool binary(const char *name, integer a, integer b, integer *v)
{
    static const char *const names[] = {"add", "sub", "div", "rem", "min", "max", NULL};
    int which = 0;
    while (names[which] && strcmp(names[which], name) != 0)
        which++;
    switch (which) {
    case 0:
        *v = a + b;
        return true;
    case 1:
        *v = a - b;
        return true;
    case 2:
        *v = quotient(a, b);
        return true;
    case 3:
        *v = rest_of(a, b);
        return true;
    case 4:
        *v = a < b ? a : b;
        return true;
    case 5:
        *v = a > b ? a : b;
        return true;
    default:
        return false;
    }
}

/* Evaluates mul, mad and their 24-bit forms. .lo, .hi and .wide are parts of one exact product. */
static bool multiply(const opcode *o, const uint64_t *s, uint64_t *d)
{
    bool short_ones = strstr(o->words[0], "24") != NULL, adds = o->words[0][1] == 'a';
    kind k = o->kinds[0], factor = k, wide = {k.letter, 2 * k.bits, false};
    factor.bits = short_ones ? 24 : k.bits;
    /* The product of two unsigned 64-bit numbers needs an unsigned type. */
    soft_bits exact = (soft_bits)integer_of(factor, s[0]) * (soft_bits)integer_of(factor, s[1]);
    integer product = (integer)exact;
    if (opcode_has(o, "wide")) {
        *d = bits_of(wide.bits, (integer)(exact + (soft_bits)(adds ? integer_of(wide, s[2]) : 0)));
        return true;
    }
    int shift = opcode_has(o, "hi") ? short_ones ? 16 : k.bits : 0;
    product = k.letter == 's' ? product >> shift : (integer)(exact >> shift);
    if (adds)
        product = (integer)((soft_bits)product + (soft_bits)integer_of(k, s[2]));
    if (opcode_has(o, "sat"))
        product = clamped(product, least_of(k), most_of(k));
    *d = bits_of(k.bits, product);
    return true;
}

/* Evaluates operations on two 16-bit numbers in a register. */
static bool halves(const opcode *o, const uint64_t *s, uint64_t *d)
{
    kind k = o->kinds[0];
    *d = 0;
    for (int i = 0; i < 2; i++) {
        integer v;
        if (!binary(o->words[0], integer_of(k, s[0] >> 16 * i), integer_of(k, s[1] >> 16 * i), &v))
            return false;
        if (opcode_has(o, "relu") && v < 0)
            v = 0;
        *d |= bits_of(16, v) << 16 * i;
    }
    return true;
}

/* Evaluates sums with carries. forms.c defines the positions of words and carries in the result. */
static bool carrying(const opcode *o, const uint64_t *s, uint64_t *d)
{
    const char *name = o->words[0];
    bool multiplies = name[0] == 'm', takes = name[3] == 'c', gives = opcode_has(o, "cc"),
         down = name[0] == 's';
    kind k = o->kinds[0], u = {'u', k.bits, false};
    integer base = (integer)1 << k.bits, first, second, out = 0, mask = base - 1;
    integer part[4];
    for (int i = 0; i < 4; i++)
        part[i] = integer_of(u, s[i]);
    if (multiplies) {
        soft_bits product = (soft_bits)integer_of(k, s[0]) * (soft_bits)integer_of(k, s[1]);
        integer piece = (integer)(product >> (opcode_has(o, "hi") ? k.bits : 0)) & mask;
        if (!takes) {
            first = piece + part[2];
            second = first >> k.bits;
        } else {
            first = part[2] + part[3];
            second = piece + part[2] + (first >> k.bits);
            out = gives ? second >> k.bits : 0;
        }
    } else {
        first = down ? part[0] - part[1] : part[0] + part[1];
        integer carry = first < 0 || first >= base;
        second = down ? part[2] - part[3] - carry : part[2] + part[3] + carry;
        out = second < 0 || second >= base;
        if (takes && !gives)
            out = 0;
        else if (down)
            out = -out; /* after a borrow, subc of two zeros returns all ones */
    }
    first &= mask;
    second &= mask;
    if (k.bits == 32)
        *d = (uint64_t)first | (uint64_t)second << 32;
    else
        *d = (uint64_t)first ^ (uint64_t)second << 1;
    *d ^= (uint64_t)out << 63;
    return true;
}

/* Evaluates dot products of four bytes, or of two halves with two bytes. */
static bool dot(const opcode *o, const uint64_t *s, uint64_t *d)
{
    bool four = o->words[0][2] == '4';
    kind a = {o->kinds[0].letter, four ? 8 : 16, false}, b = {o->kinds[1].letter, 8, false};
    integer sum = (integer)(uint32_t)s[2];
    for (int i = 0; i < (four ? 4 : 2); i++)
        sum += integer_of(a, s[0] >> a.bits * i) *
               integer_of(b, s[1] >> (8 * i + (opcode_has(o, "hi") ? 16 : 0)));
    *d = bits_of(32, sum);
    return true;
}

bool evaluate_integer(const opcode *o, const uint64_t *s, uint64_t *d)
{
    const char *name = o->words[0];
    kind k = o->kinds[0];
    if (o->kind_count == 0 || !strchr("us", k.letter) || name[0] == 'v' || strcmp(name, "cvt") == 0)
        return false;
    if (opcode_has(o, "cc") ||
        (name[0] && name[1] && name[2] && name[3] == 'c' && strchr("asm", name[0])))
        return carrying(o, s, d);
    if (strncmp(name, "mul", 3) == 0 || strncmp(name, "mad", 3) == 0)
        return multiply(o, s, d);
    if (strcmp(name, "dp4a") == 0 || strcmp(name, "dp2a") == 0)
        return dot(o, s, d);
    if (k.packed)
        return halves(o, s, d);
    integer a = integer_of(k, s[0]), b = integer_of(k, s[1]), c = integer_of(k, s[2]), v;
    if (binary(name, a, b, &v)) {
        if (opcode_has(o, "sat"))
            v = clamped(v, least_of(k), most_of(k));
        if (opcode_has(o, "relu") && v < 0)
            v = 0;
    } else if (strcmp(name, "sad") == 0) {
        v = c + magnitude(a - b);
    } else if (strcmp(name, "abs") == 0) {
        v = magnitude(a);
    } else if (strcmp(name, "neg") == 0) {
        v = -a;
    } else {
        return false;
    }
    *d = bits_of(k.bits, v);
    return true;
}
