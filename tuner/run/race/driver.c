#include "run/race/driver.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "run/race/clock_watch.h"

enum {
    STEP_MS = 100,
    CEILING_SAMPLES = 512,
    PROVE_AHEAD = 12, /* the fastest, and all when so few are left: more than reach the finals */
    PROOF_PATIENCE_S = 20
};

struct race_driver {
    session *session;
    size_t home; /* the GPU that it began on */
    pipeline *pipeline;
    race_log *log;
    race *race;
    candidate **entrants; /* by their numbers in the space, whenever they were tried */
    candidate **asked;    /* of the block in progress, in its order */
    uint64_t blocks;      /* that were answered */
    size_t count;
    uint64_t seed;
    bool *held;
    bool probing; /* what a probe samples counts no further, and needs no check on ragged problems */
    bool *in_block;
    uint64_t *ids;
    int64_t ceiling_ns[CEILING_SAMPLES];
    size_t ceiling_count;
    clock_watch watch;
    size_t likely_proofs; /* that have begun because a finalist is likely to need them */
    bool checked; /* the finalists, on fresh data */
    bool board_asked;
    bool energy_wanted, energy_known; /* wanted: it ranks the finalists */
    bool read_energy;                 /* the winner's alone */
    energy_estimate *energies;   /* one for each entrant */
    race_standing *by_energy;    /* the ranking, when energies are known */
    race_result result;          /* what points to it */
    race_driver_state state;
};

/* A variant ties with its twin by being the same. */
static bool may_enter(const candidate *one)
{
    return one->finished && !one->twin_of && one->found.outcome == OUTCOME_OK;
}

static at_status allocate(race_driver *c, const candidates *all, at_error *error)
{
    for (size_t i = 0; i < all->count; i++)
        c->count += may_enter(all->items[i]);
    if (!c->count)
        return error_set(error, AT_NOT_FOUND, "no variant worked");
    c->entrants = calloc(c->count, sizeof *c->entrants);
    c->asked = calloc(c->count, sizeof *c->asked);
    c->held = calloc(c->count, sizeof *c->held);
    c->in_block = calloc(c->count, sizeof *c->in_block);
    c->ids = calloc(c->count, sizeof *c->ids);
    c->energies = calloc(c->count, sizeof *c->energies);
    c->by_energy = calloc(c->count, sizeof *c->by_energy);
    if (!c->entrants || !c->asked || !c->held || !c->in_block || !c->ids || !c->energies || !c->by_energy)
        return error_set(error, AT_NO_MEMORY, "out of memory");
    return AT_OK;
}

static int by_configuration(const void *a, const void *b)
{
    const candidate *x = *(candidate *const *)a, *y = *(candidate *const *)b;
    return (x->configuration > y->configuration) - (x->configuration < y->configuration);
}

at_status race_driver_new(session *s, pipeline *p, race_log *log, const candidate *baseline,
                      const settings *o, race_driver **out, at_error *error)
{
    const candidates *all = pipeline_candidates(p);
    race_entrant *entrants = NULL;
    race_options rules = race_defaults();
    race_driver *c = calloc(1, sizeof *c);
    if (!c)
        return error_set(error, AT_NO_MEMORY, "out of memory");
    c->session = s;
    c->home = pipeline_home(p);
    clock_watch_init(&c->watch);
    c->pipeline = p;
    c->log = log;
    c->seed = o->seed;
    c->energy_wanted = o->energy;
    c->read_energy = o->read_energy;
    at_status status = allocate(c, all, error);
    if (status)
        goto cleanup;
    entrants = calloc(c->count, sizeof *entrants);
    if (!entrants) {
        status = error_set(error, AT_NO_MEMORY, "out of memory");
        goto cleanup;
    }
    rules.seed = o->seed;
    const device_ready *ready = &pipeline_get_state(p)->ready;
    /* A sample that averages a batch resolves that much less than a tick. */
    rules.tick_ns = ready->tick_ns / (ready->batch > 1 ? ready->batch : 1);
    if (o->finals_blocks)
        rules.finals_blocks = o->finals_blocks;
    if (o->tie_margin >= 0)
        rules.tie_margin = o->tie_margin;
    for (size_t i = 0, n = 0; i < all->count; i++)
        if (may_enter(all->items[i]))
            c->entrants[n++] = all->items[i];
    /* What the race asks depends on their order, and a resumed run tries them in another. */
    qsort(c->entrants, c->count, sizeof *c->entrants, by_configuration);
    for (size_t i = 0; i < c->count; i++) {
        const candidate *one = c->entrants[i];
        if (one == baseline)
            rules.default_entrant = (uint32_t)i;
        entrants[i] = (race_entrant){
            .fastest_ns = pipeline_prior_ns(p, one),
            .registers = one->found.resources.registers,
            .shared_bytes =
                one->found.resources.static_shared_bytes + plan_most_shared_bytes(&one->launches[0]),
            .order = one->configuration};
    }
    status = race_new(&rules, entrants, c->count, &c->race, error);
cleanup:
    free(entrants);
    if (status)
        race_driver_free(c);
    else
        *out = c;
    return status;
}

