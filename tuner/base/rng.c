#include "base/rng.h"

rng rng_seeded(uint64_t seed)
{
    return (rng){.state = seed};
}

rng rng_split(rng *r)
{
    return rng_seeded(rng_next(r));
}

uint64_t rng_next(rng *r)
{
    r->state += 0x9e3779b97f4a7c15u;
    uint64_t z = r->state;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

uint64_t rng_below(rng *r, uint64_t bound)
{
    if (bound < 2)
        return 0;
    /* The lowest 2^64 mod bound values would make the small remainders likelier. */
    uint64_t threshold = (0 - bound) % bound;
    uint64_t bits = rng_next(r);
    while (bits < threshold)
        bits = rng_next(r);
    return bits % bound;
}

double rng_uniform(rng *r)
{
    return (double)(rng_next(r) >> 11) * 0x1p-53;
}

void rng_shuffle(rng *r, uint64_t *items, size_t count)
{
    for (size_t i = count; i > 1; i--) {
        size_t j = (size_t)rng_below(r, i);
        uint64_t item = items[i - 1];
        items[i - 1] = items[j];
        items[j] = item;
    }
}
