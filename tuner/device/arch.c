#include "device/arch.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "device/field.h"

/* Figures per SM are from the CUDA C++ Programming Guide 13.0, "Compute Capabilities", tables
 * "Technical Specifications per Compute Capability" and "Shared Memory Capacity per Compute
 * Capability". All architectures have warps of 32, 1024 threads per block, 64 Ki registers per SM
 * and 255 registers per thread. From 8.0 on the system reserves 1 KiB of shared memory per block
 * (sections "Shared Memory").
 * The granularity of a warp's registers (256) and of shared memory (256 bytes before 8.0, 128 bytes
 * from 8.0 on) are from the Toolkit's cuda_occupancy.h: cudaOccRegAllocationGranularity and
 * cudaOccSMemAllocationGranularity.
 * Figures per chip (SMs, L2, boost clock, DRAM bandwidth) are those of the product that the comment
 * above each row names. */
enum { WARP = 32, BLOCK_THREADS = 1024, SM_REGISTERS = 65536, THREAD_REGISTERS = 255, UNIT = 256 };

#define KIB ((size_t)1024)
#define MIB ((size_t)1024 * 1024)

#define COMMON                                                                                     \
    .warp_size = WARP, .max_threads_per_block = BLOCK_THREADS, .registers_per_sm = SM_REGISTERS,   \
    .max_registers_per_thread = THREAD_REGISTERS, .register_unit = UNIT

#define TURING                                                                                     \
    COMMON, .max_threads_per_sm = 1024, .max_blocks_per_sm = 16, .shared_per_sm_bytes = 64 * KIB,  \
            .max_shared_per_block_bytes = 64 * KIB, .shared_reserved_bytes = 0,                    \
            .shared_unit_bytes = 256
#define SINCE_AMPERE(threads, blocks, shared_kib)                                                  \
    COMMON, .max_threads_per_sm = (threads), .max_blocks_per_sm = (blocks),                        \
            .shared_per_sm_bytes = (shared_kib)*KIB,                                               \
            .max_shared_per_block_bytes = ((shared_kib)-1) * KIB, .shared_reserved_bytes = KIB,    \
            .shared_unit_bytes = 128

#define CHIP(arch, major_, minor_, sms, l2_mib, khz, bytes_per_s)                                  \
    .name = arch, .major = (major_), .minor = (minor_), .sm_count = (sms),                         \
    .l2_bytes = (l2_mib)*MIB, .clock_khz = (khz), .bandwidth_bytes_per_s = (bytes_per_s)

/* H200 SXM: "NVIDIA H200 Tensor Core GPU" datasheet (4.8 TB/s); SMs, L2 and clock as the driver
 * reports them (132 SMs, 60 MiB, 1980 MHz). */
#define H200(name)                                                                                 \
    {                                                                                              \
        CHIP(name, 9, 0, 132, 60, 1980000, 4.8e12), SINCE_AMPERE(2048, 32, 228)                    \
    }

