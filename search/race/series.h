/* The series of samples of a race: the heats', which begin with the screen's, and the finals'. Two
 * series compare in the blocks that both have.
 *
 * Private to search/race. Nothing here allocates or fails. */
#ifndef AUTOTUNE_RACE_SERIES_H
#define AUTOTUNE_RACE_SERIES_H

#include "search/race/state.h"

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
