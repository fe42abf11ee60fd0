/* The limits of each GPU architecture that occupancy and constraints need.
 *
 * Figures are from the CUDA C++ Programming Guide, appendix "Compute Capabilities", table
 * "Technical Specifications per Compute Capability". */
#ifndef AUTOTUNE_DEVICE_ARCH_H
#define AUTOTUNE_DEVICE_ARCH_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

typedef struct arch_limits {
    char name[64];    /* "sm_90", or a device's own name */
    int major, minor; /* compute capability */
    int sm_count;     /* of a typical chip, or of the device */
    int warp_size;
    int max_threads_per_block, max_threads_per_sm, max_blocks_per_sm;
    int registers_per_sm, max_registers_per_thread,
        register_unit;                 /* registers a warp: multiple of it */
    size_t shared_per_sm_bytes;        /* all of it */
    size_t max_shared_per_block_bytes; /* with the opt-in */
    size_t shared_reserved_bytes;      /* by the system, a block */
    size_t shared_unit_bytes;          /* allocation granularity */
    size_t l2_bytes;
    size_t global_bytes;          /* device memory; 0 when not a real device */
    int clock_khz;                /* SM clock at boost */
    double bandwidth_bytes_per_s; /* DRAM, datasheet */
} arch_limits;

/* Does a text name the architecture "sm_90" as people write it: "sm_90", "sm90", "compute_90", "90"
 * or, as its compute capability, "9.0"? */
bool arch_is_named(const char *arch, const char *text);

/* Finds an architecture by any of these names. AT_USAGE for an unknown one, listing those that are
 * known. */
at_status arch_find(const char *name, arch_limits *out, at_error *error);

/* The limits of a GPU that is known by its name and compute capability alone. AT_USAGE as above. */
at_status arch_of_gpu(const char *gpu, int major, int minor, arch_limits *out, at_error *error);

/* Every architecture of the table, oldest first. Static storage. */
const arch_limits *arch_table(size_t *count);

/* The resource that limits the number of resident blocks. */
typedef enum occupancy_limit {
    OCCUPANCY_BLOCKS,
    OCCUPANCY_THREADS,
    OCCUPANCY_REGISTERS,
    OCCUPANCY_SHARED,
    OCCUPANCY_IMPOSSIBLE
} occupancy_limit;

typedef struct occupancy {
    int blocks_per_sm;
    int warps_per_sm;
    double fraction; /* of the SM's warps: 0 .. 1 */
    occupancy_limit limit;
} occupancy;

/* Resident blocks of `threads` threads with `registers` a thread and `shared_bytes` (static and
 * dynamic) a block, by the rules of the CUDA occupancy calculator. */
occupancy occupancy_compute(const arch_limits *arch, int threads, int registers,
                            size_t shared_bytes);

const char *occupancy_limit_name(occupancy_limit limit);

#endif
