#include "sim_model.h"

#include <math.h>

static double larger(double a, double b)
{
    return a > b ? a : b;
}

double sim_model_copy_ns(const sim_chip *chip, double bytes, bool warm)
{
    double rate = chip->limits.bandwidth_bytes_per_s * chip->dram_efficiency;
    double clock = chip->limits.clock_khz * 1e3;
    if (warm && 2 * bytes <= (double)chip->limits.l2_bytes)
        rate = chip->l2_bytes_per_clock * clock;
    return chip->launch_ns + 2 * bytes / rate * 1e9;
}

void sim_model_predict(const sim_profile *p, const sim_needs *needs, const sim_chip *chip,
                       sim_prediction *out)
{
    *out = (sim_prediction){.limit = "nothing"};
    const arch_limits *arch = &chip->limits;
    out->occupancy = occupancy_compute(arch, (int)p->threads, (int)needs->registers,
                                       needs->shared_bytes);
    if (out->occupancy.limit == OCCUPANCY_IMPOSSIBLE || out->occupancy.blocks_per_sm < 1)
        return;
    double clock = arch->clock_khz * 1e3, sms = arch->sm_count, blocks = (double)p->blocks;
    out->waves = blocks / (sms * out->occupancy.blocks_per_sm);
    double per_sm = blocks / sms; /* blocks that an SM runs */
    double n = (double)p->sampled;
    double to_ns = 1e9 / clock;
    double rate = arch->bandwidth_bytes_per_s * chip->dram_efficiency;
    out->dram_bytes = blocks * SIM_SECTOR_BYTES * (p->read.fresh + p->write.fresh);
    out->dram_ns = out->dram_bytes / rate * 1e9;
    double l2_bytes = SIM_SECTOR_BYTES * (p->read.distinct + p->write.sectors);
    out->l2_ns = larger(per_sm * l2_bytes / chip->l2_bytes_per_clock_sm,
                        blocks * l2_bytes / chip->l2_bytes_per_clock) * to_ns;
    out->l1_ns = per_sm * (p->read.sectors + p->write.sectors) / 4 * to_ns;
    double wavefronts = (double)(p->totals.shared_load.wavefronts + p->totals.shared_store.wavefronts +
                                 p->totals.shared_atomic.wavefronts) / n;
    out->shared_ns = per_sm * wavefronts * to_ns;
    out->issue_ns = per_sm * p->issued / chip->issue_per_clock * to_ns;
    double resident = out->occupancy.blocks_per_sm < per_sm ? out->occupancy.blocks_per_sm : per_sm;
    out->flight_bytes = resident * SIM_SECTOR_BYTES * p->read.distinct / larger(p->barriers / 2, 1);
    out->needed_bytes = rate / sms * chip->dram_latency / clock;
    out->latency_ns = per_sm / resident * 2 * chip->dram_latency * to_ns;
    out->time_ns = chip->launch_ns + larger(larger(out->dram_ns, out->l2_ns),
                                            larger(larger(out->l1_ns, out->shared_ns),
                                                   larger(out->issue_ns, out->latency_ns)));
}
