/* Evaluates tensor maps, textures and surfaces among the arguments of a kernel. */

#include "script/state.h"

static uint32_t evaluate_place(lua_State *L, problem_kind problem, const uint16_t *indices,
                               const expression *e, const uint32_t *choices, size_t count)
{
    if (!e->text)
        return 0;
    int64_t wanted = expression_integer(L, e, problem, indices, 0, choices[count - 1]);
    for (uint32_t i = 0; i < count; i++)
        if (choices[i] == wanted)
            return i;
    expression_raise(L, e, "gives %lld; bytes are %u, %u, %u or %u", (long long)wanted,
                     (unsigned)choices[0], (unsigned)choices[1], (unsigned)choices[2],
                     (unsigned)choices[3]);
}

static uint32_t evaluate_word(lua_State *L, problem_kind problem, const uint16_t *indices,
                              const expression *e, const char *const *names, size_t count)
{
    return e->text ? (uint32_t)evaluate_name(L, e, problem, indices, names, count) : 0;
}

/* The expression that `fault` is about. */
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

/* Evaluates the elements from one row, plane ... to the next; without strides they follow one
 * another. */
static void evaluate_strides(lua_State *L, problem_kind problem, const uint16_t *indices,
                             const script_view *from, view_plan *out)
{
    const uint64_t element = dtype_get(out->type)->size_bytes;
    uint64_t packed = element * out->channels;
    for (uint32_t i = 0; i + 1 < out->rank; i++) {
        packed = packed > PLAN_MAX_ELEMENTS ? packed : packed * out->size[i];
        out->stride_bytes[i] =
            i < from->stride_count
                ? element * (uint64_t)expression_integer(L, &from->strides[i], problem, indices, 1,
                                                         (int64_t)PLAN_MAX_ELEMENTS)
                : packed;
    }
}

void view_evaluate(lua_State *L, problem_kind problem, const uint16_t *indices,
                   const script_argument *from, view_plan *out)
{
    static const char *const outside[] = {"zero", "nan"},
                             *const coordinates[] = {"elements", "normalised"},
                             *const reads[] = {"element", "float"},
                             *const memory[] = {"buffer", "array"};
    static const view_kind kinds[ARGUMENT_TYPES] = {[ARGUMENT_TENSOR] = VIEW_TENSOR,
                                                    [ARGUMENT_TEXTURE] = VIEW_TEXTURE,
                                                    [ARGUMENT_SURFACE] = VIEW_SURFACE};
    const script *s = script_of(L);
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
            "is of a tensor map, which needs compute capability 9.0, and this is %d.%d: "
            "write where = { \"device.major >= 9\" }, or launch it when device.major >= 9",
            s->options.device.major, s->options.device.minor);
    uint64_t elements =
        evaluate_elements(L, problem, indices, &s->buffers[from->buffer], &out->type);
    for (uint32_t i = 0; i < v->rank; i++) {
        out->size[i] = (uint64_t)expression_integer(L, &v->size[i], problem, indices, 1,
                                                    (int64_t)PLAN_MAX_ELEMENTS);
        if (i < v->box_count)
            out->box[i] =
                (uint32_t)expression_integer(L, &v->box[i], problem, indices, 1, VIEW_MAX_BOX);
    }
    if (v->layers.text) {
        out->layered = 1;
        out->size[out->rank++] = (uint64_t)expression_integer(L, &v->layers, problem, indices, 1,
                                                              (int64_t)PLAN_MAX_ELEMENTS);
    }
    out->in_array = out->kind == VIEW_SURFACE ||
                    (v->memory.text ? evaluate_word(L, problem, indices, &v->memory, memory, 2)
                                    : out->rank > 2 || out->layered);
    out->channels = v->channels.text
                        ? (uint32_t)expression_integer(L, &v->channels, problem, indices, 1, 4)
                        : 1;
    evaluate_strides(L, problem, indices, v, out);
    const uint32_t *choices = view_swizzles(&count);
    out->swizzle = evaluate_place(L, problem, indices, &v->swizzle, choices, count);
    choices = view_promotions(&count);
    out->promotion = evaluate_place(L, problem, indices, &v->l2, choices, count);
    out->nan_outside = evaluate_word(L, problem, indices, &v->outside, outside, 2);
    const char *const *names = view_filter_names(&count);
    out->filter = (view_filter)evaluate_word(L, problem, indices, &v->filter, names, count);
    names = view_address_names(&count);
    out->address = v->address.text
                       ? (view_address)evaluate_word(L, problem, indices, &v->address, names, count)
                       : ADDRESS_CLAMP;
    out->normalised = evaluate_word(L, problem, indices, &v->coordinates, coordinates, 2);
    out->as_float = evaluate_word(L, problem, indices, &v->reads, reads, 2);
    if (out->kind != VIEW_TEXTURE)
        out->address = ADDRESS_WRAP; /* says nothing of others, whose members are zero then */
    view_fault fault = view_check(out, elements, &dimension, message);
    if (fault)
        expression_raise(L, blame(v, fault, dimension), "%s", message);
}
