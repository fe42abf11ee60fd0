/* The requests of a device worker: set-up, tries, held variants, blocks.
 *
 * Works on an open device through device_api. Every function fills in an answer; a failure of the
 * variant is part of the answer and not an error. If `usable` is false in the answer, the context
 * of the device is lost. */
#ifndef AUTOTUNE_BENCH_BENCH_H
#define AUTOTUNE_BENCH_BENCH_H

#include "bench/meter.h"
#include "bench/problem.h"
#include "bench/wire.h"

enum { DEVICE_TEXT_BYTES = 3072 };

/* The problems of one layout. Variants are timed on slot 0. */
typedef struct device_stage {
    device_slot slots[DEVICE_SLOTS];
    device_context context; /* kernels that run before the samples on slot 0 */
    device_meter meter;
} device_stage;

typedef struct loaded_variant {
    uint64_t id;
    device_stage *stage; /* stage of its layout */
    bool present[DEVICE_SLOTS];
    device_kernel *kernels[DEVICE_SLOTS]; /* may be equal to kernels[0] */
    launch_plan launches[DEVICE_SLOTS];
    int64_t launch_ns;   /* time of a launch, in ns; 0 if unknown */
    device_batch *batch; /* batch for slot 0; NULL if samples are single launches */
} loaded_variant;

/* Called before a step that may take up to note->limit_ns. */
typedef void (*device_notify)(void *context, const device_note *note);

typedef struct device_bench {
    const device_api *api;
    device *device;
    device_cache cache;
    int64_t watchdog_floor_ns;
    bool untimed; /* nothing is timed */
    device_notify notify;
    void *notify_context;
    device_stage *stages; /* owned; one per layout */
    size_t stage_count;
    size_t slot_count;        /* slots per stage; 0 before the set-up */
    device_contents contents; /* files that fill buffers */
    int64_t watchdog_ns;
    uint64_t watchdog_work; /* limit for device_analysis.give_up_after */
    loaded_variant *held;   /* sorted by id */
    size_t held_count;
    int64_t *samples_ns; /* samples of the current answer */
    size_t sample_capacity;
    /* counters of the current answer; PLAN_MAX_LAUNCHES times DEVICE_MAX_METRICS */
    double *counters;
    char text[DEVICE_TEXT_BYTES]; /* message of the current answer */
    device_fault fault;           /* the same as fields */
    uint32_t failed_slot;         /* slot of the last failed check */
    void *results;                /* owned; results in the last answer */
    char *printed;                /* owned; output of the variant in the last check, or NULL */
} device_bench;

void device_bench_deinit(device_bench *b);

/* Replaces the set-up (see device_worker_setup). `problems` has `count` entries. */
void device_bench_setup(device_bench *b, const device_image support[DEVICE_SUPPORT_PARTS],
                        const device_problem *problems, size_t count, device_answer *answer);
/* Checks a variant and takes samples of it (see device_worker_try). */
void device_bench_try(device_bench *b, const device_variant *variant, size_t sample_count,
                      device_answer *answer);
/* Loads a variant and keeps it under `id`. */
void device_bench_hold(device_bench *b, uint64_t id, const device_variant *variant,
                       device_answer *answer);
/* Unloads a held variant. Unknown ids are ignored. */
void device_bench_release(device_bench *b, uint64_t id);
/* Takes a sample of each of `count` held variants, and with `with_copy` one of the ceiling. */
void device_bench_block(device_bench *b, const uint64_t *ids, size_t count, bool with_copy,
                        device_answer *answer);
/* Measures the energy of a launch of the held variant `id`. If it is unknown, the message has the
 * reason. With `chunks` 0, only reads the reasons for throttling and the number of other
 * processes. */
void device_bench_energy(device_bench *b, uint64_t id, uint32_t chunks, device_answer *answer);
/* Reads counters of the held variant `id`. If they cannot be read, the message has the reason. */
void device_bench_count(device_bench *b, uint64_t id, const char *const *metrics, size_t count,
                        device_answer *answer);
/* Answers with the results of the oracle for a problem, which stay valid until the next request.
 * Answers with none if they are unknown or cannot be read. */
void device_bench_results(device_bench *b, uint32_t layout, uint32_t slot, device_answer *answer);
/* Compares the results of the oracle with those of another device. */
void device_bench_compare(device_bench *b, uint32_t layout, uint32_t slot, const void *results,
                          size_t results_bytes, device_answer *answer);
/* Checks the held variant `id` on data of another seed. */
void device_bench_recheck(device_bench *b, uint64_t id, uint64_t seed, device_answer *answer);

#endif
