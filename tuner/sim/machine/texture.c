/* Reads through textures, and addresses of surface elements. CUDA C++ Programming Guide, "Texture
 * Fetching"; PTX ISA, "tex", "tld4", "suld", "sust", "sured". */
#include "sim/machine/execute.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/bits.h"
#include "sim/machine/arguments.h"
#include "sim/machine/fault.h"
#include "sim/machine/lane_memory.h"
#include "sim/machine/values.h"

enum { CHANNELS = 4, SIDES = 3 };

typedef struct fetch {
    sim_block *block;
    sim_warp *warp;
    const sim_instruction *instruction;
    const sim_texture *texture;
    int lane;
    uint64_t *first; /* gets the address of the first texel that is read; 0 if no texel is read */
    uint64_t layer;
} fetch;

/* The weights of a filter have 8 fractional bits, rounded half up (measured on an H200). */
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

/* Applies the addressing mode to the index of a texel. Returns -1 if the texel reads as 0. */
static int64_t texel_index(const sim_texture *t, int64_t i, uint32_t axis)
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

/* Reads global memory for a lane through the read-only path. The caller counts the request. */
static bool read_bytes(sim_block *b, sim_warp *w, const sim_instruction *c, int lane,
                       uint64_t address, uint32_t bytes, uint8_t *to)
{
    sim_lane_memory p = {.owner = b};
    p.address[lane] = address;
    w->accesses++;
    if (!sim_lane_memory_find_global(b, w, c, 1u << lane, bytes, false, &p))
        return false;
    if (b->launch->check && !sim_is_constant(1u << lane, &p)) {
        sim_race_access a = sim_race_access_of(b, w, c, lane);
        if (!sim_touch_lane(&a, lane, &p, bytes, SIM_TOUCH_READ, NULL) ||
            !sim_check_written(b, w, c, lane, &p, bytes, "read"))
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
        const int64_t place = texel_index(t, at[axis], axis);
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

/* Converts a coordinate to texels. The result is at most 2 texels outside the texture. */
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

/* Finds the first of two texels that a filter mixes on each axis, and the second's weight. */
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

/* Reads one component of a filter's four texels, counterclockwise from the lower left ("tld4"). */
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

/* Returns the texture or surface of the handle in a lane's register a. Returns NULL, with a fault,
 * if the handle is invalid, or if the dimensions or layers do not match the instruction. */
static const sim_texture *texture_of(sim_block *b, sim_warp *w, const sim_instruction *c, int lane,
                                     bool is_surface)
{
    const uint64_t handle = sim_lanes64(w, c->a)[lane], number = handle - SIM_TEXTURE_HANDLES;
    const sim_texture *t = number < b->launch->texture_count ? &b->launch->textures[number] : NULL;
    const bool layered = is_surface ? c->op & SIM_SURFACE_LAYERED : c->op & SIM_TEXTURE_LAYERED;
    const char *kind = is_surface ? "surface" : "texture";
    if (!t || t->rank == 0 || t->is_surface != is_surface)
        sim_fail(b, w, c, lane, SIM_FAULT_BOUNDS,
                 "0x%" PRIx64 " is not the handle of a %s: pass at.%s { ... }", handle, kind, kind);
    else if (t->rank != c->source_width)
        sim_fail(b, w, c, lane, SIM_FAULT_BOUNDS,
                 "the instruction has %u coordinates, but the %s has %u dimensions",
                 c->source_width, kind, t->rank);
    else if (layered != (t->layers > 0))
        sim_fail(b, w, c, lane, SIM_FAULT_BOUNDS, "the instruction %s a layer, but the %s has %s",
                 layered ? "gives" : "does not give", kind, layered ? "no layers" : "layers");
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
        const sim_texture *t = texture_of(b, w, c, l, false);
        if (!t)
            return false;
        if ((t->is_float || t->as_float) != (c->type == PTX_F32))
            return sim_fail(b, w, c, l, SIM_FAULT_BOUNDS, "the texture's elements read as %s",
                            c->type == PTX_F32 ? "integers" : "floats");
        if (c->op & SIM_TEXTURE_GATHER && !t->in_array)
            return sim_fail(b, w, c, l, SIM_FAULT_BOUNDS,
                            "a gather needs a texture in an array: memory = \"array\"");
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

/* The coordinates that a lane gives: x in bytes, y, z, and the layer. */
typedef struct position {
    int64_t at[SIDES], layer;
} position;

static position read_position(const sim_block *b, const sim_warp *w, const sim_instruction *c,
                              int lane)
{
    const int32_t *slots = b->program->lists + c->list;
    position s = {{0}, 0};
    if (c->op & SIM_SURFACE_LAYERED)
        s.layer = (int32_t)sim_lanes32(w, *slots++)[lane];
    for (uint32_t i = 0; i < c->source_width; i++)
        s.at[i] = (int32_t)sim_lanes32(w, slots[i])[lane];
    return s;
}

/* Moves a coordinate into the range 0 ... `most`. Returns whether it was in the range already. */
static bool clamp(int64_t *at, int64_t most)
{
    const int64_t was = *at;
    *at = was < 0 ? 0 : was > most ? most : was;
    return *at == was;
}

static bool clamp_all(const sim_texture *t, position *s, uint32_t bytes)
{
    const int64_t row = (int64_t)(t->size[0] * t->step_bytes[0]) - bytes;
    bool inside = clamp(&s->at[0], row > 0 ? row : 0) && row >= 0;
    for (uint32_t i = 1; i < t->rank; i++)
        inside = clamp(&s->at[i], (int64_t)t->size[i] - 1) && inside;
    return clamp(&s->layer, t->layers ? (int64_t)t->layers - 1 : 0) && inside;
}

static bool report_outside(sim_block *b, sim_warp *w, const sim_instruction *c, int lane,
                           const sim_texture *t, const position *s)
{
    return sim_fail(b, w, c, lane, SIM_FAULT_BOUNDS,
                    "%u bytes at x = %lld (in bytes), y = %lld, z = %lld, layer %lld of a surface "
                    "of %u x %u x %u texels of %u bytes, %u layers",
                    c->vector, (long long)s->at[0], (long long)s->at[1], (long long)s->at[2],
                    (long long)s->layer, t->size[0], t->size[1], t->size[2],
                    (unsigned)t->step_bytes[0], t->layers);
}

bool sim_surface_find(sim_block *b, sim_warp *w, const sim_instruction *c, uint32_t mask)
{
    uint64_t address[SIM_LANES] = {0};
    uint32_t within = 0;
    SIM_EACH_OF(l, mask)
    {
        const sim_texture *t = texture_of(b, w, c, l, true);
        if (!t)
            return false;
        const position asked = read_position(b, w, c, l);
        position s = asked;
        const bool inside = clamp_all(t, &s, c->vector);
        if (!inside && !(c->op & (SIM_SURFACE_CLAMP | SIM_SURFACE_ZERO)))
            return report_outside(b, w, c, l, t, &asked);
        address[l] = t->base + (uint64_t)s.layer * t->layer_bytes + (uint64_t)s.at[0];
        for (uint32_t i = 1; i < t->rank; i++)
            address[l] += (uint64_t)s.at[i] * t->step_bytes[i];
        if (asked.at[0] % c->vector != 0)
            return sim_fail(b, w, c, l, SIM_FAULT_MISALIGNED,
                            "x = %lld bytes in a row of the surface: an access of %u bytes needs a "
                            "multiple of %u",
                            (long long)asked.at[0], c->vector, c->vector);
        if (address[l] % c->vector != 0)
            return sim_fail(b, w, c, l, SIM_FAULT_UNKNOWN,
                            "an access of %u bytes to a surface whose rows have %llu bytes is not "
                            "simulated: pad the rows to a multiple",
                            c->vector, (unsigned long long)(t->size[0] * t->step_bytes[0]));
        within |= inside || (c->op & SIM_SURFACE_CLAMP) ? 1u << l : 0;
    }
    sim_put64(w, c->d, address, mask);
    sim_put_predicate(w, c->d2, within, mask);
    return true;
}
