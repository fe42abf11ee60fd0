/* Tries the configuration with the lowest cost that a simulated device predicts, corrected by
 * measurements.
 *
 * The correction is the mean error, in logarithms, of the predictions for the nearest measured
 * configurations, shrunk towards the mean error of all. Without predictions all costs are equal,
 * which makes this a search by nearest neighbours. */
#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "search/strategies.h"

enum { NEAREST = 5, FIRST = 5, LOOKED_AT = 64 };
/* Every tenth proposal is random, in case the predictions are wrong everywhere. */
enum { RANDOM_EVERY = 10, DRAWS = 8 };

/* Configurations whose predicted cost is above this times the lowest are tried last. 19 of 20
 * predictions are within a factor of 2 of the measurement (tests/bench/predicted.py), so
 * predictions seldom reverse the order of two costs that differ by this factor. */
static const double hopeless = 4;

typedef struct model {
    strategy base;
    const double *prior; /* borrowed; may be NULL */
    uint64_t *order;     /* configurations, sorted by predicted cost; NULL without predictions */
    uint64_t hopeful;    /* number of configurations below the limit `hopeless` */
} model;

typedef struct predicted {
    uint64_t configuration;
    double cost;
} predicted;

static int compare_predicted(const void *left, const void *right)
{
    const predicted *a = left, *b = right;
    if (a->cost != b->cost)
        return a->cost < b->cost ? -1 : 1;
    return a->configuration < b->configuration ? -1 : a->configuration > b->configuration;
}

static void sort_by_prior(model *p, uint64_t count)
{
    predicted *all = memory_new((size_t)count, sizeof *all);
    p->order = memory_new((size_t)count, sizeof *p->order);
    for (uint64_t i = 0; i < count; i++)
        all[i] =
            (predicted){.configuration = i, .cost = isnan(p->prior[i]) ? INFINITY : p->prior[i]};
    qsort(all, (size_t)count, sizeof *all, compare_predicted);
    for (uint64_t i = 0; i < count; i++) {
        p->order[i] = all[i].configuration;
        p->hopeful += isfinite(all[i].cost) && all[i].cost <= hopeless * all[0].cost;
    }
    free(all);
}

static void model_init(strategy *s, const strategy_options *options)
{
    model *p = (model *)s;
    p->prior = options->prior;
    if (p->prior)
        sort_by_prior(p, s->ledger.space_count);
}

static void model_deinit(strategy *s)
{
    free(((model *)s)->order);
}

/* Returns the logarithm of the predicted cost, INFINITY if it is unknown or a failure is
 * predicted. */
static double log_prior(const model *p, uint64_t configuration)
{
    double cost = p->prior ? p->prior[configuration] : 1;
    return cost > 0 && isfinite(cost) ? log(cost) : INFINITY;
}

/* Returns the logarithm of a candidate's expected cost: the prediction plus the correction. */
static double corrected(model *p, uint64_t configuration)
{
    const ledger *l = &p->base.ledger;
    double prior = log_prior(p, configuration);
    size_t nearest = SIZE_MAX;
    double error = 0, all = 0;
    size_t count = 0, known = 0;
    if (!isfinite(prior))
        return INFINITY;
    for (size_t i = 0; i < l->trial_count; i++) {
        const ledger_trial *t = &l->trials[i];
        double e = log(t->cost) - log_prior(p, t->configuration);
        if (!isfinite(e)) /* The trial failed, or its cost was not predicted. */
            continue;
        size_t d = moves_difference(&p->base.moves, configuration, t->configuration);
        all += e;
        known++;
        if (d < nearest) {
            nearest = d;
            error = 0;
            count = 0;
        }
        if (d == nearest && count < NEAREST) {
            error += e;
            count++;
        }
    }
    double mean = known ? all / (double)known : 0;
    return prior + (error + mean) / ((double)count + 1);
}

/* Lists unseen candidates: those with the lowest predictions, or random ones; and the neighbours of
 * the best trial. Returns their number. */
static size_t list_candidates(model *p, uint64_t *out)
{
    ledger *l = &p->base.ledger;
    size_t count = 0;
    for (uint64_t i = 0; count < LOOKED_AT && i < l->space_count; i++) {
        if (!p->order && i == LOOKED_AT)
            break;
        uint64_t c = p->order ? p->order[i] : rng_below(&l->rng, l->space_count);
        if (!ledger_seen(l, c))
            out[count++] = c;
    }
    if (l->best != SIZE_MAX) {
        size_t near = moves_unseen_neighbours(&p->base.moves, l->trials[l->best].configuration);
        for (size_t i = 0; i < near && i < LOOKED_AT; i++)
            out[count++] = p->base.moves.near[i];
    }
    return count;
}

/* Proposes a random configuration, if a few draws find one, below the limit `hopeless`. */
static bool propose_random(model *p, uint64_t *configuration)
{
    ledger *l = &p->base.ledger;
    for (int i = 0; i < DRAWS && p->hopeful > 0; i++) {
        *configuration = p->order[rng_below(&l->rng, p->hopeful)];
        if (!ledger_seen(l, *configuration))
            return true;
    }
    return ledger_random(l, configuration);
}

static bool model_propose(strategy *s, uint64_t *configuration)
{
    model *p = (model *)s;
    ledger *l = &s->ledger;
    if ((!p->order && l->trial_count < FIRST) || l->trial_count % RANDOM_EVERY == RANDOM_EVERY - 1)
        return propose_random(p, configuration);
    uint64_t candidates[2 * LOOKED_AT];
    size_t count = list_candidates(p, candidates);
    double least = INFINITY;
    if (count == 0)
        return ledger_random(l, configuration);
    *configuration = candidates[0];
    for (size_t i = 0; i < count; i++) {
        double expected = corrected(p, candidates[i]);
        if (expected < least) {
            least = expected;
            *configuration = candidates[i];
        }
    }
    return true;
}

const strategy_kind strategy_model = {
    .name = "model",
    .summary = "tries what a model of the device predicts to be fastest, corrected by measurements",
    .wants_prior = true,
    .size_bytes = sizeof(model),
    .init = model_init,
    .deinit = model_deinit,
    .propose = model_propose,
};
