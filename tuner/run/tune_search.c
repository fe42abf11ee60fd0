/* The search: asks the strategy, tries what it wants, tells it what became of that. */
#include "run/tune_state.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "run/race/rules.h"
#include "run/variant/twins.h"

enum {
    STEP_MS = 50,
    ASK_AT_ONCE = 64,
    PROOFS_AHEAD = 128,
    TWINS_AN_EVALUATION = 16,
    LAST_CHECK_MS = 500
};

/* A search in order asks for so many before the first is told, whatever the number of cores: a
 * simulated device takes longer than it takes to compile for it. */
enum { AHEAD_IN_ORDER = 8 };

/* Emitting so many takes less time than a GPU has requests for. */
enum { EMIT_AT_ONCE = 8 };

/* If none of so many compiles, the source is wrong. */
enum { UNCOMPILED_FIRST = 8 };

/* A new leader is checked only if it is faster by more: a smaller gain may be noise. */
static const double LEADER_GAIN = 0.01;

/* The share of the time until the race's end that searching may take. The rest is for the race. */
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
    int64_t ceiling_ns = session_ceiling_ns(&t->session, s->ceiling_ns);
    char unit[WORK_RATE_BYTES];
    double limit_s = t->counts_opening ? t->stopping.limits.seconds : 0;
    progress_update(
        t->progress,
        &(progress_state){
            .stage = t->session.workers->device && !s->device_ready ? "opening" : "search",
            .done = s->finished - (has_budget(t) ? t->twins : 0),
            .total = tune_evaluations(t),
            .failed = t->failed,
            .best_ns = t->best_ns,
            .best_rate = t->best_ns ? work / (double)t->best_ns : 0,
            .unit = work_rate_name(ceiling->unit, script_pattern(t->session.script)->item, unit),
            .ceiling_fraction = t->best_ns ? (double)ceiling_ns / (double)t->best_ns : 0,
            .now_ns = clock_now_ns(),
            .until_end_s = limit_s > 0 ? limit_s - tune_elapsed_s(t) : 0});
}

/* Frees the machine code of a candidate that the race would drop unmeasured. */
static void thin_out(const tune *t, candidate *c)
{
    int64_t fastest_ns = c->fastest_ns;
    bool is_baseline = t->has_baseline && c->configuration == t->baseline;
    if (!t->session.workers->device ||
        (fastest_ns && !is_baseline &&
         (double)fastest_ns >
             race_rules(t->settings, NULL).prior_ratio * (double)pipeline_best_ns(t->pipeline, c)))
        candidate_drop_images(c);
}

static bool leads(const tune *t, const candidate *c)
{
    int64_t time_ns =
        c->found.outcome == OUTCOME_OK && !c->twin_of ? pipeline_prior_ns(t->pipeline, c) : 0;
    return time_ns && (!t->leader || time_ns < pipeline_prior_ns(t->pipeline, t->leader));
}

/* Finds another leader, because the last one was wrong. */
static void find_leader(tune *t)
{
    const candidates *all = pipeline_candidates(t->pipeline);
    t->failed += t->leader->verdict != PROOF_CONVICTED; /* those are counted */
    t->leader = NULL;
    for (size_t i = 0; i < all->count; i++)
        if (candidate_is_finished(all->items[i]) && leads(t, all->items[i]))
            t->leader = all->items[i];
    t->best_ns = t->leader ? t->leader->fastest_ns : 0;
}

/* Checks the leader on its ragged problems while the search goes on, and then proves it if cores
 * are idle: a run that is interrupted records nothing else (run/summarise.h). */
static at_status check_leader(tune *t, at_error *error)
{
    compile_pool *pool = t->session.workers->pool;
    if (!t->leader || pipeline_checking(t->pipeline))
        return AT_OK;
    if (t->leader->found.outcome != OUTCOME_OK)
        find_leader(t);
    candidate *c = t->leader, *checked = t->checked;
    if (!c)
        return AT_OK;
    if (!candidate_is_checked(c)) {
        bool gains = !checked || checked->found.outcome != OUTCOME_OK ||
                     (double)pipeline_prior_ns(t->pipeline, c) <
                         (1 - LEADER_GAIN) * (double)pipeline_prior_ns(t->pipeline, checked);
        return gains ? pipeline_check(t->pipeline, c, error) : AT_OK;
    }
    t->checked = c;
    bool idle = compile_pending(pool) < compile_width(pool) && !tune_proofs_pending(t);
    return idle ? pipeline_prove(t->pipeline, c, error) : AT_OK;
}

/* An interrupted run still has time for the leader's check, which takes milliseconds. */
static at_status end_check(tune *t, at_error *error)
{
    int64_t end_ns = clock_now_ns() + LAST_CHECK_MS * INT64_C(1000000);
    pipeline_abandon_queue(t->pipeline);
    at_status status = check_leader(t, error);
    while (!status && pipeline_checking(t->pipeline) && clock_now_ns() < end_ns) {
        status = pipeline_step(t->pipeline, STEP_MS, error);
        if (!status)
            status = check_leader(t, error);
    }
    return status;
}

