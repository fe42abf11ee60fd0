/* Bayesian optimisation: after a space-filling first sample, tries the candidate with the largest
 * expected improvement over the best cost, by a Gaussian process over all outcomes.
 *
 * The expected improvement (Jones, Schonlau & Welch 1998) is that of the cost's score
 * (regression/encoding.h), times the probability that the configuration works (pool.h). Outstanding
 * configurations count with their predicted value (the "kriging believer" of Ginsbourger, Le Riche
 * & Carraro 2010), so that the configurations of a batch differ. */
#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "search/pool.h"
#include "search/regression/encoding.h"
#include "search/regression/gp.h"
#include "search/strategies.h"

/* Limits of the model's size, which bound the time of a decision. The model has at most ROW_LIMIT
 * rows. When it is fitted again to more than KEPT_ROWS successes, it keeps KEPT_ROWS of them: half
 * are the best, half an even sample of the rest. It then begins with at most WAITING_ROWS
 * outstanding trials, so that it has rows for the next proposals: a host with a hundred cores has
 * hundreds of trials outstanding. Length scales are fitted to at most FITTED_ROWS. */
enum {
    ROW_LIMIT = 600,
    KEPT_ROWS = 300,
    WAITING_ROWS = 50,
    FITTED_ROWS = 150,
    FITTED_EACH = 50,
    FIT_STEPS = 25
};

/* Without start configurations, the first sample begins with the most central of CENTRE_TRIES
 * random configurations with few least values, because extremes are usually slow. Each further
 * configuration is, of DESIGN_TRIES random ones, the farthest from all trials. The sample takes a
 * thirtieth of the budget, and all trials between the first failure and the first success. Other
 * trials before the first outcome follow the prior of the model: dozens are compiled before the
 * device is open, and a small budget cannot spare them. */
enum {
    DESIGN_LEAST = 1,
    DESIGN_MOST = 10,
    DESIGN_SHARE = 30,
    DESIGN_TRIES = 16,
    CENTRE_TRIES = 64
};

/* Each least value (encoding_least()), such as one element per thread, is expected to worsen the
 * score by least_penalty. The prior has the weight of penalty_weight outcomes. */
static const double least_penalty = 0.25, penalty_weight = 16;

/* The model is fitted after each success up to FITTED_EACH, then at each growth by this factor. */
static const double fit_growth = 1.3;

/* The model's own deviations count like this many forecasts that were off by one deviation. */
static const double trusted_forecasts = 10;

/* The score, less expected_score(), that the model expects of a trial. */
struct forecast {
    double score, deviation; /* 0 if the model did not propose the trial */
};

/* Row i of the model is trial row_trial[i]. Trials before next_trial are rows or were left out;
 * outstanding trials are rows without a value. The values are scores (cost_scale) minus
 * expected_score(). fit() makes the model anew at next_fit successes, or when its rows are full;
 * between these times, update() only adds rows. */
typedef struct surrogate {
    strategy base;
    encoding encoding;
    pool pool;
    feasibility feasibility;
    cost_scale scale;
    gp_kernel kernel;
    gp model;
    size_t *row_trial; /* trial of each row of the model */
    size_t next_trial;
    size_t successes, next_fit;
    double penalty;             /* fitted penalty of a least value */
    size_t fitted_successes;    /* number of successes at the last fit */
    struct forecast *forecasts; /* one per trial */
    size_t forecast_count;
    size_t judged;  /* outcomes that were better than their forecasts */
    double errors;  /* sum of the squared errors of their forecasts, each in units of its
                     * deviation */
    bool ready;     /* the model exists */
    bool stale;     /* the means do not include the last outcomes */
    size_t *chosen; /* scratch of fit(): trials, their costs and points */
    double *costs;
    float *points;
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
    free(g->forecasts);
}

/* Returns the score expected before any outcome. The model learns the difference from it. */
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

/* Returns the random configuration that is nearest to the others. Least values count against it. */
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
    /* After many failures a random configuration is as good as a distant one, and faster to
     * find. */
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

/* Returns whether the i-th of `count` items is among `wanted` evenly spread items. */
static bool is_even_pick(size_t i, size_t count, size_t wanted)
{
    return wanted >= count || i * wanted / count != (i + 1) * wanted / count;
}

/* Lists the trials for the model in g->chosen: all successes, or KEPT_ROWS of them. Returns their
 * number. Also makes the scale of costs, from all successes. */
static size_t choose_trials(surrogate *g)
{
    const ledger *l = &g->base.ledger;
    size_t n = 0, worse = 0, kept = 0;
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

static double row_value(surrogate *g, const ledger_trial *t)
{
    return isnan(t->cost)
               ? NAN
               : cost_scale_score(&g->scale, t->cost) - expected_score(g, t->configuration);
}

/* Fits the penalty: the slope of the scores over the number of least values, by ridge regression
 * towards least_penalty. */
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
    g->stale = g->stale || !isnan(t->cost);
}

