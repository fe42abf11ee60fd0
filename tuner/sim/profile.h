/* The profile of a launch: its memory traffic and machine instructions, from a sample of its
 * blocks.
 *
 * The profile has the average of every counter per block; facts that only addresses show, such as
 * distinct sectors, sectors that the L1 does not hold or other blocks access, and lengths of runs
 * of adjacent sectors; and the time of a block by its dependences alone (sim/machine/trace.h). The
 * sample has runs of adjacent blocks at several points of the grid, and the first accesses of the
 * first warp of each block in two waves. */
#ifndef AUTOTUNE_SIM_PROFILE_H
#define AUTOTUNE_SIM_PROFILE_H

#include "sim/machine/counters.h"
#include "sim/machine/run.h"
#include "sim/machine/trace.h"

typedef struct sim_traffic { /* traffic of loads or of stores, per block */
    double sectors;          /* sectors requested */
    double passes;           /* passes of the L1: one word of each bank, from a few lines */
    double distinct;         /* distinct sectors */
    double missed;  /* loads: sectors that the share of the L1 of the block does not hold */
    double again;   /* loads: missed sectors that the block had read before */
    double between; /* average number of misses between two such reads */
    double partial; /* distinct sectors that the block writes only in part */
    double torn;    /* distinct sectors that the whole run of blocks writes only in part */
    double fresh;   /* distinct sectors that no earlier block of the run touched */
    double runs;    /* maximal runs of adjacent distinct sectors */
    double lines;   /* distinct lines of 128 bytes */
    double moved;   /* sum of the lines of all requests that go to the L2 */
    double sent;    /* stores: sectors sent to the L2, after stores of a warp have merged */
    double parts;   /* stores: sent sectors that one store writes only in part */
} sim_traffic;

/* The accesses that L2 and DRAM see at the same time: the accesses of the first warps of all blocks
 * of a wave and of the next wave. */
typedef struct sim_wave {
    double read_run, write_run; /* mean length of runs of adjacent sectors; 0 if not sampled */
    double first_fresh; /* share of the read sectors that no earlier block of the wave read */
    double later_fresh; /* the same for the next wave: share of the read sectors that neither wave
                           read before */
    double bytes; /* bytes of distinct sectors, extrapolated from the first warps to all warps of
                     the wave; 0 if no wave was sampled */
} sim_wave;

/* Atomics on the lines of the busiest slice of the L2. A slice executes its atomics one after the
 * other. */
typedef struct sim_hot {
    double operations; /* operations of lanes on the busiest word; integers of a warp count once,
                          because the hardware adds them up first */
    double sectors;    /* sectors of the operations of warps, times the lanes that meet at a word */
    double doubles;    /* share of the sectors with additions of doubles */
    double floats;     /* share of the sectors with additions of floats */
} sim_hot;

typedef struct sim_buffer_reads {    /* reads of one buffer, per block */
    double bytes;                    /* size of the buffer */
    double distinct, fresh, runs;    /* as in sim_traffic */
    double first_fresh, later_fresh; /* as in sim_wave; 0 if no wave was sampled */
    double once; /* share of the requested sectors whose loads have a read-once hint */
    double wide; /* the same for .L2::256B */
} sim_buffer_reads;

enum { SIM_PROFILE_BUFFERS = 6 };

/* Machine instructions of a block, by the notes in the PTX (ptx/parse.h), or by the costs in
 * sim/instructions.def. */
typedef struct sim_issue {
    double total;                 /* machine instructions of all warps */
    double pipes[SIM_PIPE_COUNT]; /* machine instructions by pipe */
    double code_bytes;            /* size of the executed machine code */
    double locals; /* accesses to local memory, spilled registers included; negative if only
                      accesses in the PTX are known */
} sim_issue;

typedef struct sim_profile {
    uint64_t blocks, threads; /* blocks of the launch; threads per block */
    uint64_t sampled;         /* number of sampled blocks */
    sim_totals totals;        /* counters of all sampled blocks */
    sim_issue issue;          /* machine instructions per block */
    double issued;            /* PTX warp instructions per block */
    double loads;             /* global load instructions per warp */
    double barriers;          /* barriers per warp */
    double constant; /* different words that warps request from constant memory, per block, without
                        loads that are operands of other machine instructions */
    double hinted[SIM_HINT_COUNT]; /* share of the sectors of global loads with each hint */
    sim_traffic read, write;
    sim_buffer_reads buffers[SIM_PROFILE_BUFFERS]; /* the first buffers that are read; bytes is 0
                                                      for unused entries */
    sim_wave wave;
    sim_hot hot;
    double atomic_sectors;  /* sectors of all atomics on global memory, per block */
    double atomics_last;    /* share of these atomics that a block makes after its last load */
    double critical_clocks; /* clocks of a block that has an SM for itself */
    double last_clocks;     /* clocks of the block that draws the last number of a counter which all
                               blocks update; 0 if there is no such counter */
    double trips;           /* executions of an instruction by a warp, averaged over all executed
                               instructions: the trip count of the loop where most of the work is */
    double memory_bytes;    /* size of all buffers */
} sim_profile;

/* How a launch is sampled. */
typedef struct sim_sampling {
    uint64_t blocks;   /* approximate number of blocks to run; fewer if blocks are long */
    bool all;          /* run all blocks of the launch */
    uint64_t wave;     /* blocks that the chip holds at a time; 0 if no wave is sampled */
    uint64_t l1_bytes; /* share of the L1 for each block */
    uint64_t l2_bytes; /* capacity of the L2 for data that blocks wrote */
    uint32_t window;   /* words of pending loads that the registers of a thread can hold */
    sim_latencies latencies;
} sim_sampling;

/* Runs blocks of the launch and the first warps of waves, and fills *out. Ignores the clusters,
 * counters and observer of `launch`. `counters` (one per instruction, or NULL) receives the
 * sample's counters. Writes of the blocks remain in memory. Faults and errors are as in
 * sim_run(). */
at_status sim_profile_launch(const sim_launch *launch, const sim_sampling *how,
                             sim_counter *counters, sim_profile *out, sim_fault *fault,
                             at_error *error);

/* Counts the machine instructions of a program per block. `counters` belong to `blocks` blocks. */
void sim_issue_find(const sim_program *p, const sim_counter *counters, double blocks,
                    sim_issue *out);

/* Returns the warp instructions per clock of each pipe of an SM: CUDA C++ Programming Guide 13.0,
 * "Throughput of Native Arithmetic Instructions", by compute capability, over 32 lanes. */
void sim_pipe_rates(int major, int minor, double out[SIM_PIPE_COUNT]);

/* Returns what a pipe executes, as text: "arithmetic on floats". */
const char *sim_pipe_name(sim_pipe pipe);

#endif
