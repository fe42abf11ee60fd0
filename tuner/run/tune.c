#include "run/tune.h"

#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "run/race_driver.h"
#include "run/race_log.h"
#include "script/emit.h"
#include "base/interrupt.h"
#include "base/paths.h"
#include "run/pipeline.h"
#include "run/predict.h"
#include "report/progress.h"
#include "run/recall.h"
#include "record/record.h"
#include "run/session.h"
#include "search/strategy.h"
#include "search/stopping.h"
#include "run/summarise.h"
#include "history/warm_start.h"
#include "search/table.h"

enum {
    STEP_MS = 50,
    FIRST_SAMPLES = 3, /* of each variant when it is tried: two to screen by, one may be unlucky */
    ASK_AT_ONCE = 64,
    PROOFS_AHEAD = 128,
    WARM_STARTS = 32 /* configurations of earlier measurements that are tried first */
};

/* A simulated device works through variants a thousand times slower than a GPU; without a budget it
 * gets one that a newcomer waits for. */
static const double SIMULATED_BUDGET_S = 40;

/* Of a budget in seconds, what searching may take: the rest is for the race. */
static const double SEARCH_SHARE = 0.85;

struct tune {
    const settings *settings;
    stopping_limits limits; /* of the search; seconds: of the whole run */
    stopping stopping;
    record recalled; /* answers instead of a search, when `answer` is set */
    const record_entry *answer;
    warm_start warm;
    prior prior; /* where the strategy wants one */
    int64_t start_ns;
    session session;
    strategy *strategy;
    journal *journal;
    pipeline *pipeline;
    race_log log;
    bool retraced; /* the journal knew what the search had tried */
    prover *prover; /* where a GPU measures; else NULL */
    contest *contest;
    progress *progress;
    run_summary summary;
    size_t proof_next; /* candidate, with --prove all */
    bool has_baseline;
    uint64_t baseline; /* configuration */
    int64_t best_ns;   /* of the search so far; 0: none */
    uint64_t asked, failed;
    run_end end;
};

static double elapsed_s(const tune *t)
{
    return (double)(clock_now_ns() - t->start_ns) / 1e9;
}

/* Said even to who wants no progress: it may take the device a while to answer. */
static void say_interrupted(tune *t)
{
    static const char said[] = "autotune: interrupted; ending what is under way (interrupt again "
                               "to end at once)\n";
    struct pollfd err = {.fd = STDERR_FILENO, .events = POLLOUT};
    progress_clear(t->progress);
    if (poll(&err, 1, 0) == 1 && (err.revents & POLLOUT) && write(err.fd, said, sizeof said - 1) < 0)
        return;
}

/* For what runs long and asks by itself. */
static bool interrupt_asked(void *context)
{
    (void)context;
    return interrupt_waits();
}

static bool interrupted(tune *t)
{
    if (interrupt_take() && t->end != RUN_END_INTERRUPTED) {
        t->end = RUN_END_INTERRUPTED;
        say_interrupted(t);
        interrupt_release();
    }
    return t->end == RUN_END_INTERRUPTED;
}

/* What was ended because of an interrupt has not failed. */
static at_status unless_interrupted(tune *t, at_status status, at_error *error)
{
    if (status != AT_INTERRUPTED || !interrupted(t))
        return status;
    error_clear(error);
    return AT_OK;
}

static void find_baseline(tune *t)
{
    const pattern *p = script_pattern(t->session.script);
    t->has_baseline = p->baseline && space_find(t->session.space, p->baseline, &t->baseline);
    if (p->baseline && !t->has_baseline)
        run_summary_warn(&t->summary, "the script's default configuration is not valid for this "
                                      "problem: there is no baseline to compare with");
}

static uint64_t evaluations(const tune *t)
{
    uint64_t valid = space_count(t->session.space), most = t->limits.evaluations;
    return most && most < valid ? most : valid;
}

/* For strategies, which do not know of time: what a budget in seconds is likely to buy, and less
 * than everything, for nothing says that there will be time for all. */
