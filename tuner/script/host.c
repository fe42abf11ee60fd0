/* Loads Lua files and registers C functions for the tool's own Lua. */
#include <lauxlib.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <xxhash.h>

#include "base/text.h"
#include "script/state.h"

enum { MAX_STEPS = 8 };

/* Reads a path of keys and positions, the arguments of host.line and host.keys. */
static size_t read_steps(lua_State *L, source_step steps[MAX_STEPS])
{
    size_t count = (size_t)lua_gettop(L);
    if (count > MAX_STEPS)
        count = MAX_STEPS;
    for (size_t i = 0; i < count; i++) {
        if (lua_type(L, (int)i + 1) == LUA_TNUMBER)
            steps[i] = (source_step){NULL, (size_t)lua_tointeger(L, (int)i + 1)};
        else
            steps[i] = (source_step){luaL_checkstring(L, (int)i + 1), 0};
    }
    return count;
}

static int host_line(lua_State *L)
{
    const script *s = script_of(L);
    source_step steps[MAX_STEPS];
    size_t count = read_steps(L, steps);
    sandbox_charge(L, s->from.source.size_bytes / 4);
    lua_pushinteger(L, source_line(script_source_text(s), steps, count));
    return 1;
}

static int host_keys(lua_State *L)
{
    const script *s = script_of(L);
    source_step steps[MAX_STEPS];
    size_t count = read_steps(L, steps);
    lua_newtable(L);
    token key;
    for (size_t n = 0; n < 2 * SCRIPT_MAX_NAMES; n++) {
        sandbox_charge(L, s->from.source.size_bytes / 4);
        if (!source_key(script_source_text(s), steps, count, n, &key))
            break;
        lua_pushlstring(L, key.text, key.length);
        lua_rawseti(L, -2, (lua_Integer)n + 1);
    }
    return 1;
}

/* host.fail(line, message, usage, subject) raises an error at a line of the script or, with
 * `usage`, about the command line. `subject` precedes the message; it may be nil or "". */
static int host_fail(lua_State *L)
{
    int line = (int)luaL_checkinteger(L, 1);
    const char *message = luaL_checkstring(L, 2);
    bool usage = lua_toboolean(L, 3);
    const char *subject = luaL_optstring(L, 4, "");
    sandbox_raise(L, usage ? AT_USAGE : AT_SCRIPT, usage ? NULL : script_of(L)->from.path,
                  usage ? 0 : line, "%s%s%s", subject, *subject ? script_joint(message) : "",
                  message);
}

static int host_warn(lua_State *L)
{
    script *s = script_of(L);
    script_warning *warning = script_allocate(L, sizeof *warning), **last = &s->warnings;
    *warning = (script_warning){.line = (int)luaL_checkinteger(L, 1),
                                .text = script_copy(L, luaL_checkstring(L, 2))};
    while (*last)
        last = &(*last)->next;
    *last = warning;
    return 0;
}

/* host.missing(table, function): reads of missing names call function(table, name). */
static int host_missing(lua_State *L)
{
    luaL_checktype(L, 1, LUA_TTABLE);
    luaL_checktype(L, 2, LUA_TFUNCTION);
    lua_createtable(L, 0, 1);
    lua_insert(L, 2);
    lua_setfield(L, 2, "__index");
    lua_setmetatable(L, 1);
    return 0;
}

static int host_fail_in(lua_State *L)
{
    sandbox_raise(L, AT_SCRIPT, luaL_checkstring(L, 1), (int)luaL_checkinteger(L, 2), "%s",
                  luaL_checkstring(L, 3));
}

int script_nearest(lua_State *L)
{
    const char *names[256];
    size_t count = 0;
    const char *typed = luaL_checkstring(L, 1);
    luaL_checktype(L, 2, LUA_TTABLE);
    for (; count < 256 && lua_rawgeti(L, 2, (lua_Integer)count + 1) == LUA_TSTRING; count++) {
        names[count] = lua_tostring(L, -1); /* the table keeps the string alive */
        lua_pop(L, 1);
    }
    const char *nearest = nearest_name(typed, names, count);
    lua_pushstring(L, nearest);
    return 1;
}

int script_parse(lua_State *L)
{
    script_push_value(L, value_parse(luaL_checkstring(L, 1)));
    return 1;
}

/* host.is_line(text) tells whether a text is UTF-8 without control characters. */
static int host_is_line(lua_State *L)
{
    size_t size_bytes;
    const char *text = luaL_checklstring(L, 1, &size_bytes);
    lua_pushboolean(L, plain_text_is_line(text, size_bytes));
    return 1;
}

