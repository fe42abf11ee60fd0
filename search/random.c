/* Configurations drawn uniformly, each once: the control that every other strategy must beat. */
#include "search/strategies.h"

static bool random_propose(strategy *s, uint64_t *configuration)
{
    return ledger_random(&s->ledger, configuration);
}

const strategy_kind strategy_random = {
    .name = "random",
    .summary = "configurations drawn uniformly, none twice",
    .size_bytes = sizeof(strategy),
    .blind = true,
    .propose = random_propose,
};
