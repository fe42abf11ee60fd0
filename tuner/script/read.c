/* From the table that at.pattern{...} made to plain data. The table is autotune.lua's work and has
 * the right shape; what remains to be checked here are expressions and files. */
#include <lauxlib.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "script/state.h"

static const char *read_string(lua_State *L, const char *field)
{
    lua_getfield(L, -1, field);
    const char *copy = script_copy(L, luaL_checkstring(L, -1));
    lua_pop(L, 1);
    return copy;
}

static int read_integer(lua_State *L, const char *field)
{
    lua_getfield(L, -1, field);
    int n = (int)lua_tointeger(L, -1);
    lua_pop(L, 1);
    return n;
}

static bool read_boolean(lua_State *L, const char *field)
{
    lua_getfield(L, -1, field);
    bool b = lua_toboolean(L, -1);
    lua_pop(L, 1);
    return b;
}

/* The place among `names` of the word `field`. */
static int read_word(lua_State *L, const char *field, const char *const names[])
{
    lua_getfield(L, -1, field);
    int place = luaL_checkoption(L, -1, NULL, names);
    lua_pop(L, 1);
    return place;
}

/* Pushes the list `field`, or nil where there is none, and returns its length; for next_item(). */
static size_t enter_list(lua_State *L, const char *field)
{
    return lua_getfield(L, -1, field) == LUA_TTABLE ? lua_rawlen(L, -1) : 0;
}

/* Puts item `i` of the list, of `count`, on top of the stack, in place of the one before; behind the last it takes the
 * list off, too, and returns false. */
static bool next_item(lua_State *L, size_t i, size_t count)
{
    if (i > 0)
        lua_pop(L, 1);
    if (i < count)
        lua_rawgeti(L, -1, (lua_Integer)i + 1);
    else
        lua_pop(L, 1);
    return i < count;
}

/* The scalar on top of the stack; strings are copied. */
static value read_value(lua_State *L)
{
    switch (lua_type(L, -1)) {
    case LUA_TBOOLEAN:
        return (value){.kind = VALUE_BOOLEAN, .boolean = lua_toboolean(L, -1)};
    case LUA_TNUMBER:
        if (lua_isinteger(L, -1))
            return (value){.kind = VALUE_INTEGER, .integer = lua_tointeger(L, -1)};
        return (value){.kind = VALUE_NUMBER, .number = lua_tonumber(L, -1)};
    default:
        return (value){.kind = VALUE_STRING, .string = script_intern(L, luaL_checkstring(L, -1))};
    }
}

/* The expression in the table on top of the stack, not compiled. */
static expression read_text(lua_State *L)
{
    return (expression){.text = read_string(L, "text"),
                        .what = read_string(L, "what"),
                        .line = read_integer(L, "line")};
}

static expression read_expression(lua_State *L, expression_reach reach)
{
    expression e = read_text(L);
    expression_compile(L, &e, reach);
    return e;
}

static expression read_expression_field(lua_State *L, const char *field, expression_reach reach)
{
    expression e = {0};
    if (lua_getfield(L, -1, field) == LUA_TTABLE)
        e = read_expression(L, reach);
    lua_pop(L, 1);
    return e;
}

static size_t read_expression_list(lua_State *L, const char *field, expression_reach reach, expression *out,
                                   size_t capacity)
{
    size_t length = enter_list(L, field), count = length < capacity ? length : capacity;
    for (size_t i = 0; next_item(L, i, count); i++)
        out[i] = read_expression(L, reach);
    return count;
}

static void read_problem(lua_State *L, script *s)
{
    static const char *const fields[PROBLEM_KINDS] = {"tuned",   "simulated", "small",
                                                      "ragged1", "ragged2",   "ragged3"};
    size_t count = enter_list(L, "problem");
    s->pattern.problem_count = count;
    for (int kind = 0; kind < PROBLEM_KINDS; kind++) {
        s->problems[kind] = script_allocate(L, count * sizeof **s->problems);
        lua_createtable(L, (int)count, 0);
        for (size_t i = 0; i < count; i++) {
            lua_rawgeti(L, -2, (lua_Integer)i + 1);
            s->problems[kind][i].name = read_string(L, "name");
            lua_getfield(L, -1, fields[kind]);
            s->problems[kind][i].value = read_value(L);
            lua_rawseti(L, -3, (lua_Integer)i + 1);
            lua_pop(L, 1);
        }
        s->problem_tables[kind] = luaL_ref(L, LUA_REGISTRYINDEX);
        s->pattern.problems[kind] = s->problems[kind];
    }
    lua_pop(L, 1);
    s->pattern.has_problem[PROBLEM_TUNED] = true;
    s->pattern.has_problem[PROBLEM_SIMULATED] = read_boolean(L, "has_simulated");
    s->pattern.has_problem[PROBLEM_SMALL] = s->pattern.has_problem[PROBLEM_SIMULATED];
    s->pattern.ragged_count = (size_t)read_integer(L, "ragged_count");
    for (size_t i = 0; i < s->pattern.ragged_count; i++)
        s->pattern.has_problem[PROBLEM_RAGGED + i] = true;
}

