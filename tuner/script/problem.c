/* Evaluates a problem: buffers with contents and tolerances, transfer, and work. */
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "script/state.h"

typedef struct evaluation {
    script *s;
    problem_kind problem;
    const uint16_t *indices;
    problem_plan *plan;
} evaluation;

size_t evaluate_name(lua_State *L, const expression *e, problem_kind problem,
                     const uint16_t *indices, const char *const *names, size_t count)
{
    const char *name = expression_string(L, e, problem, indices);
    size_t i = 0;
    while (i < count && strcmp(names[i], name) != 0)
        i++;
    if (i == count) {
        char known[128] = "", meant[SCRIPT_MEANT_BYTES];
        for (i = 0; i < count; i++)
            snprintf(known + strlen(known), sizeof known - strlen(known), "%s%s", i ? ", " : "",
                     names[i]);
        expression_raise_value(L, e, problem, indices, " gives '%.60s', which is none of %s%s",
                               name, known, script_meant(nearest_name(name, names, count), meant));
    }
    lua_pop(L, 1);
    return i;
}

uint64_t evaluate_elements(lua_State *L, problem_kind problem, const uint16_t *indices,
                           const script_buffer *b, dtype *type)
{
    const char *name = expression_string(L, &b->type, problem, indices);
    char meant[SCRIPT_MEANT_BYTES];
    if (!dtype_find(name, type))
        expression_raise_value(L, &b->type, problem, indices,
                               " gives '%.60s', which is no element type%s", name,
                               script_meant(script_nearest_dtype(name), meant));
    lua_pop(L, 1);
    return (uint64_t)expression_integer(L, &b->count, problem, indices, 1,
                                        (int64_t)PLAN_MAX_ELEMENTS);
}

/* Names of fills in scripts. "zero" and "constant" are values; "below" is an alias of "modulo". */
static const struct {
    const char *name;
    buffer_fill fill;
} fills[] = {
    {"uniform", FILL_UNIFORM}, {"bits", FILL_BITS},     {"zero", FILL_VALUES},
    {"constant", FILL_VALUES}, {"values", FILL_VALUES}, {"index", FILL_INDEX},
    {"below", FILL_MODULO},    {"modulo", FILL_MODULO}, {"permutation", FILL_PERMUTATION},
    {"sorted", FILL_SORTED},   {"local", FILL_LOCAL},   {"skewed", FILL_SKEWED},
    {"offsets", FILL_OFFSETS},
};
enum { FILL_NAMES = sizeof fills / sizeof *fills };

static void raise_unknown_fill(lua_State *L, const expression *fill, const char *name)
{
    char known[256] = "";
    for (size_t i = 0; i < FILL_NAMES; i++)
        snprintf(known + strlen(known), sizeof known - strlen(known), "%s%s", i ? ", " : "",
                 fills[i].name);
    expression_raise(L, fill, " gives '%s', which is not a fill; the fills are %s", name, known);
}

static void raise_buffer(lua_State *L, const evaluation *e, const script_buffer *from,
                         const char *fill, const char *what)
{
    sandbox_raise(L, AT_SCRIPT, e->s->from.path, from->line, "buffers.%s: fill \"%s\"%s",
                  from->name, fill, what);
}

/* Evaluates a list of values. The plan stores a short list; a long list becomes data. */
static void evaluate_values(lua_State *L, const evaluation *e, const script_buffer *from,
                            const char *fill, buffer_plan *to)
{
    if (strcmp(fill, "zero") == 0) {
        to->value_count = 1;
        return;
    }
    if (from->value_count == 0)
        raise_buffer(L, e, from, fill, " needs values, for example fill = at.values { 1, 2, 1 }");
    const dtype type = to->type;
    const size_t size = dtype_get(type)->size_bytes;
    const bool is_long = from->value_count > PLAN_MAX_VALUES;
    unsigned char *elements = is_long ? lua_newuserdatauv(L, from->value_count * size, 0) : NULL;
    bool is_float = dtype_get(to->type)->is_float;
    for (uint32_t i = 0; i < from->value_count; i++) {
        const double v = expression_number(L, &from->values[i], e->problem, e->indices);
        if (!is_float && (floor(v) != v || fabs(v) > 0x1p53))
            expression_raise(L, &from->values[i], " gives %.17g, but a whole number is needed", v);
        if (is_long) {
            const uint64_t bits = dtype_bits(type, v);
            memcpy(elements + i * size, &bits, size); /* little-endian */
        } else
            to->values[i] = v;
    }
    if (!is_long) {
        to->value_count = from->value_count;
        return;
    }
    to->fill = FILL_FILE;
    script_keep_list(L, from->name, type, elements, from->value_count, to->count, &to->data);
    lua_pop(L, 1);
}

