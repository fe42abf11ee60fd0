#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "search/race/balance.h"
#include "search/race/race.h"
#include "synthetic_clock.h"

enum { MOST = 4096 };

static race_entrant entrants[MOST];
static double true_ns[MOST];
static int64_t samples_ns[MOST];

static void set_up(size_t count, double base_ns, double spread)
{
    for (size_t i = 0; i < count; i++) {
        entrants[i] = (race_entrant){.registers = 32, .order = i};
        true_ns[i] = base_ns * (1 + spread * (double)i);
    }
}

static race *start(const race_options *options, size_t count)
{
    race *r = NULL;
    at_error error = {0};
    assert_ok(race_new(options, entrants, count, &r, &error), error);
    return r;
}

static race_options with_seed(uint64_t seed)
{
    race_options options = race_defaults();
    options.seed = seed;
    return options;
}

static synthetic_clock usual_clock(uint64_t seed)
{
    synthetic_machine machine = synthetic_machine_usual();
    return synthetic_clock_start(&machine, seed);
}

static void fill(size_t count, const uint32_t *order)
{
    for (size_t i = 0; i < count; i++)
        samples_ns[i] = (int64_t)true_ns[order[i]];
}

/* Runs `r` on exact times. */
static const race_result *finish_exactly(race *r)
{
    const uint32_t *order;
    for (size_t count; (count = race_next(r, &order)) > 0; race_tell(r, samples_ns))
        fill(count, order);
    return race_conclude(r);
}

static const race_standing *standing_of(const race_result *result, uint32_t entrant)
{
    for (size_t i = 0; i < result->count; i++)
        if (result->ranking[i].entrant == entrant)
            return &result->ranking[i];
    fail_msg("entrant %u has no standing", entrant);
    return NULL;
}

static void a_single_entrant_is_measured_and_wins(void **state)
{
    (void)state;
    set_up(1, 1e5, 0);
    race_options options = with_seed(1);
    race *r = start(&options, 1);
    const race_result *result = finish_exactly(r);
    assert_true(result->has_winner);
    assert_int_equal(result->winner, 0);
    assert_int_equal(result->verdict, RACE_CLEAR);
    assert_int_equal(result->ranking[0].time.count, options.finals_blocks);
    assert_int_equal(result->ranking[0].time.median_ns, 100000);
    race_free(r);
}

static void every_block_asks_every_survivor_once(void **state)
{
    (void)state;
    set_up(50, 1e5, 0.004);
    race_options options = with_seed(2);
    race *r = start(&options, 50);
    synthetic_clock clock = usual_clock(2);
    const uint32_t *order;
    size_t before = 50;
    for (size_t count; (count = race_next(r, &order)) > 0; race_tell(r, samples_ns)) {
        bool seen[50] = {false};
        assert_true(count <= before);
        before = count;
        for (size_t i = 0; i < count; i++) {
            assert_true(order[i] < 50 && !seen[order[i]]);
            seen[order[i]] = true;
            samples_ns[i] = synthetic_clock_sample(&clock, true_ns[order[i]]);
        }
    }
    race_free(r);
}

static void asking_twice_gives_the_same_block(void **state)
{
    (void)state;
    set_up(20, 1e5, 0.01);
    race_options options = with_seed(3);
    race *r = start(&options, 20);
    const uint32_t *order;
    uint32_t first[20];
    assert_int_equal(race_next(r, &order), 20);
    memcpy(first, order, sizeof first);
    assert_int_equal(race_next(r, &order), 20);
    assert_memory_equal(first, order, sizeof first);
    race_free(r);
}

static void blocks_come_in_different_orders(void **state)
{
    (void)state;
    set_up(30, 1e5, 0.0001);
    race_options options = with_seed(4);
    race *r = start(&options, 30);
    const uint32_t *order;
    uint32_t first[30];
    memcpy(first, (race_next(r, &order), order), sizeof first);
    fill(30, order);
    race_tell(r, samples_ns);
    assert_int_equal(race_next(r, &order), 30);
    assert_memory_not_equal(first, order, sizeof first);
    race_free(r);
}

