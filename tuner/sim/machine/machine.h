/* What the files of the interpreter share: the state of a block and of its warps.
 *
 * From the top down: run.c distributes clusters of blocks over host threads, residents.c runs those
 * that may wait for one another on one, cluster.c schedules the blocks of one (most often one block
 * alone), block.c schedules the warps of a block, warp.c interprets, paths.c has the paths of a
 * warp that diverged, barrier.c has barriers of a block and of a cluster, access.c loads and
 * stores, shared.c and global.c watch memory for races, which race.c knows by what order.c knows of
 * happens-before, peers.c has what one block of a cluster may do in another's shared memory, bulk.c
 * executes bulk copies and mbarriers, engine.c has the copies under way, atomic.c computes atomics,
 * collective.c exchanges values within a warp, shuffle.c says whose, values.c follows values that
 * nothing wrote, fault.c records what went wrong, print.c what is printed. No other room includes
 * this. */
#ifndef AUTOTUNE_SIM_MACHINE_MACHINE_H
#define AUTOTUNE_SIM_MACHINE_MACHINE_H

#include "base/rng.h"
#include "sim/machine/order.h"
#include "sim/machine/race.h"
#include "sim/machine/run.h"

enum { SIM_MAX_PATHS = 96, SIM_BARRIERS = 16, SIM_MAX_WARPS = 32, SIM_SEEN = 64 };

enum {
    SIM_BARRIER_OF_CLUSTER =
        SIM_BARRIERS /* sim_warp.barrier of those that wait for their cluster */
};

typedef struct sim_path { /* lanes that are at the same place */
    int32_t pc;
    int32_t reconverge; /* where they wait for the others */
    uint32_t mask;
} sim_path;

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

struct sim_warp {
    uint8_t *registers;
    uint8_t *lacks;      /* as registers: bits that have no value; NULL: all have one (values.h) */
    uint16_t *origin_of; /* why, by slot / SIM_SLOT_STEP */
    uint8_t *local;      /* [lane][local_bytes] */
    uint8_t
        *local_valid; /* for each of these bytes, whether it was written; NULL when not checking */
    sim_path paths[SIM_MAX_PATHS];
    int depth;
    uint32_t live;         /* lanes that have not exited */
    uint32_t whole;        /* lanes that there are */
    uint32_t first_thread; /* linear index of lane 0 */
    sim_warp_state state;
    uint32_t barrier; /* WAITING: which */
    uint32_t epoch;   /* grows whenever it synchronises or releases: sim/machine/order.h */
    uint32_t met;     /* its epoch after the last barrier of the whole warp; 0: there was none */
    sim_lore *lore;   /* of each lane; owned; NULL: none has learned anything */
    uint64_t executed;
    uint64_t region_hit; /* last region used: index + 1 */
    sim_copy *copies;
    size_t copy_count;
    uint32_t copy_groups[SIM_LANES]; /* being filled, by lane */
    uint32_t copies_begun;
    int32_t wait_pc; /* WAITING, POLLING: of the barrier */
    uint32_t wait_mask;
    uint32_t arrived, waited; /* barriers of the cluster: arrived at, and seen complete */
    uint64_t slice_end;       /* `executed` when other warps have their turn */
    uint64_t looked;          /* `executed` when it last polled or reached a barrier */
    uint32_t polls;           /* of this slice */
    uint64_t seen[SIM_SEEN];  /* what it looked at, and what it found there */
    int32_t poll_pc;          /* of the last poll, by a lane of poll_mask */
    uint32_t poll_mask;
    uint32_t stalled;  /* times that paths gave way to others since any went on */
    uint32_t awaiting; /* lanes that wait at an operation of the warp for others of its mask,
                          wherever these arrive */
    uint32_t released; /* lanes whose operation is done and that have not gone on yet */
    int32_t await_pc[SIM_LANES]; /* of the instruction that lanes of `awaiting` are at */
    uint32_t turned;             /* times that paths gave way at all */
};

