/* Bayesian optimisation: after a first sample that fills the space, tries what a Gaussian process
 * over all outcomes so far expects to improve most on the best.
 *
 * Expected improvement (Jones, Schonlau & Welch 1998) on a scale of costs
 * (search/regression/cost_scale.h) times the chance that the configuration works at all
 * (pool.h). Configurations that are being tried count with the value that the model predicts
 * for them (the "kriging believer" of Ginsbourger, Le Riche & Carraro 2010), so that batches
 * spread. */
#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "search/pool.h"
#include "search/regression/cost_scale.h"
#include "search/regression/encoding.h"
#include "search/regression/gp.h"
#include "search/strategies.h"

/* These bound the time of a decision. The model keeps KEPT_ROWS of more outcomes: the better half
 * and an even sample of the others; lengths are fitted to at most FITTED_ROWS. */
enum { ROW_LIMIT = 400, KEPT_ROWS = 300, FITTED_ROWS = 150, FITTED_EACH = 50, FIT_STEPS = 25 };

/* The first sample: where nothing is known to begin with, the most central of CENTRE_TRIES random
 * ones with few least values, for extremes are slower than most; then each the farthest, of a few
 * random ones, from those before it. A thirtieth of the budget goes into it, and all that is tried
 * between the first failure and the first success. Other trials before the first outcome follow the
 * model's prior, as later ones follow the model: dozens are compiled side by side before there is a
 * device, and a small budget has none to spare. */
enum {
    DESIGN_LEAST = 1,
    DESIGN_MOST = 10,
    DESIGN_SHARE = 30,
    DESIGN_TRIES = 16,
    CENTRE_TRIES = 64
};

/* The score of a cost is expected to be worse by this for each least value (encoding_least): 1
 * element a thread, the smallest block or tile are what a kernel has before it is tuned. It weighs
 * as much as penalty_weight outcomes against what the outcomes say. */
static const double least_penalty = 0.25, penalty_weight = 16;

/* The kernel is fitted at every outcome up to FITTED_EACH; after that, when they have grown by this
 * factor. */
static const double fit_growth = 1.3;

/* Row i of the model is trial row_trial[i]. Trials before next_trial are rows or left out; trials
 * that were asked and not told yet are rows without an outcome. The model learns scores
 * (cost_scale) less expected_score(). It is made anew by fit() at next_fit successes, or when its
 * rows are full; in between update() only adds rows. `chosen`, `costs` and `points` are scratch of
 * fit(). */
typedef struct surrogate {
    strategy base;
    encoding encoding;
    pool pool;
    feasibility feasibility;
    cost_scale scale;
    gp_kernel kernel;
    gp model;
    size_t *row_trial; /* the trial of each of the model's rows */
    size_t next_trial; /* trials before it are in the model, or left out */
    size_t successes, next_fit;
    double penalty;          /* of a least value, by prior and outcomes */
    size_t fitted_successes; /* when the model was made anew */
    bool ready;              /* the model exists */
    bool stale;              /* its means do not yet know the last outcomes */
    size_t *chosen;          /* room for trials to fit to */
    double *costs;
    float *points;
    size_t chosen_capacity;
} surrogate;

static void surrogate_init(strategy *s, const strategy_options *options)
{
    surrogate *g = (surrogate *)s;
    g->row_trial = memory_new(ROW_LIMIT, sizeof *g->row_trial);
    encoding_init(&g->encoding, options->space, GP_MAX_FEATURES);
    pool_init(&g->pool, &s->ledger, &g->encoding);
    feasibility_init(&g->feasibility, &g->encoding, g->pool.most);
    gp_init(&g->model, g->encoding.features, g->encoding.is_category, ROW_LIMIT, g->pool.points,
            g->pool.most);
    g->penalty = least_penalty;
    g->kernel = gp_prior_kernel(g->encoding.features);
}

static void surrogate_deinit(strategy *s)
{
    surrogate *g = (surrogate *)s;
    encoding_deinit(&g->encoding);
    pool_deinit(&g->pool);
    feasibility_deinit(&g->feasibility);
    cost_scale_deinit(&g->scale);
    gp_deinit(&g->model);
    free(g->row_trial);
    free(g->chosen);
    free(g->costs);
    free(g->points);
}

/* The score that is expected where nothing is known; the model learns the difference from it. */
static double expected_score(surrogate *g, uint64_t configuration)
{
    return g->penalty * (double)encoding_least(&g->encoding, configuration);
}

static double nearest_trial(surrogate *g, const float *point)
{
    const ledger *l = &g->base.ledger;
    float other[GP_MAX_FEATURES];
    double nearest = INFINITY;
    for (size_t i = 0; i < l->trial_count; i++) {
        encoding_point(&g->encoding, l->trials[i].configuration, other);
        double d = encoding_distance(&g->encoding, point, other);
        nearest = d < nearest ? d : nearest;
    }
    return nearest;
}

static size_t design_count(const surrogate *g)
{
    uint64_t share = g->base.ledger.budget / DESIGN_SHARE;
    return share < DESIGN_LEAST ? DESIGN_LEAST : share > DESIGN_MOST ? DESIGN_MOST : (size_t)share;
}

