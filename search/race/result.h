/* The result of a race so far: who stands where, and how sure that is.
 *
 * In: the samples that a race was told (search/race/race.h). Out: a ranking in which the winner is
 * first. Nothing here allocates or fails. */
#ifndef AUTOTUNE_RACE_RESULT_H
#define AUTOTUNE_RACE_RESULT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/stats.h"

typedef struct race race;

typedef enum race_stage {
    RACE_PRIOR,
    RACE_PROBE,
    RACE_SCREEN,
    RACE_HEATS,
    RACE_FINALS,
    RACE_FINISHED
} race_stage;

typedef enum race_verdict {
    RACE_CLEAR,       /* every other entrant is slower by more than the tie margin, by the test */
    RACE_TIED,        /* some are not significantly slower than the fastest */
    RACE_INCONCLUSIVE /* stopped before the end; the winner is the best so far */
} race_verdict;

/* One entrant's standing. Ratios are times over the fastest entrant's time in the same blocks. */
typedef struct race_standing {
    uint32_t entrant;
    race_stage left_at; /* the last stage it took part in */
    bool failed;        /* excluded, or a sample of it failed */
    bool tied;          /* not significantly slower than the fastest (true for the fastest) */
    double ratio;       /* trimmed mean; 1 for the fastest */
    double low, high;   /* interval of the ratio, from the test's one-sided bounds; 0 and INFINITY
                           when   there are too few samples for one */
    stats_summary time; /* of the samples of its last stage; count 0: prior only, and then
                           median_ns is the earlier fastest */
} race_standing;

typedef struct race_result {
    bool has_winner;  /* false: every entrant failed */
    uint32_t winner;  /* what to use: the choice among the tied */
    uint32_t fastest; /* lowest trimmed mean */
    race_verdict verdict;
    size_t tied; /* other entrants not significantly slower than the fastest, finalists or not */
    double half_width; /* relative, of the comparison that decided: the widest among the tied,
                          or the runner-up's when clear; INFINITY before there is one */
    bool noisy;        /* half_width is wider than the difference to the runner-up */
    race_stage stage;  /* reached */
    size_t blocks;     /* told */
    uint64_t samples;  /* told */
    /* All entrants: the winner first, then finalists before the others, by ratio; failed ones
     * last. */
    const race_standing *ranking;
    size_t count;
} race_result;

/* The result so far, final once race_next() returned 0. Borrowed: valid until the next call that
 * changes the race. */
const race_result *race_conclude(race *r);

const char *race_stage_name(race_stage stage); /* "prior", "screen", "heats", ... */

#endif
