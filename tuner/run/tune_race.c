/* The race, or the choice without a race; and the race on other GPUs. */
#include <stdlib.h>

#include "base/clock.h"
#include "base/memory.h"
#include "run/race/side_by_side.h"
#include "run/tune_state.h"
#include "script/script.h"

enum { STEP_MS = 50 };

/* The time after its start at which a quick run stops waiting for proofs. */
enum { QUICK_PROOF_MS = 2800 };

static void keep_search(tune *t)
{
    const candidates *all = pipeline_candidates(t->pipeline);
    uint64_t *tried = memory_new(all->count, sizeof *tried);
    size_t count = 0;
    for (size_t i = 0; i < all->count; i++)
        if (candidate_is_finished(all->items[i]))
            tried[count++] = all->items[i]->configuration;
    if (!t->retraced && t->end != RUN_END_INTERRUPTED && !t->session.space_timed_out)
        race_log_keep_search(&t->log, tried, count, (int)t->end);
    free(tried);
}

/* Sets *out to the default's candidate, tried now if necessary, or NULL if it has no outcome. */
static at_status try_baseline(tune *t, const candidate **out, at_error *error)
{
    const candidates *all = pipeline_candidates(t->pipeline);
    *out = tune_tried_baseline(t);
    if (!t->has_baseline || *out || t->end == RUN_END_INTERRUPTED)
        return AT_OK;
    at_status status = pipeline_add(t->pipeline, t->baseline, error);
    while (!status && pipeline_in_flight(t->pipeline) && !tune_interrupted(t) && !tune_is_over(t))
        status = pipeline_step(t->pipeline, STEP_MS, error);
    for (candidate *c; !status && (c = pipeline_take(t->pipeline));)
        tune_learn(t, c);
    if (candidate_is_finished(all->items[all->count - 1]))
        *out = all->items[all->count - 1];
    return tune_unless_interrupted(t, status, error);
}

static void show_race(tune *t)
{
    const race_driver_state *s = race_driver_get_state(t->driver);
    progress_update(t->progress,
                    &(progress_state){.stage = race_stage_name(s->stage),
                                      .done = s->done,
                                      .total = s->done + s->left,
                                      .failed = pipeline_get_state(t->pipeline)->failed,
                                      .best_ns = tune_best_ns(t),
                                      .now_ns = clock_now_ns()});
}

/* Returns true if the race's GPU was lost and another has taken its place. */
static bool home_was_replaced(tune *t)
{
    at_error ignored = {0};
    size_t was = t->log.gpu;
    return pipeline_get_state(t->pipeline)->home != was ||
           (pipeline_step(t->pipeline, 0, &ignored) == AT_OK &&
            pipeline_get_state(t->pipeline)->home != was);
}

/* Returns the largest number of entrants for which there is time, or 0 without a limit. Loading and
 * checking an entrant for its first block takes as long as its try. The first block may take 1 /
 * BLOCKS_LEAST of the time that is left. */
static size_t most_entrants(const tune *t)
{
    enum { BLOCKS_LEAST = 4, ENTRANTS_LEAST = 2 };
    const pipeline_state *s = pipeline_get_state(t->pipeline);
    const uint64_t known = s->resumed + s->twins + s->left_out;
    const double each_s = (double)(s->check_ns + s->measure_ns) / 1e9 /
                          (double)(s->finished > known ? s->finished - known : 1);
    if (t->limits.seconds <= 0 || each_s <= 0)
        return 0;
    const double most = (tune_race_end_s(t) - tune_elapsed_s(t)) / (BLOCKS_LEAST * each_s);
    return most < ENTRANTS_LEAST ? ENTRANTS_LEAST : most < 1e6 ? (size_t)most : 0;
}

static at_status race_at_home(tune *t, const candidate *baseline, at_error *error)
{
    if (t->log.gpu != pipeline_get_state(t->pipeline)->home)
        tune_open_race_log(t);
    at_status status = race_driver_new(&t->session, t->pipeline, &t->log, baseline,
                                       most_entrants(t), t->settings, &t->driver, error);
    if (status == AT_NOT_FOUND)
        return error_ignore(status, AT_NOT_FOUND, error);
    bool finished = status != AT_OK;
    if (!status && tune_is_quick(t))
        race_driver_hurry(t->driver, t->start_ns + QUICK_PROOF_MS * INT64_C(1000000));
    else if (!status && tune_end_ns(t))
        race_driver_hurry(t->driver, tune_end_ns(t));
    if (t->end == RUN_END_INTERRUPTED && !status)
        race_driver_stop(t->driver);
    while (!finished && t->end != RUN_END_INTERRUPTED) {
        if (tune_interrupted(t) ||
            (t->limits.seconds > 0 && tune_elapsed_s(t) > tune_race_end_s(t)))
            race_driver_stop(t->driver);
        status = tune_unless_interrupted(t, race_driver_step(t->driver, &finished, error), error);
        finished = finished || tune_is_over(t);
        if (status)
            break;
        show_race(t);
    }
    if (t->end == RUN_END_INTERRUPTED || tune_is_over(t))
        race_driver_stop(t->driver);
    return status;
}

static at_status race_on_device(tune *t, at_error *error)
{
    const candidate *baseline;
    at_status status = try_baseline(t, &baseline, error);
    if (status)
        return status;
    keep_search(t);
    pipeline_settle_twins(t->pipeline, baseline);
    status = race_at_home(t, baseline, error);
    while (status && home_was_replaced(t)) {
        error_clear(error);
        race_driver_free(t->driver);
        t->driver = NULL;
        status = race_at_home(t, baseline, error);
    }
    return status;
}