typedef struct sim_barrier_state {
    uint32_t arrived; /* warps */
    uint32_t who;     /* a bit each */
    uint32_t needed;  /* warps; 0: all that have not exited */
    int32_t pc;       /* of the first that arrived */
    uint32_t count;   /* bar.red.popc */
    bool all, any;
    bool passed;      /* by a warp that only arrived */
    sim_lore brought; /* by such warps; owned */
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
    sim_set visits;        /* accesses to its shared memory by other blocks of the cluster */
    sim_releases releases; /* in shared memory */
    uint32_t shared_bytes;
    uint32_t epoch;     /* barriers of the whole block passed */
    uint32_t moment;    /* counts mbarrier operations */
    bool learned;       /* a warp has a clock */
    bool starved;       /* there was no memory for one */
    sim_engine *engine; /* NULL until something needs it */
    sim_barrier_state barriers[SIM_BARRIERS];
    sim_counter *counters; /* this host thread's own; NULL when not counting */
    uint64_t limit;
    sim_fault fault;
    sim_printed printed;  /* so far */
    bool print_cut;       /* it printed more */
    uint8_t *memory;      /* one allocation for registers and local memory */
    uint8_t *local_valid; /* of all warps */
    bool met_unwritten;   /* a load has just read what nothing wrote */
    uint8_t *lacks; /* sim_warp.lacks and .origin_of of all warps, and where such values are from */
    uint16_t *origin_of;
    uint8_t *
        origin_in; /* of missing values in local memory, as local_valid; NULL until there are any */
    sim_origin *origins;
    size_t origin_count;
    bool adverse; /* the launch's schedule is not 0 */
    rng order;    /* an adverse schedule's choices */
};

/* Allocates the block of that rank in the clusters of a launch, and sets the registers that are the
 * same in all such blocks. */
at_status sim_block_init(sim_block *b, const sim_launch *launch, sim_cluster *cluster,
                         uint32_t rank, sim_watch *watch, at_error *error);
void sim_block_deinit(sim_block *b);
/* Bytes of a block of the launch, of the host's memory, but for what it may add as it runs. */
uint64_t sim_block_bytes(const sim_launch *launch);
/* Makes it the first instruction of the block at `position` of the grid. */
void sim_block_start(sim_block *b, const uint32_t position[3]);

/* What came of a turn: a fault, progress, warps that only poll, or nothing that could run. */
typedef enum sim_turn { SIM_TURN_FAULT, SIM_TURN_ON, SIM_TURN_POLLING, SIM_TURN_STUCK } sim_turn;
/* Runs each warp that can until it waits or ends, and opens the barriers that were reached. */
sim_turn sim_block_turn(sim_block *b);

struct sim_cluster {
    const sim_launch *launch;
    sim_block *blocks;   /* by rank; owned */
    uint32_t size;       /* blocks */
    uint32_t number;     /* linear index + 1 */
    uint32_t completed;  /* barriers of the cluster */
    sim_lore brought;    /* to the next; owned */
    sim_lore passed;     /* by those who passed the last; owned */
    uint32_t left;       /* blocks that have not ended */
    uint32_t standstill; /* turns in a row in which none went on */
    uint64_t changes;    /* of shared and global memory, and ends of warps */
    uint64_t position;   /* among those to run */
    uint64_t
        idle_polls; /* since then; 0 while a warp computes without a look at what others change */
    sim_fault fault;
};

/* Allocates the blocks of a cluster of the launch. AT_NO_MEMORY; sim_cluster_deinit() also then. */
at_status sim_cluster_init(sim_cluster *cl, const sim_launch *launch, sim_watch *watch,
                           at_error *error);
void sim_cluster_deinit(sim_cluster *cl);
/* Makes it the cluster at that position of those to run; none of its blocks has begun. */
void sim_cluster_start(sim_cluster *cl, uint64_t position);
/* Gives each of its blocks a turn: false when it has ended or faulted, as cl->fault says. */
bool sim_cluster_turn(sim_cluster *cl);
/* Records that fault at a poll of a cluster of which all that run poll. */
void sim_cluster_report_waiting(sim_cluster *cl, sim_fault_kind kind, const char *what);
#define SIM_NOBODY_CHANGES "it looks again and again at what no thread that runs changes any more"
/* Runs it to its end; cl->fault says how it went. */
void sim_cluster_run(sim_cluster *cl, uint64_t position);
/* Bytes of a cluster of the launch, of the host's memory. */
uint64_t sim_cluster_bytes(const sim_launch *launch);

