/* Tests which entrants are measured, and which entrants leave a race before its finals. */
#include "race_fixture.h"

TEST(entrants_with_earlier_samples_far_above_the_best_are_not_measured)
{
    set_up(3, 1e5, 0);
    entrants[0].fastest_ns = 100000;
    entrants[1].fastest_ns = 140000;
    entrants[2].fastest_ns = 125000;
    race_options options = with_seed(6);
    race *r = start(&options, 3);
    const race_result *result = finish_exactly(r);
    assert_int_equal(standing_of(result, 1)->left_at, RACE_PRIOR);
    assert_int_equal(standing_of(result, 1)->time.count, 0);
    assert_int_equal(standing_of(result, 1)->time.median_ns, 140000);
    assert_true(fabs(standing_of(result, 1)->ratio - 1.4) < 1e-9);
    assert_int_equal(standing_of(result, 2)->left_at, RACE_FINALS);
    race_free(r);
}

TEST(the_limit_applies_to_entrants_near_the_best)
{
    set_up(40, 1e5, 0.001);
    for (uint32_t i = 0; i < 40; i++)
        entrants[i].fastest_ns = (int64_t)true_ns[i];
    race_options options = with_seed(5);
    options.prior_entrants = 12;
    race *r = start(&options, 40);
    const uint32_t *order;
    assert_int_equal(race_next(r, &order), 12);
    for (size_t i = 0; i < 12; i++)
        assert_true(order[i] < 12);
    race_free(r);
}

TEST(entrants_without_an_earlier_sample_are_screened)
{
    set_up(10, 1e5, 0.1);
    entrants[9].fastest_ns = 190000;
    race_options options = with_seed(7);
    race *r = start(&options, 10);
    assert_int_equal(race_progress(r, NULL, NULL), RACE_SCREEN);
    const race_result *result = finish_exactly(r);
    assert_int_equal(result->winner, 0);
    /* With this margin, 1.2 times the best time stays in the race, and 1.3 times leaves. */
    assert_int_equal(standing_of(result, 2)->left_at, RACE_FINALS);
    assert_int_equal(standing_of(result, 3)->left_at, RACE_SCREEN);
    assert_int_equal(standing_of(result, 3)->time.count, 2);
    race_free(r);
}

TEST(one_outlier_does_not_exclude_the_best)
{
    set_up(10, 1e5, 0.02);
    race_options options = with_seed(8);
    race *r = start(&options, 10);
    const uint32_t *order;
    size_t count = race_next(r, &order);
    fill(count, order);
    for (size_t i = 0; i < count; i++)
        if (order[i] == 0)
            samples_ns[i] *= 10;
    race_tell(r, samples_ns);
    assert_int_equal(finish_exactly(r)->winner, 0);
    race_free(r);
}

TEST(thousands_are_narrowed_down_in_few_samples)
{
    set_up(MOST, 1e5, 0.2 / MOST);
    race_options options = with_seed(26);
    race *r = start(&options, MOST);
    synthetic_clock clock = usual_clock(26);
    const race_result *result = synthetic_clock_race(&clock, r, true_ns, samples_ns);
    /* The winner must be within 0.5 % of the fastest, after fewer than ten samples per variant. */
    assert_true(true_ns[result->winner] / true_ns[0] < 1.005);
    assert_true(clock.samples < 10 * MOST);
    race_free(r);
}

/* Sets up entrants in random order. The earlier sample of each entrant is the fastest of three. */
static void set_up_tried(size_t count, double spread, synthetic_clock *clock)
{
    set_up(count, 1e5, spread / (double)count);
    for (size_t i = count; i > 1; i--) {
        size_t j = (size_t)rng_below(&clock->random, i);
        double swapped = true_ns[i - 1];
        true_ns[i - 1] = true_ns[j];
        true_ns[j] = swapped;
    }
    /* The machine is warm when the earlier samples are taken. */
    clock->now_ns = 1e9;
    for (size_t i = 0; i < count; i++)
        for (int n = 0; n < 3; n++) {
            int64_t ns = synthetic_clock_sample(clock, true_ns[i]);
            if (n == 0 || ns < entrants[i].fastest_ns)
                entrants[i].fastest_ns = ns;
        }
}

static size_t fastest_entrant(size_t count)
{
    size_t fastest = 0;
    for (size_t i = 1; i < count; i++)
        if (true_ns[i] < true_ns[fastest])
            fastest = i;
    return fastest;
}

static uint64_t samples_of_race(size_t count, double noise, uint64_t seed, bool *lost)
{
    synthetic_machine machine = synthetic_machine_usual();
    machine.noise = noise;
    synthetic_clock clock = synthetic_clock_start(&machine, seed);
    set_up_tried(count, 0.2, &clock);
    race_options options = with_seed(seed);
    race *r = start(&options, count);
    uint64_t before = clock.samples;
    const race_result *result = synthetic_clock_race(&clock, r, true_ns, samples_ns);
    *lost = standing_of(result, (uint32_t)fastest_entrant(count))->left_at == RACE_PROBE;
    race_free(r);
    return clock.samples - before;
}

TEST(of_thousands_with_earlier_samples_few_are_measured_again)
{
    bool lost;
    /* A race without a probe would sample every entrant twice. */
    assert_true(samples_of_race(MOST, 0.003, 31, &lost) < MOST);
    assert_false(lost);
}

TEST(less_exact_earlier_samples_lead_to_more_samples)
{
    bool lost;
    uint64_t exact = samples_of_race(2048, 0.002, 32, &lost);
    assert_true(samples_of_race(2048, 0.02, 32, &lost) > 2 * exact);
}

TEST(a_probe_loses_the_best_no_more_often_than_alpha)
{
    size_t times = 0;
    for (uint64_t seed = 0; seed < 100; seed++) {
        bool lost;
        samples_of_race(512, 0.008, 100 + seed, &lost);
        times += lost;
    }
    assert_true(times <= 3); /* at most one loss is expected in 100 races; more than three have a
                                probability of 2 % */
}

TEST(blocks_of_the_probe_do_not_compare_other_entrants)
{
    synthetic_clock clock = usual_clock(33);
    set_up_tried(1024, 0.2, &clock);
    race_options options = with_seed(33);
    race *r = start(&options, 1024);
    assert_int_equal(race_progress(r, NULL, NULL), RACE_PROBE);
    const race_result *result = synthetic_clock_race(&clock, r, true_ns, samples_ns);
    size_t out = 0;
    for (size_t i = 0; i < result->count; i++) {
        if (result->ranking[i].left_at != RACE_PROBE)
            continue;
        out++;
        assert_int_equal(result->ranking[i].time.count, 0);
        assert_false(result->ranking[i].tied);
    }
    assert_true(out > 512);
    race_free(r);
}

TEST(a_race_goes_on_if_all_probed_entrants_fail)
{
    synthetic_clock clock = usual_clock(34);
    set_up_tried(1024, 0.2, &clock);
    race_options options = with_seed(34);
    race *r = start(&options, 1024);
    const uint32_t *order;
    size_t count = race_next(r, &order);
    assert_true(count < 512);
    memset(samples_ns, 0, count * sizeof *samples_ns);
    race_tell(r, samples_ns);
    const race_result *result = synthetic_clock_race(&clock, r, true_ns, samples_ns);
    assert_true(result->has_winner);
    assert_int_not_equal(result->verdict, RACE_INCONCLUSIVE);
    size_t failed = 0;
    for (size_t i = 0; i < result->count; i++)
        failed += result->ranking[i].failed;
    assert_int_equal(failed, count);
    race_free(r);
}
