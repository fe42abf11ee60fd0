#include "run/tune.h"

#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/memory.h"
#include "process/interrupt.h"
#include "run/race/driver.h"
#include "run/tune_state.h"

/* ---- limits ---- */

/* First samples of a variant. One sample may be unlucky. A quick run has fewer, to try more
 * variants. */
enum { FIRST_SAMPLES = 3, QUICK_SAMPLES = 2 };

/* The largest share of a budget, and the most seconds, for checks and proofs of the winner. Most
 * proofs begin during the race and are done when it ends. */
static const double PROOF_SHARE = 0.2, MOST_PROOF_S = 20;

double tune_elapsed_s(const tune *t)
{
    return (double)(clock_now_ns() - t->start_ns) / 1e9;
}

double tune_race_end_s(const tune *t)
{
    const double budget_s = t->limits.seconds > 0 ? t->limits.seconds : 0;
    return budget_s -
           (PROOF_SHARE * budget_s < MOST_PROOF_S ? PROOF_SHARE * budget_s : MOST_PROOF_S);
}

int64_t tune_end_ns(const tune *t)
{
    return t->limits.seconds > 0 ? t->start_ns + (int64_t)(t->limits.seconds * 1e9) : 0;
}

/* Printed even if no progress is shown, because the device may take a while to answer. */
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

bool tune_is_over(const tune *t)
{
    return session_check_time(&t->session, NULL) != AT_OK;
}

at_status tune_unless_interrupted(tune *t, at_status status, at_error *error)
{
    bool expected = status == AT_INTERRUPTED && (tune_interrupted(t) || tune_is_over(t));
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
    return settings_are_quick(o) && !o->search.budget_evaluations && o->search.budget_s <= 0;
}

/* One sample of a prediction is enough, because a prediction is always the same. */
size_t tune_samples(const tune *t)
{
    if (t->session.workers->properties.predicted)
        return 1;
    return t->settings->race.fixed_samples ? t->settings->race.fixed_samples
           : tune_is_quick(t)              ? QUICK_SAMPLES
                                           : FIRST_SAMPLES;
}

int64_t tune_best_ns(const tune *t)
{
    const candidate *leader = pipeline_get_state(t->pipeline)->leader;
    return leader ? leader->fastest_ns : 0;
}

bool tune_races(const tune *t)
{
    return session_measures(&t->session) && !t->settings->race.fixed_samples;
}

candidate *tune_tried_baseline(const tune *t)
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

bool tune_proofs_pending(const tune *t)
{
    return t->prover && prover_pending(t->prover) > 0;
}

/* A quick run answers within three seconds, so its race should end before that. On three hosts of
 * H200s, races of products and transfers took up to 1.2 s longer than planned. The run waits
 * QUICK_WAIT_S for the variants that it tries in any case; before that the length of the race is
 * unknown. */
static const double QUICK_S = 2.2, QUICK_WAIT_S = 2.0;

/* The time of a race beside samples and compilation: loading and checking entrants, the winner's
 * proof, and the end of all processes. */
static const double RACE_REST_S = 0.3;

/* Entrants that a race samples after its probe. */
enum { RACE_LIKELY = 192 };

size_t tune_likely_entrants(const tune *t)
{
    const candidates *all = pipeline_candidates(t->pipeline);
    const race_options rules = race_rules(t->settings, all);
    if (!rules.prior_entrants)
        return RACE_LIKELY;
    size_t near = 0;
    for (size_t i = 0; i < all->count; i++) {
        int64_t time_ns = candidate_may_race(all->items[i]) ? all->items[i]->fastest_ns : 0;
        near += time_ns > 0 && (double)time_ns <= rules.prior_ratio * (double)tune_best_ns(t);
    }
    return near < rules.prior_entrants ? near : rules.prior_entrants;
}

/* Returns the seconds that a race of the tried variants would take: as many heats as the second
 * look has, of the variants that enter by their first samples, their compilation for ragged
 * problems, and the finals. A sample takes longer than its result, which may be one launch of
 * several; the difference is taken from the search's samples. */
