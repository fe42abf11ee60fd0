/* An opcode in parts, for evaluate.c and its kin; no other test includes this. */
#ifndef AUTOTUNE_TESTS_OPCODE_H
#define AUTOTUNE_TESTS_OPCODE_H

#include <stdbool.h>
#include <stdint.h>

#include "soft_float.h"

typedef struct kind { /* a type: "s32", "bf16x2" */
    char letter;      /* b, u, s, f, B (bf), p */
    int bits;         /* of an element */
    bool packed;      /* two of them */
} kind;

enum { WORDS = 10, WORD_BYTES = 24 };

typedef struct opcode {
    char words[WORDS][WORD_BYTES]; /* "add", "rn", "f32"; of a name with blanks up to the first */
    int count;
    kind kinds[4];
    int kind_count;
    const char *rest; /* what follows the first blank; "" */
} opcode;

void opcode_parse(opcode *o, const char *name);
bool opcode_has(const opcode *o, const char *word);
soft_rounding opcode_rounding(const opcode *o);

/* Bits of a type's value as a number, and back. */
integer integer_of(kind k, uint64_t bits);
uint64_t bits_of(int bits, integer v);
integer least_of(kind k);
integer most_of(kind k);
integer clamped(integer v, integer least, integer most);
/* The format of a float's element; NULL: none. */
const soft_format *format_of(kind k);

/* A comparison's name ("ltu") of an order as soft_compare() gives it. */
bool holds(const char *comparison, int order);

/* Each knows some families; false: another one's. */
bool evaluate_integer(const opcode *o, const uint64_t *s, uint64_t *d);
bool evaluate_bits(const opcode *o, const uint64_t *s, uint64_t *d);
bool evaluate_float(const opcode *o, const uint64_t *s, uint64_t *d);
bool evaluate_conversion(const opcode *o, const uint64_t *s, uint64_t *d);
bool evaluate_comparison(const opcode *o, const uint64_t *s, uint64_t *d);
bool evaluate_wide(const opcode *o, const uint64_t *s, uint64_t *d);
bool evaluate_memory(const opcode *o, const uint64_t *s, uint64_t *d);
bool evaluate_video(const opcode *o, const uint64_t *s, uint64_t *d);

#endif
