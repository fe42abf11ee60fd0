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
    sim_clock_drop(m->brought_by_others);
    sim_clock_drop(m->passed_by_others);
    sim_clock_drop(m->read_by_others);
    sim_clock_drop(m->reads_passed);
    m->brought = m->passed = m->brought_by_others = m->passed_by_others = NULL;
    m->read_by_others = m->reads_passed = NULL;
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

/* A copy of the block's that has not read, or written, the shared memory of the block that ends. */
static const sim_flight *find_unfinished(const sim_block *b)
{
    for (uint32_t r = 0; r < b->cluster->size; r++) {
        const sim_block *keeper = &b->cluster->blocks[r];
        const sim_engine *e = keeper->engine;
        for (size_t i = 0; e && i < e->flight_count; i++)
            if (keeper == b
                    ? !e->flights[i].has_read
                    : e->flights[i].by == b && e->flights[i].instruction->kind == SIM_BULK_MOVE)
                return &e->flights[i];
    }
    return NULL;
}

bool sim_engine_allows_end(sim_block *b)
{
    const sim_flight *f = find_unfinished(b);
    if (!f)
        return true;
    bool from = f->leaving || (f->by == b && f->instruction->kind == SIM_BULK_MOVE);
    sim_fail(f->by, f->warp, f->instruction, (int)(f->thread - f->warp->first_thread),
             SIM_FAULT_RACE, "the block ends while %s copy %s shared memory is on its way",
             f->by == b ? "its bulk" : "another block's", from ? "from" : "to");
    b->fault = f->by->fault;
    return false;
}
