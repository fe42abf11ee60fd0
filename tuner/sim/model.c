#include "sim/model.h"

#include <math.h>

double sim_model_copy_ns(const sim_chip *chip, double bytes, bool warm)
{
    double rate = chip->limits.bandwidth_bytes_per_s * chip->dram_efficiency;
    double clock = chip->limits.clock_khz * 1e3;
    if (warm && 2 * bytes <= (double)chip->limits.l2_bytes)
        rate = chip->l2_bytes_per_clock * clock;
    return chip->launch_ns + 2 * bytes / rate * 1e9;
}

/* The shape of a kernel's DRAM traffic: inputs of the fitted penalty below. */
typedef struct shape {
    double read_run, write_run;   /* log2 of sectors in a run of one block, 1 to 4 */
    double wave_read, wave_write; /* the same of a wave of blocks, 2 to 9 */
    double resident;              /* log2 of resident warps an SM, 4 to 6 */
    double shared;                /* time of shared memory beyond 16 % of DRAM's, scaled */
    double issue;                 /* time of issue, scaled */
    double conflicts;             /* log2 of wavefronts over ideal ones */
    double barriers;              /* a warp, at most 8 */
    double loads;                 /* log2 of global loads a warp */
} shape;

static double within(double v, double least, double most)
{
    return fmin(fmax(v, least), most);
}

/* Sectors in a run, as a logarithm, within what was measured: the fit says nothing beyond. A kernel
 * that never reads (or writes) disturbs no one. */
static double run_of(double sectors, double runs, double least, double most)
{
    return sectors > 0 && runs > 0 ? within(log2(sectors / runs), least, most) : most;
}

static void find_shape(const sim_profile *p, const sim_prediction *out, shape *s)
{
    const sim_totals *t = &p->totals;
    double warps = ceil((double)p->threads / SIM_LANES);
    double wavefronts = (double)(t->shared_load.wavefronts + t->shared_store.wavefronts);
    double ideal = (double)(t->shared_load.ideal + t->shared_store.ideal);
    s->read_run = run_of(p->read.distinct, p->read.runs, 1, 4);
    s->write_run = run_of(p->write.distinct, p->write.runs, 1, 4);
    s->wave_read = run_of(p->wave.read_run, 1, 2, 9);
    s->wave_write = run_of(p->wave.write_run, 1, 2, 9);
    s->resident = within(log2(out->occupancy.blocks_per_sm * warps), 4, 6);
    s->shared = fmax(out->shared_ns / out->dram_ns * 127 - 20, 0) / 40;
    s->issue = out->issue_ns / out->dram_ns * 127 / 30;
    s->conflicts = ideal > 0 ? log2(wavefronts / ideal) : 0;
    s->barriers = fmin(p->barriers, 8);
    s->loads = fmin(log2(fmax(p->loads, 1)), 6);
}

/* Logarithm of how much longer DRAM takes than for a copy of the same bytes. Short runs open more
 * DRAM pages for the same bytes and turn the bus between reading and writing; warps that wait at
 * barriers and for shared memory leave it idle. A least-squares fit to 895 transposes of 8192 x
 * 8192 floats measured on an H200, weighted towards the fast ones; terms chosen by forward
 * selection with four-fold cross-validation (tests/bench/model_rank.c measures how well it
 * orders). */
static double dram_penalty(const sim_profile *p, const shape *s)
{
    double short_read = exp2(-s->read_run), short_write = exp2(-s->write_run);
    double short_waves = exp2(-s->wave_read);
    const double terms[][2] = {
        {0.767665, 1},
        {0.026362, p->hinted[SIM_HINT_STREAMING]},
        {0.023177, p->hinted[SIM_HINT_NO_ALLOCATE]},
        {0.040462, p->hinted[SIM_HINT_WIDE]},
        {-0.971631, short_read * short_write},
        {-0.153902, s->read_run},
        {-0.181795, s->write_run},
        {0.049728, s->read_run * s->write_run},
        {-0.051328, fmin(s->read_run, s->write_run)},
        {-0.001332, fabs(s->wave_read - s->wave_write)},
        {0.135318, short_waves},
        {-0.002913, s->wave_write * s->resident},
        {0.000751, s->wave_read * s->resident},
        {0.004299, s->write_run * s->wave_write},
        {-0.006189, 64 * exp2(-s->resident)},
        {0.000774, s->read_run * s->barriers},
        {0.003977, s->shared * s->shared * s->shared},
        {0.004699, s->shared * s->loads},
        {0.004099, s->issue * s->conflicts},
    };
    double sum = 0;
    for (size_t i = 0; i < sizeof terms / sizeof *terms; i++)
        sum += terms[i][0] * terms[i][1];
    return within(sum, 0, 2.2);
}

