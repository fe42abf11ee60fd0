/* Computes the results of instructions from their description in the PTX ISA (8.3, "Instruction
 * Set"). Where the ISA leaves a result open, the result is that of an H100. Shares no code with the
 * simulator: integers are __int128, floats come from soft_float.h. */
#ifndef AUTOTUNE_TESTS_EVALUATE_H
#define AUTOTUNE_TESTS_EVALUATE_H

#include <stdbool.h>

#include "forms.h"

/* Computes the result that form_kernel() stores. Returns false if the instruction is not known
 * here. */
bool evaluate(const form *f, const uint64_t sources[FORM_SOURCES], uint64_t *result);

#endif