static double likely_race_s(const tune *t)
{
    enum { DEFAULT_BLOCKS = 6 };
    const candidates *all = pipeline_candidates(t->pipeline);
    const race_options rules = race_rules(t->settings, all);
    double best_ns = (double)tune_best_ns(t), default_ns = 0, sum_ns = 0, compiling_ns = 0;
    size_t samples = 0, entrants = tune_likely_entrants(t), tried = 0;
    for (size_t i = 0; i < all->count; i++) {
        const candidate *c = all->items[i];
        if (!candidate_may_race(c))
            continue;
        double time_ns = (double)c->fastest_ns;
        tried++;
        compiling_ns += (double)c->found.compile_ns;
        samples += c->from_journal ? 0 : c->found.sample_count;
        sum_ns += c->from_journal ? 0 : time_ns * (double)c->found.sample_count;
        if (t->has_baseline && c->configuration == t->baseline &&
            (rules.default_ratio <= 0 || time_ns <= rules.default_ratio * best_ns))
            default_ns = time_ns;
    }
    double spent_ns = (double)pipeline_get_state(t->pipeline)->measure_ns;
    double rest_ns = samples > 0 && spent_ns > sum_ns ? (spent_ns - sum_ns) / (double)samples : 0;
    double compile_ns = tried > 0 ? compiling_ns / (double)tried : 0;
    double rounds = 1 + (double)entrants / (double)compile_width(t->session.workers->pool);
    size_t heats = entrants > rules.finalists ? entrants * rules.looks[1] : 0;
    size_t finals = rules.finals_blocks * rules.finalists;
    return RACE_REST_S + (rounds * compile_ns + (double)(heats + finals) * (best_ns + rest_ns) +
                          DEFAULT_BLOCKS * (default_ns + rest_ns)) /
                             1e9;
}

static bool has_tried_first(const tune *t)
{
    const candidates *all = pipeline_candidates(t->pipeline);
    size_t tried = 0;
    while (tried < all->count && tried < t->first && candidate_is_finished(all->items[tried]))
        tried++;
    return tried == t->first;
}

bool tune_is_late(const tune *t)
{
    if (!tune_is_quick(t) || !tune_races(t) || t->asked < t->first ||
        (!tune_best_ns(t) && !pipeline_in_flight(t->pipeline)))
        return false;
    const candidate *leader = pipeline_get_state(t->pipeline)->leader;
    double elapsed_s = tune_elapsed_s(t);
    bool known = leader && has_tried_first(t);
    double compile_s =
        known ? (double)leader->found.compile_ns / 1e9 : elapsed_s - t->search_from_s;
    return elapsed_s + compile_s + (known ? likely_race_s(t) : RACE_REST_S + compile_s) >= QUICK_S;
}

/* Returns the seconds that a device takes for a variant. */
static double try_s(const tune *t)
{
    const pipeline_state *s = pipeline_get_state(t->pipeline);
    uint64_t tried = s->finished - s->resumed - s->twins;
    return tried > 0 ? (double)(s->check_ns + s->measure_ns) / 1e9 / (double)tried : 0;
}

bool tune_is_quick_enough(const tune *t)
{
    if (!tune_is_quick(t) || !tune_races(t) || tune_best_ns(t) == 0)
        return false;
    double elapsed_s = tune_elapsed_s(t);
    if (!has_tried_first(t))
        return elapsed_s >= QUICK_WAIT_S;
    return elapsed_s + try_s(t) + likely_race_s(t) >= QUICK_S ||
           (!pipeline_in_flight(t->pipeline) && tune_is_late(t));
}

/* ---- the run ---- */

static at_status keep(tune *t, at_error *error)
{
    const settings *o = t->settings;
    if (!o->results.record || !session_measures(&t->session) || !t->summary.best_found ||
        t->oracle.is_wrong)
        return AT_OK;
    record_change change;
    at_status status = record_merge(o->results.results_dir, &t->summary, &change, error);
    if (!status && change == RECORD_KEPT)
        run_summary_warn(&t->summary, "the record keeps an earlier configuration, which was faster "
                                      "and was not tried this time");
    return status;
}