void tune_learn(tune *t, candidate *c)
{
    int64_t fastest_ns = c->fastest_ns;
    bool ok = c->found.outcome == OUTCOME_OK, slow = c->found.outcome == OUTCOME_TOO_SLOW;
    if (ok && fastest_ns && (!t->best_ns || fastest_ns < t->best_ns))
        t->best_ns = fastest_ns;
    if (leads(t, c))
        t->leader = c;
    t->failed += !ok && !slow;
    t->learned++;
    t->uncompiled += c->found.outcome == OUTCOME_COMPILE_ERROR;
    /* Of a class of twins the first that finishes counts as the evaluation. Which one stands for
     * the others depends on the order in which they were compiled. */
    candidate *lead = twins_lead(c);
    bool is_evaluation = !lead->counted;
    lead->counted = true;
    t->twins += !is_evaluation;
    double cost = (ok || slow) && fastest_ns ? pipeline_likely_ns(t->pipeline, c) : 0;
    if (is_evaluation)
        stopping_note(&t->stopping, cost > 0 ? cost : INFINITY);
    int64_t start_ns = clock_now_ns();
    strategy_tell(t->strategy, c->configuration, cost > 0 ? cost : STRATEGY_FAILED);
    trace_span(t->settings->trace, t->search_lane, "tell", start_ns, clock_now_ns(), 1);
    thin_out(t, c);
}

/* Begins the proofs that --prove all asks for, and takes those that are done. The strategy was told
 * the time of a variant that a proof convicts now; it is not told again. */
static at_status take_proofs(tune *t, at_error *error)
{
    const candidates *all = pipeline_candidates(t->pipeline);
    at_status status = AT_OK;
    while (!status && t->settings->prove_all && t->proof_next < all->count &&
           candidate_is_finished(all->items[t->proof_next])) {
        candidate *c = all->items[t->proof_next++];
        if (c->found.outcome == OUTCOME_OK && !c->twin_of)
            status = pipeline_prove(t->pipeline, c, error);
    }
    for (candidate *c; !status && (c = pipeline_take_proof(t->pipeline));) {
        /* A candidate that is not tried yet is convicted when it is. */
        bool convicted = c->verdict == PROOF_CONVICTED && candidate_is_finished(c);
        t->failed += convicted;
        if (convicted)
            pipeline_keep_conviction(t->pipeline, c);
    }
    return status;
}

/* The evaluations of the budget that are not asked for yet. A twin costs none. But it takes time
 * to emit twins: a search that finds hardly anything else ends, too. */
static uint64_t evaluations_left(const tune *t)
{
    uint64_t most = tune_evaluations(t),
             spent = t->asked - (t->settings->counts_twins ? 0 : t->twins);
    bool enough = spent >= most || t->asked / TWINS_AN_EVALUATION >= most;
    return enough ? 0 : most - spent;
}

/* AT_SCRIPT if the source is wrong, whatever the parameters: none of the first variants compiles,
 * and neither does the default, which is tried first. */
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

/* A default can take as long as thirty other variants: where time is short it is the last of those
 * that are tried in any case. */
static void put_default_back(const tune *t, uint64_t *wanted, size_t count)
{
    size_t last = count < t->first ? count : t->first;
    if (!tune_is_quick(t) || t->asked > 0 || last == 0 || !t->has_baseline ||
        wanted[0] != t->baseline)
        return;
    memmove(wanted, wanted + 1, (last - 1) * sizeof *wanted);
    wanted[last - 1] = t->baseline;
}

/* The first variants, which are likely to win, were compiled for their ragged problems, too. They
 * are proven now; later variants are compiled for the tuned problem alone. */
static at_status end_of_whole(tune *t, at_error *error)
{
    const candidates *all = pipeline_candidates(t->pipeline);
    at_status status = AT_OK;
    pipeline_defer_ragged(t->pipeline);
    for (size_t i = 0; !status && i < t->whole; i++)
        if (all->items[i]->configuration != t->baseline || !t->has_baseline)
            status = pipeline_prove(t->pipeline, all->items[i], error);
    return status;
}

/* Is the candidate finished that the strategy is to be told of next, in order? */
static bool has_next(const tune *t)
{
    const candidates *all = pipeline_candidates(t->pipeline);
    return t->in_order && t->told < all->count && candidate_is_finished(all->items[t->told]);
}

/* Takes into account what has finished; in order one at a time, after which there is room for one
 * more. */
static void learn_finished(tune *t)
{
    const candidates *all = pipeline_candidates(t->pipeline);
    for (candidate *c; (c = pipeline_take(t->pipeline));)
        if (!t->in_order)
            tune_learn(t, c);
    if (has_next(t))
        tune_learn(t, all->items[t->told++]);
}

