#include "sim/chip.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"

/* One row per product. `gpu` is part of the name that the driver gives it. SMs, L2, boost clock and
 * bandwidth are those of device/arch.c where the row has 0. Sources:
 *   H100 SXM5 80GB: "NVIDIA H100 Tensor Core GPU" datasheet (3.35 TB/s); SMs, L2 and clock as the
 *     driver reports them.
 *   A100 40GB: "NVIDIA A100 Tensor Core GPU" datasheet (1555 GB/s).
 *
 * Latencies of L2 and of idle DRAM, in clocks:
 *   sm_75: Jia et al., "Dissecting the NVidia Turing T4 GPU via Microbenchmarking" (2019): L2 188.
 *     No source is known for the DRAM of the T4: L2 plus 250.
 *   sm_80, sm_89, sm_90: Luo et al., "Benchmarking and Dissecting the Nvidia Hopper GPU
 *     Architecture" (arXiv:2402.13499), table of memory latencies of A100, RTX 4090 and H100.
 *   sm_86: no source is known; the figures of sm_89, whose SM is closest.
 *   sm_100, sm_103, sm_120: no source is known; the figures of sm_90 and sm_89.
 *
 * Pieces of DRAM: runs of 32, 64, 128 and 256 bytes at random addresses are read with 0.33, 0.65,
 * 0.91 and 0.96 of the bandwidth of long runs on an H100, and written with 0.26, 0.50, 0.88 and
 * 0.95; on an H200 with 0.29, 0.57, 0.92, 0.97 and 0.23, 0.44, 0.80, 0.98 (microbenchmarks.cu
 * "runs"). Copies by loads with a read-once hint take 1.013 and 1.027 times as long
 * (microbenchmarks.cu "hint"). For each doubling of the bytes in flight, reads take 0.5 % (H100)
 * and 0.2 % (H200) longer ("oneshot"), copies 1 % (H100, "oneshot") and 2.4 % (H200, mechanisms.cu
 * "stores"). Reads by loads with .L2::256B take 1.075 times as long on an H200 (mechanisms.cu
 * "stores"); the H100 gets half of that, like its other hints, but is not measured. No source is
 * known for other chips: pieces and crowding of the H100, hints without cost.
 *
 * Bytes per clock of the whole L2: the whitepaper of the A100 says 5120, of which kernels reach
 * 0.8, as on the H200. H100 and H200 are measured (results, "l2": 7279 and 8169 bytes per ns; "l2
 * sectors": 7315 and 8448). No source is known for T4, GA102 and AD102: 32 bytes per clock for each
 * slice of the L2, taken as 24, 48 and 96 slices. Other chips: as the H200. */
static const struct row {
    const char *name, *gpu, *arch;
    int l2_mib;
    double bytes_per_s;
    double l2, l2_latency, dram_latency;
    double read_piece, write_piece;
    double read_crowding, copy_crowding, once_cost, wide_cost;
} table[] = {
    {"t4", "T4", "sm_75", 0, 0, 768, 188, 438, 96, 122, 0.005, 0.01, 0, 0},
    {"a100", "A100-SXM4-80GB", "sm_80", 0, 0, 4096, 261.5, 466.3, 96, 122, 0.005, 0.01, 0, 0},
    {"a100-40gb", "A100", "sm_80", 0, 1555e9, 4096, 261.5, 466.3, 96, 122, 0.005, 0.01, 0, 0},
    {"rtx3090", "RTX 3090", "sm_86", 0, 0, 1536, 273, 541.5, 96, 122, 0.005, 0.01, 0, 0},
    {"rtx4090", "RTX 4090", "sm_89", 0, 0, 3072, 273, 541.5, 96, 122, 0.005, 0.01, 0, 0},
    {"h200", "H200", "sm_90", 0, 0, 4178, 263, 478.8, 110, 140, 0.002, 0.024, 0.027, 0.075},
    {"h100", "H100", "sm_90", 50, 3.35e12, 3676, 263, 478.8, 96, 122, 0.005, 0.01, 0.013, 0.0375},
    {"h200", "-", "sm_90a", 0, 0, 4178, 263, 478.8, 110, 140, 0.002, 0.024, 0.027, 0.075},
    {"b200", "B200", "sm_100", 0, 0, 4178, 263, 478.8, 96, 122, 0.005, 0.01, 0, 0},
    {"b300", "B300", "sm_103", 0, 0, 4178, 263, 478.8, 96, 122, 0.005, 0.01, 0, 0},
    {"rtx5090", "RTX 5090", "sm_120", 0, 0, 3072, 273, 541.5, 96, 122, 0.005, 0.01, 0, 0},
};
static const size_t table_count = sizeof table / sizeof *table;

/* Bytes per ns of kernels that only read, write or copy (results, device.json), and sectors with
 * atomics per clock of the whole L2 (results, "atomics", spread: 102 and 87 per ns). */
static const struct {
    const char *name;
    double read, write, copy, atomic_sectors;
} measured_rates[] = {{"h200", 4622, 4662, 4262, 52}, {"h100", 3184, 3294, 3061, 44}};

