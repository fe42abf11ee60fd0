/* Simulated annealing: wanders from neighbour to neighbour, accepting what is worse ever more
 * rarely.
 *
 * Kirkpatrick, Gelatt & Vecchi (1983). The temperature is in logarithms of cost, that is in
 * relative slowdown, and falls geometrically over the budget. */
#include "search/strategies.h"

/* A slowdown that is accepted with a chance of 1 / e at the beginning and at the end. */
static const double first_temperature = 0.5, last_temperature = 0.005;
/* Half of the steps change one parameter to any value, the others shift several by one. */
enum { ATTEMPTS = 10, PATIENCE = 50 };

typedef struct annealing {
    strategy base;
    size_t idle; /* outcomes since the last step */
} annealing;

static bool annealing_propose(strategy *s, uint64_t *configuration)
{
    ledger *l = &s->ledger;
    if (s->moves.current == SIZE_MAX)
        return ledger_random(l, configuration);
    uint64_t here = l->trials[s->moves.current].configuration;
    for (size_t i = 0; i < ATTEMPTS; i++) {
        *configuration =
            rng_below(&l->rng, 2) ? moves_mutate(&s->moves, here, 1) : moves_shift(&s->moves, here);
        if (!ledger_seen(l, *configuration))
            return true;
    }
    return moves_neighbour(&s->moves, here, configuration) || ledger_random(l, configuration);
}

static double temperature(const ledger *l)
{
    double part = (double)l->told / (double)l->budget;
    return first_temperature * pow(last_temperature / first_temperature, part < 1 ? part : 1);
}

static void annealing_learn(strategy *s, size_t trial)
{
    annealing *a = (annealing *)s;
    ledger *l = &s->ledger;
    double cost = l->trials[trial].cost;
    bool step = isfinite(cost) && s->moves.current == SIZE_MAX;
    if (s->moves.current != SIZE_MAX) {
        double worse = log(cost) - log(l->trials[s->moves.current].cost);
        step = worse < 0 || rng_uniform(&l->rng) < exp(-worse / temperature(l));
    }
    a->idle = step ? 0 : a->idle + 1;
    if (step)
        s->moves.current = trial;
    if (a->idle > PATIENCE && l->best != SIZE_MAX) {
        s->moves.current = l->best;
        a->idle = 0;
    }
}

const strategy_kind strategy_annealing = {
    .name = "annealing",
    .summary = "simulated annealing over the budget",
    .size_bytes = sizeof(annealing),
    .propose = annealing_propose,
    .learn = annealing_learn,
};
