/* JSON as Lua tables, and Lua's values as JSON, for the data of templates (script/render.h lists
 * the functions). Members that came with the data cannot be changed, and a name that it lacks is an
 * error. */
#ifndef AUTOTUNE_SCRIPT_DATA_H
#define AUTOTUNE_SCRIPT_DATA_H

#include <jansson.h>
#include <lua.h>

/* Adds json(), names(), has() and object() to the environment on top of the stack, and replaces its
 * pairs(). Once in a state, before all else here. */
void data_add_functions(lua_State *L);

/* Pushes a JSON value, which outlives the state. */
void data_push(lua_State *L, const json_t *from);

/* Returns the Lua value at `index` as JSON, a new reference; raises a Lua error if it is no data.
 */
json_t *data_take(lua_State *L, int index);

/* Pushes a table of the members of an object, which outlives the state; the table itself may get
 * others, and a metatable. */
void data_push_members(lua_State *L, const json_t *from);

#endif
