/* string.find, match, gmatch and gsub for scripts, with counted steps
 * (script/sandbox/lua_pattern.h). */
#ifndef AUTOTUNE_SCRIPT_SANDBOX_MATCH_H
#define AUTOTUNE_SCRIPT_SANDBOX_MATCH_H

#include <lua.h>

/* lua_CFunctions with the arguments, results and errors of their namesakes. */
int match_find(lua_State *L);
int match_match(lua_State *L);
int match_gmatch(lua_State *L);
int match_gsub(lua_State *L);

#endif
