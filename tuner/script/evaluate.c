/* Tests expressions: one in Lua, or many at once without Lua. Counts the work. */
#include <lauxlib.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "script/expression.h"
#include "script/state.h"

/* Times in ns on a core of a 2.6 GHz server of 2022, times 1.5. */
enum {
    LOOK_NS = 10,
    EVALUATION_NS = 50,
    STEP_NS = 5,
    VALUE_OF_STEP_NS = 1,
    CALL_NS = 1000,
    CHARACTER_NS = 20,
    INSTRUCTION_NS = 14
};

/* the largest accepted ratio of real time to counted time */
static const double SLOWEST = 8;

void work_budget_begin(work_budget *b, double seconds)
{
    b->spent_ns = 0;
    b->most_ns = (uint64_t)(seconds * 1e9);
    b->deadline_ns = clock_thread_ns() + (int64_t)(SLOWEST * seconds * 1e9);
}

void work_budget_look(work_budget *b, uint64_t values)
{
    b->spent_ns += values * LOOK_NS;
}

/* Counts one evaluation without Lua: `steps` operations on `values` values. */
static void count_evaluation(work_budget *b, size_t steps, size_t values)
{
    b->spent_ns += EVALUATION_NS + steps * (STEP_NS + values * VALUE_OF_STEP_NS);
}

/* Counts one evaluation in Lua of an expression of `characters` characters. `instructions` is the
 * work of C functions (sandbox_charge()). */
static void count_call(work_budget *b, size_t characters, uint64_t instructions)
{
    b->spent_ns += CALL_NS + characters * CHARACTER_NS + instructions * INSTRUCTION_NS;
}

bool work_budget_is_over(work_budget *b)
{
    if (b->spent_ns >= b->most_ns)
        return true;
    bool late = clock_thread_ns() > b->deadline_ns;
    b->timed_out = b->timed_out || late;
    return late;
}

double work_budget_share(const work_budget *b)
{
    return b->most_ns > 0 ? (double)b->spent_ns / (double)b->most_ns : 1;
}

static bool type_of_kind(value_kind kind, term_type *type)
{
    *type = term_type_of(kind);
    return kind != VALUE_NUMBER;
}

/* Returns the address of a text. Equal texts have one copy, so the address identifies the text. */
static int64_t text_number(const char *string)
{
    return (int64_t)(intptr_t)string;
}

typedef struct vector_scope {
    lua_State *L;
    const expression *e;
} vector_scope;

static size_t find_input(const script *s, const expression *e, const char *name)
{
    size_t i = 0;
    while (i < e->input_count && strcmp(name, expression_input_name(s, e->inputs[i])) != 0)
        i++;
    return i;
}

/* Finds the type of all values of an input. Derived values are replaced by their definitions. */
static bool type_of_leaf(void *context, const char *name, term_type *type, char *text,
                         size_t size_bytes)
{
    (void)text;
    (void)size_bytes;
    const vector_scope *scope = context;
    const script *s = script_of(scope->L);
    size_t place = find_input(s, scope->e, name);
    if (place == scope->e->input_count)
        return false;
    expression_input input = scope->e->inputs[place];
    if (!input.is_parameter) {
        value_kind kind = s->problems[PROBLEM_TUNED][input.index].value.kind;
        for (int problem = 0; problem < PROBLEM_KINDS; problem++)
            if (s->problems[problem][input.index].value.kind != kind)
                return false;
        return type_of_kind(kind, type);
    }
    const space_parameter *p = &s->space.parameters[input.index];
    for (size_t v = 0; v < p->value_count; v++)
        if (p->values[v].kind != p->values[0].kind)
            return false;
    return type_of_kind(p->values[0].kind, type);
}

static bool resolve_field(lua_State *L, const char *field, vector_operand *operand)
{
    lua_rawgeti(L, LUA_REGISTRYINDEX, script_of(L)->lua.expression_environment);
    lua_getfield(L, -1, "device");
    lua_getfield(L, -1, field);
    bool whole = lua_isinteger(L, -1);
    *operand = (vector_operand){.is_constant = true, .constant = lua_tointeger(L, -1)};
    lua_pop(L, 3);
    return whole;
}

static bool resolve_leaf(void *context, const node *leaf, vector_operand *operand)
{
    const vector_scope *scope = context;
    if (leaf->op == NODE_DEVICE)
        return resolve_field(scope->L, leaf->name, operand);
    if (leaf->op == NODE_TEXT)
        *operand = (vector_operand){.is_constant = true,
                                    .constant = text_number(script_intern(scope->L, leaf->name))};
    else
        *operand = (vector_operand){.input = find_input(script_of(scope->L), scope->e, leaf->name)};
    return true;
}

