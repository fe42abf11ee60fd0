#include <stdlib.h>
#include <string.h>

#include "opcode.h"

static bool bit(uint64_t v, int i)
{
    return v >> i & 1;
}

/* Shifts an unbounded integer. A shift by more than the width equals repeated shifts by one. */
static integer shifted(integer v, uint64_t n, bool left)
{
    if (n > 64)
        n = 64;
    return left ? (integer)((soft_bits)v << n) : v >> n;
}

static uint64_t reversed(uint64_t v, int bits)
{
    uint64_t r = 0;
    for (int i = 0; i < bits; i++)
        r |= (uint64_t)bit(v, i) << (bits - 1 - i);
    return r;
}

/* Returns a position or length of bfe and bfi, which is the low 8 bits of the operand (PTX ISA). On
 * an H100, 64-bit instructions use the whole operand. */
static int amount(kind k, uint64_t v)
{
    return k.bits < 64 ? (int)(v & 0xff) : v > 64 ? 64 : (int)v;
}

static uint64_t extracted(kind k, uint64_t a, uint64_t position, uint64_t length)
{
    int pos = amount(k, position), len = amount(k, length), msb = k.bits - 1;
    bool sign = false;
    if (k.letter == 's' && len > 0)
        sign = bit(a, pos + len - 1 < msb ? pos + len - 1 : msb);
    uint64_t d = 0;
    for (int i = 0; i <= msb; i++)
        d |= (uint64_t)(i < len && pos + i <= msb ? bit(a, pos + i) : sign) << i;
    return d;
}

static uint64_t inserted(kind k, uint64_t a, uint64_t b, uint64_t position, uint64_t length)
{
    int pos = amount(k, position), len = amount(k, length), msb = k.bits - 1;
    for (int i = 0; i < len && pos + i <= msb; i++)
        b = (b & ~(1ull << (pos + i))) | (uint64_t)bit(a, i) << (pos + i);
    return b;
}

/* Evaluates prmt (PTX ISA). A digit selects one of the bytes of {b, a}. A digit of 8 or more
 * repeats the sign of the byte. */
static uint64_t permuted(const opcode *o, uint64_t a, uint64_t b, uint64_t c)
{
    static const struct {
        const char *mode;
        int bytes[4][4]; /* for each value of c: sources of the bytes, lowest byte first */
    } modes[] = {{"f4e", {{0, 1, 2, 3}, {1, 2, 3, 4}, {2, 3, 4, 5}, {3, 4, 5, 6}}},
                 {"b4e", {{0, 7, 6, 5}, {1, 0, 7, 6}, {2, 1, 0, 7}, {3, 2, 1, 0}}},
                 {"rc8", {{0, 0, 0, 0}, {1, 1, 1, 1}, {2, 2, 2, 2}, {3, 3, 3, 3}}},
                 {"ecl", {{0, 1, 2, 3}, {1, 1, 2, 3}, {2, 2, 2, 3}, {3, 3, 3, 3}}},
                 {"ecr", {{0, 0, 0, 0}, {0, 1, 1, 1}, {0, 1, 2, 2}, {0, 1, 2, 3}}},
                 {"rc16", {{0, 1, 0, 1}, {2, 3, 2, 3}, {0, 1, 0, 1}, {2, 3, 2, 3}}}};
    uint64_t bytes = (uint64_t)(uint32_t)b << 32 | (uint32_t)a, d = 0;
    for (int i = 0; i < 4; i++) {
        int from = (int)(c >> 4 * i & 15);
        for (size_t m = 0; m < sizeof modes / sizeof *modes; m++)
            if (opcode_has(o, modes[m].mode))
                from = modes[m].bytes[c & 3][i];
        uint64_t byte = bytes >> 8 * (from & 7) & 0xff;
        if (from & 8)
            byte = byte >> 7 ? 0xff : 0;
        d |= byte << 8 * i;
    }
    return d;
}

static uint64_t looked_up(uint64_t a, uint64_t b, uint64_t c, unsigned table)
{
    uint64_t d = 0;
    for (int i = 0; i < 32; i++)
        d |= (uint64_t)(table >> (4 * bit(a, i) + 2 * bit(b, i) + bit(c, i)) & 1) << i;
    return d;
}

static uint64_t found(uint64_t mask, uint64_t base, int32_t offset)
{
    if (offset == 0)
        return base < 32 && bit(mask, (int)base) ? base : UINT32_MAX;
    int64_t count = llabs((long long)offset) - 1;
    for (int64_t pos = (int64_t)(int32_t)base; pos >= 0 && pos<32; pos += offset> 0 ? 1 : -1)
        if (bit(mask, (int)pos) && count-- == 0)
            return (uint64_t)pos;
    return UINT32_MAX;
}

static bool counting(const opcode *o, kind k, uint64_t a, uint64_t *d)
{
    const char *name = o->words[0];
    int set = 0, highest = -1;
    uint64_t v = strcmp(name, "bfind") == 0 && k.letter == 's' && bit(a, k.bits - 1) ? ~a : a;
    for (int i = 0; i < k.bits; i++) {
        set += bit(v, i);
        highest = bit(v, i) ? i : highest;
    }
    if (strcmp(name, "popc") == 0)
        *d = (uint64_t)set;
    else if (strcmp(name, "clz") == 0)
        *d = (uint64_t)(k.bits - 1 - highest);
    else if (strcmp(name, "bfind") == 0)
        *d = highest < 0 ? UINT32_MAX
                         : (uint64_t)(opcode_has(o, "shiftamt") ? k.bits - 1 - highest : highest);
    else
        return false;
    return true;
}

