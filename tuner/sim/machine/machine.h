/* The state of a block, its warps and its cluster, which the modules of the interpreter share. Only
 * this folder includes this header. tuner/sim/README.md follows a launch through the modules. */
#ifndef AUTOTUNE_SIM_MACHINE_MACHINE_H
#define AUTOTUNE_SIM_MACHINE_MACHINE_H

#include "base/rng.h"
#include "sim/machine/order.h"
#include "sim/machine/race.h"
#include "sim/machine/run.h"

enum { SIM_MAX_PATHS = 96, SIM_BARRIERS = 16, SIM_MAX_WARPS = 32, SIM_SEEN_POLLS = 64 };

enum { SIM_BARRIER_OF_CLUSTER = SIM_BARRIERS, SIM_BARRIER_OF_WARPGROUP };

typedef struct sim_path { /* lanes that are at the same instruction */
    int32_t pc;
    int32_t reconverge; /* instruction at which this path meets other lanes again */
    uint32_t mask;
    uint32_t frame; /* index + 1 in sim_warp_flow.frames; 0 for a kernel without frames */
} sim_path;

typedef struct sim_frame sim_frame;

/* SIM_POLLING: the warp tested an mbarrier that is not complete, and lets other warps run. */
typedef enum sim_warp_state { SIM_READY, SIM_POLLING, SIM_WAITING, SIM_DONE } sim_warp_state;

typedef struct sim_copy { /* a cp.async that has not landed */
    uint32_t lane, to, bytes;
    uint32_t group;
    uint32_t number;        /* number of this copy among the warp's copies */
    bool tracked;           /* an mbarrier tracks the copy */
    uint32_t from_bytes;    /* bytes that it reads; the rest of the destination becomes zeros */
    const sim_region *from; /* source in global memory; NULL if races are not checked */
    uint64_t from_at;       /* offset in `from` */
    const sim_instruction *instruction;
    uint8_t data[16];
} sim_copy;

typedef struct sim_products sim_products;
typedef struct sim_warpgroup sim_warpgroup;

/* The paths of a warp, and the calls that these paths are in (paths.c). */
typedef struct sim_warp_flow {
    int depth;         /* number of paths */
    sim_frame *frames; /* calls that have not returned, and free entries between them; owned */
    size_t frame_count;
    uint32_t stalled;   /* times that a path let another path run since a path last made progress */
    uint32_t turned;    /* times that a path let another path run */
    uint32_t split_far; /* splits since the last barrier that end where the lanes have to meet */
    sim_path paths[SIM_MAX_PATHS]; /* each path waits for the paths above it */
} sim_warp_flow;

/* The wait of a warp: at a barrier, for products (products.c), or for an mbarrier (mbarrier.c). */
typedef struct sim_warp_wait {
    sim_warp_state state;
    uint32_t barrier;         /* SIM_WAITING: number of the barrier, or SIM_BARRIER_OF_... */
    int32_t pc;               /* instruction at which the warp waits or polls */
    uint32_t mask;            /* lanes that wait */
    uint32_t arrived, waited; /* number of cluster barriers reached; number passed */
} sim_warp_wait;

/* Lanes that wait at a warp operation for other lanes of its mask (collective.c). */
typedef struct sim_warp_meeting {
    uint32_t awaiting;     /* lanes that wait */
    uint32_t released;     /* lanes whose operation is done, but which have not left the instruction
                              yet */
    int32_t pc[SIM_LANES]; /* instruction at which each lane of `awaiting` waits */
} sim_warp_meeting;

/* The position of a warp in the order of all operations (order.c, strong.c). */
typedef struct sim_warp_order {
    uint32_t epoch;         /* grows whenever the warp synchronises or releases */
    uint32_t barrier_epoch; /* epoch after the last barrier of the whole warp; 0 before the first
                               such barrier */
    sim_clocks *clocks; /* clocks of each lane; NULL until a lane knows operations of other warps;
                           owned */
    uint32_t strong_accesses; /* strong accesses since the warp last let other warps run */
    uint32_t last_atomic;     /* lanes that executed the warp's last atomic with a result */
    uint32_t chose_new; /* lanes that last chose to read a new write of another thread (strong.c) */
} sim_warp_order;

/* The cp.async copies of a warp that have not landed (copies.c). */
typedef struct sim_warp_copies {
    sim_copy *list; /* owned */
    size_t count;
    uint32_t begun;             /* number of copies that the warp has begun */
    uint32_t groups[SIM_LANES]; /* number of the group that each lane fills */
} sim_warp_copies;

