/* Tests the tuner of a site, in programs with a simulated clock and without a device. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "check.h"
#include "library/site_tuner.h"
#include "synthetic_clock.h"

enum { MOST = 1024, MOST_LATE = 64, OVERHEAD_NS = 2000 };

/* A trial whose time reaches the tuner only later. */
typedef struct late {
    uint64_t ticket, due;
    site_sample sample;
} late;

/* A program with one site. */
typedef struct program {
    site_tuner *tuner;
    synthetic_clock clock;
    /* drift: share by which times rise and fall within `period` calls */
    double true_ns[MOST], drift, period;
    size_t count, delay; /* delay: number of calls between a call and the arrival of its time */
    double first_ns;     /* extra host time of a configuration's first launch */
    double spikes;       /* share of the trials whose time is fifty times as long */
    double interrupted;  /* share of the calls whose time is twenty times as long */
    double crowd;        /* mean time that other streams add to a call, in times of the default */
    bool ran[MOST];
    int64_t lose_every; /* every n-th time is lost; 0: no time is lost */
    late late[MOST_LATE];
    size_t late_count;
    uint64_t calls, trials, tickets;
    /* extra: time in excess of the fastest configuration, in calls without trials */
    double seen_ns, extra_ns, worst_extra_ns;
    double slowest_plain; /* time of the slowest call that is no trial, relative to the default */
} program;

static size_t propose_all(void *context, size_t round, uint32_t incumbent, uint32_t *out,
                          size_t most)
{
    const program *p = context;
    (void)incumbent;
    size_t count = 0;
    for (uint32_t i = 1; round == 0 && i < p->count && count < most; i++)
        out[count++] = i;
    return count;
}

static void start_on(program *p, const synthetic_machine *machine, site_proposer *propose,
                     double share, uint64_t seed)
{
    const site_rules rules = {.share = share, .seed = seed, .propose = propose, .context = p};
    p->clock = synthetic_clock_start(machine, seed);
    p->tuner = site_tuner_new(&rules);
    assert_non_null(p->tuner);
}

static void start(program *p, site_proposer *propose, double share, uint64_t seed)
{
    const synthetic_machine usual = synthetic_machine_usual();
    start_on(p, &usual, propose, share, seed);
}

/* Draws times from half to three times the time of the default. Some times are nearly equal. */
static void draw_times(program *p, size_t count, uint64_t seed)
{
    rng random = rng_seeded(seed);
    p->count = count;
    p->true_ns[0] = 2e4 * exp(4 * rng_uniform(&random));
    for (size_t i = 1; i < count; i++)
        p->true_ns[i] = p->true_ns[0] * exp(log(0.5) + log(6) * rng_uniform(&random));
}

static void tell(program *p)
{
    for (size_t i = p->late_count; i-- > 0;)
        if (p->late[i].due <= p->calls) {
            late l = p->late[i];
            p->late[i] = p->late[--p->late_count];
            site_tuner_end(p->tuner, l.ticket, &l.sample);
        }
}

