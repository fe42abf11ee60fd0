/* Evaluates a launch: the grids, blocks, clusters and arguments of a configuration's kernels. */
#include <lauxlib.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/bits.h"
#include "script/launch_c.h"
#include "script/state.h"

typedef struct evaluation {
    script *s;
    problem_kind problem;
    const uint16_t *indices;
    const script_kernel *kernel;
    launch_plan *launch;
    bool *impossible; /* set before an error if no GPU could make the launch */
} evaluation;

static int64_t whole(lua_State *L, const evaluation *e, const expression *from, int64_t least,
                     int64_t most)
{
    return expression_integer(L, from, e->problem, e->indices, least, most);
}

/* A scalar's bytes, little-endian as on every host of CUDA. */
typedef struct scalar {
    uint64_t bits;
    uint32_t size_bytes;
} scalar;

static scalar scalar_of(const void *bytes, uint32_t size_bytes)
{
    scalar s = {.size_bytes = size_bytes};
    memcpy(&s.bits, bytes, size_bytes);
    return s;
}

static scalar evaluate_plain(lua_State *L, const evaluation *e, const expression *from)
{
    scalar out = {0};
    expression_any(L, from, e->problem, e->indices);
    if (lua_isboolean(L, -1)) {
        unsigned char truth = (unsigned char)lua_toboolean(L, -1);
        out = scalar_of(&truth, 1);
    } else if (lua_isinteger(L, -1)) {
        lua_Integer n = lua_tointeger(L, -1);
        if (n < INT32_MIN || n > INT32_MAX)
            expression_raise_value(L, from, e->problem, e->indices,
                                   " gives %lld, which does not fit an int; write at.int64(...)",
                                   (long long)n);
        int32_t narrow = (int32_t)n;
        out = scalar_of(&narrow, 4);
    } else if (lua_type(L, -1) == LUA_TNUMBER) {
        expression_raise_value(L, from, e->problem, e->indices,
                               " gives the number %.17g without a type; write at.float(...), "
                               "at.double(...) or at.int32(...)",
                               lua_tonumber(L, -1));
    } else {
        expression_raise_value(L, from, e->problem, e->indices,
                               " gives a %s, which is neither a buffer nor a number",
                               luaL_typename(L, -1));
    }
    lua_pop(L, 1);
    return out;
}

const script_scalar script_scalars[ARGUMENT_TYPES] = {
    [ARGUMENT_INT8] = {INT8_MIN, INT8_MAX, 1, NULL},
    [ARGUMENT_UINT8] = {0, UINT8_MAX, 1, NULL},
    [ARGUMENT_INT16] = {INT16_MIN, INT16_MAX, 2, NULL},
    [ARGUMENT_UINT16] = {0, UINT16_MAX, 2, NULL},
    [ARGUMENT_INT32] = {INT32_MIN, INT32_MAX, 4, NULL},
    [ARGUMENT_UINT32] = {0, UINT32_MAX, 4, NULL},
    [ARGUMENT_INT64] = {INT64_MIN, INT64_MAX, 8, NULL},
    [ARGUMENT_UINT64] = {0, INT64_MAX, 8, NULL},
    [ARGUMENT_HALF] = {0, 0, 2, "half"},
    [ARGUMENT_BFLOAT16] = {0, 0, 2, "bfloat16"},
    [ARGUMENT_FLOAT] = {0, 0, 4, "float"},
    [ARGUMENT_DOUBLE] = {0, 0, 8, "double"},
};

static scalar evaluate_integer(lua_State *L, const evaluation *e, const script_argument *from)
{
    const script_scalar *type = &script_scalars[from->type];
    int64_t n = whole(L, e, &from->value, type->least, type->most);
    return scalar_of(&n, type->size_bytes);
}

static scalar evaluate_float(lua_State *L, const evaluation *e, const script_argument *from)
{
    double number = expression_number(L, &from->value, e->problem, e->indices);
    float narrow = (float)number;
    uint16_t half = half_from_double(number), bfloat = bfloat_from_double(number);
    bool fits = true;
    scalar out = scalar_of(&number, 8);
    switch (from->type) {
    case ARGUMENT_HALF:
        fits = isfinite(half_to_float(half));
        out = scalar_of(&half, 2);
        break;
    case ARGUMENT_BFLOAT16:
        fits = isfinite(bfloat_to_float(bfloat));
        out = scalar_of(&bfloat, 2);
        break;
    case ARGUMENT_FLOAT:
        fits = isfinite(narrow);
        out = scalar_of(&narrow, 4);
        break;
    default:
        break;
    }
    if (!fits)
        expression_raise_value(L, &from->value, e->problem, e->indices,
                               " gives %.17g, which does not fit a %s", number,
                               script_scalars[from->type].floating);
    return out;
}

