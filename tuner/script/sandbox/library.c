/* The functions that scripts can call: Lua's own functions without those that reach out of the
 * sandbox, with charges for work that depends on arguments. */
#include <lauxlib.h>
#include <lualib.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "script/sandbox/sandbox.h"

/* Bytes that a C function copies or scans in about the time of one VM instruction. */
enum { BYTES_PER_INSTRUCTION = 8 };

enum { LONGEST_REPEAT_BYTES = 64 << 20 };

static int forward(lua_State *L)
{
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_insert(L, 1);
    lua_call(L, lua_gettop(L) - 1, LUA_MULTRET);
    return lua_gettop(L);
}

static int linear_in_string(lua_State *L)
{
    size_t length = 0;
    if (lua_type(L, 1) == LUA_TSTRING)
        lua_tolstring(L, 1, &length);
    sandbox_charge(L, length / BYTES_PER_INSTRUCTION);
    return forward(L);
}

/* Charges for the text up to the end of the result, or for the whole text if nothing is found. A
 * pattern that backtracks costs more, which is not counted. */
static int search(lua_State *L)
{
    size_t length = 0;
    if (lua_type(L, 1) == LUA_TSTRING)
        lua_tolstring(L, 1, &length);
    lua_Integer first = lua_isinteger(L, 3) ? lua_tointeger(L, 3) : 1;
    if (first < 0) /* A negative position counts from the end. */
        first = first > -(lua_Integer)length ? first + (lua_Integer)length + 1 : 1;
    const int results = forward(L);
    lua_Integer last = (lua_Integer)length;
    if (results >= 2 && lua_isinteger(L, -results + 1))
        last = lua_tointeger(L, -results + 1);
    else if (!lua_isnil(L, -results))
        last = first + (lua_Integer)lua_rawlen(L, -results);
    if (first > 0 && last > first)
        sandbox_charge(L, (uint64_t)(last - first) / BYTES_PER_INSTRUCTION);
    return results;
}

static int repeat(lua_State *L)
{
    size_t length, separator_length;
    luaL_checklstring(L, 1, &length);
    lua_Integer n = luaL_checkinteger(L, 2);
    luaL_optlstring(L, 3, "", &separator_length);
    size_t piece = length + separator_length;
    if (n <= 0 || piece == 0) {
        /* Lua's own function would count to n even for an empty string. */
        lua_pushliteral(L, "");
        return 1;
    }
    if ((uint64_t)n > LONGEST_REPEAT_BYTES / piece)
        return luaL_error(L, "string.rep would make more than %d MiB", LONGEST_REPEAT_BYTES >> 20);
    sandbox_charge(L, (uint64_t)n * piece / BYTES_PER_INSTRUCTION);
    return forward(L);
}

/* Charges for the result's length, so that reading a string in small parts stays linear. */
static int substring(lua_State *L)
{
    int results = forward(L);
    sandbox_charge(L, lua_rawlen(L, -1) / BYTES_PER_INSTRUCTION);
    return results;
}

static int format(lua_State *L)
{
    uint64_t length = 0;
    for (int i = lua_gettop(L); i > 0; i--)
        length += lua_type(L, i) == LUA_TSTRING ? lua_rawlen(L, i) : 0;
    sandbox_charge(L, length / BYTES_PER_INSTRUCTION);
    return forward(L);
}

static int linear_in_table(lua_State *L)
{
    luaL_checktype(L, 1, LUA_TTABLE);
    sandbox_charge(L, lua_rawlen(L, 1));
    return forward(L);
}

/* Charges nothing for an insertion at the end, which moves nothing. */
static int insert(lua_State *L)
{
    luaL_checktype(L, 1, LUA_TTABLE);
    if (lua_gettop(L) != 2)
        sandbox_charge(L, lua_rawlen(L, 1));
    return forward(L);
}

/* Charges for the whole shorter string, because the strings may be equal up to its end. */
static void charge_comparison(lua_State *L, int a, int b)
{
    uint64_t shorter = 0;
    if (lua_type(L, a) == LUA_TSTRING && lua_type(L, b) == LUA_TSTRING)
        shorter = lua_rawlen(L, a) < lua_rawlen(L, b) ? lua_rawlen(L, a) : lua_rawlen(L, b);
    sandbox_charge(L, 1 + shorter / BYTES_PER_INSTRUCTION);
}

static int less(lua_State *L)
{
    charge_comparison(L, 1, 2);
    lua_pushboolean(L, lua_compare(L, 1, 2, LUA_OPLT));
    return 1;
}

static int sort(lua_State *L)
{
    luaL_checktype(L, 1, LUA_TTABLE);
    double n = (double)lua_rawlen(L, 1);
    double comparisons = n * log2(n + 2);
    sandbox_charge(L, comparisons < 1e18 ? (uint64_t)comparisons : UINT64_MAX);
    if (lua_isnoneornil(L, 2)) {
        lua_settop(L, 1);
        lua_pushcfunction(L, less);
    }
    return forward(L);
}

/* Orders keys: numbers by value, then strings byte by byte, then booleans. */
static int key_before(lua_State *L)
{
    int a = lua_type(L, 1), b = lua_type(L, 2);
    bool before;
    charge_comparison(L, 1, 2);
    if (a != b)
        before = a == LUA_TNUMBER || (a == LUA_TSTRING && b == LUA_TBOOLEAN);
    else if (a == LUA_TBOOLEAN)
        before = lua_toboolean(L, 1) < lua_toboolean(L, 2);
    else
        before = lua_compare(L, 1, 2, LUA_OPLT);
    lua_pushboolean(L, before);
    return 1;
}

