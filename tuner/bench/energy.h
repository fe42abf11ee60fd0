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
    int64_t now_ns;     /* time of the reading; nothing runs on the GPU then */
    uint64_t launches;  /* launches finished since the first reading */
    uint64_t energy_mj; /* counter of the board; 0 if it has none */
    double power_w;     /* power of the board; used if there is no counter */
} energy_reading;

typedef struct energy_estimate {
    double launch_j;      /* energy of one launch, in J; 0 if unknown */
    double low_j, high_j; /* 95 % confidence interval */
    double power_w;       /* mean power over all launches */
    size_t chunks;        /* number of chunks in the estimate */
} energy_estimate;

/* Returns the number of launches of `time_ns` in a chunk, at least 1. */
uint64_t energy_chunk_launches(int64_t time_ns);

/* Estimates the energy of a launch from readings in the order of time, each with more launches than
 * the one before. Returns false if there are fewer than ENERGY_LEAST_CHUNKS chunks, or the board
 * reports neither energy nor power. */
bool energy_estimate_launch(const energy_reading *readings, size_t count, energy_estimate *out);

#endif
