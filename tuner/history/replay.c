#include "history/recorded.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/json_text.h"
#include "base/memory.h"
#include "script/render.h"
#include "search/strategy.h"

/* The curves of the plan: POINTS are the points of scores, MARKS the points that people see. */
enum { POINTS_BY_COUNT, POINTS_BY_TIME, MARKS_BY_COUNT, MARKS_BY_TIME, CURVES };
enum { PLACES = 64, MAX_THREADS = 256 };

/* Points on an axis: evaluations or seconds, ascending. */
typedef struct curve {
    double at[PLACES];
    size_t count;
} curve;

/* The best cost at each point of each curve: NAN before any evaluation, INFINITY if all failed. */
typedef struct seed_run {
    double best[CURVES][PLACES];
} seed_run;

typedef struct replay {
    const recorded_space *rs;
    const replay_options *options;
    const strategy_kind *kind;
    double optimum, worst;
    double first; /* the cost that a run is charged before its first evaluation ends */
    curve curves[CURVES];
    uint64_t evaluations; /* evaluations that a run makes at least */
    double seconds;       /* recorded time that a run covers at least */
    seed_run *runs;
    pthread_mutex_t lock; /* guards the next member */
    size_t next_run;
} replay;

typedef struct progress {
    seed_run *run;
    uint64_t evaluations;
    double elapsed_s, best;
    size_t next[CURVES]; /* for each curve, the first point that is not yet reached */
} progress;

/* Fills in the points of all curves that lie before the end of an evaluation, which ends at
 * `evaluations` and `elapsed_s`. */
static void advance(const replay *r, progress *p, double evaluations, double elapsed_s)
{
    const double position[CURVES] = {evaluations, elapsed_s, evaluations, elapsed_s};
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
    /* No later evaluation changes a curve, because the optimum is found. */
    if (p->best <= r->optimum)
        return true;
    if (r->options->evaluations)
        return p->evaluations >= r->options->evaluations;
    return p->evaluations >= r->evaluations && p->elapsed_s >= r->seconds;
}

static void run_once(const replay *r, uint64_t seed, seed_run *out)
{
    strategy_options options = {.space = r->rs->space, .seed = seed, .budget = r->evaluations};
    progress p = {.run = out, .best = INFINITY};
    strategy *s = strategy_new(r->kind, &options);
    uint64_t next;
    while (!finished(r, &p) && strategy_ask(s, 1, &next))
        evaluate(r, &p, s, next);
    advance(r, &p, INFINITY, INFINITY);
    strategy_free(s);
}

/* The body of a thread: runs seeds until all have run. */
static void *work(void *argument)
{
    replay *r = argument;
    for (;;) {
        pthread_mutex_lock(&r->lock);
        size_t i = r->next_run < r->options->repeat ? r->next_run++ : SIZE_MAX;
        pthread_mutex_unlock(&r->lock);
        if (i == SIZE_MAX)
            return NULL;
        run_once(r, r->options->seed + i, &r->runs[i]);
    }
}

/* Runs all seeds in parallel. A run depends only on its seed, not on the number of threads. */
static void run_seeds(replay *r)
{
    pthread_t threads[MAX_THREADS];
    size_t wanted = cores_usable(), started = 0;
    wanted = wanted < r->options->repeat ? wanted : r->options->repeat;
    pthread_mutex_init(&r->lock, NULL);
    while (started + 1 < wanted && started < MAX_THREADS &&
           pthread_create(&threads[started], NULL, work, r) == 0)
        started++;
    work(r);
    for (size_t i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
    pthread_mutex_destroy(&r->lock);
}

static double number_of(const json_t *plan, const char *name)
{
    return json_number_value(json_object_get(plan, name));
}

static void read_plan(replay *r, const json_t *plan)
{
    r->optimum = number_of(plan, "optimum");
    r->worst = number_of(plan, "worst");
    r->first = number_of(plan, "first");
    r->seconds = number_of(plan, "budget_s");
    r->evaluations =
        r->options->evaluations ? r->options->evaluations : (uint64_t)number_of(plan, "budget");
    for (size_t k = 0; k < CURVES; k++) {
        const json_t *at = json_array_get(json_object_get(plan, "curves"), k);
        curve *c = &r->curves[k];
        for (; c->count < json_array_size(at) && c->count < PLACES; c->count++)
            c->at[c->count] = json_number_value(json_array_get(at, c->count));
    }
}

/* Packs the means over all runs at each point of each curve. */
static json_t *pack_means(const replay *r)
{
    json_t *costs = json_array(), *shares = json_array();
    double repeat = (double)r->options->repeat;
    for (size_t k = 0; k < CURVES; k++) {
        json_t *cost_curve = json_array(), *share_curve = json_array();
        for (size_t i = 0; i < r->curves[k].count; i++) {
            double cost = 0, share = 0;
            for (size_t n = 0; n < r->options->repeat; n++) {
                double best = r->runs[n].best[k][i];
                cost += isnan(best) ? r->first : isinf(best) ? r->worst : best;
                share += isfinite(best) ? r->optimum / best : 0;
            }
            json_append(&cost_curve, json_real(cost / repeat));
            json_append(&share_curve, json_real(share / repeat));
        }
        json_append(&costs, cost_curve);
        json_append(&shares, share_curve);
    }
    return json_pack("{ss so so}", "strategy", r->kind->name, "costs", costs, "shares", shares);
}

static json_t *pack_space(const recorded *r, const recorded_space *rs, const char *path,
                          const replay_options *o)
{
    json_t *costs = json_array();
    double elapsed_s = 0;
    for (uint64_t i = 0; i < rs->count; i++) {
        elapsed_s += rs->elapsed_s[i];
        if (isfinite(rs->cost[i]))
            json_append(&costs, json_real(rs->cost[i]));
    }
    return json_pack("{so ss ss ss so sI sf sI sI sI}", "path", json_path(path), "kernel",
                     r->kernel, "device", r->device, "objective", r->objective, "costs", costs,
                     "count", (json_int_t)rs->count, "mean_s", elapsed_s / (double)rs->count,
                     "evaluations", (json_int_t)o->evaluations, "seeds", (json_int_t)o->repeat,
                     "seed", (json_int_t)o->seed);
}

at_status replay_run(const recorded *from, const recorded_space *rs, const char *path,
                     const replay_options *options, json_t **out, at_error *error)
{
    static const char module[] = "commands.replay";
    replay r = {.rs = rs, .options = options};
    json_t *given = NULL, *plan = NULL;
    *out = NULL;
    at_status status = strategy_find(options->strategy, &r.kind, error);
    if (status)
        return status;
    given = pack_space(from, rs, path, options);
    status = script_compute(module, NULL, given, &plan, error);
    if (!status) {
        read_plan(&r, plan);
        r.runs = memory_new(options->repeat, sizeof *r.runs);
        run_seeds(&r);
        json_put(&given, "runs", pack_means(&r));
        status = script_compute(module, NULL, given, out, error);
    }
    free(r.runs);
    json_decref(plan);
    json_decref(given);
    return status;
}
