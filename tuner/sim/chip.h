/* The figures of chips from which times are predicted. They complement device/arch.h, which has SM
 * count, clocks, L2 size and datasheet bandwidth of one typical chip of each architecture.
 * sim/chip.c names the source of each figure, or says that no source is known. Figures measured on
 * a GPU (`autotune calibrate`) replace published figures. */
#ifndef AUTOTUNE_SIM_CHIP_H
#define AUTOTUNE_SIM_CHIP_H

#include "device/arch.h"
#include "device/ceiling.h"

typedef struct sim_chip {
    char arch[16];    /* "sm_90" */
    char name[16];    /* "h100"; the typical chip of an architecture has the architecture's name */
    char product[16]; /* "h200", also for the typical chip of sm_90 */
    arch_limits limits;
    double read_bytes_per_ns;     /* DRAM bandwidth of kernels that only read */
    double write_bytes_per_ns;    /* DRAM bandwidth of kernels that only write */
    double copy_bytes_per_ns;     /* DRAM bandwidth of a copy; read and written bytes both count */
    double l2_bytes_per_ns;       /* bandwidth of reads of the whole L2 */
    double l2_written_per_ns;     /* bandwidth of writes of the whole L2 */
    double l2_bytes_per_clock_sm; /* bandwidth between L2 and one SM, in each direction */
    double l1_least_bytes;        /* size of an SM's L1 when its shared memory is largest */
    double l2_clocks;             /* clocks of a read of the L2 */
    double dram_clocks;           /* clocks of a read of DRAM under load */
    double l1_wavefronts;         /* wavefronts of 128 bytes that an L1 serves per clock */
    double issue_per_clock;       /* warp instructions that an SM issues per clock */
    double launch_ns;             /* time of an empty kernel between two events */
    double block_ns;              /* time between the starts of two blocks on the chip */
    double read_piece_bytes, write_piece_bytes; /* shorter runs of bytes cost as much as this */
    /* Relative extra times. Crowding: of reads and of copies, for each doubling of the bytes in
     * flight. Costs: of a copy whose loads have a read-once hint; of reads with .L2::256B. */
    double read_crowding, copy_crowding, once_cost, wide_cost;
    /* time between two atomics on one address, in ns */
    double double_atomic_ns, float_atomic_ns, integer_atomic_ns;
    double atomic_sector_ns, double_sector_ns; /* the same on two sectors of one line */
    double atomic_sectors_per_ns;              /* sectors with atomics that the L2 serves per ns */
    bool measured; /* the main figures were measured on this GPU or on another of its name */
} sim_chip;

/* Finds a chip by its own name ("h100"), by its architecture ("sm_90", "sm_90a": the first row) or
 * by the name of a GPU ("NVIDIA H100 80GB HBM3"). Returns AT_USAGE, with the known names, if there
 * is no such chip. */
at_status sim_chip_find(const char *name, sim_chip *out, at_error *error);

/* Finds the chip of a simulated device: "sim:sm_80", "sim:h100", or "sim", which is sm_90. Returns
 * AT_USAGE if there is no such chip. */
at_status sim_chip_of_device(const char *spec, sim_chip *out, at_error *error);

/* Finds the chip of a GPU by name, or the typical chip of the architecture if the name is unknown.
 * `limits` may have the number of SMs. Returns AT_USAGE for an unknown architecture. */
at_status sim_chip_of_gpu(const char *gpu, const arch_limits *limits, const char *arch,
                          sim_chip *out, at_error *error);

/* Replaces published figures by measured figures. A rate of 0 was not measured. */
void sim_chip_measured(sim_chip *chip, const double rates[CEILING_KINDS]);

/* Returns the name of row `i` (the architecture of a typical chip), or NULL past the last row. */
const char *sim_chip_name(size_t i);

#endif
