/* Asks the strategy for configurations, tries them, and tells the strategy the outcomes. */
#include "run/tune_state.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"

enum {
    STEP_MS = 50,
    ASK_AT_ONCE = 64,
    PROOFS_AHEAD = 128,
    TWINS_AN_EVALUATION = 16,
    LAST_CHECK_MS = 500
};

/* Most proposals without an outcome in a search in order, on any number of cores. Simulating takes
 * longer than compiling, so a few suffice. More would delay the first variant of a short run. */
enum { AHEAD_IN_ORDER = 4 };

/* Emitting this many variants takes less time than a GPU needs for its queued requests. */
enum { EMIT_AT_ONCE = 8 };

/* If this many first variants do not compile, the source is wrong. */
enum { UNCOMPILED_FIRST = 8 };

static const double SEARCH_SHARE = 0.85;

static bool has_budget(const tune *t)
{
    return tune_evaluations(t) < space_count(t->session.space);
}

static void show_search(tune *t)
{
    const pipeline_state *s = pipeline_get_state(t->pipeline);
    const ceiling_info *ceiling = ceiling_get(t->session.ceiling);
    double work = (double)session_work(&t->session, ceiling->unit);
    const int64_t ceiling_ns = session_ceiling_ns(&t->session, s->ceiling_ns);
    const int64_t best_ns = tune_best_ns(t);
    char unit[WORK_RATE_BYTES];
    double limit_s = t->counts_opening ? t->stopping.limits.seconds : 0;
    uint64_t total = tune_evaluations(t);
    if (t->settles && stopping_expected(&t->stopping) < total)
        total = stopping_expected(&t->stopping);
    progress_update(
        t->progress,
        &(progress_state){
            .stage = t->session.workers->device && !s->device_ready ? "opening" : "search",
            .done = s->finished - (has_budget(t) || t->settles ? t->twins : 0),
            .total = total,
            .failed = s->failed,
            .best_ns = best_ns,
            .best_rate = best_ns ? work / (double)best_ns : 0,
            .unit = work_rate_name(ceiling->unit, script_pattern(t->session.script)->item, unit),
            .ceiling_fraction = best_ns ? (double)ceiling_ns / (double)best_ns : 0,
            .now_ns = clock_now_ns(),
            .until_end_s = limit_s > 0 ? limit_s - tune_elapsed_s(t) : 0});
}

static at_status end_check(tune *t, at_error *error)
{
    int64_t end_ns = clock_now_ns() + LAST_CHECK_MS * INT64_C(1000000);
    at_status status;
    pipeline_abandon_queue(t->pipeline);
    pipeline_expect_race(t->pipeline, 0, true);
    do {
        status = pipeline_step(t->pipeline, pipeline_in_flight(t->pipeline) ? STEP_MS : 0, error);
    } while (!status && pipeline_in_flight(t->pipeline) && clock_now_ns() < end_ns);
    return status;
}

void tune_learn(tune *t, candidate *c)
{
    int64_t fastest_ns = c->fastest_ns;
    bool ok = c->found.outcome == OUTCOME_OK, slow = c->found.outcome == OUTCOME_TOO_SLOW;
    t->learned++;
    t->uncompiled += c->found.outcome == OUTCOME_COMPILE_ERROR;
    /* Only the first finished twin is an evaluation. Compilation order decides which twin leads. */
    candidate *lead = twins_lead(c);
    bool is_evaluation = !lead->counted;
    lead->counted = true;
    t->twins += !is_evaluation;
    double cost = (ok || slow) && fastest_ns ? pipeline_likely_ns(t->pipeline, c) : 0;
    if (is_evaluation)
        stopping_record(&t->stopping, cost > 0 ? cost : INFINITY);
    strategy_tell(t->strategy, c->configuration, cost > 0 ? cost : STRATEGY_FAILED);
}

