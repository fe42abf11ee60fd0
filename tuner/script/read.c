/* Reads the table of at.pattern{...}, whose shape was checked; checks its expressions and files. */
#include <lauxlib.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "script/state.h"

static void read_domain(lua_State *L, pattern_domain *out)
{
    if (lua_getfield(L, -1, "domain") == LUA_TTABLE) {
        out->is_range = lua_getfield(L, -1, "values") != LUA_TTABLE;
        if (out->is_range) {
            lua_getfield(L, -2, "least");
            out->least = fields_value(L);
            lua_getfield(L, -3, "most");
            out->most = fields_value(L);
            lua_pop(L, 2);
        } else {
            value *values = script_allocate(L, lua_rawlen(L, -1) * sizeof *values);
            for (; lua_rawgeti(L, -1, (lua_Integer)out->value_count + 1) != LUA_TNIL; lua_pop(L, 1))
                values[out->value_count++] = fields_value(L);
            lua_pop(L, 1);
            out->values = values;
        }
        lua_pop(L, 1);
    }
    lua_pop(L, 1);
}

static void read_problem(lua_State *L, script *s)
{
    static const char *const fields[PROBLEM_LARGER] = {"tuned",   "simulated", "small",
                                                       "ragged1", "ragged2",   "ragged3"};
    size_t count = fields_enter(L, "problem");
    int64_t *most = script_allocate(L, count * sizeof *most);
    pattern_domain *domains = script_allocate(L, count * sizeof *domains);
    s->is_set = script_allocate(L, count * sizeof *s->is_set);
    s->pattern.problem_count = count;
    s->pattern.most = most;
    s->pattern.domains = domains;
    for (size_t i = 0; fields_next(L, i, count); i++) {
        lua_getfield(L, -1, "most");
        most[i] = lua_tointeger(L, -1);
        lua_pop(L, 1);
        s->is_set[i] = field_boolean(L, "is_set");
        read_domain(L, &domains[i]);
    }
    fields_enter(L, "problem");
    for (int kind = 0; kind < PROBLEM_KINDS; kind++) {
        s->problems[kind] = script_allocate(L, count * sizeof **s->problems);
        lua_createtable(L, (int)count, 0);
        for (size_t i = 0; i < count; i++) {
            lua_rawgeti(L, -2, (lua_Integer)i + 1);
            s->problems[kind][i].name = field_string(L, "name");
            lua_getfield(L, -1, fields[kind < PROBLEM_LARGER ? kind : PROBLEM_TUNED]);
            s->problems[kind][i].value = fields_value(L);
            lua_rawseti(L, -3, (lua_Integer)i + 1);
            lua_pop(L, 1);
        }
        s->lua.problem_tables[kind] = luaL_ref(L, LUA_REGISTRYINDEX);
        s->pattern.problems[kind] = s->problems[kind];
    }
    lua_pop(L, 1);
    s->pattern.has_problem[PROBLEM_TUNED] = true;
    s->pattern.is_captured = s->options.captured != NULL;
    s->pattern.has_problem[PROBLEM_SIMULATED] = field_boolean(L, "has_simulated");
    s->pattern.has_problem[PROBLEM_SMALL] = field_boolean(L, "has_small");
    s->pattern.ragged_count = (size_t)field_integer(L, "ragged_count");
    for (size_t i = 0; i < s->pattern.ragged_count; i++)
        s->pattern.has_problem[PROBLEM_RAGGED + i] = true;
}

static script_tolerance read_tolerance(lua_State *L)
{
    static const char *const names[] = {
        [TOLERANCE_EXACT] = "exact",       [TOLERANCE_SCALED] = "scaled",
        [TOLERANCE_RELATIVE] = "relative", [TOLERANCE_ABSOLUTE] = "absolute",
        [TOLERANCE_ULPS] = "ulps",         [TOLERANCE_KINDS] = NULL};
    script_tolerance t = {0};
    if (lua_getfield(L, -1, "tolerance") == LUA_TTABLE) {
        t.kind = (tolerance_kind)field_word(L, "how", names);
        t.limit = field_expression(L, "limit", REACH_PROBLEM);
        t.mismatches = field_expression(L, "mismatches", REACH_PROBLEM);
    }
    lua_pop(L, 1);
    return t;
}

