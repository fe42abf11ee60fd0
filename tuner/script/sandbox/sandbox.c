#include "script/sandbox/sandbox.h"

#include <ctype.h>
#include <inttypes.h>
#include <lauxlib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/text.h"

const char sandbox_base_key[] = "autotune.base";

static const size_t default_memory_bytes = (size_t)256 << 20;

/* about 2 s of the Lua VM with a count hook; the tool's scripts take a few thousand */
static const int64_t default_instructions = 200 * 1000 * 1000;

/* VM instructions between calls of the hook: enough to cost little, few enough to stop soon even if
 * each instruction is slow (a comparison of strings of many MiB) */
enum { HOOK_PERIOD = 200 };

/* The limit of processor time catches work that the count of instructions misses. */
static const int64_t cpu_limit_ns = 10 * INT64_C(1000000000);

/* `stop` is called after so many VM instructions or ns */
enum { STOP_PERIOD = 100 * 1000, STOP_PERIOD_NS = 10 * 1000 * 1000 };

/* A block of LARGE_BYTES or more is a string or a table that will be filled, which takes time. */
enum { LARGE_BYTES = 4096, LARGE_BYTES_PER_INSTRUCTION = 64 };

static void *allocate(void *context, void *block, size_t old_bytes, size_t new_bytes)
{
    sandbox *s = context;
    if (!block)
        old_bytes = 0; /* Without a block, old_bytes is the kind of the new object. */
    if (new_bytes == 0) {
        free(block);
        s->used_bytes -= old_bytes;
        return NULL;
    }
    if (new_bytes > old_bytes && new_bytes - old_bytes > s->limit_bytes - s->used_bytes) {
        s->refused = true;
        return NULL;
    }
    if (new_bytes >= LARGE_BYTES && new_bytes > old_bytes) {
        s->instructions_left -= (int64_t)(new_bytes / LARGE_BYTES_PER_INSTRUCTION);
        if (s->instructions_left < 0)
            return NULL;
    }
    void *moved = realloc(block, new_bytes);
    if (moved)
        s->used_bytes = s->used_bytes - old_bytes + new_bytes;
    return moved;
}

void *sandbox_resize(lua_State *L, void *block, size_t old_bytes, size_t new_bytes)
{
    return allocate(sandbox_of(L), block, old_bytes, new_bytes);
}

void sandbox_disown(sandbox *s, size_t size_bytes)
{
    s->used_bytes -= size_bytes;
}

sandbox *sandbox_of(lua_State *L)
{
    return *(sandbox **)lua_getextraspace(L);
}

void sandbox_charge(lua_State *L, uint64_t instructions)
{
    sandbox *s = sandbox_of(L);
    int64_t cost = instructions > INT64_MAX / 2 ? INT64_MAX / 2 : (int64_t)instructions;
    s->instructions_left -= cost;
    if (s->instructions_left < 0)
        luaL_error(L, "this ran for more than %I instructions: does every loop end?",
                   (LUAI_UACINT)s->instruction_limit);
    s->until_stop -= cost;
    if (s->stop && s->until_stop < 0) {
        s->until_stop = STOP_PERIOD;
        if (s->stop(s->stop_context))
            sandbox_raise(L, AT_INTERRUPTED, NULL, 0, "interrupted");
    }
}

static void hook(lua_State *L, lua_Debug *ar)
{
    (void)ar;
    sandbox *s = sandbox_of(L);
    int64_t now_ns = clock_thread_ns();
    /* Calls `stop` early, because a few instructions may take long. */
    if (now_ns > s->cpu_stop_ns) {
        s->cpu_stop_ns = now_ns + STOP_PERIOD_NS;
        s->until_stop = 0;
    }
    if (now_ns > s->cpu_deadline_ns)
        luaL_error(L, "this ran for more than %d s: does every loop end?",
                   (int)(cpu_limit_ns / 1000000000));
    sandbox_charge(L, HOOK_PERIOD);
}

static const char *without_place(const char *message, const lua_Debug *ar)
{
    size_t length = strlen(ar->short_src);
    if (strncmp(message, ar->short_src, length) != 0 || message[length] != ':')
        return message;
    const char *rest = message + length + 1;
    rest += strspn(rest, "0123456789");
    return strncmp(rest, ": ", 2) == 0 ? rest + 2 : message;
}

