/* Lua's string patterns, matched in counted steps: string.find, match, gmatch and gsub for scripts.
 *
 * Lua's own matcher runs inside one call of C that no hook interrupts, and some patterns take time
 * that grows as a power of the text's length. This one gives the same answers (Lua 5.4 reference
 * manual, section 6.4.1) and charges the sandbox for what it does while it does it. A pattern is
 * first compiled into items, each set of characters into 256 bits, so that a test of one character
 * is one step however long the set is spelt. */
#ifndef AUTOTUNE_SCRIPT_MATCH_H
#define AUTOTUNE_SCRIPT_MATCH_H

#include <lua.h>

/* lua_CFunctions with the arguments, results and errors of their namesakes. */
int match_find(lua_State *L);
int match_match(lua_State *L);
int match_gmatch(lua_State *L);
int match_gsub(lua_State *L);

#endif
