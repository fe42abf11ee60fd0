/* The limits of GPU architectures, occupancy, and how clusters fill a GPU. Sources: see arch.c. */
#ifndef AUTOTUNE_DEVICE_ARCH_H
#define AUTOTUNE_DEVICE_ARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

typedef struct arch_limits {
    char name[64];    /* "sm_90", or the name of a device */
    int major, minor; /* compute capability */
    int sm_count;     /* number of SMs; of a typical chip if `name` is an architecture */
    int warp_size;
    int max_threads_per_block, max_threads_per_sm, max_blocks_per_sm;
    int registers_per_sm, max_registers_per_thread;
    int register_unit; /* granularity of the registers of a warp */
    size_t shared_per_sm_bytes;
    size_t max_shared_per_block_bytes; /* limit with the opt-in attribute */
    size_t shared_reserved_bytes;      /* reserved by the system, per block */
    size_t shared_unit_bytes;          /* granularity in which shared memory is allocated */
    size_t l2_bytes;
    size_t global_bytes;          /* device memory; 0 for an architecture */
    int clock_khz;                /* boost clock of the SMs */
    double bandwidth_bytes_per_s; /* DRAM bandwidth of the data sheet */
} arch_limits;

/* Returns whether `text` is a name of `arch`: "sm_90", "sm90", "compute_90", "90" or "9.0". */
bool arch_is_named(const char *arch, const char *text);

/* Finds an architecture by a name for arch_is_named(). AT_USAGE lists the known architectures. */
at_status arch_find(const char *name, arch_limits *out, at_error *error);

/* Returns the limits of a GPU by its name and compute capability. AT_USAGE as arch_find(). */
at_status arch_of_gpu(const char *gpu, int major, int minor, arch_limits *out, at_error *error);

/* Returns all architectures, the oldest first, in static storage. */
const arch_limits *arch_table(size_t *count);

/* The resources of a kernel, as the compiler reports them. */
typedef struct kernel_resources {
    uint32_t registers;   /* per thread */
    uint32_t stack_bytes; /* per thread */
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
    double fraction; /* warps_per_sm / the most warps of an SM, 0 to 1 */
    occupancy_limit limit;
} occupancy;

/* Computes the resident blocks for blocks of `threads` threads, `registers` per thread and
 * `shared_bytes` (static and dynamic) per block, by the rules of the CUDA occupancy calculator. */
occupancy occupancy_compute(const arch_limits *arch, int threads, int registers,
                            size_t shared_bytes);

/* Returns "blocks", "threads", "registers", "shared" or "impossible". */
const char *occupancy_limit_name(occupancy_limit limit);

/* ---- clusters ----
 *
 * How a launch of thread-block clusters fills a GPU, so that scripts can estimate its rounds. A
 * cluster lies within one GPC, so a GPU holds fewer clusters than its number of SMs suggests.
 * cuOccupancyMaxActiveClusters tells how many, but needs a GPU. Here every GPU is assumed to have
 * the GPCs of one H200. templates/export/prelude.h has the same formula;
 * tests/unit/cmd/export/test_functions.c compares both. */

/* The largest arguments of cluster_load(), so that the result fits into 64 bits. */
#define CLUSTER_LOAD_MOST_CLUSTERS (INT64_C(1) << 40)
enum { CLUSTER_LOAD_MOST = 1024 /* limit of `multiprocessors`, `blocks` and `resident` */ };

/* Returns the number of blocks that the busiest SM runs in a launch of `clusters` clusters of
 * `blocks` blocks, if each SM holds `resident` blocks at a time. Each round but the last adds
 * `resident` blocks. The last round adds as few as the remaining clusters need. If no cluster fits,
 * the result is resident * clusters * blocks: larger than for any launch that fits, so that a
 * minimum over configurations avoids it. Arguments are positive and at most the limits above. */
int64_t cluster_load(int64_t multiprocessors, int64_t clusters, int64_t blocks, int64_t resident);

#endif
