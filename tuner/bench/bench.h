/* The requests of a device worker: set-up, tries, held variants, blocks.
 *
 * Works on an open device through device_api. Every function fills in an answer; a failure of the
 * variant is part of the answer, not an error. If answer->usable is false, the device's context is
 * lost. */
#ifndef AUTOTUNE_BENCH_BENCH_H
#define AUTOTUNE_BENCH_BENCH_H

#include "bench/meter.h"
#include "bench/problem.h"
#include "bench/wire.h"

enum { DEVICE_TEXT_BYTES = 3072 };

/* The problems of one layout, called slots. Variants are timed on slot 0. */
typedef struct device_stage {
    device_slot slots[DEVICE_SLOTS];
    device_context context; /* kernels that run before the samples on slot 0 */
    device_meter meter;
} device_stage;

typedef struct loaded_variant {
    uint64_t id;
    device_stage *stage; /* stage of the variant's layout */
    bool present[DEVICE_SLOTS];
    device_kernel *kernels[DEVICE_SLOTS]; /* kernels[i] may be equal to kernels[0] */
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
    uint64_t watchdog_work; /* limit for device_analysis.limit_work */
    loaded_variant *held;   /* sorted by id */
    size_t held_count;
    int64_t *samples_ns; /* samples of the current answer */
    size_t sample_capacity;
    /* counters of the current answer: room for PLAN_MAX_LAUNCHES times DEVICE_MAX_METRICS */
    double *counters;
    char text[DEVICE_TEXT_BYTES]; /* message of the current answer */
    device_fault fault;           /* the fault in `text`, as fields */
    uint32_t failed_slot;         /* slot of the last failed check */
    void *results;                /* owned; results in the last answer */
    char *printed;                /* owned; output of the variant in the last check, or NULL */
} device_bench;

/* Frees all problems, variants and memory. The caller closes the device. */
void device_bench_deinit(device_bench *b);

/* The requests of bench/wire.h, documented in bench/client.h. Each function reads the fields after
 * the request's number and id from `asked`, and fills in *answer, which already has the id. Returns
 * AT_FORMAT if the request is invalid. */
typedef at_status device_request(device_bench *b, pack *asked, device_answer *answer);
device_request device_bench_setup;
device_request device_bench_try;
device_request device_bench_hold;
device_request device_bench_release;
device_request device_bench_block;
device_request device_bench_recheck;
device_request device_bench_energy;
device_request device_bench_count;
device_request device_bench_results; /* the results stay valid until the next request */
device_request device_bench_compare;

#endif