static void read_buffers(lua_State *L, script *s)
{
    static const char *const roles[] = {"input", "output", "inout", "scratch", NULL};
    size_t count = fields_enter(L, "buffers");
    s->buffers = script_allocate(L, count * sizeof *s->buffers);
    for (size_t i = 0; fields_next(L, i, count); i++) {
        script_buffer *b = &s->buffers[i];
        b->name = field_string(L, "name");
        b->line = field_integer(L, "line");
        b->role = (buffer_role)field_word(L, "role", roles);
        b->type = field_expression(L, "dtype", REACH_LAYOUT);
        b->count = field_expression(L, "count", REACH_LAYOUT);
        b->file = script_numbered_file(s, field_integer(L, "file"));
        b->expected = script_numbered_file(s, field_integer(L, "expected"));
        s->checks.has_expected = s->checks.has_expected || b->expected;
        b->head = field_boolean(L, "head");
        b->record = (uint32_t)field_integer(L, "record");
        b->fill = field_expression(L, "fill", REACH_LAYOUT);
        b->limit = field_expression(L, "limit", REACH_LAYOUT);
        b->block = field_expression(L, "block", REACH_LAYOUT);
        b->tolerance = read_tolerance(L);
        b->compare = field_expression(L, "compare", REACH_ALL);
        b->rank = (uint32_t)field_expressions(L, "shape", REACH_LAYOUT, b->shape, 4);
        const size_t values = lua_getfield(L, -1, "values") == LUA_TTABLE ? lua_rawlen(L, -1) : 0;
        lua_pop(L, 1);
        b->values = script_allocate(L, values * sizeof *b->values);
        b->value_count = (uint32_t)field_expressions(L, "values", REACH_LAYOUT, b->values, values);
    }
    s->buffer_count = count;
}

static size_t read_arguments(lua_State *L, const char *field, expression_reach reach,
                             script_argument **out);

static script_view *read_view(lua_State *L, expression_reach reach)
{
    script_view *v = script_allocate(L, sizeof *v);
    v->rank = (uint32_t)field_expressions(L, "size", reach, v->size, VIEW_MAX_RANK);
    v->stride_count = (uint32_t)field_expressions(L, "strides", reach, v->strides, VIEW_MAX_RANK);
    v->box_count = (uint32_t)field_expressions(L, "box", reach, v->box, VIEW_MAX_RANK);
    v->swizzle = field_expression(L, "swizzle", reach);
    v->l2 = field_expression(L, "l2", reach);
    v->outside = field_expression(L, "outside", reach);
    v->channels = field_expression(L, "channels", reach);
    v->filter = field_expression(L, "filter", reach);
    v->address = field_expression(L, "address", reach);
    v->coordinates = field_expression(L, "coordinates", reach);
    v->reads = field_expression(L, "reads", reach);
    v->memory = field_expression(L, "memory", reach);
    v->layers = field_expression(L, "layers", reach);
    return v;
}

static void read_argument(lua_State *L, script_argument *a, expression_reach reach)
{
    static const char *const names[] = {
        [ARGUMENT_BUFFER] = "buffer",     [ARGUMENT_STRUCT] = "struct",
        [ARGUMENT_PLAIN] = "plain",       [ARGUMENT_INT8] = "int8",
        [ARGUMENT_UINT8] = "uint8",       [ARGUMENT_INT16] = "int16",
        [ARGUMENT_UINT16] = "uint16",     [ARGUMENT_INT32] = "int32",
        [ARGUMENT_UINT32] = "uint32",     [ARGUMENT_INT64] = "int64",
        [ARGUMENT_UINT64] = "uint64",     [ARGUMENT_HALF] = "half",
        [ARGUMENT_BFLOAT16] = "bfloat16", [ARGUMENT_FLOAT] = "float",
        [ARGUMENT_DOUBLE] = "double",     [ARGUMENT_BOOL] = "bool",
        [ARGUMENT_TENSOR] = "tensor",     [ARGUMENT_TEXTURE] = "texture",
        [ARGUMENT_SURFACE] = "surface",   [ARGUMENT_TYPES] = NULL};
    a->type = (argument_type)field_word(L, "type", names);
    if (a->type == ARGUMENT_BUFFER || argument_is_view(a->type))
        a->buffer = (uint32_t)field_integer(L, "buffer") - 1;
    if (argument_is_view(a->type))
        a->view = read_view(L, reach);
    else if (a->type == ARGUMENT_STRUCT)
        a->member_count = read_arguments(L, "members", reach, &a->members);
    else if (a->type != ARGUMENT_BUFFER)
        a->value = field_expression(L, "value", reach);
}

static size_t read_arguments(lua_State *L, const char *field, expression_reach reach,
                             script_argument **out)
{
    size_t count = fields_enter(L, field);
    *out = script_allocate(L, count * sizeof **out);
    for (size_t i = 0; fields_next(L, i, count); i++)
        read_argument(L, &(*out)[i], reach);
    return count;
}

