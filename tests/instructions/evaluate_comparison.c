#include <string.h>

#include "opcode.h"

bool holds(const char *comparison, int order)
{
    static const struct {
        const char *name;
        const char *orders; /* orders (< = > ?) for which the comparison is true */
    } rows[] = {{"eq", "="},    {"ne", "<>"},   {"lt", "<"},   {"le", "<="},   {"gt", ">"},
                {"ge", ">="},   {"lo", "<"},    {"ls", "<="},  {"hi", ">"},    {"hs", ">="},
                {"equ", "=?"},  {"neu", "<>?"}, {"ltu", "<?"}, {"leu", "<=?"}, {"gtu", ">?"},
                {"geu", ">=?"}, {"num", "<=>"}, {"nan", "?"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(rows[i].name, comparison) == 0)
            return strchr(rows[i].orders, "<=>?"[order + 1]) != NULL;
    return false;
}

/* Returns the order of two values of a type, or of the halves that begin at bit `at`. */
static int order_of(const opcode *o, kind k, uint64_t a, uint64_t b, int at)
{
    const soft_format *f = format_of(k);
    a >>= at;
    b >>= at;
    if (!f) {
        integer x = integer_of(k, a), y = integer_of(k, b);
        return x < y ? -1 : x > y;
    }
    if (opcode_has(o, "ftz")) {
        a = soft_flush(f, a & ((1ull << k.bits) - 1));
        b = soft_flush(f, b & ((1ull << k.bits) - 1));
    }
    return soft_compare(soft_unpack(f, a), soft_unpack(f, b));
}

static bool combined(const opcode *o, bool p, bool c)
{
    if (opcode_has(o, "and"))
        return p && c;
    if (opcode_has(o, "or"))
        return p || c;
    return opcode_has(o, "xor") ? p != c : p;
}

static uint64_t true_of(kind k)
{
    if (k.letter == 'f')
        return k.bits == 16 ? 0x3c00 : 0x3f800000;
    return k.letter == 'B' ? 0x3f80 : k.bits == 16 ? 0xffff : 0xffffffff;
}

static bool set(const opcode *o, const uint64_t *s, uint64_t *d)
{
    kind to = o->kinds[0], from = o->kinds[1];
    *d = 0;
    for (int i = 0; i <= from.packed; i++)
        if (combined(o, holds(o->words[1], order_of(o, from, s[0], s[1], 16 * i)), s[2]))
            *d |= (from.packed && !to.packed ? 0xffff : true_of(to)) << 16 * i;
    return true;
}

/* Evaluates setp. In the result (forms.c), bit 0 is the first predicate and bit 1 is the second. */
static bool setp(const opcode *o, const uint64_t *s, uint64_t *d)
{
    kind k = o->kinds[0];
    bool first = holds(o->words[1], order_of(o, k, s[0], s[1], 0)), second = !first;
    if (k.packed)
        second = holds(o->words[1], order_of(o, k, s[0], s[1], 16));
    *d = combined(o, first, s[2]);
    /* Scalar halves have one predicate. */
    if (k.packed || !format_of(k) || k.bits != 16)
        *d |= (uint64_t)combined(o, second, s[2]) << 1;
    return true;
}

static bool testp(const opcode *o, const uint64_t *s, uint64_t *d)
{
    const soft_format *f = format_of(o->kinds[0]);
    soft v = soft_unpack(f, s[0]);
    bool zero = !v.nan && !v.infinite && v.m == 0, number = !v.nan && !v.infinite;
    bool normal = number && (zero || soft_flush(f, s[0]) == s[0]);
    const char *class = o->words[1];
    *d = strcmp(class, "finite") == 0       ? number
         : strcmp(class, "infinite") == 0   ? v.infinite
         : strcmp(class, "number") == 0     ? !v.nan
         : strcmp(class, "notanumber") == 0 ? v.nan
         : strcmp(class, "normal") == 0     ? normal
                                            : number && !normal;
    return true;
}

bool evaluate_comparison(const opcode *o, const uint64_t *s, uint64_t *d)
{
    const char *name = o->words[0];
    if (strcmp(name, "set") == 0)
        return set(o, s, d);
    if (strcmp(name, "setp") == 0)
        return setp(o, s, d);
    if (strcmp(name, "testp") == 0)
        return testp(o, s, d);
    if (strcmp(name, "selp") == 0) {
        *d = s[2] ? s[0] : s[1];
        return true;
    }
    if (strcmp(name, "slct") == 0) {
        kind test = o->kinds[1];
        *d = holds("ge", order_of(o, test, s[2], 0, 0)) ? s[0] : s[1];
        return true;
    }
    return false;
}
