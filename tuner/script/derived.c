/* Named expressions: derived values, which other expressions read, and features, by which a program
 * chooses among configurations (`choose_by`). */
#include <inttypes.h>
#include <lauxlib.h>
#include <stdio.h>
#include <string.h>
#include <xxhash.h>

#include "base/text.h"
#include "script/state.h"

/* ---- derived values ---- */

/* A short derived value is put in place of its name, so that constraints can be tested without Lua
 * (expression/term.h). Each could double the text that it reads, so longer ones, and those that
 * call a function, are functions. */
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

void script_tell_derived(const script *s, size_t constraint, char *text, size_t size_bytes)
{
    const char *c = s->pattern.constraints[constraint].text;
    uint64_t told = 0; /* a bit for each of s->space.derived */
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

/* Appends `form` for each name that a value reads, with the name for each '@'. */
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

/* Pushes the text of a function that calls another, __0, and keeps its last result and arguments: a
 * value that an expression reads in several places is evaluated once. No name of a script begins
 * with a digit. */
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
    lua_pop(L, 4); /* the environment, the function, its text and its name */
}

/* ---- features ---- */

/* Writes a feature's definition, which a record keeps to detect that a script gives the name
 * another meaning. It is the script's text, not the compiled one, so that it is valid for other
 * versions of this program. If the derived values in it are too long, their XXH3-128 stands for
 * them. */
static const char *define(lua_State *L, const script *s, const expression *e)
{
    luaL_Buffer b;
    luaL_buffinit(L, &b);
    for (size_t i = 0; i < s->space.derived_count; i++)
        if (e->derived >> i & 1) {
            luaL_addstring(&b, "; ");
            luaL_addstring(&b, s->space.derived[i].name);
            luaL_addstring(&b, " = ");
            luaL_addstring(&b, s->space.derived[i].value.text);
        }
    luaL_pushresult(&b);
    size_t length;
    const char *derived = lua_tolstring(L, -1, &length);
    if (strlen(e->text) + length < PATTERN_MAX_DEFINITION_BYTES) {
        lua_pushfstring(L, "%s%s", e->text, derived);
    } else {
        char hex[33];
        XXH128_hash_t h = XXH3_128bits(derived, length);
        snprintf(hex, sizeof hex, "%016" PRIx64 "%016" PRIx64, (uint64_t)h.high64,
                 (uint64_t)h.low64);
        lua_pushfstring(L, "%s; XXH3 of what it reads: %s", e->text, hex);
    }
    char *definition = (char *)(uintptr_t)script_copy(L, lua_tostring(L, -1));
    lua_pop(L, 2);
    if (strlen(definition) >= PATTERN_MAX_DEFINITION_BYTES)
        expression_raise(L, e, "it is longer than %d bytes; give parts of it names (derived)",
                         PATTERN_MAX_DEFINITION_BYTES - 64);
    for (char *c = definition; *c; c++)
        if ((unsigned char)*c < ' ')
            *c = ' ';
    return definition;
}

void script_read_features(lua_State *L, script *s)
{
    size_t count = fields_enter(L, "features");
    pattern_feature *features = script_allocate(L, count * sizeof *features);
    s->features = script_allocate(L, count * sizeof *s->features);
    for (size_t i = 0; fields_next(L, i, count); i++) {
        features[i].name = field_string(L, "name");
        s->features[i] = field_expression(L, "value", REACH_ALL);
        features[i].definition = define(L, s, &s->features[i]);
        features[i].of_configuration = s->features[i].reads_parameters;
    }
    s->pattern.feature_count = count;
    s->pattern.features = features;
}

typedef struct evaluation {
    const expression *feature;
    problem_kind problem;
    const uint16_t *indices;
    double value;
} evaluation;

static int evaluate(lua_State *L)
{
    evaluation *e = lua_touserdata(L, 1);
    e->value = expression_number(L, e->feature, e->problem, e->indices);
    return 0;
}

at_status script_feature(script *s, problem_kind problem, size_t feature, const uint16_t *indices,
                         double *out, at_error *error)
{
    evaluation e = {
        .feature = &s->features[feature], .problem = problem, .indices = indices, .value = 0};
    at_status status = sandbox_call(&s->box, evaluate, &e, false, error);
    *out = e.value;
    return status;
}

size_t pattern_find_feature(const pattern *p, const char *name, const char *definition)
{
    for (size_t i = 0; i < p->feature_count; i++) {
        const pattern_feature *f = &p->features[i];
        if (strcmp(f->name, name) == 0 && strcmp(f->definition, definition) == 0)
            return i;
    }
    return SIZE_MAX;
}
