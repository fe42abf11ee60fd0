#include "replay.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "score.h"
#include "strategy.h"

/* Where curves are read off, and the means over runs there. */
typedef struct curve {
    double at[REPLAY_POINTS + REPLAY_MARKS]; /* evaluations or seconds, ascending */
    double cost[REPLAY_POINTS + REPLAY_MARKS];
    double share[REPLAY_POINTS + REPLAY_MARKS];
    size_t count;
} curve;

typedef struct replay {
    const recorded_space *rs;
    const replay_options *options;
    replay_result *out;
    score_space scores;
    double mean_s; /* of an evaluation */
    curve points_by_count, points_by_time, marks_by_count, marks_by_time;
    uint64_t evaluations; /* at which a run may stop */
    double seconds;       /* and before which it must not */
} replay;

/* Adds to a curve what is known up to `position`, `*next` being its first place not yet passed. */
static void advance(curve *c, size_t *next, double position, double best, const score_space *s)
{
    while (*next < c->count && c->at[*next] < position) {
        c->cost[*next] += isfinite(best) ? best : score_worst(s);
        c->share[*next] += isfinite(best) ? score_optimum(s) / best : 0;
        ++*next;
    }
}

typedef struct progress {
    uint64_t evaluations;
    double elapsed_s, best;
    size_t next[4];
} progress;

/* Brings the curves up to just before the evaluation that ends at the given places. */
static void advance_all(replay *r, progress *p, double evaluations, double elapsed_s)
{
    const score_space *s = &r->scores;
    advance(&r->points_by_count, &p->next[0], evaluations, p->best, s);
    advance(&r->marks_by_count, &p->next[1], evaluations, p->best, s);
    advance(&r->points_by_time, &p->next[2], elapsed_s, p->best, s);
    advance(&r->marks_by_time, &p->next[3], elapsed_s, p->best, s);
}

static void evaluate(replay *r, progress *p, strategy *s, uint64_t configuration)
{
    double cost = r->rs->cost[configuration];
    double elapsed_s = p->elapsed_s + r->rs->elapsed_s[configuration];
    advance_all(r, p, (double)(p->evaluations + 1), elapsed_s);
    p->evaluations++;
    p->elapsed_s = elapsed_s;
    p->best = cost < p->best ? cost : p->best;
    strategy_tell(s, configuration, cost);
}

static bool finished(const replay *r, const progress *p)
{
    if (r->options->evaluations)
        return p->evaluations >= r->options->evaluations;
    return p->evaluations >= r->evaluations && p->elapsed_s >= r->seconds;
}

static at_status run_once(replay *r, uint64_t seed, at_error *error)
{
    uint64_t *waiting = malloc(r->options->batch * sizeof *waiting);
    if (!waiting)
        return error_set(error, AT_NO_MEMORY, "no memory for a replay");
    strategy *s = NULL;
    strategy_options options = {.space = r->rs->space, .seed = seed, .budget = r->evaluations};
    progress p = {.best = INFINITY};
    at_status status = strategy_new(r->options->strategy, &options, &s, error);
    if (status)
        goto cleanup;
    r->out->strategy = strategy_get_kind(s)->name;
    size_t count = 0;
    do {
        count += strategy_ask(s, r->options->batch - count, waiting + count);
        if (count == 0)
            break;
        evaluate(r, &p, s, waiting[0]);
        memmove(waiting, waiting + 1, --count * sizeof *waiting);
    } while (!finished(r, &p));
    advance_all(r, &p, INFINITY, INFINITY);

cleanup:
    strategy_free(s);
    free(waiting);
    return status;
}

static void place_points(replay *r)
{
    replay_result *out = r->out;
    for (size_t i = 0; i < REPLAY_POINTS; i++) {
        double part = (double)(i + 1) / REPLAY_POINTS;
        double at = ceil(part * (double)out->budget_evaluations);
        r->points_by_count.at[i] = at;
        r->points_by_time.at[i] = part * out->budget_s;
    }
    r->points_by_count.count = r->points_by_time.count = REPLAY_POINTS;
}

