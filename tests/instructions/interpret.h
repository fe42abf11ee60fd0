/* Interprets a random program by the ISA (evaluate.h). Also finds the open values. A GPU may
 * compute these differently, because its assembler joins instructions. All values computed from an
 * open value are open, too. */
#ifndef AUTOTUNE_TESTS_INTERPRET_H
#define AUTOTUNE_TESTS_INTERPRET_H

#include <stdbool.h>

#include "differences.h"
#include "random_program.h"

/* The state of a thread after the program. */
typedef struct interpretation {
    uint64_t registers[PROGRAM_REGISTERS];
    bool open[PROGRAM_REGISTERS];
} interpretation;

/* Finds the known difference of each step. The pointers are valid as long as `known` exists. */
void interpret_known(const random_program *p, const differences *known,
                     const difference *of[PROGRAM_STEPS]);

/* Interprets a program. Returns false if evaluate() does not know a form. */
bool interpret(const random_program *p, const difference *const of[PROGRAM_STEPS],
               const uint64_t inputs[PROGRAM_INPUTS], interpretation *out);

#endif
