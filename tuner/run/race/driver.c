#include "run/race/driver.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/stats.h"
#include "run/race/state.h"

/* Number of proofs that begin during the race. More would delay the winner's proof. Once only this
 * many entrants are left, more than reach the finals, all of them are proven. */
enum { PROVE_AHEAD = 6 };

static int by_configuration(const void *a, const void *b)
{
    const candidate *x = ((const race_place *)a)->who, *y = ((const race_place *)b)->who;
    return (x->configuration > y->configuration) - (x->configuration < y->configuration);
}

at_status race_driver_new(session *s, pipeline *p, race_log *log, const candidate *baseline,
                          size_t most, const settings *o, race_driver **out, at_error *error)
{
    const candidates *all = pipeline_candidates(p);
    race_options rules = race_rules(o, all);
    if (most && (!rules.prior_entrants || most < rules.prior_entrants))
        rules.prior_entrants = most;
    race_driver *d = memory_new(1, sizeof *d);
    *d = (race_driver){.session = s,
                       .home = pipeline_get_state(p)->home,
                       .pipeline = p,
                       .log = log,
                       .seed = o->search.seed,
                       .quick = settings_are_quick(o),
                       .energy_wanted = o->race.energy,
                       .read_energy = o->race.read_energy};
    clock_watch_init(&d->watch);
    for (size_t i = 0; i < all->count; i++)
        if (candidate_may_race(all->items[i]))
            memory_add(&d->entrants, &d->count, &(race_place){.who = all->items[i]},
                       sizeof *d->entrants);
    if (!d->count) {
        race_driver_free(d);
        return error_set(error, AT_NOT_FOUND, "no variant worked");
    }
    d->asked = memory_new(d->count, sizeof *d->asked);
    d->ids = memory_new(d->count, sizeof *d->ids);
    d->ranking = memory_new(d->count, sizeof *d->ranking);
    const device_ready *ready = &pipeline_get_state(p)->ready;
    /* The mean of a batch has a resolution below a tick. */
    rules.tick_ns = ready->tick_ns / (ready->batch > 1 ? ready->batch : 1);
    /* The race's questions depend on this order, which must be equal in a resumed run. */
    qsort(d->entrants, d->count, sizeof *d->entrants, by_configuration);
    race_entrant *entrants = memory_new(d->count, sizeof *entrants);
    for (size_t i = 0; i < d->count; i++) {
        const candidate *one = d->entrants[i].who;
        if (one == baseline)
            rules.default_entrant = (uint32_t)i;
        entrants[i] = (race_entrant){.fastest_ns = pipeline_prior_ns(p, one),
                                     .registers = one->found.resources.registers,
                                     .shared_bytes = one->found.resources.static_shared_bytes +
                                                     plan_most_shared_bytes(&one->launches[0]),
                                     .order = one->configuration};
    }
    d->race = memory_require(race_new(&rules, entrants, d->count));
    free(entrants);
    others_join(d);
    *out = d;
    return AT_OK;
}

void race_driver_free(race_driver *d)
{
    if (!d)
        return;
    others_leave(d);
    free(d->others);
    free(d->ratios);
    race_free(d->race);
    free(d->entrants);
    free(d->asked);
    free(d->ids);
    free(d->ranking);
    free(d);
}

static void keep_ceiling(race_driver *d, int64_t ceiling_ns)
{
    if (ceiling_ns <= 0)
        return;
    d->ceiling_ns[d->ceiling_count++ % CEILING_SAMPLES] = ceiling_ns;
    size_t count = d->ceiling_count < CEILING_SAMPLES ? d->ceiling_count : CEILING_SAMPLES;
    int64_t sorted[CEILING_SAMPLES];
    memcpy(sorted, d->ceiling_ns, count * sizeof *sorted);
    d->state.ceiling_ns = stats_summarise(sorted, count).median_ns;
}

/* Asks the board whether other processes use the chip, and why the clock is throttled. Some boards
 * do not know. */
static at_status ask_board(race_driver *d, uint64_t *throttle, at_error *error)
{
    device_event e;
    at_status status = device_worker_energy(d->session->workers->device, 0, 0, error);
    if (!status)
        status = question_await_latest(d, &e, error);
    if (status)
        return status;
    d->board_asked = true;
    *throttle = e.throttle;
    question_note_others(d, e.others);
    device_event_deinit(&e);
    return AT_OK;
}

/* Takes a block's samples, or has the whole block measured again if the clock is off. */
static at_status take_block(race_driver *d, const device_event *e, at_error *error)
{
    clock_verdict verdict = clock_watch_judge(&d->watch, e->sm_clock_khz);
    d->state.redone = d->watch.redone;
    d->state.throttled = d->watch.throttled;
    d->state.sm_clock_khz = clock_watch_median_khz(&d->watch);
    if (verdict == CLOCK_REDO) /* The race asks again for a block without an answer. */
        return AT_OK;
    keep_ceiling(d, e->ceiling_ns);
    race_tell(d->race, e->samples_ns);
    return verdict == CLOCK_THROTTLED ? ask_board(d, &d->state.throttle, error) : AT_OK;
}