/* The one with the least mean distance to all others, and few least values. */
static uint64_t propose_centre(surrogate *g)
{
    ledger *l = &g->base.ledger;
    float points[CENTRE_TRIES][GP_MAX_FEATURES];
    uint64_t drawn[CENTRE_TRIES], central = 0;
    double least = INFINITY;
    for (size_t i = 0; i < CENTRE_TRIES; i++) {
        drawn[i] = rng_below(&l->rng, l->space_count);
        encoding_point(&g->encoding, drawn[i], points[i]);
    }
    for (size_t i = 0; i < CENTRE_TRIES; i++) {
        double sum = 0;
        for (size_t j = 0; j < CENTRE_TRIES; j++)
            sum += encoding_distance(&g->encoding, points[i], points[j]);
        sum = sum / CENTRE_TRIES + expected_score(g, drawn[i]);
        if (sum < least) {
            least = sum;
            central = drawn[i];
        }
    }
    return central;
}

static bool propose_design(surrogate *g, uint64_t *configuration)
{
    ledger *l = &g->base.ledger;
    if (l->trial_count == 0) {
        *configuration = propose_centre(g);
        return true;
    }
    /* Nothing worked so far: far from everything is as good as anywhere, and this is quicker. */
    size_t tries = l->trial_count < 4 * DESIGN_MOST ? DESIGN_TRIES : 0;
    double best = -1;
    for (size_t t = 0; t < tries; t++) {
        uint64_t c = rng_below(&l->rng, l->space_count);
        if (ledger_seen(l, c))
            continue;
        float point[GP_MAX_FEATURES];
        encoding_point(&g->encoding, c, point);
        double d = nearest_trial(g, point);
        if (d > best) {
            best = d;
            *configuration = c;
        }
    }
    return best >= 0 || ledger_random(l, configuration);
}

static void reserve_chosen(surrogate *g, size_t needed)
{
    if (needed <= g->chosen_capacity)
        return;
    free(g->chosen);
    free(g->costs);
    free(g->points);
    g->chosen_capacity = 2 * needed;
    g->chosen = memory_new(g->chosen_capacity, sizeof *g->chosen);
    g->costs = memory_new(g->chosen_capacity, sizeof *g->costs);
    g->points = memory_new(g->chosen_capacity * g->encoding.features, sizeof *g->points);
}

/* Should the i-th of `count` be among `wanted` evenly spread ones? */
static bool is_even_pick(size_t i, size_t count, size_t wanted)
{
    return wanted >= count || i * wanted / count != (i + 1) * wanted / count;
}

/* Returns how many trials to model, which are in g->chosen in their order: all that worked, or
 * KEPT_ROWS of them. Also makes the scale of costs, from all. */
static size_t choose_trials(surrogate *g)
{
    const ledger *l = &g->base.ledger;
    size_t n = 0, worse = 0, kept = 0;
    reserve_chosen(g, l->trial_count + 1);
    for (size_t i = 0; i < l->trial_count; i++)
        if (isfinite(l->trials[i].cost)) {
            g->chosen[n] = i;
            g->costs[n++] = l->trials[i].cost;
        }
    cost_scale_set(&g->scale, g->costs, n);
    if (n <= KEPT_ROWS)
        return n;
    size_t better = ledger_elite(l, g->chosen, KEPT_ROWS / 2);
    double bound = l->trials[g->chosen[better - 1]].cost;
    for (size_t i = 0; i < l->trial_count; i++) {
        double cost = l->trials[i].cost;
        bool keep = cost <= bound;
        if (isfinite(cost) && !keep)
            keep = is_even_pick(worse++, n - better, KEPT_ROWS - better);
        if (keep && kept < KEPT_ROWS)
            g->chosen[kept++] = i;
    }
    return kept;
}

/* The value of a trial in a row of the model; NAN without an outcome. */
static double row_value(surrogate *g, const ledger_trial *t)
{
    return isnan(t->cost)
               ? NAN
               : cost_scale_score(&g->scale, t->cost) - expected_score(g, t->configuration);
}

/* The slope of a line through scores by how many least values there are (ridge regression towards
 * least_penalty). */
static void fit_penalty(surrogate *g, size_t count)
{
    double x = 0, y = 0, xx = 0, xy = 0, n = (double)count;
    for (size_t i = 0; i < count; i++) {
        const ledger_trial *t = &g->base.ledger.trials[g->chosen[i]];
        double least = (double)encoding_least(&g->encoding, t->configuration);
        double score = cost_scale_score(&g->scale, t->cost);
        x += least / n;
        y += score / n;
        xx += least * least;
        xy += least * score;
    }
    g->penalty =
        (penalty_weight * least_penalty + xy - n * x * y) / (penalty_weight + xx - n * x * x);
}

