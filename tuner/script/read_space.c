/* Reads a pattern's parameters, derived values, constraints, baseline and starts. */
#include <inttypes.h>
#include <lauxlib.h>
#include <stdio.h>
#include <string.h>
#include <xxhash.h>

#include "script/state.h"

/* Refuses a space with a configuration whose text exceeds CONFIGURATION_BYTES. */
static void check_text(lua_State *L, const script *s)
{
    size_t longest = 1;
    for (size_t i = 0; i < s->pattern.parameter_count; i++) {
        const space_parameter *p = &s->space.parameters[i];
        size_t most = 0;
        for (size_t v = 0; v < p->value_count; v++) {
            size_t size = (size_t)value_format(p->values[v], NULL, 0);
            most = size > most ? size : most;
        }
        longest += strlen(p->name) + 1 + most + (i > 0);
    }
    if (longest > CONFIGURATION_BYTES)
        sandbox_raise(L, AT_SCRIPT, s->from.path, 0,
                      "a configuration of this space takes up to %d bytes as text, and %d are "
                      "allowed: shorten string values or names of parameters",
                      (int)longest, CONFIGURATION_BYTES);
}

static void read_parameters(lua_State *L, script *s)
{
    size_t count = fields_enter(L, "parameters");
    s->space.parameters = script_allocate(L, count * sizeof *s->space.parameters);
    s->lua.value_tables = script_allocate(L, count * sizeof *s->lua.value_tables);
    s->space.choices = script_allocate(L, count * sizeof *s->space.choices);
    for (size_t i = 0; fields_next(L, i, count); i++) {
        s->space.parameters[i].name = field_string(L, "name");
        size_t value_count = fields_enter(L, "values");
        value *values = script_allocate(L, value_count * sizeof *values);
        for (size_t v = 0; v < value_count; v++) {
            lua_rawgeti(L, -1, (lua_Integer)v + 1);
            values[v] = fields_value(L);
            lua_pop(L, 1);
        }
        s->lua.value_tables[i] = luaL_ref(L, LUA_REGISTRYINDEX);
        s->space.parameters[i].values = values;
        s->space.parameters[i].value_count = value_count;
    }
    s->pattern.parameter_count = count;
    s->pattern.parameters = s->space.parameters;
}

/* Reads the derived values, in any order: all names are known before the first is compiled. */
static void read_derived(lua_State *L, script *s)
{
    size_t count = fields_enter(L, "derived");
    s->space.derived = script_allocate(L, count * sizeof *s->space.derived);
    for (size_t i = 0; fields_next(L, i, count); i++) {
        s->space.derived[i].name = field_string(L, "name");
        lua_getfield(L, -1, "value");
        s->space.derived[i].value = fields_text(L);
        lua_pop(L, 1);
    }
    s->space.derived_count = count;
    for (size_t i = 0; i < count; i++)
        script_derive(L, &s->space.derived[i]);
}

/* Writes a feature's definition, so that a record detects when the name gets another meaning. The
 * definition is the script's text, which other versions of this program understand. A hash replaces
 * derived values that are too long. */
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
        expression_raise(L, e, " is longer than %d bytes; move parts of it into derived values",
                         PATTERN_MAX_DEFINITION_BYTES - 64);
    for (char *c = definition; *c; c++)
        if ((unsigned char)*c < ' ')
            *c = ' ';
    return definition;
}

static void read_features(lua_State *L, script *s)
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

static void read_cases(lua_State *L, script_choice *choice)
{
    size_t count = fields_enter(L, "cases");
    choice->cases = script_allocate(L, count * sizeof *choice->cases);
    for (size_t i = 0; fields_next(L, i, count); i++) {
        choice->cases[i].condition = field_expression(L, "condition", REACH_ALL);
        choice->cases[i].first = (uint16_t)(field_integer(L, "first") - 1);
    }
    choice->case_count = count;
}

