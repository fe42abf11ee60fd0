#include "script/expression.h"

#include <lauxlib.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "device/field.h"
#include "script/expression/tree.h"
#include "script/state.h"

const char *script_joint(const char *message)
{
    return *message == ' ' ? "" : ": ";
}

int expression_raise(lua_State *L, const expression *e, const char *format, ...)
{
    char message[sizeof((at_error *)0)->message];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    sandbox_raise(L, AT_SCRIPT, script_of(L)->from.path, e->line, "%s: \"%.200s\"%s%s", e->what,
                  e->text, script_joint(message), message);
}

/* The code of an expression, and the names that it reads, in the order of its parameters. */
typedef struct names {
    lua_State *L;
    const expression *e;
    expression_reach reach;
    expression_input inputs[2 * SCRIPT_MAX_NAMES];
    size_t count;
    const char *copied; /* end of the part of the text that was copied to the code */
    uint32_t device_fields;
    uint64_t derived;
    luaL_Buffer *code;
} names;

static bool find_name(const script *s, const char *name, expression_input *input)
{
    for (size_t i = 0; i < s->pattern.parameter_count; i++)
        if (strcmp(s->space.parameters[i].name, name) == 0) {
            *input = (expression_input){true, (uint16_t)i};
            return true;
        }
    for (size_t i = 0; i < s->pattern.problem_count; i++)
        if (strcmp(s->problems[PROBLEM_TUNED][i].name, name) == 0) {
            *input = (expression_input){false, (uint16_t)i};
            return true;
        }
    return false;
}

static void add_input(names *found, expression_input input)
{
    for (size_t i = 0; i < found->count; i++)
        if (found->inputs[i].is_parameter == input.is_parameter &&
            found->inputs[i].index == input.index)
            return;
    found->inputs[found->count++] = input;
}

static bool is_helper(lua_State *L, const char *name)
{
    lua_rawgeti(L, LUA_REGISTRYINDEX, script_of(L)->lua.expression_environment);
    lua_pushstring(L, name);
    bool known = lua_rawget(L, -2) != LUA_TNIL;
    lua_pop(L, 2);
    return known;
}

static void raise_unknown(lua_State *L, const expression *e, const char *name)
{
    const char *nearest = script_nearest_name(L, script_of(L)->lua.expression_environment, name);
    if (nearest)
        expression_raise(L, e, "there is no '%s'; did you mean '%s'?", name, nearest);
    expression_raise(L, e,
                     "there is no '%s' among the parameters, the problem's variables and the "
                     "helper functions",
                     name);
}

/* Raises if the expression may not read the input, itself or through the value `derived`. */
static void check_reach(const names *found, expression_input input, const char *derived)
{
    lua_State *L = found->L;
    const script *s = script_of(L);
    if (!input.is_parameter || found->reach == REACH_ALL ||
        (found->reach == REACH_LAYOUT && s->space.choices[input.index].in_layout))
        return;
    const char *name = expression_input_name(s, input);
    const char *remedy =
        found->reach == REACH_LAYOUT ? "; if the data depends on it, name it in 'layout'" : "";
    if (derived)
        expression_raise(L, found->e,
                         "'%s' reads the parameter '%s', but this must be the same for all "
                         "variants%s",
                         derived, name, remedy);
    expression_raise(L, found->e,
                     "'%s' is a parameter, but this must be the same for all variants%s", name,
                     remedy);
}

static const node *add_derived(names *found, tree *t, token name, script_derived *derived)
{
    lua_State *L = found->L;
    script_derive(L, derived);
    const expression *read = &derived->value;
    for (size_t i = 0; i < read->input_count; i++) {
        check_reach(found, read->inputs[i], derived->name);
        add_input(found, read->inputs[i]);
    }
    found->device_fields |= read->device_fields;
    found->derived |= read->derived | UINT64_C(1) << (derived - script_of(L)->space.derived);
    luaL_addlstring(found->code, found->copied, (size_t)(name.text - found->copied));
    found->copied = name.text + name.length;
    if (derived->call) {
        script_add_call(L, found->code, derived);
        return tree_add(t, &(node){.op = NODE_DERIVED,
                                   .count = 1,
                                   .of = {read->root},
                                   .name = derived->name,
                                   .length = name.length});
    }
    luaL_addstring(found->code, "(");
    luaL_addstring(found->code, read->code);
    /* The newline ends a comment at the end of the value. */
    luaL_addstring(found->code, "\n)");
    return read->root;
}

