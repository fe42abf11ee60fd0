#include "search/strategy.h"

#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"
#include "search/strategies.h"

static const strategy_kind *const kinds[] = {
    &strategy_automatic,
    &strategy_surrogate,
    &strategy_neighbourhood,
    &strategy_genetic,
    &strategy_annealing,
    &strategy_evolution,
    &strategy_greedy,
    &strategy_bandit,
    &strategy_model,
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
    if (nearest)
        return error_set(error, AT_USAGE, "there is no strategy '%s': did you mean '%s'?", name,
                         nearest);
    return error_set(error, AT_USAGE, "there is no strategy '%s': 'auto' is the default", name);
}

static const strategy_kind *find_kind(const char *name)
{
    for (size_t i = 0; i < KIND_COUNT; i++)
        if (strcmp(name, kinds[i]->name) == 0)
            return kinds[i];
    return NULL;
}

bool strategy_wants_prior(const char *name)
{
    const strategy_kind *kind = name ? find_kind(name) : kinds[0];
    return kind && kind->wants_prior;
}

static at_status create(const strategy_kind *kind, const strategy_options *options, strategy **out,
                        at_error *error)
{
    if (kind->choose)
        kind = kind->choose(options);
    strategy *s = calloc(1, kind->size_bytes);
    if (!s)
        return error_set(error, AT_NO_MEMORY, "no memory for a search strategy");
    s->kind = kind;
    at_status status = ledger_init(&s->ledger, options, error);
    if (!status && kind->init)
        status = kind->init(s, options, error);
    if (status)
        strategy_free(s);
    else
        *out = s;
    return status;
}

at_status strategy_new(const char *name, const strategy_options *options, strategy **out,
                       at_error *error)
{
    const strategy_kind *kind = name ? find_kind(name) : kinds[0];
    return kind ? create(kind, options, out, error) : unknown_name(name, error);
}

const strategy_kind *strategy_get_kind(const strategy *s)
{
    return s->kind;
}

/* Start configurations come first. A strategy that has nothing to propose although nothing is
 * outstanding is helped out with a random configuration: each goes on until the space is exhausted.
 */
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
    while (count < capacity && l->trial_count < l->space_count && !l->out_of_memory &&
           next(s, &configurations[count]) && ledger_ask(l, configurations[count]))
        count++;
    return count;
}

void strategy_tell(strategy *s, uint64_t configuration, double cost)
{
    size_t trial = ledger_tell(&s->ledger, configuration, cost);
    if (trial != SIZE_MAX && s->kind->learn)
        s->kind->learn(s, trial);
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
