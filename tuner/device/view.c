#include "device/view.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Limits of cuTensorMapEncodeTiled; for textures, the smallest limits of all devices of capability
 * 5.0 or newer (Programming Guide, "Technical Specifications per Compute Capability"). */
#define MOST_TENSOR_SIZE (UINT64_C(1) << 32)
#define MOST_TENSOR_STRIDE (UINT64_C(1) << 40)
enum {
    TENSOR_UNIT_BYTES = 16,
    MOST_LINEAR_TEXELS = 1 << 27,
    MOST_TEXTURE_WIDTH = 65536,
    MOST_TEXTURE_HEIGHT = 65000,
    TEXTURE_PITCH_BYTES = 32, /* a pitch is a multiple of this */
    MOST_PITCH_BYTES = 2097120,
    MOST_ARRAY_RANK = 3,
    MOST_LAYERS = 2048
};
static const uint64_t most_sides[MOST_ARRAY_RANK] = {16384, 32768, 4096};
static const uint64_t most_layered_side = 16384;

static const uint32_t swizzles[] = {0, 32, 64, 128};
static const uint32_t promotions[] = {0, 64, 128, 256};
static const char *const filters[] = {"point", "linear"};
static const char *const addresses[] = {"wrap", "clamp", "mirror", "border"};

enum {
    SWIZZLES = sizeof swizzles / sizeof *swizzles,
    PROMOTIONS = sizeof promotions / sizeof *promotions
};

const uint32_t *view_swizzles(size_t *count)
{
    *count = SWIZZLES;
    return swizzles;
}

const uint32_t *view_promotions(size_t *count)
{
    *count = PROMOTIONS;
    return promotions;
}

const char *const *view_filter_names(size_t *count)
{
    *count = FILTER_COUNT;
    return filters;
}

const char *const *view_address_names(size_t *count)
{
    *count = ADDRESS_COUNT;
    return addresses;
}

uint32_t view_bytes(view_kind kind)
{
    return kind == VIEW_TENSOR ? VIEW_TENSOR_BYTES : VIEW_TEXTURE_BYTES;
}

const char *view_kind_name(view_kind kind)
{
    static const char *const names[VIEW_KINDS] = {"view", "tensor map", "texture", "surface"};
    return names[kind];
}

bool view_same_array(const view_plan *a, const view_plan *b)
{
    bool same = a->in_array && b->in_array && a->buffer == b->buffer && a->type == b->type &&
                a->rank == b->rank && a->channels == b->channels && a->layered == b->layered;
    for (uint32_t i = 0; same && i < a->rank; i++)
        same = a->size[i] == b->size[i];
    return same;
}

typedef struct complaint {
    uint32_t *dimension;
    char *message;
} complaint;

__attribute__((format(printf, 4, 5))) static view_fault
complain(const complaint *c, view_fault fault, uint32_t dimension, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(c->message, VIEW_MESSAGE_BYTES, format, args);
    va_end(args);
    *c->dimension = dimension;
    return fault;
}

static view_fault check_extent(const view_plan *v, uint64_t count, const complaint *c)
{
    uint64_t element = dtype_get(v->type)->size_bytes,
             channels = v->kind == VIEW_TENSOR ? 1 : v->channels;
    uint64_t bytes = v->size[0] * channels * element;
    for (uint32_t i = 1; i < v->rank; i++) {
        uint64_t steps = v->size[i] - 1, stride = v->stride_bytes[i - 1];
        if (stride > 0 && steps > (UINT64_MAX / 2 - bytes) / stride)
            return complain(c, VIEW_BAD_SIZE, i,
                            "reaches beyond 2^63 bytes: make the size or the strides smaller");
        bytes += steps * stride;
    }
    if (count > 0 && bytes > count * element)
        return complain(c, VIEW_BAD_SIZE, v->rank - 1,
                        "needs %" PRIu64 " bytes, but the buffer has %" PRIu64, bytes,
                        count * element);
    return VIEW_FINE;
}

static view_fault check_box(const view_plan *v, const complaint *c)
{
    uint64_t row = (uint64_t)v->box[0] * dtype_get(v->type)->size_bytes;
    for (uint32_t i = 0; i < v->rank; i++)
        if (v->box[i] < 1 || v->box[i] > VIEW_MAX_BOX)
            return complain(c, VIEW_BAD_BOX, i,
                            "gives %" PRIu32 " elements; a box has 1 to %d along each side",
                            v->box[i], VIEW_MAX_BOX);
    if (row % TENSOR_UNIT_BYTES != 0)
        return complain(c, VIEW_BAD_BOX, 0,
                        "gives a box whose rows have %" PRIu64
                        " bytes; they must be a multiple of %d",
                        row, TENSOR_UNIT_BYTES);
    if (v->swizzle && row > swizzles[v->swizzle])
        return complain(c, VIEW_BAD_SWIZZLE, 0,
                        "spans %" PRIu32 " bytes, but the rows of the box have %" PRIu64
                        ": narrow the box",
                        swizzles[v->swizzle], row);
    return VIEW_FINE;
}

