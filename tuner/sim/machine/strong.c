#include "sim/machine/strong.h"

#include "sim/machine/bytes.h"
#include "sim/machine/global.h"
#include "sim/machine/race.h"
#include "sim/machine/repeat.h"
#include "sim/machine/shared.h"

bool sim_is_released(const sim_block *b, ptx_space space, const sim_places *p)
{
    return space == PTX_SPACE_SHARED ? p->owner->releases.count > 0
                                     : space == PTX_SPACE_GLOBAL && b->watch->releases.count > 0;
}

void sim_strong_read(sim_block *b, sim_warp *w, const sim_instruction *c, int lane, ptx_space space,
                     const sim_places *p)
{
    if (space == PTX_SPACE_SHARED)
        sim_shared_read(b, p->owner, w, c, lane, (uint32_t)p->address[lane]);
    else if (space == PTX_SPACE_GLOBAL)
        sim_global_read(b, w, c, lane, p->address[lane]);
}

void sim_strong_written(sim_block *b, sim_warp *w, const sim_instruction *c, int lane,
                        ptx_space space, const sim_places *p)
{
    if (space == PTX_SPACE_SHARED)
        sim_shared_written(b, p->owner, w, c, lane, (uint32_t)p->address[lane]);
    else if (space == PTX_SPACE_GLOBAL)
        sim_global_written(b, w, c, lane, p->address[lane]);
}

/* Stands for the instruction, where its lanes look, what they find there and what they offer for
 * it. */
static uint64_t look_at(const sim_block *b, const sim_instruction *c, uint32_t mask,
                        const sim_places *p, uint32_t bytes, const uint32_t *offered)
{
    uint64_t sum = (uint64_t)(c - b->program->code);
    SIM_EACH_OF(l, mask)
    for (uint32_t v = 0; v < c->vector; v++)
        sum = (sum ^ p->address[l] ^ sim_load_bytes(p->at[l] + v * bytes, bytes) << 20 ^
               (offered ? (uint64_t)offered[l] << 40 : 0)) *
                  UINT64_C(0x9e3779b97f4a7c15) +
              (uint64_t)l;
    return sum ^ sum >> 32;
}

void sim_strong_looked(const sim_block *b, sim_warp *w, const sim_instruction *c, uint32_t mask,
                       ptx_space space, const sim_places *p, uint32_t bytes,
                       const uint32_t *offered)
{
    sim_note_poll(b, w, c, mask, look_at(b, c, mask, p, bytes, offered), space == PTX_SPACE_GLOBAL);
}

uint32_t sim_find_late(sim_block *b, sim_warp *w, const sim_instruction *c, uint32_t mask,
                       ptx_space space, const sim_places *p, uint32_t total,
                       uint8_t before[SIM_LANES][SIM_LATE_BYTES])
{
    enum { IN_TIME_ONE_IN = 4 };
    uint32_t late = 0;
    if (!b->adverse || !b->program->writes_strongly || !b->launch->check || !c->scope ||
        (space != PTX_SPACE_GLOBAL && space != PTX_SPACE_SHARED) || total > SIM_LATE_BYTES ||
        rng_below(&b->order, IN_TIME_ONE_IN) == 0)
        return 0;
    sim_race_access a = sim_race_access_of(b, w, c, 0);
    SIM_EACH_OF(l, mask)
    {
        sim_race_access_by(&a, l);
        bool is_late;
        if (space == PTX_SPACE_SHARED) {
            a.owner = p->owner;
            is_late = sim_shared_late(&a, (uint32_t)p->address[l], total, before[l]);
        } else {
            a.region = p->region[l];
            is_late = sim_is_watched(b->watch, a.region) &&
                      sim_global_late(&a, p->address[l] - a.region->base, total, before[l]);
        }
        late |= is_late ? 1u << l : 0;
    }
    return late;
}

void sim_give_way(sim_block *b, sim_warp *w, ptx_space space)
{
    /* It found what it had found before, and nothing new just now. */
    const bool polls = w->looked == w->executed && w->news == 0;
    const bool surely = space == PTX_SPACE_GLOBAL && sim_is_eager(b->launch);
    if (!b->adverse || !b->program->writes_strongly || polls ||
        (!surely && !rng_below(&b->order, 2)))
        return;
    w->slice_end = w->executed;
    b->cluster->gave_way = b->cluster->gave_way || space == PTX_SPACE_GLOBAL;
}
