#include "library/site_tuner.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "library/site_trials.h"

/* A block starts once the budget holds BLOCK_SLACK times its expected cost. */
enum { BLOCK_SLACK = 2 };

/* CHECK_EVERY: calls between two checks. CHECKS_PART: checks may cost 1/CHECKS_PART of the share.
 * SWEEP_EVERY: calls between two searches for trials to give up. */
enum { CHECK_EVERY = 64, CHECKS_PART = 4, SWEEP_EVERY = 256 };

/* Slowness relative to the incumbent, in thousandths. FIRST_LEAST and FIRST_MOST bound the expected
 * slowness of a configuration that never ran. A first launch slower than UNLIKELY is repeated after
 * all others; a first launch slower than HOPELESS is never repeated. */
enum { FIRST_LEAST = 1500, FIRST_MOST = 4000, UNLIKELY = 4000, HOPELESS = 32000 };

enum { FIRST_LAUNCHES = 2 };

/* If the winner of a race ties with others and its comparison is less exact than VAGUE, the
 * possible winners race again. This race has at most MOST_AGAIN entrants, and AGAIN times as many
 * calls per sample. The first race also uses more calls if the incumbent's times spread by more
 * than NOISY. */
enum { FINALS_BLOCKS = 20, AGAIN = 4, MOST_AGAIN = 6 };
#define VAGUE 0.02
#define NOISY 1.3

/* A leader faster by this factor replaces an incumbent that left the race before any block. */
#define CLEARLY 1.1

/* The blocks of a race that are needed before a leader replaces the incumbent. */
enum { LEAST_BLOCKS = 8 };

/* If noise hides which entrant is fastest, the leader replaces an incumbent that is slower with a
 * probability of 0.9: if the difference exceeds LIKELY times half of the 95 % interval. */
#define LIKELY 0.65

typedef struct entrant {
    uint32_t configuration;
    int64_t fastest_ns; /* fastest of the entrant's first launches; 0 before the first */
    int64_t expect_ns;  /* expected time of the next launch; 0 if unknown */
    int64_t extra_ns; /* time of the entrant's trials minus that of equally many incumbent calls */
    uint32_t launches;
    bool invalid, out;    /* out: the entrant does not race again */
    bool tried, unlikely; /* tried: the entrant's first launches are over */
} entrant;

/* In the phase SITE_TUNING the tuner has a round. Its entrants are first launched (`race.race` is
 * NULL), then they race. The incumbent is the first entrant, or an entrant that is proven
 * faster. */
struct site_tuner {
    site_rules rules;
    site_account now; /* the report so far, except the times of calls, which the budget has */
    size_t round;
    keymap tried; /* configurations of all rounds */
    keymap invalid;

    entrant *entrants;
    size_t entrant_count;
    int64_t worst; /* slowest first launch so far, in thousandths of the incumbent's time */
    size_t firsts;

    site_race race;
    bool is_again; /* the race is a repetition among the possible winners */

    site_budget budget;
    bool warmed;          /* the very first launch, which loads code, has ended */
    uint64_t since_check; /* number of calls since the last check */

    site_open_trials open;
    int64_t checked_ns; /* part of the cost that checks caused */
};

static void set_incumbent(site_tuner *t, uint32_t configuration, int64_t time_ns)
{
    if (t->now.incumbent == configuration && t->now.has_incumbent)
        return;
    t->now.incumbent = configuration;
    t->now.has_incumbent = true;
    site_budget_forget(&t->budget);
    /* Savings relative to the earlier incumbent do not count for the new incumbent. */
    for (size_t i = 0; i < t->entrant_count; i++)
        if (t->entrants[i].extra_ns < 0)
            t->entrants[i].extra_ns = 0;
    for (int i = 0; i < SITE_BUDGET_KNOWN && time_ns > 0; i++)
        site_budget_note(&t->budget, time_ns);
}

