#include "run/tune_state.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "process/interrupt.h"
#include "run/setup/setup.h"
#include "run/variant/twins.h"

/* The samples of each variant when it is tried: two to screen by, for one may be unlucky. A quick
 * run would rather try more. */
enum { FIRST_SAMPLES = 3, QUICK_SAMPLES = 2 };

/* How long the proof of a baseline that is the oracle is waited for at the end. */
enum { ORACLE_PATIENCE_S = 20, QUICK_ORACLE_PATIENCE_S = 1, STEP_MS = 50 };

double tune_elapsed_s(const tune *t)
{
    return (double)(clock_now_ns() - t->start_ns) / 1e9;
}

/* Said also where no progress is wanted: it may take the device a while to answer. */
static void say_interrupted(tune *t)
{
    static const char said[] = "autotune: interrupted; ending what is under way (interrupt again "
                               "to end at once)\n";
    struct pollfd err = {.fd = STDERR_FILENO, .events = POLLOUT};
    progress_clear(t->progress);
    if (poll(&err, 1, 0) == 1 && (err.revents & POLLOUT) &&
        write(err.fd, said, sizeof said - 1) < 0)
        return;
}

bool tune_interrupted(tune *t)
{
    if (interrupt_take() && t->end != RUN_END_INTERRUPTED) {
        t->end = RUN_END_INTERRUPTED;
        say_interrupted(t);
        interrupt_release();
    }
    return t->end == RUN_END_INTERRUPTED;
}

/* A step that an interrupt ended has not failed. */
at_status tune_unless_interrupted(tune *t, at_status status, at_error *error)
{
    bool expected = status == AT_INTERRUPTED && tune_interrupted(t);
    return expected ? error_forgive(status, AT_INTERRUPTED, error) : status;
}

uint64_t tune_evaluations(const tune *t)
{
    uint64_t valid = space_count(t->session.space), most = t->limits.evaluations;
    return most && most < valid ? most : valid;
}

bool tune_is_quick(const tune *t)
{
    const settings *o = t->settings;
    return settings_are_quick(o) && !o->budget_evaluations && o->budget_s <= 0;
}

/* A prediction is the same each time: once is enough, and there is nothing to race. */
size_t tune_samples(const tune *t)
{
    if (t->session.workers->properties.predicted)
        return 1;
    return t->settings->fixed_samples ? t->settings->fixed_samples
           : tune_is_quick(t)         ? QUICK_SAMPLES
                                      : FIRST_SAMPLES;
}

bool tune_races(const tune *t)
{
    return session_measures(&t->session) && !t->settings->fixed_samples;
}

/* NULL: it was not tried. */
const candidate *tune_tried_baseline(const tune *t)
{
    const candidates *all = pipeline_candidates(t->pipeline);
    for (size_t i = 0; t->has_baseline && i < all->count; i++)
        if (all->items[i]->configuration == t->baseline)
            return all->items[i];
    return NULL;
}

bool tune_owns_workers(const tune *t)
{
    return t->session.workers == &t->session.own;
}

static int64_t patience_ns(const tune *t)
{
    return INT64_C(1000000000) * (tune_is_quick(t) ? QUICK_ORACLE_PATIENCE_S : ORACLE_PATIENCE_S);
}

/* The baseline, or what stands for it; NULL: it was not tried yet. */
static candidate *find_baseline(const tune *t)
{
    const candidates *all = pipeline_candidates(t->pipeline);
    for (size_t i = 0; t->has_baseline && i < all->count; i++)
        if (all->items[i]->configuration == t->baseline && candidate_is_finished(all->items[i]))
            return twins_lead(all->items[i]);
    return NULL;
}

/* The problem's place on the GPU; DEVICE_SLOTS: it has none. */
static size_t find_slot(const tune *t, problem_kind kind)
{
    size_t slot = 0;
    while (slot < t->session.slots && session_problem(&t->session, slot) != kind)
        slot++;
    return slot < t->session.slots ? slot : DEVICE_SLOTS;
}