static at_status write_memory_error(const sandbox *s, at_error *error)
{
    if (s->instructions_left < 0)
        return error_set_at(error, AT_SCRIPT, s->path, 0,
                            "the script ran for more than %" PRId64
                            " instructions: does every loop end?",
                            s->instruction_limit);
    if (!s->refused)
        return error_set(error, AT_NO_MEMORY, "out of memory while running the script");
    return error_set_at(error, AT_SCRIPT, s->path, 0,
                        "the script needs more than %zu KiB of memory, its limit",
                        s->limit_bytes >> 10);
}

/* Returns whether a message about a missing global names a part of Lua that scripts do not have. */
static bool names_left_out(const char *message)
{
    static const char *const left_out[] = {"(global 'os')",     "(global 'io')",
                                           "(global 'print')",  "(global 'debug')",
                                           "(global 'dofile')", "(global 'loadfile')"};
    for (size_t i = 0; i < sizeof left_out / sizeof *left_out; i++)
        if (strstr(message, left_out[i]))
            return true;
    return false;
}

/* The message handler, which runs with the stack of the error. The error is reported at the
 * innermost function of a user's file: sources of the tool's own Lua begin with '='. */
static int on_error(lua_State *L)
{
    sandbox *s = sandbox_of(L);
    if (s->raised)
        return 1;
    const char *message = lua_tostring(L, 1);
    if (!message)
        message =
            lua_pushfstring(L, "an error with a %s instead of a message", luaL_typename(L, 1));
    at_error *error = &s->error;
    s->raised = true;
    /* The buffers of Lua's library raise this text themselves. */
    if (strcmp(message, "not enough memory") == 0) {
        write_memory_error(s, error);
        return 1;
    }
    const char *file = s->path;
    int line = s->line;
    lua_Debug ar;
    for (int level = 0; lua_getstack(L, level, &ar); level++) {
        lua_getinfo(L, "Sl", &ar);
        if (ar.currentline <= 0)
            continue;
        message = without_place(message, &ar);
        if (ar.source[0] == '@') {
            file = ar.source + 1;
            line = ar.currentline;
            break;
        }
    }
    const char *remedy = "";
    if (strstr(message, "nil value (global 'at')"))
        remedy = ": a script begins with local at = require \"autotune\"";
    else if (names_left_out(message))
        remedy =
            ": scripts only describe a pattern, and have no part of Lua for files, programs or "
            "output";
    else if (strstr(message, "nil value (global '") && !strstr(message, "call a nil"))
        remedy = "; an expression over problem and space is a text: \"8 * n\"";
    error_set_at(error, AT_SCRIPT, file, line, "%s%s", message, remedy);
    return 1;
}

int sandbox_raise_error(lua_State *L, const at_error *error)
{
    sandbox *s = sandbox_of(L);
    s->error = *error;
    s->raised = true;
    lua_pushnil(L);
    lua_error(L);
    abort(); /* not reached: lua_error() does not return, but is not declared so */
}

int sandbox_raise(lua_State *L, at_status status, const char *file, int line, const char *format,
                  ...)
{
    at_error error = {.status = status, .line = line};
    if (file)
        strncpy(error.file, file, sizeof error.file - 1);
    va_list args;
    va_start(args, format);
    vsnprintf(error.message, sizeof error.message, format, args);
    va_end(args);
    sandbox_raise_error(L, &error);
}

int sandbox_raise_memory(lua_State *L)
{
    at_error error = {0};
    write_memory_error(sandbox_of(L), &error);
    sandbox_raise_error(L, &error);
}

at_status sandbox_failure(sandbox *s, int result, at_error *error)
{
    if (result == LUA_ERRMEM) {
        write_memory_error(s, &s->error);
    } else if (!s->raised) {
        const char *message = lua_type(s->L, -1) == LUA_TSTRING ? lua_tostring(s->L, -1) : "";
        error_set_at(&s->error, AT_SCRIPT, s->path, 0, "%s", message);
    }
    lua_pop(s->L, 1);
    if (s->error.status == AT_OK) /* the error handler itself failed */
        error_set_at(&s->error, AT_SCRIPT, s->path, 0, "the script's error caused another error");
    if (error)
        *error = s->error;
    return s->error.status;
}