/* The iterator of pairs(). Upvalues: the table, its sorted keys, and the position in them. */
static int next_pair(lua_State *L)
{
    lua_Integer i = lua_tointeger(L, lua_upvalueindex(3));
    for (;;) {
        lua_settop(L, 0);
        if (lua_rawgeti(L, lua_upvalueindex(2), ++i) == LUA_TNIL)
            return 1;
        lua_pushvalue(L, -1);
        if (lua_rawget(L, lua_upvalueindex(1)) != LUA_TNIL)
            break; /* The loop has removed the key if its value is nil. */
    }
    lua_pushinteger(L, i);
    lua_replace(L, lua_upvalueindex(3));
    return 2;
}

static int sorted_pairs(lua_State *L)
{
    luaL_checktype(L, 1, LUA_TTABLE);
    lua_settop(L, 1);
    lua_newtable(L);
    lua_Integer count = 0;
    lua_pushnil(L);
    while (lua_next(L, 1)) {
        lua_pop(L, 1);
        int type = lua_type(L, -1);
        if (type != LUA_TNUMBER && type != LUA_TSTRING && type != LUA_TBOOLEAN)
            return luaL_error(L, "pairs: a key is a %s; keys are numbers, strings and booleans",
                              lua_typename(L, type));
        lua_pushvalue(L, -1);
        lua_rawseti(L, 2, ++count);
    }
    sandbox_charge(L, (uint64_t)count * 8);
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_pushvalue(L, 2);
    lua_pushcfunction(L, key_before);
    lua_call(L, 2, 0);
    lua_pushinteger(L, 0);
    lua_pushcclosure(L, next_pair, 3);
    return 1;
}

/* A part of a library of Lua: names that are copied, and functions that charge their work, each
 * with the original function as its upvalue. */
typedef struct library {
    const char *const *plain;
    const luaL_Reg *counted;
} library;

static const library base_library = {
    (const char *const[]){"assert", "error", "ipairs", "rawequal", "select", "tostring", "type",
                          NULL},
    (const luaL_Reg[]){{"tonumber", linear_in_string}, {NULL, NULL}},
};

static const library math_library = {
    (const char *const[]){"abs", "ceil", "cos",        "exp",       "floor",      "fmod", "huge",
                          "log", "max",  "maxinteger", "min",       "mininteger", "modf", "pi",
                          "sin", "sqrt", "tan",        "tointeger", "type",       "ult",  NULL},
    (const luaL_Reg[]){{NULL, NULL}},
};

static const library string_library = {
    (const char *const[]){"byte", "char", "len", NULL},
    (const luaL_Reg[]){{"find", search},
                       {"format", format},
                       {"gmatch", linear_in_string},
                       {"gsub", linear_in_string},
                       {"lower", linear_in_string},
                       {"match", search},
                       {"rep", repeat},
                       {"reverse", linear_in_string},
                       {"sub", substring},
                       {"upper", linear_in_string},
                       {NULL, NULL}},
};

static const library table_library = {
    (const char *const[]){"pack", NULL},
    (const luaL_Reg[]){{"concat", linear_in_table},
                       {"insert", insert},
                       {"remove", linear_in_table},
                       {"sort", sort},
                       {"unpack", linear_in_table},
                       {NULL, NULL}},
};

static void copy_library(lua_State *L, const library *l)
{
    for (const char *const *name = l->plain; *name; name++) {
        lua_getfield(L, -1, *name);
        lua_setfield(L, -3, *name);
    }
    for (const luaL_Reg *f = l->counted; f->name; f++) {
        lua_getfield(L, -1, f->name);
        lua_pushcclosure(L, f->func, 1);
        lua_setfield(L, -3, f->name);
    }
}

static void open_one(lua_State *L, const char *name, lua_CFunction opener, const library *l)
{
    lua_newtable(L);
    lua_pushcfunction(L, opener);
    lua_pushstring(L, name);
    lua_call(L, 1, 1);
    copy_library(L, l);
    /* For its messages, Lua looks up names of functions in this table. Scripts cannot reach it. */
    luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
    lua_insert(L, -2);
    lua_setfield(L, -2, name);
    lua_pop(L, 1);
}

static int open_library(lua_State *L)
{
    lua_newtable(L);
    int base = lua_gettop(L);

    lua_pushcfunction(L, luaopen_base); /* Fills and returns the table of globals. */
    lua_call(L, 0, 1);
    copy_library(L, &base_library);
    lua_pop(L, 1);
    lua_pushnil(L);
    lua_rawseti(L, LUA_REGISTRYINDEX, LUA_RIDX_GLOBALS);

    open_one(L, "math", luaopen_math, &math_library);
    sandbox_protect(L, "math");
    lua_setfield(L, base, "math");

    open_one(L, "table", luaopen_table, &table_library);
    lua_getfield(L, -1, "sort");
    lua_pushcclosure(L, sorted_pairs, 1);
    lua_setfield(L, base, "pairs");
    sandbox_protect(L, "table");
    lua_setfield(L, base, "table");

    open_one(L, "string", luaopen_string, &string_library);
    /* luaopen_string gave strings a metatable that leads to the whole library. */
    lua_pushliteral(L, "");
    lua_createtable(L, 0, 1);
    lua_pushvalue(L, -3);
    lua_setfield(L, -2, "__index");
    lua_setmetatable(L, -2);
    lua_pop(L, 1);
    sandbox_protect(L, "string");
    lua_setfield(L, base, "string");

    lua_setfield(L, LUA_REGISTRYINDEX, sandbox_base_key);
    return 0;
}

at_status sandbox_open_library(sandbox *s, at_error *error)
{
    return sandbox_call(s, open_library, NULL, false, error);
}
