/* Variable-neighbourhood search with a memory. Each step generates candidates from three
 * neighbourhoods of the current configuration and by crossing the best trials, and tries the
 * candidate whose nearest neighbours among all trials were fastest.
 *
 * Variable neighbourhoods: Mladenovic & Hansen (1997). The filter by nearest neighbours follows the
 * search that van Stein et al., "Automated algorithm design for auto-tuning optimizers" (2025),
 * generated. No configuration is tried twice. Neighbourhoods are drawn with weights that adapt to
 * their success. */
#include <math.h>

#include "search/strategies.h"

enum { CANDIDATES = 8, NEAREST = 5, ELITE = 5, FIRST_RANDOM = 10, MOST_IDLE = 60 };

/* Simulated annealing on logarithms of costs: a step that is worse by the temperature is accepted
 * with probability 1 / e. */
static const double first_temperature = 0.1, cooling = 0.98;
static const double reward = 1.1, penalty = 0.95, least_weight = 0.1;

enum { SHIFT, ONE, TWO, NEIGHBOURHOODS };

typedef struct neighbourhood {
    strategy base;
    size_t current; /* trial at which the walk stands; SIZE_MAX before the first success */
    double weight[NEIGHBOURHOODS];
    size_t drawn; /* the neighbourhood of the last proposal */
    double temperature;
    size_t idle; /* number of outcomes since the last step */
} neighbourhood;

static void neighbourhood_init(strategy *s, const strategy_options *options)
{
    (void)options;
    neighbourhood *n = (neighbourhood *)s;
    n->current = SIZE_MAX;
    n->temperature = first_temperature;
    for (size_t i = 0; i < NEIGHBOURHOODS; i++)
        n->weight[i] = 1;
}

static size_t draw_neighbourhood(neighbourhood *n)
{
    double at = rng_uniform(&n->base.ledger.rng) * (n->weight[0] + n->weight[1] + n->weight[2]);
    size_t i = 0;
    while (i + 1 < NEIGHBOURHOODS && at >= n->weight[i])
        at -= n->weight[i++];
    return i;
}

static uint64_t draw_candidate(neighbourhood *n, size_t number, const size_t *elite, size_t count)
{
    ledger *l = &n->base.ledger;
    uint64_t here = l->trials[n->current].configuration;
    if (number == 0 && count > 1) {
        uint64_t a = rng_below(&l->rng, count), b = rng_below(&l->rng, count);
        return moves_cross(&n->base.moves, l->trials[elite[a]].configuration,
                           l->trials[elite[b]].configuration);
    }
    if (number > CANDIDATES / 2)
        return rng_below(&l->rng, l->space_count);
    if (n->drawn == SHIFT)
        return moves_shift(&n->base.moves, here);
    return moves_mutate(&n->base.moves, here, n->drawn == ONE ? 1 : 2);
}

static bool neighbourhood_propose(strategy *s, uint64_t *configuration)
{
    neighbourhood *n = (neighbourhood *)s;
    ledger *l = &s->ledger;
    if (n->current == SIZE_MAX || l->trial_count < FIRST_RANDOM)
        return ledger_random(l, configuration);
    size_t elite[ELITE], count = ledger_elite(l, elite, ELITE);
    double least = INFINITY;
    n->drawn = draw_neighbourhood(n);
    for (size_t i = 0; i < CANDIDATES; i++) {
        uint64_t c = draw_candidate(n, i, elite, count);
        if (ledger_seen(l, c))
            continue;
        double predicted = moves_nearest_cost(&n->base.moves, c, NEAREST);
        if (predicted < least) {
            least = predicted;
            *configuration = c;
        }
    }
    if (isfinite(least))
        return true;
    size_t near = moves_unseen_neighbours(&s->moves, l->trials[n->current].configuration);
    if (near == 0)
        return ledger_random(l, configuration);
    *configuration = s->moves.near[rng_below(&l->rng, near)];
    return true;
}

/* Continues from one of the best trials after too many outcomes without a step. */
static void restart(neighbourhood *n)
{
    ledger *l = &n->base.ledger;
    size_t elite[ELITE], count = ledger_elite(l, elite, ELITE);
    if (count)
        n->current = elite[rng_below(&l->rng, count)];
    n->temperature = first_temperature;
    n->idle = 0;
}

static void neighbourhood_learn(strategy *s, size_t trial)
{
    neighbourhood *n = (neighbourhood *)s;
    ledger *l = &s->ledger;
    double cost = l->trials[trial].cost;
    n->temperature *= cooling;
    if (n->current == SIZE_MAX) {
        n->current = isfinite(cost) ? trial : SIZE_MAX;
        return;
    }
    double worse = log(cost) - log(l->trials[n->current].cost);
    bool step = worse < 0 || rng_uniform(&l->rng) < exp(-worse / n->temperature);
    double weight = n->weight[n->drawn] * (step ? reward : penalty);
    n->weight[n->drawn] = weight < least_weight ? least_weight : weight > 1 ? 1 : weight;
    n->idle = step ? 0 : n->idle + 1;
    if (step)
        n->current = trial;
    else if (n->idle > MOST_IDLE)
        restart(n);
}

const strategy_kind strategy_neighbourhood = {
    .name = "neighbourhood",
    .summary = "variable-neighbourhood search, filtered by nearest neighbours",
    .size_bytes = sizeof(neighbourhood),
    .init = neighbourhood_init,
    .propose = neighbourhood_propose,
    .learn = neighbourhood_learn,
};
