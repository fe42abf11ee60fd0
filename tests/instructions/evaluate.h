/* Computes the results of instructions from their description in the PTX ISA (8.3, "Instruction
 * Set"). Results that the ISA does not define are those of an H100. This code shares nothing with
 * the simulator: integers are __int128, and floats come from soft_float.h. */
#ifndef AUTOTUNE_TESTS_EVALUATE_H
#define AUTOTUNE_TESTS_EVALUATE_H

#include <stdbool.h>

#include "forms.h"

/* Computes the result that form_kernel() stores. Returns false if the instruction is not
 * implemented here. */
bool evaluate(const form *f, const uint64_t sources[FORM_SOURCES], uint64_t *result);

#endif