/* Everywhere a configuration is text it has this much room: what is longer is refused here. */
static void check_text(lua_State *L, const script *s)
{
    size_t longest = 1;
    for (size_t i = 0; i < s->pattern.parameter_count; i++) {
        const space_parameter *p = &s->parameters[i];
        size_t most = 0;
        for (size_t v = 0; v < p->value_count; v++) {
            size_t size = (size_t)value_format(p->values[v], NULL, 0);
            most = size > most ? size : most;
        }
        longest += strlen(p->name) + 1 + most + (i > 0);
    }
    if (longest > CONFIGURATION_BYTES)
        sandbox_raise(L, AT_SCRIPT, s->path, 0,
                      "a configuration of this space takes up to %d bytes as text, and %d are "
                      "allowed: shorten string values or names of parameters",
                      (int)longest, CONFIGURATION_BYTES);
}

static void read_parameters(lua_State *L, script *s)
{
    size_t count = enter_list(L, "parameters");
    s->parameters = script_allocate(L, count * sizeof *s->parameters);
    s->value_tables = script_allocate(L, count * sizeof *s->value_tables);
    s->choices = script_allocate(L, count * sizeof *s->choices);
    for (size_t i = 0; next_item(L, i, count); i++) {
        s->parameters[i].name = read_string(L, "name");
        size_t value_count = enter_list(L, "values");
        value *values = script_allocate(L, value_count * sizeof *values);
        for (size_t v = 0; v < value_count; v++) {
            lua_rawgeti(L, -1, (lua_Integer)v + 1);
            values[v] = read_value(L);
            lua_pop(L, 1);
        }
        s->value_tables[i] = luaL_ref(L, LUA_REGISTRYINDEX);
        s->parameters[i].values = values;
        s->parameters[i].value_count = value_count;
    }
    s->pattern.parameter_count = count;
    s->pattern.parameters = s->parameters;
}

/* All names are known before the first value is compiled: they may come in any order. */
static void read_derived(lua_State *L, script *s)
{
    size_t count = enter_list(L, "derived");
    s->derived = script_allocate(L, count * sizeof *s->derived);
    for (size_t i = 0; next_item(L, i, count); i++) {
        s->derived[i].name = read_string(L, "name");
        lua_getfield(L, -1, "value");
        s->derived[i].value = read_text(L);
        lua_pop(L, 1);
    }
    s->derived_count = count;
    for (size_t i = 0; i < count; i++)
        script_derive(L, &s->derived[i]);
}

/* The cases of the parameter on top of the stack. */
static void read_cases(lua_State *L, script_choice *choice)
{
    size_t count = enter_list(L, "cases");
    choice->cases = script_allocate(L, count * sizeof *choice->cases);
    for (size_t i = 0; next_item(L, i, count); i++) {
        choice->cases[i].condition = read_expression_field(L, "condition", REACH_ALL);
        choice->cases[i].first = (uint16_t)(read_integer(L, "first") - 1);
    }
    choice->case_count = count;
}

static void read_choices(lua_State *L, script *s)
{
    size_t count = enter_list(L, "parameters");
    for (size_t i = 0; next_item(L, i, count); i++)
        read_cases(L, &s->choices[i]);
}

static space_constraint read_constraint(lua_State *L, expression *test)
{
    *test = read_expression(L, REACH_ALL);
    expression_prepare_tests(L, test);
    size_t *read = script_allocate(L, test->input_count * sizeof *read);
    size_t read_count = 0;
    for (size_t k = 0; k < test->input_count; k++)
        if (test->inputs[k].is_parameter)
            read[read_count++] = test->inputs[k].index;
    return (space_constraint){
        .text = test->text, .line = test->line, .parameters = read, .parameter_count = read_count};
}

/* Adds the value as Lua spells it; strings of values have no control characters. */
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

