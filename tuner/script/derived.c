/* Derived values: names for expressions, which other expressions read. */
#include <lauxlib.h>
#include <string.h>

#include "base/text.h"
#include "script/state.h"

/* A short derived value replaces its name, so that constraints can be tested without Lua
 * (expression/term.h). Long values, and values that call a function, become functions: nested names
 * could double the text at each level. */
enum { MOST_IN_PLACE_BYTES = 512 };

/* prefix of the functions' names; scripts have no such names (lua/lib/check.lua) */
#define CALL_PREFIX "__"

script_derived *script_find_derived(const script *s, const char *name)
{
    for (size_t i = 0; i < s->space.derived_count; i++)
        if (strcmp(s->space.derived[i].name, name) == 0)
            return &s->space.derived[i];
    return NULL;
}

void script_describe_derived(const script *s, size_t constraint, char *text, size_t size_bytes)
{
    const char *c = s->pattern.constraints[constraint].text;
    uint64_t told = 0; /* bit i: derived value i has been added */
    text[0] = '\0';
    lexer l = lexer_make(c, strlen(c));
    for (token t = lexer_next(&l); t.kind != TOKEN_END; t = lexer_next(&l))
        for (size_t i = 0; i < s->space.derived_count; i++) {
            const script_derived *d = &s->space.derived[i];
            const uint64_t bit = UINT64_C(1) << i;
            if (t.kind != TOKEN_NAME || !token_is(t, d->name) || (told & bit))
                continue;
            text_add(text, size_bytes, "%s%s = %s", told ? ", " : ", where ", d->name,
                     d->value.text);
            told |= bit;
        }
}

/* Appends `form` for each name that a value reads. The name replaces each '@' in the form. */
static void add_names(lua_State *L, luaL_Buffer *b, const expression *read, const char *form,
                      const char *between)
{
    for (size_t i = 0; i < read->input_count; i++) {
        luaL_addstring(b, i ? between : "");
        for (const char *c = form; *c; c++) {
            if (*c == '@')
                luaL_addstring(b, expression_input_name(script_of(L), read->inputs[i]));
            else
                luaL_addchar(b, *c);
        }
    }
}

void script_add_call(lua_State *L, luaL_Buffer *code, const script_derived *derived)
{
    luaL_addstring(code, derived->call);
    luaL_addstring(code, "(");
    add_names(L, code, &derived->value, "@", ",");
    luaL_addstring(code, ")");
}

/* Pushes the text of a function that calls __0 and keeps its last arguments and result, so that a
 * value that an expression reads twice is evaluated once. `__@` is never __0 or __1, because no
 * name of a script begins with a digit. */
static void push_keeper(lua_State *L, const expression *read)
{
    luaL_Buffer b;
    luaL_buffinit(L, &b);
    luaL_addstring(&b, "local __0 = ... local __1");
    add_names(L, &b, read, ", __@", "");
    luaL_addstring(&b, " return function(");
    add_names(L, &b, read, "@", ", ");
    luaL_addstring(&b, ") if __1 == nil");
    add_names(L, &b, read, " or __@ ~= @", "");
    luaL_addstring(&b, " then __1 = __0(");
    add_names(L, &b, read, "@", ", ");
    luaL_addstring(&b, ")");
    add_names(L, &b, read, " __@ = @", "");
    luaL_addstring(&b, " end return __1 end");
    luaL_pushresult(&b);
}

void script_make_called(lua_State *L, script_derived *derived)
{
    script *s = script_of(L);
    const char *code = derived->value.code;
    if (strlen(code) <= MOST_IN_PLACE_BYTES && !strstr(code, CALL_PREFIX))
        return;
    derived->call = script_copy(L, lua_pushfstring(L, CALL_PREFIX "%s", derived->name));
    derived->rank = s->space.called_count++;
    push_keeper(L, &derived->value);
    size_t size_bytes;
    const char *chunk = lua_tolstring(L, -1, &size_bytes);
    lua_rawgeti(L, LUA_REGISTRYINDEX, s->lua.expression_environment);
    if (!sandbox_load(L, chunk, size_bytes, "=expression"))
        lua_error(L);
    lua_rawgeti(L, LUA_REGISTRYINDEX, derived->value.function);
    lua_call(L, 1, 1);
    lua_rawgeti(L, LUA_REGISTRYINDEX, s->lua.expression_environment);
    lua_pushstring(L, derived->call);
    lua_pushvalue(L, -3);
    lua_rawset(L, -3);
    lua_pop(L, 4); /* Pops the environment, the function, its text and its name. */
}