/* Makes one call of the site. Returns the configuration that the call used. */
static uint32_t call(program *p)
{
    site_account before = site_tuner_account(p->tuner);
    site_turn turn = site_tuner_begin(p->tuner, true);
    site_account after = site_tuner_account(p->tuner);
    bool trial = after.trials > before.trials;
    double scale = 1 + p->drift * sin((double)p->calls / (p->period > 0 ? p->period : 3000));
    int64_t time_ns = synthetic_clock_sample(&p->clock, scale * p->true_ns[turn.configuration]);
    int64_t host_ns = 3000;
    bool spike =
        trial && turn.configuration != after.incumbent && rng_uniform(&p->clock.random) < p->spikes;
    if (spike)
        time_ns *= 50;
    time_ns -= (int64_t)(p->crowd * p->true_ns[0] * log(1 - rng_uniform(&p->clock.random)));
    if (rng_uniform(&p->clock.random) < p->interrupted)
        time_ns *= 20;
    if (!p->ran[turn.configuration]) {
        int64_t load_ns = (int64_t)(p->first_ns * (0.5 + rng_uniform(&p->clock.random)));
        host_ns += load_ns;
        time_ns += load_ns;
        p->ran[turn.configuration] = true;
    }
    p->calls++;
    p->seen_ns += (double)time_ns;
    double extra =
        scale * (p->true_ns[turn.configuration] * (spike ? 50 : 1) - p->true_ns[after.incumbent]);
    extra = (trial && extra > 0 ? extra : 0) + (turn.ticket ? OVERHEAD_NS : 0);
    p->extra_ns += extra;
    p->worst_extra_ns = extra > p->worst_extra_ns ? extra : p->worst_extra_ns;
    p->trials += trial;
    double ratio = p->true_ns[turn.configuration] / p->true_ns[0];
    if (!trial && ratio > p->slowest_plain)
        p->slowest_plain = ratio;
    bool lost = p->lose_every && turn.ticket && ++p->tickets % (uint64_t)p->lose_every == 0;
    if (turn.ticket && !lost) {
        assert_true(p->late_count < MOST_LATE);
        p->late[p->late_count++] =
            (late){turn.ticket, p->calls + p->delay, {time_ns, host_ns, OVERHEAD_NS}};
    }
    tell(p);
    return turn.configuration;
}

static bool is_decided(const program *p)
{
    return site_tuner_account(p->tuner).phase == SITE_DECIDED;
}

static void run(program *p, uint64_t most_calls)
{
    while (!is_decided(p) && p->calls < most_calls)
        call(p);
}

static double regret(const program *p)
{
    double best = INFINITY;
    for (size_t i = 0; i < p->count; i++)
        best = p->true_ns[i] < best ? p->true_ns[i] : best;
    return p->true_ns[site_tuner_account(p->tuner).incumbent] / best - 1;
}

TEST(a_site_ends_within_a_percent_of_the_fastest)
{
    for (uint64_t seed = 1; seed <= 40; seed++) {
        program p = {0};
        draw_times(&p, 2 + seed, seed);
        start(&p, propose_all, 0.02, seed);
        run(&p, 200000);
        assert_true(is_decided(&p));
        if (regret(&p) > 0.01)
            fail_msg("seed %d: %.2f %% slower than the fastest", (int)seed, 100 * regret(&p));
        site_tuner_free(p.tuner);
    }
}

/* The test knows the true times and computes the cost from them, not from the tuner's account. */
TEST(the_cost_exceeds_the_share_by_at_most_the_trials_in_progress)
{
    static const double shares[] = {0.005, 0.02, 0.1};
    for (uint64_t seed = 1; seed <= 30; seed++) {
        program p = {.delay = seed % 3 * 7};
        double share = shares[seed % 3];
        draw_times(&p, 20, seed);
        start(&p, propose_all, share, seed);
        while (!is_decided(&p) && p.calls < 400000) {
            call(&p);
            /* The tuner knows the times of launches only to a few percent. */
            double launches = p.delay ? 2 : 1; /* number of trials in progress */
            double allowed =
                1.05 * share * p.seen_ns + launches * p.worst_extra_ns + 8 * OVERHEAD_NS;
            if (p.extra_ns > allowed)
                fail_msg("seed %d, call %d: %.0f ns spent, %.0f allowed", (int)seed, (int)p.calls,
                         p.extra_ns, allowed);
        }
        assert_true(is_decided(&p));
        assert_true(p.extra_ns <= share * p.seen_ns);
        site_tuner_free(p.tuner);
    }
}

