#include <limits.h>

#include "device/arch.h"

/* The rules of cuda_occupancy.h (CUDA Toolkit), cudaOccMaxActiveBlocksPerMultiprocessor, for
 * compute capability 7.0 and later with the largest shared-memory carve-out. An SM has four
 * partitions; a warp's registers come from one of them. */
enum { PARTITIONS = 4 };

static int divide_up(int a, int b)
{
    return (a + b - 1) / b;
}

static size_t round_up(size_t n, size_t unit)
{
    return (n + unit - 1) / unit * unit;
}

static int blocks_by_threads(const arch_limits *arch, int threads)
{
    if (threads > arch->max_threads_per_block)
        return 0;
    return arch->max_threads_per_sm / arch->warp_size / divide_up(threads, arch->warp_size);
}

static int blocks_by_registers(const arch_limits *arch, int threads, int registers)
{
    if (registers == 0)
        return INT_MAX;
    if (registers > arch->max_registers_per_thread)
        return 0;
    int block_warps = divide_up(threads, arch->warp_size);
    int warp_registers =
        (int)round_up((size_t)(registers * arch->warp_size), (size_t)arch->register_unit);
    /* A launch is checked as if every partition held an equal share of the block. */
    if (warp_registers * divide_up(block_warps, PARTITIONS) * PARTITIONS > arch->registers_per_sm)
        return 0;
    int sm_warps = arch->registers_per_sm / PARTITIONS / warp_registers * PARTITIONS;
    return sm_warps / block_warps;
}

static int blocks_by_shared(const arch_limits *arch, size_t shared_bytes)
{
    if (shared_bytes > arch->max_shared_per_block_bytes)
        return 0;
    size_t block = round_up(shared_bytes + arch->shared_reserved_bytes, arch->shared_unit_bytes);
    return block ? (int)(arch->shared_per_sm_bytes / block) : INT_MAX;
}

occupancy occupancy_compute(const arch_limits *arch, int threads, int registers,
                            size_t shared_bytes)
{
    occupancy o = {.limit = OCCUPANCY_IMPOSSIBLE};
    if (threads <= 0 || registers < 0)
        return o;
    /* The order decides ties: resources that the author of a kernel can change come first. */
    const struct {
        occupancy_limit limit;
        int blocks;
    } limits[] = {
        {OCCUPANCY_SHARED, blocks_by_shared(arch, shared_bytes)},
        {OCCUPANCY_REGISTERS, blocks_by_registers(arch, threads, registers)},
        {OCCUPANCY_THREADS, blocks_by_threads(arch, threads)},
        {OCCUPANCY_BLOCKS, arch->max_blocks_per_sm},
    };
    o.blocks_per_sm = INT_MAX;
    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
        if (limits[i].blocks < o.blocks_per_sm) {
            o.blocks_per_sm = limits[i].blocks;
            o.limit = limits[i].limit;
        }
    }
    if (o.blocks_per_sm == 0)
        o.limit = OCCUPANCY_IMPOSSIBLE;
    o.warps_per_sm = o.blocks_per_sm * divide_up(threads, arch->warp_size);
    o.fraction = (double)o.warps_per_sm / (arch->max_threads_per_sm / arch->warp_size);
    return o;
}

const char *occupancy_limit_name(occupancy_limit limit)
{
    static const char *const names[] = {
        [OCCUPANCY_BLOCKS] = "blocks",         [OCCUPANCY_THREADS] = "threads",
        [OCCUPANCY_REGISTERS] = "registers",   [OCCUPANCY_SHARED] = "shared",
        [OCCUPANCY_IMPOSSIBLE] = "impossible",
    };
    return (unsigned)limit < sizeof names / sizeof names[0] ? names[limit] : "unknown";
}

/* ---- clusters ---- */

/* One H200 (132 multiprocessors) was asked by cuOccupancyMaxActiveClusters, and by which
 * multiprocessors clusters shared: its GPCs have 8, 16 (five of them) and 18 (two) multiprocessors,
 * and eight more are four pairs that belong to none. Two blocks find room together anywhere. More
 * multiprocessors than those of the two large GPCs and the pairs are taken for GPCs of 16 and one
 * of what is left, which is 8 there. In times of products of matrices on two more H200s, an
 * estimate with these GPCs errs less than one with seven of 16 and one of 12; of 170 products on
 * another one, six took a block more than it says, where all but a few places were taken. Other
 * GPUs were not looked at. */
enum { GPC = 16, LARGE = 18, LARGES = 2, PAIRS = 4, APART = LARGES * LARGE + 2 * PAIRS };

/* How many clusters find room where each multiprocessor takes `each` blocks. */
static int64_t slots(int64_t multiprocessors, int64_t blocks, int64_t each)
{
    /* A smaller GPU is one GPC. */
    if (blocks <= 2 || multiprocessors < APART)
        return multiprocessors * each / blocks;
    int64_t full = (multiprocessors - APART) / GPC, left = (multiprocessors - APART) % GPC;
    return LARGES * (LARGE * each / blocks) + full * (GPC * each / blocks) + left * each / blocks +
           PAIRS * (2 * each / blocks);
}

int64_t cluster_load(int64_t multiprocessors, int64_t clusters, int64_t blocks, int64_t resident)
{
    int64_t most = slots(multiprocessors, blocks, resident);
    if (most == 0)
        return resident * clusters * blocks;
    int64_t rounds = (clusters - 1) / most, rest = clusters - rounds * most, last = 1;
    while (slots(multiprocessors, blocks, last) < rest)
        last++;
    return rounds * resident + last;
}
