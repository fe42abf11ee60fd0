#include "sim/machine/engine.h"

#include <stdlib.h>
#include <string.h>

#include "sim/machine/fault.h"

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

void sim_mbarrier_drop(sim_mbarrier_state *m)
{
    sim_clock_drop(m->brought);
    sim_clock_drop(m->passed);
    m->brought = m->passed = NULL;
    free(m->tracked);
    m->tracked = NULL;
    m->tracked_count = 0;
}

static void drop_barriers(sim_engine *e)
{
    for (size_t i = 0; i < e->barrier_count; i++)
        sim_mbarrier_drop(&e->barriers[i]);
    e->barrier_count = 0;
}

void sim_engine_reset(sim_block *b)
{
    sim_engine *e = b->engine;
    if (!e)
        return;
    drop_flights(e);
    drop_barriers(e);
    e->flights_begun = 0;
    memset(e->groups, 0, sizeof e->groups);
}

void sim_engine_free(sim_engine *engine)
{
    if (!engine)
        return;
    drop_flights(engine);
    drop_barriers(engine);
    free(engine->flights);
    free(engine->barriers);
    free(engine);
}

bool sim_engine_allows_end(sim_block *b)
{
    size_t i = 0;
    while (b->engine && i < b->engine->flight_count && b->engine->flights[i].has_read)
        i++;
    if (!b->engine || i == b->engine->flight_count)
        return true;
    const sim_flight *f = &b->engine->flights[i];
    return sim_fail(b, f->warp, f->instruction, (int)(f->thread - f->warp->first_thread),
                    SIM_FAULT_RACE,
                    "the block ends while its bulk copy %s shared memory is on its way",
                    f->leaving ? "from" : "to");
}
