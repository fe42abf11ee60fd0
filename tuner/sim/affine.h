/* Integers of many threads at once: exact functions of a thread's place in a box of threads.
 *
 * A box is a range along each axis of the block and of the grid, or every nth place of one, so that
 * quotients and remainders by n are exact in n boxes of any length. An exact value is base + the
 * sum of step times place, modulo 2^32 or 2^64 as a register holds it. What is no such function is,
 * where an operation keeps the order of its operands, a range, whose ends are the box's; else it
 * asks for a smaller box: where to cut. In a box of one thread every value is exact, unless it
 * depends on data. (Cousot & Halbwachs, "Automatic discovery of linear restraints among variables
 * of a program", POPL 1978, of which these are the simplest.) */
#ifndef AUTOTUNE_SIM_AFFINE_H
#define AUTOTUNE_SIM_AFFINE_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/program/program.h"

__extension__ typedef __int128 affine_integer;

/* x, y, z of the thread, x, y, z of the block. */
enum { AFFINE_AXES = 6 };

/* Places along an axis are `stride` apart, from `from` on. */
typedef struct affine_box {
    uint64_t from[AFFINE_AXES], count[AFFINE_AXES], stride[AFFINE_AXES];
} affine_box;

typedef enum affine_kind {
    AFFINE_DATA, /* it depends on what memory holds */
    AFFINE_CUT,  /* known of a smaller box: cut before place `base` of `axis`, */
                 /* or, fewer boxes: into step[0] ones of every step[0]th place, if it is not 0 */
    AFFINE_RANGE,
    AFFINE_EXACT
} affine_kind;

typedef struct affine {
    uint8_t kind;
    uint8_t order; /* of a range: how its ends are to be read */
    uint8_t axis;  /* of a cut; of a range: along which to cut */
    int64_t base;  /* of a range: the bits of its lowest value, as a register has them */
    int64_t step[AFFINE_AXES]; /* of a range: [0] those of its highest; if not 0, [1] a place to
                                  cut before, and [2] a number of boxes to cut into */
} affine;

/* An exact value as integers that do not wrap in the box. */
typedef struct affine_whole {
    affine_integer base, low, high;
    int64_t step[AFFINE_AXES];
} affine_whole;

affine affine_number(uint64_t bits);
affine affine_data(void);
/* A cut in the middle of the longest axis of the grid, else of the block; DATA of one thread. */
affine affine_halve(const affine_box *box);
/* Likewise, of a range's axis: half of it, or where it says. */
affine affine_halve_range(const affine_box *box, const affine *range);
affine affine_cut_range(const affine_box *box, const affine *range);

bool affine_is_number(const affine *v);

/* Sets low and high from base and steps. */
void affine_find_ends(const affine_box *box, affine_whole *v);
/* a - b. */
affine_whole affine_difference(const affine_box *box, const affine_whole *a, const affine_whole *b);
/* As a register of 64 bits holds it. */
affine affine_of_whole(const affine_whole *v);
/* The axis along which a value with such steps changes most; *change: by how much, 0: by nothing.
 */
int affine_widest(const affine_box *box, const int64_t step[AFFINE_AXES], affine_integer *change);

/* The value of `bits` bits in an order as whole numbers; false: *cut says where it wraps. */
bool affine_whole_of(const affine_box *box, const affine *v, int bits, affine_order order,
                     affine_whole *out, affine *cut);

/* The cut nearest to an end of the box at which v >= limit changes. */
affine affine_cut_where(const affine_box *box, const affine_whole *v, affine_integer limit);

/* The rounded down quotient by a positive number, and the remainder; false: *cut. */
bool affine_divide(const affine_box *box, const affine_whole *v, int64_t by, affine *quotient,
                   affine *remainder, affine *cut);

/* Modulo 2^64: exact values alone. */
affine affine_add(const affine *a, const affine *b);
affine affine_scale(const affine *a, int64_t by);
/* A register of 32 bits holds the value modulo 2^32. */
affine affine_wrap32(const affine *v);

/* Trailing bits that are zero in all its values. */
int affine_zero_bits(const affine_box *box, const affine *v);

#endif
