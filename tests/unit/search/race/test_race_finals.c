/* Tests the finals: their entrants, and how they decide the winner, ties and intervals. */
#include "race_fixture.h"
#include "search/race/paired.h"

TEST(a_slow_default_is_ranked_by_its_time)
{
    set_up(20, 1e5, 0.02);
    race_options options = with_seed(28);
    options.default_entrant = 12;
    race *r = start(&options, 20);
    const race_result *result = finish_exactly(r);
    for (uint32_t i = 0; i < 20; i++)
        assert_int_equal(result->ranking[i].entrant, i);
    race_free(r);
}

TEST(the_default_is_measured_in_the_finals_however_slow)
{
    set_up(20, 1e5, 0.01);
    true_ns[19] = 5e5;
    race_options options = with_seed(9);
    options.default_entrant = 19;
    race *r = start(&options, 20);
    const race_result *result = finish_exactly(r);
    const race_standing *s = standing_of(result, 19);
    assert_int_equal(s->left_at, RACE_FINALS);
    assert_true(s->time.count >= 6);
    assert_true(fabs(s->ratio - 5) < 1e-6);
    assert_true(s->low > 4.9 && s->high < 5.1);
    race_free(r);
}

/* Starts a race of two entrants and a default, with this default_ratio. The earlier sample of
 * the default is five times those of the entrants. */
static race *start_with_slow_default(double ratio)
{
    set_up(3, 1e5, 0.01);
    true_ns[2] = 5e5;
    for (uint32_t i = 0; i < 3; i++)
        entrants[i].fastest_ns = (int64_t)true_ns[i];
    race_options options = with_seed(9);
    options.default_entrant = 2;
    options.default_ratio = ratio;
    return start(&options, 3);
}

TEST(a_default_that_is_known_to_be_hopeless_can_stay_out_of_the_finals)
{
    race *r = start_with_slow_default(4);
    const race_result *result = finish_exactly(r);
    const race_standing *s = standing_of(result, 2);
    assert_int_equal(result->winner, 0);
    assert_int_equal(s->left_at, RACE_PRIOR);
    assert_int_equal(s->time.count, 0);
    assert_int_equal(s->time.median_ns, 500000);
    assert_true(fabs(s->ratio - 5) < 1e-6);
    race_free(r);
    r = start_with_slow_default(6);
    assert_int_equal(standing_of(finish_exactly(r), 2)->left_at, RACE_FINALS);
    race_free(r);
}

TEST(a_hopeless_default_races_when_all_others_fail)
{
    race *r = start_with_slow_default(4);
    race_exclude(r, 0);
    race_exclude(r, 1);
    const race_result *result = finish_exactly(r);
    assert_true(result->has_winner);
    assert_int_equal(result->winner, 2);
    assert_int_equal(result->ranking[0].left_at, RACE_FINALS);
    race_free(r);
}

/* Counts samples in the finals, of the default and of the winner, if the default takes
 * `default_ns`. */
static void count_finals(double default_ns, size_t *of_default, size_t *of_winner)
{
    set_up(20, 1e5, 0.01);
    true_ns[19] = default_ns;
    race_options options = with_seed(9);
    options.default_entrant = 19;
    race *r = start(&options, 20);
    const race_result *result = finish_exactly(r);
    assert_int_equal(result->winner, 0);
    *of_default = standing_of(result, 19)->time.count;
    *of_winner = standing_of(result, 0)->time.count;
    race_free(r);
}

TEST(only_a_default_far_behind_leaves_the_finals)
{
    size_t of_default, of_winner;
    count_finals(5e5, &of_default, &of_winner);
    assert_true(of_default <= 12);
    assert_true(of_winner >= race_defaults().finals_blocks);
    count_finals(1.25e5, &of_default, &of_winner);
    assert_true(of_winner >= race_defaults().finals_blocks);
    assert_int_equal(of_default, of_winner);
}

TEST(a_default_that_left_the_finals_wins_when_all_others_are_excluded)
{
    set_up(4, 1e5, 0.01);
    true_ns[3] = 5e5;
    race_options options = with_seed(9);
    options.default_entrant = 3;
    race *r = start(&options, 4);
    const race_result *result = finish_exactly(r);
    assert_true(standing_of(result, 3)->time.count < options.finals_blocks);
    for (uint32_t i = 0; i < 3; i++)
        race_exclude(r, i);
    result = finish_exactly(r);
    assert_true(result->has_winner);
    assert_int_equal(result->winner, 3);
    assert_int_equal(result->stage, RACE_FINISHED);
    race_free(r);
}

