/* Lua's string patterns, matched in counted steps: string.find, match, gmatch and gsub for scripts.
 *
 * Lua's own matcher runs inside one C call that no hook interrupts, and some patterns take time that
 * grows as a power of the text's length. This one gives the same results (Lua 5.4 reference manual,
 * section 6.4.1) and charges its steps to the sandbox as it goes. */
#ifndef AUTOTUNE_SCRIPT_MATCH_H
#define AUTOTUNE_SCRIPT_MATCH_H

#include <lua.h>

/* lua_CFunctions with the arguments, results and errors of their namesakes. */
int match_find(lua_State *L);
int match_match(lua_State *L);
int match_gmatch(lua_State *L);
int match_gsub(lua_State *L);

#endif