static int64_t expected_cost(const site_tuner *t, const entrant *e)
{
    if (e->configuration == t->now.incumbent)
        return t->budget.overhead_ns;
    int64_t ratio = t->firsts < SITE_BUDGET_KNOWN ? FIRST_MOST : t->worst;
    ratio = ratio < FIRST_LEAST ? FIRST_LEAST : ratio > FIRST_MOST ? FIRST_MOST : ratio;
    int64_t expect = e->expect_ns ? e->expect_ns : ratio * t->budget.typical_ns / 1000;
    int64_t more = expect - t->budget.typical_ns;
    return (more > 0 ? more : 0) + t->budget.overhead_ns;
}

static uint64_t open_trial(site_tuner *t, site_trial_kind kind, uint32_t place)
{
    t->now.trials += kind != TRIAL_CHECK;
    return site_trials_open(&t->open, kind, place, t->now.calls);
}

static void reopen(site_tuner *t, const site_trial *o)
{
    t->now.trials -= o->kind != TRIAL_CHECK;
    if (o->kind == TRIAL_BLOCK)
        site_race_reopen(&t->race, o->place);
}

static void sweep(site_tuner *t)
{
    for (size_t i = t->open.count; i-- > 0;)
        if (t->now.calls - t->open.items[i].begun > SITE_GIVEN_UP) {
            site_trial lost = site_trials_close(&t->open, i);
            reopen(t, &lost);
        }
}

static void leave_round(site_tuner *t)
{
    site_race_release(&t->race);
    free(t->entrants);
    t->entrants = NULL;
    t->entrant_count = 0;
    site_trials_forget(&t->open, TRIAL_FIRST);
    site_trials_forget(&t->open, TRIAL_BLOCK);
}

static void end_tuning(site_tuner *t, site_phase phase)
{
    leave_round(t);
    t->open.count = 0;
    t->now.phase = phase;
}

static bool is_invalid(const site_tuner *t, uint32_t configuration)
{
    uint64_t value;
    return keymap_get(&t->invalid, configuration, &value);
}

/* Adds an entrant, unless it is invalid or was tried. Returns false if memory ran out. */
static bool add_entrant(site_tuner *t, uint32_t configuration)
{
    uint64_t value;
    bool is_incumbent = t->entrant_count == 0;
    bool known = keymap_get(&t->tried, configuration, &value);
    if (is_invalid(t, configuration) || (known && !is_incumbent))
        return true;
    t->entrants[t->entrant_count++] =
        (entrant){.configuration = configuration, .tried = is_incumbent};
    return known || keymap_put(&t->tried, configuration, 1);
}

/* Begins the next round with the incumbent and the proposed configurations. If no proposed
 * configuration is new, tuning is decided. */
static void enter_round(site_tuner *t)
{
    uint32_t proposed[SITE_ROUND];
    size_t count =
        t->rules.propose(t->rules.context, t->round++, t->now.incumbent, proposed, SITE_ROUND);
    t->is_again = false;
    t->entrants = calloc(count + 1, sizeof *t->entrants);
    bool fits = site_race_reserve(&t->race, count + 1) && t->entrants;
    fits = fits && add_entrant(t, t->now.incumbent);
    for (size_t i = 0; fits && i < count; i++)
        fits = add_entrant(t, proposed[i]);
    if (!fits)
        end_tuning(t, SITE_STOPPED);
    else if (t->entrant_count < 2)
        end_tuning(t, SITE_DECIDED);
}

/* Returns the next entrant to launch (unlikely entrants last), or entrant_count without one. */
static size_t next_untried(const site_tuner *t)
{
    size_t found = t->entrant_count;
    for (size_t i = t->entrant_count; i-- > 0;) {
        const entrant *e = &t->entrants[i];
        if (!e->tried && !e->invalid &&
            (found == t->entrant_count || !e->unlikely || t->entrants[found].unlikely))
            found = i;
    }
    return found;
}

/* Returns the race's options. The margins at which few samples exclude an entrant suit a quiet
 * machine, so they grow with the spread of times. */