/* Polls of a warp: reads of memory that other warps change (repeat.h). */
typedef struct sim_warp_polls {
    uint64_t slice_end;   /* sim_warp.executed at which other warps are scheduled */
    uint64_t last;        /* sim_warp.executed at the last poll or barrier */
    uint64_t last_global; /* sim_warp.executed at the last poll of global memory; 0 before the first
                             poll */
    uint32_t count;       /* polls in this slice */
    uint32_t fresh;       /* polls that must repeat old values before the warp counts as polling */
    int32_t pc;           /* instruction of the last poll, executed by the lanes of `mask` */
    uint32_t mask;
    uint64_t seen[SIM_SEEN_POLLS]; /* hashes of the addresses and values of polls */
} sim_warp_polls;

/* The state of a warp at an earlier backward branch, to compare with (repeat.c). */
typedef struct sim_warp_loop {
    uint32_t branches;              /* backward branches taken so far */
    const sim_instruction *branch;  /* the backward branch at which the state was kept; NULL if no
                                       state is kept */
    uint8_t *kept;                  /* registers, then paths; owned */
    int depth;                      /* number of kept paths */
    uint32_t interval, comparisons; /* comparisons after which the state is replaced; comparisons so
                                       far */
    const sim_instruction *steered; /* the backward branch at which `steering` was kept; NULL if
                                       none was */
    uint64_t steering; /* hash of the paths and of the registers that decide branches */
    uint32_t steering_interval, steering_comparisons; /* the same for `steering` */
} sim_warp_loop;

/* The state of a warp at an earlier poll, to compare with (repeat.c). */
typedef struct sim_warp_stuck {
    uint64_t change;                /* sim_cluster.changes when the members below were set */
    uint32_t polls;                 /* polls so far */
    uint32_t lanes;                 /* lanes that came to the same poll again in the same state */
    uint32_t mask;                  /* lanes that executed this poll; 0 if no state is kept */
    int32_t pc;                     /* instruction of the poll */
    uint64_t state;                 /* hash of the registers at the poll */
    uint32_t interval, comparisons; /* as in sim_warp_loop */
} sim_warp_stuck;

struct sim_warp {
    uint8_t *registers;
    uint8_t *missing;      /* bits of `registers` that have no value; NULL if all bits have a value
                              (values.h) */
    uint16_t *origin_of;   /* origin of missing values, by slot / SIM_SLOT_STEP */
    uint8_t *local;        /* local memory of the warp, as [lane][local_bytes] */
    uint8_t *local_valid;  /* whether each byte of local memory was written; NULL if not checked */
    uint32_t first_thread; /* linear index of lane 0 */
    uint32_t whole;        /* lanes that exist; the last warp of a block may have fewer than 32 */
    uint32_t live;         /* lanes that have not exited */
    uint64_t executed;
    uint64_t accesses;      /* accesses to memory among `executed` */
    uint64_t lanes;         /* sum of the active lanes of all executed instructions */
    uint64_t region_hit;    /* index + 1 of the region that was accessed last */
    sim_products *products; /* products of matrices (products.c); NULL if there are none; owned */
    /* Members that are used more often come first. */
    sim_warp_wait wait;
    sim_warp_order order;
    sim_warp_loop loop;
    sim_warp_polls polls;
    sim_warp_flow flow;
    sim_warp_copies copies;
    sim_warp_meeting meeting;
    sim_warp_stuck stuck;
};

/* Returns the path that runs. */
static inline sim_path *sim_top(sim_warp *w)
{
    return &w->flow.paths[w->flow.depth - 1];
}

/* Returns whether the warp waits at the barrier with that number (or SIM_BARRIER_OF_...). */
static inline bool sim_waits(const sim_warp *w, uint32_t barrier)
{
    return w->wait.state == SIM_WAITING && w->wait.barrier == barrier;
}

static inline void sim_wait(sim_warp *w, uint32_t barrier, int32_t pc, uint32_t mask)
{
    w->wait.state = SIM_WAITING;
    w->wait.barrier = barrier;
    w->wait.pc = pc;
    w->wait.mask = mask;
}

/* A warp that executes more instructions than this without a poll is computing, not waiting. */
enum { SIM_BETWEEN_POLLS = 1 << 12 };

