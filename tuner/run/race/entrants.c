#include <string.h>

#include "run/race/state.h"

at_status entrants_release_dropped(race_driver *d, const uint32_t *order, size_t count,
                                   at_error *error)
{
    for (size_t i = 0; i < d->count; i++)
        d->entrants[i].in_block = false;
    for (size_t i = 0; i < count; i++)
        d->entrants[order[i]].in_block = true;
    for (size_t i = 0; i < d->count; i++) {
        if (!d->entrants[i].held || d->entrants[i].in_block)
            continue;
        d->entrants[i].held = false;
        at_status status = device_worker_release(d->session->workers->device, i, error);
        if (status)
            return status;
    }
    return AT_OK;
}

static bool is_fit(const race_driver *d, uint32_t entrant)
{
    const candidate *one = d->entrants[entrant].who;
    const bool is_enough = d->probing || (candidate_waits(one) && !d->needs_check);
    return d->entrants[entrant].held && (is_enough || candidate_is_checked(one));
}

at_status entrants_submit(race_driver *d, const uint32_t *order, size_t count, at_error *error)
{
    at_status status = AT_OK;
    for (size_t i = 0; !status && i < count; i++) {
        while (!status && !pipeline_room(d->pipeline)) {
            status = pipeline_step(d->pipeline, STEP_MS, error);
            if (!status)
                status = session_check_time(d->session, error);
        }
        candidate *one = d->entrants[order[i]].who;
        if (status || is_fit(d, order[i]) || one->parts > 0)
            continue;
        if (!candidate_has_code(one) || (d->needs_check && candidate_waits(one)))
            status = pipeline_recompile(d->pipeline, one, d->needs_check, error);
    }
    return status;
}

static at_status ensure_images(race_driver *d, const uint32_t *order, size_t count, at_error *error)
{
    at_status status = entrants_submit(d, order, count, error);
    while (!status && pipeline_in_flight(d->pipeline)) {
        status = pipeline_step(d->pipeline, STEP_MS, error);
        if (!status)
            status = session_check_time(d->session, error);
    }
    if (!status && pipeline_get_state(d->pipeline)->home != d->home)
        status = error_set(error, AT_DEVICE, "the GPU of the race is lost");
    return status;
}

void entrants_leave_out(race_driver *d, uint32_t entrant)
{
    race_exclude(d->race, entrant);
    d->entrants[entrant].held = false;
    d->state.excluded++;
}

void entrants_exclude(race_driver *d, uint32_t entrant, outcome o, const char *message)
{
    candidate_reject(d->entrants[entrant].who, o, message);
    entrants_leave_out(d, entrant);
}

at_status entrants_await(race_driver *d, const race_request *waiting, size_t count, at_error *error)
{
    for (size_t i = 0; i < count; i++) {
        device_event e;
        at_status status = question_await(d, waiting[i].question, &e, error);
        if (status)
            return status;
        e.id = 0;
        if (!waiting[i].is_load || e.outcome != OUTCOME_OK)
            race_log_keep(d->log, &waiting[i].logged, question_stage(d), &e);
        candidate *one = d->entrants[waiting[i].entrant].who;
        if (e.outcome != OUTCOME_OK)
            entrants_exclude(d, waiting[i].entrant, e.outcome, e.message);
        else if (one->ragged == RAGGED_UNCHECKED)
            one->ragged = RAGGED_PASSED;
        d->entrants[waiting[i].entrant].held = e.outcome == OUTCOME_OK;
        device_event_deinit(&e);
    }
    return AT_OK;
}

/* Excludes an entrant whose failure is in the journal, without another try. */
static bool exclude_as_before(race_driver *d, const race_question *q, uint32_t entrant)
{
    device_event e;
    if (!race_log_find(d->log, q, &e))
        return false;
    bool failed = e.outcome != OUTCOME_OK;
    if (failed)
        entrants_exclude(d, entrant, e.outcome, e.message);
    device_event_deinit(&e);
    return failed;
}

static at_status hold_block(race_driver *d, const uint32_t *order, size_t count, at_error *error)
{
    enum { HOLDS_AHEAD = 16 };
    race_request holds[HOLDS_AHEAD];
    size_t waiting = 0;
    for (size_t i = 0; i < count; i++) {
        uint32_t entrant = order[i];
        race_question load = question_of(d, "load", 0, entrant);
        device_variant variant;
        at_status status = AT_OK;
        if (is_fit(d, entrant))
            continue;
        if (d->entrants[entrant].held) /* the entrant is held for the probe */
            status = device_worker_release(d->session->workers->device, entrant, error);
        d->entrants[entrant].held = false;
        if (status)
            return status;
        if (exclude_as_before(d, &load, entrant))
            continue;
        const candidate *one = d->entrants[entrant].who;
        if (one->found.outcome !=
            OUTCOME_OK) { /* the code did not compile for a ragged problem, or not again */
            entrants_leave_out(d, entrant);
            continue;
        }
        candidate_variant(one, &variant);
        status = device_worker_hold(d->session->workers->device, entrant, &variant, error);
        if (status)
            return status;
        holds[waiting++] =
            (race_request){entrant, device_worker_claim(d->session->workers->device), load, true};
        if (waiting == HOLDS_AHEAD) {
            status = entrants_await(d, holds, waiting, error);
            waiting = 0;
        }
        if (status)
            return status;
    }
    return entrants_await(d, holds, waiting, error);
}

at_status entrants_load(race_driver *d, const uint32_t *order, size_t count, at_error *error)
{
    at_status status = ensure_images(d, order, count, error);
    if (status)
        return status;
    others_load(d, order, count);
    return hold_block(d, order, count, error);
}

at_status question_await(race_driver *d, device_question question, device_event *out,
                         at_error *error)
{
    device_worker *home = d->session->workers->device;
    for (;;) {
        at_error none = {0};
        poll_set set;
        const bool alone = d->other_count == 0;
        at_status status = device_worker_await(home, question, alone ? STEP_MS : 0, out, &none);
        if (status != AT_NOT_FOUND) {
            if (status && error)
                *error = none;
            return status;
        }
        status = session_check_time(d->session, error);
        if (status)
            return status;
        if (alone)
            continue;
        others_watch(d);
        poll_set_start(&set, STEP_MS);
        device_worker_poll(home, &set);
        others_poll(d, &set);
        poll_set_wait(&set);
    }
}

at_status question_await_latest(race_driver *d, device_event *out, at_error *error)
{
    return question_await(d, device_worker_claim(d->session->workers->device), out, error);
}

race_question question_of(const race_driver *d, const char *what, uint64_t number, uint32_t entrant)
{
    return (race_question){
        .asked = what, .number = number, .variants = &d->entrants[entrant].who, .count = 1};
}

const char *question_stage(const race_driver *d)
{
    return race_progress(d->race, NULL, NULL) < RACE_FINALS ? "race" : "finals";
}

void question_note_others(race_driver *d, uint32_t others)
{
    if (others > d->state.others)
        d->state.others = others;
}
