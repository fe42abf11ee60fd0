#include "script/emit.h"

#include <lauxlib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/pack.h"
#include "script/state.h"

/* enough for all values of all parameters of a usual pattern */
enum { MOST_TRIAL_RUNS = 1000 };

/* the source being written, and the position that the compiler believes it has */
typedef struct output {
    char *bytes;
    size_t size_bytes, capacity_bytes;
    bool line_marks;
    bool keeps_lines; /* empty lines are kept: the source is a kernel's own file */
    bool blank;       /* an empty line is due before the next line */
    bool continued;   /* the last line ended with a backslash, so no directive may follow */
    lua_Integer file; /* file and line of the next line, as the compiler counts */
    lua_Integer line;
} output;

static void append(lua_State *L, output *o, const char *bytes, size_t size_bytes)
{
    /* Reserves a byte more for the NUL at the end. */
    if (size_bytes >= o->capacity_bytes - o->size_bytes) {
        size_t capacity = o->capacity_bytes ? o->capacity_bytes * 2 : 8192;
        while (capacity - o->size_bytes <= size_bytes)
            capacity *= 2;
        char *moved = sandbox_resize(L, o->bytes, o->capacity_bytes, capacity);
        if (!moved)
            sandbox_raise_memory(L);
        o->bytes = moved;
        o->capacity_bytes = capacity;
    }
    memcpy(o->bytes + o->size_bytes, bytes, size_bytes);
    o->size_bytes += size_bytes;
}

/* Appends a #line directive. `names` is the stack index of the list of names. */
static void append_mark(lua_State *L, output *o, int names, lua_Integer file, lua_Integer line)
{
    char number[40];
    append(L, o, number, (size_t)snprintf(number, sizeof number, "#line %lld \"", (long long)line));
    lua_rawgeti(L, names, file);
    const char *name = luaL_checkstring(L, -1);
    for (const char *c = name; *c; c++) {
        if (*c == '"' || *c == '\\')
            append(L, o, "\\", 1);
        append(L, o, c, 1);
    }
    lua_pop(L, 1);
    append(L, o, "\"\n", 2);
    o->file = file;
    o->line = line;
}

/* Appends a line without its end. `mark` is its file and line; 0 if it follows the last line. */
static void append_line(lua_State *L, output *o, int names, const char *text, size_t length,
                        lua_Integer mark)
{
    while (length > 0 && strchr(" \t\r", text[length - 1]) && text[length - 1] != '\0')
        length--;
    if (length == 0 && !o->keeps_lines) {
        /* Writes the empty line before the next line. It ends a macro, even after a backslash. */
        o->blank = o->size_bytes > 0;
        o->continued = false;
        return;
    }
    if (o->blank) {
        append(L, o, "\n", 1);
        o->line++;
        o->blank = false;
    }
    bool drifted = mark != 0 && (mark >> 24 != o->file || (mark & 0xffffff) != o->line);
    if (o->line_marks && drifted && !o->continued)
        append_mark(L, o, names, mark >> 24, mark & 0xffffff);
    append(L, o, text, length);
    append(L, o, "\n", 1);
    o->line++;
    o->continued = length > 0 && text[length - 1] == '\\';
}

/* Appends the lines of the table at `out`, in which marks and texts alternate. */
static void assemble(lua_State *L, output *o, int out, int names)
{
    lua_Integer count = (lua_Integer)lua_rawlen(L, out);
    for (lua_Integer i = 1; i < count; i += 2) {
        lua_rawgeti(L, out, i);
        lua_rawgeti(L, out, i + 1);
        lua_Integer mark = lua_tointeger(L, -2);
        size_t length;
        const char *text = luaL_checklstring(L, -1, &length);
        for (const char *end = text + length; text;) {
            const char *newline = memchr(text, '\n', (size_t)(end - text));
            append_line(L, o, names, text, (size_t)((newline ? newline : end) - text), mark);
            text = newline ? newline + 1 : NULL;
            mark = 0;
        }
        lua_pop(L, 2);
    }
    append(L, o, "", 0); /* So that `bytes` is not NULL. */
    o->bytes[o->size_bytes] = '\0';
}