/* Runs all clusters of a launch on this host thread, several at a time where they wait for one
 * another; *fault says how it went. AT_NO_MEMORY. Adds to launch->counters. */
at_status sim_residents_run(const sim_launch *launch, sim_watch *watch, uint64_t total,
                            sim_fault *fault, at_error *error);
/* Adds what the cluster did to its launch's sums; true where that is an excerpt and it ended for
 * the absence of other blocks, perhaps. */
bool sim_cluster_ended_for_others(const sim_cluster *cl);
/* Adds what the cluster's blocks have counted to launch->counters. */
void sim_cluster_sum_counters(const sim_cluster *cl);

/* A thread has changed memory that others see, or a warp has ended. */
static inline void sim_note_change(const sim_block *b, sim_warp *w)
{
    b->cluster->changes++;
    b->cluster->idle_polls = 0;
    w->polls = 0;
}

enum { SIM_SLICE_POLLS = 4 }; /* after so many a warp lets others go on */

/* A warp has looked at memory that others may change, and changed nothing itself. `found` stands
 * for where it looked and what was there: one that finds what it had found is polling. */
static inline void sim_note_poll(const sim_block *b, sim_warp *w, const sim_instruction *c,
                                 uint32_t mask, uint64_t found)
{
    uint64_t *seen = &w->seen[found % SIM_SEEN];
    bool again = *seen == found;
    *seen = found;
    if (!again)
        return;
    b->cluster->idle_polls++;
    w->looked = w->executed;
    w->poll_pc = (int32_t)(c - b->program->code);
    w->poll_mask = mask;
    if (++w->polls >= SIM_SLICE_POLLS)
        w->slice_end = w->executed;
}

/* Another path of a diverged warp goes on in place of the top one, where there is one. `polls`: the
 * top one may be waiting for it. */
void sim_paths_turn(sim_block *b, sim_warp *w, bool polls);
/* The same where the top path waits for other lanes at the instruction that it has just fetched,
 * which it will fetch again; paths at the same instruction become one. False: no other path can
 * help. */
bool sim_paths_give_way(sim_block *b, sim_warp *w);

/* barrier.cluster: a warp arrives or waits. */
bool sim_cluster_barrier(sim_block *b, sim_warp *w, const sim_instruction *c, uint32_t mask);
/* Opens the barrier of the cluster when all warps that have not ended have arrived; false when
 * not. */
bool sim_cluster_barrier_open(sim_cluster *cl);
/* mapa and getctarank: of shared addresses, where another block has the same; and whose they
 * are. */
bool sim_cluster_map(sim_block *b, sim_warp *w, const sim_instruction *c, uint32_t mask);
/* Whose is the shared address, which becomes one of that block's own? NULL, with a fault: no
 * block's that a thread may access. */
sim_block *sim_cluster_owner(sim_block *b, sim_warp *w, const sim_instruction *c, int lane,
                             uint64_t *address);
/* The block ends: false, with a fault, when another may still access its shared memory. */
bool sim_cluster_allows_end(sim_block *b);

/* Interprets a warp until it waits or ends; false when it faults. */
bool sim_warp_run(sim_block *b, sim_warp *w);

/* A warp arrives at the barrier of its instruction, at which it has stopped. */
bool sim_barrier_arrive(sim_block *b, sim_warp *w, const sim_instruction *c, uint32_t mask);
/* Opens the barriers that enough warps have reached; false when there is none. */
bool sim_barriers_open(sim_block *b);
/* Records the fault of a block whose warps all wait at barriers that cannot complete. */
void sim_report_deadlock(sim_block *b);
uint32_t sim_warps_left(const sim_block *b); /* that have not ended */

