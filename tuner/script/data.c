#include <lauxlib.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_text.h"
#include "base/text.h"
#include "script/state.h"

enum {
    DEEPEST = 100,           /* deepest nesting of tables that json() writes */
    NODE_INSTRUCTIONS = 100, /* instructions that are charged for writing a value */
    MOST_NAMES = 256         /* most names that are compared with a missing name */
};

/* The registry maps each table of the data to its JSON value (a light userdata) and back, so that
 * each JSON value has only one table. */

static const char origins_key = 0;

static void push_origins(lua_State *L)
{
    lua_rawgetp(L, LUA_REGISTRYINDEX, &origins_key);
}

static json_t *origin(lua_State *L, int index)
{
    json_t *from = NULL;
    index = lua_absindex(L, index);
    push_origins(L);
    lua_pushvalue(L, index);
    if (lua_rawget(L, -2) == LUA_TLIGHTUSERDATA)
        from = lua_touserdata(L, -1);
    lua_pop(L, 2);
    return from;
}

static void push_json(lua_State *L, json_t *from);

static bool is_container(const json_t *j)
{
    return json_is_object(j) || json_is_array(j);
}

/* __index of the data's tables: makes the table of a member when it is first read */
static int missing_member(lua_State *L)
{
    const char *names[MOST_NAMES], *name, *key = luaL_tolstring(L, 2, NULL);
    json_t *from = origin(L, 1), *member;
    size_t count = 0;
    lua_settop(L, 3); /* Keeps the text of the key on the stack. */
    if (!json_is_object(from))
        return 0;
    member = json_object_get(from, key);
    if (is_container(member)) {
        push_json(L, member);
        lua_pushstring(L, key);
        lua_pushvalue(L, -2);
        lua_rawset(L, 1);
        return 1;
    }
    if (member)
        return 0; /* JSON null is nil */
    json_object_foreach(from, name, member) if (count < MOST_NAMES) names[count++] = name;
    const char *nearest = nearest_name(key, names, count);
    return luaL_error(L, "there is no member '%s' here%s%s%s", key,
                      nearest ? "; did you mean '" : "; names(...) tells which there are",
                      nearest ? nearest : "", nearest ? "'?" : "");
}

static int refuse_member(lua_State *L)
{
    return luaL_error(L, "this table came with the data and cannot be changed");
}

static void push_metatable(lua_State *L)
{
    if (!luaL_newmetatable(L, "autotune.data"))
        return;
    lua_pushcfunction(L, missing_member);
    lua_setfield(L, -2, "__index");
    lua_pushcfunction(L, refuse_member);
    lua_setfield(L, -2, "__newindex");
}

/* Pushes an object's table. Its members' tables are made later, because most are never read. */
static void push_members(lua_State *L, json_t *from)
{
    const char *name;
    json_t *member;
    lua_createtable(L, 0, (int)json_object_size(from));
    json_object_foreach(from, name, member)
    {
        if (is_container(member))
            continue;
        push_json(L, member);
        lua_setfield(L, -2, name);
    }
    push_metatable(L);
    lua_setmetatable(L, -2);
}

