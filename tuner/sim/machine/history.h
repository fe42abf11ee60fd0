/* The recent writes of each location that threads access strongly.
 *
 * PTX ISA, "memory consistency model": the writes of a location have one order, the coherence
 * order, which may differ from the order of their execution. A strong read may return any write
 * that coherence and causality allow. So a location keeps its recent writes in coherence order.
 * Each write has its value, the clocks that a reader acquires, and its readers. Schedule 0 keeps
 * only the newest write, and only if a reader can acquire something from it. (Luo and Demsky,
 * C11Tester, ASPLOS 2021; Gao et al., PCTWM, ASPLOS 2023.)
 *
 * Memory holds the value of the newest write. sim_write.value gets this value once another write
 * follows. */
#ifndef AUTOTUNE_SIM_MACHINE_HISTORY_H
#define AUTOTUNE_SIM_MACHINE_HISTORY_H

#include "sim/machine/race.h"

/* The threads that may acquire a release: those of the block, of the cluster, or of the GPU. */
typedef enum sim_reach { SIM_REACH_BLOCK, SIM_REACH_CLUSTER, SIM_REACH_GPU, SIM_REACHES } sim_reach;

enum { SIM_WRITE_BYTES = 16, SIM_MOST_WRITES = 8, SIM_MOST_READERS = 16 };

typedef struct sim_write {
    sim_stamp by;     /* the writing access; its block is 0 for the value from before all strong
                         writes */
    uint32_t cluster; /* linear index + 1 of the writer's cluster */
    sim_clock *clocks[SIM_REACHES]; /* clocks that a reader in each reach acquires; a narrower reach
                                       has at least the entries of each wider reach; owned */
    sim_clock *sequential;          /* the writer's SIM_CLOCK_SEQUENTIAL; owned */
    const sim_instruction *update;  /* the read-modify-write that read the preceding write; NULL for
                                       a store */
    uint64_t operand;               /* operand of `update` */
    bool movable;  /* no thread has used the old value that `update` read, so another write may
                      still be inserted before this write */
    bool observed; /* a thread has read its value */
    uint32_t reader_count;
    sim_stamp *readers; /* stamps of the readers; `seen` counts reads while a newer write existed;
                           NULL or SIM_MOST_READERS entries; owned */
    _Alignas(SIM_WRITE_BYTES) uint8_t value[SIM_WRITE_BYTES];
} sim_write;

typedef struct sim_location {
    uint64_t at; /* address; 0 for a free slot */
    uint32_t bytes;
    uint32_t count;
    sim_write *writes; /* writes in coherence order, the newest last; owned */
} sim_location;

typedef struct sim_history { /* a hash table */
    sim_location *slots;
    size_t count, capacity; /* capacity is a power of two, or 0 */
} sim_history;

/* Returns the location at `at`, or NULL if it has no history. */
sim_location *sim_history_find(const sim_history *h, uint64_t at);
/* Returns the location of `bytes` at `at`, made if needed. Removes other overlapping locations. */
sim_location *sim_history_put(sim_history *h, uint64_t at, uint32_t bytes);
/* Removes the locations that overlap `bytes` at `at`. */
void sim_history_forget(sim_history *h, uint64_t at, uint32_t bytes);
void sim_history_clear(sim_history *h); /* keeps the allocated memory */
void sim_history_deinit(sim_history *h);

/* Inserts an empty write before index `index`. Drops the oldest of SIM_MOST_WRITES writes. */
sim_write *sim_location_insert(sim_location *x, uint32_t index);
/* Drops the `count` oldest writes. */
void sim_location_drop(sim_location *x, uint32_t count);

static inline sim_write *sim_location_newest(const sim_location *x)
{
    return &x->writes[x->count - 1];
}

#endif
