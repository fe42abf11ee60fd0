/* What is under way in the copy engine of a simulated multiprocessor, and the barriers in shared memory
 * that it reports to. bulk.c is what kernels ask of it; shared.c asks what may be touched meanwhile. */
#ifndef AUTOTUNE_SIM_MACHINE_ENGINE_H
#define AUTOTUNE_SIM_MACHINE_ENGINE_H

#include "sim/machine/machine.h"

enum { SIM_MOST_THREADS = 1024 };

typedef struct sim_mbarrier_state {
    uint32_t at;               /* offset in shared memory */
    uint32_t expected, pending; /* arrivals */
    int64_t due_bytes;         /* of copies, announced and not landed; below 0: landed and not announced */
    uint64_t phase;            /* completions */
    uint32_t completed;        /* moment of the last */
} sim_mbarrier_state;

typedef struct sim_flight { /* a copy under way */
    bool leaving;              /* from shared memory */
    uint32_t at, bytes;        /* in shared memory */
    uint32_t barrier;          /* arriving: offset of what it reports to */
    uint32_t thread, group;
    const sim_warp *warp;
    const sim_instruction *instruction;
    uint8_t *data;             /* arriving; owned */
} sim_flight;

struct sim_engine {
    sim_mbarrier_state *barriers;
    size_t barrier_count;
    sim_flight *flights;
    size_t flight_count;
    uint32_t groups[SIM_MOST_THREADS]; /* being filled, by thread */
    uint32_t fenced[SIM_MOST_THREADS]; /* moment of the thread's last proxy fence */
};

/* The block's, made when it is first asked for; NULL: no memory. */
sim_engine *sim_engine_of(sim_block *b);
bool sim_engine_take(sim_engine *e, const sim_flight *f); /* false: no memory */

#endif
