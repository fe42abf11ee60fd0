#include "script/script.h"

#include <errno.h>
#include <lauxlib.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>

#include "base/file.h"
#include "base/hash_text.h"
#include "script/lexer.h"
#include "script/state.h"

script *script_of(lua_State *L)
{
    return (script *)(void *)sandbox_of(L); /* `box` is the first member */
}

void *script_allocate(lua_State *L, size_t size_bytes)
{
    script *s = script_of(L);
    size_t header = (sizeof(arena_block) + 15) / 16 * 16;
    arena_block *block = calloc(1, header + size_bytes);
    if (!block)
        sandbox_raise(L, AT_NO_MEMORY, NULL, 0, "out of memory while loading %s", s->path);
    block->next = s->arena;
    s->arena = block;
    return (char *)block + header;
}

const char *script_copy(lua_State *L, const char *text)
{
    size_t size_bytes = strlen(text) + 1;
    return memcpy(script_allocate(L, size_bytes), text, size_bytes);
}

at_status script_read_file(const char *path, script_range *out, at_error *error)
{
    *out = (script_range){0};
    at_status status =
        file_read(path, SCRIPT_MAX_FILE_BYTES, &out->bytes, &out->size_bytes, error);
    if (status == AT_FORMAT)
        status =
            error_set(error, AT_IO, "%s is larger than %d MiB: that is no script or template",
                      path, SCRIPT_MAX_FILE_BYTES >> 20);
    if (status == AT_NOT_FOUND)
        status = error_set_errno(error, ENOENT, "cannot open %s", path);
    return status;
}

/* Plain components only: nothing absolute, no "..", no empty part. */
static bool is_plain_path(const char *name)
{
    for (const char *part = name; part;) {
        const char *slash = strchr(part, '/');
        size_t length = slash ? (size_t)(slash - part) : strlen(part);
        if (length == 0 || (part[0] == '.' && (length == 1 || (length == 2 && part[1] == '.'))))
            return false;
        part = slash ? slash + 1 : NULL;
    }
    return true;
}

static bool is_below(const char *folder, const char *path)
{
    char real_folder[PATH_MAX], real_path[PATH_MAX];
    if (!realpath(folder, real_folder) || !realpath(path, real_path))
        return false;
    size_t length = strlen(real_folder);
    if (length > 1 && strncmp(real_path, real_folder, length) == 0 && real_path[length] == '/')
        return true;
    return strcmp(real_folder, "/") == 0;
}

bool script_find_file(const char *const *folders, size_t folder_count, const char *name, char *path,
                      size_t path_bytes)
{
    if (!is_plain_path(name))
        return false;
    for (size_t i = 0; i < folder_count; i++) {
        int n = snprintf(path, path_bytes, "%s/%s", folders[i], name);
        if (n > 0 && (size_t)n < path_bytes && access(path, F_OK) == 0 &&
            is_below(folders[i], path))
            return true;
    }
    return false;
}

/* Skips a byte order mark, and a first line for the shell (not its end, so that lines count on). */
static void skip_preamble(const script_range *source, const char **text, size_t *size_bytes)
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

/* Loads a file as a function with the environment on top of the stack, which is popped. The file's
 * bytes stay with the caller through *source, whatever happens. */
static void load_file(lua_State *L, const char *path, const char *chunk_name, script_range *source)
{
    script *s = script_of(L);
    at_error error = {0};
    if (script_read_file(path, source, &error))
        sandbox_raise_error(L, &error);
    uint64_t size = source->size_bytes;
    XXH3_128bits_update(s->hash, &size, sizeof size);
    XXH3_128bits_update(s->hash, source->bytes, source->size_bytes);
    const char *text;
    size_t size_bytes;
    skip_preamble(source, &text, &size_bytes);
    if (size_bytes > 0 && text[0] == '\x1b')
        sandbox_raise(L, AT_SCRIPT, path, 0, "this is compiled Lua; scripts are text");
    if (sandbox_load(L, text, size_bytes, chunk_name))
        return;
    /* "file.lua:12: message": the name may be cut and may contain anything, the line cannot. */
    const char *message = lua_tostring(L, -1);
    int line = 0;
    for (const char *p = strchr(message, ':'); p; p = strchr(p + 1, ':')) {
        int end = 0;
        if (sscanf(p, ":%d:%n", &line, &end) == 1 && end > 0) {
            message = p + end + (p[end] == ' ');
            break;
        }
    }
    sandbox_raise(L, AT_SCRIPT, path, line, "%s", message);
}