typedef struct emission {
    script *s;
    const script_kernel *kernel;
    problem_kind problem;
    const uint16_t *indices;
    emit_reads *reads; /* may be NULL */
    bool layout_only;  /* the template sees no parameters but the layout's */
    output output;
    emitted *out;
} emission;

/* __index of a `device` table that notes which fields are read */
static int noted_device_field(lua_State *L)
{
    const emission *e = script_of(L)->emission;
    size_t count;
    const device_field *field = device_field_find(luaL_tolstring(L, 2, NULL));
    if (e && e->reads && field)
        e->reads->device[field - device_fields(&count)] = true;
    lua_pushvalue(L, 2);
    lua_gettable(L, lua_upvalueindex(1));
    return 1;
}

static void set_noting_device(lua_State *L, const script *s)
{
    lua_newtable(L);
    lua_createtable(L, 0, 1);
    lua_rawgeti(L, LUA_REGISTRYINDEX, s->lua.template_environment);
    lua_getfield(L, -1, "device");
    lua_remove(L, -2);
    lua_pushcclosure(L, noted_device_field, 1);
    lua_setfield(L, -2, "__index");
    lua_setmetatable(L, -2);
    lua_setfield(L, -2, "device");
}

/* Pushes a new environment for one run, so that the template's assignments end with the run. */
static void push_scope(lua_State *L, const emission *e)
{
    script *s = e->s;
    lua_createtable(L, 0, (int)(s->pattern.parameter_count + s->pattern.problem_count) + 8);
    lua_rawgeti(L, LUA_REGISTRYINDEX, s->lua.problem_tables[e->problem]);
    /* If reads are noted, derived_or_unknown_name() provides the variables. */
    for (size_t i = 0; i < s->pattern.problem_count && !e->reads; i++) {
        lua_rawgeti(L, -1, (lua_Integer)i + 1);
        lua_setfield(L, -3, s->problems[e->problem][i].name);
    }
    lua_pop(L, 1);
    if (e->reads)
        set_noting_device(L, s);
    for (size_t i = 0; i < s->pattern.parameter_count; i++) {
        if (e->layout_only && !s->space.choices[i].in_layout)
            continue;
        lua_rawgeti(L, LUA_REGISTRYINDEX, s->lua.value_tables[i]);
        lua_rawgeti(L, -1, e->indices[i] + 1);
        lua_setfield(L, -3, s->space.parameters[i].name);
        lua_pop(L, 1);
    }
    lua_rawgeti(L, LUA_REGISTRYINDEX, s->lua.template_metatable);
    lua_setmetatable(L, -2);
}

static void note_expression(const emission *e, const expression *from)
{
    if (!e->reads)
        return;
    for (size_t i = 0; i < from->input_count; i++)
        if (!from->inputs[i].is_parameter)
            e->reads->problem[from->inputs[i].index] = true;
    for (size_t i = 0; i < DEVICE_MOST_FIELDS; i++)
        if (from->device_fields >> i & 1)
            e->reads->device[i] = true;
}

/* Evaluates the NVRTC options, whose strings the script keeps, and the kernels' names. */
static void write_options(lua_State *L, emission *e)
{
    const script_kernel *k = e->kernel;
    for (size_t i = 0; i < k->launch_count; i++)
        note_expression(e, &k->launches[i].entry);
    lua_rawgeti(L, LUA_REGISTRYINDEX, e->s->lua.kept_strings);
    int kept = lua_gettop(L);
    for (size_t i = 0; i < k->option_count; i++) {
        note_expression(e, &k->options[i]);
        const char *option = expression_string(L, &k->options[i], e->problem, e->indices);
        if (option[0] != '\0') {
            lua_pushvalue(L, -1);
            if (lua_rawget(L, kept) == LUA_TNIL) {
                lua_pop(L, 1);
                lua_pushvalue(L, -1);
                lua_pushvalue(L, -1);
                lua_pushvalue(L, -1);
                lua_rawset(L, kept);
            }
            e->out->options[e->out->option_count++] = lua_tostring(L, -1);
        }
        lua_settop(L, kept);
    }
    lua_pop(L, 1);
    /* the first options of lua/lib/kernel_file.lua */
    static const char *const own[] = {"--pre-include=autotune_host.h",
                                      "--device-as-default-execution-space"};
    for (size_t i = 0; k->is_file && i < 2 && i < e->out->option_count; i++)
        e->out->own_option_count += strcmp(e->out->options[i], own[i]) == 0;
}

