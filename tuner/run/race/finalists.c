#include "run/race/state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"

enum { PROOF_TIMEOUT_S = 20 };

/* Asks for the check of a finalist on fresh data, unless the journal has the answer. */
static at_status begin_check(race_driver *d, uint32_t entrant, race_request *checks,
                             size_t *waiting, at_error *error)
{
    device_event e;
    race_question q = question_of(d, "check", d->seed + 1, entrant);
    if (race_log_find(d->log, &q, &e)) {
        if (e.outcome != OUTCOME_OK)
            entrants_exclude(d, entrant, e.outcome, e.message);
        device_event_deinit(&e);
        return AT_OK;
    }
    at_status status = entrants_load(d, &entrant, 1, error);
    if (status || !d->entrants[entrant].held)
        return status;
    status = device_worker_recheck(d->session->workers->device, entrant, d->seed + 1, error);
    if (!status)
        checks[(*waiting)++] =
            (race_request){entrant, device_worker_claim(d->session->workers->device), q, false};
    return status;
}

static bool is_being_proven(const candidate *one)
{
    return one->verdict == PROOF_PENDING;
}

static bool waits_for_proof(const race_driver *d, const uint32_t *finalists, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (is_being_proven(d->entrants[finalists[i]].who))
            return true;
    return false;
}

/* Waits for the finalists' proofs: no variant wins before its proof has ended or is impossible. */
static at_status prove_finalists(race_driver *d, const uint32_t *finalists, size_t count,
                                 at_error *error)
{
    int64_t end_ns =
        d->until_ns ? d->until_ns : clock_now_ns() + INT64_C(1000000000) * PROOF_TIMEOUT_S;
    at_status status = AT_OK;
    for (size_t i = count; !status && i-- > 0;)
        status = pipeline_prove(d->pipeline, d->entrants[finalists[i]].who, true, error);
    while (!status) {
        while (pipeline_take_proof(d->pipeline, false))
            ;
        if (!waits_for_proof(d, finalists, count))
            break;
        d->timed_out = clock_now_ns() >= end_ns;
        if (d->timed_out)
            break;
        status = pipeline_watch_proofs(d->pipeline, STEP_MS, error);
    }
    for (size_t i = 0; !status && i < count; i++) {
        uint32_t entrant = finalists[i];
        if (d->entrants[entrant].who->verdict != PROOF_WRONG)
            continue;
        if (d->entrants[entrant].held)
            status = device_worker_release(d->session->workers->device, entrant, error);
        entrants_leave_out(d, entrant);
    }
    return status;
}

/* Checks the winner, then the finalists for which there is time; sets *count to their number. */
static at_status check_in_time(race_driver *d, const uint32_t *finalists, size_t *count,
                               at_error *error)
{
    race_request *checks = memory_new(*count, sizeof *checks);
    size_t waiting = 0, begun = 0;
    at_status status = AT_OK;
    for (; !status && begun < *count; begun++) {
        const int64_t start_ns = clock_now_ns();
        if (d->until_ns && begun > 0 && start_ns + d->check_ns > d->until_ns)
            break;
        status = begin_check(d, finalists[begun], checks, &waiting, error);
        if (status || !d->until_ns)
            continue;
        status = entrants_await(d, checks, waiting, error);
        waiting = 0;
        const int64_t taken_ns = clock_now_ns() - start_ns;
        d->check_ns = taken_ns > d->check_ns ? taken_ns : d->check_ns;
    }
    if (!status)
        status = entrants_await(d, checks, waiting, error);
    *count = begun;
    free(checks);
    return status;
}

at_status finalists_check(race_driver *d, at_error *error)
{
    const race_result *result = race_conclude(d->race);
    size_t count = 0;
    uint32_t *finalists = memory_new(result->count, sizeof *finalists);
    /* A race that was stopped early may have had no finals: its winner is checked then. A quick run
     * checks only the winner, or the next entrant that passes. */
    bool winner_alone = d->quick && !d->energy_wanted;
    if (result->has_winner)
        finalists[count++] = result->winner;
    for (size_t i = 0; i < result->count && !winner_alone; i++) {
        uint32_t entrant = result->ranking[i].entrant;
        if (!result->ranking[i].failed && d->entrants[entrant].in_block &&
            !(result->has_winner && entrant == result->winner))
            finalists[count++] = entrant;
    }
    at_status status = check_in_time(d, finalists, &count, error);
    if (!status)
        status = prove_finalists(d, finalists, count, error);
    /* If no finalist passed, other entrants race or win in their place, and are checked next. */
    const uint32_t *order;
    if (!status && race_next(d->race, &order) == 0) {
        result = race_conclude(d->race);
        d->checked = !result->has_winner;
        for (size_t i = 0; i < count; i++)
            d->checked =
                d->checked || (finalists[i] == result->winner &&
                               (d->timed_out || !is_being_proven(d->entrants[result->winner].who)));
    }
    free(finalists);
    return status;
}