static void fit_kernel(surrogate *g, size_t count)
{
    const ledger *l = &g->base.ledger;
    size_t features = g->encoding.features, used = 0;
    for (size_t i = 0; i < count; i++) {
        if (!is_even_pick(i, count, FITTED_ROWS))
            continue;
        const ledger_trial *t = &l->trials[g->chosen[i]];
        encoding_point(&g->encoding, t->configuration, g->points + used * features);
        g->costs[used++] = row_value(g, t);
    }
    gp_fit(&g->kernel, &g->model.scale, features, g->encoding.is_category, g->points, g->costs,
           used, FIT_STEPS);
}

static void add_row(surrogate *g, size_t trial)
{
    const ledger_trial *t = &g->base.ledger.trials[trial];
    float point[GP_MAX_FEATURES];
    encoding_point(&g->encoding, t->configuration, point);
    g->row_trial[g->model.rows] = trial;
    gp_add(&g->model, point, row_value(g, t));
    g->stale = true;
}

/* Makes the model anew from what is known, which before the first success is the prior. */
static void fit(surrogate *g)
{
    ledger *l = &g->base.ledger;
    size_t count = 0;
    if (g->successes > 0) {
        count = choose_trials(g);
        fit_penalty(g, count);
        fit_kernel(g, count);
    }
    pool_fill(&g->pool, &g->base.moves, &g->encoding);
    feasibility_reset(&g->feasibility, g->pool.points, g->pool.count, l);
    gp_reset(&g->model, &g->kernel, g->model.scale, g->pool.count);
    for (size_t i = 0; i < count; i++)
        add_row(g, g->chosen[i]);
    for (size_t i = 0; i < l->trial_count && g->model.rows < ROW_LIMIT; i++)
        if (isnan(l->trials[i].cost))
            add_row(g, i);
    g->next_trial = l->trial_count;
    g->fitted_successes = g->successes;
    g->next_fit = g->successes < FITTED_EACH ? g->successes + 1
                                             : (size_t)ceil((double)g->successes * fit_growth);
    g->ready = true;
}

/* Brings the model up to date with all trials asked and told. */
static void update(surrogate *g)
{
    const ledger *l = &g->base.ledger;
    /* Rows of trials without an outcome stay rows until there is one. */
    bool full = g->model.rows + l->trial_count - g->next_trial > ROW_LIMIT &&
                g->successes > g->fitted_successes;
    if (!g->ready || full || g->successes >= g->next_fit)
        fit(g);
    for (; g->next_trial < l->trial_count; g->next_trial++)
        if (!isinf(l->trials[g->next_trial].cost) && g->model.rows < ROW_LIMIT)
            add_row(g, g->next_trial);
    if (g->stale)
        gp_update_means(&g->model);
    g->stale = false;
}

static double expected_improvement(double best, double mean, double deviation)
{
    double z = (best - mean) / deviation;
    double density = exp(-z * z / 2) * 0.3989422804014327; /* 1 / sqrt(2 pi) */
    double share = 0.5 * erfc(-z * M_SQRT1_2);
    double gain = deviation * (z * share + density);
    return gain > 0 ? gain : 0;
}

static bool surrogate_propose(strategy *s, uint64_t *configuration)
{
    surrogate *g = (surrogate *)s;
    ledger *l = &s->ledger;
    bool failed = g->successes == 0 && l->told > 0;
    if (l->trial_count < design_count(g) || failed || g->encoding.features == 0)
        return propose_design(g, configuration);
    update(g);
    if (g->successes > 1 && g->scale.count == 1) /* equal costs teach a model nothing */
        return propose_design(g, configuration);
    /* Without an outcome, better than what is expected where no value is the least. */
    double best = g->successes ? cost_scale_score(&g->scale, l->trials[l->best].cost) : 0,
           most = -1;
    for (size_t c = 0; c < g->pool.count; c++) {
        if (ledger_seen(l, g->pool.configurations[c]))
            continue;
        double mean = gp_mean(&g->model, c) + g->penalty * g->pool.least[c];
        double gain = expected_improvement(best, mean, gp_deviation(&g->model, c)) *
                      feasibility_chance(&g->feasibility, c);
        if (gain > most) {
            most = gain;
            *configuration = g->pool.configurations[c];
        }
    }
    return most >= 0 || ledger_random(l, configuration);
}

static void surrogate_learn(strategy *s, size_t trial)
{
    surrogate *g = (surrogate *)s;
    double cost = s->ledger.trials[trial].cost;
    feasibility_learn(&g->feasibility, &s->ledger, trial);
    if (!isfinite(cost))
        return;
    g->successes++;
    if (!g->ready || g->scale.count == 0)
        return;
    for (size_t r = g->model.rows; r-- > 0;)
        if (g->row_trial[r] == trial) {
            gp_set(&g->model, r, row_value(g, &s->ledger.trials[trial]));
            g->stale = true;
            return;
        }
}

const strategy_kind strategy_surrogate = {
    .name = "surrogate",
    .summary = "Bayesian optimisation: tries what a model expects to improve most",
    .size_bytes = sizeof(surrogate),
    .init = surrogate_init,
    .deinit = surrogate_deinit,
    .propose = surrogate_propose,
    .learn = surrogate_learn,
};
