/* Finds by which rule an instruction computes with functions of places (sim/symbolic.h).
 *
 * In: a decoded instruction. Out: its rule, from the name of the operation that it was decoded to.
 * Nothing here allocates or fails. */
#ifndef AUTOTUNE_SIM_RULES_H
#define AUTOTUNE_SIM_RULES_H

#include "sim/affine.h"
#include "sim/program/program.h"

typedef enum rule {
    RULE_NUMBERS, /* computed of numbers alone */
    RULE_COPY,
    RULE_ADD,
    RULE_SUBTRACT,
    RULE_MULTIPLY,
    RULE_MULTIPLY_ADD,
    RULE_SHIFT_LEFT,
    RULE_SHIFT_RIGHT,
    RULE_DIVIDE,
    RULE_REMAINDER,
    RULE_AND,
    RULE_OR,
    RULE_NOT,
    RULE_NEGATE,
    RULE_TAKE_FIELD,
    RULE_PUT_FIELD,
    RULE_WIDEN,
    RULE_LEAST,
    RULE_MOST,
    RULE_MONOTONE, /* in each operand, as long as it keeps its sign */
    RULE_EQUAL,
    RULE_UNEQUAL,
    RULE_LESS,
    RULE_LESS_EQUAL,
    RULE_GREATER,
    RULE_GREATER_EQUAL
} rule;

/* An instruction computes with functions in this manner; `order` is that of its operands. */
typedef struct symbolic_manner {
    uint8_t rule, order;
    bool is_wide; /* operands of 32 bits, and a result of 64 */
} manner;

manner sim_rule_of_compute(const sim_instruction *c);
manner sim_rule_of_compare(const sim_instruction *c);

affine_order sim_rule_order(ptx_type t);

#endif
