#include "run/race/driver.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "run/race/rules.h"
#include "run/race/state.h"

/* Proofs that begin during the race: of the fastest, and of all when so few are left; more than
 * reach the finals. Who is quick waits for the winner's alone, and others keep it waiting. */
enum { PROVE_AHEAD = 12, QUICK_PROVE_AHEAD = 6 };

static int by_configuration(const void *a, const void *b)
{
    const candidate *x = ((const race_place *)a)->who, *y = ((const race_place *)b)->who;
    return (x->configuration > y->configuration) - (x->configuration < y->configuration);
}

at_status race_driver_new(session *s, pipeline *p, race_log *log, const candidate *baseline,
                          const settings *o, race_driver **out, at_error *error)
{
    const candidates *all = pipeline_candidates(p);
    race_options rules = race_rules(o, all);
    race_driver *c = memory_new(1, sizeof *c);
    *c = (race_driver){.session = s,
                       .home = pipeline_home(p),
                       .pipeline = p,
                       .log = log,
                       .seed = o->seed,
                       .quick = settings_are_quick(o),
                       .energy_wanted = o->energy,
                       .read_energy = o->read_energy};
    clock_watch_init(&c->watch);
    for (size_t i = 0; i < all->count; i++)
        if (candidate_may_race(all->items[i]))
            memory_add(&c->entrants, &c->count, &(race_place){.who = all->items[i]},
                       sizeof *c->entrants);
    if (!c->count) {
        race_driver_free(c);
        return error_set(error, AT_NOT_FOUND, "no variant worked");
    }
    c->asked = memory_new(c->count, sizeof *c->asked);
    c->ids = memory_new(c->count, sizeof *c->ids);
    c->ranking = memory_new(c->count, sizeof *c->ranking);
    const device_ready *ready = &pipeline_get_state(p)->ready;
    /* A sample that averages a batch resolves that much less than a tick. */
    rules.tick_ns = ready->tick_ns / (ready->batch > 1 ? ready->batch : 1);
    /* What the race asks depends on their order, and a resumed run tries them in another. */
    qsort(c->entrants, c->count, sizeof *c->entrants, by_configuration);
    race_entrant *entrants = memory_new(c->count, sizeof *entrants);
    for (size_t i = 0; i < c->count; i++) {
        const candidate *one = c->entrants[i].who;
        if (one == baseline)
            rules.default_entrant = (uint32_t)i;
        entrants[i] = (race_entrant){.fastest_ns = pipeline_prior_ns(p, one),
                                     .registers = one->found.resources.registers,
                                     .shared_bytes = one->found.resources.static_shared_bytes +
                                                     plan_most_shared_bytes(&one->launches[0]),
                                     .order = one->configuration};
    }
    c->race = race_new(&rules, entrants, c->count);
    free(entrants);
    others_join(c);
    *out = c;
    return AT_OK;
}

void race_driver_free(race_driver *c)
{
    if (!c)
        return;
    others_leave(c);
    free(c->others);
    free(c->ratios);
    race_free(c->race);
    free(c->entrants);
    free(c->asked);
    free(c->ids);
    free(c->ranking);
    free(c);
}

static void keep_ceiling(race_driver *c, int64_t ceiling_ns)
{
    if (ceiling_ns <= 0)
        return;
    c->ceiling_ns[c->ceiling_count++ % CEILING_SAMPLES] = ceiling_ns;
    size_t count = c->ceiling_count < CEILING_SAMPLES ? c->ceiling_count : CEILING_SAMPLES;
    int64_t sorted[CEILING_SAMPLES];
    memcpy(sorted, c->ceiling_ns, count * sizeof *sorted);
    c->state.ceiling_ns = stats_summarise(sorted, count).median_ns;
}

/* Asks the board who else uses the chip, and what throttles it. It may not be able to tell. */
static at_status ask_board(race_driver *c, uint64_t *throttle, at_error *error)
{
    device_event e;
    at_status status = device_worker_energy(c->session->workers->device, 0, 0, error);
    if (!status)
        status = question_await_latest(c, &e, error);
    if (status)
        return status;
    c->board_asked = true;
    *throttle = e.throttle;
    question_note_others(c, e.others);
    device_event_deinit(&e);
    return AT_OK;
}

