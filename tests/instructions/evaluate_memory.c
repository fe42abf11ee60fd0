/* Evaluates loads, stores and atomics. forms.c defines how a result combines old and new value. */
#include <string.h>

#include "opcode.h"

static uint64_t sum(kind k, bool flushes, uint64_t a, uint64_t b)
{
    const soft_format *f = format_of(k);
    if (f == &soft_f64 && (soft_unpack(f, a).nan || soft_unpack(f, b).nan))
        return (soft_unpack(f, a).nan ? a : b) | 1ull << 51;
    if (!f)
        return bits_of(k.bits, integer_of(k, a) + integer_of(k, b));
    if (flushes) {
        a = soft_flush(f, a);
        b = soft_flush(f, b);
    }
    uint64_t v =
        soft_pack(f, soft_add(soft_unpack(f, a), soft_unpack(f, b), SOFT_NEAREST), SOFT_NEAREST);
    return flushes ? soft_flush(f, v) : v;
}

static uint64_t updated(const opcode *o, kind k, const uint64_t *s)
{
    uint64_t old = s[0], v = s[1];
    integer x = integer_of(k, old), y = integer_of(k, v);
    if (opcode_has(o, "add") && k.packed)
        return sum(k, false, old & 0xffff, v & 0xffff) | sum(k, false, old >> 16, v >> 16) << 16;
    /* Subnormal sums of floats are flushed in global, but not in shared memory (PTX ISA, atom). */
    if (opcode_has(o, "add"))
        return sum(k, opcode_has(o, "global") && k.letter == 'f' && k.bits == 32, old, v);
    if (opcode_has(o, "min"))
        return x < y ? old : v;
    if (opcode_has(o, "max"))
        return x > y ? old : v;
    if (opcode_has(o, "and"))
        return old & v;
    if (opcode_has(o, "or"))
        return old | v;
    if (opcode_has(o, "xor"))
        return old ^ v;
    if (opcode_has(o, "inc"))
        return old >= v ? 0 : old + 1;
    if (opcode_has(o, "dec"))
        return old == 0 || old > v ? v : old - 1;
    return opcode_has(o, "cas") ? old == v ? s[2] : old : v;
}

static uint64_t loaded(const opcode *o, kind k, uint64_t word)
{
    int wide = opcode_has(o, "shared") || k.bits == 32 ? 64 : 32;
    int at = opcode_has(o, "shared") ? 24 : k.bits == 8 ? 8 : k.bits == 16 ? 16 : 0;
    integer v = integer_of(k, word >> at);
    return wide == 64 ? (uint64_t)v : bits_of(32, v);
}

/* Evaluates 128-bit instructions. forms.c folds their result into one word. */
bool evaluate_wide(const opcode *o, const uint64_t *s, uint64_t *d)
{
    uint64_t fresh[2] = {s[0], s[1]};
    *d = s[0] + 3 * s[1];
    if (strcmp(o->words[0], "atom") != 0)
        return true;
    if (opcode_has(o, "exch")) {
        fresh[0] = s[2];
        fresh[1] = s[3];
    } else if (s[2] % 2 == 1 || s[1] == s[2]) {
        fresh[0] = s[2];
        fresh[1] = s[0];
    }
    *d += 7 * (fresh[0] + 5 * fresh[1]);
    return true;
}

bool evaluate_memory(const opcode *o, const uint64_t *s, uint64_t *d)
{
    const char *name = o->words[0];
    kind k = o->kinds[0];
    if (strcmp(name, "ld") == 0)
        *d = loaded(o, k, s[0]);
    else if (strcmp(name, "st") == 0)
        *d = k.bits == 8 ? (s[0] & 0xff00ffff) | (s[1] & 0xff) << 16
                         : (s[0] & 0xffff) | (s[1] & 0xffff) << 16;
    else if (strcmp(name, "atom") == 0 && !format_of(k))
        *d = updated(o, k, s) ^ s[0];
    else
        *d = updated(o, k, s);
    return true;
}