static bool push_derived(lua_State *L, const script *s, const char *name)
{
    const emission *e = s->emission;
    for (size_t i = 0; e && i < s->space.derived_count; i++) {
        const script_derived *d = &s->space.derived[i];
        if (strcmp(d->name, name) != 0)
            continue;
        for (size_t k = 0; e->layout_only && k < d->value.input_count; k++)
            if (d->value.inputs[k].is_parameter &&
                !s->space.choices[d->value.inputs[k].index].in_layout)
                luaL_error(L,
                           "the reference cannot use '%s', which is derived from the parameter "
                           "'%s': it is the same for all variants",
                           name, s->space.parameters[d->value.inputs[k].index].name);
        note_expression(e, &d->value);
        expression_any(L, &d->value, e->problem, e->indices);
        return true;
    }
    return false;
}

/* Pushes a variable of the problem and notes the read. Returns false if reads are not noted, or if
 * the problem has no such variable. */
static bool push_noted(lua_State *L, const script *s, const char *name)
{
    const emission *e = s->emission;
    for (size_t i = 0; e && e->reads && i < s->pattern.problem_count; i++) {
        if (strcmp(s->problems[e->problem][i].name, name) != 0)
            continue;
        e->reads->problem[i] = true;
        lua_rawgeti(L, LUA_REGISTRYINDEX, s->lua.problem_tables[e->problem]);
        lua_rawgeti(L, -1, (lua_Integer)i + 1);
        lua_remove(L, -2);
        return true;
    }
    return false;
}

/* Runs the template. Leaves the names of files and the written lines on the stack. */
static void run_template(lua_State *L, const emission *e)
{
    lua_rawgeti(L, LUA_REGISTRYINDEX, e->s->lua.template_module);
    lua_getfield(L, -1, "names");
    lua_getfield(L, -2, "run");
    lua_remove(L, -3);
    lua_pushstring(L, e->kernel->template_name);
    push_scope(L, e);
    e->s->emission = e;
    lua_call(L, 2, 1);
}

static int emit(lua_State *L)
{
    emission *e = lua_touserdata(L, 1);
    run_template(L, e);
    assemble(L, &e->output, lua_gettop(L), lua_gettop(L) - 1);
    if (memchr(e->output.bytes, '\0', e->output.size_bytes))
        sandbox_raise(L, AT_SCRIPT, e->kernel->template_name, 0,
                      "the emitted source contains a NUL character, at which C++ source ends");
    write_options(L, e);
    return 0;
}

/* Appends the hash of the included files, so that the source identifies them. */
static at_status note_includes(output *o, const included *i, at_error *error)
{
    if (i->count == 0)
        return AT_OK;
    XXH3_state_t *state = XXH3_createState();
    char *moved = realloc(o->bytes, o->size_bytes + 64);
    if (moved)
        o->bytes = moved;
    if (!state || !moved) {
        XXH3_freeState(state);
        return error_set(error, AT_NO_MEMORY, "out of memory for the emitted source");
    }
    XXH3_128bits_reset(state);
    for (size_t n = 0; n < i->count; n++) {
        XXH3_128bits_update(state, i->headers[n].name, strlen(i->headers[n].name) + 1);
        XXH3_128bits_update(state, i->headers[n].text, strlen(i->headers[n].text) + 1);
    }
    char hash[33];
    hash_text(XXH3_128bits_digest(state), hash);
    XXH3_freeState(state);
    o->size_bytes +=
        (size_t)sprintf(o->bytes + o->size_bytes, "%s// includes %s\n",
                        o->size_bytes && o->bytes[o->size_bytes - 1] != '\n' ? "\n" : "", hash);
    return AT_OK;
}

static at_status identify(emitted *out, at_error *error)
{
    XXH3_state_t *state = XXH3_createState();
    if (!state)
        return error_set(error, AT_NO_MEMORY, "out of memory for the emitted source");
    XXH3_128bits_reset(state);
    XXH3_128bits_update(state, out->source, out->size_bytes);
    for (size_t i = 0; i < out->option_count; i++) {
        XXH3_128bits_update(state, "", 1); /* A NUL separates sources and options. */
        XXH3_128bits_update(state, out->options[i], strlen(out->options[i]));
    }
    hash_text(XXH3_128bits_digest(state), out->hash);
    XXH3_freeState(state);
    return AT_OK;
}

