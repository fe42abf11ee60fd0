#include "tune.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "contest.h"
#include "interrupt.h"
#include "paths.h"
#include "pipeline.h"
#include "progress.h"
#include "record.h"
#include "session.h"
#include "strategy.h"
#include "summarise.h"

enum {
    STEP_MS = 50,
    FIRST_SAMPLES = 3, /* of each variant when it is tried: two to screen by, one may be unlucky */
    ASK_AT_ONCE = 64
};

/* A simulated device works through variants a thousand times slower than a GPU; without a budget it
 * gets one that a newcomer waits for. */
static const double SIMULATED_BUDGET_S = 40;

/* Of a budget in seconds, what searching may take: the rest is for the race. */
static const double SEARCH_SHARE = 0.85;

struct tune {
    const options *options;
    budget budget; /* the command line's, or what stands in for it */
    int64_t start_ns;
    session session;
    strategy *strategy;
    journal *journal;
    pipeline *pipeline;
    contest *contest;
    progress *progress;
    run_summary summary;
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

/* True when the run has to end; `share` of the seconds is what this phase may use up. */
static bool must_end(tune *t, double share)
{
    double budget_s = t->budget.seconds;
    if (interrupt_take()) {
        t->end = RUN_END_INTERRUPTED;
        return true;
    }
    if (budget_s > 0 && elapsed_s(t) > share * budget_s) {
        t->end = RUN_END_BUDGET;
        return true;
    }
    return false;
}

static at_status find_baseline(tune *t, at_error *error)
{
    const pattern *p = script_pattern(t->session.script);
    if (!p->baseline)
        return AT_OK;
    t->has_baseline = space_find(t->session.space, p->baseline, &t->baseline);
    if (!t->has_baseline)
        run_summary_warn(&t->summary, "the script's default configuration is not valid for this "
                                      "problem: there is no baseline to compare with");
    (void)error;
    return AT_OK;
}

static uint64_t evaluations(const tune *t)
{
    uint64_t valid = space_count(t->session.space), most = t->budget.evaluations;
    return most && most < valid ? most : valid;
}

/* For strategies, which do not know of time: what a budget in seconds is likely to buy, and less
 * than everything, for nothing says that there will be time for all. */
static uint64_t likely_evaluations(const tune *t)
{
    enum { GPU_RATE = 100, SIMULATED_RATE = 3 }; /* variants a second, roughly */
    uint64_t valid = space_count(t->session.space);
    if (t->budget.seconds <= 0)
        return t->budget.evaluations;
    double rate = t->session.properties.predicted ? SIMULATED_RATE : GPU_RATE;
    uint64_t likely = (uint64_t)(t->budget.seconds * rate) + 1;
    if (t->budget.evaluations && t->budget.evaluations < likely)
        likely = t->budget.evaluations;
    return likely < valid ? likely : valid > 1 ? valid - 1 : 1;
}

/* A prediction is the same each time: once is enough, and there is nothing to race. */
static size_t samples_of(const tune *t)
{
    if (t->session.properties.predicted)
        return 1;
    return t->options->fixed_samples ? t->options->fixed_samples : FIRST_SAMPLES;
}

static bool races(const tune *t)
{
    return t->session.device && !t->session.properties.predicted && !t->options->fixed_samples;
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
                                               .warm_cache = t->options->warm},
                              &t->journal, &trouble);
    if (status)
        run_summary_warn(&t->summary, "no journal is kept: %s", trouble.message);
}

static at_status open_run(tune *t, at_error *error)
{
    const options *o = t->options;
    at_status status = session_init(o, &t->session, error);
    if (!status)
        status = run_summary_init(&t->summary, script_pattern(t->session.script),
                                  t->session.problem, error);
    if (!status && t->session.device && !t->session.properties.predicted && o->record)
        status = record_check_writable(o->results_dir, t->session.properties.limits.name,
                                       script_pattern(t->session.script)->name, error);
    t->budget = o->budget;
    if (!status && t->session.properties.predicted && !t->budget.evaluations &&
        t->budget.seconds <= 0)
        t->budget.seconds = SIMULATED_BUDGET_S;
    if (!status)
        status = find_baseline(t, error);
    if (!status)
        status = strategy_new(o->strategy ? o->strategy : t->session.device ? NULL : "exhaustive",
                              &(strategy_options){.space = t->session.space,
                                                  .seed = o->seed,
                                                  .budget = likely_evaluations(t),
                                                  .start = &t->baseline,
                                                  .start_count = t->has_baseline},
                              &t->strategy, error);
    if (!status && t->session.device && !t->session.properties.predicted)
        open_journal(t);
    if (!status)
        status = pipeline_new(&t->session, t->journal, samples_of(t), &t->pipeline, error);
    if (!status)
        t->progress = progress_new(STDERR_FILENO, o->quiet);
    return status;
}

static void show_search(tune *t)
{
    const pipeline_state *s = pipeline_get_state(t->pipeline);
    double traffic = (double)t->session.plans[0].traffic_bytes;
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
                        .now_ns = clock_now_ns()});
}

/* What the race would drop unmeasured needs its machine code no more. */
static void thin_out(const tune *t, candidate *c)
{
    int64_t fastest_ns = candidate_fastest_ns(c);
    bool is_baseline = t->has_baseline && c->configuration == t->baseline;
    if (!t->session.device ||
        (fastest_ns && !is_baseline &&
         (double)fastest_ns > race_defaults().prior_ratio * (double)t->best_ns))
        candidate_drop_images(c);
}

