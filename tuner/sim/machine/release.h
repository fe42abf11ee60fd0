/* Releases: for each location, the knowledge that a reader of its value gets.
 *
 * PTX ISA, "release and acquire patterns": a strong write after a fence, or one that is a release
 * itself, publishes what its thread knows, as far as the scopes reach; an atomic read-modify-write
 * hands on what it read besides. A write that releases nothing takes away what was there. */
#ifndef AUTOTUNE_SIM_MACHINE_RELEASE_H
#define AUTOTUNE_SIM_MACHINE_RELEASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/machine/clock.h"

/* The reach of a release: threads of the block, of the cluster, and of the GPU. */
typedef enum sim_reach { SIM_REACH_BLOCK, SIM_REACH_CLUSTER, SIM_REACH_GPU, SIM_REACHES } sim_reach;

typedef struct sim_release {
    uint64_t at;                    /* address; 0: a free place */
    uint32_t block, cluster;        /* of the last writer; + 1 */
    sim_clock *clocks[SIM_REACHES]; /* a narrower reach knows at least as much; owned */
} sim_release;

typedef struct sim_releases { /* a hash table */
    sim_release *places;
    size_t count, capacity; /* a power of two, or 0 */
} sim_releases;

sim_release *sim_releases_find(const sim_releases *r,
                               uint64_t at); /* NULL: nothing was released there */
/* The place for `at`, made when there is none; NULL: no memory. */
sim_release *sim_releases_put(sim_releases *r, uint64_t at);
void sim_releases_remove(sim_releases *r, uint64_t at);
void sim_releases_clear(sim_releases *r); /* keeps its memory */
void sim_releases_deinit(sim_releases *r);

#endif
