/* Runs a decoded kernel over a grid of thread blocks.
 *
 * The input is a program, global memory, arguments and a launch shape. The output is memory as the
 * kernel leaves it, counters, and the first fault. Each warp of a block is interpreted until it
 * reaches a barrier, ends, or has used up its slice. Diverged paths of a warp are on a stack and
 * meet again at immediate post-dominators. The blocks of a cluster run in turns. A block without a
 * cluster counts as a cluster of one block.
 *
 * The result of a launch must not depend on the number of host threads. If blocks of the program
 * cannot communicate, several host threads run the clusters, and the fault of the cluster with the
 * lowest number is reported. Otherwise one host thread runs all clusters (resident_blocks.c).
 *
 * A GPU may run blocks, warps, the lanes of an atomic and the sides of a branch in any order.
 * Schedule 0 runs them in ascending order, in long slices. Each adverse schedule runs them roughly
 * in descending order, in short slices, with random choices from a seed of its own. A kernel whose
 * result differs between two schedules is wrong. */
#ifndef AUTOTUNE_SIM_MACHINE_RUN_H
#define AUTOTUNE_SIM_MACHINE_RUN_H

#include <pthread.h>

#include "device/outcome.h"
#include "sim/machine/counters.h"
#include "sim/machine/memory.h"
#include "sim/program/program.h"

typedef enum sim_fault_kind {
    SIM_FAULT_NONE,
    SIM_FAULT_LAUNCH, /* no GPU can make this launch */
    SIM_FAULT_BOUNDS, /* an access outside every buffer, array or window */
    SIM_FAULT_MISALIGNED,
    SIM_FAULT_UNINITIALISED,
    SIM_FAULT_READ_ONLY,
    SIM_FAULT_RACE,    /* unordered accesses to shared or global memory */
    SIM_FAULT_BARRIER, /* a diverged warp at a barrier, a barrier that never completes, or one
                          barrier used in two ways */
    SIM_FAULT_SHUFFLE, /* a warp operation whose mask names absent lanes or not the lane itself,
                          or which reads from a lane outside the mask */
    SIM_FAULT_TRAP,
    SIM_FAULT_ASSERTION,
    SIM_FAULT_ENDLESS,  /* a loop repeats its state: it has no end */
    SIM_FAULT_BUDGET,   /* a warp or a block reached its limit of instructions */
    SIM_FAULT_LATE,     /* all blocks together reached the limit of the launch */
    SIM_FAULT_UNKNOWN,  /* an instruction that is not simulated: no verdict on the kernel */
    SIM_FAULT_DEADLOCK, /* all warps that still run poll memory that none of them will change */
    SIM_FAULT_UNSEEN,   /* no error of the kernel: it needs values from blocks that a sim_excerpt
                           leaves out */
    SIM_FAULT_INTERNAL
} sim_fault_kind;

typedef struct sim_fault {
    sim_fault_kind kind;
    device_fault at;
    bool ran_on_several_threads; /* a single host thread may find another fault */
    char message[1536];          /* one sentence: what is wrong, and where */
} sim_fault;

/* Called for every access to global memory of a sampled run, in order, on one thread. */
typedef void (*sim_observer)(void *context, const sim_instruction *instruction, bool is_store,
                             const sim_sectors *sectors);

/* Some blocks of a launch that is too large to run whole. The blocks that do not run are called
 * absent. A block ends without a fault where it would read bytes that absent blocks may have
 * written, or would wait for absent blocks. Any other block runs to its end or to a fault. */
typedef struct sim_excerpt {
    bool later; /* earlier launches had absent blocks, which may have written bytes that this launch
                   reads */
    uint8_t mark;    /* value of sim_region.valid for bytes that this launch writes */
    bool apart;      /* the first cluster uses `mark`, and each further cluster the next number */
    uint64_t enough; /* work after which no cluster starts, except the first `least` clusters */
    uint64_t least;
    /* The run adds to these members: */
    uint64_t begun;      /* clusters that have started */
    uint64_t waiting;    /* begun clusters that were ended because they wait for absent blocks */
    uint64_t blind;      /* begun clusters that needed values of absent blocks */
    uint64_t unfinished; /* a bit for each waiting or blind cluster among the first 64: later writes
                            of these clusters may be missing */
} sim_excerpt;

/* Bits of sim_launch.ran. */
enum {
    SIM_RAN = 1,         /* a lane executed the instruction */
    SIM_RAN_BACK = 2,    /* a lane took this branch to an earlier instruction */
    SIM_RAN_IN_STEP = 4, /* a warp may rely on running in step here: its lanes made unordered
                            volatile accesses to the same bytes, or executed activemask after a
                            split */
    SIM_RAN_WARPS = 8,   /* warps of one block made such accesses */
    SIM_RAN_BLOCKS = 16  /* blocks made such accesses */
};

enum { SIM_UNWATCHED_BYTES = 320 };

enum { SIM_PRINT_BYTES = 16384 };

