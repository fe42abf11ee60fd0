#include "script/script.h"

#include <lauxlib.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/pack.h"
#include "script/state.h"

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
    const char *const folders[] = {s->from.folder, s->from.lua_dir};
    if (!script_find_file(folders, 2, relative, path, sizeof path)) {
        static const char *const own[] = {"autotune"};
        char absent[SCRIPT_ABSENT_BYTES], meant[SCRIPT_MEANT_BYTES];
        luaL_error(L, "require: there is no '%s' %s%s", relative,
                   script_absent(folders, 2, relative, absent),
                   script_meant(nearest_name(name, own, 1), meant));
    }
    /* Errors in the tool's own modules are reported at the line that calls the module. */
    bool is_own =
        s->lua.quiet_modules && strncmp(path, s->from.lua_dir, strlen(s->from.lua_dir)) == 0;
    snprintf(chunk_name, sizeof chunk_name, "%c%s", is_own ? '=' : '@', path);
    script_bytes *source = script_new_bytes(L);
    lua_pushvalue(L, lua_upvalueindex(2));
    script_load_file(L, path, chunk_name, source);
    lua_pushstring(L, name);
    lua_call(L, 1, 1);
}

/* Upvalues: the modules by name, and the environment of scripts. */
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

void script_add_require(lua_State *L)
{
    lua_newtable(L);
    lua_pushvalue(L, -2);
    lua_pushcclosure(L, require_module, 2);
    lua_setfield(L, -2, "require");
}

static int reserve_reference(lua_State *L)
{
    lua_pushboolean(L, 0);
    return luaL_ref(L, LUA_REGISTRYINDEX);
}

static void make_environments(lua_State *L, script *s)
{
    s->lua.declared = reserve_reference(L);
    s->lua.token = reserve_reference(L);
    lua_newtable(L);
    s->lua.kept_strings = luaL_ref(L, LUA_REGISTRYINDEX);
    lua_newtable(L);
    s->lua.interned = luaL_ref(L, LUA_REGISTRYINDEX);

    sandbox_push_environment(L);
    script_add_helpers(L);
    s->lua.expression_environment = luaL_ref(L, LUA_REGISTRYINDEX);
    sandbox_push_environment(L);
    script_add_helpers(L);
    s->lua.template_environment = luaL_ref(L, LUA_REGISTRYINDEX);
}

/* Runs the script with the environment on top of the stack, and leaves its result there. */
static void load_script(lua_State *L, script *s)
{
    char chunk_name[PATH_MAX + 1];
    snprintf(chunk_name, sizeof chunk_name, "@%s", s->from.path);
    script_load_file(L, s->from.path, chunk_name, &s->from.source);
    s->box.line = source_line(script_source_text(s), NULL, 0);
    lua_call(L, 0, 1);
    s->box.line = 0;
}