/* NAME=V1,V2,... of --only, as a constraint that shows itself as it was typed. */
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
        add_literal(&code, s->parameters[parameter].values[index]);
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

/* What conditional parameters say, then what the script does, then what the user does. */
static void read_constraints(lua_State *L, script *s)
{
    static const char *const fields[] = {"conditions", "constraints"};
    size_t most = SCRIPT_MAX_NAMES + SCRIPT_MAX_CONSTRAINTS, total = 0;
    size_t only_count = s->options.only_count;
    s->constraint_tests = script_allocate(L, (most + only_count) * sizeof *s->constraint_tests);
    space_constraint *constraints = script_allocate(L, (most + only_count) * sizeof *constraints);
    for (size_t f = 0; f < 2; f++) {
        size_t listed = enter_list(L, fields[f]), count = listed < most - total ? listed : most - total;
        for (size_t i = 0; next_item(L, i, count); i++, total++) {
            constraints[total] = read_constraint(L, &s->constraint_tests[total]);
            constraints[total].conditional = f == 0;
        }
    }
    for (size_t i = 0; i < only_count; i++, total++)
        constraints[total] = read_only(L, s, &s->options.only[i], &s->constraint_tests[total]);
    s->has_only = only_count > 0;
    s->pattern.constraint_count = total;
    s->pattern.constraints = constraints;
}

/* The values that a configuration does not name, of conditional parameters: a condition is evaluated
 * once the parameters that it reads have theirs. */
enum choice_state { CHOICE_OPEN, CHOICE_VISITED, CHOICE_MADE };

typedef struct choosing {
    script *s;
    uint16_t *indices;
    bool named[SCRIPT_MAX_NAMES];
    enum choice_state states[SCRIPT_MAX_NAMES];
} choosing;

static void choose(lua_State *L, choosing *all, size_t parameter)
{
    const script_choice *choice = &all->s->choices[parameter];
    if (all->states[parameter] == CHOICE_MADE)
        return;
    if (all->states[parameter] == CHOICE_VISITED)
        expression_raise(L, &choice->cases[0].condition,
                         "whether this holds depends on the parameter itself");
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

/* The list on top of the stack: places of values, one a parameter, 0 where the script names none. */
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
    size_t count = enter_list(L, "starts");
    const uint16_t **starts = script_allocate(L, count * sizeof *starts);
    for (size_t i = 0; next_item(L, i, count); i++)
        starts[i] = read_configuration(L, s);
    s->pattern.start_count = count;
    s->pattern.starts = starts;
}

static void read_layout(lua_State *L, script *s)
{
    int line = read_integer(L, "layout_line");
    size_t count = enter_list(L, "layout");
    for (size_t i = 0; next_item(L, i, count); i++) {
        s->layout[s->layout_count++] = (size_t)lua_tointeger(L, -1) - 1;
        s->choices[s->layout[i]].in_layout = true;
        if (script_layout_count(s) > SCRIPT_MAX_LAYOUTS)
            sandbox_raise(L, AT_SCRIPT, s->path, line,
                          "layout: its parameters have more than %d combinations of values",
                          SCRIPT_MAX_LAYOUTS);
    }
}

static script_tolerance read_tolerance(lua_State *L)
{
    static const char *const names[] = {[TOLERANCE_EXACT] = "exact",       [TOLERANCE_SCALED] = "scaled",
                                        [TOLERANCE_RELATIVE] = "relative", [TOLERANCE_ABSOLUTE] = "absolute",
                                        [TOLERANCE_ULPS] = "ulps",         [TOLERANCE_KINDS] = NULL};
    script_tolerance t = {0};
    if (lua_getfield(L, -1, "tolerance") == LUA_TTABLE) {
        t.kind = (tolerance_kind)read_word(L, "how", names);
        t.limit = read_expression_field(L, "limit", REACH_PROBLEM);
    }
    lua_pop(L, 1);
    return t;
}