static uint32_t all_device_fields(void)
{
    size_t count;
    device_fields(&count);
    return count < 32 ? (UINT32_C(1) << count) - 1 : UINT32_MAX;
}

static const node *read_name(void *context, tree *t, token name, token next)
{
    names *found = context;
    lua_State *L = found->L;
    const script *s = script_of(L);
    char text[128];
    snprintf(text, sizeof text, "%.*s", (int)name.length, name.text);
    if (strcmp(text, "function") == 0)
        expression_raise(L, found->e, "an expression cannot define a function");
    script_derived *derived = script_find_derived(s, text);
    if (derived)
        return add_derived(found, t, name, derived);
    expression_input input;
    if (find_name(s, text, &input)) {
        check_reach(found, input, NULL);
        add_input(found, input);
        return tree_add(t, &(node){.op = NODE_INPUT, .name = name.text, .length = name.length});
    }
    if (!is_helper(L, text))
        raise_unknown(L, found->e, text);
    /* This passes the whole table on, so the expression may read any of its fields. */
    if (strcmp(text, "device") == 0 && !token_is(next, "."))
        found->device_fields = all_device_fields();
    return reader_plain_name(t, name);
}

/* Reads a field. A misspelt field of `device` is an error when the script is loaded. */
static const node *read_field(void *context, tree *t, const node *of, token field)
{
    names *found = context;
    if (strcmp(of->name, "device") != 0)
        return reader_plain_field(t, of, field);
    char name[128];
    snprintf(name, sizeof name, "%.*s", (int)field.length, field.text);
    const char *nearest;
    int place = script_device_field(name, &nearest);
    if (place < 0 && nearest)
        expression_raise(found->L, found->e, "there is no 'device.%s'; did you mean 'device.%s'?",
                         name, nearest);
    if (place < 0)
        expression_raise(found->L, found->e, "there is no 'device.%s'", name);
    found->device_fields |= UINT32_C(1) << place;
    return tree_add(t, &(node){.op = NODE_DEVICE, .name = field.text, .length = field.length});
}

/* Pushes "return function(a,b) return (text) end". A fixed number of arguments is faster. */
static void push_chunk(lua_State *L, const expression *e, const names *found)
{
    const script *s = script_of(L);
    luaL_Buffer b;
    luaL_buffinit(L, &b);
    luaL_addstring(&b, "return function(");
    for (size_t i = 0; i < found->count; i++) {
        luaL_addstring(&b, i ? "," : "");
        luaL_addstring(&b, expression_input_name(s, found->inputs[i]));
    }
    luaL_addstring(&b, ") return (");
    luaL_addstring(&b, e->code);
    luaL_addstring(&b, "\n) end"); /* the newline ends a comment in the text */
    luaL_pushresult(&b);
}

const char *expression_failure(lua_State *L)
{
    if (lua_type(L, -1) != LUA_TSTRING)
        return "failed";
    const char *message = lua_tostring(L, -1);
    if (strncmp(message, "expression:", 11) != 0)
        return message;
    const char *rest = strstr(message, ": ");
    return rest ? rest + 2 : message;
}

/* Returns advice for "/", which gives a fraction in Lua, or "" if the text has no "/". */
static const char *division_of_c(const char *text)
{
    for (const char *at = strchr(text, '/'); at; at = strchr(at + 1 + (at[1] == '/'), '/'))
        if (at[1] != '/')
            return "; / gives a fraction: write a // b, or ceil_div(a, b)";
    return "";
}

/* Raises Lua's message. If the error is at the bracket after the text, the text ends too early. */
static void raise_syntax(lua_State *L, const expression *e)
{
    int line = 0, bracket_line = 2;
    for (const char *c = e->code; *c; c++)
        bracket_line += *c == '\n';
    sscanf(lua_tostring(L, -1), "expression:%d:", &line);
    const char *what = expression_failure(L);
    const char *near = line == bracket_line ? strstr(what, " near ')'") : NULL;
    const char *hint = sandbox_syntax_hint(what, e->text, 0);
    const int open = sandbox_open_brackets(e->text);
    if (open != 0)
        expression_raise(L, e, "%s", open > 0 ? "a ( has no )" : "a ) has no (");
    if (near)
        expression_raise(L, e, "%.*s at its end", (int)(near - what), what);
    /* The expression is compiled in brackets. */
    static const char bracket[] = "')' expected near ";
    if (strncmp(what, bracket, strlen(bracket)) == 0)
        expression_raise(L, e, "%s %s%s", *hint ? "unexpected" : "an operator is missing before",
                         what + strlen(bracket), hint);
    expression_raise(L, e, "%s%s", what, hint);
}