static void evaluate_limit(lua_State *L, const evaluation *e, const script_buffer *from,
                           const char *fill, buffer_plan *to)
{
    if (from->limit.text)
        to->fill_limit =
            (uint64_t)expression_integer(L, &from->limit, e->problem, e->indices, 1, INT64_MAX);
    bool needed = to->fill == FILL_MODULO || to->fill == FILL_SORTED || to->fill == FILL_LOCAL ||
                  to->fill == FILL_SKEWED || to->fill == FILL_OFFSETS;
    if (needed && !from->limit.text)
        raise_buffer(L, e, from, fill,
                     " needs a limit, below which all values lie, for example limit = \"n\"");
    bool spread = to->fill == FILL_SORTED || to->fill == FILL_OFFSETS;
    if (spread && to->fill_limit > (uint64_t)INT64_MAX / to->count)
        expression_raise(L, &from->limit,
                         " is too large: the limit times the count of elements is more than 2^63");
    if (to->fill == FILL_OFFSETS && to->count < 2)
        raise_buffer(
            L, e, from, fill,
            " needs a buffer of two elements or more: the first is 0, the last is the limit");
    if (to->fill == FILL_LOCAL && !from->block.text)
        raise_buffer(
            L, e, from, fill,
            " needs a block, the number of neighbours that share a window, for example block = 32");
    if (to->fill == FILL_LOCAL)
        to->fill_block =
            (uint64_t)expression_integer(L, &from->block, e->problem, e->indices, 1, INT64_MAX);
}

static const char *problem_name(problem_kind kind)
{
    return kind == PROBLEM_TUNED    ? "the tuned problem"
           : kind >= PROBLEM_RAGGED ? "a ragged problem"
                                    : "the simulated problem";
}

/* Checks a file's element type against the buffer's and, if `counted`, the number of elements. */
static void check_file(lua_State *L, const evaluation *e, const script_buffer *from,
                       const buffer_plan *to, const data_file *f, bool counted)
{
    const data_description *about = data_file_describe(f);
    char shape[160] = "";
    if (about->type != to->type)
        sandbox_raise(L, AT_SCRIPT, e->s->from.path, from->line,
                      "buffers.%s: its elements are %s, but the elements of %s are %s: give the "
                      "buffer dtype = \"%s\", or convert the file (numpy: a.astype(...))",
                      from->name, dtype_get(to->type)->name, about->path,
                      dtype_get(about->type)->name, dtype_get(about->type)->name);
    for (uint32_t i = 0; about->rank > 1 && i < about->rank; i++)
        text_add(shape, sizeof shape, "%s%llu", i ? " x " : " (",
                 (unsigned long long)about->shape[i]);
    if (counted && about->count != to->count)
        sandbox_raise(L, AT_SCRIPT, e->s->from.path, from->line,
                      "buffers.%s: it has %llu elements on %s, but %s has %llu%s%s. Sizes can come "
                      "from the file: problem = { n = at.file(\"NAME\").count }, or .shape[1]%s",
                      from->name, (unsigned long long)to->count, problem_name(e->problem),
                      about->path, (unsigned long long)about->count, shape, *shape ? ")" : "",
                      to->count < about->count ? ". If the first elements are good for a smaller "
                                                 "problem, write at.file(\"NAME\", { head = true })"
                                               : "");
}

/* Fills a buffer from a file of its size or, if the script allows it, from a longer file. */
static void evaluate_file(lua_State *L, const evaluation *e, const script_buffer *from,
                          buffer_plan *to)
{
    const bool is_part = from->head && to->count < data_file_describe(from->file)->count;
    check_file(L, e, from, to, from->file, !is_part);
    to->fill = FILL_FILE;
    script_file_key(L, from->file, &to->data);
}

/* Takes the expected results from files, for all problems with the sizes of the tuned problem. */
static void evaluate_expected(lua_State *L, const evaluation *e)
{
    problem_plan *plan = e->plan;
    bool all = e->s->checks.has_expected;
    for (uint32_t i = 0; all && i < plan->buffer_count; i++) {
        const script_buffer *from = &e->s->buffers[i];
        if (!plan_is_compared(&plan->buffers[i]))
            continue;
        check_file(L, e, from, &plan->buffers[i], from->expected, e->problem == PROBLEM_TUNED);
        all = plan->buffers[i].count == data_file_describe(from->expected)->count;
    }
    if (e->s->checks.has_expected)
        plan->oracle = all ? ORACLE_FILE : ORACLE_BASELINE;
    for (uint32_t i = 0; all && i < plan->buffer_count; i++)
        if (plan_is_compared(&plan->buffers[i]))
            script_file_key(L, e->s->buffers[i].expected, &plan->buffers[i].expected);
}

