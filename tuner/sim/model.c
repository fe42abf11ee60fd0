#include "sim/model.h"

#include <math.h>

/* Exponent of the norm that combines latency and bandwidth. Reads of 256 MiB with 4 KiB in flight
 * to an SM show the latency, reads with much more the bandwidth; 8, 16 and 32 KiB lie between, as
 * by an exponent of 2.2 to 2.6, on an H100 and an H200 (microbenchmarks.cu "flight"). */
static const double flight_norm = 2.5;

/* L1 and shared memory share 192 or 256 KiB of an SM: CUDA C++ Programming Guide, "Shared Memory"
 * of 8.0 and 9.0. The system reserves 1 KiB per block. */
enum { RESERVED_BYTES = 1024 };

enum {
    SCHEDULERS = 4
}; /* schedulers of an SM: CUDA C++ Programming Guide, "Compute Capabilities", from 7.5 on */

/* Registers of a thread for addresses, counters and sums. A pending load occupies a register from
 * its issue on. No source is known for the numbers. */
enum { OTHER_REGISTERS = 10, FEWEST_FREE = 8, UNKNOWN_REGISTERS = 64 };

/* Latencies that all chips share. Shared memory and L1: Luo et al., "Benchmarking and Dissecting
 * the Nvidia Hopper GPU Architecture" (arXiv:2402.13499). Arithmetic: Jia et al., "Dissecting the
 * NVIDIA Volta GPU Architecture via Microbenchmarking" (2018): 4 clocks, doubles 8, special
 * functions and shuffles about 20. Barriers: measured (microbenchmarks.cu "barrier"). Atomics and
 * fences: measured on an H200 (mechanisms.cu "base"). */
static const sim_latencies same_latencies = {.compute = 4,
                                             .wide = 8,
                                             .special = 20,
                                             .shuffle = 22,
                                             .constant = 8,
                                             .shared = 29,
                                             .barrier = 16,
                                             .atomic = 496,
                                             .fence = 578,
                                             .levels = {[SIM_LEVEL_L1] = 33}};

static double norm(double p, double a, double b)
{
    const double most = fmax(a, b);
    return most > 0 ? most * pow(pow(a / most, p) + pow(b / most, p), 1 / p) : 0;
}

/* Returns the time in which DRAM reads and writes so many bytes. The bus turns around where it does
 * both. `more_mixed` and `more_read` are relative extra times of a copy and of reads alone. */
static double mixed_ns(const sim_chip *chip, double read, double written, double more_mixed,
                       double more_read)
{
    const double both = fmin(read, written);
    const double turn =
        2 / chip->copy_bytes_per_ns - 1 / chip->read_bytes_per_ns - 1 / chip->write_bytes_per_ns;
    return read / chip->read_bytes_per_ns + written / chip->write_bytes_per_ns +
           both * (fmax(turn, 0) + more_mixed * 2 / chip->copy_bytes_per_ns) +
           (read - both) * more_read / chip->read_bytes_per_ns;
}

double sim_model_copy_ns(const sim_chip *chip, double bytes, bool warm)
{
    const bool held = warm && 2 * bytes <= (double)chip->limits.l2_bytes;
    return chip->launch_ns +
           (held ? 2 * bytes / chip->l2_bytes_per_ns : mixed_ns(chip, bytes, bytes, 0, 0));
}

static double clock_of(const sim_chip *chip) /* in GHz, which is clocks per ns */
{
    return chip->limits.clock_khz * 1e-6;
}

static occupancy occupancy_of(const sim_needs *needs, uint64_t threads, const sim_chip *chip)
{
    return occupancy_compute(&chip->limits, (int)threads, (int)needs->registers,
                             needs->shared_bytes);
}

static double l1_bytes(const sim_chip *chip, const sim_needs *needs, double resident)
{
    const double all = (double)chip->limits.shared_per_sm_bytes + chip->l1_least_bytes;
    const double shared = resident * ((double)needs->shared_bytes + RESERVED_BYTES);
    return fmax(all - shared, chip->l1_least_bytes);
}

