/* A small seeded generator of random numbers: the same seed gives the same numbers everywhere.
 *
 * SplitMix64 (Steele, Lea & Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014)
 * has 64 bits of state, accepts any seed and passes BigCrush. It must not be used for secrets. A
 * copy gives the same sequence. */
#ifndef AUTOTUNE_BASE_RNG_H
#define AUTOTUNE_BASE_RNG_H

#include <stddef.h>
#include <stdint.h>

typedef struct rng {
    uint64_t state;
} rng;

/* Returns a generator for `seed`. Different seeds give unrelated sequences. */
static inline rng rng_seeded(uint64_t seed)
{
    return (rng){.state = seed};
}

/* Returns 64 random bits. */
static inline uint64_t rng_next(rng *r)
{
    r->state += 0x9e3779b97f4a7c15u;
    uint64_t z = r->state;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* Returns a generator whose sequence is unrelated to the further sequence of `r`. */
static inline rng rng_split(rng *r)
{
    return rng_seeded(rng_next(r));
}

/* Returns a uniform integer in [0, bound), without bias. Returns 0 if `bound` is 0 or 1. */
static inline uint64_t rng_below(rng *r, uint64_t bound)
{
    if (bound < 2)
        return 0;
    /* Rejects the lowest 2^64 mod bound values, which would make small remainders likelier. */
    uint64_t threshold = (0 - bound) % bound;
    uint64_t bits = rng_next(r);
    while (bits < threshold)
        bits = rng_next(r);
    return bits % bound;
}

/* Returns a uniform number in [0, 1), a multiple of 2^-53. */
static inline double rng_uniform(rng *r)
{
    return (double)(rng_next(r) >> 11) * 0x1p-53;
}

/* Shuffles `items` uniformly (Fisher & Yates; Durstenfeld 1964). */
static inline void rng_shuffle(rng *r, uint64_t *items, size_t count)
{
    for (size_t i = count; i > 1; i--) {
        size_t j = (size_t)rng_below(r, i);
        uint64_t item = items[i - 1];
        items[i - 1] = items[j];
        items[j] = item;
    }
}

#endif
