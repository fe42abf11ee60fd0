#include "search/strategy.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "search/strategies.h"

/* ---- all strategies by name ---- */

static const strategy_kind *const kinds[] = {
    &strategy_automatic, &strategy_surrogate, &strategy_neighbourhood,
    &strategy_model,     &strategy_random,    &strategy_exhaustive,
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
    char all[256] = "";
    for (size_t i = 0; i < KIND_COUNT; i++)
        text_add(all, sizeof all, "%s%s", i ? ", " : "", names[i]);
    return error_set(error, AT_USAGE, "there is no strategy '%s'%s%s%s; there are: %s", name,
                     nearest ? "; did you mean '" : "", nearest ? nearest : "", nearest ? "'?" : "",
                     all);
}

at_status strategy_find(const char *name, const strategy_kind **out, at_error *error)
{
    *out = kinds[0];
    for (size_t i = 0; name && i < KIND_COUNT; i++)
        if (strcmp(name, kinds[i]->name) == 0) {
            *out = kinds[i];
            return AT_OK;
        }
    return name ? unknown_name(name, error) : AT_OK;
}

/* ---- a strategy ---- */

strategy *strategy_new(const strategy_kind *kind, const strategy_options *options)
{
    if (kind->choose)
        kind = kind->choose(options);
    strategy *s = memory_new(1, kind->size_bytes);
    s->kind = kind;
    ledger_init(&s->ledger, options);
    moves_init(&s->moves, &s->ledger);
    if (kind->init)
        kind->init(s, options);
    return s;
}

const strategy_kind *strategy_get_kind(const strategy *s)
{
    return s->kind;
}

/* Start configurations come first. A strategy that has nothing to propose although nothing is
 * outstanding is helped out with a random configuration: each goes on until the space is
 * exhausted. */
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

void strategy_free(strategy *s)
{
    if (!s)
        return;
    if (s->kind->deinit)
        s->kind->deinit(s);
    moves_deinit(&s->moves);
    ledger_deinit(&s->ledger);
    free(s);
}