typedef struct sim_printed { /* the text that one block printed */
    uint64_t order;          /* result of sim_print_order() for the block */
    char *text;              /* owned; not NUL-terminated */
    size_t bytes;
} sim_printed;

/* The text that a launch prints by printf(). Each block collects its text in the order in which its
 * threads run. Texts are sorted by block, so that the result does not depend on the number of host
 * threads. Only the texts of the first blocks are kept. */
typedef struct sim_prints {
    pthread_mutex_t lock;
    sim_printed *blocks; /* sorted by `order`; owned */
    size_t count;
    size_t bytes; /* bytes of all texts; only the last text may exceed SIM_PRINT_BYTES */
    bool cut;     /* some text was dropped */
} sim_prints;
void sim_prints_init(sim_prints *p);
void sim_prints_deinit(sim_prints *p);

/* Returns the joined texts of the blocks whose `order` is at most `last`. The caller owns the
 * result. Returns NULL if there is no text. */
char *sim_prints_text(const sim_prints *p, uint64_t last);

typedef struct sim_launch {
    const sim_program *program;
    const sim_memory *memory;
    const uint8_t *parameters; /* arguments of the kernel: program->parameter_bytes bytes */
    uint32_t grid[3], block[3];
    uint32_t cluster[3]; /* extents of a cluster in blocks; they divide the grid; all 0 without
                            clusters */
    uint32_t dynamic_shared_bytes;
    bool check;                 /* detect races and reads of uninitialised memory */
    uint64_t instruction_limit; /* instructions of a warp before it faults; 0 for
                                   SIM_INSTRUCTION_LIMIT */
    uint64_t block_limit;       /* work of a block before it faults; 0 for no limit */
    uint64_t work_limit;        /* *work at which the launch faults; 0 for no limit */
    int threads;                /* limit of the number of host threads; 0 for one per core */
    uint32_t schedule;          /* 0 for the natural order; other numbers select adverse orders */
    uint64_t resident_clusters; /* clusters that the chip holds at a time; 0 for all */
    const uint64_t *clusters;   /* linear indices of the clusters to run; NULL for all */
    uint64_t cluster_count;
    sim_excerpt *excerpt; /* not NULL if values from the blocks that do not run may be missing */
    uint64_t *work;  /* the run adds the instructions of all warps; an access to memory counts as
                        several; may be NULL */
    uint64_t *lanes; /* the run adds the thread-instructions of all warps; may be NULL */
    uint64_t lane_limit;   /* *lanes at which the launch faults; 0 for no limit */
    uint8_t *ran;          /* the run sets SIM_RAN bits of each instruction; may be NULL */
    sim_counter *counters; /* the run adds to the counters of each instruction; may be NULL */
    sim_observer observer; /* may be NULL; forces one host thread */
    void *observer_context;
    bool one_warp_only; /* run one warp of each block: barriers open at once, and values of other
                           warps are missing */
    uint32_t warp;      /* number of this warp */
    /* called with the number of clusters that have run and of all clusters; may be NULL */
    void (*progress)(void *context, uint64_t done, uint64_t total);
    void *progress_context;
    sim_prints *prints; /* gets the text that threads print; may be NULL */
    uint64_t workspace; /* address of the workspace of a cooperative launch; 0 for no workspace */
    sim_heap *heap; /* heap of malloc(), whose region is in `memory`; NULL if there is no heap */
    const struct sim_texture *textures; /* textures and surfaces whose handles the arguments hold */
    uint32_t texture_count;
    bool announce;           /* call the observer when a cluster starts, with instruction NULL */
    struct sim_trace *trace; /* critical path of a sampled run; may be NULL. Its warps run in short
                                slices */
    uint64_t access_limit;   /* accesses to memory after which a warp ends; 0 for no limit */
    char *unwatched; /* text of SIM_UNWATCHED_BYTES that gets the names of buffers in which no races
                        are looked for; may be NULL */
} sim_launch;

/* Returns whether the schedule is eager, as every second adverse schedule is. After each access to
 * global memory, an eager schedule lets other warps run, and lets many waiting warps read that
 * memory again. Other adverse schedules do so at random. */
static inline bool sim_is_eager(const sim_launch *l)
{
    return l->schedule > 0 && l->schedule % 2 == 0;
}

enum { SIM_INSTRUCTION_LIMIT = 1 << 24 };

/* Returns the number of blocks in a cluster: 1 without clusters. */
static inline uint64_t sim_launch_cluster_blocks(const sim_launch *launch)
{
    return launch->cluster[0] == 0
               ? 1
               : (uint64_t)launch->cluster[0] * launch->cluster[1] * launch->cluster[2];
}

/* Returns the number by which sim_prints sorts blocks, and by which the lowest fault is found. */
uint64_t sim_print_order(const sim_launch *launch, const uint32_t block[3]);

/* Runs a launch. Returns AT_OK, with SIM_FAULT_NONE or the kernel's fault in *fault. Fails with
 * AT_USAGE for an impossible launch, and AT_NO_MEMORY. */
at_status sim_run(const sim_launch *launch, sim_fault *fault, at_error *error);

#endif
