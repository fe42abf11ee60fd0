/* Evaluates what a problem and a launch need. */
#include <lauxlib.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/nearest.h"
#include "script/state.h"

static const int64_t most_elements = (int64_t)PLAN_MAX_ELEMENTS;

typedef struct evaluation {
    script *s;
    problem_kind problem;
    const uint16_t *indices;
    const script_kernel *kernel;
    problem_plan *plan;
    launch_plan *launch;
} evaluation;

static dtype evaluate_type(lua_State *L, const evaluation *e, const expression *type)
{
    const char *name = expression_string(L, type, e->problem, NULL);
    dtype found;
    if (!dtype_find(name, &found)) {
        const char *names[DTYPE_COUNT];
        for (int i = 0; i < DTYPE_COUNT; i++)
            names[i] = dtype_get((dtype)i)->name;
        const char *nearest = nearest_name(name, names, DTYPE_COUNT);
        expression_raise(L, type, "gives '%s', which is no element type%s%s%s", name,
                         nearest ? "; did you mean '" : "", nearest ? nearest : "",
                         nearest ? "'?" : "");
    }
    lua_pop(L, 1);
    return found;
}

static buffer_fill evaluate_fill(lua_State *L, const evaluation *e, const expression *fill)
{
    static const char *const names[] = {[FILL_UNIFORM] = "uniform",
                                        [FILL_BITS] = "bits",
                                        [FILL_INDEX] = "index",
                                        [FILL_MODULO] = "modulo"};
    if (!fill->text)
        return FILL_UNIFORM;
    const char *name = expression_string(L, fill, e->problem, NULL);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i], name) == 0) {
            lua_pop(L, 1);
            return (buffer_fill)i;
        }
    expression_raise(L, fill, "gives '%s'; fills are uniform, bits, index and modulo", name);
}

static void evaluate_buffer(lua_State *L, const evaluation *e, const script_buffer *from,
                            buffer_plan *to)
{
    snprintf(to->name, sizeof to->name, "%s", from->name);
    to->role = from->role;
    to->type = evaluate_type(L, e, &from->type);
    to->count = (uint64_t)expression_integer(L, &from->count, e->problem, NULL, 1, most_elements);
    to->fill = evaluate_fill(L, e, &from->fill);
    if (from->limit.text)
        to->fill_limit =
            (uint64_t)expression_integer(L, &from->limit, e->problem, NULL, 1, INT64_MAX);
    else if (to->fill == FILL_MODULO)
        sandbox_raise(L, AT_SCRIPT, e->s->path, from->line,
                      "buffers.%s: fill \"modulo\" needs a limit: the values are below it",
                      from->name);
    uint64_t product = 1;
    for (uint32_t i = 0; i < from->rank; i++) {
        to->shape[i] =
            (uint64_t)expression_integer(L, &from->shape[i], e->problem, NULL, 1, most_elements);
        product = product > (uint64_t)most_elements ? product : product * to->shape[i];
        to->rank++;
    }
    if (from->rank > 0 && product != to->count)
        sandbox_raise(L, AT_SCRIPT, e->s->path, from->line,
                      "buffers.%s: the shape has %llu elements and the count is %llu", from->name,
                      (unsigned long long)product, (unsigned long long)to->count);
}

static int evaluate_problem(lua_State *L)
{
    const evaluation *e = lua_touserdata(L, 1);
    const script *s = e->s;
    problem_plan *plan = e->plan;
    plan->buffer_count = (uint32_t)s->buffer_count;
    for (size_t i = 0; i < s->buffer_count; i++)
        evaluate_buffer(L, e, &s->buffers[i], &plan->buffers[i]);
    plan->tolerance = expression_number(L, &s->tolerance, e->problem, NULL);
    if (plan->tolerance < 0)
        expression_raise(L, &s->tolerance, "is negative");
    /* Where results are compared bit for bit, launches agree bit for bit. */
    plan->deterministic = s->deterministic_given ? s->deterministic : plan->tolerance == 0;
    plan->traffic_bytes = (uint64_t)expression_integer(L, &s->traffic, e->problem, NULL,
                                                       s->pattern.measurable ? 1 : 0, INT64_MAX);
    return 0;
}

at_status script_problem_plan(script *s, problem_kind problem, uint64_t seed, problem_plan *out,
                              at_error *error)
{
    memset(out, 0, sizeof *out);
    out->seed = seed;
    evaluation e = {.s = s, .problem = problem, .plan = out};
    return sandbox_call(&s->box, evaluate_problem, &e, false, error);
}

static void set_bits(argument_plan *to, const void *bytes, uint32_t size_bytes)
{
    /* Little-endian, as every host that CUDA runs on. */
    to->size_bytes = size_bytes;
    memcpy(&to->bits, bytes, size_bytes);
}