static race_options options_for(const site_tuner *t)
{
    race_options options = race_defaults();
    double spread = site_budget_spread(&t->budget);
    options.seed = t->rules.seed + t->race.races;
    options.prior_ratio *= spread;
    options.screen_ratio *= spread;
    options.default_ratio = 0; /* no limit: the program calls the incumbent anyway */
    options.finals_blocks = FINALS_BLOCKS;
    if (t->is_again) {
        options.finalists = t->entrant_count;
        options.prior_ratio = INFINITY;
    }
    return options;
}

static void start_race(site_tuner *t)
{
    if (!t->is_again && site_budget_spread(&t->budget) > NOISY)
        t->race.calls_each = AGAIN;
    race_options options = options_for(t);
    race_entrant *given = calloc(t->entrant_count, sizeof *given);
    size_t count = 0;
    for (size_t i = 0; given && i < t->entrant_count; i++) {
        const entrant *e = &t->entrants[i];
        if (e->invalid || e->out)
            continue;
        if (e->configuration == t->now.incumbent)
            options.default_entrant = (uint32_t)count;
        given[count] = (race_entrant){.fastest_ns = e->fastest_ns, .order = i};
        if (e->configuration == t->now.incumbent)
            given[count].fastest_ns = site_budget_fastest_ns(&t->budget);
        t->race.places[count++] = (uint32_t)i;
    }
    bool races = count > 1 && site_race_start(&t->race, &options, given, count);
    if (!races)
        end_tuning(t, count > 1 || !given ? SITE_STOPPED : SITE_DECIDED);
    free(given);
}

static uint32_t configuration_of(const site_tuner *t, const race_standing *s)
{
    return t->entrants[t->race.places[s->entrant]].configuration;
}

/* Returns the incumbent's standing if no entrant is known to be faster, otherwise NULL. */
static const race_standing *tied_incumbent(const site_tuner *t, const race_result *r)
{
    for (size_t i = 0; i < r->count; i++)
        if (configuration_of(t, &r->ranking[i]) == t->now.incumbent)
            return r->ranking[i].tied ? &r->ranking[i] : NULL;
    return NULL;
}

static bool is_likely_slower(const race_standing *s)
{
    return s->ratio - 1 > LIKELY * (s->ratio - s->low);
}

/* Returns the winner. If noise hides it, returns the incumbent, which is known to be good. */
static uint32_t choose_winner(const site_tuner *t, const race_result *r, bool vague)
{
    const race_standing *present = vague ? tied_incumbent(t, r) : NULL;
    bool last = t->race.calls_each >= SITE_RACE_MOST_CALLS;
    if (!present)
        return configuration_of(t, &r->ranking[0]);
    return last && is_likely_slower(present) ? t->entrants[t->race.places[r->fastest]].configuration
                                             : t->now.incumbent;
}

static void note_times(site_tuner *t, const race_result *r, uint32_t winner)
{
    for (size_t i = 0; i < r->count; i++) {
        uint32_t configuration = configuration_of(t, &r->ranking[i]);
        if (configuration == winner)
            t->now.time = r->ranking[i].time;
        if (t->round == 1 && configuration == t->rules.fallback)
            t->now.baseline = r->ranking[i].time;
    }
    t->now.verdict = r->verdict;
}

static void race_again(site_tuner *t, const race_result *r)
{
    size_t kept = 0;
    bool *stays = calloc(t->entrant_count, sizeof *stays);
    if (!stays) {
        end_tuning(t, SITE_STOPPED);
        return;
    }
    for (size_t i = 0; i < r->count && kept < MOST_AGAIN; i++)
        if (r->ranking[i].tied) {
            stays[t->race.places[r->ranking[i].entrant]] = true;
            kept++;
        }
    for (size_t i = 0; i < t->entrant_count; i++)
        if (!stays[i] && t->entrants[i].configuration != t->now.incumbent)
            t->entrants[i].out = true;
    free(stays);
    site_race_stop(&t->race);
    t->is_again = true;
    t->race.calls_each *= AGAIN;
}

