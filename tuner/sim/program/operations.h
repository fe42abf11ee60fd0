/* PTX arithmetic: tables from an opcode's name to a function over 32 lanes.
 *
 * Values of up to 32 bits live in 32-bit lanes, 16-bit ones zero-extended; 64-bit values in 64-bit
 * lanes. Semantics are those of the PTX ISA reference; the approximate functions (ex2.approx ...)
 * are computed to full precision, which lies within their documented error. All lanes are computed
 * whether active or not: an operation must be defined for every bit pattern. */
#ifndef AUTOTUNE_SIM_PROGRAM_OPERATIONS_H
#define AUTOTUNE_SIM_PROGRAM_OPERATIONS_H

#include "base/bits.h"
#include "sim/program/program.h"

typedef struct sim_operation {
    const char *names; /* opcodes without modifiers that do not matter, separated by spaces */
    sim_compute compute;
    uint8_t sources;   /* 1 .. 4 */
    uint8_t width;     /* of the result: 4 or 8 */
    uint8_t widths[4]; /* of the sources */
    uint8_t count_class;
    uint8_t flow; /* sim_flow */
    struct {
        uint8_t rule, number; /* sim_rule; affine_order of the operands */
    } range;
    sim_cost cost;
} sim_operation;

/* One table a section of sim/instructions.def; each ends in an entry without a name. */
extern const sim_operation sim_integer_operations[];
extern const sim_operation sim_bit_operations[];
extern const sim_operation sim_float_operations[];
extern const sim_operation sim_half_operations[];

/* Finds an operation by its canonical name; NULL when there is none. */
const sim_operation *sim_operation_find(const char *name);

/* Finds the comparison "lt" of a type, and its rule (may be NULL); NULL when there is none. */
sim_compare sim_compare_find(const char *comparison, ptx_type type, sim_rule *rule);

typedef struct sim_conversion {
    ptx_type to, from; /* of a packed type one element is converted */
    sim_rounding rounding;
    bool flush;    /* subnormal floats of 32 bits are zeros */
    bool saturate; /* a float to 0 .. 1 */
    bool relu;     /* negative results are zero, */
    bool finite;   /* and those beyond the largest number are that; of 8 bits always */
} sim_conversion;

/* Is there such a conversion? */
bool sim_converts(ptx_type to, ptx_type from);

/* d = a converted. */
void sim_convert(const sim_conversion *c, void *restrict d, const void *a);

/* Replaces by zeros the results that became the smallest normal number because less than that is
 * spaced so widely: .ftz looks at what they are with all digits of a normal number. */
void sim_flush_tiny(sim_flush what, sim_tiny how, const uint32_t *const sources[3],
                    uint32_t *lanes);

/* Replaces subnormal numbers by zeros of their sign. */
void sim_flush_lanes(sim_flush what, uint32_t *lanes);

/* NaN as arithmetic gives it on an H100: of floats of 32 bits always the same, of doubles the first
 * operand that is one, made quiet. */
#define SIM_NAN_FLOAT 0x7fffffffu
#define SIM_NAN_DOUBLE 0xfff8000000000000u

static inline float sim_float(float v)
{
    return v == v ? v : float_of_bits(SIM_NAN_FLOAT);
}

static inline double sim_quiet(double v)
{
    return v == v ? v : double_of_bits(bits_of_double(v) | 1ull << 51);
}

/* The result v of operands of which `first` goes before `second` where both are NaN. */
static inline double sim_double(double v, double first, double second)
{
    if (v == v)
        return v;
    return first != first     ? sim_quiet(first)
           : second != second ? sim_quiet(second)
                              : double_of_bits(SIM_NAN_DOUBLE);
}

#define SIM_EACH_LANE(l) for (int l = 0; l < SIM_LANES; l++)

/* Applies an atomic at host address `at` of one lane; returns the old value. `flush`: sums of
 * floats of 32 bits take and give zeros for subnormal numbers. */
uint64_t sim_atomic_apply(uint8_t *at, sim_atomic_op op, ptx_type type, bool flush,
                          uint64_t operand, uint64_t other);

#endif
