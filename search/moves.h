/* Moves of strategies from one configuration to another; every result is valid.
 *
 * A change of values that gives no valid configuration gives the nearest one by space_project(). A
 * `moves` owns its memory; random numbers are the ledger's. */
#ifndef AUTOTUNE_MOVES_H
#define AUTOTUNE_MOVES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "search/ledger.h"

typedef struct moves {
    ledger *ledger;
    size_t parameter_count;
    size_t *free_parameters; /* with more than one value in use */
    size_t free_count;
    uint16_t *here, *there; /* scratch: value indices of two configurations */
    uint64_t *near;         /* scratch: neighbours */
    size_t near_limit;
    size_t current; /* trial that a walk goes on from; SIZE_MAX: nowhere yet */
} moves;

/* Makes room. The ledger must stay where it is. */
void moves_init(moves *m, ledger *l);
void moves_deinit(moves *m); /* a zeroed one is fine */

/* Gives `changes` parameters, chosen at random, another value. */
uint64_t moves_mutate(moves *m, uint64_t configuration, size_t changes);

/* Moves each parameter to the next or the previous value in use with a probability of one third
 * each. */
uint64_t moves_shift(moves *m, uint64_t configuration);

/* Each parameter from one of two configurations, at random. */
uint64_t moves_cross(moves *m, uint64_t a, uint64_t b);

/* The unseen Hamming neighbours of a configuration, in m->near; returns how many. */
size_t moves_unseen_neighbours(moves *m, uint64_t configuration);

/* One of them, drawn at random; false: there is none. */
bool moves_neighbour(moves *m, uint64_t configuration, uint64_t *neighbour);

/* The number of parameters in which two configurations differ. */
size_t moves_difference(moves *m, uint64_t a, uint64_t b);

/* Mean logarithm of the costs of the `count` (8 at most) configurations known to work that differ
 * least from this one; one that failed counts as the worst that works. NAN while nothing is
 * known. */
double moves_nearest_cost(moves *m, uint64_t configuration, size_t count);

#endif
