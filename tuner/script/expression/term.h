/* Terms: expressions with types, which are evaluated without Lua (vector.c) and written in C
 * (c_text.c). term.c makes a term from a node of a tree and the types of its inputs, in the same
 * tree. All operands of an operator have the same type. Calls, and choices by `and` and `or`, are
 * operators. A derived value that is no function is replaced by its definition. Methods, tables,
 * powers, concatenations and values of several types have no term. */
#ifndef AUTOTUNE_SCRIPT_EXPRESSION_TERM_H
#define AUTOTUNE_SCRIPT_EXPRESSION_TERM_H

#include "base/error.h"
#include "base/value.h"
#include "script/expression/tree.h"

typedef enum term_type {
    TERM_WHOLE,  /* an integer of 64 bits that wraps around */
    TERM_NUMBER, /* a double */
    TERM_TRUTH,
    TERM_TEXT
} term_type;

/* Returns the type of a term with values of this kind. */
term_type term_type_of(value_kind kind);

/* Operators besides those of node_op. Their operands are whole numbers, or truths (booleans) for
 * `and`, `or` and `not`. */
typedef enum term_op {
    TERM_SELECT = NODE_OPS, /* operands: a truth and two values of one type */
    TERM_GIVEN,             /* true, once the operand has been evaluated */
    TERM_GIVEN_TEXT,
    TERM_SAME, /* equality of truths */
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
    TERM_TEXT_BEFORE, /* vector_compile() leaves this operator and the next ones to Lua */
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
    TERM_FLOOR, /* rounds down to a whole number */
    TERM_CEIL,
    TERM_OPS
} term_op;

/* An operator in C. Each '#' stands for the next operand, and after the last operand for the first.
 * `text` is NULL for a leaf. */
typedef struct term_form {
    const char *text;
    bool whole; /* a whole-number call, which becomes a constant if it occurs twice */
} term_form;
extern const term_form term_forms[TERM_OPS];

/* Gives the type and the C text of an input, or of a derived value that stays a leaf. The text is
 * an expression that needs no brackets; `text` may be NULL, with `size_bytes` 0. Returns false for
 * an unknown name: a derived value is then replaced by its definition, and an expression with such
 * an input has no term. */
typedef bool (*term_leaf)(void *context, const char *name, term_type *type, char *text,
                          size_t size_bytes);

/* Makes a term. *out is NULL if the expression has no term. The only error is AT_NO_MEMORY. */
at_status term_make(tree *t, const node *expression, term_leaf leaf, void *context, term_type *type,
                    const node **out, at_error *error);

/* Evaluation of whole numbers, truths and texts, for many values of one input at once, because
 * building a space tests most constraints hundreds of thousands of times. A term becomes a list of
 * steps, one for each node. Lua evaluates all other terms, and those that would raise an error. */

enum { VECTOR_MOST_VALUES = 64 }; /* values evaluated at once */
enum { VECTOR_MOST_STEPS = 256 };

/* A leaf is a constant or an input. A truth is 0 or 1, a text the address of its interned copy. */
typedef struct vector_operand {
    bool is_constant;
    int64_t constant;
    size_t input;
} vector_operand;

/* Resolves a NODE_INPUT, NODE_DEVICE or NODE_TEXT. Returns false if that is not possible. */
typedef bool (*vector_resolve)(void *context, const node *leaf, vector_operand *operand);

/* One step of an evaluation. Only its size matters outside of vector.c. */
typedef struct vector_step {
    int op;
    uint16_t count, of[NODE_MOST_OPERANDS]; /* operands: indices of earlier steps */
    uint16_t column;
    size_t input;
    int64_t constant;
} vector_step;

/* Compiles a term into `steps`, which have room for VECTOR_MOST_STEPS. Returns their number, or 0
 * if Lua has to evaluate the term. */
size_t vector_compile(const node *term, vector_resolve resolve, void *context, vector_step *steps);

/* Evaluates a truth for `count` (1 .. VECTOR_MOST_VALUES) values of the input `varied`; SIZE_MAX
 * means that no input varies. `inputs` has the values of the other inputs. holds[i] is the result
 * for values[i]. Returns false, with `holds` undefined, if Lua must find out whether an error
 * occurs. */
bool vector_evaluate(const vector_step *steps, size_t step_count, const int64_t *inputs,
                     size_t varied, const int64_t *values, size_t count, bool *holds);

/* Terms in C, for programs that pick and launch a configuration without Lua: C11 that is also C++17
 * and device code. The text has Lua's value, and sets `*failed` where Lua raises an error (a
 * division by zero). It calls functions of templates/export/prelude.h. A field of `device` is
 * `device->FIELD`: an int64_t, except for the double `bandwidth` and the text `name`. */

/* The form of the text: an expression or, if `target` is not NULL, statements that assign the value
 * to `target`, indented by `indent` blanks. In statements a choice is an `if`. A whole-number call
 * that is always evaluated and occurs twice becomes a constant, because compilers find the
 * repetition only after inlining. Calls after ?, && or || stay in place, because they might fail
 * elsewhere. */
typedef struct c_text_form {
    const char *target;
    int indent;
} c_text_form;

/* Writes an expression in C. The caller frees *out, which is NULL if the expression has no term or
 * its text would exceed 256 KiB. *type is the type of its value. The only error is AT_NO_MEMORY. */
at_status c_text_write(tree *t, const node *expression, term_leaf spell, void *context,
                       c_text_form form, term_type *type, char **out, at_error *error);

#endif
