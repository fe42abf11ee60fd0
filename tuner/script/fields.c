#include "script/state.h"

#include <lauxlib.h>
#include <limits.h>
#include <sys/stat.h>

const char *field_string(lua_State *L, const char *field)
{
    lua_getfield(L, -1, field);
    const char *copy = script_copy(L, luaL_checkstring(L, -1));
    lua_pop(L, 1);
    return copy;
}

int field_integer(lua_State *L, const char *field)
{
    lua_getfield(L, -1, field);
    int n = (int)lua_tointeger(L, -1);
    lua_pop(L, 1);
    return n;
}

bool field_boolean(lua_State *L, const char *field)
{
    lua_getfield(L, -1, field);
    bool b = lua_toboolean(L, -1);
    lua_pop(L, 1);
    return b;
}

int field_word(lua_State *L, const char *field, const char *const names[])
{
    lua_getfield(L, -1, field);
    int place = luaL_checkoption(L, -1, NULL, names);
    lua_pop(L, 1);
    return place;
}

size_t fields_enter(lua_State *L, const char *field)
{
    return lua_getfield(L, -1, field) == LUA_TTABLE ? lua_rawlen(L, -1) : 0;
}

bool fields_next(lua_State *L, size_t i, size_t count)
{
    if (i > 0)
        lua_pop(L, 1);
    if (i < count)
        lua_rawgeti(L, -1, (lua_Integer)i + 1);
    else
        lua_pop(L, 1);
    return i < count;
}

value fields_value(lua_State *L)
{
    switch (lua_type(L, -1)) {
    case LUA_TBOOLEAN:
        return (value){.kind = VALUE_BOOLEAN, .boolean = lua_toboolean(L, -1)};
    case LUA_TNUMBER:
        if (lua_isinteger(L, -1))
            return (value){.kind = VALUE_INTEGER, .integer = lua_tointeger(L, -1)};
        return (value){.kind = VALUE_NUMBER, .number = lua_tonumber(L, -1)};
    default:
        return (value){.kind = VALUE_STRING, .string = script_intern(L, luaL_checkstring(L, -1))};
    }
}

expression fields_text(lua_State *L)
{
    return (expression){.text = field_string(L, "text"),
                        .what = field_string(L, "what"),
                        .line = field_integer(L, "line")};
}

expression fields_expression(lua_State *L, expression_reach reach)
{
    expression e = fields_text(L);
    expression_compile(L, &e, reach);
    return e;
}

expression field_expression(lua_State *L, const char *field, expression_reach reach)
{
    expression e = {0};
    if (lua_getfield(L, -1, field) == LUA_TTABLE)
        e = fields_expression(L, reach);
    lua_pop(L, 1);
    return e;
}

size_t field_expressions(lua_State *L, const char *field, expression_reach reach, expression *out,
                         size_t capacity)
{
    size_t length = fields_enter(L, field), count = length < capacity ? length : capacity;
    for (size_t i = 0; fields_next(L, i, count); i++)
        out[i] = fields_expression(L, reach);
    return count;
}

void fields_includes(lua_State *L, const script *s, script_kernel *k)
{
    k->include_count = fields_enter(L, "includes");
    for (size_t i = 0; fields_next(L, i, k->include_count); i++) {
        const char *name = field_string(L, "name");
        char path[PATH_MAX];
        struct stat status;
        const char *const folders[] = {s->from.folder};
        char absent[SCRIPT_ABSENT_BYTES];
        if (!script_find_file(folders, 1, name, path, sizeof path) || stat(path, &status) != 0 ||
            !S_ISDIR(status.st_mode))
            sandbox_raise(L, AT_SCRIPT, s->from.path, field_integer(L, "line"),
                          "there is no folder '%.100s' %s. Name a folder elsewhere on the command "
                          "line: -I DIR",
                          name, script_absent(folders, 1, name, absent));
        k->includes[i] = script_copy(L, path);
    }
}

void set_integer(lua_State *L, const char *field, lua_Integer v)
{
    lua_pushinteger(L, v);
    lua_setfield(L, -2, field);
}

void set_boolean(lua_State *L, const char *field, bool v)
{
    lua_pushboolean(L, v);
    lua_setfield(L, -2, field);
}

void set_text(lua_State *L, const char *field, const char *text)
{
    lua_pushstring(L, text);
    lua_setfield(L, -2, field);
}

void set_integers(lua_State *L, const char *field, const uint64_t *v, size_t count)
{
    lua_createtable(L, (int)count, 0);
    for (size_t i = 0; i < count; i++) {
        lua_pushinteger(L, (lua_Integer)v[i]);
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    lua_setfield(L, -2, field);
}
