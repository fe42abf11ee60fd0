/* The state that race.c (which decides what to measure), series.c (which reads the samples) and
 * result.c (which concludes from them) share. Private to the three. */
#ifndef AUTOTUNE_RACE_STATE_H
#define AUTOTUNE_RACE_STATE_H

#include "base/rng.h"
#include "search/race/race.h"

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

#endif
