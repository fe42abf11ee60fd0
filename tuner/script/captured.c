/* Functions that give the tool's own Lua a captured launch. */
#include <lauxlib.h>
#include <string.h>

#include "base/bits.h"
#include "cpp/token.h"
#include "script/state.h"

static void set_sides(lua_State *L, const char *field, const uint32_t v[3])
{
    set_integers(L, field, (const uint64_t[]){v[0], v[1], v[2]}, 3);
}

static void push_pointer(lua_State *L, const script_captured_pointer *p)
{
    lua_createtable(L, 0, 3);
    set_integer(L, "at", p->at);
    set_integer(L, "address", (lua_Integer)p->address);
    set_integer(L, "left_bytes", (lua_Integer)p->left_bytes);
}

static void push_argument(lua_State *L, const script_captured_argument *a)
{
    lua_createtable(L, 0, 2);
    lua_pushlstring(L, a->bytes, a->size_bytes);
    lua_setfield(L, -2, "bytes");
    lua_createtable(L, (int)a->pointer_count, 0);
    for (size_t i = 0; i < a->pointer_count; i++) {
        push_pointer(L, &a->pointers[i]);
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    lua_setfield(L, -2, "pointers");
}

static void push_variable(lua_State *L, const script_captured_variable *v)
{
    lua_createtable(L, 0, 2);
    set_text(L, "name", v->name);
    set_integer(L, "size_bytes", (lua_Integer)v->size_bytes);
}

static int host_captured(lua_State *L)
{
    const script_captured *c = script_of(L)->options.captured;
    if (!c)
        return 0;
    lua_createtable(L, 0, 6);
    set_text(L, "path", c->path);
    set_text(L, "kernel", c->kernel);
    set_sides(L, "grid", c->grid);
    set_sides(L, "block", c->block);
    set_integer(L, "shared", c->dynamic_shared_bytes);
    lua_createtable(L, (int)c->argument_count, 0);
    for (size_t i = 0; i < c->argument_count; i++) {
        push_argument(L, &c->arguments[i]);
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    lua_setfield(L, -2, "arguments");
    lua_createtable(L, (int)c->variable_count, 0);
    for (size_t i = 0; i < c->variable_count; i++) {
        push_variable(L, &c->variables[i]);
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    lua_setfield(L, -2, "variables");
    return 1;
}

static int push_part(lua_State *L, const char *path, dtype type, uint64_t offset, uint64_t count)
{
    script *s = script_of(L);
    data_file *f;
    at_error error = {0};
    if (data_file_open_part(path, type, offset, count, &f, &error))
        sandbox_raise_error(L, &error);
    if (!script_keep_file(L, f)) {
        data_file_free(f);
        sandbox_raise(L, AT_SCRIPT, s->from.path, 0, "the captured launch has too many files");
    }
    return 1;
}

/* host.captured_file(i, k, after, type, count) returns elements at pointer k of argument i. */
static int host_captured_file(lua_State *L)
{
    const script_captured *c = script_of(L)->options.captured;
    const lua_Integer i = luaL_checkinteger(L, 1), k = luaL_checkinteger(L, 2);
    const lua_Integer count = luaL_checkinteger(L, 5);
    dtype type;
    luaL_argcheck(L, i >= 1 && (size_t)i <= c->argument_count, 1, "there is no such argument");
    const script_captured_argument *a = &c->arguments[i - 1];
    luaL_argcheck(L, k >= 1 && (size_t)k <= a->pointer_count, 2, "there is no such pointer");
    luaL_argcheck(L, dtype_find(luaL_checkstring(L, 4), &type), 4, "there is no such type");
    const script_captured_pointer *p = &a->pointers[k - 1];
    return push_part(L, lua_toboolean(L, 3) && p->after ? p->after : p->before, type, p->offset,
                     (uint64_t)count);
}

/* host.captured_variable(i) returns all bytes of a variable. */
static int host_captured_variable(lua_State *L)
{
    const script_captured *c = script_of(L)->options.captured;
    const lua_Integer i = luaL_checkinteger(L, 1);
    luaL_argcheck(L, i >= 1 && (size_t)i <= c->variable_count, 1, "there is no such variable");
    const script_captured_variable *v = &c->variables[i - 1];
    return push_part(L, v->before, DTYPE_UINT8, 0, v->size_bytes);
}

/* host.is_needed(word) tells whether the kernel's file, after cutting, has the word. */
static int host_is_needed(lua_State *L)
{
    const kernel_file *k = &script_of(L)->kernel_source;
    const char *word = luaL_checkstring(L, 1);
    bool found = false;
    for (size_t i = 0; !found && i <= k->headers.count; i++) {
        const char *text = i == 0 ? k->text : k->headers.headers[i - 1].text;
        cpp_lexer l = cpp_lexer_make(text, text ? strlen(text) : 0, 1);
        for (cpp_token t = cpp_next(&l); !found && t.kind != CPP_END; t = cpp_next(&l))
            found = t.kind == CPP_WORD && cpp_span_is(t.span, word);
    }
    lua_pushboolean(L, found);
    return 1;
}

static int host_sizeof(lua_State *L)
{
    dtype type;
    luaL_argcheck(L, dtype_find(luaL_checkstring(L, 1), &type), 1, "there is no such type");
    lua_pushinteger(L, (lua_Integer)dtype_get(type)->size_bytes);
    return 1;
}

static void push_integer(lua_State *L, dtype type, uint64_t bits)
{
    switch (type) {
    case DTYPE_INT8:
        lua_pushinteger(L, (int8_t)bits);
        break;
    case DTYPE_INT16:
        lua_pushinteger(L, (int16_t)bits);
        break;
    case DTYPE_INT32:
        lua_pushinteger(L, (int32_t)bits);
        break;
    default:
        lua_pushinteger(L, (lua_Integer)bits);
    }
}

static void push_float(lua_State *L, dtype type, uint64_t bits)
{
    double wide;
    float single;
    const uint32_t low = (uint32_t)bits;
    memcpy(&wide, &bits, sizeof wide);
    memcpy(&single, &low, sizeof single);
    lua_pushnumber(L, type == DTYPE_DOUBLE     ? wide
                      : type == DTYPE_HALF     ? (double)half_to_float((uint16_t)bits)
                      : type == DTYPE_BFLOAT16 ? (double)bfloat_to_float((uint16_t)bits)
                                               : (double)single);
}

/* host.unpack(bytes, type) returns the scalar with these bytes. */
static int host_unpack(lua_State *L)
{
    size_t size_bytes;
    dtype type;
    uint64_t bits = 0;
    const char *bytes = luaL_checklstring(L, 1, &size_bytes);
    luaL_argcheck(L, dtype_find(luaL_checkstring(L, 2), &type), 2, "there is no such type");
    luaL_argcheck(L, size_bytes == dtype_get(type)->size_bytes, 1, "the type has another size");
    memcpy(&bits, bytes, size_bytes);
    if (dtype_get(type)->is_float)
        push_float(L, type, bits);
    else
        push_integer(L, type, bits);
    return 1;
}

const luaL_Reg host_captured_functions[] = {
    {"captured", host_captured},
    {"captured_file", host_captured_file},
    {"captured_variable", host_captured_variable},
    {"is_needed", host_is_needed},
    {"sizeof", host_sizeof},
    {"unpack", host_unpack},
    {NULL, NULL},
};
