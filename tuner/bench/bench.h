/* The work of a device worker for its requests: the set-up, tries, held variants, blocks.
 *
 * Works on an open device through device_api. Every function fills in an answer; a failure of the
 * variant is part of the answer, not an error. If the answer's status is not AT_OK and `usable` is
 * false, the device's context is lost. */
#ifndef AUTOTUNE_BENCH_BENCH_H
#define AUTOTUNE_BENCH_BENCH_H

#include "bench/meter.h"
#include "bench/oracle.h"
#include "bench/wire.h"

enum { DEVICE_TEXT_BYTES = 3072 };

/* The problems of one layout; variants are measured on the first of them. */
typedef struct device_stage {
    device_slot slots[DEVICE_SLOTS];
    device_context context; /* of slot 0 */
    device_meter meter;
} device_stage;

typedef struct loaded_variant {
    uint64_t id;
    device_stage *stage; /* of its layout */
    bool present[DEVICE_SLOTS];
    device_kernel *kernels[DEVICE_SLOTS]; /* may be [0]'s */
    launch_plan launches[DEVICE_SLOTS];
    int64_t launch_ns;   /* what a launch takes, as the tuner knows; 0: it does not */
    device_batch *batch; /* of slot 0; NULL until it is to be sampled, and where none is needed */
} loaded_variant;

/* Called before something that may take up to `limit_ns`. */
typedef void (*device_notify)(void *context, const device_note *note);

typedef struct device_bench {
    const device_api *api;
    device *device;
    device_cache cache;
    int64_t watchdog_floor_ns;
    bool untimed; /* nothing is sampled */
    device_notify notify;
    void *notify_context;
    device_stage *stages; /* owned; one a layout */
    size_t stage_count;
    size_t slot_count;        /* of each; 0: not set up */
    device_contents contents; /* of files that fill buffers */
    int64_t watchdog_ns;
    uint64_t watchdog_work; /* device_analysis.give_up_after */
    loaded_variant *held;   /* sorted by id */
    size_t held_count;
    int64_t *samples_ns; /* of the answer in progress; grown before sampling */
    size_t sample_capacity;
    double *counters; /* of the answer in progress; PLAN_MAX_LAUNCHES times DEVICE_MAX_METRICS */
    char text[DEVICE_TEXT_BYTES]; /* message of the answer in progress, */
    device_fault fault;           /* and the same as fields */
    uint32_t failed_slot;         /* of the last check that found a fault */
    void *results;                /* owned; of the last answer */
    char *printed; /* owned; what the variant of the last check printed; NULL: nothing */
} device_bench;

void device_bench_deinit(device_bench *b);

void device_bench_setup(device_bench *b, const device_image support[DEVICE_SUPPORT_PARTS],
                        const device_problem *problems, size_t count, device_answer *answer);
void device_bench_try(device_bench *b, const device_variant *variant, size_t sample_count,
                      device_answer *answer);
void device_bench_hold(device_bench *b, uint64_t id, const device_variant *variant,
                       device_answer *answer);
void device_bench_release(device_bench *b, uint64_t id);
/* `ids` holds `count` ids. */
void device_bench_block(device_bench *b, const uint64_t *ids, size_t count, bool with_copy,
                        device_answer *answer);
/* Measures the energy of a launch of the held variant `id`; if that is unknown, the answer's
 * message says why. `chunks` 0: only what throttles the chip and which other processes use it. */
void device_bench_energy(device_bench *b, uint64_t id, uint32_t chunks, device_answer *answer);
/* Reads counters of the held variant `id`; if they cannot be read, the answer's message says
 * why. */
void device_bench_count(device_bench *b, uint64_t id, const char *const *metrics, size_t count,
                        device_answer *answer);
/* Gives the oracle's results on a problem, as long as the next request is not there; nothing where
 * that is not known, or only on the device. */
void device_bench_results(device_bench *b, uint32_t layout, uint32_t slot, device_answer *answer);
/* Holds it against what it made on another device. */
void device_bench_compare(device_bench *b, uint32_t layout, uint32_t slot, const void *results,
                          size_t results_bytes, device_answer *answer);
void device_bench_recheck(device_bench *b, uint64_t id, uint64_t seed, device_answer *answer);

#endif
