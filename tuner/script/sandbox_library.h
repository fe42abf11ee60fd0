/* The functions that scripts and templates can call: Lua's own, less those that reach out of the
 * sandbox, those whose work depends on their arguments wrapped so that it counts. */
#ifndef AUTOTUNE_SCRIPT_SANDBOX_LIBRARY_H
#define AUTOTUNE_SCRIPT_SANDBOX_LIBRARY_H

#include <lua.h>

/* Registry key of the table of everything that an environment starts with. */
extern const char sandbox_base_key[];

/* Fills that table and gives strings their methods; raises when memory runs out. */
void sandbox_open_library(lua_State *L);

#endif
