/* Asynchronous copies: cp.async (copies.c), bulk copies (bulk.c), and the mbarriers in shared
 * memory on which copies complete (mbarrier.c). race.c checks accesses to bytes of a copy that is
 * under way.
 *
 * Copies land as late as the rules allow: when a thread waits for their group, or tests their
 * mbarrier. So a kernel that forgets to wait reads the old contents. */
#ifndef AUTOTUNE_SIM_MACHINE_COPIES_H
#define AUTOTUNE_SIM_MACHINE_COPIES_H

#include "sim/machine/machine.h"

/* Marks the lane's cp.async copies so far as tracked. Returns a number above their numbers. */
uint32_t sim_copy_track(sim_warp *w, int lane);

/* Lands the lane's cp.async copies whose numbers are below `before`. */
void sim_copy_land(sim_block *b, sim_warp *w, int lane, uint32_t before);

enum { SIM_MOST_THREADS = 1024 };

typedef struct sim_tracked { /* an arrival at an mbarrier that counts once a lane's cp.async copies
                                have landed */
    sim_warp *warp;
    int lane;
    uint32_t before; /* these copies have lower numbers */
} sim_tracked;

/* The vector clocks (clock.h) that an mbarrier passes on. OWN: operations before arrivals of its
 * own block. OTHERS: operations before arrivals of other blocks that have at least cluster scope.
 * READS: reads before all arrivals of other blocks, whatever their scope. */
typedef enum sim_party { SIM_PARTY_OWN, SIM_PARTY_OTHERS, SIM_PARTY_READS, SIM_PARTIES } sim_party;

typedef struct sim_mbarrier_state {
    uint32_t at;                /* offset in shared memory */
    uint32_t expected, pending; /* arrivals that each phase needs; that this phase still needs */
    sim_tracked *tracked;       /* pending arrivals that wait for copies; owned */
    size_t tracked_count;
    int64_t due_bytes;               /* bytes expected minus bytes arrived */
    uint64_t phase;                  /* number of completed phases */
    sim_clock *brought[SIM_PARTIES]; /* clocks of the arrivals at the current phase; owned */
    sim_clock *passed[SIM_PARTIES]; /* clocks for threads that see the last phase complete; owned */
} sim_mbarrier_state;

typedef struct sim_flight { /* a bulk copy or asynchronous store under way */
    bool leaving;           /* the copy reads shared memory; false if it writes shared memory */
    uint32_t at, bytes;     /* offset and bytes in shared memory */
    uint32_t barrier;       /* copies into shared memory: offset of the mbarrier */
    uint32_t thread, group;
    uint32_t number; /* number of this copy among the block's copies */
    bool has_read;   /* copies out of shared memory: the reads are over, the writes are not */
    const sim_region *region; /* region of the copy's global memory, at `offset`; NULL if it uses no
                                 global memory */
    uint64_t offset;
    uint32_t moved;   /* bytes read or written in global memory */
    uint32_t from_at; /* copies between blocks: offset of the source in the shared memory of `by` */
    sim_block *by;    /* block whose thread began the copy */
    sim_warp *warp;   /* warp of the thread that began the copy */
    const sim_instruction *instruction;
    uint8_t *data; /* copies into shared memory: the bytes to write; owned */
} sim_flight;

/* Returns whether a copy combines its data with the contents of shared memory (a reduction). */
static inline bool sim_flight_adds(const sim_instruction *c)
{
    return c->kind != SIM_BULK_STORE && c->reduction >= 0;
}

/* The copy engine of a block. */
struct sim_engine {
    sim_mbarrier_state *barriers;
    size_t barrier_count;
    sim_flight *flights;
    size_t flight_count;
    uint32_t groups[SIM_MOST_THREADS]; /* number of the bulk group that each thread fills */
    uint32_t flights_begun;
};

/* Returns the block's engine. Makes the engine at the first call. */
sim_engine *sim_engine_of(sim_block *b);

/* Returns false, with a fault, if the block ends while a copy uses its shared memory. */
bool sim_engine_allows_end(sim_block *b);
void sim_engine_reset(sim_block *b);
void sim_engine_free(sim_engine *engine); /* `engine` may be NULL */

/* Finds the mbarrier at `barrier`, on which the lane's copy into block `owner` completes. *at gets
 * the mbarrier's offset in shared memory. Returns false, with a fault, if there is no mbarrier. */
bool sim_mbarrier_find_report(sim_block *b, sim_warp *w, const sim_instruction *c, int lane,
                              uint64_t barrier, sim_block *owner, uint32_t *at);

/* Records the fault of a block whose warps all poll mbarriers that nothing will complete. */
void sim_mbarrier_report_stall(sim_block *b);

#endif
