/* The state that the files of the interpreter share: that of a block and of its warps.
 *
 * From the top down: run.c distributes clusters of blocks over host threads, residents.c runs those
 * that may wait for one another on one, cluster.c schedules the blocks of one (most often one block
 * alone), block.c schedules the warps of a block, warp.c interprets, paths.c has the paths of a
 * warp that diverged and their calls, barrier.c has barriers of a block and of a cluster, access.c
 * loads and stores at what places.c finds, shared.c and global.c watch memory for races, which
 * race.c knows by what order.c knows of happens-before, piece by piece or by lines (line.c),
 * peers.c has what one block of a cluster may do in another's shared memory, bulk.c executes bulk
 * copies and mbarriers, engine.c has the copies under way, warpgroup.c the products of matrices
 * under way, strong.c chooses which write a strong access reads, of those in history.c, atomic.c
 * computes atomics, collective.c exchanges values within a warp, shuffle.c says whose, repeat.c
 * knows loops that have no end, values.c follows values that nothing wrote, fault.c records what
 * went wrong, print.c what is printed. The functions of each are in the header of its name. No
 * other room includes this. */
#ifndef AUTOTUNE_SIM_MACHINE_MACHINE_H
#define AUTOTUNE_SIM_MACHINE_MACHINE_H

#include "base/rng.h"
#include "sim/machine/line.h"
#include "sim/machine/order.h"
#include "sim/machine/race.h"
#include "sim/machine/run.h"

enum { SIM_MAX_PATHS = 96, SIM_BARRIERS = 16, SIM_MAX_WARPS = 32, SIM_SEEN = 64 };

enum {
    SIM_BARRIER_OF_CLUSTER =
        SIM_BARRIERS,        /* sim_warp_wait.barrier of those that wait for their cluster, */
    SIM_BARRIER_OF_WARPGROUP /* and for products of matrices */
};

typedef struct sim_path { /* lanes that are at the same place */
    int32_t pc;
    int32_t reconverge; /* where they wait for the others */
    uint32_t mask;
    uint32_t frame; /* of sim_warp_flow.frames, from 1 on; 0: the kernel's own */
} sim_path;

typedef struct sim_frame sim_frame;

/* POLLING: it tested an mbarrier that is not complete, and lets other warps run. */
typedef enum sim_warp_state { SIM_READY, SIM_POLLING, SIM_WAITING, SIM_DONE } sim_warp_state;

typedef struct sim_copy { /* a cp.async that has not landed */
    uint32_t lane, to, bytes;
    uint32_t group;
    uint32_t number;        /* of the instruction among the warp's copies */
    bool tracked;           /* by an mbarrier */
    uint32_t from_bytes;    /* that it reads */
    const sim_region *from; /* NULL: where nobody looks for races */
    uint64_t from_at;       /* offset in it */
    const sim_instruction *instruction;
    uint8_t data[16];
} sim_copy;

typedef struct sim_products sim_products;
typedef struct sim_warpgroup sim_warpgroup;

/* The paths of a warp (paths.c), and the calls that they are in. */
typedef struct sim_warp_flow {
    int depth;         /* paths */
    sim_frame *frames; /* calls that have not returned, at least up to the last; owned */
    size_t frame_count;
    uint32_t stalled; /* times that paths gave way to others since any went on */
    uint32_t turned;  /* times that paths gave way at all */
    uint32_t
        parted_far; /* times that lanes parted until they have to meet, since the last barrier */
    sim_path paths[SIM_MAX_PATHS]; /* each waits for those above it */
} sim_warp_flow;

/* A warp at a barrier (barrier.c, mbarrier.c). */
typedef struct sim_warp_wait {
    sim_warp_state state;
    uint32_t barrier;         /* WAITING: the barrier */
    int32_t pc;               /* WAITING, POLLING: of the barrier's instruction */
    uint32_t mask;            /* lanes that wait */
    uint32_t arrived, waited; /* barriers of the cluster: arrived at, and seen complete */
} sim_warp_wait;

/* Lanes that wait at an operation of the warp for others of its mask (collective.c). */
typedef struct sim_warp_meeting {
    uint32_t awaiting;     /* lanes that wait, wherever the others arrive */
    uint32_t released;     /* lanes whose operation is done and that have not gone on yet */
    int32_t pc[SIM_LANES]; /* of the instruction that lanes of `awaiting` are at */
} sim_warp_meeting;

/* The place of a warp in the order of all operations (order.c, strong.c). */
typedef struct sim_warp_order {
    uint32_t epoch;           /* grows whenever the warp synchronises or releases */
    uint32_t met;             /* epoch after the last barrier of the whole warp; 0: none so far */
    sim_clocks *clocks;       /* of each lane; owned; NULL until a lane learns anything of others */
    uint32_t strong_accesses; /* since the warp last let others go on after a strong access */
    uint32_t given;           /* lanes that had results of the warp's last atomic with results */
    uint32_t heard; /* lanes that have just chosen to read a new write of another thread */
} sim_warp_order;