/* Takes the answer to a block. e->id is the index, in the block, of the entrant to blame. */
static at_status use_block(race_driver *d, const uint32_t *order, size_t count,
                           const device_event *e, at_error *error)
{
    if (e->outcome == OUTCOME_OK && e->sample_count == count) {
        d->blocks++;
        return take_block(d, e, error);
    }
    if (e->id >= count)
        return error_set(error, AT_INTERNAL,
                         "a block of samples failed, but not because of a variant: %s", e->message);
    entrants_exclude(d, order[e->id], e->outcome, e->message);
    return AT_OK;
}

static at_status sample_at_home(race_driver *d, const uint32_t *order, size_t count,
                                device_event *out, at_error *error)
{
    int64_t start_ns = clock_now_ns();
    for (size_t i = 0; i < count; i++)
        d->ids[i] = order[i];
    at_status status = device_worker_block(d->session->workers->device, d->ids, count, true, error);
    if (status)
        return status;
    device_question asked = device_worker_claim(d->session->workers->device);
    others_ask(d, order, count);
    status = question_await(d, asked, out, error);
    if (status)
        return status;
    d->block_ns = clock_now_ns() - start_ns;
    for (size_t i = 0; i < count && out->sample_count == count; i++)
        d->entrants[order[i]].home_ns = out->samples_ns[i];
    return AT_OK;
}

static at_status sample_block(race_driver *d, const race_question *q, const uint32_t *order,
                              size_t count, at_error *error)
{
    device_event e;
    bool elsewhere;
    others_take_block(d, order, count, &elsewhere, &e);
    at_status status = elsewhere ? AT_OK : sample_at_home(d, order, count, &e, error);
    if (status)
        return status;
    size_t place = 0;
    while (place < count && order[place] != e.id)
        place++;
    e.id = place;
    race_log_keep(d->log, q, question_stage(d), &e);
    status = use_block(d, order, count, &e, error);
    device_event_deinit(&e);
    return status;
}

static candidate *fastest_unproven(const race_driver *d, const uint32_t *order, size_t count)
{
    candidate *found = NULL;
    for (size_t i = 0; i < count; i++) {
        candidate *one = d->entrants[order[i]].who;
        if (one->verdict == PROOF_NONE &&
            (!found || pipeline_prior_ns(d->pipeline, one) < pipeline_prior_ns(d->pipeline, found)))
            found = one;
    }
    return found;
}

/* Begins proofs on idle cores during the race. Verdicts count only after the race, so that a
 * resumed race takes the same course. */
static at_status prove_ahead(race_driver *d, const uint32_t *order, size_t count, at_error *error)
{
    at_status status = pipeline_watch_proofs(d->pipeline, 0, error);
    for (size_t i = 0; !status && count <= PROVE_AHEAD && i < count; i++)
        status = pipeline_prove(d->pipeline, d->entrants[order[i]].who, false, error);
    for (; !status && !d->probing && d->likely_proofs < PROVE_AHEAD; d->likely_proofs++) {
        candidate *fastest = fastest_unproven(d, order, count);
        if (fastest)
            status = pipeline_prove(d->pipeline, fastest, false, error);
    }
    return status;
}

/* Takes the next block from the journal, otherwise from the device. */
static at_status race_block(race_driver *d, const uint32_t *order, size_t count, at_error *error)
{
    device_event e;
    uint64_t excluded = d->state.excluded;
    at_status status = entrants_release_dropped(d, order, count, error);
    if (status)
        return status;
    for (size_t i = 0; i < count; i++)
        d->asked[i] = d->entrants[order[i]].who;
    const race_question q = {
        .asked = "block", .number = d->blocks, .variants = d->asked, .count = count};
    bool known = race_log_find(d->log, &q, &e);
    /* Submits before proofs begin, because nothing waits for a proof yet. */
    if (!known)
        status = entrants_submit(d, order, count, error);
    if (!status)
        status = prove_ahead(d, order, count, error);
    if (known) {
        status = status ? status : use_block(d, order, count, &e, error);
        device_event_deinit(&e);
        return status;
    }
    if (!status)
        status = entrants_load(d, order, count, error);
    /* An entrant that could not be loaded has left the race, which then asks for another block. */
    if (!status && d->state.excluded == excluded)
        status = sample_block(d, &q, order, count, error);
    return status;
}

static void keep_winner(race_driver *d)
{
    const race_result *result = race_driver_result(d);
    device_event known = {0};
    if (!result->has_winner)
        return;
    race_question q = question_of(d, "winner", 0, result->winner);
    if (!race_log_find(d->log, &q, &known))
        race_log_keep(d->log, &q, "record", &(device_event){.outcome = OUTCOME_OK});
    device_event_deinit(&known);
}