/* Average shares of the datasheet's bandwidth, also used for chips without a known source. */
static const double read_share = 0.957, write_share = 0.977, copy_share = 0.901;

/* Bandwidth of L2 writes over that of reads: an H100 reads 226 sectors per ns, and writes 98 (in
 * part) to 140 (whole). */
static const double written_share = 0.62;

/* Latency of DRAM under load over that of idle DRAM, fitted to the speed of reads by their bytes in
 * flight (sim/model.c, flight_norm) on an H200 and an H100, and used for other chips. */
static const double loaded = 1.78;

/* Measured on an H200 by tests/bench/microbenchmarks.cu, and used for other chips: an H100 differs
 * by less than 4 %. Clocks between the starts of two blocks (0.604 ns); between two atomics on one
 * address (floats 1.765 ns, integers 0.88 ns once a warp has added up its own) or on two sectors of
 * a line (0.65 ns, doubles 1.19 ns). */
static const double block_every = 1.2, float_atomic = 3.5, integer_atomic = 1.74,
                    atomic_sector = 1.28, double_sector = 2.35;

const char *sim_chip_name(size_t i)
{
    if (i >= table_count)
        return NULL;
    const bool is_typical = i == 0 || strcmp(table[i].arch, table[i - 1].arch) != 0;
    return is_typical ? table[i].arch : table[i].name;
}

static void fill(const struct row *r, sim_chip *out)
{
    arch_limits *l = &out->limits;
    if (r->l2_mib > 0)
        l->l2_bytes = (size_t)r->l2_mib << 20;
    if (r->bytes_per_s > 0)
        l->bandwidth_bytes_per_s = r->bytes_per_s;
    const double rate = l->bandwidth_bytes_per_s * 1e-9, clock = l->clock_khz * 1e-6;
    snprintf(out->name, sizeof out->name, "%s", sim_chip_name((size_t)(r - table)));
    snprintf(out->arch, sizeof out->arch, "%s", r->arch);
    snprintf(out->product, sizeof out->product, "%s", r->name);
    out->read_bytes_per_ns = rate * read_share;
    out->write_bytes_per_ns = rate * write_share;
    out->copy_bytes_per_ns = rate * copy_share;
    out->atomic_sectors_per_ns = measured_rates[0].atomic_sectors * clock;
    for (size_t i = 0; i < sizeof measured_rates / sizeof *measured_rates; i++)
        if (strcmp(measured_rates[i].name, r->name) == 0) {
            out->read_bytes_per_ns = measured_rates[i].read;
            out->write_bytes_per_ns = measured_rates[i].write;
            out->copy_bytes_per_ns = measured_rates[i].copy;
            out->atomic_sectors_per_ns = measured_rates[i].atomic_sectors * clock;
            out->measured = true;
        }
    out->l2_bytes_per_ns = r->l2 * clock;
    out->l2_written_per_ns = r->l2 * clock * written_share;
    /* "NVIDIA A100 Tensor Core GPU Architecture" whitepaper: 64 bytes per clock and SM. */
    out->l2_bytes_per_clock_sm = 64;
    /* CUDA C++ Programming Guide, "Shared Memory" of 8.0 and 9.0: at most 164 of 192 KiB and 228 of
     * 256 KiB are shared memory. Used for other chips. */
    out->l1_least_bytes = 28 * 1024;
    out->l1_wavefronts = 1;
    out->l2_clocks = r->l2_latency;
    out->dram_clocks = r->dram_latency * loaded;
    /* 4 warp schedulers per SM with one instruction per clock: CUDA C++ Programming Guide, "Compute
     * Capabilities", 7.5 to 12.0. Kernels that only multiply and add reach 0.95 of that on H100 and
     * H200 (results, "fp32"); used for other chips. */
    out->issue_per_clock = 4 * 0.95;
    /* Measured on an H200: an empty kernel between two events. No source for other chips. */
    out->launch_ns = 2900;
    out->block_ns = block_every / clock;
    out->read_piece_bytes = r->read_piece;
    out->write_piece_bytes = r->write_piece;
    out->read_crowding = r->read_crowding;
    out->copy_crowding = r->copy_crowding;
    out->once_cost = r->once_cost;
    out->wide_cost = r->wide_cost;
    out->double_atomic_ns = float_atomic / clock;
    out->atomic_sector_ns = atomic_sector / clock;
    out->double_sector_ns = double_sector / clock;
    out->float_atomic_ns = float_atomic / clock;
    out->integer_atomic_ns = integer_atomic / clock;
}

static at_status find(const char *name, bool (*is)(const struct row *r, const char *name),
                      sim_chip *out, bool *found, at_error *error)
{
    for (size_t i = 0; i < table_count; i++) {
        if (!is(&table[i], name))
            continue;
        *found = true;
        at_status status = arch_find(table[i].arch, &out->limits, error);
        fill(&table[i], out);
        return status;
    }
    *found = false;
    return AT_OK;
}

