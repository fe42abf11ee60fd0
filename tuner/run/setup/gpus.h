/* The GPUs of one model that a run measures on, as the pipeline sees them.
 *
 * One of them is home: it runs the race. The others screen their share of the variants, and sample
 * blocks of the race until its finals (run/race/others.c). Samples are compared only within one
 * GPU: first samples of the other GPUs say which variants the race is to sample, and how much
 * slower each was than the best there. */
#ifndef AUTOTUNE_RUN_SETUP_GPUS_H
#define AUTOTUNE_RUN_SETUP_GPUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bench/client.h"
#include "run/setup/workers.h"

typedef struct gpu {
    device_worker *worker; /* borrowed */
    bool ready, lost;
    size_t trying;      /* requests in flight */
    int restarts;       /* of its worker */
    device_ready facts; /* once ready */
    int64_t ceiling_ns; /* median of the set-up's copies; 0: not known yet */
    int64_t best_ns;    /* the fastest sample of a variant on it; 0: none */
} gpu;

typedef struct gpus {
    gpu items[1 + WORKERS_MOST_OTHERS];
    size_t count, home;
} gpus;

void gpus_init(gpus *g, const workers *w);

/* The one to ask next: ready, with the fewest requests in flight and fewer than `most`. NULL:
 * none. */
gpu *gpus_idlest(gpus *g, size_t most);

/* A GPU is lost for good. If it was home, another takes its place, among the workers too; false:
 * there is none. */
bool gpus_lose(gpus *g, size_t lost, workers *w);

/* Estimates, from a time on one GPU, the time on the home GPU, by the copies that both measured. It
 * guides a search and is no measurement. */
double gpus_likely_ns(const gpus *g, size_t at, int64_t time_ns);

/* A time as an earlier sample for the race at home: its ratio to home's best is its ratio to the
 * best of the GPU that took it. So the best of each GPU is never left out, whatever their speeds. 0
 * stays 0. */
int64_t gpus_prior_ns(const gpus *g, size_t at, int64_t time_ns);

int gpus_restarts(const gpus *g); /* of all workers */

#endif
