/* Floating-point numbers and their bits, half and bfloat16 included; the high half of a product. */
#ifndef AUTOTUNE_BASE_BITS_H
#define AUTOTUNE_BASE_BITS_H

#include <stdint.h>
#include <string.h>

/* Converts between a number and its IEEE 754 bits. */
static inline uint32_t bits_of_float(float v)
{
    uint32_t bits;
    memcpy(&bits, &v, sizeof bits);
    return bits;
}

static inline float float_of_bits(uint32_t bits)
{
    float v;
    memcpy(&v, &bits, sizeof v);
    return v;
}

static inline uint64_t bits_of_double(double v)
{
    uint64_t bits;
    memcpy(&bits, &v, sizeof bits);
    return bits;
}

static inline double double_of_bits(uint64_t bits)
{
    double v;
    memcpy(&v, &bits, sizeof v);
    return v;
}

/* Convert between a half or bfloat16 and a value; round to nearest even. A NaN becomes 0x7fff. */
float half_to_float(uint16_t bits);
uint16_t half_from_float(float v);
uint16_t half_from_double(double v);
float bfloat_to_float(uint16_t bits);
uint16_t bfloat_from_float(float v);
uint16_t bfloat_from_double(double v);

/* Returns the high 64 bits of the 128-bit product. */
static inline uint64_t high_product(uint64_t a, uint64_t b)
{
    __extension__ typedef unsigned __int128 wide;
    return (uint64_t)((wide)a * b >> 64);
}

#endif