_Static_assert(DEVICE_MOST_FIELDS <= 32 && SCRIPT_MAX_NAMES <= 64,
               "expression.device_fields and expression.derived have a bit for each");

void expression_compile(lua_State *L, expression *e, expression_reach reach)
{
    script *s = script_of(L);
    if (e->text[strspn(e->text, " \t\r\n")] == '\0')
        expression_raise(L, e, "the expression is empty");
    e->code = e->text;
    luaL_Buffer code;
    luaL_buffinit(L, &code);
    names found = {.L = L, .e = e, .reach = reach, .copied = e->text, .code = &code};
    e->root = reader_read(s->expressions, e->text, &(reader_names){&found, read_name, read_field});
    if (tree_lacks_memory(s->expressions))
        sandbox_raise_memory(L);
    luaL_addstring(&code, found.copied);
    luaL_pushresult(&code);
    if (found.copied != e->code)
        e->code = script_copy(L, lua_tostring(L, -1));
    lua_pop(L, 1);
    e->device_fields = found.device_fields;
    e->derived = found.derived;
    e->input_count = found.count;
    e->inputs = script_allocate(L, found.count * sizeof *e->inputs);
    for (size_t i = 0; i < found.count; i++) {
        e->inputs[i] = found.inputs[i];
        e->reads_parameters = e->reads_parameters || found.inputs[i].is_parameter;
    }
    push_chunk(L, e, &found);
    size_t size_bytes;
    const char *chunk = lua_tolstring(L, -1, &size_bytes);
    lua_rawgeti(L, LUA_REGISTRYINDEX, s->lua.expression_environment);
    if (!sandbox_load(L, chunk, size_bytes, "=expression"))
        raise_syntax(L, e);
    /* Refuses "a) or (b", which Lua would accept within the brackets of the function. */
    if (!e->root)
        expression_raise(L, e, "this is not a single expression");
    lua_call(L, 0, 1);
    e->function = luaL_ref(L, LUA_REGISTRYINDEX);
    lua_pop(L, 1);
}

void script_derive(lua_State *L, script_derived *derived)
{
    if (derived->state == DERIVED_COMPILED)
        return;
    if (derived->state == DERIVED_COMPILING)
        expression_raise(L, &derived->value,
                         " needs itself: a derived value cannot depend on itself");
    derived->state = DERIVED_COMPILING;
    luaL_checkstack(L, 32, NULL);
    expression_compile(L, &derived->value, REACH_ALL);
    derived->state = DERIVED_COMPILED;
    script_make_called(L, derived);
}

int expression_push(script *s, const expression *e, problem_kind problem, const uint16_t *indices)
{
    lua_State *L = s->box.L;
    lua_rawgeti(L, LUA_REGISTRYINDEX, e->function);
    for (size_t i = 0; i < e->input_count; i++) {
        expression_input input = e->inputs[i];
        value v = input.is_parameter ? s->space.parameters[input.index].values[indices[input.index]]
                                     : s->problems[problem][input.index].value;
        if (v.kind != VALUE_STRING) {
            script_push_value(L, v);
            continue;
        }
        /* The string comes from a table, because this code must not allocate. */
        lua_rawgeti(L, LUA_REGISTRYINDEX,
                    input.is_parameter ? s->lua.value_tables[input.index]
                                       : s->lua.problem_tables[problem]);
        lua_rawgeti(L, -1, (input.is_parameter ? indices[input.index] : input.index) + 1);
        lua_remove(L, -2);
    }
    return (int)e->input_count;
}

/* Returns where a variable's value comes from, or "" if the script's tuned problem gives it. */
static const char *origin_of(const script *s, problem_kind problem, size_t variable)
{
    /* --set sets the tuned problem's value. Other problems may have another value. */
    if (value_equal(s->problems[problem][variable].value,
                    s->problems[PROBLEM_TUNED][variable].value))
        return s->is_set[variable] ? " (by --set)" : "";
    return problem < PROBLEM_RAGGED   ? " (in the small problem)"
           : problem < PROBLEM_LARGER ? " (in the ragged problem)"
                                      : "";
}

