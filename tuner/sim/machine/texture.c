#include "sim/machine/texture.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/bits.h"
#include "base/half.h"
#include "sim/machine/access.h"
#include "sim/machine/fault.h"
#include "sim/machine/texture_view.h"

enum { CHANNELS = 4 };

/* One lane's read. */
typedef struct fetch {
    sim_block *block;
    sim_warp *warp;
    const sim_instruction *instruction;
    const sim_texture *texture;
    int lane;
    uint64_t *first; /* address of a texel that it reads; 0: of none */
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
static int64_t place_of(const sim_texture *t, int64_t i, int axis)
{
    const int64_t n = t->size[axis];
    if (i >= 0 && i < n)
        return i;
    if (t->rank == 1 || t->mode == SIM_TEXTURE_BORDER)
        return -1;
    if (t->is_normalised && t->mode == SIM_TEXTURE_WRAP)
        return (i % n + n) % n;
    if (t->is_normalised && t->mode == SIM_TEXTURE_MIRROR)
        i = i < 0 ? -i - 1 : 2 * n - 1 - i;
    return i < 0 ? 0 : i >= n ? n - 1 : i;
}

static bool read_texel(const fetch *f, const int64_t at[2], uint32_t out[CHANNELS])
{
    const sim_texture *t = f->texture;
    const int64_t x = place_of(t, at[0], 0), y = t->rank > 1 ? place_of(t, at[1], 1) : 0;
    const uint32_t bytes = t->bytes * t->channels;
    uint8_t texel[CHANNELS * 4];
    memset(out, 0, CHANNELS * sizeof *out);
    if (x < 0 || y < 0)
        return true;
    const uint64_t address = t->base + (uint64_t)y * t->pitch_bytes + (uint64_t)x * bytes;
    *f->first = *f->first ? *f->first : address;
    if (!sim_texel(f->block, f->warp, f->instruction, f->lane, address, bytes, texel))
        return false;
    for (uint32_t i = 0; i < t->channels; i++)
        out[i] = value_of(t, texel + i * t->bytes);
    return true;
}

/* The coordinate in texels, from 0 on, where it lies within a few of the texture. */
static float texels_of(const sim_texture *t, float at, int axis)
{
    const float n = (float)t->size[axis], whole = floorf(at);
    if (t->is_normalised && t->mode == SIM_TEXTURE_WRAP)
        at -= whole;
    if (t->is_normalised && t->mode == SIM_TEXTURE_MIRROR)
        at = fmodf(whole, 2) != 0 ? 1 - (at - whole) : at - whole;
    at = t->is_normalised ? at * n : at;
    return fminf(fmaxf(at, -2), n + 2);
}

static bool mix(const fetch *f, const float at[2], uint32_t out[CHANNELS])
{
    const int rows = f->texture->rank > 1 ? 2 : 1;
    float sum[CHANNELS] = {0}, part[2] = {0};
    int64_t first[2] = {0};
    for (int axis = 0; axis < rows; axis++) {
        const float from = at[axis] - 0.5f;
        first[axis] = (int64_t)floorf(from);
        part[axis] = floorf((from - floorf(from)) * weights + 0.5f) / weights;
    }
    for (int n = 0; n < 2 * rows; n++) {
        const int right = n & 1, below = n >> 1;
        const float weight = (right ? part[0] : 1 - part[0]) * (below      ? part[1]
                                                                : rows > 1 ? 1 - part[1]
                                                                           : 1);
        uint32_t texel[CHANNELS];
        if (!read_texel(f, (const int64_t[2]){first[0] + right, first[1] + below}, texel))
            return false;
        for (int i = 0; i < CHANNELS && weight != 0; i++)
            sum[i] += weight * float_of_bits(texel[i]);
    }
    for (int i = 0; i < CHANNELS; i++)
        out[i] = bits_of_float(sum[i]);
    return true;
}

static bool fetch_one(const fetch *f, uint32_t out[CHANNELS])
{
    const sim_instruction *c = f->instruction;
    const sim_texture *t = f->texture;
    const int32_t slots[] = {c->b, c->c};
    float at[2] = {0};
    int64_t texel[2] = {0};
    for (uint32_t axis = 0; axis < t->rank; axis++) {
        const uint32_t bits = sim_lanes32(f->warp, slots[axis])[f->lane];
        if (c->source_type != PTX_F32) {
            texel[axis] = (int32_t)bits;
            continue;
        }
        at[axis] = texels_of(t, float_of_bits(bits), (int)axis);
        texel[axis] = (int64_t)floorf(at[axis]);
    }
    const bool mixes = t->is_linear && c->source_type == PTX_F32;
    return mixes ? mix(f, at, out) : read_texel(f, texel, out);
}

bool sim_texture_fetch(sim_block *b, sim_warp *w, const sim_instruction *c, uint32_t mask)
{
    uint32_t found[CHANNELS][SIM_LANES] = {{0}}, read = 0, bytes = 0;
    uint64_t first[SIM_LANES] = {0};
    SIM_EACH_OF(l, mask)
    {
        const uint64_t handle = sim_lanes64(w, c->a)[l], number = handle - SIM_TEXTURE_HANDLES;
        uint32_t one[CHANNELS];
        if (number >= b->launch->texture_count || b->launch->textures[number].rank == 0)
            return sim_fail(b, w, c, l, SIM_FAULT_BOUNDS,
                            "0x%" PRIx64 " is no texture: at.texture makes one", handle);
        const fetch f = {b, w, c, &b->launch->textures[number], l, &first[l]};
        if (f.texture->rank != c->op)
            return sim_fail(b, w, c, l, SIM_FAULT_BOUNDS,
                            "%u coordinates for a texture of %u dimensions", c->op,
                            f.texture->rank);
        if ((f.texture->is_float || f.texture->as_float) != (c->type == PTX_F32))
            return sim_fail(b, w, c, l, SIM_FAULT_BOUNDS, "the texture's elements read as %s",
                            c->type == PTX_F32 ? "integers" : "floats");
        if (!fetch_one(&f, one))
            return false;
        for (int i = 0; i < CHANNELS; i++)
            found[i][l] = one[i];
        read |= first[l] ? 1u << l : 0;
        bytes = f.texture->bytes * f.texture->channels;
    }
    if (read)
        sim_count_texels(b, c, read, first, bytes);
    for (int i = 0; i < CHANNELS; i++)
        sim_put32(w, b->program->lists[c->list + i], found[i], mask);
    return true;
}
