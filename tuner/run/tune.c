#include "run/tune.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/memory.h"
#include "process/interrupt.h"
#include "run/race/driver.h"
#include "run/tune_state.h"

static at_status keep(tune *t, at_error *error)
{
    const settings *o = t->settings;
    if (!o->results.record || !session_measures(&t->session) || !t->summary.best_found ||
        t->oracle.is_wrong)
        return AT_OK;
    record_change change;
    at_status status = record_merge(o->results.results_dir, &t->summary, &change, error);
    if (!status && change == RECORD_KEPT)
        run_summary_warn(&t->summary, "the record keeps an earlier configuration, because it was "
                                      "faster; this run did not try it");
    return status;
}

/* Withdraws all proofs if the simulated device and the GPU compute different results. */
static void withdraw_proofs(tune *t)
{
    if (!t->oracle.disagreement[0])
        return;
    run_summary_warn(&t->summary, "%s", t->oracle.disagreement);
    for (size_t i = 0; i < t->summary.result_count; i++) {
        run_result *r = &t->summary.results[i];
        if (!r->proven)
            continue;
        r->proven = false;
        free(r->unproven);
        r->unproven = memory_text(t->oracle.disagreement);
        free(r->coverage);
        r->coverage = NULL;
    }
}

static at_status finish(tune *t, at_error *error)
{
    progress_free(t->progress);
    t->progress = NULL;
    if (t->log.trouble.status)
        run_summary_warn(&t->summary, "a line of the journal could not be written: %s",
                         t->log.trouble.message);
    /* A race that ended early may not have taken all finished proofs. */
    while (t->pipeline && pipeline_take_proof(t->pipeline, false))
        ;
    if (t->pipeline)
        pipeline_settle_twins(t->pipeline, tune_tried_baseline(t));
    bool verifies = t->settings->race.verify_all && t->driver && t->end != RUN_END_INTERRUPTED;
    /* Ends the workers now, because they take longer to end than the rest of this function. */
    if (t->session.workers == &t->session.own && !verifies)
        workers_end(t->session.workers);
    at_status status = tune_summarise(t, error);
    if (!status)
        withdraw_proofs(t);
    if (!status && verifies)
        status = verify_elsewhere(&t->session, t->driver, t->settings, &t->summary, error);
    if (status)
        return status;
    return t->answer ? recall_fill(&t->recalled, t->answer, &t->summary, error) : keep(t, error);
}

at_status tune_run(const settings *o, tune **out, at_error *error)
{
    *out = NULL;
    tune *t = memory_new(1, sizeof *t);
    t->settings = o;
    t->start_ns = clock_now_ns();
    at_status status = tune_open(t, error);
    if (status) {
        tune_free(t);
        return status;
    }
    *out = t;
    /* From here on an interrupt ends a stage, not the process: there are results to keep. */
    interrupt_hold();
    t->summary.resumable = t->journal != NULL;
    bool searches = !t->answer; /* false if a record answers */
    if (searches)
        status = tune_search(t, error);
    if (!status && searches)
        status = tune_race(t, error);
    if (!status && searches && t->end != RUN_END_INTERRUPTED)
        status = tune_judge_oracle(t, true, error);
    if (!status && searches && t->end != RUN_END_INTERRUPTED)
        status = tune_compare_devices(t, true, error);
    /* The device was lost before the race. */
    if (status && t->session.workers->device && !t->driver)
        tune_rank_unraced(t);
    /* The first error is the run's status, but finish() still keeps the measurements. */
    at_error trouble = {0};
    at_status finished = finish(t, &trouble);
    if (status)
        return status;
    if (finished) {
        if (error)
            *error = trouble;
        return finished;
    }
    if (t->end == RUN_END_INTERRUPTED)
        return error_set(error, AT_INTERRUPTED,
                         t->journal ? "interrupted; the measurements so far are kept"
                                    : "interrupted; no measurement is kept");
    if (t->journal && !o->results.is_part)
        journal_finish(t->journal, NULL);
    return AT_OK;
}

struct journal *tune_take_journal(tune *t)
{
    journal *taken = t->journal;
    t->journal = t->log.journal = NULL;
    return taken;
}

void tune_free(tune *t)
{
    if (!t)
        return;
    progress_free(t->progress);
    race_driver_free(t->driver);
    pipeline_free(t->pipeline);
    prover_free(t->prover);
    stopping_deinit(&t->stopping);
    record_deinit(&t->recalled);
    warm_start_deinit(&t->warm);
    journal_close(t->journal);
    strategy_free(t->strategy);
    run_summary_deinit(&t->summary);
    session_deinit(&t->session);
    free(t);
}

const run_summary *tune_summary(const tune *t)
{
    return &t->summary;
}
