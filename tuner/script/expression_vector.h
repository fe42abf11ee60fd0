/* Expressions of whole numbers, truth values and texts, evaluated without Lua and for many values
 * of one name at once. Most constraints are of this kind, and building a space tests them hundreds
 * of thousands of times.
 *
 * Understands whole decimal numbers, strings, true, false, names, + - * // %, comparisons, and, or,
 * not and brackets, with Lua's precedence and results: 64-bit arithmetic that wraps around,
 * division that rounds down. Everything else is left to Lua. */
#ifndef AUTOTUNE_SCRIPT_EXPRESSION_VECTOR_H
#define AUTOTUNE_SCRIPT_EXPRESSION_VECTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "script/lexer.h"

enum { VECTOR_MOST_VALUES = 64 }; /* evaluated at once */

/* A text is a whole number that stands for it: equal numbers, equal texts. */
typedef enum vector_type {
    VECTOR_WHOLE,
    VECTOR_TRUTH,
    VECTOR_TEXT,
    VECTOR_EITHER /* `truth and whole`, which only `or whole` may follow; never an operand's */
} vector_type;

/* What a name stands for: a constant, or the input at a place. */
typedef struct vector_operand {
    vector_type type;
    bool is_constant;
    int64_t constant; /* a truth value is 0 or 1, here and everywhere */
    size_t input;
} vector_operand;

/* Fills in what `name` (a name or a string), or `name.field` (else `field` is TOKEN_END), stands
 * for; false when that is neither a whole number, nor a truth value, nor a text. */
typedef bool (*vector_resolve)(void *context, token name, token field, vector_operand *operand);

/* One step of an evaluation, opaque but for its size. */
typedef struct vector_step {
    int code;
    size_t input;
    int64_t constant;
} vector_step;

/* Compiles the text, which Lua has accepted as an expression, into at most `capacity` steps;
 * returns how many, or 0 when it must be left to Lua. */
size_t vector_compile(const char *text, vector_resolve resolve, void *context, vector_step *steps,
                      size_t capacity);

/* Evaluates for each of `count` (1 .. VECTOR_MOST_VALUES) values of the input at `varied`, with the
 * other inputs from `inputs`; holds[i] is the result for values[i]. With `varied` SIZE_MAX no input
 * varies. False, with `holds` undefined, when a divisor is zero: only Lua knows whether that is an
 * error. */
bool vector_evaluate(const vector_step *steps, size_t step_count, const int64_t *inputs,
                     size_t varied, const int64_t *values, size_t count, bool *holds);

#endif