/* Finds the time that each resource alone would take. */
static void find_parts(const sim_profile *p, const sim_needs *needs, const sim_chip *chip,
                       sim_prediction *out)
{
    const arch_limits *arch = &chip->limits;
    double clock = arch->clock_khz * 1e3, sms = arch->sm_count, blocks = (double)p->blocks;
    double n = (double)p->sampled, to_ns = 1e9 / clock;
    /* A last wave that is not full takes as long as its fullest SM. */
    double per_sm = ceil(blocks / sms);
    double rate = arch->bandwidth_bytes_per_s * chip->dram_efficiency;
    double resident = fmin(out->occupancy.blocks_per_sm, per_sm);
    out->waves = blocks / (sms * out->occupancy.blocks_per_sm);
    out->dram_bytes = blocks * SIM_SECTOR_BYTES * (p->read.fresh + p->write.fresh);
    if (needs->warm && out->dram_bytes <= (double)arch->l2_bytes)
        rate = chip->l2_bytes_per_clock * clock;
    out->dram_ns = fmax(out->dram_bytes / rate * 1e9, 1);
    double l2_bytes = SIM_SECTOR_BYTES * (p->read.distinct + p->write.sectors);
    out->l2_ns = fmax(per_sm * l2_bytes / chip->l2_bytes_per_clock_sm,
                      blocks * l2_bytes / chip->l2_bytes_per_clock) *
                 to_ns;
    /* A wavefront of the first level carries four sectors. */
    out->l1_ns = per_sm * (p->read.sectors + p->write.sectors) / 4 * to_ns;
    double wavefronts =
        (double)(p->totals.shared_load.wavefronts + p->totals.shared_store.wavefronts +
                 p->totals.shared_atomic.wavefronts) /
        n;
    out->shared_ns = per_sm * wavefronts * to_ns;
    out->constant_ns = per_sm * (double)p->totals.constant.constant_passes / n * to_ns;
    /* One a clock on a common address (NVIDIA's whitepaper of Kepler GK110). */
    out->atomic_ns = p->hottest * to_ns;
    out->issue_ns = per_sm * p->issued / chip->issue_per_clock * to_ns;
    /* A block passes a round trip to DRAM for each phase between barriers that loads, and one to
     * write; resident blocks overlap. */
    double phases = fmax(1, fmin(p->barriers, p->loads));
    double block_clocks = phases * chip->dram_latency + chip->l2_latency + chip->block_clocks;
    out->latency_ns = ceil(per_sm / resident) * block_clocks * to_ns;
    out->flight_bytes = resident * SIM_SECTOR_BYTES * p->read.distinct / phases;
    out->needed_bytes = rate / sms * chip->dram_latency / clock;
}

static void name_limit(sim_prediction *out)
{
    const struct {
        const char *name;
        double time_ns;
    } parts[] = {{"DRAM", out->dram_ns},
                 {"L2", out->l2_ns},
                 {"L1", out->l1_ns},
                 {"shared memory", out->shared_ns},
                 {"constant memory", out->constant_ns},
                 {"atomics on one address", out->atomic_ns},
                 {"issuing instructions", out->issue_ns},
                 {"latency", out->latency_ns}};
    double longest = 0;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (parts[i].time_ns > longest) {
            longest = parts[i].time_ns;
            out->limit = parts[i].name;
        }
    }
}

void sim_model_predict(const sim_profile *p, const sim_needs *needs, const sim_chip *chip,
                       sim_prediction *out)
{
    *out = (sim_prediction){.limit = "nothing"};
    out->occupancy = occupancy_compute(&chip->limits, (int)p->threads, (int)needs->registers,
                                       needs->shared_bytes);
    if (out->occupancy.limit == OCCUPANCY_IMPOSSIBLE || out->occupancy.blocks_per_sm < 1 ||
        p->sampled == 0)
        return;
    shape s;
    find_parts(p, needs, chip, out);
    find_shape(p, out, &s);
    name_limit(out);
    double dram_ns = out->dram_ns * exp(dram_penalty(p, &s));
    double on_chip_ns =
        fmax(fmax(out->l1_ns, out->shared_ns), fmax(out->constant_ns, out->issue_ns));
    out->time_ns = chip->launch_ns + fmax(fmax(fmax(dram_ns, out->l2_ns), out->atomic_ns),
                                          fmax(on_chip_ns, out->latency_ns));
}
