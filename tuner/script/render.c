#include "script/render.h"

#include <lauxlib.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/array.h"
#include "base/json_text.h"
#include "base/nearest.h"
#include "base/paths.h"
#include "script/render_text.h"
#include "script/sandbox/library.h"
#include "script/state.h"

enum {
    DEEPEST = 100,           /* tables within each other that json() writes */
    NODE_INSTRUCTIONS = 100, /* what writing a value counts as: it may be in many places */
    MOST_NAMES = 256         /* that are compared with one that is missing */
};

/* The tool's own templates do what the data asks for, which may be a hundred thousand entries. */
static const size_t OWN_MEMORY_BYTES = (size_t)8 << 30;
static const uint64_t OWN_INSTRUCTIONS = UINT64_C(1) << 48;

/* The state is a script's, without a pattern. Every table that came with the data is known by its
 * JSON value: `origins` has a light userdata for each, and for each userdata its table, so that
 * what stands in several places is one table. */
typedef struct rendering {
    script s; /* the first member: script_of() gives it */
    const char *name;
    const json_t *table;
    int origins, environment; /* registry references */
    rendered *out;
} rendering;

static rendering *rendering_of(lua_State *L)
{
    return (rendering *)(void *)script_of(L);
}

/* ---- the data as Lua ---- */

