/* Energy of one launch, from the board's energy counter around many launches of one kernel.
 *
 * The counter advances in steps of tens of milliseconds, far longer than a launch: a kernel is
 * launched again and again, the counter is read between chunks of launches, and the chunks give
 * both the energy and its precision. The whole board is counted, its idle share included: that is
 * what the launch costs while nothing else runs. Pure; nothing allocates or fails. */
#ifndef AUTOTUNE_BENCH_ENERGY_H
#define AUTOTUNE_BENCH_ENERGY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { ENERGY_LEAST_CHUNKS = 3, ENERGY_CHUNKS = 8, ENERGY_READINGS = ENERGY_CHUNKS + 1 };

typedef struct energy_reading {
    int64_t now_ns;     /* when it was read, with nothing running on the GPU */
    uint64_t launches;  /* finished since the first reading */
    uint64_t energy_mj; /* the board's counter; 0: it has none */
    double power_w;     /* the board's power; used where there is no counter */
} energy_reading;

typedef struct energy_estimate {
    double launch_j;      /* of one launch; 0: not known */
    double low_j, high_j; /* its 95 % interval */
    double power_w;       /* mean over all launches */
    size_t chunks;        /* that it rests on */
} energy_estimate;

/* How many launches of `time_ns` make a chunk that the counter resolves. At least 1. */
uint64_t energy_chunk_launches(int64_t time_ns);

/* Estimates from readings in the order they were taken, each with more launches than the one
 * before. False when there are too few (three chunks are needed), or no board figures. */
bool energy_estimate_launch(const energy_reading *readings, size_t count, energy_estimate *out);

#endif