/* Sends the next results that the simulated device has told, if the GPU has that problem. */
static at_status begin_comparison(tune *t, at_error *error)
{
    proof_results next;
    at_status status = AT_OK;
    device_worker *gpu = t->session.workers->device;
    const problem_set *set = &t->session.problems;
    while (!status && !t->compares && prover_take_results(t->prover, &next)) {
        const size_t slot = find_slot(t, next.kind);
        size_t layout = 0;
        while (layout < set->layout_count && set->layouts[layout] != next.layout)
            layout++;
        if (slot < DEVICE_SLOTS && layout < set->layout_count) {
            status = device_worker_compare(gpu, (uint32_t)layout, (uint32_t)slot, next.bytes,
                                           next.size_bytes, error);
            t->compares = !status;
            t->compared_on = next.kind;
        }
        if (t->compares)
            t->compared = device_worker_claim(gpu);
        free(next.bytes);
    }
    return status;
}

/* The same machine code has the same results, but for rounding of what is approximated. */
static void note_comparison(tune *t, const device_event *e)
{
    char label[DEVICE_LABEL_BYTES];
    problem_label(script_pattern(t->session.script), t->compared_on, label, sizeof label);
    if (e->outcome == OUTCOME_WRONG_RESULT && !t->disagreement[0])
        snprintf(t->disagreement, sizeof t->disagreement,
                 "the baseline computes one thing on the GPU and another on the simulated device, "
                 "from the same data by the same code: on %s: %.200s. That is a race that was not "
                 "seen, a mistake of the compiler, or rounding where instructions are approximate "
                 "('autotune help instructions'), which a tolerance allows",
                 label, e->message);
}

static bool has_comparisons(const tune *t)
{
    return t->compares || prover_has_results(t->prover);
}

at_status tune_compare_devices(tune *t, bool waits, at_error *error)
{
    const int64_t end_ns = clock_now_ns() + patience_ns(t);
    at_status status = AT_OK;
    if (script_oracle(t->session.script) == ORACLE_REFERENCE || !t->prover ||
        !pipeline_get_state(t->pipeline)->device_ready)
        return AT_OK;
    do {
        device_event e;
        if (!t->compares)
            status = begin_comparison(t, error);
        at_status found = AT_NOT_FOUND;
        if (!status && t->compares)
            found = device_worker_await(t->session.workers->device, t->compared,
                                        waits ? STEP_MS : 0, &e, NULL);
        else if (!status && waits && has_comparisons(t))
            status = pipeline_watch_proofs(t->pipeline, STEP_MS, error);
        if (found != AT_NOT_FOUND)
            t->compares = false; /* also where the GPU is lost, which others tell */
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
    const int64_t end_ns = clock_now_ns() + patience_ns(t);
    if (script_oracle(t->session.script) != ORACLE_BASELINE || t->oracle_is_wrong)
        return AT_OK;
    candidate *c = find_baseline(t);
    at_status status = AT_OK;
    if (c && c->found.outcome == OUTCOME_OK && c->verdict == PROOF_NONE) {
        status = pipeline_prove(t->pipeline, c, error);
        pipeline_hurry_proof(t->pipeline, c);
    }
    while (!status && c && waits && c->verdict == PROOF_PENDING && clock_now_ns() < end_ns &&
           !tune_interrupted(t)) {
        status = pipeline_watch_proofs(t->pipeline, STEP_MS, error);
        while (pipeline_take_proof(t->pipeline))
            ;
    }
    t->oracle_is_wrong = !status && c && c->found.outcome == OUTCOME_WRONG_RESULT;
    return t->oracle_is_wrong
               ? error_set(error, AT_SCRIPT,
                           "%s: the baseline is wrong, and as the pattern has no reference it is "
                           "what says which results are right: %s\nNothing can be tuned against "
                           "it: mend the kernel, or give the script a reference = at.reference { "
                           "... }",
                           t->session.reference_place, c->found.message)
               : status;
}

bool tune_proofs_pending(const tune *t)
{
    return t->prover && prover_pending(t->prover) > 0;
}
