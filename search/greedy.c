/* Greedy iterated local search: steps to the first neighbour that is better; where no neighbour is,
 * goes on from the best with a few parameters changed at random.
 *
 * Lourenço, Martin & Stützle, "Iterated local search" (2003). Neighbours are tried in random order;
 * while outcomes are outstanding more neighbours are proposed, so that batches fill. */
#include "search/strategies.h"

enum { KICK = 3, ATTEMPTS = 20 };

typedef struct greedy {
    strategy base;
    bool kicked; /* the next outcome is where the search goes on */
} greedy;

static bool kick(greedy *g, uint64_t *configuration)
{
    ledger *l = &g->base.ledger;
    g->kicked = true;
    for (size_t i = 0; i < ATTEMPTS; i++) {
        *configuration = moves_mutate(&g->base.moves, l->trials[l->best].configuration, KICK);
        if (!ledger_seen(l, *configuration))
            return true;
    }
    return ledger_random(l, configuration);
}

static bool greedy_propose(strategy *s, uint64_t *configuration)
{
    greedy *g = (greedy *)s;
    ledger *l = &s->ledger;
    if (s->moves.current == SIZE_MAX || g->kicked)
        return ledger_random(l, configuration);
    return moves_neighbour(&s->moves, l->trials[s->moves.current].configuration, configuration) ||
           kick(g, configuration);
}

static void greedy_learn(strategy *s, size_t trial)
{
    greedy *g = (greedy *)s;
    const ledger *l = &s->ledger;
    double cost = l->trials[trial].cost;
    if (!isfinite(cost))
        return;
    if (s->moves.current == SIZE_MAX || g->kicked || cost < l->trials[s->moves.current].cost) {
        s->moves.current = trial;
        g->kicked = false;
    }
}

const strategy_kind strategy_greedy = {
    .name = "greedy",
    .summary = "iterated local search: takes the first better neighbour, jumps where there is none",
    .size_bytes = sizeof(greedy),
    .propose = greedy_propose,
    .learn = greedy_learn,
};