static void read_launch(lua_State *L, script_launch *l, expression_reach reach)
{
    l->entry_text = field_string(L, "entry_text");
    l->entry = field_expression(L, "entry", reach);
    l->argument_count = read_arguments(L, "args", reach, &l->arguments);
    l->group = field_integer(L, "group");
    l->when = field_expression(L, "when", reach);
    l->times = field_expression(L, "times", reach);
    field_expressions(L, "grid", reach, l->grid, 3);
    field_expressions(L, "block", reach, l->block, 3);
    field_expressions(L, "cluster", reach, l->cluster, 3);
    l->shared = field_expression(L, "shared", reach);
    l->balanced = field_expression(L, "balanced", reach);
    l->cooperative = field_expression(L, "cooperative", reach);
}

static void read_constants(lua_State *L, script_kernel *k)
{
    k->constant_count = fields_enter(L, "constants");
    for (size_t i = 0; fields_next(L, i, k->constant_count); i++) {
        snprintf(k->constants[i].name, sizeof k->constants[i].name, "%s", field_string(L, "name"));
        k->constants[i].buffer = (uint32_t)field_integer(L, "buffer") - 1;
    }
}

static void find_template(lua_State *L, script *s, script_kernel *k)
{
    const char *const folders[] = {s->from.folder, s->from.template_dir};
    char path[PATH_MAX], absent[SCRIPT_ABSENT_BYTES];
    if (!script_find_file(folders, 2, k->template_name, path, sizeof path))
        sandbox_raise(L, AT_SCRIPT, s->from.path, k->template_line,
                      "there is no template '%.100s' %s", k->template_name,
                      script_absent(folders, 2, k->template_name, absent));
    k->template_path = script_copy(L, path);
}

static void read_defines(lua_State *L, script_kernel *k)
{
    k->is_file = field_boolean(L, "is_file");
    k->define_count = fields_enter(L, "defines");
    k->defines = script_allocate(L, k->define_count * sizeof *k->defines);
    for (size_t i = 0; fields_next(L, i, k->define_count); i++)
        k->defines[i] = script_copy(L, lua_tostring(L, -1));
}

static void read_kernel(lua_State *L, script *s, script_kernel *k, expression_reach reach)
{
    k->template_name = field_string(L, "template");
    k->template_line = field_integer(L, "template_line");
    k->launch_count = fields_enter(L, "launches");
    k->launches = script_allocate(L, k->launch_count * sizeof *k->launches);
    for (size_t i = 0; fields_next(L, i, k->launch_count); i++)
        read_launch(L, &k->launches[i], reach);
    read_constants(L, k);
    k->option_count = field_expressions(L, "options", reach, k->options, SCRIPT_MAX_OPTIONS);
    read_defines(L, k);
    fields_includes(L, s, k);
    if (k->is_file)
        k->template_path = s->kernel_source.path;
    else
        find_template(L, s, k);
}

static void read_transfer(lua_State *L, script_transfer *t)
{
    t->given = lua_getfield(L, -1, "transfer") == LUA_TTABLE;
    if (t->given) {
        t->line = field_integer(L, "line");
        t->from = (uint32_t)field_integer(L, "from") - 1;
        t->to = (uint32_t)field_integer(L, "to") - 1;
        t->direction = field_expression(L, "direction", REACH_PROBLEM);
        t->pieces = field_expression(L, "pieces", REACH_PROBLEM);
        t->pitch = field_expression(L, "pitch_bytes", REACH_PROBLEM);
        t->memory = field_expression(L, "memory", REACH_ALL);
        t->staging = field_expression(L, "staging", REACH_ALL);
        t->chunk = field_expression(L, "chunk_bytes", REACH_ALL);
        t->streams = field_expression(L, "streams", REACH_ALL);
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
    p->path = s->from.path;
    p->name = field_string(L, "name");
    p->summary = field_string(L, "summary");
    p->measurable = field_boolean(L, "measurable");
    s->checks.has_oracle = field_boolean(L, "has_oracle");
    read_problem(L, s);
    script_read_space(L, s);
    read_buffers(L, s);
    s->work.traffic = field_expression(L, "traffic", REACH_PROBLEM);
    s->work.flops = field_expression(L, "flops", REACH_PROBLEM);
    s->work.items = field_expression(L, "items", REACH_PROBLEM);
    s->work.ceiling = field_expression(L, "ceiling", REACH_PROBLEM);
    p->item = field_string(L, "item");
    s->checks.tolerance = read_tolerance(L);
    s->checks.deterministic_given = lua_getfield(L, -1, "deterministic") == LUA_TBOOLEAN;
    s->checks.deterministic = lua_toboolean(L, -1);
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
