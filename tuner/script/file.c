/* Opens files of the user's data (at.file of autotune.lua), which scripts name but do not read. */
#include <lauxlib.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "script/state.h"

enum { MOST_FILES = 64 };

static void push_description(lua_State *L, const data_file *f, size_t number)
{
    const data_description *about = data_file_describe(f);
    lua_createtable(L, 0, 4);
    set_integer(L, "number", (lua_Integer)number);
    set_integer(L, "count", (lua_Integer)about->count);
    set_text(L, "dtype", dtype_get(about->type)->name);
    set_integers(L, "shape", about->shape, about->rank);
}

enum { WHY_BYTES = SCRIPT_ABSENT_BYTES + 128 };

/* Finds the file. Returns NULL, or the reason why the file cannot be used, written into `why`. */
static const char *find_path(const script *s, const char *name, char path[PATH_MAX],
                             char why[WHY_BYTES])
{
    const char *const folders[] = {s->from.folder};
    char absent[SCRIPT_ABSENT_BYTES];
    if (script_find_file(folders, 1, name, path, PATH_MAX))
        return NULL;
    snprintf(why, WHY_BYTES, "there is no file '%.100s' %s", name,
             script_absent(folders, 1, name, absent));
    return why;
}

static size_t find_open(const script *s, const char *path, const dtype *raw)
{
    for (size_t i = 0; i < s->data.file_count; i++) {
        const data_description *about = data_file_describe(s->data.files[i]);
        if (strcmp(about->path, path) == 0 && (!raw || about->type == *raw))
            return i + 1;
    }
    return 0;
}

static at_status open_file(script *s, const char *path, const dtype *raw, size_t *number,
                           at_error *error)
{
    data_file *f;
    *number = find_open(s, path, raw);
    if (*number)
        return AT_OK;
    at_status status = data_file_open(path, raw, &f, error);
    if (status)
        return status;
    if (!array_add(&s->data.files, &s->data.file_count, &f, sizeof f)) {
        data_file_free(f);
        return error_no_memory(error);
    }
    *number = s->data.file_count;
    return AT_OK;
}

int script_open_file(lua_State *L)
{
    script *s = script_of(L);
    const char *name = luaL_checkstring(L, 1);
    const char *wanted = luaL_optstring(L, 2, NULL);
    char path[PATH_MAX], why[WHY_BYTES];
    dtype raw = DTYPE_COUNT;
    size_t number = 0;
    at_error error = {0};
    const char *missing = find_path(s, name, path, why);
    if (!missing && wanted && !dtype_find(wanted, &raw))
        missing = "its dtype is not an element type: write float, half, int32 ... ('autotune help "
                  "scripts' lists all)";
    if (!missing && s->data.file_count == MOST_FILES)
        missing = "the script opens more than 64 files, the most that are allowed";
    if (!missing && open_file(s, path, wanted ? &raw : NULL, &number, &error)) {
        if (error.status == AT_NO_MEMORY)
            sandbox_raise_memory(L);
        missing = error.message;
    }
    if (!missing) {
        push_description(L, s->data.files[number - 1], number);
        return 1;
    }
    lua_pushnil(L);
    lua_pushstring(L, missing);
    return 2;
}

bool script_keep_file(lua_State *L, data_file *f)
{
    script *s = script_of(L);
    if (s->data.file_count == MOST_FILES)
        return false;
    if (!array_add(&s->data.files, &s->data.file_count, &f, sizeof f)) {
        data_file_free(f);
        sandbox_raise_memory(L);
    }
    push_description(L, f, s->data.file_count);
    return true;
}

data_file *script_numbered_file(const script *s, int number)
{
    return number > 0 ? s->data.files[number - 1] : NULL;
}

void script_file_key(lua_State *L, data_file *f, data_key *out)
{
    at_error error = {0};
    if (data_file_key(f, out->bytes, &error))
        sandbox_raise_error(L, &error);
}

static data_file *find_key(data_file *const *files, size_t count, const data_key *key)
{
    data_key own;
    for (size_t i = 0; i < count; i++)
        if (!data_file_key(files[i], own.bytes, NULL) &&
            memcmp(own.bytes, key->bytes, sizeof own.bytes) == 0)
            return files[i];
    return NULL;
}

data_file *script_data(const script *s, const data_key *key)
{
    data_file *f = find_key(s->data.files, s->data.file_count, key);
    return f ? f : find_key(s->data.lists, s->data.list_count, key);
}

void script_keep_list(lua_State *L, const char *buffer, dtype type, const void *values,
                      uint32_t value_count, uint64_t count, data_key *out)
{
    script *s = script_of(L);
    data_file *f;
    at_error error = {0};
    at_status status = data_file_repeat(buffer, type, values, value_count, count, &f, &error);
    if (!status)
        status = data_file_key(f, out->bytes, &error);
    bool kept = !status && !find_key(s->data.lists, s->data.list_count, out);
    if (kept && !array_add(&s->data.lists, &s->data.list_count, &f, sizeof f)) {
        status = error_no_memory(&error);
        kept = false;
    }
    if (!kept)
        data_file_free(f);
    if (status)
        sandbox_raise_error(L, &error);
}

at_status script_contents_load(const script *s, const problem_plan *plan, script_contents *out,
                               at_error *error)
{
    static const uint64_t most_bytes = UINT64_C(1) << 30;
    uint64_t all = 0;
    at_status status = AT_OK;
    *out = (script_contents){{NULL}};
    for (uint32_t i = 0; !status && i < plan->buffer_count; i++) {
        const buffer_plan *b = &plan->buffers[i];
        void *bytes;
        if (b->fill != FILL_FILE)
            continue;
        all += plan_buffer_bytes(b);
        if (all > most_bytes)
            return error_set(
                error, AT_USAGE,
                "its data files are larger than 1 GiB, the limit of simulated devices");
        status = data_file_head(script_data(s, &b->data), plan_buffer_bytes(b), &bytes, error);
        if (!status)
            out->of[i] = bytes;
    }
    return status;
}

void script_contents_deinit(script_contents *c)
{
    for (size_t i = 0; i < PLAN_MAX_BUFFERS; i++)
        free((void *)(uintptr_t)c->of[i]);
    *c = (script_contents){{NULL}};
}