static void learn(tune *t, candidate *c)
{
    int64_t fastest_ns = candidate_fastest_ns(c);
    bool ok = c->outcome == OUTCOME_OK;
    if (ok && fastest_ns && (!t->best_ns || fastest_ns < t->best_ns))
        t->best_ns = fastest_ns;
    t->failed += !ok;
    strategy_tell(t->strategy, c->configuration,
                  ok && fastest_ns ? (double)fastest_ns : STRATEGY_FAILED);
    thin_out(t, c);
}

static at_status ask(tune *t, bool *more, at_error *error)
{
    uint64_t wanted[ASK_AT_ONCE];
    size_t room = pipeline_room(t->pipeline);
    uint64_t left = evaluations(t) - t->asked;
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

static at_status search(tune *t, at_error *error)
{
    bool stopping = false;
    for (;;) {
        bool more = false;
        at_status status = AT_OK;
        if (!stopping && must_end(t, races(t) ? SEARCH_SHARE : 1)) {
            stopping = true;
            pipeline_abandon_queue(t->pipeline);
        }
        if (stopping && t->end == RUN_END_INTERRUPTED)
            return AT_OK;
        if (!stopping)
            status = ask(t, &more, error);
        if (!status && !more && !pipeline_in_flight(t->pipeline))
            break;
        if (!status)
            status = pipeline_step(t->pipeline, STEP_MS, error);
        for (candidate *c; !status && (c = pipeline_take(t->pipeline));)
            learn(t, c);
        if (status)
            return status;
        show_search(t);
    }
    if (!stopping)
        t->end = t->asked == space_count(t->session.space) ? RUN_END_EXHAUSTED
                 : t->budget.evaluations && t->asked == evaluations(t)
                     ? RUN_END_BUDGET
                     : RUN_END_STRATEGY;
    return AT_OK;
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
    while (!status && pipeline_in_flight(t->pipeline))
        status = pipeline_step(t->pipeline, STEP_MS, error);
    for (candidate *c; !status && (c = pipeline_take(t->pipeline));)
        learn(t, c);
    *out = all->items[all->count - 1];
    return status;
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

static at_status race_on_device(tune *t, at_error *error)
{
    const candidate *baseline;
    at_status status = try_baseline(t, &baseline, error);
    if (!status)
        status = contest_new(&t->session, t->pipeline, baseline, t->options, &t->contest, error);
    if (status == AT_NOT_FOUND) {
        error_clear(error);
        return AT_OK;
    }
    bool finished = status != AT_OK;
    if (t->end == RUN_END_INTERRUPTED && !status)
        contest_stop(t->contest);
    while (!finished && t->end != RUN_END_INTERRUPTED) {
        if (must_end(t, 1))
            contest_stop(t->contest);
        status = contest_step(t->contest, &finished, error);
        if (status)
            break;
        show_race(t);
    }
    if (t->end == RUN_END_INTERRUPTED)
        contest_stop(t->contest);
    return status;
}

/* The device is gone before a race began: what was measured is ranked as it stands. */
static void rank_unraced(tune *t)
{
    if (!contest_new(&t->session, t->pipeline, tried_baseline(t), t->options, &t->contest, NULL))
        contest_stop(t->contest);
}

static at_status keep(tune *t, at_error *error)
{
    const options *o = t->options;
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

at_status tune_run(const options *o, tune **out, at_error *error)
{
    *out = NULL;
    tune *t = calloc(1, sizeof *t);
    if (!t)
        return error_set(error, AT_NO_MEMORY, "out of memory");
    t->options = o;
    t->start_ns = clock_now_ns();
    interrupt_hold();
    at_status status = open_run(t, error);
    if (status) {
        tune_free(t);
        return status;
    }
    at_status found = search(t, error);
    if (!found && races(t))
        found = race_on_device(t, error);
    if (found && t->session.device && !t->contest)
        rank_unraced(t);
    progress_free(t->progress);
    t->progress = NULL;
    /* What went wrong so far is the run's status, but what was measured is kept all the same. */
    at_error trouble = {0};
    status = summarise(&(summarise_input){.options = o,
                                          .session = &t->session,
                                          .pipeline = t->pipeline,
                                          .contest = t->contest,
                                          .strategy = strategy_get_kind(t->strategy)->name,
                                          .has_baseline = t->has_baseline,
                                          .baseline = t->baseline,
                                          .budget = t->budget,
                                          .end = t->end,
                                          .start_ns = t->start_ns},
                       &t->summary, &trouble);
    if (!status)
        status = keep(t, &trouble);
    if (!found && !status && t->end != RUN_END_INTERRUPTED && t->journal)
        journal_finish(t->journal, NULL);
    *out = t;
    if (found)
        return found;
    if (status && error)
        *error = trouble;
    if (!status && t->end == RUN_END_INTERRUPTED)
        status = error_set(error, AT_INTERRUPTED, "interrupted; what was measured is kept");
    return status;
}

void tune_free(tune *t)
{
    if (!t)
        return;
    progress_free(t->progress);
    contest_free(t->contest);
    pipeline_free(t->pipeline);
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
