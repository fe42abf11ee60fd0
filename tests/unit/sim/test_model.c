/* Tests the model for any figures of a chip. More work is never faster. An overloaded resource is
 * the limit. Chips that differ only in bandwidth have the same limit for a kernel. */
#include <math.h>
#include <string.h>

#include "check.h"
#include "sim/model.h"

static sim_profile transpose_like(void)
{
    sim_profile p = {.blocks = 65536, .threads = 256, .sampled = 16, .loads = 4, .barriers = 1};
    p.read = (sim_traffic){
        .sectors = 128, .distinct = 128, .missed = 128, .fresh = 128, .runs = 32, .lines = 32};
    p.write = p.read;
    p.wave = (sim_wave){64, 16, 1, 1, 1 << 20};
    p.buffers[0] = (sim_buffer_reads){65536.0 * 128 * 32, 128, 128, 32, 1, 1, 0, 0};
    p.issue.total = p.issue.pipes[SIM_PIPE_INTEGER] = 200;
    p.critical_clocks = 1200;
    p.totals.shared_load.wavefronts = p.totals.shared_load.ideal = 32 * 16;
    p.totals.shared_store = p.totals.shared_load;
    return p;
}

static sim_chip chip_of(const char *name)
{
    at_error error = {0};
    sim_chip chip;
    assert_ok(sim_chip_find(name, &chip, &error), error);
    return chip;
}

static sim_prediction predict_on(const char *name, const sim_profile *p, uint64_t shared_bytes)
{
    const sim_chip chip = chip_of(name);
    const sim_needs needs = {.registers = 32, .shared_bytes = shared_bytes};
    sim_prediction out;
    sim_model_predict(p, &needs, &chip, &out);
    return out;
}

static sim_prediction predict(const sim_profile *p)
{
    return predict_on("h200", p, 4224);
}

TEST(atomics_after_the_last_load_add_to_the_time)
{
    sim_profile p = transpose_like();
    p.blocks = 132;
    const double without = predict(&p).time_ns;
    p.hot.operations = 100;
    const sim_prediction beside = predict(&p);
    assert_float_equal(beside.time_ns, without, 1e-6);
    p.atomics_last = 1;
    assert_float_equal(predict(&p).time_ns, without + beside.terms_ns[SIM_TERM_ATOMICS], 1e-6);
}

TEST(each_overloaded_resource_is_the_limit)
{
    const sim_profile base = transpose_like();
    assert_int_equal(predict(&base).limit, SIM_TERM_DRAM);
    sim_profile p = base;
    p.totals.shared_load.wavefronts *= 32;
    assert_int_equal(predict(&p).limit, SIM_TERM_SHARED);
    p = base;
    p.issue.total *= 40;
    assert_int_equal(predict(&p).limit, SIM_TERM_ISSUE);
    p = base;
    p.issue.pipes[SIM_PIPE_SPECIAL] = p.issue.total = 1000;
    assert_int_equal(predict(&p).busiest, SIM_PIPE_SPECIAL);
    p = base;
    p.critical_clocks *= 20;
    assert_int_equal(predict(&p).limit, SIM_TERM_LATENCY);
    p = base;
    p.hot.operations = (double)p.blocks * (double)p.threads;
    assert_int_equal(predict(&p).limit, SIM_TERM_ATOMICS);
    p = base;
    p.constant = 32 * 8 * 64;
    assert_int_equal(predict(&p).limit, SIM_TERM_CONSTANT);
    p = base;
    p.last_clocks = 1e6;
    assert_int_equal(predict(&p).limit, SIM_TERM_LAST);
    p = base;
    p.read.missed *= 16;
    assert_int_equal(predict(&p).limit, SIM_TERM_L2);
    p = base;
    p.blocks *= 256;
    p.read.fresh /= 256, p.write.fresh /= 256, p.buffers[0].fresh /= 256;
    p.read.missed /= 256, p.write.sectors /= 256;
    p.issue.total = p.critical_clocks = 1;
    p.totals.shared_load.wavefronts = p.totals.shared_store.wavefronts = 0;
    assert_int_equal(predict(&p).limit, SIM_TERM_BLOCKS);
}

