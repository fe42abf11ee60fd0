/* Features: what a choice among configurations may ask (`choose_by`). */
#include <ctype.h>
#include <lauxlib.h>
#include <stdio.h>
#include <string.h>

#include "script/fields.h"

static bool is_name_byte(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* Does the text have the name as a word of its own? In a literal, too: that does no harm. */
static bool has_name(const char *text, const char *name)
{
    size_t length = strlen(name);
    for (const char *at = text; (at = strstr(at, name)); at++)
        if ((at == text || !is_name_byte(at[-1])) && !is_name_byte(at[length]))
            return true;
    return false;
}

/* A record keeps a feature's definition, so that a script that means something else by its name is
 * found out. It says what the script says, not what the expression compiles to, and so outlives
 * other versions of this program. */
static const char *define(lua_State *L, const script *s, const expression *e)
{
    char text[PATTERN_MAX_DEFINITION_BYTES];
    bool told[SCRIPT_MAX_NAMES] = {false};
    size_t length = (size_t)snprintf(text, sizeof text, "%s", e->text);
    for (bool more = true; more && length < sizeof text;) {
        more = false;
        for (size_t i = 0; i < s->derived_count && length < sizeof text; i++) {
            const script_derived *d = &s->derived[i];
            if (told[i] || !has_name(text, d->name))
                continue;
            told[i] = more = true;
            length += (size_t)snprintf(text + length, sizeof text - length, "; %s = %s", d->name,
                                       d->value.text);
        }
    }
    if (length >= sizeof text)
        expression_raise(L, e,
                         "with the derived values that it reads it is longer than %d bytes, which "
                         "is all that a record keeps: read fewer of them",
                         PATTERN_MAX_DEFINITION_BYTES - 1);
    for (size_t i = 0; i < length; i++)
        if ((unsigned char)text[i] < ' ')
            text[i] = ' ';
    return script_copy(L, text);
}

static bool reads_parameters(const expression *e)
{
    bool reads = false;
    for (size_t i = 0; i < e->input_count; i++)
        reads = reads || e->inputs[i].is_parameter;
    return reads;
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
        features[i].of_configuration = reads_parameters(&s->features[i]);
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

size_t script_find_feature(const script *s, const char *name, const char *definition)
{
    for (size_t i = 0; i < s->pattern.feature_count; i++) {
        const pattern_feature *f = &s->pattern.features[i];
        if (strcmp(f->name, name) == 0 && strcmp(f->definition, definition) == 0)
            return i;
    }
    return SIZE_MAX;
}
