/* Random numbers for the noise of synthetic measurements. */
#ifndef AUTOTUNE_TEST_NORMAL_H
#define AUTOTUNE_TEST_NORMAL_H

#include <math.h>

#include "base/rng.h"

/* Returns a normal random number with mean 0 and standard deviation 1 (Box & Muller 1958). */
static inline double rng_normal(rng *r)
{
    /* 1 - u is in (0, 1], so its logarithm is finite. */
    double radius = sqrt(-2.0 * log(1.0 - rng_uniform(r)));
    return radius * cos(6.283185307179586 * rng_uniform(r));
}

#endif