/* A search that was cut short tells the strategy of all that finished, and does not wait for the
 * candidates before them. */
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
    int64_t start_ns = clock_now_ns();
    size_t count = strategy_ask(t->strategy, room, wanted);
    trace_span(t->settings->trace, t->search_lane, "ask", start_ns, clock_now_ns(), count);
    *more = count > 0;
    put_default_back(t, wanted, count);
    for (size_t i = 0; i < count; i++) {
        at_status status = pipeline_add(t->pipeline, wanted[i], error);
        if (!status && (i + 1) % EMIT_AT_ONCE == 0)
            status = pipeline_step(t->pipeline, 0, error);
        if (!status && ++t->asked == t->whole)
            status = end_of_whole(t, error);
        if (status)
            return status;
    }
    return AT_OK;
}

/* The share of the ceiling that is wanted becomes a time once the ceiling is measured. */
static void set_target(tune *t)
{
    int64_t ceiling_ns =
        session_ceiling_ns(&t->session, pipeline_get_state(t->pipeline)->ceiling_ns);
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
    if (!t->counts_opening && !pipeline_get_state(t->pipeline)->device_ready)
        return tune_interrupted(t);
    if (!t->counts_opening) {
        t->stopping.limits.seconds += tune_elapsed_s(t);
        t->counts_opening = true;
    }
    stop_reason reason = stopping_check(&t->stopping, tune_elapsed_s(t));
    if (!reason && tune_is_quick_enough(t))
        reason = STOP_SECONDS;
    if (reason)
        t->end = ends[reason];
    bool hopeless = !reason && pipeline_get_state(t->pipeline)->all_hang;
    if (hopeless)
        t->end = RUN_END_HANGS;
    return reason != STOP_NONE || hopeless || tune_interrupted(t);
}

static run_end end_of_search(const tune *t)
{
    if (t->asked == space_count(t->session.space) && !space_is_sample(t->session.space))
        return RUN_END_EXHAUSTED;
    return t->limits.evaluations && evaluations_left(t) == 0 ? RUN_END_EVALUATIONS
                                                             : RUN_END_STRATEGY;
}

/* Lets the pipeline work for a while, and takes into account what has finished and what was proven.
 * `checks`: the leader is to be checked, too. */
static at_status advance(tune *t, bool checks, at_error *error)
{
    at_status status = pipeline_step(t->pipeline, has_next(t) ? 0 : STEP_MS, error);
    if (status)
        return status;
    learn_finished(t);
    status = take_proofs(t, error);
    if (!status)
        status = tune_judge_oracle(t, false, error);
    if (!status)
        status = tune_compare_devices(t, false, error);
    if (!status && checks && pipeline_in_flight(t->pipeline))
        status = check_leader(t, error);
    return status ? status : check_source(t, false, error);
}

static at_status search(tune *t, at_error *error)
{
    bool ended = false;
    for (;;) {
        bool more = false;
        at_status status = AT_OK;
        if (!ended && must_stop(t)) {
            ended = true;
            if (!t->in_order || t->end == RUN_END_SECONDS || t->end == RUN_END_HANGS)
                pipeline_abandon_queue(t->pipeline);
        }
        if (tune_interrupted(t))
            return AT_OK;
        bool late = !ended && tune_is_late(t);
        if (!ended && !late)
            status = ask(t, &more, error);
        if (!status && !ended && (is_asked_out(t) || tune_is_quick(t)))
            status = pipeline_prepare_race(t->pipeline, tune_likely_entrants(t), error);
        if (!status && !more && !pipeline_in_flight(t->pipeline) && !late && !has_next(t) &&
            !(t->settings->prove_all && tune_proofs_pending(t)))
            break;
        /* The race checks at its end. */
        const bool checks = !ended && !late;
        if (!status)
            status = advance(t, checks, error);
        status = tune_unless_interrupted(t, status, error);
        if (status || t->end == RUN_END_INTERRUPTED)
            return status;
        show_search(t);
    }
    learn_rest(t);
    /* A limit that was reached with the last variant of the space cut nothing short, if that one
     * has ended, too. */
    const bool whole = t->asked == space_count(t->session.space) &&
                       pipeline_get_state(t->pipeline)->finished == t->asked;
    if (!ended || whole)
        t->end = end_of_search(t);
    return check_source(t, true, error);
}

/* Tries again what an interrupted run tried: the journal has the outcomes. */
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

/* Where the search of an interrupted run had come to its end, its configurations are taken from the
 * journal. *done: it had. */
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
    /* A view into the journal does not survive what trying writes to it. */
    uint64_t *tried = memory_copy(known, count, sizeof *tried);
    *done = t->retraced = true;
    at_status status = tune_unless_interrupted(t, retrace(t, tried, count, error), error);
    if (t->end != RUN_END_INTERRUPTED)
        t->end = (run_end)end;
    free(tried);
    return status;
}

/* If the journal has all outcomes the search is over before the device is ready. */
static at_status await_device(tune *t, at_error *error)
{
    at_status status = AT_OK;
    while (!status && t->end != RUN_END_INTERRUPTED && !tune_interrupted(t) &&
           !pipeline_get_state(t->pipeline)->device_ready) {
        status = pipeline_step(t->pipeline, STEP_MS, error);
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
