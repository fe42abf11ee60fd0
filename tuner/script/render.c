#include "script/render.h"

#include <lauxlib.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/array.h"
#include "base/paths.h"
#include "base/stats.h"
#include "base/text.h"
#include "base/value.h"
#include "base/wrap.h"
#include "device/ceiling.h"
#include "script/state.h"

enum { MOST_NAMES = 256 }; /* most names that are compared with a missing name */

/* Limits of the tool's own templates: their data may have a hundred thousand entries. */
static const size_t OWN_MEMORY_BYTES = (size_t)8 << 30;
static const uint64_t OWN_INSTRUCTIONS = UINT64_C(1) << 48;

typedef struct rendering {
    script s; /* the first member, for script_of() */
    const char *name, *data_path;
    const json_t *table;
    int environment; /* registry reference */
    rendered *out;
    json_t **value; /* result of a called module */
} rendering;

static rendering *rendering_of(lua_State *L)
{
    return (rendering *)(void *)script_of(L);
}

static int refuse(lua_State *L)
{
    static const char *const kinds[] = {"usage", "missing", "format", NULL};
    static const at_status statuses[] = {AT_USAGE, AT_NOT_FOUND, AT_FORMAT};
    const at_status status = statuses[luaL_checkoption(L, 2, "usage", kinds)];
    const bool is_placed = !lua_isnoneornil(L, 3);
    sandbox_raise(L, status, is_placed ? rendering_of(L)->data_path : NULL,
                  (int)luaL_optinteger(L, 3, 0), "%s", luaL_checkstring(L, 1));
}

static int to_slug(lua_State *L)
{
    char slug[PATHS_SLUG_BYTES];
    paths_slug(luaL_checkstring(L, 1), slug);
    lua_pushstring(L, slug);
    return 1;
}

static int unknown_name(lua_State *L)
{
    const rendering *r = rendering_of(L);
    const char *names[MOST_NAMES], *member, *name = luaL_tolstring(L, 2, NULL);
    json_t *of;
    size_t count = 0;
    lua_rawgeti(L, LUA_REGISTRYINDEX, r->environment);
    int environment = lua_gettop(L);
    lua_pushvalue(L, 2);
    if (lua_rawget(L, environment) != LUA_TNIL)
        return 1;
    if (json_object_get(r->table, name))
        return 0;
    json_object_foreach((json_t *)(uintptr_t)r->table, member, of) if (count < MOST_NAMES)
        names[count++] = member;
    lua_pushnil(L);
    while (lua_next(L, environment)) {
        lua_pop(L, 1);
        if (count < MOST_NAMES)
            names[count++] = lua_tostring(L, -1);
    }
    char meant[SCRIPT_MEANT_BYTES];
    return luaL_error(L, "there is no '%s'%s", name,
                      script_meant(nearest_name(name, names, count), meant));
}

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

static void add_texts(lua_State *L)
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

static void make_environment(lua_State *L, rendering *r)
{
    static const luaL_Reg functions[] = {
        {"slug", to_slug},
        {"refuse", refuse},
        {"nearest_name", script_nearest},
        {"parse_value", script_parse},
        {NULL, NULL},
    };
    sandbox_push_environment(L);
    luaL_setfuncs(L, functions, 0);
    data_add_functions(L);
    add_texts(L);
    script_add_require(L);
    r->environment = luaL_ref(L, LUA_REGISTRYINDEX);
}

/* Pushes the names of one run: the table's members, then those of the environment. */
static void push_scope(lua_State *L, const rendering *r)
{
    data_push_members(L, r->table); /* So that json(_ENV) has all of the table. */
    lua_createtable(L, 0, 1);
    lua_pushcfunction(L, unknown_name);
    lua_setfield(L, -2, "__index");
    lua_setmetatable(L, -2);
}

/* Adds a file from the entries `from` to `to` of the list at `out`, in which marks and texts
 * alternate. */
static void add_file(lua_State *L, rendering *r, int out, lua_Integer from, lua_Integer to,
                     const char *name)
{
    rendered_file f = {0};
    size_t length;
    for (lua_Integer i = from; i < to; i += 2) {
        lua_rawgeti(L, out, i + 1);
        luaL_checklstring(L, -1, &length);
        f.size_bytes += length + 1;
        lua_pop(L, 1);
    }
    if (f.size_bytes == 0 && name[0] == '\0' && to < (lua_Integer)lua_rawlen(L, out))
        return;
    f.name = strdup(name);
    f.text = malloc(f.size_bytes + 1);
    if (!f.name || !f.text || !array_add(&r->out->files, &r->out->count, &f, sizeof f)) {
        free(f.name);
        free(f.text);
        sandbox_raise(L, AT_NO_MEMORY, NULL, 0, "out of memory for the text of %s", r->name);
    }
    char *at = f.text;
    for (lua_Integer i = from; i < to; i += 2) {
        lua_rawgeti(L, out, i + 1);
        const char *text = lua_tolstring(L, -1, &length);
        memcpy(at, text, length);
        at[length] = '\n';
        at += length + 1;
        lua_pop(L, 1);
    }
    *at = '\0';
}

