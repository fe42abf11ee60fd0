/* The copy engine of a simulated multiprocessor: bulk copies under way, and the mbarriers in shared
 * memory that they complete on. bulk.c and mbarrier.c execute the instructions; race.c knows which
 * bytes may be accessed meanwhile. */
#ifndef AUTOTUNE_SIM_MACHINE_ENGINE_H
#define AUTOTUNE_SIM_MACHINE_ENGINE_H

#include "sim/machine/machine.h"

enum { SIM_MOST_THREADS = 1024 };

typedef struct sim_tracked { /* an arrival that comes with a lane's copies below that number */
    sim_warp *warp;
    int lane;
    uint32_t before;
} sim_tracked;

typedef struct sim_mbarrier_state {
    uint32_t at;                /* offset in shared memory */
    uint32_t expected, pending; /* arrivals */
    sim_tracked *tracked;       /* those of them that come with copies; owned */
    size_t tracked_count;
    int64_t due_bytes;  /* expected and not arrived; below 0: arrived and not expected yet */
    uint64_t phase;     /* number of completions */
    sim_clock *brought; /* to the phase under way; owned */
    sim_clock *passed;  /* by those who saw the last one complete; owned */
    sim_clock *brought_by_others, *passed_by_others; /* the same, by other blocks; owned */
    sim_clock *read_by_others, *reads_passed;        /* the same, of their reads alone; owned */
} sim_mbarrier_state;

typedef struct sim_flight { /* a copy under way */
    bool leaving;           /* it reads shared memory; else it writes there */
    uint32_t at, bytes;     /* in shared memory */
    uint32_t barrier;       /* of an arriving copy: offset of its mbarrier */
    uint32_t thread, group;
    uint32_t number;          /* of the block's copies */
    bool has_read;            /* a leaving copy that waits for its writes alone */
    const sim_region *region; /* the global side, at `offset`; NULL: it has none */
    uint64_t offset;
    uint32_t moved;   /* bytes there */
    uint32_t from_at; /* of a move between blocks: in shared memory of `by` */
    sim_block *by; /* whose thread began it; it is kept by the block whose barrier it reports to */
    sim_warp *warp;
    const sim_instruction *instruction;
    uint8_t *data; /* of an arriving copy; owned */
} sim_flight;

/* Does it add to what is in shared memory? */
static inline bool sim_flight_adds(const sim_instruction *c)
{
    return c->kind != SIM_BULK_STORE && c->reduction >= 0;
}

struct sim_engine {
    sim_mbarrier_state *barriers;
    size_t barrier_count;
    sim_flight *flights;
    size_t flight_count;
    uint32_t groups[SIM_MOST_THREADS]; /* each thread's current bulk group */
    uint32_t flights_begun;
};

/* The block's engine, made at the first call; NULL: no memory. */
sim_engine *sim_engine_of(sim_block *b);
void sim_mbarrier_drop(sim_mbarrier_state *m); /* what it owns */

/* The block ends: false, with a fault, when a copy still reads or writes its shared memory. */
bool sim_engine_allows_end(sim_block *b);
void sim_engine_reset(sim_block *b);
void sim_engine_free(sim_engine *engine); /* NULL is fine */

#endif
