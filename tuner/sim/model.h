/* The predicted time of a launch on a chip: a sum of mechanisms, each of which could be measured
 * alone.
 *
 * The input is a profile (sim/profile.h), the resources of the kernel, and a chip. The output is
 * the time, and the time of each mechanism alone. No coefficient belongs to a pattern. The figures
 * of a chip are published, or measured by kernels that do one thing (sim/chip.h; microbenchmarks.md
 * in results). Constants of sim/model.c without a measurement of their own say so.
 *
 *   time = launch + turns + last + max of
 *     norm(DRAM, latency), blocks, issue, L1, shared, constant, L2, atomics
 *   DRAM: bytes read and written over the bandwidth of each; more if runs of adjacent sectors are
 *     short, if reads and writes mix, or if blocks read again what the L2 has evicted
 *   latency: waves of blocks, each as long as its dependences take (Little's law, by counting)
 *   blocks: blocks of the grid over the rate at which the chip starts them
 *   issue: machine instructions of a block over the rate of the busiest pipe, on the busiest SM
 *   L1: one sector of each quarter of a line per clock and SM
 *   shared, constant: wavefronts, one per clock and SM
 *   L2: sectors over the bandwidth of the whole L2, or of the path from the L2 to one SM
 *   atomics: atomics of the busiest line, one after the other, and the other work of its slice of
 *     the L2; or all atomics over the rate of the L2
 *   turns: extra time of warps that wait for each other at memory, issue, shared memory or L1. A
 *     warp uses one of these at a time, and few warps per scheduler hide little.
 *   last: extra work of the block that ends last, if a counter tells the block so */
#ifndef AUTOTUNE_SIM_MODEL_H
#define AUTOTUNE_SIM_MODEL_H

#include "sim/chip.h"
#include "sim/profile.h"

typedef struct sim_needs {
    uint32_t registers;    /* registers of a thread; 0 if unknown */
    uint64_t shared_bytes; /* static and dynamic shared memory of a block */
    uint32_t local_bytes;  /* local memory of a thread: arrays and spilled registers */
    uint32_t spill_bytes; /* bytes that a thread spills and reloads if each instruction runs once */
    bool warm;            /* the L2 holds as much of the data as fits */
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
    double low_ns, high_ns; /* interval that held the measured times of nine of ten variants; wider
                               for a chip with few measured figures */
    double terms_ns[SIM_TERM_COUNT]; /* time of each mechanism alone, without the launch */
    sim_term limit; /* mechanism that gives the time; for the norm, the longer one of its two */
    const char *mechanism; /* name of the group of limits that have this interval */
    occupancy occupancy;
    double waves; /* number of blocks, divided by the number that the chip holds at a time */
    double dram_read_bytes, dram_written_bytes;
    double flight_bytes; /* bytes in flight to an SM */
    double needed_bytes; /* bytes in flight to an SM that keep DRAM busy: its latency times the
                            bandwidth of an SM */
    sim_pipe busiest;    /* the busiest pipe */
} sim_prediction;

/* Computes how a launch is sampled. Returns its occupancy, whose limit is OCCUPANCY_IMPOSSIBLE if
 * the kernel does not fit. */
occupancy sim_model_sampling(const sim_needs *needs, uint64_t threads, const sim_chip *chip,
                             sim_sampling *out);

/* Predicts the time of a launch. If the kernel does not fit, time_ns is 0 and occupancy.limit is
 * OCCUPANCY_IMPOSSIBLE. */
void sim_model_predict(const sim_profile *profile, const sim_needs *needs, const sim_chip *chip,
                       sim_prediction *out);

/* Returns the predicted time of a copy that reads `bytes` bytes and writes as many. */
double sim_model_copy_ns(const sim_chip *chip, double bytes, bool warm);

/* Return the name of a term for people, "shared memory", and its key in JSON, "shared". */
const char *sim_term_name(sim_term term);
const char *sim_term_key(sim_term term);

/* Returns advice for a launch that this term limits, as the end of a sentence. */
const char *sim_term_advice(sim_term term);

#endif
