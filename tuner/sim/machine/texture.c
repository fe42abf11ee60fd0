#include "sim/machine/texture.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/bits.h"
#include "sim/machine/bytes.h"
#include "sim/machine/fault.h"
#include "sim/machine/places.h"
#include "sim/machine/requests.h"
#include "sim/machine/texture_view.h"
#include "sim/machine/unwritten.h"
#include "sim/machine/watched.h"

enum { CHANNELS = 4, SIDES = 3 };

/* One lane's read. */
typedef struct fetch {
    sim_block *block;
    sim_warp *warp;
    const sim_instruction *instruction;
    const sim_texture *texture;
    int lane;
    uint64_t *first; /* address of a texel that it reads; 0: of none */
    uint64_t layer;
} fetch;

/* Weights have 8 bits after the point, rounded up from the middle (measured on an H200). */
static const float weights = 256;

static uint32_t value_of(const sim_texture *t, const uint8_t *at)
{
    uint32_t v = 0;
    memcpy(&v, at, t->bytes);
    if (t->is_float)
        return t->bytes == 2 ? bits_of_float(half_to_float((uint16_t)v)) : v;
    const uint32_t sign = 1u << (8 * t->bytes - 1);
    const int32_t wide = t->is_signed && v & sign ? (int32_t)(v | ~(2 * sign - 1)) : (int32_t)v;
    if (!t->as_float)
        return (uint32_t)wide;
    const float most = (float)(t->is_signed ? sign - 1 : 2 * sign - 1);
    return bits_of_float(fmaxf((float)wide / most, -1));
}

/* The place that the addressing mode makes of a texel's; -1: outside, where all is 0. */
static int64_t place_of(const sim_texture *t, int64_t i, uint32_t axis)
{
    const int64_t n = t->size[axis];
    if (i >= 0 && i < n)
        return i;
    if ((t->rank == 1 && !t->in_array) || t->mode == SIM_TEXTURE_BORDER)
        return -1;
    if (t->is_normalised && t->mode == SIM_TEXTURE_WRAP)
        return (i % n + n) % n;
    if (t->is_normalised && t->mode == SIM_TEXTURE_MIRROR)
        i = i < 0 ? -i - 1 : 2 * n - 1 - i;
    return i < 0 ? 0 : i >= n ? n - 1 : i;
}

/* Reads bytes of global memory for a lane by the path that is not coherent; they are counted later.
 */
static bool read_bytes(sim_block *b, sim_warp *w, const sim_instruction *c, int lane,
                       uint64_t address, uint32_t bytes, uint8_t *to)
{
    sim_places p = {.owner = b};
    p.address[lane] = address;
    w->accesses++;
    if (!sim_places_find_global(b, w, c, 1u << lane, bytes, false, &p))
        return false;
    if (b->launch->check && !sim_is_constant(1u << lane, PTX_SPACE_GLOBAL, &p)) {
        sim_race_access a = sim_race_access_of(b, w, c, lane);
        if (!sim_touch_lane(&a, lane, PTX_SPACE_GLOBAL, &p, bytes, SIM_TOUCH_READ, NULL) ||
            !sim_check_written(b, w, c, lane, PTX_SPACE_GLOBAL, &p, bytes, "read"))
            return false;
    }
    for (uint32_t i = 0; i < bytes; i++)
        to[i] = (uint8_t)sim_load_bytes(p.at[lane] + i, 1);
    return true;
}

static bool read_texel(const fetch *f, const int64_t at[SIDES], uint32_t out[CHANNELS])
{
    const sim_texture *t = f->texture;
    const uint32_t bytes = t->bytes * t->channels;
    uint8_t texel[CHANNELS * 4];
    uint64_t address = t->base + f->layer * t->layer_bytes;
    memset(out, 0, CHANNELS * sizeof *out);
    for (uint32_t axis = 0; axis < t->rank; axis++) {
        const int64_t place = place_of(t, at[axis], axis);
        if (place < 0)
            return true;
        address += (uint64_t)place * t->step_bytes[axis];
    }
    *f->first = *f->first ? *f->first : address;
    if (!read_bytes(f->block, f->warp, f->instruction, f->lane, address, bytes, texel))
        return false;
    for (uint32_t i = 0; i < t->channels; i++)
        out[i] = value_of(t, texel + i * t->bytes);
    return true;
}

/* The coordinate in texels, from 0 on, where it lies within a few of the texture. */
static float texels_of(const sim_texture *t, float at, uint32_t axis)
{
    const float n = (float)t->size[axis], whole = floorf(at);
    if (t->is_normalised && t->mode == SIM_TEXTURE_WRAP)
        at -= whole;
    if (t->is_normalised && t->mode == SIM_TEXTURE_MIRROR)
        at = fmodf(whole, 2) != 0 ? 1 - (at - whole) : at - whole;
    at = t->is_normalised ? at * n : at;
    return fminf(fmaxf(at, -2), n + 2);
}

/* The first of the two texels along each side that a filter mixes, and the weight of the second. */
static void find_footprint(uint32_t rank, const float at[SIDES], int64_t first[SIDES],
                           float part[SIDES])
{
    for (uint32_t axis = 0; axis < rank; axis++) {
        const float from = at[axis] - 0.5f;
        first[axis] = (int64_t)floorf(from);
        part[axis] = floorf((from - floorf(from)) * weights + 0.5f) / weights;
    }
}