static scalar evaluate_scalar(lua_State *L, const evaluation *e, const script_argument *from)
{
    unsigned char truth;
    switch (from->type) {
    case ARGUMENT_PLAIN:
        return evaluate_plain(L, e, &from->value);
    case ARGUMENT_HALF:
    case ARGUMENT_BFLOAT16:
    case ARGUMENT_FLOAT:
    case ARGUMENT_DOUBLE:
        return evaluate_float(L, e, from);
    case ARGUMENT_BOOL:
        truth = (unsigned char)expression_truth(L, &from->value, e->problem, e->indices);
        return scalar_of(&truth, 1);
    default:
        return evaluate_integer(L, e, from);
    }
}

static uint32_t round_to(uint32_t n, uint32_t multiple)
{
    return (n + multiple - 1) / multiple * multiple;
}

__attribute__((noreturn)) static void refuse_struct(lua_State *L, const evaluation *e,
                                                    const script_argument *from, const char *what,
                                                    int most)
{
    int line = 0;
    for (size_t i = 0; line == 0 && i < from->member_count; i++)
        line = from->members[i].value.line;
    sandbox_raise(L, AT_SCRIPT, e->s->from.path, line,
                  "the structs among the arguments have more than %d %s", most, what);
}

static void evaluate_struct(lua_State *L, const evaluation *e, const script_argument *from,
                            argument_plan *to)
{
    launch_plan *plan = e->launch;
    const uint32_t start = round_to(plan->struct_bytes, 16), had = plan->address_count;
    uint32_t size = 0, alignment = 1;
    memset(plan->structs + plan->struct_bytes, 0, start - plan->struct_bytes);
    for (size_t i = 0; i < from->member_count; i++) {
        const bool is_buffer = from->members[i].type == ARGUMENT_BUFFER;
        scalar member =
            is_buffer ? (scalar){.size_bytes = 8} : evaluate_scalar(L, e, &from->members[i]);
        const uint32_t at = round_to(size, member.size_bytes);
        if (member.size_bytes > alignment)
            alignment = member.size_bytes;
        if (start + round_to(at + member.size_bytes, alignment) > PLAN_MAX_STRUCT_BYTES)
            refuse_struct(L, e, from, "bytes together", PLAN_MAX_STRUCT_BYTES);
        if (is_buffer && plan->address_count == PLAN_MAX_ADDRESSES)
            refuse_struct(L, e, from, "buffers together", PLAN_MAX_ADDRESSES);
        if (is_buffer)
            plan->addresses[plan->address_count++] =
                (address_plan){(uint16_t)(start + at), (uint8_t)from->members[i].buffer};
        memset(plan->structs + start + size, 0, at - size);
        memcpy(plan->structs + start + at, &member.bits, member.size_bytes);
        size = at + member.size_bytes;
    }
    const uint32_t end = round_to(size, alignment);
    memset(plan->structs + start + size, 0, end - size);
    to->size_bytes = (uint16_t)end;
    if (end > 8) {
        to->bits = start;
        plan->struct_bytes = start + end;
    } else if (plan->address_count > had) {
        to->is_buffer = true;
        to->buffer = plan->addresses[--plan->address_count].buffer;
    } else {
        memcpy(&to->bits, plan->structs + start, end);
    }
}

static uint32_t evaluate_place(lua_State *L, const evaluation *e, const expression *from,
                               const uint32_t *choices, size_t count)
{
    if (!from->text)
        return 0;
    int64_t wanted = whole(L, e, from, 0, choices[count - 1]);
    for (uint32_t i = 0; i < count; i++)
        if (choices[i] == wanted)
            return i;
    expression_raise(L, from, " gives %lld bytes; only %u, %u, %u and %u are possible",
                     (long long)wanted, (unsigned)choices[0], (unsigned)choices[1],
                     (unsigned)choices[2], (unsigned)choices[3]);
}