void expression_prepare_tests(lua_State *L, expression *e)
{
    vector_step steps[VECTOR_MOST_STEPS];
    vector_scope scope = {L, e};
    term_type type;
    const node *term;
    at_error error = {0};
    if (term_make(script_of(L)->expressions, e->root, type_of_leaf, &scope, &type, &term, &error))
        sandbox_raise_error(L, &error);
    if (!term || type != TERM_TRUTH)
        return;
    e->step_count = vector_compile(term, resolve_leaf, &scope, steps);
    if (e->step_count == 0)
        return;
    e->steps = script_allocate(L, e->step_count * sizeof *e->steps);
    memcpy(e->steps, steps, e->step_count * sizeof *e->steps);
}

/* Sets Lua's error message, with the expression, its line and the values that it read. */
static at_status blame(script *s, const expression *e, problem_kind problem,
                       const uint16_t *indices, const char *message, at_error *error)
{
    char read[256];
    return error_set_at(error, AT_SCRIPT, s->from.path, e->line, "%s: \"%.200s\"%s%s%s", e->what,
                        e->text, script_joint(message), message,
                        expression_values(s, e, problem, indices, read, sizeof read));
}

static at_status test_in_lua(script *s, const expression *e, problem_kind problem,
                             const uint16_t *indices, bool *holds, at_error *error)
{
    lua_State *L = s->box.L;
    s->box.raised = false;
    s->box.refused = false;
    s->box.instructions_left = s->box.instruction_limit;
    int top = lua_gettop(L);
    if (!lua_checkstack(L, 2 * SCRIPT_MAX_NAMES + 16))
        return error_no_memory(error);
    at_status status = AT_OK;
    int result = lua_pcall(L, expression_push(s, e, problem, indices), 1, 0);
    if (result == LUA_ERRMEM || (result != LUA_OK && s->box.raised))
        status = sandbox_failure(&s->box, result, error);
    else if (result != LUA_OK)
        status = blame(s, e, problem, indices, expression_failure(L), error);
    else if (lua_type(L, -1) != LUA_TBOOLEAN) {
        char message[128];
        snprintf(message, sizeof message, " gives a %s, but true or false is needed",
                 luaL_typename(L, -1));
        status = blame(s, e, problem, indices, message, error);
    } else
        *holds = lua_toboolean(L, -1);
    lua_settop(L, top);
    return status;
}

static int64_t whole_of(value v)
{
    return v.kind == VALUE_BOOLEAN  ? v.boolean
           : v.kind == VALUE_STRING ? text_number(v.string)
                                    : v.integer;
}

/* Tests `count` values from `first` on without Lua. Returns false if that is not possible. */
static bool test_vector(const script *s, const expression *e, problem_kind problem,
                        const space_question *q, size_t first, size_t count, bool *holds)
{
    int64_t inputs[2 * SCRIPT_MAX_NAMES], values[VECTOR_MOST_VALUES];
    size_t varied = SIZE_MAX;
    for (size_t i = 0; i < e->input_count; i++) {
        size_t index = e->inputs[i].index;
        if (!e->inputs[i].is_parameter)
            inputs[i] = whole_of(s->problems[problem][index].value);
        else if (index == q->varied)
            varied = i;
        else
            inputs[i] = whole_of(s->space.parameters[index].values[q->indices[index]]);
    }
    for (size_t i = 0; i < count && varied != SIZE_MAX; i++)
        values[i] = whole_of(s->space.parameters[q->varied].values[q->choices[first + i]]);
    return vector_evaluate(e->steps, e->step_count, inputs, varied, values, count, holds);
}

at_status expression_test(script *s, const expression *e, problem_kind problem,
                          const uint16_t *indices, bool *holds, at_error *error)
{
    const space_question one = {.indices = (uint16_t *)(uintptr_t)indices, .varied = SIZE_MAX};
    if (e->step_count && test_vector(s, e, problem, &one, 0, 1, holds))
        return AT_OK;
    return test_in_lua(s, e, problem, indices, holds, error);
}

at_status expression_test_each(script *s, const expression *e, problem_kind problem,
                               const space_question *q, work_budget *budget, bool *holds,
                               at_error *error)
{
    at_status status = AT_OK;
    size_t characters = e->step_count ? 0 : strlen(e->code);
    for (size_t first = 0; first < q->count && !status; first += VECTOR_MOST_VALUES) {
        size_t count = q->count - first;
        if (count > VECTOR_MOST_VALUES)
            count = VECTOR_MOST_VALUES;
        count_evaluation(budget, e->step_count, count);
        if (e->step_count && test_vector(s, e, problem, q, first, count, holds + first))
            continue;
        for (size_t i = first; i < first + count && !status; i++) {
            q->indices[q->varied] = q->choices[i];
            status = test_in_lua(s, e, problem, q->indices, &holds[i], error);
            const int64_t left = s->box.instructions_left > 0 ? s->box.instructions_left : 0;
            count_call(budget, characters, (uint64_t)(s->box.instruction_limit - left));
        }
    }
    return status;
}