/* Ends the life of a file's bytes when Lua may jump out: they are owned by a userdata. */
static int free_range(lua_State *L)
{
    script_range *range = lua_touserdata(L, 1);
    free(range->bytes);
    range->bytes = NULL;
    return 0;
}

script_range *script_new_range(lua_State *L)
{
    script_range *range = lua_newuserdatauv(L, sizeof *range, 0);
    *range = (script_range){0};
    lua_createtable(L, 0, 1);
    lua_pushcfunction(L, free_range);
    lua_setfield(L, -2, "__gc");
    lua_setmetatable(L, -2);
    return range;
}

void script_run_own(lua_State *L, const char *file)
{
    script *s = script_of(L);
    char path[PATH_MAX], name[64];
    snprintf(path, sizeof path, "%s/%s", s->lua_dir, file);
    snprintf(name, sizeof name, "=%s", file);
    script_range *source = script_new_range(L);
    sandbox_push_environment(L);
    load_file(L, path, name, source);
    script_push_host(L);
    lua_call(L, 1, 1);
    lua_remove(L, -2);
}

static void check_module_name(lua_State *L, const char *name)
{
    bool plain = name[0] != '\0' && name[0] != '.';
    for (const char *c = name; *c && plain; c++) {
        bool part = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || *c == '_' ||
                    *c == '-' || (*c >= '0' && *c <= '9');
        plain = part || (*c == '.' && c[1] != '.' && c[1] != '\0');
    }
    if (!plain || strlen(name) > 200)
        luaL_error(L,
                   "require: '%s' is not a module's name: letters, digits, _ and -, parts "
                   "separated by dots",
                   name);
}

static void run_module(lua_State *L, const char *name)
{
    script *s = script_of(L);
    char relative[256], path[PATH_MAX], chunk_name[PATH_MAX + 1];
    snprintf(relative, sizeof relative, "%s.lua", name);
    for (char *c = relative; c < relative + strlen(name); c++)
        if (*c == '.')
            *c = '/';
    const char *const folders[] = {s->folder, s->lua_dir};
    if (!script_find_file(folders, 2, relative, path, sizeof path))
        luaL_error(L, "require: there is no '%s' in the script's folder (%s) nor in %s", relative,
                   s->folder, s->lua_dir);
    snprintf(chunk_name, sizeof chunk_name, "@%s", path);
    script_range *source = script_new_range(L);
    lua_pushvalue(L, lua_upvalueindex(2));
    load_file(L, path, chunk_name, source);
    lua_pushstring(L, name);
    lua_call(L, 1, 1);
}

/* require(name). Upvalues: modules by name, the scripts' environment. */
static int require_module(lua_State *L)
{
    const char *name = luaL_checkstring(L, 1);
    if (lua_getfield(L, lua_upvalueindex(1), name) != LUA_TNIL) {
        if (lua_type(L, -1) == LUA_TLIGHTUSERDATA)
            luaL_error(L, "require: '%s' requires itself", name);
        return 1;
    }
    check_module_name(L, name);
    lua_pushlightuserdata(L, script_of(L));
    lua_setfield(L, lua_upvalueindex(1), name);
    if (strcmp(name, "autotune") == 0)
        script_run_own(L, "autotune.lua");
    else
        run_module(L, name);
    if (lua_isnil(L, -1)) {
        lua_pop(L, 1);
        lua_pushboolean(L, 1);
    }
    lua_pushvalue(L, -1);
    lua_setfield(L, lua_upvalueindex(1), name);
    return 1;
}

