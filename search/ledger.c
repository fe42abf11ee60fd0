#include "search/strategies.h"

#include <stdlib.h>

#include "base/memory.h"

void ledger_init(ledger *l, const strategy_options *options)
{
    *l = (ledger){.space = options->space,
                  .space_count = space_count(options->space),
                  .rng = rng_seeded(options->seed),
                  .best = SIZE_MAX,
                  .start_count = options->start_count};
    l->budget =
        options->budget && options->budget < l->space_count ? options->budget : l->space_count;
    l->unseen = draw_new(l->space_count, rng_split(&l->rng));
    l->start = memory_copy(options->start, options->start_count, sizeof *l->start);
}

void ledger_deinit(ledger *l)
{
    free(l->trials);
    free(l->start);
    keymap_deinit(&l->trial_of);
    draw_deinit(&l->unseen);
}

static size_t ledger_find(const ledger *l, uint64_t configuration)
{
    uint64_t trial = SIZE_MAX;
    keymap_get(&l->trial_of, configuration, &trial);
    return (size_t)trial;
}

bool ledger_seen(const ledger *l, uint64_t configuration)
{
    return ledger_find(l, configuration) != SIZE_MAX;
}

bool ledger_told(const ledger *l, uint64_t configuration)
{
    const size_t trial = ledger_find(l, configuration);
    return trial != SIZE_MAX && !isnan(l->trials[trial].cost);
}

size_t ledger_elite(const ledger *l, size_t *trials, size_t most)
{
    size_t count = 0;
    for (size_t i = 0; i < l->trial_count; i++) {
        double cost = l->trials[i].cost;
        if (!isfinite(cost) || (count == most && !(cost < l->trials[trials[most - 1]].cost)))
            continue;
        size_t at = count < most ? count++ : most - 1;
        for (; at > 0 && l->trials[trials[at - 1]].cost > cost; at--)
            trials[at] = trials[at - 1];
        trials[at] = i;
    }
    return count;
}

bool ledger_random(ledger *l, uint64_t *configuration)
{
    do {
        if (!draw_next(&l->unseen, configuration))
            return false;
    } while (ledger_seen(l, *configuration));
    return true;
}

void ledger_ask(ledger *l, uint64_t configuration)
{
    const ledger_trial trial = {.configuration = configuration, .cost = NAN};
    memory_require(keymap_put(&l->trial_of, configuration, l->trial_count) ? l : NULL);
    memory_add(&l->trials, &l->trial_count, &trial, sizeof trial);
    l->outstanding++;
}

bool ledger_start(ledger *l, uint64_t *configuration)
{
    while (l->start_next < l->start_count) {
        *configuration = l->start[l->start_next++];
        if (*configuration < l->space_count && !ledger_seen(l, *configuration))
            return true;
    }
    return false;
}

size_t ledger_tell(ledger *l, uint64_t configuration, double cost)
{
    size_t at = ledger_find(l, configuration);
    if (configuration >= l->space_count || isnan(cost) ||
        (at != SIZE_MAX && !isnan(l->trials[at].cost)))
        return SIZE_MAX;
    if (at == SIZE_MAX) {
        ledger_ask(l, configuration);
        at = l->trial_count - 1;
    }
    l->trials[at].cost = cost;
    l->outstanding--;
    l->told++;
    if (isfinite(cost) && (l->best == SIZE_MAX || cost < l->trials[l->best].cost))
        l->best = at;
    return at;
}
