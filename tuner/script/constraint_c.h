/* Constraints and other expressions in C: for programs that pick a configuration without Lua.
 *
 * In: a constraint of a loaded script and how its names are spelt in C. Out: a C expression, the same
 * in C11, C++17 and device code, that is true where Lua would say true and false where it would say
 * false; where Lua would raise an error (a division by zero) it sets `*failed`. What it calls are the
 * functions that an exported header defines (export/prelude.c). Not everything that Lua has can be said so: tables, methods,
 * powers and texts put together cannot. */
#ifndef AUTOTUNE_SCRIPT_CONSTRAINT_C_H
#define AUTOTUNE_SCRIPT_CONSTRAINT_C_H

#include "script/script.h"

typedef enum c_type {
    C_WHOLE, /* int64_t */
    C_NUMBER, /* double */
    C_TRUTH,
    C_TEXT    /* const char * */
} c_type;

/* Writes how the parameter or variable `name` is spelt, as an expression that needs no brackets, and
 * of which type it is; false when it cannot be. */
typedef bool (*c_spelling)(void *context, const char *name, c_type *type, char *text,
                           size_t size_bytes);

struct expression;

/* Any expression of the script: *type is that of its value. *out is NULL when it cannot be said in C, or
 * gives values of several types. As script_constraint_c(); for this room. */
at_status script_expression_c(const script *s, const struct expression *e, c_spelling spell,
                              void *context, c_type *type, char **out, at_error *error);

/* *out is owned by the caller; NULL when the constraint cannot be said in C. `device->FIELD` stands
 * for the fields of `device`: whole numbers of 64 bits, `bandwidth` a double, `name` a text.
 * AT_NO_MEMORY. */
at_status script_constraint_c(const script *s, size_t constraint, c_spelling spell, void *context,
                              char **out, at_error *error);

#endif
