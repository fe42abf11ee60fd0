/* What Lua is given of a captured launch. */
#include "script/captured.h"

#include <lauxlib.h>
#include <string.h>

#include "base/half.h"
#include "script/state.h"

static void push_sides(lua_State *L, const uint32_t v[3])
{
    lua_createtable(L, 3, 0);
    for (int i = 0; i < 3; i++) {
        lua_pushinteger(L, v[i]);
        lua_rawseti(L, -2, i + 1);
    }
}

static void push_argument(lua_State *L, const script_captured_argument *a)
{
    lua_createtable(L, 0, 6);
    lua_pushlstring(L, a->bytes, a->size_bytes);
    lua_setfield(L, -2, "bytes");
    lua_pushboolean(L, a->holds_pointers);
    lua_setfield(L, -2, "holds_pointers");
    if (!a->is_pointer)
        return;
    lua_pushstring(L, a->before);
    lua_setfield(L, -2, "before");
    lua_pushstring(L, a->after);
    lua_setfield(L, -2, "after");
    lua_pushinteger(L, (lua_Integer)a->offset);
    lua_setfield(L, -2, "offset");
    lua_pushinteger(L, (lua_Integer)a->left_bytes);
    lua_setfield(L, -2, "left_bytes");
}

/* host.captured(): the launch as a table, or nothing. */
int host_captured(lua_State *L)
{
    const script_captured *c = script_of(L)->options.captured;
    if (!c)
        return 0;
    lua_createtable(L, 0, 6);
    lua_pushstring(L, c->path);
    lua_setfield(L, -2, "path");
    lua_pushstring(L, c->kernel);
    lua_setfield(L, -2, "kernel");
    push_sides(L, c->grid);
    lua_setfield(L, -2, "grid");
    push_sides(L, c->block);
    lua_setfield(L, -2, "block");
    lua_pushinteger(L, c->dynamic_shared_bytes);
    lua_setfield(L, -2, "shared");
    lua_createtable(L, (int)c->argument_count, 0);
    for (size_t i = 0; i < c->argument_count; i++) {
        push_argument(L, &c->arguments[i]);
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    lua_setfield(L, -2, "arguments");
    return 1;
}

static void push_integer(lua_State *L, dtype type, uint64_t bits)
{
    switch (type) {
    case DTYPE_INT8:
        lua_pushinteger(L, (int8_t)bits);
        break;
    case DTYPE_INT16:
        lua_pushinteger(L, (int16_t)bits);
        break;
    case DTYPE_INT32:
        lua_pushinteger(L, (int32_t)bits);
        break;
    default:
        lua_pushinteger(L, (lua_Integer)bits);
    }
}

static void push_float(lua_State *L, dtype type, uint64_t bits)
{
    double wide;
    float single;
    const uint32_t low = (uint32_t)bits;
    memcpy(&wide, &bits, sizeof wide);
    memcpy(&single, &low, sizeof single);
    lua_pushnumber(L, type == DTYPE_DOUBLE     ? wide
                      : type == DTYPE_HALF     ? (double)half_to_float((uint16_t)bits)
                      : type == DTYPE_BFLOAT16 ? (double)bfloat_to_float((uint16_t)bits)
                                               : (double)single);
}

/* host.unpack(bytes, type): the value of a scalar, which has these bytes in memory. */
int host_unpack(lua_State *L)
{
    size_t size_bytes;
    dtype type;
    uint64_t bits = 0;
    const char *bytes = luaL_checklstring(L, 1, &size_bytes);
    luaL_argcheck(L, dtype_find(luaL_checkstring(L, 2), &type), 2, "there is no such type");
    luaL_argcheck(L, size_bytes == dtype_get(type)->size_bytes, 1, "the type has another size");
    memcpy(&bits, bytes, size_bytes);
    if (dtype_get(type)->is_float)
        push_float(L, type, bits);
    else
        push_integer(L, type, bits);
    return 1;
}