static void read_buffers(lua_State *L, script *s)
{
    static const char *const roles[] = {"input", "output", "inout", "scratch", NULL};
    size_t count = enter_list(L, "buffers");
    s->buffers = script_allocate(L, count * sizeof *s->buffers);
    for (size_t i = 0; next_item(L, i, count); i++) {
        script_buffer *b = &s->buffers[i];
        b->name = read_string(L, "name");
        b->line = read_integer(L, "line");
        b->role = (buffer_role)read_word(L, "role", roles);
        b->type = read_expression_field(L, "dtype", REACH_LAYOUT);
        b->count = read_expression_field(L, "count", REACH_LAYOUT);
        b->fill = read_expression_field(L, "fill", REACH_LAYOUT);
        b->limit = read_expression_field(L, "limit", REACH_LAYOUT);
        b->block = read_expression_field(L, "block", REACH_LAYOUT);
        b->tolerance = read_tolerance(L);
        b->rank = (uint32_t)read_expression_list(L, "shape", REACH_LAYOUT, b->shape, 4);
        b->values = script_allocate(L, PLAN_MAX_VALUES * sizeof *b->values);
        b->value_count = (uint32_t)read_expression_list(L, "values", REACH_LAYOUT, b->values,
                                                        PLAN_MAX_VALUES);
    }
    s->buffer_count = count;
}

static size_t read_arguments(lua_State *L, const char *field, expression_reach reach,
                             script_argument **out);

static script_view *read_view(lua_State *L, expression_reach reach)
{
    script_view *v = script_allocate(L, sizeof *v);
    v->rank = (uint32_t)read_expression_list(L, "size", reach, v->size, VIEW_MAX_RANK);
    v->stride_count = (uint32_t)read_expression_list(L, "strides", reach, v->strides, VIEW_MAX_RANK);
    v->box_count = (uint32_t)read_expression_list(L, "box", reach, v->box, VIEW_MAX_RANK);
    v->swizzle = read_expression_field(L, "swizzle", reach);
    v->l2 = read_expression_field(L, "l2", reach);
    v->outside = read_expression_field(L, "outside", reach);
    v->channels = read_expression_field(L, "channels", reach);
    v->filter = read_expression_field(L, "filter", reach);
    v->address = read_expression_field(L, "address", reach);
    v->coordinates = read_expression_field(L, "coordinates", reach);
    v->reads = read_expression_field(L, "reads", reach);
    return v;
}

static void read_argument(lua_State *L, script_argument *a, expression_reach reach)
{
    static const char *const names[] = {
        [ARGUMENT_BUFFER] = "buffer", [ARGUMENT_STRUCT] = "struct", [ARGUMENT_PLAIN] = "plain",
        [ARGUMENT_INT8] = "int8",     [ARGUMENT_UINT8] = "uint8",   [ARGUMENT_INT16] = "int16",
        [ARGUMENT_UINT16] = "uint16", [ARGUMENT_INT32] = "int32",   [ARGUMENT_UINT32] = "uint32",
        [ARGUMENT_INT64] = "int64",   [ARGUMENT_UINT64] = "uint64", [ARGUMENT_HALF] = "half",
        [ARGUMENT_BFLOAT16] = "bfloat16", [ARGUMENT_FLOAT] = "float", [ARGUMENT_DOUBLE] = "double",
        [ARGUMENT_BOOL] = "bool",     [ARGUMENT_TENSOR] = "tensor",  [ARGUMENT_TEXTURE] = "texture",
        [ARGUMENT_TYPES] = NULL};
    a->type = (argument_type)read_word(L, "type", names);
    if (a->type == ARGUMENT_BUFFER || a->type == ARGUMENT_TENSOR || a->type == ARGUMENT_TEXTURE)
        a->buffer = (uint32_t)read_integer(L, "buffer") - 1;
    if (a->type == ARGUMENT_TENSOR || a->type == ARGUMENT_TEXTURE)
        a->view = read_view(L, reach);
    else if (a->type == ARGUMENT_STRUCT)
        a->member_count = read_arguments(L, "members", reach, &a->members);
    else if (a->type != ARGUMENT_BUFFER)
        a->value = read_expression_field(L, "value", reach);
}

static size_t read_arguments(lua_State *L, const char *field, expression_reach reach,
                             script_argument **out)
{
    size_t count = enter_list(L, field);
    *out = script_allocate(L, count * sizeof **out);
    for (size_t i = 0; next_item(L, i, count); i++)
        read_argument(L, &(*out)[i], reach);
    return count;
}

static void read_launch(lua_State *L, script_launch *l, expression_reach reach)
{
    l->entry = read_string(L, "entry");
    l->argument_count = read_arguments(L, "args", reach, &l->arguments);
    l->when = read_expression_field(L, "when", reach);
    read_expression_list(L, "grid", reach, l->grid, 3);
    read_expression_list(L, "block", reach, l->block, 3);
    read_expression_list(L, "cluster", reach, l->cluster, 3);
    l->shared = read_expression_field(L, "shared", reach);
    l->cooperative = read_expression_field(L, "cooperative", reach);
}