static uint64_t likely_evaluations(const tune *t)
{
    enum { GPU_RATE = 100, SIMULATED_RATE = 3 }; /* variants a second, roughly */
    uint64_t valid = space_count(t->session.space);
    if (t->limits.seconds <= 0)
        return t->limits.evaluations;
    double rate = t->session.properties.predicted ? SIMULATED_RATE : GPU_RATE;
    uint64_t likely = (uint64_t)(t->limits.seconds * rate) + 1;
    if (t->limits.evaluations && t->limits.evaluations < likely)
        likely = t->limits.evaluations;
    return likely < valid ? likely : valid > 1 ? valid - 1 : 1;
}

/* A prediction is the same each time: once is enough, and there is nothing to race. */
static size_t samples_of(const tune *t)
{
    if (t->session.properties.predicted)
        return 1;
    return t->settings->fixed_samples ? t->settings->fixed_samples : FIRST_SAMPLES;
}

static bool races(const tune *t)
{
    return t->session.device && !t->session.properties.predicted && !t->settings->fixed_samples;
}

/* A run without a journal is a run all the same. */
static void open_journal(tune *t)
{
    char folder[PATHS_BYTES];
    at_error trouble = {0};
    at_status status = journal_folder(folder, sizeof folder, &trouble);
    if (!status)
        status = journal_open(folder,
                              &(journal_facts){.pattern = script_pattern(t->session.script)->name,
                                               .device = &t->session.properties,
                                               .nvrtc_version =
                                                   compile_nvrtc_version(t->session.pool),
                                               .problems = t->session.plans,
                                               .problem_count = t->session.slots,
                                               .reference_hash = t->session.reference_hash,
                                               .warm_cache = t->settings->warm_cache},
                              &t->journal, &trouble);
    if (status)
        run_summary_warn(&t->summary, "no journal is kept: %s", trouble.message);
}

/* Everything that a race depends on besides its variants: whoever asks for the same goes on with it. */
static at_status open_race_log(tune *t, at_error *error)
{
    const settings *o = t->settings;
    char script_text[33] = "", template_text[33] = "", plan[4096];
    script_hash(t->session.script, script_text);
    emit_template_hash(t->session.script, template_text);
    int n = snprintf(plan, sizeof plan,
                     "race 1 %s %s problem=%d space=%llu seed=%llu strategy=%s effort=%d "
                     "budget=%llu,%.17g stop_at=%.17g warm_start=%s samples=%zu finals=%zu "
                     "tie=%.17g energy=%d",
                     script_text, template_text, (int)t->session.problem,
                     (unsigned long long)space_count(t->session.space),
                     (unsigned long long)o->seed, o->strategy ? o->strategy : "",
                     o->has_effort ? (int)o->effort : -1,
                     (unsigned long long)t->limits.evaluations, t->limits.seconds, o->stop_at,
                     o->warm_start ? o->warm_start : "", samples_of(t), o->finals_blocks,
                     o->tie_margin, o->energy);
    for (size_t i = 0; i < o->variable_count && n > 0 && (size_t)n < sizeof plan; i++)
        n += snprintf(plan + n, sizeof plan - (size_t)n, " %s=%s", o->variables[i].name,
                      o->variables[i].text);
    return race_log_init(&t->log, t->journal, plan, error);
}

static void set_limits(tune *t)
{
    const settings *o = t->settings;
    if (o->has_effort)
        t->limits = effort_limits(o->effort, space_count(t->session.space));
    if (o->budget_evaluations)
        t->limits.evaluations = o->budget_evaluations;
    t->limits.seconds = o->budget_s;
    if (t->session.properties.predicted && !o->budget_evaluations && !o->budget_s && !o->has_effort)
        t->limits.seconds = SIMULATED_BUDGET_S;
}

static at_status read_warm_start(tune *t, at_error *error)
{
    recorded earlier;
    at_status status = recorded_read(t->settings->warm_start, &earlier, error);
    if (status)
        return status;
    status = warm_start_init(&t->warm, &earlier, t->session.space,
                             script_pattern(t->session.script)->baseline, WARM_STARTS, error);
    recorded_deinit(&earlier);
    if (!status && t->warm.unmatched)
        run_summary_warn(&t->summary, "%zu configurations of %s are not in this space",
                         t->warm.unmatched, t->settings->warm_start);
    return status;
}