static uint32_t evaluate_word(lua_State *L, const evaluation *e, const expression *from,
                              const char *const *names, size_t count)
{
    return from->text ? (uint32_t)evaluate_name(L, from, e->problem, e->indices, names, count) : 0;
}

static const expression *blame(const script_view *v, view_fault fault, uint32_t dimension)
{
    const expression *const fields[] = {
        [VIEW_BAD_SWIZZLE] = &v->swizzle,   [VIEW_BAD_OUTSIDE] = &v->outside,
        [VIEW_BAD_CHANNELS] = &v->channels, [VIEW_BAD_FILTER] = &v->filter,
        [VIEW_BAD_ADDRESS] = &v->address,   [VIEW_BAD_READS] = &v->reads,
        [VIEW_BAD_MEMORY] = &v->memory};
    if (fault == VIEW_BAD_STRIDE && dimension < v->stride_count)
        return &v->strides[dimension];
    if (fault == VIEW_BAD_BOX && dimension < v->box_count)
        return &v->box[dimension];
    if (fault >= VIEW_BAD_SWIZZLE && fields[fault]->text)
        return fields[fault];
    return dimension == v->rank && v->layers.text ? &v->layers
                                                  : &v->size[dimension < v->rank ? dimension : 0];
}

/* Evaluates the strides, in elements. Without strides, rows are contiguous. */
static void evaluate_strides(lua_State *L, const evaluation *e, const script_view *from,
                             view_plan *out)
{
    const uint64_t element = dtype_get(out->type)->size_bytes;
    uint64_t packed = element * out->channels;
    for (uint32_t i = 0; i + 1 < out->rank; i++) {
        packed = packed > PLAN_MAX_ELEMENTS ? packed : packed * out->size[i];
        out->stride_bytes[i] =
            i < from->stride_count
                ? element * (uint64_t)whole(L, e, &from->strides[i], 1, (int64_t)PLAN_MAX_ELEMENTS)
                : packed;
    }
}

static void fill_view(lua_State *L, const evaluation *e, const script_argument *from,
                      view_plan *out)
{
    static const char *const outside[] = {"zero", "nan"},
                             *const coordinates[] = {"elements", "normalised"},
                             *const reads[] = {"element", "float"},
                             *const memory[] = {"buffer", "array"};
    static const view_kind kinds[ARGUMENT_TYPES] = {[ARGUMENT_TENSOR] = VIEW_TENSOR,
                                                    [ARGUMENT_TEXTURE] = VIEW_TEXTURE,
                                                    [ARGUMENT_SURFACE] = VIEW_SURFACE};
    const script *s = e->s;
    const script_view *v = from->view;
    char message[VIEW_MESSAGE_BYTES];
    uint32_t dimension = 0;
    size_t count;
    out->kind = kinds[from->type];
    out->buffer = from->buffer;
    out->rank = v->rank;
    if (out->kind == VIEW_TENSOR && s->options.device.major < 9)
        expression_raise(
            L, &v->size[0],
            " is the size of a tensor map, which needs compute capability 9.0, but this device has "
            "%d.%d: write where = { \"device.major >= 9\" }, or launch it when device.major >= 9",
            s->options.device.major, s->options.device.minor);
    uint64_t elements =
        evaluate_elements(L, e->problem, e->indices, &s->buffers[from->buffer], &out->type);
    for (uint32_t i = 0; i < v->rank; i++) {
        out->size[i] = (uint64_t)whole(L, e, &v->size[i], 1, (int64_t)PLAN_MAX_ELEMENTS);
        if (i < v->box_count)
            out->box[i] = (uint32_t)whole(L, e, &v->box[i], 1, VIEW_MAX_BOX);
    }
    if (v->layers.text) {
        out->layered = 1;
        out->size[out->rank++] = (uint64_t)whole(L, e, &v->layers, 1, (int64_t)PLAN_MAX_ELEMENTS);
    }
    out->in_array =
        out->kind == VIEW_SURFACE || (v->memory.text ? evaluate_word(L, e, &v->memory, memory, 2)
                                                     : out->rank > 2 || out->layered);
    out->channels = v->channels.text ? (uint32_t)whole(L, e, &v->channels, 1, 4) : 1;
    evaluate_strides(L, e, v, out);
    const uint32_t *choices = view_swizzles(&count);
    out->swizzle = evaluate_place(L, e, &v->swizzle, choices, count);
    choices = view_promotions(&count);
    out->promotion = evaluate_place(L, e, &v->l2, choices, count);
    out->nan_outside = evaluate_word(L, e, &v->outside, outside, 2);
    const char *const *names = view_filter_names(&count);
    out->filter = (view_filter)evaluate_word(L, e, &v->filter, names, count);
    names = view_address_names(&count);
    out->address = v->address.text ? (view_address)evaluate_word(L, e, &v->address, names, count)
                                   : ADDRESS_CLAMP;
    out->normalised = evaluate_word(L, e, &v->coordinates, coordinates, 2);
    out->as_float = evaluate_word(L, e, &v->reads, reads, 2);
    if (out->kind != VIEW_TEXTURE)
        out->address = ADDRESS_WRAP; /* only textures have an address mode */
    view_fault fault = view_check(out, elements, &dimension, message);
    if (fault)
        expression_raise(L, blame(v, fault, dimension), " %s", message);
}

