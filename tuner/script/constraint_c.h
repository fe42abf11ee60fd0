/* Constraints and other expressions in C: for programs that pick a configuration without Lua.
 *
 * In: a constraint of a loaded script and how its names are spelt in C. Out: a C expression, the
 * same in C11, C++17 and device code, with the truth value that Lua gives; where Lua raises an
 * error (a division by zero) it sets `*failed`. It calls functions that an exported header defines
 * (templates/export/prelude.h). Tables, methods, powers and concatenation cannot be translated. */
#ifndef AUTOTUNE_SCRIPT_CONSTRAINT_C_H
#define AUTOTUNE_SCRIPT_CONSTRAINT_C_H

#include "script/script.h"

typedef enum c_type {
    C_WHOLE,  /* int64_t */
    C_NUMBER, /* double */
    C_TRUTH,
    C_TEXT /* const char * */
} c_type;

/* Writes the parameter, variable or derived value `name` in C, as an expression that needs no
 * brackets, and its type; false when C has no such thing: a derived value is then put in place. */
typedef bool (*c_spelling)(void *context, const char *name, c_type *type, char *text,
                           size_t size_bytes);

struct expression;

/* As script_constraint_c(), for any expression of the script; *type is that of its value. *out is
 * NULL also when it has values of several types. For this room. */
at_status script_expression_c(const script *s, const struct expression *e, c_spelling spell,
                              void *context, c_type *type, char **out, at_error *error);

/* *out is owned by the caller; NULL when the constraint cannot be translated. A field of `device`
 * is written `device->FIELD`: a whole number of 64 bits, but `bandwidth` a double and `name` a
 * text. AT_NO_MEMORY. */
at_status script_constraint_c(const script *s, size_t constraint, c_spelling spell, void *context,
                              char **out, at_error *error);

/* A feature of the pattern, of type *type; *out as for script_constraint_c(). */
at_status script_feature_c(const script *s, size_t feature, c_spelling spell, void *context,
                           c_type *type, char **out, at_error *error);

/* A derived value so long that its readers call it as a function: its name, borrowed, and its value
 * as for script_constraint_c(), of type *type. `place` counts from 0; a value comes behind those
 * that it reads; *name is NULL where there is no more. AT_NO_MEMORY. */
at_status script_derived_c(const script *s, size_t place, c_spelling spell, void *context,
                           const char **name, c_type *type, char **out, at_error *error);

#endif