/* Begins and takes the proofs of --prove all. The strategy is not told what a proof rejects. */
static at_status take_proofs(tune *t, at_error *error)
{
    const candidates *all = pipeline_candidates(t->pipeline);
    at_status status = AT_OK;
    while (!status && t->settings->prove_all && t->proof_next < all->count &&
           candidate_is_finished(all->items[t->proof_next])) {
        candidate *c = all->items[t->proof_next++];
        if (c->found.outcome == OUTCOME_OK && !c->twin_of)
            status = pipeline_prove(t->pipeline, c, false, error);
    }
    while (!status && pipeline_take_proof(t->pipeline, true))
        ;
    return status;
}

/* Returns the evaluations that the budget has left. Twins cost no evaluation, but emitting them
 * takes time, so a search that finds almost only twins ends, too. */
static uint64_t evaluations_left(const tune *t)
{
    uint64_t most = tune_evaluations(t),
             spent = t->asked - (t->settings->search.counts_twins ? 0 : t->twins);
    bool enough = spent >= most || t->asked / TWINS_AN_EVALUATION >= most;
    return enough ? 0 : most - spent;
}

/* Returns AT_SCRIPT if the default and the other first variants do not compile. */
static at_status check_source(const tune *t, bool at_end, at_error *error)
{
    const candidates *all = pipeline_candidates(t->pipeline);
    const candidate *first = NULL;
    if (t->learned == 0 || t->uncompiled < t->learned || (!at_end && t->learned < UNCOMPILED_FIRST))
        return AT_OK;
    for (size_t i = 0; !first && i < all->count; i++)
        if (candidate_is_finished(all->items[i]) &&
            (!t->has_baseline || all->items[i]->configuration == t->baseline))
            first = all->items[i];
    if (!first || first->found.outcome != OUTCOME_COMPILE_ERROR)
        return AT_OK;
    return error_set(error, AT_SCRIPT,
                     "%s does not compile, nor does any of the %llu variants that were tried:\n"
                     "%.2000s",
                     t->has_baseline ? "the script's default" : "the first variant",
                     (unsigned long long)t->learned, first->found.message);
}

static bool is_asked_out(const tune *t)
{
    return evaluations_left(t) == 0 || t->asked == space_count(t->session.space);
}

/* A quick run tries the default later, because the default may take as long as 30 variants. */
static void postpone_default(const tune *t, uint64_t *wanted, size_t count)
{
    size_t last = count < t->first ? count : t->first;
    if (!tune_is_quick(t) || t->asked > 0 || last == 0 || !t->has_baseline ||
        wanted[0] != t->baseline)
        return;
    memmove(wanted, wanted + 1, (last - 1) * sizeof *wanted);
    wanted[last - 1] = t->baseline;
}

/* Returns true if the next candidate, in the order in which the strategy learns outcomes, is
 * finished. */
static bool has_next(const tune *t)
{
    const candidates *all = pipeline_candidates(t->pipeline);
    return t->in_order && t->told < all->count && candidate_is_finished(all->items[t->told]);
}

/* Tells the strategy the finished candidates; a search in order asks after each of them. */
static void learn_finished(tune *t)
{
    const candidates *all = pipeline_candidates(t->pipeline);
    for (candidate *c; (c = pipeline_take(t->pipeline));)
        if (!t->in_order)
            tune_learn(t, c);
    if (has_next(t))
        tune_learn(t, all->items[t->told++]);
}

/* After an early end, tells the strategy all finished candidates, whatever their order. */
static void learn_rest(tune *t)
{
    const candidates *all = pipeline_candidates(t->pipeline);
    for (; t->in_order && t->told < all->count; t->told++)
        if (candidate_is_finished(all->items[t->told]))
            tune_learn(t, all->items[t->told]);
}

static size_t room_to_ask(const tune *t)
{
    size_t untold = (size_t)t->asked - t->told;
    if (t->in_order)
        return untold < AHEAD_IN_ORDER ? AHEAD_IN_ORDER - untold : 0;
    return pipeline_room(t->pipeline);
}

static at_status ask(tune *t, bool *more, at_error *error)
{
    uint64_t wanted[ASK_AT_ONCE];
    size_t room = room_to_ask(t);
    uint64_t left = evaluations_left(t);
    /* Proofs are slower than a GPU, so the search waits for them. */
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
    postpone_default(t, wanted, count);
    for (size_t i = 0; i < count; i++) {
        at_status status = pipeline_add(t->pipeline, wanted[i], error);
        if (!status && (i + 1) % EMIT_AT_ONCE == 0)
            status = pipeline_step(t->pipeline, 0, error);
        if (status)
            return status;
        t->asked++;
    }
    return AT_OK;
}