TEST(the_limit_is_the_term_that_gives_the_time)
{
    sim_profile p = transpose_like();
    const sim_prediction base = predict(&p);
    /* DRAM and latency take equal times, together longer than issue, which takes 10 % more. */
    p.critical_clocks *= base.terms_ns[SIM_TERM_DRAM] / base.terms_ns[SIM_TERM_LATENCY];
    p.issue.pipes[SIM_PIPE_INTEGER] *=
        1.1 * base.terms_ns[SIM_TERM_DRAM] / base.terms_ns[SIM_TERM_ISSUE];
    const sim_prediction both = predict(&p);
    assert_true(both.terms_ns[SIM_TERM_ISSUE] > both.terms_ns[SIM_TERM_DRAM]);
    assert_true(both.time_ns > 1.1 * both.terms_ns[SIM_TERM_ISSUE]);
    assert_true(both.limit == SIM_TERM_DRAM || both.limit == SIM_TERM_LATENCY);
}

TEST(more_of_anything_takes_no_less)
{
    const sim_profile base = transpose_like();
    const double least = predict(&base).time_ns;
    sim_profile p = base;
    p.blocks *= 2;
    assert_true(predict(&p).time_ns > 1.8 * least);
    p = base;
    p.read.runs = p.write.runs = 128;
    assert_true(predict(&p).time_ns > least);
    p = base;
    p.hot.operations = 1e4, p.hot.doubles = 1;
    assert_true(predict(&p).time_ns >= least);
    p = base;
    p.issue.total *= 2, p.critical_clocks *= 2;
    assert_true(predict(&p).time_ns > least);
}

TEST(few_warps_hide_less_memory_time_behind_instructions)
{
    sim_profile p = transpose_like();
    p.issue.total = p.issue.pipes[SIM_PIPE_INTEGER] = 3000;
    p.critical_clocks = 0;
    const sim_prediction many = predict(&p), few = predict_on("h200", &p, 100 << 10);
    assert_true(many.occupancy.warps_per_sm >= 4 * few.occupancy.warps_per_sm);
    assert_true(few.terms_ns[SIM_TERM_TURNS] > 2 * many.terms_ns[SIM_TERM_TURNS]);
    /* One warp uses the units one after the other. */
    p.threads = 32;
    const sim_prediction one = predict_on("h200", &p, 200 << 10);
    double sum = 0;
    for (int t = 0; t < SIM_TERM_COUNT; t++)
        sum += t == SIM_TERM_DRAM || t == SIM_TERM_ISSUE || t == SIM_TERM_SHARED || t == SIM_TERM_L1
                   ? one.terms_ns[t]
                   : 0;
    assert_true(one.terms_ns[SIM_TERM_TURNS] > 0);
    assert_float_equal(one.time_ns, chip_of("h200").launch_ns + sum, 1);
    /* A longer time of dependences hides the use of the units. */
    p.critical_clocks = 20000;
    assert_float_equal(predict_on("h200", &p, 200 << 10).terms_ns[SIM_TERM_TURNS], 0, 0);
}

TEST(a_busy_pipe_does_not_count_as_latency)
{
    sim_profile p = transpose_like();
    const double least = predict(&p).terms_ns[SIM_TERM_LATENCY];
    /* If a block has many phases, the dependences hide the pipes, even if the pipes are busy. */
    p.critical_clocks *= 40;
    const double alone = predict(&p).terms_ns[SIM_TERM_LATENCY];
    p.issue.total = p.issue.pipes[SIM_PIPE_INTEGER] = p.critical_clocks * 8;
    const sim_prediction busy = predict(&p);
    assert_true(alone > 10 * least);
    assert_true(busy.terms_ns[SIM_TERM_LATENCY] < 1.2 * alone);
    assert_int_equal(busy.limit, SIM_TERM_ISSUE);
}

TEST(code_larger_than_the_instruction_cache_is_issued_more_slowly)
{
    sim_profile p = transpose_like();
    p.issue.total *= 40;
    p.issue.code_bytes = 32 << 10;
    const double held = predict(&p).terms_ns[SIM_TERM_ISSUE];
    p.issue.code_bytes = 128 << 10;
    assert_float_equal(predict(&p).terms_ns[SIM_TERM_ISSUE], 1.7 * held, 0.01 * held);
}

