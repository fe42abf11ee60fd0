/* The default: chooses a strategy by the size of the space and the budget. */
#include "search/strategies.h"

static const strategy_kind *automatic_choose(const strategy_options *options)
{
    /* A budget for everything needs no search. */
    if (options->budget == 0 || options->budget >= space_count(options->space))
        return &strategy_exhaustive;
    return &strategy_surrogate;
}

const strategy_kind strategy_automatic = {
    .name = "auto",
    .summary = "chosen by the size of the space and the budget",
    .choose = automatic_choose,
};
