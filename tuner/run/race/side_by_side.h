/* Times kernels side by side on one device. Every block has one sample of each kernel, in a new
 * order, so that a drifting clock affects all of them alike. Samples of one block can be compared
 * as pairs. This module is for a few known configurations; for thousands, search/race/race.h drops
 * slow ones first. */
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
    uint32_t layout; /* number of its data's layout (device_problem.layout) */
    outcome outcome;
    char message[256];   /* reason if the outcome is not OUTCOME_OK */
    bool settled;        /* more samples of this side are not needed (side_rules.enough) */
    int64_t *samples_ns; /* one per block until settled; owned; NULL unless OUTCOME_OK */
    size_t sample_count;
} side;

typedef struct side_rules {
    size_t blocks; /* most blocks */
    uint64_t seed; /* seed of the order in the blocks */
    bool checked;  /* the sides are checked against the reference first */
    /* Returns true if the race may end after `blocks` blocks. May settle sides. May be NULL. */
    bool (*enough)(void *context, side *sides, size_t count, size_t blocks);
    /* Does other work while the device is busy, for about a millisecond. May be NULL. */
    at_status (*meanwhile)(void *context, at_error *error);
    void *context;
} side_rules;

/* Waits for the device's set-up. Uses only rules->meanwhile; `rules` may be NULL. */
at_status side_by_side_ready(device_worker *w, const side_rules *rules, device_ready *out,
                             at_error *error);

/* Samples blocks of the sides that work and are right. A side that fails gets its outcome and
 * message; the other sides continue. The caller calls side_deinit() on each. Returns AT_INTERRUPTED
 * if a signal is pending (process/interrupt.h), AT_DEVICE or another error of the device. */
at_status side_by_side_run(device_worker *w, side *sides, size_t count, const side_rules *rules,
                           at_error *error);
void side_deinit(side *s);

typedef struct side_standing {
    size_t rival; /* the fastest side that is surely faster than the first by more than the margin;
                     0 without such a side, or if the first failed */
    double low, ratio, high; /* time of the first side over the rival's; 0 without a rival */
    bool decided; /* for each other side it is known whether it is faster by more than the margin */
} side_standing;

/* State of side_judge_enough(), which ends a race once it is decided. It judges after 6, 9, 13 ...
 * blocks, each number half as large again. The chance that any judgement finds a rival among equal
 * sides is below 0.5 %. A side that is surely not faster by more than the margin is settled. */
typedef struct side_judge {
    int64_t tick_ns;        /* the clock's resolution */
    double margin;          /* relative difference that is ignored */
    size_t blocks;          /* as side_rules.blocks */
    side_standing standing; /* the last judgement */
} side_judge;

/* Judges the sides. Implements side_rules.enough; `context` is a side_judge. */
bool side_judge_enough(void *context, side *sides, size_t count, size_t blocks);

#endif