occupancy sim_model_sampling(const sim_needs *needs, uint64_t threads, const sim_chip *chip,
                             sim_sampling *out)
{
    const occupancy o = occupancy_of(needs, threads, chip);
    const double resident = fmax(o.blocks_per_sm, 1);
    const int registers = needs->registers ? (int)needs->registers : UNKNOWN_REGISTERS;
    const int room = registers - OTHER_REGISTERS;
    *out = (sim_sampling){.wave = (uint64_t)o.blocks_per_sm * (uint64_t)chip->limits.sm_count,
                          .l1_bytes = (uint64_t)(l1_bytes(chip, needs, resident) / resident),
                          .l2_bytes = (uint64_t)chip->limits.l2_bytes / 2,
                          .window = (uint32_t)(room > FEWEST_FREE ? room : FEWEST_FREE),
                          .latencies = same_latencies};
    out->latencies.levels[SIM_LEVEL_L2] = (uint32_t)chip->l2_clocks;
    out->latencies.levels[SIM_LEVEL_DRAM] = (uint32_t)chip->dram_clocks;
    return o;
}

/* Blocks of a wave may run side by side, so that their runs partly count as one: as runs that are
 * longer by the number of blocks side by side, up to four, with this exponent. Runs of 32 and 64
 * bytes beside others are read 1.25 and 1.07 times as fast, as runs of 1.25 and 1.07 times the
 * length, and written as those of 1.7 times the length (mechanisms.cu "beside runs", on an H200).
 */
static const double together_read = 0.1, together_written = 0.38;

/* Returns how much longer DRAM takes for runs of adjacent bytes than for long runs: it transfers
 * whole pieces (microbenchmarks.cu "runs"). The runs of all blocks of a wave have `wave_sectors` on
 * average. */
static double short_runs(double bytes, double runs, double wave_sectors, double piece,
                         double together)
{
    static const double sharpness = 4, most = 4;
    if (bytes <= 0 || runs <= 0)
        return 1;
    const double own = bytes / runs, beside = fmax(wave_sectors * SIM_SECTOR_BYTES / own, 1);
    const double run = own * pow(fmin(beside, most), together);
    return pow(1 + pow(piece / run, sharpness), 1 / sharpness);
}

/* Returns the accesses to local memory, in sectors per block: those of the machine code if it is
 * known, as wide as in the PTX, else those of the PTX and of spilled registers. A spill runs as
 * often as an average instruction. */
static double local_sectors(const sim_profile *p, const sim_needs *needs)
{
    const double own = (double)p->totals.local.sectors / (double)p->sampled;
    if (p->issue.locals >= 0)
        return fmax(p->issue.locals * SIM_LANES * 4 / SIM_SECTOR_BYTES, own);
    const double warps = ceil((double)p->threads / SIM_LANES);
    return own + needs->spill_bytes / 4.0 * 4 * p->trips * warps;
}

static double missing_share(double bytes, double capacity)
{
    return bytes > capacity ? 1 - capacity / bytes : 0;
}

typedef struct flow { /* where the accesses are served: bytes per launch, or sectors per block */
    double read, written;
    double read_long; /* bytes in long runs that would take as long to read */
    double l1_wavefronts, l2_read, l2_written; /* wavefronts of the L1; sectors of the L2 */
    double l2_parts;                        /* written sectors that a store covers only in part */
    double l2_read_lines, l2_written_lines; /* lines of 128 bytes of the L2 */
    double wide;                            /* share of loads with .L2::256B */
} flow;

/* Share of the L2 that holds distinct data: data that SMs of both its halves read is in both
 * ("NVIDIA A100 Tensor Core GPU Architecture" whitepaper). Random reads of 64 MiB find 0.44 of the
 * L2's size there (H100). */
static const double held_share = 0.45;

/* How far the L2 serves data that blocks share. */
typedef struct sharing {
    bool stays; /* the data of a wave stay in the L2 until the next wave */
    double fit; /* share that the L2 holds of the data that a wave reads at about the same time */
} sharing;

/* Returns the share of the sectors fresh to a run of blocks that come from DRAM: no other block of
 * the wave has read them, nor a block of the previous wave if the L2 keeps its data. */
static double wave_share(double distinct, double fresh, double first, double later,
                         const sharing *s)
{
    if (first <= 0 || fresh <= 0)
        return 1;
    const double shared = (1 - (s->stays ? later : first)) * s->fit;
    return fmin(distinct * (1 - shared) / fresh, 1);
}

/* Returns the piece of DRAM for loads, of which a share has .L2::256B. A sector of such a load that
 * the L2 does not hold takes 1.31 (H200) and 1.51 (H100) times as long as another, which is the
 * time of a run of 128 bytes (microbenchmarks.cu "gather", 512 MiB, and "runs"). */