/* An argument without a type: an integer is an int, a boolean a bool; no guess about the rest. */
static void evaluate_plain(lua_State *L, const evaluation *e, const expression *from,
                           argument_plan *to)
{
    expression_any(L, from, e->problem, e->indices);
    if (lua_isboolean(L, -1)) {
        unsigned char truth = (unsigned char)lua_toboolean(L, -1);
        set_bits(to, &truth, 1);
    } else if (lua_isinteger(L, -1)) {
        lua_Integer n = lua_tointeger(L, -1);
        if (n < INT32_MIN || n > INT32_MAX)
            expression_raise(L, from, "gives %lld, which does not fit an int; write at.int64(...)",
                             (long long)n);
        int32_t narrow = (int32_t)n;
        set_bits(to, &narrow, 4);
    } else if (lua_type(L, -1) == LUA_TNUMBER) {
        expression_raise(L, from,
                         "gives the number %.17g; write at.float(...), at.double(...) or "
                         "at.int32(...)",
                         lua_tonumber(L, -1));
    } else {
        expression_raise(L, from, "gives a %s, which is neither a buffer nor a number",
                         luaL_typename(L, -1));
    }
    lua_pop(L, 1);
}

static void evaluate_integer(lua_State *L, const evaluation *e, const script_argument *from,
                             argument_plan *to)
{
    static const struct {
        int64_t least, most;
        uint32_t size_bytes;
    } ranges[ARGUMENT_TYPES] = {
        [ARGUMENT_INT32] = {INT32_MIN, INT32_MAX, 4},
        [ARGUMENT_UINT32] = {0, UINT32_MAX, 4},
        [ARGUMENT_INT64] = {INT64_MIN, INT64_MAX, 8},
        [ARGUMENT_UINT64] = {0, INT64_MAX, 8},
    };
    int64_t n = expression_integer(L, &from->value, e->problem, e->indices,
                                   ranges[from->type].least, ranges[from->type].most);
    set_bits(to, &n, ranges[from->type].size_bytes);
}

static void evaluate_argument(lua_State *L, const evaluation *e, const script_argument *from,
                              argument_plan *to)
{
    double number;
    float narrow;
    unsigned char truth;
    switch (from->type) {
    case ARGUMENT_BUFFER:
        to->is_buffer = true;
        to->buffer = from->buffer;
        to->size_bytes = 8;
        break;
    case ARGUMENT_PLAIN:
        evaluate_plain(L, e, &from->value, to);
        break;
    case ARGUMENT_FLOAT:
        narrow = (float)expression_number(L, &from->value, e->problem, e->indices);
        if (!isfinite(narrow))
            expression_raise(L, &from->value, "does not fit a float");
        set_bits(to, &narrow, 4);
        break;
    case ARGUMENT_DOUBLE:
        number = expression_number(L, &from->value, e->problem, e->indices);
        set_bits(to, &number, 8);
        break;
    case ARGUMENT_BOOL:
        truth = expression_truth(L, &from->value, e->problem, e->indices);
        set_bits(to, &truth, 1);
        break;
    default:
        evaluate_integer(L, e, from, to);
        break;
    }
}

/* Limits of the CUDA programming model, the same for all compute capabilities since 3.0 (CUDA C++
 * Programming Guide, "Technical Specifications per Compute Capability"). */
static const int64_t most_blocks[3] = {INT32_MAX, 65535, 65535};
static const int64_t most_threads[3] = {1024, 1024, 64};

static void evaluate_shape(lua_State *L, const evaluation *e, const expression from[3],
                           const int64_t most[3], uint32_t to[3])
{
    for (int i = 0; i < 3; i++)
        to[i] = from[i].text
                    ? (uint32_t)expression_integer(L, &from[i], e->problem, e->indices, 1, most[i])
                    : 1;
}

static int evaluate_launch(lua_State *L)
{
    const evaluation *e = lua_touserdata(L, 1);
    const script_kernel *k = e->kernel;
    launch_plan *out = e->launch;
    snprintf(out->entry, sizeof out->entry, "%s", k->entry);
    evaluate_shape(L, e, k->grid, most_blocks, out->grid);
    evaluate_shape(L, e, k->block, most_threads, out->block);
    uint64_t threads = (uint64_t)out->block[0] * out->block[1] * out->block[2];
    if (threads > 1024)
        expression_raise(L, &k->block[0], "the block has %llu threads; 1024 are allowed",
                         (unsigned long long)threads);
    if (k->shared.text)
        out->dynamic_shared_bytes =
            (uint32_t)expression_integer(L, &k->shared, e->problem, e->indices, 0, INT32_MAX);
    out->argument_count = (uint32_t)k->argument_count;
    for (size_t i = 0; i < k->argument_count; i++)
        evaluate_argument(L, e, &k->arguments[i], &out->arguments[i]);
    return 0;
}

static at_status plan_launch(script *s, const script_kernel *kernel, problem_kind problem,
                             const uint16_t *indices, launch_plan *out, at_error *error)
{
    memset(out, 0, sizeof *out);
    evaluation e = {
        .s = s, .problem = problem, .indices = indices, .kernel = kernel, .launch = out};
    return sandbox_call(&s->box, evaluate_launch, &e, false, error);
}

at_status script_launch_plan(script *s, problem_kind problem, const uint16_t *indices,
                             launch_plan *out, at_error *error)
{
    return plan_launch(s, &s->kernel, problem, indices, out, error);
}

at_status script_reference_plan(script *s, problem_kind problem, launch_plan *out, at_error *error)
{
    if (!s->reference.template_path)
        return error_set(error, AT_NOT_FOUND, "%s: the pattern has no reference kernel", s->path);
    return plan_launch(s, &s->reference, problem, NULL, out, error);
}
