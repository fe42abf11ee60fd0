/* Runs a decoded kernel over a grid of thread blocks.
 *
 * In: a program, global memory, arguments and a launch shape. Out: memory as the kernel left it,
 * counters, or the first fault. A block is interpreted warp by warp: each warp runs until a
 * barrier, its end or the end of its slice, with a stack of diverged paths that meet again at
 * immediate post-dominators. The blocks of a cluster run side by side, warp by warp likewise.
 *
 * What a kernel does must not depend on the number of host threads. Clusters (blocks, where they
 * are alone) of a program whose blocks cannot communicate are distributed over host threads, and of
 * several faults that of the lowest cluster is reported. All others run on one host thread, as many
 * at a time as wait for one another (residents.c).
 *
 * What a GPU leaves open is the schedule's: which blocks, warps, lanes of an atomic and sides of a
 * branch come first, and how far each gets before another goes on. Schedule 0 is the order of their
 * numbers, with long slices; others are adverse, from the last to the first with short slices, each
 * with a seed of its own. A kernel whose result differs between two schedules depends on what no
 * program may depend on. */
#ifndef AUTOTUNE_SIM_MACHINE_RUN_H
#define AUTOTUNE_SIM_MACHINE_RUN_H

#include "device/outcome.h"
#include "sim/machine/counters.h"
#include "sim/machine/memory.h"
#include "sim/machine/print.h"
#include "sim/program/program.h"

typedef enum sim_fault_kind {
    SIM_FAULT_NONE,
    SIM_FAULT_LAUNCH, /* no GPU can make it */
    SIM_FAULT_BOUNDS, /* outside every buffer, array or window */
    SIM_FAULT_MISALIGNED,
    SIM_FAULT_UNINITIALISED, /* a read of memory that nothing wrote */
    SIM_FAULT_READ_ONLY,
    SIM_FAULT_RACE,    /* unordered accesses to shared or global memory */
    SIM_FAULT_BARRIER, /* divergent, never completed, or different instructions on one barrier */
    SIM_FAULT_SHUFFLE, /* a warp operation whose mask has lanes that are elsewhere or lacks the
                          lane itself, or that reads from a lane outside the mask */
    SIM_FAULT_TRAP,
    SIM_FAULT_ASSERTION, /* one that fails */
    SIM_FAULT_ENDLESS,   /* a loop repeats its state: it has no end */
    SIM_FAULT_BUDGET,    /* a warp or a block came to its limit of instructions */
    SIM_FAULT_LATE,      /* all blocks together came to the launch's limit */
    SIM_FAULT_UNKNOWN,   /* what is not simulated: says nothing of the kernel */
    SIM_FAULT_DEADLOCK,  /* all that run poll what none of them will change */
    SIM_FAULT_UNSEEN,    /* none: it needs what blocks would have written that did not run
                            (sim_excerpt) */
    SIM_FAULT_INTERNAL
} sim_fault_kind;

typedef struct sim_fault {
    sim_fault_kind kind;
    device_fault at;
    bool is_of_several_threads; /* of the host: of one alone it may be another */
    char message[1536];         /* all of this in one sentence, and where */
} sim_fault;

/* Sees every access to global memory of a sampled run, in order, on one thread. */
typedef void (*sim_observer)(void *context, const sim_instruction *instruction, bool is_store,
                             const sim_sectors *sectors);

/* A launch of which not all blocks run, perhaps after others of that kind. A block's own errors are
 * then told from those owed to the absence of others: it ends without a fault if it would read what
 * they may have written, or waits for what they may do. One that waits for nobody comes to its end,
 * or to a fault. */
typedef struct sim_excerpt {
    bool later;      /* not the first launch: blocks that wrote for this one may be absent */
    uint8_t mark;    /* of what it writes, in sim_region.valid: */
    bool apart;      /* by the first cluster, then by each the next number */
    uint64_t enough; /* work, after which only the first `least` clusters still begin; */
    uint64_t least;
    uint64_t begun;      /* added to: clusters that have, */
    uint64_t waiting;    /* of these, that were left where they wait for others, */
    uint64_t blind;      /* and where they needed what others would have written */
    uint64_t unfinished; /* bits of both by their positions, of the first 64: what they wrote need
                            not be their last word */
} sim_excerpt;