static void read_choices(lua_State *L, script *s)
{
    size_t count = fields_enter(L, "parameters");
    for (size_t i = 0; fields_next(L, i, count); i++)
        read_cases(L, &s->space.choices[i]);
}

static space_constraint read_constraint(lua_State *L, expression *test)
{
    *test = fields_expression(L, REACH_ALL);
    expression_prepare_tests(L, test);
    size_t *read = script_allocate(L, test->input_count * sizeof *read);
    size_t read_count = 0;
    for (size_t k = 0; k < test->input_count; k++)
        if (test->inputs[k].is_parameter)
            read[read_count++] = test->inputs[k].index;
    return (space_constraint){
        .text = test->text, .line = test->line, .parameters = read, .parameter_count = read_count};
}

/* Adds a value as Lua writes it. Strings of values have no control characters. */
static void add_literal(luaL_Buffer *b, value v)
{
    char number[64];
    if (v.kind != VALUE_STRING) {
        value_format(v, number, sizeof number);
        luaL_addstring(b, number);
        return;
    }
    luaL_addchar(b, '"');
    for (const char *c = v.string; *c; c++) {
        if (*c == '"' || *c == '\\')
            luaL_addchar(b, '\\');
        luaL_addchar(b, *c);
    }
    luaL_addchar(b, '"');
}

static space_constraint read_only(lua_State *L, script *s, const script_setting *only,
                                  expression *test)
{
    size_t parameter;
    uint16_t index;
    at_error error = {0};
    luaL_Buffer code;
    at_status status = script_find_parameter(s, only->name, &parameter, &error);
    luaL_buffinit(L, &code);
    for (const char *item = only->text; !status;) {
        char typed[512];
        size_t length = script_item_length(item);
        snprintf(typed, sizeof typed, "%.*s", (int)length, item);
        status = script_find_value(s, parameter, script_bare(typed), &index, &error);
        if (status)
            break;
        luaL_addstring(&code, only->name);
        luaL_addstring(&code, " == ");
        add_literal(&code, s->space.parameters[parameter].values[index]);
        item += length;
        if (!*item)
            break;
        luaL_addstring(&code, " or ");
        item++;
    }
    if (status)
        sandbox_raise(L, status, NULL, 0, "--only: %s", error.message);
    luaL_pushresult(&code);
    *test = (expression){.text = script_copy(L, lua_tostring(L, -1)), .what = "what is asked for"};
    expression_compile(L, test, REACH_ALL);
    expression_prepare_tests(L, test);
    lua_pushfstring(L, "--only %s=%s", only->name, only->text);
    test->text = script_copy(L, lua_tostring(L, -1));
    lua_pop(L, 2);
    size_t *read = script_allocate(L, sizeof *read);
    *read = parameter;
    return (space_constraint){.text = test->text, .parameters = read, .parameter_count = 1};
}

static void read_constraints(lua_State *L, script *s)
{
    static const char *const fields[] = {"conditions", "constraints"};
    size_t most = SCRIPT_MAX_NAMES + SCRIPT_MAX_CONSTRAINTS, total = 0;
    size_t only_count = s->options.only_count;
    s->space.constraint_tests =
        script_allocate(L, (most + only_count) * sizeof *s->space.constraint_tests);
    space_constraint *constraints = script_allocate(L, (most + only_count) * sizeof *constraints);
    for (size_t f = 0; f < 2; f++) {
        size_t listed = fields_enter(L, fields[f]),
               count = listed < most - total ? listed : most - total;
        for (size_t i = 0; fields_next(L, i, count); i++, total++) {
            constraints[total] = read_constraint(L, &s->space.constraint_tests[total]);
            constraints[total].conditional = f == 0;
        }
    }
    for (size_t i = 0; i < only_count; i++, total++)
        constraints[total] =
            read_only(L, s, &s->options.only[i], &s->space.constraint_tests[total]);
    s->space.has_only = only_count > 0;
    s->pattern.constraint_count = total;
    s->pattern.constraints = constraints;
}