static int host_settings(lua_State *L)
{
    const script_options *o = &script_of(L)->options;
    lua_newtable(L);
    for (size_t i = 0; i < o->setting_count; i++) {
        lua_createtable(L, 0, 2);
        set_text(L, "name", o->settings[i].name);
        set_text(L, "text", o->settings[i].text);
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    return 1;
}

static int host_dtypes(lua_State *L)
{
    lua_newtable(L);
    for (int i = 0; i < DTYPE_COUNT; i++) {
        lua_pushstring(L, dtype_get((dtype)i)->name);
        lua_rawseti(L, -2, i + 1);
    }
    return 1;
}

/* host.is_helper(name) tells whether expressions can call a function of that name. */
static int host_is_helper(lua_State *L)
{
    lua_rawgeti(L, LUA_REGISTRYINDEX, script_of(L)->lua.template_environment);
    lua_pushvalue(L, 1);
    lua_pushboolean(L, lua_rawget(L, -2) != LUA_TNIL);
    return 1;
}

/* host.helpers() returns a table of the functions that expressions call, and math. */
static int host_helpers(lua_State *L)
{
    lua_newtable(L);
    sandbox_push_environment(L);
    lua_getfield(L, -1, "math");
    lua_setfield(L, -3, "math");
    lua_pop(L, 1);
    script_add_functions(L);
    return 1;
}

static int host_declare(lua_State *L)
{
    script *s = script_of(L);
    luaL_checktype(L, 1, LUA_TTABLE);
    lua_settop(L, 1);
    lua_rawseti(L, LUA_REGISTRYINDEX, s->lua.declared);
    lua_newtable(L);
    lua_pushvalue(L, -1);
    lua_rawseti(L, LUA_REGISTRYINDEX, s->lua.token);
    return 1;
}

/* host.load(text, source) returns the text as a function of its environment, or nil, message. */
static int host_load(lua_State *L)
{
    size_t size_bytes;
    const char *text = luaL_checklstring(L, 1, &size_bytes);
    int result = luaL_loadbufferx(L, text, size_bytes, luaL_checkstring(L, 2), "t");
    if (result == LUA_ERRMEM)
        sandbox_raise_memory(L);
    if (result == LUA_OK)
        return 1;
    lua_pushnil(L);
    lua_insert(L, -2);
    return 2;
}

/* host.try(function, argument) returns the result, or nil if the function fails. */
static int host_try(lua_State *L)
{
    lua_settop(L, 2);
    int result = lua_pcall(L, 1, 1, 0);
    if (result == LUA_ERRMEM)
        sandbox_raise_memory(L);
    if (result != LUA_OK && script_of(L)->box.raised) /* a limit or an interruption */
        lua_error(L);
    if (result != LUA_OK)
        lua_pushnil(L);
    return 1;
}

/* Skips a byte order mark and a first line for the shell, but not the end of that line. */
static void skip_preamble(const script_bytes *source, const char **text, size_t *size_bytes)
{
    *text = source->bytes;
    *size_bytes = source->size_bytes;
    if (*size_bytes >= 3 && memcmp(*text, "\xef\xbb\xbf", 3) == 0) {
        *text += 3;
        *size_bytes -= 3;
    }
    while (*size_bytes > 0 && source->bytes[0] == '#' && **text != '\n') {
        ++*text;
        --*size_bytes;
    }
}

void script_load_file(lua_State *L, const char *path, const char *chunk_name, script_bytes *source)
{
    script *s = script_of(L);
    at_error error = {0};
    if (script_read_file(path, source, &error))
        sandbox_raise_error(L, &error);
    uint64_t size = source->size_bytes;
    XXH3_128bits_update(s->from.hash, &size, sizeof size);
    XXH3_128bits_update(s->from.hash, source->bytes, source->size_bytes);
    const char *text;
    size_t size_bytes;
    skip_preamble(source, &text, &size_bytes);
    script_load_text(L, text, size_bytes, path, chunk_name);
}

enum { WORD_BYTES = 16 };

/* Tells whether Lua's message ends with a word that Lua reserves, but a kernel may use. */
static bool ends_at_word(const char *message, char word[WORD_BYTES])
{
    static const char *const words[] = {"and", "elseif", "end", "function", "in",   "local",
                                        "nil", "not",    "or",  "repeat",   "then", "until"};
    const char *near = strstr(message, "near '");
    if (!near || sscanf(near, "near '%15[a-z]'", word) != 1)
        return false;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(word, words[i]) == 0)
            return true;
    return false;
}