static void finish_race(site_tuner *t)
{
    const race_result *r = race_conclude(t->race.race);
    bool vague = r->has_winner && r->tied > 0 && r->half_width > VAGUE;
    if (r->has_winner) {
        uint32_t winner = choose_winner(t, r, vague);
        note_times(t, r, winner);
        if (vague && t->race.calls_each < SITE_RACE_MOST_CALLS) {
            race_again(t, r);
            return;
        }
        set_incumbent(t, winner, t->now.time.median_ns);
        /* The decision is not final, because a quieter machine may decide otherwise. */
        if (vague) {
            end_tuning(t, SITE_STOPPED);
            return;
        }
    }
    leave_round(t);
    enter_round(t);
}

/* Advances until a trial is possible: starts the race once all entrants were launched, draws its
 * next block, or begins another round. */
static void advance(site_tuner *t)
{
    while (t->now.phase == SITE_TUNING && !t->race.block_count) {
        if (!t->race.race) {
            if (next_untried(t) < t->entrant_count)
                return;
            start_race(t);
        } else if (!site_race_draw(&t->race)) {
            finish_race(t);
        }
    }
}

/* Makes the leader the incumbent if the race's test shows that the incumbent is slower. */
static void promote_leader(site_tuner *t)
{
    const race_result *r = race_conclude(t->race.race);
    const race_standing *leader = NULL, *present = NULL;
    for (size_t i = 0; i < r->count; i++) {
        const race_standing *s = &r->ranking[i];
        if (s->entrant == r->fastest)
            leader = s;
        if (configuration_of(t, s) == t->now.incumbent)
            present = s;
    }
    if (!r->has_winner || !leader || !present || leader == present ||
        leader->time.count < LEAST_BLOCKS)
        return;
    bool unraced = present->left_at == RACE_PRIOR;
    /* A sample of several calls is the time of the fastest calls, so it is compared with the
     * fastest calls of the incumbent. */
    int64_t present_ns =
        t->race.calls_each > 1 ? site_budget_fastest_ns(&t->budget) : t->budget.typical_ns;
    bool slower =
        unraced ? (double)present_ns > CLEARLY * (double)leader->time.median_ns : present->low > 1;
    if (slower)
        set_incumbent(t, configuration_of(t, leader), leader->time.median_ns);
}

static void end_block(site_tuner *t)
{
    const size_t blocks = t->race.blocks;
    if (blocks >= LEAST_BLOCKS && (blocks & (blocks - 1)) == 0)
        promote_leader(t);
    advance(t);
}

static entrant *entrant_of_block(site_tuner *t, size_t place)
{
    return &t->entrants[site_race_entrant(&t->race, place)];
}

static bool begin_first(site_tuner *t, site_turn *turn)
{
    size_t next = next_untried(t);
    const entrant *e = &t->entrants[next];
    int64_t cost = expected_cost(t, e);
    if (site_trials_count(&t->open, TRIAL_FIRST) || site_budget_left_ns(&t->budget) < cost)
        return false;
    turn->configuration = e->configuration;
    turn->ticket = open_trial(t, TRIAL_FIRST, (uint32_t)next);
    return true;
}

/* Begins the next call of the block. A round of calls begins only if the budget covers the whole
 * round, because only trials that follow each other can be compared. */
static bool begin_block(site_tuner *t, site_turn *turn)
{
    int64_t all = 0;
    size_t next;
    bool is_round, is_open = site_race_next(&t->race, &next, &is_round);
    for (size_t i = 0; i < t->race.block_count; i++)
        all += expected_cost(t, entrant_of_block(t, i));
    if (!is_open || site_budget_left_ns(&t->budget) < (is_round ? BLOCK_SLACK * all : 0)) {
        if (!is_round && t->race.calls_each == 1) {
            site_trials_forget(&t->open, TRIAL_BLOCK);
            site_race_begin_anew(&t->race);
        }
        return false;
    }
    site_race_begin(&t->race, next);
    turn->configuration = entrant_of_block(t, next)->configuration;
    turn->ticket = open_trial(t, TRIAL_BLOCK, (uint32_t)next);
    return true;
}