/* Proves the variant with the lowest median, which wins without a race; if it is wrong, the
 * next. */
static at_status prove_fastest(tune *t, at_error *error)
{
    const candidates *all = pipeline_candidates(t->pipeline);
    for (;;) {
        candidate *fastest = NULL;
        int64_t fastest_ns = 0;
        for (size_t i = 0; i < all->count; i++) {
            int64_t median_ns = candidate_median_ns(all->items[i]);
            if (!candidate_may_race(all->items[i]) || !median_ns ||
                (fastest && median_ns >= fastest_ns))
                continue;
            fastest = all->items[i];
            fastest_ns = median_ns;
        }
        if (!fastest || fastest->verdict > PROOF_PENDING)
            return AT_OK;
        at_status status = pipeline_prove(t->pipeline, fastest, false, error);
        while (!status && tune_proofs_pending(t) && !tune_interrupted(t) && !tune_is_over(t)) {
            status = pipeline_watch_proofs(t->pipeline, STEP_MS, error);
            while (!status && pipeline_take_proof(t->pipeline, false))
                ;
        }
        if (status || t->end == RUN_END_INTERRUPTED || tune_is_over(t))
            return status;
    }
}

void tune_rank_unraced(tune *t)
{
    pipeline_settle_twins(t->pipeline, tune_tried_baseline(t));
    if (!race_driver_new(&t->session, t->pipeline, &t->log, tune_tried_baseline(t), 0, t->settings,
                         &t->driver, NULL))
        race_driver_stop(t->driver);
}

at_status tune_race(tune *t, at_error *error)
{
    if (tune_races(t))
        return race_on_device(t, error);
    return t->prover && t->end != RUN_END_INTERRUPTED ? prove_fastest(t, error) : AT_OK;
}

enum { BLOCKS = 60, MOST_FINALISTS = 16 };

typedef struct finalists {
    candidate *items[MOST_FINALISTS]; /* the winner first */
    size_t count;
} finalists;

static finalists list_finalists(race_driver *c)
{
    finalists found = {0};
    const race_result *r = race_driver_result(c);
    for (size_t i = 0; r->has_winner && i < r->count && found.count < MOST_FINALISTS; i++) {
        const race_standing *s = &r->ranking[i];
        candidate *one = race_driver_candidate(c, s->entrant);
        if (!s->failed && s->left_at >= RACE_FINALS && candidate_has_code(one))
            found.items[found.count++] = one;
    }
    return found;
}

/* Sets *other to the finalist that is surely faster than the first by *ratio, or to NULL. */
static at_status race_on(device_worker *w, const finalists *f, const settings *o,
                         const candidate **other, double *ratio, at_error *error)
{
    const race_options protocol = race_defaults();
    side_judge judge = {.margin =
                            o->race.tie_margin >= 0 ? o->race.tie_margin : protocol.tie_margin,
                        .blocks = BLOCKS};
    const side_rules rules = {
        .blocks = BLOCKS, .seed = o->search.seed, .enough = side_judge_enough, .context = &judge};
    side sides[MOST_FINALISTS];
    *other = NULL;
    for (size_t i = 0; i < f->count; i++) {
        device_variant v;
        candidate_variant(f->items[i], &v);
        sides[i] = (side){.image = v.images[0], .launch = v.launches[0], .layout = v.layout};
    }
    at_status status = side_by_side_run(w, sides, f->count, &rules, error);
    if (!status && sides[0].outcome != OUTCOME_OK)
        status = error_set(error, AT_DEVICE, "it ended as %s: %s", outcome_name(sides[0].outcome),
                           sides[0].message);
    if (!status && judge.standing.rival > 0) {
        *other = f->items[judge.standing.rival];
        *ratio = judge.standing.ratio;
    }
    for (size_t i = 0; i < f->count; i++)
        side_deinit(&sides[i]);
    return status;
}

at_status verify_elsewhere(const session *s, race_driver *c, const settings *o, run_summary *out,
                           at_error *error)
{
    finalists f = list_finalists(c);
    uint16_t indices[PATTERN_MAX_PARAMETERS];
    size_t agreed = 0;
    at_status status = workers_await(s->workers, error);
    for (size_t i = 0; !status && f.count > 0 && i < s->workers->other_count; i++) {
        const candidate *other;
        const device_properties *its = &s->workers->other_properties[i];
        char text[CONFIGURATION_BYTES];
        double ratio = 1;
        status = race_on(s->workers->others[i], &f, o, &other, &ratio, error);
        if (status == AT_INTERRUPTED)
            break;
        if (status) {
            run_summary_warn(out, "the winner could not be verified on %s (%s): %s", its->spec,
                             its->uuid, error ? error->message : "it failed");
            error_clear(error);
            status = AT_OK;
        } else if (other) {
            space_at(s->space, other->configuration, indices);
            script_format_configuration(s->script, indices, text, sizeof text);
            run_summary_warn(out, "on %s (%s), %s is %.2f %% faster than the winner", its->spec,
                             its->uuid, text, 100 * (ratio - 1));
        } else {
            agreed++;
        }
    }
    if (agreed && !status)
        run_summary_warn(out,
                         "verified: on %zu of %zu other GPUs no finalist is faster than the winner",
                         agreed, s->workers->other_count);
    return status;
}
