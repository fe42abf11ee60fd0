/* The profile of a launch: what it does to memory, from a sample of its blocks.
 *
 * In: a launch, how it is to be sampled. Out: every counter's average for a block; what only
 * addresses show: how many distinct sectors a block reads and writes, how many of them its share of
 * the L1 does not hold, how many other blocks of the sample access too, how long the runs of
 * neighbouring sectors are; and how long a block is busy by its dependences alone
 * (sim/machine/trace.h). Runs of neighbouring blocks are sampled at several places of the grid; of
 * two waves of blocks, the first accesses of the first warp of each. */
#ifndef AUTOTUNE_SIM_PROFILE_H
#define AUTOTUNE_SIM_PROFILE_H

#include "sim/machine/counters.h"
#include "sim/machine/run.h"
#include "sim/machine/trace.h"
#include "sim/pipes.h"

typedef struct sim_traffic { /* of loads or stores, a block */
    double sectors;          /* requested */
    double passes;   /* of the L1, which serves a sector of each quarter of a line at a time */
    double distinct; /* different ones */
    double missed;   /* loads: that were not in the block's share of the L1, */
    double again;    /* and of these, those that the block had read before, */
    double between;  /* so many misses earlier, on average */
    double partial;  /* of the different ones, written only in part, */
    double torn;     /* also by all blocks of the run together */
    double fresh;    /* different ones that no earlier block of the run touched */
    double runs;     /* maximal runs of neighbouring sectors among the different ones */
    double lines;    /* different aligned pieces of 128 bytes */
    double moved;    /* such pieces of each request that goes to the L2, summed; stores: */
    double sent;     /* and sectors, after neighbours of one warp have merged, */
    double parts;    /* and of these, those of which a store alone writes a part */
} sim_traffic;

/* All that runs at the same time, as L2 and DRAM see it: by the first warps of all blocks of a
 * wave, and of the next one. */
typedef struct sim_wave {
    double read_run, write_run; /* mean length of runs of neighbouring sectors; 0: not sampled */
    double first_fresh;         /* share of the sectors read that no other block of the wave read */
    double later_fresh;         /* and that no block of the wave before read, either */
    double bytes; /* different ones that all its warps read in as many accesses; 0: not sampled */
} sim_wave;

/* Atomics of the launch on the line of 128 bytes that gets the most of them: they follow one
 * another. */
typedef struct sim_hot {
    double operations; /* those on one word of it, of lanes; integers of one warp count once, for
                          it adds them up before */
    double sectors;    /* sectors of warps' operations */
    double doubles;    /* share of the sectors where floats of 64 bits are added, */
    double floats;     /* and of 32 */
} sim_hot;

typedef struct sim_buffer_reads {    /* of a buffer that is read */
    double bytes;                    /* its size */
    double distinct, fresh, runs;    /* as sim_traffic's, */
    double first_fresh, later_fresh; /* and sim_wave's, of this buffer; 0: not sampled */
} sim_buffer_reads;

enum { SIM_PROFILE_BUFFERS = 6 };

typedef struct sim_profile {
    uint64_t blocks, threads;      /* of the launch: blocks; threads a block */
    uint64_t sampled;              /* blocks */
    sim_totals totals;             /* of the sampled blocks */
    sim_issue issue;               /* machine instructions a block */
    double issued;                 /* warp instructions of PTX a block */
    double loads;                  /* global load instructions a warp */
    double barriers;               /* a warp */
    double hinted[SIM_HINT_COUNT]; /* share of the global loads with each hint */
    sim_traffic read, write;
    sim_buffer_reads buffers[SIM_PROFILE_BUFFERS]; /* the first ones that are read; bytes 0: none */
    sim_wave wave;
    sim_hot hot;
    double atomic_sectors;  /* of all atomics on global memory, a block */
    double critical_clocks; /* until a block ends that has an SM for itself */
    double last_clocks;     /* the same of one that finds, by the tickets that all draw, that it is
                               the last; 0: no block can tell */
    double trips; /* of a warp through an instruction that it executes, on average of all times
                     that it executes one: through the loop where most of its work is */
    double memory_bytes; /* of all buffers */
} sim_profile;

/* How a launch is sampled. */
typedef struct sim_sampling {
    uint64_t blocks;   /* to run, about; fewer where these execute much */
    bool all;          /* run them all, however much they execute */
    uint64_t wave;     /* blocks that the chip holds; 0: no wave is sampled */
    uint64_t l1_bytes; /* of the first level, for each block */
    uint64_t l2_bytes; /* what the chip keeps of what blocks write */
    uint32_t window;   /* words of loads that a thread has registers for */
    sim_latencies latencies;
} sim_sampling;

/* Runs blocks of the launch, and the first warps of waves, and fills *out; the launch's own
 * clusters, counters and observer are ignored. `counters`, one for each instruction, may be NULL;
 * else they get the sample's. Writes of the blocks stay written. The rest is as in sim_run(). */
at_status sim_profile_launch(const sim_launch *launch, const sim_sampling *how,
                             sim_counter *counters, sim_profile *out, sim_fault *fault,
                             at_error *error);

#endif