const char *expression_values(const script *s, const expression *e, problem_kind problem,
                              const uint16_t *indices, char *text, size_t size_bytes)
{
    size_t length = 0;
    text[0] = '\0';
    for (size_t i = 0; i < e->input_count; i++) {
        const expression_input input = e->inputs[i];
        const value v = input.is_parameter
                            ? s->space.parameters[input.index].values[indices[input.index]]
                            : s->problems[problem][input.index].value;
        const char *origin = input.is_parameter ? "" : origin_of(s, problem, input.index);
        char one[64];
        value_format(v, one, sizeof one);
        const size_t room = size_bytes - length;
        const int n = snprintf(text + length, room, "%s%s is %s%s", i ? ", " : ", where ",
                               expression_input_name(s, input), one, origin);
        if ((size_t)n >= room) {
            text[length] = '\0';
            break;
        }
        length += (size_t)n;
    }
    return text;
}

void script_describe_values(const script *s, size_t constraint, problem_kind problem,
                            const uint16_t *indices, char *text, size_t size_bytes)
{
    expression_values(s, &s->space.constraint_tests[constraint], problem, indices, text,
                      size_bytes);
}

int expression_raise_value(lua_State *L, const expression *e, problem_kind problem,
                           const uint16_t *indices, const char *format, ...)
{
    char what[400], read[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    expression_raise(L, e, "%s%s", what,
                     expression_values(script_of(L), e, problem, indices, read, sizeof read));
}

void expression_any(lua_State *L, const expression *e, problem_kind problem,
                    const uint16_t *indices)
{
    script *s = script_of(L);
    luaL_checkstack(L, 2 * SCRIPT_MAX_NAMES + 16, NULL);
    /* Runs in protected mode, because the error has to name the expression. */
    int result = lua_pcall(L, expression_push(s, e, problem, indices), 1, 0);
    if (result == LUA_ERRMEM)
        sandbox_raise_memory(L);
    if (result != LUA_OK && s->box.raised)
        lua_error(L);
    if (result != LUA_OK)
        expression_raise_value(L, e, problem, indices, "%s", expression_failure(L));
}

int64_t expression_integer(lua_State *L, const expression *e, problem_kind problem,
                           const uint16_t *indices, int64_t least, int64_t most)
{
    expression_any(L, e, problem, indices);
    if (lua_type(L, -1) != LUA_TNUMBER)
        expression_raise_value(L, e, problem, indices, " gives a %s, but a whole number is needed",
                               luaL_typename(L, -1));
    int whole;
    int64_t n = lua_tointegerx(L, -1, &whole);
    if (!whole)
        expression_raise_value(L, e, problem, indices,
                               " gives %.17g, but a whole number is needed%s", lua_tonumber(L, -1),
                               division_of_c(e->text));
    if (n < least || n > most)
        expression_raise_value(L, e, problem, indices, " must be %lld at %s, but is %lld",
                               (long long)(n < least ? least : most), n < least ? "least" : "most",
                               (long long)n);
    lua_pop(L, 1);
    return n;
}

double expression_number(lua_State *L, const expression *e, problem_kind problem,
                         const uint16_t *indices)
{
    expression_any(L, e, problem, indices);
    if (lua_type(L, -1) != LUA_TNUMBER)
        expression_raise_value(L, e, problem, indices, " gives a %s, but a number is needed",
                               luaL_typename(L, -1));
    double n = lua_tonumber(L, -1);
    if (!isfinite(n))
        expression_raise_value(L, e, problem, indices, " gives %g, which is not a finite number",
                               n);
    lua_pop(L, 1);
    return n;
}

bool expression_truth(lua_State *L, const expression *e, problem_kind problem,
                      const uint16_t *indices)
{
    expression_any(L, e, problem, indices);
    if (!lua_isboolean(L, -1))
        expression_raise_value(L, e, problem, indices, " gives a %s, but true or false is needed",
                               luaL_typename(L, -1));
    bool truth = lua_toboolean(L, -1);
    lua_pop(L, 1);
    return truth;
}

const char *expression_string(lua_State *L, const expression *e, problem_kind problem,
                              const uint16_t *indices)
{
    expression_any(L, e, problem, indices);
    if (lua_type(L, -1) != LUA_TSTRING)
        expression_raise_value(L, e, problem, indices, " gives a %s, but a string is needed",
                               luaL_typename(L, -1));
    if (strlen(lua_tostring(L, -1)) != lua_rawlen(L, -1))
        expression_raise_value(L, e, problem, indices,
                               " gives a string with a NUL character, which is not allowed");
    return lua_tostring(L, -1);
}
