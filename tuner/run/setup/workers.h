/* The workers of a run: the compile workers, and the device worker or, in its place, the
 * architecture.
 *
 * A run opens its own, unless it is given those of earlier runs (settings.workers): then the GPU is
 * opened, and its clocks are brought up, only once. */
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
    rank_hosts *ranks; /* the other ranks of an MPI launch; NULL: there are none */
    compile_pool *pool;
    device_worker *device; /* that runs the race; NULL: compile only */
    /* GPUs of the same model: they screen, too, as soon as they are open (workers_open_next). */
    device_worker *others[WORKERS_MOST_OTHERS];
    device_properties other_properties[WORKERS_MOST_OTHERS]; /* spec "": it has not said yet */
    size_t other_count;
    int64_t begun_ns;             /* when the last of them began to open */
    device_properties properties; /* compile only: kind "", arch and limits of --arch */
    size_t left_out;              /* GPUs of the launch that are of another model */
    char driver_less[512];        /* why a simulated device stands in for a GPU; empty otherwise */
} workers;

/* Starts the compile workers and opens the device, as the settings say. AT_NO_DEVICE,
 * AT_NO_TOOLCHAIN, AT_USAGE name the remedy. The caller calls workers_close, also after a
 * failure. */
at_status workers_open(workers *w, const settings *o, at_error *error);
void workers_close(workers *w);

/* Nothing is asked of any worker any more: they end while the caller does what is left to do. */
void workers_end(const workers *w);

/* Takes what a device worker says when it is open (DEVICE_OPENED). AT_USAGE: it is of another model
 * than the device of the race. */
at_status workers_meet(workers *w, const device_worker *d, const device_properties *p,
                       at_error *error);

/* Has the next of the other GPUs opened, when those before it are open, failed, or take too long.
 * The driver opens one at a time: who asks for several waits for all of them. */
void workers_open_next(workers *w);

/* Waits until every device is open. The status of one that cannot be opened. */
at_status workers_await(workers *w, at_error *error);

/* Makes them ready for another run: waits for what the run before left under way, and drops it.
 * Opens them if they are zeroed or closed. A GPU that has failed for good is left out from now on;
 * if none is left, this fails with the device's status. */
at_status workers_settle(workers *w, const settings *o, at_error *error);

/* Replaces a device worker that has failed for good. Returns the new one's status. */
at_status workers_replace_device(workers *w, const settings *o, at_error *error);

/* The GPUs of one model that a run measures on, as the pipeline sees them.
 *
 * One of them is home: it runs the race. The others screen their share of the variants, and sample
 * blocks of the race until its finals (run/race/others.c). Samples are compared only within one
 * GPU: first samples of the other GPUs say which variants the race is to sample, and how much
 * slower each was than the best there. */

typedef struct run_gpu {
    device_worker *worker; /* borrowed */
    bool ready, lost;
    size_t trying;      /* requests in flight */
    int restarts;       /* of its worker */
    device_ready facts; /* once ready */
    int64_t ceiling_ns; /* median of the set-up's copies; 0: not known yet */
    int64_t best_ns;    /* the fastest sample of a variant on it; 0: none */
} run_gpu;

typedef struct gpus {
    run_gpu items[1 + WORKERS_MOST_OTHERS];
    size_t count, home;
} gpus;

void gpus_init(gpus *g, const workers *w);

/* The one to ask next: ready, with the fewest requests in flight and fewer than `most`. NULL:
 * none. */
run_gpu *gpus_idlest(gpus *g, size_t most);

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