static void evaluate_fill(lua_State *L, const evaluation *e, const script_buffer *from,
                          buffer_plan *to)
{
    if (from->file) {
        evaluate_file(L, e, from, to);
        return;
    }
    if (!from->fill.text) {
        evaluate_limit(L, e, from, "uniform", to);
        return;
    }
    const char *name = expression_string(L, &from->fill, e->problem, e->indices);
    size_t i = 0;
    while (i < FILL_NAMES && strcmp(fills[i].name, name) != 0)
        i++;
    if (i == FILL_NAMES)
        raise_unknown_fill(L, &from->fill, name);
    to->fill = fills[i].fill;
    if (to->fill == FILL_VALUES)
        evaluate_values(L, e, from, name, to);
    evaluate_limit(L, e, from, name, to);
    lua_pop(L, 1);
}

/* Evaluates allowed mismatches: a share of the elements if below 1, otherwise their number. */
static double evaluate_mismatches(lua_State *L, const evaluation *e, const expression *from)
{
    double amount = expression_number(L, from, e->problem, e->indices);
    if (!(amount >= 0 && amount <= 0x1p53) || (amount >= 1 && floor(amount) != amount))
        expression_raise(
            L, from,
            " gives %g; a share of the elements below 1, or a whole number of elements, is needed",
            amount);
    return amount;
}

static tolerance evaluate_tolerance(lua_State *L, const evaluation *e, const script_tolerance *from)
{
    double limit = expression_number(L, &from->limit, e->problem, e->indices);
    if (limit < 0)
        expression_raise(L, &from->limit, " is negative; a tolerance is 0 or more");
    if (from->kind == TOLERANCE_RELATIVE && limit >= 1)
        expression_raise(L, &from->limit,
                         " gives %g: a relative error of 1 or more would accept zeros. For ULPs "
                         "write at.ulps(...). A plain number is relative to the largest magnitude",
                         limit);
    if (from->kind == TOLERANCE_ULPS && (floor(limit) != limit || limit > 0x1p53))
        expression_raise(L, &from->limit, " gives %g, but a whole number of ULPs is needed", limit);
    tolerance out = from->kind == TOLERANCE_SCALED
                        ? tolerance_of(limit)
                        : (tolerance){.kind = from->kind, .limit = limit};
    if (from->mismatches.text)
        out.mismatches = evaluate_mismatches(L, e, &from->mismatches);
    return out;
}

static void evaluate_buffer(lua_State *L, const evaluation *e, const script_buffer *from,
                            buffer_plan *to)
{
    *to = (buffer_plan){.role = from->role};
    snprintf(to->name, sizeof to->name, "%s", from->name);
    to->count = evaluate_elements(L, e->problem, e->indices, from, &to->type);
    evaluate_fill(L, e, from, to);
    if (plan_is_compared(to)) {
        const script_tolerance *t =
            from->tolerance.limit.text ? &from->tolerance : &e->s->checks.tolerance;
        to->tolerance = evaluate_tolerance(L, e, t);
        if (t->mismatches.text && tolerance_mismatches(to->tolerance, to->count) >= to->count)
            expression_raise(
                L, &t->mismatches,
                " allows %.17g elements to differ, but %s has only %llu: every result would pass",
                to->tolerance.mismatches, from->name, (unsigned long long)to->count);
        to->record = from->record;
        if (to->record > 1 && to->count % to->record)
            expression_raise(L, &from->count,
                             " is %llu, but %s has records of %u elements: give a multiple of that",
                             (unsigned long long)to->count, from->name, to->record);
        if (to->record > 1 && !tolerance_is_exact(to->tolerance))
            expression_raise(
                L, &t->limit,
                " must be 0: records of %s are compared exactly, so give the buffer tolerance = 0",
                from->name);
        to->repeats =
            !to->record && (e->s->checks.deterministic_given ? e->s->checks.deterministic
                                                             : tolerance_is_exact(to->tolerance));
    }
    uint64_t product = 1;
    for (uint32_t i = 0; i < from->rank; i++) {
        to->shape[i] = (uint64_t)expression_integer(L, &from->shape[i], e->problem, e->indices, 1,
                                                    (int64_t)PLAN_MAX_ELEMENTS);
        product = product > PLAN_MAX_ELEMENTS ? product : product * to->shape[i];
        to->rank++;
    }
    if (from->rank > 0 && product != to->count)
        sandbox_raise(
            L, AT_SCRIPT, e->s->from.path, from->line,
            "buffers.%s: the shape has %llu elements, but the count is %llu: make both equal",
            from->name, (unsigned long long)product, (unsigned long long)to->count);
}

