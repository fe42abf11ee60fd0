#include "sim/chip.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"

/* Latencies in clocks; from memory of the papers named, to be checked against them before a figure
 * here is quoted.
 *   sm_75: Jia et al., "Dissecting the NVidia Turing T4 GPU via Microbenchmarking" (2019): L2
 *     188. DRAM: no source known for the T4; L2 plus 250.
 *   sm_80, sm_89, sm_90: Luo et al., "Benchmarking and Dissecting the Nvidia Hopper GPU
 *     Architecture" (arXiv:2402.13499), table of memory latencies of A100, RTX 4090 and H100.
 *   sm_86: no source known; taken from sm_89, whose SM is closest.
 *   sm_100, sm_103, sm_120: no source known; taken from sm_90 and sm_89.
 * L2 to SM: 64 bytes a clock an SM ("NVIDIA A100 Tensor Core GPU Architecture" whitepaper: 5120
 * bytes a clock for the whole L2 of an A100, 2048 for a V100). H100: no figure is published; as
 * A100. T4, GA102, AD102: no source known; 32 bytes a clock for each of the L2's slices, taken as
 * 24, 48 and 96 of them. DRAM efficiency: sm_90 measured: a device-to-device copy of 512 MiB and
 * more runs at 4276 GB/s of 4800 on an H200. The others: no source known; 0.9. Issue: 4 warp
 * schedulers an SM, one instruction a clock each (CUDA C++ Programming Guide, "Compute
 * Capabilities", 7.5 to 12.0). Launch: no source known; 2.2 us, less than the 2.9 us that an empty
 * kernel measures between two events on an H200 (tests/gpu/test_gpu_clock.c), which holds the
 * events too. Block start: no source known; a guess. */
static const struct row {
    const char *arch;
    double dram_efficiency, l2_sm, l2, l2_latency, dram_latency;
} table[] = {
    {"sm_75", 0.90, 64, 768, 188, 438},       {"sm_80", 0.90, 64, 5120, 261.5, 466.3},
    {"sm_86", 0.90, 64, 1536, 273.0, 541.5},  {"sm_89", 0.90, 64, 3072, 273.0, 541.5},
    {"sm_90", 0.89, 64, 5120, 263.0, 478.8},  {"sm_90a", 0.89, 64, 5120, 263.0, 478.8},
    {"sm_100", 0.90, 64, 5120, 263.0, 478.8}, {"sm_103", 0.90, 64, 5120, 263.0, 478.8},
    {"sm_120", 0.90, 64, 3072, 273.0, 541.5},
};

static const size_t table_count = sizeof table / sizeof *table;

const char *sim_chip_name(size_t i)
{
    return i < table_count ? table[i].arch : NULL;
}

at_status sim_chip_find(const char *arch, sim_chip *out, at_error *error)
{
    char known[128] = "";
    for (size_t i = 0; i < table_count; i++) {
        const struct row *r = &table[i];
        if (strcmp(arch, r->arch) != 0) {
            text_add(known, sizeof known, "%s%s", i ? ", " : "", r->arch);
            continue;
        }
        *out = (sim_chip){.dram_efficiency = r->dram_efficiency,
                          .l2_bytes_per_clock_sm = r->l2_sm,
                          .l2_bytes_per_clock = r->l2,
                          .l2_latency = r->l2_latency,
                          .dram_latency = r->dram_latency,
                          .issue_per_clock = 4,
                          .launch_ns = 2200,
                          .block_clocks = 200};
        snprintf(out->arch, sizeof out->arch, "%s", arch);
        return arch_find(arch, &out->limits, error);
    }
    return error_set(error, AT_USAGE, "there is no simulated chip %s; known are: %s", arch, known);
}