static const arch_limits table[] = {
    /* Tesla T4: "NVIDIA T4" product brief (320 GB/s, 1590 MHz); "NVIDIA Turing GPU Architecture"
     * whitepaper, appendix on TU104 (40 SMs, 4 MiB of L2). */
    {CHIP("sm_75", 7, 5, 40, 4, 1590000, 320e9), TURING},
    /* A100 SXM4 80GB: "NVIDIA A100" datasheet (2039 GB/s); "NVIDIA A100 Tensor Core GPU
     * Architecture" whitepaper (108 SMs, 40 MiB, 1410 MHz). */
    {CHIP("sm_80", 8, 0, 108, 40, 1410000, 2039e9), SINCE_AMPERE(2048, 32, 164)},
    /* GeForce RTX 3090: "NVIDIA Ampere GA102 GPU Architecture" whitepaper, table of GeForce cards
     * (82 SMs, 6144 KiB, 1695 MHz, 936 GB/s). */
    {CHIP("sm_86", 8, 6, 82, 6, 1695000, 936e9), SINCE_AMPERE(1536, 16, 100)},
    /* Jetson AGX Orin 64GB: "Jetson AGX Orin Series" technical brief (2048 CUDA cores in 16 SMs, 4
     * MiB, 1.3 GHz, 204.8 GB/s). */
    {CHIP("sm_87", 8, 7, 16, 4, 1300000, 204.8e9), SINCE_AMPERE(1536, 16, 164)},
    /* GeForce RTX 4090: "NVIDIA Ada GPU Architecture" whitepaper, table of GeForce cards (128 SMs,
     * 73728 KiB, 2520 MHz, 1008 GB/s). */
    {CHIP("sm_89", 8, 9, 128, 72, 2520000, 1008e9), SINCE_AMPERE(1536, 24, 100)},
    H200("sm_90"),
    H200("sm_90a"),
    /* B200: "NVIDIA DGX B200" datasheet (64 TB/s over 8 GPUs); 148 SMs, 126 MiB and 1965 MHz as
     * measured on the card by chipsandcheese.com, "Nvidia's B200". */
    {CHIP("sm_100", 10, 0, 148, 126, 1965000, 8e12), SINCE_AMPERE(2048, 32, 228)},
    /* B300: "Inside NVIDIA Blackwell Ultra", NVIDIA technical blog (160 SMs in the full chip, 8
     * TB/s). L2 and clock, which are not published, are those of the B200. */
    {CHIP("sm_103", 10, 3, 160, 126, 1965000, 8e12), SINCE_AMPERE(2048, 32, 228)},
    /* GeForce RTX 5090: "NVIDIA RTX Blackwell GPU Architecture" whitepaper, table of GeForce cards
     * (170 SMs, 98304 KiB, 2407 MHz, 1792 GB/s). */
    {CHIP("sm_120", 12, 0, 170, 96, 2407000, 1792e9), SINCE_AMPERE(1536, 24, 100)},
};

static const size_t table_count = sizeof table / sizeof table[0];

const arch_limits *arch_table(size_t *count)
{
    *count = table_count;
    return table;
}

bool arch_is_named(const char *arch, const char *text)
{
    static const char *const prefixes[] = {"sm_", "compute_", "sm", ""};
    const char *digits = arch + strlen(prefixes[0]);
    size_t i = 0, length = strlen(digits) - 1;
    while (strncmp(text, prefixes[i], strlen(prefixes[i])) != 0)
        i++;
    text += strlen(prefixes[i]);
    if (strcmp(text, digits) == 0)
        return true;
    /* In "9.0" and "12.0a" the minor version is one digit, without the letter. */
    length -= isdigit((unsigned char)digits[length]) ? 0 : 1;
    return strncmp(text, digits, length) == 0 && text[length] == '.' &&
           strcmp(text + length + 1, digits + length) == 0;
}

at_status arch_find(const char *name, arch_limits *out, at_error *error)
{
    char known[256] = "";
    size_t used = 0;
    for (size_t i = 0; i < table_count; i++) {
        if (arch_is_named(table[i].name, name)) {
            *out = table[i];
            return AT_OK;
        }
        int n = snprintf(known + used, sizeof known - used, "%s%s", i ? ", " : "", table[i].name);
        used += n > 0 ? (size_t)n : 0;
    }
    return error_set(error, AT_USAGE, "there is no architecture '%s'; known are %s", name, known);
}

at_status arch_of_gpu(const char *gpu, int major, int minor, arch_limits *out, at_error *error)
{
    char arch[32];
    snprintf(arch, sizeof arch, "sm_%d%d", major, minor);
    at_status status = arch_find(arch, out, error);
    if (!status)
        snprintf(out->name, sizeof out->name, "%.63s", gpu);
    return status;
}