static view_fault check_tensor(const view_plan *v, const complaint *c)
{
    for (uint32_t i = 0; i < v->rank; i++)
        if (v->size[i] > MOST_TENSOR_SIZE)
            return complain(c, VIEW_BAD_SIZE, i,
                            "gives %" PRIu64
                            " elements; a tensor map has at most 2^32 along a side",
                            v->size[i]);
    for (uint32_t i = 0; i + 1 < v->rank; i++)
        if (v->stride_bytes[i] == 0 || v->stride_bytes[i] % TENSOR_UNIT_BYTES != 0 ||
            v->stride_bytes[i] >= MOST_TENSOR_STRIDE)
            return complain(
                c, VIEW_BAD_STRIDE, i,
                "gives %" PRIu64 " bytes from one to the next; of a tensor map they "
                "must be a multiple of %d below 2^40: pad the rows, or rule it out in where",
                v->stride_bytes[i], TENSOR_UNIT_BYTES);
    if (v->nan_outside && !dtype_get(v->type)->is_float)
        return complain(c, VIEW_BAD_OUTSIDE, 0, "gives NaN, which %s does not have",
                        dtype_get(v->type)->name);
    return check_box(v, c);
}

static view_fault check_texels(const view_plan *v, const complaint *c)
{
    const dtype_info *type = dtype_get(v->type);
    if (type->size_bytes == 8 || v->type == DTYPE_BFLOAT16)
        return complain(c, VIEW_BAD_TYPE, 0,
                        "is of %s, which %ss cannot have: use integers of up to 32 bits, "
                        "half or float",
                        type->name, view_kind_name(v->kind));
    if (v->channels != 1 && v->channels != 2 && v->channels != 4)
        return complain(c, VIEW_BAD_CHANNELS, 0,
                        "gives %" PRIu32 "; a texel has 1, 2 or 4 elements", v->channels);
    return VIEW_FINE;
}

static view_fault check_array(const view_plan *v, const complaint *c)
{
    const uint32_t sides = v->layered ? v->rank - 1 : v->rank;
    uint64_t packed = v->channels * dtype_get(v->type)->size_bytes;
    if (sides < 1 || (v->layered && sides > 2))
        return complain(c, VIEW_BAD_SIZE, 0, "has %" PRIu32 " sides; layers have 1 or 2", sides);
    for (uint32_t i = 0; i < v->rank; i++) {
        const uint64_t most = i == sides   ? MOST_LAYERS
                              : v->layered ? most_layered_side
                                           : most_sides[sides - 1];
        if (v->size[i] > most)
            return complain(c, VIEW_BAD_SIZE, i,
                            "gives %" PRIu64 "; a CUDA array of this kind has at most %" PRIu64
                            " along this side",
                            v->size[i], most);
        packed *= v->size[i];
        if (i + 1 < v->rank && v->stride_bytes[i] != packed)
            return complain(c, VIEW_BAD_STRIDE, i,
                            "gives %" PRIu64 " bytes from one to the next; an array is made of "
                            "rows that follow one another, here every %" PRIu64 " bytes",
                            v->stride_bytes[i], packed);
    }
    return VIEW_FINE;
}

static view_fault check_linear(const view_plan *v, const complaint *c)
{
    const dtype_info *type = dtype_get(v->type);
    if (v->rank > 2 || v->layered)
        return complain(
            c, VIEW_BAD_MEMORY, 0,
            "gives 'buffer', but textures in a buffer have one or two dimensions: give 'array'");
    if (v->filter == FILTER_LINEAR && v->rank == 1)
        return complain(c, VIEW_BAD_FILTER, 0,
                        "gives 'linear', but textures of one dimension in a buffer are not "
                        "interpolated: give 'point', or memory = \"array\"");
    if (v->rank == 1 && (v->normalised || v->size[0] > MOST_LINEAR_TEXELS))
        return complain(c, VIEW_BAD_SIZE, 0,
                        v->normalised ? "has one dimension, whose coordinates are whole numbers: "
                                        "give two, or memory = \"array\""
                                      : "has more than 2^27 texels in one dimension: give it two");
    if (v->rank == 2 && (v->size[0] > MOST_TEXTURE_WIDTH || v->size[1] > MOST_TEXTURE_HEIGHT))
        return complain(c, VIEW_BAD_SIZE, v->size[0] > MOST_TEXTURE_WIDTH ? 0 : 1,
                        "has more than %d x %d texels", MOST_TEXTURE_WIDTH, MOST_TEXTURE_HEIGHT);
    if (v->rank == 2 &&
        (v->stride_bytes[0] < v->size[0] * v->channels * type->size_bytes ||
         v->stride_bytes[0] % TEXTURE_PITCH_BYTES != 0 || v->stride_bytes[0] > MOST_PITCH_BYTES))
        return complain(
            c, VIEW_BAD_STRIDE, 0,
            "gives %" PRIu64 " bytes from one row to the next; a texture needs at "
            "least the bytes of a row, and a multiple of %d: pad the rows, or rule it out in where",
            v->stride_bytes[0], TEXTURE_PITCH_BYTES);
    return VIEW_FINE;
}

