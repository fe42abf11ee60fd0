#include "history/replay.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "search/strategy.h"

enum { PLACES = REPLAY_POINTS > REPLAY_MARKS ? REPLAY_POINTS : REPLAY_MARKS, MAX_THREADS = 256 };

/* Points on an axis, and the means over all runs there. */
typedef struct curve {
    double at[PLACES]; /* evaluations or seconds, ascending */
    double cost[PLACES];
    double share[PLACES];
    size_t count;
} curve;

enum { POINTS_BY_COUNT, MARKS_BY_COUNT, POINTS_BY_TIME, MARKS_BY_TIME, CURVES };

/* The best cost at each point of each curve: INFINITY if all failed, NAN before any has ended. */
typedef struct seed_run {
    double best[CURVES][PLACES];
    const char *strategy;
} seed_run;

typedef struct replay {
    const recorded_space *rs;
    const replay_options *options;
    replay_result *out;
    score_space scores;
    double mean_s; /* mean time of an evaluation */
    curve curves[CURVES];
    uint64_t evaluations; /* a run needs at least these evaluations */
    double seconds;       /* and at least this time, in s */
    seed_run *runs;
    pthread_mutex_t lock; /* guards the rest */
    size_t next_run;
    at_status status; /* status of the first failure */
    at_error *error;
} replay;

typedef struct progress {
    seed_run *run;
    uint64_t evaluations;
    double elapsed_s, best;
    size_t next[CURVES]; /* for each curve, the first point that is not yet reached */
} progress;

/* Fills in all points before the evaluation that ends at the given position. */
static void advance(const replay *r, progress *p, double evaluations, double elapsed_s)
{
    const double position[CURVES] = {evaluations, evaluations, elapsed_s, elapsed_s};
    for (size_t k = 0; k < CURVES; k++) {
        const curve *c = &r->curves[k];
        for (; p->next[k] < c->count && c->at[p->next[k]] < position[k]; p->next[k]++)
            p->run->best[k][p->next[k]] = p->evaluations ? p->best : NAN;
    }
}

static void evaluate(const replay *r, progress *p, strategy *s, uint64_t configuration)
{
    double cost = r->rs->cost[configuration];
    double elapsed_s = p->elapsed_s + r->rs->elapsed_s[configuration];
    advance(r, p, (double)(p->evaluations + 1), elapsed_s);
    p->evaluations++;
    p->elapsed_s = elapsed_s;
    p->best = cost < p->best ? cost : p->best;
    strategy_tell(s, configuration, cost);
}

static bool finished(const replay *r, const progress *p)
{
    /* The optimum is found: no later evaluation changes a curve. */
    if (p->best <= score_optimum(&r->scores))
        return true;
    if (r->options->evaluations)
        return p->evaluations >= r->options->evaluations;
    return p->evaluations >= r->evaluations && p->elapsed_s >= r->seconds;
}

static at_status run_once(const replay *r, uint64_t seed, seed_run *out, at_error *error)
{
    strategy_options options = {.space = r->rs->space, .seed = seed, .budget = r->evaluations};
    progress p = {.run = out, .best = INFINITY};
    const strategy_kind *kind;
    at_status status = strategy_find(r->options->strategy, &kind, error);
    if (status)
        return status;
    uint64_t *waiting = memory_new(r->options->batch, sizeof *waiting);
    strategy *s = strategy_new(kind, &options);
    out->strategy = strategy_get_kind(s)->name;
    size_t count = 0;
    do {
        count += strategy_ask(s, r->options->batch - count, waiting + count);
        if (count == 0)
            break;
        evaluate(r, &p, s, waiting[0]);
        memmove(waiting, waiting + 1, --count * sizeof *waiting);
    } while (!finished(r, &p));
    advance(r, &p, INFINITY, INFINITY);
    strategy_free(s);
    free(waiting);
    return AT_OK;
}

/* Runs seeds until all have run; the body of a thread. */
static void *work(void *argument)
{
    replay *r = argument;
    pthread_mutex_lock(&r->lock);
    while (!r->status && r->next_run < r->options->repeat) {
        size_t i = r->next_run++;
        at_error error = {0};
        pthread_mutex_unlock(&r->lock);
        at_status status = run_once(r, r->options->seed + i, &r->runs[i], &error);
        pthread_mutex_lock(&r->lock);
        if (status && !r->status) {
            r->status = status;
            *r->error = error;
        }
    }
    pthread_mutex_unlock(&r->lock);
    return NULL;
}