/* Returns whether to time the incumbent again. Leaves some budget for trials. */
static bool is_check_due(const site_tuner *t)
{
    return t->since_check >= CHECK_EVERY &&
           site_budget_left_ns(&t->budget) >= t->budget.overhead_ns &&
           CHECKS_PART * (t->checked_ns + t->budget.overhead_ns) <=
               site_budget_allowed_ns(&t->budget);
}

static bool begin_check(site_tuner *t, site_turn *turn)
{
    size_t wanted = SITE_BUDGET_KNOWN + (t->warmed ? 0 : 1);
    if (t->budget.recent_count + site_trials_count(&t->open, TRIAL_CHECK) >= wanted &&
        !is_check_due(t))
        return false;
    t->since_check = 0;
    turn->ticket = open_trial(t, TRIAL_CHECK, 0);
    return true;
}

static bool begin_timed(site_tuner *t, site_turn *turn)
{
    if (t->open.count == SITE_MOST_OPEN)
        return false;
    if (site_budget_is_known(&t->budget) &&
        (t->race.race ? begin_block(t, turn) : begin_first(t, turn)))
        return true;
    return begin_check(t, turn);
}

static void note_plain(site_tuner *t, uint64_t calls)
{
    t->since_check += calls;
    site_budget_count_untimed(&t->budget, calls);
}

void site_tuner_skip(site_tuner *t, uint64_t calls)
{
    t->now.calls += calls;
    if (t->now.phase == SITE_TUNING && t->now.has_incumbent)
        note_plain(t, calls);
}

site_turn site_tuner_begin(site_tuner *t, bool may_time)
{
    site_turn turn = {t->now.incumbent, t->now.incumbent, t->now.has_incumbent, 0};
    t->now.calls++;
    if (t->now.phase != SITE_TUNING || !t->now.has_incumbent)
        return turn;
    if (t->now.calls % SWEEP_EVERY == 0)
        sweep(t);
    if (may_time && begin_timed(t, &turn))
        return turn;
    note_plain(t, 1);
    return turn;
}

static void end_check(site_tuner *t, const site_sample *s)
{
    t->checked_ns += s->overhead_ns;
    if (t->warmed)
        site_budget_note(&t->budget, s->time_ns);
    t->warmed = true;
}

/* Returns whether most of the time is host time. In an idle stream, the time of a call includes its
 * launch by the host, which may have loaded code. */
static bool is_mostly_host(const site_tuner *t, const site_sample *s)
{
    return s->time_ns > t->budget.typical_ns && s->host_ns > s->time_ns / 2;
}

static void end_first(site_tuner *t, entrant *e, const site_sample *s)
{
    bool hosts = is_mostly_host(t, s);
    int64_t ratio = s->time_ns / (t->budget.typical_ns / 1000 + 1);
    if (!hosts && (!e->fastest_ns || s->time_ns < e->fastest_ns))
        e->fastest_ns = e->expect_ns = s->time_ns;
    if (!hosts && e->launches == 0) {
        t->worst = t->firsts && ratio < t->worst ? t->worst : ratio;
        t->firsts++;
    }
    e->unlikely = !hosts && ratio > UNLIKELY;
    e->tried = ++e->launches == FIRST_LAUNCHES || (!hosts && ratio > HOPELESS);
    advance(t);
}

static void end_call(site_tuner *t, entrant *e, uint32_t place, const site_sample *s)
{
    e->expect_ns = e->expect_ns ? (3 * e->expect_ns + s->time_ns) / 4 : s->time_ns;
    if (e->configuration == t->now.incumbent)
        site_budget_note(&t->budget, s->time_ns);
    if (site_race_tell(&t->race, place, s->time_ns))
        end_block(t);
}

