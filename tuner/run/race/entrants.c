#include "run/race/state.h"

#include <string.h>

at_status entrants_release_dropped(race_driver *c, const uint32_t *order, size_t count,
                                   at_error *error)
{
    for (size_t i = 0; i < c->count; i++)
        c->entrants[i].in_block = false;
    for (size_t i = 0; i < count; i++)
        c->entrants[order[i]].in_block = true;
    for (size_t i = 0; i < c->count; i++) {
        if (!c->entrants[i].held || c->entrants[i].in_block)
            continue;
        c->entrants[i].held = false;
        at_status status = device_worker_release(c->session->workers->device, i, error);
        if (status)
            return status;
    }
    return AT_OK;
}

/* Is it loaded, and checked as far as it has to be? */
static bool is_fit(const race_driver *c, uint32_t entrant)
{
    const candidate *one = c->entrants[entrant].who;
    return c->entrants[entrant].held && (c->probing || candidate_is_checked(one));
}

at_status entrants_submit(race_driver *c, const uint32_t *order, size_t count, at_error *error)
{
    at_status status = AT_OK;
    for (size_t i = 0; !status && i < count; i++) {
        while (!status && !pipeline_room(c->pipeline))
            status = pipeline_step(c->pipeline, STEP_MS, error);
        candidate *one = c->entrants[order[i]].who;
        if (status || is_fit(c, order[i]) || one->parts > 0)
            continue;
        if (!c->probing && (!candidate_has_code(one) || candidate_waits(one)))
            status = pipeline_recompile(c->pipeline, one, error);
        else if (!candidate_has_code(one))
            status = pipeline_restore(c->pipeline, one, error);
    }
    return status;
}

/* Twice: what did not compile when it was prepared for the race says why when the race wants it. */
static at_status ensure_images(race_driver *c, const uint32_t *order, size_t count, at_error *error)
{
    at_status status = AT_OK;
    for (int pass = 0; !status && pass < 2; pass++) {
        status = entrants_submit(c, order, count, error);
        while (!status && pipeline_in_flight(c->pipeline))
            status = pipeline_step(c->pipeline, STEP_MS, error);
    }
    if (!status && pipeline_home(c->pipeline) != c->home)
        status = error_set(error, AT_DEVICE, "the GPU of the race is lost");
    return status;
}

void entrants_leave_out(race_driver *c, uint32_t entrant)
{
    race_exclude(c->race, entrant);
    c->entrants[entrant].held = false;
    c->state.excluded++;
}

void entrants_exclude(race_driver *c, uint32_t entrant, outcome o, const char *message)
{
    candidate_reject(c->entrants[entrant].who, o, message);
    entrants_leave_out(c, entrant);
}

at_status entrants_await(race_driver *c, const race_request *waiting, size_t count, at_error *error)
{
    for (size_t i = 0; i < count; i++) {
        device_event e;
        at_status status = question_await(c, waiting[i].question, &e, error);
        if (status)
            return status;
        e.id = 0;
        if (!waiting[i].is_load || e.outcome != OUTCOME_OK)
            race_log_keep(c->log, &waiting[i].logged, question_stage(c), &e);
        candidate *one = c->entrants[waiting[i].entrant].who;
        if (e.outcome != OUTCOME_OK)
            entrants_exclude(c, waiting[i].entrant, e.outcome, e.message);
        else if (candidate_is_unchecked(one))
            one->ragged = RAGGED_PASSED;
        c->entrants[waiting[i].entrant].held = e.outcome == OUTCOME_OK;
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
        entrants_exclude(c, entrant, e.outcome, e.message);
    device_event_deinit(&e);
    return failed;
}

static at_status hold_block(race_driver *c, const uint32_t *order, size_t count, at_error *error)
{
    enum { HOLDS_AHEAD = 16 };
    race_request holds[HOLDS_AHEAD];
    size_t waiting = 0;
    for (size_t i = 0; i < count; i++) {
        uint32_t entrant = order[i];
        race_question load = question_of(c, "load", 0, entrant);
        device_variant variant;
        at_status status = AT_OK;
        if (is_fit(c, entrant))
            continue;
        if (c->entrants[entrant].held) /* for the probe alone */
            status = device_worker_release(c->session->workers->device, entrant, error);
        c->entrants[entrant].held = false;
        if (status)
            return status;
        if (exclude_as_before(c, &load, entrant))
            continue;
        const candidate *one = c->entrants[entrant].who;
        if (one->found.outcome !=
            OUTCOME_OK) { /* it did not compile for a ragged problem, or not again */
            entrants_leave_out(c, entrant);
            continue;
        }
        candidate_variant(one, &variant);
        status = device_worker_hold(c->session->workers->device, entrant, &variant, error);
        if (status)
            return status;
        holds[waiting++] =
            (race_request){entrant, device_worker_claim(c->session->workers->device), load, true};
        if (waiting == HOLDS_AHEAD) {
            status = entrants_await(c, holds, waiting, error);
            waiting = 0;
        }
        if (status)
            return status;
    }
    return entrants_await(c, holds, waiting, error);
}

at_status entrants_load(race_driver *c, const uint32_t *order, size_t count, at_error *error)
{
    at_status status = ensure_images(c, order, count, error);
    if (status)
        return status;
    others_load(c, order, count);
    return hold_block(c, order, count, error);
}
