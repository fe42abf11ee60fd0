#include "script/render_text.h"

#include <lauxlib.h>
#include <stdlib.h>

#include "base/stats.h"
#include "base/units.h"
#include "base/value.h"
#include "base/wrap.h"
#include "device/ceiling.h"
#include "script/sandbox/sandbox.h"

/* cut(text, columns) */
static int cut(lua_State *L)
{
    size_t length, skip;
    const char *text = luaL_checklstring(L, 1, &length);
    lua_Integer columns = luaL_checkinteger(L, 2);
    sandbox_charge(L, length);
    size_t used = wrap_cut(text, columns > 0 ? (size_t)columns : 1, &skip);
    lua_pushinteger(L, (lua_Integer)used);
    lua_pushinteger(L, (lua_Integer)skip);
    return 2;
}

/* A count or a size: what is beyond 64 bits or below 0 does not matter to a reader. */
static uint64_t whole(lua_State *L)
{
    if (lua_isinteger(L, 1))
        return (uint64_t)lua_tointeger(L, 1);
    lua_Number v = luaL_checknumber(L, 1);
    return v >= 0x1p64 ? UINT64_MAX : v >= 0 ? (uint64_t)v : 0;
}

static int64_t whole_ns(lua_State *L)
{
    return lua_isinteger(L, 1) ? lua_tointeger(L, 1) : (int64_t)luaL_checknumber(L, 1);
}

#define UNIT(name, number)                                                                         \
    static int unit_##name(lua_State *L)                                                           \
    {                                                                                              \
        char text[UNITS_BYTES];                                                                    \
        lua_pushstring(L, units_##name(number, text));                                             \
        return 1;                                                                                  \
    }
UNIT(time, whole_ns(L))
UNIT(duration, luaL_checknumber(L, 1))
UNIT(size, whole(L))
UNIT(rate, luaL_checknumber(L, 1))
UNIT(count, whole(L))
UNIT(percent, luaL_checknumber(L, 1))

/* spell(value) */
static int spell(lua_State *L)
{
    char digits[64];
    if (lua_type(L, 1) == LUA_TSTRING) {
        lua_settop(L, 1);
        return 1;
    }
    value v = {.kind = VALUE_BOOLEAN, .boolean = lua_toboolean(L, 1)};
    if (lua_isinteger(L, 1))
        v = (value){.kind = VALUE_INTEGER, .integer = lua_tointeger(L, 1)};
    else if (!lua_isboolean(L, 1))
        v = (value){.kind = VALUE_NUMBER, .number = luaL_checknumber(L, 1)};
    value_format(v, digits, sizeof digits);
    lua_pushstring(L, digits);
    return 1;
}

/* ceiling_of(name) */
static int describe_ceiling(lua_State *L)
{
    static const char *const units[WORK_UNITS] = {"bytes", "flops", "items"};
    ceiling_kind kind;
    if (!ceiling_find(luaL_checkstring(L, 1), &kind))
        return 0;
    lua_pushstring(L, units[ceiling_get(kind)->unit]);
    lua_pushstring(L, ceiling_get(kind)->words);
    return 2;
}

/* median_of(samples_ns) */
static int median_of(lua_State *L)
{
    luaL_checktype(L, 1, LUA_TTABLE);
    size_t count = lua_rawlen(L, 1);
    sandbox_charge(L, 16 * count);
    int64_t *samples_ns = lua_newuserdatauv(L, (count + 1) * sizeof *samples_ns, 0);
    for (size_t i = 0; i < count; i++) {
        lua_rawgeti(L, 1, (lua_Integer)i + 1);
        samples_ns[i] = luaL_checkinteger(L, -1);
        lua_pop(L, 1);
    }
    const stats_summary found = stats_summarise(samples_ns, count);
    lua_pushinteger(L, found.median_ns);
    lua_pushinteger(L, found.low_ns);
    lua_pushinteger(L, found.high_ns);
    return 3;
}

void render_add_texts(lua_State *L)
{
    static const luaL_Reg texts[] = {
        {"cut", cut}, {"spell", spell}, {"ceiling_of", describe_ceiling}, {"median_of", median_of},
        {NULL, NULL},
    };
    static const luaL_Reg units[] = {
        {"time", unit_time}, {"duration", unit_duration}, {"size", unit_size},
        {"rate", unit_rate}, {"count", unit_count},       {"percent", unit_percent},
        {NULL, NULL},
    };
    luaL_setfuncs(L, texts, 0);
    luaL_newlib(L, units);
    lua_setfield(L, -2, "units");
}
