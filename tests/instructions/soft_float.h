/* Floating-point arithmetic with integers, to check other implementations (IEEE 754-2019). A number
 * is exactly m * 2^exponent, and soft_pack() rounds it to a format. As in PTX, each format has one
 * NaN. */
#ifndef AUTOTUNE_TESTS_SOFT_FLOAT_H
#define AUTOTUNE_TESTS_SOFT_FLOAT_H

#include <stdbool.h>
#include <stdint.h>

__extension__ typedef unsigned __int128 soft_bits;
__extension__ typedef __int128 integer;

typedef struct soft_format {
    int exponent_bits, fraction_bits;
    uint64_t nan;
} soft_format;

extern const soft_format soft_f16, soft_bf16, soft_f32, soft_f64;

typedef struct soft {
    bool nan, infinite, negative;
    bool more; /* whether the exact value is larger than m by less than one unit */
    int exponent;
    soft_bits m; /* 0 for zero */
} soft;

typedef enum soft_rounding { SOFT_NEAREST, SOFT_ZERO, SOFT_DOWN, SOFT_UP, SOFT_AWAY } soft_rounding;

soft soft_unpack(const soft_format *f, uint64_t bits);
uint64_t soft_pack(const soft_format *f, soft v, soft_rounding r);
/* Replaces a subnormal number by zero with the same sign. */
uint64_t soft_flush(const soft_format *f, uint64_t bits);
soft soft_integer(integer v);

/* Compute exactly, except for `more`. If a sum is zero, its sign depends on the rounding. */
soft soft_add(soft a, soft b, soft_rounding r);
soft soft_multiply(soft a, soft b);
soft soft_divide(soft a, soft b);
soft soft_root(soft a);
soft soft_negate(soft a);

/* Returns -1, 0 or 1, or 2 if one of the numbers is NaN. */
int soft_compare(soft a, soft b);

/* Rounds to an integer between `least` and `most`. Returns `nan` for NaN. */
integer soft_to_integer(soft v, soft_rounding r, integer least, integer most, integer nan);

#endif
