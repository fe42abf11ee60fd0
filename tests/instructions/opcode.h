/* An opcode split into parts. Only the evaluate*.c files include this header. */
#ifndef AUTOTUNE_TESTS_OPCODE_H
#define AUTOTUNE_TESTS_OPCODE_H

#include <stdbool.h>
#include <stdint.h>

#include "soft_float.h"

/* A type: "s32", "bf16x2". */
typedef struct kind {
    char letter; /* b, u, s, f, B (bf), p */
    int bits;    /* bits of an element */
    bool packed; /* whether the type has two elements */
} kind;

enum { WORDS = 10, WORD_BYTES = 24 };

typedef struct opcode {
    char words[WORDS][WORD_BYTES]; /* "add", "rn", "f32": words of the name up to its first blank */
    int count;
    kind kinds[4];
    int kind_count;
    const char *rest; /* the name after its first blank; may be empty */
} opcode;

void opcode_parse(opcode *o, const char *name);
bool opcode_has(const opcode *o, const char *word);
soft_rounding opcode_rounding(const opcode *o);

/* Convert between integers and the bits of a type. */
integer integer_of(kind k, uint64_t bits);
uint64_t bits_of(int bits, integer v);
integer least_of(kind k);
integer most_of(kind k);
integer clamped(integer v, integer least, integer most);
/* Returns the format of an element, or NULL if the type is no float. */
const soft_format *format_of(kind k);

/* Returns whether a comparison ("ltu") is true for an order from soft_compare(). */
bool holds(const char *comparison, int order);

/* Each function evaluates a family of instructions. Returns false for other instructions. */
bool evaluate_integer(const opcode *o, const uint64_t *s, uint64_t *d);
bool evaluate_bits(const opcode *o, const uint64_t *s, uint64_t *d);
bool evaluate_float(const opcode *o, const uint64_t *s, uint64_t *d);
bool evaluate_conversion(const opcode *o, const uint64_t *s, uint64_t *d);
bool evaluate_comparison(const opcode *o, const uint64_t *s, uint64_t *d);
bool evaluate_wide(const opcode *o, const uint64_t *s, uint64_t *d);
bool evaluate_memory(const opcode *o, const uint64_t *s, uint64_t *d);
bool evaluate_video(const opcode *o, const uint64_t *s, uint64_t *d);

#endif
