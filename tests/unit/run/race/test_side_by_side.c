/* Tests races of two sides: which side is called faster, and when the race ends. The test knows
 * the true times. Samples have noise. */
#include <stdlib.h>

#include "base/rng.h"
#include "check.h"
#include "normal.h"
#include "run/race/side_by_side.h"

enum { BLOCKS = 60, MOST = 6 };

typedef struct race {
    side sides[MOST];
    int64_t samples[MOST][BLOCKS];
    size_t count;
    rng random;
} race;

/* Makes a race with these true times. `noise` is the relative noise of a sample. */
static race *race_of(const double *times_ns, size_t count, double noise, uint64_t seed)
{
    race *r = calloc(1, sizeof *r);
    assert_non_null(r);
    r->random = rng_seeded(seed);
    r->count = count;
    for (size_t i = 0; i < count; i++)
        r->sides[i] = (side){.outcome = OUTCOME_OK, .samples_ns = r->samples[i]};
    for (size_t b = 0; b < BLOCKS; b++) {
        double drift = 1 + 0.05 * rng_uniform(&r->random); /* one drift for the whole block */
        for (size_t i = 0; i < count; i++)
            r->samples[i][b] =
                (int64_t)(times_ns[i] * drift * (1 + noise * rng_normal(&r->random)));
    }
    return r;
}

/* Runs the race as side_by_side_run() does. Returns the number of blocks. Sets taken[] to the
 * number of samples of each side; `taken` may be NULL. */
static size_t finish_counted(race *r, double margin, side_standing *out, size_t *taken)
{
    side_judge judge = {.margin = margin, .blocks = BLOCKS};
    size_t blocks = 0;
    while (blocks < BLOCKS && !side_judge_enough(&judge, r->sides, r->count, blocks)) {
        blocks++;
        for (size_t i = 0; i < r->count; i++)
            if (!r->sides[i].settled)
                r->sides[i].sample_count = blocks;
    }
    side_judge_enough(&judge, r->sides, r->count, blocks);
    *out = judge.standing;
    for (size_t i = 0; taken && i < r->count; i++)
        taken[i] = r->sides[i].sample_count;
    free(r);
    return blocks;
}

static size_t finish(race *r, double margin, side_standing *out)
{
    return finish_counted(r, margin, out, NULL);
}

TEST(of_equal_kernels_none_is_called_faster)
{
    static const double times[] = {1e5, 1e5, 1e5, 1e5, 1e5, 1e5};
    size_t wrong = 0, blocks = 0;
    side_standing found;
    for (uint64_t seed = 1; seed <= 1000; seed++) {
        blocks += finish(race_of(times, 6, 0.01, seed), 0, &found);
        wrong += found.rival != 0;
    }
    /* Half a percent of 1000 verdicts may be wrong. The bound leaves room for chance. */
    assert_true(wrong <= 12);
    assert_true(blocks > 1000 * 50); /* without a margin, a race between equal kernels is long */
}

TEST(a_faster_side_and_its_interval_are_found_in_few_blocks)
{
    static const double times[] = {1.03e5, 1.05e5, 1e5, 1.02e5};
    size_t right = 0, covered = 0, blocks = 0;
    side_standing found;
    for (uint64_t seed = 1; seed <= 200; seed++) {
        blocks += finish(race_of(times, 4, 0.003, seed), 0.005, &found);
        right += found.rival == 2;
        covered += found.low <= 1.03 && found.high >= 1.03;
    }
    assert_int_equal(right, 200);
    assert_true(covered >= 198);
    assert_true(blocks < 200 * 30);
}

TEST(a_difference_within_the_margin_ends_the_race_at_once)
{
    static const double times[] = {1.002e5, 1e5};
    side_standing found;
    size_t blocks = finish(race_of(times, 2, 0.0005, 1), 0.005, &found);
    assert_int_equal(found.rival, 0);
    assert_true(found.decided);
    assert_true(blocks <= 9);
}

TEST(noise_that_hides_the_difference_is_not_decided)
{
    static const double times[] = {1.006e5, 1e5};
    side_standing found;
    assert_int_equal(finish(race_of(times, 2, 0.05, 1), 0.005, &found), BLOCKS);
    assert_int_equal(found.rival, 0);
    assert_false(found.decided);
}

TEST(a_side_that_is_surely_slower_is_timed_no_more)
{
    static const double times[] = {1.005e5, 1e5, 3e5};
    side_standing found;
    size_t taken[3];
    finish_counted(race_of(times, 3, 0.01, 1), 0.005, &found, taken);
    assert_false(found.decided);
    assert_int_equal(taken[0], BLOCKS);
    assert_int_equal(taken[1], BLOCKS);
    assert_int_equal(taken[2], 6);
}

TEST(a_failed_side_is_no_rival)
{
    static const double times[] = {2e5, 1e5, 3e5};
    side_standing found;
    race *r = race_of(times, 3, 0.001, 1);
    r->sides[1].outcome = OUTCOME_WRONG_RESULT;
    finish(r, 0.005, &found);
    assert_int_equal(found.rival, 0);
    assert_true(found.decided);
}
