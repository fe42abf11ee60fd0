/* Kernels timed side by side on one device: every block has one sample of each, in a new order, so
 * that a drifting clock affects all of them alike. Known configurations are raced in this way;
 * where thousands compete, search/race/race.h drops the slow ones first.
 *
 * In: an open device worker and compiled variants. Out: the outcome of each and its samples, one a
 * block. Samples of the same block compare as pairs. */
#ifndef AUTOTUNE_RUN_RACE_SIDE_BY_SIDE_H
#define AUTOTUNE_RUN_RACE_SIDE_BY_SIDE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "bench/client.h"

typedef struct side {
    device_image image; /* borrowed */
    launch_plan launch;
    uint32_t layout; /* of its data, as the device numbers it */
    outcome outcome;
    char message[256]; /* why it is not ok */
    bool settled; /* side_rules.enough knows what it wanted to: there are no more samples of it */
    int64_t *samples_ns; /* one a block until it is settled, in the order of the blocks; owned; NULL
                            unless it is ok */
    size_t sample_count;
} side;

typedef struct side_rules {
    size_t blocks; /* at most */
    uint64_t seed; /* orders the blocks */
    bool checked;  /* against the reference, before */
    /* May the race end after that many blocks? It may settle sides. NULL: it takes all of them. */
    bool (*enough)(void *context, side *sides, size_t count, size_t blocks);
    /* Does other work while the device is busy, about a millisecond at a time. NULL: there is
     * none. */
    at_status (*meanwhile)(void *context, at_error *error);
    void *context;
} side_rules;

/* Waits until the device's set-up is done. Only `meanwhile` of `rules` (which may be NULL) is used.
 * Returns the status of whatever stopped it. */
at_status side_by_side_ready(device_worker *w, const side_rules *rules, device_ready *out,
                             at_error *error);

/* Samples blocks of the sides that work and are right. A side that fails gets its outcome and
 * message, and the others go on. The caller calls side_deinit on each. AT_INTERRUPTED if a signal
 * is held (process/interrupt.h), AT_DEVICE ... */
at_status side_by_side_run(device_worker *w, side *sides, size_t count, const side_rules *rules,
                           at_error *error);
void side_deinit(side *s);

/* How the first side compares with the others. */
typedef struct side_standing {
    size_t rival; /* the fastest that is surely faster than the first by more than the margin; 0:
                     none is, or the first failed */
    double low, ratio,
        high;     /* the first's time over the rival's, with its interval; 0 without a rival */
    bool decided; /* for every other it is known whether it is faster by more than the margin */
} side_standing;

/* Ends a race once it is decided: side_rules.enough for a side_judge. It looks after 6, 9, 13 ...
 * blocks, each time half as many more, and compares by samples of the same blocks; the chance that
 * any of its looks at sides that are alike finds a rival is below 0.5 %. A side that is surely not
 * faster by more than the margin is settled. */
typedef struct side_judge {
    int64_t tick_ns;        /* the clock's resolution */
    double margin;          /* relative: what is no difference */
    size_t blocks;          /* as side_rules.blocks */
    side_standing standing; /* at the last look */
} side_judge;

bool side_judge_enough(void *context, side *sides, size_t count, size_t blocks);

#endif
