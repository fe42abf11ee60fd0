/* The profile of a launch: what it does to memory, from a sample of its blocks.
 *
 * In: a launch and how many blocks to run. Out: every counter's average for a block, and what only
 * addresses show: how many distinct sectors a block reads and writes (the rest hits in the L1), how
 * many of them other blocks of the sample access too, how long the runs of neighbouring sectors
 * are. Runs of neighbouring blocks are sampled at several places of the grid. */
#ifndef AUTOTUNE_SIM_PROFILE_H
#define AUTOTUNE_SIM_PROFILE_H

#include "sim/machine/counters.h"
#include "sim/machine/run.h"

typedef struct sim_traffic { /* of loads or stores, a block */
    double sectors;          /* requested */
    double distinct;         /* different ones */
    double partial;          /* of those, written only in part */
    double fresh;            /* different ones that no earlier block of the run touched */
    double runs;             /* maximal runs of neighbouring sectors among the different ones */
    double lines;            /* different aligned pieces of 128 bytes */
} sim_traffic;

/* Runs of neighbouring sectors as DRAM sees them: in what the first warps of all blocks that run at
 * the same time access. */
typedef struct sim_wave {
    double read_run, write_run; /* mean length, sectors; 0: not sampled */
} sim_wave;

typedef struct sim_profile {
    uint64_t blocks, threads;      /* of the launch: blocks; threads a block */
    uint64_t sampled;              /* blocks */
    sim_totals totals;             /* of the sampled blocks */
    double issued;                 /* warp instructions a block */
    double loads;                  /* global load instructions a warp */
    double barriers;               /* a warp */
    double hinted[SIM_HINT_COUNT]; /* share of the global loads with each hint */
    sim_traffic read, write;
    sim_wave wave;
    double hottest; /* atomics of the launch on the sector that gets the most of them */
} sim_profile;

/* Runs about `sample` blocks of the launch, and the first warps of `wave` blocks, and fills *out;
 * the launch's own `blocks`, counters and observer are ignored. `counters`, one for each
 * instruction, may be NULL; else they get the sample's. Writes of the blocks stay written. The rest
 * is as in sim_run(). */
at_status sim_profile_launch(const sim_launch *launch, uint64_t sample, uint64_t wave,
                             sim_counter *counters, sim_profile *out, sim_fault *fault,
                             at_error *error);

#endif