/* What the table at `index` was made from; NULL: it is the template's own. */
static json_t *origin(lua_State *L, int index)
{
    json_t *from = NULL;
    index = lua_absindex(L, index);
    lua_rawgeti(L, LUA_REGISTRYINDEX, rendering_of(L)->origins);
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

/* __index of a table that came with the data: gives it the member that is asked for. */
static int missing_member(lua_State *L)
{
    const char *names[MOST_NAMES], *name, *key = luaL_tolstring(L, 2, NULL);
    json_t *from = origin(L, 1), *member;
    size_t count = 0;
    lua_settop(L, 3); /* the key's text stays */
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
        return 0; /* null */
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

/* The metatable of tables that came with the data, made once. */
static void push_metatable(lua_State *L)
{
    if (!luaL_newmetatable(L, "autotune.data"))
        return;
    lua_pushcfunction(L, missing_member);
    lua_setfield(L, -2, "__index");
    lua_pushcfunction(L, refuse_member);
    lua_setfield(L, -2, "__newindex");
}

/* Members that are tables wait until they are asked for: most of the data is not. */
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

/* Of the table on top of the stack. */
static void note_origin(lua_State *L, const json_t *from)
{
    lua_rawgeti(L, LUA_REGISTRYINDEX, rendering_of(L)->origins);
    lua_pushvalue(L, -2);
    lua_rawsetp(L, -2, from);
    lua_pushvalue(L, -2);
    lua_pushlightuserdata(L, (void *)(uintptr_t)from);
    lua_rawset(L, -3);
    lua_pop(L, 1);
}

/* Pushes the table that was made of `from`; false: none was. */
static bool push_known(lua_State *L, const json_t *from)
{
    lua_rawgeti(L, LUA_REGISTRYINDEX, rendering_of(L)->origins);
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

/* ---- Lua as JSON ---- */

static int free_json(lua_State *L)
{
    json_t **owned = lua_touserdata(L, 1);
    json_decref(*owned);
    *owned = NULL;
    return 0;
}

/* Gives `to` a member, or an element, which `to` then owns, so that an error loses nothing. */
static json_t *attach(lua_State *L, json_t *to, const char *name, json_t *child)
{
    if (!child || (name ? json_object_set_new(to, name, child) : json_array_append_new(to, child)))
        luaL_error(L, "json: a text is not UTF-8, or memory is out");
    return child;
}

static void add_json(lua_State *L, json_t *to, const char *name, int index, int depth);

/* The pairs that object { ... } was given. */
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
    lua_rawgeti(L, LUA_REGISTRYINDEX, rendering_of(L)->environment);
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

/* json(value, indent) */
static int to_json(lua_State *L)
{
    lua_Integer indent = luaL_optinteger(L, 2, 0);
    luaL_argcheck(L, indent >= 0 && indent <= 16, 2, "an indentation is 0 to 16");
    lua_settop(L, 1);
    json_t **owned = lua_newuserdatauv(L, sizeof *owned, 0);
    *owned = NULL;
    lua_createtable(L, 0, 1);
    lua_pushcfunction(L, free_json);
    lua_setfield(L, -2, "__gc");
    lua_setmetatable(L, -2);
    script_range *text = script_new_range(L);
    *owned = json_array();
    if (!*owned)
        sandbox_raise_memory(L);
    add_json(L, *owned, NULL, 1, 0);
    at_error error = {0};
    if (json_text_format(json_array_get(*owned, 0), (size_t)indent, &text->bytes, &error))
        sandbox_raise_error(L, &error);
    sandbox_charge(L, strlen(text->bytes) / 8);
    lua_pushstring(L, text->bytes);
    return 1;
}

/* ---- what templates have beside Lua's own ---- */

/* names(table) */
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

/* has(table, name) */
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

/* pairs(table), upvalue: that of scripts, which sees what is there. */
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

/* object { { name, value }, ... } */
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

/* refuse(message): the end, as of something that was asked for and cannot be. */
static int refuse(lua_State *L)
{
    sandbox_raise(L, AT_USAGE, NULL, 0, "%s", luaL_checkstring(L, 1));
}

static int to_slug(lua_State *L)
{
    char slug[PATHS_SLUG_BYTES];
    paths_slug(luaL_checkstring(L, 1), slug);
    lua_pushstring(L, slug);
    return 1;
}

/* __index of the template's names. */
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
    const char *nearest = nearest_name(name, names, count);
    return luaL_error(L, "there is no '%s'%s%s%s", name, nearest ? "; did you mean '" : "",
                      nearest ? nearest : "", nearest ? "'?" : "");
}

static void make_environment(lua_State *L, rendering *r)
{
    static const luaL_Reg functions[] = {
        {"json", to_json}, {"names", to_names}, {"has", has_member}, {"object", make_object},
        {"slug", to_slug}, {"refuse", refuse},  {NULL, NULL},
    };
    lua_newtable(L);
    r->origins = luaL_ref(L, LUA_REGISTRYINDEX);
    sandbox_push_environment(L);
    luaL_setfuncs(L, functions, 0);
    lua_getfield(L, -1, "pairs");
    lua_pushcclosure(L, pairs_of_all, 1);
    lua_setfield(L, -2, "pairs");
    render_add_texts(L);
    script_add_require(L);
    r->environment = luaL_ref(L, LUA_REGISTRYINDEX);
}

/* The names of one run: the table's members; behind them what the environment has. */
static void push_scope(lua_State *L, const rendering *r)
{
    const char *name;
    json_t *member;
    lua_newtable(L);
    json_object_foreach((json_t *)(uintptr_t)r->table, name, member)
    {
        push_json(L, member);
        lua_setfield(L, -2, name);
    }
    note_origin(L, r->table); /* so that json(_ENV) is all of it */
    lua_createtable(L, 0, 1);
    lua_pushcfunction(L, unknown_name);
    lua_setfield(L, -2, "__index");
    lua_setmetatable(L, -2);
}

/* ---- what was written ---- */

/* Adds what the entries `from` to `to` of `out` (stack index 'out') say: marks and texts by turns.
 */
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

/* The list on top of the stack; a mark of 0 begins another file, whose name is the text. */
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
        sandbox_raise(L, AT_IO, NULL, 0, "there is no template %s/%s%s", r->s.folder, r->name,
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

at_status script_render_files(const char *name, const char *path, const json_t *table,
                              rendered *out, at_error *error)
{
    paths p;
    rendering r = {.name = name, .table = table, .out = out};
    char folder[PATHS_BYTES];
    *out = (rendered){0};
    if (!table)
        return error_set(error, AT_NO_MEMORY, "out of memory for what the template writes");
    at_status status = paths_find(&p, error);
    if (status)
        return status;
    const char *slash = path ? strrchr(path, '/') : NULL;
    if (path) {
        snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - path + 1) : 2,
                 slash ? path : "./");
        folder[strlen(folder) - (strlen(folder) > 1)] = '\0';
        r.name = slash ? slash + 1 : path;
    }
    r.s.path = (char *)(uintptr_t)r.name;
    r.s.folder = path ? folder : p.template_dir;
    r.s.lua_dir = p.lua_dir;
    r.s.template_dir = p.template_dir;
    r.s.quiet_modules = true;
    r.s.hash = XXH3_createState();
    if (!r.s.hash)
        return error_set(error, AT_NO_MEMORY, "out of memory for what the template writes");
    XXH3_128bits_reset(r.s.hash);
    status = path ? sandbox_init(&r.s.box, path, 0, 0, error)
                  : sandbox_init(&r.s.box, name, OWN_MEMORY_BYTES, OWN_INSTRUCTIONS, error);
    if (!status)
        status = sandbox_open_library(&r.s.box, error);
    if (!status)
        status = sandbox_call(&r.s.box, render, &r, path != NULL, error);
    sandbox_deinit(&r.s.box);
    XXH3_freeState(r.s.hash);
    if (status)
        rendered_deinit(out);
    return status;
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