/* A block at another clock than the others is measured again, whole. */
static at_status take_block(race_driver *c, const device_event *e, at_error *error)
{
    clock_verdict verdict = clock_watch_judge(&c->watch, e->sm_clock_khz);
    c->state.redone = c->watch.redone;
    c->state.throttled = c->watch.throttled;
    c->state.sm_clock_khz = clock_watch_median_khz(&c->watch);
    if (verdict == CLOCK_REDO) /* what is not told is asked again */
        return AT_OK;
    keep_ceiling(c, e->ceiling_ns);
    race_tell(c->race, e->samples_ns);
    return verdict == CLOCK_THROTTLED ? ask_board(c, &c->state.throttle, error) : AT_OK;
}

/* e->id is the place in the block of the one to blame. */
static at_status use_block(race_driver *c, const uint32_t *order, size_t count,
                           const device_event *e, at_error *error)
{
    if (e->outcome == OUTCOME_OK && e->sample_count == count) {
        c->blocks++;
        return take_block(c, e, error);
    }
    if (e->id >= count)
        return error_set(error, AT_INTERNAL,
                         "a block of samples failed, through the fault of no variant: %s",
                         e->message);
    entrants_exclude(c, order[e->id], e->outcome, e->message);
    return AT_OK;
}

static at_status sample_at_home(race_driver *c, const uint32_t *order, size_t count,
                                device_event *out, at_error *error)
{
    int64_t start_ns = clock_now_ns();
    for (size_t i = 0; i < count; i++)
        c->ids[i] = order[i];
    at_status status = device_worker_block(c->session->workers->device, c->ids, count, true, error);
    if (status)
        return status;
    device_question asked = device_worker_claim(c->session->workers->device);
    others_ask(c, order, count);
    status = question_await(c, asked, out, error);
    if (status)
        return status;
    c->block_ns = clock_now_ns() - start_ns;
    for (size_t i = 0; i < count && out->sample_count == count; i++)
        c->entrants[order[i]].home_ns = out->samples_ns[i];
    return AT_OK;
}

static at_status sample_block(race_driver *c, const race_question *q, const uint32_t *order,
                              size_t count, at_error *error)
{
    device_event e;
    bool elsewhere;
    others_take(c, order, count, &elsewhere, &e);
    at_status status = elsewhere ? AT_OK : sample_at_home(c, order, count, &e, error);
    if (status)
        return status;
    size_t place = 0;
    while (place < count && order[place] != e.id)
        place++;
    e.id = place;
    race_log_keep(c->log, q, question_stage(c), &e);
    status = use_block(c, order, count, &e, error);
    device_event_deinit(&e);
    return status;
}

/* By its first samples; NULL: the proofs of all have begun. */
static candidate *fastest_unproven(const race_driver *c, const uint32_t *order, size_t count)
{
    candidate *found = NULL;
    for (size_t i = 0; i < count; i++) {
        candidate *one = c->entrants[order[i]].who;
        if (one->verdict == PROOF_NONE &&
            (!found || pipeline_prior_ns(c->pipeline, one) < pipeline_prior_ns(c->pipeline, found)))
            found = one;
    }
    return found;
}

/* Proofs take idle cores while the race goes on. What they find is heeded when it has ended, so
 * that a race that is resumed goes the same way. */
static at_status prove_ahead(race_driver *c, const uint32_t *order, size_t count, at_error *error)
{
    at_status status = pipeline_watch_proofs(c->pipeline, 0, error);
    size_t most = c->quick ? QUICK_PROVE_AHEAD : PROVE_AHEAD;
    for (size_t i = 0; !status && count <= most && i < count; i++)
        status = pipeline_prove(c->pipeline, c->entrants[order[i]].who, error);
    for (; !status && !c->probing && c->likely_proofs < most; c->likely_proofs++) {
        candidate *fastest = fastest_unproven(c, order, count);
        if (fastest)
            status = pipeline_prove(c->pipeline, fastest, error);
    }
    return status;
}