static void evaluate_view(lua_State *L, const evaluation *e, const script_argument *from,
                          argument_plan *to)
{
    launch_plan *plan = e->launch;
    if (plan->view_count == PLAN_MAX_VIEWS)
        expression_raise(
            L, &from->view->size[0],
            " is one tensor map, texture or surface too many: a variant can have at most %d",
            PLAN_MAX_VIEWS);
    to->is_view = true;
    to->bits = plan->view_count;
    to->buffer = (uint8_t)from->buffer;
    fill_view(L, e, from, &plan->views[plan->view_count++]);
    to->size_bytes = (uint16_t)view_bytes(plan->views[to->bits].kind);
}

static void evaluate_argument(lua_State *L, const evaluation *e, const script_argument *from,
                              argument_plan *to)
{
    if (from->type == ARGUMENT_BUFFER) {
        to->is_buffer = true;
        to->buffer = (uint8_t)from->buffer;
        to->size_bytes = 8;
    } else if (argument_is_view(from->type)) {
        evaluate_view(L, e, from, to);
    } else if (from->type == ARGUMENT_STRUCT) {
        evaluate_struct(L, e, from, to);
    } else {
        scalar s = evaluate_scalar(L, e, from);
        to->bits = s.bits;
        to->size_bytes = (uint16_t)s.size_bytes;
    }
}

/* Limits for all compute capabilities since 3.0 (CUDA C++ Programming Guide, "Technical
 * Specifications per Compute Capability") */
const int64_t script_most_blocks[3] = {INT32_MAX, 65535, 65535};
const int64_t script_most_threads[3] = {1024, 1024, 64};
const int64_t script_most_cluster[3] = {PLAN_MAX_CLUSTER, PLAN_MAX_CLUSTER, PLAN_MAX_CLUSTER};

static void evaluate_shape(lua_State *L, const evaluation *e, const expression from[3],
                           const int64_t most[3], uint32_t to[3])
{
    for (int i = 0; i < 3; i++) {
        to[i] = 1;
        if (!from[i].text)
            continue;
        const int64_t n = whole(L, e, &from[i], INT64_MIN, INT64_MAX);
        *e->impossible = n < 1 || n > most[i];
        to[i] = *e->impossible ? (uint32_t)whole(L, e, &from[i], 1, most[i]) : (uint32_t)n;
    }
}

static void evaluate_cluster(lua_State *L, const evaluation *e, const script_launch *from,
                             kernel_launch *to)
{
    evaluate_shape(L, e, from->cluster, script_most_cluster, to->cluster);
    for (int i = 0; i < 3; i++) {
        *e->impossible = to->grid[i] % to->cluster[i] != 0;
        if (*e->impossible)
            expression_raise(
                L, &from->cluster[from->cluster[i].text ? i : 0],
                "clusters of %u blocks do not divide the grid of %u: round the grid up",
                to->cluster[i], to->grid[i]);
    }
}

static uint32_t evaluate_times(lua_State *L, const evaluation *e, const script_launch *from)
{
    if (from->when.text && !expression_truth(L, &from->when, e->problem, e->indices))
        return 0;
    return from->times.text ? (uint32_t)whole(L, e, &from->times, 0, PLAN_MAX_ROUNDS) : 1;
}