/* Evaluates 32-bit instructions whose shift wraps or clamps. */
static bool modal(const opcode *o, const uint64_t *s, uint64_t *d)
{
    const char *name = o->words[0];
    bool clamps = opcode_has(o, "clamp");
    if (strcmp(name, "shf") == 0) {
        uint64_t n = clamps ? (s[2] > 32 ? 32 : s[2]) : s[2] & 31, both = s[1] << 32 | s[0];
        *d = opcode_has(o, "l") ? (uint32_t)((soft_bits)both << n >> 32) : (uint32_t)(both >> n);
        return true;
    }
    if (strcmp(name, "szext") == 0) {
        bool all = clamps && s[1] >= 32;
        int n = (int)(s[1] & 31);
        *d = all ? s[0] : extracted((kind){o->kinds[0].letter, 32, false}, s[0], 0, (uint64_t)n);
        return true;
    }
    if (strcmp(name, "bmsk") == 0) {
        uint64_t from = clamps ? s[0] : s[0] & 31, count = clamps ? s[1] : s[1] & 31;
        *d = 0;
        for (uint64_t i = from; i < 32 && i - from < count; i++)
            *d |= 1ull << i;
        return true;
    }
    return false;
}

static bool pack_clamped(const opcode *o, const uint64_t *s, uint64_t *d)
{
    kind k = o->kinds[0], word = {'s', 32, false};
    uint64_t high = bits_of(k.bits, clamped(integer_of(word, s[0]), least_of(k), most_of(k)));
    uint64_t low = bits_of(k.bits, clamped(integer_of(word, s[1]), least_of(k), most_of(k)));
    *d = (uint32_t)((k.bits < 16 ? s[2] << 2 * k.bits : 0) | high << k.bits | low);
    return true;
}

/* Evaluates moves between a register and its parts, such as "mov.b64 to four". */
static bool pieces(const opcode *o, const uint64_t *s, uint64_t *d)
{
    const char *rest = o->rest;
    int bits = o->kinds[0].bits;
    if (strncmp(rest, "from", 4) == 0) {
        int count = strcmp(rest, "from four") == 0 ? 4 : 2, each = bits / count;
        *d = 0;
        for (int i = 0; i < count; i++)
            *d |= (s[i] & ((1ull << each) - 1)) << each * i;
        return true;
    }
    if (strcmp(rest, "to two") == 0) {
        *d = s[0] >> bits / 2 | (s[0] & ((1ull << bits / 2) - 1)) << bits / 2;
        return true;
    }
    if (strcmp(rest, "to four") == 0) {
        uint64_t i = s[0] & 0xffff, j = s[0] >> 16 & 0xffff, k = s[0] >> 32 & 0xffff,
                 l = s[0] >> 48;
        *d = l | i << 16 | k << 32 | j << 48;
        return true;
    }
    *d = s[0];
    return true;
}

static bool logic(const char *name, int bits, const uint64_t *s, uint64_t *d)
{
    uint64_t mask = bits == 64 ? UINT64_MAX : (1ull << bits) - 1;
    if (strcmp(name, "and") == 0)
        *d = s[0] & s[1];
    else if (strcmp(name, "or") == 0)
        *d = s[0] | s[1];
    else if (strcmp(name, "xor") == 0)
        *d = s[0] ^ s[1];
    else if (strcmp(name, "not") == 0)
        *d = ~s[0] & mask;
    else if (strcmp(name, "cnot") == 0)
        *d = s[0] == 0;
    else
        return false;
    return true;
}

bool evaluate_bits(const opcode *o, const uint64_t *s, uint64_t *d)
{
    const char *name = o->words[0];
    kind k = o->kinds[0];
    if (o->kind_count == 0)
        return false;
    if (strcmp(name, "cvt") == 0)
        return opcode_has(o, "pack") && pack_clamped(o, s, d);
    if (logic(name, k.bits, s, d) || counting(o, k, s[0], d) || modal(o, s, d))
        return true;
    if (strcmp(name, "mov") == 0)
        return pieces(o, s, d);
    if (strcmp(name, "shl") == 0)
        *d = bits_of(k.bits, shifted(integer_of(k, s[0]), s[1], true));
    else if (strcmp(name, "shr") == 0)
        *d = bits_of(k.bits, shifted(integer_of(k, s[0]), s[1], false));
    else if (strcmp(name, "brev") == 0)
        *d = reversed(s[0], k.bits);
    else if (strcmp(name, "bfe") == 0)
        *d = extracted(k, s[0], s[1], s[2]);
    else if (strcmp(name, "bfi") == 0)
        *d = inserted(k, s[0], s[1], s[2], s[3]);
    else if (strcmp(name, "prmt") == 0)
        *d = permuted(o, s[0], s[1], s[2]);
    else if (strcmp(name, "fns") == 0)
        *d = found(s[0], s[1], (int32_t)s[2]);
    else if (strcmp(name, "lop3") == 0) {
        *d = looked_up(s[0], s[1], s[2], (unsigned)strtoul(o->rest, NULL, 16));
        bool is_set = *d != 0, both = opcode_has(o, "and") ? is_set && s[3] : is_set || s[3];
        if (o->count == 3 && both)
            *d ^= 0x5a5a5a5a;
    } else
        return false;
    return true;
}
