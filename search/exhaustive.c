/* Every configuration, in the space's own order. */
#include "search/strategies.h"

typedef struct exhaustive {
    strategy base;
    uint64_t next;
} exhaustive;

static bool exhaustive_propose(strategy *s, uint64_t *configuration)
{
    exhaustive *e = (exhaustive *)s;
    const ledger *l = &s->ledger;
    while (e->next < l->space_count && ledger_seen(l, e->next))
        e->next++;
    *configuration = e->next;
    return e->next < l->space_count;
}

const strategy_kind strategy_exhaustive = {
    .name = "exhaustive",
    .summary = "every configuration, in order",
    .size_bytes = sizeof(exhaustive),
    .blind = true,
    .propose = exhaustive_propose,
};