TEST(a_slice_of_the_l2_serves_other_sectors_while_it_adds)
{
    sim_profile p = transpose_like();
    p.read.missed *= 16;
    const sim_prediction reads = predict(&p);
    p.hot.sectors = 0.8 * reads.terms_ns[SIM_TERM_L2] / chip_of("h200").atomic_sector_ns;
    const sim_prediction both = predict(&p);
    assert_float_equal(both.terms_ns[SIM_TERM_ATOMICS], 0.8 * both.terms_ns[SIM_TERM_L2], 1);
    assert_int_equal(both.limit, SIM_TERM_L2);
    assert_float_equal(both.time_ns, reads.time_ns, 1);
}

TEST(a_read_once_hint_costs_the_buffer_that_has_it)
{
    sim_profile p = transpose_like();
    p.buffers[0].bytes = 16 << 20;
    const double plain = predict(&p).dram_read_bytes;
    p.hinted[SIM_HINT_STREAMING] = 1;
    assert_float_equal(predict(&p).dram_read_bytes, plain, 0);
    p.buffers[0].once = 1;
    assert_true(predict(&p).dram_read_bytes > 2 * plain);
    p.buffers[0].bytes = 1 << 20;
    assert_true(predict(&p).dram_read_bytes < plain);
}

TEST(doubles_cost_more_than_integers_at_one_address)
{
    sim_profile p = transpose_like();
    p.hot.operations = 1e6;
    const double integers = predict(&p).time_ns;
    p.hot.doubles = 1;
    assert_true(predict(&p).time_ns > 1.5 * integers);
}

TEST(reads_that_a_wave_shares_come_from_dram_once)
{
    sim_profile p = transpose_like();
    const double alone = predict(&p).dram_read_bytes;
    p.buffers[0].first_fresh = p.buffers[0].later_fresh = 0.125;
    assert_float_equal(predict(&p).dram_read_bytes, alone / 8, 1);
}

TEST(reads_of_a_wave_larger_than_the_l2_are_shared_in_part)
{
    sim_profile p = transpose_like();
    const double alone = predict(&p).dram_read_bytes;
    p.buffers[0].first_fresh = p.buffers[0].later_fresh = 0.5;
    p.wave.bytes = 2 * 0.45 * (double)chip_of("h200").limits.l2_bytes;
    assert_float_equal(predict(&p).dram_read_bytes, 0.75 * alone, 1);
}

TEST(a_buffer_that_the_l2_holds_comes_from_dram_once)
{
    sim_profile p = transpose_like();
    const double alone = predict(&p).dram_read_bytes;
    p.buffers[0].bytes = 1048576;
    assert_float_equal(predict(&p).dram_read_bytes, 1048576, 1);
    p.buffers[0].bytes = alone / 2;
    assert_true(predict(&p).dram_read_bytes > alone / 2 && predict(&p).dram_read_bytes < alone);
}

/* Returns the profile of 2^24 reads of random words in 64 MiB. The sampled warps of a wave draw
 * sectors at random, so some sectors are drawn twice. `first` and `later` are the shares of
 * reads with a new sector, in the first and in later waves. */
static sim_profile random_reads(uint64_t threads)
{
    const double sectors = 1 << 21, read = (double)threads, drawn = 132 * 2048 / read * 32;
    const double first = sectors * (1 - exp(-drawn / sectors)) / drawn;
    const double later = first * exp(-drawn / sectors);
    sim_profile p = {.blocks = (1 << 24) / threads, .threads = threads, .sampled = 16, .loads = 1};
    p.read = (sim_traffic){
        .sectors = read, .distinct = read, .missed = read, .fresh = read, .runs = read};
    p.wave = (sim_wave){1, 0, first, later, drawn * first * read};
    p.buffers[0] = (sim_buffer_reads){32 * sectors, read, read, read, first, later, 0, 0};
    p.critical_clocks = 1200;
    return p;
}

TEST(random_reads_miss_equally_often_in_blocks_of_any_shape)
{
    const sim_profile small = random_reads(64), large = random_reads(1024);
    const double misses = predict_on("h200", &small, 0).dram_read_bytes;
    assert_float_equal(predict_on("h200", &large, 0).dram_read_bytes, misses, 0.02 * misses);
}