static void the_same_seed_and_samples_replay_the_same_race(void **state)
{
    (void)state;
    set_up(100, 1e5, 0.002);
    race_options options = with_seed(5);
    race *a = start(&options, 100), *b = start(&options, 100);
    synthetic_clock clock = usual_clock(5);
    const uint32_t *order, *again;
    for (size_t count; (count = race_next(a, &order)) > 0;) {
        assert_int_equal(race_next(b, &again), count);
        assert_memory_equal(order, again, count * sizeof *order);
        for (size_t i = 0; i < count; i++)
            samples_ns[i] = synthetic_clock_sample(&clock, true_ns[order[i]]);
        race_tell(a, samples_ns);
        race_tell(b, samples_ns);
    }
    assert_int_equal(race_next(b, &again), 0);
    assert_int_equal(race_conclude(a)->winner, race_conclude(b)->winner);
    race_free(a);
    race_free(b);
}

static void earlier_samples_far_above_the_best_are_out_unmeasured(void **state)
{
    (void)state;
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

static void entrants_without_an_earlier_sample_are_screened(void **state)
{
    (void)state;
    set_up(10, 1e5, 0.1);
    entrants[9].fastest_ns = 190000;
    race_options options = with_seed(7);
    race *r = start(&options, 10);
    assert_int_equal(race_progress(r, NULL, NULL), RACE_SCREEN);
    const race_result *result = finish_exactly(r);
    assert_int_equal(result->winner, 0);
    /* 1.2 times the best is within the margin, 1.3 is not. */
    assert_int_equal(standing_of(result, 2)->left_at, RACE_FINALS);
    assert_int_equal(standing_of(result, 3)->left_at, RACE_SCREEN);
    assert_int_equal(standing_of(result, 3)->time.count, 2);
    race_free(r);
}

static void one_outlier_does_not_screen_the_best_out(void **state)
{
    (void)state;
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

static void a_slow_default_is_ranked_by_its_time(void **state)
{
    (void)state;
    set_up(20, 1e5, 0.02);
    race_options options = with_seed(28);
    options.default_entrant = 12;
    race *r = start(&options, 20);
    const race_result *result = finish_exactly(r);
    for (uint32_t i = 0; i < 20; i++)
        assert_int_equal(result->ranking[i].entrant, i);
    race_free(r);
}

static void the_default_is_measured_in_the_finals_however_slow(void **state)
{
    (void)state;
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

/* Of the finals' samples, how many are the default's and how many the winner's. */
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

static void a_default_far_behind_leaves_the_finals_and_one_that_is_near_does_not(void **state)
{
    (void)state;
    size_t of_default, of_winner;
    count_finals(5e5, &of_default, &of_winner);
    assert_true(of_default <= 12);
    assert_true(of_winner >= race_defaults().finals_blocks);
    count_finals(1.25e5, &of_default, &of_winner);
    assert_true(of_winner >= race_defaults().finals_blocks);
    assert_int_equal(of_default, of_winner);
}

static void a_default_that_left_the_finals_wins_when_all_others_are_excluded(void **state)
{
    (void)state;
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

static void the_finals_are_balanced(void **state)
{
    (void)state;
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

static void only_the_finals_decide(void **state)
{
    (void)state;
    /* In the heats entrant 0 is lucky; measured afresh it is not. */
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

static void identical_kernels_end_tied(void **state)
{
    (void)state;
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

static void two_percent_apart_is_clear_and_in_order(void **state)
{
    (void)state;
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

static void the_interval_of_a_ratio_holds_the_truth(void **state)
{
    (void)state;
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
    /* Each side is wrong in 1 %. */
    assert_true(held >= 190);
}

static void among_the_tied_the_default_then_fewer_resources_win(void **state)
{
    (void)state;
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

static void fewer_registers_do_not_win_over_time(void **state)
{
    (void)state;
    set_up(2, 1e5, 0.003);
    entrants[1].registers = 1;
    race_options options = with_seed(13);
    race *r = start(&options, 2);
    assert_int_equal(finish_exactly(r)->winner, 0);
    race_free(r);
}

static void a_winner_always_has_a_rival_in_the_finals(void **state)
{
    (void)state;
    set_up(20, 1e5, 0.01);
    race_options options = with_seed(27);
    race *r = start(&options, 20);
    const race_result *result = finish_exactly(r);
    assert_int_equal(result->ranking[1].left_at, RACE_FINALS);
    assert_int_equal(result->ranking[1].entrant, 1);
    assert_true(isfinite(result->half_width));
    race_free(r);
}

static void those_cut_for_lack_of_places_count_as_tied(void **state)
{
    (void)state;
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

static void a_tie_that_noise_made_is_measured_once_more_as_long(void **state)
{
    (void)state;
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

static void a_quiet_machine_is_not_called_noisy(void **state)
{
    (void)state;
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

static void a_coarse_clock_does_not_separate_what_it_cannot_see(void **state)
{
    (void)state;
    /* 10 us and 10.2 us on a clock of 500 ns, without noise: either both read the same or they read
     * a whole tick apart. */
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

static void an_entrant_that_fails_leaves_and_the_race_goes_on(void **state)
{
    (void)state;
    set_up(20, 1e5, 0.01);
    race_options options = with_seed(18);
    options.default_entrant = 3;
    race *r = start(&options, 20);
    const uint32_t *order;
    size_t told = 0;
    for (size_t count; (count = race_next(r, &order)) > 0; race_tell(r, samples_ns)) {
        fill(count, order);
        told++;
        for (size_t i = 0; i < count; i++) {
            bool late = race_progress(r, NULL, NULL) == RACE_FINALS && told % 7 == 0;
            if ((order[i] == 0 && told > 2) || (order[i] == 3 && late))
                samples_ns[i] = -1;
        }
    }
    const race_result *result = race_conclude(r);
    assert_int_equal(result->winner, 1);
    assert_true(standing_of(result, 0)->failed);
    assert_true(standing_of(result, 3)->failed);
    assert_true(result->ranking[19].failed && result->ranking[18].failed);
    assert_int_equal(result->verdict, RACE_CLEAR);
    race_free(r);
}

static void a_race_in_which_all_fail_has_no_winner(void **state)
{
    (void)state;
    set_up(30, 1e5, 0.001);
    race_options options = with_seed(19);
    options.default_entrant = 0;
    race *r = start(&options, 30);
    const uint32_t *order;
    memset(samples_ns, 0, sizeof samples_ns);
    for (size_t count; (count = race_next(r, &order)) > 0;)
        race_tell(r, samples_ns);
    const race_result *result = race_conclude(r);
    assert_false(result->has_winner);
    for (size_t i = 0; i < 30; i++)
        assert_true(result->ranking[i].failed);
    race_free(r);
}

static void a_finalist_excluded_after_the_race_loses_its_win(void **state)
{
    (void)state;
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

static void when_all_finalists_are_excluded_the_next_best_are_measured(void **state)
{
    (void)state;
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

static void a_stopped_race_is_inconclusive_with_the_best_so_far(void **state)
{
    (void)state;
    for (size_t blocks = 0; blocks < 60; blocks++) {
        set_up(40, 1e5, 0.004);
        entrants[7].fastest_ns = 0;
        race_options options = with_seed(22);
        options.default_entrant = 39;
        race *r = start(&options, 40);
        const uint32_t *order;
        size_t count = 0;
        for (size_t b = 0; b < blocks && (count = race_next(r, &order)) > 0; b++) {
            fill(count, order);
            race_tell(r, samples_ns);
        }
        bool finished = race_next(r, &order) == 0;
        race_stop(r);
        assert_int_equal(race_next(r, &order), 0);
        const race_result *result = race_conclude(r);
        assert_true(result->has_winner);
        if (!finished)
            assert_int_equal(result->verdict, RACE_INCONCLUSIVE);
        if (blocks > 0)
            assert_int_equal(result->winner, 0);
        race_free(r);
    }
}

static void progress_never_asks_for_more_than_it_announced(void **state)
{
    (void)state;
    set_up(60, 1e5, 0.003);
    race_options options = with_seed(24);
    options.default_entrant = 5;
    race *r = start(&options, 60);
    synthetic_clock clock = usual_clock(24);
    uint64_t done, left, total, last = UINT64_MAX;
    const uint32_t *order;
    for (size_t count; (count = race_next(r, &order)) > 0; race_tell(r, samples_ns)) {
        race_progress(r, &done, &left);
        total = done + left;
        assert_true(done == clock.samples && left >= count);
        assert_true(total <= last || race_progress(r, NULL, NULL) == RACE_FINALS);
        last = total;
        for (size_t i = 0; i < count; i++)
            samples_ns[i] = synthetic_clock_sample(&clock, true_ns[order[i]]);
    }
    race_progress(r, &done, &left);
    assert_true(left == 0);
    race_free(r);
}

static void the_ranking_lists_everyone_once_in_order(void **state)
{
    (void)state;
    set_up(300, 1e5, 0.002);
    race_options options = with_seed(25);
    race *r = start(&options, 300);
    synthetic_clock clock = usual_clock(25);
    const race_result *result = synthetic_clock_race(&clock, r, true_ns, samples_ns);
    bool seen[300] = {false};
    for (size_t i = 0; i < 300; i++) {
        const race_standing *s = &result->ranking[i];
        assert_false(seen[s->entrant]);
        seen[s->entrant] = true;
        assert_true(s->ratio >= 1);
        assert_true(s->low <= s->ratio && s->ratio <= s->high);
        if (i > 1 && s[-1].left_at == s->left_at)
            assert_true(s[-1].ratio <= s->ratio);
    }
    assert_int_equal(result->ranking[0].entrant, result->winner);
    race_free(r);
}

static void thousands_are_narrowed_down_in_few_samples(void **state)
{
    (void)state;
    set_up(MOST, 1e5, 0.2 / MOST);
    race_options options = with_seed(26);
    race *r = start(&options, MOST);
    synthetic_clock clock = usual_clock(26);
    const race_result *result = synthetic_clock_race(&clock, r, true_ns, samples_ns);
    /* Within a twentieth of the spread, from fewer samples than ten a variant. */
    assert_true(true_ns[result->winner] / true_ns[0] < 1.005);
    assert_true(clock.samples < 10 * MOST);
    race_free(r);
}

/* Entrants in random order, each with the fastest of three samples on this clock. */
static void set_up_tried(size_t count, double spread, synthetic_clock *clock)
{
    set_up(count, 1e5, spread / (double)count);
    for (size_t i = count; i > 1; i--) {
        size_t j = (size_t)rng_below(&clock->random, i);
        double swapped = true_ns[i - 1];
        true_ns[i - 1] = true_ns[j];
        true_ns[j] = swapped;
    }
    /* The machine is warm when variants are tried. */
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

static void of_thousands_with_earlier_samples_few_are_measured_again(void **state)
{
    (void)state;
    bool lost;
    /* Two samples of everybody within 1.3 times the best would be all of them, twice. */
    assert_true(samples_of_race(MOST, 0.003, 31, &lost) < MOST);
    assert_false(lost);
}

static void the_more_earlier_samples_err_the_more_are_measured_again(void **state)
{
    (void)state;
    bool lost;
    uint64_t exact = samples_of_race(2048, 0.002, 32, &lost);
    assert_true(samples_of_race(2048, 0.02, 32, &lost) > 2 * exact);
}

static void a_probe_loses_the_best_no_more_often_than_alpha(void **state)
{
    (void)state;
    size_t times = 0;
    for (uint64_t seed = 0; seed < 100; seed++) {
        bool lost;
        samples_of_race(512, 0.008, 100 + seed, &lost);
        times += lost;
    }
    assert_true(times <= 3); /* one is expected at most; more than three in 100 have a chance of 2 % */
}

static void blocks_of_the_probe_do_not_compare_those_who_were_not_in_it(void **state)
{
    (void)state;
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

static void a_race_goes_on_when_all_who_were_probed_fail(void **state)
{
    (void)state;
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

static void drift_between_blocks_does_not_decide(void **state)
{
    (void)state;
    /* The machine wanders by 3 %, slowly: far more than what separates the entrants. */
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

static void names_are_what_reports_print(void **state)
{
    (void)state;
    assert_string_equal(race_stage_name(RACE_PRIOR), "prior");
    assert_string_equal(race_stage_name(RACE_FINISHED), "finished");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_single_entrant_is_measured_and_wins),
        cmocka_unit_test(every_block_asks_every_survivor_once),
        cmocka_unit_test(asking_twice_gives_the_same_block),
        cmocka_unit_test(blocks_come_in_different_orders),
        cmocka_unit_test(the_same_seed_and_samples_replay_the_same_race),
        cmocka_unit_test(earlier_samples_far_above_the_best_are_out_unmeasured),
        cmocka_unit_test(entrants_without_an_earlier_sample_are_screened),
        cmocka_unit_test(one_outlier_does_not_screen_the_best_out),
        cmocka_unit_test(a_slow_default_is_ranked_by_its_time),
        cmocka_unit_test(the_default_is_measured_in_the_finals_however_slow),
        cmocka_unit_test(a_default_far_behind_leaves_the_finals_and_one_that_is_near_does_not),
        cmocka_unit_test(a_default_that_left_the_finals_wins_when_all_others_are_excluded),
        cmocka_unit_test(the_finals_are_balanced),
        cmocka_unit_test(only_the_finals_decide),
        cmocka_unit_test(identical_kernels_end_tied),
        cmocka_unit_test(two_percent_apart_is_clear_and_in_order),
        cmocka_unit_test(the_interval_of_a_ratio_holds_the_truth),
        cmocka_unit_test(among_the_tied_the_default_then_fewer_resources_win),
        cmocka_unit_test(fewer_registers_do_not_win_over_time),
        cmocka_unit_test(a_winner_always_has_a_rival_in_the_finals),
        cmocka_unit_test(those_cut_for_lack_of_places_count_as_tied),
        cmocka_unit_test(a_tie_that_noise_made_is_measured_once_more_as_long),
        cmocka_unit_test(a_quiet_machine_is_not_called_noisy),
        cmocka_unit_test(a_coarse_clock_does_not_separate_what_it_cannot_see),
        cmocka_unit_test(an_entrant_that_fails_leaves_and_the_race_goes_on),
        cmocka_unit_test(a_race_in_which_all_fail_has_no_winner),
        cmocka_unit_test(a_finalist_excluded_after_the_race_loses_its_win),
        cmocka_unit_test(when_all_finalists_are_excluded_the_next_best_are_measured),
        cmocka_unit_test(a_stopped_race_is_inconclusive_with_the_best_so_far),
        cmocka_unit_test(progress_never_asks_for_more_than_it_announced),
        cmocka_unit_test(the_ranking_lists_everyone_once_in_order),
        cmocka_unit_test(thousands_are_narrowed_down_in_few_samples),
        cmocka_unit_test(of_thousands_with_earlier_samples_few_are_measured_again),
        cmocka_unit_test(the_more_earlier_samples_err_the_more_are_measured_again),
        cmocka_unit_test(a_probe_loses_the_best_no_more_often_than_alpha),
        cmocka_unit_test(blocks_of_the_probe_do_not_compare_those_who_were_not_in_it),
        cmocka_unit_test(a_race_goes_on_when_all_who_were_probed_fail),
        cmocka_unit_test(drift_between_blocks_does_not_decide),
        cmocka_unit_test(names_are_what_reports_print),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