/* The default first, then what was fast before. */
static size_t list_starts(const tune *t, uint64_t starts[WARM_STARTS + 1])
{
    size_t count = 0;
    if (t->has_baseline)
        starts[count++] = t->baseline;
    for (size_t i = 0; i < t->warm.count && i < WARM_STARTS; i++)
        if (!t->has_baseline || t->warm.configurations[i] != t->baseline)
            starts[count++] = t->warm.configurations[i];
    return count;
}

/* With --effort, a record that took as much is final. */
static void recall(tune *t)
{
    const settings *o = t->settings;
    if (!o->has_effort || !t->session.device || t->session.properties.predicted)
        return;
    t->summary.device = t->session.properties;
    t->summary.warm_cache = o->warm_cache;
    t->summary.objective = o->energy ? "energy" : "time";
    script_hash(t->session.script, t->summary.script_hash);
    emit_template_hash(t->session.script, t->summary.template_hash);
    if (!recall_find(o->results_dir, &t->summary, o->effort, &t->recalled, &t->answer))
        t->answer = NULL;
}

static at_status predict(tune *t, at_error *error)
{
    prior_options o = {t->settings->seed, t->start_ns, t->limits.seconds, t->progress};
    at_status status = prior_predict(&t->session, &o, &t->prior, error);
    if (!status && t->prior.reached < t->prior.count)
        run_summary_warn(&t->summary, "the model had time for %llu of %llu configurations",
                         (unsigned long long)t->prior.reached, (unsigned long long)t->prior.count);
    return status;
}

static at_status open_run(tune *t, at_error *error)
{
    const settings *o = t->settings;
    uint64_t starts[WARM_STARTS + 1];
    t->progress = progress_new(STDERR_FILENO, o->quiet);
    at_status status = session_init(o, t->progress, &t->session, error);
    if (!status)
        status = run_summary_init(&t->summary, script_pattern(t->session.script),
                                  t->session.problem, error);
    if (!status && t->session.device && !t->session.properties.predicted && o->record)
        status = record_check_writable(o->results_dir, t->session.properties.limits.name,
                                       script_pattern(t->session.script)->name, error);
    if (!status) {
        set_limits(t);
        find_baseline(t);
        recall(t);
    }
    if (!status && o->warm_start)
        status = read_warm_start(t, error);
    size_t start_count = status ? 0 : list_starts(t, starts);
    const strategy_kind *kind;
    if (!status)
        status = strategy_find(
            o->strategy ? o->strategy : t->session.device ? NULL : "exhaustive", &kind, error);
    if (!status && !t->answer && t->session.device && kind->wants_prior)
        status = predict(t, error);
    if (!status)
        status = strategy_new(kind,
                              &(strategy_options){.space = t->session.space,
                                                  .seed = o->seed,
                                                  .budget = likely_evaluations(t),
                                                  .start = starts,
                                                  .start_count = start_count,
                                                  .prior = t->prior.times_ns},
                              &t->strategy, error);
    if (!status && t->session.device && !t->session.properties.predicted)
        open_journal(t);
    if (!status)
        status = open_race_log(t, error);
    if (!status)
        status = pipeline_new(&t->session, t->journal, samples_of(t), &t->pipeline, error);
    if (!status && evaluations(t) == space_count(t->session.space))
        pipeline_look_far_ahead(t->pipeline);
    /* A simulated device has every variant proven by its own checks. */
    if (!status && !t->answer && t->session.device && !t->session.properties.predicted) {
        status = prover_new(t->session.script, t->session.pool, t->session.properties.arch,
                            &t->prover, error);
        pipeline_prove_with(t->pipeline, t->prover);
    }
    return status;
}

