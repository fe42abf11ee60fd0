/* The workers of a run: the compile workers, and the device worker or, in its place, the
 * architecture. A run opens its own workers or takes those of earlier runs (settings.workers); then
 * the GPU is opened, and its clocks are raised, only once. */
#ifndef AUTOTUNE_RUN_SETUP_WORKERS_H
#define AUTOTUNE_RUN_SETUP_WORKERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bench/client.h"
#include "compile/compile.h"
#include "ranks/ranks.h"
#include "run/setup/settings.h"

enum { WORKERS_MOST_OTHERS = 63 };

typedef struct workers {
    rank_hosts *ranks; /* the other ranks of an MPI launch; NULL if there are none */
    compile_pool *pool;
    device_worker *device; /* device worker of the race; NULL if the run only compiles */
    /* GPUs of the same model, which screen variants as soon as they are open (workers_open_next) */
    device_worker *others[WORKERS_MOST_OTHERS];
    device_properties other_properties[WORKERS_MOST_OTHERS]; /* spec is "" until the GPU is
                                                              * described */
    size_t other_count;
    int64_t begun_ns;             /* time at which the latest of these GPUs began to open */
    device_properties properties; /* if the run only compiles: kind "", arch and limits of --arch */
    size_t left_out;              /* number of GPUs of the launch that are of another model */
    char driver_less[512];        /* why a simulated device stands in for a GPU; or "" */
} workers;

/* Starts the compile workers and opens the device. AT_NO_DEVICE, AT_NO_TOOLCHAIN and AT_USAGE name
 * the remedy. The caller calls workers_close(), also after a failure. */
at_status workers_open(workers *w, const settings *o, at_error *error);
void workers_close(workers *w);

/* Kills the workers, which end while the caller goes on. Later requests are not allowed. */
void workers_end(const workers *w);

/* Takes the description of an open device worker (DEVICE_OPENED). Returns AT_USAGE if the device is
 * of another model than the device of the race. */
at_status workers_meet(workers *w, const device_worker *d, const device_properties *p,
                       at_error *error);

/* Opens the next of the other GPUs once all GPUs before it are open, failed or take too long,
 * because the driver opens one GPU at a time. */
void workers_open_next(workers *w);

/* Opens the other devices that are not open yet, and waits for them. Returns the status of a device
 * that cannot be opened. */
at_status workers_await(workers *w, at_error *error);

/* Makes the workers ready for another run: drops work in progress, opens zeroed or closed workers,
 * and leaves out GPUs that failed for good. Returns a device's status if no device is left. */
at_status workers_settle(workers *w, const settings *o, at_error *error);

/* Replaces a device worker that has failed for good. Returns the status of the new worker. */
at_status workers_replace_device(workers *w, const settings *o, at_error *error);

/* The GPUs of one model on which a run measures, as the pipeline sees them. The home GPU runs the
 * race. The other GPUs screen a share of the variants, and sample blocks of the race until its
 * finals (race/others.c). Times can be compared only within one GPU: a first sample from another
 * GPU counts by its ratio to the best time on that GPU. */

typedef struct run_gpu {
    device_worker *worker; /* borrowed */
    bool ready, lost;
    size_t trying;      /* requests in flight */
    int restarts;       /* restarts of its worker */
    device_ready facts; /* facts of the set-up; valid once the GPU is ready */
    int64_t ceiling_ns; /* median of the set-up's copies; 0 if unknown */
    int64_t best_ns;    /* fastest sample of a variant; 0 without a sample */
} run_gpu;

typedef struct gpus {
    run_gpu items[1 + WORKERS_MOST_OTHERS];
    size_t count, home;
} gpus;

/* Lists the GPUs of the workers. The device of the race is home. */
void gpus_init(gpus *g, const workers *w);

/* Returns the ready GPU with the fewest requests in flight, if fewer than `most`, or NULL. */
run_gpu *gpus_idlest(gpus *g, size_t most);

/* Handles the loss of a GPU. Another GPU replaces a lost home, also among the workers. Returns
 * false if no GPU is left. */
bool gpus_lose(gpus *g, size_t lost, workers *w);

/* Estimates a time on the home GPU by the times of copies on both GPUs. Guides a search. */
double gpus_likely_ns(const gpus *g, size_t at, int64_t time_ns);

/* Returns a time on GPU `at` as an earlier sample for the race on the home GPU: its ratio to the
 * best time on that GPU, times the home GPU's best time. So the best variant of each GPU enters the
 * race. 0 stays 0. */
int64_t gpus_prior_ns(const gpus *g, size_t at, int64_t time_ns);

int gpus_restarts(const gpus *g);

#endif