static int load(lua_State *L)
{
    script *s = lua_touserdata(L, 1);
    make_environments(L, s);
    if (!s->options.without_templates)
        emit_open(L);

    sandbox_push_environment(L);
    script_add_require(L);

    if (s->from.is_described)
        script_load_described(L);
    else
        load_script(L, s);

    lua_rawgeti(L, LUA_REGISTRYINDEX, s->lua.token);
    if (!lua_istable(L, -1) || !lua_rawequal(L, -1, -2))
        sandbox_raise(L, AT_SCRIPT, s->from.path, 0,
                      "the script returns no pattern: end it with 'return at.pattern { ... }'");
    lua_rawgeti(L, LUA_REGISTRYINDEX, s->lua.declared);
    script_read_pattern(L);
    if (!s->options.without_templates)
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

static at_status init_script(script *s, const char *path, const script_options *options,
                             at_error *error)
{
    at_status status = AT_OK;
    s->options = *options;
    s->from.is_described = script_is_kernel_file(path);
    const size_t length = strlen(path);
    if (length > 5 && strcmp(path + length - 5, ".json") == 0)
        return error_set(error, AT_USAGE,
                         "%s is not a script. To convert a T1 file, run 'python -m autotune.t1 %s "
                         "> pattern.lua'; for records and measurements, use 'autotune results', "
                         "'plot' or 'compare'",
                         path, path);
    /* Messages about fields have this path. */
    s->from.path = duplicate(options->describe ? options->describe : path, &status);
    s->from.kernel_path = duplicate(path, &status);
    s->from.folder = duplicate(path, &status);
    s->from.lua_dir = duplicate(options->lua_dir, &status);
    s->from.template_dir = duplicate(options->template_dir, &status);
    for (size_t i = 0; i < options->include_count && i < SCRIPT_INCLUDES_MAX; i++)
        s->from.includes[s->from.include_count++] = duplicate(options->includes[i], &status);
    s->from.hash = XXH3_createState();
    s->expressions = tree_new();
    if (options->describe && !s->from.is_described)
        return error_set(error, AT_USAGE,
                         "--describe is for a kernel's own file (.cu); %s describes itself", path);
    if (status || !s->from.hash || !s->expressions)
        return error_set(error, AT_NO_MEMORY, "out of memory while loading %s", path);
    char *slash = strrchr(s->from.folder, '/');
    if (slash)
        slash[slash == s->from.folder] = '\0';
    else
        strcpy(s->from.folder, path[0] ? "." : "");
    XXH3_128bits_reset(s->from.hash);
    return AT_OK;
}

static at_status prepare(const char *path, const script_options *options, script **out,
                         at_error *error)
{
    script *s = *out = calloc(1, sizeof *s);
    if (!s)
        return error_set(error, AT_NO_MEMORY, "out of memory while loading %s", path);
    at_status status = init_script(s, path, options, error);
    if (!status)
        status = sandbox_init(&s->box, s->from.path, options->memory_limit_bytes,
                              options->instruction_limit, error);
    s->box.stop = options->stop;
    s->box.stop_context = options->stop_context;
    return status ? status : sandbox_open_library(&s->box, error);
}

at_status script_load(const char *path, const script_options *options, script **out,
                      at_error *error)
{
    script *s;
    *out = NULL;
    at_status status = prepare(path, options, &s, error);
    if (!status)
        status = sandbox_call(&s->box, load, s, true, error);
    if (status) {
        script_free(s);
        return status;
    }
    s->options.settings = NULL;
    s->options.setting_count = 0;
    s->options.includes = NULL;
    s->options.include_count = 0;
    s->options.only = NULL;
    s->options.only_count = 0;
    *out = s;
    return AT_OK;
}

at_status script_sketch(const char *path, const script_sketch_of *of, const script_options *options,
                        char **comment, at_error *error)
{
    script *s;
    *comment = NULL;
    if (!script_is_kernel_file(path))
        return error_set(error, AT_USAGE, "%s is not a CUDA C++ file (.cu)", path);
    at_status status = prepare(path, options, &s, error);
    if (!status) {
        s->sketch.wanted = true;
        s->sketch.of = *of;
        status = sandbox_call(&s->box, load, s, true, error);
    }
    if (s && s->sketch.text) {
        *comment = s->sketch.text;
        s->sketch.text = NULL;
        status = error_ignore(status, AT_NOT_FOUND, error);
    }
    script_free(s);
    return status;
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
    for (size_t i = 0; i < s->data.file_count; i++)
        data_file_free(s->data.files[i]);
    free(s->data.files);
    for (size_t i = 0; i < s->data.list_count; i++)
        data_file_free(s->data.lists[i]);
    free(s->data.lists);
    tree_free(s->expressions);
    free(s->from.source.bytes);
    kernel_file_deinit(&s->kernel_source);
    kernel_syntax_free(s->kernel_syntax);
    XXH3_freeState(s->from.hash);
    free(s->from.path);
    free(s->from.kernel_path);
    free(s->from.folder);
    free(s->from.lua_dir);
    free(s->from.template_dir);
    for (size_t i = 0; i < s->from.include_count; i++)
        free(s->from.includes[i]);
    free(s);
}

const pattern *script_pattern(const script *s)
{
    return &s->pattern;
}

uint64_t script_instructions_spent(const script *s)
{
    return s->box.instructions_spent;
}

const char *script_warning_text(const script *s, size_t place, int *line)
{
    const script_warning *w = s->warnings;
    while (w && place-- > 0)
        w = w->next;
    *line = w ? w->line : 0;
    return w ? w->text : NULL;
}

int script_field_line(const script *s, const char *field, const char *key)
{
    const source_step steps[] = {{field, 0}, {key, 0}};
    return source_line(script_source_text(s), steps, key ? 2 : 1);
}

bool script_has_field(const script *s, const char *field)
{
    token key;
    for (size_t n = 0; source_key(script_source_text(s), NULL, 0, n, &key); n++)
        if (key.length == strlen(field) && memcmp(key.text, field, key.length) == 0)
            return true;
    return false;
}

void script_report_repeated_keys(const script *s,
                                 void (*tell)(void *context, const char *path, int line,
                                              const char *text),
                                 void *context)
{
    token keys[32];
    const size_t count =
        source_repeated_keys(script_source_text(s), keys, sizeof keys / sizeof *keys);
    for (size_t i = 0; i < count; i++) {
        char text[256];
        snprintf(
            text, sizeof text,
            "'%.*s' is written twice in this table, and only the last value counts: remove one",
            keys[i].length < 100 ? (int)keys[i].length : 100, keys[i].text);
        tell(context, s->pattern.path, keys[i].line, text);
    }
}

bool script_file(const script *s, const kernel_file **file, const char *const **defines,
                 size_t *define_count)
{
    *file = &s->kernel_source;
    *defines = s->kernel.defines;
    *define_count = s->kernel.define_count;
    return s->kernel.is_file;
}

void script_hash(const script *s, char hex[33])
{
    XXH3_state_t *state = XXH3_createState();
    unsigned char key[DATA_KEY_BYTES];
    hash_text(XXH3_128bits_digest(s->from.hash), hex);
    if (!state)
        return;
    /* Hashes the data, too, because with other data the script is another pattern. */
    XXH3_copyState(state, s->from.hash);
    for (size_t i = 0; i < s->data.file_count; i++)
        if (!data_file_key(s->data.files[i], key, NULL))
            XXH3_128bits_update(state, key, sizeof key);
    hash_text(XXH3_128bits_digest(state), hex);
    XXH3_freeState(state);
}