/* Makes the model again from all outcomes. Before the first success the model is the prior. */
static void fit(surrogate *g)
{
    ledger *l = &g->base.ledger;
    size_t count = 0;
    g->chosen = memory_new(l->trial_count, sizeof *g->chosen);
    g->costs = memory_new(l->trial_count, sizeof *g->costs);
    g->points = memory_new(l->trial_count * g->encoding.features, sizeof *g->points);
    if (g->successes > 0) {
        count = choose_trials(g);
        fit_penalty(g, count);
        fit_kernel(g, count);
    }
    pool_fill(&g->pool, &g->base.ledger, &g->encoding);
    feasibility_reset(&g->feasibility, g->pool.points, g->pool.count, l);
    gp_reset(&g->model, &g->kernel, g->model.scale, g->pool.count);
    for (size_t i = 0; i < count; i++)
        add_row(g, g->chosen[i]);
    for (size_t i = 0; i < l->trial_count && g->model.rows < count + WAITING_ROWS; i++)
        if (isnan(l->trials[i].cost))
            add_row(g, i);
    free(g->chosen);
    free(g->costs);
    free(g->points);
    g->next_trial = l->trial_count;
    g->fitted_successes = g->successes;
    g->next_fit = g->successes < FITTED_EACH ? g->successes + 1
                                             : (size_t)ceil((double)g->successes * fit_growth);
    g->ready = true;
}

static void update(surrogate *g)
{
    const ledger *l = &g->base.ledger;
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

static double normal_share(double deviations)
{
    return 0.5 * erfc(-deviations * M_SQRT1_2);
}

static double expected_improvement(double best, double mean, double deviation)
{
    double z = (best - mean) / deviation;
    double density = exp(-z * z / 2) * 0.3989422804014327; /* 1 / sqrt(2 pi) */
    double gain = deviation * (z * normal_share(z) + density);
    return gain > 0 ? gain : 0;
}

static void keep_forecast(surrogate *g, struct forecast expected)
{
    const struct forecast none = {0};
    while (g->forecast_count < g->base.ledger.trial_count)
        memory_add(&g->forecasts, &g->forecast_count, &none, sizeof none);
    memory_add(&g->forecasts, &g->forecast_count, &expected, sizeof expected);
}

static void judge_forecast(surrogate *g, size_t trial)
{
    if (trial >= g->forecast_count || g->forecasts[trial].deviation <= 0)
        return;
    const struct forecast *f = &g->forecasts[trial];
    const double error = (row_value(g, &g->base.ledger.trials[trial]) - f->score) / f->deviation;
    if (error >= 0)
        return;
    g->judged++;
    g->errors += error * error;
}

static bool surrogate_propose(strategy *s, uint64_t *configuration)
{
    surrogate *g = (surrogate *)s;
    ledger *l = &s->ledger;
    bool failed = g->successes == 0 && l->told > 0;
    if (l->trial_count < design_count(g) || failed || g->encoding.features == 0)
        return propose_design(g, configuration);
    update(g);
    if (g->successes > 1 && g->scale.count == 1) /* All costs are equal: there is nothing to
                                                  * predict. */
        return propose_design(g, configuration);
    /* Without an outcome, the improvement is over the score expected without least values. */
    double best = g->successes ? cost_scale_score(&g->scale, l->trials[l->best].cost) : 0,
           most = -1;
    size_t chosen = 0;
    for (size_t c = 0; c < g->pool.count; c++) {
        if (ledger_seen(l, g->pool.configurations[c]))
            continue;
        double mean = gp_mean(&g->model, c) + g->penalty * g->pool.least[c];
        double gain = expected_improvement(best, mean, gp_deviation(&g->model, c)) *
                      feasibility_chance(&g->feasibility, c);
        if (gain > most) {
            most = gain;
            chosen = c;
        }
    }
    if (most < 0)
        return ledger_random(l, configuration);
    *configuration = g->pool.configurations[chosen];
    keep_forecast(
        g, (struct forecast){gp_mean(&g->model, chosen), gp_known_deviation(&g->model, chosen)});
    return true;
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
    judge_forecast(g, trial);
    for (size_t r = g->model.rows; r-- > 0;)
        if (g->row_trial[r] == trial) {
            gp_set(&g->model, r, row_value(g, &s->ledger.trials[trial]));
            g->stale = true;
            return;
        }
}

/* Adds up the chances of all candidates without an outcome; if they are a sample, they stand for
 * the other configurations, too. Deviations are multiplied by the mean error of the forecasts, at
 * least 1, because the model was fitted to the outcomes. Only outcomes better than their forecasts
 * count. Most outcomes are worse, because the model proposes what it overrates, but such errors
 * hide no winner. */
static double surrogate_chance(strategy *s, double tie)
{
    surrogate *g = (surrogate *)s;
    const ledger *l = &s->ledger;
    double chance = 0;
    size_t untold = 0;
    if (!g->ready || g->successes < 2 || g->scale.count < 2)
        return 1;
    update(g);
    const double wanted = cost_scale_score(&g->scale, (1 - tie) * l->trials[l->best].cost),
                 off = sqrt((trusted_forecasts + g->errors) /
                            (trusted_forecasts + (double)g->judged)),
                 wider = off > 1 ? off : 1;
    for (size_t c = 0; c < g->pool.count; c++) {
        if (ledger_told(l, g->pool.configurations[c]))
            continue;
        const double mean = gp_mean(&g->model, c) + g->penalty * g->pool.least[c],
                     deviations = (mean - wanted) / (wider * gp_known_deviation(&g->model, c));
        chance += normal_share(-deviations) * feasibility_chance(&g->feasibility, c);
        untold++;
    }
    if (untold > 0)
        chance *= (double)(l->space_count - l->told) / (double)untold;
    return untold > 0 && chance < 1 ? chance : 1;
}

const strategy_kind strategy_surrogate = {
    .name = "surrogate",
    .summary = "Bayesian optimisation: tries what a model expects to improve most",
    .size_bytes = sizeof(surrogate),
    .init = surrogate_init,
    .deinit = surrogate_deinit,
    .propose = surrogate_propose,
    .learn = surrogate_learn,
    .chance = surrogate_chance,
};
