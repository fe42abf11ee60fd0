/* The state of a race, private to race.c, which decides what to measure, and result.c, which
 * concludes from the samples. A race has two series of samples: the heats, which begin with the
 * screening rounds, and the finals. Two entrants are compared in the blocks that both have. */
#ifndef AUTOTUNE_RACE_STATE_H
#define AUTOTUNE_RACE_STATE_H

#include "base/rng.h"
#include "search/race/race.h"

typedef struct contender {
    race_entrant given;
    race_stage left_at;
    bool failed;
    bool cut;       /* left for lack of places, not by a test */
    bool in_field;  /* scratch of race_conclude(): the entrant is in `field` */
    size_t heats;   /* number of the entrant's samples in screen and heats, one per block from the
                     * start */
    size_t slot;    /* index of the entrant's series in `finals`, if left_at is RACE_FINALS */
    size_t retired; /* samples in the finals of a default that left the finals, otherwise 0 */
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

    uint32_t *alive; /* entrants that are still in the race; in the finals, the finalists */
    size_t alive_count;
    uint32_t *waiting; /* during the probe: all entrants that the probe decides about */
    size_t waiting_count;

    int64_t *heats; /* for each entrant, room for heats_capacity samples */
    size_t heats_capacity, heats_blocks;
    size_t entered; /* number of entrants at the start of the heats */

    int64_t *finals; /* for each slot, room for finals_capacity samples */
    size_t finals_capacity, finals_blocks, finals_goal, design_row;
    bool extended;

    uint32_t *order, *labels;
    uint32_t *field; /* scratch of race_conclude(), see result.c */
    size_t field_count;
    size_t order_count; /* 0 if the next block is not drawn yet */

    size_t blocks;
    uint64_t samples;

    keyed *keys;              /* scratch, one for each entrant */
    double *ratios;           /* scratch, one for each block */
    int64_t *sorted;          /* scratch, one for each block */
    race_standing *standings; /* scratch, by entrant */
    race_standing *ranked;    /* the ranking of the result */
    race_result result;
};

/* Returns the entrant's series of screen and heats, with `heats` samples. */
const int64_t *race_heats(const race *r, uint32_t entrant);

/* Returns the finalist's series of the finals, with `retired` or finals_blocks samples. */
const int64_t *race_finals(const race *r, uint32_t entrant);

/* Returns the median of the entrant's first `blocks` heats, and writes the highest of them. */
double race_heats_median(race *r, uint32_t entrant, size_t blocks, double *highest);

/* Returns the entrant with the lowest median over `blocks` blocks of `series`. `count` > 0. */
uint32_t race_leader(race *r, const int64_t *(*series)(const race *, uint32_t),
                     const uint32_t *entrants, size_t count, size_t blocks);

/* Estimates the time of `a` / the time of `b`: paired if they share blocks, otherwise unpaired. */
double race_estimate(race *r, uint32_t a, uint32_t b);

/* Sorts by key, then by entrant. */
void race_sort(keyed *keys, size_t count);

#endif