static void place_marks(replay *r)
{
    static const uint64_t steps[] = {1, 2, 5};
    uint64_t scale = 1;
    for (size_t i = 0; i < REPLAY_MARKS; i++) {
        uint64_t evaluations = scale * steps[i % 3];
        if (evaluations > r->evaluations)
            break;
        replay_mark *mark = &r->out->marks[r->out->mark_count++];
        *mark = (replay_mark){.evaluations = evaluations,
                              .seconds = (double)evaluations * r->mean_s,
                              .random_share = score_random_share(&r->scores, evaluations)};
        r->marks_by_count.at[i] = (double)evaluations;
        r->marks_by_time.at[i] = mark->seconds;
        if (i % 3 == 2)
            scale *= 10;
    }
    r->marks_by_count.count = r->marks_by_time.count = r->out->mark_count;
}

static void take_means(replay *r)
{
    curve *curves[] = {&r->points_by_count, &r->points_by_time, &r->marks_by_count,
                       &r->marks_by_time};
    for (size_t c = 0; c < sizeof curves / sizeof *curves; c++)
        for (size_t i = 0; i < curves[c]->count; i++) {
            curves[c]->cost[i] /= (double)r->options->repeat;
            curves[c]->share[i] /= (double)r->options->repeat;
        }
    for (size_t i = 0; i < r->out->mark_count; i++) {
        r->out->marks[i].share = r->marks_by_count.share[i];
        r->out->marks[i].share_in_time = r->marks_by_time.share[i];
    }
}

typedef double (*baseline_cost)(const score_space *s, uint64_t m);

/* Random search has evaluated at/scale configurations at each of the curve's places. */
static double score_against(const replay *r, const curve *c, double scale, baseline_cost f)
{
    double baseline[REPLAY_POINTS];
    for (size_t i = 0; i < c->count; i++) {
        /* The division must not lose an evaluation to rounding. */
        double m = floor(c->at[i] / scale * (1 + 1e-12));
        baseline[i] = f(&r->scores, m > 1 ? (uint64_t)m : 1);
    }
    return score_curve(&r->scores, baseline, c->cost, c->count);
}

static void take_scores(replay *r)
{
    replay_result *out = r->out;
    out->score = score_against(r, &r->points_by_count, 1, score_random_cost);
    out->rank_score = score_against(r, &r->points_by_count, 1, score_rank_cost);
    if (r->mean_s > 0) {
        out->score_in_time = score_against(r, &r->points_by_time, r->mean_s, score_random_cost);
        out->rank_score_in_time = score_against(r, &r->points_by_time, r->mean_s, score_rank_cost);
    }
}

at_status replay_run(const recorded_space *rs, const replay_options *options, replay_result *out,
                     at_error *error)
{
    replay r = {.rs = rs, .options = options, .out = out};
    *out = (replay_result){.space_count = rs->count};
    at_status status = score_space_init(&r.scores, rs->cost, (size_t)rs->count, error);
    if (status)
        return status;
    for (uint64_t i = 0; i < rs->count; i++)
        r.mean_s += rs->elapsed_s[i];
    r.mean_s /= (double)rs->count;
    out->failed = rs->count - r.scores.works;
    out->optimum = score_optimum(&r.scores);
    out->budget_evaluations = score_budget(&r.scores);
    out->budget_s = r.mean_s * (double)out->budget_evaluations;
    r.evaluations = options->evaluations ? options->evaluations : out->budget_evaluations;
    r.seconds = out->budget_s;
    place_points(&r);
    place_marks(&r);
    for (size_t i = 0; i < options->repeat && !status; i++)
        status = run_once(&r, options->seed + i, error);
    if (!status) {
        take_means(&r);
        take_scores(&r);
    }
    score_space_deinit(&r.scores);
    return status;
}