static at_status run(emission *e, bool line_marks, emitted *out, at_error *error)
{
    script *s = e->s;
    *out = (emitted){0};
    e->out = out;
    e->output.line_marks = line_marks;
    e->output.keeps_lines = e->kernel->is_file;
    if (!e->indices)
        e->indices = s->pattern.baseline;
    at_status status = sandbox_call(&s->box, emit, e, true, error);
    s->emission = NULL;
    sandbox_disown(&s->box, e->output.capacity_bytes);
    if (status) {
        free(e->output.bytes);
        *out = (emitted){0};
        return status;
    }
    const char *folders[SCRIPT_MAX_INCLUDES + 2];
    const size_t folder_count = script_include_folders(s, e->kernel, folders);
    status = e->kernel->is_file ? included_copy(&s->kernel_source.headers, &out->includes, error)
                                : include_collect(&e->output.bytes, e->kernel->template_name,
                                                  folders, folder_count, &out->includes, error);
    e->output.size_bytes = strlen(e->output.bytes);
    if (!status)
        status = note_includes(&e->output, &out->includes, error);
    out->source = e->output.bytes;
    out->size_bytes = e->output.size_bytes;
    if (!status)
        status = identify(out, error);
    if (status)
        emitted_deinit(out);
    return status;
}

at_status emit_variant(script *s, problem_kind problem, const uint16_t *indices, bool line_marks,
                       emitted *out, at_error *error)
{
    emission e = {.s = s, .kernel = &s->kernel, .problem = problem, .indices = indices};
    return run(&e, line_marks, out, error);
}

at_status emit_variant_tracking(script *s, problem_kind problem, const uint16_t *indices,
                                emit_reads *reads, emitted *out, at_error *error)
{
    emission e = {
        .s = s, .kernel = &s->kernel, .problem = problem, .indices = indices, .reads = reads};
    *reads = (emit_reads){0};
    return run(&e, false, out, error);
}

static at_status emit_fixed(script *s, const script_kernel *kernel, const char *missing,
                            problem_kind problem, const uint16_t *indices, bool line_marks,
                            emitted *out, at_error *error)
{
    *out = (emitted){0};
    if (!kernel->template_path)
        return error_set(error, AT_NOT_FOUND, "%s: %s", s->from.path, missing);
    emission e = {
        .s = s, .kernel = kernel, .problem = problem, .indices = indices, .layout_only = true};
    return run(&e, line_marks, out, error);
}

at_status emit_reference(script *s, problem_kind problem, const uint16_t *indices, bool line_marks,
                         emitted *out, at_error *error)
{
    if ((s->pattern.measurable || !s->checks.has_oracle) && script_oracle(s) != ORACLE_REFERENCE)
        return emit_variant(s, problem, indices, line_marks, out, error);
    return emit_fixed(s, &s->reference, "the pattern has no reference kernel", problem, indices,
                      line_marks, out, error);
}

at_status emit_filler(script *s, problem_kind problem, const uint16_t *indices, bool line_marks,
                      emitted *out, at_error *error)
{
    return emit_fixed(s, &s->filler, "no kernel of the pattern fills inputs", problem, indices,
                      line_marks, out, error);
}

void emitted_deinit(emitted *e)
{
    free(e->source);
    included_deinit(&e->includes);
    *e = (emitted){0};
}

void emit_template_hash(const script *s, char hex[33])
{
    hash_text(
        (XXH128_hash_t){.low64 = s->from.template_hash[0], .high64 = s->from.template_hash[1]},
        hex);
}

/* __index of a template's scope */
static int derived_or_unknown_name(lua_State *L)
{
    const script *s = script_of(L);
    const char *name = luaL_tolstring(L, 2, NULL);
    if (push_noted(L, s, name) || push_derived(L, s, name))
        return 1;
    for (size_t i = 0; i < s->pattern.parameter_count; i++)
        if (strcmp(name, s->space.parameters[i].name) == 0)
            return luaL_error(L,
                              "the reference cannot use the parameter '%s': it is the same for all "
                              "variants; if the data depends on it, name it in 'layout'",
                              name);
    char meant[SCRIPT_MEANT_BYTES];
    const char *nearest = script_nearest_name(L, s->lua.template_environment, name);
    return luaL_error(L, "there is no '%s'%s", name, script_meant(nearest, meant));
}

