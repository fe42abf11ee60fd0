/* Reading the canonical table that at.pattern{...} makes, which has the right shape: fields of the
 * table on top of the stack, and what is on top of it. Nothing but lists is left on the stack;
 * texts are the script's. All raise. */
#ifndef AUTOTUNE_SCRIPT_FIELDS_H
#define AUTOTUNE_SCRIPT_FIELDS_H

#include "script/state.h"

const char *field_string(lua_State *L, const char *field);
int field_integer(lua_State *L, const char *field);
bool field_boolean(lua_State *L, const char *field);

/* The place among `names` of the word `field`. */
int field_word(lua_State *L, const char *field, const char *const names[]);

/* Pushes the list `field`, or nil where there is none, and returns its length; for
 * fields_next(). */
size_t fields_enter(lua_State *L, const char *field);

/* Puts item `i` of the list, of `count`, on top of the stack, in place of the one before. After the
 * last it takes the list off, too, and returns false. */
bool fields_next(lua_State *L, size_t i, size_t count);

/* The scalar on top of the stack; strings are copied. */
value fields_value(lua_State *L);

/* The expression in the table on top of the stack, not compiled; and compiled, for what it may
 * read. */
expression fields_text(lua_State *L);
expression fields_expression(lua_State *L, expression_reach reach);

/* The expression `field`; without text where there is none. */
expression field_expression(lua_State *L, const char *field, expression_reach reach);

/* The expressions of the list `field`, as many as there is room for; how many. */
size_t field_expressions(lua_State *L, const char *field, expression_reach reach, expression *out,
                         size_t capacity);

/* The folders `includes` of the table on top of the stack, into the kernel. Raises at one that is
 * none below the script's. */
void fields_includes(lua_State *L, const script *s, script_kernel *k);

#endif
