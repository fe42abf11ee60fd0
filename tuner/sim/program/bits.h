/* Floating-point numbers to their bits and back, and products of 128 bits. */
#ifndef AUTOTUNE_SIM_PROGRAM_BITS_H
#define AUTOTUNE_SIM_PROGRAM_BITS_H

#include <stdint.h>
#include <string.h>

static inline uint32_t sim_float_bits(float v)
{
    uint32_t bits;
    memcpy(&bits, &v, sizeof bits);
    return bits;
}

static inline float sim_bits_float(uint32_t bits)
{
    float v;
    memcpy(&v, &bits, sizeof v);
    return v;
}

static inline uint64_t sim_double_bits(double v)
{
    uint64_t bits;
    memcpy(&bits, &v, sizeof bits);
    return bits;
}

static inline double sim_bits_double(uint64_t bits)
{
    double v;
    memcpy(&v, &bits, sizeof v);
    return v;
}

/* The high half of a product. */
static inline uint64_t sim_high_product(uint64_t a, uint64_t b)
{
    __extension__ typedef unsigned __int128 wide;
    return (uint64_t)((wide)a * b >> 64);
}

#endif
