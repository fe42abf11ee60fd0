/* Predicted time of a launch on a chip.
 *
 * In: a profile (sim/profile.h), the kernel's resources, a chip. Out: the time, and the time that
 * each resource alone would take, which shows what limits. The longest one dominates; others add
 * where they cannot be hidden. Memory time is the larger of bytes over bandwidth and what the bytes
 * in flight allow (Little's law: bytes in flight = bandwidth x latency). Blocks run in waves of as
 * many as fit on the chip; a last wave that is not full takes as long as its fullest SM. */
#ifndef AUTOTUNE_SIM_MODEL_H
#define AUTOTUNE_SIM_MODEL_H

#include "sim/chip.h"
#include "sim/profile.h"

typedef struct sim_needs { /* of the kernel, a block */
    uint32_t registers;    /* a thread; 0 unknown */
    uint64_t shared_bytes; /* static and dynamic */
    bool warm;             /* L2 holds as much of the data as fits */
} sim_needs;

typedef struct sim_prediction {
    double time_ns;
    /* The time that each alone would take. */
    double dram_ns, l2_ns, l1_ns, shared_ns, constant_ns, atomic_ns, issue_ns, latency_ns;
    const char *limit; /* the name of the longest: "dram", "shared memory" ... */
    occupancy occupancy;
    double waves; /* blocks over what the chip holds at a time */
    double dram_bytes;
    double flight_bytes; /* in flight to an SM at a time */
    double needed_bytes; /* in flight that would keep DRAM busy: latency x bandwidth of an SM */
} sim_prediction;

/* Never fails; a kernel that does not fit gets time_ns 0 and OCCUPANCY_IMPOSSIBLE. */
void sim_model_predict(const sim_profile *profile, const sim_needs *needs, const sim_chip *chip,
                       sim_prediction *out);

/* A device-to-device copy of `bytes` (read and written once each). */
double sim_model_copy_ns(const sim_chip *chip, double bytes, bool warm);

#endif
