/* Computes instructions for many threads at once. A value is an exact function of a thread's
 * coordinates in a box of threads.
 *
 * A box is a range of coordinates, or every nth coordinate of a range, along each axis of the block
 * and of the grid. Quotients and remainders by n are exact in n boxes of every nth coordinate. An
 * exact value is base + the sum of step times coordinate, modulo 2^32 or 2^64 as in a register.
 * If an operation keeps the order of its operands, its value can be a range: the results for the
 * ends of the operands. Any other operation returns where to cut the box. In a box of one thread,
 * each value is exact unless it depends on data. This is the simplest case of Cousot and Halbwachs,
 * "Automatic discovery of linear restraints among variables of a program", POPL 1978. affine.c has
 * the arithmetic of values, symbolic.c the instructions of a program. */
#ifndef AUTOTUNE_SIM_AFFINE_H
#define AUTOTUNE_SIM_AFFINE_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/program/operations.h"

__extension__ typedef __int128 affine_integer;

/* The axes: x, y, z of the thread in its block, then x, y, z of the block in its grid. */
enum { AFFINE_AXES = 6 };

/* A box: along each axis, `count` coordinates from `from` on, `stride` apart. */
typedef struct affine_box {
    uint64_t from[AFFINE_AXES], count[AFFINE_AXES], stride[AFFINE_AXES];
} affine_box;

typedef enum affine_kind {
    AFFINE_DATA, /* the value depends on the contents of memory */
    AFFINE_CUT, /* known in smaller boxes: cut before coordinate number `base` of `axis`; if step[0]
                   is not 0, cut into step[0] boxes of every step[0]th coordinate instead */
    AFFINE_RANGE,
    AFFINE_EXACT
} affine_kind;

typedef struct affine {
    uint8_t kind;
    uint8_t order; /* affine_order of a range's ends */
    uint8_t axis;  /* axis of a cut; axis along which to cut a range */
    int64_t base;  /* base of an exact value; lowest value of a range, as bits of a register */
    int64_t step[AFFINE_AXES]; /* steps of an exact value. Of a range, step[0] is the highest value,
                                  as bits of a register. If step[1] is not 0, step[1] and step[2]
                                  are `base` and step[0] of the cut (AFFINE_CUT) */
} affine;

/* An exact value as integers that do not wrap in the box, with its lowest and highest value. */
typedef struct affine_whole {
    affine_integer base, low, high;
    int64_t step[AFFINE_AXES];
} affine_whole;

/* Returns a known number. affine_data() returns a value that depends on data. */
affine affine_number(uint64_t bits);
affine affine_data(void);

/* Return a cut along the axis of a range: affine_halve_range() in the middle of the axis,
 * affine_cut_range() at the cut that the range contains, if there is one. */
affine affine_halve_range(const affine_box *box, const affine *range);
affine affine_cut_range(const affine_box *box, const affine *range);

/* Returns whether the value is one known number for all threads. */
bool affine_is_number(const affine *v);

/* Sets v->low and v->high from base and steps. */
void affine_find_ends(const affine_box *box, affine_whole *v);

affine_whole affine_difference(const affine_box *box, const affine_whole *a, const affine_whole *b);

/* Returns the value as a 64-bit register holds it. */
affine affine_of_whole(const affine_whole *v);

/* Reads a value of `bits` bits as integers in `order`. Returns false and sets *cut if it wraps. */
bool affine_whole_of(const affine_box *box, const affine *v, int bits, affine_order order,
                     affine_whole *out, affine *cut);

/* Returns a cut where `v >= limit` changes, as near to an end of the box as possible. */
affine affine_cut_where(const affine_box *box, const affine_whole *v, affine_integer limit);

/* Divides by a positive number, rounding down. Returns false and sets *cut if this is inexact. */
bool affine_divide(const affine_box *box, const affine_whole *v, int64_t by, affine *quotient,
                   affine *remainder, affine *cut);

/* Return the sum and the product modulo 2^64. The values must be exact. */
affine affine_add(const affine *a, const affine *b);
affine affine_scale(const affine *a, int64_t by);

/* Returns the value modulo 2^32, as a 32-bit register holds it. */
affine affine_wrap32(const affine *v);

/* Returns the number of trailing bits that are zero in all values. The value must be exact. */
int affine_zero_bits(const affine_box *box, const affine *v);

/* Returns why an operation on the values is not exact: AFFINE_DATA, or a cut that would help. */
affine affine_obstacle(const affine_box *box, const affine *const v[], int count);

/* Finds lowest and highest value in `order`, as bits. Returns false and sets *cut if unknown. */
bool affine_ends(const affine_box *box, const affine *v, int bytes, affine_order order,
                 uint64_t ends[2], affine *cut);

/* Returns the range from the least to the greatest of an operation's `results` at the ends of its
 * operands. Returns a number if all results are equal, and a cut if a float is not finite. The
 * range will be cut along `axis`. */
affine affine_between(const affine_box *box, const uint64_t *results, int count, int bytes,
                      affine_order order, uint8_t axis);

/* Returns the bits of a number in a register of 4 or 8 bytes. */
uint64_t affine_bits(const affine *v, int bytes);

bool affine_is_less(uint64_t a, uint64_t b, int bytes, affine_order order);

/* Returns the axis along which a value changes most. */
uint8_t affine_axis(const affine_box *box, const affine *v);

/* Returns the 32-bit value extended to 64 bits. */
affine affine_widen(const affine_box *box, const affine *v, affine_order order);

/* The values of a program's registers in a box of threads. A predicate is the number 0 or 1. */
typedef struct symbolic {
    const sim_program *program; /* borrowed */
    affine *values;             /* value of each SIM_SLOT_STEP of the registers; owned */
    affine_box box;
} symbolic;

void symbolic_init(symbolic *s, const sim_program *p);
void symbolic_deinit(symbolic *s);

/* Returns the value of the register at `slot`. */
affine *symbolic_value(const symbolic *s, int32_t slot);

/* Return the result of the instruction at index `pc`. The result is exact, or a range if the rule
 * keeps the order of its operands. An operation without a rule takes known numbers only, and is
 * executed for one lane. */
affine symbolic_compute(const symbolic *s, int32_t pc);
affine symbolic_convert(const symbolic *s, int32_t pc);
affine symbolic_compare(const symbolic *s, int32_t pc);
affine symbolic_logic(sim_logic op, const affine *a, const affine *b);
affine symbolic_negated(const affine *p, bool negate);

#endif