/* Turns the wanted share of the ceiling into a time, once the ceiling is measured. */
static void set_target(tune *t)
{
    int64_t ceiling_ns =
        session_ceiling_ns(&t->session, pipeline_get_state(t->pipeline)->ceiling_ns);
    if (t->settings->search.stop_at > 0 && ceiling_ns > 0)
        t->stopping.limits.target_cost = (double)ceiling_ns / t->settings->search.stop_at;
}

/* Returns true if a variant that was not tried may still win by more than a tie. */
static bool may_win(tune *t)
{
    static const double least = 0.01;
    if (t->chance_at != t->learned)
        t->chance = strategy_chance(t->strategy, t->limits.gain);
    t->chance_at = t->learned;
    return t->chance >= least;
}

/* Returns true if a limit was reached, and then abandons the waiting candidates. A search in order
 * keeps them, so that it is the same on every machine. */
static bool must_stop(tune *t)
{
    static const run_end ends[STOP_REASONS] = {[STOP_EVALUATIONS] = RUN_END_EVALUATIONS,
                                               [STOP_SECONDS] = RUN_END_SECONDS,
                                               [STOP_TARGET] = RUN_END_TARGET,
                                               [STOP_GAIN] = RUN_END_GAIN};
    set_target(t);
    if (!t->counts_opening && !pipeline_get_state(t->pipeline)->device_ready)
        return false;
    if (!t->counts_opening) {
        t->stopping.limits.seconds += tune_elapsed_s(t);
        t->counts_opening = true;
    }
    stop_reason reason = stopping_check(&t->stopping, tune_elapsed_s(t));
    if (reason == STOP_GAIN && t->settles && may_win(t))
        reason = STOP_NONE;
    /* Until a variant works, the time of the race belongs to the search. */
    if (reason == STOP_SECONDS && !tune_best_ns(t) && !tune_is_over(t) &&
        tune_elapsed_s(t) < t->limits.seconds)
        reason = STOP_NONE;
    if (!reason && tune_is_quick_enough(t))
        reason = STOP_SECONDS;
    if (reason)
        t->end = reason == STOP_GAIN && t->settles ? RUN_END_SETTLED : ends[reason];
    if (!reason && pipeline_get_state(t->pipeline)->all_hang)
        t->end = RUN_END_HANGS;
    else if (!reason)
        return false;
    if (!t->in_order || t->end == RUN_END_SECONDS || t->end == RUN_END_HANGS)
        pipeline_abandon_queue(t->pipeline);
    return true;
}

static run_end end_of_search(const tune *t)
{
    if (t->asked == space_count(t->session.space) && !space_is_sample(t->session.space))
        return RUN_END_EXHAUSTED;
    return t->limits.evaluations && evaluations_left(t) == 0 ? RUN_END_EVALUATIONS
                                                             : RUN_END_STRATEGY;
}

static bool is_busy(const tune *t)
{
    return pipeline_in_flight(t->pipeline) || has_next(t) ||
           (t->settings->prove_all && tune_proofs_pending(t));
}

/* Tells the pipeline whether a race is near, and whether it must check the leader. For a run that
 * settles, a race is near once half of the expected variants are tried. By then, the fastest
 * candidates, twice as many as the finals take, contain most finalists. */
static void expect_race(tune *t, bool ended, bool late)
{
    const bool settles =
        t->settles && 2 * t->stopping.evaluations >= stopping_expected(&t->stopping);
    const bool near = !ended && (is_asked_out(t) || tune_is_quick(t) || settles);
    const size_t likely = 2 * race_rules(t->settings, NULL).finalists;
    pipeline_expect_race(t->pipeline, near ? likely : 0, !ended && !late);
}

/* Tries the configurations of an interrupted run again. The journal has their outcomes. */
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
        if (tune_interrupted(t))
            return status;
    }
    while (!status && pipeline_in_flight(t->pipeline) && !tune_interrupted(t))
        status = pipeline_step(t->pipeline, STEP_MS, error);
    for (candidate *c; !status && (c = pipeline_take(t->pipeline));)
        tune_learn(t, c);
    show_search(t);
    return status;
}

