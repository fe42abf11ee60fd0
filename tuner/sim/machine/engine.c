#include "sim/machine/engine.h"

#include <stdlib.h>
#include <string.h>

sim_engine *sim_engine_of(sim_block *b)
{
    if (!b->engine)
        b->engine = calloc(1, sizeof *b->engine);
    return b->engine;
}

static void drop_flights(sim_engine *e)
{
    for (size_t i = 0; i < e->flight_count; i++)
        free(e->flights[i].data);
    e->flight_count = 0;
}

void sim_engine_reset(sim_block *b)
{
    sim_engine *e = b->engine;
    if (!e)
        return;
    drop_flights(e);
    e->barrier_count = 0;
    memset(e->groups, 0, sizeof e->groups);
    memset(e->fenced, 0, sizeof e->fenced);
}

void sim_engine_free(sim_engine *engine)
{
    if (!engine)
        return;
    drop_flights(engine);
    free(engine->flights);
    free(engine->barriers);
    free(engine);
}

void sim_proxy_fence(sim_block *b, const sim_warp *w, uint32_t mask)
{
    sim_engine *e = sim_engine_of(b);
    b->moment++;
    for (uint32_t m = mask; e && m; m &= m - 1)
        e->fenced[w->first_thread + (uint32_t)__builtin_ctz(m)] = b->moment;
}

bool sim_engine_sees(const sim_block *b, const sim_cell *cell, uint32_t thread)
{
    const sim_stamp *w = &cell->write;
    if (w->rank != b->rank) /* its moments are another block's */
        return b->engine->fenced[thread] > 0;
    return w->epoch == 0 || b->engine->fenced[w->thread] > w->moment || b->engine->fenced[thread] > w->moment;
}

bool sim_engine_allows_write(sim_block *b, const sim_block *owner, const sim_warp *w, const sim_instruction *c,
                             int lane, uint32_t offset, uint32_t bytes)
{
    const sim_engine *e = owner->engine;
    for (size_t i = 0; e && i < e->flight_count; i++) {
        const sim_flight *f = &e->flights[i];
        uint32_t position[3];
        if (offset + bytes <= f->at || f->at + f->bytes <= offset)
            continue;
        sim_thread_position(b, f->thread, position);
        return sim_fail(b, w, c, lane, SIM_FAULT_RACE,
                        "shared memory byte %u of %u is written while a bulk copy %s it by thread (%u,%u,%u) is "
                        "on its way",
                        offset > f->at ? offset : f->at, b->shared_bytes, f->leaving ? "from" : "to", position[0],
                        position[1], position[2]);
    }
    return true;
}

bool sim_engine_allows_end(sim_block *b)
{
    if (!b->engine || b->engine->flight_count == 0)
        return true;
    const sim_flight *f = &b->engine->flights[0];
    return sim_fail(b, f->warp, f->instruction, (int)(f->thread - f->warp->first_thread), SIM_FAULT_RACE,
             "the block ends while its bulk copy %s shared memory is on its way", f->leaving ? "from" : "to");
}
