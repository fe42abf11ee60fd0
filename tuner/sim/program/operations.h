/* PTX arithmetic over the 32 lanes of a warp: operations by name, comparisons, conversions,
 * atomics, and small floats.
 *
 * 64-bit values are in 64-bit lanes. Other values are in 32-bit lanes; 16-bit values are
 * zero-extended. The semantics are those of the PTX ISA. Approximate functions (ex2.approx ...)
 * have full precision, which is within their documented error. Inactive lanes are computed, too, so
 * an operation must be defined for every bit pattern. */
#ifndef AUTOTUNE_SIM_PROGRAM_OPERATIONS_H
#define AUTOTUNE_SIM_PROGRAM_OPERATIONS_H

#include "base/bits.h"
#include "sim/program/program.h"

typedef struct sim_operation {
    const char *names; /* canonical names (sim/instructions.def), separated by spaces */
    sim_compute compute;
    uint8_t sources;     /* number of source operands: 1 to 4 */
    uint8_t width;       /* bytes of a lane of the result: 4 or 8 */
    uint8_t widths[4];   /* bytes of a lane of each source */
    uint8_t count_class; /* sim_class */
    uint8_t flow;        /* sim_flow */
    struct {
        uint8_t rule, number; /* sim_rule; affine_order of the operands */
    } range;
    sim_cost cost;
} sim_operation;

/* The tables of operations. Each ends in an entry without names. */
extern const sim_operation sim_integer_operations[];
extern const sim_operation sim_float_operations[];

/* Finds an operation by its canonical name. Returns NULL if the name is unknown. */
const sim_operation *sim_operation_find(const char *name);

/* Finds a comparison such as "lt" for a type, and its rule. Returns NULL if it is unknown. */
sim_compare sim_compare_find(const char *comparison, ptx_type type, sim_rule *rule);

typedef struct sim_conversion {
    ptx_type to, from; /* for a packed type, one element is converted */
    sim_rounding rounding;
    bool flush;    /* .ftz: subnormal 32-bit floats become zeros */
    bool saturate; /* floats are clamped to [0, 1], integers to the range of `to` */
    bool relu;     /* negative results become zero */
    bool finite;   /* too large results become the largest number; always so for 8-bit floats */
} sim_conversion;

bool sim_conversion_exists(ptx_type to, ptx_type from);

/* Converts all lanes of a into d. The host rounds to nearest before and after the call. */
void sim_convert(const sim_conversion *c, void *restrict d, const void *a);

/* Replaces each result by zero that is the smallest normal number only because it was rounded up.
 * With .ftz, a GPU decides whether a result is subnormal before it rounds the result to the spacing
 * of subnormal numbers. `sources` are the operands of the operation `how`, `lanes` its results. */
void sim_flush_tiny(sim_flush what, sim_tiny how, const uint32_t *const sources[3],
                    uint32_t *lanes);

/* Replaces subnormal numbers by zeros of the same sign. */
void sim_flush_lanes(sim_flush what, uint32_t *lanes);

/* The NaN that arithmetic returns, measured on an H100. 32-bit floats have a single pattern.
 * Doubles return the first operand that is NaN, made quiet, or else SIM_NAN_DOUBLE. */
#define SIM_NAN_FLOAT 0x7fffffffu
#define SIM_NAN_DOUBLE 0xfff8000000000000u

/* Returns v, or the pattern of NaN if v is NaN. */
static inline float sim_float(float v)
{
    return v == v ? v : float_of_bits(SIM_NAN_FLOAT);
}

/* Returns v with a signalling NaN made quiet. */
static inline double sim_quiet(double v)
{
    return v == v ? v : double_of_bits(bits_of_double(v) | 1ull << 51);
}

/* Returns v if it is a number. Otherwise returns the NaN of an operation on doubles: `first` if it
 * is NaN, else `second` if it is NaN, else the default. */
static inline double sim_double(double v, double first, double second)
{
    if (v == v)
        return v;
    return first != first     ? sim_quiet(first)
           : second != second ? sim_quiet(second)
                              : double_of_bits(SIM_NAN_DOUBLE);
}

#define SIM_EACH_LANE(l) for (int l = 0; l < SIM_LANES; l++)

/* Applies an atomic of one lane at host address `at`. The access is atomic among host threads.
 * Returns the old value. `other` is the new value of a compare-and-swap. If `flush` is true, sums
 * of 32-bit floats replace subnormal operands and results by zero. */
uint64_t sim_atomic_apply(uint8_t *at, sim_atomic_op op, ptx_type type, bool flush,
                          uint64_t operand, uint64_t other);

/* A float format of at most 32 bits, such as f16 or e4m3: PTX ISA, "Alternate Floating-Point Data
 * Formats". */
typedef struct small_float {
    int exponent_bits, fraction_bits;
    int unused_bits;   /* bits below the fraction: 13 for tf32, which is held in 32 bits */
    bool has_infinity; /* false for e4m3: there the patterns with the highest exponent are numbers,
                          except that all ones is NaN */
} small_float;

/* Returns the format of a type or of the elements of a packed type, or NULL for other types. */
const small_float *small_float_of(ptx_type type);

/* Returns v as bits of the format, rounded. If v is too large, returns infinity or the largest
 * number, as the rounding says; always the largest number if `finite` is set. NaN becomes all ones
 * without a sign. */
uint32_t small_float_encode(const small_float *f, double v, sim_rounding rounding, bool finite);

double small_float_value(const small_float *f, uint32_t bits);

#endif