/* Some launches take much longer than before, and the cost must stay within the share. */
TEST(trials_end_as_soon_as_the_share_is_used_up)
{
    for (uint64_t seed = 1; seed <= 30; seed++) {
        program p = {.spikes = 0.2};
        draw_times(&p, 12, 6000 + seed);
        for (size_t i = 1; i < p.count; i++) /* times that let all candidates reach the race */
            p.true_ns[i] = p.true_ns[0] * (1 + 0.005 * (double)i);
        start(&p, propose_all, 0.02, seed);
        while (!is_decided(&p) && p.calls < 100000) {
            call(&p);
            double allowed = 0.02 * p.seen_ns + p.worst_extra_ns + 8 * OVERHEAD_NS;
            if (p.extra_ns > allowed)
                fail_msg("seed %d, call %d: %.0f ns spent, %.0f allowed", (int)seed, (int)p.calls,
                         p.extra_ns, allowed);
        }
        site_tuner_free(p.tuner);
    }
}

TEST(a_call_that_is_no_trial_is_never_slower_than_the_default)
{
    for (uint64_t seed = 1; seed <= 40; seed++) {
        program p = {.drift = 0.2};
        draw_times(&p, 24, 1000 + seed);
        start(&p, propose_all, 0.02, seed);
        run(&p, 400000);
        if (p.slowest_plain > 1.02)
            fail_msg("seed %d: %.1f %% slower", (int)seed, 100 * p.slowest_plain - 100);
        site_tuner_free(p.tuner);
    }
}

TEST(slow_drift_does_not_change_the_decision)
{
    for (uint64_t seed = 1; seed <= 20; seed++) {
        program p = {.drift = 0.3};
        draw_times(&p, 12, 2000 + seed);
        start(&p, propose_all, 0.02, seed);
        run(&p, 400000);
        assert_true(is_decided(&p));
        assert_true(regret(&p) <= 0.01);
        site_tuner_free(p.tuner);
    }
}

/* If the trials of two candidates were far apart in time, drift would look like a difference. */
TEST(fast_drift_does_not_change_the_decision)
{
    for (uint64_t seed = 1; seed <= 20; seed++) {
        program p = {.drift = 0.3, .period = 60};
        draw_times(&p, 6, 4000 + seed);
        for (size_t i = 1; i < p.count; i++) /* times that keep every candidate in the race */
            p.true_ns[i] = p.true_ns[0] * (1 + 0.02 * (double)i);
        start(&p, propose_all, 0.001, seed);
        run(&p, 2000000);
        assert_true(is_decided(&p));
        assert_true(regret(&p) <= 0.01);
        site_tuner_free(p.tuner);
    }
}

/* The machine interrupts every tenth call for twenty times its length. */
TEST(interruptions_are_no_cost_of_tuning)
{
    int good = 0;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        program p = {.interrupted = 0.1};
        draw_times(&p, 6, 7000 + seed);
        start(&p, propose_all, 0.02, seed);
        run(&p, 400000);
        assert_true(is_decided(&p));
        good += regret(&p) <= 0.01;
        site_tuner_free(p.tuner);
    }
    /* A candidate is lost if all its trials are interrupted. */
    assert_true(good >= 18);
}

/* Other streams add time to each call, as eight streams do that run kernels at once. */
TEST(time_added_by_other_streams_hides_no_difference)
{
    int good = 0;
    for (uint64_t seed = 1; seed <= 10; seed++) {
        program p = {.crowd = 3};
        draw_times(&p, 8, 8000 + seed);
        start(&p, propose_all, 0.02, seed);
        run(&p, 200000);
        good += regret(&p) <= 0.05;
        assert_true(p.slowest_plain <= 1.02);
        site_tuner_free(p.tuner);
    }
    assert_true(good >= 8);
}

TEST(chance_among_other_streams_changes_no_incumbent)
{
    for (uint64_t seed = 1; seed <= 40; seed++) {
        program p = {.crowd = 1, .delay = 5};
        rng random = rng_seeded(seed + 77);
        p.count = 15;
        for (size_t i = 0; i < p.count; i++)
            p.true_ns[i] = 2e4 * (i ? 0.85 * exp(log(1.8 / 0.85) * rng_uniform(&random)) : 1);
        start(&p, propose_all, 0.02, seed);
        run(&p, 60000);
        if (p.slowest_plain > 1.02)
            fail_msg("seed %d: %.1f %% slower", (int)seed, 100 * p.slowest_plain - 100);
        site_tuner_free(p.tuner);
    }
}

