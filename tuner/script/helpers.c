/* The functions that expressions and templates call by name, and `device`. */
#include <lauxlib.h>
#include <string.h>

#include "base/text.h"
#include "device/arch.h"
#include "device/field.h"
#include "script/state.h"

static lua_Integer check_positive(lua_State *L, int argument)
{
    lua_Integer n = luaL_checkinteger(L, argument);
    luaL_argcheck(L, n > 0, argument, "must be positive");
    return n;
}

/* ceil_div(a, b) returns a / b rounded up; a >= 0. */
static int ceil_div(lua_State *L)
{
    lua_Integer a = luaL_checkinteger(L, 1), b = check_positive(L, 2);
    luaL_argcheck(L, a >= 0, 1, "must not be negative");
    lua_pushinteger(L, a / b + (a % b != 0));
    return 1;
}

static int round_up(lua_State *L)
{
    lua_Integer a = luaL_checkinteger(L, 1), b = check_positive(L, 2);
    luaL_argcheck(L, a >= 0 && a <= LUA_MAXINTEGER - b, 1, "is out of range");
    lua_pushinteger(L, (a + b - 1) / b * b);
    return 1;
}

/* log2_floor(n) returns the exponent of the largest power of two that is not above n. */
static int log2_floor(lua_State *L)
{
    lua_Integer n = check_positive(L, 1);
    int exponent = 0;
    while (n >>= 1)
        exponent++;
    lua_pushinteger(L, exponent);
    return 1;
}

static int is_pow2(lua_State *L)
{
    lua_Integer n = luaL_checkinteger(L, 1);
    lua_pushboolean(L, n > 0 && (n & (n - 1)) == 0);
    return 1;
}

static int64_t check_up_to(lua_State *L, int argument, int64_t most)
{
    lua_Integer n = check_positive(L, argument);
    luaL_argcheck(L, n <= most, argument, "is out of range");
    return n;
}

/* cluster_load(multiprocessors, clusters, blocks, resident): see device/arch.h. */
static int load_of_clusters(lua_State *L)
{
    int64_t multiprocessors = check_up_to(L, 1, CLUSTER_LOAD_MOST);
    int64_t clusters = check_up_to(L, 2, CLUSTER_LOAD_MOST_CLUSTERS);
    int64_t blocks = check_up_to(L, 3, CLUSTER_LOAD_MOST);
    int64_t resident = check_up_to(L, 4, CLUSTER_LOAD_MOST);
    lua_pushinteger(L, cluster_load(multiprocessors, clusters, blocks, resident));
    return 1;
}

static const dtype_info *check_dtype(lua_State *L, int argument)
{
    dtype type;
    const char *name = luaL_checkstring(L, argument);
    if (dtype_find(name, &type))
        return dtype_get(type);
    char meant[SCRIPT_MEANT_BYTES];
    luaL_error(L, "there is no element type '%s'%s", name,
               script_meant(script_nearest_dtype(name), meant));
    return NULL;
}

static int size_of(lua_State *L)
{
    lua_pushinteger(L, (lua_Integer)check_dtype(L, 1)->size_bytes);
    return 1;
}

static int ctype(lua_State *L)
{
    lua_pushstring(L, check_dtype(L, 1)->c_name);
    return 1;
}

static int is_float(lua_State *L)
{
    lua_pushboolean(L, check_dtype(L, 1)->is_float);
    return 1;
}

/* bits_type(dtype) returns the unsigned integer of the same size, to move bits. */
static int bits_type(lua_State *L)
{
    static const char *const names[] = {[1] = "unsigned char",
                                        [2] = "unsigned short",
                                        [4] = "unsigned int",
                                        [8] = "unsigned long long"};
    lua_pushstring(L, names[check_dtype(L, 1)->size_bytes]);
    return 1;
}

int script_device_field(const char *name, const char **nearest)
{
    const char *names[DEVICE_MOST_FIELDS];
    size_t count;
    const device_field *fields = device_fields(&count);
    for (size_t i = 0; i < count; i++) {
        names[i] = fields[i].name;
        if (strcmp(name, names[i]) == 0)
            return (int)i;
    }
    *nearest = nearest_name(name, names, count);
    return -1;
}

static void push_device(lua_State *L, const arch_limits *limits)
{
    size_t count;
    const device_field *fields = device_fields(&count);
    lua_createtable(L, 0, (int)count);
    for (size_t i = 0; i < count; i++) {
        script_push_value(L, device_field_value(&fields[i], limits));
        lua_setfield(L, -2, fields[i].name);
    }
    sandbox_protect(L, "device");
}

static void add_math(lua_State *L)
{
    static const char *const names[] = {"abs", "ceil", "floor", "max", "min"};
    lua_getfield(L, -1, "math");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        lua_getfield(L, -1, names[i]);
        lua_setfield(L, -3, names[i]);
    }
    lua_pop(L, 1);
}

void script_add_functions(lua_State *L)
{
    static const luaL_Reg helpers[] = {
        {"bits_type", bits_type},
        {"ceil_div", ceil_div},
        {"cluster_load", load_of_clusters},
        {"ctype", ctype},
        {"is_float", is_float},
        {"is_pow2", is_pow2},
        {"log2", log2_floor},
        {"round_up", round_up},
        {"sizeof", size_of},
        {NULL, NULL},
    };
    luaL_setfuncs(L, helpers, 0);
    add_math(L);
}

void script_add_helpers(lua_State *L)
{
    script_add_functions(L);
    push_device(L, &script_of(L)->options.device);
    lua_setfield(L, -2, "device");
}
