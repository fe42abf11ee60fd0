/* Tests the course of a race: blocks, samples, failures and its end. */
#include "race_fixture.h"

TEST(a_single_entrant_is_measured_and_wins)
{
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

TEST(every_block_samples_every_survivor_once)
{
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

TEST(a_block_asked_for_twice_is_the_same)
{
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

TEST(blocks_come_in_different_orders)
{
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

TEST(the_same_seed_and_samples_replay_the_same_race)
{
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

/* A race of hundreds of entrants begins with a probe. A race of a hundred entrants without
 * earlier samples begins with a screening. */
TEST(race_blocks_ahead_is_the_number_of_equal_blocks)
{
    static const size_t counts[] = {300, 100};
    for (size_t k = 0; k < 2; k++) {
        set_up(counts[k], 1e5, 0.1 / (double)counts[k]);
        for (size_t i = 0; i < counts[k]; i++)
            entrants[i].fastest_ns = k == 0 ? (int64_t)true_ns[i] : 0;
        race_options options = with_seed(31);
        race *r = start(&options, counts[k]);
        const uint32_t *order;
        size_t alike = 0, asked_of = 0;
        for (size_t count; (count = race_next(r, &order)) > 0; race_tell(r, samples_ns)) {
            if (alike > 0)
                assert_int_equal(count, asked_of);
            alike = alike > 0 ? alike : race_blocks_ahead(r);
            assert_true(alike >= 1);
            assert_true(race_progress(r, NULL, NULL) < RACE_FINALS || alike == 1);
            asked_of = count;
            alike--;
            fill(count, order);
        }
        assert_int_equal(race_blocks_ahead(r), 0);
        race_free(r);
    }
}

TEST(an_entrant_that_fails_leaves_and_the_race_goes_on)
{
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

TEST(a_race_in_which_all_fail_has_no_winner)
{
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

TEST(a_stopped_race_is_inconclusive_with_the_best_so_far)
{
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

TEST(progress_never_asks_for_more_than_it_announced)
{
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

TEST(the_ranking_lists_everyone_once_in_order)
{
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

TEST(names_are_what_reports_print)
{
    assert_string_equal(race_stage_name(RACE_PRIOR), "prior");
    assert_string_equal(race_stage_name(RACE_FINISHED), "finished");
}
