/* The limits of each GPU architecture that occupancy and constraints need.
 *
 * Figures are from the CUDA C++ Programming Guide, appendix "Compute Capabilities", table
 * "Technical Specifications per Compute Capability". */
#ifndef AUTOTUNE_DEVICE_ARCH_H
#define AUTOTUNE_DEVICE_ARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

/* The resources that a kernel needs, as the compiler reports them. */
typedef struct kernel_resources {
    uint32_t registers;   /* a thread */
    uint32_t stack_bytes; /* a thread */
    uint32_t spill_store_bytes, spill_load_bytes;
    uint32_t static_shared_bytes;
    uint32_t constant_bytes;
    uint32_t barriers;
} kernel_resources;

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

/* ---- clusters ----
 *
 * How a launch of thread-block clusters fills a GPU. Scripts estimate rounds by it.
 *
 * A cluster lies within a GPC, so that a GPU has room for fewer of them than its multiprocessors
 * would hold were they all alike. The driver's cuOccupancyMaxActiveClusters says for how many, but
 * not without a GPU. The GPCs are those of one H200, whatever the GPU: no other was looked at.
 *
 * templates/export/prelude.h says the same in exported headers;
 * tests/unit/cmd/export/test_functions.c checks that the two agree. */

/* The largest arguments of cluster_load(): far more than any GPU has, and what it gives fits 64
 * bits. */
#define CLUSTER_LOAD_MOST_CLUSTERS (INT64_C(1) << 40)
enum { CLUSTER_LOAD_MOST = 1024 /* multiprocessors, blocks, resident blocks */ };

/* How many blocks the multiprocessor with the most work gets in its turn, where `clusters` clusters
 * of `blocks` blocks each are launched and every multiprocessor has room for `resident` blocks at a
 * time: as many as that in each round but the last, in the last as few as give all the rest room.
 * If not even one cluster finds room it is resident * clusters * blocks, which is more than
 * clusters that find room give, so that the least is none of these.
 *
 * All arguments are positive and at most the limits above. */
int64_t cluster_load(int64_t multiprocessors, int64_t clusters, int64_t blocks, int64_t resident);

#endif
