/* Predicted time of a launch on a chip: a sum of mechanisms, each of which could be measured alone.
 *
 * In: a profile (sim/profile.h), the kernel's resources, a chip. Out: the time, and the time that
 * each mechanism alone would take. No coefficient belongs to a pattern. A chip's figures are
 * published or measured by kernels that do one thing (sim/chip.h; microbenchmarks.md of results);
 * one constant has no measurement of its own (`together`, sim/model.c).
 *
 *   launch + turns + last + max of
 *     norm(DRAM, latency), blocks, issue, L1, shared, constant, L2, atomics
 *
 * DRAM       bytes read and written over the bandwidth of either; more where runs of neighbours are
 *            short, where both are mixed, or where blocks read again what the L2 has lost
 * latency    waves of blocks, each as long as its dependences take: Little's law by counting
 * blocks     the grid's blocks over the rate at which the chip starts them
 * issue      machine instructions of a block over the rate of the busiest pipe, on the busiest SM
 * L1         a sector of each quarter of a line, a clock an SM
 * shared, constant   wavefronts, one a clock an SM
 * L2         sectors over the bandwidth of all of it, or of one SM's way to it
 * atomics    those on the line that gets the most, one after the other, beside what else its slice
 *            of the L2 has to do; or all, over the rate of the L2
 * turns      what memory, issue, shared memory and L1 take beyond that, as they wait for each
 * other: a warp is at one of them at a time, and the fewer warps a scheduler has, the less one
 *            hides another
 * last       what a block does that finds itself the last one, when all others have ended */
#ifndef AUTOTUNE_SIM_MODEL_H
#define AUTOTUNE_SIM_MODEL_H

#include "sim/chip.h"
#include "sim/profile.h"

typedef struct sim_needs { /* of the kernel, a block */
    uint32_t registers;    /* a thread; 0 unknown */
    uint64_t shared_bytes; /* static and dynamic */
    uint32_t local_bytes;  /* a thread, of arrays and of spilled registers */
    uint32_t spill_bytes;  /* a thread: what its spilling instructions load and store, each once */
    bool warm;             /* L2 holds as much of the data as fits */
} sim_needs;

typedef enum sim_term {
    SIM_TERM_DRAM,
    SIM_TERM_LATENCY,
    SIM_TERM_BLOCKS,
    SIM_TERM_ISSUE,
    SIM_TERM_L1,
    SIM_TERM_SHARED,
    SIM_TERM_CONSTANT,
    SIM_TERM_L2,
    SIM_TERM_ATOMICS,
    SIM_TERM_LAST,
    SIM_TERM_TURNS,
    SIM_TERM_COUNT
} sim_term;

typedef struct sim_prediction {
    double time_ns;
    double low_ns, high_ns; /* nine of ten variants of the landscapes took so long; wider on a chip
                               of which little was measured */
    double terms_ns[SIM_TERM_COUNT]; /* the time that each alone would take, without the launch */
    sim_term limit;                  /* the longest */
    occupancy occupancy;
    double waves; /* blocks over what the chip holds at a time */
    double dram_read_bytes, dram_written_bytes;
    double flight_bytes; /* in flight to an SM at a time */
    double needed_bytes; /* in flight that would keep DRAM busy: latency x bandwidth of an SM */
    sim_pipe busiest;    /* pipe */
} sim_prediction;

/* How a launch of that kernel is sampled so that the model can be asked. A kernel that does not fit
 * has OCCUPANCY_IMPOSSIBLE. */
occupancy sim_model_sampling(const sim_needs *needs, uint64_t threads, const sim_chip *chip,
                             sim_sampling *out);

/* Never fails; a kernel that does not fit gets time_ns 0 and OCCUPANCY_IMPOSSIBLE. */
void sim_model_predict(const sim_profile *profile, const sim_needs *needs, const sim_chip *chip,
                       sim_prediction *out);

/* A device-to-device copy of `bytes` (read and written once each). */
double sim_model_copy_ns(const sim_chip *chip, double bytes, bool warm);

const char *sim_term_name(sim_term term); /* "DRAM", "shared memory" ... */
const char *sim_term_key(sim_term term);  /* "dram", "shared" ...: as JSON has it */

/* The end of a sentence: the change that would make a launch faster that this term limits. */
const char *sim_term_advice(sim_term term);

#endif