typedef struct sim_barrier_state {
    uint32_t arrived; /* number of warps that have arrived */
    uint32_t warps;   /* warps that have arrived, one bit for each */
    uint32_t needed;  /* number of warps that the barrier waits for; 0 for all warps that have not
                         exited */
    int32_t pc;       /* instruction of the warp that arrived last */
    uint32_t count;   /* result of bar.red.popc */
    bool all, any;
    bool passed;        /* a warp arrived and does not wait (bar.arrive) */
    sim_clocks brought; /* operations that the arriving warps know; owned */
    /* The last opening for only some warps: the warps that waited, the epoch of each of these warps
     * after the opening, and the block's epoch before the opening. */
    uint32_t waited, after[SIM_MAX_WARPS], epoch;
} sim_barrier_state;

typedef struct sim_cluster sim_cluster;
typedef struct sim_watch sim_watch;
typedef struct sim_engine sim_engine;
typedef struct sim_origin sim_origin;

struct sim_block {
    const sim_launch *launch;
    sim_cluster *cluster; /* the block's cluster; a block without a cluster has one of its own */
    uint32_t rank;
    sim_watch *watch; /* watch of global memory, shared by all blocks; NULL if not checked */
    const sim_program *program;
    uint32_t block[3];
    uint64_t index;
    uint32_t number; /* index + 1: the number of the block in stamps and clocks */
    uint32_t run;    /* number of blocks that have used this structure, one after another */
    bool ended;
    uint32_t thread_count, warp_count;
    sim_warp *warps;
    uint8_t *shared;
    uint8_t *shared_valid; /* SIM_NEVER_WRITTEN or SIM_WRITTEN of each byte; NULL if not checked */
    sim_cell *cells;       /* race detection of shared memory (race.h); NULL if not checked */
    sim_line *lines;       /* lines of `cells` */
    sim_set visits;        /* accesses to its shared memory by other blocks of the cluster */
    sim_history history;   /* recent writes to shared memory */
    sim_clock *fenced;     /* operations known at sequentially consistent fences of this block's
                              threads; owned */
    uint32_t shared_bytes;
    uint32_t epoch;            /* number of barriers of the whole block so far */
    uint32_t moment;           /* grows with each mbarrier operation */
    uint64_t work;             /* work of all its warps, as in sim_launch.work */
    uint64_t lanes;            /* thread-instructions of all its warps, as in sim_launch.lanes */
    bool learned;              /* at least one warp has clocks */
    sim_engine *engine;        /* copy engine (copies.h); NULL until an instruction needs it */
    sim_warpgroup *warpgroups; /* one for each four warps; NULL until an instruction needs it */
    sim_barrier_state barriers[SIM_BARRIERS];
    sim_counter *counters; /* counters of this host thread; NULL if nothing is counted */
    uint64_t limit;
    sim_fault fault;
    sim_printed printed;
    bool print_cut;       /* the block printed more than SIM_PRINT_BYTES */
    uint8_t *memory;      /* registers of all warps */
    uint8_t *local;       /* local memory of all warps */
    uint8_t *local_valid; /* sim_warp.local_valid of all warps */
    bool met_unwritten;   /* the last load has read uninitialised bytes */
    uint8_t *missing;     /* sim_warp.missing of all warps; NULL until needed */
    uint16_t *origin_of;
    uint8_t *origin_in; /* origin of the missing value of each byte of local memory; NULL until
                           needed */
    sim_origin *origins;
    size_t origin_count;
    bool adverse;  /* the launch's schedule is not 0 */
    bool holds;    /* warps may be held back; true in half of the blocks of an adverse schedule */
    uint32_t held; /* warps held back until no other warp makes progress, one bit for each */
    uint32_t held_turns; /* turns since `held` was set */
    uint64_t let_go_at;  /* sim_cluster.changes + 1 when held warps last went on; 0 if they never
                            went on */
    rng order;           /* random choices of an adverse schedule */
};

struct sim_cluster {
    const sim_launch *launch;
    sim_block *blocks;   /* blocks by rank; owned */
    uint32_t size;       /* number of blocks */
    uint32_t number;     /* linear index of the cluster + 1 */
    uint32_t completed;  /* number of completed barriers of the cluster */
    sim_clocks brought;  /* operations known to the warps that arrived at the next barrier; owned */
    sim_clocks passed;   /* operations known to the warps that passed the last barrier; owned */
    sim_clock *fenced;   /* operations known at sequentially consistent fences of at least cluster
                            scope; owned */
    uint32_t left;       /* blocks that have not ended */
    uint32_t standstill; /* turns in a row in which no warp made progress */
    uint64_t changes;    /* changes of shared and global memory so far, and ends of warps */
    uint64_t position;   /* position among the clusters to run */
    uint64_t idle_polls; /* polls since the last change; 0 while a warp computes without a poll */
    bool yielded; /* a thread ended its slice after an access to global memory in this turn */
    sim_fault fault;
};