/* Evaluates a kernel's name. Turns several blanks into one, so that equal names compare equal. */
static void evaluate_entry(lua_State *L, const evaluation *e, const expression *from)
{
    launch_plan *plan = e->launch;
    const char *text = expression_string(L, from, e->problem, e->indices);
    char name[PLAN_ENTRIES_BYTES];
    size_t used = 0;
    for (const char *c = text; *c && used < sizeof name - 1; c++) {
        const bool blank = strchr(" \t\r\n", *c) != NULL;
        if (!blank)
            name[used++] = *c;
        else if (used > 0 && name[used - 1] != ' ')
            name[used++] = ' ';
    }
    while (used > 0 && name[used - 1] == ' ')
        used--;
    name[used] = '\0';
    if (used == 0)
        expression_raise(L, from, " is empty; write the name of a kernel");
    if (!plan_set_entry(plan, plan->launch_count - 1, name))
        expression_raise(L, from,
                         " is too long: the names of all kernels together have more than %d bytes",
                         PLAN_ENTRIES_BYTES - 2);
    lua_pop(L, 1);
}

/* `first` is the index of the first launch in its group. */
static void evaluate_one_launch(lua_State *L, const evaluation *e, const script_launch *from,
                                uint32_t times, uint32_t first)
{
    launch_plan *plan = e->launch;
    kernel_launch *to = &plan->launches[plan->launch_count++];
    if (times > 1) {
        to->group = first + 1;
        to->rounds = times;
    }
    evaluate_entry(L, e, &from->entry);
    evaluate_shape(L, e, from->grid, script_most_blocks, to->grid);
    evaluate_shape(L, e, from->block, script_most_threads, to->block);
    evaluate_cluster(L, e, from, to);
    *e->impossible = plan_block_threads(to) > 1024;
    if (*e->impossible)
        expression_raise(L, &from->block[0], "the block has %llu threads; at most 1024 are allowed",
                         (unsigned long long)plan_block_threads(to));
    if (from->shared.text)
        to->dynamic_shared_bytes = (uint32_t)whole(L, e, &from->shared, 0, INT32_MAX);
    /* Without clusters, `balanced` has no effect, but would make equal launches differ. */
    if (from->balanced.text)
        to->balanced = expression_truth(L, &from->balanced, e->problem, e->indices) &&
                       plan_cluster_blocks(to) > 1;
    if (from->cooperative.text)
        to->cooperative = expression_truth(L, &from->cooperative, e->problem, e->indices);
    to->first_argument = plan->argument_count;
    to->argument_count = (uint32_t)from->argument_count;
    for (size_t i = 0; i < from->argument_count; i++) {
        argument_plan *argument = &plan->arguments[plan->argument_count++];
        *argument = (argument_plan){0};
        evaluate_argument(L, e, &from->arguments[i], argument);
    }
}

static void evaluate_compared(lua_State *L, const evaluation *e)
{
    const script *s = e->s;
    for (size_t i = 0; i < s->buffer_count; i++) {
        const script_buffer *b = &s->buffers[i];
        if (!b->compare.text)
            continue;
        dtype type;
        uint64_t all = evaluate_elements(L, e->problem, e->indices, b, &type);
        int64_t count = whole(L, e, &b->compare, 1, (int64_t)all);
        if (b->record > 1 && count % b->record)
            expression_raise(L, &b->compare,
                             " is %lld, but %s has records of %u elements: give a multiple of that",
                             (long long)count, b->name, b->record);
        if ((uint64_t)count < all)
            e->launch->compared[e->launch->compared_count++] =
                (compared_plan){.buffer = (uint32_t)i, .count = (uint64_t)count};
    }
}

/* Refuses a buffer accessed both directly and as a CUDA array, because the array is a copy. */
static void refuse_two_copies(lua_State *L, const evaluation *e)
{
    const uint32_t buffer = plan_conflicting_buffer(e->launch);
    if (buffer < PLAN_MAX_BUFFERS)
        expression_raise(
            L, &e->kernel->launches[0].entry,
            " uses %s as a CUDA array (at.surface, or a texture of memory = \"array\") and also in "
            "another way: use the buffer only as views of one array, or never as an array",
            e->s->buffers[buffer].name);
}

