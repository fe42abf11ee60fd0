/* The configurations whose cost a model predicts: all of a small space; of a large one the
 * neighbours of the best found so far, and a random sample.
 *
 * Owns its arrays; the ledger is borrowed. */
#ifndef AUTOTUNE_POOL_H
#define AUTOTUNE_POOL_H

#include <stddef.h>
#include <stdint.h>

#include "search/moves.h"
#include "search/regression/encoding.h"

typedef struct pool {
    uint64_t *configurations; /* ascending */
    float *points;            /* of each, as the encoding has it */
    uint8_t *least;           /* of each, how many least values: encoding_least */
    size_t count, most;
} pool;

void pool_init(pool *p, const ledger *l, const encoding *e);
void pool_deinit(pool *p); /* a zeroed one is fine */

/* Chooses the candidates anew; the moves have room for neighbours, and the ledger. */
void pool_fill(pool *p, moves *m, encoding *e);

#endif
