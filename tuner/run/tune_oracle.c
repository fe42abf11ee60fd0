/* Proves a baseline that is the oracle, and compares its results on GPU and simulated device. */
#include "run/tune_state.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "run/setup/setup.h"

/* How long the end of a run waits for the proof of the baseline. */
enum { TIMEOUT_S = 20, QUICK_TIMEOUT_S = 1, STEP_MS = 50 };

/* Returns the time up to which the run waits for the proof, as clock_now_ns(). */
static int64_t proof_deadline_ns(const tune *t)
{
    const int64_t end_ns =
        clock_now_ns() + INT64_C(1000000000) * (tune_is_quick(t) ? QUICK_TIMEOUT_S : TIMEOUT_S);
    return tune_end_ns(t) && tune_end_ns(t) < end_ns ? tune_end_ns(t) : end_ns;
}

static candidate *find_baseline(const tune *t)
{
    candidate *c = tune_tried_baseline(t);
    return c && candidate_is_finished(c) ? twins_lead(c) : NULL;
}

static size_t find_slot(const tune *t, problem_kind kind)
{
    size_t slot = 0;
    while (slot < t->session.slots && t->session.problems.kinds[slot] != kind)
        slot++;
    return slot < t->session.slots ? slot : DEVICE_SLOTS;
}

/* Sends the next results of the simulated device to the GPU, if the GPU has that problem. */
static at_status begin_comparison(tune *t, at_error *error)
{
    proof_results next;
    at_status status = AT_OK;
    oracle_doubt *o = &t->oracle;
    device_worker *home = t->session.workers->device;
    const problem_set *set = &t->session.problems;
    while (!status && !o->asked && prover_take_results(t->prover, &next)) {
        const size_t slot = find_slot(t, next.kind);
        size_t layout = 0;
        while (layout < set->layout_count && set->layouts[layout] != next.layout)
            layout++;
        if (slot < DEVICE_SLOTS && layout < set->layout_count) {
            status = device_worker_compare(home, (uint32_t)layout, (uint32_t)slot, next.bytes,
                                           next.size_bytes, error);
            o->asked = !status;
            o->on = next.kind;
        }
        if (o->asked)
            o->question = device_worker_claim(home);
        free(next.bytes);
    }
    return status;
}

/* Notes a difference. In equal code only the rounding of approximate instructions may differ. */
static void note_comparison(tune *t, const device_event *e)
{
    char label[DEVICE_LABEL_BYTES];
    oracle_doubt *o = &t->oracle;
    problem_label(script_pattern(t->session.script), o->on, label, sizeof label);
    if (e->outcome == OUTCOME_WRONG_RESULT && !o->disagreement[0])
        snprintf(o->disagreement, sizeof o->disagreement,
                 "the baseline's results on the GPU and on the simulated device differ, with the "
                 "same data and code, on %s: %.200s. The cause is a race that was not found, a "
                 "compiler bug, or the rounding of approximate instructions ('autotune help "
                 "instructions'), which a tolerance allows",
                 label, e->message);
}

static bool has_comparisons(const tune *t)
{
    return t->oracle.asked || prover_has_results(t->prover);
}

at_status tune_compare_devices(tune *t, bool waits, at_error *error)
{
    const int64_t end_ns = proof_deadline_ns(t);
    oracle_doubt *o = &t->oracle;
    at_status status = AT_OK;
    if (script_oracle(t->session.script) == ORACLE_REFERENCE || !t->prover ||
        !pipeline_get_state(t->pipeline)->device_ready)
        return AT_OK;
    do {
        device_event e;
        if (!o->asked)
            status = begin_comparison(t, error);
        at_status found = AT_NOT_FOUND;
        if (!status && o->asked)
            found = device_worker_await(t->session.workers->device, o->question,
                                        waits ? STEP_MS : 0, &e, NULL);
        else if (!status && waits && has_comparisons(t))
            status = pipeline_watch_proofs(t->pipeline, STEP_MS, error);
        if (found != AT_NOT_FOUND)
            o->asked = false; /* the GPU has answered, or is lost, which is reported elsewhere */
        if (!found) {
            note_comparison(t, &e);
            device_event_deinit(&e);
        }
    } while (!status && waits && has_comparisons(t) && clock_now_ns() < end_ns &&
             !tune_interrupted(t));
    return status;
}

at_status tune_judge_oracle(tune *t, bool waits, at_error *error)
{
    const int64_t end_ns = proof_deadline_ns(t);
    oracle_doubt *o = &t->oracle;
    if (script_oracle(t->session.script) != ORACLE_BASELINE || o->is_wrong)
        return AT_OK;
    candidate *c = find_baseline(t);
    at_status status = AT_OK;
    if (c && c->found.outcome == OUTCOME_OK && c->verdict == PROOF_NONE)
        status = pipeline_prove(t->pipeline, c, true, error);
    while (!status && c && waits && c->verdict == PROOF_PENDING && clock_now_ns() < end_ns &&
           !tune_interrupted(t)) {
        status = pipeline_watch_proofs(t->pipeline, STEP_MS, error);
        while (pipeline_take_proof(t->pipeline, false))
            ;
    }
    o->is_wrong = !status && c && c->found.outcome == OUTCOME_WRONG_RESULT;
    return o->is_wrong ? error_set(error, AT_SCRIPT,
                                   "%s: the baseline is wrong, but its results are the expected "
                                   "ones, because the pattern has no reference: %s\nCorrect the "
                                   "kernel, or give the script a reference = at.reference { ... }",
                                   t->session.reference_place, c->found.message)
                       : status;
}
