/* The struct that all strategies begin with, and the strategies that the table in strategy.c lists.
 * Private to search/; each strategy is described at the top of its own file. */
#ifndef AUTOTUNE_STRATEGIES_H
#define AUTOTUNE_STRATEGIES_H

#include "search/moves.h"
#include "search/strategy.h"

/* Every strategy's struct begins with this. */
struct strategy {
    const strategy_kind *kind;
    ledger ledger;
    moves moves;
};

extern const strategy_kind strategy_automatic;
extern const strategy_kind strategy_exhaustive;
extern const strategy_kind strategy_model;
extern const strategy_kind strategy_neighbourhood;
extern const strategy_kind strategy_random;
extern const strategy_kind strategy_surrogate;

#endif