/* Runs all seeds in parallel. A run depends only on its seed, not on the number of threads. */
static at_status run_seeds(replay *r, at_error *error)
{
    pthread_t threads[MAX_THREADS];
    size_t wanted = cores_usable(), started = 0;
    wanted = wanted < r->options->repeat ? wanted : r->options->repeat;
    r->error = error;
    pthread_mutex_init(&r->lock, NULL);
    while (started + 1 < wanted && started < MAX_THREADS &&
           pthread_create(&threads[started], NULL, work, r) == 0)
        started++;
    work(r);
    for (size_t i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
    pthread_mutex_destroy(&r->lock);
    return r->status;
}

static void place_points(replay *r)
{
    replay_result *out = r->out;
    curve *by_count = &r->curves[POINTS_BY_COUNT], *by_time = &r->curves[POINTS_BY_TIME];
    for (size_t i = 0; i < REPLAY_POINTS; i++) {
        double part = (double)(i + 1) / REPLAY_POINTS;
        by_count->at[i] = ceil(part * (double)out->budget_evaluations);
        by_time->at[i] = part * out->budget_s;
    }
    by_count->count = by_time->count = REPLAY_POINTS;
}

static void place_marks(replay *r)
{
    static const uint64_t steps[] = {1, 2, 5};
    curve *by_count = &r->curves[MARKS_BY_COUNT], *by_time = &r->curves[MARKS_BY_TIME];
    uint64_t scale = 1;
    for (size_t i = 0; i < REPLAY_MARKS; i++) {
        uint64_t evaluations = scale * steps[i % 3];
        if (evaluations > r->evaluations)
            break;
        replay_mark *mark = &r->out->marks[r->out->mark_count++];
        *mark = (replay_mark){.evaluations = evaluations,
                              .seconds = (double)evaluations * r->mean_s,
                              .random_share = score_random_share(&r->scores, evaluations)};
        by_count->at[i] = (double)evaluations;
        by_time->at[i] = mark->seconds;
        if (i % 3 == 2)
            scale *= 10;
    }
    by_count->count = by_time->count = r->out->mark_count;
}

/* Returns the cost that a run is charged. Before its first evaluation ends, this is the expected
 * cost of a random configuration, as for the baseline. */
static double charged(const score_space *s, double best)
{
    return isnan(best) ? score_random_cost(s, 1) : isinf(best) ? score_worst(s) : best;
}

static void take_means(replay *r)
{
    const score_space *s = &r->scores;
    double repeat = (double)r->options->repeat;
    for (size_t k = 0; k < CURVES; k++)
        for (size_t i = 0; i < r->curves[k].count; i++) {
            double cost = 0, share = 0;
            for (size_t n = 0; n < r->options->repeat; n++) {
                double best = r->runs[n].best[k][i];
                cost += charged(s, best);
                share += isfinite(best) ? score_optimum(s) / best : 0;
            }
            r->curves[k].cost[i] = cost / repeat;
            r->curves[k].share[i] = share / repeat;
        }
    for (size_t i = 0; i < r->out->mark_count; i++) {
        r->out->marks[i].share = r->curves[MARKS_BY_COUNT].share[i];
        r->out->marks[i].share_in_time = r->curves[MARKS_BY_TIME].share[i];
    }
    r->out->strategy = r->runs[0].strategy;
}

typedef double (*baseline_cost)(const score_space *s, uint64_t m);

/* Returns a curve's score. At each point, random search has evaluated at/scale configurations. */
static double score_against(const replay *r, const curve *c, double scale, baseline_cost f)
{
    double baseline[REPLAY_POINTS];
    for (size_t i = 0; i < c->count; i++) {
        /* Rounding in the division must not lose an evaluation. */
        double m = floor(c->at[i] / scale * (1 + 1e-12));
        baseline[i] = f(&r->scores, m > 1 ? (uint64_t)m : 1);
    }
    return score_curve(&r->scores, baseline, c->cost, c->count);
}

static void take_scores(replay *r)
{
    replay_result *out = r->out;
    const curve *by_count = &r->curves[POINTS_BY_COUNT], *by_time = &r->curves[POINTS_BY_TIME];
    out->score = score_against(r, by_count, 1, score_random_cost);
    out->rank_score = score_against(r, by_count, 1, score_rank_cost);
    if (r->mean_s > 0) {
        out->score_in_time = score_against(r, by_time, r->mean_s, score_random_cost);
        out->rank_score_in_time = score_against(r, by_time, r->mean_s, score_rank_cost);
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
    r.runs = memory_new(options->repeat, sizeof *r.runs);
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
    status = run_seeds(&r, error);
    if (!status) {
        take_means(&r);
        take_scores(&r);
    }
    free(r.runs);
    score_space_deinit(&r.scores);
    return status;
}
