/* Converts the bits of a matrix's element to its value, and makes random elements, for the types of
 * PTX's matrix products: "f16", "bf16", "tf32", "f32", "f64", "e4m3", "e5m2", "s4", "u4", "s8",
 * "u8", "s32", "b1". */
#ifndef AUTOTUNE_ELEMENT_WORTH_H
#define AUTOTUNE_ELEMENT_WORTH_H

#include <stdint.h>

/* Returns the number of bits that an element takes in a register: 32 for tf32. */
int element_bits(const char *type);

/* Returns the value of the element in the low bits of `bits`. */
double element_worth(const char *type, uint64_t bits);

/* Returns the next bits of a random number generator. */
uint64_t random_bits(uint64_t *state);

/* Returns the bits of a random element: any integer, or a float from -4 to 4 but not near 0. */
uint64_t element_random(const char *type, uint64_t *state);

#endif