static void show_search(tune *t)
{
    const pipeline_state *s = pipeline_get_state(t->pipeline);
    double traffic = (double)t->session.plans[0].traffic_bytes;
    double limit_s = t->stopping.limits.seconds;
    progress_update(t->progress,
                    &(progress_state){
                        .stage = t->session.device && !s->device_ready ? "opening" : "search",
                        .done = s->finished,
                        .total = evaluations(t),
                        .failed = t->failed,
                        .best_ns = t->best_ns,
                        .best_gbps = t->best_ns ? traffic / (double)t->best_ns : 0,
                        .ceiling_fraction = t->best_ns ? (double)s->ceiling_ns / (double)t->best_ns
                                                       : 0,
                        .now_ns = clock_now_ns(),
                        .until_end_s = limit_s > 0 ? limit_s - elapsed_s(t) : 0});
}

/* What the race would drop unmeasured needs its machine code no more. */
static void thin_out(const tune *t, candidate *c)
{
    int64_t fastest_ns = measurement_fastest_ns(&c->found);
    bool is_baseline = t->has_baseline && c->configuration == t->baseline;
    if (!t->session.device ||
        (fastest_ns && !is_baseline &&
         (double)fastest_ns > race_defaults().prior_ratio * (double)t->best_ns))
        candidate_drop_images(c);
}

static void learn(tune *t, candidate *c)
{
    int64_t fastest_ns = measurement_fastest_ns(&c->found);
    bool ok = c->found.outcome == OUTCOME_OK;
    if (ok && fastest_ns && (!t->best_ns || fastest_ns < t->best_ns))
        t->best_ns = fastest_ns;
    t->failed += !ok;
    stopping_note(&t->stopping, ok && fastest_ns ? (double)fastest_ns : INFINITY);
    strategy_tell(t->strategy, c->configuration,
                  ok && fastest_ns ? (double)fastest_ns : STRATEGY_FAILED);
    thin_out(t, c);
}

/* With --prove all. Whoever is convicted has been told to the strategy as what it seemed to be. */
static at_status take_proofs(tune *t, at_error *error)
{
    const candidates *all = pipeline_candidates(t->pipeline);
    at_status status = AT_OK;
    while (!status && t->proof_next < all->count && all->items[t->proof_next]->finished) {
        candidate *c = all->items[t->proof_next++];
        if (c->found.outcome == OUTCOME_OK)
            status = pipeline_prove(t->pipeline, c, error);
    }
    for (candidate *c; !status && (c = pipeline_take_proof(t->pipeline));)
        t->failed += c->verdict == PROOF_CONVICTED;
    return status;
}

static bool proofs_pending(const tune *t)
{
    return t->prover && prover_pending(t->prover) > 0;
}

static at_status ask(tune *t, bool *more, at_error *error)
{
    uint64_t wanted[ASK_AT_ONCE];
    size_t room = pipeline_room(t->pipeline);
    uint64_t left = evaluations(t) - t->asked;
    /* Proofs are slower than a GPU. */
    if (t->prover && prover_pending(t->prover) > PROOFS_AHEAD)
        room = 0;
    if (room > ASK_AT_ONCE)
        room = ASK_AT_ONCE;
    if (room > left)
        room = (size_t)left;
    *more = false;
    if (!room)
        return AT_OK;
    size_t count = strategy_ask(t->strategy, room, wanted);
    *more = count > 0;
    for (size_t i = 0; i < count; i++) {
        at_status status = pipeline_add(t->pipeline, wanted[i], error);
        if (status)
            return status;
        t->asked++;
    }
    return AT_OK;
}

/* The share of the ceiling that is wanted becomes a time once the ceiling is measured. */
static void set_target(tune *t)
{
    int64_t ceiling_ns = pipeline_get_state(t->pipeline)->ceiling_ns;
    if (t->settings->stop_at > 0 && ceiling_ns > 0)
        t->stopping.limits.target_cost = (double)ceiling_ns / t->settings->stop_at;
}

static bool must_stop(tune *t)
{
    static const run_end ends[STOP_REASONS] = {[STOP_EVALUATIONS] = RUN_END_EVALUATIONS,
                                               [STOP_SECONDS] = RUN_END_SECONDS,
                                               [STOP_TARGET] = RUN_END_TARGET,
                                               [STOP_GAIN] = RUN_END_GAIN};
    set_target(t);
    stop_reason reason = stopping_check(&t->stopping, elapsed_s(t));
    if (reason)
        t->end = ends[reason];
    return reason != STOP_NONE || interrupted(t);
}