at_status sandbox_call(sandbox *s, lua_CFunction function, void *argument, bool counted,
                       at_error *error)
{
    s->raised = false;
    s->refused = false;
    s->instructions_left = s->instruction_limit;
    error_clear(&s->error);
    if (counted) {
        s->cpu_deadline_ns = clock_thread_ns() + cpu_limit_ns;
        lua_sethook(s->L, hook, LUA_MASKCOUNT, HOOK_PERIOD);
    }
    lua_pushcfunction(s->L, on_error);
    int handler = lua_gettop(s->L);
    lua_pushcfunction(s->L, function);
    lua_pushlightuserdata(s->L, argument);
    int result = lua_pcall(s->L, 1, 0, handler);
    at_status status = result == LUA_OK ? AT_OK : sandbox_failure(s, result, error);
    s->instructions_spent += (uint64_t)(s->instruction_limit - s->instructions_left);
    lua_settop(s->L, handler - 1);
    if (counted)
        lua_sethook(s->L, NULL, 0, 0);
    return status;
}

static int missing_key(lua_State *L)
{
    const char *names[128];
    size_t count = 0;
    const char *what = lua_tostring(L, lua_upvalueindex(2));
    const char *key = luaL_tolstring(L, 2, NULL);
    lua_pushnil(L);
    while (count < 128 && lua_next(L, lua_upvalueindex(1))) {
        if (lua_type(L, -2) == LUA_TSTRING)
            names[count++] = lua_tostring(L, -2);
        lua_pop(L, 1);
    }
    const char *nearest = nearest_name(key, names, count);
    if (nearest)
        return luaL_error(L, "%s has no field '%s'; did you mean '%s'?", what, key, nearest);
    return luaL_error(L, "%s has no field '%s'", what, key);
}

static int refuse_change(lua_State *L)
{
    return luaL_error(L, "this table is shared and cannot be changed");
}

void sandbox_protect(lua_State *L, const char *what)
{
    lua_newtable(L); /* stack: table, view */
    lua_createtable(L, 0, 2);
    if (what) {
        /* The fields go into a table of their own, whose handler reports missing ones. */
        lua_createtable(L, 0, 1);
        lua_pushvalue(L, -4);
        lua_pushstring(L, what);
        lua_pushcclosure(L, missing_key, 2);
        lua_setfield(L, -2, "__index");
        lua_setmetatable(L, -4);
    }
    lua_pushvalue(L, -3);
    lua_setfield(L, -2, "__index");
    lua_pushcfunction(L, refuse_change);
    lua_setfield(L, -2, "__newindex");
    lua_setmetatable(L, -2);
    lua_remove(L, -2);
}

bool sandbox_load(lua_State *L, const char *text, size_t size_bytes, const char *source)
{
    int result = luaL_loadbufferx(L, text, size_bytes, source, "t");
    if (result == LUA_ERRMEM)
        sandbox_raise_memory(L);
    bool loaded = result == LUA_OK;
    lua_insert(L, -2);
    if (loaded)
        lua_setupvalue(L, -2, 1);
    else
        lua_pop(L, 1);
    const char *message = loaded ? NULL : lua_tostring(L, -1);
    if (message && strcmp(message, "C stack overflow") == 0) {
        lua_pop(L, 1);
        lua_pushliteral(L, "C stack overflow: it is nested too deeply for Lua, which reads up to "
                           "200 brackets or operators within each other");
    }
    return loaded;
}

/* Tells whether a line has "name" = or 'name' =: a name that should have no quotes. */
static bool has_quoted_name(const char *line)
{
    const char *end = NULL;
    for (const char *at = line; (at = strpbrk(at, "\"'")) && (end = strchr(at + 1, *at));
         at = end + 1) {
        const char *after = end + 1 + strspn(end + 1, " \t");
        if (*after == '=' && after[1] != '=')
            return true;
    }
    return false;
}

