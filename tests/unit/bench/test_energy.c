#include <math.h>

#include "base/rng.h"
#include "bench/meter.h"
#include "check.h"

enum { LAUNCHES = 2500 };

/* Makes readings of a board that draws `power_w`. A launch takes 100 us, and the energy counter
 * changes every `step_ns`. */
static void take(energy_reading *readings, size_t count, double power_w, int64_t step_ns,
                 int64_t phase_ns)
{
    for (size_t i = 0; i < count; i++) {
        int64_t now_ns = (int64_t)i * LAUNCHES * 100000;
        int64_t seen_ns = step_ns ? (now_ns + phase_ns) / step_ns * step_ns : now_ns;
        readings[i] = (energy_reading){
            .now_ns = now_ns,
            .launches = i * LAUNCHES,
            .energy_mj = 1000000 + (uint64_t)(power_w * (double)seen_ns / 1e6),
            .power_w = power_w,
        };
    }
}

TEST(energy_is_power_times_time)
{
    energy_reading readings[ENERGY_READINGS];
    energy_estimate e;
    take(readings, ENERGY_READINGS, 400, 0, 0);
    assert_true(energy_estimate_launch(readings, ENERGY_READINGS, &e));
    assert_true(fabs(e.launch_j - 0.04) < 1e-6);
    assert_true(fabs(e.power_w - 400) < 0.01);
    assert_true(e.low_j <= e.launch_j && e.launch_j <= e.high_j);
    assert_true(e.high_j - e.low_j < 1e-4);
    assert_int_equal(e.chunks, ENERGY_CHUNKS);
}

TEST(a_counter_in_steps_still_gives_a_correct_interval)
{
    rng r = rng_seeded(31);
    int held = 0;
    for (int n = 0; n < 200; n++) {
        energy_reading readings[ENERGY_READINGS];
        energy_estimate e;
        take(readings, ENERGY_READINGS, 400, 93000000, (int64_t)rng_below(&r, 93000000));
        assert_true(energy_estimate_launch(readings, ENERGY_READINGS, &e));
        assert_true(fabs(e.launch_j / 0.04 - 1) < 0.06);
        held += e.low_j <= 0.04 && 0.04 <= e.high_j;
    }
    assert_true(held >= 190);
}

TEST(without_a_counter_power_is_integrated)
{
    energy_reading readings[ENERGY_READINGS];
    energy_estimate e;
    take(readings, ENERGY_READINGS, 350, 0, 0);
    for (size_t i = 0; i < ENERGY_READINGS; i++)
        readings[i].energy_mj = 0;
    assert_true(energy_estimate_launch(readings, ENERGY_READINGS, &e));
    assert_true(fabs(e.launch_j - 0.035) < 1e-9);
}

TEST(without_readings_there_is_no_estimate)
{
    energy_reading readings[ENERGY_READINGS];
    energy_estimate e;
    take(readings, ENERGY_READINGS, 350, 0, 0);
    assert_false(energy_estimate_launch(readings, 3, &e));
    assert_false(energy_estimate_launch(readings, 0, &e));
    for (size_t i = 0; i < ENERGY_READINGS; i++) {
        readings[i].energy_mj = 0;
        readings[i].power_w = 0;
    }
    assert_false(energy_estimate_launch(readings, ENERGY_READINGS, &e));
    assert_true(e.launch_j == 0);
}

TEST(readings_out_of_order_are_refused)
{
    energy_reading readings[ENERGY_READINGS];
    energy_estimate e;
    take(readings, ENERGY_READINGS, 350, 0, 0);
    readings[3].launches = readings[2].launches;
    assert_false(energy_estimate_launch(readings, ENERGY_READINGS, &e));
    take(readings, ENERGY_READINGS, 350, 0, 0);
    readings[3].energy_mj = 1; /* the counter restarts when the driver is loaded again */
    assert_false(energy_estimate_launch(readings, ENERGY_READINGS, &e));
}

TEST(a_chunk_is_a_fifth_of_a_second)
{
    assert_true(energy_chunk_launches(100000) == 2000);
    assert_true(energy_chunk_launches(1000000000) == 1);
    assert_true(energy_chunk_launches(0) == 1);
}
