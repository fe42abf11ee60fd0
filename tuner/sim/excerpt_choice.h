/* Chooses the clusters of a launch that an excerpt runs. */
#ifndef AUTOTUNE_SIM_EXCERPT_CHOICE_H
#define AUTOTUNE_SIM_EXCERPT_CHOICE_H

#include <stddef.h>
#include <stdint.h>

#include "sim/sweep.h"

enum { EXCERPT_MOST_CLUSTERS = 32 }; /* of a launch */

typedef struct excerpt_choice {
    uint64_t extent[3], total; /* clusters, */
    uint64_t blocks;           /* and blocks of each, */
    const uint32_t *cluster;   /* along each axis */
    uint64_t chosen[EXCERPT_MOST_CLUSTERS];
    size_t count, most;
} excerpt_choice;

/* Chooses `most` of the clusters, without the last, those first that differ most: one for each way
 * in which threads go through the kernel, as the sweeps found them; the edges of the grid; and
 * neighbours at places drawn from the seed. */
void excerpt_choose(excerpt_choice *c, size_t most, const sim_sweep *swept, const sim_sweep *parts,
                    uint64_t seed);

#endif
