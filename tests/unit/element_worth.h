/* Values of the bits of a matrix's element, and random elements, of the types that PTX multiplies:
 * "f16", "bf16", "tf32", "f32", "f64", "e4m3", "e5m2", "s4", "u4", "s8", "u8", "s32",
 * "b1". */
#ifndef AUTOTUNE_ELEMENT_WORTH_H
#define AUTOTUNE_ELEMENT_WORTH_H

#include <stdint.h>

/* Bits that an element has in a register: 32 of tf32. */
int element_bits(const char *type);

/* The number that the low bits are; the others of an integer are 0. */
double element_worth(const char *type, uint64_t bits);

/* The next bits of a generator of random numbers. */
uint64_t random_bits(uint64_t *state);

/* Bits of a random element: of a float between -4 and 4 and not near 0, of any integer. */
uint64_t element_random(const char *type, uint64_t *state);

#endif