void script_load_text(lua_State *L, const char *text, size_t size_bytes, const char *path,
                      const char *chunk_name)
{
    if (size_bytes > 0 && text[0] == '\x1b')
        sandbox_raise(L, AT_SCRIPT, path, 0, "this is compiled Lua; scripts are text");
    if (sandbox_load(L, text, size_bytes, chunk_name))
        return;
    /* The message is "file.lua:12: message". Finds the line from the end of the path, because the
     * path may contain any characters. */
    const char *message = lua_tostring(L, -1);
    int line = 0;
    for (const char *p = strchr(message, ':'); p; p = strchr(p + 1, ':')) {
        int end = 0;
        if (sscanf(p, ":%d:%n", &line, &end) == 1 && end > 0) {
            message = p + end + (p[end] == ' ');
            break;
        }
    }
    const char *hint = sandbox_syntax_hint(message, text, line), *dot = strrchr(path, '.');
    if (!*hint && (!dot || strcmp(dot, ".lua") != 0) && !script_of(L)->from.is_described)
        hint = "; a file whose name does not end in .cu is read as a Lua script";
    if (!script_of(L)->from.is_described || strcmp(path, script_of(L)->from.path) != 0)
        sandbox_raise(L, AT_SCRIPT, path, line, "%s%s", message, hint);
    char word[WORD_BYTES];
    if (ends_at_word(message, word))
        sandbox_raise(L, AT_SCRIPT, path, line,
                      "%s; '%s' is a word of Lua: the kernel's parameter of that name is %s_ here",
                      message, word, word);
    sandbox_raise(L, AT_SCRIPT, path, line, "%s%s", message,
                  *hint ? hint
                        : "; fields are assignments, NAME = VALUE, with no comma after them");
}

/* host.read_template(name) returns a template's text and path, or nil and the end of a message. */
static int host_read_template(lua_State *L)
{
    script *s = script_of(L);
    const char *name = luaL_checkstring(L, 1);
    const char *const folders[] = {s->from.folder, s->from.template_dir};
    char path[PATH_MAX];
    if (!script_find_file(folders, 2, name, path, sizeof path))
        return script_push_absent(L, folders, 2, name);
    script_bytes *range = script_new_bytes(L);
    at_error error = {0};
    if (script_read_file(path, range, &error))
        sandbox_raise_error(L, &error);
    /* A sum does not depend on the order in which variants read the files. */
    XXH128_hash_t h = XXH3_128bits(range->bytes, range->size_bytes);
    s->from.template_hash[0] += h.low64;
    s->from.template_hash[1] += h.high64;
    lua_pushlstring(L, range->bytes, range->size_bytes);
    lua_pushstring(L, path);
    return 2;
}

/* host.own(file) returns the result of one of the tool's own Lua files, which runs once. */
static int host_own(lua_State *L)
{
    const char *file = luaL_checkstring(L, 1);
    luaL_getsubtable(L, LUA_REGISTRYINDEX, "own files");
    if (lua_getfield(L, -1, file) != LUA_TNIL)
        return 1;
    lua_pop(L, 1);
    script_run_own(L, file);
    lua_pushvalue(L, -1);
    lua_setfield(L, -3, file);
    return 1;
}

static void push_host(lua_State *L)
{
    static const luaL_Reg functions[] = {
        {"declare", host_declare},
        {"dtypes", host_dtypes},
        {"missing", host_missing},
        {"fail", host_fail},
        {"fail_in", host_fail_in},
        {"is_line", host_is_line},
        {"helpers", host_helpers},
        {"is_helper", host_is_helper},
        {"keys", host_keys},
        {"line", host_line},
        {"load", host_load},
        {"nearest", script_nearest},
        {"own", host_own},
        {"parse", script_parse},
        {"read_template", host_read_template},
        {"settings", host_settings},
        {"try", host_try},
        {"warn", host_warn},
        {"file", script_open_file},
        {NULL, NULL},
    };
    luaL_newlib(L, functions);
    luaL_setfuncs(L, host_kernel_functions, 0);
    luaL_setfuncs(L, host_syntax_functions, 0);
    luaL_setfuncs(L, host_captured_functions, 0);
}

void script_run_own(lua_State *L, const char *file)
{
    char path[PATH_MAX], name[64];
    snprintf(path, sizeof path, "%s/lib/%s", script_of(L)->from.lua_dir, file);
    snprintf(name, sizeof name, "=%s", file);
    script_bytes *source = script_new_bytes(L);
    sandbox_push_environment(L);
    script_load_file(L, path, name, source);
    push_host(L);
    lua_call(L, 1, 1);
    lua_remove(L, -2);
}