void race_driver_free(race_driver *c)
{
    if (!c)
        return;
    race_free(c->race);
    free(c->entrants);
    free(c->asked);
    free(c->held);
    free(c->in_block);
    free(c->ids);
    free(c->energies);
    free(c->by_energy);
    free(c);
}

/* The race drops entrants for good, so what is not in a block can go. */
static at_status release_dropped(race_driver *c, const uint32_t *order, size_t count, at_error *error)
{
    memset(c->in_block, 0, c->count * sizeof *c->in_block);
    for (size_t i = 0; i < count; i++)
        c->in_block[order[i]] = true;
    for (size_t i = 0; i < c->count; i++) {
        if (!c->held[i] || c->in_block[i])
            continue;
        c->held[i] = false;
        at_status status = device_worker_release(c->session->workers->device, i, error);
        if (status)
            return status;
    }
    return AT_OK;
}

/* Is it loaded, and checked as far as it has to be? */
static bool is_fit(const race_driver *c, uint32_t entrant)
{
    const candidate *one = c->entrants[entrant];
    return c->held[entrant] && (c->probing || (!candidate_waits(one) && !candidate_is_unchecked(one)));
}

/* Machine code that was dropped, or that a journal stood for, is compiled again (from the cache). */
static at_status ensure_images(race_driver *c, const uint32_t *order, size_t count, at_error *error)
{
    at_status status = AT_OK;
    for (size_t i = 0; !status && i < count; i++) {
        while (!status && !pipeline_room(c->pipeline))
            status = pipeline_step(c->pipeline, STEP_MS, error);
        candidate *one = c->entrants[order[i]];
        if (status || is_fit(c, order[i]))
            continue;
        if (!c->probing && (!candidate_has_code(one) || candidate_waits(one)))
            status = pipeline_recompile(c->pipeline, one, error);
        else if (!candidate_has_code(one))
            status = pipeline_restore(c->pipeline, one, error);
    }
    while (!status && pipeline_in_flight(c->pipeline))
        status = pipeline_step(c->pipeline, STEP_MS, error);
    if (!status && pipeline_home(c->pipeline) != c->home)
        status = error_set(error, AT_DEVICE, "the GPU of the race is lost");
    return status;
}

/* Of an entrant that has its outcome. */
static void leave_out(race_driver *c, uint32_t entrant)
{
    race_exclude(c->race, entrant);
    c->held[entrant] = false;
    c->state.excluded++;
}

static void exclude(race_driver *c, uint32_t entrant, outcome o, const char *message)
{
    candidate_reject(c->entrants[entrant], o, message);
    leave_out(c, entrant);
}

static at_status await(race_driver *c, device_question question, device_event *out, at_error *error)
{
    at_status status;
    do {
        error_clear(error);
        status = device_worker_await(c->session->workers->device, question, STEP_MS, out, error);
    } while (status == AT_NOT_FOUND);
    return status;
}

/* The answer to what was asked last. */
static at_status await_latest(race_driver *c, device_event *out, at_error *error)
{
    return await(c, device_worker_claim(c->session->workers->device), out, error);
}

