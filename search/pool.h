/* The candidates of the strategy `surrogate`, and the probability that each of them works. */
#ifndef AUTOTUNE_POOL_H
#define AUTOTUNE_POOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "search/regression/encoding.h"
#include "search/strategies.h"

/* ---- feasibility ----
 * Estimates the probability that a configuration works, by the weighted share of successes
 * (Nadaraya-Watson): an outcome has the weight exp(-sharpness * squared distance), with the
 * distance of encoding.h. One success is assumed everywhere, so that few failures prove little.
 * Before the first failure nothing is computed. */

typedef struct feasibility {
    encoding *encoding;
    const float *candidates; /* candidate_count x features; borrowed */
    size_t candidate_count;
    float *works, *breaks; /* for each candidate, weights of successes and of failures; owned */
    bool any_broken;       /* something has failed */
} feasibility;

/* Allocates for up to `most` candidates. */
void feasibility_init(feasibility *f, encoding *e, size_t most);
void feasibility_deinit(feasibility *f);

/* Sets new candidates and counts all outcomes so far. */
void feasibility_reset(feasibility *f, const float *candidates, size_t count, const ledger *l);

/* Counts the outcome of a trial that was just told. */
void feasibility_learn(feasibility *f, const ledger *l, size_t trial);

/* Returns the estimated probability, in (0, 1], that the candidate works. */
double feasibility_chance(const feasibility *f, size_t candidate);

/* ---- candidates ----
 *
 * The candidates of a small space are all its configurations. The candidates of a large space are
 * the neighbours of the best trials and a random sample. */

typedef struct pool {
    uint64_t *configurations; /* sorted, ascending */
    float *points;            /* encoding_point() of each configuration */
    uint8_t *least;           /* encoding_least() of each configuration */
    size_t count, most;
} pool;

/* Allocate an empty pool for the ledger's space, and free a pool. */
void pool_init(pool *p, const ledger *l, const encoding *e);
void pool_deinit(pool *p);

void pool_fill(pool *p, ledger *l, encoding *e);

#endif
