/* A genetic algorithm without generations: the population is the best found so far, and each child
 * of two of them, chosen by tournament, is tried at once.
 *
 * Steady-state replacement: Syswerda, "A study of reproduction in generational and steady-state
 * genetic algorithms" (1991). Crossover takes each parameter from either parent; a child that
 * breaks a constraint is moved to a valid configuration nearby. Asking needs no outcome to wait
 * for. */
#include "search/strategies.h"

enum { POPULATION = 20, TOURNAMENT = 2, ATTEMPTS = 30 };

/* One of the population, which is in order: the first drawn of a few. */
static uint64_t choose_parent(ledger *l, const size_t *population, size_t count)
{
    uint64_t first = count;
    for (size_t i = 0; i < TOURNAMENT; i++) {
        uint64_t drawn = rng_below(&l->rng, count);
        first = drawn < first ? drawn : first;
    }
    return l->trials[population[first]].configuration;
}

static bool genetic_propose(strategy *s, uint64_t *configuration)
{
    ledger *l = &s->ledger;
    size_t population[POPULATION];
    size_t count = l->trial_count < POPULATION ? 0 : ledger_elite(l, population, POPULATION);
    if (count < 2)
        return ledger_random(l, configuration);
    for (size_t attempt = 0; attempt < ATTEMPTS; attempt++) {
        uint64_t child = moves_cross(&s->moves, choose_parent(l, population, count),
                                     choose_parent(l, population, count));
        /* Mutation on average once, and more when children are nothing new. */
        size_t changes = (size_t)rng_below(&l->rng, 3) + attempt / 10;
        *configuration = moves_mutate(&s->moves, child, changes);
        if (!ledger_seen(l, *configuration))
            return true;
    }
    return ledger_random(l, configuration);
}

const strategy_kind strategy_genetic = {
    .name = "genetic",
    .summary = "genetic algorithm: crosses and mutates the best found so far",
    .size_bytes = sizeof(strategy),
    .propose = genetic_propose,
};