static int evaluate_launch(lua_State *L)
{
    const evaluation *e = lua_touserdata(L, 1);
    const script_kernel *k = e->kernel;
    launch_plan *plan = e->launch;
    uint32_t first = 0;
    for (size_t i = 0; i < k->launch_count; i++) {
        if (i == 0 || k->launches[i].group == 0 || k->launches[i].group != k->launches[i - 1].group)
            first = plan->launch_count;
        uint32_t times = evaluate_times(L, e, &k->launches[i]);
        if (times > 0)
            evaluate_one_launch(L, e, &k->launches[i], times, first);
    }
    bool transfers = e->s->transfer.given && k == &e->s->kernel;
    if (transfers)
        evaluate_transfer(L, e->problem, e->indices, plan->launch_count > 0, &plan->transfer);
    if (plan->launch_count == 0 && !transfers)
        expression_raise(L, &k->launches[0].when,
                         "the `when` of every launch is false for this configuration: at least one "
                         "launch must remain");
    plan->constant_count = (uint32_t)k->constant_count;
    for (size_t i = 0; i < k->constant_count; i++) {
        constant_plan *to = &plan->constants[i];
        *to = k->constants[i];
        to->is_result = e->s->buffers[to->buffer].role != BUFFER_INPUT;
        if (to->is_result && transfers)
            sandbox_raise(L, AT_SCRIPT, e->s->from.path, k->template_line,
                          "the transfer's results are in a buffer, but the kernel's are in its "
                          "variable %s: pass the buffer to the kernel instead",
                          to->name);
    }
    refuse_two_copies(L, e);
    if (k == &e->s->kernel)
        evaluate_compared(L, e);
    return 0;
}

typedef struct planned {
    evaluation of;
    const script_launch **launches;
} planned;

static int find_planned(lua_State *L)
{
    const planned *p = lua_touserdata(L, 1);
    const script_kernel *k = p->of.kernel;
    size_t count = 0;
    for (size_t i = 0; i < k->launch_count; i++)
        if (evaluate_times(L, &p->of, &k->launches[i]) > 0)
            p->launches[count++] = &k->launches[i];
    return 0;
}

at_status script_planned_launches(script *s, const script_kernel *kernel, problem_kind problem,
                                  const uint16_t *indices,
                                  const script_launch *out[PLAN_MAX_LAUNCHES], at_error *error)
{
    planned p = {.of = {.s = s, .problem = problem, .indices = indices, .kernel = kernel},
                 .launches = out};
    memset(out, 0, PLAN_MAX_LAUNCHES * sizeof *out);
    return sandbox_call(&s->box, find_planned, &p, false, error);
}

static at_status plan_launch(script *s, const script_kernel *kernel, problem_kind problem,
                             const uint16_t *indices, launch_plan *out, at_error *error)
{
    bool impossible = false;
    plan_clear(out);
    evaluation e = {.s = s,
                    .problem = problem,
                    .indices = indices ? indices : s->pattern.baseline,
                    .kernel = kernel,
                    .launch = out,
                    .impossible = &impossible};
    at_status status = sandbox_call(&s->box, evaluate_launch, &e, false, error);
    if (!status || !impossible)
        return status;
    if (error)
        error->status = AT_USAGE;
    return AT_USAGE;
}

at_status script_launch_plan(script *s, problem_kind problem, const uint16_t *indices,
                             launch_plan *out, at_error *error)
{
    return plan_launch(s, &s->kernel, problem, indices, out, error);
}

at_status script_reference_plan(script *s, problem_kind problem, const uint16_t *indices,
                                launch_plan *out, at_error *error)
{
    const bool is_baseline = script_oracle(s) != ORACLE_REFERENCE;
    if (is_baseline && !s->pattern.measurable && s->checks.has_oracle)
        return error_set(error, AT_NOT_FOUND, "%s: the pattern has no reference kernel",
                         s->from.path);
    return plan_launch(s, is_baseline ? &s->kernel : &s->reference, problem, indices, out, error);
}

bool script_has_filler(const script *s)
{
    return s->filler.template_path;
}

at_status script_filler_plan(script *s, problem_kind problem, const uint16_t *indices,
                             launch_plan *out, at_error *error)
{
    if (!s->filler.template_path)
        return error_set(error, AT_NOT_FOUND, "%s: no kernel of the pattern fills inputs",
                         s->from.path);
    return plan_launch(s, &s->filler, problem, indices, out, error);
}