/* Bits of sim_launch.ran: a lane executed the instruction; a lane took it back to an earlier one;
 * it is volatile, and lanes of one warp met there with nothing that orders them, or it asks which
 * lanes are together, and an adverse schedule has parted them. */
enum { SIM_RAN = 1, SIM_RAN_BACK = 2, SIM_RAN_IN_STEP = 4 };

enum { SIM_UNWATCHED_BYTES = 320 };

typedef struct sim_launch {
    const sim_program *program;
    const sim_memory *memory;
    const uint8_t *parameters; /* parameter_bytes of the program */
    uint32_t grid[3], block[3];
    uint32_t cluster[3]; /* blocks, which divide the grid; 0: they run alone */
    uint32_t dynamic_shared_bytes;
    bool check;                 /* detect races and reads of uninitialised memory */
    uint64_t instruction_limit; /* of a warp; 0: SIM_INSTRUCTION_LIMIT */
    uint64_t block_limit;       /* of the work of a block; 0: none */
    uint64_t work_limit;        /* of *work; 0: none */
    int threads;                /* host threads, at most; 0: as many as cores */
    uint32_t schedule;          /* 0: in order; others: adverse */
    uint64_t resident_clusters; /* that the chip holds at a time; 0: all */
    const uint64_t
        *clusters; /* linear indices of those to run, of blocks where they are alone; NULL: all */
    uint64_t cluster_count; /* of `clusters` */
    sim_excerpt *excerpt;   /* where the others' absence matters; NULL: it does not */
    uint64_t *work;         /* of all warps, added to; or NULL: instructions, of which an access to
                               memory counts as several */
    uint64_t *lanes;        /* thread-instructions of all warps, added to; or NULL */
    uint64_t lane_limit;    /* of *lanes; 0: none */
    uint8_t *ran;           /* SIM_RAN ... of each instruction of the program, added to; or NULL */
    sim_counter *counters;  /* one for each instruction of the program, added to; or NULL */
    sim_observer observer;  /* or NULL; forces one host thread */
    void *observer_context;
    bool first_warp_only; /* run one warp of each block: barriers open at once, and what other
                             warps would write is missing; for sampling addresses */
    void (*progress)(void *context, uint64_t done, uint64_t total); /* clusters; or NULL */
    void *progress_context;
    sim_prints *prints; /* gets what threads print; NULL: nobody */
    uint64_t
        workspace; /* address of the grid's workspace, of a cooperative launch; 0: it has none */
    struct sim_heap *heap; /* for malloc(), whose region is in `memory`; NULL: there is none */
    const struct sim_texture *textures; /* that the kernel is given */
    uint32_t texture_count;
    bool announce;           /* call the observer at each cluster's start, with instruction NULL */
    struct sim_trace *trace; /* of a sampled run, whose warps go on in short turns; or NULL */
    uint64_t most_accesses;  /* to memory by a warp, after which it ends; 0: no end */
    char *unwatched; /* SIM_UNWATCHED_BYTES, to which the names of buffers are added in which
                        races are not looked for, or NULL */
} sim_launch;

/* Every second adverse schedule gives others their turn whenever a thread has found or left
 * something in a place that all share, and many look at it then; the rest do so at times. */
static inline bool sim_is_eager(const sim_launch *l)
{
    return l->schedule > 0 && l->schedule % 2 == 0;
}

enum { SIM_INSTRUCTION_LIMIT = 1 << 24 };

/* Blocks of a cluster: 1 where they are alone. */
static inline uint64_t sim_launch_cluster_blocks(const sim_launch *launch)
{
    return launch->cluster[0] == 0
               ? 1
               : (uint64_t)launch->cluster[0] * launch->cluster[1] * launch->cluster[2];
}

/* The place of a block in sim_prints: in the order in which faults are told. */
uint64_t sim_print_order(const sim_launch *launch, const uint32_t block[3]);

/* Runs it. AT_OK with fault->kind SIM_FAULT_NONE when all went well; AT_OK with another kind when
 * the kernel is at fault; AT_USAGE for an impossible launch; AT_NO_MEMORY. */
at_status sim_run(const sim_launch *launch, sim_fault *fault, at_error *error);

#endif
