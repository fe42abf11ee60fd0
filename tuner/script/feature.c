/* Features: what a choice among configurations may ask (`choose_by`). */
#include <inttypes.h>
#include <lauxlib.h>
#include <stdio.h>
#include <string.h>
#include <xxhash.h>

#include "script/fields.h"

/* A record keeps a feature's definition, so that a script that means something else by its name is
 * found out. It says what the script says, not what the expression compiles to, and so outlives
 * other versions of this program. XXH3-128 stands for the derived values that it reads if they are
 * too long. */
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
