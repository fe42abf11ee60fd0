/* Terms: expressions with types, as far as Lua's results can be had without Lua.
 *
 * In: a node of a tree, and the types of what it is evaluated for. Out: a node of the same tree in
 * which each operator has operands of one type, what a call or `and` and `or` choose between is an
 * operator, too, and derived values without a function of their own are put in place. vector.h
 * evaluates terms, c_text.h writes them in C. Methods, tables, powers, joined texts and values of
 * several types have no term. */
#ifndef AUTOTUNE_SCRIPT_EXPRESSION_TERM_H
#define AUTOTUNE_SCRIPT_EXPRESSION_TERM_H

#include "base/error.h"
#include "base/value.h"
#include "script/expression/reader.h"

typedef enum term_type {
    TERM_WHOLE,  /* 64 bits that wrap around */
    TERM_NUMBER, /* a double */
    TERM_TRUTH,
    TERM_TEXT
} term_type;

term_type term_type_of(value_kind kind);

/* Beside those of node_op, which have whole operands, or truths (`and`, `or`, `not`). */
typedef enum term_op {
    TERM_SELECT = NODE_OPS, /* of a truth, and of two values of one type */
    TERM_GIVEN,             /* true, once its operand has been evaluated */
    TERM_GIVEN_TEXT,
    TERM_SAME, /* of truths */
    TERM_DIFFERENT,
    TERM_SAME_TEXT,
    TERM_OTHER_TEXT,
    TERM_SIZEOF,
    TERM_IS_FLOAT,
    TERM_IS_POW2,
    TERM_CEIL_DIV,
    TERM_ROUND_UP,
    TERM_LOG2,
    TERM_CLUSTER_LOAD,
    TERM_MIN,
    TERM_MAX,
    TERM_TEXT_BEFORE, /* from here on, what vector.h does not evaluate */
    TERM_TEXT_NOT_BEFORE,
    TERM_CONTAINS,
    TERM_GIVEN_NUMBER,
    TERM_TO_NUMBER,
    TERM_NUMBER_ADD,
    TERM_NUMBER_SUBTRACT,
    TERM_NUMBER_MULTIPLY,
    TERM_NUMBER_DIVIDE,
    TERM_NUMBER_FLOOR_DIVIDE,
    TERM_NUMBER_NEGATE,
    TERM_NUMBER_MIN,
    TERM_NUMBER_MAX,
    TERM_NUMBER_ABS,
    TERM_FLOOR, /* to a whole number */
    TERM_CEIL,
    TERM_OPS
} term_op;

/* An operator in C (c_text.h): its operands stand for '#', in their order, and again from
 * the first. NULL: a leaf. */
typedef struct term_form {
    const char *text;
    bool whole; /* a call of so much work that it is done once */
} term_form;
extern const term_form term_forms[TERM_OPS];

/* The type of an input, or of a derived value that stays a leaf, and (for c_text.h) how it is
 * written in C: an expression that needs no brackets. `text` may be NULL, with size_bytes 0. False
 * when there is none: a derived value is then put in place, and with an input there is no term. */
typedef bool (*term_leaf)(void *context, const char *name, term_type *type, char *text,
                          size_t size_bytes);

/* *out is NULL when the expression has no term. AT_NO_MEMORY. */
at_status term_make(tree *t, const node *expression, term_leaf leaf, void *context, term_type *type,
                    const node **out, at_error *error);

#endif
