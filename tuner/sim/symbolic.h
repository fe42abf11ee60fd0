/* Computes instructions of all threads of a box at once, as functions of their places.
 *
 * Each rule is exact, or it keeps the order of its operands, so that a range's ends give the
 * result's; what neither holds for is computed of numbers alone, by the function that a warp's
 * lanes are computed with. Anything else asks for a smaller box (sim/affine.h). A predicate is a
 * number, 0 or 1. */
#ifndef AUTOTUNE_SIM_SYMBOLIC_H
#define AUTOTUNE_SIM_SYMBOLIC_H

#include "sim/affine.h"
#include "sim/program/operations.h"

typedef struct symbolic {
    const sim_program *program; /* borrowed */
    affine *values;             /* one for each step of slots */
    affine_box box;
} symbolic;

void symbolic_init(symbolic *s, const sim_program *p);
void symbolic_deinit(symbolic *s);

affine *symbolic_value(const symbolic *s, int32_t slot);

/* Tells what keeps an operation from going on with the values: DATA, or else a cut. */
affine symbolic_worst(const symbolic *s, const affine *const v[], int count);

/* The results of the instruction at a place. */
affine symbolic_compute(const symbolic *s, int32_t pc);
affine symbolic_convert(const symbolic *s, int32_t pc);
affine symbolic_compare(const symbolic *s, int32_t pc);
affine symbolic_logic(sim_logic op, const affine *a, const affine *b);
affine symbolic_negated(const affine *p, bool negate);

#endif