static int reserve_reference(lua_State *L)
{
    lua_pushboolean(L, 0);
    return luaL_ref(L, LUA_REGISTRYINDEX);
}

static void make_environments(lua_State *L, script *s)
{
    s->declared = reserve_reference(L);
    s->token = reserve_reference(L);
    lua_newtable(L);
    s->kept_strings = luaL_ref(L, LUA_REGISTRYINDEX);

    sandbox_push_environment(L);
    script_add_helpers(L);
    s->expression_environment = luaL_ref(L, LUA_REGISTRYINDEX);
    sandbox_push_environment(L);
    script_add_helpers(L);
    s->template_environment = luaL_ref(L, LUA_REGISTRYINDEX);
}

static int load(lua_State *L)
{
    script *s = lua_touserdata(L, 1);
    make_environments(L, s);
    emit_open(L);

    sandbox_push_environment(L);
    lua_newtable(L);
    lua_pushvalue(L, -2);
    lua_pushcclosure(L, require_module, 2);
    lua_setfield(L, -2, "require");

    char chunk_name[PATH_MAX + 1];
    snprintf(chunk_name, sizeof chunk_name, "@%s", s->path);
    load_file(L, s->path, chunk_name, &s->source);
    s->box.line = source_line(s->source.bytes, s->source.size_bytes, NULL, 0);
    lua_call(L, 0, 1);
    s->box.line = 0;

    lua_rawgeti(L, LUA_REGISTRYINDEX, s->token);
    if (!lua_istable(L, -1) || !lua_rawequal(L, -1, -2))
        sandbox_raise(
            L, AT_SCRIPT, s->path, 0,
            "the script does not return a pattern: end it with 'return at.pattern { ... }'");
    lua_rawgeti(L, LUA_REGISTRYINDEX, s->declared);
    script_read_pattern(L);
    emit_compile_templates(L);
    return 0;
}

static char *duplicate(const char *text, at_status *status)
{
    char *copy = strdup(text ? text : "");
    if (!copy)
        *status = AT_NO_MEMORY;
    return copy;
}

static at_status fill_in(script *s, const char *path, const script_options *options,
                         at_error *error)
{
    at_status status = AT_OK;
    s->options = *options;
    s->path = duplicate(path, &status);
    s->folder = duplicate(path, &status);
    s->lua_dir = duplicate(options->lua_dir, &status);
    s->template_dir = duplicate(options->template_dir, &status);
    s->hash = XXH3_createState();
    if (status || !s->hash)
        return error_set(error, AT_NO_MEMORY, "out of memory while loading %s", path);
    char *slash = strrchr(s->folder, '/');
    if (slash)
        slash[slash == s->folder] = '\0';
    else
        strcpy(s->folder, path[0] ? "." : "");
    XXH3_128bits_reset(s->hash);
    return AT_OK;
}

at_status script_load(const char *path, const script_options *options, script **out,
                      at_error *error)
{
    *out = NULL;
    script *s = calloc(1, sizeof *s);
    if (!s)
        return error_set(error, AT_NO_MEMORY, "out of memory while loading %s", path);
    at_status status = fill_in(s, path, options, error);
    if (!status)
        status = sandbox_init(&s->box, s->path, options->memory_limit_bytes,
                              options->instruction_limit, error);
    if (!status)
        status = sandbox_call(&s->box, load, s, true, error);
    if (status) {
        script_free(s);
        return status;
    }
    s->options.settings = NULL;
    s->options.setting_count = 0;
    *out = s;
    return AT_OK;
}

void script_free(script *s)
{
    if (!s)
        return;
    sandbox_deinit(&s->box);
    while (s->arena) {
        arena_block *next = s->arena->next;
        free(s->arena);
        s->arena = next;
    }
    free(s->source.bytes);
    XXH3_freeState(s->hash);
    free(s->path);
    free(s->folder);
    free(s->lua_dir);
    free(s->template_dir);
    free(s);
}

const pattern *script_pattern(const script *s)
{
    return &s->pattern;
}

void script_hash(const script *s, char hex[33])
{
    hash_text(XXH3_128bits_digest(s->hash), hex);
}
