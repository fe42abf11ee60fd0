#include "sim/machine/surface.h"

#include "sim/machine/fault.h"
#include "sim/machine/texture.h"

enum { SIDES = 3 };

/* A place as a lane gives it: x in bytes, then y, z; a layer. */
typedef struct spot {
    int64_t at[SIDES], layer;
} spot;

static spot read_spot(const sim_block *b, const sim_warp *w, const sim_instruction *c, int lane)
{
    const int32_t *slots = b->program->lists + c->list;
    spot s = {{0}, 0};
    if (c->op & SIM_SURFACE_LAYERED)
        s.layer = (int32_t)sim_lanes32(w, *slots++)[lane];
    for (uint32_t i = 0; i < c->source_width; i++)
        s.at[i] = (int32_t)sim_lanes32(w, slots[i])[lane];
    return s;
}

/* Moves one coordinate to the nearest that is within; true: it was. */
static bool clamp(int64_t *at, int64_t most)
{
    const int64_t was = *at;
    *at = was < 0 ? 0 : was > most ? most : was;
    return *at == was;
}

static bool clamp_all(const sim_texture *t, spot *s, uint32_t bytes)
{
    const int64_t row = (int64_t)(t->size[0] * t->step_bytes[0]) - bytes;
    bool inside = clamp(&s->at[0], row > 0 ? row : 0) && row >= 0;
    for (uint32_t i = 1; i < t->rank; i++)
        inside = clamp(&s->at[i], (int64_t)t->size[i] - 1) && inside;
    return clamp(&s->layer, t->layers ? (int64_t)t->layers - 1 : 0) && inside;
}

static bool leave(sim_block *b, sim_warp *w, const sim_instruction *c, int lane,
                  const sim_texture *t, const spot *s)
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
        const sim_texture *t = sim_texture_of(b, w, c, l, true);
        if (!t)
            return false;
        const spot asked = read_spot(b, w, c, l);
        spot s = asked;
        const bool inside = clamp_all(t, &s, c->vector);
        if (!inside && !(c->op & (SIM_SURFACE_CLAMP | SIM_SURFACE_ZERO)))
            return leave(b, w, c, l, t, &asked);
        address[l] = t->base + (uint64_t)s.layer * t->layer_bytes + (uint64_t)s.at[0];
        for (uint32_t i = 1; i < t->rank; i++)
            address[l] += (uint64_t)s.at[i] * t->step_bytes[i];
        if (asked.at[0] % c->vector != 0)
            return sim_fail(b, w, c, l, SIM_FAULT_MISALIGNED,
                            "x = %lld bytes of a surface's row, for %u bytes",
                            (long long)asked.at[0], c->vector);
        if (address[l] % c->vector != 0)
            return sim_fail(b, w, c, l, SIM_FAULT_UNKNOWN,
                            "%u bytes of a surface whose rows have %llu are not simulated",
                            c->vector, (unsigned long long)(t->size[0] * t->step_bytes[0]));
        within |= inside || (c->op & SIM_SURFACE_CLAMP) ? 1u << l : 0;
    }
    sim_put64(w, c->d, address, mask);
    sim_put_predicate(w, c->d2, within, mask);
    return true;
}
