#include "device/arch.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* Per-SM figures: CUDA C++ Programming Guide 13.0, "Compute Capabilities", tables "Technical
 * Specifications per Compute Capability" and "Shared Memory Capacity per Compute Capability".
 * Common to the whole table (the same guide): warps of 32, 1024 threads a block, 64 Ki registers
 * an SM, 255 registers a thread.
 *
 * The register unit (a warp's registers are handed out in multiples of 256) and the shared-memory
 * unit (256 bytes before compute capability 8.0, 128 from there on) are those of the CUDA occupancy
 * calculator, cuda_occupancy.h of the Toolkit: cudaOccRegAllocationGranularity and
 * cudaOccSMemAllocationGranularity. From 8.0 on the system keeps 1 KiB of shared memory a block
 * (the guide, sections "Shared Memory" of 8.x, 9.0, 10.0 and 12.0).
 *
 * Chip figures (SMs, L2, boost clock, DRAM bandwidth) are of one typical product each, named and
 * sourced beside its row. */
enum { WARP = 32, BLOCK_THREADS = 1024, SM_REGISTERS = 65536, THREAD_REGISTERS = 255, UNIT = 256 };

#define KIB ((size_t)1024)
#define MIB ((size_t)1024 * 1024)

#define COMMON                                                                                     \
    .warp_size = WARP, .max_threads_per_block = BLOCK_THREADS, .registers_per_sm = SM_REGISTERS,   \
    .max_registers_per_thread = THREAD_REGISTERS, .register_unit = UNIT

/* Resident threads and blocks of an SM; its shared memory and the most that one block may have. */
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
    /* Jetson AGX Orin 64GB: "Jetson AGX Orin Series" technical brief (2048 CUDA cores in 16 SMs,
     * 4 MiB, 1.3 GHz, 204.8 GB/s). */
    {CHIP("sm_87", 8, 7, 16, 4, 1300000, 204.8e9), SINCE_AMPERE(1536, 16, 164)},
    /* GeForce RTX 4090: "NVIDIA Ada GPU Architecture" whitepaper, table of GeForce cards (128 SMs,
     * 73728 KiB, 2520 MHz, 1008 GB/s). */
    {CHIP("sm_89", 8, 9, 128, 72, 2520000, 1008e9), SINCE_AMPERE(1536, 24, 100)},
    H200("sm_90"),
    H200("sm_90a"),
    /* B200: "NVIDIA DGX B200" datasheet (64 TB/s over 8 GPUs); 148 SMs, 126 MiB and 1965 MHz as
     * measured on the card by chipsandcheese.com, "Nvidia's B200". */
    {CHIP("sm_100", 10, 0, 148, 126, 1965000, 8e12), SINCE_AMPERE(2048, 32, 228)},
    /* B300: "Inside NVIDIA Blackwell Ultra", NVIDIA technical blog (160 SMs in the full chip,
     * 8 TB/s). Not in it, and taken from the B200: L2 and clock. */
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
    /* "9.0", "12.0a": the last digit is the minor one. */
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