/* Other streams add six times the time of the call, so small differences are invisible. Still,
 * most of the possible gain must be reached, and almost no program may become slower. */
TEST(among_other_streams_the_likely_fastest_becomes_the_incumbent)
{
    double gained = 0, possible = 0;
    int worse = 0;
    for (uint64_t seed = 1; seed <= 16; seed++) {
        program p = {.crowd = 6, .delay = 5};
        rng random = rng_seeded(9000 + seed);
        p.count = 12;
        for (size_t i = 0; i < p.count; i++)
            p.true_ns[i] = 2e4 * (i ? 0.85 + rng_uniform(&random) : 1);
        start(&p, propose_all, 0.02, seed);
        while (site_tuner_account(p.tuner).phase == SITE_TUNING && p.calls < 200000)
            call(&p);
        double chosen = p.true_ns[site_tuner_account(p.tuner).incumbent];
        possible += p.true_ns[0] - chosen / (1 + regret(&p));
        gained += p.true_ns[0] - chosen;
        worse += chosen > 1.02 * p.true_ns[0];
        site_tuner_free(p.tuner);
    }
    if (gained < 0.6 * possible || worse > 1)
        fail_msg("%.0f of %.0f ns gained, %d are worse off", gained, possible, worse);
}

/* If noise hides the differences, the choice is random and must not be stored. */
TEST(differences_hidden_by_noise_are_not_decided)
{
    synthetic_machine noisy = synthetic_machine_usual();
    noisy.noise = 1.5;
    program p = {.count = 3, .true_ns = {1e5, 1.01e5, 0.99e5}};
    start_on(&p, &noisy, propose_all, 1, 1);
    while (site_tuner_account(p.tuner).phase == SITE_TUNING && p.calls < 400000)
        call(&p);
    assert_int_equal(site_tuner_account(p.tuner).phase, SITE_STOPPED);
    site_tuner_free(p.tuner);
}

TEST(noise_changes_no_incumbent)
{
    synthetic_machine noisy = synthetic_machine_usual();
    noisy.noise = 0.08;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        program p = {0};
        draw_times(&p, 16, 5000 + seed);
        for (size_t i = 1; i < p.count; i++)
            p.true_ns[i] = p.true_ns[0] * (1.04 + 0.01 * (double)i);
        start_on(&p, &noisy, propose_all, 0.05, seed);
        run(&p, 400000);
        if (p.slowest_plain > 1.02)
            fail_msg("seed %d: %.1f %% slower", (int)seed, 100 * p.slowest_plain - 100);
        site_tuner_free(p.tuner);
    }
}

TEST(a_first_launch_that_loads_code_does_not_count)
{
    for (uint64_t seed = 1; seed <= 4; seed++) {
        program p = {.first_ns = 5e6};
        draw_times(&p, 40, seed);
        start(&p, propose_all, 0.02, seed);
        run(&p, 2000000);
        assert_true(is_decided(&p));
        assert_true(regret(&p) <= 0.01);
        site_tuner_free(p.tuner);
    }
}

TEST(lost_times_do_not_block_the_tuner)
{
    program p = {.lose_every = 13, .delay = 5};
    draw_times(&p, 8, 11);
    start(&p, propose_all, 0.1, 11);
    run(&p, 3000000);
    assert_true(is_decided(&p));
    assert_true(regret(&p) <= 0.01);
    site_tuner_free(p.tuner);
}