static double read_piece(double wide, const sim_chip *chip)
{
    static const double wide_bytes = 128;
    return (1 - wide) * chip->read_piece_bytes + wide * fmax(chip->read_piece_bytes, wide_bytes);
}

/* Returns the bytes of a buffer that the L2 holds, if a share of its loads has a read-once hint
 * (.cs, L1::no_allocate). The L2 keeps other data rather than data of such loads: beside a stream,
 * it has 0.69, 0.54, 0.39 and 0.27 of the sectors of random reads of 4, 16, 32 and 64 MiB
 * (mechanisms.cu "beside", on an H200 with 60 MiB): a share that falls with the cube root.
 * Streams with such loads take nothing from other buffers there. */
static double held_bytes(double bytes, double once, double l2_held)
{
    static const double first_share = 0.06; /* of l2_held, of which all sectors are held */
    const double least = first_share * l2_held;
    return (1 - once) * l2_held + once * (bytes > least ? bytes * cbrt(least / bytes) : l2_held);
}

/* Returns the bytes of a buffer that the sampled accesses of a wave had read before, on average
 * over these accesses: half of what they read, and all that the wave before read if it stays. */
static double sampled_bytes(const sim_profile *p, const sim_buffer_reads *b, const sharing *s)
{
    const double all = p->wave.bytes / ceil((double)p->threads / SIM_LANES);
    const double fresh = fmax(p->read.distinct * p->wave.first_fresh, 1);
    return all * b->distinct * b->first_fresh / fresh * (s->stays ? 1.5 : 0.5);
}

/* Adds the reads from DRAM. If more bytes of a buffer are read than it has, the L2 serves the
 * repeated reads as far as it holds the buffer. Reads that find a sector of the same wave in the
 * L2 are served already: the others find the rest of what the L2 holds in the rest of the buffer.
 * So random reads miss equally often in blocks of any shape. */
static void add_reads(const sim_profile *p, const sim_chip *chip, const sharing *with,
                      double l2_held, flow *f)
{
    const double launch = (double)p->blocks * SIM_SECTOR_BYTES;
    double known = 0;
    for (int i = 0; i < SIM_PROFILE_BUFFERS && p->buffers[i].bytes > 0; i++) {
        const sim_buffer_reads *b = &p->buffers[i];
        const double share =
            wave_share(b->distinct, b->fresh, b->first_fresh, b->later_fresh, with);
        const double bytes = launch * b->fresh * share, again = fmax(bytes - b->bytes, 0);
        const double held = held_bytes(b->bytes, b->once, l2_held);
        const double served = fmin(sampled_bytes(p, b, with), fmin(held, b->bytes));
        const double read = bytes - again + again * missing_share(b->bytes - served, held - served);
        known += b->fresh;
        f->read += read;
        f->read_long += read * short_runs(SIM_SECTOR_BYTES * b->distinct, b->runs, p->wave.read_run,
                                          read_piece(b->wide, chip), together_read);
    }
    const double rest =
        launch * fmax(p->read.fresh - known, 0) *
        wave_share(p->read.distinct, p->read.fresh, p->wave.first_fresh, p->wave.later_fresh, with);
    f->read += rest;
    f->read_long += rest * short_runs(SIM_SECTOR_BYTES * p->read.distinct, p->read.runs,
                                      p->wave.read_run, read_piece(f->wide, chip), together_read);
}

/* Returns the bytes that blocks read again after the L2 has evicted them. The L2 evicts the least
 * recently used data, and all of it if more is accessed meanwhile than it holds. The loss begins at
 * the share of the L2 that holds data of all SMs, and is complete at twice that share. */
static double read_again(const sim_profile *p, double wave_blocks, double l2_held)
{
    const double written = p->read.missed > 0 ? p->write.distinct / p->read.missed : 0;
    const double own = p->wave.first_fresh > 0 ? p->wave.first_fresh : 1;
    const double meanwhile = SIM_SECTOR_BYTES * p->read.between * (own + written);
    const double most = fmin(wave_blocks, (double)p->blocks) * meanwhile;
    return (double)p->blocks * SIM_SECTOR_BYTES * p->read.again *
           fmin(fmax(most / l2_held - 1, 0), 1);
}

