/* The chips of the architectures: the figures that predicted times rest on.
 *
 * Complements device/arch.h, which has SM count, clocks, L2 size and datasheet bandwidth.
 * sim/chip.c names each figure's source, or says that none is known. */
#ifndef AUTOTUNE_SIM_CHIP_H
#define AUTOTUNE_SIM_CHIP_H

#include "device/arch.h"

typedef struct sim_chip {
    char arch[16]; /* "sm_90" */
    arch_limits limits;
    double dram_efficiency;          /* share of the datasheet's bandwidth that a copy reaches */
    double l2_bytes_per_clock_sm;    /* between L2 and one SM, either way */
    double l2_bytes_per_clock;       /* of the whole L2 */
    double l2_latency, dram_latency; /* SM clocks, load to use */
    double issue_per_clock;          /* warp instructions an SM issues a clock */
    double launch_ns;                /* an empty kernel between two events */
    double block_clocks;             /* starting a block on an SM */
} sim_chip;

/* The chip of an architecture ("sm_90", "sm_90a"). AT_USAGE for one that is not in the table,
 * listing those that are. */
at_status sim_chip_find(const char *arch, sim_chip *out, at_error *error);

/* Name of entry `i` of the table; NULL past the last. */
const char *sim_chip_name(size_t i);

#endif