static at_status measure_energy(race_driver *d, uint32_t entrant, uint32_t chunks,
                                device_event *out, at_error *error)
{
    race_question q = question_of(d, "energy", chunks, entrant);
    *out = (device_event){0};
    if (race_log_find(d->log, &q, out))
        return AT_OK;
    at_status status = entrants_load(d, &entrant, 1, error);
    if (status || !d->entrants[entrant].held)
        return status;
    status = device_worker_energy(d->session->workers->device, entrant, chunks, error);
    if (!status)
        status = question_await_latest(d, out, error);
    /* An energy that is unknown, or spoilt by other processes, is not kept: a later run may measure
     * it. */
    if (!status && out->energy.launch_j > 0 && !out->others)
        race_log_keep(d->log, &q, question_stage(d), out);
    return status;
}

at_status finalists_measure_energy(race_driver *d, at_error *error)
{
    d->energy_known = true;
    if (!d->energy_wanted && !d->read_energy)
        return AT_OK;
    const race_result *result = race_conclude(d->race);
    uint32_t chunks = d->energy_wanted ? ENERGY_CHUNKS : ENERGY_LEAST_CHUNKS;
    for (size_t i = 0; i < result->count; i++) {
        uint32_t entrant = result->ranking[i].entrant;
        if (result->ranking[i].failed || !d->entrants[entrant].in_block ||
            (!d->energy_wanted && entrant != result->winner))
            continue;
        device_event e;
        at_status status = measure_energy(d, entrant, chunks, &e, error);
        if (status)
            return status;
        question_note_others(d, e.others);
        /* The board's energy includes the energy of other processes. */
        if (!e.others)
            d->entrants[entrant].energy = e.energy;
        if (!(d->entrants[entrant].energy.launch_j > 0))
            snprintf(d->state.energy_trouble, sizeof d->state.energy_trouble, "%s",
                     e.others    ? "other processes compute on the GPU"
                     : e.message ? e.message
                                 : "a finalist could not be loaded again");
        device_event_deinit(&e);
    }
    if (d->state.energy_trouble[0])
        for (size_t i = 0; i < d->count; i++)
            d->entrants[i].energy = (energy_estimate){0};
    return AT_OK;
}

void finalists_rank_by_energy(race_driver *d, const race_result *by_time)
{
    size_t ranked = 0;
    for (size_t i = 0; i < by_time->count; i++) {
        race_standing s = by_time->ranking[i];
        double launch_j = d->entrants[s.entrant].energy.launch_j;
        size_t at = i;
        if (launch_j > 0 && !s.failed) {
            at = ranked++;
            memmove(&d->ranking[at + 1], &d->ranking[at], (i - at) * sizeof s);
            while (at > 0 && d->entrants[d->ranking[at - 1].entrant].energy.launch_j > launch_j) {
                d->ranking[at] = d->ranking[at - 1];
                at--;
            }
        }
        d->ranking[at] = s;
        d->ranking[at].tied = false;
    }
    d->result = *by_time;
    d->result.ranking = d->ranking;
    d->result.winner = d->result.fastest = d->ranking[0].entrant;
    energy_estimate best = d->entrants[d->result.winner].energy;
    d->result.tied = 0;
    for (size_t i = 1; i < ranked; i++) {
        d->ranking[i].tied = d->entrants[d->ranking[i].entrant].energy.low_j <= best.high_j;
        d->result.tied += d->ranking[i].tied;
    }
    d->result.verdict = d->result.tied ? RACE_TIED : RACE_CLEAR;
    d->result.half_width = best.high_j / best.launch_j - 1;
    d->result.noisy = false;
}
