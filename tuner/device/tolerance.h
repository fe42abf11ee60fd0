/* How far an element that a kernel wrote may be from the one that the reference made.
 *
 * templates/device_support.cu decides the same on a GPU; tests/unit/sim/test_support.c checks that
 * the two agree. Nothing here allocates or fails. */
#ifndef AUTOTUNE_DEVICE_TOLERANCE_H
#define AUTOTUNE_DEVICE_TOLERANCE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/value.h"

/* All but the first take NaN for NaN and an infinity for the same one; zeros of either sign are
 * equal. */
typedef enum tolerance_kind {
    TOLERANCE_EXACT,    /* bit for bit */
    TOLERANCE_SCALED,   /* an error up to limit * the largest finite magnitude that is expected */
    TOLERANCE_RELATIVE, /* up to limit * the magnitude of the expected element */
    TOLERANCE_ABSOLUTE, /* up to the limit */
    TOLERANCE_ULPS, /* up to `limit` representable values away; for integers, their difference */
    TOLERANCE_KINDS
} tolerance_kind;

typedef struct tolerance {
    tolerance_kind kind;
    double limit;      /* 0 where it is exact */
    double mismatches; /* that many of the elements may be further away: a share of them below 1, or
                          a whole number of elements; 0: none may */
} tolerance;

/* The tolerance of a plain number in a script: 0 is exact, any other is TOLERANCE_SCALED. */
tolerance tolerance_of(double limit);

/* Can the kind have this limit? Finite, not negative, a whole number of ULPs. Is `mismatches` a
 * share or a whole number? */
bool tolerance_is_valid(tolerance t);

/* Must all elements be equal bit for bit? */
bool tolerance_is_exact(tolerance t);

/* How many of `count` elements may be further away; a share is rounded down. */
uint64_t tolerance_mismatches(tolerance t, uint64_t count);

/* "within 4 ULPs", "within 1e-05 of its magnitude": at most TOLERANCE_TEXT_BYTES. It tells the
 * distance alone, not how many may be further away. */
enum { TOLERANCE_TEXT_BYTES = 64 };
void tolerance_tell(tolerance t, char text[TOLERANCE_TEXT_BYTES]);

/* Writes an element so that different ones read differently: integers with all digits, bytes in
 * hexadecimal as well, floating-point numbers with as many digits as tell them apart, NaN with its
 * bits. */
enum { ELEMENT_TEXT_BYTES = 48 };
void element_tell(dtype type, const void *element, char text[ELEMENT_TEXT_BYTES]);

/* The largest finite magnitude of the elements; 0 when there is none. */
double element_magnitude(dtype type, const void *elements, uint64_t count);

/* Is `found` close enough to `expected`, whatever others are? `magnitude` is element_magnitude() of
 * all expected elements; only TOLERANCE_SCALED reads it. */
bool tolerance_accepts(tolerance t, double magnitude, dtype type, const void *found,
                       const void *expected);

#endif
