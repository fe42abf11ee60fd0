/* Floats of fewer bits than a double has, by their shape: what a double is as one of them in each
 * direction of rounding, and what one of them is worth. f16, bf16, tf32 (in 32 bits), e4m3 and
 * e5m2. PTX ISA, "Alternate Floating-Point Data Formats". */
#ifndef AUTOTUNE_SIM_PROGRAM_SMALL_FLOAT_H
#define AUTOTUNE_SIM_PROGRAM_SMALL_FLOAT_H

#include "sim/program/program.h"

typedef struct small_float {
    int exponent_bits, fraction_bits;
    int unused_bits;   /* below the fraction: 13 of tf32 */
    bool has_infinity; /* e4m3 has not: the patterns that would be beyond are numbers, but for all
                          ones, NaN */
} small_float;

/* The shape of a type; NULL: it is none of these. A packed type has its elements'. */
const small_float *small_float_of(ptx_type type);

/* Bits of v, rounded. A value that is too large is infinity or the largest number, as the direction
 * has it; with `finite` always the largest number. NaN is all ones without a sign. */
uint32_t small_float_encode(const small_float *f, double v, sim_rounding rounding, bool finite);

double small_float_value(const small_float *f, uint32_t bits);

#endif
