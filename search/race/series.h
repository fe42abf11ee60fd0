/* The series of samples of a race: the heats', which begin with the screen's, and the finals'. Two
 * series compare in the blocks that both have.
 *
 * Private to search/race. Nothing here allocates or fails. */
#ifndef AUTOTUNE_RACE_SERIES_H
#define AUTOTUNE_RACE_SERIES_H

#include "base/rng.h"
#include "search/race/race.h"

/* ---- the state of a race ----
 *
 * The state that race.c (which decides what to measure), series.c (which reads the samples) and
 * result.c (which concludes from them) share. Private to the three. */

typedef struct contender {
    race_entrant given;
    race_stage left_at;
    bool failed;
    bool cut;       /* out because the finals had no place for it, not by a test */
    bool in_field;  /* scratch of race_conclude(): among those that the samples decide between */
    size_t heats;   /* samples in its series of screen and heats, one each block from the first */
    size_t slot;    /* of its series in `finals`, when left_at is RACE_FINALS */
    size_t retired; /* the default's samples there, when it is sampled no more; 0: it is */
} contender;

typedef struct keyed {
    double key;
    uint32_t entrant;
} keyed;

struct race {
    race_options options;
    rng random;
    contender *contenders;
    size_t count;
    race_stage stage;
    bool stopped;

    uint32_t *alive; /* still in screen or heats; in the finals: the finalists */
    size_t alive_count;
    uint32_t *waiting; /* while some are probed: all that the probe decides about */
    size_t waiting_count;

    int64_t *heats; /* heats_capacity samples for each entrant */
    size_t heats_capacity, heats_blocks;
    size_t entered; /* entrants when heats began: the number of comparisons a look makes */

    int64_t *finals; /* finals_capacity samples for each slot */
    size_t finals_capacity, finals_blocks, finals_goal, design_row;
    bool extended;

    uint32_t *order, *labels;
    uint32_t *field; /* scratch of race_conclude() */
    size_t field_count;
    size_t order_count; /* 0: the next block is not drawn yet */

    size_t blocks;
    uint64_t samples;

    keyed *keys;              /* scratch, one for each entrant */
    double *ratios;           /* scratch, one for each block */
    int64_t *sorted;          /* scratch, one for each block */
    race_standing *standings; /* scratch, by entrant */
    race_standing *ranked;    /* what the result points to */
    race_result result;
};

/* ---- series of samples ---- */

/* The entrant's series of screen and heats, `heats` long. */
const int64_t *race_heats(const race *r, uint32_t entrant);

/* Its series of the finals, `retired` or else finals_blocks long; it must be a finalist. */
const int64_t *race_finals(const race *r, uint32_t entrant);

/* The median of the entrant's first `blocks` samples there, and the highest of them. */
double race_heats_median(race *r, uint32_t entrant, size_t blocks, double *highest);

/* Which of `entrants` (at least one) has the lowest median over `blocks` blocks of `series`. */
uint32_t race_leader(race *r, const int64_t *(*series)(const race *, uint32_t),
                     const uint32_t *entrants, size_t count, size_t blocks);

/* The best estimate of a's time over b's: paired when they shared blocks, else from other
 * samples. */
double race_estimate(race *r, uint32_t a, uint32_t b);

/* The time by the samples of its last stage; without any, its earlier fastest. */
stats_summary race_time_of(race *r, uint32_t entrant);

/* The number of blocks of screen and heats in which both were sampled. */
size_t race_shared_heats(const race *r, uint32_t a, uint32_t b);

/* Sorts by key, then by entrant. */
void race_sort(keyed *keys, size_t count);

#endif