static run_end end_of_search(const tune *t)
{
    if (t->asked == space_count(t->session.space) && !space_is_sample(t->session.space))
        return RUN_END_EXHAUSTED;
    return t->limits.evaluations && t->asked == evaluations(t) ? RUN_END_EVALUATIONS
                                                               : RUN_END_STRATEGY;
}

static at_status search(tune *t, at_error *error)
{
    bool ended = false;
    for (;;) {
        bool more = false;
        at_status status = AT_OK;
        if (!ended && must_stop(t)) {
            ended = true;
            pipeline_abandon_queue(t->pipeline);
        }
        if (interrupted(t))
            return AT_OK;
        if (!ended)
            status = ask(t, &more, error);
        if (!status && !more && !pipeline_in_flight(t->pipeline) && !proofs_pending(t))
            break;
        if (!status)
            status = pipeline_step(t->pipeline, STEP_MS, error);
        for (candidate *c; !status && (c = pipeline_take(t->pipeline));)
            learn(t, c);
        if (!status && t->settings->prove_all)
            status = take_proofs(t, error);
        status = unless_interrupted(t, status, error);
        if (status || t->end == RUN_END_INTERRUPTED)
            return status;
        show_search(t);
    }
    /* A limit that was reached with the last variant of the space cut nothing short. */
    if (!ended || t->asked == space_count(t->session.space))
        t->end = end_of_search(t);
    return AT_OK;
}

/* Tries what the journal says that the search had tried, which it also knows the outcomes of. */
static at_status retrace(tune *t, const uint64_t *tried, size_t count, at_error *error)
{
    at_status status = AT_OK;
    for (size_t i = 0; !status && i < count;) {
        if (pipeline_room(t->pipeline)) {
            status = pipeline_add(t->pipeline, tried[i++], error);
            t->asked++;
        } else {
            status = pipeline_step(t->pipeline, STEP_MS, error);
        }
        if (interrupted(t))
            return status;
    }
    while (!status && pipeline_in_flight(t->pipeline) && !interrupted(t))
        status = pipeline_step(t->pipeline, STEP_MS, error);
    for (candidate *c; !status && (c = pipeline_take(t->pipeline));)
        learn(t, c);
    show_search(t);
    return status;
}

/* The search of an interrupted run that had ended is not searched again. *done: there was one. */
static at_status resume_search(tune *t, bool *done, at_error *error)
{
    const uint64_t *known;
    size_t count;
    int end;
    *done = false;
    /* Two samples of a space number its configurations differently. */
    if (!races(t) || space_is_sample(t->session.space) ||
        !race_log_find_search(&t->log, &known, &count, &end))
        return AT_OK;
    for (size_t i = 0; i < count; i++)
        if (known[i] >= space_count(t->session.space))
            return AT_OK;
    if (end < 0 || end >= RUN_END_INTERRUPTED)
        return AT_OK;
    /* A view into the journal does not survive what trying writes to it. */
    uint64_t *tried = calloc(count, sizeof *tried);
    if (!tried)
        return error_set(error, AT_NO_MEMORY, "out of memory");
    memcpy(tried, known, count * sizeof *tried);
    *done = t->retraced = true;
    at_status status = unless_interrupted(t, retrace(t, tried, count, error), error);
    if (t->end != RUN_END_INTERRUPTED)
        t->end = (run_end)end;
    free(tried);
    return status;
}

static void keep_search(tune *t)
{
    const candidates *all = pipeline_candidates(t->pipeline);
    uint64_t *tried = calloc(all->count + 1, sizeof *tried);
    size_t count = 0;
    for (size_t i = 0; tried && i < all->count; i++)
        if (all->items[i]->finished)
            tried[count++] = all->items[i]->configuration;
    if (tried && !t->retraced && t->end != RUN_END_INTERRUPTED &&
        !space_is_sample(t->session.space))
        race_log_keep_search(&t->log, tried, count, (int)t->end);
    free(tried);
}

