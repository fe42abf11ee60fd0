/* The chips: the figures that predicted times rest on.
 *
 * Complements device/arch.h, which has SM count, clocks, L2 size and datasheet bandwidth of one
 * typical chip of an architecture: several chips share one, and differ in these. sim/chip.c names
 * each figure's source, or says that none is known. What was measured on a GPU
 * (`autotune calibrate`) takes the place of what is published. */
#ifndef AUTOTUNE_SIM_CHIP_H
#define AUTOTUNE_SIM_CHIP_H

#include "device/arch.h"
#include "device/ceiling.h"

typedef struct sim_chip {
    char arch[16]; /* "sm_90" */
    char name[16]; /* "h100"; of the typical chip of an architecture, its name */
    arch_limits limits;
    double read_bytes_per_ns, write_bytes_per_ns; /* of DRAM, by kernels that do nothing else; */
    double copy_bytes_per_ns;                     /* read and written, by a copy */
    double l2_bytes_per_ns;                       /* read, of the whole L2; */
    double l2_written_per_ns;                     /* and written */
    double l2_bytes_per_clock_sm;                 /* between L2 and one SM, either way */
    double l1_least_bytes; /* of an SM: what shared memory leaves to the L1 at least */
    double compute_clocks, wide_clocks, special_clocks, shuffle_clocks; /* until a dependent */
    double constant_clocks, shared_clocks, barrier_clocks;              /* instruction begins */
    double l1_clocks, l2_clocks;
    double dram_clocks;     /* the same of DRAM, with the memory busy */
    double l1_wavefronts;   /* of 128 bytes that an L1 serves a clock */
    double issue_per_clock; /* warp instructions an SM issues a clock */
    double launch_ns;       /* an empty kernel between two events */
    double block_ns;        /* between the starts of two blocks, wherever they run */
    double block_clocks;    /* starting and ending a block on its SM */
    double read_piece_bytes, write_piece_bytes; /* a short run costs as much as so many bytes of
                                                   long ones */
    double hint_costs[5]; /* how much longer a copy takes whose loads have that hint (sim_hint) */
    double double_atomic_ns, float_atomic_ns, integer_atomic_ns; /* between two on one address */
    double atomic_sector_ns, double_sector_ns; /* between two sectors of one line */
    double atomic_sectors_per_ns;              /* of the whole L2 */
    bool measured; /* what predicted times rest on most, on this GPU or another one of its name */
} sim_chip;

/* The chip of a name: its own ("h100"), its architecture's ("sm_90", "sm_90a": the first of the
 * table that has it), or a GPU's ("NVIDIA H100 80GB HBM3"). AT_USAGE for one that is not in the
 * table, listing those that are. */
at_status sim_chip_find(const char *name, sim_chip *out, at_error *error);

/* The chip of a GPU, or the typical one of its architecture. As above. */
at_status sim_chip_of_gpu(const char *gpu, const arch_limits *limits, const char *arch,
                          sim_chip *out, at_error *error);

/* Puts what was measured in place of what is published; 0: it was not. */
void sim_chip_measured(sim_chip *chip, const double rates[CEILING_KINDS]);

/* Name of entry `i` of the table: its architecture's for the typical one of it; NULL past the last.
 */
const char *sim_chip_name(size_t i);

#endif