at_status race_driver_step(race_driver *d, bool *finished, at_error *error)
{
    int64_t start_ns = clock_now_ns();
    *finished = false;
    if (!d->board_asked) {
        at_status status = ask_board(d, &d->state.throttle, error);
        d->state.race_ns += clock_now_ns() - start_ns;
        return status;
    }
    const uint32_t *order;
    size_t count = race_next(d->race, &order);
    race_stage stage = race_progress(d->race, &d->state.done, &d->state.left);
    d->probing = count > 0 && stage == RACE_PROBE;
    d->needs_check = !count || stage >= RACE_FINALS;
    if (!count || stage >= RACE_FINALS)
        others_leave(d);
    at_status status = count ? AT_OK : pipeline_watch_proofs(d->pipeline, 0, error);
    if (status)
        return status;
    if (count) {
        status = race_block(d, order, count, error);
    } else if (!d->checked) {
        status = finalists_check(d, error);
    } else if (!d->energy_known) {
        status = finalists_measure_energy(d, error);
    } else {
        *finished = true;
        keep_winner(d);
    }
    d->state.stage = stage;
    *(stage == RACE_FINALS ? &d->state.finals_ns : &d->state.race_ns) += clock_now_ns() - start_ns;
    return status;
}

void race_driver_hurry(race_driver *d, int64_t until_ns)
{
    d->until_ns = until_ns;
}

void race_driver_stop(race_driver *d)
{
    race_stop(d->race);
}

const race_driver_state *race_driver_get_state(const race_driver *d)
{
    return &d->state;
}

const race_result *race_driver_result(race_driver *d)
{
    const race_result *by_time = race_conclude(d->race);
    bool known = d->energy_wanted && by_time->has_winner && by_time->verdict != RACE_INCONCLUSIVE &&
                 d->entrants[by_time->winner].energy.launch_j > 0;
    if (!known)
        return by_time;
    finalists_rank_by_energy(d, by_time);
    return &d->result;
}

energy_estimate race_driver_energy(const race_driver *d, uint32_t entrant)
{
    return d->entrants[entrant].energy;
}

candidate *race_driver_candidate(const race_driver *d, uint32_t entrant)
{
    return d->entrants[entrant].who;
}

/* A race of all variants that the protocol admits takes as long as a whole quick run may. By its
 * first samples, the winner is rarely slower than QUICK_PRIOR_RATIO times the best, and any variant
 * within a percent of the winner is good enough, so a few blocks suffice. If the default is much
 * slower, its finals take longer than those of all finalists together. */
static const double QUICK_PRIOR_RATIO = 1.1, QUICK_DEFAULT_RATIO = 4;
static const size_t QUICK_ENTRANTS = 24, QUICK_FINALS_BLOCKS = 10,
                    QUICK_LOOKS[RACE_LOOKS] = {4, 6, 8, 12};

/* The samples of one variant differ by a spread, a few thousandths for launches of milliseconds. A
 * variant cannot win if its first samples are slower than the best by more than SPREADS times the
 * 90th percentile of the spread plus GOOD_ENOUGH (twice the percent within which any variant is
 * good enough). The rule does not hold for a few variants, for two GPUs, or if the clock changed
 * between variants. */
static const double SPREADS = 4, GOOD_ENOUGH = 0.02;
enum { LEAST_SPREADS = 8 };

static double spread_of(const candidate *c)
{
    int64_t slowest_ns = 0;
    for (size_t i = 0; i < c->found.sample_count; i++)
        slowest_ns = c->found.samples_ns[i] > slowest_ns ? c->found.samples_ns[i] : slowest_ns;
    return (double)(slowest_ns - c->fastest_ns) / (double)c->fastest_ns;
}

static double likely_spread(const candidates *tried)
{
    double *spreads = memory_new(tried->count, sizeof *spreads), found = INFINITY;
    size_t count = 0, gpu = SIZE_MAX;
    bool alike = true;
    for (size_t i = 0; alike && i < tried->count; i++) {
        const candidate *c = tried->items[i];
        if (!candidate_may_race(c) || c->fastest_ns <= 0)
            continue;
        alike = c->found.sample_count > 1 && (count == 0 || c->gpu == gpu);
        gpu = c->gpu;
        spreads[count++] = spread_of(c);
    }
    if (alike && count >= LEAST_SPREADS) {
        stats_sort(spreads, count);
        found = spreads[count * 9 / 10];
    }
    free(spreads);
    return found;
}

static double quick_prior_ratio(const candidates *tried)
{
    double ratio = 1 + GOOD_ENOUGH + (tried ? SPREADS * likely_spread(tried) : INFINITY);
    return ratio < QUICK_PRIOR_RATIO ? ratio : QUICK_PRIOR_RATIO;
}

race_options race_rules(const settings *o, const candidates *tried)
{
    race_options rules = race_defaults();
    if (settings_are_quick(o)) {
        rules.prior_ratio = quick_prior_ratio(tried);
        rules.prior_entrants = QUICK_ENTRANTS;
        rules.default_ratio = QUICK_DEFAULT_RATIO;
        rules.finals_blocks = QUICK_FINALS_BLOCKS;
        memcpy(rules.looks, QUICK_LOOKS, sizeof rules.looks);
    }
    rules.seed = o->search.seed;
    if (o->race.finals_blocks)
        rules.finals_blocks = o->race.finals_blocks;
    if (o->race.tie_margin >= 0)
        rules.tie_margin = o->race.tie_margin;
    return rules;
}