static flow find_flow(const sim_profile *p, const sim_needs *needs, const sim_chip *chip,
                      double resident)
{
    const double blocks = (double)p->blocks, sms = chip->limits.sm_count;
    const double l2_bytes = (double)chip->limits.l2_bytes, l2_held = l2_bytes * held_share;
    const double local = local_sectors(p, needs);
    const double held = resident * (double)p->threads * needs->local_bytes;
    const double local_missed = local * missing_share(held, l1_bytes(chip, needs, resident));
    const sharing with = {
        .stays =
            resident * sms * SIM_SECTOR_BYTES * p->read.distinct * p->wave.first_fresh < l2_held,
        .fit = 1 - missing_share(p->wave.bytes, l2_held)};
    flow f = {.written = blocks * SIM_SECTOR_BYTES * p->write.fresh,
              .wide = p->hinted[SIM_HINT_WIDE] + p->hinted[SIM_HINT_WIDE_NO_ALLOCATE]};
    add_reads(p, chip, &with, l2_held, &f);
    /* The L2 serves the local memory that the block's share of the L1 does not hold. */
    const double local_dram =
        blocks * SIM_SECTOR_BYTES * local_missed * missing_share(held * sms, l2_bytes);
    const double again = read_again(p, resident * sms, l2_held);
    if (needs->warm && f.read + f.written <= l2_bytes)
        f.read = f.read_long = f.written = 0;
    /* Sectors that are written only in part are read first. */
    const double more = (f.written > 0 ? blocks * SIM_SECTOR_BYTES * p->write.torn : 0) +
                        local_dram / 2 + (f.read > 0 ? again : 0);
    f.read += more;
    f.read_long += more * short_runs(SIM_SECTOR_BYTES * p->read.distinct, p->read.runs,
                                     p->wave.read_run, read_piece(f.wide, chip), together_read);
    f.written += local_dram / 2;
    f.l1_wavefronts = p->read.passes + p->write.passes + local / 4;
    f.l2_read = p->read.missed + local_missed / 2;
    /* Each sector of local stores reaches the L2 (Nsight Compute, microbenchmarks.cu "local"). */
    f.l2_written = p->write.sent + local / 2;
    f.l2_parts = p->write.parts;
    f.l2_read_lines = p->read.moved + local_missed / 8;
    f.l2_written_lines = p->write.moved + local_missed / 8;
    return f;
}

/* Returns the time of the L2 for the sectors of a block. A line costs as much for one read sector
 * as for two. A written line costs something besides its sectors, and sectors written in part cost
 * more. (microbenchmarks.cu "l2 sectors", by words between lanes: 1.92 and 1.72 sectors per ns on
 * an H100, 1.89 and 1.77 on an H200; lines of .L2::256B loads 1.12 times as long, mechanisms.cu
 * "beside". "fields", 512 MiB: within 5 % of an H100's time for structs of
 * 6, 8 and 16 words.) */
static double l2_ns(const sim_chip *chip, const flow *f)
{
    static const double plain_line = 1.75, wide_line = 1.95, written_line = 1.75, part = 1.9;
    const double read_line = plain_line + f->wide * (wide_line - plain_line);
    const double read = SIM_SECTOR_BYTES / chip->l2_bytes_per_ns;
    const double written = SIM_SECTOR_BYTES / chip->l2_written_per_ns;
    const double parts = fmin(f->l2_parts, f->l2_written);
    return fmax(f->l2_read, read_line * f->l2_read_lines) * read +
           (f->l2_written - parts) * written + parts * fmax(part * read, written) +
           written_line * f->l2_written_lines * read;
}

/* Returns the time of DRAM. Three things lengthen copies, and hardly reads, by their bytes in
 * flight to an SM (mechanisms.cu "stores" and "loops", on an H200):
 * - its queues reorder less well if more than 32 KiB are in flight (chip->copy_crowding);
 * - loads with a read-once hint, twice as much from 64 KiB on (chip->once_cost);
 * - resident blocks that loop drift apart, and the last ones run alone: with two loops not, with
 *   four or more by 6 %, and reads by 1.5 %. `loops` is between 0 and 1.
 * Loads with .L2::256B lengthen reads (chip->wide_cost). */