bool sim_access(sim_block *b, sim_warp *w, const sim_instruction *c, uint32_t mask);
/* Are the addresses of those lanes aligned as the instruction demands? */
bool sim_aligned(sim_block *b, sim_warp *w, const sim_instruction *c, uint32_t mask);
bool sim_copy_async(sim_block *b, sim_warp *w, const sim_instruction *c, uint32_t mask);
void sim_copy_commit(sim_warp *w, uint32_t mask);
/* The lane's copies up to now are tracked by an mbarrier: they have numbers below the result. */
uint32_t sim_copy_track(sim_warp *w, int lane);
/* Those with numbers below `before` have landed, if they had not before. */
void sim_copy_land(sim_block *b, sim_warp *w, int lane, uint32_t before);
bool sim_copy_wait(sim_block *b, sim_warp *w, const sim_instruction *c, uint32_t mask);
bool sim_collective(sim_block *b, sim_warp *w, const sim_instruction *c, uint32_t mask);

/* A product of matrices, by all lanes of the warp. */
bool sim_multiply(sim_block *b, sim_warp *w, const sim_instruction *c, uint32_t mask);

/* The lane that a lane of a shuffle reads, by its operands b and c, and whether that is inside of
 * what it may read. */
int sim_shuffle_source(const sim_instruction *c, uint32_t b, uint32_t control, int lane,
                       bool *inside);

/* Bulk copies and mbarriers. */
bool sim_mbarrier(sim_block *b, sim_warp *w, const sim_instruction *c, uint32_t mask);
bool sim_bulk_copy(sim_block *b, sim_warp *w, const sim_instruction *c, uint32_t mask);
bool sim_bulk_group(sim_block *b, sim_warp *w, const sim_instruction *c, uint32_t mask);
/* The block ends: false, with a fault, when a copy still reads or writes its shared memory. */
bool sim_engine_allows_end(sim_block *b);
/* Records the fault of a block whose warps all poll mbarriers that nothing will complete. */
void sim_engine_report_stall(sim_block *b);
void sim_engine_reset(sim_block *b);
void sim_engine_free(sim_engine *engine); /* NULL is fine */

/* The global side of a bulk copy by `lane`: checked, and counted in requests of 512 bytes. It is
 * under way from now on; *region and *offset say where. */
bool sim_bulk_read(sim_block *b, sim_warp *w, const sim_instruction *c, int lane, uint64_t address,
                   uint32_t bytes, uint32_t number, uint8_t *to, const sim_region **region,
                   uint64_t *offset);
bool sim_bulk_write(sim_block *b, sim_warp *w, const sim_instruction *c, int lane, uint64_t address,
                    uint32_t bytes, uint32_t number, const uint8_t *from, const sim_region **region,
                    uint64_t *offset);

/* Applies an atomic at host address `at` of one lane; returns the old value. `flush`: sums of
 * floats of 32 bits take and give zeros for subnormal numbers. */
uint64_t sim_atomic_apply(uint8_t *at, sim_atomic_op op, ptx_type type, bool flush,
                          uint64_t operand, uint64_t other);

/* A lane reads or writes `bytes` of the shared memory of `a->owner`, its block or another of its
 * cluster: false, with a fault, for a race or a read of what was not written. `fresh` are the bytes
 * written: several lanes may write the same value. */
typedef enum sim_touch { SIM_TOUCH_READ, SIM_TOUCH_WRITE, SIM_TOUCH_ATOMIC } sim_touch;
bool sim_shared_touch(sim_race_access *a, uint32_t offset, uint32_t bytes, sim_touch touch,
                      const uint8_t *fresh);
void sim_shared_reset(sim_block *b);

/* A strong access to shared memory of `owner` has read, or written, what is there. */
void sim_shared_read(sim_block *b, sim_block *owner, sim_warp *w, const sim_instruction *c,
                     int lane, uint32_t offset);
void sim_shared_written(sim_block *b, sim_block *owner, sim_warp *w, const sim_instruction *c,
                        int lane, uint32_t offset);