static void push_elements(lua_State *L, json_t *from)
{
    lua_createtable(L, (int)json_array_size(from), 0);
    for (size_t i = 0; i < json_array_size(from); i++) {
        json_t *element = json_array_get(from, i);
        if (json_is_null(element))
            lua_pushboolean(L, 0);
        else
            push_json(L, element);
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
}

static void note_origin(lua_State *L, const json_t *from)
{
    push_origins(L);
    lua_pushvalue(L, -2);
    lua_rawsetp(L, -2, from);
    lua_pushvalue(L, -2);
    lua_pushlightuserdata(L, (void *)(uintptr_t)from);
    lua_rawset(L, -3);
    lua_pop(L, 1);
}

/* Pushes the table of `from`. Returns false if the table does not exist yet. */
static bool push_known(lua_State *L, const json_t *from)
{
    push_origins(L);
    bool known = lua_rawgetp(L, -1, from) == LUA_TTABLE;
    lua_remove(L, -2);
    lua_pop(L, !known);
    return known;
}

static void push_json(lua_State *L, json_t *from)
{
    luaL_checkstack(L, 8, "the data is nested too deeply");
    if (is_container(from) && push_known(L, from))
        return;
    switch (json_typeof(from)) {
    case JSON_OBJECT:
        push_members(L, from);
        break;
    case JSON_ARRAY:
        push_elements(L, from);
        break;
    case JSON_STRING:
        lua_pushlstring(L, json_string_value(from), json_string_length(from));
        return;
    case JSON_INTEGER:
        lua_pushinteger(L, json_integer_value(from));
        return;
    case JSON_REAL:
        lua_pushnumber(L, json_real_value(from));
        return;
    case JSON_TRUE:
    case JSON_FALSE:
        lua_pushboolean(L, json_is_true(from));
        return;
    case JSON_NULL:
        lua_pushnil(L);
        return;
    }
    note_origin(L, from);
}

static int free_json(lua_State *L)
{
    json_t **owned = lua_touserdata(L, 1);
    json_decref(*owned);
    *owned = NULL;
    return 0;
}

/* Moves a member or an element into `to`, so that an error leaks nothing. */
static json_t *attach(lua_State *L, json_t *to, const char *name, json_t *child)
{
    if (!child || (name ? json_object_set_new(to, name, child) : json_array_append_new(to, child)))
        luaL_error(L, "json: a text is not UTF-8, or memory is out");
    return child;
}

static void add_json(lua_State *L, json_t *to, const char *name, int index, int depth);

static void add_pairs(lua_State *L, json_t *to, int index, int depth)
{
    for (lua_Integer i = 1; lua_rawgeti(L, index, i) == LUA_TTABLE; i++) {
        lua_rawgeti(L, -1, 1);
        lua_rawgeti(L, -2, 2);
        if (lua_type(L, -2) != LUA_TSTRING)
            luaL_error(L, "object: write { { name, value }, ... }, with texts as names");
        add_json(L, to, lua_tostring(L, -2), lua_gettop(L), depth + 1);
        lua_pop(L, 3);
    }
    lua_pop(L, 1);
}

static void add_members(lua_State *L, json_t *to, int index, int depth)
{
    lua_getfield(L, LUA_REGISTRYINDEX, sandbox_base_key);
    lua_getfield(L, -1, "pairs");
    lua_pushvalue(L, index);
    lua_call(L, 1, 1);
    for (;;) {
        lua_pushvalue(L, -1);
        lua_call(L, 0, 2);
        if (lua_isnil(L, -2))
            break;
        if (lua_type(L, -2) != LUA_TSTRING)
            luaL_error(L, "json: a table has names and numbers as keys");
        add_json(L, to, lua_tostring(L, -2), lua_gettop(L), depth + 1);
        lua_pop(L, 2);
    }
    lua_pop(L, 4);
}

static void add_table(lua_State *L, json_t *to, const char *name, int index, int depth)
{
    json_t *from = origin(L, index);
    if (from) {
        attach(L, to, name, json_incref(from));
        return;
    }
    bool ordered = lua_getmetatable(L, index);
    lua_pop(L, ordered);
    lua_pushnil(L);
    bool empty = !lua_next(L, index);
    if (!empty)
        lua_pop(L, 2);
    lua_Integer count = (lua_Integer)lua_rawlen(L, index);
    if (ordered) {
        add_pairs(L, attach(L, to, name, json_object()), index, depth);
    } else if (count > 0 || empty) {
        json_t *array = attach(L, to, name, json_array());
        for (lua_Integer i = 1; i <= count; i++) {
            lua_rawgeti(L, index, i);
            add_json(L, array, NULL, lua_gettop(L), depth + 1);
            lua_pop(L, 1);
        }
    } else {
        add_members(L, attach(L, to, name, json_object()), index, depth);
    }
}

static void add_json(lua_State *L, json_t *to, const char *name, int index, int depth)
{
    size_t length;
    sandbox_charge(L, NODE_INSTRUCTIONS);
    luaL_checkstack(L, 12, NULL);
    if (depth > DEEPEST)
        luaL_error(L, "json: tables are within each other more than %d deep", DEEPEST);
    switch (lua_type(L, index)) {
    case LUA_TNIL:
        attach(L, to, name, json_null());
        break;
    case LUA_TBOOLEAN:
        attach(L, to, name, json_boolean(lua_toboolean(L, index)));
        break;
    case LUA_TNUMBER:
        attach(L, to, name,
               lua_isinteger(L, index) ? json_integer(lua_tointeger(L, index))
                                       : json_real(lua_tonumber(L, index)));
        break;
    case LUA_TSTRING: {
        const char *text = lua_tolstring(L, index, &length);
        attach(L, to, name, json_stringn(text, length));
        break;
    }
    case LUA_TTABLE:
        add_table(L, to, name, index, depth);
        break;
    default:
        luaL_error(L, "json: a %s is no data", luaL_typename(L, index));
    }
}

/* Pushes a userdata with the JSON of the value at `index` as the only element of an array. */
static const json_t *push_owned(lua_State *L, int index)
{
    json_t **owned = lua_newuserdatauv(L, sizeof *owned, 0);
    *owned = NULL;
    lua_createtable(L, 0, 1);
    lua_pushcfunction(L, free_json);
    lua_setfield(L, -2, "__gc");
    lua_setmetatable(L, -2);
    *owned = json_array();
    if (!*owned)
        sandbox_raise_memory(L);
    add_json(L, *owned, NULL, index, 0);
    return json_array_get(*owned, 0);
}

static int to_json(lua_State *L)
{
    lua_Integer indent = luaL_optinteger(L, 2, 0);
    luaL_argcheck(L, indent >= 0 && indent <= 16, 2, "an indentation is 0 to 16");
    lua_settop(L, 1);
    const json_t *root = push_owned(L, 1);
    script_bytes *text = script_new_bytes(L);
    at_error error = {0};
    if (json_text_format(root, (size_t)indent, &text->bytes, &error))
        sandbox_raise_error(L, &error);
    sandbox_charge(L, strlen(text->bytes) / 8);
    lua_pushstring(L, text->bytes);
    return 1;
}

json_t *data_take(lua_State *L, int index)
{
    json_t *taken = json_incref((json_t *)(uintptr_t)push_owned(L, lua_absindex(L, index)));
    lua_pop(L, 1);
    return taken;
}

static int to_names(lua_State *L)
{
    const char *name;
    json_t *member, *from;
    luaL_checktype(L, 1, LUA_TTABLE);
    from = origin(L, 1);
    lua_newtable(L);
    lua_Integer count = 0;
    json_object_foreach(from, name, member)
    {
        lua_pushstring(L, name);
        lua_rawseti(L, -2, ++count);
    }
    return 1;
}

static int has_member(lua_State *L)
{
    luaL_checktype(L, 1, LUA_TTABLE);
    lua_settop(L, 2);
    const json_t *from = origin(L, 1);
    const json_t *member = json_is_object(from) && lua_type(L, 2) == LUA_TSTRING
                               ? json_object_get(from, lua_tostring(L, 2))
                               : NULL;
    lua_pushboolean(L, is_container(member) || lua_rawget(L, 1) != LUA_TNIL);
    return 1;
}

/* pairs() for the data's tables. The upvalue is the scripts' pairs(). */
static int pairs_of_all(lua_State *L)
{
    const char *name;
    json_t *member, *from;
    luaL_checktype(L, 1, LUA_TTABLE);
    lua_settop(L, 1);
    from = origin(L, 1);
    json_object_foreach(from, name, member)
    {
        if (!is_container(member))
            continue;
        lua_pushstring(L, name);
        push_json(L, member);
        lua_rawset(L, 1);
    }
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_pushvalue(L, 1);
    lua_call(L, 1, 1);
    return 1;
}

static int make_object(lua_State *L)
{
    luaL_checktype(L, 1, LUA_TTABLE);
    lua_settop(L, 1);
    if (origin(L, 1))
        luaL_error(L, "object: write { { name, value }, ... }");
    lua_newtable(L);
    lua_setmetatable(L, 1);
    return 1;
}

void data_push(lua_State *L, const json_t *from)
{
    push_json(L, (json_t *)(uintptr_t)from);
}

void data_push_members(lua_State *L, const json_t *from)
{
    const char *name;
    json_t *member;
    lua_newtable(L);
    json_object_foreach((json_t *)(uintptr_t)from, name, member)
    {
        push_json(L, member);
        lua_setfield(L, -2, name);
    }
    note_origin(L, from);
}

void data_add_functions(lua_State *L)
{
    static const luaL_Reg functions[] = {{"json", to_json},
                                         {"names", to_names},
                                         {"has", has_member},
                                         {"object", make_object},
                                         {NULL, NULL}};
    lua_newtable(L);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &origins_key);
    luaL_setfuncs(L, functions, 0);
    lua_getfield(L, -1, "pairs");
    lua_pushcclosure(L, pairs_of_all, 1);
    lua_setfield(L, -2, "pairs");
}