static double dram_ns(const sim_profile *p, const sim_chip *chip, const flow *f,
                      double flight_bytes, double loops)
{
    static const double enough_bytes = 32768, drifting_copy = 0.06, drifting_read = 0.015;
    const double writes = short_runs(SIM_SECTOR_BYTES * p->write.distinct, p->write.runs,
                                     p->wave.write_run, chip->write_piece_bytes, together_written);
    const double once = p->hinted[SIM_HINT_STREAMING] + p->hinted[SIM_HINT_NO_ALLOCATE] +
                        p->hinted[SIM_HINT_WIDE_NO_ALLOCATE];
    const double doublings = log2(fmax(flight_bytes / enough_bytes, 1));
    const double mixed = chip->copy_crowding * doublings + loops * drifting_copy +
                         once * chip->once_cost * (1 + fmin(doublings, 1));
    return mixed_ns(chip, f->read_long, f->written * writes, mixed,
                    f->wide * chip->wide_cost + chip->read_crowding * doublings +
                        loops * drifting_read);
}

/* Returns how much longer instructions take if the instruction cache does not hold the code: 1.03
 * clocks per instruction of a scheduler in loops of up to 32 KiB, and 1.8 in loops of 64 to 256
 * KiB, with 16 and 32 warps per SM (microbenchmarks.cu "code", on an H100). */
static double fetching(double code_bytes)
{
    static const double held_bytes = 32768, longer = 0.7;
    return 1 + longer * fmin(fmax(code_bytes / held_bytes - 1, 0), 1);
}

static double issue_clocks(const sim_profile *p, const sim_chip *chip, sim_pipe *busiest)
{
    double rates[SIM_PIPE_COUNT];
    double most = p->issue.total / chip->issue_per_clock * fetching(p->issue.code_bytes);
    *busiest = SIM_PIPE_OTHER;
    sim_pipe_rates(chip->limits.major, chip->limits.minor, rates);
    for (int i = 0; i < SIM_PIPE_COUNT; i++)
        if (p->issue.pipes[i] / rates[i] > most) {
            most = p->issue.pipes[i] / rates[i];
            *busiest = (sim_pipe)i;
        }
    return most;
}

static double atomics_ns(const sim_profile *p, const sim_chip *chip)
{
    const sim_hot *h = &p->hot;
    const double integers = 1 - h->doubles - h->floats;
    const double address = h->doubles * chip->double_atomic_ns + h->floats * chip->float_atomic_ns +
                           integers * chip->integer_atomic_ns;
    const double line =
        h->doubles * chip->double_sector_ns + (1 - h->doubles) * chip->atomic_sector_ns;
    return fmax(fmax(h->operations * address, h->sectors * line),
                (double)p->blocks * p->atomic_sectors / chip->atomic_sectors_per_ns);
}

/* Returns the time of work if `customers` visit all stations in turn: mean value analysis of a
 * closed network with one chain (Reiser and Lavenberg, "Mean-Value Analysis of Closed Multichain
 * Queuing Networks", JACM 27, 1980). Fractions of customers are interpolated linearly. */
static double queueing_ns(const double *stations_ns, size_t count, double customers)
{
    enum { MOST_STATIONS = 8 };
    double queues[MOST_STATIONS] = {0}, last = 0, time = 0;
    for (double n = 1; n < customers + 1; n++) {
        double round = 0;
        for (size_t i = 0; i < count; i++)
            round += stations_ns[i] * (1 + queues[i]);
        if (round <= 0)
            break;
        for (size_t i = 0; i < count; i++)
            queues[i] = n * stations_ns[i] * (1 + queues[i]) / round;
        last = time;
        time = round / n;
        if (n > customers)
            time = last + (time - last) * (customers - n + 1);
    }
    return time;
}