/* Takes the search of an interrupted run from the journal. Sets *done if that search had ended. */
static at_status resume_search(tune *t, bool *done, at_error *error)
{
    const uint64_t *known;
    size_t count;
    int end;
    *done = false;
    /* Two samples of a space number its configurations differently. */
    if (!tune_races(t) || t->session.space_timed_out ||
        !race_log_find_search(&t->log, &known, &count, &end))
        return AT_OK;
    for (size_t i = 0; i < count; i++)
        if (known[i] >= space_count(t->session.space))
            return AT_OK;
    if (end < 0 || end >= RUN_END_INTERRUPTED)
        return AT_OK;
    /* Trying variants writes to the journal, which invalidates the view `known`. */
    uint64_t *tried = memory_copy(known, count, sizeof *tried);
    *done = t->retraced = true;
    at_status status = tune_unless_interrupted(t, retrace(t, tried, count, error), error);
    if (t->end != RUN_END_INTERRUPTED)
        t->end = (run_end)end;
    free(tried);
    return status;
}

/* Waits for the device, or until the search ends because the journal has all outcomes. */
static at_status await_device(tune *t, at_error *error)
{
    at_status status = AT_OK;
    while (!status && t->end != RUN_END_INTERRUPTED && !tune_interrupted(t) && !tune_is_over(t) &&
           !pipeline_get_state(t->pipeline)->device_ready) {
        status = pipeline_step(t->pipeline, STEP_MS, error);
        show_search(t);
    }
    return status;
}

/* Sets the reason for the end of a search that was not interrupted. A limit that is reached when
 * the last variant of the space is finished has cut nothing short. */
static at_status conclude(tune *t, bool ended, at_error *error)
{
    learn_rest(t);
    pipeline_expect_race(t->pipeline, 0, false);
    const bool whole = t->asked == space_count(t->session.space) &&
                       pipeline_get_state(t->pipeline)->finished == t->asked;
    if (!ended || whole)
        t->end = end_of_search(t);
    return check_source(t, true, error);
}

/* Returns true if the search must not wait for work in progress, because its time is up. */
static bool waits_no_longer(const tune *t)
{
    const double end_s = tune_races(t) ? tune_race_end_s(t) : t->stopping.limits.seconds;
    return t->end == RUN_END_SECONDS && t->limits.seconds > 0 && tune_elapsed_s(t) >= end_s;
}

static at_status search(tune *t, at_error *error)
{
    at_status status = AT_OK;
    bool ended = false;
    while (!status && !tune_interrupted(t)) {
        bool more = false;
        ended = ended || must_stop(t);
        const bool late = !ended && tune_is_late(t);
        if (!ended && !late)
            status = ask(t, &more, error);
        if (!status && !more && !late && (!is_busy(t) || waits_no_longer(t)))
            return conclude(t, ended, error);
        expect_race(t, ended, late);
        if (!status)
            status = pipeline_step(t->pipeline, has_next(t) ? 0 : STEP_MS, error);
        if (!status)
            learn_finished(t);
        if (!status)
            status = take_proofs(t, error);
        if (!status)
            status = tune_judge_oracle(t, false, error);
        if (!status)
            status = tune_compare_devices(t, false, error);
        if (!status)
            status = check_source(t, false, error);
        status = tune_unless_interrupted(t, status, error);
        show_search(t);
    }
    return status;
}

at_status tune_search(tune *t, at_error *error)
{
    bool searched = false;
    stopping_init(&t->stopping, &t->limits);
    t->search_from_s = tune_elapsed_s(t);
    if (tune_races(t))
        t->stopping.limits.seconds = SEARCH_SHARE * tune_race_end_s(t);
    at_status status = resume_search(t, &searched, error);
    if (!status && !searched)
        status = search(t, error);
    if (!status && t->end == RUN_END_INTERRUPTED)
        status = tune_unless_interrupted(t, end_check(t, error), error);
    return status || !t->session.workers->device ? status : await_device(t, error);
}
