#include "run/race/rules.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/stats.h"

/* A race of all that the protocol admits takes as long as a quick run may. The fastest of the first
 * samples is rarely further off than this, and of those within a percent any will do: few blocks
 * tell them from the others, and finals that leave it vague go on for as many again. A default that
 * is much slower takes longer in the finals than all finalists together, to tell that it is. */
static const double QUICK_PRIOR_RATIO = 1.1, QUICK_DEFAULT_RATIO = 4;
static const size_t QUICK_ENTRANTS = 24, QUICK_FINALS_BLOCKS = 10,
                    QUICK_LOOKS[RACE_LOOKS] = {4, 6, 8, 12};

/* The samples of one variant differ by a spread, a few thousandths for launches of milliseconds. A
 * variant whose first samples are slower by more than so many times the spread that nine variants
 * in ten stay below, and by twice the percent within which any will do, is not the fastest. The
 * spread of few variants is not known. It says nothing of two GPUs, or of a clock that changed
 * between variants. */
static const double SPREADS = 4, GOOD_ENOUGH = 0.02;
enum { LEAST_SPREADS = 8 };

/* The spread of one variant's samples, relative to the fastest. */
static double spread_of(const candidate *c)
{
    int64_t slowest_ns = 0;
    for (size_t i = 0; i < c->found.sample_count; i++)
        slowest_ns = c->found.samples_ns[i] > slowest_ns ? c->found.samples_ns[i] : slowest_ns;
    return (double)(slowest_ns - c->fastest_ns) / (double)c->fastest_ns;
}

/* Which nine in ten stay below; INFINITY: it is not known. */
static double likely_spread(const candidates *tried)
{
    double *spreads = memory_new(tried->count, sizeof *spreads), found = INFINITY;
    size_t count = 0, gpu = SIZE_MAX;
    bool alike = true;
    for (size_t i = 0; alike && i < tried->count; i++) {
        const candidate *c = tried->items[i];
        if (!candidate_may_race(c) || c->fastest_ns <= 0)
            continue;
        alike = c->found.sample_count > 1 && (count == 0 || c->gpu == gpu);
        gpu = c->gpu;
        spreads[count++] = spread_of(c);
    }
    if (alike && count >= LEAST_SPREADS) {
        stats_sort(spreads, count);
        found = spreads[count * 9 / 10];
    }
    free(spreads);
    return found;
}

static double quick_prior_ratio(const candidates *tried)
{
    double ratio = 1 + GOOD_ENOUGH + (tried ? SPREADS * likely_spread(tried) : INFINITY);
    return ratio < QUICK_PRIOR_RATIO ? ratio : QUICK_PRIOR_RATIO;
}

race_options race_rules(const settings *o, const candidates *tried)
{
    race_options rules = race_defaults();
    if (settings_are_quick(o)) {
        rules.prior_ratio = quick_prior_ratio(tried);
        rules.prior_entrants = QUICK_ENTRANTS;
        rules.default_ratio = QUICK_DEFAULT_RATIO;
        rules.finals_blocks = QUICK_FINALS_BLOCKS;
        memcpy(rules.looks, QUICK_LOOKS, sizeof rules.looks);
    }
    rules.seed = o->seed;
    if (o->finals_blocks)
        rules.finals_blocks = o->finals_blocks;
    if (o->tie_margin >= 0)
        rules.tie_margin = o->tie_margin;
    return rules;
}