/* The copies of a warp that have not landed (copies.c). */
typedef struct sim_warp_copies {
    sim_copy *list; /* owned */
    size_t count;
    uint32_t begun;             /* copies so far */
    uint32_t groups[SIM_LANES]; /* number of the group that a lane fills */
} sim_warp_copies;

/* Looks of a warp at memory that others change (repeat.h). */
typedef struct sim_warp_polls {
    uint64_t slice_end; /* sim_warp.executed at which other warps are scheduled */
    uint64_t looked;    /* sim_warp.executed at the last poll or barrier, */
    uint64_t asked;     /* and at the last poll of global memory; 0: none so far */
    uint32_t count;     /* polls of this slice */
    uint32_t news;      /* looks left that may belong to the reaction to a new value */
    int32_t pc;         /* of the last poll, by a lane of `mask` */
    uint32_t mask;
    uint64_t seen[SIM_SEEN]; /* hashes of the places of polls and the values found there */
} sim_warp_polls;

/* The state that a branch back is compared with (repeat.c). */
typedef struct sim_warp_loop {
    uint32_t branches;             /* branches back that were taken */
    const sim_instruction *branch; /* branch of the kept state; NULL if no state is kept */
    uint8_t *kept;                 /* registers, then paths; owned */
    int depth;                     /* kept paths */
    uint32_t lasts, looks;         /* looks after which the state is replaced; looks so far */
} sim_warp_loop;

/* The state that a poll is compared with (repeat.c). */
typedef struct sim_warp_stuck {
    uint64_t change;       /* sim_cluster.changes for which the members below hold */
    uint32_t polls;        /* so far */
    uint32_t lanes;        /* that came to a poll again in the same state */
    uint32_t mask;         /* lanes whose state at a poll is known; 0: none */
    int32_t pc;            /* of that poll */
    uint64_t state;        /* hash of the registers there */
    uint32_t lasts, looks; /* like those of sim_warp_loop */
} sim_warp_stuck;