static const device_field fields[] = {
    {"bandwidth", DEVICE_FIELD_DOUBLE, offsetof(arch_limits, bandwidth_bytes_per_s)},
    {"clock_khz", DEVICE_FIELD_INT, offsetof(arch_limits, clock_khz)},
    {"global_bytes", DEVICE_FIELD_SIZE, offsetof(arch_limits, global_bytes)},
    {"l2_bytes", DEVICE_FIELD_SIZE, offsetof(arch_limits, l2_bytes)},
    {"major", DEVICE_FIELD_INT, offsetof(arch_limits, major)},
    {"max_blocks_per_sm", DEVICE_FIELD_INT, offsetof(arch_limits, max_blocks_per_sm)},
    {"max_registers_per_thread", DEVICE_FIELD_INT, offsetof(arch_limits, max_registers_per_thread)},
    {"max_shared_per_block", DEVICE_FIELD_SIZE, offsetof(arch_limits, max_shared_per_block_bytes)},
    {"max_threads_per_block", DEVICE_FIELD_INT, offsetof(arch_limits, max_threads_per_block)},
    {"max_threads_per_sm", DEVICE_FIELD_INT, offsetof(arch_limits, max_threads_per_sm)},
    {"minor", DEVICE_FIELD_INT, offsetof(arch_limits, minor)},
    {"name", DEVICE_FIELD_TEXT, offsetof(arch_limits, name)},
    {"registers_per_sm", DEVICE_FIELD_INT, offsetof(arch_limits, registers_per_sm)},
    {"shared_per_sm", DEVICE_FIELD_SIZE, offsetof(arch_limits, shared_per_sm_bytes)},
    {"sm_count", DEVICE_FIELD_INT, offsetof(arch_limits, sm_count)},
    {"warp_size", DEVICE_FIELD_INT, offsetof(arch_limits, warp_size)},
};

_Static_assert(sizeof fields / sizeof *fields <= DEVICE_MOST_FIELDS,
               "DEVICE_MOST_FIELDS is too small");

const device_field *device_fields(size_t *count)
{
    *count = sizeof fields / sizeof *fields;
    return fields;
}

const device_field *device_field_find(const char *name)
{
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        if (strcmp(fields[i].name, name) == 0)
            return &fields[i];
    return NULL;
}

value_kind device_field_value_kind(const device_field *f)
{
    return f->kind == DEVICE_FIELD_TEXT     ? VALUE_STRING
           : f->kind == DEVICE_FIELD_DOUBLE ? VALUE_NUMBER
                                            : VALUE_INTEGER;
}

value device_field_value(const device_field *f, const arch_limits *device)
{
    const void *at = (const char *)device + f->offset;
    value out = {.kind = device_field_value_kind(f)};
    if (f->kind == DEVICE_FIELD_INT)
        out.integer = *(const int *)at;
    else if (f->kind == DEVICE_FIELD_SIZE)
        out.integer = (int64_t) * (const size_t *)at;
    else if (f->kind == DEVICE_FIELD_DOUBLE)
        out.number = *(const double *)at;
    else
        out.string = at;
    return out;
}

/* The rules are those of cudaOccMaxActiveBlocksPerMultiprocessor in the Toolkit's cuda_occupancy.h,
 * for compute capability 7.0 and later and the largest shared-memory carve-out. An SM has four
 * partitions. Each partition has registers for its own warps. */
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
    /* The driver checks a launch as if each partition held an equal share of the block. */
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
    /* The first of equal limits is reported: resources that the author can change come first. */
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

/* The GPCs of an H200 with 132 SMs: one of 8 SMs, five of 16, two of 18, and four pairs of SMs
 * outside of GPCs. These numbers follow from cuOccupancyMaxActiveClusters and from the SMs that a
 * cluster shared. Clusters of two blocks fit anywhere. A GPU with another number of SMs is assumed
 * to have the two GPCs of 18, the four pairs, as many GPCs of 16 as fit, and one smaller GPC. On
 * two other H200s this model predicts matrix products better than seven GPCs of 16 and one of 12
 * do. On a fourth H200, 6 of 170 products took one block more than predicted. No other GPU was
 * measured. */
enum { GPC = 16, LARGE = 18, LARGES = 2, PAIRS = 4, APART = LARGES * LARGE + 2 * PAIRS };

/* Returns how many clusters of `blocks` blocks fit if each SM holds `each` blocks. */
static int64_t slots(int64_t multiprocessors, int64_t blocks, int64_t each)
{
    /* A GPU with fewer SMs than APART is assumed to be one GPC. */
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
