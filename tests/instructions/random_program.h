/* Random straight-line kernels: instructions of the table of forms over a file of registers, some
 * of them guarded, some with constants. The same kernel for the same seed. */
#ifndef AUTOTUNE_TESTS_RANDOM_PROGRAM_H
#define AUTOTUNE_TESTS_RANDOM_PROGRAM_H

#include <stdbool.h>

#include "forms.h"

enum {
    PROGRAM_SHORT = 8,  /* registers of 16 bits, %h0 .. */
    PROGRAM_WORDS = 12, /* of 32, %r0 .. */
    PROGRAM_LONGS = 8,  /* of 64, %x0 .. */
    PROGRAM_FLAGS = 4,  /* predicates, %p0 .. */
    PROGRAM_REGISTERS =
        PROGRAM_SHORT + PROGRAM_WORDS + PROGRAM_LONGS + PROGRAM_FLAGS, /* in this order */
    PROGRAM_FRESH = 16, /* further inputs, of any register */
    PROGRAM_INPUTS = PROGRAM_REGISTERS + PROGRAM_FRESH,
    PROGRAM_STEPS = 48,
    PROGRAM_BYTES = 32768
};

typedef struct program_source {
    int number;    /* of the register, among all; -1: a constant */
    uint64_t bits; /* of the constant */
} program_source;

typedef struct program_step {
    const form *form; /* NULL: a fresh input is loaded */
    int result;       /* register */
    int fresh;
    program_source sources[FORM_SOURCES];
    int guard; /* predicate register; -1: none */
    bool guard_negated;
} program_step;

typedef struct random_program {
    program_step steps[PROGRAM_STEPS];
} random_program;

/* Draws from `count` forms (borrowed). */
void random_program_make(random_program *p, const form *const *forms, size_t count, uint64_t seed);

/* Writes a kernel with the parameters (in, out, n): input k of thread i < n is in[k * n + i], and
 * register k comes out as out[k * n + i]. */
void random_program_kernel(const random_program *p, const char *entry, char *text, size_t size);

/* The inputs of a thread. */
void random_program_inputs(uint64_t seed, uint64_t thread, uint64_t inputs[PROGRAM_INPUTS]);

/* What a register keeps of a word that it is loaded from. */
uint64_t random_program_register(int number, uint64_t word);

#endif
