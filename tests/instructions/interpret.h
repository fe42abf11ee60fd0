/* A random program by the ISA (evaluate.h), and what of it is open: values that a GPU may have
 * otherwise, by what its assembler makes of an instruction among others, and all that is computed
 * of such. */
#ifndef AUTOTUNE_TESTS_INTERPRET_H
#define AUTOTUNE_TESTS_INTERPRET_H

#include <stdbool.h>

#include "differences.h"
#include "random_program.h"

typedef struct interpretation { /* of one thread, after the program */
    uint64_t registers[PROGRAM_REGISTERS];
    bool open[PROGRAM_REGISTERS];
} interpretation;

/* What is known of each step's form; the pointers are into `known`, or to what never changes. */
void interpret_known(const random_program *p, const differences *known,
                     const difference *of[PROGRAM_STEPS]);

/* False: a form is not described by evaluate(). */
bool interpret(const random_program *p, const difference *const of[PROGRAM_STEPS],
               const uint64_t inputs[PROGRAM_INPUTS], interpretation *out);

#endif