static bool mix(const fetch *f, const float at[SIDES], uint32_t out[CHANNELS])
{
    const uint32_t rank = f->texture->rank;
    float sum[CHANNELS] = {0}, part[SIDES] = {0};
    int64_t first[SIDES] = {0};
    find_footprint(rank, at, first, part);
    for (uint32_t n = 0; n < 1u << rank; n++) {
        float weight = 1;
        int64_t place[SIDES];
        uint32_t texel[CHANNELS];
        for (uint32_t axis = 0; axis < rank; axis++) {
            const bool second = n >> axis & 1;
            weight *= second ? part[axis] : 1 - part[axis];
            place[axis] = first[axis] + second;
        }
        if (!read_texel(f, place, texel))
            return false;
        for (int i = 0; i < CHANNELS && weight != 0; i++)
            sum[i] += weight * float_of_bits(texel[i]);
    }
    for (int i = 0; i < CHANNELS; i++)
        out[i] = bits_of_float(sum[i]);
    return true;
}

/* PTX ISA, "tld4": one component of the four texels that a filter would mix, counterclockwise from
 * the lower left one. */
static bool gather(const fetch *f, const float at[SIDES], uint32_t out[CHANNELS])
{
    static const struct {
        int right, below;
    } order[] = {{0, 1}, {1, 1}, {1, 0}, {0, 0}};
    float part[SIDES];
    int64_t first[SIDES] = {0};
    find_footprint(f->texture->rank, at, first, part);
    for (int i = 0; i < CHANNELS; i++) {
        uint32_t texel[CHANNELS];
        const int64_t place[SIDES] = {first[0] + order[i].right, first[1] + order[i].below};
        if (!read_texel(f, place, texel))
            return false;
        out[i] = texel[f->instruction->op >> 2];
    }
    return true;
}

static bool fetch_one(fetch *f, uint32_t out[CHANNELS])
{
    const sim_instruction *c = f->instruction;
    const sim_texture *t = f->texture;
    const int32_t *slots = f->block->program->lists + c->list + c->vector;
    float at[SIDES] = {0};
    int64_t texel[SIDES] = {0};
    if (c->op & SIM_TEXTURE_LAYERED) {
        const uint32_t layer = sim_lanes32(f->warp, *slots++)[f->lane];
        f->layer = layer < t->layers ? layer : t->layers - 1;
    }
    for (uint32_t axis = 0; axis < t->rank; axis++) {
        const uint32_t bits = sim_lanes32(f->warp, slots[axis])[f->lane];
        if (c->source_type != PTX_F32) {
            texel[axis] = (int32_t)bits;
            continue;
        }
        at[axis] = texels_of(t, float_of_bits(bits), axis);
        texel[axis] = (int64_t)floorf(at[axis]);
    }
    if (c->op & SIM_TEXTURE_GATHER)
        return gather(f, at, out);
    return t->is_linear && c->source_type == PTX_F32 ? mix(f, at, out) : read_texel(f, texel, out);
}

const sim_texture *sim_texture_of(sim_block *b, sim_warp *w, const sim_instruction *c, int lane,
                                  bool is_surface)
{
    const uint64_t handle = sim_lanes64(w, c->a)[lane], number = handle - SIM_TEXTURE_HANDLES;
    const sim_texture *t = number < b->launch->texture_count ? &b->launch->textures[number] : NULL;
    const bool layered = is_surface ? c->op & SIM_SURFACE_LAYERED : c->op & SIM_TEXTURE_LAYERED;
    const char *kind = is_surface ? "surface" : "texture";
    if (!t || t->rank == 0 || t->is_surface != is_surface)
        sim_fail(b, w, c, lane, SIM_FAULT_BOUNDS, "0x%" PRIx64 " is no %s: at.%s makes one", handle,
                 kind, kind);
    else if (t->rank != c->source_width)
        sim_fail(b, w, c, lane, SIM_FAULT_BOUNDS, "%u coordinates for a %s of %u dimensions",
                 c->source_width, kind, t->rank);
    else if (layered != (t->layers > 0))
        sim_fail(b, w, c, lane, SIM_FAULT_BOUNDS, "a layer is %s, and the %s has %s",
                 layered ? "given" : "not given", kind, layered ? "none" : "some");
    else
        return t;
    return NULL;
}

bool sim_texture_fetch(sim_block *b, sim_warp *w, const sim_instruction *c, uint32_t mask)
{
    uint32_t found[CHANNELS][SIM_LANES] = {{0}}, read = 0, bytes = 0;
    uint64_t first[SIM_LANES] = {0};
    SIM_EACH_OF(l, mask)
    {
        uint32_t one[CHANNELS];
        const sim_texture *t = sim_texture_of(b, w, c, l, false);
        if (!t)
            return false;
        if ((t->is_float || t->as_float) != (c->type == PTX_F32))
            return sim_fail(b, w, c, l, SIM_FAULT_BOUNDS, "the texture's elements read as %s",
                            c->type == PTX_F32 ? "integers" : "floats");
        if (c->op & SIM_TEXTURE_GATHER && !t->in_array)
            return sim_fail(b, w, c, l, SIM_FAULT_BOUNDS,
                            "a gather is of textures in an array alone: memory = \"array\"");
        fetch f = {b, w, c, t, l, &first[l], 0};
        if (!fetch_one(&f, one))
            return false;
        for (int i = 0; i < CHANNELS; i++)
            found[i][l] = one[i];
        read |= first[l] ? 1u << l : 0;
        bytes = t->bytes * t->channels;
    }
    if (read)
        sim_count_request(b, c, read, PTX_SPACE_GLOBAL, first, bytes);
    for (int i = 0; i < CHANNELS; i++)
        sim_put32(w, b->program->lists[c->list + i], found[i], mask);
    return true;
}