/* Withdraws all proofs if the simulated device and the GPU compute different results. */
static void tell_disagreement(tune *t)
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

/* The last stage: makes the summary, and the record if one is to be written. */
static at_status finish(tune *t, at_error *error)
{
    progress_free(t->progress);
    t->progress = NULL;
    if (t->log.trouble.status)
        run_summary_warn(&t->summary, "the disk refused a line of the journal: %s",
                         t->log.trouble.message);
    /* A race takes proofs at its end, which this race may not have reached. */
    while (t->pipeline && pipeline_take_proof(t->pipeline, false))
        ;
    if (t->pipeline)
        pipeline_settle_twins(t->pipeline, tune_tried_baseline(t));
    bool verifies = t->settings->race.verify_all && t->driver && t->end != RUN_END_INTERRUPTED;
    /* The workers take longer to end than the rest of this function. */
    if (tune_owns_workers(t) && !verifies)
        workers_end(t->session.workers);
    at_status status = tune_summarise(t, error);
    if (!status)
        tell_disagreement(t);
    if (!status && verifies)
        status = verify_elsewhere(&t->session, t->driver, t->settings, &t->summary, error);
    if (status)
        return status;
    return t->answer ? recall_fill(&t->recalled, t->answer, &t->summary, error) : keep(t, error);
}

/* Shows a stage that ends now in the trace. Returns the present time, at which the next stage
 * begins. */
static int64_t show_stage(const settings *o, uint32_t lane, const char *what, int64_t start_ns)
{
    int64_t now_ns = clock_now_ns();
    trace_span(o->trace, lane, what, start_ns, now_ns, 1);
    return now_ns;
}

at_status tune_run(const settings *o, tune **out, at_error *error)
{
    *out = NULL;
    tune *t = memory_new(1, sizeof *t);
    t->settings = o;
    t->start_ns = clock_now_ns();
    uint32_t lane = trace_lane(o->trace, TRACE_TUNER, "stages");
    at_status status = tune_open(t, error);
    int64_t stage_ns = show_stage(o, lane, "open", t->start_ns);
    if (status) {
        tune_free(t);
        return status;
    }
    *out = t;
    /* From here on an interrupt ends a stage, not the process, because there are measurements to
     * keep. */
    interrupt_hold();
    t->summary.resumable = t->journal != NULL;
    bool searches = !t->answer; /* otherwise a record answers */
    if (searches)
        status = tune_search(t, error);
    stage_ns = show_stage(o, lane, "search", stage_ns);
    if (!status && searches)
        status = tune_race(t, error);
    if (!status && searches && t->end != RUN_END_INTERRUPTED)
        status = tune_judge_oracle(t, true, error);
    if (!status && searches && t->end != RUN_END_INTERRUPTED)
        status = tune_compare_devices(t, true, error);
    stage_ns = show_stage(o, lane, "race", stage_ns);
    /* The device was lost before the race. */
    if (status && t->session.workers->device && !t->driver)
        tune_rank_unraced(t);
    /* The first error is the run's status, but the measurements are kept all the same. */
    at_error trouble = {0};
    at_status finished = finish(t, &trouble);
    show_stage(o, lane, "record", stage_ns);
    if (status)
        return status;
    if (finished) {
        if (error)
            *error = trouble;
        return finished;
    }
    if (t->end == RUN_END_INTERRUPTED)
        return error_set(error, AT_INTERRUPTED,
                         t->journal ? "interrupted; what was measured is kept"
                                    : "interrupted; nothing of it is kept");
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
    prediction_deinit(&t->prior);
    run_summary_deinit(&t->summary);
    session_deinit(&t->session);
    free(t);
}

const run_summary *tune_summary(const tune *t)
{
    return &t->summary;
}