void emit_open(lua_State *L)
{
    script *s = script_of(L);
    script_run_own(L, "template.lua");
    int module = lua_gettop(L);
    lua_rawgeti(L, LUA_REGISTRYINDEX, s->lua.template_environment);
    int environment = lua_gettop(L);

    /* Helpers of template.lua call helpers written in C; templates see both. */
    lua_getfield(L, module, "helpers");
    lua_getfield(L, environment, "ctype");
    lua_setfield(L, -2, "ctype");
    lua_pushnil(L);
    while (lua_next(L, -2)) {
        lua_pushvalue(L, -2);
        lua_insert(L, -2);
        lua_settable(L, environment);
    }
    lua_createtable(L, 0, 1);
    lua_pushcfunction(L, derived_or_unknown_name);
    lua_setfield(L, -2, "__index");
    lua_setmetatable(L, environment);

    lua_createtable(L, 0, 1);
    lua_pushvalue(L, environment);
    lua_setfield(L, -2, "__index");
    s->lua.template_metatable = luaL_ref(L, LUA_REGISTRYINDEX);

    lua_settop(L, module);
    s->lua.template_module = luaL_ref(L, LUA_REGISTRYINDEX);
}

static void compile(lua_State *L, const char *name)
{
    lua_rawgeti(L, LUA_REGISTRYINDEX, script_of(L)->lua.template_module);
    lua_getfield(L, -1, "compile");
    lua_pushstring(L, name);
    lua_call(L, 1, 0);
    lua_pop(L, 1);
}

static int try_template(lua_State *L)
{
    run_template(L, lua_touserdata(L, 1));
    return 0;
}

/* Runs the kernel's template once for each value of each parameter, and discards output and errors.
 * So the includes with computed names are read, and the hash covers them. */
static void read_computed_includes(lua_State *L, script *s)
{
    uint16_t indices[SCRIPT_MAX_NAMES];
    memcpy(indices, s->pattern.baseline, s->pattern.parameter_count * sizeof *indices);
    int runs_left = MOST_TRIAL_RUNS, top = lua_gettop(L);
    for (size_t i = 0; i < s->pattern.parameter_count; i++) {
        for (size_t v = 0; v < s->space.parameters[i].value_count && runs_left-- > 0; v++) {
            indices[i] = (uint16_t)v;
            emission e = {.s = s, .kernel = &s->kernel, .indices = indices};
            lua_pushcfunction(L, try_template);
            lua_pushlightuserdata(L, &e);
            lua_pcall(L, 1, 0, 0);
            s->emission = NULL;
            lua_settop(L, top);
            s->box.raised = false;
        }
        indices[i] = s->pattern.baseline[i];
    }
}

/* Adds the kernel's own file as a template: the Toolkit's headers, definitions, then its text. */
static void add_file(lua_State *L, const script *s)
{
    lua_rawgeti(L, LUA_REGISTRYINDEX, s->lua.template_module);
    lua_getfield(L, -1, "add_file");
    lua_pushstring(L, s->kernel.template_name);
    lua_pushstring(L, s->kernel_source.text);
    lua_createtable(L, (int)s->kernel.define_count, 0);
    for (size_t i = 0; i < s->kernel.define_count; i++) {
        lua_pushstring(L, s->kernel.defines[i]);
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    lua_pushstring(L, s->kernel_source.head);
    lua_call(L, 4, 0);
    lua_pop(L, 1);
}

void emit_compile_templates(lua_State *L)
{
    script *s = script_of(L);
    if (s->kernel.is_file)
        add_file(L, s);
    else
        compile(L, s->kernel.template_name);
    if (s->reference.template_path)
        compile(L, s->reference.template_name);
    if (s->filler.template_path)
        compile(L, s->filler.template_name);
    lua_rawgeti(L, LUA_REGISTRYINDEX, s->lua.template_module);
    lua_getfield(L, -1, "computed_includes");
    if (lua_toboolean(L, -1))
        read_computed_includes(L, s);
    lua_pop(L, 2);
}
