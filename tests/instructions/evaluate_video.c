/* Evaluates video instructions, following the pseudocode of the PTX ISA. */
#include <string.h>

#include "opcode.h"

static integer combine(const opcode *o, integer a, integer b)
{
    const char *name = o->words[0];
    size_t n = strlen(name);
    if (name[n - 1] == '2' || name[n - 1] == '4')
        n--;
    if (strncmp(name, "vadd", n) == 0)
        return a + b;
    if (strncmp(name, "vsub", n) == 0)
        return a - b;
    if (strncmp(name, "vabsdiff", n) == 0)
        return a > b ? a - b : b - a;
    if (strncmp(name, "vmin", n) == 0)
        return a < b ? a : b;
    if (strncmp(name, "vmax", n) == 0)
        return a > b ? a : b;
    if (strncmp(name, "vavrg", n) == 0)
        return a + b >= 0 ? (a + b + 1) >> 1 : (a + b) >> 1;
    integer amount = opcode_has(o, "wrap") ? b & 31 : b > 32 ? 32 : b;
    if (strncmp(name, "vshl", n) == 0)
        return (integer)((soft_bits)a << amount);
    if (strncmp(name, "vshr", n) == 0)
        return a >> amount;
    return holds(o->words[3], a < b ? -1 : a > b); /* vset */
}

static kind part(kind k, const char *selector)
{
    k.bits = selector[0] == 'b' ? 8 : selector[0] == 'h' ? 16 : 32;
    return k;
}

static integer selected(kind k, uint64_t word, const char *selector)
{
    kind p = part(k, selector);
    return integer_of(p, word >> (selector[0] ? (selector[1] - '0') * p.bits : 0));
}

static uint64_t second(const opcode *o, kind k, integer x, uint64_t c)
{
    integer y = integer_of(k, c);
    if (opcode_has(o, "add"))
        return bits_of(32, x + y);
    if (opcode_has(o, "min"))
        return bits_of(32, x < y ? x : y);
    return bits_of(32, opcode_has(o, "max") && y > x ? y : x);
}

static uint64_t scalar(const opcode *o, kind to, kind a, kind b, const uint64_t *s)
{
    const char *a_selector = "", *b_selector = "", *target = "";
    if (strcmp(o->rest, "halves") == 0)
        a_selector = "h1", b_selector = "b2";
    else if (strcmp(o->rest, "bytes") == 0)
        a_selector = "b3", b_selector = "h0";
    else if (strcmp(o->rest, "merged") == 0)
        target = a.letter == 's' ? "b1" : "h1";
    integer t = combine(o, selected(a, s[0], a_selector), selected(b, s[1], b_selector));
    kind narrow = part(to, target);
    if (opcode_has(o, "sat"))
        t = clamped(t, least_of(narrow), most_of(narrow));
    if (!target[0])
        return second(o, to, t, s[2]);
    int at = (target[1] - '0') * narrow.bits;
    uint64_t mask = ((1ull << narrow.bits) - 1) << at;
    return (s[2] & ~mask) | (bits_of(narrow.bits, t) << at);
}

static uint64_t lanes(const opcode *o, kind to, kind a, kind b, int count, const uint64_t *s)
{
    integer sum = (integer)s[2];
    uint64_t merged = 0;
    a.bits = b.bits = to.bits = 32 / count;
    for (int i = 0; i < count; i++) {
        int at = i * to.bits;
        integer t = combine(o, integer_of(a, s[0] >> at), integer_of(b, s[1] >> at));
        if (opcode_has(o, "sat"))
            t = clamped(t, least_of(to), most_of(to));
        merged |= bits_of(to.bits, t) << at;
        sum += t;
    }
    return opcode_has(o, "add") ? bits_of(32, sum) : merged;
}

static uint64_t multiply_add(const opcode *o, kind a, kind b, const uint64_t *s)
{
    kind final = {a.letter == 's' || b.letter == 's' ? 's' : 'u', 32, false};
    integer t =
        integer_of(a, s[0]) * integer_of(b, s[1]) + integer_of(final, s[2]) + opcode_has(o, "po");
    t >>= opcode_has(o, "shr7") ? 7 : opcode_has(o, "shr15") ? 15 : 0;
    if (opcode_has(o, "sat"))
        t = clamped(t, least_of(final), most_of(final));
    return bits_of(32, t);
}

bool evaluate_video(const opcode *o, const uint64_t *s, uint64_t *d)
{
    const char *name = o->words[0];
    if (name[0] != 'v' || o->kind_count < 2)
        return false;
    bool sets = strncmp(name, "vset", 4) == 0;
    kind word = {o->kinds[0].letter == 's' || o->kinds[1].letter == 's' ? 's' : 'u', 32, false};
    kind to = sets ? word : o->kinds[0], a = o->kinds[!sets], b = o->kinds[sets ? 1 : 2];
    char last = name[strlen(name) - 1];
    if (strcmp(name, "vmad") == 0)
        *d = multiply_add(o, a, b, s);
    else if (last == '2' || last == '4')
        *d = lanes(o, to, a, b, last - '0', s);
    else
        *d = scalar(o, to, a, b, s);
    return true;
}