TEST(the_finals_are_balanced)
{
    set_up(5, 1e5, 0.001);
    for (size_t i = 0; i < 5; i++)
        entrants[i].fastest_ns = 100000;
    race_options options = with_seed(10);
    race *r = start(&options, 5);
    assert_int_equal(race_progress(r, NULL, NULL), RACE_FINALS);
    size_t at[5][5] = {{0}}, follows[5][5] = {{0}}, blocks = 0;
    const uint32_t *order;
    for (size_t count; (count = race_next(r, &order)) > 0; race_tell(r, samples_ns)) {
        assert_int_equal(count, 5);
        for (size_t i = 0; i < 5; i++) {
            at[order[i]][i]++;
            if (i > 0)
                follows[order[i - 1]][order[i]]++;
        }
        fill(count, order);
        blocks++;
    }
    assert_int_equal(blocks % balance_rows(5), 0);
    for (size_t i = 0; i < 5; i++)
        for (size_t j = 0; j < 5; j++) {
            assert_int_equal(at[i][j], blocks / 5);
            assert_int_equal(follows[i][j], i == j ? 0 : blocks / 5);
        }
    race_free(r);
}

TEST(only_the_finals_decide)
{
    /* Before the finals, entrant 0 is faster by chance. In the finals, it is slower. */
    set_up(2, 1e5, 0.005);
    race_options options = with_seed(11);
    race *r = start(&options, 2);
    const uint32_t *order;
    for (size_t count; (count = race_next(r, &order)) > 0; race_tell(r, samples_ns)) {
        fill(count, order);
        bool finals = race_progress(r, NULL, NULL) == RACE_FINALS;
        for (size_t i = 0; i < count; i++)
            if (order[i] == 0 && finals)
                samples_ns[i] += 2000;
    }
    const race_result *result = race_conclude(r);
    assert_int_equal(result->fastest, 1);
    assert_int_equal(standing_of(result, 0)->time.median_ns, 102000);
    race_free(r);
}

TEST(identical_kernels_end_tied)
{
    size_t tied = 0;
    for (uint64_t seed = 0; seed < 100; seed++) {
        set_up(8, 1e5, 0);
        race_options options = with_seed(seed);
        race *r = start(&options, 8);
        synthetic_clock clock = usual_clock(1000 + seed);
        const race_result *result = synthetic_clock_race(&clock, r, true_ns, samples_ns);
        assert_int_not_equal(result->verdict, RACE_CLEAR);
        tied += result->tied == 7;
        race_free(r);
    }
    assert_true(tied >= 95);
}

TEST(two_percent_apart_is_clear_and_in_order)
{
    size_t clear = 0;
    for (uint64_t seed = 0; seed < 100; seed++) {
        set_up(2, 1e5, 0.02);
        race_options options = with_seed(seed);
        race *r = start(&options, 2);
        synthetic_clock clock = usual_clock(2000 + seed);
        const race_result *result = synthetic_clock_race(&clock, r, true_ns, samples_ns);
        assert_int_equal(result->winner, 0);
        clear += result->verdict == RACE_CLEAR;
        race_free(r);
    }
    assert_true(clear >= 98);
}

TEST(the_interval_of_a_ratio_holds_the_truth)
{
    size_t held = 0;
    for (uint64_t seed = 0; seed < 200; seed++) {
        set_up(2, 1e5, 0.03);
        race_options options = with_seed(seed);
        race *r = start(&options, 2);
        synthetic_clock clock = usual_clock(3000 + seed);
        const race_result *result = synthetic_clock_race(&clock, r, true_ns, samples_ns);
        const race_standing *s = standing_of(result, 1);
        held += s->low <= 1.03 && 1.03 <= s->high;
        race_free(r);
    }
    /* A bound is wrong with a probability of 1 %. */
    assert_true(held >= 190);
}

TEST(among_tied_entrants_the_default_wins_then_fewer_resources)
{
    set_up(4, 1e5, 0);
    entrants[1].registers = 20;
    entrants[2].registers = 20;
    entrants[1].shared_bytes = 4096;
    entrants[2].shared_bytes = 1024;
    race_options options = with_seed(12);
    race *r = start(&options, 4);
    assert_int_equal(finish_exactly(r)->winner, 2);
    race_free(r);
    entrants[1].shared_bytes = 1024;
    entrants[1].order = 9;
    r = start(&options, 4);
    assert_int_equal(finish_exactly(r)->winner, 2);
    race_free(r);
    options.default_entrant = 3;
    r = start(&options, 4);
    const race_result *result = finish_exactly(r);
    assert_int_equal(result->winner, 3);
    assert_int_equal(result->verdict, RACE_TIED);
    assert_int_equal(result->tied, 3);
    assert_int_equal(result->ranking[0].entrant, 3);
    race_free(r);
}

TEST(fewer_registers_do_not_win_over_time)
{
    set_up(2, 1e5, 0.003);
    entrants[1].registers = 1;
    race_options options = with_seed(13);
    race *r = start(&options, 2);
    assert_int_equal(finish_exactly(r)->winner, 0);
    race_free(r);
}

