/* Greedy iterated local search: steps to the first neighbour that is better; where no neighbour is,
 * goes on from the best with a few parameters changed at random.
 *
 * Lourenço, Martin & Stützle, "Iterated local search" (2003). Neighbours are tried in random order;
 * while outcomes are outstanding more neighbours are proposed, so that batches fill. */
#include "search/moves.h"
#include "search/strategies.h"

enum { KICK = 3, ATTEMPTS = 20 };

typedef struct greedy {
    strategy base;
    moves moves;
    size_t current; /* trial; SIZE_MAX: nowhere yet */
    bool kicked;    /* the next outcome is where the search goes on */
} greedy;

static at_status greedy_init(strategy *s, const strategy_options *options, at_error *error)
{
    (void)options;
    greedy *g = (greedy *)s;
    g->current = SIZE_MAX;
    if (!moves_init(&g->moves, &s->ledger))
        return error_set(error, AT_NO_MEMORY, "no memory for a search strategy");
    return AT_OK;
}

static void greedy_deinit(strategy *s)
{
    moves_deinit(&((greedy *)s)->moves);
}

static bool kick(greedy *g, uint64_t *configuration)
{
    ledger *l = &g->base.ledger;
    g->kicked = true;
    for (size_t i = 0; i < ATTEMPTS; i++) {
        *configuration = moves_mutate(&g->moves, l->trials[l->best].configuration, KICK);
        if (!ledger_seen(l, *configuration))
            return true;
    }
    return ledger_random(l, configuration);
}

static bool greedy_propose(strategy *s, uint64_t *configuration)
{
    greedy *g = (greedy *)s;
    ledger *l = &s->ledger;
    if (g->current == SIZE_MAX || g->kicked)
        return ledger_random(l, configuration);
    size_t count = moves_unseen_neighbours(&g->moves, l->trials[g->current].configuration);
    if (count == 0)
        return kick(g, configuration);
    *configuration = g->moves.near[rng_below(&l->rng, count)];
    return true;
}

static void greedy_learn(strategy *s, size_t trial)
{
    greedy *g = (greedy *)s;
    const ledger *l = &s->ledger;
    double cost = l->trials[trial].cost;
    if (!isfinite(cost))
        return;
    if (g->current == SIZE_MAX || g->kicked || cost < l->trials[g->current].cost) {
        g->current = trial;
        g->kicked = false;
    }
}

const strategy_kind strategy_greedy = {
    .name = "greedy",
    .summary = "iterated local search: takes the first better neighbour, jumps where there is none",
    .size_bytes = sizeof(greedy),
    .init = greedy_init,
    .deinit = greedy_deinit,
    .propose = greedy_propose,
    .learn = greedy_learn,
};