static uint64_t buffer_bytes(lua_State *L, const script *s, problem_kind problem, uint32_t buffer)
{
    dtype type;
    uint64_t count = evaluate_elements(L, problem, NULL, &s->buffers[buffer], &type);
    return count * dtype_get(type)->size_bytes;
}

static void evaluate_task(lua_State *L, problem_kind problem, transfer_task *out)
{
    const script *s = script_of(L);
    const script_transfer *t = &s->transfer;
    size_t count;
    const char *const *names = transfer_direction_names(&count);
    out->direction =
        (transfer_direction)(TRANSFER_TO_DEVICE +
                             evaluate_name(L, &t->direction, problem, NULL, names, count));
    out->from = t->from;
    out->to = t->to;
    uint64_t size = buffer_bytes(L, s, problem, t->from),
             other = buffer_bytes(L, s, problem, t->to);
    if (size != other)
        sandbox_raise(L, AT_SCRIPT, s->from.path, t->line,
                      "transfer: %s has %llu bytes, but %s has %llu: both must have the same size",
                      s->buffers[t->from].name, (unsigned long long)size, s->buffers[t->to].name,
                      (unsigned long long)other);
    out->pieces = (uint64_t)expression_integer(L, &t->pieces, problem, NULL, 1, (int64_t)size);
    if (size % out->pieces != 0)
        expression_raise(
            L, &t->pieces, " gives %llu pieces, which do not divide the %llu bytes of %s",
            (unsigned long long)out->pieces, (unsigned long long)size, s->buffers[t->from].name);
    uint64_t piece = size / out->pieces;
    out->pitch_bytes = (uint64_t)expression_integer(L, &t->pitch, problem, NULL, 0,
                                                    (int64_t)(TRANSFER_MAX_BYTES / out->pieces));
    if (out->pitch_bytes == 0)
        out->pitch_bytes = piece;
    if (out->pitch_bytes < piece)
        expression_raise(L, &t->pitch,
                         " gives %llu bytes, but a piece has %llu: the pitch must not be smaller",
                         (unsigned long long)out->pitch_bytes, (unsigned long long)piece);
}

void evaluate_transfer(lua_State *L, problem_kind problem, const uint16_t *indices, bool has_kernel,
                       transfer_plan *out)
{
    const script_transfer *t = &script_of(L)->transfer;
    size_t count;
    evaluate_task(L, problem, &out->task);
    const char *const *names = host_memory_names(&count);
    out->memory = (host_memory)evaluate_name(L, &t->memory, problem, indices, names, count);
    names = host_staging_names(&count);
    out->staging = (host_staging)evaluate_name(L, &t->staging, problem, indices, names, count);
    out->chunk_bytes = (uint64_t)expression_integer(L, &t->chunk, problem, indices, 0,
                                                    (int64_t)TRANSFER_MAX_BYTES);
    out->streams =
        (uint32_t)expression_integer(L, &t->streams, problem, indices, 1, TRANSFER_MAX_STREAMS);
    if (out->memory == HOST_MAPPED && !has_kernel)
        expression_raise(L, &t->memory,
                         " gives 'mapped', but this configuration launches no kernel, which would "
                         "read or write mapped memory");
    if (out->memory == HOST_MAPPED && out->staging != STAGING_NONE)
        expression_raise(
            L, &t->staging,
            " must be 'none' here: mapped memory is not copied, so it needs no staging buffer");
}

oracle_kind script_oracle(const script *s)
{
    return !s->checks.has_oracle        ? ORACLE_NONE
           : s->reference.template_path ? ORACLE_REFERENCE
           : s->checks.has_expected     ? ORACLE_FILE
                                        : ORACLE_BASELINE;
}

static uint64_t evaluate_work(lua_State *L, const evaluation *e, const expression *from)
{
    return from->text ? (uint64_t)expression_integer(L, from, e->problem, e->indices, 1, INT64_MAX)
                      : 0;
}

