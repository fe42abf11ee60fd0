/* Reads a pattern from the comment of a kernel's file, which assigns the pattern's fields. */
#include <lauxlib.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "cpp/token.h"
#include "script/state.h"

bool script_is_kernel_file(const char *path)
{
    static const char *const ends[] = {".cu", ".cuh", ".cuda"};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        size_t length = strlen(path), end = strlen(ends[i]);
        if (length > end && strcmp(path + length - end, ends[i]) == 0)
            return true;
    }
    return false;
}

static void read_description(lua_State *L, script *s)
{
    at_error error = {0};
    if (script_read_file(s->from.path, &s->from.source, &error))
        sandbox_raise_error(L, &error);
    cpp_span comment;
    int line;
    /* 'autotune new --from' prints the description as a comment. */
    if (s->from.source.bytes[strspn(s->from.source.bytes, " \t\r\n")] == '/' &&
        cpp_comment_find(s->from.source.bytes, &comment, &line)) {
        char *body = cpp_comment_body(s->from.source.bytes, comment);
        if (!body)
            sandbox_raise(L, AT_NO_MEMORY, NULL, 0, "out of memory while loading %s", s->from.path);
        free(s->from.source.bytes);
        s->from.source = (script_bytes){.bytes = body, .size_bytes = strlen(body)};
    }
    XXH3_128bits_update(s->from.hash, s->from.source.bytes, s->from.source.size_bytes);
}

static int count_lines(cpp_span text)
{
    int lines = 0;
    for (size_t i = 0; i < text.length; i++)
        lines += text.text[i] == '\n';
    return lines;
}

/* Reads the comment of the file into s->from.source, as Lua with the line numbers of the file. */
static void read_comment(lua_State *L, script *s)
{
    script_bytes *text = script_new_bytes(L);
    at_error error = {0};
    if (script_read_file(s->from.path, text, &error))
        sandbox_raise_error(L, &error);
    cpp_span comment;
    int line;
    if (strlen(text->bytes) != text->size_bytes)
        sandbox_raise(L, AT_SCRIPT, s->from.path, 0,
                      "it contains a NUL character, at which C++ source ends");
    const bool found = cpp_comment_find(text->bytes, &comment, &line);
    if (s->sketch.wanted && found)
        sandbox_raise(
            L, AT_USAGE, s->from.path, line,
            "the file already has a comment that begins with autotune: 'autotune %s' uses it",
            s->from.path);
    if (found && !cpp_comment_is_closed(comment))
        sandbox_raise(L, AT_SCRIPT, s->from.path, line,
                      "the comment that begins here has no end, */");
    cpp_span other;
    int other_line;
    /* A comment without assignments is prose. */
    if (found && cpp_comment_find(comment.text + comment.length, &other, &other_line) &&
        memchr(other.text, '=', other.length))
        sandbox_raise(
            L, AT_SCRIPT, s->from.path, line + count_lines(comment) + other_line - 1,
            "this is the second comment that begins with autotune, after that of line %d: "
            "one describes a file, and --describe reads another from elsewhere",
            line);
    if (s->sketch.wanted)
        comment = (cpp_span){text->bytes, 0};
    else if (!found)
        sandbox_raise(
            L, AT_SCRIPT, s->from.path, 0,
            "no comment in it begins with the word autotune, to say how it is tuned; "
            "'autotune new --from %s' writes one to start from, and --describe FILE reads "
            "one from elsewhere",
            s->from.path);
    s->from.source.bytes = s->sketch.wanted ? strdup("") : cpp_comment_body(text->bytes, comment);
    if (!s->from.source.bytes)
        sandbox_raise(L, AT_NO_MEMORY, NULL, 0, "out of memory while loading %s", s->from.path);
    s->from.source.size_bytes = strlen(s->from.source.bytes);
    XXH3_128bits_update(s->from.hash, text->bytes, text->size_bytes);
    lua_pop(L, 1);
}

/* Assigns a field of the table in the first upvalue. Raises if the field is set already. */
static int add_field(lua_State *L)
{
    lua_pushvalue(L, 2);
    if (lua_rawget(L, lua_upvalueindex(1)) != LUA_TNIL)
        return luaL_error(L, "%s is given twice: remove one of the two values",
                          luaL_tolstring(L, 2, NULL));
    lua_pop(L, 1);
    lua_rawset(L, lua_upvalueindex(1));
    return 0;
}

/* Reads a name: a field of the table in the first upvalue, or a name of the old environment. */
static int read_name(lua_State *L)
{
    lua_pushvalue(L, 2);
    if (lua_gettable(L, lua_upvalueindex(1)) != LUA_TNIL)
        return 1;
    const char *name = luaL_tolstring(L, 2, NULL);
    lua_getfield(L, lua_upvalueindex(1), "at");
    lua_pushvalue(L, 2);
    if (lua_istable(L, -2) && lua_rawget(L, -2) != LUA_TNIL)
        return luaL_error(L, "nothing is called %s here; write at.%s", name, name);
    return luaL_error(L, "nothing is called %s here; write an expression as a text: \"%s\"", name,
                      name);
}

/* Replaces the environment on the stack by the table of fields and, above it, a new environment for
 * the text. There an assignment sets a field, and a name is looked up in the fields, then in the
 * old environment. */
static void push_fields(lua_State *L)
{
    lua_newtable(L);
    lua_createtable(L, 0, 1);
    lua_pushvalue(L, -3);
    lua_setfield(L, -2, "__index");
    lua_setmetatable(L, -2);
    lua_remove(L, -2);
    lua_newtable(L);
    lua_createtable(L, 0, 2);
    lua_pushvalue(L, -3);
    lua_pushcclosure(L, read_name, 1);
    lua_setfield(L, -2, "__index");
    lua_pushvalue(L, -3);
    lua_pushcclosure(L, add_field, 1);
    lua_setfield(L, -2, "__newindex");
    lua_setmetatable(L, -2);
}

static void set_source(lua_State *L, const script *s)
{
    int kind = lua_getfield(L, -1, "kernel");
    if (kind == LUA_TNIL) {
        lua_pop(L, 1);
        lua_newtable(L);
        lua_pushvalue(L, -1);
        lua_setfield(L, -3, "kernel");
    }
    if (lua_istable(L, -1)) {
        lua_pushstring(L, script_kernel_file_name(s));
        lua_setfield(L, -2, "source");
        if (s->sketch.of.entry)
            lua_pushstring(L, s->sketch.of.entry);
        if (s->sketch.of.entry)
            lua_setfield(L, -2, "entry");
    }
    lua_pop(L, 1);
}

void script_load_described(lua_State *L)
{
    script *s = script_of(L);
    char chunk_name[PATH_MAX + 1];
    snprintf(chunk_name, sizeof chunk_name, "@%s", s->from.path);
    script_run_own(L, "autotune.lua");
    lua_pushvalue(L, -1);
    lua_setfield(L, -3, "at");
    lua_insert(L, -2);
    if (s->options.describe)
        read_description(L, s);
    else
        read_comment(L, s);
    push_fields(L);
    script_load_text(L, s->from.source.bytes, s->from.source.size_bytes, s->from.path, chunk_name);
    s->box.line = source_line(script_source_text(s), NULL, 0);
    lua_call(L, 0, 0);
    lua_pushnil(L);
    lua_setmetatable(L, -2);
    set_source(L, s);
    lua_getfield(L, -2, "pattern");
    lua_insert(L, -2);
    lua_call(L, 1, 1);
    s->box.line = 0;
}