struct sim_warp {
    uint8_t *registers;
    uint8_t *lacks;        /* as registers: bits without a value; NULL: all have one (values.h) */
    uint16_t *origin_of;   /* why, by slot / SIM_SLOT_STEP */
    uint8_t *local;        /* [lane][local_bytes] */
    uint8_t *local_valid;  /* whether each of these bytes was written; NULL when not checking */
    uint32_t first_thread; /* linear index of lane 0 */
    uint32_t whole;        /* lanes that there are */
    uint32_t live;         /* lanes that have not exited */
    uint64_t executed;
    uint64_t accesses;      /* to memory, of these */
    uint64_t lanes;         /* that executed them, summed */
    uint64_t region_hit;    /* last region used: index + 1 */
    sim_products *products; /* of matrices, by its warpgroup; NULL until there are any; owned */
    /* The members that are used most often come first. */
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

/* A warp that executes more without a look at what others change is computing. */
enum { SIM_BETWEEN_LOOKS = 1 << 12 };

typedef struct sim_barrier_state {
    uint32_t arrived; /* warps */
    uint32_t who;     /* a bit each */
    uint32_t needed;  /* warps; 0: all that have not exited */
    int32_t pc;       /* of the first that arrived */
    uint32_t count;   /* bar.red.popc */
    bool all, any;
    bool passed;        /* by a warp that only arrived */
    sim_clocks brought; /* by such warps; owned */
    /* The last time that it opened, not for the whole block: who waited, their epochs after it, and
     * the block's before. */
    uint32_t waited, after[SIM_MAX_WARPS], epoch;
} sim_barrier_state;

typedef struct sim_cluster sim_cluster;
typedef struct sim_watch sim_watch;
typedef struct sim_engine sim_engine;
typedef struct sim_origin sim_origin;

struct sim_block {
    const sim_launch *launch;
    sim_cluster *cluster; /* that it is in, be it alone */
    uint32_t rank;        /* in it */
    sim_watch *watch;     /* of global memory, shared by all blocks; NULL: it is not watched */
    const sim_program *program;
    uint32_t block[3];
    uint64_t index;
    uint32_t number; /* index + 1: of its stamps and clocks */
    uint32_t run;    /* blocks that it has been */
    bool ended;
    uint32_t thread_count, warp_count;
    sim_warp *warps;
    uint8_t *shared, *shared_valid; /* SIM_NEVER_WRITTEN ... of each byte; NULL when not checking */
    sim_cell *cells;                /* NULL when not checking */
    sim_line *lines;                /* of these cells */
    sim_set visits;      /* accesses to its shared memory by other blocks of the cluster */
    sim_history history; /* of shared memory */
    sim_clock *fenced;   /* as sim_watch's, at those of its threads; owned */
    uint32_t shared_bytes;
    uint32_t epoch;            /* barriers of the whole block passed */
    uint32_t moment;           /* counts mbarrier operations */
    uint64_t work;             /* of all its warps (sim_launch.work) */
    uint64_t lanes;            /* likewise (sim_launch.lanes) */
    bool learned;              /* a warp has a clock */
    bool starved;              /* there was no memory for one */
    sim_engine *engine;        /* NULL until something needs it */
    sim_warpgroup *warpgroups; /* likewise; one of every four warps */
    sim_barrier_state barriers[SIM_BARRIERS];
    sim_counter *counters; /* this host thread's own; NULL when not counting */
    uint64_t limit;
    sim_fault fault;
    sim_printed printed;  /* so far */
    bool print_cut;       /* it printed more */
    uint8_t *memory;      /* of all warps' registers */
    uint8_t *local;       /* and local memory */
    uint8_t *local_valid; /* of all warps */
    bool met_unwritten;   /* a load has just read what nothing wrote */
    uint8_t *lacks; /* sim_warp.lacks and .origin_of of all warps, and where such values are from */
    uint16_t *origin_of;
    uint8_t *
        origin_in; /* of missing values in local memory, as local_valid; NULL until there are any */
    sim_origin *origins;
    size_t origin_count;
    bool adverse;        /* the launch's schedule is not 0 */
    bool holds;          /* then, of half of the blocks: warps are held back, */
    uint32_t held;       /* these, until no other goes on: a bit each; */
    uint32_t held_turns; /* since they are */
    uint64_t let_go_at;  /* sim_cluster.changes + 1 when the last were let go; 0: none were */
    rng order;           /* an adverse schedule's choices */
};

struct sim_cluster {
    const sim_launch *launch;
    sim_block *blocks;   /* by rank; owned */
    uint32_t size;       /* blocks */
    uint32_t number;     /* linear index + 1 */
    uint32_t completed;  /* barriers of the cluster */
    sim_clocks brought;  /* to the next; owned */
    sim_clocks passed;   /* by those who passed the last; owned */
    sim_clock *fenced;   /* as sim_watch's, at those of its scope or a wider one; owned */
    uint32_t left;       /* blocks that have not ended */
    uint32_t standstill; /* turns in a row in which none went on */
    uint64_t changes;    /* of shared and global memory, and ends of warps */
    uint64_t position;   /* among those to run */
    uint64_t
        idle_polls; /* since then; 0 while a warp computes without a look at what others change */
    bool gave_way;  /* in this turn, to others that may change what a thread of it found in global
                       memory */
    sim_fault fault;
};

/* A thread has changed memory that others see, or a warp has ended. */
static inline void sim_note_change(const sim_block *b, sim_warp *w)
{
    b->cluster->changes++;
    b->cluster->idle_polls = 0;
    w->polls.count = 0;
}

enum { SIM_SLICE_POLLS = 4 }; /* after so many a warp lets others go on */

/* Values of shared_valid. */
enum { SIM_NEVER_WRITTEN, SIM_WRITTEN };

/* Race detection, shared by the blocks of a launch, which may run on several host threads: what all
 * of it draws on, and the cells of the regions that may be written. Regions of more than a few
 * million pieces are not watched. */
struct sim_watch {
    sim_pool pool;
    const sim_memory *memory;
    sim_cell **cells;    /* by region; NULL: not watched */
    sim_line **lines;    /* likewise, of these cells, */
    uint32_t **values;   /* and what was last written to each */
    sim_history history; /* of global memory */
    sim_clock *fenced;   /* what was known at sequentially consistent fences so far; owned */
    uint32_t cell_bytes;
    bool concurrent;
    bool *locks; /* of cells; inside it */
};
static inline bool sim_is_watched(const sim_watch *w, const sim_region *r)
{
    return w->cells[r - w->memory->regions] != NULL;
}

/* Where the variables of a call's instruction, which its lists have, begin in local memory. */
static inline size_t sim_local_at(const sim_block *b, const sim_warp *w, const sim_instruction *c,
                                  int lane)
{
    const uint8_t *base = c->a < 0 ? NULL : w->registers + c->a;
    return (size_t)lane * b->program->local_bytes +
           (base ? ((const uint64_t *)(const void *)base)[lane] : 0);
}

/* Lanes of a slot. */
static inline uint32_t *sim_lanes32(const sim_warp *w, int32_t slot)
{
    return (uint32_t *)(void *)(w->registers + slot);
}

static inline uint64_t *sim_lanes64(const sim_warp *w, int32_t slot)
{
    return (uint64_t *)(void *)(w->registers + slot);
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

/* Writes the lanes of `mask` only. */
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