/* The next block: from the journal, or else from the device. */
static at_status race_block(race_driver *c, const uint32_t *order, size_t count, at_error *error)
{
    device_event e;
    uint64_t excluded = c->state.excluded;
    at_status status = entrants_release_dropped(c, order, count, error);
    if (status)
        return status;
    for (size_t i = 0; i < count; i++)
        c->asked[i] = c->entrants[order[i]].who;
    const race_question q = {
        .asked = "block", .number = c->blocks, .variants = c->asked, .count = count};
    bool known = race_log_find(c->log, &q, &e);
    /* Before the proofs, which nobody waits for yet. */
    if (!known)
        status = entrants_submit(c, order, count, error);
    if (!status)
        status = prove_ahead(c, order, count, error);
    if (known) {
        status = status ? status : use_block(c, order, count, &e, error);
        device_event_deinit(&e);
        return status;
    }
    if (!status)
        status = entrants_load(c, order, count, error);
    /* Someone who could not be loaded has left the race: it asks for another block then. */
    if (!status && c->state.excluded == excluded)
        status = sample_block(c, &q, order, count, error);
    return status;
}

/* All that is left is to write the record down. */
static void keep_winner(race_driver *c)
{
    const race_result *result = race_driver_result(c);
    device_event known = {0};
    if (!result->has_winner)
        return;
    race_question q = question_of(c, "winner", 0, result->winner);
    if (!race_log_find(c->log, &q, &known))
        race_log_keep(c->log, &q, "record", &(device_event){.outcome = OUTCOME_OK});
    device_event_deinit(&known);
}

at_status race_driver_step(race_driver *c, bool *finished, at_error *error)
{
    int64_t start_ns = clock_now_ns();
    *finished = false;
    if (!c->board_asked) {
        at_status status = ask_board(c, &c->state.throttle, error);
        c->state.race_ns += clock_now_ns() - start_ns;
        return status;
    }
    const uint32_t *order;
    size_t count = race_next(c->race, &order);
    race_stage stage = race_progress(c->race, &c->state.done, &c->state.left);
    c->probing = count > 0 && stage == RACE_PROBE;
    if (!count || stage >= RACE_FINALS)
        others_leave(c);
    at_status status = count ? AT_OK : pipeline_watch_proofs(c->pipeline, 0, error);
    if (status)
        return status;
    if (count) {
        status = race_block(c, order, count, error);
    } else if (!c->checked) {
        status = finalists_check(c, error);
    } else if (!c->energy_known) {
        status = finalists_measure_energy(c, error);
    } else {
        *finished = true;
        keep_winner(c);
    }
    c->state.stage = stage;
    *(stage == RACE_FINALS ? &c->state.finals_ns : &c->state.race_ns) += clock_now_ns() - start_ns;
    return status;
}

void race_driver_hurry(race_driver *c, int64_t until_ns)
{
    c->proofs_until_ns = until_ns;
}

void race_driver_stop(race_driver *c)
{
    race_stop(c->race);
}

const race_driver_state *race_driver_get_state(const race_driver *c)
{
    return &c->state;
}

const race_result *race_driver_result(race_driver *c)
{
    const race_result *by_time = race_conclude(c->race);
    bool known = c->energy_wanted && by_time->has_winner && by_time->verdict != RACE_INCONCLUSIVE &&
                 c->entrants[by_time->winner].energy.launch_j > 0;
    if (!known)
        return by_time;
    finalists_rank_by_energy(c, by_time);
    return &c->result;
}

energy_estimate race_driver_energy(const race_driver *c, uint32_t entrant)
{
    return c->entrants[entrant].energy;
}

candidate *race_driver_candidate(const race_driver *c, uint32_t entrant)
{
    return c->entrants[entrant].who;
}
