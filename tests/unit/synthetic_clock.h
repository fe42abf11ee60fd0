/* A clock for tests of races. It times kernels of known length on a machine with known noise and
 * drift. Only samples take time. No function allocates memory or fails. */
#ifndef AUTOTUNE_SYNTHETIC_CLOCK_H
#define AUTOTUNE_SYNTHETIC_CLOCK_H

#include <stddef.h>
#include <stdint.h>

#include "base/rng.h"
#include "search/race/race.h"

typedef struct synthetic_machine {
    double ramp;        /* extra relative time while the machine is cold */
    double ramp_ns;     /* time in which this extra time falls to 1 / e, in ns */
    double noise;       /* relative standard deviation of a sample (log-normal) */
    double outliers;    /* share of samples that are longer by 5 to 50 % */
    double wander;      /* standard deviation of a slow relative drift */
    double wander_ns;   /* correlation time of the drift (Ornstein-Uhlenbeck), in ns */
    double tick_ns;     /* resolution in ns; 0 for whole nanoseconds */
    double overhead_ns; /* time between samples (cache flush, launch), in ns */
} synthetic_machine;

typedef struct synthetic_clock {
    synthetic_machine machine;
    rng random;
    double now_ns, drift;
    uint64_t samples;
} synthetic_clock;

/* Returns the machine for which races are tuned: a warm-up ramp of 3 %, noise of 0.8 %, and 2 %
 * outliers. */
synthetic_machine synthetic_machine_usual(void);

synthetic_clock synthetic_clock_start(const synthetic_machine *machine, uint64_t seed);

/* Times one run of a kernel that takes `true_ns` on the ideal machine. */
int64_t synthetic_clock_sample(synthetic_clock *c, double true_ns);

/* Runs a race to its end. Entrant i takes true_ns[i]. Returns the result of the race. */
const race_result *synthetic_clock_race(synthetic_clock *c, race *r, const double *true_ns,
                                        int64_t *samples_ns);

#endif
