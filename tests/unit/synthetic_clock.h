/* A clock for tests of races: it times kernels of known length on a machine with known noise and
 * drift. Only samples take time. No function allocates or fails. */
#ifndef AUTOTUNE_SYNTHETIC_CLOCK_H
#define AUTOTUNE_SYNTHETIC_CLOCK_H

#include <stddef.h>
#include <stdint.h>

#include "base/rng.h"
#include "search/race/race.h"

typedef struct synthetic_machine {
    double ramp;        /* extra relative time while the machine is cold */
    double ramp_ns;     /* time in which this extra time falls to 1 / e */
    double noise;       /* standard deviation of a sample, relative (log-normal) */
    double outliers;    /* share of samples that are slower by 5 to 50 % */
    double wander;      /* standard deviation of a slow relative drift */
    double wander_ns;   /* correlation time of the drift (Ornstein-Uhlenbeck) */
    double tick_ns;     /* resolution in ns; 0 for whole nanoseconds */
    double overhead_ns; /* time between samples (cache flush, launch) */
} synthetic_machine;

typedef struct synthetic_clock {
    synthetic_machine machine;
    rng random;
    double now_ns, drift;
    uint64_t samples;
} synthetic_clock;

/* Returns the machine for which the targets of races are defined: a warm-up ramp of 3 %, noise of
 * 0.8 %, and 2 % outliers. */
synthetic_machine synthetic_machine_usual(void);

synthetic_clock synthetic_clock_start(const synthetic_machine *machine, uint64_t seed);

/* Times one run of a kernel that takes `true_ns` on the ideal machine. */
int64_t synthetic_clock_sample(synthetic_clock *c, double true_ns);

/* Runs a race to its end: entrant i takes true_ns[i]. Returns the race's result. */
const race_result *synthetic_clock_race(synthetic_clock *c, race *r, const double *true_ns,
                                        int64_t *samples_ns);

#endif