TEST(a_configuration_that_is_invalid_is_used_once)
{
    for (uint64_t seed = 1; seed <= 20; seed++) {
        program p = {0};
        bool refused[MOST] = {false};
        uint64_t uses[MOST] = {0};
        draw_times(&p, 16, 3000 + seed);
        start(&p, propose_all, 0.05, seed);
        while (!is_decided(&p) && p.calls < 400000) {
            uint32_t used = call(&p);
            assert_false(refused[used]);
            /* Even the default and fast configurations become invalid, at once or during the
             * race. */
            if (used % 3 == seed % 3 && ++uses[used] == 1 + (seed + used) % 5) {
                refused[used] = true;
                p.true_ns[used] = 1e12;
                site_tuner_invalid(p.tuner, used);
            }
        }
        assert_true(is_decided(&p));
        assert_false(refused[site_tuner_account(p.tuner).incumbent]);
        site_tuner_free(p.tuner);
    }
}

TEST(without_a_valid_configuration_there_is_none)
{
    program p = {0};
    draw_times(&p, 3, 5);
    start(&p, propose_all, 0.02, 5);
    for (uint32_t i = 0; i < 3; i++) {
        assert_true(site_tuner_account(p.tuner).has_incumbent);
        site_tuner_invalid(p.tuner, i);
    }
    assert_false(site_tuner_account(p.tuner).has_incumbent);
    site_tuner_free(p.tuner);
}

TEST(a_site_that_is_stopped_stays_with_its_incumbent)
{
    program p = {0};
    draw_times(&p, 30, 3);
    start(&p, propose_all, 0.02, 3);
    run(&p, 1500);
    assert_false(is_decided(&p));
    site_tuner_stop(p.tuner);
    uint32_t incumbent = site_tuner_account(p.tuner).incumbent;
    for (int i = 0; i < 1000; i++) {
        site_turn turn = site_tuner_begin(p.tuner, true);
        assert_int_equal(turn.configuration, incumbent);
        assert_int_equal(turn.ticket, 0);
    }
    site_tuner_free(p.tuner);
}

TEST(calls_that_cannot_be_timed_use_the_default)
{
    program p = {0};
    draw_times(&p, 10, 9);
    start(&p, propose_all, 0.02, 9);
    for (int i = 0; i < 10000; i++) {
        site_turn turn = site_tuner_begin(p.tuner, false);
        assert_int_equal(turn.configuration, 0);
        assert_int_equal(turn.ticket, 0);
    }
    site_tuner_free(p.tuner);
}

/* ---- a space larger than one round ---- */

/* The space has 32 x 32 configurations. Neighbours differ by one step in one parameter. */
static size_t propose_neighbours(void *context, size_t round, uint32_t incumbent, uint32_t *out,
                                 size_t most)
{
    (void)context;
    (void)round;
    size_t count = 0;
    uint32_t x = incumbent % 32, y = incumbent / 32;
    assert_true(most >= 4);
    if (x > 0)
        out[count++] = incumbent - 1;
    if (x < 31)
        out[count++] = incumbent + 1;
    if (y > 0)
        out[count++] = incumbent - 32;
    if (y < 31)
        out[count++] = incumbent + 32;
    return count;
}

TEST(a_large_space_is_searched_from_winners_to_their_neighbours)
{
    program p = {.count = 1024};
    bool refused[1024] = {false};
    for (uint32_t i = 0; i < 1024; i++)
        p.true_ns[i] = 1e5 * (1 + 0.05 * abs((int)(i % 32) - 4) + 0.03 * abs((int)(i / 32) - 6));
    start(&p, propose_neighbours, 0.02, 1);
    while (!is_decided(&p) && p.calls < 400000) {
        uint32_t used = call(&p);
        assert_false(refused[used]);
        refused[used] = used % 32 == 5; /* the launch finds out that these are invalid */
        if (refused[used])
            site_tuner_invalid(p.tuner, used);
    }
    assert_true(is_decided(&p));
    assert_true(regret(&p) <= 0.01);
    assert_true(p.extra_ns <= 0.02 * p.seen_ns);
    site_tuner_free(p.tuner);
}
