/* The race of a site's round (search/race/race.h): the blocks in which its entrants take successive
 * calls, and the samples that these calls make.
 *
 * Calls of a block's entrants go round: whoever has had the fewest is next. A sample is what
 * `calls_each` calls of an entrant take: the mean of the fastest part of them, for what other
 * streams and programs do to a call only adds to its time. Knows neither the incumbent nor what
 * tuning costs. */
#ifndef AUTOTUNE_LIBRARY_SITE_RACE_H
#define AUTOTUNE_LIBRARY_SITE_RACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "search/race/race.h"

enum { SITE_RACE_MOST_CALLS = 256 };

/* A place of a block: the calls of a sample that have begun, and those whose times are told. */
typedef struct site_slot {
    uint32_t begun, told;
} site_slot;

/* `race` NULL: there is none. `block_count` 0: no block is under way. */
typedef struct site_race {
    race *race;
    uint32_t *places; /* of its entrants in the round */
    size_t count, blocks;
    uint32_t calls_each; /* of a sample */
    uint64_t races;      /* so far, of all rounds */
    const uint32_t *block;
    size_t block_count, block_told;
    site_slot *slots;    /* of the block's places */
    int64_t *fastest_ns; /* of a slot's calls, ascending */
    int64_t *samples;
} site_race;

/* Makes room for a round of so many entrants; false: no memory. site_race_release() frees it, and
 * the race. */
bool site_race_reserve(site_race *r, size_t most);
void site_race_release(site_race *r);

/* Starts a race of `count` entrants, whose places are in r->places; false: no memory. */
bool site_race_start(site_race *r, const race_options *options, const race_entrant *entrants,
                     size_t count);
void site_race_stop(site_race *r);

/* Draws the next block; false: the race is over. */
bool site_race_draw(site_race *r);

/* The place in the round of who has that place in the block. */
uint32_t site_race_entrant(const site_race *r, size_t place);

/* The place in the block whose call is next, and whether a round of calls begins with it; false:
 * all calls of the block have begun. */
bool site_race_next(const site_race *r, size_t *place, bool *is_round);
void site_race_begin(site_race *r, size_t place);

/* The call that began is to be made again. */
void site_race_reopen(site_race *r, size_t place);

/* All calls of the block are. */
void site_race_begin_anew(site_race *r);

/* The entrant is out, and the block with it. */
void site_race_exclude(site_race *r, size_t place_in_round);

/* A call's time. True: the block is complete, and the race knows its samples. */
bool site_race_tell(site_race *r, size_t place, int64_t time_ns);

#endif
