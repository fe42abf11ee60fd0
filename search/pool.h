/* The configurations whose cost a model predicts: all of a small space; of a large one the
 * neighbours of the best found so far, and a random sample.
 *
 * Owns its arrays; the ledger is borrowed. */
#ifndef AUTOTUNE_POOL_H
#define AUTOTUNE_POOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "search/ledger.h"
#include "search/moves.h"
#include "search/regression/encoding.h"

/* ---- the chance that a candidate works ----
 *
 * The chance that a configuration works, from the outcomes of those around it.
 *
 * A weighted share of successes (Nadaraya-Watson): each outcome has the weight exp(-sharpness x
 * squared distance) in the features of encoding.h, and one success is assumed, so that few failures
 * prove little. Costs nothing until something has failed. Owns its sums; the candidates are
 * borrowed. */

typedef struct feasibility {
    encoding *encoding;
    const float *candidates; /* candidate_count x features */
    size_t candidate_count;
    float *works, *breaks; /* weights around each candidate */
    bool any_broken;       /* as soon as anything has failed */
} feasibility;

/* Makes room for `most` candidates; false when memory ran out. */
void feasibility_init(feasibility *f, encoding *e, size_t most);
void feasibility_deinit(feasibility *f); /* a zeroed one is fine */

/* Takes new candidates and counts all outcomes told so far. */
void feasibility_reset(feasibility *f, const float *candidates, size_t count, const ledger *l);

/* Counts the outcome of a trial of the ledger, just told. */
void feasibility_learn(feasibility *f, const ledger *l, size_t trial);

/* Estimated chance that the candidate works, above 0 and at most 1. */
double feasibility_chance(const feasibility *f, size_t candidate);

/* ---- the candidates ---- */

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