/* NULL: it was not tried. */
static const candidate *tried_baseline(const tune *t)
{
    const candidates *all = pipeline_candidates(t->pipeline);
    for (size_t i = 0; t->has_baseline && i < all->count; i++)
        if (all->items[i]->configuration == t->baseline)
            return all->items[i];
    return NULL;
}

/* The candidate of the script's default, tried now if no strategy asked for it. */
static at_status try_baseline(tune *t, const candidate **out, at_error *error)
{
    const candidates *all = pipeline_candidates(t->pipeline);
    *out = tried_baseline(t);
    if (!t->has_baseline || *out || t->end == RUN_END_INTERRUPTED)
        return AT_OK;
    at_status status = pipeline_add(t->pipeline, t->baseline, error);
    while (!status && pipeline_in_flight(t->pipeline) && !interrupted(t))
        status = pipeline_step(t->pipeline, STEP_MS, error);
    for (candidate *c; !status && (c = pipeline_take(t->pipeline));)
        learn(t, c);
    *out = all->items[all->count - 1];
    return unless_interrupted(t, status, error);
}

static void show_race(tune *t)
{
    const contest_state *s = contest_get_state(t->contest);
    progress_update(t->progress, &(progress_state){.stage = race_stage_name(s->stage),
                                                   .done = s->done,
                                                   .total = s->done + s->left,
                                                   .failed = t->failed,
                                                   .best_ns = t->best_ns,
                                                   .now_ns = clock_now_ns()});
}

/* Where a journal answers everything the search is over before the device is ready. */
static at_status await_device(tune *t, at_error *error)
{
    at_status status = AT_OK;
    while (!status && t->end != RUN_END_INTERRUPTED && !interrupted(t) &&
           !pipeline_get_state(t->pipeline)->device_ready) {
        status = pipeline_step(t->pipeline, STEP_MS, error);
        show_search(t);
    }
    return status;
}

static at_status race_on_device(tune *t, at_error *error)
{
    const candidate *baseline;
    at_status status = try_baseline(t, &baseline, error);
    if (!status)
        keep_search(t);
    if (!status)
        status = contest_new(&t->session, t->pipeline, &t->log, baseline, t->settings, &t->contest, error);
    if (status == AT_NOT_FOUND) {
        error_clear(error);
        return AT_OK;
    }
    bool finished = status != AT_OK;
    if (t->end == RUN_END_INTERRUPTED && !status)
        contest_stop(t->contest);
    while (!finished && t->end != RUN_END_INTERRUPTED) {
        if (interrupted(t) || (t->limits.seconds > 0 && elapsed_s(t) > t->limits.seconds))
            contest_stop(t->contest);
        status = unless_interrupted(t, contest_step(t->contest, &finished, error), error);
        if (status)
            break;
        show_race(t);
    }
    if (t->end == RUN_END_INTERRUPTED)
        contest_stop(t->contest);
    return status;
}

/* Without a race the lowest median wins: it is proven, and where it is convicted the next. */
static at_status prove_fastest(tune *t, at_error *error)
{
    const candidates *all = pipeline_candidates(t->pipeline);
    for (;;) {
        candidate *fastest = NULL;
        int64_t fastest_ns = 0;
        for (size_t i = 0; i < all->count; i++) {
            int64_t median_ns = candidate_median_ns(all->items[i]);
            if (all->items[i]->found.outcome != OUTCOME_OK || !all->items[i]->finished || !median_ns ||
                (fastest && median_ns >= fastest_ns))
                continue;
            fastest = all->items[i];
            fastest_ns = median_ns;
        }
        if (!fastest || fastest->proof_asked)
            return AT_OK;
        at_status status = pipeline_prove(t->pipeline, fastest, error);
        while (!status && proofs_pending(t) && !interrupted(t)) {
            status = pipeline_watch_proofs(t->pipeline, STEP_MS, error);
            for (candidate *c; !status && (c = pipeline_take_proof(t->pipeline));)
                t->failed += c->verdict == PROOF_CONVICTED;
        }
        if (status || t->end == RUN_END_INTERRUPTED)
            return status;
    }
}

