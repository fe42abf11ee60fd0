/* What an instruction gives, from the PTX ISA's description of it (8.3, "Instruction Set") and what
 * it leaves open as an H100 has it. Shares nothing with the simulator: integers are __int128,
 * floats are soft_float.h's. */
#ifndef AUTOTUNE_TESTS_EVALUATE_H
#define AUTOTUNE_TESTS_EVALUATE_H

#include <stdbool.h>

#include "forms.h"

/* The result of one try, as form_kernel() stores it. False: this instruction is not described
 * here. */
bool evaluate(const form *f, const uint64_t sources[FORM_SOURCES], uint64_t *result);

#endif
