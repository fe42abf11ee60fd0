/* Functions for lua/lib/kernel_file.lua and the modules beside it: the kernel's own file. */
#include <lauxlib.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/value.h"
#include "cpp/usage.h"
#include "script/kernel_file.h"
#include "script/state.h"

static void push_span(lua_State *L, cpp_span s)
{
    lua_pushlstring(L, s.text, s.length);
}

static void set_span(lua_State *L, const char *field, cpp_span s)
{
    push_span(L, s);
    lua_setfield(L, -2, field);
}

static void push_parameters(lua_State *L, cpp_span list)
{
    cpp_parameter parameters[CPP_MAX_PARAMETERS];
    size_t count = cpp_parameters(list, parameters, CPP_MAX_PARAMETERS);
    if (count > CPP_MAX_PARAMETERS)
        count = CPP_MAX_PARAMETERS;
    lua_createtable(L, (int)count, 0);
    for (size_t i = 0; i < count; i++) {
        lua_createtable(L, 0, 2);
        set_span(L, "name", parameters[i].name);
        set_span(L, "text", parameters[i].text);
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
}

/* Pushes the kernels that have a body, or those that are only declared. */
static void push_kernels(lua_State *L, const kernel_file *k, bool has_body)
{
    lua_newtable(L);
    lua_Integer n = 0;
    for (size_t u = 0; u < k->count; u++)
        for (size_t i = 0; i < k->units[u].declaration_count; i++) {
            const cpp_declaration *d = &k->units[u].declarations[i];
            if (d->has_body != has_body || d->member || !cpp_is_kernel(k->units, k->count, d))
                continue;
            lua_createtable(L, 0, 9);
            set_span(L, "text", d->span);
            set_span(L, "name", d->name);
            set_integer(L, "line", d->line);
            set_text(L, "file", k->names[u]);
            set_text(L, "scope", d->scope);
            set_span(L, "template", d->template_of);
            push_parameters(L, d->parameters);
            lua_setfield(L, -2, "params");
            lua_rawseti(L, -2, ++n);
        }
}

/* Pushes macros without parameters and constants, each { name, value, line, file, constant }. */
static void push_macros(lua_State *L, const kernel_file *k)
{
    lua_newtable(L);
    lua_Integer n = 0;
    for (size_t u = 0; u < k->count; u++)
        for (size_t i = 0; i < k->units[u].macro_count; i++) {
            const cpp_macro *m = &k->units[u].macros[i];
            if (m->has_parameters)
                continue;
            lua_createtable(L, 0, 5);
            set_span(L, "name", m->name);
            set_span(L, "value", m->value);
            set_integer(L, "line", m->line);
            set_text(L, "file", k->names[u]);
            set_boolean(L, "constant", m->is_constant);
            lua_rawseti(L, -2, ++n);
        }
}

static void add_word(lua_State *L, cpp_span word)
{
    push_span(L, word);
    lua_pushboolean(L, 1);
    lua_rawset(L, -3);
}

static void add_words(lua_State *L, cpp_span text)
{
    cpp_lexer l = cpp_lexer_make(text.text, text.length, 1);
    for (cpp_token t = cpp_next(&l); t.kind != CPP_END; t = cpp_next(&l)) {
        if (t.kind == CPP_DIRECTIVE) {
            add_words(L, (cpp_span){t.span.text + 1, t.span.length - 1});
            continue;
        }
        if (t.kind == CPP_WORD)
            add_word(L, t.span);
    }
}

/* host.open_kernel(name) returns { kernels, prototypes, macros, words }, or nil and
 * the end of a message if the file does not exist. */
static int host_open_kernel(lua_State *L)
{
    script *s = script_of(L);
    const char *name = luaL_checkstring(L, 1);
    const char *const folders[] = {s->from.folder};
    char path[PATH_MAX];
    if (!script_find_file(folders, 1, name, path, sizeof path))
        return script_push_absent(L, folders, 1, name);
    at_error error = {0};
    script_kernel named = {0};
    lua_settop(L, 2);
    fields_includes(L, s, &named);
    kernel_file_deinit(&s->kernel_source);
    /* Messages name the file as the user wrote it. */
    const bool is_script = s->from.is_described && strcmp(name, script_kernel_file_name(s)) == 0;
    const char *around[SCRIPT_MAX_INCLUDES + 2];
    const size_t around_count = script_include_folders(s, &named, around) - 1;
    if (kernel_file_read(name, is_script ? s->from.kernel_path : path, around, around_count,
                         &s->kernel_source, &error))
        sandbox_raise_error(L, &error);
    const kernel_file *k = &s->kernel_source;
    lua_createtable(L, 0, 5);
    push_kernels(L, k, true);
    lua_setfield(L, -2, "kernels");
    push_kernels(L, k, false);
    lua_setfield(L, -2, "prototypes");
    push_macros(L, k);
    lua_setfield(L, -2, "macros");
    lua_newtable(L);
    for (size_t u = 0; u < k->count; u++) {
        sandbox_charge(L, k->units[u].length / 4);
        add_words(L, (cpp_span){k->units[u].text, k->units[u].length});
    }
    lua_setfield(L, -2, "words");
    return 1;
}

static size_t read_spans(lua_State *L, int index, cpp_span *out, size_t capacity)
{
    size_t count = 0;
    luaL_checktype(L, index, LUA_TTABLE);
    while (count < capacity && lua_rawgeti(L, index, (lua_Integer)count + 1) == LUA_TSTRING) {
        out[count].text = lua_tolstring(L, -1, &out[count].length); /* the table keeps it alive */
        count++;
        lua_pop(L, 1);
    }
    return count;
}

/* host.cut_kernel(roots, given, is_device): see kernel_cut() */
static int host_cut_kernel(lua_State *L)
{
    script *s = script_of(L);
    kernel_file *k = &s->kernel_source;
    cpp_span roots[SCRIPT_MAX_NAMES], given[3 * SCRIPT_MAX_NAMES];
    size_t root_count = read_spans(L, 1, roots, SCRIPT_MAX_NAMES);
    size_t given_count = read_spans(L, 2, given, sizeof given / sizeof *given);
    at_error error = {0};
    k->is_device = lua_toboolean(L, 3);
    if (kernel_cut(k, roots, root_count, given, given_count, s->from.template_dir,
                   &s->options.compiler, &error))
        sandbox_raise_error(L, &error);
    for (size_t i = 0; i < k->count; i++)
        XXH3_128bits_update(s->from.hash, k->texts[i], strlen(k->texts[i]) + 1);
    return 0;
}

static void push_argument(lua_State *L, const cpp_argument *a)
{
    lua_createtable(L, 0, 6);
    set_boolean(L, "pointer", a->is_pointer);
    set_boolean(L, "const", a->is_const);
    set_integer(L, "lanes", a->lanes);
    set_integer(L, "bytes", a->bytes);
    set_text(L, "type",
             a->type >= 0 && a->type < DTYPE_COUNT ? dtype_get((dtype)a->type)->name
             : a->type == CPP_TYPE_BOOL            ? "bool"
             : a->type == CPP_TYPE_POINTER         ? "pointer"
                                                   : NULL);
    set_boolean(L, "empty", a->type == CPP_TYPE_EMPTY);
}

/* host.kernel_signature(entry, defines, options) returns the kernel's parameters. If the file does
 * not compile, returns nil, the compiler's log, the missing headers, and a file that includes the
 * file. */
static int host_kernel_signature(lua_State *L)
{
    script *s = script_of(L);
    const char *options[SCRIPT_MAX_OPTIONS];
    size_t option_count = 0, count;
    cpp_argument arguments[CPP_MAX_PARAMETERS];
    luaL_checktype(L, 3, LUA_TTABLE);
    while (option_count < SCRIPT_MAX_OPTIONS &&
           lua_rawgeti(L, 3, (lua_Integer)option_count + 1) == LUA_TSTRING) {
        options[option_count++] = lua_tostring(L, -1);
        lua_pop(L, 1);
    }
    at_error error = {0};
    char *log;
    at_status status = kernel_signature(
        &s->kernel_source, luaL_checkstring(L, 1), luaL_checkstring(L, 2), options, option_count,
        s->from.template_dir, &s->options.compiler, arguments, &count, &log, &error);
    if (status == AT_COMPILE) {
        char includer[NAME_MAX + 1];
        lua_pushnil(L);
        lua_pushstring(L, log ? log : "");
        free(log);
        lua_pushstring(L, s->kernel_source.missing); /* pushes nil for NULL */
        lua_pushstring(
            L, kernel_includer(s->kernel_source.path, includer, sizeof includer) ? includer : NULL);
        return 4;
    }
    free(log);
    if (status)
        sandbox_raise_error(L, &error);
    lua_createtable(L, (int)count, 0);
    for (size_t i = 0; i < count; i++) {
        push_argument(L, &arguments[i]);
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    return 1;
}

/* host.kernel_words() returns a set of the words that the kernel needs, also by macros. */
static int host_kernel_words(lua_State *L)
{
    const kernel_file *k = &script_of(L)->kernel_source;
    lua_newtable(L);
    for (size_t u = 0; u < k->count; u++)
        for (size_t i = 0; i < k->units[u].declaration_count; i++)
            if (k->units[u].declarations[i].wanted)
                add_words(L, k->units[u].declarations[i].span);
    for (int depth = 0; depth < 4; depth++)
        for (size_t u = 0; u < k->count; u++)
            for (size_t i = 0; i < k->units[u].macro_count; i++) {
                const cpp_macro *m = &k->units[u].macros[i];
                push_span(L, m->name);
                if (lua_rawget(L, -2) != LUA_TNIL) {
                    lua_pop(L, 1);
                    add_words(L, m->value);
                } else {
                    lua_pop(L, 1);
                }
            }
    return 1;
}

/* Reads a module variable: its type (the words before its name, without qualifiers), its extents,
 * and whether a value follows. Returns false for other variables. */
static bool read_variable(const cpp_unit *u, const cpp_declaration *d, luaL_Buffer *type,
                          cpp_span *extents, size_t *extent_count, bool *has_value)
{
    static const char *const qualifiers[] = {"static",     "extern",       "const",
                                             "volatile",   "inline",       "constexpr",
                                             "__device__", "__constant__", NULL};
    const cpp_span name = u->names[d->first_name];
    bool of_module = false, after_name = false;
    *extent_count = 0;
    *has_value = false;
    cpp_lexer l = cpp_lexer_make(d->span.text, d->span.length, 1);
    for (cpp_token t = cpp_next(&l); t.kind != CPP_END; t = cpp_next(&l)) {
        *has_value = after_name && (cpp_is(t, "=") || cpp_is(t, "{"));
        if (*has_value)
            break;
        if (cpp_is(t, "{") || cpp_is(t, "(") || cpp_is(t, "*") || cpp_is(t, "extern"))
            return false;
        of_module = of_module || cpp_is(t, "__constant__") || cpp_is(t, "__device__");
        after_name = after_name || t.span.text == name.text;
        const bool is_type = !after_name && t.kind == CPP_WORD && !cpp_is_any(t, qualifiers);
        if (is_type && luaL_bufflen(type) > 0)
            luaL_addchar(type, ' ');
        if (is_type)
            luaL_addlstring(type, t.span.text, t.span.length);
        if (!after_name || !cpp_is(t, "[") || *extent_count == CPP_MAX_PARAMETERS)
            continue;
        const char *begin = t.span.text + 1;
        while (t.kind != CPP_END && !cpp_is(t, "]"))
            t = cpp_next(&l);
        extents[(*extent_count)++] = (cpp_span){begin, (size_t)(t.span.text - begin)};
    }
    return of_module;
}

/* host.variables() returns a list of { name, type, extents, has_value, line, file }. */
static int host_variables(lua_State *L)
{
    const kernel_file *k = &script_of(L)->kernel_source;
    lua_newtable(L);
    lua_Integer n = 0;
    for (size_t u = 0; u < k->count; u++)
        for (size_t i = 0; i < k->units[u].declaration_count; i++) {
            const cpp_declaration *d = &k->units[u].declarations[i];
            if (!d->wanted || d->member || d->kind != CPP_VARIABLE || d->name_count != 1)
                continue;
            luaL_Buffer type;
            cpp_span extents[CPP_MAX_PARAMETERS];
            size_t extent_count;
            bool has_value;
            luaL_buffinit(L, &type);
            const bool found =
                read_variable(&k->units[u], d, &type, extents, &extent_count, &has_value);
            luaL_pushresult(&type);
            if (!found) {
                lua_pop(L, 1);
                continue;
            }
            lua_createtable(L, 0, 6);
            lua_insert(L, -2);
            lua_setfield(L, -2, "type");
            set_boolean(L, "has_value", has_value);
            set_span(L, "name", k->units[u].names[d->first_name]);
            set_integer(L, "line", d->line);
            set_text(L, "file", k->names[u]);
            lua_createtable(L, (int)extent_count, 0);
            for (size_t e = 0; e < extent_count; e++) {
                push_span(L, extents[e]);
                lua_rawseti(L, -2, (lua_Integer)e + 1);
            }
            lua_setfield(L, -2, "extents");
            lua_rawseti(L, -2, ++n);
        }
    return 1;
}

/* host.launches(kernel) returns the launches of a kernel, each { arguments, at }. */
static int host_launches(lua_State *L)
{
    enum { MOST = 8 };
    const kernel_file *k = &script_of(L)->kernel_source;
    const char *name = luaL_checkstring(L, 1);
    cpp_launch found[MOST];
    const size_t n =
        cpp_find_launches(k->units, k->count, (cpp_span){name, strlen(name)}, found, MOST);
    lua_createtable(L, (int)n, 0);
    for (size_t i = 0; i < n; i++) {
        lua_createtable(L, 0, 2);
        set_span(L, "arguments", found[i].arguments);
        const char *file = k->names[found[i].unit], *slash = strrchr(file, '/');
        lua_pushfstring(L, "%s:%d", slash ? slash + 1 : file, found[i].line);
        lua_setfield(L, -2, "at");
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    return 1;
}

/* host.texts(needed) returns the texts of the file and its headers, or those of the declarations
 * that the kernel needs, with the values of the macros with parameters among them. */
static int host_texts(lua_State *L)
{
    const kernel_file *k = &script_of(L)->kernel_source;
    const bool needed = lua_toboolean(L, 1);
    lua_Integer n = 0;
    lua_newtable(L);
    for (size_t u = 0; u < k->count; u++) {
        sandbox_charge(L, k->units[u].length / 4);
        for (size_t i = 0; i < (needed ? k->units[u].declaration_count : 1); i++) {
            const cpp_span whole = {k->units[u].text, k->units[u].length};
            if (needed && !k->units[u].declarations[i].wanted)
                continue;
            push_span(L, needed ? k->units[u].declarations[i].span : whole);
            lua_rawseti(L, -2, ++n);
        }
    }
    if (needed)
        host_kernel_words(L);
    for (size_t u = 0; u < (needed ? k->count : 0); u++)
        for (size_t i = 0; i < k->units[u].macro_count; i++) {
            const cpp_macro *m = &k->units[u].macros[i];
            push_span(L, m->name);
            if (lua_rawget(L, -2) != LUA_TNIL && m->has_parameters) {
                push_span(L, m->value);
                lua_rawseti(L, -4, ++n);
            }
            lua_pop(L, 1);
        }
    lua_settop(L, needed ? -2 : -1);
    return 1;
}

/* host.sketches() returns the arguments of the program's command line, or nil if no comment is
 * wanted. */
static int host_sketches(lua_State *L)
{
    const script_sketch_request *r = &script_of(L)->sketch;
    if (!r->wanted)
        return 0;
    lua_newtable(L);
    for (size_t i = 0; i < r->of.argument_count; i++) {
        lua_pushstring(L, r->of.arguments[i]);
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    return 1;
}

/* host.sketch(text) ends the loading with this comment as its result. */
static int host_sketch(lua_State *L)
{
    script *s = script_of(L);
    s->sketch.text = strdup(luaL_checkstring(L, 1));
    sandbox_raise(L, AT_NOT_FOUND, s->from.path, 0, "no pattern is made of a sketch");
}

/* host.variable_line(name) returns the line and file that declare a variable or an enumerator. */
static int host_variable_line(lua_State *L)
{
    const kernel_file *k = &script_of(L)->kernel_source;
    const char *name = luaL_checkstring(L, 1);
    for (size_t u = 0; u < k->count; u++) {
        const cpp_declaration *d = cpp_find_variable(&k->units[u], name);
        if (!d)
            continue;
        lua_pushinteger(L, d->line);
        lua_pushstring(L, k->names[u]);
        return 2;
    }
    return 0;
}

const luaL_Reg host_kernel_functions[] = {
    {"open_kernel", host_open_kernel},
    {"cut_kernel", host_cut_kernel},
    {"kernel_signature", host_kernel_signature},
    {"kernel_words", host_kernel_words},
    {"variables", host_variables},
    {"launches", host_launches},
    {"texts", host_texts},
    {"sketches", host_sketches},
    {"sketch", host_sketch},
    {"variable_line", host_variable_line},
    {NULL, NULL},
};
