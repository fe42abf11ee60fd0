/* Every configuration: a few from all over the space, and then the others in its own order.
 *
 * Whoever tries them may leave one that is far slower than the best so far, and the best should be
 * a good one early: in the space's own order the least values come first, which are slow as a rule
 * (search/surrogate.c). The few are spread by the golden ratio, whose multiples leave the smallest
 * gaps wherever one stops. */
#include "search/strategies.h"

enum { SPREAD = 32 };

typedef struct exhaustive {
    strategy base;
    uint64_t spread; /* proposed of these so far */
    uint64_t next;
} exhaustive;

static bool exhaustive_propose(strategy *s, uint64_t *configuration)
{
    static const double golden = 0.6180339887498949;
    exhaustive *e = (exhaustive *)s;
    const ledger *l = &s->ledger;
    while (e->spread < SPREAD && l->space_count > SPREAD) {
        double at = (double)++e->spread * golden;
        *configuration = (uint64_t)((at - (double)(uint64_t)at) * (double)l->space_count);
        if (!ledger_seen(l, *configuration))
            return true;
    }
    while (e->next < l->space_count && ledger_seen(l, e->next))
        e->next++;
    *configuration = e->next;
    return e->next < l->space_count;
}

const strategy_kind strategy_exhaustive = {
    .name = "exhaustive",
    .summary = "every configuration, a few from all over the space first",
    .size_bytes = sizeof(exhaustive),
    .blind = true,
    .propose = exhaustive_propose,
};
