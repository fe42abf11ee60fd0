/* Terms of whole numbers, truths and texts, evaluated for many values of one input at once. Most
 * constraints are of this kind, and building a space tests them hundreds of thousands of times.
 *
 * A term becomes a list of steps, one for each of its nodes, so that what stands in it twice is
 * evaluated once. Terms with numbers that are not whole are left to Lua, and so is every evaluation
 * in which an operator or a function would raise an error. */
#ifndef AUTOTUNE_SCRIPT_EXPRESSION_VECTOR_H
#define AUTOTUNE_SCRIPT_EXPRESSION_VECTOR_H

#include "script/expression/tree.h"

enum { VECTOR_MOST_VALUES = 64 }; /* evaluated at once */
enum { VECTOR_MOST_STEPS = 256 };

/* A leaf stands for a constant, or for the input at a place. A truth is 0 or 1, a text the
 * address of its one copy, here and everywhere. */
typedef struct vector_operand {
    bool is_constant;
    int64_t constant;
    size_t input;
} vector_operand;

/* Fills in what a NODE_INPUT, NODE_DEVICE or NODE_TEXT stands for; false when that is none of
 * them. */
typedef bool (*vector_resolve)(void *context, const node *leaf, vector_operand *operand);

/* One step of an evaluation, opaque but for its size. */
typedef struct vector_step {
    int op;
    uint16_t count, of[NODE_MOST_OPERANDS]; /* operands: steps before it */
    uint16_t column;
    size_t input;
    int64_t constant;
} vector_step;

/* Compiles a term into `steps`, which have room for VECTOR_MOST_STEPS; returns how many it has, or
 * 0 when it must be left to Lua. */
size_t vector_compile(const node *term, vector_resolve resolve, void *context, vector_step *steps);

/* Evaluates a truth for each of `count` (1 .. VECTOR_MOST_VALUES) values of the input at `varied`,
 * with the other inputs from `inputs`; holds[i] is the result for values[i]. With `varied` SIZE_MAX
 * no input varies. False, with `holds` undefined, when only Lua knows whether that is an error. */
bool vector_evaluate(const vector_step *steps, size_t step_count, const int64_t *inputs,
                     size_t varied, const int64_t *values, size_t count, bool *holds);

#endif