TEST(data_read_again_after_its_eviction_comes_from_dram)
{
    sim_profile p = transpose_like();
    const double once = predict(&p).dram_read_bytes;
    p.read.missed *= 2;
    p.read.again = 128;
    p.read.between = 16;
    assert_float_equal(predict(&p).dram_read_bytes, once, 0);
    /* Between two reads of the data, the blocks on the 132 SMs read 1 MiB each. */
    p.read.between = 1 << 15;
    assert_float_equal(predict(&p).dram_read_bytes, 2 * once, 1);
    p.wave.first_fresh = 0; /* means that no wave was sampled */
    assert_float_equal(predict(&p).dram_read_bytes, 2 * once, 1);
}

TEST(a_kernel_that_does_not_fit_has_no_time)
{
    const sim_profile p = transpose_like();
    const sim_prediction out = predict_on("h200", &p, 1 << 20);
    assert_int_equal(out.occupancy.limit, OCCUPANCY_IMPOSSIBLE);
    assert_true(out.time_ns == 0);
}

TEST(a_chip_of_less_bandwidth_is_slower_with_the_same_limit)
{
    const sim_profile p = transpose_like();
    const sim_prediction fast = predict_on("h200", &p, 4224), slow = predict_on("h100", &p, 4224);
    assert_int_equal(fast.limit, slow.limit);
    assert_true(slow.time_ns > 1.3 * fast.time_ns);
    assert_true(predict_on("NVIDIA H100 80GB HBM3", &p, 4224).time_ns == slow.time_ns);
}

TEST(measured_figures_replace_published_figures)
{
    sim_chip chip = chip_of("a100");
    double rates[CEILING_KINDS] = {0};
    const double before = sim_model_copy_ns(&chip, 1e8, false);
    sim_chip_measured(&chip, rates);
    assert_false(chip.measured);
    rates[CEILING_COPY] = chip.copy_bytes_per_ns / 2;
    sim_chip_measured(&chip, rates);
    assert_true(chip.measured);
    assert_true(sim_model_copy_ns(&chip, 1e8, false) > 1.5 * before);
}

TEST(measured_latencies_and_pieces_are_used)
{
    sim_chip chip = chip_of("a100");
    double rates[CEILING_KINDS] = {
        [CEILING_READ] = 1500,       [CEILING_BLOCKS] = 2,    [CEILING_ROUND_TRIPS] = 0.002,
        [CEILING_PIECES_READ] = 500, [CEILING_ONE_WORD] = 16, [CEILING_ONE_DOUBLE] = 0.5};
    sim_chip_measured(&chip, rates);
    assert_float_equal(chip.block_ns, 0.5, 1e-9);
    /* The latency is 500 ns on an idle chip, and 21 % more under load. */
    assert_float_equal(chip.dram_clocks, 500 * 1.21 * chip.limits.clock_khz * 1e-6, 1e-6);
    assert_float_equal(chip.read_piece_bytes, 96, 1e-9);
    assert_float_equal(chip.integer_atomic_ns, 2, 1e-9);
    assert_float_equal(chip.double_atomic_ns, 2, 1e-9);
}

TEST(a_prediction_for_an_unmeasured_chip_has_a_wide_interval)
{
    const sim_profile p = transpose_like();
    const sim_prediction known = predict_on("h100", &p, 4224), other = predict_on("a100", &p, 4224);
    assert_true(known.low_ns < known.time_ns && known.time_ns < known.high_ns);
    assert_true(other.high_ns / other.low_ns > 1.4 * known.high_ns / known.low_ns);
}

TEST(the_message_for_an_unknown_chip_lists_the_known_chips)
{
    at_error error = {0};
    sim_chip chip;
    assert_int_equal(sim_chip_find("sm_12", &chip, &error), AT_USAGE);
    assert_non_null(strstr(error.message, "h100"));
}

TEST(a_copy_takes_its_bytes_over_the_bandwidth)
{
    const sim_chip chip = chip_of("sm_90");
    /* 256 MiB are read and written at 4241 GB/s, as measured on an H200. */
    const double time_ns = sim_model_copy_ns(&chip, 268435456.0, false);
    assert_true(time_ns > 120e3 && time_ns < 135e3);
    assert_true(sim_model_copy_ns(&chip, 1e6, true) < sim_model_copy_ns(&chip, 1e6, false));
}