static ceiling_kind evaluate_ceiling(lua_State *L, const evaluation *e)
{
    static const char *const lacking[WORK_UNITS] = {
        [WORK_BYTES] = "bytes a second, and the pattern gives no traffic",
        [WORK_FLOPS] = "floating-point operations a second, and the pattern gives no flops",
        [WORK_ITEMS] = "items a second, and the pattern gives no items"};
    const char *name = expression_string(L, &e->s->work.ceiling, e->problem, NULL);
    ceiling_kind found;
    if (!ceiling_find(name, &found)) {
        char known[256] = "";
        for (int i = CEILING_NONE; i < CEILING_KINDS; i++)
            snprintf(known + strlen(known), sizeof known - strlen(known), "%s%s",
                     i > CEILING_NONE ? ", " : "", ceiling_get((ceiling_kind)i)->name);
        expression_raise(L, &e->s->work.ceiling,
                         " gives '%s', which is not a ceiling; the ceilings are %s", name, known);
    }
    work_unit unit = ceiling_get(found)->unit;
    if (found != CEILING_NONE && plan_work(e->plan, unit) == 0)
        expression_raise(L, &e->s->work.ceiling, " gives '%s', which is in %s", name,
                         lacking[unit]);
    lua_pop(L, 1);
    return found;
}

static int evaluate_problem(lua_State *L)
{
    const evaluation *e = lua_touserdata(L, 1);
    const script *s = e->s;
    problem_plan *plan = e->plan;
    plan->buffer_count = (uint32_t)s->buffer_count;
    for (size_t i = 0; i < s->buffer_count; i++)
        evaluate_buffer(L, e, &s->buffers[i], &plan->buffers[i]);
    /* A wrong tolerance of the pattern is an error even if each buffer has a tolerance. */
    evaluate_tolerance(L, e, &s->checks.tolerance);
    plan->oracle = script_oracle(s);
    evaluate_expected(L, e);
    plan->traffic_bytes = evaluate_work(L, e, &s->work.traffic);
    plan->flops = evaluate_work(L, e, &s->work.flops);
    plan->items = evaluate_work(L, e, &s->work.items);
    if (s->work.ceiling.text)
        plan->ceiling = evaluate_ceiling(L, e);
    if (s->transfer.given)
        evaluate_task(L, e->problem, &plan->transfer);
    if (plan->ceiling == CEILING_PINNED && !s->transfer.given)
        expression_raise(L, &s->work.ceiling,
                         " gives 'pinned', which is a ceiling only of patterns with a transfer");
    return 0;
}

at_status script_problem_plan(script *s, problem_kind problem, const uint16_t *indices,
                              uint64_t seed, problem_plan *out, at_error *error)
{
    memset(out, 0, offsetof(problem_plan, buffers));
    out->seed = seed;
    evaluation e = {.s = s,
                    .problem = problem,
                    .indices = indices ? indices : s->pattern.baseline,
                    .plan = out};
    return sandbox_call(&s->box, evaluate_problem, &e, false, error);
}

typedef struct replacement {
    script *s;
    problem_kind problem;
    const pattern_variable *values;
    size_t count;
} replacement;

/* Returns the variable's index. Raises if it does not exist or has another kind of value. */
static size_t find_variable(lua_State *L, const script *s, const pattern_variable *given)
{
    size_t i = 0;
    while (i < s->pattern.problem_count &&
           strcmp(s->problems[PROBLEM_TUNED][i].name, given->name) != 0)
        i++;
    if (i == s->pattern.problem_count)
        sandbox_raise(L, AT_USAGE, s->from.path, 0, "the problem has no variable '%.80s'",
                      given->name);
    value_kind kind = s->problems[PROBLEM_TUNED][i].value.kind;
    if (given->value.kind != kind && (given->value.kind != VALUE_INTEGER || kind != VALUE_NUMBER))
        sandbox_raise(L, AT_USAGE, s->from.path, 0,
                      "the problem's %.80s cannot have a value of this kind", given->name);
    return i;
}

static int replace_problem(lua_State *L)
{
    const replacement *r = lua_touserdata(L, 1);
    script *s = r->s;
    lua_rawgeti(L, LUA_REGISTRYINDEX, s->lua.problem_tables[r->problem]);
    for (size_t k = 0; k < r->count; k++) {
        const size_t i = find_variable(L, s, &r->values[k]);
        value *to = &s->problems[r->problem][i].value, v = r->values[k].value;
        if (v.kind == VALUE_STRING)
            v.string = script_intern(L, v.string);
        else if (v.kind != to->kind)
            v = (value){.kind = VALUE_NUMBER, .number = (double)v.integer};
        *to = v;
        script_push_value(L, v);
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    return 0;
}

at_status script_set_problem(script *s, problem_kind problem, const pattern_variable *values,
                             size_t count, at_error *error)
{
    replacement r = {s, problem, values, count};
    return sandbox_call(&s->box, replace_problem, &r, false, error);
}