static view_fault check_texture(const view_plan *v, const complaint *c)
{
    const dtype_info *type = dtype_get(v->type);
    bool reads_float = v->type == DTYPE_FLOAT || v->type == DTYPE_HALF || v->as_float;
    if (v->as_float && (type->is_float || type->size_bytes > 2))
        return complain(c, VIEW_BAD_READS, 0,
                        "gives 'float', which is possible for integers of 8 and 16 bits only, but "
                        "the elements are %s",
                        type->name);
    if (v->filter == FILTER_LINEAR && !reads_float)
        return complain(c, VIEW_BAD_FILTER, 0,
                        "gives 'linear', but integers are not interpolated: give 'point'");
    if ((v->address == ADDRESS_WRAP || v->address == ADDRESS_MIRROR) && !v->normalised)
        return complain(c, VIEW_BAD_ADDRESS, 0,
                        "gives '%s', which needs coordinates = \"normalised\"",
                        addresses[v->address]);
    return v->in_array ? VIEW_FINE : check_linear(v, c);
}

view_fault view_check(const view_plan *v, uint64_t count, uint32_t *dimension,
                      char message[VIEW_MESSAGE_BYTES])
{
    const complaint c = {dimension, message};
    uint32_t most = v->kind == VIEW_TENSOR ? VIEW_MAX_RANK : MOST_ARRAY_RANK;
    if (v->rank < 1 || v->rank > most + v->layered)
        return complain(&c, VIEW_BAD_SIZE, 0, "has %" PRIu32 " dimensions; a %s has 1 to %" PRIu32,
                        v->rank, view_kind_name(v->kind), most);
    for (uint32_t i = 0; i < v->rank; i++)
        if (v->size[i] == 0 || v->size[i] > MOST_TENSOR_STRIDE)
            return complain(&c, VIEW_BAD_SIZE, i,
                            "gives %" PRIu64 " elements; 1 to 2^40 are possible", v->size[i]);
    view_fault fault = v->kind == VIEW_TENSOR ? check_tensor(v, &c) : check_texels(v, &c);
    if (!fault && v->kind == VIEW_TEXTURE)
        fault = check_texture(v, &c);
    if (!fault && v->in_array)
        fault = check_array(v, &c);
    return fault ? fault : check_extent(v, count, &c);
}

/* The members that every view packs, with their limits (exclusive). */
static const struct {
    pack_field field;
    uint32_t limit;
} packed[] = {
    {PACK_FIELD(view_plan, kind), VIEW_KINDS},     {PACK_FIELD(view_plan, buffer), UINT32_MAX},
    {PACK_FIELD(view_plan, type), DTYPE_COUNT},    {PACK_FIELD(view_plan, rank), VIEW_MAX_RANK + 1},
    {PACK_FIELD(view_plan, swizzle), SWIZZLES},    {PACK_FIELD(view_plan, promotion), PROMOTIONS},
    {PACK_FIELD(view_plan, nan_outside), 2},       {PACK_FIELD(view_plan, channels), 5},
    {PACK_FIELD(view_plan, filter), FILTER_COUNT}, {PACK_FIELD(view_plan, address), ADDRESS_COUNT},
    {PACK_FIELD(view_plan, normalised), 2},        {PACK_FIELD(view_plan, as_float), 2},
    {PACK_FIELD(view_plan, in_array), 2},          {PACK_FIELD(view_plan, layered), 2},
};
enum { PACKED = sizeof packed / sizeof *packed };

void view_put(pack *m, const view_plan *v)
{
    for (size_t i = 0; i < PACKED; i++)
        pack_put_fields(m, v, &packed[i].field, 1);
    for (uint32_t i = 0; i < v->rank; i++) {
        pack_put_u64(m, v->size[i]);
        pack_put_u32(m, v->box[i]);
        if (i + 1 < v->rank)
            pack_put_u64(m, v->stride_bytes[i]);
    }
}

bool view_get(pack *m, uint32_t buffer_count, view_plan *out)
{
    uint32_t number, dimension;
    char message[VIEW_MESSAGE_BYTES];
    memset(out, 0, sizeof *out);
    for (size_t i = 0; i < PACKED; i++) {
        pack_get_fields(m, out, &packed[i].field, 1);
        memcpy(&number, (const char *)out + packed[i].field.offset, sizeof number);
        if (m->failed || number >= packed[i].limit)
            return false;
    }
    if (out->buffer >= buffer_count ||
        (out->in_array ? out->kind == VIEW_TENSOR : out->kind == VIEW_SURFACE))
        return false;
    for (uint32_t i = 0; i < out->rank; i++) {
        out->size[i] = pack_get_u64(m);
        out->box[i] = pack_get_u32(m);
        if (i + 1 < out->rank)
            out->stride_bytes[i] = pack_get_u64(m);
    }
    return !m->failed && out->kind != VIEW_NONE && !view_check(out, 0, &dimension, message);
}
