/* Races whose true times are known. Samples are exact, or come from a synthetic clock. */
#ifndef AUTOTUNE_RACE_FIXTURE_H
#define AUTOTUNE_RACE_FIXTURE_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "search/race/race.h"
#include "synthetic_clock.h"

enum { MOST = 4096 };

static race_entrant entrants[MOST];
static double true_ns[MOST];
static int64_t samples_ns[MOST];

static inline void set_up(size_t count, double base_ns, double spread)
{
    for (size_t i = 0; i < count; i++) {
        entrants[i] = (race_entrant){.registers = 32, .order = i};
        true_ns[i] = base_ns * (1 + spread * (double)i);
    }
}

static inline race *start(const race_options *options, size_t count)
{
    return race_new(options, entrants, count);
}

static inline race_options with_seed(uint64_t seed)
{
    race_options options = race_defaults();
    options.seed = seed;
    return options;
}

static inline synthetic_clock usual_clock(uint64_t seed)
{
    synthetic_machine machine = synthetic_machine_usual();
    return synthetic_clock_start(&machine, seed);
}

static inline void fill(size_t count, const uint32_t *order)
{
    for (size_t i = 0; i < count; i++)
        samples_ns[i] = (int64_t)true_ns[order[i]];
}

/* Runs a race whose samples are exact. */
static inline const race_result *finish_exactly(race *r)
{
    const uint32_t *order;
    for (size_t count; (count = race_next(r, &order)) > 0; race_tell(r, samples_ns))
        fill(count, order);
    return race_conclude(r);
}

static inline const race_standing *standing_of(const race_result *result, uint32_t entrant)
{
    for (size_t i = 0; i < result->count; i++)
        if (result->ranking[i].entrant == entrant)
            return &result->ranking[i];
    fail_msg("entrant %u has no standing", entrant);
    return NULL;
}

#endif
