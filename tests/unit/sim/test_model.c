/* What the model must say whatever its figures: more work is never faster, and each resource that
 * is overloaded shows as the limit. */
#include <string.h>

#include "check.h"
#include "sim/model.h"

static sim_profile transpose_like(void)
{
    sim_profile p = {
        .blocks = 65536, .threads = 256, .sampled = 16, .issued = 400, .loads = 4, .barriers = 1};
    p.read = (sim_traffic){.sectors = 128, .distinct = 128, .fresh = 128, .runs = 32, .lines = 32};
    p.write = p.read;
    p.wave = (sim_wave){.read_run = 64, .write_run = 16};
    p.totals.shared_load.wavefronts = p.totals.shared_load.ideal = 32 * 16;
    p.totals.shared_store = p.totals.shared_load;
    return p;
}

static sim_prediction predict(const sim_profile *p, uint32_t registers, uint64_t shared_bytes)
{
    at_error error = {0};
    sim_chip chip;
    sim_prediction out;
    assert_ok(sim_chip_find("sm_90", &chip, &error), error);
    sim_needs needs = {.registers = registers, .shared_bytes = shared_bytes};
    sim_model_predict(p, &needs, &chip, &out);
    return out;
}

TEST(each_overloaded_resource_is_the_limit)
{
    sim_profile p = transpose_like();
    sim_prediction base = predict(&p, 32, 4224);
    assert_string_equal(base.limit, "DRAM");
    sim_profile conflicts = p;
    conflicts.totals.shared_load.wavefronts *= 32;
    assert_string_equal(predict(&conflicts, 32, 4224).limit, "shared memory");
    assert_true(predict(&conflicts, 32, 4224).time_ns > 2 * base.time_ns);
    sim_profile busy = p;
    busy.issued *= 40;
    assert_string_equal(predict(&busy, 32, 4224).limit, "issuing instructions");
    sim_profile narrow = p;
    narrow.write.sectors *= 8;
    assert_true(predict(&narrow, 32, 4224).time_ns > base.time_ns);
}

TEST(one_address_and_many_constants_cost)
{
    sim_profile p = transpose_like(), hot = p, constants = p;
    double base = predict(&p, 32, 4224).time_ns;
    hot.hottest = (double)p.blocks * (double)p.threads;
    assert_string_equal(predict(&hot, 32, 4224).limit, "atomics on one address");
    assert_true(predict(&hot, 32, 4224).time_ns > 2 * base);
    constants.totals.constant.constant_passes = 32 * 8 * 64 * p.sampled;
    assert_string_equal(predict(&constants, 32, 4224).limit, "constant memory");
}

TEST(twice_the_traffic_takes_longer_and_short_runs_too)
{
    sim_profile p = transpose_like(), twice = p, ragged = p;
    double base = predict(&p, 32, 4224).time_ns;
    twice.blocks *= 2;
    assert_true(predict(&twice, 32, 4224).time_ns > 1.8 * base);
    ragged.read.runs = ragged.write.runs = 128;
    assert_true(predict(&ragged, 32, 4224).time_ns > base);
}

TEST(a_kernel_that_does_not_fit_has_no_time)
{
    sim_profile p = transpose_like();
    sim_prediction out = predict(&p, 32, 1 << 20);
    assert_int_equal(out.occupancy.limit, OCCUPANCY_IMPOSSIBLE);
    assert_true(out.time_ns == 0);
}

TEST(a_copy_takes_its_bytes_over_the_bandwidth)
{
    at_error error = {0};
    sim_chip chip;
    assert_ok(sim_chip_find("sm_90", &chip, &error), error);
    /* 256 MiB read and written at 4276 GB/s, as measured on an H200. */
    double time_ns = sim_model_copy_ns(&chip, 268435456.0, false);
    assert_true(time_ns > 120e3 && time_ns < 135e3);
    assert_true(sim_model_copy_ns(&chip, 1e6, true) < sim_model_copy_ns(&chip, 1e6, false));
}