static void read_constants(lua_State *L, script_kernel *k)
{
    k->constant_count = enter_list(L, "constants");
    for (size_t i = 0; next_item(L, i, k->constant_count); i++) {
        snprintf(k->constants[i].name, sizeof k->constants[i].name, "%s", read_string(L, "name"));
        k->constants[i].buffer = (uint32_t)read_integer(L, "buffer") - 1;
    }
}

static void find_template(lua_State *L, script *s, script_kernel *k)
{
    const char *const folders[] = {s->folder, s->template_dir};
    char path[PATH_MAX];
    if (!script_find_file(folders, 2, k->template_name, path, sizeof path))
        sandbox_raise(L, AT_SCRIPT, s->path, k->template_line,
                      "there is no template '%.100s' in the script's folder (%s) nor among the "
                      "installed ones (%s)",
                      k->template_name, s->folder, s->template_dir);
    k->template_path = script_copy(L, path);
}

/* The table on top of the stack. */
static void read_kernel(lua_State *L, script *s, script_kernel *k, expression_reach reach)
{
    k->template_name = read_string(L, "template");
    k->template_line = read_integer(L, "template_line");
    k->launch_count = enter_list(L, "launches");
    k->launches = script_allocate(L, k->launch_count * sizeof *k->launches);
    for (size_t i = 0; next_item(L, i, k->launch_count); i++)
        read_launch(L, &k->launches[i], reach);
    read_constants(L, k);
    k->option_count = read_expression_list(L, "options", reach, k->options, SCRIPT_MAX_OPTIONS);
    find_template(L, s, k);
}

static void read_transfer(lua_State *L, script_transfer *t)
{
    t->given = lua_getfield(L, -1, "transfer") == LUA_TTABLE;
    if (t->given) {
        t->line = read_integer(L, "line");
        t->from = (uint32_t)read_integer(L, "from") - 1;
        t->to = (uint32_t)read_integer(L, "to") - 1;
        t->direction = read_expression_field(L, "direction", REACH_PROBLEM);
        t->pieces = read_expression_field(L, "pieces", REACH_PROBLEM);
        t->pitch = read_expression_field(L, "pitch_bytes", REACH_PROBLEM);
        t->memory = read_expression_field(L, "memory", REACH_ALL);
        t->staging = read_expression_field(L, "staging", REACH_ALL);
        t->chunk = read_expression_field(L, "chunk_bytes", REACH_ALL);
        t->streams = read_expression_field(L, "streams", REACH_ALL);
    }
    lua_pop(L, 1);
}

static void read_kernel_field(lua_State *L, script *s, const char *field, script_kernel *k,
                              expression_reach reach)
{
    if (lua_getfield(L, -1, field) == LUA_TTABLE)
        read_kernel(L, s, k, reach);
    lua_pop(L, 1);
}

void script_read_pattern(lua_State *L)
{
    script *s = script_of(L);
    pattern *p = &s->pattern;
    luaL_checkstack(L, 64, NULL);
    p->path = s->path;
    p->name = read_string(L, "name");
    p->summary = read_string(L, "summary");
    p->measurable = read_boolean(L, "measurable");
    read_problem(L, s);
    read_parameters(L, s);
    check_text(L, s);
    read_derived(L, s);
    read_choices(L, s);
    read_constraints(L, s);
    read_baseline(L, s);
    read_starts(L, s);
    read_layout(L, s);
    read_buffers(L, s);
    s->traffic = read_expression_field(L, "traffic", REACH_PROBLEM);
    s->flops = read_expression_field(L, "flops", REACH_PROBLEM);
    s->items = read_expression_field(L, "items", REACH_PROBLEM);
    s->ceiling = read_expression_field(L, "ceiling", REACH_PROBLEM);
    p->item = read_string(L, "item");
    s->tolerance = read_tolerance(L);
    s->deterministic_given = lua_getfield(L, -1, "deterministic") == LUA_TBOOLEAN;
    s->deterministic = lua_toboolean(L, -1);
    lua_pop(L, 1);
    read_transfer(L, &s->transfer);
    p->transfers = s->transfer.given;
    read_kernel_field(L, s, "kernel", &s->kernel, REACH_ALL);
    read_kernel_field(L, s, "reference", &s->reference, REACH_LAYOUT);
    read_kernel_field(L, s, "prepare", &s->filler, REACH_LAYOUT);
    lua_pop(L, 1);
    p->template_path = s->kernel.template_path;
    p->reference_path = s->reference.template_path;
    p->filler_path = s->filler.template_path;
}