static void find_terms(const sim_profile *p, const sim_needs *needs, const sim_chip *chip,
                       sim_prediction *out)
{
    const double blocks = (double)p->blocks, n = (double)p->sampled, sms = chip->limits.sm_count;
    const double clock = clock_of(chip), per_sm = blocks / sms;
    const double resident = fmin(out->occupancy.blocks_per_sm, fmax(ceil(per_sm), 1));
    /* Blocks are not divided: the busiest SM has one more than others (mechanisms.cu "waves",
     * multiplications), and the dependences of a last wave that is not full take as long as those
     * of a full one. Where DRAM limits, partial waves take their share of the time there. */
    const double busiest = ceil(per_sm), waves = ceil(fmax(per_sm / resident, 1) - 1e-9);
    const flow f = find_flow(p, needs, chip, resident);
    const double issue = issue_clocks(p, chip, &out->busiest);
    const double shared =
        (double)(p->totals.shared_load.wavefronts + p->totals.shared_store.wavefronts +
                 p->totals.shared_atomic.wavefronts) /
        n;
    /* The cache of constant memory serves a word each two clocks (mechanisms.cu "constant"). */
    const double constant = 2 * p->constant;
    double *t = out->terms_ns;
    out->waves = blocks / (sms * out->occupancy.blocks_per_sm);
    out->dram_read_bytes = f.read;
    out->dram_written_bytes = f.written;
    /* A block takes the time of its dependences and of its own work in the pipes of its SM: one
     * after the other in a block of one phase; in a block of many phases without barriers, phases
     * of some warps hide those of others. A pipe that is busier than the dependences has its own
     * term. */
    const double rounds = fmax(p->critical_clocks / chip->dram_clocks, 1);
    const double phases = fmax(rounds / (1 + p->barriers), 1);
    const double alone = p->critical_clocks + (issue + shared + f.l1_wavefronts) / phases;
    t[SIM_TERM_LATENCY] = waves * alone / clock;
    t[SIM_TERM_BLOCKS] = blocks * chip->block_ns;
    t[SIM_TERM_ISSUE] = busiest * issue / clock;
    t[SIM_TERM_L1] = busiest * f.l1_wavefronts / chip->l1_wavefronts / clock;
    t[SIM_TERM_SHARED] = busiest * shared / clock;
    t[SIM_TERM_CONSTANT] = busiest * constant / clock;
    t[SIM_TERM_L2] =
        fmax(blocks * l2_ns(chip, &f), SIM_SECTOR_BYTES * busiest * (f.l2_read + f.l2_written) /
                                           chip->l2_bytes_per_clock_sm / clock);
    /* A slice of the L2 serves other sectors while it adds: 480 us of atomics on one address and
     * 469 us of reads take 539 us together, and unequal times only the longer one (mechanisms.cu
     * "overlap", on an H200, where a load follows each atomic). */
    t[SIM_TERM_ATOMICS] = atomics_ns(p, chip);
    t[SIM_TERM_LAST] = fmax(p->last_clocks - p->critical_clocks, 0) / clock;
    const bool stays = blocks <= sms * out->occupancy.blocks_per_sm;
    out->flight_bytes = resident * SIM_SECTOR_BYTES * p->read.distinct / rounds;
    out->needed_bytes = chip->read_bytes_per_ns / sms * chip->dram_clocks / clock;
    t[SIM_TERM_DRAM] =
        dram_ns(p, chip, &f, out->flight_bytes, stays ? fmin(fmax(rounds / 2 - 1, 0), 1) : 0);
    const double warps = ceil((double)p->threads / SIM_LANES) * resident;
    const double stations[] = {fmax(t[SIM_TERM_DRAM], t[SIM_TERM_L2]), t[SIM_TERM_ISSUE],
                               t[SIM_TERM_SHARED], t[SIM_TERM_L1]};
    t[SIM_TERM_TURNS] =
        queueing_ns(stations, sizeof stations / sizeof *stations, fmax(warps / SCHEDULERS, 1));
}

/* The factors of intervals, as tests/bench/predicted.py prints them: an interval should hold nine
 * of ten measured times of a pattern that the model has not seen (docs/development/predictions.md).
 * Predictions of DRAM and the L2 are worse if the L2 serves a part of the reads: the first row of a
 * limit with at least this part applies. A single pattern has atomics or constant memory as its
 * limit, and none the last block: these have the factor of all variants. */
static const struct {
    sim_term limit;
    double most_l2_share;
    const char *name;
    double factor;
} intervals[] = {
    {SIM_TERM_DRAM, 0.05, "DRAM", 1.13},
    {SIM_TERM_DRAM, 1, "DRAM and L2", 1.32},
    {SIM_TERM_L2, 0.5, "L2 and DRAM", 1.25},
    {SIM_TERM_L2, 1, "L2", 1.90},
    {SIM_TERM_LATENCY, 1, "latency", 1.42},
    {SIM_TERM_ISSUE, 1, "issue", 1.26},
    {SIM_TERM_L1, 1, "L1", 1.45},
    {SIM_TERM_SHARED, 1, "shared", 1.27},
    {SIM_TERM_BLOCKS, 1, "blocks", 1.01},
    {SIM_TERM_ATOMICS, 1, "atomics", 1.26},
    {SIM_TERM_CONSTANT, 1, "constant", 1.26},
    {SIM_TERM_LAST, 1, "last", 1.26},
};