TEST(a_winner_always_has_a_rival_in_the_finals)
{
    set_up(20, 1e5, 0.01);
    race_options options = with_seed(27);
    race *r = start(&options, 20);
    const race_result *result = finish_exactly(r);
    assert_int_equal(result->ranking[1].left_at, RACE_FINALS);
    assert_int_equal(result->ranking[1].entrant, 1);
    assert_true(isfinite(result->half_width));
    race_free(r);
}

TEST(entrants_cut_for_lack_of_places_count_as_tied)
{
    set_up(12, 1e5, 0);
    race_options options = with_seed(14);
    race *r = start(&options, 12);
    synthetic_clock clock = usual_clock(14);
    const race_result *result = synthetic_clock_race(&clock, r, true_ns, samples_ns);
    assert_int_equal(result->verdict, RACE_TIED);
    assert_int_equal(result->tied, 11);
    size_t finalists = 0;
    for (size_t i = 0; i < 12; i++)
        finalists += result->ranking[i].left_at == RACE_FINALS;
    assert_int_equal(finalists, options.finalists);
    race_free(r);
}

TEST(a_tie_caused_by_noise_doubles_the_finals)
{
    set_up(2, 1e5, 0);
    synthetic_machine machine = synthetic_machine_usual();
    machine.noise = 0.05;
    synthetic_clock clock = synthetic_clock_start(&machine, 15);
    race_options options = with_seed(15);
    race *r = start(&options, 2);
    const race_result *result = synthetic_clock_race(&clock, r, true_ns, samples_ns);
    assert_int_equal(result->ranking[0].time.count, 2 * options.finals_blocks);
    assert_int_equal(result->verdict, RACE_TIED);
    assert_true(result->noisy);
    race_free(r);
}

TEST(a_quiet_machine_is_not_called_noisy)
{
    set_up(2, 1e5, 0);
    synthetic_machine machine = {.noise = 0.002};
    synthetic_clock clock = synthetic_clock_start(&machine, 16);
    race_options options = with_seed(16);
    race *r = start(&options, 2);
    const race_result *result = synthetic_clock_race(&clock, r, true_ns, samples_ns);
    assert_false(result->noisy);
    assert_true(result->half_width < 0.005);
    race_free(r);
}

TEST(a_coarse_clock_does_not_separate_times_within_a_tick)
{
    /* The true times are 10 us and 10.2 us, without noise. The clock has a tick of 500 ns, so
     * the two samples of a block are equal or differ by one tick. */
    set_up(2, 10e3, 0);
    race_options options = with_seed(17);
    options.tick_ns = 500;
    race *r = start(&options, 2);
    const uint32_t *order;
    for (size_t count; (count = race_next(r, &order)) > 0; race_tell(r, samples_ns))
        for (size_t i = 0; i < count; i++)
            samples_ns[i] = order[i] ? 10500 : 10000;
    assert_int_equal(race_conclude(r)->verdict, RACE_TIED);
    race_free(r);
}

TEST(a_finalist_excluded_after_the_race_loses_its_win)
{
    set_up(10, 1e5, 0.02);
    race_options options = with_seed(20);
    race *r = start(&options, 10);
    assert_int_equal(finish_exactly(r)->winner, 0);
    race_exclude(r, 0);
    const uint32_t *order;
    assert_int_equal(race_next(r, &order), 0);
    const race_result *result = race_conclude(r);
    assert_int_equal(result->winner, 1);
    assert_true(standing_of(result, 1)->ratio == 1);
    race_free(r);
}

TEST(when_all_finalists_are_excluded_the_next_best_are_measured)
{
    set_up(20, 1e5, 0.005);
    race_options options = with_seed(21);
    options.default_entrant = 19;
    race *r = start(&options, 20);
    const race_result *result = finish_exactly(r);
    uint32_t finalists[20];
    size_t count = 0;
    for (size_t i = 0; i < 20; i++)
        if (result->ranking[i].left_at == RACE_FINALS && result->ranking[i].entrant != 19)
            finalists[count++] = result->ranking[i].entrant;
    assert_true(count >= 1 && count <= options.finalists);
    for (size_t i = 0; i < count; i++)
        race_exclude(r, finalists[i]);
    const uint32_t *order;
    assert_true(race_next(r, &order) > 1);
    result = finish_exactly(r);
    assert_int_equal(result->winner, count);
    assert_int_equal(result->stage, RACE_FINISHED);
    race_free(r);
}

TEST(drift_between_blocks_does_not_decide)
{
    /* The speed of the machine drifts by 3 %, which is much more than the entrants differ. */
    synthetic_machine machine = synthetic_machine_usual();
    machine.wander = 0.03;
    machine.wander_ns = 50e6;
    size_t right = 0;
    for (uint64_t seed = 0; seed < 50; seed++) {
        set_up(10, 1e5, 0.01);
        race_options options = with_seed(seed);
        race *r = start(&options, 10);
        synthetic_clock clock = synthetic_clock_start(&machine, seed);
        right += synthetic_clock_race(&clock, r, true_ns, samples_ns)->winner == 0;
        race_free(r);
    }
    assert_true(right >= 48);
}