/* A question about an entrant, and as the journal knows it. */
typedef struct asked {
    uint32_t entrant;
    device_question question;
    race_question logged;
    bool is_load; /* which is done again when it is needed: only a failure is worth a line */
} asked;

static race_question question_of(const race_driver *c, const char *what, uint64_t number,
                                 uint32_t entrant)
{
    return (race_question){
        .asked = what, .number = number, .variants = &c->entrants[entrant], .count = 1};
}

static const char *stage_reached(const race_driver *c)
{
    return race_progress(c->race, NULL, NULL) < RACE_FINALS ? "race" : "finals";
}

/* One that is loaded is held, one that passes its check stays; the others are out. */
static at_status await_fit(race_driver *c, const asked *waiting, size_t count, at_error *error)
{
    for (size_t i = 0; i < count; i++) {
        device_event e;
        at_status status = await(c, waiting[i].question, &e, error);
        if (status)
            return status;
        e.id = 0;
        if (!waiting[i].is_load || e.outcome != OUTCOME_OK)
            race_log_keep(c->log, &waiting[i].logged, stage_reached(c), &e);
        candidate *one = c->entrants[waiting[i].entrant];
        if (e.outcome != OUTCOME_OK)
            exclude(c, waiting[i].entrant, e.outcome, e.message);
        else if (candidate_is_unchecked(one))
            one->ragged = RAGGED_PASSED;
        c->held[waiting[i].entrant] = e.outcome == OUTCOME_OK;
        device_event_deinit(&e);
    }
    return AT_OK;
}

/* A failure that the journal knows is not tried again. */
static bool exclude_as_before(race_driver *c, const race_question *q, uint32_t entrant)
{
    device_event e;
    if (!race_log_find(c->log, q, &e))
        return false;
    bool failed = e.outcome != OUTCOME_OK;
    if (failed)
        exclude(c, entrant, e.outcome, e.message);
    device_event_deinit(&e);
    return failed;
}

