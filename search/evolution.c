/* Differential evolution on value indices: each member of a population is challenged by a mixture
 * of itself and of another, moved by the difference of two more.
 *
 * Storn & Price (1997), "rand/1/bin", rounded to value indices and moved to a valid configuration.
 * A challenger replaces its member when its outcome comes and is better, in whatever order. */
#include <stdlib.h>

#include "search/strategies.h"

enum { MOST_MEMBERS = 20, ATTEMPTS = 20 };
static const double difference_weight = 0.7, crossover_rate = 0.6;

typedef struct evolution {
    strategy base;
    size_t members[MOST_MEMBERS]; /* trials */
    size_t member_count, next;
    keymap challenges; /* configuration -> the member that it challenges */
    uint16_t *x[4];    /* of the member, the base and the two of the difference */
} evolution;

static bool evolution_init(strategy *s, const strategy_options *options)
{
    evolution *e = (evolution *)s;
    size_t parameters = space_parameter_count(options->space) + 1;
    bool ok = true;
    for (size_t i = 0; i < 4; i++) {
        e->x[i] = calloc(parameters, sizeof *e->x[i]);
        ok = ok && e->x[i];
    }
    return ok;
}

static void evolution_deinit(strategy *s)
{
    evolution *e = (evolution *)s;
    keymap_deinit(&e->challenges);
    for (size_t i = 0; i < 4; i++)
        free(e->x[i]);
}

/* Leaves the challenger's value indices in x[0]. */
static void challenge(evolution *e, size_t member)
{
    ledger *l = &e->base.ledger;
    const space *s = l->space;
    space_at(s, l->trials[e->members[member]].configuration, e->x[0]);
    for (size_t i = 1; i < 4; i++) {
        size_t other = (size_t)rng_below(&l->rng, e->member_count);
        space_at(s, l->trials[e->members[other]].configuration, e->x[i]);
    }
    size_t always = (size_t)rng_below(&l->rng, e->base.moves.free_count);
    for (size_t i = 0; i < e->base.moves.free_count; i++) {
        size_t p = e->base.moves.free_parameters[i];
        if (i != always && rng_uniform(&l->rng) >= crossover_rate)
            continue;
        double top = (double)space_get_parameter(s, p)->value_count - 1;
        double v = e->x[1][p] + difference_weight * ((double)e->x[2][p] - (double)e->x[3][p]);
        v = round(v);
        e->x[0][p] = (uint16_t)(v < 0 ? 0 : v > top ? top : v);
    }
}

static bool evolution_propose(strategy *s, uint64_t *configuration)
{
    evolution *e = (evolution *)s;
    ledger *l = &s->ledger;
    if (e->member_count < MOST_MEMBERS || e->base.moves.free_count == 0)
        return ledger_random(l, configuration);
    for (size_t attempt = 0; attempt < ATTEMPTS; attempt++) {
        size_t member = e->next++ % e->member_count;
        challenge(e, member);
        *configuration = space_project(l->space, e->x[0]);
        if (ledger_seen(l, *configuration))
            *configuration = moves_mutate(&e->base.moves, *configuration, 1);
        if (!ledger_seen(l, *configuration) && keymap_put(&e->challenges, *configuration, member))
            return true;
    }
    return ledger_random(l, configuration);
}

static void evolution_learn(strategy *s, size_t trial)
{
    evolution *e = (evolution *)s;
    const ledger *l = &s->ledger;
    const ledger_trial *t = &l->trials[trial];
    uint64_t member;
    if (!isfinite(t->cost))
        return;
    if (e->member_count < MOST_MEMBERS)
        e->members[e->member_count++] = trial;
    else if (keymap_get(&e->challenges, t->configuration, &member) &&
             t->cost < l->trials[e->members[member]].cost)
        e->members[member] = trial;
}

const strategy_kind strategy_evolution = {
    .name = "evolution",
    .summary = "differential evolution on value indices",
    .size_bytes = sizeof(evolution),
    .init = evolution_init,
    .deinit = evolution_deinit,
    .propose = evolution_propose,
    .learn = evolution_learn,
};