static size_t find_interval(sim_term limit, double l2_share)
{
    size_t i = 0;
    while (intervals[i].limit != limit || l2_share > intervals[i].most_l2_share)
        i++;
    return i;
}

void sim_model_predict(const sim_profile *p, const sim_needs *needs, const sim_chip *chip,
                       sim_prediction *out)
{
    *out = (sim_prediction){.limit = SIM_TERM_DRAM};
    out->occupancy = occupancy_of(needs, p->threads, chip);
    if (out->occupancy.limit == OCCUPANCY_IMPOSSIBLE || out->occupancy.blocks_per_sm < 1 ||
        p->sampled == 0)
        return;
    find_terms(p, needs, chip, out);
    double *t = out->terms_ns, longest = norm(flight_norm, t[SIM_TERM_DRAM], t[SIM_TERM_LATENCY]);
    out->limit = t[SIM_TERM_DRAM] >= t[SIM_TERM_LATENCY] ? SIM_TERM_DRAM : SIM_TERM_LATENCY;
    /* The blocks of the last wave make their last atomics when no block loads any more. */
    const double after = p->atomics_last * t[SIM_TERM_ATOMICS] / fmax(out->waves, 1);
    for (int i = SIM_TERM_BLOCKS; i < SIM_TERM_LAST; i++) {
        const double beside = i == SIM_TERM_ATOMICS ? t[i] - after : t[i];
        if (beside > longest) {
            longest = beside;
            out->limit = (sim_term)i;
        }
    }
    /* A warp that waits for dependences waits in no queue. */
    t[SIM_TERM_TURNS] = fmax(t[SIM_TERM_TURNS] - longest, 0);
    if (after > longest)
        out->limit = SIM_TERM_ATOMICS;
    if (t[SIM_TERM_LAST] > fmax(longest, after))
        out->limit = SIM_TERM_LAST;
    out->time_ns = chip->launch_ns + longest + after + t[SIM_TERM_LAST] + t[SIM_TERM_TURNS];
    const double launch = (double)p->blocks * SIM_SECTOR_BYTES, missed = launch * p->read.missed;
    const double l2_share =
        fabs(missed - out->dram_read_bytes) / fmax(missed + launch * p->write.sent, 1);
    const size_t interval = find_interval(out->limit, fmin(l2_share, 1));
    /* Nobody has measured the errors for a chip with published figures or those of another chip:
     * copies of an H100 and an H200 differ by 1.4. */
    const double factor = intervals[interval].factor * (chip->measured ? 1 : 1.4);
    out->mechanism = intervals[interval].name;
    out->low_ns = out->time_ns / factor;
    out->high_ns = out->time_ns * factor;
}

static const struct {
    const char *name, *key, *advice;
} terms[] = {
    [SIM_TERM_DRAM] = {"DRAM", "dram", "fewer bytes, or longer runs of neighbours, would help"},
    [SIM_TERM_LATENCY] = {"latency", "latency", "more loads in flight would help"},
    [SIM_TERM_BLOCKS] = {"starting blocks", "blocks", "fewer and larger blocks would help"},
    [SIM_TERM_ISSUE] = {"issuing instructions", "issue", "fewer instructions would help"},
    [SIM_TERM_L1] = {"L1", "l1", "accesses to adjacent words would help"},
    [SIM_TERM_SHARED] = {"shared memory", "shared", "fewer wavefronts would help"},
    [SIM_TERM_CONSTANT] = {"constant memory", "constant",
                           "the same address for all lanes of a warp would help"},
    [SIM_TERM_L2] = {"L2", "l2", "accesses to fewer sectors would help"},
    [SIM_TERM_ATOMICS] = {"atomics on one address", "atomic",
                          "fewer additions to one address would help"},
    [SIM_TERM_LAST] = {"the last block", "last", "less work for the last block would help"},
    [SIM_TERM_TURNS] = {"warps in turns", "turns", "more warps an SM would help"},
};

const char *sim_term_name(sim_term term)
{
    return terms[term].name;
}

const char *sim_term_key(sim_term term)
{
    return terms[term].key;
}

const char *sim_term_advice(sim_term term)
{
    return terms[term].advice;
}
