#include "script/state.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/file.h"
#include "base/paths.h"
#include "base/text.h"

script *script_of(lua_State *L)
{
    return (script *)(void *)sandbox_of(L); /* `box` is the first member of script. */
}

void *script_allocate(lua_State *L, size_t size_bytes)
{
    script *s = script_of(L);
    size_t header = (sizeof(arena_block) + 15) / 16 * 16;
    arena_block *block = calloc(1, header + size_bytes);
    if (!block)
        sandbox_raise(L, AT_NO_MEMORY, NULL, 0, "out of memory while loading %s", s->from.path);
    block->next = s->arena;
    s->arena = block;
    return (char *)block + header;
}

const char *script_copy(lua_State *L, const char *text)
{
    size_t size_bytes = strlen(text) + 1;
    return memcpy(script_allocate(L, size_bytes), text, size_bytes);
}

void script_push_value(lua_State *L, value v)
{
    switch (v.kind) {
    case VALUE_INTEGER:
        lua_pushinteger(L, v.integer);
        break;
    case VALUE_NUMBER:
        lua_pushnumber(L, v.number);
        break;
    case VALUE_BOOLEAN:
        lua_pushboolean(L, v.boolean);
        break;
    case VALUE_STRING:
        lua_pushstring(L, v.string);
        break;
    }
}

const char *script_intern(lua_State *L, const char *text)
{
    lua_rawgeti(L, LUA_REGISTRYINDEX, script_of(L)->lua.interned);
    lua_pushstring(L, text);
    lua_pushvalue(L, -1);
    const char *copy;
    if (lua_rawget(L, -3) == LUA_TLIGHTUSERDATA) {
        copy = lua_touserdata(L, -1);
        lua_pop(L, 3);
        return copy;
    }
    lua_pop(L, 1);
    copy = script_copy(L, text);
    lua_pushlightuserdata(L, (void *)(uintptr_t)copy);
    lua_rawset(L, -3);
    lua_pop(L, 1);
    return copy;
}

at_status script_read_file(const char *path, script_bytes *out, at_error *error)
{
    *out = (script_bytes){0};
    at_status status = file_read(path, SCRIPT_MAX_FILE_BYTES, &out->bytes, &out->size_bytes, error);
    if (status == AT_FORMAT)
        status =
            error_set(error, AT_IO, "%s is larger than %d MiB, the limit for scripts and templates",
                      path, SCRIPT_MAX_FILE_BYTES >> 20);
    return status;
}

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
    return paths_below(real_folder, real_path) || strcmp(real_folder, "/") == 0;
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

size_t script_include_folders(const script *s, const script_kernel *k,
                              const char *folders[SCRIPT_MAX_INCLUDES + 2])
{
    size_t count = 0;
    folders[count++] = s->from.folder;
    for (size_t i = 0; i < k->include_count; i++)
        folders[count++] = k->includes[i];
    for (size_t i = 0; i < s->from.include_count; i++)
        folders[count++] = s->from.includes[i];
    folders[count++] = s->from.template_dir;
    return count;
}

const char script_link_text[] =
    ": the file of that name is a link that leaves the folder, of which scripts read nothing else; "
    "copy it there, or put the script beside what it links to";

bool script_leads_out(const char *const *folders, size_t folder_count, const char *name)
{
    char path[PATH_MAX];
    for (size_t i = 0; is_plain_path(name) && i < folder_count; i++) {
        int n = snprintf(path, sizeof path, "%s/%s", folders[i], name);
        if (n < 0 || (size_t)n >= sizeof path || access(path, F_OK) != 0 ||
            is_below(folders[i], path))
            continue;
        return true;
    }
    return false;
}

const char *script_absent(const char *const *folders, size_t folder_count, const char *name,
                          char text[SCRIPT_ABSENT_BYTES])
{
    char nearest[NAME_MAX + 1], meant[SCRIPT_MEANT_BYTES];
    *text = '\0';
    for (size_t i = 0; i < folder_count; i++)
        text_add(text, SCRIPT_ABSENT_BYTES,
                 i == 0 ? "in the script's folder (%.400s)" : " nor in %.400s", folders[i]);
    if (script_leads_out(folders, folder_count, name))
        text_add(text, SCRIPT_ABSENT_BYTES, "%s", script_link_text);
    else if (is_plain_path(name))
        for (size_t i = 0; i < folder_count; i++)
            if (paths_nearest_file(folders[i], name, nearest)) {
                text_add(text, SCRIPT_ABSENT_BYTES, "%s", script_meant(nearest, meant));
                break;
            }
    return text;
}

int script_push_absent(lua_State *L, const char *const *folders, size_t folder_count,
                       const char *name)
{
    char text[SCRIPT_ABSENT_BYTES];
    lua_pushnil(L);
    lua_pushstring(L, script_absent(folders, folder_count, name, text));
    return 2;
}

/* Frees a file's bytes. A userdata owns them, because Lua may jump out with an error. */
static int free_range(lua_State *L)
{
    script_bytes *range = lua_touserdata(L, 1);
    free(range->bytes);
    range->bytes = NULL;
    return 0;
}

script_bytes *script_new_bytes(lua_State *L)
{
    script_bytes *range = lua_newuserdatauv(L, sizeof *range, 0);
    *range = (script_bytes){0};
    lua_createtable(L, 0, 1);
    lua_pushcfunction(L, free_range);
    lua_setfield(L, -2, "__gc");
    lua_setmetatable(L, -2);
    return range;
}

const char *script_nearest_name(lua_State *L, int environment, const char *name)
{
    const script *s = script_of(L);
    const char *known[3 * SCRIPT_MAX_NAMES + 128];
    size_t count = 0;
    for (size_t i = 0; i < s->pattern.parameter_count; i++)
        known[count++] = s->space.parameters[i].name;
    for (size_t i = 0; i < s->pattern.problem_count; i++)
        known[count++] = s->problems[PROBLEM_TUNED][i].name;
    for (size_t i = 0; i < s->space.derived_count; i++)
        known[count++] = s->space.derived[i].name;
    int top = lua_gettop(L);
    lua_rawgeti(L, LUA_REGISTRYINDEX, environment);
    lua_pushnil(L);
    while (count < sizeof known / sizeof *known && lua_next(L, -2)) {
        lua_pop(L, 1);
        known[count++] = lua_tostring(L, -1);
    }
    lua_settop(L, top);
    return nearest_name(name, known, count);
}

const char *script_meant(const char *nearest, char text[SCRIPT_MEANT_BYTES])
{
    snprintf(text, SCRIPT_MEANT_BYTES, nearest ? "; did you mean '%s'?" : "", nearest);
    return text;
}

const char *script_nearest_dtype(const char *name)
{
    const char *names[DTYPE_COUNT];
    for (int i = 0; i < DTYPE_COUNT; i++)
        names[i] = dtype_get((dtype)i)->name;
    return nearest_name(name, names, DTYPE_COUNT);
}

const char *expression_input_name(const script *s, expression_input input)
{
    return input.is_parameter ? s->space.parameters[input.index].name
                              : s->problems[PROBLEM_TUNED][input.index].name;
}

source_text script_source_text(const script *s)
{
    return (source_text){.text = s->from.source.bytes,
                         .size_bytes = s->from.source.size_bytes,
                         .bare = s->from.is_described};
}

const char *script_kernel_file_name(const script *s)
{
    const char *slash = strrchr(s->from.kernel_path, '/');
    return slash ? slash + 1 : s->from.kernel_path;
}