static bool is_named(const struct row *r, const char *name)
{
    return strcmp(r->name, name) == 0 || arch_is_named(r->arch, name);
}

static bool is_in_name(const struct row *r, const char *gpu)
{
    return strstr(gpu, r->gpu) != NULL;
}

static size_t first_with_same_name(size_t row)
{
    size_t i = 0;
    while (strcmp(table[i].name, table[row].name) != 0)
        i++;
    return i;
}

/* Appends a chip and its architectures to a text: "h200 (sm_90, sm_90a)". */
static void add_chip(char *text, size_t size_bytes, size_t first)
{
    text_add(text, size_bytes, "%s%s (%s", *text ? ", " : "", table[first].name, table[first].arch);
    for (size_t i = first + 1; i < table_count; i++)
        if (first_with_same_name(i) == first)
            text_add(text, size_bytes, ", %s", table[i].arch);
    text_add(text, size_bytes, ")");
}

at_status sim_chip_find(const char *name, sim_chip *out, at_error *error)
{
    char known[256] = "";
    bool found;
    *out = (sim_chip){0};
    at_status status = find(name, is_named, out, &found, error);
    if (!found)
        status = find(name, is_in_name, out, &found, error);
    if (found)
        return status;
    for (size_t i = 0; i < table_count; i++)
        if (first_with_same_name(i) == i)
            add_chip(known, sizeof known, i);
    return error_set(error, AT_USAGE, "there is no simulated chip '%s'; known are: %s", name,
                     known);
}

at_status sim_chip_of_device(const char *spec, sim_chip *out, at_error *error)
{
    const bool is_simulated = strncmp(spec, "sim:", 4) == 0;
    if (is_simulated || strcmp(spec, "sim") == 0)
        return sim_chip_find(is_simulated ? spec + 4 : "sm_90", out, error);
    const bool is_chip = sim_chip_find(spec, out, NULL) == AT_OK;
    return error_set(error, AT_USAGE,
                     "there is no simulated device '%s'; %s%s%s'autotune devices' lists them", spec,
                     is_chip ? "did you mean sim:" : "", is_chip ? spec : "", is_chip ? "? " : "");
}

at_status sim_chip_of_gpu(const char *gpu, const arch_limits *limits, const char *arch,
                          sim_chip *out, at_error *error)
{
    bool found;
    *out = (sim_chip){0};
    at_status status = find(gpu, is_in_name, out, &found, error);
    if (!found)
        status = sim_chip_find(arch, out, error);
    if (!status && limits->sm_count > 0)
        out->limits.sm_count = limits->sm_count;
    return status;
}

/* Latency of DRAM under load over the ceiling "round_trips" (idle): 852 clocks, as above, over 355
 * ns (H100) and 356 ns (H200) at 1.98 GHz (results, "round_trips"). */
static const double loaded_round_trip = 1.21;

void sim_chip_measured(sim_chip *chip, const double rates[CEILING_KINDS])
{
    const double clock = chip->limits.clock_khz * 1e-6;
    double own[CEILING_KINDS];
    memcpy(own, rates, sizeof own);
    const struct {
        ceiling_kind kind;
        double *figure, factor; /* figure = factor * rate; */
        double over;            /* otherwise figure = over / rate */
    } measured[] = {
        {CEILING_READ, &chip->read_bytes_per_ns, 1, 0},
        {CEILING_WRITE, &chip->write_bytes_per_ns, 1, 0},
        {CEILING_COPY, &chip->copy_bytes_per_ns, 1, 0},
        {CEILING_L2, &chip->l2_bytes_per_ns, 1, 0},
        {CEILING_L2, &chip->l2_written_per_ns, written_share, 0},
        {CEILING_L1, &chip->l1_wavefronts, 1 / (128 * chip->limits.sm_count * clock), 0},
        {CEILING_BLOCKS, &chip->block_ns, 0, 1},
        {CEILING_ROUND_TRIPS, &chip->dram_clocks, 0, clock * loaded_round_trip},
        {CEILING_PIECES_READ, &chip->read_piece_bytes, 0, 32 * own[CEILING_READ]},
        {CEILING_PIECES_WRITTEN, &chip->write_piece_bytes, 0, 32 * own[CEILING_WRITE]},
        /* A warp adds up its own integers before it accesses memory. */
        {CEILING_ONE_WORD, &chip->integer_atomic_ns, 0, 32},
        {CEILING_ONE_FLOAT, &chip->float_atomic_ns, 0, 1},
        {CEILING_ONE_DOUBLE, &chip->double_atomic_ns, 0, 1},
    };
    for (size_t i = 0; i < sizeof measured / sizeof *measured; i++) {
        const double rate = own[measured[i].kind];
        if (rate <= 0 || (measured[i].factor <= 0 && measured[i].over <= 0))
            continue;
        *measured[i].figure =
            measured[i].factor > 0 ? measured[i].factor * rate : measured[i].over / rate;
        chip->measured = true;
    }
}