/* States of a parameter's choice. Parameters in its condition get their values before. */
enum choice_state { CHOICE_OPEN, CHOICE_VISITED, CHOICE_MADE };

typedef struct choosing {
    script *s;
    uint16_t *indices;
    bool named[SCRIPT_MAX_NAMES];
    enum choice_state states[SCRIPT_MAX_NAMES];
} choosing;

static void choose(lua_State *L, choosing *all, size_t parameter)
{
    const script_choice *choice = &all->s->space.choices[parameter];
    if (all->states[parameter] == CHOICE_MADE)
        return;
    if (all->states[parameter] == CHOICE_VISITED)
        expression_raise(L, &choice->cases[0].condition,
                         " needs the parameter whose values it chooses: a condition cannot depend "
                         "on its own parameter");
    all->states[parameter] = CHOICE_VISITED;
    luaL_checkstack(L, 32, NULL);
    for (size_t c = 0; c < choice->case_count; c++) {
        const expression *condition = &choice->cases[c].condition;
        bool holds = !condition->text;
        for (size_t i = 0; i < condition->input_count; i++)
            if (condition->inputs[i].is_parameter)
                choose(L, all, condition->inputs[i].index);
        if (!holds)
            holds = expression_truth(L, condition, PROBLEM_TUNED, all->indices);
        if (holds) {
            if (!all->named[parameter])
                all->indices[parameter] = choice->cases[c].first;
            break;
        }
    }
    all->states[parameter] = CHOICE_MADE;
}

/* Reads the list on the stack, which has for each parameter the index of its value, from 1, or 0
 * for a parameter left open. */
static const uint16_t *read_configuration(lua_State *L, script *s)
{
    size_t count = s->pattern.parameter_count;
    choosing all = {.s = s, .indices = script_allocate(L, count * sizeof *all.indices)};
    for (size_t i = 0; i < count; i++) {
        lua_rawgeti(L, -1, (lua_Integer)i + 1);
        lua_Integer place = lua_tointeger(L, -1);
        lua_pop(L, 1);
        all.named[i] = place > 0;
        all.indices[i] = (uint16_t)(place > 0 ? place - 1 : 0);
    }
    for (size_t i = 0; i < count; i++)
        choose(L, &all, i);
    return all.indices;
}

static void read_baseline(lua_State *L, script *s)
{
    lua_getfield(L, -1, "baseline");
    s->pattern.baseline = read_configuration(L, s);
    lua_pop(L, 1);
}

static void read_starts(lua_State *L, script *s)
{
    size_t count = fields_enter(L, "starts");
    const uint16_t **starts = script_allocate(L, count * sizeof *starts);
    for (size_t i = 0; fields_next(L, i, count); i++)
        starts[i] = read_configuration(L, s);
    s->pattern.start_count = count;
    s->pattern.starts = starts;
}

static void read_layout(lua_State *L, script *s)
{
    int line = field_integer(L, "layout_line");
    size_t count = fields_enter(L, "layout");
    for (size_t i = 0; fields_next(L, i, count); i++) {
        s->space.layout[s->space.layout_count++] = (size_t)lua_tointeger(L, -1) - 1;
        s->space.choices[s->space.layout[i]].in_layout = true;
        if (script_layout_count(s) > SCRIPT_MAX_LAYOUTS)
            sandbox_raise(L, AT_SCRIPT, s->from.path, line,
                          "layout: its parameters have more than %d combinations of values, the "
                          "most that are allowed",
                          SCRIPT_MAX_LAYOUTS);
    }
}

void script_read_space(lua_State *L, script *s)
{
    read_parameters(L, s);
    check_text(L, s);
    read_derived(L, s);
    read_features(L, s);
    read_choices(L, s);
    read_constraints(L, s);
    read_baseline(L, s);
    read_starts(L, s);
    read_layout(L, s);
}
