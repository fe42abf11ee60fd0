#include "search/strategy.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "search/strategies.h"

static bool random_propose(strategy *s, uint64_t *configuration)
{
    return ledger_random(&s->ledger, configuration);
}

static const strategy_kind strategy_random = {
    .name = "random",
    .summary = "configurations drawn uniformly, none twice",
    .size_bytes = sizeof(strategy),
    .blind = true,
    .propose = random_propose,
};

/* Proposes every configuration: SPREAD of them from all over the space, then the others in order.
 * The spread gives a good cost early, so that callers can drop variants much slower than the best
 * so far: the first configurations in order have the least values, which are usually slow
 * (search/surrogate.c). Multiples of the golden ratio leave the smallest gaps. */
enum { SPREAD = 32 };

typedef struct exhaustive {
    strategy base;
    uint64_t spread; /* number of these SPREAD configurations that were proposed */
    uint64_t next;   /* next configuration in order */
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

static const strategy_kind strategy_exhaustive = {
    .name = "exhaustive",
    .summary = "every configuration, a few from all over the space first",
    .size_bytes = sizeof(exhaustive),
    .blind = true,
    .propose = exhaustive_propose,
};

static const strategy_kind *const kinds[] = {
    &strategy_surrogate,
    &strategy_random,
    &strategy_exhaustive,
};

enum { KIND_COUNT = sizeof kinds / sizeof *kinds };

const strategy_kind *const *strategy_kinds(size_t *count)
{
    *count = KIND_COUNT;
    return kinds;
}

static at_status unknown_name(const char *name, at_error *error)
{
    const char *names[KIND_COUNT];
    for (size_t i = 0; i < KIND_COUNT; i++)
        names[i] = kinds[i]->name;
    const char *nearest = nearest_name(name, names, KIND_COUNT);
    char all[256] = "auto";
    for (size_t i = 0; i < KIND_COUNT; i++)
        text_add(all, sizeof all, ", %s", names[i]);
    return error_set(error, AT_USAGE, "there is no strategy '%s'; there are: %s%s%s%s", name, all,
                     nearest ? "; did you mean '" : "", nearest ? nearest : "",
                     nearest ? "'?" : "");
}

at_status strategy_find(const char *name, const strategy_kind **out, at_error *error)
{
    *out = kinds[0];
    if (name && strcmp(name, "auto") == 0)
        return AT_OK;
    for (size_t i = 0; name && i < KIND_COUNT; i++)
        if (strcmp(name, kinds[i]->name) == 0) {
            *out = kinds[i];
            return AT_OK;
        }
    return name ? unknown_name(name, error) : AT_OK;
}

strategy *strategy_new(const strategy_kind *kind, const strategy_options *options)
{
    strategy *s = memory_new(1, kind->size_bytes);
    s->kind = kind;
    ledger_init(&s->ledger, options);
    if (kind->init)
        kind->init(s, options);
    return s;
}

const strategy_kind *strategy_get_kind(const strategy *s)
{
    return s->kind;
}

/* Finds the next configuration: a start configuration or the strategy's proposal. If the strategy
 * has no proposal and no outcome is outstanding, takes a random configuration. So a search ends
 * only when the space is exhausted. */
static bool next(strategy *s, uint64_t *configuration)
{
    ledger *l = &s->ledger;
    return ledger_start(l, configuration) || s->kind->propose(s, configuration) ||
           (l->outstanding == 0 && ledger_random(l, configuration));
}

size_t strategy_ask(strategy *s, size_t capacity, uint64_t *configurations)
{
    ledger *l = &s->ledger;
    size_t count = 0;
    while (count < capacity && l->trial_count < l->space_count && next(s, &configurations[count]))
        ledger_ask(l, configurations[count++]);
    return count;
}

void strategy_tell(strategy *s, uint64_t configuration, double cost)
{
    size_t trial = ledger_tell(&s->ledger, configuration, cost);
    if (trial != SIZE_MAX && s->kind->learn)
        s->kind->learn(s, trial);
}

double strategy_chance(strategy *s, double tie)
{
    const ledger *l = &s->ledger;
    if (l->told == l->space_count)
        return 0;
    return s->kind->chance && l->best != SIZE_MAX ? s->kind->chance(s, tie) : 1;
}

void strategy_free(strategy *s)
{
    if (!s)
        return;
    if (s->kind->deinit)
        s->kind->deinit(s);
    ledger_deinit(&s->ledger);
    free(s);
}