/* Notes that a thread changed memory that other threads see, or that a warp ended. */
static inline void sim_note_change(const sim_block *b, sim_warp *w)
{
    b->cluster->changes++;
    b->cluster->idle_polls = 0;
    w->polls.count = 0;
}

enum { SIM_SLICE_POLLS = 4 }; /* polls after which a slice ends */

/* Values of sim_block.shared_valid. */
enum { SIM_NEVER_WRITTEN, SIM_WRITTEN };

/* A lock that fills a cache line, so that threads with different locks do not share a line. */
typedef struct sim_lock {
    bool taken;
    char apart[63];
} sim_lock;

/* The race detection of one region of global memory. */
typedef struct sim_watched {
    sim_cell *cells;  /* NULL if the region is not watched */
    sim_line *lines;  /* lines of `cells` */
    uint32_t *values; /* last value written to each cell */
} sim_watched;

/* The race detection of a launch. Host threads share the cells of the regions that may be written.
 * A very large region is not watched (MOST_CELLS in global.c). */
struct sim_watch {
    sim_pool pool;
    const sim_memory *memory;
    sim_watched *regions; /* owned */
    sim_history history;  /* recent writes to global memory */
    sim_clock *fenced;    /* operations known at sequentially consistent fences so far; owned */
    uint32_t cell_bytes;
    bool concurrent;
    sim_lock *locks; /* one lock for each group of cells */
};
static inline bool sim_is_watched(const sim_watch *w, const sim_region *r)
{
    return w->regions[r - w->memory->regions].cells != NULL;
}

/* Returns the offset in local memory from which a call counts the offsets of its arguments. */
static inline size_t sim_local_at(const sim_block *b, const sim_warp *w, const sim_instruction *c,
                                  int lane)
{
    const uint8_t *base = c->a < 0 ? NULL : w->registers + c->a;
    return (size_t)lane * b->program->local_bytes +
           (base ? ((const uint64_t *)(const void *)base)[lane] : 0);
}

/* Return the lanes of a register of 4 or 8 bytes a lane. */
static inline uint32_t *sim_lanes32(const sim_warp *w, int32_t slot)
{
    return (uint32_t *)(void *)(w->registers + slot);
}

static inline uint64_t *sim_lanes64(const sim_warp *w, int32_t slot)
{
    return (uint64_t *)(void *)(w->registers + slot);
}

/* Returns the value of a lane in a register of `width` bytes a lane, 4 or 8. */
static inline uint64_t sim_lane(const sim_warp *w, int32_t slot, uint32_t width, int lane)
{
    return width == 8 ? sim_lanes64(w, slot)[lane] : sim_lanes32(w, slot)[lane];
}

static inline uint32_t sim_predicate(const sim_warp *w, int32_t slot, bool negated)
{
    uint32_t p = *sim_lanes32(w, slot);
    return negated ? ~p : p;
}

static inline void sim_put_predicate(const sim_warp *w, int32_t slot, uint32_t value, uint32_t mask)
{
    uint32_t *p = sim_lanes32(w, slot);
    *p = (*p & ~mask) | (value & mask);
}

static inline void sim_put32(const sim_warp *w, int32_t slot, const uint32_t *value, uint32_t mask)
{
    uint32_t *restrict d = sim_lanes32(w, slot);
    if (mask == UINT32_MAX) {
        for (int l = 0; l < SIM_LANES; l++)
            d[l] = value[l];
        return;
    }
    for (int l = 0; l < SIM_LANES; l++) {
        uint32_t keep = (mask >> l & 1) - 1;
        d[l] = (d[l] & keep) | (value[l] & ~keep);
    }
}

static inline void sim_put64(const sim_warp *w, int32_t slot, const uint64_t *value, uint32_t mask)
{
    uint64_t *restrict d = sim_lanes64(w, slot);
    if (mask == UINT32_MAX) {
        for (int l = 0; l < SIM_LANES; l++)
            d[l] = value[l];
        return;
    }
    for (int l = 0; l < SIM_LANES; l++) {
        uint64_t keep = (uint64_t)(mask >> l & 1) - 1;
        d[l] = (d[l] & keep) | (value[l] & ~keep);
    }
}

#endif