/* Takes the files of the list on the stack. A mark of 0 begins a file, whose name is the text. */
static void take_files(lua_State *L, rendering *r)
{
    int out = lua_gettop(L);
    lua_Integer count = (lua_Integer)lua_rawlen(L, out), from = 1;
    lua_pushliteral(L, "");
    for (lua_Integer i = 1; i < count; i += 2) {
        lua_rawgeti(L, out, i);
        bool begins = lua_tointeger(L, -1) == 0;
        lua_pop(L, 1);
        if (!begins)
            continue;
        add_file(L, r, out, from, i, lua_tostring(L, out + 1));
        lua_settop(L, out);
        lua_rawgeti(L, out, i + 1);
        from = i + 2;
    }
    add_file(L, r, out, from, count + 1, lua_tostring(L, out + 1));
}

static int render(lua_State *L)
{
    rendering *r = lua_touserdata(L, 1);
    make_environment(L, r);
    script_run_own(L, "template.lua");
    lua_getfield(L, -1, "compile");
    lua_pushstring(L, r->name);
    lua_call(L, 1, 2);
    if (lua_isnil(L, -2))
        sandbox_raise(L, AT_IO, NULL, 0, "there is no template %s/%s%s", r->s.from.folder, r->name,
                      luaL_optstring(L, -1, ""));
    lua_pop(L, 2);
    lua_getfield(L, -1, "run");
    lua_pushstring(L, r->name);
    push_scope(L, r);
    lua_pushboolean(L, 1);
    lua_call(L, 3, 1);
    take_files(L, r);
    return 0;
}

static at_status run(rendering *r, const char *path, lua_CFunction function, at_error *error)
{
    paths p;
    char folder[PATHS_BYTES];
    if (!r->table)
        return error_set(error, AT_NO_MEMORY, "out of memory for what the template writes");
    at_status status = paths_find(&p, error);
    if (status)
        return status;
    const char *slash = path ? strrchr(path, '/') : NULL;
    if (path) {
        snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - path + 1) : 2,
                 slash ? path : "./");
        folder[strlen(folder) - (strlen(folder) > 1)] = '\0';
        r->name = slash ? slash + 1 : path;
    }
    r->s.from.path = (char *)(uintptr_t)r->name;
    r->s.from.folder = path ? folder : p.template_dir;
    r->s.from.lua_dir = p.lua_dir;
    r->s.from.template_dir = p.template_dir;
    r->s.lua.quiet_modules = true;
    r->s.from.hash = XXH3_createState();
    if (!r->s.from.hash)
        return error_set(error, AT_NO_MEMORY, "out of memory for what the template writes");
    XXH3_128bits_reset(r->s.from.hash);
    status = path ? sandbox_init(&r->s.box, path, 0, 0, error)
                  : sandbox_init(&r->s.box, r->name, OWN_MEMORY_BYTES, OWN_INSTRUCTIONS, error);
    if (!status)
        status = sandbox_open_library(&r->s.box, error);
    if (!status)
        status = sandbox_call(&r->s.box, function, r, path != NULL, error);
    sandbox_deinit(&r->s.box);
    XXH3_freeState(r->s.from.hash);
    return status;
}

at_status script_render_files(const char *name, const char *path, const json_t *table,
                              rendered *out, at_error *error)
{
    rendering r = {.name = name, .table = table, .out = out};
    *out = (rendered){0};
    at_status status = run(&r, path, render, error);
    if (status)
        rendered_deinit(out);
    return status;
}

static int compute(lua_State *L)
{
    rendering *r = lua_touserdata(L, 1);
    make_environment(L, r);
    lua_rawgeti(L, LUA_REGISTRYINDEX, r->environment);
    lua_getfield(L, -1, "require");
    lua_pushstring(L, r->name);
    lua_call(L, 1, 1);
    data_push(L, r->table);
    lua_call(L, 1, 1);
    *r->value = data_take(L, -1);
    return 0;
}

at_status script_compute(const char *module, const char *data_path, const json_t *data,
                         json_t **out, at_error *error)
{
    rendering r = {.name = module, .data_path = data_path, .table = data, .value = out};
    *out = NULL;
    return run(&r, NULL, compute, error);
}

at_status script_render(const char *name, const json_t *table, char **text, at_error *error)
{
    rendered out;
    at_status status = script_render_files(name, NULL, table, &out, error);
    *text = NULL;
    if (!status) {
        *text = out.files[0].text;
        out.files[0].text = NULL;
    }
    rendered_deinit(&out);
    return status;
}

void rendered_deinit(rendered *r)
{
    for (size_t i = 0; i < r->count; i++) {
        free(r->files[i].name);
        free(r->files[i].text);
    }
    free(r->files);
    *r = (rendered){0};
}
