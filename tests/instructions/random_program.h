/* Random kernels without branches. Instructions come from the table of forms, and some have guards
 * or constants. Equal seeds give equal kernels. */
#ifndef AUTOTUNE_TESTS_RANDOM_PROGRAM_H
#define AUTOTUNE_TESTS_RANDOM_PROGRAM_H

#include <stdbool.h>

#include "forms.h"

enum {
    PROGRAM_SHORT = 8,  /* 16-bit registers %h0 .. */
    PROGRAM_WORDS = 12, /* 32-bit registers %r0 .. */
    PROGRAM_LONGS = 8,  /* 64-bit registers %x0 .. */
    PROGRAM_FLAGS = 4,  /* predicates, %p0 .. */
    PROGRAM_REGISTERS =
        PROGRAM_SHORT + PROGRAM_WORDS + PROGRAM_LONGS + PROGRAM_FLAGS, /* in this order */
    PROGRAM_FRESH = 16, /* additional inputs for any register */
    PROGRAM_INPUTS = PROGRAM_REGISTERS + PROGRAM_FRESH,
    PROGRAM_STEPS = 48,
    PROGRAM_BYTES = 32768
};

typedef struct program_source {
    int number;    /* register, or -1 for a constant */
    uint64_t bits; /* value of a constant */
} program_source;

typedef struct program_step {
    const form *form; /* NULL if the step loads an input */
    int result;       /* register */
    int fresh;
    program_source sources[FORM_SOURCES];
    int guard; /* predicate register, or -1 for no guard */
    bool guard_negated;
} program_step;

typedef struct random_program {
    program_step steps[PROGRAM_STEPS];
} random_program;

/* Makes a program of `count` forms. The program borrows the forms. */
void random_program_make(random_program *p, const form *const *forms, size_t count, uint64_t seed);

/* Writes a kernel with the parameters (in, out, n). For thread i < n, in[k * n + i] is input k, and
 * out[k * n + i] gets register k. */
void random_program_kernel(const random_program *p, const char *entry, char *text, size_t size);

/* Generates the inputs of a thread. */
void random_program_inputs(uint64_t seed, uint64_t thread, uint64_t inputs[PROGRAM_INPUTS]);

/* Returns the part of a loaded word that fits in a register. */
uint64_t random_program_register(int number, uint64_t word);

#endif
