#include "evaluate.h"

#include <stdlib.h>
#include <string.h>

#include "opcode.h"

static bool parse_kind(const char *word, kind *k)
{
    static const struct {
        const char *name;
        kind kind;
    } others[] = {{"e4m3x2", {'4', 8, true}},
                  {"e5m2x2", {'5', 8, true}},
                  {"tf32", {'t', 32, false}},
                  {"pred", {'p', 1, false}}};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        if (strcmp(word, others[i].name) == 0) {
            *k = others[i].kind;
            return true;
        }
    }
    bool brain = word[0] == 'b' && word[1] == 'f';
    char *end;
    if (!strchr("busf", word[0]) || word[0] == '\0')
        return false;
    *k = (kind){brain ? 'B' : word[0], (int)strtol(word + 1 + brain, &end, 10), false};
    k->packed = strcmp(end, "x2") == 0;
    return k->bits > 0 && (*end == '\0' || k->packed);
}

void opcode_parse(opcode *o, const char *name)
{
    *o = (opcode){.rest = ""};
    size_t length = strcspn(name, " ");
    if (name[length])
        o->rest = name + length + 1;
    for (size_t at = 0; at < length && o->count < WORDS;) {
        size_t n = strcspn(name + at, ". ");
        if (n < WORD_BYTES)
            memcpy(o->words[o->count], name + at, n);
        if (o->count > 0 && o->kind_count < 4 &&
            parse_kind(o->words[o->count], &o->kinds[o->kind_count]))
            o->kind_count++;
        o->count++;
        at += n + 1;
    }
}

bool opcode_has(const opcode *o, const char *word)
{
    for (int i = 1; i < o->count; i++)
        if (strcmp(o->words[i], word) == 0)
            return true;
    return false;
}

soft_rounding opcode_rounding(const opcode *o)
{
    if (opcode_has(o, "rz") || opcode_has(o, "rzi"))
        return SOFT_ZERO;
    if (opcode_has(o, "rm") || opcode_has(o, "rmi"))
        return SOFT_DOWN;
    if (opcode_has(o, "rp") || opcode_has(o, "rpi"))
        return SOFT_UP;
    return opcode_has(o, "rna") ? SOFT_AWAY : SOFT_NEAREST;
}

integer integer_of(kind k, uint64_t bits)
{
    integer one = 1, v = (integer)bits & ((one << k.bits) - 1);
    return k.letter == 's' && v >> (k.bits - 1) & 1 ? v - (one << k.bits) : v;
}

uint64_t bits_of(int bits, integer v)
{
    return (uint64_t)(v & (((integer)1 << bits) - 1));
}

integer least_of(kind k)
{
    return k.letter == 's' ? -((integer)1 << (k.bits - 1)) : 0;
}

integer most_of(kind k)
{
    return ((integer)1 << (k.letter == 's' ? k.bits - 1 : k.bits)) - 1;
}

integer clamped(integer v, integer least, integer most)
{
    return v < least ? least : v > most ? most : v;
}

const soft_format *format_of(kind k)
{
    if (k.letter == 'B')
        return &soft_bf16;
    if (k.letter != 'f')
        return NULL;
    return k.bits == 16 ? &soft_f16 : k.bits == 32 ? &soft_f32 : &soft_f64;
}

bool evaluate(const form *f, const uint64_t sources[FORM_SOURCES], uint64_t *result)
{
    opcode o;
    opcode_parse(&o, f->name);
    if (opcode_has(&o, "sync"))
        return false;
    if (o.kind_count > 0 && o.kinds[0].bits == 128)
        return evaluate_wide(&o, sources, result);
    if (opcode_has(&o, "global") || opcode_has(&o, "shared"))
        return evaluate_memory(&o, sources, result);
    return evaluate_integer(&o, sources, result) || evaluate_bits(&o, sources, result) ||
           evaluate_comparison(&o, sources, result) || evaluate_conversion(&o, sources, result) ||
           evaluate_float(&o, sources, result) || evaluate_video(&o, sources, result);
}