/* The device is gone before a race began: what was measured is ranked as it stands. */
static void rank_unraced(tune *t)
{
    if (!contest_new(&t->session, t->pipeline, &t->log, tried_baseline(t), t->settings, &t->contest,
                     NULL))
        contest_stop(t->contest);
}

static at_status keep(tune *t, at_error *error)
{
    const settings *o = t->settings;
    if (!o->record || !t->session.device || t->session.properties.predicted ||
        !t->summary.best_found)
        return AT_OK;
    record_change change;
    at_status status = record_merge(o->results_dir, &t->summary, &change, error);
    if (!status && change == RECORD_KEPT)
        run_summary_warn(&t->summary, "the record keeps an earlier configuration, which was faster "
                                      "and was not tried this time");
    return status;
}

at_status tune_run(const settings *o, tune **out, at_error *error)
{
    *out = NULL;
    tune *t = calloc(1, sizeof *t);
    if (!t)
        return error_set(error, AT_NO_MEMORY, "out of memory");
    t->settings = o;
    t->start_ns = clock_now_ns();
    at_status status = open_run(t, error);
    if (status) {
        tune_free(t);
        return status;
    }
    /* From here on there is something to keep. */
    interrupt_hold();
    script_set_stop(t->session.script, interrupt_asked, NULL);
    t->summary.resumable = t->journal != NULL;
    stopping_init(&t->stopping, &t->limits);
    t->stopping.limits.seconds *= races(t) ? SEARCH_SHARE : 1;
    bool searched = t->answer != NULL;
    at_status found = searched ? AT_OK : resume_search(t, &searched, error);
    if (!found && !searched)
        found = search(t, error);
    if (!found && !t->answer && t->session.device)
        found = await_device(t, error);
    if (!found && !t->answer && races(t))
        found = race_on_device(t, error);
    else if (!found && t->prover && t->end != RUN_END_INTERRUPTED)
        found = prove_fastest(t, error);
    if (found && t->session.device && !t->contest)
        rank_unraced(t);
    progress_free(t->progress);
    t->progress = NULL;
    /* What went wrong so far is the run's status, but what was measured is kept all the same. */
    at_error trouble = {0};
    if (t->log.trouble.status)
        run_summary_warn(&t->summary, "the disk refused a line of the journal: %s",
                         t->log.trouble.message);
    status = summarise(&(summarise_input){.settings = o,
                                          .session = &t->session,
                                          .pipeline = t->pipeline,
                                          .contest = t->contest,
                                          .journal = t->journal,
                                          .strategy = strategy_get_kind(t->strategy)->name,
                                          .has_baseline = t->has_baseline,
                                          .baseline = t->baseline,
                                          .limits = t->limits,
                                          .end = t->end,
                                          .start_ns = t->start_ns},
                       &t->summary, &trouble);
    if (!status && t->answer)
        status = recall_fill(&t->recalled, t->answer, &t->summary, &trouble);
    else if (!status)
        status = keep(t, &trouble);
    if (!found && !status && t->end != RUN_END_INTERRUPTED && t->journal)
        journal_finish(t->journal, NULL);
    *out = t;
    if (found)
        return found;
    if (status && error)
        *error = trouble;
    if (!status && t->end == RUN_END_INTERRUPTED)
        status = error_set(error, AT_INTERRUPTED, t->journal
                                                      ? "interrupted; what was measured is kept"
                                                      : "interrupted; nothing of it is kept");
    return status;
}

void tune_free(tune *t)
{
    if (!t)
        return;
    progress_free(t->progress);
    contest_free(t->contest);
    pipeline_free(t->pipeline);
    prover_free(t->prover);
    stopping_deinit(&t->stopping);
    record_deinit(&t->recalled);
    warm_start_deinit(&t->warm);
    journal_close(t->journal);
    strategy_free(t->strategy);
    prior_deinit(&t->prior);
    run_summary_deinit(&t->summary);
    session_deinit(&t->session);
    free(t);
}

const run_summary *tune_summary(const tune *t)
{
    return &t->summary;
}