int sandbox_open_brackets(const char *text)
{
    int open = 0;
    for (const char *end; *text; text++) {
        open += (*text == '(') - (*text == ')');
        if ((*text == '"' || *text == '\'') && (end = strchr(text + 1, *text)))
            text = end;
    }
    return open;
}

const char *sandbox_syntax_hint(const char *message, const char *text, int line)
{
    enum { LINE_BYTES = 512 };
    static const struct {
        const char *near, *written, *hint;
    } habits[] = {
        {"'&'", "&&", "; write 'and' for &&"},
        {"'|'", "||", "; write 'or' for ||"},
        {"'!'", "!=", "; write '~=' for !="},
        {"'!'", "!", "; write 'not' for !"},
        {"'?'", "?", "; write 'a and b or c' for a ? b : c"},
        {"'*'", "**", "; write 1 << 9 for 2 ** 9, or a ^ b, which is a float"},
        {"'//'", "//", "; a comment begins with --"},
        {"'='", "+=", "; Lua has no +=: write a = a + b"},
        {"'='", "-=", "; Lua has no -=: write a = a - b"},
        {"'='", "*=", "; Lua has no *=: write a = a * b"},
        {"'++'", "++", "; Lua has no ++: write a = a + 1"},
        {"'['", "[", "; a list has braces: { 1, 2 }"},
    };
    char written[LINE_BYTES];
    const char *near = strstr(message, "near ");
    for (int i = 1; i < line && *text; i++)
        text += strcspn(text, "\n") + (text[strcspn(text, "\n")] == '\n');
    snprintf(written, sizeof written, "%.*s", (int)(line ? strcspn(text, "\n") : strlen(text)),
             text);
    for (size_t i = 0; near && i < sizeof habits / sizeof *habits; i++)
        if (strncmp(near + 5, habits[i].near, strlen(habits[i].near)) == 0 &&
            strstr(written, habits[i].written))
            return habits[i].hint;
    if (near && strcmp(near, "near '='") == 0 && !line)
        return "; write == to compare";
    if (near && strcmp(near, "near '='") == 0 && has_quoted_name(written))
        return "; a name before = has no quotes: { block = 64 }";
    if (strstr(message, "malformed number near"))
        return strstr(near, "..") ? "; a range is at.range(1, 8)" : "; a product has a sign: 8 * n";
    if (line && strncmp(message, "')' expected", 12) == 0)
        return sandbox_open_brackets(written) > 0
                   ? "; is a ) missing before it?"
                   : "; lists and named values have braces: { 1, 2 }, { x = 1 }";
    if (strstr(message, "arguments expected near") || strstr(message, "<name> expected near"))
        return strchr(written, ':') ? "; write = after a name, not a colon" : "";
    const bool is_word =
        near && near[5] == '\'' &&
        (near[6] == '"' || near[6] == '{' || near[6] == '_' || isalnum((unsigned char)near[6]));
    if (line && is_word && strncmp(message, "'}' expected", 12) == 0)
        return "; is a comma missing before it?";
    return "";
}

void sandbox_push_environment(lua_State *L)
{
    lua_newtable(L);
    lua_getfield(L, LUA_REGISTRYINDEX, sandbox_base_key);
    lua_pushnil(L);
    while (lua_next(L, -2)) {
        lua_pushvalue(L, -2);
        lua_insert(L, -2);
        lua_settable(L, -5);
    }
    lua_pop(L, 1);
}

at_status sandbox_init(sandbox *s, const char *path, size_t memory_limit_bytes,
                       uint64_t instruction_limit, at_error *error)
{
    *s = (sandbox){.path = path};
    s->limit_bytes = memory_limit_bytes ? memory_limit_bytes : default_memory_bytes;
    s->instruction_limit = default_instructions;
    if (instruction_limit > 0 && instruction_limit < INT64_MAX / 2)
        s->instruction_limit = (int64_t)instruction_limit;
    s->L = lua_newstate(allocate, s);
    if (!s->L)
        return write_memory_error(s, error);
    *(sandbox **)lua_getextraspace(s->L) = s;
    return AT_OK;
}

void sandbox_deinit(sandbox *s)
{
    if (s->L)
        lua_close(s->L);
    s->L = NULL;
}