/* Values of shared_valid. */
enum { SIM_NEVER_WRITTEN, SIM_WRITTEN };

/* A copy that reads or writes shared memory of the block begins: false, with a fault, for a race.
 * Until it has landed it is under way. What landed there is `landed`: the thread's own access, or
 * the engine's. */
bool sim_shared_begin(sim_block *b, sim_warp *w, const sim_instruction *c, int lane,
                      uint32_t offset, uint32_t bytes, bool writes, uint32_t number, bool bulk);
void sim_shared_land(sim_block *b, sim_warp *w, const sim_instruction *c, int lane, uint32_t offset,
                     uint32_t bytes, bool writes, uint32_t number, const sim_stamp *landed);
/* An access to the shared memory of another block. */
void sim_shared_visit(sim_block *b, sim_block *owner, sim_warp *w, const sim_instruction *c,
                      int lane);

/* Race detection, shared by the blocks of a launch, which may run on several host threads: what all
 * of it draws on, and the cells of the regions that may be written. Regions of more than a few
 * million pieces are not watched. */
struct sim_watch {
    sim_pool pool;
    const sim_memory *memory;
    sim_cell **cells;      /* by region; NULL: not watched */
    sim_releases releases; /* in global memory */
    uint32_t cell_bytes;
    bool concurrent;
    bool release_lock;
    bool *locks; /* of cells; inside it */
};
static inline bool sim_is_watched(const sim_watch *w, const sim_region *r)
{
    return w->cells[r - w->memory->regions] != NULL;
}
at_status sim_watch_new(const sim_launch *launch, bool concurrent, sim_watch **out,
                        at_error *error);
void sim_watch_free(sim_watch *watch); /* NULL is fine */

/* A lane reads or writes `bytes` at `offset` of `a->region`: false, with a fault, for a race. */
bool sim_global_touch(sim_race_access *a, uint64_t offset, uint32_t bytes, sim_touch touch,
                      const uint8_t *fresh);
/* A copy from or to global memory begins and lands, as in shared memory. */
bool sim_global_begin(sim_block *b, sim_warp *w, const sim_instruction *c, int lane,
                      const sim_region *region, uint64_t offset, uint32_t bytes, bool writes,
                      uint32_t number, bool bulk);
void sim_global_land(sim_block *b, sim_warp *w, const sim_instruction *c, int lane,
                     const sim_region *region, uint64_t offset, uint32_t bytes, bool writes,
                     uint32_t number, const sim_stamp *landed);
/* A strong access to global memory has read, or written, what is there. */
void sim_global_read(sim_block *b, sim_warp *w, const sim_instruction *c, int lane,
                     uint64_t address);
void sim_global_written(sim_block *b, sim_warp *w, const sim_instruction *c, int lane,
                        uint64_t address);

/* Records a fault of one lane; returns false, so that a handler can return it. */
bool sim_fail(sim_block *b, const sim_warp *w, const sim_instruction *c, int lane,
              sim_fault_kind kind, const char *format, ...) __attribute__((format(printf, 6, 7)));

/* Names a place in the block's shared memory: "byte 4 of tile (shared memory byte 12 of 512)". */
void sim_shared_name(const sim_block *b, uint32_t offset, char *text, size_t size_bytes);

/* The branch back of the innermost loop around an instruction, which says where it is whatever the
 * moment; the instruction itself where it is in none. */
const sim_instruction *sim_loop_around(const sim_program *p, int32_t pc);

/* printf, whose text the block keeps until its end; and a failed assertion, which ends the run. The
 * variables that the call hands over lie in local memory, at lists[target] and what follows
 * there. */
bool sim_print(sim_block *b, sim_warp *w, const sim_instruction *c, uint32_t mask);
bool sim_assertion(sim_block *b, sim_warp *w, const sim_instruction *c, uint32_t mask);
/* Hands over what the block printed, before it becomes another and before it is freed. */
void sim_print_end(sim_block *b);

void sim_thread_position(const sim_block *b, uint32_t thread, uint32_t position[3]);

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