static void take_sample(site_tuner *t, const site_trial *o, const site_sample *s)
{
    if (s->time_ns <= 0) {
        t->budget.spent_ns += s->overhead_ns;
        reopen(t, o);
        return;
    }
    if (o->kind == TRIAL_CHECK) {
        site_budget_pay(&t->budget, NULL, s);
        end_check(t, s);
        return;
    }
    entrant *e = o->kind == TRIAL_FIRST ? &t->entrants[o->place] : entrant_of_block(t, o->place);
    site_budget_pay(&t->budget, e->configuration == t->now.incumbent ? NULL : &e->extra_ns, s);
    if (o->kind == TRIAL_FIRST)
        end_first(t, e, s);
    else
        end_call(t, e, o->place, s);
}

void site_tuner_end(site_tuner *t, uint64_t ticket, const site_sample *s)
{
    site_budget_note_overhead(&t->budget, s->overhead_ns);
    for (size_t i = 0; i < t->open.count; i++)
        if (t->open.items[i].ticket == ticket) {
            site_trial o = site_trials_close(&t->open, i);
            take_sample(t, &o, s);
            return;
        }
    if (s->time_ns > 0)
        site_budget_pay(&t->budget, &(int64_t){0}, s);
}

void site_tuner_charge(site_tuner *t, int64_t ns)
{
    t->budget.spent_ns += ns;
}

static void replace_incumbent(site_tuner *t)
{
    const entrant *best = NULL;
    for (size_t i = 0; i < t->entrant_count; i++) {
        const entrant *e = &t->entrants[i];
        bool better =
            !best || (e->expect_ns && (!best->expect_ns || e->expect_ns < best->expect_ns));
        if (!e->invalid && better)
            best = e;
    }
    t->now.has_incumbent = false;
    site_trials_forget(&t->open, TRIAL_CHECK);
    if (best)
        set_incumbent(t, best->configuration, best->expect_ns);
    else
        end_tuning(t, SITE_STOPPED);
}

static void drop_entrant(site_tuner *t, size_t place)
{
    t->entrants[place].invalid = true;
    if (!t->race.race) {
        site_trials_forget(&t->open, TRIAL_FIRST);
        return;
    }
    site_race_exclude(&t->race, place);
    site_trials_forget(&t->open, TRIAL_BLOCK);
}

void site_tuner_invalid(site_tuner *t, uint32_t configuration)
{
    if (is_invalid(t, configuration))
        return;
    if (!keymap_put(&t->invalid, configuration, 1)) {
        end_tuning(t, SITE_STOPPED);
        return;
    }
    for (size_t i = 0; i < t->entrant_count; i++)
        if (t->entrants[i].configuration == configuration)
            drop_entrant(t, i);
    if (configuration == t->now.incumbent && t->now.has_incumbent)
        replace_incumbent(t);
    advance(t);
}

void site_tuner_stop(site_tuner *t)
{
    if (t->now.phase == SITE_TUNING)
        end_tuning(t, SITE_STOPPED);
}

site_account site_tuner_account(const site_tuner *t)
{
    site_account account = t->now;
    account.seen_ns = t->budget.seen_ns;
    account.spent_ns = t->budget.spent_ns;
    return account;
}

site_tuner *site_tuner_new(const site_rules *rules)
{
    site_tuner *t = calloc(1, sizeof *t);
    if (!t)
        return NULL;
    t->rules = *rules;
    t->budget = site_budget_of(rules->share);
    t->now.incumbent = rules->fallback;
    t->now.has_incumbent = true;
    enter_round(t);
    return t;
}

void site_tuner_free(site_tuner *t)
{
    if (!t)
        return;
    leave_round(t);
    keymap_deinit(&t->tried);
    keymap_deinit(&t->invalid);
    free(t);
}
