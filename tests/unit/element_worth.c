#include "element_worth.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

int element_bits(const char *type)
{
    int bits = 0;
    if (strcmp(type, "bf16") == 0)
        return 16;
    if (strcmp(type, "tf32") == 0)
        return 32;
    if (type[0] == 'e')
        return 8;
    sscanf(type + 1, "%d", &bits);
    return bits;
}

/* Returns the value of a float with this many bits of exponent and fraction. */
static double small(uint64_t bits, int exponent_bits, int fraction_bits)
{
    int exponent = (int)(bits >> fraction_bits & ((1u << exponent_bits) - 1));
    double fraction = (double)(bits & ((1u << fraction_bits) - 1));
    int bias = (1 << (exponent_bits - 1)) - 1;
    double v = exponent == 0
                   ? ldexp(fraction, 1 - bias - fraction_bits)
                   : ldexp(fraction + (1 << fraction_bits), exponent - bias - fraction_bits);
    return bits >> (exponent_bits + fraction_bits) & 1 ? -v : v;
}

double element_worth(const char *type, uint64_t bits)
{
    double v;
    if (strcmp(type, "f16") == 0)
        return small(bits, 5, 10);
    if (strcmp(type, "bf16") == 0)
        return small(bits, 8, 7);
    if (strcmp(type, "tf32") == 0)
        return small(bits >> 13, 8, 10);
    if (strcmp(type, "f32") == 0)
        return small(bits, 8, 23);
    if (strcmp(type, "e4m3") == 0)
        return small(bits, 4, 3);
    if (strcmp(type, "e5m2") == 0)
        return small(bits, 5, 2);
    if (strcmp(type, "f64") == 0) {
        memcpy(&v, &bits, sizeof v);
        return v;
    }
    int width = element_bits(type);
    int64_t all = (int64_t)bits;
    return (double)(type[0] == 's' && all >> (width - 1) & 1 ? all - ((int64_t)1 << width) : all);
}

uint64_t random_bits(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *state ^ *state >> 29;
}

uint64_t element_random(const char *type, uint64_t *state)
{
    const uint64_t random = random_bits(state);
    static const struct {
        const char *type;
        int exponent_bits, fraction_bits;
    } floats[] = {{"f16", 5, 10}, {"bf16", 8, 7}, {"tf32", 8, 23}, {"f32", 8, 23},
                  {"e4m3", 4, 3}, {"e5m2", 5, 2}, {"f64", 11, 52}};
    for (size_t i = 0; i < sizeof floats / sizeof *floats; i++) {
        if (strcmp(type, floats[i].type) != 0)
            continue;
        int f = floats[i].fraction_bits, e = floats[i].exponent_bits;
        uint64_t bias = (1u << (e - 1)) - 1;
        return (random >> 63) << (e + f) | (bias + 2 - (random >> 60 & 3)) << f |
               (random & ((UINT64_C(1) << f) - 1));
    }
    int width = element_bits(type);
    return random & ((UINT64_C(1) << width) - 1);
}
