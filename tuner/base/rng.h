/* A small seeded generator of random numbers: the same seed gives the same numbers everywhere.
 *
 * SplitMix64 (Steele, Lea & Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014):
 * 64 bits of state, any seed is good, passes BigCrush. Not for secrets. A generator is a plain
 * value; copying it copies the sequence. Nothing here allocates or fails. */
#ifndef AUTOTUNE_BASE_RNG_H
#define AUTOTUNE_BASE_RNG_H

#include <stddef.h>
#include <stdint.h>

typedef struct rng {
    uint64_t state;
} rng;

/* A generator for `seed`; different seeds give unrelated sequences. */
rng rng_seeded(uint64_t seed);

/* A generator whose sequence is unrelated to what `r` gives from now on; advances `r`. */
rng rng_split(rng *r);

/* 64 random bits. */
uint64_t rng_next(rng *r);

/* Uniform in [0, bound) without bias; 0 when `bound` is 0 or 1. */
uint64_t rng_below(rng *r, uint64_t bound);

/* Uniform in [0, 1), a multiple of 2^-53. */
double rng_uniform(rng *r);

/* Puts `items` in a uniformly random order (Fisher & Yates; Durstenfeld 1964). */
void rng_shuffle(rng *r, uint64_t *items, size_t count);

#endif