static at_status hold_block(race_driver *c, const uint32_t *order, size_t count, at_error *error)
{
    enum { HOLDS_AHEAD = 16 };
    asked holds[HOLDS_AHEAD];
    size_t waiting = 0;
    for (size_t i = 0; i < count; i++) {
        uint32_t entrant = order[i];
        race_question load = question_of(c, "load", 0, entrant);
        device_variant variant;
        at_status status = AT_OK;
        if (is_fit(c, entrant))
            continue;
        if (c->held[entrant]) /* for the probe alone */
            status = device_worker_release(c->session->workers->device, entrant, error);
        c->held[entrant] = false;
        if (status)
            return status;
        if (exclude_as_before(c, &load, entrant))
            continue;
        const candidate *one = c->entrants[entrant];
        if (one->found.outcome != OUTCOME_OK) { /* it did not compile for a ragged problem, or not again */
            leave_out(c, entrant);
            continue;
        }
        candidate_variant(one, &variant);
        status = device_worker_hold(c->session->workers->device, entrant, &variant, error);
        if (status)
            return status;
        holds[waiting++] = (asked){entrant, device_worker_claim(c->session->workers->device), load,
                                    true};
        if (waiting == HOLDS_AHEAD) {
            status = await_fit(c, holds, waiting, error);
            waiting = 0;
        }
        if (status)
            return status;
    }
    return await_fit(c, holds, waiting, error);
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

static void note_others(race_driver *c, uint32_t others)
{
    if (others > c->state.others)
        c->state.others = others;
}

/* Asks the board who else uses the chip, and what throttles it. It may not be able to tell. */
static at_status ask_board(race_driver *c, uint64_t *throttle, at_error *error)
{
    device_event e;
    at_status status = device_worker_energy(c->session->workers->device, 0, 0, error);
    if (!status)
        status = await_latest(c, &e, error);
    if (status)
        return status;
    c->board_asked = true;
    *throttle = e.throttle;
    note_others(c, e.others);
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
    if (verdict == CLOCK_REDO) {
        race_redo(c->race);
        return AT_OK;
    }
    keep_ceiling(c, e->ceiling_ns);
    race_tell(c->race, e->samples_ns);
    return verdict == CLOCK_THROTTLED ? ask_board(c, &c->state.throttle, error) : AT_OK;
}

/* e->id is the place in the block of the one to blame. */
static at_status use_block(race_driver *c, const uint32_t *order, size_t count, const device_event *e,
                           at_error *error)
{
    if (e->outcome == OUTCOME_OK && e->sample_count == count) {
        c->blocks++;
        return take_block(c, e, error);
    }
    if (e->id >= count)
        return error_set(error, AT_INTERNAL, "a block of samples failed, through the fault of no variant: %s",
                         e->message);
    exclude(c, order[e->id], e->outcome, e->message);
    return AT_OK;
}

static at_status sample_block(race_driver *c, const race_question *q, const uint32_t *order,
                              size_t count, at_error *error)
{
    device_event e;
    for (size_t i = 0; i < count; i++)
        c->ids[i] = order[i];
    at_status status = device_worker_block(c->session->workers->device, c->ids, count, true, error);
    if (!status)
        status = await_latest(c, &e, error);
    if (status)
        return status;
    size_t place = 0;
    while (place < count && order[place] != e.id)
        place++;
    e.id = place;
    race_log_keep(c->log, q, stage_reached(c), &e);
    status = use_block(c, order, count, &e, error);
    device_event_deinit(&e);
    return status;
}

/* The next block: from the journal, or else from the device. */
static at_status race_block(race_driver *c, const uint32_t *order, size_t count, at_error *error)
{
    device_event e;
    uint64_t excluded = c->state.excluded;
    at_status status = release_dropped(c, order, count, error);
    if (status)
        return status;
    for (size_t i = 0; i < count; i++)
        c->asked[i] = c->entrants[order[i]];
    const race_question q = {
        .asked = "block", .number = c->blocks, .variants = c->asked, .count = count};
    if (race_log_find(c->log, &q, &e)) {
        status = use_block(c, order, count, &e, error);
        device_event_deinit(&e);
        return status;
    }
    status = ensure_images(c, order, count, error);
    if (!status)
        status = hold_block(c, order, count, error);
    /* Someone who could not be loaded has left the race: it asks for another block then. */
    if (!status && c->state.excluded == excluded)
        status = sample_block(c, &q, order, count, error);
    return status;
}

/* Has the entrant loaded: in a resumed race no block may have done it. It may fail and be out. */
static at_status hold_one(race_driver *c, uint32_t entrant, at_error *error)
{
    at_status status = ensure_images(c, &entrant, 1, error);
    return status ? status : hold_block(c, &entrant, 1, error);
}

/* Asks for the check of a finalist on fresh data, unless the journal has its answer. */
static at_status begin_check(race_driver *c, uint32_t entrant, asked *checks, size_t *waiting,
                             at_error *error)
{
    device_event e;
    race_question q = question_of(c, "check", c->seed + 1, entrant);
    if (race_log_find(c->log, &q, &e)) {
        if (e.outcome != OUTCOME_OK)
            exclude(c, entrant, e.outcome, e.message);
        device_event_deinit(&e);
        return AT_OK;
    }
    at_status status = hold_one(c, entrant, error);
    if (status || !c->held[entrant])
        return status;
    status = device_worker_recheck(c->session->workers->device, entrant, c->seed + 1, error);
    if (!status)
        checks[(*waiting)++] = (asked){entrant, device_worker_claim(c->session->workers->device), q,
                                       false};
    return status;
}

/* By its first samples; NULL: the proofs of all have begun. */
static candidate *fastest_unproven(const race_driver *c, const uint32_t *order, size_t count)
{
    candidate *found = NULL;
    for (size_t i = 0; i < count; i++) {
        candidate *one = c->entrants[order[i]];
        if (!one->proof_asked && (!found || pipeline_prior_ns(c->pipeline, one) <
                                                pipeline_prior_ns(c->pipeline, found)))
            found = one;
    }
    return found;
}

/* Proofs take idle cores while the race goes on. What they find is heeded when it has ended, so that a
 * race that is resumed goes the same way. */
static at_status prove_ahead(race_driver *c, const uint32_t *order, size_t count, at_error *error)
{
    at_status status = pipeline_watch_proofs(c->pipeline, 0, error);
    for (size_t i = 0; !status && count <= PROVE_AHEAD && i < count; i++)
        status = pipeline_prove(c->pipeline, c->entrants[order[i]], error);
    for (; !status && !c->probing && c->likely_proofs < PROVE_AHEAD; c->likely_proofs++) {
        candidate *fastest = fastest_unproven(c, order, count);
        if (fastest)
            status = pipeline_prove(c->pipeline, fastest, error);
    }
    return status;
}

/* No variant wins without a proof, or a word on why there is none. */
static at_status prove_finalists(race_driver *c, const uint32_t *finalists, size_t count, at_error *error)
{
    int64_t end_ns = clock_now_ns() + INT64_C(1000000000) * PROOF_PATIENCE_S;
    at_status status = AT_OK;
    bool waiting = true;
    for (size_t i = 0; !status && i < count; i++)
        status = pipeline_prove(c->pipeline, c->entrants[finalists[i]], error);
    while (!status && waiting && clock_now_ns() < end_ns) {
        while (pipeline_take_proof(c->pipeline))
            ;
        waiting = false;
        for (size_t i = 0; i < count; i++) {
            const candidate *one = c->entrants[finalists[i]];
            waiting = waiting || (one->proof_asked && one->verdict == PROOF_NONE);
        }
        if (waiting)
            status = pipeline_watch_proofs(c->pipeline, STEP_MS, error);
    }
    for (size_t i = 0; !status && i < count; i++) {
        uint32_t entrant = finalists[i];
        if (c->entrants[entrant]->verdict != PROOF_CONVICTED)
            continue;
        if (c->held[entrant])
            status = device_worker_release(c->session->workers->device, entrant, error);
        leave_out(c, entrant);
    }
    return status;
}

/* What reached the finals computes the right thing on data it has not seen, or is out. */
static at_status check_finalists(race_driver *c, at_error *error)
{
    const race_result *result = race_conclude(c->race);
    size_t count = 0, waiting = 0;
    uint32_t *finalists = calloc(result->count + 1, sizeof *finalists);
    asked *checks = calloc(result->count + 1, sizeof *checks);
    at_status status =
        finalists && checks ? AT_OK : error_set(error, AT_NO_MEMORY, "out of memory");
    /* A race that was stopped early may have had no finals: its winner is checked then. */
    for (size_t i = 0; !status && i < result->count; i++) {
        uint32_t entrant = result->ranking[i].entrant;
        if (!result->ranking[i].failed && (c->in_block[entrant] || entrant == result->winner))
            finalists[count++] = entrant;
    }
    for (size_t i = 0; !status && i < count; i++)
        status = begin_check(c, finalists[i], checks, &waiting, error);
    if (!status)
        status = await_fit(c, checks, waiting, error);
    if (!status)
        status = prove_finalists(c, finalists, count, error);
    /* Where no finalist was fit, others race in their place, or win without a race, and are checked in their turn. */
    const uint32_t *order;
    if (!status && race_next(c->race, &order) == 0) {
        result = race_conclude(c->race);
        c->checked = !result->has_winner;
        for (size_t i = 0; i < count; i++)
            c->checked = c->checked || finalists[i] == result->winner;
    }
    free(finalists);
    free(checks);
    return status;
}

/* Measures the energy of a finalist's launches; `out` is the caller's. */
static at_status measure_energy(race_driver *c, uint32_t entrant, uint32_t chunks, device_event *out,
                                at_error *error)
{
    race_question q = question_of(c, "energy", chunks, entrant);
    *out = (device_event){0};
    if (race_log_find(c->log, &q, out))
        return AT_OK;
    at_status status = hold_one(c, entrant, error);
    if (status || !c->held[entrant])
        return status;
    status = device_worker_energy(c->session->workers->device, entrant, chunks, error);
    if (!status)
        status = await_latest(c, out, error);
    /* What could not be told, or others had a part in, may be known another time. */
    if (!status && out->energy.launch_j > 0 && !out->others)
        race_log_keep(c->log, &q, stage_reached(c), out);
    return status;
}

/* Energy takes longer than the race: it is read only where it was asked for, and of the winner alone
 * where time decides. */
static at_status measure_energies(race_driver *c, at_error *error)
{
    c->energy_known = true;
    if (!c->energy_wanted && !c->read_energy)
        return AT_OK;
    const race_result *result = race_conclude(c->race);
    uint32_t chunks = c->energy_wanted ? ENERGY_CHUNKS : ENERGY_LEAST_CHUNKS;
    for (size_t i = 0; i < result->count; i++) {
        uint32_t entrant = result->ranking[i].entrant;
        if (result->ranking[i].failed || !c->in_block[entrant] ||
            (!c->energy_wanted && entrant != result->winner))
            continue;
        device_event e;
        at_status status = measure_energy(c, entrant, chunks, &e, error);
        if (status)
            return status;
        note_others(c, e.others);
        /* The board's energy is theirs too. */
        if (!e.others)
            c->energies[entrant] = e.energy;
        if (!(c->energies[entrant].launch_j > 0))
            snprintf(c->state.energy_trouble, sizeof c->state.energy_trouble, "%s",
                     e.others    ? "other processes compute on the GPU"
                     : e.message ? e.message
                                 : "a finalist could not be loaded again");
        device_event_deinit(&e);
    }
    /* Energies of some do not rank all. */
    if (c->state.energy_trouble[0])
        memset(c->energies, 0, c->count * sizeof *c->energies);
    return AT_OK;
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
    at_status status = prove_ahead(c, order, count, error);
    if (status)
        return status;
    if (count) {
        status = race_block(c, order, count, error);
    } else if (!c->checked) {
        status = check_finalists(c, error);
    } else if (!c->energy_known) {
        status = measure_energies(c, error);
    } else {
        *finished = true;
        keep_winner(c);
    }
    c->state.stage = stage;
    *(stage == RACE_FINALS ? &c->state.finals_ns : &c->state.race_ns) += clock_now_ns() - start_ns;
    return status;
}

void race_driver_stop(race_driver *c)
{
    race_stop(c->race);
}

const race_driver_state *race_driver_get_state(const race_driver *c)
{
    return &c->state;
}

/* The least energy first; those without one keep their order behind. Insertion: finalists are few. */
static void rank_by_energy(race_driver *c, const race_result *by_time)
{
    size_t ranked = 0;
    for (size_t i = 0; i < by_time->count; i++) {
        race_standing s = by_time->ranking[i];
        double launch_j = c->energies[s.entrant].launch_j;
        size_t at = i;
        if (launch_j > 0 && !s.failed) {
            at = ranked++;
            memmove(&c->by_energy[at + 1], &c->by_energy[at], (i - at) * sizeof s);
            while (at > 0 && c->energies[c->by_energy[at - 1].entrant].launch_j > launch_j) {
                c->by_energy[at] = c->by_energy[at - 1];
                at--;
            }
        }
        c->by_energy[at] = s;
        c->by_energy[at].tied = false;
    }
    c->result = *by_time;
    c->result.ranking = c->by_energy;
    c->result.winner = c->result.fastest = c->by_energy[0].entrant;
    energy_estimate best = c->energies[c->result.winner];
    c->result.tied = 0;
    for (size_t i = 1; i < ranked; i++) {
        c->by_energy[i].tied = c->energies[c->by_energy[i].entrant].low_j <= best.high_j;
        c->result.tied += c->by_energy[i].tied;
    }
    c->result.verdict = c->result.tied ? RACE_TIED : RACE_CLEAR;
    c->result.half_width = best.high_j / best.launch_j - 1;
    c->result.noisy = false;
}

const race_result *race_driver_result(race_driver *c)
{
    const race_result *by_time = race_conclude(c->race);
    bool known = c->energy_wanted && by_time->has_winner && by_time->verdict != RACE_INCONCLUSIVE &&
                 c->energies[by_time->winner].launch_j > 0;
    if (!known)
        return by_time;
    rank_by_energy(c, by_time);
    return &c->result;
}

energy_estimate race_driver_energy(const race_driver *c, uint32_t entrant)
{
    return c->energies[entrant];
}

candidate *race_driver_candidate(const race_driver *c, uint32_t entrant)
{
    return c->entrants[entrant];
}
