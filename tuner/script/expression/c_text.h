/* Terms in C: for programs that pick and launch a configuration without Lua.
 *
 * In: an expression, and how its names are spelt in C. Out: C11 that is C++17 and device code, too,
 * with the value that Lua gives; where Lua raises an error (a division by zero) it sets `*failed`.
 * It calls functions that an exported header defines (templates/export/prelude.h). A field of
 * `device` is written `device->FIELD`: a whole number of 64 bits, but `bandwidth` a double and
 * `name` a text. An expression without a term (term.h) cannot be translated. */
#ifndef AUTOTUNE_SCRIPT_EXPRESSION_C_TEXT_H
#define AUTOTUNE_SCRIPT_EXPRESSION_C_TEXT_H

#include "script/expression/term.h"

/* How an expression is written: as such, or (`target` not NULL) as statements, indented by `indent`
 * blanks, that give `target` its value. In statements a choice between two values is an `if`, and
 * calls of whole numbers that are evaluated in any case, more than once, are constants: an estimate
 * that is the least of many has the same calls in it again and again, which compilers find only
 * after they have put each in place. A call after a `?`, `&&` or `||` stays there: it might fail
 * elsewhere. */
typedef struct c_text_form {
    const char *target;
    int indent;
} c_text_form;

/* *out is the caller's; NULL when this cannot be translated, or would be a quarter of a megabyte.
 * *type is that of its value. AT_NO_MEMORY. */
at_status c_text_write(tree *t, const node *expression, term_leaf spell, void *context,
                       c_text_form form, term_type *type, char **out, at_error *error);

#endif
